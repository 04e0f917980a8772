//! Leaving the machine.

use axum::Json;
use axum::extract::State;
use dandori_api::leave::{Leave, LeftRepositoryView, LeftView, LeftWorktreeView};
use dandori_engine::{LeftRepository, LeftWorktree};

use super::App;
use crate::answer::Answer;
use crate::extract::Sent;

#[utoipa::path(post, path = "/v1/leave", request_body = Leave, responses((status = 200, body = LeftView)))]
pub(crate) async fn leave(State(app): State<App>, Sent(body): Sent<Leave>) -> Answer<LeftView> {
    let left = app.engine.leave(body.dry_run).await?;
    let is_gone = left.iter().flat_map(|repository| &repository.worktrees).all(|worktree| worktree.problem.is_none());
    if is_gone && !body.dry_run {
        // Before a warm worktree is made again.
        app.stop.cancel();
    }
    Ok(Json(LeftView { repositories: left.into_iter().map(repository).collect() }))
}

fn repository(left: LeftRepository) -> LeftRepositoryView {
    LeftRepositoryView {
        repository: left.root.into_string(),
        worktrees: left.worktrees.into_iter().map(worktree).collect(),
    }
}

fn worktree(left: LeftWorktree) -> LeftWorktreeView {
    let worktree = left.report.worktree;
    LeftWorktreeView {
        key: worktree.key.to_string(),
        path: worktree.path.into_string(),
        branch: worktree.branch,
        dirty: left.report.dirty,
        unpushed: left.report.unpushed,
        preserved: left.preserved,
        problem: left.problem,
    }
}
