//! Texts that code puts together from texts: `'.e' + 'nv'` is one text before anybody asks what it names.
//!
//! One pass with a stack. Only texts that stand in the code are joined, by the language's own operators and its best
//! known calls; where something binds tighter than the operator, nothing is.

use crate::code::languages::Language;
use crate::code::tokens::Token;

/// Tokens looked at when a bracket closes: nested brackets would be looked through again and again.
const MAX_INNER: usize = 256;
/// No path is longer, and formats in formats multiply.
const MAX_TEXT: usize = 4096;

/// The tokens with their texts joined, and the texts that were put together.
pub(crate) fn fold(tokens: Vec<Token>, language: Language) -> (Vec<Token>, Vec<String>) {
    let mut folder = Folder { language, out: Vec::with_capacity(tokens.len()), open: Vec::new(), paths: Vec::new() };
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        folder.take(token, tokens.peek());
    }
    let joined = folder.out.iter().filter(|piece| piece.is_joined);
    let mut texts: Vec<String> = joined.filter_map(|piece| piece.text().map(str::to_owned)).collect();
    texts.append(&mut folder.paths);
    (folder.out.into_iter().map(|piece| piece.token).collect(), texts)
}

struct Piece {
    token: Token,
    /// Put together from others.
    is_joined: bool,
}

impl Piece {
    fn text(&self) -> Option<&str> {
        if let Token::Text(text) = &self.token { Some(text) } else { None }
    }

    fn is(&self, mark: char) -> bool {
        self.token == Token::Mark(mark)
    }
}

struct Folder {
    language: Language,
    out: Vec<Piece>,
    /// Where in `out` the brackets stand that are still open.
    open: Vec<usize>,
    /// Parts of a path that a call joins, which stays as it is.
    paths: Vec<String>,
}

impl Folder {
    fn take(&mut self, token: Token, next: Option<&Token>) {
        match token {
            Token::Text(text) => self.put(text, false, next),
            Token::Template(text) => match plain_template(&text) {
                Some(text) => self.put(text, true, next),
                None => self.push(Token::Template(text)),
            },
            Token::Mark('\n') if self.goes_on() => {}
            Token::Mark(mark @ ('(' | '[' | '{')) => {
                self.open.push(self.out.len());
                self.push(Token::Mark(mark));
            }
            Token::Mark(mark @ (')' | ']' | '}')) => {
                let made = self.open.pop().filter(|_| mark == ')').and_then(|at| self.closed(at));
                match made {
                    Some((from, text, is_joined)) => {
                        self.out.truncate(from);
                        self.put(text, is_joined, next);
                    }
                    None => self.push(Token::Mark(mark)),
                }
            }
            // `%w[.e nv].join`
            Token::Name(name)
                if name == "join" && self.language == Language::Ruby && next != Some(&Token::Mark('(')) =>
            {
                match self.list_before(self.out.len()).map(|(from, parts)| (from, parts.concat())) {
                    Some((from, text)) => {
                        self.out.truncate(from);
                        self.put(text, true, next);
                    }
                    None => self.push(Token::Name(name)),
                }
            }
            token => self.push(token),
        }
    }

    fn push(&mut self, token: Token) {
        self.out.push(Piece { token, is_joined: false });
    }

    fn is_mark(&self, at: Option<usize>, mark: char) -> bool {
        at.and_then(|at| self.out.get(at)).is_some_and(|piece| piece.is(mark))
    }

    /// A new line in brackets or behind an operator ends nothing.
    fn goes_on(&mut self) -> bool {
        if self.language == Language::Python && self.out.last().is_some_and(|piece| piece.is('\\')) {
            self.out.pop();
            return true;
        }
        let is_bracketed = self.is_mark(self.open.last().copied(), '(') || self.is_mark(self.open.last().copied(), '[');
        is_bracketed || self.out.last().is_some_and(|piece| piece.is('+'))
    }

    /// A text, joined with what stands before it as far as that binds.
    fn put(&mut self, mut text: String, mut is_joined: bool, next: Option<&Token>) {
        let stands_beside = matches!(self.language, Language::Python | Language::Ruby);
        if stands_beside && self.out.last().is_some_and(|piece| piece.text().is_some()) {
            text = self.prepend(0, &text);
            is_joined = true;
        }
        while !self.is_bound(next) {
            let joined = match self.operator() {
                Some(len) => Some(self.prepend(len, &text)),
                None => self.formatted_by_operator(&text),
            };
            let Some(joined) = joined else { break };
            text = joined;
            is_joined = true;
        }
        self.out.push(Piece { token: Token::Text(text), is_joined });
    }

