//! How a pull request ends: merged, closed, opened again. Decided by a person, written down, then done; each looks first
//! whether it has already happened.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use dandori_domain::pull::{
    MERGE_TRIES, MergeAsked, MergeLook, MergeObstacle, MergeRule, MergeWay, PlannedMerge, Pull, PullChange, PullFact,
    PullLink, PullState, Standing, may_merge,
};
use dandori_domain::run::{Brings, Removal};
use dandori_domain::{Oid, Problem, Run};
use dandori_host::Env;
use dandori_store::StoreError;

use super::PullEntry;
use super::find::Found;
use crate::edges::{MergeOutcome, MergeQuestion, MergeWords, Site};
use crate::trouble::store_problem;
use crate::{Engine, RunChoice};

/// How long somebody who ends a pull request waits to hear whether work was preserved.
const PRESERVE_PATIENCE: Duration = Duration::from_secs(10);

/// `dandori pr merge`
#[derive(Clone, Debug)]
pub struct MergeRequest {
    /// The commit the person was shown.
    pub head_oid: Oid,
    pub rule: MergeRule,
    pub caller: Option<Arc<Env>>,
}

/// A pull request after something was decided about it.
#[derive(Clone, Debug)]
pub struct Ended {
    pub entry: PullEntry,
    /// Of a merge: where the base is now, and whether the branch of this clone came along.
    pub base_oid: Option<Oid>,
    pub here: Option<LocalBase>,
    /// The run, when its worktree had uncommitted work: it was preserved before the worktree is removed.
    pub kept: Option<Run>,
}

/// The base's branch in this clone, beside a base that has the merge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LocalBase {
    Current,
    Behind,
    Absent,
}

impl LocalBase {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Behind => "behind",
            Self::Absent => "absent",
        }
    }
}

impl Engine {
    pub async fn merge_pull(&self, path: &Utf8Path, text: &str, request: MergeRequest) -> Result<Ended, Problem> {
        let MergeRequest { head_oid, rule, caller } = request;
        let mut found = self.find_pull(path, text).await?;
        found.site.own = self.own_env_for(caller.as_ref());
        let pull = Self::require_ours(&found)?;
        self.remember_caller(pull.wanted.run, caller.as_ref());
        let look = self.merge_look(&found, true).await?;
        let asked = MergeAsked { head_oid, rule };
        let mut obstacles = may_merge(&look, &asked);
        if !found.record.is_embedded() && rule == MergeRule::FastForwardOnly {
            obstacles.push(MergeObstacle::ForgeMakesCommits);
        }
        if !obstacles.is_empty() {
            return Err(self.cannot_merge(&pull, found.record.number, obstacles).await);
        }
        let (number, title) = (found.record.number, &found.record.draft.title);
        let message = format!("Merge pull request #{number} from {}\n\n{title}\n", found.record.draft.head);
        let words = MergeWords { rule, message, at: self.now() };
        let planned = if found.record.is_embedded() {
            match self.plan(&found.site, &look, &words, 0).await? {
                Ok(planned) => planned,
                Err(obstacle) => return Err(self.cannot_merge(&pull, number, vec![obstacle]).await),
            }
        } else {
            planned(&look, &words, 0, MergeWay::Forge)
        };
        self.decide(found, &pull, PullChange::Merge(planned)).await
    }

    pub async fn close_pull(&self, path: &Utf8Path, text: &str, caller: Option<Arc<Env>>) -> Result<Ended, Problem> {
        let mut found = self.find_pull(path, text).await?;
        found.site.own = self.own_env_for(caller.as_ref());
        let pull = Self::require_ours(&found)?;
        self.remember_caller(pull.wanted.run, caller.as_ref());
        self.decide(found, &pull, PullChange::Close).await
    }

    pub async fn reopen_pull(&self, path: &Utf8Path, text: &str, caller: Option<Arc<Env>>) -> Result<Ended, Problem> {
        let mut found = self.find_pull(path, text).await?;
        found.site.own = self.own_env_for(caller.as_ref());
        let pull = Self::require_ours(&found)?;
        self.remember_caller(pull.wanted.run, caller.as_ref());
        let others = self.store().pulls_on(pull.spec.repo, pull.head().to_owned()).await;
        let others = others.map_err(|e| store_problem(&e))?;
        let taken = others.iter().find(|other| other.spec.id != pull.spec.id && !other.is_over());
        if let Some(other) = taken {
            let number = other.link().map_or(0, |link| link.number);
            return Err(Problem::PullTaken { branch: pull.head().to_owned(), number });
        }
        self.decide(found, &pull, PullChange::Reopen).await
    }

