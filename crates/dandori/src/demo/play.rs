//! The play itself: tasks are given through the API as any client would, and everything shown comes from the events.
//!
//! Nothing is left to timing. An agent says in its log that it waits for its cue; only then comes what is to happen
//! while it works (a colleague's push, a cancel), and only after that its cue.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use dandori_api::{Canceled, CreateTask, EventView, FollowUp, RunView, TaskView};
use dandori_domain::pull::PullFact;
use dandori_domain::run::{Fact, Run, Sandbox, Status};
use dandori_domain::{AgentEvent, Problem, Verdict};
use dandori_text::demo::{Job, Scene};
use dandori_text::{demo, ui};
use serde_json::json;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::board::Board;
use super::replay::{News, Replay};
use super::stage::Stage;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out};
use crate::rehearse::WAITING;

const AGENT: &str = "rehearsal";

/// Longer than any step takes on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a state stays on a terminal at least: some last but a millisecond.
const DWELL: Duration = Duration::from_millis(220);

/// The cues, by the names of their files.
const BOTH_AT_WORK: &str = "both-at-work";
const COLLEAGUE_PUSHED: &str = "colleague-pushed";
const NEVER: &str = "never-given";

/// What came of it, for the claims.
#[derive(Default)]
pub(crate) struct Played {
    pub(crate) side_by_side: bool,
    /// The runs in the order they were asked for: typo, README, follow-up, canceled.
    pub(crate) runs: Vec<String>,
    pub(crate) tasks: Vec<String>,
    pub(crate) colleagues_commit: String,
}

enum Heard {
    Event(Box<EventView>),
    Said {
        run: String,
        words: String,
    },
    /// The stream ended: the daemon is gone.
    Lost,
}

pub(crate) struct Play<'a> {
    client: Arc<Client>,
    out: &'a Out,
    stage: &'a Stage,
    board: Board<'a>,
    sender: UnboundedSender<Heard>,
    heard: UnboundedReceiver<Heard>,
    replay: Replay,
    /// Runs and the number of their task.
    cast: HashMap<String, String>,
    /// Who has said that he waits for which cue.
    waiting: HashSet<(String, String)>,
    played: Played,
}

impl<'a> Play<'a> {
    pub(crate) fn new(client: Client, out: &'a Out, stage: &'a Stage, board: Board<'a>) -> Self {
        let (sender, heard) = unbounded_channel();
        let client = Arc::new(client);
        tokio::spawn(hear_events(client.clone(), sender.clone()));
        Self {
            client,
            out,
            stage,
            board,
            sender,
            heard,
            replay: Replay::default(),
            cast: HashMap::new(),
            waiting: HashSet::new(),
            played: Played::default(),
        }
    }

    pub(crate) async fn perform(mut self) -> Result<(Played, Replay), Failed> {
        let typo = self.side_by_side().await?;
        self.overtaken(&typo).await?;
        self.called_off().await?;
        Ok((self.played, self.replay))
    }

    async fn side_by_side(&mut self) -> Result<TaskView, Failed> {
        self.board.begin(Scene::SideBySide);
        let typo = self.give(Job::FixTypo, &self.fix_typo()).await?;
        let readme = self.give(Job::WriteReadme, &self.write_readme()).await?;
        let runs = [run_of(&typo)?, run_of(&readme)?];
        for run in &runs {
            self.until_waiting(run, BOTH_AT_WORK).await?;
        }
        self.played.side_by_side = runs.iter().all(|run| self.status(run) == Some(Status::Running));
        self.stage.give_cue(BOTH_AT_WORK)?;
        self.until_over(&runs, Status::Succeeded).await?;
        Ok(typo)
    }

