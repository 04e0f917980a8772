//! Lines for people and for `grep`, in the form that scripts around the guards know.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::Log;
use jiff::civil::DateTime;

use crate::append::{self, Rotation};

const ROTATION: Rotation = Rotation { bytes: 8 * 1024 * 1024, keep: 3 };
const LINE_BYTES: usize = 4096;
const LOOKS: usize = 5;

/// The logs of one checkout. Times are local: people read them.
#[derive(Clone, Debug)]
pub struct Logs {
    folder: Utf8PathBuf,
}

impl Logs {
    /// `folder` is the checkout's guard folder.
    pub fn new(folder: &Utf8Path) -> Self {
        Self { folder: folder.join("logs") }
    }

    /// `[2026-01-01 12:34:56] pre-tool tool=Edit elapsed=123ms`
    pub fn timing(&self, at: DateTime, event: &str, tool: Option<&str>, took: Duration) -> io::Result<()> {
        let (event, tool, elapsed) = (word(event), word(tool.unwrap_or("-")), took.as_millis());
        self.write("hook-timing.log", at, &format!("{event} tool={tool} elapsed={elapsed}ms"))
    }

    /// `[2026-01-01 12:34:56] BLOCK by playbook-guard (exit: 2) tool=Edit`
    pub fn block(&self, at: DateTime, guard: &str, tool: Option<&str>) -> io::Result<()> {
        let (guard, tool) = (word(guard.strip_suffix("-guard").unwrap_or(guard)), word(tool.unwrap_or("-")));
        self.write("block-reasons.log", at, &format!("BLOCK by {guard}-guard (exit: 2) tool={tool}"))
    }

    pub fn line(&self, at: DateTime, log: Log, text: &str) -> io::Result<()> {
        let name = match log {
            Log::Session => "session.log",
            Log::Subagents => "subagent-dispatch.log",
        };
        self.write(name, at, text)
    }

    fn write(&self, name: &str, at: DateTime, text: &str) -> io::Result<()> {
        let file = append::open_rotating(&self.folder.join(name), ROTATION)?;
        let begin = if ends_in_half_a_line(&file)? { "\n" } else { "" };
        append::write_once(&file, format!("{begin}{}", line(at, text)).as_bytes())
    }
}

/// A writer that was killed may have left half a line, and the next is not to be its other half. One that is just
/// writing looks the same for a moment, but its file grows.
fn ends_in_half_a_line(file: &File) -> io::Result<bool> {
    let mut before = 0;
    for _ in 0..LOOKS {
        let length = file.metadata()?.len();
        let mut last = [b'\n'];
        if length > 0 {
            file.read_at(&mut last, length - 1)?;
        }
        if last == [b'\n'] {
            return Ok(false);
        }
        if length == before {
            return Ok(true);
        }
        before = length;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(false)
}

fn line(at: DateTime, text: &str) -> String {
    let (date, time) = (at.date(), at.time());
    let mut line = format!("[{date} {:02}:{:02}:{:02}] ", time.hour(), time.minute(), time.second());
    line.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
    if line.len() >= LINE_BYTES {
        let end = (0..LINE_BYTES - "…\n".len()).rev().find(|end| line.is_char_boundary(*end)).unwrap_or(0);
        line.truncate(end);
        line.push('…');
    }
    line.push('\n');
    line
}

/// A value without blanks, so that `key=value` can be told apart.
fn word(text: &str) -> String {
    let word: String = text.chars().map(|c| if c.is_control() || c.is_whitespace() { '_' } else { c }).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::datetime;

    const AT: DateTime = datetime(2026, 1, 1, 12, 34, 56, 789_000_000);

    fn bed() -> (tempfile::TempDir, Logs) {
        let dir = tempfile::tempdir().unwrap();
        let logs = Logs::new(Utf8Path::from_path(dir.path()).unwrap());
        (dir, logs)
    }

    fn text(logs: &Logs, name: &str) -> String {
        std::fs::read_to_string(logs.folder.join(name)).unwrap()
    }

    #[test]
    fn lines_have_the_form_that_scripts_know() {
        let (_dir, logs) = bed();
        logs.timing(AT, "pre-tool", Some("Edit"), Duration::from_micros(123_900)).unwrap();
        logs.timing(AT, "stop", None, Duration::from_micros(900)).unwrap();
        logs.timing(AT, "pre-tool", Some("a b\nc"), Duration::ZERO).unwrap();
        logs.block(AT, "playbook", Some("Edit")).unwrap();
        logs.block(AT, "my-guard", Some("")).unwrap();
        logs.line(AT, Log::Session, "started\n[forged]\u{1b}[31m").unwrap();
        logs.line(AT, Log::Subagents, "critic began").unwrap();
        assert_eq!(
            text(&logs, "hook-timing.log"),
            "[2026-01-01 12:34:56] pre-tool tool=Edit elapsed=123ms\n\
             [2026-01-01 12:34:56] stop tool=- elapsed=0ms\n\
             [2026-01-01 12:34:56] pre-tool tool=a_b_c elapsed=0ms\n"
        );
        assert_eq!(
            text(&logs, "block-reasons.log"),
            "[2026-01-01 12:34:56] BLOCK by playbook-guard (exit: 2) tool=Edit\n\
             [2026-01-01 12:34:56] BLOCK by my-guard (exit: 2) tool=-\n"
        );
        assert_eq!(text(&logs, "session.log"), "[2026-01-01 12:34:56] started [forged] [31m\n");
        assert_eq!(text(&logs, "subagent-dispatch.log"), "[2026-01-01 12:34:56] critic began\n");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let (_dir, logs) = bed();
        for text in ["é".repeat(5_000), "a".repeat(5_000), "語".repeat(5_000)] {
            logs.line(AT, Log::Session, &text).unwrap();
        }
        let text = text(&logs, "session.log");
        assert_eq!(text.lines().count(), 3);
        assert!(text.lines().all(|l| l.len() < LINE_BYTES && l.len() > LINE_BYTES - 10 && l.ends_with('…')));
    }

    #[test]
    fn half_a_line_does_not_swallow_the_next() {
        let (_dir, logs) = bed();
        append::write_once(&append::open(&logs.folder.join("session.log")).unwrap(), b"[2026-01-01 12:3").unwrap();
        logs.line(AT, Log::Session, "whole").unwrap();
        assert_eq!(text(&logs, "session.log"), "[2026-01-01 12:3\n[2026-01-01 12:34:56] whole\n");
    }

    #[test]
    fn a_full_log_is_put_aside_and_three_of_them_stay() {
        let (_dir, logs) = bed();
        let path = logs.folder.join("session.log");
        for round in 0..5 {
            logs.line(AT, Log::Session, &format!("round {round}")).unwrap();
            append::open(&path).unwrap().set_len(ROTATION.bytes).unwrap();
        }
        logs.line(AT, Log::Session, "last").unwrap();
        let begin = |path: &Utf8Path| {
            let mut bytes = [0; 30];
            std::fs::File::open(path).unwrap().read_at(&mut bytes, 0).unwrap();
            String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(begin(&path), "[2026-01-01 12:34:56] last");
        for (n, round) in [(1, 4), (2, 3), (3, 2)] {
            assert_eq!(begin(&append::aside(&path, n)), format!("[2026-01-01 12:34:56] round {round}"));
        }
        assert!(!append::aside(&path, 4).exists());
    }
}
