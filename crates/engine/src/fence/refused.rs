//! What the fence refused, as the tools of the run told it: the kernel tells nobody else. Named in the run's notes, so that
//! a user can grant it.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{Refusal, RefusedWhat};

/// How the system says it, and how programs abbreviate that.
const REFUSED: &[&str] = &[
    "Read-only file system",
    "read-only file system",
    "Permission denied",
    "permission denied",
    "Operation not permitted",
    "operation not permitted",
    "EROFS",
    "EACCES",
    "EPERM",
];
/// What is hidden is not there.
const ABSENT: &[&str] = &["No such file or directory", "no such file or directory", "ENOENT"];

/// A line says its path near its reason.
const NEAR: usize = 300;
/// A list is for people to read.
const NAMED: usize = 12;

/// Where a run may write, and what it may not see.
pub(crate) struct Bounds<'p> {
    pub(crate) writable: &'p [Utf8PathBuf],
    pub(crate) hidden: &'p [Utf8PathBuf],
}

/// Each path once, in the order they were told.
pub(crate) fn refused(output: &str, bounds: &Bounds<'_>) -> Vec<Refusal> {
    let mut found: Vec<Refusal> = Vec::new();
    for (at, reason, is_absence) in reasons(output) {
        if found.len() >= NAMED {
            break;
        }
        let Some(path) = path_near(output, at, reason) else { continue };
        let is_hidden = bounds.hidden.iter().any(|hidden| path.starts_with(hidden));
        let is_writable = bounds.writable.iter().any(|place| path.starts_with(place));
        let what = match (is_hidden, is_absence) {
            (true, _) => RefusedWhat::Read,
            (false, true) => continue,
            (false, false) if is_writable => continue,
            (false, false) => RefusedWhat::Write,
        };
        let refusal = Refusal { path: path.to_owned(), what };
        if !found.contains(&refusal) {
            found.push(refusal);
        }
    }
    found
}

/// Where a reason stands, and whether it is only that something is not there.
fn reasons(output: &str) -> Vec<(usize, &'static str, bool)> {
    let all = REFUSED.iter().map(|r| (*r, false)).chain(ABSENT.iter().map(|r| (*r, true)));
    let mut found: Vec<(usize, &'static str, bool)> = all
        .flat_map(|(reason, absent)| output.match_indices(reason).map(move |(at, _)| (at, reason, absent)))
        .collect();
    found.sort_unstable();
    found
}

/// The absolute path before the reason on its line (`touch: cannot touch '/a/b': …`), else after it
/// (`EACCES: permission denied, open '/a/b'`).
fn path_near<'o>(output: &'o str, at: usize, reason: &str) -> Option<&'o Utf8Path> {
    let ends_line = |c: char| c == '\n';
    let start = floor(output, at.saturating_sub(NEAR));
    let before = output.get(start..at)?;
    // In a client's stream a line's end is written as two characters.
    let before = before.rsplit(ends_line).next()?.rsplit("\\n").next()?;
    let after = output.get(at + reason.len()..floor(output, at + reason.len() + NEAR))?;
    let after = after.split(ends_line).next()?.split("\\n").next()?;
    let is_path = |word: &&str| word.len() > 1 && word.starts_with('/') && !word.starts_with("//");
    let divided = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '‘' | '’' | '(' | ')' | ',' | '\\');
    let clean = |word: &'o str| word.trim_end_matches([':', '.', ';']);
    let last = before.split(divided).map(clean).rfind(is_path);
    last.or_else(|| after.split(divided).map(clean).find(is_path)).map(Utf8Path::new)
}

/// The nearest place at or before this one where a character begins.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_tell_is_read_and_their_own_failures_are_not() {
        let (writable, hidden) = ([Utf8PathBuf::from("/w")], [Utf8PathBuf::from("/h/.ssh")]);
        let bounds = Bounds { writable: &writable, hidden: &hidden };
        let output = "touch: cannot touch '/h/.config/x': Read-only file system\n\
             {\"text\":\"line\\nsh: 1: cannot create /etc/evil: Permission denied\\nnext\"}\n\
             Error: EACCES: permission denied, open '/h/notes'\n\
             cat: /h/.ssh/id_rsa: No such file or directory\n\
             cat: /w/missing: No such file or directory\n\
             cat: /elsewhere: No such file or directory\n\
             chmod: changing permissions of '/w/own': Operation not permitted\n\
             touch: cannot touch '/h/.config/x': Read-only file system\n\
             ‘日本語’ Permission denied\n";
        let found: Vec<(String, RefusedWhat)> =
            refused(output, &bounds).into_iter().map(|r| (r.path.into_string(), r.what)).collect();
        let expected = [
            ("/h/.config/x", RefusedWhat::Write),
            ("/etc/evil", RefusedWhat::Write),
            ("/h/notes", RefusedWhat::Write),
            ("/h/.ssh/id_rsa", RefusedWhat::Read),
        ];
        assert_eq!(found, expected.map(|(path, what)| (path.to_owned(), what)));
    }
}