    /// Takes the operator of this many marks and the text before it, and puts the new text behind that.
    fn prepend(&mut self, operator: usize, text: &str) -> String {
        self.out.truncate(self.out.len().saturating_sub(operator));
        let Some(Piece { token: Token::Text(mut before), .. }) = self.out.pop() else { return text.to_owned() };
        before.push_str(text);
        before
    }

    /// What follows takes the text before the operator does: `'a' + 'b'.upper()`.
    fn is_bound(&self, next: Option<&Token>) -> bool {
        match next {
            Some(Token::Mark('.')) => !matches!(self.language, Language::Perl | Language::Php | Language::Lua),
            Some(Token::Mark('[' | '%' | '*' | '/')) => true,
            Some(Token::Text(_) | Token::Template(_)) => matches!(self.language, Language::Python | Language::Ruby),
            _ => false,
        }
    }

    /// How many marks the operator has that joins what comes with the text before it.
    fn operator(&self) -> Option<usize> {
        let operators: &[&[char]] = match self.language {
            Language::Python | Language::Node | Language::Groovy => &[&['+']],
            Language::Ruby => &[&['+'], &['<', '<']],
            Language::Perl | Language::Php => &[&['.']],
            Language::Lua => &[&['.', '.']],
            Language::Other => &[&['+'], &['<', '>'], &['*'], &['&']],
            Language::Tcl => &[],
        };
        let ends_in = |marks: &[char]| {
            let from = self.out.len().checked_sub(marks.len())?;
            let is_operator = self.out.get(from..)?.iter().zip(marks).all(|(piece, mark)| piece.is(*mark));
            let at = from.checked_sub(1)?;
            self.out.get(at).filter(|_| is_operator)?.text()?;
            // What stands further left binds tighter.
            let is_taken = ['%', '*', '/', '-'].iter().any(|mark| self.is_mark(at.checked_sub(1), *mark));
            (!is_taken).then_some(marks.len())
        };
        operators.iter().find_map(|marks| ends_in(marks))
    }

    /// `'.%s' % 'env'`
    fn formatted_by_operator(&mut self, value: &str) -> Option<String> {
        let at = self.formats_before(self.out.len())?;
        let text = filled(self.out.get(at)?.text()?, &[value], Places::Percent)?;
        self.out.truncate(at);
        Some(text)
    }

    /// Where the text stands that a `%` before this place fills in.
    fn formats_before(&self, end: usize) -> Option<usize> {
        let takes = matches!(self.language, Language::Python | Language::Ruby);
        let at = end.checked_sub(2).filter(|_| takes && self.is_mark(end.checked_sub(1), '%'))?;
        self.out.get(at)?.text().map(|_| at)
    }

    /// What the bracket that stands here holds or calls, when that is one text: where it begins, and whether it is made.
    fn closed(&mut self, at: usize) -> Option<(usize, String, bool)> {
        let inner = self.out.get(at + 1..).filter(|inner| inner.len() <= MAX_INNER)?;
        let before = at.checked_sub(1).and_then(|at| self.out.get(at));
        let Some(Token::Name(name)) = before.map(|piece| &piece.token) else {
            let is_called = before.is_some_and(|piece| piece.is(')') || piece.is(']') || piece.text().is_some());
            if let Some(format) = self.formats_before(at) {
                let text = filled(self.out.get(format)?.text()?, &texts(inner)?, Places::Percent)?;
                return Some((format, text, true));
            }
            let [only] = inner else { return None };
            return Some((at, only.text()?.to_owned(), only.is_joined)).filter(|_| !is_called);
        };
        if matches!(name.as_str(), "chr" | "fromCharCode" | "fromCodePoint") {
            let from = if name == "chr" { at - 1 } else { at.checked_sub(3)? };
            return Some((from, letters(inner)?, true));
        }
        let parts = texts(inner)?;
        let dot = at.checked_sub(2).filter(|dot| self.is_mark(Some(*dot), '.'));
        let receiver = dot.and_then(|dot| dot.checked_sub(1)).and_then(|at| Some((at, self.out.get(at)?)));
        let (from, text) = match (name.as_str(), receiver, parts.as_slice()) {
            ("join", Some((from, Piece { token: Token::Text(between), .. })), _) => (from, parts.join(between)),
            ("format", Some((from, Piece { token: Token::Text(text), .. })), _) => {
                (from, filled(text, &parts, Places::Braces)?)
            }
            ("concat", Some((from, Piece { token: Token::Text(text), .. })), _) => {
                (from, format!("{text}{}", parts.concat()))
            }
            ("join", Some((_, end)), between) if end.is(']') => {
                let usual = if self.language == Language::Node { "," } else { "" };
                let (from, parts) = self.list_before(at - 1)?;
                (from, parts.join(between.first().unwrap_or(&usual)))
            }
            ("concat", Some((from, _)), _) if self.language == Language::Lua => (from, parts.concat()),
            ("join" | "implode", None, [between, parts @ ..]) if !parts.is_empty() => (at - 1, parts.join(between)),
            ("paste0", None, _) => (at - 1, parts.concat()),
            ("sprintf" | "format", None, [text, values @ ..]) => (at - 1, filled(text, values, Places::Percent)?),
            ("join" | "resolve" | "catfile", _, [_, _, ..]) => {
                let path = parts.join("/");
                self.paths.push(path);
                return None;
            }
            _ => return None,
        };
        (text.len() <= MAX_TEXT).then_some((from, text, true))
    }

