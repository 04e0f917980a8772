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
        // Removed and checked out again, it has another key.
        for name in [workspace.key.as_str(), workspace.branch.as_str()] {
            match self.one(&repo.root, name).await {
                Err(Problem::NoSuchWorktree { .. }) => {}
                found => return found,
            }
        }
        Err(Problem::NoSuchWorktree { text: text.to_owned() })
    }
}
