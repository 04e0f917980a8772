//! Tasks and their runs.

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use camino::Utf8Path;
use dandori_api::{
    Canceled, Comparison, CreateTask, DiffView, FollowUp, Pick, Picked, Retry, RunView, TaskList, TaskView,
};
use dandori_domain::pull::Pull;
use dandori_domain::run::{Run, Status};
use dandori_domain::{Oid, Problem, TaskId};
use dandori_engine::{Colours, Form, NewTaskRequest, RunChoice, Traces, WhichRun, pull_of_branch};
use dandori_store::{TaskFilter, TaskWithRuns};
use serde::Deserialize;
use tokio_util::io::ReaderStream;
use utoipa::IntoParams;

use super::App;
use crate::answer::{Answer, Refusal};
use crate::extract::{Path, Query, Sent};
use crate::view;
use crate::words::Speaks;

#[derive(Deserialize, IntoParams)]
pub(crate) struct ListQuery {
    /// A folder in the repository; all repositories without it.
    path: Option<String>,
    /// Only tasks that are not over.
    #[serde(default)]
    open: bool,
    /// Only tasks with a run in one of these: `running,failed`.
    state: Option<String>,
    /// Only tasks with a run of this agent.
    agent: Option<String>,
    limit: Option<u32>,
}

/// However many are asked for.
const MOST_LISTED: u32 = 100_000;

#[utoipa::path(get, path = "/v1/tasks", params(ListQuery), responses((status = 200, body = TaskList)))]
pub(crate) async fn list(State(app): State<App>, speaks: Speaks, Query(query): Query<ListQuery>) -> Answer<TaskList> {
    let repo = match &query.path {
        Some(path) => Some(app.engine.repo_at(path.as_str().into()).await?.id),
        None => None,
    };
    let states = query.state.as_deref().unwrap_or_default().split(',').filter(|word| !word.is_empty());
    let states = states.map(|word| named_state(word).ok_or_else(|| unknown_state(word)));
    let filter =
        TaskFilter { repo, open_only: query.open, states: states.collect::<Result<_, _>>()?, agent: query.agent };
    let limit = query.limit.unwrap_or(50).min(MOST_LISTED);
    let page = app.engine.store().tasks(filter, limit).await.map_err(Problem::from)?;
    let mut tasks = Vec::with_capacity(page.tasks.len());
    for found in page.tasks {
        tasks.push(whole_view(&app, speaks, &found).await?);
    }
    Ok(Json(TaskList { tasks, total: page.total }))
}

fn named_state(word: &str) -> Option<Status> {
    Status::ALL.into_iter().find(|state| state.as_str().eq_ignore_ascii_case(word))
}

fn unknown_state(word: &str) -> Problem {
    Problem::BadRequest {
        reason: format!("{word} is not a state; known: {}", Status::ALL.map(Status::as_str).join(", ")),
    }
}

#[utoipa::path(post, path = "/v1/tasks", request_body = CreateTask, responses((status = 200, body = TaskView)))]
pub(crate) async fn create(State(app): State<App>, speaks: Speaks, Sent(body): Sent<CreateTask>) -> Answer<TaskView> {
    let (task, _) = app
        .engine
        .create_task(NewTaskRequest {
            id: None,
            path: body.path.into(),
            instruction: body.instruction,
            agents: body.agents,
            base: body.base,
            choice: RunChoice {
                caller: app.engine.caller(body.env.map(|v| v.0)),
                from: None,
                pr: body.pr,
                budget: body.budget,
                model: body.model,
                ..RunChoice::default()
            },
        })
        .await?;
    Ok(Json(task_view(&app, speaks, task.id).await?))
}

#[utoipa::path(get, path = "/v1/tasks/{task}", responses((status = 200, body = TaskView)))]
pub(crate) async fn show(State(app): State<App>, speaks: Speaks, Path(task): Path<String>) -> Answer<TaskView> {
    let (task, _) = app.engine.find_task(&task).await?;
    app.engine.notice_merged_of(&task).await;
    Ok(Json(task_view(&app, speaks, task.id).await?))
}

#[utoipa::path(post, path = "/v1/tasks/{task}/follow-up", request_body = FollowUp,
    responses((status = 200, body = RunView)))]
pub(crate) async fn follow_up(
    State(app): State<App>,
    speaks: Speaks,
    Path(task): Path<String>,
    Sent(body): Sent<FollowUp>,
) -> Answer<RunView> {
    let (task, runs) = app.engine.find_task(&task).await?;
    let which = body.run.as_deref().map_or(WhichRun::Chosen, WhichRun::Named);
    let earlier = app.engine.run_to_go_on_with(&task, &runs, which).await?;
    let choice = RunChoice {
        caller: app.engine.caller(body.env.map(|v| v.0)),
        from: body.path.map(Into::into),
        pr: body.pr,
        budget: body.budget,
        model: earlier.spec.settings.model.clone(),
        ..RunChoice::default()
    };
    let run = app.engine.follow_up(&task, &earlier, body.instruction, choice).await?;
    Ok(Json(run_view(&app, speaks, &run).await?))
}

