//! What an agent has: its run is started, watched, and once it is over told to the protocol.

use dandori_domain::Problem;
use dandori_domain::failure::Failure;
use dandori_domain::run::{Purpose, Run, Status};
use dandori_formation::protocol::{self, Released, ReportIn, Sight};
use dandori_formation::result::{Report, Reported, says_too_little};
use dandori_formation::{AgentId, Command, Ledger, Message, MessageKind};
use dandori_store::{Scope, StoreError};

use super::start::errand;
use super::{Formation, Point, ToTell};
use crate::trouble::store_problem;

/// How a run that is over went, for the one it worked for.
enum Came {
    /// It has done what it could; its last words and its work count.
    Through,
    /// It ended without, by its own doing.
    ToNothing { why: String },
    /// Somebody or something else ended it.
    Interrupted { why: String },
    /// It never began.
    NotDelivered { why: String },
    /// A person has stopped it.
    Stopped,
    /// More of the same would cost more of the same.
    OverBudget { why: String },
}

impl Formation {
    pub(super) async fn attend_all(&self) -> Result<(), Problem> {
        let workers = self.settings().workers;
        let (held, lost) = self
            .look(move |book| {
                let mut held = Vec::new();
                for agent in AgentId::all(workers.max(dandori_formation::MOST_WORKERS)) {
                    held.extend(book.in_flight(agent)?);
                }
                Ok((held, book.expired_now()?))
            })
            .await?;
        let ours = self.engine.life().host.to_string();
        for message in held {
            if message.lease().is_some_and(|lease| lease.holder == ours) {
                Box::pin(self.attend(message)).await?;
            }
        }
        for message in lost.into_iter().filter(|m| m.lease().is_some_and(|lease| lease.holder != ours)) {
            self.expire(&message, Sight::Gone).await?;
        }
        Ok(())
    }

    /// Workers nobody waits for any more, because their time was over, are stopped. What they did is kept.
    pub(super) async fn stop_the_forgotten(&self) -> Result<(), Problem> {
        let runs = self.engine.store().unsettled_runs(self.repo.id).await.map_err(|e| store_problem(&e))?;
        for run in runs {
            let Some(errand) = run.spec.errand.as_ref().filter(|errand| errand.purpose == Purpose::Work) else {
                continue;
            };
            let id = errand.message;
            let message = self.look(move |book| book.message(id)).await?;
            if message.is_some_and(|message: Message| message.delivery.is_over()) {
                self.cancel(&run).await?;
            }
        }
        Ok(())
    }

    /// Looks after one message that an agent has.
    pub(super) async fn attend(&self, message: Message) -> Result<(), Problem> {
        let Some(lease) = message.lease().cloned() else { return Ok(()) };
        if self.is_called_off(&message).await? {
            return self.call_off(&message).await;
        }
        let run = match self.run_of(&message).await? {
            Some(run) => run,
            None => match Box::pin(self.start(&message)).await {
                Ok(Some(run)) => run,
                // It waits for the run before it to be gone.
                Ok(None) => return self.heartbeat(&message).await,
                Err(problem) => {
                    let why = self.engine.put_in_words(&ToTell::Problem(problem));
                    return self.release(&message, Released::NotDelivered { why }).await;
                }
            },
        };
        if run.is_settled() {
            return self.run_is_over(&message, &run).await;
        }
        if self.engine.now() >= lease.until {
            return self.expire(&message, Sight::Busy).await;
        }
        if lease.accepted_at.is_none() && run.status() != Status::Pending && message.kind.task().is_some() {
            let (id, epoch) = (message.id, lease.epoch);
            self.take(Point::Accepted, Scope::Message(id), move |book, step| protocol::accepted(book, step, id, epoch))
                .await?;
        }
        if !lease.has_progress && run.conversation().is_some() {
            let (id, epoch) = (message.id, lease.epoch);
            self.take(Point::Progress, Scope::Message(id), move |book, step| protocol::progress(book, step, id, epoch))
                .await?;
        }
        self.heartbeat(&message).await
    }

