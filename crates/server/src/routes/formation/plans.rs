//! Plans and results: what the planner and the workers say.

use axum::Json;
use axum::extract::State;
use dandori_api::formation::{
    CompletePlan, HeartbeatTaken, PlanCompleted, PlanTaken, ResultWritten, RetryAdded, RetryTask, SendHeartbeat,
    SubmitPlan, WriteResult,
};
use dandori_domain::Epoch;
use dandori_engine::{GivenPlan, GivenRetry, TakenPlan};
use dandori_formation::protocol::ReportIn;
use dandori_formation::{Message, Report};
use dandori_text::Lang;
use dandori_text::formation::advice::advice;

use super::{App, Asks, view};
use crate::answer::Answer;
use crate::extract::{Path, Sent};
use crate::words::Speaks;

pub(super) fn taken(lang: Lang, taken: TakenPlan, is_dry_run: bool) -> PlanTaken {
    let advice = taken.advice.iter().map(|one| advice(lang, one)).collect();
    PlanTaken::of(taken.submitted, advice, is_dry_run)
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/plan", request_body = SubmitPlan,
    responses((status = 200, body = PlanTaken)))]
pub(crate) async fn submit(
    State(app): State<App>,
    asks: Asks,
    Speaks(lang): Speaks,
    Path(order): Path<String>,
    Sent(body): Sent<SubmitPlan>,
) -> Answer<PlanTaken> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let given = GivenPlan { yaml: body.plan, phase: body.phase, is_dry_run: body.dry_run };
    let found = formation.submit(&command, given, asks.asker()?).await?;
    Ok(Json(taken(lang, found, body.dry_run)))
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/complete", request_body = CompletePlan,
    responses((status = 200, body = PlanCompleted)))]
pub(crate) async fn complete(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<CompletePlan>,
) -> Answer<PlanCompleted> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let done = formation.complete(command.id, body.summary, asks.asker()?).await?;
    Ok(Json(PlanCompleted { command_id: done.command_id, status: done.status, result_id: done.result_id }))
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/retries", request_body = RetryTask,
    responses((status = 200, body = RetryAdded)))]
pub(crate) async fn add_retry(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<RetryTask>,
) -> Answer<RetryAdded> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let given = GivenRetry {
        purpose: body.purpose,
        content: body.content,
        acceptance_criteria: body.acceptance_criteria,
        constraints: body.constraints,
        expected_paths: body.expected_paths,
        bloom_level: body.bloom_level,
    };
    Ok(Json(formation.add_retry(command.id, body.retry_of, given).await?.into()))
}

#[utoipa::path(post, path = "/v1/formation/results", request_body = WriteResult,
    responses((status = 200, body = ResultWritten)))]
pub(crate) async fn write_result(
    State(app): State<App>,
    asks: Asks,
    Sent(body): Sent<WriteResult>,
) -> Answer<ResultWritten> {
    let formation = asks.formation_with(&app, body.task_id).await?;
    let report = Report {
        outcome: body.status,
        summary: body.summary,
        files_changed: body.files_changed,
        partial_changes: body.partial_changes,
        retry_safe: body.retry_safe,
        exit_code: body.exit_code,
        work: None,
    };
    let new = ReportIn { task: body.task_id, by: body.worker, epoch: Epoch(body.lease_epoch), report };
    let accepted = formation.write_result(new, body.command_id, asks.asker()?).await?;
    Ok(Json(view::written(body.task_id, accepted)))
}

#[utoipa::path(post, path = "/v1/formation/heartbeats", request_body = SendHeartbeat,
    responses((status = 200, body = HeartbeatTaken)))]
pub(crate) async fn heartbeat(
    State(app): State<App>,
    asks: Asks,
    Sent(body): Sent<SendHeartbeat>,
) -> Answer<HeartbeatTaken> {
    let formation = asks.formation_with(&app, body.task_id).await?;
    let (epoch, asker) = (Epoch(body.lease_epoch), asks.asker()?);
    let message: Message = formation.is_alive(body.task_id, body.worker, epoch, asker).await?;
    let until_at = message.lease().map(|lease| lease.until);
    Ok(Json(HeartbeatTaken { task_id: body.task_id, lease_epoch: message.epoch.0, until_at }))
}
