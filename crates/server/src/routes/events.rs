//! Live events: the event log, replayed from where a reader left off and then followed.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use dandori_api::EventView;
use dandori_domain::Problem;
use dandori_store::EventFilter;
use futures_util::Stream;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use crate::answer::Refusal;
use crate::extract::Query;
use crate::view;

#[derive(Deserialize, IntoParams)]
pub(crate) struct EventQuery {
    /// Only this task's.
    task: Option<String>,
    /// Only this run's.
    run: Option<String>,
    /// Everything after this number; `Last-Event-ID` says the same. Without either: what happens from now on.
    after: Option<i64>,
}

/// How many events are read at once: every reader holds so many, and there may be hundreds of readers.
const PAGE: u32 = 16;

#[utoipa::path(get, path = "/v1/events", params(EventQuery),
    responses((status = 200, description = "server-sent events; each `data` is one event", body = EventView,
               content_type = "text/event-stream")))]
pub(crate) async fn events(
    State(app): State<App>,
    Query(query): Query<EventQuery>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Refusal> {
    let last_id = headers.get("last-event-id").and_then(|v| v.to_str().ok()).and_then(|v| v.parse::<i64>().ok());
    let mut filter = EventFilter::default();
    // Whoever listens for one task has it before his eyes.
    let mut watched = None;
    if let Some(task) = &query.task {
        let task = app.engine.find_task(task).await?.0.id;
        filter.task = Some(task);
        watched = Some(task);
    }
    if let Some(run) = &query.run {
        let run = app.engine.find_run(run).await?;
        filter.run = Some(run.spec.id);
        watched = Some(run.spec.task);
    }
    let place = (app.stream()?, watched.map(|task| app.engine.attend(task)));
    let store = app.engine.store().clone();
    let after = match last_id.or(query.after) {
        Some(seq) => seq,
        None => store.last_seq().await.map_err(Problem::from)?,
    };
    let newest = store.watch_events();
    let stop = app.stop.clone();
    let stream = futures_util::stream::unfold(
        (after, newest, Vec::<EventView>::new().into_iter(), place),
        move |(mut after, mut newest, mut page, place)| {
            let (store, stop) = (store.clone(), stop.clone());
            async move {
                loop {
                    if let Some(event) = page.next() {
                        after = event.seq;
                        let data = serde_json::to_string(&event).unwrap_or_default();
                        let line = Event::default().id(after.to_string()).event(event.kind).data(data);
                        return Some((Ok(line), (after, newest, page, place)));
                    }
                    newest.borrow_and_update();
                    let more = store.events_after(after, filter, PAGE).await.unwrap_or_default();
                    if !more.is_empty() {
                        page = more.into_iter().map(view::event).collect::<Vec<_>>().into_iter();
                        continue;
                    }
                    tokio::select! {
                        changed = newest.changed() => changed.ok()?,
                        // The log is the truth; the bell may be lost.
                        () = tokio::time::sleep(Duration::from_secs(2)) => {}
                        () = stop.cancelled() => return None,
                    }
                }
            }
        },
    );
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}