    /// Extends the lease when half of it is over.
    async fn heartbeat(&self, message: &Message) -> Result<(), Problem> {
        let Some(lease) = message.lease() else { return Ok(()) };
        let left = lease.until.duration_since(self.engine.now()).as_secs();
        if left * 2 > self.rules().lease_seconds {
            return Ok(());
        }
        let (id, epoch) = (message.id, lease.epoch);
        self.take(Point::Heartbeat, Scope::Message(id), move |book, step| protocol::heartbeat(book, step, id, epoch))
            .await
            .map(drop)
    }

    async fn expire(&self, message: &Message, sight: Sight) -> Result<(), Problem> {
        let (id, epoch) = (message.id, message.epoch);
        self.take(Point::Expired, Scope::Message(id), move |book, step| protocol::expire(book, step, id, epoch, sight))
            .await
            .map(drop)
    }

    async fn release(&self, message: &Message, released: Released) -> Result<(), Problem> {
        let (id, epoch) = (message.id, message.epoch);
        self.take(Point::Released, Scope::Message(id), move |book, step| {
            protocol::release(book, step, id, epoch, &released)
        })
        .await
        .map(drop)
    }

    async fn is_called_off(&self, message: &Message) -> Result<bool, Problem> {
        let Some(id) = message.kind.task().and(message.kind.command()) else { return Ok(false) };
        let command = self.look(move |book| book.command(id)).await?;
        Ok(command.is_some_and(|command: Command| command.cancel.is_some()))
    }

    /// Nobody wants it any more: its run is cancelled, and once that is over the task is.
    async fn call_off(&self, message: &Message) -> Result<(), Problem> {
        if let Some(run) = self.run_of(message).await?
            && !run.is_settled()
        {
            self.cancel(&run).await?;
            return self.heartbeat(message).await;
        }
        let Some(task) = message.kind.task() else { return Ok(()) };
        let epoch = message.epoch;
        self.take(Point::Interrupted, Scope::Task(task), move |book, step| {
            protocol::interrupted(book, step, task, epoch)
        })
        .await
        .map(drop)
    }

    /// Once is enough; one that is over already is no trouble.
    pub(super) async fn cancel(&self, run: &Run) -> Result<(), Problem> {
        if run.is_canceling() {
            return Ok(());
        }
        match self.engine.cancel(&run.spec.id.to_string()).await {
            Ok(_) | Err(Problem::CannotCancel { .. }) => Ok(()),
            Err(problem) => Err(problem),
        }
    }

    pub(super) async fn run_of(&self, message: &Message) -> Result<Option<Run>, Problem> {
        self.run_if_any(errand(message, String::new()).run_id()).await
    }

