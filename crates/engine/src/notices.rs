//! Telling people: once per need, and when a run ends well whose terminal was left.
//!
//! A notice is written down before it is sent (`store::verb::notice`). After a kill between the two the next daemon sends it
//! once more: at most that one comes twice, and none is lost. Nothing waits for a notice: each is sent by a task of its own,
//! which is left where it stands when the daemon stops.
//!
//! What is an hour old is no news: a daemon that starts after a holiday, or with ways to tell for the first time, does not
//! pour out what has been lying in the inbox.

mod attended;
mod body;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8PathBuf;
use dandori_config::Config;
use dandori_domain::need::{Answer, Need};
use dandori_domain::pull::PullLink;
use dandori_domain::run::{Changes, Run, Status};
use dandori_domain::{Problem, RunKey, TaskNumber};
use dandori_store::{EventFilter, NoticeWay, StoreError, Turn};
use jiff::{SignedDuration, Timestamp};
use tracing::{info, warn};

use crate::Engine;
use crate::edges::{Sending, WayResult};
use crate::pull::pull_of_branch;
use crate::trouble::store_problem;

pub(crate) use attended::Attendance;
pub use attended::Attending;

/// Level, not edge: what has no event of its own is found by looking.
const LOOK: Duration = Duration::from_secs(30);
/// Several facts that come together are looked at together.
const BREATH: Duration = Duration::from_millis(200);
const NEWS: SignedDuration = SignedDuration::from_hours(1);
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
const PAGE: u32 = 500;

/// Something to tell.
#[derive(Clone, PartialEq, Debug)]
pub struct News {
    /// Its name: what has the same is told once.
    pub occurrence: String,
    pub what: Told,
    pub repository: Option<Utf8PathBuf>,
    pub at: Timestamp,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Told {
    Need(Box<Need>),
    Ended(Box<RunEnded>),
    /// `dandori notify test`
    Test,
    /// `dandori notify "…"`: somebody's own words.
    Words(String),
}

/// A run that ended well while nobody looked.
#[derive(Clone, PartialEq, Debug)]
pub struct RunEnded {
    pub task: TaskNumber,
    pub title: String,
    pub run: RunKey,
    pub changes: Option<Changes>,
    pub pull: Option<PullLink>,
}

/// News as a person reads it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewsWords {
    pub title: String,
    pub message: String,
    pub command: Option<String>,
}

/// What is remembered between two looks.
struct Teller {
    /// Begun by this life or an earlier one, or too old to be told.
    known: HashSet<String>,
    /// The newest event that was looked at.
    seq: i64,
}

impl Engine {
    pub(crate) async fn tell_for_ever(self) {
        let mut events = self.store().watch_events();
        let mut teller = loop {
            match self.teller().await {
                Ok(teller) => break teller,
                Err(e) => info!("what was told is not known yet: {e}"),
            }
            if self.rests(LOOK).await {
                return;
            }
        };
        loop {
            events.borrow_and_update();
            if let Err(problem) = self.tell(&mut teller).await {
                info!("there may be news that cannot be told yet: {}", problem.code());
            }
            tokio::select! {
                _ = events.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
                () = self.stopping().cancelled() => return,
            }
            if self.rests(BREATH).await {
                return;
            }
        }
    }

    /// `true`: the daemon stops.
    async fn rests(&self, pause: Duration) -> bool {
        tokio::select! {
            () = tokio::time::sleep(pause) => false,
            () = self.stopping().cancelled() => true,
        }
    }

    /// What earlier lives have told; what they had begun and not done is ours.
    async fn teller(&self) -> Result<Teller, StoreError> {
        let host = self.life().host;
        let told = self.store().notices(host).await?;
        let known = told.into_values().filter(|notice| notice.done_at.is_some()).map(|notice| notice.occurrence);
        let seq = match self.store().notice_cursor(host).await? {
            Some(seq) => seq,
            None => self.store().last_seq().await?,
        };
        Ok(Teller { known: known.collect(), seq })
    }

    async fn tell(&self, teller: &mut Teller) -> Result<(), Problem> {
        for (news, seq) in self.news(teller).await? {
            if !teller.known.insert(news.occurrence.clone()) || self.now().duration_since(news.at) > NEWS {
                continue;
            }
            let begun = self.store().begin_notice(self.life(), news.occurrence.clone(), seq, self.now()).await;
            // Begun and not done by a life that is over counts as ours.
            if let Err(e) = begun.map(|_: Turn| ()) {
                teller.known.remove(&news.occurrence);
                return Err(store_problem(&e));
            }
            self.spawn(self.clone().send_and_note(news));
        }
        Ok(())
    }

