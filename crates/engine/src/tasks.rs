//! What can be done about tasks that exist: cancel, retry, compare, pick.

use std::collections::BTreeMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use dandori_domain::candidate::{Candidate, candidates};
use dandori_domain::run::{Fact, RunFacts, Status};
use dandori_domain::task::Task;
use dandori_domain::{Oid, Problem, RunId};
use dandori_git::{FileChange, GitError, Repository};
use dandori_host::{Env, now};
use dandori_store::{Again, StoreError};

use crate::Engine;
use crate::trouble::store_problem;

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
    pub async fn find_task(&self, text: &str) -> Result<(Task, Vec<RunFacts>), Problem> {
        let task = match self.0.store.find_task(text).await {
            Ok(task) => task,
            Err(StoreError::NotFound { .. }) => {
                let run = self.find_run(text).await.map_err(|e| match e {
                    Problem::NoSuchRun { text } => Problem::NoSuchTask { text },
                    other => other,
                })?;
                self.0.store.task(run.spec.task).await.map_err(|e| store_problem(&e))?
            }
            Err(e) => return Err(store_problem(&e)),
        };
        let runs = self.0.store.runs_of(task.id).await.map_err(|e| store_problem(&e))?;
        Ok((task, runs))
    }

    /// One run: by its own name, or the newest of a task.
    pub async fn find_run(&self, text: &str) -> Result<RunFacts, Problem> {
        let runs = self.0.store.find_runs(text).await.map_err(|e| match e {
            StoreError::NotFound { text, .. } => Problem::NoSuchRun { text },
            other => store_problem(&other),
        })?;
        runs.into_iter().next_back().ok_or_else(|| Problem::NoSuchRun { text: text.to_owned() })
    }

    /// Cancels what is pending or running of a task. All its processes end; uncommitted edits are kept.
    pub async fn cancel(&self, runs: &[RunFacts]) -> Result<Vec<RunFacts>, Problem> {
        if let Some(run) = runs.first() {
            self.repo_here(run.spec.repo).await?;
        }
        let mut canceled = Vec::new();
        let mut refused = None;
        for run in runs.iter().filter(|run| !run.is_settled()) {
            match self.0.store.record(self.0.fence, run.spec.id, vec![Fact::CancelRequested], now()).await {
                Ok(run) => {
                    crate::fault::recorded(&Fact::CancelRequested);
                    self.walk(run.spec.id);
                    canceled.push(run);
                }
                Err(StoreError::Illegal(e)) => refused = Some(e.status),
                Err(e) => return Err(store_problem(&e)),
            }
        }
        if !canceled.is_empty() {
            return Ok(canceled);
        }
        let status = refused.or_else(|| runs.last().map(RunFacts::status)).unwrap_or(Status::Pending);
        Err(Problem::CannotCancel { status: status.as_str().to_owned() })
    }

    /// What failed after the agent's work is taken up where it failed, as long as that work is there; any other failure
    /// or cancel is run again from the base. Once: of several who ask at the same moment one is served, and the others are
    /// told which run it is. `attempts` are the task's runs as whoever asks has seen them.
    pub async fn retry(
        &self,
        task: &Task,
        attempts: &[RunFacts],
        run: &RunFacts,
        caller: Option<Arc<Env>>,
    ) -> Result<RunFacts, Problem> {
        self.repo_here(task.repo).await?;
        let status = run.status();
        if run.can_be_resumed() && self.has_its_worktree(run).await? {
            self.remember_caller(run.spec.id, caller.as_ref());
            let facts = vec![Fact::Resumed];
            let run = match self.0.store.record(self.0.fence, run.spec.id, facts, now()).await {
                Ok(run) => run,
                // Somebody else asked for the same a moment earlier.
                Err(StoreError::Illegal(refused)) => return Err(busy(run.spec.id, refused.status)),
                Err(e) => return Err(store_problem(&e)),
            };
            crate::fault::recorded(&Fact::Resumed);
            self.walk(run.spec.id);
            return Ok(run);
        }
        if !run.is_settled() {
            return Err(busy(run.spec.id, status));
        }
        // What is known of it now: of several who ask at once, the store takes the first.
        let newest = attempts.iter().rfind(|r| r.spec.retry_of == Some(run.spec.id)).unwrap_or(run);
        let again = Again { of: run.spec.id, newest: newest.spec.id };
        match status {
            Status::Failed | Status::Canceled => self.run_again(task, run, again, caller).await,
            _ => Err(Problem::CannotRetry { status: status.as_str().to_owned() }),
        }
    }

    async fn has_its_worktree(&self, run: &RunFacts) -> Result<bool, Problem> {
        let Some(workspace) = &run.workspace else { return Ok(false) };
        let worktree = self.0.store.worktree(workspace.key.clone()).await.map_err(|e| store_problem(&e))?;
        Ok(worktree.is_some_and(|worktree| worktree.removed_at.is_none()))
    }

    /// Which candidate becomes the pull request.
    pub async fn pick(&self, task: &Task, candidate: &Candidate, pr: bool) -> Result<Task, Problem> {
        let Some(run) = candidate.to_pick() else {
            return Err(Problem::NothingToPick { task: task.number.to_string() });
        };
        let task = self.0.store.pick(task.id, run.spec.id, now()).await.map_err(|e| store_problem(&e))?;
        if pr && !matches!(run.pull, Some(dandori_domain::run::Pull::Opened { .. })) {
            self.create_pull(run, None, None, None).await?;
        }
        Ok(task)
    }

    pub async fn compare(&self, task: &Task, runs: &[RunFacts]) -> Result<Comparison, Problem> {
        let known = self.known(task.repo).await?;
        let rivals = candidates(runs);
        let runs = self
            .blocking(move |_| {
                rivals
                    .into_iter()
                    .map(|candidate| {
                        let files = match (candidate.base(), candidate.tip()) {
                            (Some(base), Some(tip)) => files_of(&known.git, base, tip).map_err(|e| e.problem())?,
                            _ => Vec::new(),
                        };
                        Ok(ComparedRun { candidate, files })
                    })
                    .collect::<Result<Vec<_>, Problem>>()
            })
            .await??;
        Ok(Comparison { overlap: overlap(&runs), runs })
    }

    /// The file with the patch of a run: what was staged. Before that, and without changes, it is not there.
    pub fn patch(&self, run: &RunFacts) -> Utf8PathBuf {
        self.layout().repo(run.spec.repo).run(run.spec.id).patch()
    }
}

fn busy(run: RunId, status: Status) -> Problem {
    Problem::TaskIsBusy { run: run.key().to_string(), status: status.as_str().to_owned() }
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