    async fn overtaken(&mut self, task: &TaskView) -> Result<(), Failed> {
        self.board.begin(Scene::Overtaken);
        let lang = self.out.lang;
        let asked = demo::job(lang, Job::GreetMany);
        self.board.command(&format!("dandori task follow-up {} \"{asked}\" --pr", task.number));
        let request =
            FollowUp { instruction: self.greet_many(), path: None, run: None, pr: Some(true), budget: None, env: None };
        let run: RunView = self.client.post(&format!("/v1/tasks/{}/follow-up", quoted(&task.id)), &request).await?;
        self.enter(&run.id, &task.number, asked);
        self.until_waiting(&run.id, COLLEAGUE_PUSHED).await?;
        let branch = self.facts(&run.id)?.workspace().map(|w| w.branch.clone()).unwrap_or_default();
        let commit = self.stage.colleague_pushes(&branch, lang)?;
        self.board.tell(&demo::colleague_pushed(lang, short(&commit), &branch));
        self.played.colleagues_commit = commit;
        self.stage.give_cue(COLLEAGUE_PUSHED)?;
        self.until_over(&[run.id], Status::Succeeded).await
    }

    async fn called_off(&mut self) -> Result<(), Failed> {
        self.board.begin(Scene::CalledOff);
        let task = self.give(Job::Rewrite, &self.rewrite()).await?;
        let run = run_of(&task)?;
        self.until_waiting(&run, NEVER).await?;
        self.think().await;
        self.board.command(&format!("dandori task cancel {}", task.number));
        let _: Canceled = self.client.post(&format!("/v1/tasks/{}/cancel", quoted(&task.id)), &json!({})).await?;
        self.until_over(&[run], Status::Canceled).await
    }

    /// `dandori run "…" --pr`
    async fn give(&mut self, job: Job, instruction: &str) -> Result<TaskView, Failed> {
        let asked = demo::job(self.out.lang, job);
        self.board.command(&format!("dandori run \"{asked}\" --pr"));
        let request = CreateTask {
            path: self.stage.repo().into_string(),
            instruction: instruction.to_owned(),
            agents: vec![AGENT.to_owned()],
            base: None,
            pr: Some(true),
            budget: None,
            model: None,
            env: None,
        };
        let task: TaskView = self.client.post("/v1/tasks", &request).await?;
        self.played.tasks.push(task.number.clone());
        self.enter(&run_of(&task)?, &task.number, asked);
        Ok(task)
    }

    fn enter(&mut self, run: &str, number: &str, title: &str) {
        self.played.runs.push(run.to_owned());
        self.cast.insert(run.to_owned(), number.to_owned());
        self.board.enter(run, number, title);
    }

    async fn until_waiting(&mut self, run: &str, cue: &str) -> Result<(), Failed> {
        let wanted = (run.to_owned(), cue.to_owned());
        while !self.waiting.contains(&wanted) {
            self.hear().await?;
            if self.facts(run).is_ok_and(Run::is_settled) {
                return Err(self.wrong_end(run));
            }
        }
        Ok(())
    }

    /// Until all of them are settled, each as it should.
    async fn until_over(&mut self, runs: &[String], expected: Status) -> Result<(), Failed> {
        while !runs.iter().all(|run| self.replay.is_over(run)) {
            self.hear().await?;
        }
        for run in runs {
            if self.status(run) != Some(expected) {
                return Err(self.wrong_end(run));
            }
        }
        self.think().await;
        self.board.end();
        Ok(())
    }

    fn wrong_end(&mut self, run: &str) -> Failed {
        self.board.end();
        let state = self.status(run).map_or("?", Status::as_str);
        let number = self.cast.get(run).cloned().unwrap_or_default();
        let why = self.replay.run(run).and_then(|r| r.failure()).map(|f| dandori_text::cause(self.out.lang, f));
        let what = demo::went_wrong(self.out.lang, &number, state);
        Failed::Demo(why.map_or_else(|| what.clone(), |why| format!("{what}: {why}")))
    }

    fn status(&self, run: &str) -> Option<Status> {
        self.replay.run(run).map(Run::status)
    }

