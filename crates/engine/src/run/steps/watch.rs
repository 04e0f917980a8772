//! Watch: follow the agent until it ends, and keep it within its limits.
//!
//! The shim keeps the limit of the whole run, because it lives when we do not. What needs an understanding of the
//! agent's words (silence, start, budget, endless retries) is kept here. The stream is read from its beginning after
//! a restart, so nothing of what was understood needs to be stored. It may be as long as the agent likes: it is read in
//! pieces, and of each only what was understood stays.

use std::fs::File;
use std::io::Read;
use std::time::Duration;

use camino::Utf8Path;
use dandori_agent::Reader;
use dandori_domain::run::{Fact, Note, Run, RunKind};
use dandori_domain::{AgentEvent, AgentFailure, AgentName, Failure, Limit, Usage, Verdict};
use dandori_host::cmd::last_lines;
use dandori_host::shim::{ExitRecord, Probe, Why};
use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::StepError;
use crate::{Engine, RunLayout};

/// How often the stream is looked at. Its end is not waited for this way: the shim's end is an event.
const LOOK: Duration = Duration::from_millis(250);

/// How long a client may take to end once it has said that it is done. One needs four seconds after a shell; a client
/// that keeps something alive in the background would take as long as that does.
const FAREWELL: Duration = Duration::from_secs(8);

/// Why the shim was asked to stop a client that had finished: what it ends then has not failed.
const FINISHED: &str = "finished";

/// How much of a stream is read at once. Lines of one byte each become events of a hundred.
const PIECE: usize = 64 * 1024;
const PIECES_AT_ONCE: usize = 16;
const ROUNDS_AT_ONCE: usize = 32;

/// Of what a program said last. Its last lines are in it, whatever came before.
const TAIL_BYTES: u64 = 64 * 1024;

/// Of what a check that failed has said.
const CHECK_LINES: usize = 20;

/// A stream as far as it has been read.
pub(crate) struct Stream {
    file: Option<File>,
    layout: RunLayout,
    pub(crate) reader: Reader,
    /// It ends in the middle of a line.
    is_cut: bool,
}

impl Stream {
    pub(crate) fn of(run: &Run, layout: RunLayout, before: Usage) -> Self {
        let asked = match &run.spec.kind {
            RunKind::FollowUp { session, .. } => session.clone(),
            RunKind::First => None,
        };
        let reader = if run.is_acp() { Reader::of_acp(asked) } else { Reader::new(&run.worker(), asked, before) };
        Self { file: None, layout, reader, is_cut: false }
    }

    /// The next piece of what is new, at most [`PIECE`] bytes of it; `None` when there is nothing (yet). A file that is not
    /// there yet has said nothing.
    pub(crate) fn read(&mut self) -> Option<Vec<AgentEvent>> {
        if self.file.is_none() {
            self.file = File::open(self.layout.output()).ok();
        }
        let file = self.file.as_mut()?;
        let mut piece = vec![0u8; PIECE];
        let Ok(count @ 1..) = file.read(&mut piece) else { return None };
        let new = piece.get(..count).unwrap_or_default();
        self.is_cut = new.last() != Some(&b'\n');
        Some(self.reader.feed(new))
    }

    /// Takes in what is new without keeping it; whether there may be more.
    fn take_in(&mut self) -> bool {
        (0..PIECES_AT_ONCE).all(|_| self.read().is_some())
    }

    /// The same for a while, with others having their turn in between.
    async fn catch_up(&mut self) -> bool {
        for _ in 0..ROUNDS_AT_ONCE {
            if !self.take_in() {
                return false;
            }
            tokio::task::yield_now().await;
        }
        true
    }

    /// A last line without its end: nothing more will come of it.
    pub(crate) fn close(&mut self) -> Vec<AgentEvent> {
        if std::mem::take(&mut self.is_cut) { self.reader.feed(b"\n") } else { Vec::new() }
    }

    /// The judgement once the agent has ended.
    pub(crate) fn verdict(&mut self, exit: Option<i32>, signal: Option<i32>) -> (Verdict, Usage) {
        while self.take_in() {}
        let tail = tail_of(&self.layout.stderr(), 20);
        let verdict = self.reader.finish(exit, signal, &tail);
        (verdict, self.reader.usage())
    }
}

