//! What the guards did in runs.

use axum::Json;
use axum::extract::State;
use dandori_api::GuardStatsView;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::Answer;
use crate::extract::Query;
use crate::view;

#[derive(Deserialize, IntoParams)]
pub(crate) struct StatsQuery {
    /// A folder in the repository; without one, every repository counts.
    path: Option<String>,
    /// The earliest event that counts: `2026-11-16T08:00:00Z`.
    #[param(value_type = String)]
    since: Timestamp,
}

#[utoipa::path(get, path = "/v1/guards/stats", params(StatsQuery), responses((status = 200, body = GuardStatsView)))]
pub(crate) async fn stats(State(app): State<App>, Query(query): Query<StatsQuery>) -> Answer<GuardStatsView> {
    let stats = app.engine.guard_stats_of_runs(query.path.as_deref().map(Into::into), query.since).await?;
    Ok(Json(view::guard_stats(stats)))
}
