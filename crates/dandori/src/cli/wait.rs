//! Waiting for runs: every state is shown as it comes; Ctrl-C stops the waiting, not the work.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use dandori_api::{EventView, RunView, TaskView};
use dandori_domain::run::Status;
use dandori_domain::{AgentEvent, Problem};
use dandori_text::ui;
use tokio::sync::mpsc::{Sender, channel};
use tokio::task::JoinSet;

use super::view::{View, Words};
use super::{Context, ending, told};
use crate::client::{Client, quoted};
use crate::out::Failed;

/// How often the place in the queue is asked for.
const QUEUE_LOOK: Duration = Duration::from_secs(1);

/// How often what moves is drawn.
const TICK: Duration = Duration::from_millis(120);

/// How much of what is heard is held: whoever speaks faster than it is shown waits.
const HELD: usize = 256;

/// How long the last words of runs that have settled are waited for: they come at once, or something is wrong with the log.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How long a daemon that does not come back is waited for.
const RECONNECT: Duration = Duration::from_secs(30);

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Run in the background without waiting
    #[arg(long, short = 'd')]
    detach: bool,
    /// Do not show what the agent says and does
    #[arg(long, short = 'q')]
    quiet: bool,
}

impl WaitArgs {
    /// Waits for these runs of a task, or leaves them to themselves, as the user wishes.
    pub(crate) async fn wait(
        &self,
        client: Client,
        task: TaskView,
        runs: Vec<String>,
        context: &Context,
    ) -> Result<ExitCode, Failed> {
        if !self.detach {
            let words = if self.quiet { Words::LeftOut } else { Words::Shown };
            return until_settled(client, task, runs, words, context).await;
        }
        let out = &context.out;
        out.object(&told::object(&task, &among(&task, &runs)));
        out.line(ui::detached(out.lang, &task.number));
        out.next(&[format!("dandori task log {}", task.number), format!("dandori task cancel {}", task.number)]);
        Ok(ExitCode::SUCCESS)
    }
}

pub(super) fn among<'t>(task: &'t TaskView, runs: &[String]) -> Vec<&'t RunView> {
    task.runs.iter().filter(|r| runs.contains(&r.id)).collect()
}

/// Waits for these runs of a task to settle, shows what came of them, and gives the exit code.
pub(crate) async fn until_settled(
    client: Client,
    task: TaskView,
    runs: Vec<String>,
    words: Words,
    context: &Context,
) -> Result<ExitCode, Failed> {
    let number = task.number.clone();
    tokio::select! {
        ended = follow(client, task, &runs, words, context) => {
            let Watched { client, task, shown } = ended?;
            let runs = among(&task, &runs);
            context.out.object(&told::object(&task, &runs));
            ending::show(context, &client, &task, &runs, &shown).await;
            // A pull request that was asked for and could not be opened is not what was asked for.
            let ok = runs.iter().all(|r| r.state == Status::Succeeded && r.pr_error.is_none());
            Ok(ExitCode::from(u8::from(!ok)))
        }
        _ = tokio::signal::ctrl_c() => {
            context.out.say(ui::interrupted(context.out.lang, &number));
            Err(Failed::Quiet(130))
        }
    }
}

/// Runs that have settled.
pub(super) struct Watched {
    pub(super) client: Arc<Client>,
    pub(super) task: TaskView,
    /// Those whose last words are on the screen.
    shown: Vec<String>,
}

impl Watched {
    fn of(view: &View<'_>, client: Arc<Client>, task: TaskView) -> Self {
        Self { shown: view.ended_with_summary(&task), client, task }
    }
}

pub(super) async fn follow(
    client: Client,
    mut task: TaskView,
    runs: &[String],
    words: Words,
    context: &Context,
) -> Result<Watched, Problem> {
    let mut client = Arc::new(client);
    // Of runs that only begin, every state is told, however short. Of others the past is not told again.
    let is_fresh = is_fresh(&task, runs);
    let mut view = View::new(context, if is_fresh { words } else { Words::LeftOut });
    if is_fresh {
        // A run that has only just been asked for is not waiting yet.
        task.runs.iter_mut().for_each(|run| run.place = None);
    }
    view.update(&task, runs);
    let mut after: Option<i64> = None;
    loop {
        if !is_fresh && is_settled(&task, runs) {
            return Ok(Watched::of(&view, client, task));
        }
        let mut listening = Listening { client: client.clone(), task, runs, is_fresh, after };
        let heard = listening.until_settled(&mut view).await;
        (task, after) = (listening.task, listening.after);
        match heard {
            Ok(()) => {
                view.end();
                return Ok(Watched::of(&view, client, task));
            }
            Err(Problem::DaemonUnreachable { .. } | Problem::StopUnderWay) => {
                view.say(ui::reconnecting(context.out.lang));
                let again = reconnect(context, &task.id).await?;
                (client, task) = (Arc::new(again.0), again.1);
                // The last event may have been the last thing that daemon said: no other will come.
                if is_settled(&task, runs) {
                    view.update(&task, runs);
                    return Ok(Watched::of(&view, client, task));
                }
            }
            Err(problem) => return Err(problem),
        }
    }
}

/// What comes from the daemon while runs are watched.
enum Heard {
    Event(Box<EventView>),
    Said {
        run: String,
        event: AgentEvent,
    },
    /// The log of a run has come to its end.
    Silent,
    Lost(Problem),
}

/// Runs watched through one daemon.
struct Listening<'r> {
    client: Arc<Client>,
    task: TaskView,
    runs: &'r [String],
    is_fresh: bool,
    after: Option<i64>,
}

