//! The command line in the reader's language: English as it is defined, Japanese from a table.
//!
//! clap breaks lines at spaces only, which Japanese has not, so its lines are left whole and broken here.

use clap::builder::Styles;
use clap::{Arg, Command};
use dandori_text::help::{self, CommandHelp};
use dandori_text::{Lang, table, wrap};

/// A narrower column of words is not worth making: the terminal may wrap it.
const LEAST: usize = 20;

/// The same command line, its words in this language.
pub(crate) fn command(command: Command, lang: Lang) -> Command {
    match lang {
        Lang::En => command,
        Lang::Ja => japanese(command, ""),
    }
}

/// A rendered help, no line wider than `cells`.
pub(crate) fn rendered(help: &str, lang: Lang, cells: usize) -> String {
    match lang {
        Lang::En => help.to_owned(),
        Lang::Ja => usage(help, lang).lines().map(|line| wrapped(line, cells) + "\n").collect(),
    }
}

/// A usage line: one word of it is clap's own and cannot be set.
pub(crate) fn usage(line: &str, lang: Lang) -> String {
    match lang {
        Lang::En => line.to_owned(),
        Lang::Ja => line.replace("[OPTIONS]", &format!("[{}]", help::OPTIONS)),
    }
}

fn japanese(command: Command, path: &str) -> Command {
    let words = help::command(path);
    let header = Styles::styled().get_header().to_owned();
    let usage = help::USAGE;
    let command = command
        .term_width(0)
        .help_template(format!(
            "{{before-help}}{{about-with-newline}}\n{header}{usage}:{header:#} {{usage}}\n\n{{all-args}}{{after-help}}"
        ))
        .subcommand_help_heading(help::COMMAND)
        .subcommand_value_name(help::COMMAND);
    let command = match words {
        Some(words) => command.about(words.about),
        None => command,
    };
    let command = match path {
        "" => command.after_help(help::EXIT_CODES),
        "completions" => command.after_help(help::INSTALL_COMPLETIONS),
        _ => command,
    };
    // Under headings of their own, clap would sort positional arguments by name.
    let mut place = 0;
    command
        .mut_args(|arg| {
            place += 1;
            localised(arg, words).display_order(place)
        })
        .mut_subcommands(|sub| {
            let path = format!("{path} {}", sub.get_name());
            japanese(sub, path.trim_start())
        })
}

fn localised(arg: Arg, words: Option<&CommandHelp>) -> Arg {
    let heading = match arg.get_help_heading() {
        Some(_) => help::EVERYWHERE,
        None if arg.is_positional() => help::ARGUMENTS,
        None => help::OPTIONS,
    };
    let Some(words) = words.and_then(|w| w.arg(arg.get_id().as_str())) else { return arg };
    if !arg.get_action().takes_values() {
        return arg.help(words.help).help_heading(heading);
    }
    let help = words.help.replace(help::CLIENTS, &dandori_domain::client::names().replace(", ", "、"));
    let text = format!("{help}{}", values(&arg));
    let arg = arg.help(text).help_heading(heading).hide_default_value(true).hide_possible_values(true);
    match words.value {
        Some(name) => arg.value_name(name),
        None => arg,
    }
}

/// What clap says in English: the default and the choice.
fn values(arg: &Arg) -> String {
    let listed = |name: &str, list: &[String]| match list {
        [] => String::new(),
        list => format!(" [{name}: {}]", list.join(", ")),
    };
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy().into_owned()).collect();
    let shown = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    let choices: Vec<_> = shown.iter().filter(|v| !v.is_hide_set()).map(|v| v.get_name().to_owned()).collect();
    format!("{}{}", listed(help::DEFAULT, &defaults), listed(help::CHOICES, &choices))
}

/// A line that is too wide is broken below the column its words begin in.
fn wrapped(line: &str, cells: usize) -> String {
    if table::width(line) <= cells {
        return line.to_owned();
    }
    let at = line.rfind("  ").map_or(0, |gap| gap + 2);
    let (name, words) = line.split_at_checked(at).unwrap_or(("", line));
    let column = table::width(name);
    match cells.checked_sub(column) {
        Some(room) if room >= LEAST => {
            format!("{name}{}", wrap(words, room).join(&format!("\n{}", " ".repeat(column))))
        }
        _ => line.to_owned(),
    }
}
