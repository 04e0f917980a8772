//! What needs a person, the front door, and notices.

use axum::Json;
use axum::extract::State;
use dandori_api::formation::SendNotice;
use dandori_api::{
    AtWork, DismissNeeds, DoingNow, Front, NeedList, NeedView, NoticeTried, NoticesTried, PullLink, SnoozeNeed,
    TestNotices,
};
use dandori_domain::need::{Answer as NeedAnswer, NeedKind};
use dandori_domain::pull::PullState;
use dandori_domain::run::Status;
use dandori_domain::{Problem, RepoId};
use dandori_engine::KnownNeed;
use dandori_engine::edges::{WayOutcome, WayResult};
use dandori_host::now;
use dandori_store::{TaskFilter, TaskWithRuns};
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use super::App;
use super::tasks::whole_view;
use crate::answer::Answer;
use crate::extract::{Path, Query, Sent};
use crate::words::Speaks;

/// How many of each the front door shows.
const SHOWN: u32 = 5;

#[derive(Deserialize, IntoParams)]
pub(crate) struct NeedsQuery {
    /// A folder in the repository; all repositories without it.
    path: Option<String>,
    /// Those that are out of sight instead: snoozed, or dismissed while their cause is still there.
    #[serde(default)]
    snoozed: bool,
}

#[utoipa::path(get, path = "/v1/needs", params(NeedsQuery), responses((status = 200, body = NeedList)))]
pub(crate) async fn list(State(app): State<App>, Query(query): Query<NeedsQuery>) -> Answer<NeedList> {
    let Some(repo) = known_repo(&app, query.path.as_deref()).await? else {
        // Nothing was ever done there.
        return Ok(Json(NeedList { needs: Vec::new(), total: 0, snoozed: 0 }));
    };
    let now = now();
    let all = app.engine.needs(repo).await?;
    let snoozed = count(all.iter().filter(|known| is_snoozed(known, now)));
    let needs: Vec<NeedView> =
        all.iter().filter(|known| known.is_open(now) != query.snoozed).map(|known| view(known, now)).collect();
    Ok(Json(NeedList { total: count(needs.iter()), needs, snoozed }))
}

#[utoipa::path(get, path = "/v1/needs/{id}", responses((status = 200, body = NeedList)))]
pub(crate) async fn show(State(app): State<App>, Path(id): Path<String>) -> Answer<NeedList> {
    let found = app.engine.find_needs(&id).await?;
    Ok(Json(listed(&found)))
}

#[utoipa::path(post, path = "/v1/needs/{id}/snooze", request_body = SnoozeNeed,
    responses((status = 200, body = NeedList)))]
pub(crate) async fn snooze(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent(body): Sent<SnoozeNeed>,
) -> Answer<NeedList> {
    let bad = |e: jiff::Error| Problem::BadRequest { reason: format!("until: {e}") };
    let until: Timestamp = body.until.parse().map_err(bad)?;
    let answer = NeedAnswer::Snoozed { until, reason: body.reason };
    let found = app.engine.answer_needs(&[id], &answer).await?;
    Ok(Json(listed(&found)))
}

#[utoipa::path(post, path = "/v1/needs/{id}/wake", responses((status = 200, body = NeedList)))]
pub(crate) async fn wake(State(app): State<App>, Path(id): Path<String>) -> Answer<NeedList> {
    let found = app.engine.wake_needs(&id).await?;
    Ok(Json(listed(&found)))
}

#[utoipa::path(post, path = "/v1/needs/dismiss", request_body = DismissNeeds,
    responses((status = 200, body = NeedList)))]
pub(crate) async fn dismiss(State(app): State<App>, Sent(body): Sent<DismissNeeds>) -> Answer<NeedList> {
    let found = if body.all {
        match known_repo(&app, body.path.as_deref()).await? {
            Some(repo) => app.engine.answer_open(repo, &NeedAnswer::Dismissed).await?,
            None => Vec::new(),
        }
    } else {
        app.engine.answer_needs(&body.needs, &NeedAnswer::Dismissed).await?
    };
    Ok(Json(listed(&found)))
}

#[derive(Deserialize, IntoParams)]
pub(crate) struct FrontQuery {
    /// A folder in the repository; all repositories without it.
    path: Option<String>,
}

#[utoipa::path(get, path = "/v1/front", params(FrontQuery), responses((status = 200, body = Front)))]
pub(crate) async fn front(State(app): State<App>, speaks: Speaks, Query(query): Query<FrontQuery>) -> Answer<Front> {
    let Some(repo) = known_repo(&app, query.path.as_deref()).await? else {
        let moved_from = moved_from(&app, query.path.as_deref()).await;
        return Ok(Json(Front {
            repository: query.path,
            needs: Vec::new(),
            snoozed: 0,
            running: Vec::new(),
            running_total: 0,
            recent: Vec::new(),
            total: 0,
            formation: None,
            moved_from,
        }));
    };
    let store = app.engine.store();
    let is_over = |found: &&TaskWithRuns| found.runs.iter().all(|run| run.status().is_terminal());
    let filter = TaskFilter { repo, open_only: true, ..TaskFilter::default() };
    let at_work = store.tasks(filter, SHOWN).await.map_err(Problem::from)?;
    let newest = store.ended_tasks(repo, SHOWN).await.map_err(Problem::from)?;
    let total = store.count_tasks(repo).await.map_err(Problem::from)?;
    let mut recent = Vec::new();
    for found in &newest {
        recent.push(whole_view(&app, speaks, found).await?);
    }
    let mut running = Vec::new();
    // What has come to its end and is only being cleaned up is not at work.
    let settling = count(at_work.tasks.iter().filter(is_over));
    for found in at_work.tasks.iter().filter(|found| !is_over(found)) {
        running.push(AtWork { task: whole_view(&app, speaks, found).await?, doing: doing(&app, found).await });
    }
    let now = now();
    let needs = app.engine.needs(repo).await?;
    let repository = match repo {
        Some(id) => Some(store.repo(id).await.map_err(Problem::from)?.root.to_string()),
        None => None,
    };
    let formation = match repo {
        Some(id) => app.engine.seen_formation(id).await?,
        None => None,
    };
    Ok(Json(Front {
        repository,
        snoozed: count(needs.iter().filter(|known| is_snoozed(known, now))),
        needs: needs.iter().filter(|known| known.is_open(now)).map(|known| view(known, now)).collect(),
        running,
        running_total: at_work.total.saturating_sub(settling),
        recent,
        total,
        formation: formation.as_ref().map(crate::view::formation::formation),
        moved_from: if total == 0 { moved_from(&app, query.path.as_deref()).await } else { None },
    }))
}

