//! A small lexer of shell source: where quotes, comments, here-documents and substitutions begin and end.
//!
//! It serves two ends: a measure of nesting *before* the parser's recursion sees the line, and the extent of `$(…)`
//! inside a word. It keeps its own stack on the heap.

/// What is open at a place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren,
    Brace,
    Double,
    Backtick,
    Keyword,
}

/// What the parser tries in two ways, one within the other, doubles its work each time: `((` as arithmetic and as brackets
/// in brackets, a branch of `case` with and without `;;`.
const MAX_DOUBLED: usize = 10;

/// How deep the source nests, in brackets, quotes and keywords.
pub(crate) fn nesting(source: &str) -> usize {
    let mut lexer = Lexer::new(source);
    lexer.run(None);
    // Whoever confuses the lexer above must not reach the parser's stack: a plain count is the second fence.
    let (mut plain, mut most, mut keywords) = (0usize, 0usize, 0usize);
    for b in source.bytes() {
        match b {
            b'(' => plain += 1,
            b')' => plain = plain.saturating_sub(1),
            _ => {}
        }
        most = most.max(plain);
    }
    for word in source.split(|c: char| c.is_whitespace() || matches!(c, ';' | '(' | '&' | '|')) {
        match word {
            "if" | "while" | "until" | "case" | "do" | "{" | "!" | "for" | "elif" => keywords += 1,
            "fi" | "done" | "esac" | "}" => keywords = keywords.saturating_sub(1),
            _ => {}
        }
        most = most.max(keywords / 2);
    }
    let is_doubled = lexer.most_doubled > MAX_DOUBLED || doubled_at_once(source) > MAX_DOUBLED;
    if is_doubled || doubled_in_a_row(source) > 2 * MAX_DOUBLED {
        return usize::MAX;
    }
    lexer.deepest.max(most / 16)
}

/// `((` that are open at the same time, without a look at quotes and here-documents: where the parser tries arithmetic,
/// `<<` begins none.
fn doubled_at_once(source: &str) -> usize {
    let (mut open, mut most, mut depth) = (Vec::new(), 0, 0usize);
    let mut before = 0;
    for b in source.bytes() {
        match b {
            b'(' => {
                depth += 1;
                if before == b'(' {
                    open.push(depth);
                    most = most.max(open.len());
                }
            }
            b')' => {
                depth = depth.saturating_sub(1);
                while open.last().is_some_and(|at| *at > depth) {
                    open.pop();
                }
            }
            _ => {}
        }
        before = b;
    }
    most
}

/// The same without a look at quotes: the second fence.
fn doubled_in_a_row(source: &str) -> usize {
    let (mut row, mut most) = (0usize, 0usize);
    for b in source.bytes().filter(|b| !b.is_ascii_whitespace()) {
        row = if b == b'(' { row + 1 } else { 0 };
        most = most.max(row);
    }
    most
}

/// Where the bracket that closes may be, given the text after `$(`: so many candidates, the likeliest first.
pub(crate) fn closing_parens(source: &str, most: usize) -> Vec<usize> {
    let mut lexer = Lexer::new(source);
    lexer.run(Some(most));
    lexer.closers
}

/// The end of a backquoted command, given the text after the first backquote.
pub(crate) fn closing_backtick(source: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in source.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '`' => return Some(at),
            _ => {}
        }
    }
    None
}