#[utoipa::path(post, path = "/v1/tasks/{task}/retry", request_body = Retry,
    responses((status = 200, body = RunView)))]
pub(crate) async fn retry(
    State(app): State<App>,
    speaks: Speaks,
    Path(text): Path<String>,
    Sent(body): Sent<Retry>,
) -> Answer<RunView> {
    let run = app.engine.retry(&text, app.engine.caller(body.env.map(|v| v.0))).await?;
    Ok(Json(run_view(&app, speaks, &run).await?))
}

#[utoipa::path(post, path = "/v1/tasks/{task}/cancel", responses((status = 200, body = Canceled)))]
pub(crate) async fn cancel(State(app): State<App>, speaks: Speaks, Path(text): Path<String>) -> Answer<Canceled> {
    let (task, canceled) = app.engine.cancel(&text).await?;
    let canceled = canceled.iter().map(|run| run.spec.id.to_string()).collect();
    Ok(Json(Canceled { task: task_view(&app, speaks, task.id).await?, canceled }))
}

#[utoipa::path(get, path = "/v1/tasks/{task}/compare", responses((status = 200, body = Comparison)))]
pub(crate) async fn compare(State(app): State<App>, Path(text): Path<String>) -> Answer<Comparison> {
    let (task, runs) = app.engine.find_task(&text).await?;
    let comparison = app.engine.compare(&task, &runs).await?;
    Ok(Json(view::comparison(&task, comparison)))
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct DiffQuery {
    /// One run's own part instead of the whole branch.
    run: Option<String>,
}

#[utoipa::path(get, path = "/v1/tasks/{task}/diff", params(DiffQuery), responses((status = 200, body = DiffView)))]
pub(crate) async fn whole_diff(
    State(app): State<App>,
    Path(text): Path<String>,
    Query(query): Query<DiffQuery>,
) -> Answer<DiffView> {
    let (task, diff) = app.engine.diff(&text, query.run.as_deref()).await?;
    Ok(Json(view::diff(&task, &diff)))
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct PatchQuery {
    /// As `GET /v1/tasks/{task}/diff` has them.
    from: String,
    to: String,
    /// `apply` (for `git apply`, the default), `read` or `stat`.
    form: Option<String>,
    /// Of `stat`.
    cells: Option<u16>,
    /// With the user's colours of git.
    #[serde(default)]
    color: bool,
}

#[utoipa::path(get, path = "/v1/tasks/{task}/patch", params(PatchQuery),
    responses((status = 200, description = "the patch", content_type = "text/x-diff", body = String)))]
pub(crate) async fn patch(
    State(app): State<App>,
    Path(text): Path<String>,
    Query(query): Query<PatchQuery>,
) -> Result<Response, Refusal> {
    let (task, _) = app.engine.find_task(&text).await?;
    let oid = |text: &str| {
        let is_one = (40..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        let bad = || Problem::BadRequest { reason: format!("{text:?} is not the id of an object") };
        is_one.then(|| Oid::new(text)).ok_or_else(bad)
    };
    let (form, colours) = shown_as(query.form.as_deref(), query.cells, query.color)?;
    let bytes = app.engine.patch_between(task.repo, oid(&query.from)?, oid(&query.to)?, form, colours).await?;
    Ok(([(header::CONTENT_TYPE, "text/x-diff")], bytes).into_response())
}

/// How a difference is to be shown.
pub(super) fn shown_as(form: Option<&str>, cells: Option<u16>, color: bool) -> Result<(Form, Colours), Problem> {
    let form = match form {
        None | Some("apply") => Form::Apply,
        Some("read") => Form::Read,
        Some("stat") => Form::Stat { cells: cells.unwrap_or(80) },
        Some(other) => return Err(Problem::BadRequest { reason: format!("no such form: {other:?}") }),
    };
    Ok((form, if color { Colours::Users } else { Colours::None }))
}

#[utoipa::path(post, path = "/v1/tasks/{task}/pick", request_body = Pick, responses((status = 200, body = Picked)))]
pub(crate) async fn pick(
    State(app): State<App>,
    speaks: Speaks,
    Path(text): Path<String>,
    Sent(body): Sent<Pick>,
) -> Answer<Picked> {
    let caller = app.engine.caller(body.env.map(|v| v.0));
    let (task, moved) = app.engine.pick(&text, &body.run, body.pr.unwrap_or(false), caller).await?;
    let moved = moved.as_ref().map(view::pull_moved);
    Ok(Json(Picked { task: task_view(&app, speaks, task.id).await?, moved }))
}

#[utoipa::path(get, path = "/v1/runs/{run}", responses((status = 200, body = RunView)))]
pub(crate) async fn run(State(app): State<App>, speaks: Speaks, Path(text): Path<String>) -> Answer<RunView> {
    let run = app.engine.find_run(&text).await?;
    Ok(Json(run_view(&app, speaks, &run).await?))
}

#[utoipa::path(get, path = "/v1/runs/{run}/diff",
    responses((status = 200, description = "the staged patch", content_type = "text/x-diff", body = String)))]
