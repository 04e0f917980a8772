//! Files that a program looks for and hands on to another: `find . -name .env -exec cat {} +`.

use dandori_shell::{Command, Reach, Reading, Word, is_shell};

use crate::context::Context;
use crate::guards::argv;

use super::quiet::{shows_nothing, tells_nothing};
use super::{Shown, resolve};

/// What is handed on is only known when it runs, but not what is looked for.
pub(super) fn handed_on(context: &Context, reading: &Reading, found: &mut Vec<Shown>) {
    let mut read = reading.reads.iter().filter(|read| read.path.is_computed());
    let is_shown =
        read.any(|read| !tells_nothing(context, &read.program, &read.path)) || is_taken_over(&reading.commands);
    if !is_shown {
        return;
    }
    for command in &reading.commands {
        let looked_for = match command.program.as_str() {
            "find" | "gfind" => names(command.args()),
            "fd" | "fdfind" => patterns(command.args()),
            _ => continue,
        };
        let start = command.args().first().filter(|w| !w.text.starts_with(['-', '(', '!']));
        let folder = resolve(
            context.folder_of(command).as_deref(),
            start.filter(|_| command.program.ends_with("find")).map_or(".", |w| w.text.as_str()),
        );
        let folder = context.expanded(folder.as_str());
        for name in looked_for {
            let plain = name.trim_matches('*');
            if plain.is_empty() {
                continue;
            }
            // Unlike the shell, these fill in hidden files, too.
            let there = context.world.names(&folder).into_iter().filter(|n| fast_glob::glob_match(&name, n));
            found.extend(there.map(|n| Shown::surely(folder.join(n))));
            found.push(Shown::surely(context.expanded(plain)));
        }
    }
}

fn is_taken_over(commands: &[Command]) -> bool {
    let after = |at: usize| commands.get(at + 1..).unwrap_or_default();
    commands.iter().enumerate().any(|(at, command)| takes_over(command, after(at)))
}

/// The command gets files from such a program, and shows what is in them.
fn takes_over(command: &Command, after: &[Command]) -> bool {
    let gets = is_reached_by(command, &["find", "gfind", "fd", "fdfind", "xargs", "gxargs", "parallel"]);
    let program = command.program.as_str();
    let runs_another = || {
        super::launchers::is_wrapper(command, after)
            || is_shell(program)
            || matches!(program, "xargs" | "gxargs" | "parallel")
    };
    gets && !shows_nothing(command) && !runs_another()
}

fn is_reached_by(command: &Command, wrappers: &[&str]) -> bool {
    command.reached.iter().any(|reach| matches!(reach, Reach::Wrapper(by) if wrappers.contains(&by.as_str())))
}

/// `-name X`, unless it says what to leave away: `! -name X`, `-path X -prune`.
fn names(args: &[Word]) -> Vec<String> {
    let text = |at: usize| args.get(at).map_or("", |w| w.text.as_str());
    let is_test = |at: usize| matches!(text(at), "-name" | "-iname" | "-path" | "-ipath" | "-wholename");
    let is_regex = |at: usize| matches!(text(at), "-regex" | "-iregex");
    let is_left_away = |at: usize| at > 0 && matches!(text(at - 1), "!" | "-not") || text(at + 2) == "-prune";
    (0..args.len())
        .filter(|at| (is_test(*at) || is_regex(*at)) && !is_left_away(*at))
        .map(|at| if is_regex(at) { from_regex(text(at + 1)) } else { text(at + 1).to_owned() })
        .collect()
}

/// What `fd` is asked for: a regular expression, a glob, or an ending.
fn patterns(args: &[Word]) -> Vec<String> {
    let upto = args.iter().position(|w| matches!(w.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
    let args = args.get(..upto.unwrap_or(args.len())).unwrap_or_default();
    let asked = argv::operands(args, &["-E", "--exclude", "-e", "--extension", "-t", "--type", "-d", "--max-depth"]);
    let endings = argv::values(args, &["-e", "--extension"]).into_iter().map(|end| format!("*.{end}"));
    asked.first().map(|w| from_regex(&w.text)).into_iter().chain(endings).collect()
}

/// The name in a simple expression: `.env` for `.*/\.env$`.
fn from_regex(regex: &str) -> String {
    let name = regex.rsplit('/').next().unwrap_or(regex);
    name.replace('\\', "").replace(".*", "*").trim_matches(['^', '$']).to_owned()
}
