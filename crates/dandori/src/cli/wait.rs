//! Waiting for runs: every state is shown as it comes; Ctrl-C stops the waiting, not the work.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use dandori_api::{EventView, RunView, TaskView};
use dandori_domain::Problem;
use dandori_text::ui;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{Context, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, state};

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
            let runs: Vec<&RunView> = task.runs.iter().filter(|r| runs.contains(&r.id)).collect();
            context.out.object(&told::object(&context.out, &task, &runs));
            for run in &runs {
                told::show(&context.out, run);
            }
            let ok = runs.iter().all(|r| r.state == "SUCCEEDED");
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
    loop {
        shown.update(&task, runs);
        if is_settled(&task, runs) {
            return Ok(task);
        }
        // From the beginning of the task's events: what came between the look and the listening is not missed.
        let path = format!("/v1/events?task={}&after={}", quoted(&task.id), after.unwrap_or(0));
        let followed = async {
            let mut events = client.stream(&path).await?;
            while let Some(data) = events.next().await {
                let Ok(event) = serde_json::from_str::<EventView>(&data) else { continue };
                after = Some(event.seq);
                if !changes_status(&event.kind) {
                    continue;
                }
                task = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
                shown.update(&task, runs);
                if is_settled(&task, runs) {
                    return Ok(());
                }
            }
            Err(Problem::StopUnderWay)
        }
        .await;
        match followed {
            Ok(()) => return Ok(task),
            Err(Problem::DaemonUnreachable { .. } | Problem::StopUnderWay) => {
                shown.say(ui::reconnecting(context.out.lang));
                // A daemon that was told to stop needs a moment to let go of its lock.
                tokio::time::sleep(Duration::from_millis(200)).await;
                client = Client::connect(context).await?;
                task = client.get(&format!("/v1/tasks/{}", quoted(&task.id))).await?;
            }
            Err(problem) => return Err(problem),
        }
    }
}

fn is_settled(task: &TaskView, runs: &[String]) -> bool {
    task.runs.iter().filter(|r| runs.contains(&r.id)).all(|r| r.settled)
}

fn changes_status(kind: &str) -> bool {
    !matches!(kind, "intended" | "session_seen" | "noted")
}

/// What is on the screen: moving lines on a terminal, a line per change in a pipe.
struct Shown<'c> {
    context: &'c Context,
    bars: Option<MultiProgress>,
    by_run: HashMap<String, (Option<ProgressBar>, String)>,
    noted: Vec<String>,
}

impl<'c> Shown<'c> {
    fn new(context: &'c Context) -> Self {
        let bars = context.out.live.then(MultiProgress::new);
        Self { context, bars, by_run: HashMap::new(), noted: Vec::new() }
    }

    fn update(&mut self, task: &TaskView, runs: &[String]) {
        for run in task.runs.iter().filter(|r| runs.contains(&r.id)) {
            self.update_run(run);
        }
    }

    fn update_run(&mut self, run: &RunView) {
        let out = &self.context.out;
        for note in told::notes(out, run) {
            if !self.noted.contains(&note) {
                self.noted.push(note.clone());
                match &self.bars {
                    Some(bars) => bars.suspend(|| out.note(&note)),
                    None => out.note(&note),
                }
            }
        }
        let place = run.place.map(|p| ui::waiting(out.lang, p)).unwrap_or_default();
        let line = format!("{} {} {} {place}", run.key, run.agent, state(&run.state));
        let line = line.trim_end().to_owned();
        let bars = &self.bars;
        let (bar, last) = self.by_run.entry(run.id.clone()).or_insert_with(|| {
            let bar = bars.as_ref().map(|bars| {
                let bar = bars.add(ProgressBar::new_spinner());
                bar.set_style(
                    ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}")
                        .unwrap_or_else(|_| ProgressStyle::default_spinner()),
                );
                bar.enable_steady_tick(Duration::from_millis(120));
                bar
            });
            (bar, String::new())
        });
        if *last == line {
            return;
        }
        last.clone_from(&line);
        match bar {
            Some(bar) if run.settled => bar.finish_and_clear(),
            Some(bar) => bar.set_message(line),
            None => out.say(line),
        }
    }

    fn say(&self, text: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| self.context.out.say(text)),
            None => self.context.out.say(text),
        }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        for (bar, _) in self.by_run.values() {
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        }
    }
}
