//! A run: what was asked, what has happened, and what that means.
//!
//! A run's truth is the list of its facts. [`Run`] is their sum, made by [`Machine::apply`] alone. How far it came is its
//! [`Progress`]; whether it still flows, has failed or is being canceled is its [`Course`]. Its [`Status`] (PENDING … SUCCEEDED,
//! FAILED, CANCELED) is derived from the two and never stored. Before each side effect an [`Intent`] is recorded as a
//! fact; the fact of its outcome settles it.

mod brings;
mod errand;
mod fact;
mod next;
mod progress;
mod spec;
mod start;
mod status;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::{AgentName, Verdict};
use crate::failure::{Failure, Stage};
use crate::id::{Oid, RunId, SessionId};
use crate::machine::{About, Consequence, IllegalFact, Machine, Next};
use crate::pull::{PullWanted, PullWords, WantedBy};

pub use brings::{Brings, OnConflict};
pub use errand::{Errand, Purpose, Role};
pub use fact::{
    Arrival, BranchFate, Changes, Fact, Gap, Intent, Note, PlannedCommit, PlannedPush, PlannedWorktree, ProcessRef,
    Refusal, RefusedWhat, Sandbox, Workspace,
};
pub use next::{Step, StopReason};
pub use progress::{Commit, Ended, Progress, Staged, Work};
pub use spec::{
    Cleanup, CustomAgent, Limits, RunKind, RunSettings, RunSpec, SandboxMode, SandboxSettings, SetUpChoice,
};
pub use start::{Here, LeftOut, Offline, Start};
pub use status::Status;

/// The sum of a run's facts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub spec: RunSpec,
    pub progress: Progress,
    pub course: Course,
    /// Where it starts, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// The conversation the agent named.
    pub session: Option<SessionId>,
    /// Where its work was kept before something was removed.
    pub preserved: Option<Preserved>,
    pub removal: Removal,
    pub notes: Vec<Note>,
    pub settled_at: Option<Timestamp>,
}

/// Whether a run goes on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "course", rename_all = "snake_case")]
pub enum Course {
    Flowing,
    Failed {
        failure: Failure,
        /// Its process tree was ended by us, and is gone.
        stopped: bool,
    },
    /// Being canceled; canceled, once nothing of it is alive. What fails on the way changes nothing about that.
    Canceling {
        asked_at: Timestamp,
        stopped: bool,
    },
}

/// What becomes of the worktree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "removal", content = "branch", rename_all = "snake_case")]
pub enum Removal {
    Stays,
    /// No longer needed, though the run succeeded.
    Released,
    Begun(BranchFate),
    Done(BranchFate),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Preserved {
    pub reference: String,
    pub oid: Oid,
}

impl Run {
    pub fn new(spec: RunSpec) -> Self {
        Self {
            spec,
            progress: Progress::Waiting,
            course: Course::Flowing,
            start: None,
            session: None,
            preserved: None,
            removal: Removal::Stays,
            notes: Vec::new(),
            settled_at: None,
        }
    }

    pub fn status(&self) -> Status {
        match &self.course {
            _ if self.is_canceled() => Status::Canceled,
            Course::Failed { .. } => Status::Failed,
            Course::Flowing | Course::Canceling { .. } => self.progress.status(),
        }
    }

    /// In the queue: neither admitted nor given up.
    pub fn is_waiting(&self) -> bool {
        self.progress == Progress::Waiting && self.course == Course::Flowing && !self.is_settled()
    }

    pub fn is_settled(&self) -> bool {
        self.settled_at.is_some()
    }

    pub fn is_canceling(&self) -> bool {
        matches!(self.course, Course::Canceling { .. })
    }

    pub fn failure(&self) -> Option<&Failure> {
        match &self.course {
            Course::Failed { failure, .. } => Some(failure),
            Course::Flowing | Course::Canceling { .. } => None,
        }
    }

