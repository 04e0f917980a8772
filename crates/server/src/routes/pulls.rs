//! Pull requests.

use axum::Json;
use axum::extract::State;
use dandori_api::{CreatePull, PullView};
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::Answer;
use crate::extract::{Path, Query, Sent};
use crate::view;

#[derive(Deserialize, IntoParams)]
pub(crate) struct PullQuery {
    /// A folder in the repository.
    path: String,
}

#[utoipa::path(get, path = "/v1/pulls", params(PullQuery), responses((status = 200, body = [PullView])))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query<PullQuery>) -> Answer<Vec<PullView>> {
    let pulls = app.engine.list_pulls(query.path.as_str().into()).await?;
    Ok(Json(pulls.into_iter().map(view::pull).collect()))
}

#[utoipa::path(get, path = "/v1/pulls/{number}", params(PullQuery), responses((status = 200, body = PullView)))]
pub(crate) async fn show(
    State(app): State<App>,
    Path(number): Path<u64>,
    Query(query): Query<PullQuery>,
) -> Answer<PullView> {
    let pull = app.engine.show_pull(query.path.as_str().into(), number).await?;
    Ok(Json(view::pull(pull)))
}

#[utoipa::path(post, path = "/v1/pulls", request_body = CreatePull, responses((status = 200, body = PullView)))]
pub(crate) async fn create(State(app): State<App>, Sent(body): Sent<CreatePull>) -> Answer<PullView> {
    let run = app.engine.find_run(&body.of).await?;
    let pull = app.engine.create_pull(&run, body.title, body.body, app.engine.caller(body.env.map(|v| v.0))).await?;
    Ok(Json(view::pull(pull)))
}
