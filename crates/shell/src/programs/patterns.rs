//! What a finder's conditions say about names and paths.

use crate::files::glob;
use crate::reading::Word;

/// A condition by name, path or regular expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub word: Word,
    pub(crate) by: By,
    /// `-iname`, and fd when nothing in the pattern is large.
    pub(crate) any_case: bool,
    /// `! -name x`
    pub(crate) is_negated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Name,
    /// A star stands for slashes, too.
    Path,
    /// Of find: the whole path as it is printed.
    PathRegex,
    /// Of fd: anywhere in the name.
    NameRegex,
}

impl Pattern {
    /// A condition of `find`; none when it says nothing about names.
    pub(crate) fn of_find(option: &str, word: Word, is_negated: bool) -> Option<Self> {
        let plain = option.strip_prefix('-')?;
        let (by, any_case) = match plain {
            "name" | "iname" => (By::Name, plain.starts_with('i')),
            "path" | "ipath" | "wholename" | "iwholename" => (By::Path, plain.starts_with('i')),
            "regex" | "iregex" => (By::PathRegex, plain.starts_with('i')),
            _ => return None,
        };
        Some(Self { word, by, any_case, is_negated })
    }

    /// As a pattern of the shell, where it can be said so.
    pub(crate) fn as_glob(&self) -> Option<String> {
        let text = &self.word.text;
        if !self.is_regex() {
            return Some(self.in_case(text));
        }
        let bare = text.trim_start_matches('^').trim_end_matches('$').replace("\\.", ".");
        let is_plain = bare.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        let (before, behind) =
            (if text.starts_with('^') { "" } else { "*" }, if text.ends_with('$') { "" } else { "*" });
        (is_plain && self.by == By::NameRegex).then(|| format!("{before}{}{behind}", self.in_case(&bare)))
    }

    /// Where the case does not count, each letter in both: `[aA]`.
    fn in_case(&self, text: &str) -> String {
        if !self.any_case {
            return text.to_owned();
        }
        let mut both = String::new();
        let mut in_class = false;
        for c in text.chars() {
            in_class = c == '[' || in_class && c != ']';
            if c.is_ascii_alphabetic() && !in_class {
                both.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
            } else {
                both.push(c);
            }
        }
        both
    }

    pub(crate) fn is_regex(&self) -> bool {
        matches!(self.by, By::PathRegex | By::NameRegex)
    }

    /// Whether it holds for what lies in a folder, both as the finder would print them. A regular expression is only
    /// looked at for the texts in it: where it may hold, it does.
    pub fn holds(&self, folder: &str, inside: &str) -> bool {
        let lowered = |text: &str| if self.any_case { text.to_lowercase() } else { text.to_owned() };
        let path = lowered(&format!("{}/{inside}", folder.trim_end_matches('/')));
        let name = path.rsplit('/').next().unwrap_or_default();
        let pattern = lowered(&self.word.text);
        let fits = match self.by {
            By::Name => glob(&pattern, name),
            By::Path => glob(&pattern, &path),
            By::PathRegex => may_match(&pattern, &path, true),
            By::NameRegex => may_match(&pattern, name, false),
        };
        fits != self.is_negated
    }
}

/// Whether the texts that stand in a regular expression come in the text, in their order, and where they must.
fn may_match(pattern: &str, text: &str, is_whole: bool) -> bool {
    let ends = is_whole || pattern.ends_with('$');
    let bare = pattern.trim_end_matches('$').trim_start_matches('^');
    let ends_in_a_choice = bare.ends_with(')');
    let alternatives: Vec<&str> = bare.split('|').collect();
    let last = alternatives.len().saturating_sub(1);
    alternatives.iter().enumerate().any(|(n, alternative)| {
        let (pieces, ends_fixed) = texts_in(alternative);
        let must_end = ends && ends_fixed && (n == last || ends_in_a_choice);
        let mut rest = text;
        let in_order = pieces.iter().all(|piece| match rest.split_once(piece.as_str()) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        });
        in_order && (!must_end || pieces.last().is_none_or(|piece| text.ends_with(piece.as_str())))
    })
}

/// The texts between the signs of a regular expression, and whether it ends with one.
fn texts_in(pattern: &str) -> (Vec<String>, bool) {
    let mut pieces = vec![String::new()];
    let mut ends_fixed = false;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => match chars.next() {
                // Brackets of find's own kind of expression, at the end of an alternative.
                Some('(' | ')') | None => continue,
                Some(c) if c.is_alphanumeric() => None,
                escaped => escaped,
            },
            '(' | ')' => continue,
            '[' => {
                chars.by_ref().skip(1).find(|c| *c == ']');
                None
            }
            '*' | '?' | '{' => {
                // What stands before it need not be there.
                if let Some(piece) = pieces.last_mut() {
                    piece.pop();
                }
                if c == '{' {
                    chars.by_ref().find(|c| *c == '}');
                }
                None
            }
            '.' | '+' | '^' | '$' => None,
            c => Some(c),
        };
        ends_fixed = literal.is_some();
        match (literal, pieces.last_mut()) {
            (Some(c), Some(piece)) => piece.push(c),
            (Some(_) | None, _) => pieces.push(String::new()),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    (pieces, ends_fixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(option: &str, text: &str) -> Pattern {
        Pattern::of_find(option, Word::literal(text), false).unwrap()
    }

    #[test]
    fn names_and_paths_are_fitted_as_find_does() {
        for (option, text, holds) in [
            ("-name", "settings.json", true),
            ("-name", "SETTINGS.json", false),
            ("-iname", "SETTINGS.json", true),
            ("-name", "*.json", true),
            ("-name", ".claude", false),
            ("-path", "./.claude/*", true),
            ("-path", "*claude*", true),
            ("-path", ".claude/*", false),
            ("-ipath", "*CLAUDE/*", true),
            ("-regex", r".*settings\.json", true),
            ("-regex", r".*\.js", false),
            ("-regex", r".*\.\(js\|ts\)", false),
            ("-regex", r".*/\(settings\|config\)\.json", true),
            ("-regex", r".*\.o", false),
            ("-regex", ".*", true),
            ("-iregex", r".*SETTINGS.*", true),
            ("-regex", r".*/[a-z]+\.json", true),
        ] {
            assert_eq!(pattern(option, text).holds(".", ".claude/settings.json"), holds, "{option} {text}");
        }
        let negated = Pattern { is_negated: true, ..pattern("-path", "./.claude/*") };
        assert!(!negated.holds(".", ".claude/settings.json") && negated.holds(".", "src/settings.json"));
    }
}