    /// A cancel that came in time has taken effect: nothing of the run is alive any more.
    fn is_canceled(&self) -> bool {
        match self.course {
            Course::Canceling { stopped, .. } => stopped || !self.progress.may_have_processes(),
            Course::Flowing | Course::Failed { .. } => false,
        }
    }

    /// Where it works or worked; a follow-up's is its predecessor's until it has its own.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.progress.workspace().or(match &self.spec.kind {
            RunKind::FollowUp { workspace, .. } => Some(workspace),
            RunKind::First => None,
        })
    }

    pub fn branch(&self) -> Option<&str> {
        self.workspace().map(|w| w.branch.as_str())
    }

    /// The conversation a follow-up would go on with.
    pub fn conversation(&self) -> Option<&SessionId> {
        self.session.as_ref().or(match &self.spec.kind {
            RunKind::FollowUp { session, .. } => session.as_ref(),
            RunKind::First => None,
        })
    }

    /// Where a follow-up would work: commits of ours that never got to the remote are still the task's own.
    pub fn next_workspace(&self) -> Option<Workspace> {
        let workspace = self.workspace()?.clone();
        let rebased_onto = self.progress.commit().and_then(|commit| commit.rebased_onto.as_ref());
        let shared = self.progress.pushed().or(rebased_onto);
        // What was merged into the files is on the branch once it is committed.
        let merges = workspace.merges.clone().filter(|_| self.progress.commit().is_none());
        Some(Workspace { ours_after: shared.unwrap_or(&workspace.ours_after).clone(), merges, ..workspace })
    }

    /// Who is started for it. Where only the base comes in and git has merged all of it, nobody is needed; a commit that may be
    /// given back is for the check to decide about.
    pub fn worker(&self) -> AgentName {
        let has_conflict = || self.notes.iter().any(|note| matches!(note, Note::ConflictBrought { .. }));
        let nobody = || "true".to_owned();
        match &self.spec.brings {
            Some(Brings::Base) if !has_conflict() => AgentName::Exec(nobody()),
            Some(brings) if brings.gives_back() => {
                AgentName::Exec(self.spec.settings.check.clone().unwrap_or_else(nobody))
            }
            _ => self.spec.agent.clone(),
        }
    }

    /// Whoever is started for it speaks the Agent Client Protocol.
    pub fn is_acp(&self) -> bool {
        self.spec.settings.is_acp() && matches!(self.worker(), AgentName::Custom(_))
    }

    /// It merges a commit as git does it, or fails.
    pub fn gives_back(&self) -> bool {
        self.spec.brings.as_ref().is_some_and(Brings::gives_back)
    }

    /// What it is to do: what a person asked for, or in a line what an agent of a formation was told.
    pub fn about(&self) -> &str {
        match &self.spec.errand {
            Some(errand) if !errand.about.is_empty() => &errand.about,
            _ => &self.spec.instruction,
        }
    }

    pub fn summary(&self) -> Option<&str> {
        match &self.progress.ended()?.verdict {
            Verdict::Done { summary } => Some(summary),
            Verdict::Failed { .. } => None,
        }
    }

    /// What it has to show, on the remote or on its own branch.
    pub fn delivered(&self) -> Option<&Oid> {
        self.progress.delivered()
    }

    pub fn has_changes(&self) -> bool {
        self.progress.staged().is_some_and(|s| s.changes.is_some())
    }

    /// The agent's work is done and staged, or even committed: what failed after it can be done again without it.
    pub fn can_be_resumed(&self) -> bool {
        let Course::Failed { failure, .. } = &self.course else { return false };
        match failure.stage() {
            Stage::Commit => self.has_changes() && self.progress.commit().is_none(),
            Stage::Push => self.progress.commit().is_some(),
            // Nothing is wrong with the agent's work: what it was to be staged into was away, the disk full, or something
            // in the way that a person has cleared since.
            Stage::Staging => {
                use Failure::{DiskFull, RepositoryGone, Unstageable};
                matches!(failure, RepositoryGone { .. } | DiskFull { .. } | Unstageable { .. })
                    && self.summary().is_some()
                    && self.progress.staged().is_none()
            }
            Stage::Workspace | Stage::Agent => false,
        }
    }

    /// It was tried often enough: what is left is for `worktree remove`.
    fn clean_up_is_given_up(&self) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::NotCleanedUp { .. }))
    }

    /// What a pull request of its branch is to be.
    pub fn pull_wanted(&self, words: PullWords, wanted_by: WantedBy, at: Timestamp) -> Option<PullWanted> {
        let head_oid = self.progress.delivered()?.clone();
        let workspace = self.workspace()?;
        Some(PullWanted {
            repo: self.spec.repo,
            host: self.spec.host,
            task: self.spec.task,
            run: self.spec.id,
            head: workspace.branch.clone(),
            base: workspace.base.strip_prefix("origin/").unwrap_or(&workspace.base).to_owned(),
            head_oid,
            words,
            wanted_by,
            // By hand nothing is removed.
            then_release: wanted_by == WantedBy::Run && self.spec.settings.cleanup == Cleanup::Pr,
            release_when_over: matches!(self.spec.settings.cleanup, Cleanup::Merged | Cleanup::Pr),
            at,
        })
    }

    /// Which fact may come now. What is over stays over, but for what failed after the agent's work and is tried again, and
    /// a worktree that is no longer needed.
    fn takes(&self, fact: &Fact) -> bool {
        if self.is_settled() {
            return match fact {
                Fact::Resumed => self.can_be_resumed(),
                Fact::Released => self.progress.delivered().is_some() && self.removal == Removal::Stays,
                _ => false,
            };
        }
        let flows = self.course == Course::Flowing;
        match fact {
            Fact::Admitted
            | Fact::Staged { .. }
            | Fact::Committed { .. }
            | Fact::CommittedLocally { .. }
            | Fact::Rebased { .. }
            | Fact::Pushed { .. } => flows,
            Fact::StartsFrom { .. } => {
                flows && matches!(self.progress, Progress::Admitted { .. } | Progress::Making { .. })
            }
            Fact::Intended { intent: Intent::Remove { .. } } | Fact::Removed { .. } => {
                !matches!(self.removal, Removal::Done(_))
            }
            Fact::Intended { .. } => flows,
            Fact::WorktreeReady { .. } | Fact::SetUpDone { .. } | Fact::Launched { .. } | Fact::AgentEnded { .. } => {
                true
            }
            Fact::SessionSeen { .. } => self.progress.may_have_processes(),
            Fact::Failed { .. } => {
                !matches!(self.course, Course::Failed { .. })
                    && self.progress.delivered().is_none()
                    && !self.is_canceled()
            }
            Fact::Resumed => self.can_be_resumed(),
            // Only what is pending or running can be canceled.
            Fact::CancelRequested => flows && matches!(self.status(), Status::Pending | Status::Running),
            Fact::Stopped => match self.course {
                Course::Failed { stopped, .. } | Course::Canceling { stopped, .. } => !stopped,
                Course::Flowing => false,
            },
            Fact::Preserved { .. } => self.workspace().is_some(),
            Fact::Released => false,
            Fact::Noted { .. } => true,
            // Not merely terminal: whoever decided this may not have known of a cancel, after which work is left.
            Fact::Settled => self.next_is_settled(),
        }
    }
}