    /// Brings the newest base into its branch: a run of its task that goes on from the newest one of that branch. Its agent is
    /// there for conflicts alone.
    pub async fn update_pull(&self, path: &Utf8Path, text: &str, caller: Option<Arc<Env>>) -> Result<Run, Problem> {
        let mut found = self.find_pull(path, text).await?;
        found.site.own = self.own_env_for(caller.as_ref());
        let pull = Self::require_ours(&found)?;
        let number = found.record.number;
        if found.record.state != PullState::Open {
            return Err(Problem::PullIs { number, state: found.record.state });
        }
        let look = self.merge_look(&found, true).await?;
        if look.base_oid.is_none() {
            let obstacles = vec![MergeObstacle::NoBase { base: look.base }];
            return Err(self.cannot_merge(&pull, number, obstacles).await);
        }
        if look.behind == 0 {
            return Err(Problem::UpToDate { number, base: look.base });
        }
        let whole = self.store().whole_task(pull.wanted.task).await.map_err(|e| store_problem(&e))?;
        let newest = whole.runs.iter().rfind(|run| run.branch() == Some(pull.head()));
        let earlier = newest.ok_or_else(|| Problem::NoPullOf { text: pull.head().to_owned() })?;
        let choice = RunChoice {
            caller,
            from: Some(path.to_owned()),
            pr: Some(true),
            budget: earlier.spec.settings.budget.map(dandori_domain::Usd::dollars),
            model: earlier.spec.settings.model.clone(),
            brings: Some(Brings::Base),
            ..RunChoice::default()
        };
        let instruction = format!("Merge {} into {}", look.base, pull.head());
        self.follow_up(&whole.task, earlier, instruction, choice).await
    }

    /// Writes down what was decided, has it done, and waits for it.
    async fn decide(&self, found: Found, pull: &Pull, change: PullChange) -> Result<Ended, Problem> {
        let Found { site, record, .. } = found;
        let number = record.number;
        let config = self.config_of(&site.repo)?;
        let before = self.store().run(pull.wanted.run).await.map_err(|e| store_problem(&e))?;
        let intended = PullFact::ChangeIntended { change: change.clone() };
        match self.0.kernel.record_just::<Pull>(pull.spec.id, vec![intended]).await {
            Ok(_) => {}
            Err(StoreError::Illegal(_)) => {
                let now: Pull = self.store().subject(pull.spec.id).await.map_err(|e| store_problem(&e))?;
                return Err(match &now.standing {
                    Standing::Closed { .. } => Problem::PullIs { number, state: PullState::Closed },
                    Standing::Merged { .. } => Problem::PullIs { number, state: PullState::Merged },
                    Standing::Open { .. } => Problem::PullIs { number, state: PullState::Open },
                    Standing::Wanted { .. }
                    | Standing::Putting { .. }
                    | Standing::Failed { .. }
                    | Standing::Changing { .. } => Problem::PullIsBusy { number },
                });
            }
            Err(e) => return Err(store_problem(&e)),
        }
        self.0.kernel.walk(&self.pulls(), pull.spec.id);
        let after = self.answered(pull.spec.id).await?;
        if let Some(problem) = after.refused {
            return Err(problem);
        }
        let record = self.0.edges.forge.show(&site, &config, number).await?;
        let (base_oid, here) = match &change {
            PullChange::Merge(planned) => self.base_after(&site, planned.clone()).await,
            PullChange::Close | PullChange::Reopen => (None, None),
        };
        let kept = self.preserved_since(&before).await;
        Ok(Ended { entry: self.entry(&site.repo, record).await, base_oid, here, kept })
    }

    /// The run once its work is preserved, when its worktree is to go. That it is removed is not waited for.
    async fn preserved_since(&self, before: &Run) -> Option<Run> {
        let mut events = self.store().watch_events();
        let waited = async {
            loop {
                events.borrow_and_update();
                let now = self.store().run(before.spec.id).await.ok()?;
                if now.is_settled() || now.removal != Removal::Released {
                    return Some(now);
                }
                // The log is the truth; the bell may be lost.
                let _ = tokio::time::timeout(Duration::from_secs(1), events.changed()).await;
            }
        };
        let now = tokio::time::timeout(PRESERVE_PATIENCE, waited).await.ok()??;
        (now.preserved.is_some() && now.preserved != before.preserved).then_some(now)
    }

    /// The step: carried out until it has come about, or cannot.
    pub(super) async fn change_pull(
        &self,
        pull: &Pull,
        link: &PullLink,
        change: PullChange,
    ) -> Result<PullFact, Problem> {
        let site = self.site_of(pull.wanted.repo, pull.wanted.run).await?;
        let config = self.config_of(&site.repo)?;
        let number = link.number;
        let forge = &self.0.edges.forge;
        let wanted = match change {
            PullChange::Close => PullState::Closed,
            PullChange::Reopen => PullState::Open,
            PullChange::Merge(planned) => match planned.way {
                MergeWay::Forge => {
                    let record = forge.merge(&site, &config, number, &planned).await?;
                    // What the forge has is then known here as well.
                    let _ = self.look_again(&site, pull, &planned).await;
                    return ended(number, PullState::Merged, record.state);
                }
                MergeWay::Git { .. } => match self.merge_by_git(&site, pull, number, planned).await? {
                    Some(again) => return Ok(again),
                    None => PullState::Merged,
                },
            },
        };
        let record = forge.make(&site, &config, number, wanted).await?;
        ended(number, wanted, record.state)
    }

