//! An agent's words, read from where its shim writes them: live, and long after. What the project's set-up printed comes
//! before them.

use camino::Utf8PathBuf;
use dandori_domain::AgentEvent;
use dandori_domain::run::Run;

use super::set_up_log::{Look, SetUpLog};
use super::steps::Stream;
use crate::Engine;

/// What was new since the last look.
#[derive(Clone, Debug)]
pub struct LogChunk {
    pub events: Vec<AgentEvent>,
    /// There may be more already: nothing need be waited for.
    pub more: bool,
    /// Nothing more will come.
    pub ended: bool,
}

/// Reads a run's stream from its beginning, as far as it has come, again and again.
pub struct LogFollower {
    engine: Engine,
    run: Run,
    /// `None` once all of it is told.
    set_up: Option<SetUpLog>,
    stream: Stream,
}

impl LogFollower {
    /// New events since the last call, as many as are read at once.
    pub async fn next(&mut self) -> LogChunk {
        if let Some(set_up) = &mut self.set_up {
            // Looked at first, for the same reason as the end below.
            let run = self.engine.store().subject::<Run>(self.run.spec.id).await;
            let is_past = run.is_ok_and(|run| run.progress.is_set_up() || run.status().is_terminal());
            match set_up.look(is_past) {
                Look::Told(events) => return LogChunk { events, more: true, ended: false },
                Look::Quiet => return LogChunk { events: Vec::new(), more: false, ended: false },
                Look::Over => self.set_up = None,
            }
        }
        // A piece at a time: however long it is, no more of it is held than that.
        if let Some(events) = self.stream.read() {
            return LogChunk { events, more: true, ended: false };
        }
        // The end is looked at before the rest is read: what is written between the two looks is then not missed.
        let ended = match self.engine.store().subject::<Run>(self.run.spec.id).await {
            Ok(run) => run.progress.ended().is_some() || run.status().is_terminal(),
            Err(_) => false,
        };
        if let Some(events) = self.stream.read() {
            return LogChunk { events, more: true, ended: false };
        }
        let events = if ended { self.stream.close() } else { Vec::new() };
        LogChunk { events, more: false, ended }
    }
}

impl Engine {
    pub async fn follow_log(&self, run: &Run) -> LogFollower {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let set_up = Some(SetUpLog::new(layout.clone()));
        let stream = Stream::of(run, layout, self.baseline(run).await);
        LogFollower { engine: self.clone(), run: run.clone(), set_up, stream }
    }

    /// The file with the stream as the agent wrote it. It may be large, and it may not be there yet.
    pub fn raw_log(&self, run: &Run) -> Utf8PathBuf {
        self.layout().repo(run.spec.repo).run(run.spec.id).output()
    }
}
