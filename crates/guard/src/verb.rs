//! dandori's own command line in a shell line, as far as guards ask.

use dandori_shell::{Command, Word};

/// Options of dandori that take a value.
const TAKES: [&str; 2] = ["--lang", "--color"];

/// The words of a call of dandori without its options: `["state", "set", key, value]`. `None` for another program.
pub(crate) fn words(command: &Command) -> Option<Vec<&Word>> {
    if command.program != "dandori" {
        return None;
    }
    let mut words = command.args().iter();
    let mut plain: Vec<&Word> = Vec::new();
    let mut is_open = true;
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "--" if is_open => is_open = false,
            text if is_open && TAKES.contains(&text) => drop(words.next()),
            // A value may begin with a hyphen; nothing before it does.
            text if is_open && text.starts_with('-') && (plain.len() < 3 || text == "--json") => {}
            _ => plain.push(word),
        }
    }
    Some(plain)
}
