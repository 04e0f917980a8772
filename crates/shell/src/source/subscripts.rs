//! A word that begins like `name[…` may be an assignment. The parser tries it as one by rules that do their work again for
//! every subscript in the subscript, so how deep they are is measured before.

/// `${name[` is tried in about so many ways, as a power of two; `name[` in two.
const IN_BRACES: usize = 4;
/// The power of two that is left to the parser.
const MAX_WAYS: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Subscript { ways: usize },
    Brace,
    Paren,
    Double,
    Backtick,
}

/// The parser would take for ever to find out whether this word is an assignment.
pub(crate) fn are_too_deep(word: &str) -> bool {
    begins_with_subscript(word) && ways(word) > MAX_WAYS
}

fn begins_with_subscript(word: &str) -> bool {
    let name = word.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
    name.starts_with('[') && word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

/// The most ways, as a power of two, in which a part of the word is read.
fn ways(word: &str) -> usize {
    let mut stack: Vec<Open> = Vec::new();
    let (mut now, mut most) = (0usize, 0usize);
    let mut before = ' ';
    let mut chars = word.chars().peekable();
    while let Some(c) = chars.next() {
        let is_quoted = stack.last() == Some(&Open::Double);
        let is_name = before == '_' || before.is_ascii_alphanumeric();
        let mut closes = None;
        match c {
            '\\' => {
                chars.next();
            }
            // What is in single quotes ends at the next one; after a dollar, one may be escaped.
            '\'' if !is_quoted => {
                let is_ansi = before == '$';
                while let Some(inner) = chars.next() {
                    match inner {
                        '\'' => break,
                        '\\' if is_ansi => drop(chars.next()),
                        _ => {}
                    }
                }
            }
            '"' if is_quoted => closes = Some(Open::Double),
            '"' => stack.push(Open::Double),
            '`' if stack.last() == Some(&Open::Backtick) => closes = Some(Open::Backtick),
            '`' => stack.push(Open::Backtick),
            '{' if before == '$' => stack.push(Open::Brace),
            '(' if before == '$' || !is_quoted => stack.push(Open::Paren),
            '[' if !is_quoted && (is_name || before == '$') => {
                let ways = if stack.last() == Some(&Open::Brace) { IN_BRACES } else { 1 };
                now += ways;
                most = most.max(now);
                stack.push(Open::Subscript { ways });
            }
            '}' => closes = Some(Open::Brace),
            ')' => closes = Some(Open::Paren),
            ']' => {
                if let Some(Open::Subscript { ways }) = stack.last().copied() {
                    now -= ways;
                    stack.pop();
                }
            }
            _ => {}
        }
        if closes.is_some() && stack.last().copied() == closes {
            stack.pop();
        }
        before = c;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_in_subscripts_are_too_deep_and_one_after_another_are_not() {
        for deep in [
            "a[$(b)".repeat(16),
            "a[`b`".repeat(16),
            "a[$(])".repeat(16),
            "a[\"]\"$x".repeat(16),
            "a[$'\\']'".repeat(16),
            format!("a[{}1{}]=x", "${b[".repeat(5), "]}".repeat(5)),
        ] {
            assert!(are_too_deep(&deep), "{deep}");
        }
        for flat in [
            "a[1]=b[2]c[3]".repeat(20),
            format!("line[0]=\"{}\"", "${a[0]} ${b[1]}".repeat(20)),
            format!("map[\"$k\"]=\"{}\"", "${map[\"$k\"]}".repeat(20)),
            "arr[${index[$i]}]=x".to_owned(),
            "\"a[\"".repeat(30),
        ] {
            assert!(!are_too_deep(&flat), "{flat}");
        }
    }
}
