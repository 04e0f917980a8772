//! What an agent does now, from the end of its stream: however long that is, little of it is read.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use dandori_agent::Reader;
use dandori_domain::run::Run;
use dandori_domain::{AgentEvent, Usage};
use jiff::Timestamp;

use super::is_telling;
use crate::Engine;

/// Of what was said last.
const TAIL: u64 = 64 * 1024;

/// What an agent at work was last heard to do.
#[derive(Clone, PartialEq, Debug)]
pub struct Now {
    pub doing: Option<AgentEvent>,
    /// Since when nothing was heard of it; `None` while one of its tools is at work.
    pub silent_since: Option<Timestamp>,
}

impl Engine {
    /// What a run's agent does; `None` when it has not said anything yet. Reads a file.
    pub fn now_of(&self, run: &Run) -> Option<Now> {
        let path = self.layout().repo(run.spec.repo).run(run.spec.id).output();
        let mut file = File::open(path).ok()?;
        let found = file.metadata().ok()?;
        let length = found.len();
        let from = length.saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes).ok()?;
        // It begins in the middle of a line, unless it is the whole.
        let whole = if from == 0 { Some(0) } else { bytes.iter().position(|byte| *byte == b'\n').map(|at| at + 1) };
        let mut reader = if run.spec.settings.is_acp() {
            Reader::of_acp(None)
        } else {
            Reader::new(&run.worker(), None, Usage::default())
        };
        let events = reader.feed(whole.and_then(|at| bytes.get(at..)).unwrap_or_default());
        let doing = events.into_iter().rev().find(is_telling);
        let heard = found.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
        Some(Now { doing, silent_since: heard.filter(|_| !reader.has_open_tool()) })
    }
}