impl Listening<'_> {
    async fn until_settled(&mut self, view: &mut View<'_>) -> Result<(), Problem> {
        let (sender, mut heard) = channel(HELD);
        // Dropped with this future, and with it whoever still listens.
        let mut listeners = JoinSet::new();
        // From the beginning of the task's events: what came between the look and the listening is not missed.
        let path = format!("/v1/events?task={}&after={}", quoted(&self.task.id), self.after.unwrap_or(0));
        listeners.spawn(hear_events(self.client.clone(), path, sender.clone()));
        let mut speaking = 0;
        if view.wants_words() {
            for run in self.runs {
                let known = view.heard(run);
                listeners.spawn(hear_words(self.client.clone(), run.clone(), known, sender.clone()));
                speaking += 1;
            }
        }
        drop(sender);
        let mut tick = tokio::time::interval(TICK);
        let mut look = tokio::time::interval(QUEUE_LOOK);
        look.reset();
        let mut settled: Option<Instant> = None;
        loop {
            let is_settled = settled.is_some();
            if is_settled && speaking == 0 {
                return Ok(());
            }
            tokio::select! {
                next = heard.recv() => match next {
                    Some(Heard::Said { run, event }) => view.said(&run, &event),
                    // The run may not have ended: a daemon that goes away is silent, too.
                    Some(Heard::Silent) => speaking -= 1,
                    Some(Heard::Event(event)) if !is_settled => {
                        settled = self.take(&event, view).await?.then(Instant::now);
                    }
                    Some(Heard::Lost(_)) if is_settled => return Ok(()),
                    Some(Heard::Lost(problem)) => return Err(problem),
                    Some(Heard::Event(_)) => {}
                    None => return Err(Problem::StopUnderWay),
                },
                _ = tick.tick(), if view.is_live() => view.tick(),
                // Nothing happens to a run that waits, but its place in the queue changes.
                _ = look.tick() => {
                    if settled.is_some_and(|at| at.elapsed() > LAST_WORDS) {
                        return Ok(());
                    }
                    if !is_settled && view.any_pending() {
                        self.look(view).await?;
                    }
                }
            }
        }
    }

    /// Takes an event in; whether everything is settled with it.
    async fn take(&mut self, event: &EventView, view: &mut View<'_>) -> Result<bool, Problem> {
        self.after = Some(event.seq);
        // A pull request may pass from one run of the task to another.
        let is_ours = is_pull(event) || event.run.as_ref().is_some_and(|run| self.runs.contains(run));
        if !is_ours {
            return Ok(false);
        }
        if self.is_fresh {
            view.passed(event);
        }
        if !may_settle(event) {
            return Ok(false);
        }
        self.task = self.client.get(&format!("/v1/tasks/{}", quoted(&self.task.id))).await?;
        let is_settled = is_settled(&self.task, self.runs);
        if is_settled || !self.is_fresh {
            view.update(&self.task, self.runs);
        } else {
            view.update_settled(&self.task, self.runs);
        }
        Ok(is_settled)
    }

    async fn look(&mut self, view: &mut View<'_>) -> Result<(), Problem> {
        self.task = self.client.get(&format!("/v1/tasks/{}", quoted(&self.task.id))).await?;
        view.update(&self.task, self.runs);
        Ok(())
    }
}

async fn hear_events(client: Arc<Client>, path: String, sender: Sender<Heard>) {
    let lost = match client.stream(&path).await {
        Ok(mut events) => {
            while let Some(data) = events.next().await {
                let Ok(event) = serde_json::from_str::<EventView>(&data) else { continue };
                if sender.send(Heard::Event(Box::new(event))).await.is_err() {
                    return;
                }
            }
            Problem::StopUnderWay
        }
        Err(problem) => problem,
    };
    let _ = sender.send(Heard::Lost(lost)).await;
}

/// A run's log from its beginning; the first `known` of its events were heard before.
async fn hear_words(client: Arc<Client>, run: String, known: usize, sender: Sender<Heard>) {
    if let Ok(mut words) = client.stream(&format!("/v1/runs/{}/log", quoted(&run))).await {
        let mut count = 0;
        while let Some(data) = words.next().await {
            count += 1;
            let Ok(event) = serde_json::from_str::<AgentEvent>(&data) else { continue };
            if count > known && sender.send(Heard::Said { run: run.clone(), event }).await.is_err() {
                return;
            }
        }
    }
    let _ = sender.send(Heard::Silent).await;
}

/// The daemon again, started if need be, and how the task is by now. It may go away again while it starts.
async fn reconnect(context: &Context, task: &str) -> Result<(Client, TaskView), Problem> {
    let until = Instant::now() + RECONNECT;
    loop {
        // One that was told to stop needs a moment to let go of its lock.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let again = async {
            let client = Client::connect(context).await?;
            let task = client.get(&format!("/v1/tasks/{}", quoted(task))).await?;
            Ok((client, task))
        };
        match again.await {
            Err(Problem::DaemonUnreachable { .. } | Problem::DaemonStarting { .. } | Problem::StopUnderWay)
                if Instant::now() < until => {}
            answer => return answer,
        }
    }
}

fn is_fresh(task: &TaskView, runs: &[String]) -> bool {
    task.runs.iter().filter(|r| runs.contains(&r.id)).all(|r| r.state == Status::Pending)
}

fn is_settled(task: &TaskView, runs: &[String]) -> bool {
    task.runs.iter().filter(|r| runs.contains(&r.id)).all(|r| r.settled)
}

fn is_pull(event: &EventView) -> bool {
    event.machine.as_deref() == Some("pull")
}

/// Whether runs may be over with this: looked at once, where each change in between would cost a question.
fn may_settle(event: &EventView) -> bool {
    is_pull(event) || event.kind == "settled" || !matches!(event.kind.as_str(), "intended" | "session_seen" | "noted")
}