impl Engine {
    pub(super) async fn watch(&self, run: &Run, bell: &Notify) -> Result<Vec<Fact>, StepError> {
        let layout = self.layout().repo(run.spec.repo).run(run.spec.id);
        let mut stream = Stream::of(run, layout.clone(), self.baseline(run).await);
        let mut done_since = None;
        loop {
            // One that prints faster than we read is still kept within its limits.
            let is_behind = stream.catch_up().await;
            if run.session.is_none()
                && let Some(session) = stream.reader.session()
            {
                return Ok(vec![Fact::SessionSeen { session: session.clone() }]);
            }
            let probe = self.0.edges.host.probe(layout.root()).map_err(|e| trouble(&layout, &e))?;
            let started = match probe {
                Probe::Alive(started) => started,
                Probe::Ended(record) => {
                    let notes = self.unjudged_note(&layout).await.map(|note| Fact::Noted { note });
                    return Ok(notes.into_iter().chain(ended(run, &mut stream, &record)).collect());
                }
                Probe::Lost(_) | Probe::NeverStarted => return self.lost(run, &mut stream).await,
            };
            if let Some(failure) = over_limit(run, &stream, self.now()) {
                return Err(failure.into());
            }
            done_since = stream.reader.is_done().then(|| done_since.unwrap_or_else(Instant::now));
            if done_since.is_some_and(|since| since.elapsed() >= FAREWELL) {
                self.see_off(run, &layout).await?;
                continue;
            }
            tokio::select! {
                () = self.0.edges.host.watch(started.shim) => {}
                () = tokio::time::sleep(if is_behind { Duration::ZERO } else { LOOK }) => {}
                () = bell.notified() => {
                    if self.is_canceled(run).await {
                        return Err(StepError::LookAgain);
                    }
                }
                () = self.stopping().cancelled() => return Err(StepError::Stopping),
            }
        }
    }

    /// Ends a client that has finished, with all it has left behind.
    async fn see_off(&self, run: &Run, layout: &RunLayout) -> Result<(), StepError> {
        let grace = Duration::from_secs(run.spec.settings.limits.grace_seconds);
        let folder = layout.root().to_owned();
        let stopped = self.blocking(move |engine| engine.0.edges.host.stop(&folder, FINISHED, grace)).await?;
        stopped.map_err(|reason| trouble(layout, &reason))
    }

    /// What the conversation had used before this run: some agents count over its whole length.
    pub(crate) async fn baseline(&self, run: &Run) -> Usage {
        let mut total = Usage::default();
        let mut after = match &run.spec.kind {
            RunKind::FollowUp { after, .. } => Some(*after),
            RunKind::First => None,
        };
        while let Some(id) = after {
            let Ok(earlier) = self.store().subject::<Run>(id).await else { break };
            if let Some(ended) = earlier.progress.ended() {
                total.input_tokens += ended.usage.input_tokens;
                total.output_tokens += ended.usage.output_tokens;
                total.cached_tokens += ended.usage.cached_tokens;
            }
            after = match &earlier.spec.kind {
                RunKind::FollowUp { after, .. } => Some(*after),
                RunKind::First => None,
            };
        }
        total
    }

    /// The shim is gone without a word: whatever it left behind ends, and what the agent had said still counts.
    async fn lost(&self, run: &Run, stream: &mut Stream) -> Result<Vec<Fact>, StepError> {
        self.end_leftovers(run).await?;
        while stream.catch_up().await {}
        if stream.reader.verdict().is_none() {
            return Ok(vec![Fact::Failed { failure: Failure::SupervisorLost }, Fact::Stopped]);
        }
        let (verdict, usage) = stream.verdict(None, None);
        Ok(vec![Fact::AgentEnded { verdict, exit: None, signal: None, usage }])
    }
}

/// The last lines of a file, read from its end.
pub(crate) fn tail_of(path: &Utf8Path, lines: usize) -> String {
    last_lines(String::from_utf8_lossy(&dandori_host::file::tail(path, TAIL_BYTES).unwrap_or_default()).trim(), lines)
}

/// The limit the agent has just broken.
fn over_limit(run: &Run, stream: &Stream, now: Timestamp) -> Option<Failure> {
    let limits = &run.spec.settings.limits;
    let reader = &stream.reader;
    if let (Some(budget), Some(spent)) = (run.spec.settings.budget, reader.usage().cost)
        && spent > budget
    {
        return Some(Failure::OverBudget { budget, spent });
    }
    if reader.retries() > limits.api_retries {
        let detail = format!("{} attempts without an answer", reader.retries());
        return Some(Failure::Agent { failure: AgentFailure::Unreachable { detail } });
    }
    let quiet = quiet_seconds(run, stream, now);
    if !reader.said_anything() {
        let over = quiet > limits.start_seconds;
        return over.then_some(Failure::TimedOut { limit: Limit::Start, seconds: limits.start_seconds });
    }
    let over = quiet > limits.silence_seconds && !reader.has_open_tool() && !reader.is_done();
    over.then_some(Failure::TimedOut { limit: Limit::Silence, seconds: limits.silence_seconds })
}

