//! Words as the shell would make them: quotes, escapes, variables known from the line, braces. Not the file system.

use crate::reading::{Certainty, Cwd, Why, Word};
use crate::source::braces::braces;
use crate::source::scan;
use crate::walk::Walker;
use crate::walk::scope::{Output, Variable};

/// A word that becomes longer than this, all its parts together, is not followed either.
const MAX_TEXT: usize = 256 * 1024;

/// The words made so far, and the one being made.
#[derive(Default)]
pub(crate) struct Fields {
    done: Vec<Word>,
    text: String,
    /// There is a word even if it is empty: something was quoted.
    begun: bool,
    computed: bool,
    glob: bool,
    /// The listing that was put in, if any.
    names: Option<String>,
    /// What values have added so far.
    added: usize,
}

impl Fields {
    fn end(&mut self) {
        if self.begun || !self.text.is_empty() {
            // `"./$f"` is still one of the names.
            let before = self.names.as_ref().and_then(|names| self.text.strip_suffix(names.as_str()));
            let is_listing = before.is_some_and(|before| before.is_empty() || before.ends_with('/'));
            let certainty = if self.computed || self.names.is_some() && !is_listing {
                Certainty::Computed
            } else if is_listing {
                Certainty::Names
            } else if self.glob {
                Certainty::Glob
            } else {
                Certainty::Literal
            };
            self.done.push(Word { text: std::mem::take(&mut self.text), certainty });
        }
        self.begun = false;
        self.computed = false;
        self.glob = false;
        self.names = None;
    }

    pub(crate) fn unknown(&mut self, written: &str) {
        self.text.push_str(written);
        self.computed = true;
        self.begun = true;
    }

    /// A value that is known; unquoted, blanks in it part words.
    pub(crate) fn value(&mut self, value: &Word, quoted: bool) {
        self.added += value.text.len() + size_of::<Word>();
        if self.is_too_long() {
            return self.unknown("");
        }
        if quoted || value.certainty == Certainty::Computed {
            // What is not known is not parted at the blanks of how it is written: `$(ls x)`.
            self.begun = true;
            self.text.push_str(&value.text);
        } else {
            for c in value.text.chars() {
                if c.is_ascii_whitespace() {
                    self.end();
                } else {
                    self.text.push(c);
                }
            }
        }
        if value.certainty == Certainty::Names {
            self.names = Some(value.text.clone());
        }
        self.computed |= value.certainty == Certainty::Computed;
        self.glob |= value.certainty == Certainty::Glob || (!quoted && has_glob(&value.text));
    }

    fn is_too_long(&self) -> bool {
        self.added > MAX_TEXT
    }

    pub(crate) fn values(&mut self, values: &[Word], quoted: bool) {
        for (n, value) in values.iter().enumerate() {
            if self.is_too_long() {
                return self.unknown("");
            }
            if n > 0 {
                self.end();
            }
            self.value(value, quoted);
        }
    }
}

/// Stands for words that there is no room for; that they are too large has been said.
fn unread() -> Word {
    Word::computed("…")
}