    /// The list of texts before a dot that ends here, and where it begins.
    fn list_before(&self, end: usize) -> Option<(usize, Vec<&str>)> {
        let close = end.checked_sub(2).filter(|close| self.is_mark(Some(*close), ']'))?;
        let look = self.out.get(close.saturating_sub(MAX_INNER)..close)?;
        let open = look.iter().rposition(|piece| piece.text().is_none() && !piece.is(','))?;
        let from = close - look.len() + open;
        let parts = texts(look.get(open + 1..)?)?;
        if !self.is_mark(Some(from), '[') || parts.is_empty() {
            return None;
        }
        let before = from.checked_sub(1);
        match before.and_then(|at| self.out.get(at)).map(|piece| &piece.token) {
            // An index of something.
            Some(Token::Name(_) | Token::Text(_) | Token::Mark(')' | ']')) => None,
            // `%w[…]`
            Some(Token::Mark('%')) => before.map(|at| (at, parts)),
            _ => Some((from, parts)),
        }
    }
}

/// Texts and what separates or brackets them, and nothing else.
fn texts(pieces: &[Piece]) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    for piece in pieces {
        match &piece.token {
            Token::Text(text) => found.push(text.as_str()),
            Token::Mark(',' | '[' | ']' | '(' | ')' | '{' | '}' | '%') => {}
            _ => return None,
        }
    }
    Some(found)
}

/// `46, 101`
fn letters(pieces: &[Piece]) -> Option<String> {
    let numbers = pieces.iter().filter(|piece| !piece.is(','));
    let letters = numbers.map(|piece| match &piece.token {
        Token::Name(number) => number.parse().ok().and_then(char::from_u32),
        _ => None,
    });
    letters.collect::<Option<String>>().filter(|text| !text.is_empty())
}

#[derive(Clone, Copy)]
enum Places {
    /// `%s`
    Percent,
    /// `{}`, `{0}`
    Braces,
}

/// A format with its values, when there is one for each place and nothing more to it.
fn filled(format: &str, values: &[&str], places: Places) -> Option<String> {
    let mut out = String::new();
    let mut rest = format;
    let mut at = 0;
    let opening = match places {
        Places::Percent => '%',
        Places::Braces => '{',
    };
    while let Some((before, after)) = rest.split_once(opening) {
        out.push_str(before);
        let (number, behind) = match places {
            Places::Percent => ("", after.strip_prefix('s')?),
            Places::Braces => after.split_once('}')?,
        };
        let number = if number.is_empty() { at } else { number.parse().ok()? };
        out.push_str(values.get(number)?);
        at += 1;
        if out.len() > MAX_TEXT {
            return None;
        }
        rest = behind;
    }
    out.push_str(rest);
    (at > 0).then_some(out)
}