impl Machine for Run {
    const NAME: &'static str = "run";
    const VERSION: i64 = 2;
    const FACTS: &'static [&'static str] = Fact::NAMES;
    const INTENTS: &'static [&'static str] = Intent::NAMES;
    type Id = RunId;
    type Fact = Fact;
    type Step = Step;

    fn id(&self) -> RunId {
        self.spec.id
    }

    fn about(&self) -> About {
        let spec = &self.spec;
        About { host: spec.host, repo: Some(spec.repo), task: Some(spec.task), run: Some(spec.id) }
    }

    fn status_name(&self) -> &'static str {
        self.status().as_str()
    }

    fn apply(&mut self, fact: &Fact, at: Timestamp) -> Result<(), IllegalFact> {
        if !self.takes(fact) {
            return Err(IllegalFact::of(self, fact));
        }
        match fact {
            Fact::Intended { intent: Intent::Remove { branch } } => self.removal = Removal::Begun(*branch),
            Fact::Removed { branch } => self.removal = Removal::Done(*branch),
            Fact::Admitted
            | Fact::Intended { .. }
            | Fact::WorktreeReady { .. }
            | Fact::SetUpDone { .. }
            | Fact::Launched { .. }
            | Fact::AgentEnded { .. }
            | Fact::Staged { .. }
            | Fact::Committed { .. }
            | Fact::CommittedLocally { .. }
            | Fact::Rebased { .. }
            | Fact::Pushed { .. } => {
                let after = self.progress.after(fact, at);
                self.progress = after.ok_or_else(|| IllegalFact::of(self, fact))?;
                if let (Fact::AgentEnded { verdict: Verdict::Failed { failure }, .. }, Course::Flowing) =
                    (fact, &self.course)
                {
                    let failure = Failure::Agent { failure: failure.clone() };
                    self.course = Course::Failed { failure, stopped: false };
                }
            }
            Fact::StartsFrom { start } => self.start = Some(start.clone()),
            Fact::SessionSeen { session } => self.session = Some(session.clone()),
            Fact::Failed { failure } => {
                if self.course == Course::Flowing {
                    self.course = Course::Failed { failure: failure.clone(), stopped: false };
                    self.progress = self.progress.clone().without_intent();
                }
            }
            Fact::Resumed => {
                self.course = Course::Flowing;
                self.progress = self.progress.clone().with_fresh_retries();
                self.settled_at = None;
            }
            Fact::CancelRequested => self.course = Course::Canceling { asked_at: at, stopped: false },
            Fact::Stopped => {
                if let Course::Failed { stopped, .. } | Course::Canceling { stopped, .. } = &mut self.course {
                    *stopped = true;
                }
            }
            Fact::Preserved { reference, oid } => {
                self.preserved = Some(Preserved { reference: reference.clone(), oid: oid.clone() });
            }
            Fact::Noted { note } => {
                if !self.notes.contains(note) {
                    self.notes.push(note.clone());
                }
            }
            Fact::Released => {
                self.removal = Removal::Released;
                self.settled_at = None;
            }
            Fact::Settled => self.settled_at = Some(at),
        }
        Ok(())
    }

    fn next(&self, now: Timestamp) -> Next<Self> {
        next::next(self, now)
    }

    fn fact_name(fact: &Fact) -> &'static str {
        fact.name()
    }

    fn intent_of(fact: &Fact) -> Option<&'static str> {
        match fact {
            Fact::Intended { intent } => Some(intent.name()),
            _ => None,
        }
    }

    fn step_name(step: &Step) -> &'static str {
        step.name()
    }

    fn carries_out(step: &Step) -> Option<&'static str> {
        step.carries_out()
    }

    /// A branch that is pushed, or committed where there is no remote, gets the pull request that was asked for.
    fn consequences(&self, facts: &[Fact], at: Timestamp) -> Vec<Consequence> {
        let is_delivered = |fact: &Fact| matches!(fact, Fact::Pushed { .. } | Fact::CommittedLocally { .. });
        if !facts.iter().any(is_delivered) || !self.spec.settings.wants_pull {
            return Vec::new();
        }
        let words = PullWords::of(self);
        let wanted = self.pull_wanted(words, WantedBy::Run, at);
        wanted.map(Consequence::WantPull).into_iter().collect()
    }
}

#[cfg(test)]
mod tests;
