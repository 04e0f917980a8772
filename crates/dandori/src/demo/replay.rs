//! Runs as the event log tells them: fact by fact, so that no state is passed over however short it was.
//!
//! The state shown is the one the engine derives, by the same function of the same facts. Asking the daemon after
//! each event would show where a run is by now, which is further than the event.

use std::collections::{HashMap, HashSet};

use dandori_api::EventView;
use dandori_domain::machine::Machine;
use dandori_domain::pull::PullFact;
use dandori_domain::run::{Fact, Run, RunKind, RunSettings, RunSpec, Status};
use dandori_domain::{AgentName, HostId, TaskNumber};
use serde::Deserialize;

#[derive(Default)]
pub(crate) struct Replay {
    runs: HashMap<String, Run>,
    /// Runs about whose pull request the forge has answered.
    answered: HashSet<String>,
}

/// One more fact of a run, and where it stands with it.
pub(crate) struct News<'r> {
    pub(crate) run: &'r Run,
    /// `None` when the run has only been asked for.
    pub(crate) fact: Option<Fact>,
    /// What has happened to its pull request instead.
    pub(crate) pull: Option<PullFact>,
    pub(crate) before: Option<Status>,
}

impl News<'_> {
    pub(crate) fn status(&self) -> Status {
        self.run.status()
    }

    pub(crate) fn is_new_status(&self) -> bool {
        self.before != Some(self.status())
    }
}

/// The body of a `run_created` event.
#[derive(Deserialize)]
struct Created {
    agent: AgentName,
    host: HostId,
    kind: RunKind,
    wants_pull: bool,
}

impl Replay {
    /// Takes an event in. `None`: it is about no run, or about one whose beginning was not heard.
    pub(crate) fn take(&mut self, event: &EventView) -> Option<News<'_>> {
        let id = event.run.as_ref()?;
        if event.kind == "run_created" {
            let facts = Run::new(spec(event)?);
            self.runs.insert(id.clone(), facts);
            return Some(News { run: self.runs.get(id)?, fact: None, pull: None, before: None });
        }
        if event.machine.as_deref() == Some("pull") {
            let fact: PullFact = serde_json::from_value(event.body.clone()).ok()?;
            match fact {
                PullFact::PullOpened { .. } | PullFact::PullUpdated { .. } | PullFact::PullFailed { .. } => {
                    self.answered.insert(id.clone());
                }
                PullFact::PullWanted { .. } => {
                    self.answered.remove(id);
                }
                PullFact::PullIntended
                | PullFact::ChangeIntended { .. }
                | PullFact::ChangeRefused { .. }
                | PullFact::PullClosed { .. }
                | PullFact::PullReopened { .. }
                | PullFact::PullMerged { .. } => {}
            }
            let run = self.runs.get(id)?;
            return Some(News { run, fact: None, pull: Some(fact), before: Some(run.status()) });
        }
        let fact: Fact = serde_json::from_value(event.body.clone()).ok()?;
        let run = self.runs.get_mut(id)?;
        let before = Some(run.status());
        run.apply(&fact, event.at.parse().ok()?).ok()?;
        Some(News { run, fact: Some(fact), pull: None, before })
    }

    /// Nothing more will come of it: it is settled, and its pull request, if it is to have one, is there or not to be had.
    pub(crate) fn is_over(&self, id: &str) -> bool {
        self.runs.get(id).is_some_and(|run| {
            let waits = run.spec.settings.wants_pull && run.progress.pushed().is_some() && !self.answered.contains(id);
            run.is_settled() && !waits
        })
    }

    pub(crate) fn run(&self, id: &str) -> Option<&Run> {
        self.runs.get(id)
    }
}

/// What was asked, as far as the log has it. Its state depends on nothing else of it.
fn spec(event: &EventView) -> Option<RunSpec> {
    let created: Created = serde_json::from_value(event.body.clone()).ok()?;
    Some(RunSpec {
        retry_of: None,
        id: event.run.as_ref()?.parse().ok()?,
        task: event.task.as_ref()?.parse().ok()?,
        number: TaskNumber(0),
        repo: event.repo.as_ref()?.parse().ok()?,
        host: created.host,
        agent: created.agent,
        kind: created.kind,
        instruction: String::new(),
        base: None,
        here: None,
        checkout: None,
        brings: None,
        errand: None,
        settings: RunSettings { wants_pull: created.wants_pull, ..RunSettings::default() },
        created_at: event.at.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(kind: &str, body: serde_json::Value) -> EventView {
        let id = |prefix: &str| Some(format!("{prefix}_{}", "0".repeat(26)));
        EventView {
            seq: 1,
            at: "2025-01-01T00:00:00Z".to_owned(),
            repo: id("repo"),
            task: id("task"),
            run: id("run"),
            machine: Some("run".to_owned()),
            subject: id("run"),
            status: None,
            kind: kind.to_owned(),
            body,
        }
    }

    #[test]
    fn states_follow_the_facts_one_by_one() {
        let mut replay = Replay::default();
        let host = format!("host_{}", "0".repeat(26));
        let created = json!({ "agent": "rehearsal", "host": host, "kind": { "kind": "first" }, "wants_pull": false });
        let news = replay.take(&event("run_created", created)).unwrap();
        assert!(news.is_new_status());
        assert_eq!(news.status(), Status::Pending);
        let news = replay.take(&event("admitted", json!({ "fact": "admitted" }))).unwrap();
        assert!(!news.is_new_status());
        assert!(replay.take(&event("worktree_put", json!({ "path": "x" }))).is_none());
        let news = replay.take(&event("cancel_requested", json!({ "fact": "cancel_requested" }))).unwrap();
        assert_eq!((news.before, news.status()), (Some(Status::Pending), Status::Canceled));
    }
}