/// Only where nothing was done since.
async fn moved_from(app: &App, path: Option<&str>) -> Option<String> {
    Some(app.engine.moved_from(path?.into()).await.ok()??.root.into_string())
}

#[utoipa::path(post, path = "/v1/notify/test", request_body = TestNotices,
    responses((status = 200, body = NoticesTried)))]
pub(crate) async fn test_notices(State(app): State<App>, Sent(body): Sent<TestNotices>) -> Answer<NoticesTried> {
    let ways: Vec<NoticeTried> =
        app.engine.test_notices(body.terminal.map(Into::into)).await?.into_iter().map(tried).collect();
    Ok(Json(NoticesTried { total: count(ways.iter()), ways }))
}

#[utoipa::path(post, path = "/v1/notify", request_body = SendNotice, responses((status = 200, body = NoticesTried)))]
pub(crate) async fn notify(State(app): State<App>, Sent(body): Sent<SendNotice>) -> Answer<NoticesTried> {
    if body.content.trim().is_empty() {
        return Err(Problem::EmptyInstruction.into());
    }
    let sent = app.engine.notify(body.content, body.terminal.map(Into::into)).await?;
    let ways: Vec<NoticeTried> = sent.into_iter().map(tried).collect();
    Ok(Json(NoticesTried { total: count(ways.iter()), ways }))
}

/// The repository a folder is in: `Some(None)` is all of them, `None` one that nothing was ever done in. A look takes
/// none up.
async fn known_repo(app: &App, path: Option<&str>) -> Result<Option<Option<RepoId>>, Problem> {
    match path {
        None => Ok(Some(None)),
        Some(path) => Ok(app.engine.known_repo_at(path.into()).await?.map(|repo| Some(repo.id))),
    }
}

async fn doing(app: &App, found: &TaskWithRuns) -> Vec<DoingNow> {
    let running: Vec<_> = found.runs.iter().filter(|run| run.status() == Status::Running).cloned().collect();
    let engine = app.engine.clone();
    let look = tokio::task::spawn_blocking(move || {
        let now = running.iter().filter_map(|run| {
            let event = engine.now_of(run)?.doing?;
            Some(DoingNow { run: run.spec.id.key().to_string(), event })
        });
        now.collect()
    });
    look.await.unwrap_or_default()
}

fn is_snoozed(known: &KnownNeed, now: Timestamp) -> bool {
    matches!(known.answer, Some(NeedAnswer::Snoozed { until, .. }) if until > now)
}

fn listed(found: &[KnownNeed]) -> NeedList {
    let now = now();
    let snoozed = count(found.iter().filter(|known| is_snoozed(known, now)));
    NeedList { needs: found.iter().map(|known| view(known, now)).collect(), total: count(found.iter()), snoozed }
}

fn view(known: &KnownNeed, now: Timestamp) -> NeedView {
    let (need, subject) = (&known.need, &known.need.subject);
    let (snoozed_until, reason) = match &known.answer {
        Some(NeedAnswer::Snoozed { until, reason }) if *until > now => {
            (Some(until.to_string()), Some(reason.clone()).filter(|reason| !reason.is_empty()))
        }
        _ => (None, None),
    };
    let (url, state) = match &need.kind {
        NeedKind::PullReady { url, .. } | NeedKind::PullConflict { url, .. } => (url.clone(), Some(PullState::Open)),
        _ => (String::new(), None),
    };
    NeedView {
        id: need.id.to_string(),
        kind: need.kind.name().to_owned(),
        since_at: need.since.to_string(),
        repository: known.repository.as_ref().map(ToString::to_string),
        task: subject.number.map(|number| number.to_string()),
        run: subject.run.map(|run| run.key().to_string()),
        is_sole: subject.is_sole,
        pr: subject.pull.map(|number| PullLink { number, url, state }),
        title: subject.title.clone(),
        snoozed_until,
        reason,
        dismissed: matches!(known.answer, Some(NeedAnswer::Dismissed | NeedAnswer::Seen)),
        detail: need.kind.clone(),
    }
}

fn tried(result: WayResult) -> NoticeTried {
    let (state, reason) = match result.outcome {
        WayOutcome::Sent => ("sent", None),
        WayOutcome::Failed { reason } => ("failed", Some(reason)),
        WayOutcome::Skipped { reason } => ("skipped", Some(reason)),
    };
    NoticeTried { way: result.way.to_owned(), state: state.to_owned(), reason }
}

fn count(of: impl Iterator) -> u64 {
    of.count() as u64
}
