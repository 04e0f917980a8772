//! tmux' own command line: words, and commands in a row.

/// What is asked about a pane. The title is last: it may hold anything.
pub(super) const FORMAT: &str = "#{pane_id}|#{pane_dead}|#{pane_dead_status}|#{pane_pid}|#{window_index}|#{@role}|#{@agent_id}|#{@model}|#{@status}|#{pane_title}";

/// A word as it is: a semicolon at its end would end the command.
pub(super) fn literal(word: &str) -> String {
    match word.strip_suffix(';') {
        Some(rest) => format!("{rest}\\;"),
        None => word.to_owned(),
    }
}

/// Several commands for one call, carried out with nothing in between.
pub(super) fn chain(commands: &[&[&str]]) -> Vec<String> {
    let mut words = Vec::new();
    for command in commands {
        if !words.is_empty() {
            words.push(";".to_owned());
        }
        words.extend(command.iter().map(|word| literal(word)));
    }
    words
}