pub(crate) async fn diff(State(app): State<App>, Path(text): Path<String>) -> Result<Response, Refusal> {
    let run = app.engine.find_run(&text).await?;
    app.engine.seen_kept_work(&run).await;
    let patch = file(&app.engine.patch(&run)).await?;
    Ok(([(header::CONTENT_TYPE, "text/x-diff")], patch).into_response())
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct LogQuery {
    /// The agent's own stream, byte for byte.
    #[serde(default)]
    raw: bool,
}

/// How often a stream that grows is looked at.
const LOOK: Duration = Duration::from_millis(200);

#[utoipa::path(get, path = "/v1/runs/{run}/log", params(LogQuery),
    responses((status = 200, description = "server-sent agent events from the start until the agent ends",
               content_type = "text/event-stream", body = serde_json::Value)))]
pub(crate) async fn log(
    State(app): State<App>,
    Path(text): Path<String>,
    Query(query): Query<LogQuery>,
) -> Result<Response, Refusal> {
    let run = app.engine.find_run(&text).await?;
    if query.raw {
        return Ok(file(&app.engine.raw_log(&run)).await?.into_response());
    }
    let place = (app.stream()?, app.engine.attend(run.spec.task));
    let follower = app.engine.follow_log(&run).await;
    let stop = app.stop.clone();
    let stream = futures_util::stream::unfold(
        (follower, Vec::new().into_iter(), false, place),
        move |(mut follower, mut events, mut ended, place)| {
            let stop = stop.clone();
            async move {
                loop {
                    if let Some(event) = events.next() {
                        let data = serde_json::to_string(&event).unwrap_or_default();
                        let line = Event::default().data(data);
                        return Some((Ok::<_, Infallible>(line), (follower, events, ended, place)));
                    }
                    if ended {
                        return None;
                    }
                    let chunk = follower.next().await;
                    ended = chunk.ended;
                    if chunk.events.is_empty() && !chunk.more && !ended {
                        tokio::select! {
                            () = tokio::time::sleep(LOOK) => {}
                            () = stop.cancelled() => return None,
                        }
                    }
                    events = chunk.events.into_iter();
                }
            }
        },
    );
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

/// A file as a stream: an agent may have written more than we want to hold. What is not there is empty.
async fn file(path: &Utf8Path) -> Result<Body, Refusal> {
    match tokio::fs::File::open(path).await {
        Ok(file) => Ok(Body::from_stream(ReaderStream::new(file))),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Body::empty()),
        Err(e) => Err(Problem::Io { path: path.to_owned(), reason: e.to_string() }.into()),
    }
}

pub(super) async fn run_view(app: &App, speaks: Speaks, run: &Run) -> Result<RunView, Refusal> {
    let pulls = app.engine.store().pulls_of(run.spec.task).await.map_err(Problem::from)?;
    let traces = app.engine.traces(std::slice::from_ref(run)).await.pop();
    Ok(with_pulls(app, speaks, run, traces, &pulls).await)
}

async fn with_pulls(app: &App, Speaks(lang): Speaks, run: &Run, traces: Option<Traces>, pulls: &[Pull]) -> RunView {
    let traces = traces.unwrap_or(Traces { worktree: false, branch: false, preserved: false });
    let place = if run.is_waiting() { app.engine.store().place(run.spec.id).await.ok().flatten() } else { None };
    view::run(lang, run, traces, pull_of_branch(pulls, run), place, app.engine.waits_for(run))
}

/// A task as it is now: its runs and its pull requests at one moment, so that neither is ahead of the other.
async fn task_view(app: &App, speaks: Speaks, task: TaskId) -> Result<TaskView, Refusal> {
    let whole = app.engine.store().whole_task(task).await.map_err(Problem::from)?;
    whole_view(app, speaks, &whole).await
}

pub(crate) async fn whole_view(app: &App, speaks: Speaks, whole: &TaskWithRuns) -> Result<TaskView, Refusal> {
    let repo = app.engine.store().repo(whole.task.repo).await.map_err(Problem::from)?;
    let mut views = Vec::with_capacity(whole.runs.len());
    let traces = app.engine.traces(&whole.runs).await;
    for (run, traces) in whole.runs.iter().zip(traces) {
        views.push(with_pulls(app, speaks, run, Some(traces), &whole.pulls).await);
    }
    Ok(view::task(&whole.task, repo.root.to_string(), views))
}
