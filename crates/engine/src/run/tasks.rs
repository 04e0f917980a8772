//! What can be done about tasks that exist: cancel, retry, compare, pick.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::Utf8PathBuf;
use dandori_domain::candidate::{Candidate, candidates};
use dandori_domain::pull::WantedBy;
use dandori_domain::run::{Fact, Run, Status};
use dandori_domain::task::Task;
use dandori_domain::work_at::Range;
use dandori_domain::{Oid, Problem, RunId};
use dandori_git::{FileChange, GitError, Repository};
use dandori_host::Env;
use dandori_store::{Again, StoreError};

use crate::Engine;
use crate::pull::Moved;
use crate::trouble::store_problem;

/// Which run of a task is meant.
#[derive(Clone, Copy, Debug)]
pub enum WhichRun<'t> {
    Named(&'t str),
    /// Whichever follows from what was picked and what came of the runs.
    Chosen,
}

#[derive(Clone, Debug)]
pub struct Comparison {
    pub runs: Vec<ComparedRun>,
    /// path → (latest runs of the candidates that touched it, whether their versions are the very same)
    pub overlap: BTreeMap<String, (Vec<RunId>, bool)>,
}

#[derive(Clone, Debug)]
pub struct ComparedRun {
    pub candidate: Candidate,
    pub files: Vec<ComparedFile>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ComparedFile {
    pub path: String,
    pub insertions: u64,
    pub deletions: u64,
    /// The version it ends in; `None` when it was deleted.
    pub version: Option<Oid>,
}

impl Engine {
    /// A task and its runs, by anything people call it: `T-3`, `3`, an id, or a run of it.
    pub async fn find_task(&self, text: &str) -> Result<(Task, Vec<Run>), Problem> {
        let task = match self.store().find_task(text).await {
            Ok(task) => task,
            Err(StoreError::NotFound { .. }) => {
                let run = self.find_run(text).await.map_err(|e| match e {
                    Problem::NoSuchRun { text } => Problem::NoSuchTask { text },
                    other => other,
                })?;
                self.store().task(run.spec.task).await.map_err(|e| store_problem(&e))?
            }
            Err(e) => return Err(store_problem(&e)),
        };
        let runs = self.store().runs_of(task.id).await.map_err(|e| store_problem(&e))?;
        Ok((task, runs))
    }

    /// One run: by its own name, or the newest of a task.
    pub async fn find_run(&self, text: &str) -> Result<Run, Problem> {
        let runs = self.store().find_runs(text).await.map_err(|e| match e {
            StoreError::NotFound { text, .. } => Problem::NoSuchRun { text },
            other => store_problem(&other),
        })?;
        runs.into_iter().next_back().ok_or_else(|| Problem::NoSuchRun { text: text.to_owned() })
    }

    /// Cancels what is pending or running of what is meant: a task, or one of its runs. All its processes end; uncommitted
    /// edits are kept.
    pub async fn cancel(&self, text: &str) -> Result<(Task, Vec<Run>), Problem> {
        let (task, _) = self.find_task(text).await?;
        self.repo_here(task.repo).await?;
        // A run's own name cancels that run alone.
        let meant = self.store().find_runs(text).await.map_err(|e| store_problem(&e))?;
        let mut canceled = Vec::new();
        for run in meant.iter().filter(|run| !run.is_settled()) {
            match self.0.kernel.record_just::<Run>(run.spec.id, vec![Fact::CancelRequested]).await {
                Ok(recorded) => {
                    self.0.kernel.walk(&self.runs(), run.spec.id);
                    canceled.push(recorded.subject);
                }
                Err(StoreError::Illegal(_)) => {}
                Err(e) => return Err(store_problem(&e)),
            }
        }
        if canceled.is_empty() {
            let newest = meant.last().map(|run| run.spec.id);
            let status = match newest {
                Some(id) => self.store().subject::<Run>(id).await.map_err(|e| store_problem(&e))?.status(),
                None => Status::Pending,
            };
            return Err(Problem::CannotCancel { status });
        }
        Ok((task, canceled))
    }

    /// The run a task goes on with: the one that is named; else the newest on the picked branch, else the newest; a canceled
    /// one is passed over. Several agents side by side and none picked is a question for the user.
    pub async fn run_to_go_on_with(&self, task: &Task, runs: &[Run], which: WhichRun<'_>) -> Result<Run, Problem> {
        match which {
            WhichRun::Named(text) => self.find_run(text).await,
            WhichRun::Chosen => going_on(task, runs).cloned().map_err(|rivals| {
                let text = task.number.to_string();
                if rivals.is_empty() {
                    Problem::NoSuchRun { text }
                } else {
                    Problem::AmbiguousReference { text, matches: rivals }
                }
            }),
        }
    }