    pub(super) async fn run_if_any(&self, id: dandori_domain::RunId) -> Result<Option<Run>, Problem> {
        match self.engine.store().run(id).await {
            Ok(run) => Ok(Some(run)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(e) => Err(store_problem(&e)),
        }
    }

    async fn run_is_over(&self, message: &Message, run: &Run) -> Result<(), Problem> {
        match &message.kind {
            MessageKind::Task { .. } => self.worker_is_done(message, run).await,
            MessageKind::Command { .. } | MessageKind::Fill { .. } => {
                // A plan that was submitted has ended the message; this one was not.
                let released = match came(run, &self.engine) {
                    Came::Through => Released::CameToNothing { why: "it ended without submitting a plan".to_owned() },
                    other => other.released(),
                };
                self.release(message, released).await
            }
            MessageKind::Digest { .. } | MessageKind::Notice { .. } | MessageKind::Words { .. } => {
                match came(run, &self.engine) {
                    Came::Through | Came::Stopped | Came::OverBudget { .. } => {
                        let (id, epoch) = (message.id, message.epoch);
                        self.take(Point::Delivered, Scope::Message(id), move |book, step| {
                            protocol::accepted(book, step, id, epoch)
                        })
                        .await
                        .map(drop)
                    }
                    other => self.release(message, other.released()).await,
                }
            }
        }
    }

    async fn worker_is_done(&self, message: &Message, run: &Run) -> Result<(), Problem> {
        let said = message.lease().and_then(|lease| lease.said.clone());
        let report = match came(run, &self.engine) {
            Came::Through => report_of(run, said),
            Came::Stopped => Ok(failed(run, said, "a person canceled it".to_owned())),
            Came::OverBudget { why } => Ok(failed(run, said, why)),
            Came::ToNothing { why } => match said {
                Some(said) if said.outcome == Reported::Failed => Ok(failed(run, Some(said), why)),
                _ => Err(why),
            },
            interrupted @ (Came::Interrupted { .. } | Came::NotDelivered { .. }) => {
                return self.release(message, interrupted.released()).await;
            }
        };
        match report {
            Ok(report) => self.report(message, report).await,
            Err(why) => self.release(message, Released::CameToNothing { why }).await,
        }
    }

    async fn report(&self, message: &Message, report: Report) -> Result<(), Problem> {
        let Some(task) = message.kind.task() else { return Ok(()) };
        let new = ReportIn { task, by: message.to, epoch: message.epoch, report };
        self.take(Point::Reported, Scope::Task(task), move |book, step| protocol::report(book, step, &new)).await?;
        Ok(())
    }
}

impl Came {
    fn released(self) -> Released {
        match self {
            Self::NotDelivered { why } => Released::NotDelivered { why },
            Self::Interrupted { why } => Released::Interrupted { why },
            Self::ToNothing { why } | Self::OverBudget { why } => Released::CameToNothing { why },
            Self::Stopped => Released::CameToNothing { why: "a person canceled it".to_owned() },
            Self::Through => Released::CameToNothing { why: "nothing came of it".to_owned() },
        }
    }
}

fn came(run: &Run, engine: &crate::Engine) -> Came {
    let why =
        || run.failure().map_or_else(String::new, |failure| engine.put_in_words(&ToTell::Failure(failure.clone())));
    match (run.status(), run.failure()) {
        (Status::Succeeded, _) => Came::Through,
        (Status::Canceled, _) => Came::Stopped,
        (_, Some(Failure::OverBudget { .. })) => Came::OverBudget { why: why() },
        (_, Some(Failure::SupervisorLost | Failure::DiskFull { .. } | Failure::ProcessesLeft { .. })) => {
            Came::Interrupted { why: why() }
        }
        (
            _,
            Some(
                Failure::Worktree { .. }
                | Failure::RepositoryGone { .. }
                | Failure::DandoriGone { .. }
                | Failure::SetUp { .. }
                | Failure::AgentMissing { .. },
            ),
        ) => Came::NotDelivered { why: why() },
        _ => Came::ToNothing { why: why() },
    }
}

/// What a run that went through reports: its agent's own report, else its last words, with what was committed.
fn report_of(run: &Run, said: Option<Report>) -> Result<Report, String> {
    if let Some(said) = &said
        && said.outcome == Reported::Failed
    {
        return Ok(failed(run, Some(said.clone()), String::new()));
    }
    let said = said.unwrap_or_else(|| Report {
        outcome: Reported::Completed,
        summary: run.summary().unwrap_or_default().to_owned(),
        files_changed: Vec::new(),
        partial_changes: false,
        retry_safe: true,
        exit_code: None,
        work: None,
    });
    let work = run.delivered().cloned();
    // A program without a protocol says nothing at the end: then its work speaks for it.
    let summary = match (says_too_little(&said.summary, Reported::Completed), &work) {
        (false, _) => said.summary,
        (true, Some(_)) => format!("{} ({})", dandori_domain::wording::title(run.about()), said.summary.trim()),
        (true, None) => return Err("it ended without a report and without changes".to_owned()),
    };
    Ok(Report { summary, work, ..said })
}

fn failed(run: &Run, said: Option<Report>, why: String) -> Report {
    let has_left_something = run.has_changes();
    match said {
        Some(said) => Report {
            outcome: Reported::Failed,
            partial_changes: said.partial_changes || has_left_something,
            work: None,
            ..said
        },
        None => Report {
            outcome: Reported::Failed,
            summary: why,
            files_changed: Vec::new(),
            partial_changes: has_left_something,
            retry_safe: true,
            exit_code: None,
            work: None,
        },
    }
}
