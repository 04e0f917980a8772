//! Pull requests.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dandori_api::{ChangePull, CreatePull, MergePull, PullDone, PullList, PullPage, PullPut, RunView};
use dandori_domain::pull::PullState;
use dandori_domain::{Oid, Problem};
use dandori_engine::MergeRequest;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::{Answer, Refusal};
use crate::extract::{Path, Query, Sent};
use crate::view;
use crate::words::Speaks;

#[derive(Deserialize, IntoParams)]
pub(crate) struct PullsQuery {
    /// A folder in the repository.
    path: String,
    /// `open`, `merged`, `closed` or `all`, which it is when it is left out.
    state: Option<String>,
    limit: Option<usize>,
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct PullDiffQuery {
    /// A folder in the repository.
    path: String,
    /// `apply` (for `git apply`, the default), `read` or `stat`.
    form: Option<String>,
    /// Of `stat`.
    cells: Option<u16>,
    /// With the user's colours of git.
    #[serde(default)]
    color: bool,
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct PageQuery {
    /// A folder in the repository.
    path: String,
    /// Ask the remote where the base and the branch are now.
    #[serde(default)]
    fresh: bool,
}

fn states(name: Option<&str>) -> Result<Option<PullState>, Problem> {
    match name {
        None | Some("all") => Ok(None),
        Some("open") => Ok(Some(PullState::Open)),
        Some("merged") => Ok(Some(PullState::Merged)),
        Some("closed") => Ok(Some(PullState::Closed)),
        Some(other) => {
            Err(Problem::BadRequest { reason: format!("state: {other} is none of open, merged, closed, all") })
        }
    }
}

#[utoipa::path(get, path = "/v1/pulls", params(PullsQuery), responses((status = 200, body = PullList)))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query<PullsQuery>) -> Answer<PullList> {
    let state = states(query.state.as_deref())?;
    let pulls = app.engine.list_pulls(query.path.as_str().into(), state).await?;
    let total = pulls.len() as u64;
    let listed = pulls.into_iter().take(query.limit.unwrap_or(usize::MAX));
    Ok(Json(PullList { prs: listed.map(view::pull).collect(), total }))
}

#[utoipa::path(get, path = "/v1/pulls/{pull}", params(PageQuery), responses((status = 200, body = PullPage)))]
pub(crate) async fn show(
    State(app): State<App>,
    Path(text): Path<String>,
    Query(query): Query<PageQuery>,
) -> Answer<PullPage> {
    let page = app.engine.show_pull(query.path.as_str().into(), &text, query.fresh).await?;
    Ok(Json(view::pull_page(page)))
}

#[utoipa::path(get, path = "/v1/pulls/{pull}/diff", params(PullDiffQuery),
    responses((status = 200, description = "what it changes, as a patch", content_type = "text/x-diff", body = String)))]
pub(crate) async fn diff(
    State(app): State<App>,
    Path(text): Path<String>,
    Query(query): Query<PullDiffQuery>,
) -> Result<Response, Refusal> {
    let (form, colours) = super::tasks::shown_as(query.form.as_deref(), query.cells, query.color)?;
    let patch = app.engine.pull_patch(query.path.as_str().into(), &text, form, colours).await?;
    Ok(([(header::CONTENT_TYPE, "text/x-diff")], patch).into_response())
}

#[utoipa::path(post, path = "/v1/pulls", request_body = CreatePull, responses((status = 200, body = PullPut)))]
pub(crate) async fn create(State(app): State<App>, Sent(body): Sent<CreatePull>) -> Answer<PullPut> {
    let run = app.engine.run_to_pull(&body.of).await?;
    let caller = app.engine.caller(body.env.map(|v| v.0));
    let (entry, how) = app.engine.create_pull(&run, body.title, body.body, caller).await?;
    Ok(Json(view::pull_put(entry, how)))
}

#[utoipa::path(post, path = "/v1/pulls/{pull}/merge", request_body = MergePull,
    responses((status = 200, body = PullDone)))]
pub(crate) async fn merge(
    State(app): State<App>,
    Path(text): Path<String>,
    Sent(body): Sent<MergePull>,
) -> Answer<PullDone> {
    let caller = app.engine.caller(body.env.map(|v| v.0));
    let request = MergeRequest { head_oid: Oid::new(body.commit), rule: body.rule, caller };
    Ok(Json(view::pull_done(app.engine.merge_pull(body.path.as_str().into(), &text, request).await?)))
}

#[utoipa::path(post, path = "/v1/pulls/{pull}/close", request_body = ChangePull,
    responses((status = 200, body = PullDone)))]
pub(crate) async fn close(
    State(app): State<App>,
    Path(text): Path<String>,
    Sent(body): Sent<ChangePull>,
) -> Answer<PullDone> {
    let caller = app.engine.caller(body.env.map(|v| v.0));
    Ok(Json(view::pull_done(app.engine.close_pull(body.path.as_str().into(), &text, caller).await?)))
}

#[utoipa::path(post, path = "/v1/pulls/{pull}/update", request_body = ChangePull,
    responses((status = 200, description = "the run that merges the base into its branch", body = RunView)))]
pub(crate) async fn update(
    State(app): State<App>,
    speaks: Speaks,
    Path(text): Path<String>,
    Sent(body): Sent<ChangePull>,
) -> Answer<RunView> {
    let caller = app.engine.caller(body.env.map(|v| v.0));
    let run = app.engine.update_pull(body.path.as_str().into(), &text, caller).await?;
    Ok(Json(super::tasks::run_view(&app, speaks, &run).await?))
}

#[utoipa::path(post, path = "/v1/pulls/{pull}/reopen", request_body = ChangePull,
    responses((status = 200, body = PullDone)))]
pub(crate) async fn reopen(
    State(app): State<App>,
    Path(text): Path<String>,
    Sent(body): Sent<ChangePull>,
) -> Answer<PullDone> {
    let caller = app.engine.caller(body.env.map(|v| v.0));
    Ok(Json(view::pull_done(app.engine.reopen_pull(body.path.as_str().into(), &text, caller).await?)))
}
