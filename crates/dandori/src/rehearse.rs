//! The rehearsal agent of `dandori demo`: plays a scene from its instruction, without a model.
//!
//! Scenes are lines `rehearse: <verb> …` in the instruction: `write <path> <text>`, `append <path> <text>`,
//! `say <text>`, `pause <milliseconds>`, `wait-for <path>`. Anything else is only repeated.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) fn main() -> ExitCode {
    let mut instruction = String::new();
    if std::io::stdin().read_to_string(&mut instruction).is_err() {
        return ExitCode::from(1);
    }
    for line in instruction.lines().filter_map(|l| l.trim().strip_prefix("rehearse: ")) {
        if let Err(e) = play(line) {
            say(&format!("{line}: {e}"));
            return ExitCode::from(1);
        }
    }
    ExitCode::SUCCESS
}

fn play(line: &str) -> std::io::Result<()> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
    match verb {
        "write" => write(path, text, false)?,
        "append" => write(path, text, true)?,
        "pause" => std::thread::sleep(Duration::from_millis(path.parse().unwrap_or(0))),
        _ => {}
    }
    say(line);
    Ok(())
}

fn write(path: &str, text: &str, append: bool) -> std::io::Result<()> {
    if let Some(folder) = std::path::Path::new(path).parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = std::fs::OpenOptions::new().create(true).write(true).append(append).truncate(!append).open(path)?;
    writeln!(file, "{}", text.replace("\\n", "\n"))
}

fn say(line: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = writeln!(stdout, "{line}");
    let _ = stdout.flush();
}