    /// `dandori task retry`
    pub async fn retry(&self, text: &str, caller: Option<Arc<Env>>) -> Result<Run, Problem> {
        // One look: what was asked for in between is another's, and not to be asked for again.
        let (task, attempts) = self.find_task(text).await?;
        let named = self.find_run(text).await?;
        let run = attempts.iter().find(|r| r.spec.id == named.spec.id).or(attempts.last()).cloned().unwrap_or(named);
        self.retry_run(&task, &attempts, &run, caller).await
    }

    /// What failed after the agent's work is taken up where it failed, as long as that work is there; any other failure
    /// or cancel is run again from the base. Once: of several who ask at the same moment one is served, and the others are
    /// told which run it is. `attempts` are the task's runs as whoever asks has seen them.
    async fn retry_run(
        &self,
        task: &Task,
        attempts: &[Run],
        run: &Run,
        caller: Option<Arc<Env>>,
    ) -> Result<Run, Problem> {
        self.repo_here(task.repo).await?;
        let status = run.status();
        if run.can_be_resumed() && self.has_its_worktree(run).await? {
            self.remember_caller(run.spec.id, caller.as_ref());
            let recorded = match self.0.kernel.record_just::<Run>(run.spec.id, vec![Fact::Resumed]).await {
                Ok(recorded) => recorded,
                // Somebody else asked for the same a moment earlier.
                Err(StoreError::Illegal(_)) => {
                    let now = self.store().subject::<Run>(run.spec.id).await.map_err(|e| store_problem(&e))?;
                    return Err(busy(run.spec.id, now.status()));
                }
                Err(e) => return Err(store_problem(&e)),
            };
            self.0.kernel.walk(&self.runs(), run.spec.id);
            return Ok(recorded.subject);
        }
        if !run.is_settled() {
            return Err(busy(run.spec.id, status));
        }
        // What is known of it now: of several who ask at once, the store takes the first.
        let newest = attempts.iter().rfind(|r| r.spec.retry_of == Some(run.spec.id)).unwrap_or(run);
        let again = Again { of: run.spec.id, newest: newest.spec.id };
        match status {
            Status::Failed | Status::Canceled => self.run_again(task, run, again, caller).await,
            _ => Err(Problem::CannotRetry { run: run.spec.id.key().to_string(), status }),
        }
    }

    async fn has_its_worktree(&self, run: &Run) -> Result<bool, Problem> {
        let Some(workspace) = run.workspace() else { return Ok(false) };
        let worktree = self.store().worktree(workspace.key.clone()).await.map_err(|e| store_problem(&e))?;
        Ok(worktree.is_some_and(|worktree| worktree.removed_at.is_none()))
    }

    /// Which candidate becomes the pull request: named by its agent, or by any of its runs. One that is open for another
    /// candidate moves to it.
    pub async fn pick(
        &self,
        text: &str,
        named: &str,
        pr: bool,
        caller: Option<Arc<Env>>,
    ) -> Result<(Task, Option<Moved>), Problem> {
        let (task, runs) = self.find_task(text).await?;
        let rivals = candidates(&runs);
        let is_by = |c: &&Candidate| c.latest().spec.agent.to_string() == named;
        let by_agent: Vec<&Candidate> = rivals.iter().filter(is_by).collect();
        let meant = match by_agent.as_slice() {
            [one] => Some(*one),
            // Whichever of its runs is named, the candidate is meant.
            _ => {
                let run = self.find_run(named).await?.spec.id;
                rivals.iter().find(|c| c.has(run))
            }
        };
        let candidate = meant.ok_or_else(|| Problem::NoSuchRun { text: named.to_owned() })?;
        let Some(run) = candidate.to_pick() else {
            return Err(Problem::NothingToPick { task: task.number.to_string() });
        };
        let moving = self.pull_to_move(run).await?;
        let ours = self.pull_words(run).await?;
        let wanted = moving.as_ref().and_then(|pull| {
            // A person's own words stay.
            let words = match pull.wanted.wanted_by {
                WantedBy::Hand => pull.wanted.words.clone(),
                WantedBy::Run => ours,
            };
            let wanted = run.pull_wanted(words, pull.wanted.wanted_by, self.now())?;
            Some((pull.spec.id, wanted))
        });
        let picked = self.store().pick(task.id, run.spec.id, wanted, self.now()).await;
        let task = picked.map_err(|e| match e {
            StoreError::Illegal(_) => {
                let number = moving.as_ref().and_then(|pull| pull.link()).map_or(0, |link| link.number);
                Problem::PullIsBusy { number }
            }
            other => store_problem(&other),
        })?;
        if let Some(pull) = moving {
            return Ok((task, Some(self.moved(&pull, caller.as_ref()).await?)));
        }
        let has_pull = self.pull_of(run).await?.is_some_and(|pull| pull.link().is_some() && !pull.is_over());
        if pr && !has_pull {
            self.create_pull(run, None, None, caller).await?;
        }
        Ok((task, None))
    }

