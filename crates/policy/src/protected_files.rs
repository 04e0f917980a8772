//! `.claude/protected-files.txt`: one pattern a line, with a word for how much it weighs.
//!
//! `BLOCK:path`, `WARN:path`, `path BLOCK`, or only the path, which is a block. Comments begin with `#`. What is not
//! understood is named, and protects as far as a path can be found in it: a slip must not open a file.

use camino::Utf8Path;
use dandori_config::guards::is_glob;
use dandori_domain::guard::{Level, RulesNote};
use dandori_guard::rules::Protected;

/// More odd lines than this are somebody else's format: naming each would bury everything else.
const NAMED: usize = 5;

pub fn read(path: &Utf8Path, text: &str) -> (Vec<Protected>, Vec<RulesNote>) {
    let (mut found, mut notes) = (Vec::new(), Vec::new());
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = without_comment(line);
        if line.is_empty() {
            continue;
        }
        let (pattern, level) = split(line);
        let pattern = pattern.trim();
        if level.is_none() || !is_glob(pattern) {
            let odd = RulesNote::OddLine { path: path.to_owned(), line: i + 1, text: line.chars().take(80).collect() };
            notes.push(odd);
        }
        if is_glob(pattern) {
            found.push(Protected { pattern: pattern.to_owned(), level: level.unwrap_or(Level::Block) });
        }
    }
    notes.truncate(NAMED);
    (found, notes)
}

fn without_comment(line: &str) -> &str {
    let line = line.trim();
    if line.starts_with('#') {
        return "";
    }
    line.split_once(" #").or_else(|| line.split_once("\t#")).map_or(line, |(before, _)| before).trim_end()
}

/// The pattern and its level; `None` when a word stands for one that is not known.
fn split(line: &str) -> (&str, Option<Level>) {
    if let Some((word, pattern)) = line.split_once(':')
        && !word.is_empty()
        && word.chars().all(|c| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | ' '))
    {
        return (pattern, level(word.trim()));
    }
    if let Some((pattern, word)) = line.rsplit_once(char::is_whitespace)
        && let Some(level) = level(word).filter(|_| !word.chars().any(|c| c.is_ascii_lowercase()))
    {
        return (pattern, Some(level));
    }
    // An exception as ignore files write it: what it takes back there stands before it, here behind it.
    match line.strip_prefix('!') {
        Some(_) => ("", None),
        None => (line, Some(Level::Block)),
    }
}

fn level(word: &str) -> Option<Level> {
    match word.to_ascii_uppercase().as_str() {
        "BLOCK" | "HARD_BLOCK" | "DENY" => Some(Level::Block),
        "ASK" => Some(Level::Ask),
        "WARN" | "WARNING" => Some(Level::Warn),
        "INFO" => Some(Level::Info),
        "ALLOW" | "OFF" => Some(Level::Off),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> (Vec<(String, Level)>, Vec<usize>) {
        let (found, notes) = read(Utf8Path::new("p.txt"), text);
        let odd = notes.iter().map(|note| if let RulesNote::OddLine { line, .. } = note { *line } else { 0 });
        (found.into_iter().map(|p| (p.pattern, p.level)).collect(), odd.collect())
    }

    #[test]
    fn a_line_is_a_pattern_with_its_level_before_or_behind_or_none() {
        for (line, pattern, level) in [
            ("BLOCK:CLAUDE.md", "CLAUDE.md", Level::Block),
            ("HARD_BLOCK:CLAUDE.md", "CLAUDE.md", Level::Block),
            ("WARN: docs/**/*.md", "docs/**/*.md", Level::Warn),
            ("warn:a", "a", Level::Warn),
            ("ALLOW:src/gen/**", "src/gen/**", Level::Off),
            (".claude/settings.json", ".claude/settings.json", Level::Block),
            ("src/core/** BLOCK", "src/core/**", Level::Block),
            ("a b.txt\tWARN  # why", "a b.txt", Level::Warn),
            ("my file", "my file", Level::Block),
            ("turn off", "turn off", Level::Block),
            ("a#b", "a#b", Level::Block),
            ("  ASK:x\r", "x", Level::Ask),
            ("\u{feff}BLOCK:first", "first", Level::Block),
            ("日本/語.md WARN", "日本/語.md", Level::Warn),
        ] {
            assert_eq!(lines(line), (vec![(pattern.to_owned(), level)], vec![]), "{line:?}");
        }
        assert_eq!(lines("# a\n\n   \n\t# b\n").0, []);
    }

    #[test]
    fn odd_lines_are_named_and_protect_what_can_be_found_in_them() {
        let (found, odd) = lines("BLOCK:a\nLOCK:b\nWARN:\n!c\nBLOCK:x[\nBLOCK:d");
        let block = |pattern: &str| (pattern.to_owned(), Level::Block);
        assert_eq!(found, [block("a"), block("b"), block("d")]);
        assert_eq!(odd, [2, 3, 4, 5]);
        assert_eq!(lines(&"X:y\n".repeat(100)).1.len(), NAMED);
    }
}
