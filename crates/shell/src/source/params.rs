//! `${…}`: what a parameter expansion stands for.

use crate::reading::{Reach, Why, Word};
use crate::source::expand::Fields;
use crate::walk::Walker;
use crate::walk::scope::Variable;

impl Walker<'_> {
    /// The text between the braces.
    pub(crate) fn parameter(&mut self, inner: &str, out: &mut Fields, quoted: bool) {
        let indirect = inner.starts_with('!');
        let body = inner.strip_prefix('!').unwrap_or(inner);
        if let Some(of) = body.strip_prefix('#').filter(|of| !of.is_empty()) {
            self.subscript(of);
            return out.unknown(&format!("${{{inner}}}"));
        }
        let len = match body.chars().next() {
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len())
            }
            Some(c) => c.len_utf8(),
            None => 0,
        };
        let (name, mut operation) = body.split_at(len);
        let mut index = None;
        if let Some(after) = operation.strip_prefix('[')
            && let Some(end) = after.find(']')
        {
            index = after.get(..end);
            operation = after.get(end + 1..).unwrap_or_default();
        }
        let mut value = self.element(name, index);
        if indirect {
            value = match value.as_deref() {
                Some([target]) if target.is_literal() && operation.is_empty() => {
                    let (name, index) = target.text.split_once('[').unwrap_or((&target.text, ""));
                    let (name, index) = (name.to_owned(), index.trim_end_matches(']').to_owned());
                    self.element(&name, (!index.is_empty()).then_some(index.as_str()))
                }
                _ => None,
            };
        }
        self.operate(inner, name, operation, value, out, quoted);
    }

    fn operate(
        &mut self,
        inner: &str,
        name: &str,
        operation: &str,
        value: Option<Vec<Word>>,
        out: &mut Fields,
        quoted: bool,
    ) {
        let (colon, operator) = match operation.strip_prefix(':') {
            Some(rest) => (true, rest),
            None => (false, operation),
        };
        let argument = operator.get(1..).unwrap_or_default();
        let empty = |v: &[Word]| v.iter().all(|w| w.text.is_empty());
        match (operator.chars().next(), value) {
            (None, Some(value)) if !colon => out.values(&value, quoted),
            (None, None) if !colon => self.variable(name, out, quoted),
            // A default stands for the value unless the line itself sets one: that is how it is meant.
            (Some('-' | '='), value) => match value {
                Some(value) if !empty(&value) || !colon => out.values(&value, quoted),
                _ => {
                    if operator.starts_with('=') {
                        // Once: each further level would double the work.
                        let set = self.expand_one(argument);
                        out.value(&set, quoted);
                        return self.scope.set(name, set);
                    }
                    let set_elsewhere = matches!(self.scope.variable(name), Some(Variable::Unknown));
                    if set_elsewhere {
                        self.word_inside(argument);
                        out.unknown(&format!("${{{inner}}}"));
                    } else {
                        self.expand_inside(argument, out, quoted);
                    }
                }
            },
            (Some('+'), Some(value)) => {
                if !(empty(&value) && colon) {
                    self.expand_inside(argument, out, quoted);
                }
            }
            // `${x@P}` expands what x holds as a prompt, and prompts run their substitutions.
            (Some('@'), value) if argument.starts_with('P') => {
                match value {
                    Some(value) => value.iter().for_each(|word| self.runs_within(&word.text)),
                    None => self.opaque(Why::UnseenCode, &format!("${{{inner}}}")),
                }
                out.unknown(&format!("${{{inner}}}"));
            }
            (Some('?'), Some(value)) => out.values(&value, quoted),
            (Some(c), Some(value)) if colon && (c.is_ascii_digit() || c == ' ' || c == '(') && value.len() == 1 => {
                match value.first().and_then(|v| substring(&v.text, operator)) {
                    Some(text) => out.value(&Word::literal(text), quoted),
                    None => out.unknown(&format!("${{{inner}}}")),
                }
            }
            (Some('/'), Some(value)) if value.len() == 1 => {
                let replaced = value.first().and_then(|v| replace(&v.text, operator));
                match replaced {
                    Some(text) => out.value(&Word::literal(text), quoted),
                    None => {
                        self.word_inside(argument);
                        out.unknown(&format!("${{{inner}}}"));
                    }
                }
            }
            (_, value) => {
                // Patterns and the like may hold substitutions, which run.
                self.word_inside(operator);
                let base = value.as_deref().and_then(<[Word]>::first).map(|w| w.text.clone());
                out.unknown(&base.map_or_else(|| format!("${{{inner}}}"), |b| format!("${{{inner}}}({b})")));
            }
        }
    }

    /// A default or alternative: a word of its own.
    fn expand_inside(&mut self, argument: &str, out: &mut Fields, quoted: bool) {
        let was = std::mem::replace(&mut self.loose, true);
        if quoted {
            let word = self.expand_document(argument);
            out.value(&word, true);
        } else {
            let words: Vec<Word> = self.expand(argument);
            out.values(&words, false);
        }
        self.loose = was;
    }

    pub(crate) fn word_inside(&mut self, argument: &str) {
        let was = std::mem::replace(&mut self.loose, true);
        self.expand_one(argument);
        self.loose = was;
    }

    /// A text the shell expands once more: a subscript, a prompt.
    pub(crate) fn runs_within(&mut self, text: &str) {
        if !holds_code(text) || !self.spend() {
            return;
        }
        if self.is_too_deep() {
            // `i='$((i))'` holds itself.
            return self.opaque(Why::TooLarge, text);
        }
        self.within(Reach::Substitution, |walker| walker.expand_document(text));
    }

    /// Arithmetic looks names up and evaluates what they hold: after `i='a[$(x)]'`, `$((i))` runs x.
    pub(crate) fn evaluates(&mut self, expression: &str) {
        let names = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for name in names.filter(|n| n.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')) {
            for word in self.lookup(name).unwrap_or_default() {
                self.runs_within(&word.text);
            }
        }
    }

    fn subscript(&mut self, of: &str) {
        if let Some((_, index)) = of.split_once('[') {
            self.word_inside(index);
        }
    }

    fn element(&mut self, name: &str, index: Option<&str>) -> Option<Vec<Word>> {
        let Some(index) = index else { return self.lookup(name) };
        if !matches!(index, "@" | "*") {
            self.word_inside(index);
        }
        let Some(Variable::Words(words)) = self.scope.variable(name) else { return None };
        match index {
            "@" | "*" => Some(words.clone()),
            _ => Some(words.get(index.parse::<usize>().ok()?).cloned().into_iter().collect()),
        }
    }
}

pub(crate) fn holds_code(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// `:2:3` of a text, with plain numbers only.
fn substring(text: &str, operator: &str) -> Option<String> {
    let (offset, length) = operator.split_once(':').unwrap_or((operator, ""));
    let offset = offset.trim().parse::<usize>().ok()?;
    let length = if length.is_empty() { usize::MAX } else { length.trim().parse::<usize>().ok()? };
    Some(text.chars().skip(offset).take(length).collect())
}

/// `/a/b` and `//a/b`, with plain text only.
fn replace(text: &str, operator: &str) -> Option<String> {
    let body = operator.strip_prefix('/')?;
    let (all, body) = match body.strip_prefix('/') {
        Some(body) => (true, body),
        None => (false, body),
    };
    let (pattern, with) = body.split_once('/').unwrap_or((body, ""));
    let plain = |s: &str| s.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ' | '.' | ','));
    if pattern.is_empty() || !plain(pattern) || !plain(with) {
        return None;
    }
    let grown = text.matches(pattern).count().saturating_mul(with.len());
    if text.len() + grown > crate::MAX_BYTES {
        return None;
    }
    Some(if all { text.replace(pattern, with) } else { text.replacen(pattern, with, 1) })
}
