//! Names for shells that complete them.

use axum::Json;
use axum::extract::State;
use dandori_api::{NameView, Names};
use dandori_domain::Problem;
use dandori_store::NameKind;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::Answer;
use crate::extract::Query;

#[derive(Deserialize, IntoParams)]
pub(crate) struct NameQuery {
    /// A folder in the repository.
    path: String,
    /// `tasks`, `runs`, `worktrees`, `pulls`, or several of them: `tasks,runs`
    kind: String,
    /// How they begin.
    #[serde(default)]
    begin: String,
}

#[utoipa::path(get, path = "/v1/names", params(NameQuery), responses((status = 200, body = Names)))]
pub(crate) async fn names(State(app): State<App>, Query(query): Query<NameQuery>) -> Answer<Names> {
    let repo = app.engine.repo_at(query.path.as_str().into()).await?.id;
    let mut found = Vec::new();
    for word in query.kind.split(',') {
        let kind = match word {
            "tasks" => NameKind::Tasks,
            "runs" => NameKind::Runs,
            "worktrees" => NameKind::Worktrees,
            "pulls" => NameKind::Pulls,
            other => return Err(Problem::BadRequest { reason: format!("there are no names of {other}") }.into()),
        };
        found.extend(app.engine.store().names(repo, kind, &query.begin).await.map_err(Problem::from)?);
    }
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    let names = found.into_iter().map(|named| NameView { name: named.name, about: named.about }).collect();
    Ok(Json(Names { names, total }))
}
