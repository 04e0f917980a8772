//! `dandori demo`: the whole flow on a repository of its own, without an account.
//!
//! It uses dandori as everybody does: a daemon of its own, tasks over the API, states from the event log. At the end
//! it looks up whether what it has shown is so, and says no when it is not.

mod board;
mod claims;
mod play;
mod replay;
mod stage;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use dandori_api::{DemoClaim, DemoReport, RunView, TaskList, TaskView};
use dandori_domain::Problem;
use dandori_engine::Layout;
use dandori_text::demo::{self, Try};
use dandori_text::table;
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use self::board::Board;
use self::claims::{Asked, Checked};
use self::play::{Play, Played};
use self::replay::Replay;
use self::stage::Stage;
use crate::cli::{Context, daemon_stop, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, dim, good};

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// New or empty folder to use (default: a new one in the temporary folder)
    #[arg(long, value_name = "PATH")]
    dir: Option<Utf8PathBuf>,
}

/// How long canceled runs get to end before the daemon is stopped all the same.
const FAREWELL: Duration = Duration::from_secs(15);

/// With less room for commands, what they are good for stands above each.
const LEAST_COLUMN: usize = 30;

pub(crate) async fn run(args: DemoArgs, context: &Context) -> Result<ExitCode, Failed> {
    let begun = Instant::now();
    let out = &context.out;
    // From here on a signal is ours to answer: nothing is left running behind it.
    let mut signals = Signals::new()?;
    let root = Stage::place(args.dir.as_deref(), &context.env, out.lang)?;
    let board = Board::new(out);
    board.open(root.as_str());
    let stage = Stage::build(root, &context.env, out.lang)?;
    let Some(layout) = Layout::from_env(stage.env()) else {
        return Err(Problem::Internal { reason: "the stage has no state root".into() }.into());
    };
    let own = Context { out: out.clone(), env: stage.env().clone(), layout, cwd: context.cwd.clone() };
    let shown = async {
        let client = Client::connect(&own).await?;
        let (played, replay) = Play::new(client, out, &stage, board).perform().await?;
        let asked = Asked::of(&Client::connect(&own).await?, &stage).await?;
        Ok::<_, Failed>((played, replay, asked))
    };
    let shown = tokio::select! {
        shown = shown => shown,
        code = signals.next() => {
            clear_away(&own).await;
            out.say(demo::interrupted(out.lang, stage.root().as_str()));
            return Err(Failed::Quiet(code));
        }
    };
    match &shown {
        Ok(_) => {
            daemon_stop::stop(&own).await?;
        }
        Err(_) => clear_away(&own).await,
    }
    let checked = shown.and_then(|(played, replay, asked)| {
        let checked = claims::check(&stage, &played, &asked, &replay)?;
        Ok((played, replay, asked, checked))
    });
    let (played, replay, asked, checked) = checked.inspect_err(|_| {
        out.say(demo::look_there(out.lang, stage.root().as_str(), own.layout.log().as_str()));
    })?;
    let ok = checked.iter().all(|c| c.instead.is_none());
    out.object(&object(out, &stage, &asked, &checked, ok));
    let board = Board::new(out);
    show_claims(&board, out, &checked);
    show_history(&board, out, &stage)?;
    if !ok {
        out.say(demo::look_there(out.lang, stage.root().as_str(), own.layout.log().as_str()));
        return Err(Failed::Demo(demo::claim_failed(out.lang).to_owned()));
    }
    show_next(&board, context, &stage, &played, &replay);
    board.line("");
    board.line(&demo::took(out.lang, begun.elapsed().as_secs_f64()));
    Ok(ExitCode::SUCCESS)
}

