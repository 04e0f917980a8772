//! What the project's set-up commands print, read from the folders of their shims, one command after the other.
//!
//! Both outputs are told as they grow; after the fact one follows the other, since nothing says how they were mixed. Read in
//! pieces, like the agent's own stream: however much a command prints, no more of it is held than that.

use std::fs::File;
use std::io::Read;

use camino::Utf8PathBuf;
use dandori_domain::AgentEvent;
use dandori_host::shim;

use crate::RunLayout;

const PIECE: usize = 64 * 1024;
/// Of one line; the rest is left out.
const MAX_LINE: usize = 4 * 1024;

pub(super) struct SetUpLog {
    layout: RunLayout,
    index: usize,
    current: Option<Current>,
}

/// What a look found.
pub(super) enum Look {
    /// There may be more already.
    Told(Vec<AgentEvent>),
    /// Nothing new, but something may come.
    Quiet,
    Over,
}

struct Current {
    command: String,
    outputs: [Tail; 2],
}

impl SetUpLog {
    pub(super) fn new(layout: RunLayout) -> Self {
        Self { layout, index: 0, current: None }
    }

    /// `is_past`: no command will be started any more, and none is at work.
    pub(super) fn look(&mut self, is_past: bool) -> Look {
        let folder = self.layout.set_up(self.index);
        // The end is looked at before the rest is read: what is written between the two looks is then not missed.
        let told = shim::told(&folder);
        let Some(current) = &mut self.current else {
            let Some(told) = told else { return if is_past { Look::Over } else { Look::Quiet } };
            // `/bin/sh -c <line>`
            let command = told.argv.into_iter().next_back().unwrap_or_default();
            let outputs = [shim::OUTPUT, shim::STDERR].map(|name| Tail::new(folder.join(name)));
            self.current = Some(Current { command: command.clone(), outputs });
            return Look::Told(vec![AgentEvent::SetUpBegan { command }]);
        };
        for output in &mut current.outputs {
            if let Some(lines) = output.read() {
                return Look::Told(lines);
            }
        }
        let record = told.as_ref().and_then(|told| told.ended.as_ref());
        if record.is_none() && !is_past {
            return Look::Quiet;
        }
        let started = told.as_ref().and_then(|told| told.started.as_ref());
        let seconds = started.zip(record).map(|(started, end)| end.at.as_second() - started.at.as_second());
        let mut events: Vec<AgentEvent> = current.outputs.iter_mut().filter_map(Tail::close).collect();
        events.push(AgentEvent::SetUpEnded {
            command: std::mem::take(&mut current.command),
            ok: record.is_some_and(|end| end.code == Some(0) && end.why == shim::Why::Ended),
            seconds: seconds.and_then(|seconds| u64::try_from(seconds).ok()),
        });
        self.current = None;
        self.index += 1;
        Look::Told(events)
    }
}

/// A file that grows, told line by line.
struct Tail {
    path: Utf8PathBuf,
    file: Option<File>,
    /// A line without its end.
    rest: Vec<u8>,
}

impl Tail {
    fn new(path: Utf8PathBuf) -> Self {
        Self { path, file: None, rest: Vec::new() }
    }

    /// Lines of the next piece; `None` when nothing is new. A file that is not there yet has said nothing.
    fn read(&mut self) -> Option<Vec<AgentEvent>> {
        if self.file.is_none() {
            self.file = File::open(&self.path).ok();
        }
        let mut piece = vec![0u8; PIECE];
        let Ok(count @ 1..) = self.file.as_mut()?.read(&mut piece) else { return None };
        let mut lines = Vec::new();
        for part in piece.get(..count).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            let room = MAX_LINE.saturating_sub(self.rest.len());
            let text = part.strip_suffix(b"\n");
            self.rest.extend(text.unwrap_or(part).iter().take(room));
            if text.is_some() {
                lines.extend(self.close());
            }
        }
        Some(lines)
    }

    /// What is left of a last line. Of one that was drawn over and over, what it was in the end.
    fn close(&mut self) -> Option<AgentEvent> {
        let line = std::mem::take(&mut self.rest);
        let text = String::from_utf8_lossy(&line);
        let last = text.split('\r').rfind(|part| !part.trim().is_empty())?;
        Some(AgentEvent::SetUpLine { text: last.trim_end().to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Option<Vec<AgentEvent>>) -> Vec<String> {
        let text = |event| match event {
            AgentEvent::SetUpLine { text } => text,
            other => panic!("{other:?}"),
        };
        lines.into_iter().flatten().map(text).collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn lines_are_told_whole_however_they_come() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::try_from(folder.path().join("output")).unwrap();
        let mut tail = Tail::new(path.clone());
        assert!(tail.read().is_none());
        std::fs::write(&path, "one\n\n  two\nthr").unwrap();
        assert_eq!(texts(tail.read()), ["one", "  two"]);
        std::fs::write(&path, "one\n\n  two\nthree\n10 %\r20 %\r\nlast").unwrap();
        assert_eq!(texts(tail.read()), ["three", "20 %"]);
        assert!(tail.read().is_none());
        assert_eq!(texts(tail.close().map(|line| vec![line])), ["last"]);
        std::fs::write(&path, format!("one\n\n  two\nthree\n10 %\r20 %\r\nlast{}\nx", "y".repeat(9999))).unwrap();
        assert_eq!(texts(tail.read())[0].len(), MAX_LINE);
    }
}
