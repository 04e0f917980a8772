//! Where the time of a run goes, from the moments its events were written.

use jiff::Timestamp;
use serde_json::Value;

use crate::samples::{Samples, shown};
use crate::trouble::Trouble;

/// The events between which time is told, in their order, with what happens before each.
const MARKS: [(&str, &str); 9] = [
    ("task_created", "CLI starts, daemon checks the request"),
    ("admitted", "task on disk, admitted"),
    ("intended", "base fetched and resolved"),
    ("worktree_ready", "worktree claimed"),
    ("launched", "shim and agent started"),
    ("agent_ended", "agent works and ends"),
    ("staged", "checked, staged, patch written"),
    ("committed", "committed"),
    ("pushed", "pushed"),
];

/// Of several runs, the time before each mark, and from the last one to the end of the command.
#[derive(Default)]
pub(crate) struct Timeline {
    parts: [Samples; MARKS.len()],
    rest: Samples,
}

impl Timeline {
    pub(crate) fn add(&mut self, began: Timestamp, events: &[Value], ended: Timestamp) -> Result<(), Trouble> {
        let mut last = began;
        for ((kind, _), part) in MARKS.iter().zip(&mut self.parts) {
            let at = moment(events, kind)?;
            part.add(between(last, at));
            last = at;
        }
        self.rest.add(between(last, ended));
        Ok(())
    }

    pub(crate) fn told(&self) -> String {
        let parts = MARKS.iter().zip(&self.parts).map(|((_, what), part)| (*what, part));
        let parts = parts.chain([("settled, CLI told and ended", &self.rest)]);
        parts.map(|(what, part)| format!("{what} {}", shown(part.median()))).collect::<Vec<_>>().join(" · ")
    }
}

pub(crate) fn kind_of(event: &Value) -> &str {
    event.get("kind").and_then(Value::as_str).unwrap_or_default()
}

fn moment(events: &[Value], kind: &str) -> Result<Timestamp, Trouble> {
    let event = events.iter().find(|event| kind_of(event) == kind);
    let at = event.and_then(|event| event.get("at")?.as_str()?.parse().ok());
    at.ok_or_else(|| Trouble::wrong(format!("there is no event {kind}")))
}

fn between(earlier: Timestamp, later: Timestamp) -> std::time::Duration {
    // A clock that is set back while we measure makes one sample worthless, not the benchmark.
    later.duration_since(earlier).try_into().unwrap_or_default()
}
