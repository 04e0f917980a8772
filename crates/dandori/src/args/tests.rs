use std::any::TypeId;

use camino::Utf8PathBuf;
use clap::{Arg, Command};
use dandori_text::{Expected, help as words};

use super::*;

mod help;
mod hints;

/// Every command a user can see, with its path.
fn commands(command: &Command, path: &str) -> Vec<(String, Command)> {
    let mut found = vec![(path.to_owned(), command.clone())];
    for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        found.extend(commands(sub, format!("{path} {}", sub.get_name()).trim()));
    }
    found
}

fn visible(command: &Command) -> impl Iterator<Item = &Arg> {
    command.get_arguments().filter(|a| !a.is_hide_set())
}

#[test]
fn every_command_and_argument_has_words_in_both_languages() {
    let mut missing = Vec::new();
    for (path, command) in commands(&Cli::command(), "") {
        let words = words::command(&path);
        if command.get_about().is_none() || words.is_none() {
            missing.push(path.clone());
        }
        assert!(command.get_long_about().is_none(), "`{path}`: a longer text is in English only");
        for arg in visible(&command) {
            let id = arg.get_id().as_str();
            if arg.get_help().is_none() || words.is_none_or(|w| w.arg(id).is_none()) {
                missing.push(format!("{path} {id}"));
            }
            assert!(arg.get_long_help().is_none(), "`{path} {id}`: a longer text is in English only");
        }
    }
    assert!(missing.is_empty(), "no English or Japanese for: {missing:#?}");
}

#[test]
fn the_table_names_nothing_that_does_not_exist() {
    let commands = commands(&Cli::command(), "");
    let mut named: Vec<&str> = Vec::new();
    for words in words::COMMANDS {
        let found = commands.iter().find(|(path, _)| path == words.path);
        let (_, command) = found.unwrap_or_else(|| panic!("there is no command `{}`", words.path));
        assert!(!named.contains(&words.path), "`{}` stands there twice", words.path);
        named.push(words.path);
        for arg in words.args {
            let found = visible(command).find(|a| a.get_id() == arg.id);
            let found = found.unwrap_or_else(|| panic!("`{}` has no argument `{}`", words.path, arg.id));
            let takes_value = found.get_action().takes_values();
            assert!(arg.value.is_none() || takes_value, "`{} {}` takes no value", words.path, arg.id);
        }
    }
}

#[test]
fn positional_arguments_stay_in_their_order() {
    let mut root = localise::command(Cli::command(), Lang::Ja);
    root.build();
    let (_, mut command) = commands(&root, "").into_iter().find(|(path, _)| path == "task follow-up").unwrap();
    let text = command.render_help().to_string();
    let at = |word: &str| text.find(&format!("\n  {word}")).unwrap_or_else(|| panic!("{word} in\n{text}"));
    assert!(at("<タスク>") < at("[指示]"), "{text}");
}

#[test]
fn what_a_value_must_be_is_known_for_every_type_that_is_parsed() {
    let texts = [TypeId::of::<String>(), TypeId::of::<Utf8PathBuf>()];
    for (path, command) in commands(&Cli::command(), "") {
        for arg in visible(&command).filter(|a| a.get_action().takes_values()) {
            let is_text = texts.iter().any(|t| arg.get_value_parser().type_id() == *t);
            assert!(is_text || misuse::expected(arg) != Expected::Text, "{path} {}", arg.get_id());
        }
    }
}

#[test]
fn the_language_is_found_wherever_it_stands() {
    let of = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        language_among(&words).map(str::to_owned)
    };
    assert_eq!(of("--lang ja run x").as_deref(), Some("ja"));
    assert_eq!(of("run --wrong --lang=ja").as_deref(), Some("ja"));
    assert_eq!(of("run --lang fr"), None);
    assert_eq!(of("run -- --lang ja"), None);
    assert_eq!(of("run --language ja"), None);
}

/// Every path of the command line, hidden ones included.
fn every_path(command: &Command, path: &str) -> Vec<String> {
    let mut found = vec![path.to_owned()];
    for sub in command.get_subcommands() {
        found.extend(every_path(sub, format!("{path} {}", sub.get_name()).trim()));
    }
    found
}

#[test]
fn near_words_are_no_commands_themselves_and_lead_to_ones_that_are() {
    let paths = every_path(&Cli::command(), "");
    let mut typed = std::collections::BTreeSet::new();
    for near in near::TABLE {
        let word = near.typed.join(" ");
        assert!(!paths.contains(&word), "`{word}` is a command now: take it out of the table");
        assert!(typed.insert(word.clone()), "`{word}` stands there twice");
        if let [noun, _] = near.typed {
            assert!(paths.iter().any(|path| path == noun), "`{word}`: there is no `{noun}`");
        }
        let commands = match near.means {
            near::Meaning::Is(command) => vec![command.join(" ")],
            near::Meaning::OneOf(commands) => {
                assert!(commands.len() > 1, "`{word}` has one meaning");
                commands.iter().map(|command| (*command).to_owned()).collect()
            }
        };
        for command in commands {
            assert!(paths.contains(&command), "`{word}` leads to `{command}`, which there is not");
        }
    }
}