/// The end of `${…}`, given the text after `${`.
pub(crate) fn closing_brace(source: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let (mut at, mut depth, mut double) = (0, 0usize, false);
    while let Some(&b) = bytes.get(at) {
        match b {
            b'\\' => at += 1,
            b'\'' if !double => at += source.get(at + 1..)?.find('\'')? + 1,
            b'"' => double = !double,
            b'`' => at += closing_backtick(source.get(at + 1..)?)? + 1,
            b'$' if bytes.get(at + 1) == Some(&b'(') => {
                at += 2 + *closing_parens(source.get(at + 2..)?, 1).first()?;
            }
            b'$' if bytes.get(at + 1) == Some(&b'{') => {
                depth += 1;
                at += 1;
            }
            b'}' if depth == 0 && !double => return Some(at),
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

struct Lexer<'a> {
    source: &'a str,
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Open>,
    deepest: usize,
    /// How deep the stack was at each `((` that is open.
    doubled: Vec<usize>,
    /// Every `case` that has no `esac` yet. Counted apart from the stack: the bracket after a pattern closes another one
    /// there, and the word may stand where no command seems to start (`coproc case`).
    cases: usize,
    most_doubled: usize,
    /// Here-documents announced on this line: the end mark, and whether tabs before it are dropped.
    heredocs: Vec<(String, bool)>,
    closers: Vec<usize>,
    word_start: bool,
    command_start: bool,
}

impl<'a> Lexer<'a> {
    fn new(source: &'a str) -> Self {
        Lexer {
            source,
            bytes: source.as_bytes(),
            at: 0,
            stack: Vec::new(),
            deepest: 0,
            doubled: Vec::new(),
            cases: 0,
            most_doubled: 0,
            heredocs: Vec::new(),
            closers: Vec::new(),
            word_start: true,
            command_start: true,
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The bracket here has another right behind it.
    fn is_doubled(&self) -> bool {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'(')
    }

    /// What is opened next is read in two ways.
    fn double(&mut self) {
        let depth = self.stack.len();
        self.doubled.retain(|at| *at < depth);
        self.doubled.push(depth);
        self.count_doubled();
    }

    fn count_doubled(&mut self) {
        self.most_doubled = self.most_doubled.max(self.doubled.len() + self.cases);
    }

    fn open(&mut self, what: Open) {
        self.stack.push(what);
        self.deepest = self.deepest.max(self.stack.len());
    }

    fn close(&mut self, what: Open) -> bool {
        let found = self.stack.last() == Some(&what);
        if found {
            self.stack.pop();
        }
        found
    }

    /// Go through the source; with a limit, stop after that many unmatched `)`.
    fn run(&mut self, closers: Option<usize>) {
        while let Some(b) = self.peek(0) {
            let (word_start, command_start) = (self.word_start, self.command_start);
            self.word_start = false;
            self.command_start = false;
            if self.stack.last() == Some(&Open::Double) {
                self.in_double_quotes(b);
                continue;
            }
            match b {
                b'\\' => self.at += 1 + usize::from(self.peek(1).is_some()),
                b'\'' => self.skip_single(),
                b'$' if self.peek(1) == Some(b'\'') => {
                    self.at += 1;
                    self.skip_ansi();
                }
                b'"' => {
                    self.open(Open::Double);
                    self.at += 1;
                }
                b'`' => {
                    if !self.close(Open::Backtick) {
                        self.open(Open::Backtick);
                        self.start_command();
                    }
                    self.at += 1;
                }
                b'$' if self.peek(1) == Some(b'{') => {
                    self.open(Open::Brace);
                    self.at += 2;
                }
                b'(' => {
                    if self.is_doubled() {
                        self.double();
                    }
                    self.open(Open::Paren);
                    self.at += 1;
                    self.start_command();
                }
                b')' => {
                    // Keywords do not close brackets: `case a in b)` leaves its own bracket unmatched.
                    let keywords = self.stack.iter().rev().take_while(|o| **o == Open::Keyword).count();
                    let below = self.stack.len() - keywords;
                    if below > 0 && self.stack.get(below - 1) == Some(&Open::Paren) {
                        self.stack.truncate(below - 1);
                    } else if let Some(most) = closers {
                        self.closers.push(self.at);
                        if self.closers.len() >= most {
                            return;
                        }
                    }
                    self.at += 1;
                    self.start_command();
                }
                b'}' if self.close(Open::Brace) => self.at += 1,
                b'#' if word_start && self.stack.last() != Some(&Open::Brace) => self.skip_comment(),
                b'<' if self.peek(1) == Some(b'<') && self.peek(2) == Some(b'<') => self.at += 3,
                b'<' if self.peek(1) == Some(b'<') && self.stack.last() != Some(&Open::Brace) => self.heredoc_mark(),
                b'\n' => {
                    self.at += 1;
                    self.skip_heredocs();
                    self.start_command();
                }
                b' ' | b'\t' => {
                    self.at += 1;
                    self.word_start = true;
                    self.command_start = command_start;
                }
                b';' | b'|' | b'&' => {
                    self.at += 1;
                    self.start_command();
                }
                b'<' | b'>' => {
                    self.at += 1;
                    self.word_start = true;
                }
                _ if word_start => self.word(command_start),
                _ => self.at += 1,
            }
        }
    }

    fn start_command(&mut self) {
        self.word_start = true;
        self.command_start = true;
    }

    fn in_double_quotes(&mut self, b: u8) {
        match b {
            b'\\' => self.at += 1 + usize::from(self.peek(1).is_some()),
            b'"' => {
                self.stack.pop();
                self.at += 1;
            }
            b'`' => {
                // A backquote in double quotes opens, unless one is open below them.
                if self.stack.len() >= 2 && self.stack.get(self.stack.len() - 2) == Some(&Open::Backtick) {
                    self.stack.truncate(self.stack.len() - 2);
                } else {
                    self.open(Open::Backtick);
                    self.start_command();
                }
                self.at += 1;
            }
            b'$' if self.peek(1) == Some(b'(') => {
                self.open(Open::Paren);
                self.at += 2;
                self.start_command();
            }
            b'$' if self.peek(1) == Some(b'{') => {
                self.open(Open::Brace);
                self.at += 2;
            }
            _ => self.at += 1,
        }
    }

    /// Reserved words where a command may stand count as nesting.
    fn word(&mut self, command_start: bool) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let len = rest
            .iter()
            .position(|b| {
                matches!(
                    b,
                    b' ' | b'\t'
                        | b'\n'
                        | b';'
                        | b'|'
                        | b'&'
                        | b'('
                        | b')'
                        | b'<'
                        | b'>'
                        | b'"'
                        | b'\''
                        | b'`'
                        | b'$'
                        | b'\\'
                )
            })
            .unwrap_or(rest.len())
            .max(1);
        let word = rest.get(..len).unwrap_or_default();
        if word == b"case" {
            self.cases += 1;
            self.count_doubled();
        }
        if command_start {
            if word == b"esac" {
                self.cases = self.cases.saturating_sub(1);
            }
            match word {
                b"if" | b"while" | b"until" | b"for" | b"case" | b"select" | b"{" => self.open(Open::Keyword),
                b"fi" | b"done" | b"esac" | b"}" => {
                    self.close(Open::Keyword);
                }
                _ => {}
            }
            self.command_start = matches!(
                word,
                b"if" | b"while" | b"until" | b"do" | b"then" | b"else" | b"elif" | b"{" | b"!" | b"time"
            );
        }
        self.at += len;
    }

    fn skip_single(&mut self) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        self.at += rest.iter().position(|b| *b == b'\'').map_or(rest.len() + 1, |n| n + 2);
    }

    fn skip_ansi(&mut self) {
        self.at += 1;
        while let Some(b) = self.peek(0) {
            self.at += if b == b'\\' { 2 } else { 1 };
            if b == b'\'' {
                return;
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|b| b != b'\n') {
            self.at += 1;
        }
    }

    fn heredoc_mark(&mut self) {
        self.at += 2;
        let tabs = self.peek(0) == Some(b'-');
        self.at += usize::from(tabs);
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let mut mark = Vec::new();
        let mut quote = None;
        while let Some(b) = self.peek(0) {
            match (quote, b) {
                (Some(q), b) if b == q => quote = None,
                (Some(_), b) => mark.push(b),
                (None, b'\'' | b'"') => quote = Some(b),
                (None, b'\\') => {
                    self.at += 1;
                    mark.extend(self.peek(0));
                }
                (None, b' ' | b'\t' | b'\n' | b';' | b'|' | b'&' | b'<' | b'>' | b'(' | b')') => break,
                (None, b) => mark.push(b),
            }
            self.at += 1;
        }
        if !mark.is_empty() {
            self.heredocs.push((String::from_utf8_lossy(&mark).into_owned(), tabs));
        }
    }

    fn skip_heredocs(&mut self) {
        for (mark, tabs) in std::mem::take(&mut self.heredocs) {
            loop {
                let Some(rest) = self.source.get(self.at..) else { return };
                if rest.is_empty() {
                    return;
                }
                let line = rest.split('\n').next().unwrap_or_default();
                let bare = if tabs { line.trim_start_matches('\t') } else { line };
                let closed = bare.strip_prefix(mark.as_str());
                match closed {
                    Some("") => {
                        self.at += (line.len() + 1).min(rest.len());
                        break;
                    }
                    // `EOF)` ends a here-document at the end of a substitution.
                    Some(after) if after.starts_with(')') => {
                        self.at += line.len() - after.len();
                        break;
                    }
                    _ => self.at += (line.len() + 1).min(rest.len()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracket_that_closes_is_found_past_quotes_comments_and_here_documents() {
        for (source, inner) in [
            ("echo a) b", "echo a"),
            ("echo ')' \")\" \\)) b", "echo ')' \")\" \\)"),
            ("echo $(x) (y)) z", "echo $(x) (y)"),
            ("ls # ) no\n) z", "ls # ) no\n"),
            ("cat <<'E'\nit's ) a\nE\n) z", "cat <<'E'\nit's ) a\nE\n"),
        ] {
            let end = closing_parens(source, 1)[0];
            assert_eq!(&source[..end], inner);
        }
    }

    #[test]
    fn nesting_counts_what_the_parser_recurses_into_and_not_text() {
        assert!(nesting(&"$(".repeat(70)) > 64);
        assert!(nesting(&"( ".repeat(70)) > 64);
        assert!(nesting(&"if ".repeat(70)) > 64);
        assert!(nesting(&format!("cat <<'E'\n{}\nE\n", "if (x):\n".repeat(200))) < 64);
        assert!(nesting("echo '((((((('") < 3);
    }
}
