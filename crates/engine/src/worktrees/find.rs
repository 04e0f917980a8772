//! One worktree by whatever people call it: its key, branch or path, or the task or run that works in it.

use camino::Utf8Path;
use dandori_domain::Problem;

use super::WorktreeReport;
use crate::Engine;

impl Engine {
    pub async fn find_worktree(&self, path: &Utf8Path, text: &str) -> Result<WorktreeReport, Problem> {
        let run = match self.find_run(text).await {
            Ok(run) => run,
            Err(Problem::NoSuchRun { .. }) => return self.one(path, text).await,
            Err(problem) => return Err(problem),
        };
        // A run is found from anywhere: it knows its repository.
        let repo = self.present_repo(run.spec.repo).await?;
        let Some(workspace) = run.workspace() else {
            return Err(Problem::NoSuchWorktree { text: text.to_owned() });
        };
        // One that was removed may be back: work that is restored is on the same branch, in a worktree of its own.
        match self.one(&repo.root, workspace.key.as_str()).await {
            Err(Problem::NoSuchWorktree { .. }) => match self.one(&repo.root, &workspace.branch).await {
                Err(Problem::NoSuchWorktree { .. }) => Err(Problem::NoSuchWorktree { text: text.to_owned() }),
                other => other,
            },
            other => other,
        }
    }
}
