//! What clap found wrong with the command line, in our words.

use std::any::TypeId;
use std::net::SocketAddr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use dandori_text::{Expected, Lang, Misuse, Said};

use crate::localise;

/// `words` is the command line without the program's name.
pub(crate) fn said(lang: Lang, error: &clap::Error, root: &Command, words: &[String]) -> Said {
    let (command, path) = meant(root, words);
    dandori_text::misuse(lang, &path, &found(lang, error, command, words))
}

/// The command the user came to, as far as the words name one.
fn meant<'a>(root: &'a Command, words: &[String]) -> (&'a Command, String) {
    let mut command = root;
    let mut path = root.get_name().to_owned();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--lang" {
            words.next();
        } else if !word.starts_with('-') {
            let Some(sub) = command.find_subcommand(word) else { break };
            command = sub;
            path = format!("{path} {word}");
        }
    }
    (command, path)
}

fn found(lang: Lang, error: &clap::Error, command: &Command, words: &[String]) -> Misuse {
    let all = |kind| texts(error.get(kind));
    let one = |kind| all(kind).into_iter().next().unwrap_or_default();
    let argument = || one(ContextKind::InvalidArg);
    let value = || one(ContextKind::InvalidValue);
    let usage = || {
        // It repeats what was given; what goes with every command is no part of how this one is used.
        let everywhere = command.get_arguments().filter(|a| a.is_global_set());
        let usage = everywhere.fold(one(ContextKind::Usage), |usage, arg| usage.replace(&format!("{arg} "), ""));
        localise::usage(usage.trim_start_matches("Usage:").trim(), lang)
    };
    match error.kind() {
        ErrorKind::UnknownArgument if argument().starts_with('-') => {
            Misuse::UnknownOption { option: argument(), near: all(ContextKind::SuggestedArg).pop() }
        }
        ErrorKind::UnknownArgument => Misuse::TooMany { word: argument(), usage: usage() },
        ErrorKind::InvalidSubcommand => Misuse::UnknownCommand {
            word: one(ContextKind::InvalidSubcommand),
            // The most like it comes last.
            near: all(ContextKind::SuggestedSubcommand).into_iter().rev().collect(),
        },
        ErrorKind::MissingSubcommand => Misuse::NoCommand { known: all(ContextKind::ValidSubcommand) },
        ErrorKind::MissingRequiredArgument => {
            Misuse::Missing { arguments: all(ContextKind::InvalidArg), usage: usage() }
        }
        ErrorKind::InvalidValue if value().is_empty() && words.iter().any(|w| w.is_empty() || w.ends_with('=')) => {
            Misuse::Empty { argument: argument() }
        }
        ErrorKind::InvalidValue if value().is_empty() => {
            Misuse::NoValue { argument: argument(), known: all(ContextKind::ValidValue) }
        }
        ErrorKind::InvalidValue => Misuse::WrongValue {
            argument: argument(),
            value: value(),
            expected: Expected::OneOf(all(ContextKind::ValidValue)),
        },
        ErrorKind::ValueValidation => {
            let arg = command.get_arguments().find(|a| a.to_string() == argument());
            Misuse::WrongValue { argument: argument(), value: value(), expected: arg.map_or(Expected::Text, expected) }
        }
        ErrorKind::TooManyValues => Misuse::ValueToFlag { argument: argument(), value: value() },
        ErrorKind::ArgumentConflict => match all(ContextKind::PriorArg) {
            others if others.is_empty() || others.contains(&argument()) => Misuse::Twice { argument: argument() },
            others => Misuse::Together { argument: argument(), others },
        },
        ErrorKind::InvalidUtf8 => Misuse::NotUtf8,
        _ => Misuse::Other { reason: error.to_string().lines().next().unwrap_or_default().to_owned() },
    }
}

/// What an argument takes, by the type it is read as.
pub(crate) fn expected(arg: &Arg) -> Expected {
    let choices: Vec<_> = arg.get_possible_values().iter().map(|v| v.get_name().to_owned()).collect();
    let parsed = arg.get_value_parser().type_id();
    let numbers = [
        TypeId::of::<u8>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ];
    let is_number = numbers.iter().any(|t| parsed == *t);
    if !choices.is_empty() {
        Expected::OneOf(choices)
    } else if is_number {
        Expected::WholeNumber
    } else if parsed == TypeId::of::<f64>() {
        Expected::Dollars
    } else if parsed == TypeId::of::<SocketAddr>() {
        Expected::Address
    } else {
        Expected::Text
    }
}

fn texts(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        _ => Vec::new(),
    }
}
