//! The formation: how it stands, its orders, and what agents say to it.

pub(crate) mod kept;
pub(crate) mod orders;
pub(crate) mod plans;

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use camino::Utf8Path;
use dandori_api::formation::{
    FormationSoundness, FormationView, LowerFormation, RaiseFormation, SendWords, StandingView, WordsSent,
};

use dandori_domain::{Problem, TaskId};
use dandori_engine::{Asker, Formation, Raise, Whose};
use dandori_formation::{AgentId, Command, Refused};
use dandori_store::{FormationItem, StoreError};
use dandori_text::formation::metrics;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::{Answer, Refusal};
use crate::extract::{Query, Sent};
use crate::view::formation as view;

/// Who asks: an agent, who comes by a door of its own and gets the formation it works in, or a person.
pub(crate) struct Asks(Option<Arc<Whose>>);

impl<S: Send + Sync> FromRequestParts<S> for Asks {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<Arc<Whose>>().cloned()))
    }
}

impl Asks {
    pub(crate) fn asker(&self) -> Result<Asker, Problem> {
        let Some(whose) = &self.0 else { return Ok(Asker::Person) };
        let agent: Result<AgentId, _> = whose.errand.agent.parse();
        agent.map(Asker::Agent).map_err(|e| Problem::Internal { reason: format!("{e}") })
    }

    fn is_person(&self) -> bool {
        self.0.is_none()
    }

    async fn formation(&self, app: &App, path: &str) -> Result<Formation, Problem> {
        match &self.0 {
            Some(whose) => app.engine.formation_in(whose.repo).await,
            None => app.engine.formation_at(path.into()).await,
        }
    }

    async fn order(&self, app: &App, order: &str, path: Option<&str>) -> Result<(Formation, Command), Problem> {
        match &self.0 {
            Some(whose) => {
                let formation = app.engine.formation_in(whose.repo).await?;
                let command = formation.order_named(order).await?;
                Ok((formation, command))
            }
            None => app.engine.order_named(order, path.map(Utf8Path::new)).await,
        }
    }

    /// The formation that has this task. An agent's own has no other's.
    async fn formation_with(&self, app: &App, task: TaskId) -> Result<Formation, Problem> {
        let found = match &self.0 {
            Some(whose) => Some(app.engine.formation_in(whose.repo).await?),
            None => app.engine.formation_with(FormationItem::Task(task)).await?,
        };
        found.ok_or_else(|| StoreError::Formation(Refused::UnknownTask { task }).into())
    }
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct FormationQuery {
    /// A folder in the repository.
    path: String,
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct SoundQuery {
    /// A folder in the repository; every formation without it.
    path: Option<String>,
}

#[utoipa::path(get, path = "/v1/formation", params(FormationQuery), responses((status = 200, body = FormationView)))]
pub(crate) async fn status(
    State(app): State<App>,
    asks: Asks,
    Query(query): Query<FormationQuery>,
) -> Answer<FormationView> {
    let formation = asks.formation(&app, &query.path).await?;
    Ok(Json(view::formation(&formation.seen().await?)))
}

#[utoipa::path(post, path = "/v1/formation/up", request_body = RaiseFormation,
    responses((status = 200, body = StandingView)))]
pub(crate) async fn up(State(app): State<App>, asks: Asks, Sent(body): Sent<RaiseFormation>) -> Answer<StandingView> {
    let formation = app.engine.formation_at(body.path.as_str().into()).await?;
    let caller = app.engine.caller(body.env.map(|v| v.0));
    let canceled = if body.reset { formation.reset(asks.asker()?).await? } else { Vec::new() };
    let raise = Raise { boost: body.boost, continuous: body.continuous, is_quiet: body.quiet };
    let standing =
        if body.reset && body.stay_down { formation.standing().await? } else { formation.up(raise, caller).await? };
    Ok(Json(view::standing(&formation.seen().await?, standing, &canceled)))
}

#[utoipa::path(post, path = "/v1/formation/down", request_body = LowerFormation,
    responses((status = 200, body = StandingView)))]
pub(crate) async fn down(State(app): State<App>, Sent(body): Sent<LowerFormation>) -> Answer<StandingView> {
    let formation = app.engine.formation_at(body.path.as_str().into()).await?;
    let standing = formation.down().await?;
    Ok(Json(view::standing(&formation.seen().await?, standing, &[])))
}

#[utoipa::path(post, path = "/v1/formation/messages", request_body = SendWords,
    responses((status = 200, body = WordsSent)))]
pub(crate) async fn say(State(app): State<App>, Sent(body): Sent<SendWords>) -> Answer<WordsSent> {
    let path = camino::Utf8Path::new(&body.path);
    let (formation, command) = match &body.order {
        Some(order) => {
            let (formation, command) = app.engine.order_named(order, Some(path)).await?;
            (formation, Some(command.id))
        }
        None => (app.engine.formation_at(path).await?, None),
    };
    Ok(Json(WordsSent { message_id: formation.say(body.to, command, body.content).await? }))
}

#[utoipa::path(get, path = "/v1/formation/doctor", params(SoundQuery),
    responses((status = 200, description = "what must always hold, and what was repaired", body = FormationSoundness)))]
pub(crate) async fn doctor(State(app): State<App>, Query(query): Query<SoundQuery>) -> Answer<FormationSoundness> {
    let formations = match &query.path {
        Some(path) => vec![app.engine.formation_at(path.as_str().into()).await?],
        None => app.engine.formations().await?,
    };
    let mut found = Vec::with_capacity(formations.len());
    for formation in formations {
        let root = formation.root().to_string();
        found.push(view::sound(root, formation.check_sound().await?));
    }
    Ok(Json(FormationSoundness { formations: found }))
}

/// For Prometheus, which brings the token like everybody else.
#[utoipa::path(get, path = "/metrics",
    responses((status = 200, description = "every formation, in Prometheus' text format", content_type = "text/plain", body = String)))]
pub(crate) async fn metrics(State(app): State<App>) -> Result<Response, Refusal> {
    let mut views = Vec::new();
    for formation in app.engine.formations().await? {
        views.push(view::formation(&formation.seen().await?));
    }
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics::metrics(&views)).into_response())
}