/// Since the agent last wrote anything, by the file's own time: it also holds while no daemon lived.
fn quiet_seconds(run: &Run, stream: &Stream, now: Timestamp) -> u64 {
    let launched = run.progress.work().map_or(0, |work| work.launched_at.as_second());
    let wrote = [stream.layout.output(), stream.layout.stderr()]
        .iter()
        .filter_map(|path| path.metadata().ok()?.modified().ok())
        .filter_map(|time| Timestamp::try_from(time).ok())
        .map(Timestamp::as_second)
        .max()
        .unwrap_or(0);
    u64::try_from(now.as_second() - launched.max(wrote)).unwrap_or(0)
}

/// What an exit record and the stream say together.
pub(crate) fn ended(run: &Run, stream: &mut Stream, record: &ExitRecord) -> Vec<Fact> {
    let (verdict, usage) = stream.verdict(record.code, record.signal);
    let limits = &run.spec.settings.limits;
    let failure = match &record.why {
        Why::Ended => over_budget(run, stream),
        Why::Stopped { reason } if reason == FINISHED => over_budget(run, stream),
        Why::DeadlinePassed => Some(Failure::TimedOut { limit: Limit::Run, seconds: limits.run_seconds }),
        Why::OutputLimit => Some(other(format!("it printed more than {} MiB", record.output_bytes >> 20))),
        Why::Survivors { pids } => Some(Failure::ProcessesLeft { pids: pids.clone() }),
        Why::NotStarted { detail } => Some(not_started(detail)),
        Why::NoSandbox { reason } => Some(not_started(reason)),
        Why::Stopped { reason } => Some(other(format!("it was stopped: {reason}"))),
    };
    let failure = failure.or_else(|| check_failed(run, &stream.layout, &verdict));
    let mut facts: Vec<Fact> = failure.into_iter().map(|failure| Fact::Failed { failure }).collect();
    if run.session.is_none()
        && let Some(session) = stream.reader.session()
    {
        facts.insert(0, Fact::SessionSeen { session: session.clone() });
    }
    if stream.reader.is_anew() {
        facts.push(Fact::Noted { note: Note::ConversationAnew { agent: run.spec.agent.to_string() } });
    }
    let refusals = crate::fence::refusals(&stream.layout);
    if !refusals.is_empty() {
        facts.push(Fact::Noted { note: Note::FenceRefused { refusals } });
    }
    facts.push(Fact::AgentEnded { verdict, exit: record.code, signal: record.signal, usage });
    facts
}

/// In place of an agent a check has decided about a merge: what it said last is the reason.
fn check_failed(run: &Run, layout: &RunLayout, verdict: &Verdict) -> Option<Failure> {
    let Some(AgentName::Exec(command)) = run.gives_back().then(|| run.worker()) else { return None };
    if matches!(verdict, Verdict::Done { .. }) {
        return None;
    }
    let said = format!("{}\n{}", tail_of(&layout.output(), CHECK_LINES), tail_of(&layout.stderr(), CHECK_LINES));
    Some(Failure::Check { command, tail: last_lines(said.trim(), CHECK_LINES) })
}

/// An agent that knows its budget stops by itself; it is the same failure as when we stop it.
fn over_budget(run: &Run, stream: &Stream) -> Option<Failure> {
    let budget = run.spec.settings.budget?;
    let spent = stream.reader.usage().cost.unwrap_or(budget);
    stream.reader.is_over_budget().then_some(Failure::OverBudget { budget, spent })
}

fn other(detail: String) -> Failure {
    Failure::Agent { failure: AgentFailure::Other { detail } }
}

fn not_started(detail: &str) -> Failure {
    Failure::Agent { failure: AgentFailure::NotStarted { detail: detail.to_owned() } }
}

pub(crate) fn trouble(layout: &RunLayout, error: &impl ToString) -> StepError {
    StepError::Trouble(dandori_domain::Problem::Io { path: layout.root().to_owned(), reason: error.to_string() })
}