    /// What has not been told, with the event it is about.
    async fn news(&self, teller: &mut Teller) -> Result<Vec<(News, Option<i64>)>, Problem> {
        let now = self.now();
        let needs = self.needs(None).await?;
        let busy: HashSet<_> =
            needs.iter().filter(|known| known.is_open(now)).filter_map(|known| known.need.subject.task).collect();
        let mut found = Vec::new();
        for known in needs {
            let (occurrence, at) = match &known.answer {
                None => (known.need.id.to_string(), known.need.since),
                // Its time has come once more: that is what it was snoozed for.
                Some(Answer::Snoozed { until, .. }) if *until <= now => (format!("{}@{until}", known.need.id), *until),
                Some(Answer::Snoozed { .. } | Answer::Dismissed | Answer::Seen) => continue,
            };
            let what = Told::Need(Box::new(known.need));
            found.push((News { occurrence, what, repository: known.repository, at }, None));
        }
        loop {
            let events = self.store().events_after(teller.seq, EventFilter::default(), PAGE).await;
            let events = events.map_err(|e| store_problem(&e))?;
            let Some(last) = events.last() else { break };
            teller.seq = last.seq;
            let may_end = |kind: &str| matches!(kind, "settled" | "pull_opened" | "pull_updated");
            for event in events.iter().filter(|event| may_end(&event.kind)) {
                let (Some(run), Some(task)) = (event.run, event.task) else { continue };
                let run = self.store().run(run).await.map_err(|e| store_problem(&e))?;
                let is_left = !busy.contains(&task) && !self.0.attendance.was_there(task, event.at);
                if is_left && let Some(news) = self.ended(&run, event.at).await? {
                    found.push((news, Some(event.seq)));
                }
            }
        }
        Ok(found)
    }

    /// It has ended well, and nothing more will come of it by itself.
    async fn ended(&self, run: &Run, at: Timestamp) -> Result<Option<News>, Problem> {
        if run.status() != Status::Succeeded || !run.is_settled() || run.spec.host != self.life().host {
            return Ok(None);
        }
        let whole = self.store().whole_task(run.spec.task).await.map_err(|e| store_problem(&e))?;
        let pull = pull_of_branch(&whole.pulls, run);
        // Opened in a moment, or not: that is the news then.
        if pull.is_some_and(|pull| pull.is_pending() || pull.problem().is_some()) {
            return Ok(None);
        }
        let repo = self.store().repo(run.spec.repo).await.map_err(|e| store_problem(&e))?;
        let ended = RunEnded {
            task: run.spec.number,
            title: whole.task.title.clone(),
            run: run.spec.id.key(),
            changes: run.progress.staged().and_then(|staged| staged.changes),
            pull: pull.and_then(|pull| pull.link()).cloned(),
        };
        Ok(Some(News {
            occurrence: format!("ended:{}", run.spec.id),
            what: Told::Ended(Box::new(ended)),
            repository: Some(repo.root),
            at,
        }))
    }

    async fn send_and_note(self, news: News) {
        let results = tokio::select! {
            results = self.send(&news) => results,
            // It stays begun: the next daemon sends it.
            () = self.stopping().cancelled() => return,
        };
        let now = self.now();
        let ways: Vec<NoticeWay> = results
            .into_iter()
            .filter(|result| !matches!(result.outcome, crate::edges::WayOutcome::Skipped { .. }))
            .map(|result| NoticeWay { way: result.way.to_owned(), at: now, error: result.error() })
            .collect();
        for way in &ways {
            if let Some(error) = &way.error {
                warn!(way = way.way, occurrence = news.occurrence, "a notice was not delivered: {error}");
            }
        }
        if let Err(e) = self.store().end_notice(self.life(), news.occurrence, ways, now).await {
            info!("that a notice was sent is not written down: {e}");
        }
    }

    /// On every way that is configured, as the user's file says it now.
    async fn send(&self, news: &News) -> Vec<WayResult> {
        let settings = match Config::load(&self.0.options.user_config, None) {
            Ok(config) => config,
            Err(e) => {
                warn!("the configuration cannot be read, so the one from the start counts: {e}");
                self.0.config.clone()
            }
        };
        let words = (self.0.options.words)(self.env(), settings.language.as_deref(), news);
        let sending = Sending {
            body: body::of(news, &words),
            words,
            settings: settings.notify,
            terminal: self.0.attendance.terminal_of(news),
        };
        self.0.edges.notify.send(&sending).await
    }

    /// `dandori notify test`: every way is tried, and how it went is told.
    pub async fn test_notices(&self, terminal: Option<Utf8PathBuf>) -> Result<Vec<WayResult>, Problem> {
        self.notify_now(Told::Test, terminal).await
    }

    /// Somebody's own words, in every way that is configured.
    pub async fn notify(&self, words: String, terminal: Option<Utf8PathBuf>) -> Result<Vec<WayResult>, Problem> {
        self.notify_now(Told::Words(words), terminal).await
    }

    async fn notify_now(&self, what: Told, terminal: Option<Utf8PathBuf>) -> Result<Vec<WayResult>, Problem> {
        let config = Config::load(&self.0.options.user_config, None).map_err(|e| e.to_problem())?;
        let news = News { occurrence: "test".to_owned(), what, repository: None, at: self.now() };
        let words = (self.0.options.words)(self.env(), config.language.as_deref(), &news);
        let sending = Sending { body: body::of(&news, &words), words, settings: config.notify, terminal };
        Ok(self.0.edges.notify.send(&sending).await)
    }

    /// How the last notice went on each way.
    pub async fn notice_ways(&self) -> Result<Vec<NoticeWay>, Problem> {
        self.store().notice_ways(self.life().host).await.map_err(|e| store_problem(&e))
    }

    pub(crate) async fn drop_old_notices(&self) {
        if let Err(e) = self.store().drop_notices(self.life(), self.now() - KEPT).await {
            info!("old notices stay: {e}");
        }
    }

    /// Somebody watches this task from now on, until what is given back is dropped.
    pub fn attend(&self, task: dandori_domain::TaskId) -> Attending {
        Attendance::attend(&self.0.attendance, task, Arc::clone(&self.0.clock))
    }
}
