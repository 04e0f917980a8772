//! A command line that is not understood.

use dandori_text::{Expected, Misuse, misuse};

use crate::{every, is_fresh, list, printed};

fn wrong(argument: &str, value: &str, expected: Expected) -> Misuse {
    Misuse::WrongValue { argument: argument.into(), value: value.into(), expected }
}

fn wrong_values() -> Vec<Misuse> {
    let all = every!(Expected {
        Expected::OneOf(_) => [Expected::OneOf(list(&["en", "ja"]))],
        Expected::Dollars => [Expected::Dollars],
        Expected::WholeNumber => [Expected::WholeNumber],
        Expected::Address => [Expected::Address],
        Expected::Text => [Expected::Text],
    });
    all.into_iter().map(|expected| wrong("--option <VALUE>", "x", expected)).collect()
}

fn all() -> Vec<Misuse> {
    let usage = || "dandori task pick <TASK> <RUN>".to_owned();
    let mut all = every!(Misuse {
        Misuse::UnknownOption { .. } => [
            Misuse::UnknownOption { option: "--agnt".into(), near: Some("--agent".into()) },
            Misuse::UnknownOption { option: "--zzz".into(), near: None },
        ],
        Misuse::TooMany { .. } => [Misuse::TooMany { word: "more".into(), usage: usage() }],
        Misuse::UnknownCommand { .. } => [
            Misuse::UnknownCommand { word: "shwo".into(), near: list(&["show"]) },
            Misuse::UnknownCommand { word: "zzz".into(), near: vec![] },
            Misuse::UnknownCommand { word: "fix the bug".into(), near: vec![] },
        ],
        Misuse::NoCommand { .. } => [Misuse::NoCommand { known: list(&["list", "show"]) }],
        Misuse::Missing { .. } => [Misuse::Missing { arguments: list(&["<RUN>"]), usage: usage() }],
        Misuse::NoValue { .. } => [
            Misuse::NoValue { argument: "--base <BASE>".into(), known: vec![] },
            Misuse::NoValue { argument: "--lang <LANG>".into(), known: list(&["en", "ja"]) },
        ],
        Misuse::Empty { .. } => [Misuse::Empty { argument: "<TASK>".into() }],
        Misuse::WrongValue { .. } => [wrong("--lang <LANG>", "fr", Expected::OneOf(list(&["en", "ja"])))],
        Misuse::ValueToFlag { .. } => [Misuse::ValueToFlag { argument: "--json".into(), value: "yes".into() }],
        Misuse::Together { .. } => [
            Misuse::Together { argument: "--agent <AGENT>".into(), others: list(&["--agents <AGENTS>"]) }
        ],
        Misuse::Twice { .. } => [Misuse::Twice { argument: "--base <BASE>".into() }],
        Misuse::NotUtf8 => [Misuse::NotUtf8],
        Misuse::Other { .. } => [Misuse::Other { reason: "something else".into() }],
    });
    all.extend(wrong_values());
    all
}

#[test]
fn every_misuse_reads_well_in_both_languages() {
    let name = |misuse: &Misuse| {
        let shown = format!("{misuse:?}");
        shown.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
    };
    let command = |misuse: &Misuse| match misuse {
        Misuse::UnknownCommand { .. } | Misuse::NoCommand { .. } => "dandori task",
        _ => "dandori task pick",
    };
    let text: Vec<String> =
        all().iter().map(|one| printed(&name(one), |lang| misuse(lang, command(one), one))).collect();
    is_fresh("misuses.txt", &text.join("\n"));
}