impl Walker<'_> {
    /// All words a word of the source becomes.
    pub(crate) fn expand(&mut self, raw: &str) -> Vec<Word> {
        if !self.has_room() {
            return vec![unread()];
        }
        let mut words = Vec::new();
        for one in braces(raw) {
            let mut fields = Fields::default();
            self.expand_into(&one, &mut fields);
            words.append(&mut self.ended(fields, raw));
        }
        words
    }

    /// A word where the shell does not split: the value of an assignment, a redirection's file.
    pub(crate) fn expand_one(&mut self, raw: &str) -> Word {
        if !self.has_room() {
            return unread();
        }
        let mut fields = Fields::default();
        self.expand_into(raw, &mut fields);
        join(self.ended(fields, raw))
    }

    /// A here-document's text.
    pub(crate) fn expand_document(&mut self, raw: &str) -> Word {
        if !self.has_room() {
            return unread();
        }
        let mut fields = Fields::default();
        self.quoted_text(raw, &mut fields, Quoting::Document);
        join(self.ended(fields, raw))
    }

    /// The words, as far as there is room for them: variables in variables grow without end.
    fn ended(&mut self, mut fields: Fields, raw: &str) -> Vec<Word> {
        fields.end();
        let bytes: usize = fields.done.iter().map(|word| word.text.len() + size_of::<Word>()).sum();
        if fields.is_too_long() {
            self.opaque(Why::TooLarge, raw);
        }
        if self.afford(raw.len() + bytes) { fields.done } else { vec![unread()] }
    }

    pub(crate) fn expand_into(&mut self, raw: &str, out: &mut Fields) {
        let mut rest = raw;
        let mut brackets = 0usize;
        if let Some(tail) = raw.strip_prefix('~')
            && (tail.is_empty() || tail.starts_with('/'))
        {
            out.text.push_str(self.options.home.as_deref().unwrap_or("~"));
            rest = tail;
        }
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match c {
                '\\' => {
                    let escaped = after.chars().next();
                    if let Some(e) = escaped
                        && e != '\n'
                    {
                        out.begun = true;
                        out.text.push(e);
                    }
                    after.get(escaped.map_or(0, char::len_utf8)..).unwrap_or_default()
                }
                '\'' => {
                    let end = after.find('\'').unwrap_or(after.len());
                    out.begun = true;
                    out.text.push_str(after.get(..end).unwrap_or_default());
                    after.get(end + 1..).unwrap_or_default()
                }
                '"' => self.double_quotes(after, out),
                '$' if after.starts_with('"') => self.double_quotes(after.get(1..).unwrap_or_default(), out),
                '$' if after.starts_with('\'') => {
                    out.begun = true;
                    let (text, rest) = ansi_quotes(after.get(1..).unwrap_or_default());
                    out.text.push_str(&text);
                    rest
                }
                '$' => self.dollar(after, out, false),
                '`' => self.backquotes(after, out, false),
                '<' | '>' if after.starts_with('(') => {
                    let (_, rest) = self.parenthesised(after.get(1..).unwrap_or_default());
                    out.unknown("/dev/fd/63");
                    rest
                }
                _ => {
                    match c {
                        '*' | '?' => out.glob = true,
                        '[' if after.contains(']') => out.glob = true,
                        '(' => brackets += 1,
                        ')' => brackets = brackets.saturating_sub(1),
                        // None of these can stand in a word unquoted: somebody lost the thread.
                        ';' | '&' | '|' | '<' | '>' | '\n' | ' ' if brackets == 0 && !self.loose => {
                            self.opaque(Why::NotUnderstood, raw);
                        }
                        _ => {}
                    }
                    out.text.push(c);
                    after
                }
            };
        }
    }

    fn double_quotes<'t>(&mut self, text: &'t str, out: &mut Fields) -> &'t str {
        out.begun = true;
        let used = self.quoted_text(text, out, Quoting::Double);
        text.get(used..).unwrap_or_default()
    }

    /// Text in double quotes, up to the one that closes. Says how many bytes it took, the quote included.
    fn quoted_text(&mut self, text: &str, out: &mut Fields, quoting: Quoting) -> usize {
        out.begun = true;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            rest = match c {
                '"' if quoting == Quoting::Double => return text.len() - after.len(),
                '\\' => {
                    let next = after.chars().next();
                    match next {
                        Some('\n') => {}
                        Some(e @ ('$' | '`' | '\\')) => out.text.push(e),
                        Some('"') if quoting == Quoting::Double => out.text.push('"'),
                        Some(e) => {
                            out.text.push('\\');
                            out.text.push(e);
                        }
                        None => out.text.push('\\'),
                    }
                    after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default()
                }
                '$' => self.dollar(after, out, true),
                '`' => self.backquotes(after, out, true),
                _ => {
                    out.text.push(c);
                    after
                }
            };
        }
        if quoting == Quoting::Double {
            self.opaque(Why::NotUnderstood, text);
        }
        text.len()
    }

    fn backquotes<'t>(&mut self, after: &'t str, out: &mut Fields, quoted: bool) -> &'t str {
        let Some(end) = scan::closing_backtick(after) else {
            self.opaque(Why::NotUnderstood, after);
            return "";
        };
        let mut code = String::new();
        let mut chars = after.get(..end).unwrap_or_default().chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek()) {
                ('\\', Some('`' | '\\' | '$')) => code.extend(chars.next()),
                ('\\', Some('"')) if quoted => code.extend(chars.next()),
                _ => code.push(c),
            }
        }
        self.substituted(&code, out, quoted);
        after.get(end + 1..).unwrap_or_default()
    }

    /// After a `$`.
    fn dollar<'t>(&mut self, after: &'t str, out: &mut Fields, quoted: bool) -> &'t str {
        if let Some(inner) = after.strip_prefix("((")
            && let Some((expression, rest)) = arithmetic(inner)
        {
            // Arithmetic runs the substitutions in it, and those in what its names hold.
            self.evaluates(expression);
            let was = std::mem::replace(&mut self.loose, true);
            self.expand_one(expression);
            self.loose = was;
            match expression.trim().parse::<i64>() {
                Ok(number) => out.text.push_str(&number.to_string()),
                Err(_) => out.unknown("$((…))"),
            }
            return rest;
        }
        if let Some(inner) = after.strip_prefix('(') {
            let (code, rest) = self.parenthesised_code(inner);
            if let Some(code) = code {
                self.substituted(code, out, quoted);
            }
            return rest;
        }
        if let Some(inner) = after.strip_prefix('[')
            && let Some(end) = inner.find(']')
        {
            self.word_inside(inner.get(..end).unwrap_or_default());
            out.unknown("$[…]");
            return inner.get(end + 1..).unwrap_or_default();
        }
        if let Some(inner) = after.strip_prefix('{') {
            let Some(end) = scan::closing_brace(inner) else {
                self.opaque(Why::NotUnderstood, after);
                return "";
            };
            self.parameter(inner.get(..end).unwrap_or_default(), out, quoted);
            return inner.get(end + 1..).unwrap_or_default();
        }
        let first = after.chars().next();
        let len = match first {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len())
            }
            Some('0'..='9' | '@' | '*' | '#' | '?' | '$' | '!' | '-') => 1,
            _ => {
                out.text.push('$');
                return after;
            }
        };
        let (name, rest) = after.split_at(len);
        self.variable(name, out, quoted);
        rest
    }

    /// `$name`, for any kind of name.
    pub(crate) fn variable(&mut self, name: &str, out: &mut Fields, quoted: bool) {
        if let Some(values) = self.lookup(name) {
            if values.is_empty() && name == "*" {
                out.begun |= quoted;
            }
            // With separators of its own the line splits in ways we do not follow.
            if !quoted && self.scope.variables.contains_key("IFS") {
                let text = values.into_iter().map(|w| w.text).collect::<Vec<_>>().join(" ");
                return out.unknown(&format!("${name}({text})"));
            }
            out.values(&values, quoted);
            return;
        }
        match name {
            "IFS" if !quoted => out.end(),
            "IFS" => out.text.push_str(" \t\n"),
            _ => out.unknown(&format!("${name}")),
        }
    }

    /// What a name stands for, when the line or the options say so.
    pub(crate) fn lookup(&self, name: &str) -> Option<Vec<Word>> {
        if let Some(positional) = &self.scope.positional {
            match name {
                "@" | "*" => return Some(positional.to_vec()),
                "#" => return Some(vec![Word::literal(positional.len().to_string())]),
                _ => {}
            }
            if let Ok(n) = name.parse::<usize>()
                && n > 0
            {
                return Some(positional.get(n - 1).cloned().into_iter().collect());
            }
        }
        if let Some(set) = self.scope.variable(name) {
            return match set {
                Variable::Words(words) => Some(words.first().cloned().into_iter().collect()),
                Variable::Unknown => None,
            };
        }
        match name {
            "HOME" => self.options.home.clone().map(|h| vec![Word::literal(h)]),
            "CLAUDE_PROJECT_DIR" => self.options.project.clone().map(|p| vec![Word::literal(p)]),
            "OLDPWD" => self.scope.earlier.last().and_then(|cwd| self.folder(cwd)).map(|h| vec![Word::literal(h)]),
            "PWD" => self.here().map(|h| vec![Word::literal(h)]),
            _ => None,
        }
    }

    /// The folder as far as it is known: `.` for where the line starts.
    pub(crate) fn here(&self) -> Option<String> {
        self.folder(&self.scope.cwd)
    }

    fn folder(&self, cwd: &Cwd) -> Option<String> {
        match cwd {
            Cwd::Start => Some(self.options.cwd.clone().unwrap_or_else(|| ".".to_owned())),
            Cwd::Known(path) => Some(path.clone()),
            Cwd::Unknown => None,
        }
    }

    /// Read the code of `<(…)` in a word; the rest after the bracket.
    fn parenthesised<'t>(&mut self, inner: &'t str) -> (Output, &'t str) {
        let (code, rest) = self.parenthesised_code(inner);
        (code.map_or(Output::Unknown, |code| self.substitution(code)), rest)
    }

    /// The code up to the bracket that closes: of the candidates, the first that parses.
    fn parenthesised_code<'t>(&mut self, inner: &'t str) -> (Option<&'t str>, &'t str) {
        let mut ends = scan::closing_parens(inner, 1);
        if ends.first().is_none_or(|end| inner.get(..*end).is_some_and(|code| code.contains("case"))) {
            // The brackets of `case a in b)` close nothing.
            ends = scan::closing_parens(inner, 8);
        }
        let parses = |end: &&usize| crate::source::grammar::parse(inner.get(..**end).unwrap_or_default()).is_ok();
        // One candidate needs no trial: reading it will tell.
        let end = if ends.len() == 1 { ends.first() } else { ends.iter().find(parses).or(ends.first()) };
        match end {
            Some(&end) => (inner.get(..end), inner.get(end + 1..).unwrap_or_default()),
            None => {
                self.opaque(Why::NotUnderstood, inner);
                (None, "")
            }
        }
    }

    fn substituted(&mut self, code: &str, out: &mut Fields, quoted: bool) {
        match self.substitution(code) {
            Output::Text(text) => out.value(&Word::literal(text.trim_end_matches('\n')), quoted),
            Output::Names(names) => out.values(&names, quoted),
            Output::Unknown => out.unknown(&format!("$({})", code.trim())),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Double,
    Document,
}

fn join(words: Vec<Word>) -> Word {
    let certainty = words.iter().map(|w| w.certainty).max().unwrap_or(Certainty::Literal);
    Word { text: words.into_iter().map(|w| w.text).collect::<Vec<_>>().join(" "), certainty }
}

pub(crate) fn has_glob(text: &str) -> bool {
    text.contains(['*', '?']) || text.find('[').is_some_and(|at| text.get(at..).is_some_and(|t| t.contains(']')))
}

/// The expression of `((…))` after the brackets, and the rest.
fn arithmetic(inner: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' => {
                let rest = inner.get(at + 1..)?.strip_prefix(')')?;
                return Some((inner.get(..at)?, rest));
            }
            _ => {}
        }
    }
    None
}