    pub async fn compare(&self, task: &Task, runs: &[Run]) -> Result<Comparison, Problem> {
        let known = self.open_known(task.repo).await?;
        let mut compared = Vec::new();
        for candidate in candidates(runs) {
            // Files that cannot be read this moment leave what is committed.
            let ends = match self.found(task.repo, &candidate, Range::of_branch(&candidate)).await {
                Ok(found) => found.from.zip(found.to),
                Err(_) => candidate.base().cloned().zip(candidate.tip().cloned()),
            };
            compared.push((candidate, ends));
        }
        let runs = self
            .blocking(move |_| {
                compared
                    .into_iter()
                    .map(|(candidate, ends)| {
                        let files = match ends {
                            Some((base, tip)) => files_of(&known.git, &base, &tip).map_err(|e| e.problem())?,
                            None => Vec::new(),
                        };
                        Ok(ComparedRun { candidate, files })
                    })
                    .collect::<Result<Vec<_>, Problem>>()
            })
            .await??;
        Ok(Comparison { overlap: overlap(&runs), runs })
    }

    /// The file with the patch of a run: what was staged. Before that, and without changes, it is not there.
    pub fn patch(&self, run: &Run) -> Utf8PathBuf {
        self.layout().repo(run.spec.repo).run(run.spec.id).patch()
    }
}

/// The run a task goes on with, or the rivals among which the user has to choose.
fn going_on<'r>(task: &Task, runs: &'r [Run]) -> Result<&'r Run, Vec<String>> {
    let picked = task.picked.and_then(|id| runs.iter().find(|r| r.spec.id == id)).map(Run::branch);
    let fitting: Vec<&Run> = runs.iter().filter(|r| picked.as_ref().is_none_or(|p| r.branch() == *p)).collect();
    let open: Vec<&Run> = fitting.iter().copied().filter(|r| r.status() != Status::Canceled).collect();
    let succeeded: BTreeSet<_> =
        open.iter().filter(|r| r.status() == Status::Succeeded).filter_map(|r| r.branch()).collect();
    if picked.is_none() && succeeded.len() > 1 {
        return Err(open.iter().map(|r| format!("{} ({})", r.spec.id.key(), r.spec.agent)).collect());
    }
    open.last().or(fitting.last()).copied().ok_or_else(Vec::new)
}

fn busy(run: RunId, status: Status) -> Problem {
    Problem::TaskIsBusy { run: run.key().to_string(), status }
}

fn files_of(git: &Repository, base: &Oid, tip: &Oid) -> Result<Vec<ComparedFile>, GitError> {
    let diff = git.diff_between(base, tip)?;
    let paths: Vec<String> = diff.files.iter().map(|f| f.path.clone()).collect();
    let versions = git.versions(tip, &paths)?;
    let compared = |file: FileChange| ComparedFile {
        version: versions.get(&file.path).cloned(),
        path: file.path,
        insertions: file.added,
        deletions: file.deleted,
    };
    Ok(diff.files.into_iter().map(compared).collect())
}

fn overlap(runs: &[ComparedRun]) -> BTreeMap<String, (Vec<RunId>, bool)> {
    let mut by_path: BTreeMap<String, Vec<(RunId, Option<&Oid>)>> = BTreeMap::new();
    for run in runs {
        for file in &run.files {
            by_path.entry(file.path.clone()).or_default().push((run.candidate.latest().spec.id, file.version.as_ref()));
        }
    }
    by_path
        .into_iter()
        .filter(|(_, touched)| touched.len() > 1)
        .map(|(path, touched)| {
            let same = touched.windows(2).all(|pair| matches!(pair, [a, b] if a.1 == b.1));
            (path, (touched.into_iter().map(|(run, _)| run).collect(), same))
        })
        .collect()
}
