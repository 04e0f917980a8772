//! Worktrees.

use std::convert::Infallible;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dandori_api::{
    AddWorktree, AdoptWorktree, CollectWorktrees, Collected, RemoveWorktree, RestoreWorktree, WorktreeDone,
    WorktreeView,
};
use dandori_domain::worktree::Worktree;
use dandori_engine::NewWorktreeRequest;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

use super::App;
use crate::answer::{Answer, Refusal};
use crate::extract::{Path, Query, Sent};
use crate::view;

#[derive(Deserialize, IntoParams)]
pub(crate) struct ListQuery {
    /// A folder in the repository.
    path: String,
    /// How much of the disk each uses; takes its time.
    #[serde(default)]
    sizes: bool,
    /// At most so many: those at work first, then the newest.
    limit: Option<u32>,
}

#[utoipa::path(get, path = "/v1/worktrees", params(ListQuery),
    responses((status = 200, description = "lines of JSON: first all names (`WorktreeNames`), then each as it has been looked at \
               (`WorktreeView`), in the same order", content_type = "application/x-ndjson", body = WorktreeView)))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query<ListQuery>) -> Result<Response, Refusal> {
    let limit = query.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let listing = app.engine.look_at_worktrees(query.path.as_str().into(), query.sizes, limit).await?;
    let first = line(&view::names(&listing.names, listing.total));
    let lines = futures_util::stream::unfold((Some(first), listing.reports), async |(first, mut reports)| {
        if let Some(first) = first {
            return Some((Ok::<_, Infallible>(first), (None, reports)));
        }
        let mut text = line(&view::worktree(&reports.recv().await?));
        while let Ok(report) = reports.try_recv() {
            text.push_str(&line(&view::worktree(&report)));
        }
        Some((Ok(text), (None, reports)))
    });
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response())
}

fn line(value: &impl Serialize) -> String {
    format!("{}\n", serde_json::to_string(value).unwrap_or_default())
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct OneQuery {
    /// A folder in the repository; a task or run is found without it.
    path: String,
}

#[utoipa::path(get, path = "/v1/worktrees/{worktree}", params(OneQuery),
    responses((status = 200, description = "by key, branch or path, or by its task or run", body = WorktreeView)))]
pub(crate) async fn one(
    State(app): State<App>,
    Path(worktree): Path<String>,
    Query(query): Query<OneQuery>,
) -> Answer<WorktreeView> {
    let report = app.engine.find_worktree(query.path.as_str().into(), &worktree).await?;
    Ok(Json(view::worktree(&report)))
}

#[utoipa::path(post, path = "/v1/worktrees", request_body = AddWorktree, responses((status = 200, body = WorktreeDone)))]
pub(crate) async fn add(State(app): State<App>, Sent(body): Sent<AddWorktree>) -> Answer<WorktreeDone> {
    let request = NewWorktreeRequest {
        path: body.path.into(),
        branch: body.branch,
        base: body.base,
        at: body.at.map(Into::into),
        session: body.session,
        skip_set_up: body.no_set_up,
        caller: app.engine.caller(body.env.map(|v| v.0)),
    };
    let (worktree, start, notes) = app.engine.add_worktree(request).await?;
    let mut done = done(&worktree);
    done.start = Some(view::start(&start));
    done.warnings = notes;
    Ok(Json(done))
}

#[utoipa::path(post, path = "/v1/worktrees/remove", request_body = RemoveWorktree,
    responses((status = 200, body = WorktreeDone)))]
pub(crate) async fn remove(State(app): State<App>, Sent(body): Sent<RemoveWorktree>) -> Answer<WorktreeDone> {
    let removal = app
        .engine
        .remove_worktree(
            body.path.as_str().into(),
            &body.worktree,
            body.session.as_deref(),
            body.force,
            body.keep_branch,
        )
        .await?;
    let mut done = done(&removal.worktree);
    done.preserved = removal.preserved;
    done.branch_deleted = removal.branch_deleted;
    Ok(Json(done))
}

#[utoipa::path(post, path = "/v1/worktrees/gc", request_body = CollectWorktrees,
    responses((status = 200, body = Collected)))]
pub(crate) async fn gc(State(app): State<App>, Sent(body): Sent<CollectWorktrees>) -> Answer<Collected> {
    let collected = app.engine.collect_worktrees(body.path.as_str().into(), body.dry_run).await?;
    Ok(Json(Collected {
        dry_run: body.dry_run,
        found: collected.found.into_iter().map(view::collected).collect(),
        removed: collected.removed,
        left: collected.left.into_iter().map(view::collected).collect(),
    }))
}

#[utoipa::path(post, path = "/v1/worktrees/adopt", request_body = AdoptWorktree,
    responses((status = 200, body = WorktreeDone)))]
pub(crate) async fn adopt(State(app): State<App>, Sent(body): Sent<AdoptWorktree>) -> Answer<WorktreeDone> {
    let worktree = app.engine.adopt_worktree(body.path.as_str().into(), &body.worktree, body.session).await?;
    Ok(Json(done(&worktree)))
}

#[utoipa::path(post, path = "/v1/worktrees/restore", request_body = RestoreWorktree,
    responses((status = 200, body = WorktreeDone)))]
pub(crate) async fn restore(State(app): State<App>, Sent(body): Sent<RestoreWorktree>) -> Answer<WorktreeDone> {
    let worktree = app.engine.restore_worktree(body.path.as_str().into(), &body.from, body.session).await?;
    Ok(Json(done(&worktree)))
}

fn done(worktree: &Worktree) -> WorktreeDone {
    WorktreeDone {
        key: worktree.key.to_string(),
        path: worktree.path.to_string(),
        branch: view::known(&worktree.branch),
        branch_deleted: false,
        preserved: None,
        start: None,
        warnings: Vec::new(),
    }
}
