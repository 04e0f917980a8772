//! What is different every time is written the same every time: the one place that knows what that is.
//!
//! Everything is replaced by something as wide, so that a screen still shows where its lines were broken.

use std::collections::BTreeMap;

use dandori_domain::run::Status;

/// Words that are different each time, with what stands for them. Learned from one screen, they are known on the next.
#[derive(Default)]
pub(crate) struct Plain {
    known: BTreeMap<String, String>,
    keys: usize,
    commits: usize,
}

/// What a key of eight characters stands behind: of a run, a worktree or a repository.
const BEFORE_A_KEY: [&str; 6] = ["dandori/", "run_", "repos/", "wt_", "preserved/", "worktree restore "];
const KEY: usize = 8;
/// A run's whole id ends with its key.
const RUN_ID: usize = 26;
const COMMIT: usize = 7;
/// Milliseconds, as they stand behind a key.
const TIME: usize = 13;

impl Plain {
    /// `root` is the environment's folder.
    pub(crate) fn new(root: &str) -> Self {
        let mut plain = Self::default();
        let name = root.rsplit('/').next().unwrap_or_default();
        plain.known.insert(name.to_owned(), format!("dd-{}", "0".repeat(name.len() - 3)));
        plain
    }

    pub(crate) fn of(&mut self, lines: &str) -> String {
        self.learn(lines);
        let mut text = lines.to_owned();
        for (found, instead) in &self.known {
            text = text.replace(found, instead);
        }
        let text: String = text.chars().map(|c| if ('\u{2800}'..='\u{28ff}').contains(&c) { '⠋' } else { c }).collect();
        text.lines().map(|line| numbers(line).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    fn learn(&mut self, lines: &str) {
        for before in BEFORE_A_KEY {
            for (at, _) in lines.match_indices(before) {
                let word = word(&lines[at + before.len()..]);
                match word.len() {
                    KEY => self.learn_key(word),
                    RUN_ID => {
                        self.known.insert(word[..RUN_ID - KEY].to_owned(), "0".repeat(RUN_ID - KEY));
                        self.learn_key(&word[RUN_ID - KEY..]);
                    }
                    _ => {}
                }
            }
        }
        // A key also stands before a state, with an agent's name between them in lists, and before a task's number.
        let words: Vec<&str> = lines.split_whitespace().filter(|word| !["claude", "codex"].contains(word)).collect();
        for pair in words.windows(2) {
            let is_known = Status::ALL.iter().any(|state| state.as_str() == pair[1]) || pair[1].starts_with("T-");
            if is_known && pair[0].len() == KEY {
                self.learn_key(pair[0]);
            }
        }
        for word in lines.split(|c: char| !c.is_ascii_alphanumeric()) {
            let is_hex = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
            if is_hex && matches!(word.len(), COMMIT | 40) && !self.known.contains_key(word) {
                self.commits += 1;
                let instead = format!("{:0width$x}", 0xc00_0000 + self.commits, width = word.len());
                self.known.insert(word.to_owned(), instead);
            }
        }
        if let Some((_, rest)) = lines.split_once("dandori-demo-") {
            let name = word(rest);
            self.known.insert(format!("dandori-demo-{name}"), format!("dandori-demo-{}", "0".repeat(name.len())));
        }
    }

    fn learn_key(&mut self, key: &str) {
        let is_key = key.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        if is_key && !self.known.contains_key(key) {
            self.keys += 1;
            self.known.insert(key.to_owned(), format!("key{:05}", self.keys));
        }
    }
}

/// The letters and digits a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// Durations, ages, sizes and times of a line.
fn numbers(line: &str) -> String {
    const UNITS: [&str; 11] = ["s ago", " s", "s", "m", " 秒前", "秒前", " 秒", "秒", " MiB", "\u{a0}MiB", "MiB"];
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        out += before;
        let digits = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (value, after) = number.split_at(digits);
        let is_word = out.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '"');
        let unit = UNITS.into_iter().find(|unit| {
            after.strip_prefix(unit).is_some_and(|end| !end.starts_with(|c: char| c.is_ascii_alphanumeric()))
        });
        rest = after;
        match unit {
            Some(unit) if !is_word => {
                out += "1";
                out += if unit == "m" { "s" } else { unit };
                rest = &after[unit.len()..];
                // What stands behind it in a column stays where it is.
                if rest.starts_with("  ") {
                    out += &" ".repeat(value.len() - 1);
                }
            }
            _ if value.len() == TIME => out += &"0".repeat(TIME),
            _ => out += value,
        }
    }
    out + rest
}
