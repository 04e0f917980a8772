//! Screens as text files: written with `UPDATE=1`, compared otherwise; and what has to hold for every one of them.

use std::path::PathBuf;

use dandori_text::Lang;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(crate) struct Screens {
    folder: PathBuf,
    lang: Lang,
    columns: u16,
    number: usize,
    faults: Vec<String>,
}

impl Screens {
    pub(crate) fn new(lang: Lang, columns: u16) -> Self {
        let name = format!(
            "{}-{columns}",
            match lang {
                Lang::En => "en",
                Lang::Ja => "ja",
            }
        );
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ten_minutes/screens").join(name);
        if is_update() {
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).unwrap();
        }
        Self { folder, lang, columns, number: 0, faults: Vec::new() }
    }

    /// One more: the command as it was typed, then the lines it left on the screen, as they were printed.
    pub(crate) fn show(&mut self, name: &str, typed: &str, lines: &str) {
        self.number += 1;
        let name = format!("{:02}-{name}.txt", self.number);
        for fault in faults(self.lang, self.columns, lines) {
            self.faults.push(format!("{name}: {fault}"));
        }
        let rows: Vec<String> = lines.lines().flat_map(|line| broken(line, self.columns.into())).collect();
        let rows = rows.join("\n");
        let text = format!("$ {typed}\n{rows}\n");
        let path = self.folder.join(&name);
        if is_update() {
            std::fs::write(&path, text).unwrap();
            return;
        }
        let wanted = std::fs::read_to_string(&path).unwrap_or_default();
        if wanted != text {
            self.faults.push(format!("{} is different now:\n{}", path.display(), difference(&wanted, &text)));
        }
    }

    /// Something is wrong with the last screen.
    pub(crate) fn fault(&mut self, what: &str) {
        self.faults.push(format!("{:02}: {what}", self.number));
    }

    /// Fails the test with everything that was found.
    pub(crate) fn close(self) {
        if !is_update() {
            let stored = std::fs::read_dir(&self.folder).map_or(0, Iterator::count);
            assert_eq!(stored, self.number, "screens that no longer exist are stored in {}", self.folder.display());
        }
        assert!(self.faults.is_empty(), "`UPDATE=1` stores what is there now\n{}", self.faults.join("\n"));
    }
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// What is wrong with a screen, whatever it shows.
fn faults(lang: Lang, columns: u16, lines: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for line in lines.lines() {
        if line.width() > columns.into() && !is_one_thing(line) {
            faults.push(format!("the terminal had to break {line:?}"));
        }
        if line.matches('`').count() % 2 == 1 {
            faults.push(format!("a command is broken in {line:?}"));
        }
        if lang == Lang::Ja && has_english_sentence(line) {
            faults.push(format!("not in Japanese: {line:?}"));
        }
    }
    if lines.contains('\u{fffd}') {
        faults.push("a character was cut".to_owned());
    }
    faults
}

/// The rows a terminal makes of a line.
fn broken(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for c in line.chars() {
        let row = rows.last().map_or(0, |row| row.width());
        if row + c.width().unwrap_or(0) > columns {
            rows.push(String::new());
        }
        rows.last_mut().unwrap().push(c);
    }
    rows
}

/// A path, an address or a command that is too long for the screen and cannot be broken.
fn is_one_thing(line: &str) -> bool {
    let thing = line.trim().trim_start_matches("next: ").trim_start_matches("次に: ");
    let is_command = thing.starts_with('`') && thing.ends_with('`')
        || ["cd ", "export ", "alias ", "dandori ", "rm ", "git "].iter().any(|word| thing.starts_with(word));
    is_command || !thing.contains(' ')
}

/// Four plain English words in a row, outside of commands.
fn has_english_sentence(line: &str) -> bool {
    if is_one_thing(line) {
        return false;
    }
    let outside: Vec<&str> = line.split('`').step_by(2).collect();
    outside.iter().any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.windows(4).any(|four| four.iter().all(|word| is_english(word)))
    })
}

fn is_english(word: &str) -> bool {
    let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase())
}

/// Rows that are only here or only there.
fn difference(wanted: &str, now: &str) -> String {
    let (wanted, now): (Vec<&str>, Vec<&str>) = (wanted.lines().collect(), now.lines().collect());
    let same = wanted.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let tail = wanted[same..].iter().rev().zip(now[same..].iter().rev()).take_while(|(a, b)| a == b).count();
    let lost = wanted[same..wanted.len() - tail].iter().map(|row| format!("  - {row}"));
    let found = now[same..now.len() - tail].iter().map(|row| format!("  + {row}"));
    lost.chain(found).collect::<Vec<_>>().join("\n")
}
