//! An agent's words, read from where its shim writes them: live, and long after.

use camino::Utf8PathBuf;
use dandori_domain::AgentEvent;
use dandori_domain::run::RunFacts;

use crate::Engine;
use crate::steps::Stream;

/// What was new since the last look.
#[derive(Clone, Debug)]
pub struct LogChunk {
    pub events: Vec<AgentEvent>,
    /// Nothing more will come.
    pub ended: bool,
}

/// Reads a run's stream from its beginning, as far as it has come, again and again.
pub struct LogFollower {
    engine: Engine,
    run: RunFacts,
    stream: Stream,
}

impl LogFollower {
    /// New events since the last call.
    pub async fn next(&mut self) -> LogChunk {
        // The end is looked at first: what is written between the two looks is then not missed.
        let ended = match self.engine.0.store.run(self.run.spec.id).await {
            Ok(run) => run.ended.is_some() || run.status().is_terminal(),
            Err(_) => false,
        };
        let mut events = self.stream.read();
        if ended {
            events.extend(self.stream.close());
        }
        LogChunk { events, ended }
    }
}

impl Engine {
    pub async fn follow_log(&self, run: &RunFacts) -> LogFollower {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let stream = Stream::of(run, layout, self.baseline(run).await);
        LogFollower { engine: self.clone(), run: run.clone(), stream }
    }

    /// The file with the stream as the agent wrote it. It may be large, and it may not be there yet.
    pub fn raw_log(&self, run: &RunFacts) -> Utf8PathBuf {
        self.layout().repo(run.spec.repo).run(run.spec.id).output()
    }
}
