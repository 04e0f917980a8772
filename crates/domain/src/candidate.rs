//! What a task has to choose between: a run and everything that followed it on its branch is one candidate, and its
//! rivals are the runs on other branches.

use std::collections::HashMap;

use crate::agent::Usage;
use crate::id::{Oid, RunId, Usd};
use crate::run::{Run, RunKind, Status};

/// A run and its follow-ups.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    first: Run,
    /// Oldest first.
    later: Vec<Run>,
}

/// The candidates among a task's runs, which come oldest first.
pub fn candidates(runs: &[Run]) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut place: HashMap<RunId, usize> = HashMap::new();
    for run in runs {
        let earlier = match &run.spec.kind {
            RunKind::FollowUp { after, .. } => place.get(after).copied(),
            RunKind::First => None,
        };
        let at = earlier.unwrap_or(found.len());
        match found.get_mut(at) {
            Some(candidate) => candidate.later.push(run.clone()),
            None => found.push(Candidate { first: run.clone(), later: Vec::new() }),
        }
        place.insert(run.spec.id, at);
    }
    found
}

impl Candidate {
    /// All its runs, oldest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &Run> {
        std::iter::once(&self.first).chain(&self.later)
    }

    pub fn has(&self, run: RunId) -> bool {
        self.runs().any(|r| r.spec.id == run)
    }

    /// Where it stands: its newest run. One that was called off changed nothing and is passed over.
    pub fn latest(&self) -> &Run {
        self.runs().rev().find(|r| r.status() != Status::Canceled).unwrap_or(&self.first)
    }

    /// The commit the whole of it began at.
    pub fn base(&self) -> Option<&Oid> {
        self.first.workspace().map(|w| &w.base_oid)
    }

    /// The newest commit: a run without changes leaves its predecessor's.
    pub fn tip(&self) -> Option<&Oid> {
        self.runs().rev().find_map(|r| r.progress.commit()).map(|commit| &commit.oid)
    }

    /// The run whose branch can become the pull request.
    pub fn to_pick(&self) -> Option<&Run> {
        self.runs().rev().find(|r| r.status() == Status::Succeeded && r.progress.delivered().is_some())
    }

    /// Of all its runs together, as far as they tell.
    pub fn usage(&self) -> Option<Usage> {
        self.runs().filter_map(|r| r.progress.ended()).map(|ended| ended.usage).reduce(|all, one| Usage {
            input_tokens: all.input_tokens + one.input_tokens,
            output_tokens: all.output_tokens + one.output_tokens,
            cached_tokens: all.cached_tokens + one.cached_tokens,
            cost: match (all.cost, one.cost) {
                (Some(a), Some(b)) => Some(Usd(a.0 + b.0)),
                (a, b) => a.or(b),
            },
        })
    }
}
