//! What an expression of another language stands for: a text, a path put together, a list of words.

use crate::code::Reader;
use crate::code::languages::Language;
use crate::code::tokens::{Token, split};
use crate::reading::{Certainty, Word};

/// Names in names in calls: more is not followed.
const MAX_DEPTH: usize = 6;

impl Reader<'_, '_, '_> {
    /// An expression as a word: a text, a name that holds one, texts put together, a call that says where we are.
    pub(crate) fn word(&self, tokens: &[Token]) -> Word {
        self.value(tokens, MAX_DEPTH)
    }

    fn value(&self, tokens: &[Token], depth: usize) -> Word {
        let Some(depth) = depth.checked_sub(1) else { return shown(tokens) };
        match tokens {
            [Token::Text(text)] => return Word::literal(text.clone()),
            [Token::Template(text)] => return self.filled(text, depth),
            [Token::Name(name)] => return self.held(name, depth),
            [Token::Mark('$' | '@' | ':' | '*'), rest @ ..] if !rest.is_empty() => return self.value(rest, depth),
            [Token::Mark('('), inner @ .., Token::Mark(')')] if split(inner).len() == 1 && closes(inner) => {
                return self.value(inner, depth);
            }
            [Token::Name(glob), Token::Text(text)] if glob == "glob" => return pattern(text),
            _ => {}
        }
        for (mark, between) in [('+', ""), ('/', "/")] {
            let parts = parts(tokens, mark);
            if parts.len() > 1 {
                return joined(parts.iter().map(|part| self.value(part, depth)), between);
            }
        }
        if matches!(self.language, Language::Perl | Language::Php) {
            let parts = parts(tokens, '.');
            if parts.len() > 1 {
                return joined(parts.iter().map(|part| self.value(part, depth)), "");
            }
        }
        if self.language == Language::Python
            && let [text, values] = parts(tokens, '%').as_slice()
        {
            // `'%s/x' % d`, `'%s/%s' % (a, b)`
            let values = match values.as_slice() {
                [Token::Mark('('), inner @ .., Token::Mark(')')] => split(inner),
                _ => vec![values.clone()],
            };
            let values: Vec<Word> = values.iter().map(|part| self.value(part, depth)).collect();
            return put_in(&self.value(text, depth), &values, "%");
        }
        self.called(tokens, depth).unwrap_or_else(|| shown(tokens))
    }

    /// `os.path.join('a', 'b')`, `process.cwd()`, `Path('x').resolve()`, `os.environ['HOME']`.
    fn called(&self, tokens: &[Token], depth: usize) -> Option<Word> {
        let (open, close) = match tokens.last()? {
            Token::Mark(')') => ('(', ')'),
            Token::Mark(']') => ('[', ']'),
            Token::Name(name) => {
                let is_environment = tokens.iter().any(|t| matches!(t, Token::Name(n) if n == "env" || n == "ENV"));
                return match name.as_str() {
                    "HOME" if is_environment => Some(Word::literal("~")),
                    "PWD" if is_environment => Some(Word::literal(".")),
                    "pwd" | "cwd" if tokens.len() > 1 => Some(Word::literal(".")),
                    "home" if tokens.len() > 1 => Some(Word::literal("~")),
                    _ => None,
                };
            }
            _ => return None,
        };
        let mut nesting = 0usize;
        let at = tokens.iter().rposition(|t| {
            match t {
                Token::Mark(c) if *c == close => nesting += 1,
                Token::Mark(c) if *c == open => nesting = nesting.saturating_sub(1),
                _ => {}
            }
            nesting == 0
        })?;
        let inner = tokens.get(at + 1..tokens.len().saturating_sub(1))?;
        let args = split(inner);
        let Token::Name(name) = tokens.get(at.checked_sub(1)?)? else { return None };
        let first = || args.first().map(|arg| self.value(arg, depth));
        // What stands before the dot, when this is a method of it.
        let receiver = at.checked_sub(2).filter(|dot| tokens.get(*dot) == Some(&Token::Mark('.')));
        let receiver = receiver.and_then(|dot| tokens.get(..dot)).unwrap_or_default();
        Some(match name.as_str() {
            "getcwd" | "cwd" | "pwd" | "getwd" | "getcwdb" if args.is_empty() => Word::literal("."),
            "homedir" | "home" if args.is_empty() => Word::literal("~"),
            "getenv" | "get" | "environ" | "ENV" | "env" => match first()?.text.as_str() {
                "HOME" => Word::literal("~"),
                "PWD" => Word::literal("."),
                _ => return None,
            },
            "join" | "resolve" | "joinpath" | "Path" | "PurePath" | "PosixPath" | "catfile" | "catdir"
                if !args.is_empty() =>
            {
                let mut parts: Vec<Word> = args.iter().map(|arg| self.value(arg, depth)).collect();
                if name == "joinpath" {
                    parts.insert(0, self.value(receiver, depth));
                } else if name == "join" && matches!(receiver, [Token::Text(_)]) {
                    return None;
                }
                joined(parts.into_iter(), "/")
            }
            "str" | "String" | "abspath" | "realpath" | "realpathSync" | "normpath" | "fspath" | "expanduser"
            | "expandvars" | "normalize" | "fsdecode" | "quote" | "expand_path"
                if !args.is_empty() =>
            {
                first()?
            }
            "format" if !receiver.is_empty() => {
                let values: Vec<Word> = args.iter().map(|arg| self.value(arg, depth)).collect();
                put_in(&self.value(receiver, depth), &values, "{")
            }
            "glob" | "iglob" | "globSync" if !args.is_empty() => pattern(&first()?.text),
            "resolve" | "absolute" | "strip" | "expanduser" | "as_posix" | "toString" | "to_s" | "trim" | "chomp"
                if args.is_empty() && !receiver.is_empty() =>
            {
                self.value(receiver, depth)
            }
            _ => return None,
        })
    }

    /// A text with values put in, as far as they are known.
    fn filled(&self, text: &str, depth: usize) -> Word {
        let mut out = String::new();
        let mut certainty = Certainty::Literal;
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let len = after.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(after.len());
            let (name, tail) = after.split_at(len);
            // `{p.name}`, `{f(x)}`: more than a name.
            let is_plain = !name.is_empty() && !tail.starts_with(['.', '(', '[', ':']) || tail.starts_with("./");
            let value = if is_plain { self.held(name, depth) } else { Word::computed(format!("${name}")) };
            certainty = certainty.max(value.certainty);
            out.push_str(&value.text);
            rest = tail;
        }
        out.push_str(rest);
        Word { text: out, certainty }
    }

    /// What a name holds.
    fn held(&self, name: &str, depth: usize) -> Word {
        let unknown = || Word::computed(format!("${name}"));
        if name == "__dirname" {
            return Word::literal(".");
        }
        let Some(depth) = depth.checked_sub(1) else { return unknown() };
        let Some(value) = self.assigned(name) else { return unknown() };
        if value.iter().any(|t| matches!(t, Token::Name(n) if n == name)) {
            return unknown();
        }
        let word = self.value(&value, depth);
        if !word.is_computed() {
            return word;
        }
        let texts: Vec<&String> =
            value.iter().filter_map(|t| if let Token::Text(t) = t { Some(t) } else { None }).collect();
        match texts.as_slice() {
            [only] => Word::literal((*only).clone()),
            _ => unknown(),
        }
    }

    /// An expression as the words of a command.
    pub(crate) fn list(&self, tokens: &[Token]) -> Option<Vec<Word>> {
        self.words(tokens, MAX_DEPTH)
    }

    fn words(&self, tokens: &[Token], depth: usize) -> Option<Vec<Word>> {
        let depth = depth.checked_sub(1)?;
        match tokens {
            [Token::Mark('['), inner @ .., Token::Mark(']')] if closes(inner) => {
                return Some(split(inner).iter().map(|part| self.word(part)).collect());
            }
            [Token::Mark('('), inner @ .., Token::Mark(')')] if split(inner).len() > 1 && closes(inner) => {
                return Some(split(inner).iter().map(|part| self.word(part)).collect());
            }
            // R's and Clojure's word for a list.
            [Token::Name(c), Token::Mark('('), inner @ .., Token::Mark(')')]
                if c == "c" || c == "list" || c == "tuple" =>
            {
                return match self.words(inner, depth) {
                    Some(words) if split(inner).len() == 1 => Some(words),
                    _ => Some(split(inner).iter().map(|part| self.word(part)).collect()),
                };
            }
            [Token::Name(name)] => return self.words(&self.assigned(name)?, depth),
            [Token::Mark('$' | '@' | '*'), rest @ ..] => return self.words(rest, depth),
            [
                Token::Name(shlex),
                Token::Mark('.'),
                Token::Name(name),
                Token::Mark('('),
                inner @ ..,
                Token::Mark(')'),
            ] if shlex == "shlex" && name == "split" => {
                let text = self.word(inner);
                return text.is_literal().then(|| blanks(&text.text));
            }
            // `'…'.split()`, `'…'.split(' ')`, `name.split()`
            [text, Token::Mark('.'), Token::Name(name), Token::Mark('('), rest @ ..]
                if name == "split" && matches!(rest, [Token::Mark(')')] | [Token::Text(_), Token::Mark(')')]) =>
            {
                let text = self.word(std::slice::from_ref(text));
                return text.is_literal().then(|| blanks(&text.text));
            }
            _ => {}
        }
        let parts = parts(tokens, '+');
        if parts.len() > 1 {
            let mut words = self.words(parts.first()?, depth)?;
            for part in parts.get(1..).unwrap_or_default() {
                words.extend(self.words(part, depth).unwrap_or_else(|| vec![shown(part)]));
            }
            return Some(words);
        }
        None
    }

    /// The tokens last assigned to a name, when that happens once.
    fn assigned(&self, name: &str) -> Option<Vec<Token>> {
        if !self.looks_through() {
            return None;
        }
        let mut places = self.tokens.windows(3).enumerate().filter(
            |(_, w)| matches!(w, [Token::Name(n), Token::Mark('='), next] if n == name && *next != Token::Mark('=')),
        );
        let (at, _) = places.next()?;
        if places.next().is_some() {
            return None;
        }
        let value = self.tokens.get(at + 2..).unwrap_or_default();
        let mut depth = 0usize;
        let end = value.iter().position(|t| match t {
            Token::Mark('(' | '[') => {
                depth += 1;
                false
            }
            Token::Mark(')' | ']') => {
                depth = depth.saturating_sub(1);
                false
            }
            Token::Mark(';' | '\n') => depth == 0,
            _ => false,
        });
        Some(value.get(..end.unwrap_or(value.len())).unwrap_or_default().to_vec())
    }
}

