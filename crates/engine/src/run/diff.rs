//! What a task has changed so far: a whole branch against its base, or one run's part of it; committed, kept, or still in
//! the files.

use std::collections::HashSet;

use dandori_domain::candidate::{Candidate, candidates};
use dandori_domain::problem::Rival;
use dandori_domain::run::{Run, Workspace};
use dandori_domain::task::Task;
use dandori_domain::work_at::{Range, WorkAt};
use dandori_domain::{Oid, Problem, RepoId};
use dandori_git::{Colours, FileChange, Form, Repository};

use crate::Engine;
use crate::edges::{config_changed, preserved_ref_of};
use crate::trouble::store_problem;

/// Where the files of a run are read for a look.
const LOOK: &str = "look";

#[derive(Clone, Debug)]
pub struct WorkDiff {
    /// The newest run of it.
    pub run: Run,
    /// All of them, the first one first.
    pub runs: Vec<Run>,
    /// What is compared: commits or trees. `None` while there is nothing.
    pub from: Option<Oid>,
    pub to: Option<Oid>,
    /// `to`, when that is a commit of the branch.
    pub commit: Option<Oid>,
    pub files: Vec<FileChange>,
}

/// What was found of a range.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) from: Option<Oid>,
    pub(super) to: Option<Oid>,
    pub(super) commit: Option<Oid>,
}

impl Engine {
    /// Of a task, or of the branch of a run that is named in its place; `only` one run's own part.
    pub async fn diff(&self, text: &str, only: Option<&str>) -> Result<(Task, WorkDiff), Problem> {
        let (task, runs) = self.find_task(text).await?;
        let rivals = candidates(&runs);
        let (candidate, run) = match only {
            Some(named) => {
                let run = self.find_run(named).await?;
                let its = rivals.iter().find(|c| c.has(run.spec.id)).cloned();
                (its.ok_or_else(|| Problem::NoSuchRun { text: named.to_owned() })?, Some(run))
            }
            None => (meant(&task, &rivals, text)?, None),
        };
        let range = match &run {
            Some(run) => Range::of_run(&candidate, run),
            None => Range::of_branch(&candidate),
        };
        let found = self.found(task.repo, &candidate, range).await?;
        let known = self.open_known(task.repo).await?;
        let ends = found.from.clone().zip(found.to.clone());
        let files = match ends {
            Some((from, to)) => {
                let diff = self.blocking(move |_| known.git.diff_between(&from, &to)).await?;
                diff.map_err(|e| e.problem())?.files
            }
            None => Vec::new(),
        };
        let newest = run.clone().unwrap_or_else(|| newest(&candidate));
        let runs = match run {
            Some(run) => vec![run],
            None => candidate.runs().cloned().collect(),
        };
        let Found { from, to, commit } = found;
        Ok((task, WorkDiff { run: newest, runs, from, to, commit, files }))
    }

    /// What differs between two commits or trees of a repository, as it is to be shown.
    pub async fn patch_between(
        &self,
        repo: RepoId,
        from: Oid,
        to: Oid,
        form: Form,
        colours: Colours,
    ) -> Result<Vec<u8>, Problem> {
        let known = self.open_known(repo).await?;
        let shown = self.blocking(move |_| known.git.shown_between(&from, &to, form, colours)).await?;
        shown.map_err(|e| e.problem())
    }

