//! The daemon about itself.

use axum::Json;
use axum::extract::State;
use dandori_api::{DoctorReport, Health, NoticeState, RepositoryUse, StopDaemon, StoreHealth};
use dandori_store::Backend;
use serde_json::json;

use super::App;
use crate::answer::Answer;
use crate::extract::Sent;
use crate::view;
use crate::words::{self, Speaks};

#[utoipa::path(get, path = "/v1/health", responses((status = 200, body = Health)))]
pub(crate) async fn health(State(app): State<App>, Speaks(lang): Speaks) -> Answer<Health> {
    let report = app.engine.check(false).await?;
    let notices = app.engine.notices();
    Ok(Json(Health {
        version: crate::version().to_owned(),
        pid: std::process::id(),
        started_at: app.started_at.to_string(),
        listen: app.listen.map(|address| address.to_string()),
        store: store_health(&report.health),
        live_runs: report.live,
        waiting_runs: report.waiting,
        max_parallel: app.engine.max_parallel(),
        notices: notices.iter().map(|notice| words::problem(lang, &notice.0)).collect(),
    }))
}

#[utoipa::path(get, path = "/v1/doctor", responses((status = 200, body = DoctorReport)))]
pub(crate) async fn doctor(State(app): State<App>) -> Answer<DoctorReport> {
    let report = app.engine.check(true).await?;
    let repositories = report.repos.iter();
    let ways = app.engine.notice_ways().await?;
    let state = |way: dandori_store::NoticeWay| NoticeState { way: way.way, at: way.at.to_string(), reason: way.error };
    Ok(Json(DoctorReport {
        notices: ways.into_iter().map(state).collect(),
        store: store_health(&report.health),
        sandbox: view::sandbox(&report.sandbox),
        live: report.live,
        waiting: report.waiting,
        repositories: repositories
            .map(|r| RepositoryUse {
                root: r.root.to_string(),
                bytes: r.bytes,
                worktrees: r.worktrees,
                unrecorded_runs: r.lost_runs,
            })
            .collect(),
    }))
}

fn store_health(health: &dandori_store::Health) -> StoreHealth {
    StoreHealth {
        backend: backend(health),
        schema: health.schema,
        bytes: health.bytes,
        damage: health.damage.clone(),
        newest_backup: health.newest_backup.clone(),
    }
}

fn backend(health: &dandori_store::Health) -> String {
    match health.backend {
        Backend::Sqlite => "SQLite",
        Backend::Postgres => "PostgreSQL",
    }
    .to_owned()
}

#[utoipa::path(post, path = "/v1/daemon/stop", request_body = StopDaemon,
    responses((status = 200, body = serde_json::Value)))]
pub(crate) async fn stop(State(app): State<App>, Sent(body): Sent<StopDaemon>) -> Answer<serde_json::Value> {
    let is_meant = body.pid.is_none_or(|pid| pid == std::process::id());
    if is_meant {
        app.stop.cancel();
    }
    Ok(Json(json!({ "stopping": is_meant })))
}