    fn facts(&self, run: &str) -> Result<&Run, Problem> {
        self.replay.run(run).ok_or_else(|| Problem::NoSuchRun { text: run.to_owned() })
    }

    /// The next thing that happens.
    async fn hear(&mut self) -> Result<(), Failed> {
        let heard = tokio::time::timeout(PATIENCE, self.heard.recv()).await;
        let Ok(heard) = heard else {
            return Err(Failed::Demo(demo::fell_silent(self.out.lang, PATIENCE.as_secs())));
        };
        match heard.unwrap_or(Heard::Lost) {
            Heard::Lost => Err(Problem::StopUnderWay.into()),
            Heard::Said { run, words } => {
                match words.strip_prefix(WAITING) {
                    Some(cue) => drop(self.waiting.insert((run, cue.to_owned()))),
                    None => self.board.said(&run, &words),
                }
                Ok(())
            }
            Heard::Event(event) => {
                self.take(&event).await;
                Ok(())
            }
        }
    }

    async fn take(&mut self, event: &EventView) {
        let Some(news) = self.replay.take(event) else { return };
        let run = news.run.spec.id.to_string();
        if !self.cast.contains_key(&run) || news.fact.is_none() {
            return;
        }
        let (moved, status) = (news.is_new_status(), news.status());
        if matches!(news.fact, Some(Fact::Launched { .. })) {
            tokio::spawn(hear_log(self.client.clone(), run.clone(), self.sender.clone()));
        }
        let detail = detail(self.out, &news);
        if let Some(kept) = kept(self.out, &news) {
            self.board.keep(&run, &kept);
        }
        match (moved, detail) {
            (true, detail) => self.board.moved(&run, status, &detail.unwrap_or_default()),
            (false, Some(detail)) => self.board.happened(&run, &detail),
            (false, None) => return,
        }
        if self.board.is_live() {
            tokio::time::sleep(DWELL).await;
        }
    }

    /// A moment for whoever watches.
    async fn think(&self) {
        if self.board.is_live() {
            tokio::time::sleep(DWELL * 2).await;
        }
    }

    fn fix_typo(&self) -> String {
        let cue = self.stage.cue(BOTH_AT_WORK);
        self.scene(Job::FixTypo, &format!("wait-for {cue}"), "write greet.sh #!/bin/sh\\necho \"Hello, $1!\"")
    }

    fn write_readme(&self) -> String {
        let cue = self.stage.cue(BOTH_AT_WORK);
        let line = demo::readme(self.out.lang).1;
        self.scene(Job::WriteReadme, &format!("wait-for {cue}"), &format!("append README.md \\n{line}"))
    }

    fn greet_many(&self) -> String {
        let cue = self.stage.cue(COLLEAGUE_PUSHED);
        let script = "#!/bin/sh\\nfor name in \"$@\"; do\\n  echo \"Hello, $name!\"\\ndone";
        self.scene(Job::GreetMany, &format!("wait-for {cue}"), &format!("write greet.sh {script}"))
    }

    fn rewrite(&self) -> String {
        let cue = self.stage.cue(NEVER);
        self.scene(Job::Rewrite, "write greet.pl print \"Hello, $ARGV[0]!\\n", &format!("wait-for {cue}"))
    }

    /// An instruction with the lines the agent plays, paced for whoever watches.
    fn scene(&self, job: Job, first: &str, then: &str) -> String {
        let lang = self.out.lang;
        let (before, after) = demo::lines(lang, job);
        let pause = if self.board.is_live() { 600 } else { 0 };
        format!(
            "{}\n\nrehearse: say {before}\nrehearse: pause {pause}\nrehearse: {first}\nrehearse: pause {pause}\n\
             rehearse: {then}\nrehearse: pause {pause}\nrehearse: say {after}\n",
            demo::job(lang, job)
        )
    }
}

