//! The API's map: each handler is named once, for the route and for the description alike.

mod daemon;
mod events;
mod formation;
mod guards;
mod leave;
mod names;
mod needs;
mod pulls;
mod tasks;
mod worktrees;

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::routing::get;
use dandori_domain::Problem;
use dandori_engine::Engine;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Refusal;

/// What every handler may use.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    /// Asks the daemon to stop.
    pub(crate) stop: CancellationToken,
    pub(crate) started_at: jiff::Timestamp,
    /// Where on loopback, beside the socket.
    pub(crate) listen: Option<std::net::SocketAddr>,
    /// Answers that go on for as long as somebody listens.
    pub(crate) streams: Arc<Semaphore>,
}

/// How many streams there may be at once; each holds a page of events and what is written ahead.
const MOST_STREAMS: usize = 512;

pub(crate) fn streams() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(MOST_STREAMS))
}

impl App {
    /// A place for one more stream, for as long as it is held.
    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let place = Arc::clone(&self.streams).try_acquire_owned();
        place.map_err(|_| Problem::TooManyConnections { limit: MOST_STREAMS })
    }
}

#[derive(OpenApi)]
#[openapi(info(
    title = "dandori",
    description = "Tasks, runs, worktrees and pull requests of a dandori daemon. Every request needs \
                   `Authorization: Bearer <token>`; the token is in the state folder, in private/token."
))]
struct Description;

fn map() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(daemon::health))
        .routes(routes!(daemon::doctor))
        .routes(routes!(daemon::stop))
        .routes(routes!(events::events))
        .routes(routes!(tasks::list, tasks::create))
        .routes(routes!(tasks::show))
        .routes(routes!(tasks::follow_up))
        .routes(routes!(tasks::retry))
        .routes(routes!(tasks::cancel))
        .routes(routes!(tasks::compare))
        .routes(routes!(tasks::whole_diff))
        .routes(routes!(tasks::patch))
        .routes(routes!(tasks::pick))
        .routes(routes!(tasks::run))
        .routes(routes!(tasks::diff))
        .routes(routes!(tasks::log))
        .routes(routes!(worktrees::list, worktrees::add))
        .routes(routes!(worktrees::one))
        .routes(routes!(worktrees::remove))
        .routes(routes!(worktrees::gc))
        .routes(routes!(worktrees::adopt))
        .routes(routes!(worktrees::restore))
        .routes(routes!(pulls::list, pulls::create))
        .routes(routes!(pulls::show))
        .routes(routes!(pulls::diff))
        .routes(routes!(pulls::merge))
        .routes(routes!(pulls::close))
        .routes(routes!(pulls::reopen))
        .routes(routes!(pulls::update))
        .routes(routes!(formation::status))
        .routes(routes!(formation::up))
        .routes(routes!(formation::down))
        .routes(routes!(formation::say))
        .routes(routes!(formation::doctor))
        .routes(routes!(formation::metrics))
        .routes(routes!(formation::orders::list, formation::orders::give))
        .routes(routes!(formation::orders::show))
        .routes(routes!(formation::orders::pause))
        .routes(routes!(formation::orders::resume))
        .routes(routes!(formation::orders::approve))
        .routes(routes!(formation::orders::amend))
        .routes(routes!(formation::orders::cancel))
        .routes(routes!(formation::plans::submit))
        .routes(routes!(formation::plans::complete))
        .routes(routes!(formation::plans::add_retry))
        .routes(routes!(formation::plans::write_result))
        .routes(routes!(formation::plans::heartbeat))
        .routes(routes!(formation::kept::dead_letters))
        .routes(routes!(formation::kept::dead_letter))
        .routes(routes!(formation::kept::requeue))
        .routes(routes!(formation::kept::quarantine))
        .routes(routes!(formation::kept::quarantined))
        .routes(routes!(formation::kept::restore))
        .routes(routes!(guards::stats))
        .routes(routes!(names::names))
        .routes(routes!(leave::leave))
        .routes(routes!(needs::list))
        .routes(routes!(needs::show))
        .routes(routes!(needs::snooze))
        .routes(routes!(needs::wake))
        .routes(routes!(needs::dismiss))
        .routes(routes!(needs::front))
        .routes(routes!(needs::notify))
        .routes(routes!(needs::test_notices))
}

pub(crate) fn router(app: App) -> Router {
    let (router, description) = map().split_for_parts();
    let text = description.to_pretty_json().unwrap_or_default();
    router
        .route("/v1/ping", get(async || ""))
        .route(
            "/v1/openapi.json",
            get(move || async move { ([(axum::http::header::CONTENT_TYPE, "application/json")], text) }),
        )
        .fallback(nothing_there)
        .method_not_allowed_fallback(not_this_way)
        // A mebibyte of instruction grows when it is written as JSON.
        .layer(axum::extract::DefaultBodyLimit::max(16 << 20))
        .with_state(app)
}

/// A path the API does not have.
async fn nothing_there(method: Method, uri: Uri) -> Refusal {
    Problem::NoSuchPath { method: method.to_string(), path: uri.path().to_owned() }.into()
}

/// A path it has, for another method.
async fn not_this_way(method: Method, uri: Uri) -> Refusal {
    let problem = Problem::NoSuchPath { method: method.to_string(), path: uri.path().to_owned() };
    Refusal::with(StatusCode::METHOD_NOT_ALLOWED, problem)
}

/// Every route with its method, as the description has them.
#[cfg(test)]
pub(crate) fn served() -> Vec<(String, String)> {
    let text = map().split_for_parts().1.to_json().unwrap_or_default();
    let description: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let paths = description["paths"].as_object().cloned().unwrap_or_default().into_iter();
    let methods = |(path, by): (String, serde_json::Value)| {
        let by: Vec<String> = by.as_object().into_iter().flat_map(|by| by.keys()).map(|m| m.to_uppercase()).collect();
        by.into_iter().map(move |method| (method, path.clone()))
    };
    paths.flat_map(methods).collect()
}

#[cfg(test)]
mod tests {
    /// The description in the repository is the one that is served; `UPDATE=1 cargo test -p dandori-server` writes it.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test that writes a file of the repository")]
    fn the_description_in_docs_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        let fresh = super::map().split_for_parts().1.to_pretty_json().unwrap() + "\n";
        if std::env::var("UPDATE").is_ok() {
            std::fs::write(path, &fresh).unwrap();
        }
        let kept = std::fs::read_to_string(path).unwrap_or_default();
        assert!(kept == fresh, "docs/openapi.json is not what is served: UPDATE=1 cargo test -p dandori-server");
    }
}
