//! Waiting for runs: every state is shown as it comes; Ctrl-C stops the waiting, not the work.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Args;
use dandori_api::{EventView, RunView, TaskView};
use dandori_domain::Problem;
use dandori_domain::run::{Fact, Status};
use dandori_text::{table, ui};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{Context, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, dim, padded_state};

/// How often the place in the queue is asked for.
const QUEUE_LOOK: Duration = Duration::from_secs(1);

/// How long a daemon that does not come back is waited for.
const RECONNECT: Duration = Duration::from_secs(30);

#[derive(Args)]
pub(crate) struct WaitArgs {
    /// Do not wait for the end
    #[arg(long, short = 'd')]
    detach: bool,
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
            return until_settled(client, task, runs, context).await;
        }
        let out = &context.out;
        out.object(&told::object(out, &task, &among(&task, &runs)));
        out.line(ui::detached(out.lang, &task.number));
        Ok(ExitCode::SUCCESS)
    }
}

fn among<'t>(task: &'t TaskView, runs: &[String]) -> Vec<&'t RunView> {
    task.runs.iter().filter(|r| runs.contains(&r.id)).collect()
}

/// Waits for these runs of a task to settle, shows what came of them, and gives the exit code.
pub(crate) async fn until_settled(
    client: Client,
    task: TaskView,
    runs: Vec<String>,
    context: &Context,
) -> Result<ExitCode, Failed> {
    let number = task.number.clone();
    tokio::select! {
        ended = follow(client, task, &runs, context) => {
            let task = ended?;
            let runs = among(&task, &runs);
            context.out.object(&told::object(&context.out, &task, &runs));
            for run in &runs {
                told::show(&context.out, run);
            }
            // A pull request that was asked for and could not be opened is not what was asked for.
            let ok = runs.iter().all(|r| r.state == Status::Succeeded && r.pr_failure.is_none());
            Ok(ExitCode::from(u8::from(!ok)))
        }
        _ = tokio::signal::ctrl_c() => {
            context.out.say(ui::interrupted(context.out.lang, &number));
            Err(Failed::Quiet(130))
        }
    }
}

async fn follow(
    mut client: Client,
    mut task: TaskView,
    runs: &[String],
    context: &Context,
) -> Result<TaskView, Problem> {
    let mut shown = Shown::new(context);
    let mut after: Option<i64> = None;
    // Of runs that only begin, every state is told, however short. Of others the past is not told again.
    let is_fresh = is_fresh(&task, runs);
    if is_fresh {
        // A run that has only just been asked for is not waiting yet.
        task.runs.iter_mut().for_each(|run| run.place = None);
    }
    shown.update(&task, runs);
    loop {
        if !is_fresh && is_settled(&task, runs) {
            return Ok(task);
        }
        // From the beginning of the task's events: what came between the look and the listening is not missed.
        let path = format!("/v1/events?task={}&after={}", quoted(&task.id), after.unwrap_or(0));
        let followed = async {
            let mut events = client.stream(&path).await?;
            loop {
                let data = match tokio::time::timeout(QUEUE_LOOK, events.next()).await {
                    Ok(Some(data)) => data,
                    Ok(None) => break,
                    // Nothing happens to a run that waits, but its place in the queue changes.
                    Err(_) if shown.any_pending() => {
                        task = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
                        shown.update(&task, runs);
                        continue;
                    }
                    Err(_) => continue,
                };
                let Ok(event) = serde_json::from_str::<EventView>(&data) else { continue };
                after = Some(event.seq);
                // A pull request may pass from one run of the task to another.
                let is_ours = is_pull(&event) || event.run.as_ref().is_some_and(|run| runs.contains(run));
                if !is_ours {
                    continue;
                }
                if is_fresh {
                    shown.passed(&event);
                }
                if !may_settle(&event) {
                    continue;
                }
                task = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
                if is_settled(&task, runs) {
                    shown.update(&task, runs);
                    return Ok(());
                }
                if !is_fresh {
                    shown.update(&task, runs);
                }
            }
            Err(Problem::StopUnderWay)
        }
        .await;
        match followed {
            Ok(()) => return Ok(task),
            Err(Problem::DaemonUnreachable { .. } | Problem::StopUnderWay) => {
                shown.say(ui::reconnecting(context.out.lang));
                (client, task) = reconnect(context, &task.id).await?;
                // The last event may have been the last thing that daemon said: no other will come.
                if is_settled(&task, runs) {
                    shown.update(&task, runs);
                    return Ok(task);
                }
            }
            Err(problem) => return Err(problem),
        }
    }
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

/// What is on the screen: moving lines on a terminal, a line per change in a pipe.
struct Shown<'c> {
    context: &'c Context,
    bars: Option<MultiProgress>,
    rows: HashMap<String, Row>,
    noted: Vec<String>,
}