    /// `None`: the base has it. Else the same merge, worked out anew because others were faster.
    async fn merge_by_git(
        &self,
        site: &Site,
        pull: &Pull,
        number: u64,
        planned: PlannedMerge,
    ) -> Result<Option<PullFact>, Problem> {
        let (at, plan) = (site.clone(), planned.clone());
        match self.blocking(move |engine| engine.0.edges.git.merge(&at, &plan)).await?? {
            MergeOutcome::Merged => return Ok(None),
            MergeOutcome::BaseMoved => {}
            MergeOutcome::Refused { reason } => return Err(Problem::MergeRefused { base: planned.base, reason }),
            MergeOutcome::Blocked(obstacle) => return Err(self.cannot_merge(pull, number, vec![obstacle]).await),
        }
        let tries = planned.tries + 1;
        if tries >= MERGE_TRIES {
            return Err(Problem::MergeOvertaken { base: planned.base, tries });
        }
        let look = self.look_again(site, pull, &planned).await?;
        if look.base_oid.is_some() && look.ahead == 0 {
            return Ok(None);
        }
        let asked = MergeAsked { head_oid: planned.head_oid.clone(), rule: planned.rule };
        let mut obstacles = may_merge(&look, &asked);
        // The head is the one that was shown, whatever its branch has become since.
        obstacles.retain(|obstacle| !matches!(obstacle, MergeObstacle::HeadMoved { .. }));
        if !obstacles.is_empty() {
            return Err(self.cannot_merge(pull, number, obstacles).await);
        }
        let words = MergeWords { rule: planned.rule, message: planned.message, at: planned.at };
        match self.plan(site, &look, &words, tries).await? {
            Ok(planned) => Ok(Some(PullFact::ChangeIntended { change: PullChange::Merge(planned) })),
            Err(obstacle) => Err(self.cannot_merge(pull, number, vec![obstacle]).await),
        }
    }

    async fn look_again(&self, site: &Site, pull: &Pull, planned: &PlannedMerge) -> Result<MergeLook, Problem> {
        let question = MergeQuestion {
            state: PullState::Open,
            head: pull.head().to_owned(),
            head_oid: planned.head_oid.clone(),
            base: planned.base.clone(),
            ask_remote: true,
            by_forge: planned.way == MergeWay::Forge,
        };
        let at = site.clone();
        self.blocking(move |engine| engine.0.edges.git.merge_look(&at, &question)).await?
    }

    async fn plan(
        &self,
        site: &Site,
        look: &MergeLook,
        words: &MergeWords,
        tries: u32,
    ) -> Result<Result<PlannedMerge, MergeObstacle>, Problem> {
        let (at, looked, said) = (site.clone(), look.clone(), words.clone());
        let way = self.blocking(move |engine| engine.0.edges.git.plan_merge(&at, &looked, &said)).await??;
        Ok(way.map(|way| planned(look, words, tries, way)))
    }

    async fn cannot_merge(&self, pull: &Pull, number: u64, obstacles: Vec<MergeObstacle>) -> Problem {
        Problem::CannotMerge { number, task: self.task_name(pull.wanted.run).await, obstacles }
    }

    /// Where the base is after a merge, and whether the branch of this clone has it.
    async fn base_after(&self, site: &Site, planned: PlannedMerge) -> (Option<Oid>, Option<LocalBase>) {
        let git = self.0.opener.open_as(site.repo.clone(), &site.own).git;
        let looked = self.blocking(move |_| {
            let standing = git.base_standing(&planned.base, dandori_git::Fetch::Never).ok()?.ok()??;
            let here = match &standing.local {
                None => LocalBase::Absent,
                Some(local) if git.is_ancestor(&planned.head_oid, local).ok()? => LocalBase::Current,
                Some(_) => LocalBase::Behind,
            };
            Some((standing.oid, here))
        });
        match looked.await.ok().flatten() {
            Some((oid, here)) => (Some(oid), Some(here)),
            None => (None, None),
        }
    }
}

/// What the forge shows is what came about. What is merged is so whatever was asked for.
fn ended(number: u64, wanted: PullState, shown: PullState) -> Result<PullFact, Problem> {
    match (wanted, shown) {
        (_, PullState::Merged) => Ok(PullFact::PullMerged { number }),
        (PullState::Open, PullState::Open) => Ok(PullFact::PullReopened { number }),
        (PullState::Closed | PullState::Merged, PullState::Closed) => Ok(PullFact::PullClosed { number }),
        (PullState::Open, PullState::Closed) | (PullState::Closed | PullState::Merged, PullState::Open) => {
            Err(Problem::ForgeRefused { reason: format!("it is still {shown}") })
        }
    }
}

fn planned(look: &MergeLook, words: &MergeWords, tries: u32, way: MergeWay) -> PlannedMerge {
    PlannedMerge {
        head_oid: look.head_oid.clone(),
        base: look.base.clone(),
        rule: words.rule,
        message: words.message.clone(),
        at: words.at,
        tries,
        way,
    }
}