/// A text with values in the places that a mark begins: `%s`, `{}`, `{0}`.
fn put_in(text: &Word, values: &[Word], mark: &str) -> Word {
    let mut out = String::new();
    let mut certainty = text.certainty;
    let mut values = values.iter();
    let mut rest = text.text.as_str();
    while let Some((before, after)) = rest.split_once(mark) {
        out.push_str(before);
        let len = if mark == "{" {
            after.find('}').map_or(after.len(), |end| end + 1)
        } else {
            after.chars().next().map_or(0, char::len_utf8)
        };
        match values.next() {
            Some(value) => {
                out.push_str(&value.text);
                certainty = certainty.max(value.certainty);
            }
            None => certainty = Certainty::Computed,
        }
        rest = after.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    Word { text: out, certainty }
}

fn pattern(text: &str) -> Word {
    Word { text: text.to_owned(), certainty: Certainty::Glob }
}

fn blanks(text: &str) -> Vec<Word> {
    text.split_whitespace().map(Word::literal).collect()
}

fn joined(parts: impl Iterator<Item = Word>, between: &str) -> Word {
    let mut text = String::new();
    let mut certainty = Certainty::Literal;
    for (n, part) in parts.enumerate() {
        if between == "/" && part.text.starts_with(['/', '~']) {
            text.clear();
        } else if n > 0 {
            text.push_str(between);
        }
        text.push_str(&part.text);
        certainty = certainty.max(part.certainty);
    }
    Word { text, certainty }
}

/// As it is written: for what cannot be told.
fn shown(tokens: &[Token]) -> Word {
    let texts = tokens.iter().map(|t| match t {
        Token::Text(text) | Token::Template(text) => text.clone(),
        Token::Name(name) => format!("${name}"),
        Token::Mark(_) => String::new(),
    });
    Word::computed(texts.collect::<String>())
}

/// Parts between a mark that is not in brackets.
fn parts(tokens: &[Token], mark: char) -> Vec<Vec<Token>> {
    let mut parts = vec![Vec::new()];
    let mut depth = 0usize;
    for token in tokens {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Mark(c) if *c == mark && depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
    }
    if parts.iter().any(Vec::is_empty) { vec![tokens.to_vec()] } else { parts }
}

/// No bracket closes that was not opened: what stands around these tokens belongs together.
fn closes(inner: &[Token]) -> bool {
    let mut depth = 0usize;
    for token in inner {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => {}
        }
    }
    true
}
