//! Every `--help` in both languages, as it is at 80 columns: `tests/help` holds them to be read, and
//! `UPDATE=1 cargo test -p dandori help` writes them. At other widths they keep to rules.

use clap::{Command, CommandFactory};
use dandori_text::{Lang, table};

use super::super::{Cli, localise};
use super::commands;

fn all(lang: Lang) -> Vec<(String, Command)> {
    let mut root = localise::command(Cli::command(), lang);
    root.build();
    commands(&root, "")
}

fn at(command: &Command, lang: Lang, cells: usize) -> String {
    localise::rendered(&command.clone().render_help().to_string(), lang, cells)
}

fn typed(path: &str) -> String {
    format!("$ dandori {path}").trim_end().to_owned() + " --help"
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a snapshot is written on request")]
fn every_help_is_as_it_was_read() {
    for (lang, name) in [(Lang::En, "en.txt"), (Lang::Ja, "ja.txt")] {
        let pages: Vec<String> =
            all(lang).iter().map(|(path, command)| format!("{}\n{}", typed(path), at(command, lang, 80))).collect();
        let made = pages.join("\n");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help").join(name);
        if std::env::var("UPDATE").is_ok() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &made).unwrap();
            continue;
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let changed = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
        assert!(kept == made, "{name} is stale at {changed:?}: UPDATE=1 cargo test -p dandori help, and read it");
    }
}

/// A line to be typed into a shell is the same in every language, and stays in one piece.
fn is_to_be_typed(line: &str) -> bool {
    line.contains("dandori completions ")
}

#[test]
fn no_help_is_wider_than_the_terminal_and_no_word_is_broken() {
    for lang in [Lang::En, Lang::Ja] {
        for (path, command) in all(lang) {
            let whole = at(&command, lang, usize::MAX);
            let words: Vec<&str> = whole.split_whitespace().collect();
            for cells in [40, 60, 80, 140] {
                let help = at(&command, lang, cells);
                for line in help.lines().filter(|line| !is_to_be_typed(line)) {
                    assert!(table::width(line) <= cells, "{path} at {cells}: {line}\n{help}");
                }
                // Between Japanese characters a line may end anywhere, but not inside of a name or a command.
                let is_plain = |word: &&&str| word.is_ascii();
                let kept: Vec<&str> = help.split_whitespace().collect();
                for word in words.iter().filter(is_plain) {
                    assert!(
                        kept.iter().any(|kept| kept.contains(*word)),
                        "{path} at {cells}: {word} is broken\n{help}"
                    );
                }
                if lang == Lang::En {
                    assert_eq!(kept, words, "{path} at {cells}");
                }
            }
        }
    }
}

#[test]
fn japanese_help_has_no_english_words() {
    for (path, command) in all(Lang::Ja) {
        let text = at(&command, Lang::Ja, usize::MAX);
        for line in text.lines().filter(|l| !l.is_empty() && !is_to_be_typed(l)) {
            assert!(!line.is_ascii(), "{path}: {line}");
        }
        for english in ["Usage:", "Options:", "OPTIONS", "Commands:", "Arguments:", "[default", "[possible"] {
            assert!(!text.contains(english), "{path}: {english} in\n{text}");
        }
    }
}
