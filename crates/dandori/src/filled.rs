//! Arguments that name something are not empty: `task show "$T"` with an unset variable is told as such, before anything is asked.

use std::any::TypeId;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, Command};

/// What names a task, a run, a pull request and so on, by the name of its argument.
const NAMES: [&str; 19] = [
    "agent", "agents", "base", "branch", "from", "guard", "id", "ids", "key", "model", "name", "number", "of", "path",
    "pull", "run", "task", "tasks", "worktree",
];

/// The same command line, in which no name can be empty.
pub(crate) fn command(command: Command) -> Command {
    command.mut_args(filled).mut_subcommands(self::command)
}

fn filled(arg: Arg) -> Arg {
    let is_name = NAMES.contains(&arg.get_id().as_str());
    let is_text = arg.get_value_parser().type_id() == TypeId::of::<String>() && arg.get_possible_values().is_empty();
    if is_name && is_text { arg.value_parser(NonEmptyStringValueParser::new()) } else { arg }
}
