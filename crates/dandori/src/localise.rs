//! The command line in the reader's language: English as it is defined, Japanese from a table.
//!
//! clap breaks lines at spaces only, which Japanese has not, and in a narrow terminal it breaks them in columns of a few
//! cells. So its lines are left whole and broken here, in both languages.

use clap::builder::Styles;
use clap::{Arg, Command};
use dandori_text::help::{self, CommandHelp};
use dandori_text::{Lang, table, wrap};

/// A narrower column of words is not worth making: they go below the names.
const LEAST: usize = 24;
/// How far in words stand below a name.
const BELOW: usize = 8;
/// How far in a usage goes on.
const HANGING: usize = 4;

/// The same command line, its words in this language and its lines whole.
pub(crate) fn command(command: Command, lang: Lang) -> Command {
    match lang {
        Lang::En => whole_lines(command),
        Lang::Ja => japanese(command, ""),
    }
}

fn whole_lines(command: Command) -> Command {
    command.term_width(0).mut_subcommands(whole_lines)
}

/// A rendered help, no line wider than `cells` but for a command to copy.
pub(crate) fn rendered(help: &str, lang: Lang, cells: usize) -> String {
    let help = usage(help, lang);
    let lines: Vec<String> = help.lines().map(|line| below_the_first(line, lang)).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let lists = lines.chunk_by(|one, next| row(one).is_some() == row(next).is_some());
    lists.flat_map(|list| laid_out(list, cells)).map(|line| line + "\n").collect()
}

/// A second usage stands below the first, which stands behind a longer word in Japanese.
fn below_the_first(line: &str, lang: Lang) -> String {
    let is_second = line.starts_with(&" ".repeat("Usage: ".len())) && !line.starts_with(&" ".repeat(8));
    match lang {
        Lang::Ja if is_second && line.contains("dandori") => format!(" {line}"),
        _ => line.to_owned(),
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
    let shown = if arg.is_hide_default_value_set() { &[] } else { arg.get_default_values() };
    let defaults: Vec<_> = shown.iter().map(|v| v.to_string_lossy().into_owned()).collect();
    let shown = if arg.is_hide_possible_values_set() { Vec::new() } else { arg.get_possible_values() };
    let choices: Vec<_> = shown.iter().filter(|v| !v.is_hide_set()).map(|v| v.get_name().to_owned()).collect();
    format!("{}{}", listed(help::DEFAULT, &defaults), listed(help::CHOICES, &choices))
}

/// Rows of names and words, or lines of text.
fn laid_out(lines: &[&str], cells: usize) -> Vec<String> {
    let column = lines.iter().filter_map(|line| row(line)).map(|(name, _)| table::width(name)).max();
    let is_tight = lines.iter().any(|line| table::width(line) > cells) && column.is_some_and(|c| c + LEAST > cells);
    lines.iter().flat_map(|line| broken(line, is_tight, cells)).collect()
}

fn broken(line: &str, is_tight: bool, cells: usize) -> Vec<String> {
    match row(line) {
        // To be typed into a shell: it stays in one piece.
        _ if line.contains("dandori completions ") => vec![line.to_owned()],
        Some((name, words)) if is_tight => {
            let words = wrap(words, cells.saturating_sub(BELOW));
            std::iter::once(name.trim_end().to_owned()).chain(set_in(words, BELOW)).collect()
        }
        _ if table::width(line) <= cells => vec![line.to_owned()],
        Some((name, words)) => {
            let column = table::width(name);
            let mut words = wrap(words, cells.saturating_sub(column)).into_iter();
            let first = format!("{name}{}", words.next().unwrap_or_default());
            std::iter::once(first).chain(set_in(words, column)).collect()
        }
        None if line.contains("dandori ") => at_spaces(line, cells),
        None => wrap(line, cells),
    }
}

fn set_in(lines: impl IntoIterator<Item = String>, cells: usize) -> impl Iterator<Item = String> {
    lines.into_iter().map(move |line| format!("{}{line}", " ".repeat(cells)))
}

/// A name with the space behind it, and its words.
fn row(line: &str) -> Option<(&str, &str)> {
    let inner = line.trim_start();
    let lead = line.len() - inner.len();
    let gap = inner.rfind("  ").filter(|_| lead >= 2)?;
    line.split_at_checked(lead + gap + 2)
}

/// A usage: what it names stays in one piece, also in Japanese.
fn at_spaces(line: &str, cells: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if table::width(last) + 1 + table::width(word) <= cells => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) => lines.push(format!("{}{word}", " ".repeat(HANGING))),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}
