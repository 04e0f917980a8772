//! Brace expansion: `{a,b}`, `{1..5}`.

use crate::source::scan;

/// More words than this out of one are not followed.
const MAX_WORDS: usize = 128;

/// Brace expansion of a word of the source. Too many words: as it stands.
pub(crate) fn braces(raw: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![raw.to_owned()];
    while let Some(word) = open.pop() {
        if done.len() + open.len() > MAX_WORDS {
            return vec![raw.to_owned()];
        }
        match first_braces(&word) {
            Some((head, members, tail)) => {
                open.extend(members.iter().rev().map(|m| format!("{head}{m}{tail}")));
            }
            None => done.push(word),
        }
    }
    done
}

fn first_braces(word: &str) -> Option<(&str, Vec<String>, &str)> {
    let bytes = word.as_bytes();
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        match b {
            b'{' if at == 0 || bytes.get(at - 1) != Some(&b'$') => {
                if let Some((members, len)) = members(word.get(at + 1..)?) {
                    return Some((word.get(..at)?, members, word.get(at + 1 + len..)?));
                }
                at += 1;
            }
            _ => at = skip_quoted(word, at)?,
        }
    }
    None
}

/// The place after what begins here: an escape, quotes, a substitution, or one byte.
fn skip_quoted(word: &str, at: usize) -> Option<usize> {
    let bytes = word.as_bytes();
    let rest = word.get(at + 1..).unwrap_or_default();
    Some(match bytes.get(at)? {
        b'\\' => at + 2,
        b'\'' => at + 2 + rest.find('\'')?,
        b'"' => {
            let mut escaped = false;
            let end = rest.bytes().position(|b| {
                let end = b == b'"' && !escaped;
                escaped = b == b'\\' && !escaped;
                end
            });
            at + 2 + end?
        }
        b'`' => at + 2 + scan::closing_backtick(rest)?,
        b'$' if rest.starts_with('(') => at + 3 + *scan::closing_parens(rest.get(1..)?, 1).first()?,
        b'$' if rest.starts_with('{') => at + 3 + scan::closing_brace(rest.get(1..)?)?,
        _ => at + 1,
    })
}

/// What stands between braces, after the first: the members and the length up to and with the brace that closes.
fn members(inner: &str) -> Option<(Vec<String>, usize)> {
    let (mut at, mut depth, mut from) = (0, 0usize, 0);
    let mut members = Vec::new();
    while let Some(b) = inner.as_bytes().get(at) {
        match b {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'}' => {
                members.push(inner.get(from..at)?.to_owned());
                let members = if members.len() > 1 { members } else { sequence(members.first()?)? };
                return Some((members, at + 1));
            }
            b',' if depth == 0 => {
                members.push(inner.get(from..at)?.to_owned());
                from = at + 1;
            }
            b' ' | b'\n' | b'\t' => return None,
            _ => {
                at = skip_quoted(inner, at)?;
                continue;
            }
        }
        at += 1;
    }
    None
}

/// `1..5`, `a..e`.
fn sequence(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    if let (Ok(from), Ok(to)) = (from.parse::<i32>(), to.parse::<i32>()) {
        if from.abs_diff(to) as usize > MAX_WORDS {
            return None;
        }
        let numbers = from.min(to)..=from.max(to);
        return Some(numbers.map(|n| n.to_string()).collect());
    }
    let (from, to) = (from.parse::<char>().ok()?, to.parse::<char>().ok()?);
    (from.is_ascii_alphabetic() && to.is_ascii_alphabetic())
        .then(|| (from.min(to)..=from.max(to)).map(String::from).collect())
}
