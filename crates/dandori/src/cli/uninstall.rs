//! `dandori uninstall`: hooks, worktrees, daemon and state go; whatever was work is in the repositories.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use dandori_api::leave::{Leave, LeftRepositoryView, LeftView, LeftWorktreeView, UninstallView};
use dandori_api::{Health, TaskList};
use dandori_config::Config;
use dandori_domain::Problem;
use dandori_text::lists::Mood;
use dandori_text::uninstall as text;

use super::init::everywhere;
use super::{Context, daemon_stop};
use crate::client::Client;
use crate::out::{Failed, bold};
use crate::person;

/// How often and after which pause a folder is removed again that something was still written to.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(crate) struct UninstallArgs {
    /// Only show what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Keep tasks, logs and worktrees; only the hooks and the daemon go
    #[arg(long)]
    keep_state: bool,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
}

pub(crate) async fn run(args: UninstallArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    if !args.dry_run {
        person::refuse_agents(context)?;
    }
    let deeds = everywhere::all(context)?;
    let hooks: Vec<String> = deeds.iter().map(|deed| deed.path.to_string()).collect();
    let goes = !args.keep_state && context.layout.root().exists();
    let left = if goes { look(context).await? } else { LeftView { repositories: Vec::new() } };
    let bytes = goes.then(|| dandori_host::machine::disk_use(context.layout.root(), 5_000_000).ok()).flatten();
    let bytes = bytes.map(|used| used.bytes);
    let mut view = UninstallView {
        dry_run: args.dry_run,
        hooks,
        repositories: left.repositories,
        state: goes.then(|| context.layout.root().to_string()),
        bytes,
        remaining: remaining(context, goes),
    };
    if view.hooks.is_empty() && !goes {
        out.object(&view);
        out.line(text::nothing(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes || args.dry_run {
        show(context, &view, text::plan(out.lang), Mood::Would);
    }
    if args.dry_run {
        out.object(&view);
        return Ok(ExitCode::SUCCESS);
    }
    if !args.yes {
        person::agree(context, text::question(out.lang), "dandori uninstall --yes")?;
    }
    // The hooks first: none is left that asks for what is not there any more.
    deeds.iter().try_for_each(super::init::files::Deed::carry_out)?;
    if goes {
        view.repositories = leave(context, false).await?.repositories;
        refuse_leftovers(context, &view.repositories)?;
    }
    daemon_stop::stop(context).await?;
    if goes {
        let root = context.layout.root();
        let io = |e: std::io::Error| Problem::Io { path: root.to_owned(), reason: e.to_string() };
        remove_all(root.as_std_path()).map_err(io)?;
    }
    out.object(&view);
    for repository in &view.repositories {
        let there = out.path(&repository.repository);
        for kept in &repository.worktrees {
            if let Some(reference) = &kept.preserved {
                out.prose(0, text::saved(out.lang, &there, &kept.branch, reference));
            }
        }
    }
    out.line(text::done(out.lang));
    if args.yes {
        show(context, &view, text::removed(out.lang), Mood::Did);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a program of a run that has just ended still writes may come in between.
fn remove_all(root: &std::path::Path) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        match std::fs::remove_dir_all(root) {
            Err(e) if e.kind() == std::io::ErrorKind::DirectoryNotEmpty && tries < TRIES => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}

/// Nothing may be at work, and everything has to be able to go.
async fn look(context: &Context) -> Result<LeftView, Failed> {
    let client = Client::connect(context).await?;
    let health: Health = client.get("/v1/health").await?;
    if health.live_runs > 0 || health.waiting_runs > 0 {
        let open: TaskList = client.get("/v1/tasks?limit=1000&open=true").await?;
        let numbers: Vec<String> = open.tasks.into_iter().map(|task| task.number).collect();
        return Err(Failed::Refused(text::still_at_work(context.out.lang, &numbers)));
    }
    let left = leave(context, true).await?;
    refuse_leftovers(context, &left.repositories)?;
    Ok(left)
}

async fn leave(context: &Context, dry_run: bool) -> Result<LeftView, Problem> {
    Client::connect(context).await?.post("/v1/leave", &Leave { dry_run }).await
}

fn refuse_leftovers(context: &Context, repositories: &[LeftRepositoryView]) -> Result<(), Failed> {
    let lang = context.out.lang;
    let stuck = repositories.iter().flat_map(|r| &r.worktrees).filter_map(|worktree| {
        let problem = dandori_text::problem(lang, worktree.problem.as_ref()?);
        Some(format!("{}: {}", worktree.path, problem.what))
    });
    let stuck: Vec<String> = stuck.collect();
    if stuck.is_empty() { Ok(()) } else { Err(Failed::Refused(text::left(lang, &stuck))) }
}

/// What is still there for the user afterwards.
fn remaining(context: &Context, goes: bool) -> Vec<String> {
    let lang = context.out.lang;
    let config = dandori_host::layout::user_config(&context.env);
    let mut remaining = vec![text::repositories_stay(lang).to_owned()];
    if !goes && context.layout.root().exists() {
        remaining.push(text::state_stays(lang, &context.out.path(context.layout.root().as_str())));
    }
    if config.exists() {
        remaining.push(text::config_stays(lang, &context.out.path(config.as_str())));
    }
    if let Some(store) = Config::load(&config, None).ok().and_then(|config| config.store) {
        let host = store.rsplit('@').next().unwrap_or_default().to_owned();
        remaining.push(text::database_stays(lang, &host));
    }
    if let Ok(program) = std::env::current_exe() {
        remaining.push(text::program_stays(lang, &context.out.path(&program.to_string_lossy())));
    }
    remaining
}

fn show(context: &Context, view: &UninstallView, title: &str, mood: Mood) {
    let (out, lang) = (&context.out, context.out.lang);
    out.line(bold(title));
    for path in &view.hooks {
        out.prose(2, text::hooks_in(lang, &out.path(path)));
    }
    for repository in view.repositories.iter().filter(|r| !r.worktrees.is_empty()) {
        let is_unsaved = |w: &&LeftWorktreeView| w.dirty != Some(0) || w.unpushed != Some(0);
        // What was preserved has been told by then.
        let unsaved = match mood {
            Mood::Would => repository.worktrees.iter().filter(is_unsaved).count(),
            Mood::Did => 0,
        };
        out.prose(2, text::worktrees(lang, &out.path(&repository.repository), repository.worktrees.len(), unsaved));
    }
    if let (Some(state), Some(bytes)) = (&view.state, view.bytes) {
        out.prose(2, text::state(lang, &out.path(state), bytes));
    }
    out.line(bold(text::stays(lang)));
    for one in &view.remaining {
        out.prose(2, one);
    }
}
