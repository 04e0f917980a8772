//! What could not be delivered, and what was refused.

use axum::Json;
use axum::extract::State;
use dandori_api::formation::{
    DeadLetterList, DeadLetterRequeued, DeadLetterView, QuarantineList, QuarantineRestored, QuarantinedView,
};
use dandori_domain::{MessageId, Problem};
use dandori_engine::{Formation, Restored};
use dandori_formation::protocol::Requeued;
use dandori_formation::{Message, Refused};
use dandori_store::{FormationItem, StoreError};

use super::plans::taken;
use super::{App, FormationQuery, view};
use crate::answer::{Answer, Refusal};
use crate::extract::{Path, Query};
use crate::words::Speaks;

#[utoipa::path(get, path = "/v1/formation/dead-letters", params(FormationQuery),
    responses((status = 200, body = DeadLetterList)))]
pub(crate) async fn dead_letters(
    State(app): State<App>,
    Query(query): Query<FormationQuery>,
) -> Answer<DeadLetterList> {
    let formation = app.engine.formation_at(query.path.as_str().into()).await?;
    let mut dead_letters = Vec::new();
    for message in formation.dead_letters().await? {
        dead_letters.push(told(&formation, &message).await?);
    }
    let total = dead_letters.len() as u64;
    Ok(Json(DeadLetterList { dead_letters, total }))
}

async fn told(formation: &Formation, message: &Message) -> Result<DeadLetterView, Problem> {
    let (number, name) = formation.subject_of(message.kind.clone()).await?;
    Ok(view::dead_letter(message, number, name))
}

async fn with_message(app: &App, text: &str) -> Result<(Formation, MessageId), Refusal> {
    let bad = |reason: String| Refusal::from(Problem::BadRequest { reason });
    let message: MessageId = text.parse().map_err(|e: dandori_domain::id::BadId| bad(e.to_string()))?;
    let found = app.engine.formation_with(FormationItem::Message(message)).await?;
    let unknown = || Problem::from(StoreError::Formation(Refused::UnknownMessage { message }));
    Ok((found.ok_or_else(unknown)?, message))
}

#[utoipa::path(get, path = "/v1/formation/dead-letters/{message}", responses((status = 200, body = DeadLetterView)))]
pub(crate) async fn dead_letter(State(app): State<App>, Path(text): Path<String>) -> Answer<DeadLetterView> {
    let (formation, message) = with_message(&app, &text).await?;
    let message = formation.dead_letter(message).await?;
    Ok(Json(told(&formation, &message).await?))
}

#[utoipa::path(post, path = "/v1/formation/dead-letters/{message}/requeue",
    responses((status = 200, body = DeadLetterRequeued)))]
pub(crate) async fn requeue(State(app): State<App>, Path(text): Path<String>) -> Answer<DeadLetterRequeued> {
    let (formation, message) = with_message(&app, &text).await?;
    let mut answer = DeadLetterRequeued { message_id: None, task_id: None, command_id: None };
    match formation.requeue(message).await? {
        Requeued::Message { message } => answer.message_id = Some(message),
        Requeued::Task { task } => answer.task_id = Some(task),
        Requeued::Command { command } => answer.command_id = Some(command),
    }
    Ok(Json(answer))
}

#[utoipa::path(get, path = "/v1/formation/quarantine", params(FormationQuery),
    responses((status = 200, body = QuarantineList)))]
pub(crate) async fn quarantine(
    State(app): State<App>,
    Speaks(lang): Speaks,
    Query(query): Query<FormationQuery>,
) -> Answer<QuarantineList> {
    let formation = app.engine.formation_at(query.path.as_str().into()).await?;
    let found = formation.quarantine().await?;
    let quarantined: Vec<QuarantinedView> =
        found.into_iter().map(|(number, kept)| view::quarantined(lang, number, kept)).collect();
    let total = quarantined.len() as u64;
    Ok(Json(QuarantineList { quarantined, total }))
}

#[utoipa::path(get, path = "/v1/formation/quarantine/{number}", params(FormationQuery),
    responses((status = 200, body = QuarantinedView)))]
pub(crate) async fn quarantined(
    State(app): State<App>,
    Speaks(lang): Speaks,
    Path(number): Path<i64>,
    Query(query): Query<FormationQuery>,
) -> Answer<QuarantinedView> {
    let formation = app.engine.formation_at(query.path.as_str().into()).await?;
    Ok(Json(view::quarantined(lang, number, formation.kept(number).await?)))
}

#[utoipa::path(post, path = "/v1/formation/quarantine/{number}/restore", params(FormationQuery),
    responses((status = 200, body = QuarantineRestored)))]
pub(crate) async fn restore(
    State(app): State<App>,
    Speaks(lang): Speaks,
    Path(number): Path<i64>,
    Query(query): Query<FormationQuery>,
) -> Answer<QuarantineRestored> {
    let formation = app.engine.formation_at(query.path.as_str().into()).await?;
    let task = formation.kept(number).await?.task;
    let mut answer = QuarantineRestored { number, plan: None, result: None };
    match formation.restore(number).await? {
        Restored::Plan(plan) => answer.plan = Some(taken(lang, plan, false)),
        Restored::Result(accepted) => answer.result = task.map(|task| view::written(task, accepted)),
    }
    Ok(Json(answer))
}