/// `$'…'` after its first quote: the text, and the rest after the last.
pub(crate) fn ansi_quotes(source: &str) -> (String, &str) {
    let mut end = source.len();
    let mut escaped = false;
    for (at, c) in source.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    (unescape(source.get(..end).unwrap_or_default()), source.get(end + 1..).unwrap_or_default())
}

/// Backslash escapes as in `$'…'`, `printf` and `echo -e`.
pub(crate) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some(kind) = chars.next() else {
            out.push('\\');
            break;
        };
        let mut digits = |radix: u32, most: usize, first: Option<char>| {
            let mut value = first.and_then(|c| c.to_digit(radix)).unwrap_or(0);
            let mut taken = usize::from(first.is_some());
            while taken < most
                && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
            {
                value = value.wrapping_mul(radix).wrapping_add(digit);
                chars.next();
                taken += 1;
            }
            char::from_u32(value)
        };
        match kind {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'a' => out.push('\u{7}'),
            'b' => out.push('\u{8}'),
            'e' | 'E' => out.push('\u{1b}'),
            'f' => out.push('\u{c}'),
            'v' => out.push('\u{b}'),
            'x' => out.extend(digits(16, 2, None)),
            'u' => out.extend(digits(16, 4, None)),
            'U' => out.extend(digits(16, 8, None)),
            '0'..='7' => out.extend(digits(8, if kind == '0' { 4 } else { 3 }, Some(kind))),
            '\\' | '\'' | '"' | '?' => out.push(kind),
            other => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}
