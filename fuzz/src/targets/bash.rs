//! Against bash itself: where it takes a line, what stands before and behind that line is a command of its own, and must
//! be seen or be opaque. Nothing is run: `bash -n` only reads.

use std::time::Duration;

use dandori_host::{Cmd, Env};
use dandori_shell::{Reading, read};

use super::shell;
use crate::case::Finding;
use crate::random::Random;
use crate::seeds::Seeds;

/// No program has this name.
const CANARY: &str = "zqcanary";
/// Bash's own parser is not what is tested.
const LONGEST: usize = 4_000;

pub(crate) fn is_there() -> bool {
    accepts("true")
}

pub(crate) fn input(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    // Most mutations are no shell any more: of a few, the first that reads as one is worth the process.
    for _ in 0..6 {
        let line = shell::any_line(seeds, random);
        if line.len() < LONGEST && read(&line).is_clear() {
            return line.into_bytes();
        }
    }
    Vec::new()
}

pub(crate) fn look(line: &str) -> Result<(), Finding> {
    // The end of the line must be the end of what it says.
    if line.len() > LONGEST
        || line.trim().is_empty()
        || line.contains('\0')
        || line.trim_end_matches('\n').ends_with('\\')
    {
        return Ok(());
    }
    for (name, whole) in [
        ("behind", format!("{line}\n{CANARY} a")),
        ("before", format!("{CANARY} a\n{line}")),
        ("within", format!("(\n{line}\n{CANARY} a\n)")),
        ("then", format!("if\n{line}\nthen {CANARY} a; fi")),
    ] {
        let reading = read(&whole);
        if !sees_canary(&reading) && accepts(line) && accepts(&whole) {
            return Err(Finding::new("lost line", format!("the command {name} it is not seen: {whole:?}")));
        }
    }
    Ok(())
}

fn sees_canary(reading: &Reading) -> bool {
    !reading.is_clear() || reading.commands.iter().any(|command| command.program == CANARY)
}

/// Bash reads it without a word of complaint: a here-document without an end is only worth a warning to it.
fn accepts(line: &str) -> bool {
    let env = Env::of_process().filtered(|name| name == "PATH");
    let asked =
        Cmd::new("bash", &env).args(["--norc", "--noprofile", "-n"]).stdin(line).deadline(Duration::from_secs(5));
    asked.run_any().is_ok_and(|output| output.status.success() && output.stderr.is_empty())
}
