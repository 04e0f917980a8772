//! Tokens of code we do not parse: names, texts, marks.

use crate::code::languages::Language;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Text(String),
    /// A text with values put in.
    Template(String),
    Mark(char),
}

/// Parts between commas that are not in brackets.
pub(crate) fn split(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0usize;
    for token in tokens {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Mark(',') if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            Token::Mark('\n') => continue,
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
    }
    parts.retain(|p| !p.is_empty());
    parts
}

/// The text up to a closing quote, and what comes after.
pub(crate) fn string_body(source: &str, quote: char) -> (String, &str) {
    let mut escaped = false;
    for (at, c) in source.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => {
                let body = source.get(..at).unwrap_or_default();
                return (crate::source::expand::unescape(body), source.get(at + c.len_utf8()..).unwrap_or_default());
            }
            _ => {}
        }
    }
    (source.to_owned(), "")
}

/// The tokens of a code, comments left out.
pub(crate) fn tokens(code: &str, language: Language) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = code;
    let mut prefix = String::new();
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = after;
        match c {
            '-' if language == Language::Lua && after.starts_with('-') => {
                rest = after.get(after.find('\n').unwrap_or(after.len())..).unwrap_or_default();
            }
            '#' if !matches!(language, Language::Node | Language::Lua | Language::Groovy) => {
                rest = after.get(after.find('\n').unwrap_or(after.len())..).unwrap_or_default();
            }
            '/' if matches!(language, Language::Node | Language::Groovy) && after.starts_with('/') => {
                rest = after.get(after.find('\n').unwrap_or(after.len())..).unwrap_or_default();
            }
            '\'' | '"' | '`' => {
                let triple: String = std::iter::repeat_n(c, 2).collect();
                let (text, tail) = match after.strip_prefix(&triple) {
                    Some(body) if language == Language::Python => {
                        let mark: String = std::iter::repeat_n(c, 3).collect();
                        let end = body.find(&mark).unwrap_or(body.len());
                        (body.get(..end).unwrap_or_default().to_owned(), body.get(end + 3..).unwrap_or_default())
                    }
                    _ => string_body(after, c),
                };
                rest = tail;
                let filled = (prefix.contains(['f', 'F']) && text.contains('{'))
                    || (c == '`' && language == Language::Node && text.contains("${"))
                    || (c == '"' && language == Language::Ruby && text.contains("#{"))
                    || (c == '"' && matches!(language, Language::Perl | Language::Php) && text.contains('$'));
                if c == '`' && language != Language::Node {
                    tokens.push(Token::Template(format!("`{text}")));
                } else if filled {
                    tokens.push(Token::Template(
                        text.replace("${", "$").replace("#{", "$").replace('{', "$").replace('}', ""),
                    ));
                } else {
                    tokens.push(Token::Text(text));
                }
                prefix.clear();
            }
            c if c.is_alphanumeric() || c == '_' => {
                let len = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
                let name = format!("{c}{}", after.get(..len).unwrap_or_default());
                rest = after.get(len..).unwrap_or_default();
                let is_prefix = language == Language::Python
                    && rest.starts_with(['\'', '"'])
                    && name.len() <= 2
                    && name.chars().all(|c| "rbfuRBFU".contains(c));
                // Perl's and ruby's own quotes: qx{…}, %x(…), q(…).
                if matches!(language, Language::Perl | Language::Ruby)
                    && matches!(name.as_str(), "qx" | "x" | "q" | "qq" | "qw" | "w")
                    && rest.starts_with(['{', '(', '[', '/', '|', '!', '"', '\''])
                    && (!matches!(name.as_str(), "x" | "w") || tokens.last() == Some(&Token::Mark('%')))
                {
                    let open = rest.chars().next().unwrap_or('(');
                    let close = match open {
                        '{' => '}',
                        '(' => ')',
                        '[' => ']',
                        other => other,
                    };
                    let (text, tail) = string_body(rest.get(1..).unwrap_or_default(), close);
                    rest = tail;
                    if matches!(name.as_str(), "qw" | "w") {
                        // A list of words.
                        tokens.push(Token::Mark('['));
                        for word in text.split_whitespace() {
                            tokens.extend([Token::Text(word.to_owned()), Token::Mark(',')]);
                        }
                        tokens.push(Token::Mark(']'));
                        continue;
                    }
                    tokens.push(if matches!(name.as_str(), "qx" | "x") {
                        Token::Template(format!("`{text}"))
                    } else {
                        Token::Text(text)
                    });
                } else if is_prefix {
                    prefix = name;
                } else {
                    tokens.push(Token::Name(name));
                }
            }
            '\n' => tokens.push(Token::Mark('\n')),
            c if c.is_whitespace() => {}
            c => tokens.push(Token::Mark(c)),
        }
    }
    tokens
}
