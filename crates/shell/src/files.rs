//! Paths as text: joining, cleaning, matching. The file system is not asked.

use crate::reading::{Certainty, Cwd, How, Touch, Write};

/// A path below a base, without `.` and `..` as far as they can be resolved in text.
pub(crate) fn join(base: Option<&str>, path: &str) -> String {
    let absolute = path.starts_with(['/', '~', '$']);
    match base {
        Some(base) if !absolute && base != "." => clean(&format!("{base}/{path}")),
        _ => clean(path),
    }
}

fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != ".." && !p.starts_with(['~', '$'])) => {
                parts.pop();
            }
            ".." if rooted && parts.is_empty() => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted {
        format!("/{joined}")
    } else if joined.is_empty() {
        ".".to_owned()
    } else {
        joined
    }
}

pub(crate) fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero" | "-")
        || path.starts_with("/dev/fd/")
        || path.starts_with("/dev/tcp/")
}

/// `a/b/c` ends with the path `b/c`.
pub(crate) fn ends_with_path(path: &str, end: &str) -> bool {
    path == end || path.strip_suffix(end).is_some_and(|head| head.ends_with('/'))
}

pub(crate) fn touches(write: &Write, path: &str) -> Touch {
    let path = clean(path);
    let mine = &write.path.text;
    let whole_folder = write.how.takes_folders();
    let below = |folder: &str| {
        folder == "." && !path.starts_with(['/', '~']) || path.strip_prefix(folder).is_some_and(|r| r.starts_with('/'))
    };
    let same = *mine == path;
    // One given from the root, the other not: the shorter may be the end of the longer.
    let perhaps_same =
        mine.starts_with('/') != path.starts_with('/') && (ends_with_path(mine, &path) || ends_with_path(&path, mine));
    match write.path.certainty {
        Certainty::Literal if same && (write.cwd != Cwd::Unknown || mine.starts_with(['/', '~'])) => Touch::Yes,
        Certainty::Literal | Certainty::Glob if same || perhaps_same => Touch::Perhaps,
        Certainty::Literal if whole_folder && below(mine) => {
            if matches!(write.how, How::Removed | How::MovedAway | How::Mode) { Touch::Yes } else { Touch::Perhaps }
        }
        Certainty::Literal if write.cwd == Cwd::Unknown && ends_with_path(&path, mine.trim_start_matches("../")) => {
            Touch::Perhaps
        }
        Certainty::Literal => Touch::No,
        Certainty::Glob | Certainty::Names => {
            let matches = glob(mine, &path)
                || path.rsplit('/').next().is_some_and(|name| glob(mine.rsplit('/').next().unwrap_or(mine), name));
            let folder = whole_folder && path.split('/').any(|part| glob(mine, part));
            if matches || folder { Touch::Perhaps } else { Touch::No }
        }
        Certainty::Computed => {
            // What is known of the end must fit.
            let known_end = mine.rsplit(['$', ')', '}', '…']).next().unwrap_or_default();
            let tail = known_end.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@');
            if tail.is_empty() || path.ends_with(tail) || tail.ends_with('/') { Touch::Perhaps } else { Touch::No }
        }
    }
}

/// Shell pattern matching on text: `*`, `?`, `[…]`.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        let step = match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some('?') => Some(p + 1),
            Some('[') => class(&pattern, p, text.get(t).copied().unwrap_or_default()),
            Some(c) if text.get(t) == Some(c) => Some(p + 1),
            _ => None,
        };
        match (step, star) {
            (Some(next), _) => {
                p = next;
                t += 1;
            }
            (None, Some((at, from))) => {
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
            (None, None) => return false,
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|c| *c == '*'))
}

/// The place after `[…]` when it holds the character.
fn class(pattern: &[char], at: usize, c: char) -> Option<usize> {
    let end = at + 2 + pattern.get(at + 2..)?.iter().position(|c| *c == ']')?;
    let set = pattern.get(at + 1..end)?;
    let (negated, set) = match set.first() {
        Some('!' | '^') => (true, set.get(1..)?),
        _ => (false, set),
    };
    let ranged = set.windows(3).any(|w| matches!(w, [a, '-', b] if (*a..=*b).contains(&c)));
    ((set.contains(&c) || ranged) != negated).then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_cleaned() {
        for (base, path, joined) in [
            (None, "./a//b/../c", "a/c"),
            (Some("d"), "../f", "f"),
            (Some("/w/d"), "f", "/w/d/f"),
            (Some("d"), "/f", "/f"),
            (None, "../../x", "../../x"),
            (None, ".", "."),
        ] {
            assert_eq!(join(base, path), joined);
        }
    }

    #[test]
    fn patterns_match_as_in_the_shell() {
        assert!(glob("prot*", "protected.txt") && glob("p?otected.[a-z]xt", "protected.txt") && glob("*", ""));
        assert!(!glob("prot", "protected.txt") && !glob("[!p]*", "protected.txt") && !glob("*.rs", "a.txt"));
    }
}