struct Row {
    key: String,
    agent: String,
    bar: Option<ProgressBar>,
    last: String,
    state: Option<Status>,
}

impl<'c> Shown<'c> {
    fn new(context: &'c Context) -> Self {
        let bars = context.out.live.then(MultiProgress::new);
        Self { context, bars, rows: HashMap::new(), noted: Vec::new() }
    }

    /// How the runs are by now.
    fn update(&mut self, task: &TaskView, runs: &[String]) {
        for run in task.runs.iter().filter(|r| runs.contains(&r.id)) {
            for note in told::notes(&self.context.out, run) {
                self.note(note);
            }
            let bars = &self.bars;
            self.rows.entry(run.id.clone()).or_insert_with(|| Row {
                key: run.key.clone(),
                agent: table::fit(&run.agent, 40),
                bar: bars.as_ref().map(new_bar),
                last: String::new(),
                state: None,
            });
            let place = told::waiting(&self.context.out, run).unwrap_or_default();
            self.show(&run.id, run.state, &place);
            if let Some(bar) = self.rows.get(&run.id).and_then(|row| row.bar.as_ref()).filter(|_| run.settled) {
                bar.finish_and_clear();
            }
        }
    }

    /// What an event says of a run: a state it came to, which it may have left since, or something to know.
    fn passed(&mut self, event: &EventView) {
        if event.machine.as_deref() != Some("run") {
            return;
        }
        if let Ok(Fact::Noted { note }) = serde_json::from_value(event.body.clone()) {
            self.note(dandori_text::note(self.context.out.lang, &note));
        }
        let state = event.status.as_ref().and_then(|name| Status::ALL.into_iter().find(|s| s.as_str() == name));
        if let (Some(run), Some(state)) = (&event.run, state) {
            self.show(run, state, "");
        }
    }

    /// Whether a run may be in the queue.
    fn any_pending(&self) -> bool {
        self.rows.values().any(|row| row.state == Some(Status::Pending))
    }

    fn show(&mut self, run: &str, state: Status, place: &str) {
        let out = &self.context.out;
        let Some(row) = self.rows.get_mut(run) else { return };
        let line = format!("{}  {}  {}", row.key, padded_state(state), row.agent);
        let whole = if place.is_empty() { line.clone() } else { format!("{line}  {}", dim(place)) };
        // The place in the queue is no state of its own: the same state without it says nothing new.
        if row.last == whole || (place.is_empty() && row.last.starts_with(&line)) {
            return;
        }
        match &row.bar {
            Some(bar) => bar.set_message(Out::coloured(&whole)),
            None => out.say(&whole),
        }
        row.last = whole;
        row.state = Some(state);
    }

    /// Each note once.
    fn note(&mut self, note: String) {
        if self.noted.contains(&note) {
            return;
        }
        let out = &self.context.out;
        match &self.bars {
            Some(bars) => bars.suspend(|| out.note(&note)),
            None => out.note(&note),
        }
        self.noted.push(note);
    }

    fn say(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| self.context.out.say(text)),
            None => self.context.out.say(text),
        }
    }
}

fn new_bar(bars: &MultiProgress) -> ProgressBar {
    let bar = bars.add(ProgressBar::new_spinner());
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        for bar in self.rows.values().filter_map(|row| row.bar.as_ref()) {
            bar.finish_and_clear();
        }
    }
}
