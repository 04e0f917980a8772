//! Orders.

use axum::Json;
use axum::extract::State;
use dandori_api::formation::{ChangeOrder, GiveOrder, OrderChanged, OrderGiven, OrderList, OrderView};
use dandori_engine::{Formation, NewOrder};
use dandori_formation::Command;
use dandori_formation::protocol::Amended;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{App, Asks, view};
use crate::answer::Answer;
use crate::extract::{Path, Query, Sent};

/// How many that are over a listing has, unless it is said.
const PAST: u32 = 20;

#[derive(Deserialize, IntoParams)]
pub(crate) struct OrdersQuery {
    /// A folder in the repository.
    path: String,
    /// How many that are over.
    past: Option<u32>,
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct OrderQuery {
    /// A folder in the repository, where the order is named by its number.
    path: Option<String>,
}

#[utoipa::path(post, path = "/v1/formation/orders", request_body = GiveOrder,
    responses((status = 200, body = OrderGiven)))]
pub(crate) async fn give(State(app): State<App>, asks: Asks, Sent(body): Sent<GiveOrder>) -> Answer<OrderGiven> {
    let formation = asks.formation(&app, &body.path).await?;
    // Whether it is up, and with whose environment, is for people to say.
    let caller = if asks.is_person() { app.engine.caller(body.env.map(|v| v.0)) } else { None };
    let new = NewOrder {
        content: body.content,
        priority: body.priority,
        review: body.review,
        has_demands: body.demands,
        brings_up: body.up && asks.is_person(),
    };
    let command = formation.give_order(new, caller).await?;
    let is_up = formation.standing().await?.is_up;
    Ok(Json(OrderGiven { command_id: command.id, number: command.number, demands: command.demands, is_up }))
}

#[utoipa::path(get, path = "/v1/formation/orders", params(OrdersQuery), responses((status = 200, body = OrderList)))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query<OrdersQuery>) -> Answer<OrderList> {
    let formation = app.engine.formation_at(query.path.as_str().into()).await?;
    let (found, total) = formation.orders(query.past.unwrap_or(PAST)).await?;
    let mut orders = Vec::with_capacity(found.len());
    for (command, phases) in found {
        let pull = formation.pull_of(command.id).await?;
        orders.push(view::command(&command, &phases, pull.as_ref()));
    }
    Ok(Json(OrderList { orders, total }))
}

#[utoipa::path(get, path = "/v1/formation/orders/{order}", params(OrderQuery),
    responses((status = 200, description = "the order, its plan and what came of it", body = OrderView)))]
pub(crate) async fn show(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Query(query): Query<OrderQuery>,
) -> Answer<OrderView> {
    let (formation, command) = asks.order(&app, &order, query.path.as_deref()).await?;
    Ok(Json(view::order(&formation.seen_order(command).await?)))
}

async fn changed(formation: &Formation, command: Command) -> Answer<OrderChanged> {
    let seen = formation.seen_order(command).await?;
    let order = view::command(&seen.command, &seen.phases, seen.pull.as_ref());
    Ok(Json(OrderChanged { order, replaced_by: None, message_id: None }))
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/pause", request_body = ChangeOrder,
    responses((status = 200, body = OrderChanged)))]
pub(crate) async fn pause(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<ChangeOrder>,
) -> Answer<OrderChanged> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let command = formation.pause_order(command.id, body.reason.unwrap_or_default()).await?;
    changed(&formation, command).await
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/resume", request_body = ChangeOrder,
    responses((status = 200, body = OrderChanged)))]
pub(crate) async fn resume(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<ChangeOrder>,
) -> Answer<OrderChanged> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let command = formation.resume_order(command.id).await?;
    changed(&formation, command).await
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/approve", request_body = ChangeOrder,
    responses((status = 200, body = OrderChanged)))]
pub(crate) async fn approve(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<ChangeOrder>,
) -> Answer<OrderChanged> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let command = formation.approve_order(command.id).await?;
    changed(&formation, command).await
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/cancel", request_body = ChangeOrder,
    responses((status = 200, body = OrderChanged)))]
pub(crate) async fn cancel(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<ChangeOrder>,
) -> Answer<OrderChanged> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let reason = body.reason.unwrap_or_default();
    let command = formation.cancel_order(command.id, asks.asker()?, body.by, reason).await?;
    changed(&formation, command).await
}

#[utoipa::path(post, path = "/v1/formation/orders/{order}/amend", request_body = ChangeOrder,
    responses((status = 200, body = OrderChanged)))]
pub(crate) async fn amend(
    State(app): State<App>,
    asks: Asks,
    Path(order): Path<String>,
    Sent(body): Sent<ChangeOrder>,
) -> Answer<OrderChanged> {
    let (formation, command) = asks.order(&app, &order, body.path.as_deref()).await?;
    let amended = formation.amend_order(command.id, asks.asker()?, body.reason.unwrap_or_default()).await?;
    let Json(mut answer) = changed(&formation, command).await?;
    match amended {
        Amended::Replaced { by } => answer.replaced_by = Some(view::command(&by, &[], None)),
        Amended::Told { message } => answer.message_id = Some(message),
    }
    Ok(Json(answer))
}