    /// Looks at each place until there is something.
    pub(super) async fn found(&self, repo: RepoId, candidate: &Candidate, range: Range) -> Result<Found, Problem> {
        let by_hand = self.kept_by_hand_of(repo, candidate).await?;
        let known = self.open_known(repo).await?;
        let candidate = candidate.clone();
        self.blocking(move |engine| {
            let git = &known.git;
            let found = |to: Oid, commit: Option<Oid>| Found { from: range.from.clone(), to: Some(to), commit };
            for place in &range.at {
                match place {
                    WorkAt::Commit(oid) => return Ok(found(oid.clone(), Some(oid.clone()))),
                    WorkAt::Files(workspace) => {
                        if let Some(tree) = engine.files_of(git, &candidate, workspace)? {
                            return Ok(found(tree, None));
                        }
                        // Removed by hand since: what it held was kept.
                        let kept = by_hand.as_ref().map(|reference| git.kept(reference)).transpose();
                        if let Some(oid) = kept.map_err(|e| e.problem())?.flatten() {
                            return Ok(found(oid, None));
                        }
                    }
                    WorkAt::Kept(oid) | WorkAt::Staged(oid) => {
                        if git.has_tree(oid).map_err(|e| e.problem())? {
                            return Ok(found(oid.clone(), None));
                        }
                    }
                }
            }
            Ok(Found { from: range.from.clone(), ..Found::default() })
        })
        .await?
    }

    /// Everything in a run's worktree, as a tree; `None` when that is gone.
    fn files_of(&self, git: &Repository, candidate: &Candidate, workspace: &Workspace) -> Result<Option<Oid>, Problem> {
        let newest = newest(candidate);
        let files = self.layout().repo(newest.spec.repo).run(newest.spec.id);
        // Without a fence git would do what an agent has written into its settings.
        if newest.progress.work().is_some_and(|work| !work.sandbox.holds_files()) {
            let changed = config_changed(&files, git).map_err(|e| e.problem())?;
            if let Some(key) = changed {
                let reason = format!("the agent changed {key} in the repository's configuration");
                return Err(Problem::Git { command: "git add".to_owned(), reason });
            }
        }
        let Some(tree) = git.worktree(&workspace.path).map_err(|e| e.problem())? else { return Ok(None) };
        if !tree.is_there() {
            return Ok(None);
        }
        tree.look(&files.root().join(LOOK)).map(Some).map_err(|e| e.problem())
    }

    /// The newest keepsake of its worktree's removal by hand.
    async fn kept_by_hand_of(&self, repo: RepoId, candidate: &Candidate) -> Result<Option<String>, Problem> {
        let Some(workspace) = newest(candidate).workspace().cloned() else { return Ok(None) };
        let keepsakes = self.store().keepsakes(repo).await.map_err(|e| store_problem(&e))?;
        let by_hand = format!("{}-", preserved_ref_of(&workspace.key));
        let newest = keepsakes.into_iter().filter(|k| k.reference.starts_with(&by_hand)).max_by_key(|k| k.at);
        Ok(newest.map(|k| k.reference))
    }
}

fn newest(candidate: &Candidate) -> Run {
    candidate.runs().next_back().unwrap_or_else(|| candidate.latest()).clone()
}

/// The candidate that a task's name means: the picked one, else the only one that no later attempt took the place of.
fn meant(task: &Task, rivals: &[Candidate], text: &str) -> Result<Candidate, Problem> {
    let is_named = |run: &Run| run.spec.id.to_string() == text || run.spec.id.key().as_str() == text;
    let named = rivals.iter().find(|c| c.runs().any(is_named));
    let picked = || task.picked.and_then(|id| rivals.iter().find(|c| c.has(id)));
    if let Some(candidate) = named.or_else(picked) {
        return Ok(candidate.clone());
    }
    let again: HashSet<_> = rivals.iter().flat_map(|c| c.runs().filter_map(|r| r.spec.retry_of)).collect();
    let open: Vec<&Candidate> = rivals.iter().filter(|c| !c.runs().any(|r| again.contains(&r.spec.id))).collect();
    match open.as_slice() {
        [one] => Ok((*one).clone()),
        [] => rivals.last().cloned().ok_or_else(|| Problem::NoSuchRun { text: text.to_owned() }),
        several => {
            let rival = |c: &&Candidate| {
                let run = newest(c);
                Rival { run: run.spec.id.key().to_string(), agent: run.spec.agent.to_string(), state: run.status() }
            };
            Err(Problem::WhichAgent { task: task.number.to_string(), rivals: several.iter().map(rival).collect() })
        }
    }
}