/// The facts as they come, from the first on.
async fn hear_events(client: Arc<Client>, sender: UnboundedSender<Heard>) {
    if let Ok(mut events) = client.stream("/v1/events?after=0").await {
        while let Some(data) = events.next().await {
            if let Ok(event) = serde_json::from_str(&data)
                && sender.send(Heard::Event(Box::new(event))).is_err()
            {
                return;
            }
        }
    }
    let _ = sender.send(Heard::Lost);
}

/// What one agent says while it works.
async fn hear_log(client: Arc<Client>, run: String, sender: UnboundedSender<Heard>) {
    let Ok(mut log) = client.stream(&format!("/v1/runs/{}/log", quoted(&run))).await else { return };
    while let Some(data) = log.next().await {
        if let Ok(AgentEvent::Line { text }) = serde_json::from_str(&data) {
            let _ = sender.send(Heard::Said { run: run.clone(), words: text.trim().to_owned() });
        }
    }
}

fn run_of(task: &TaskView) -> Result<String, Problem> {
    let run = task.runs.first().map(|run| run.id.clone());
    run.ok_or_else(|| Problem::NoSuchRun { text: task.number.clone() })
}

fn short(oid: &str) -> &str {
    oid.get(..7).unwrap_or(oid)
}

/// A fact in a few words, for the moving line.
fn detail(out: &Out, news: &News<'_>) -> Option<String> {
    let lang = out.lang;
    let branch = news.run.branch().unwrap_or_default();
    match &news.pull {
        Some(PullFact::PullOpened { link } | PullFact::PullUpdated { link }) => {
            return Some(demo::pull_opened(lang, link.number));
        }
        Some(PullFact::PullFailed { problem }) => {
            return Some(ui::pull_failed(lang, problem, news.run.spec.id.key().as_str()));
        }
        _ => {}
    }
    Some(match news.fact.as_ref()? {
        Fact::Launched { sandbox: Sandbox::None { .. }, .. } => demo::at_work(lang, branch, None),
        Fact::Launched { sandbox, .. } => {
            demo::at_work(lang, branch, Some(&dandori_text::sandbox::layers(lang, sandbox)))
        }
        Fact::AgentEnded { verdict: Verdict::Done { summary }, .. } => format!("“{summary}”"),
        Fact::Staged { changes: Some(c), .. } => ui::changes(lang, c.files, c.insertions, c.deletions),
        Fact::Staged { changes: None, .. } => ui::no_changes(lang).to_owned(),
        Fact::Committed { oid } => demo::committed(lang, short(oid.as_str())),
        Fact::Rebased { onto, .. } => demo::rebased(lang, short(onto.as_str())),
        Fact::Pushed { oid } => demo::on_origin(lang, short(oid.as_str()), branch),
        Fact::CancelRequested => demo::canceling(lang).to_owned(),
        Fact::Preserved { reference, .. } => ui::preserved(lang, reference),
        Fact::Removed { .. } => demo::removed(lang).to_owned(),
        Fact::Failed { failure } => dandori_text::cause(lang, failure),
        _ => return None,
    })
}

/// What of it stays on the screen when the line has come to rest.
fn kept(out: &Out, news: &News<'_>) -> Option<String> {
    let lang = out.lang;
    let branch = news.run.branch().unwrap_or_default();
    match &news.pull {
        Some(PullFact::PullOpened { link } | PullFact::PullUpdated { link }) => {
            return Some(demo::pull_number(lang, link.number));
        }
        Some(PullFact::PullFailed { .. }) => return detail(out, news),
        _ => {}
    }
    match news.fact.as_ref()? {
        Fact::Rebased { onto, .. } => Some(demo::was_rebased(lang, short(onto.as_str()))),
        Fact::Pushed { oid } => Some(ui::pushed(lang, branch, short(oid.as_str()))),
        Fact::Preserved { reference, .. } => Some(demo::kept(lang, reference)),
        Fact::Staged { .. } | Fact::Removed { .. } | Fact::Failed { .. } => detail(out, news),
        _ => None,
    }
}