/// A text with nothing but texts put in: `f'{".e"}nv'`, with `$` for where a value begins.
fn plain_template(text: &str) -> Option<String> {
    let mut parts = text.split('$');
    let mut out = parts.next()?.to_owned();
    if out.starts_with('`') {
        return None;
    }
    for part in parts {
        let quote = part.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
        let (value, behind) = part.get(1..)?.split_once(quote)?;
        out.push_str(value);
        out.push_str(behind);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::tokens::tokens;

    fn made(language: Language, code: &str) -> Vec<String> {
        fold(tokens(code, language), language).1
    }

    #[test]
    fn texts_that_a_language_joins_are_one_text() {
        use Language::{Lua, Node, Other, Perl, Php, Python, Ruby};
        for (language, code) in [
            (Python, "open('.e'+'nv')"),
            (Python, "open('.' + 'e' + 'n' + 'v')"),
            (Python, "open('.e' 'nv')"),
            (Python, "open(('.e'\n  'nv'))"),
            (Python, "x = '.e' \\\n 'nv'"),
            (Python, "open(''.join(['.e','nv']))"),
            (Python, "open(''.join(('.', 'env')))"),
            (Python, "open('.' + ''.join(['e', 'nv']))"),
            (Python, "open('.{}'.format('env'))"),
            (Python, "open('{1}{0}'.format('nv', '.e'))"),
            (Python, "open('.%s' % 'env')"),
            (Python, "open('%s%s' % ('.e', 'nv'))"),
            (Python, "open(f'{\".e\"}nv')"),
            (Python, "open(chr(46) + 'env')"),
            (Python, "open('.e' + ('n' + 'v'))"),
            (Node, "readFileSync('.e'+'nv','utf8')"),
            (Node, "readFileSync('.e' +\n 'nv')"),
            (Node, "readFileSync(['.e','nv'].join(''))"),
            (Node, "readFileSync('.e'.concat('nv'))"),
            (Node, "readFileSync(`${'.e'}nv`)"),
            (Node, "readFileSync(String.fromCharCode(46,101) + 'nv')"),
            (Ruby, "puts File.read('.e' + 'nv')"),
            (Ruby, "puts File.read('.e' 'nv')"),
            (Ruby, "puts File.read('.e' << 'nv')"),
            (Ruby, "puts File.read(%w[.e nv].join)"),
            (Ruby, "puts File.read(['.e', 'nv'].join(''))"),
            (Ruby, "puts File.read(format('.%s', 'env'))"),
            (Perl, "open F, '.e' . 'nv'"),
            (Perl, "open F, join('', '.e', 'nv')"),
            (Perl, "open F, join('', qw(.e nv))"),
            (Php, "echo file_get_contents('.e' . 'nv');"),
            (Php, "echo file_get_contents(implode('', ['.e', 'nv']));"),
            (Lua, "io.open('.e' .. 'nv')"),
            (Lua, "io.open(table.concat({'.e', 'nv'}))"),
            (Other, "readLines(paste0('.e', 'nv'))"),
            (Other, "File.read!(\".e\" <> \"nv\")"),
        ] {
            assert_eq!(made(language, code), [".env"], "{language:?}: {code}");
        }
        assert_eq!(made(Python, "os.path.join('~', '.aws', 'credentials')"), ["~/.aws/credentials"]);
    }

    #[test]
    fn what_binds_tighter_or_is_not_a_text_is_left_alone() {
        use Language::{Node, Perl, Python, Ruby};
        for (language, code) in [
            (Python, "x + '.e'"),
            (Python, "'.e' + x"),
            (Python, "'.e' + 'nv'.upper()"),
            (Python, "'.e' + 'nv'[0]"),
            (Python, "'.e' + '%s' % x"),
            (Python, "x % '.e' + 'nv'"),
            (Python, "'.e'\n'nv'"),
            (Python, "print('.e', 'nv')"),
            (Python, "''.join(x)"),
            (Python, "'{name}'.format(name='x')"),
            (Python, "'100%' % 'x'"),
            (Python, "f'{x}nv'"),
            (Node, "x['.e'].join('')"),
            (Node, "['.e', x].join('')"),
            (Node, "'.e'\n'nv'"),
            (Node, "`${x}nv`"),
            (Perl, "print '.e', 'nv'"),
            (Ruby, "puts ['.e', 'nv'].first"),
        ] {
            assert_eq!(made(language, code), Vec::<String>::new(), "{language:?}: {code}");
        }
        assert_eq!(made(Python, "open('.env' + '.example')"), [".env.example"], "only the whole");
    }

    #[test]
    fn formats_of_formats_end_somewhere() {
        let mut code = "'xxxxxxxx'".to_owned();
        for _ in 0..200 {
            code = format!("'{{0}}{{0}}'.format({code})");
        }
        let made = made(Language::Python, &code);
        assert!(made.iter().all(|text| text.len() <= MAX_TEXT), "{}", made.len());
    }
}