/// Ends whatever is under way, then the daemon. Says nothing: there is an error or a signal to be told of already.
async fn clear_away(own: &Context) {
    let Ok(Some(client)) = Client::reach(own).await else { return };
    let until = Instant::now() + FAREWELL;
    loop {
        let Ok(open) = client.get::<TaskList>("/v1/tasks?open=true").await else { break };
        if open.tasks.is_empty() || Instant::now() > until {
            break;
        }
        for task in open.tasks {
            // Refused to those that are past it: they end by themselves.
            let _ = client.post::<Value>(&format!("/v1/tasks/{}/cancel", quoted(&task.id)), &json!({})).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let _ = daemon_stop::stop(own).await;
}

fn object(out: &Out, stage: &Stage, asked: &Asked, checked: &[Checked], ok: bool) -> DemoReport {
    let task = |t: &TaskView| told::object(t, &t.runs.iter().collect::<Vec<&RunView>>());
    let claim = |c: &Checked| DemoClaim {
        claim: demo::claim(out.lang, &c.claim),
        ok: c.instead.is_none(),
        found: c.instead.clone(),
    };
    DemoReport {
        ok,
        dir: stage.root().to_string(),
        repository: stage.repo().to_string(),
        origin: stage.origin().to_string(),
        state_dir: stage.root().join("state").to_string(),
        tasks: asked.tasks.iter().map(task).collect(),
        pulls: asked.pulls.clone(),
        claims: checked.iter().map(claim).collect(),
    }
}

fn show_claims(board: &Board<'_>, out: &Out, checked: &[Checked]) {
    board.heading(demo::claims_head(out.lang));
    for c in checked {
        let text = demo::claim(out.lang, &c.claim);
        match &c.instead {
            None => board.item(&good("✓"), &text),
            Some(found) => board.item("✗", &format!("{text}: {found}")),
        }
    }
}

fn show_history(board: &Board<'_>, out: &Out, stage: &Stage) -> Result<(), Problem> {
    board.heading(demo::history_head(out.lang));
    let refs = ["--branches", "--glob=refs/dandori/preserved/*"];
    let graph = [
        "log",
        "--graph",
        "--format=%h %s%d",
        "--decorate=short",
        "--decorate-refs=refs/heads",
        "--decorate-refs=HEAD",
    ];
    for line in stage.git(&stage.repo(), &[&graph[..], &refs[..]].concat())?.lines() {
        board.quoted(line);
    }
    Ok(())
}

fn show_next(board: &Board<'_>, context: &Context, stage: &Stage, played: &Played, replay: &Replay) {
    let lang = context.out.lang;
    board.heading(demo::next_head(lang));
    board.line(&format!("   cd {}", stage.repo()));
    board.line(&format!("   export DANDORI_STATE_DIR={}", stage.root().join("state")));
    if dandori_host::layout::user_config(&context.env).exists() {
        board.line(&format!("   export DANDORI_CONFIG={}", stage.config()));
    }
    if let Some(own) = not_on_path(context) {
        board.line(&format!("   alias dandori={own}"));
    }
    let task = played.tasks.first().map_or("T-1", String::as_str);
    let canceled = played.runs.last().and_then(|run| replay.run(run)).map(|r| r.spec.id.key().to_string());
    let commands = [
        ("git log --all --graph --oneline".to_owned(), Try::Graph),
        ("dandori task list".to_owned(), Try::List),
        (format!("dandori task log {task}"), Try::Log),
        ("dandori pr show 1".to_owned(), Try::Pull),
        (format!("dandori worktree restore {}", canceled.unwrap_or_default()), Try::Restore),
        (format!("dandori daemon stop; rm -rf {}", stage.root()), Try::Delete),
    ];
    let commands = commands.map(|(command, what)| (command, format!("# {}", demo::purpose(lang, what))));
    let longest = commands.iter().map(|(_, purpose)| table::width(purpose)).max().unwrap_or(0);
    // Beside it where there is room: one long command is no reason to put all of them below each other.
    let room = Out::width().saturating_sub(longest + 5);
    let column = commands.iter().map(|(command, _)| command.len()).filter(|cells| *cells <= room).max().unwrap_or(0);
    for (command, purpose) in commands {
        if command.len() <= column && column >= LEAST_COLUMN {
            board.line(&format!("   {command:<column$}  {}", dim(&purpose)));
        } else {
            board.line(&format!("   {}", dim(&purpose)));
            board.line(&format!("   {command}"));
        }
    }
}

/// This program's path, when the word `dandori` would not find it.
fn not_on_path(context: &Context) -> Option<Utf8PathBuf> {
    let own = Utf8PathBuf::try_from(std::env::current_exe().ok()?).ok()?;
    let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
    let found = context.env.find_program("dandori").and_then(|path| real(&path));
    (found != real(&own)).then_some(own)
}

/// The signals that end a command, with their exit codes.
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self, Problem> {
        let trouble = |e: std::io::Error| Problem::Internal { reason: e.to_string() };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).map_err(trouble)?,
            terminate: signal(SignalKind::terminate()).map_err(trouble)?,
        })
    }

    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.interrupt.recv() => 130,
            _ = self.terminate.recv() => 143,
        }
    }
}
