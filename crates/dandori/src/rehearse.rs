//! The rehearsal agent (`dandori rehearse`): plays the lines of its instruction, without a model and without an account.
//!
//! It is an agent like any other: it reads its instruction from stdin, works in its worktree behind the sandbox, and
//! its output is the log. What it plays are the lines that begin with `rehearse: `, in their order:
//!
//! ```text
//! rehearse: say <words>            print them; the last words are the summary
//! rehearse: write <path> <text>    make a file of it; `\n` begins a new line
//! rehearse: append <path> <text>   the same, at the end of the file
//! rehearse: pause <milliseconds>   as if thinking
//! rehearse: wait-for <path>        until that file is there, or give up after a while
//! rehearse: fail <words>           print them and end without success
//! ```
//!
//! It knows nothing of dandori but this, and what an agent of a formation is told ([`formation`]). A line it does not understand ends it: a typing mistake in a scene is to be
//! seen, not played over.

mod formation;

use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const MARK: &str = "rehearse: ";

/// What it prints before it waits, with the file's name after it: whoever gives the cue reads it in the log.
pub(crate) const WAITING: &str = "waiting for ";

/// Whoever was to give the cue has gone away.
const CUE_PATIENCE: Duration = Duration::from_mins(1);
/// How often the cue is looked for. A sandboxed process can watch no folder it may not write everywhere.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn main() -> ExitCode {
    let mut instruction = String::new();
    if let Err(e) = std::io::stdin().read_to_string(&mut instruction) {
        say(&format!("cannot read the instruction: {e}"));
        return ExitCode::from(1);
    }
    if let Some(answered) = formation::answer(&instruction) {
        return match answered {
            Ok(()) => ExitCode::SUCCESS,
            Err(trouble) => {
                say(&trouble);
                ExitCode::from(1)
            }
        };
    }
    let lines: Vec<&str> = scene(&instruction).collect();
    if lines.is_empty() {
        say("nothing to do: add lines such as `rehearse: write hello.txt Hello`");
    }
    for line in lines {
        if let Err(trouble) = play(line) {
            say(&trouble);
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

fn scene(instruction: &str) -> impl Iterator<Item = &str> {
    instruction.lines().filter_map(|line| line.trim().strip_prefix(MARK))
}

fn play(line: &str) -> Result<(), String> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (first, text) = rest.split_once(' ').unwrap_or((rest, ""));
    match verb {
        "say" => say(rest),
        "write" => write(first, text, false).map_err(|e| format!("{first}: {e}"))?,
        "append" => write(first, text, true).map_err(|e| format!("{first}: {e}"))?,
        "pause" => match first.parse() {
            Ok(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
            Err(_) => return Err(format!("`{first}` is not a number of milliseconds")),
        },
        "wait-for" => wait_for(Path::new(first))?,
        "fail" => return Err(rest.to_owned()),
        _ => return Err(format!("unknown step `{verb}`")),
    }
    Ok(())
}

fn write(path: &str, text: &str, append: bool) -> std::io::Result<()> {
    if let Some(folder) = Path::new(path).parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = std::fs::OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path)?;
    writeln!(file, "{}", text.replace("\\n", "\n"))?;
    say(&format!("✎ {path}"));
    Ok(())
}

fn wait_for(cue: &Path) -> Result<(), String> {
    let name = cue.file_name().unwrap_or(cue.as_os_str()).to_string_lossy().into_owned();
    say(&format!("{WAITING}{name}"));
    let until = Instant::now() + CUE_PATIENCE;
    while !cue.exists() {
        if Instant::now() > until {
            return Err(format!("timed out waiting for {name}"));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Flushed line by line: somebody follows the log.
fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_lines_are_played() {
        let lines: Vec<&str> = scene("Fix it\n\n  rehearse: say one\nrehearse:two\nrehearse: pause 1\n").collect();
        assert_eq!(lines, ["say one", "pause 1"]);
    }

    #[test]
    fn files_are_written_line_by_line_and_extended() {
        let dir = std::env::temp_dir().join(format!("dandori-rehearse-{}", std::process::id()));
        let file = dir.join("a/b.txt");
        play(&format!("write {} one\\ntwo", file.display())).unwrap();
        play(&format!("append {} three", file.display())).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\nthree\n");
        play(&format!("wait-for {}", file.display())).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn a_line_that_is_not_understood_ends_it() {
        assert!(play("wirte x y").unwrap_err().contains("wirte"));
        assert!(play("pause soon").unwrap_err().contains("soon"));
        assert_eq!(play("fail no luck today").unwrap_err(), "no luck today");
    }
}
