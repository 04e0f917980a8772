//! Completion of what is typed, from live data: tasks, runs, worktrees and pull requests from the daemon, branches from git, agents
//! and keys from the configuration.
//!
//! A shell asks while somebody waits with a finger on the key: nothing is started for it, nothing is said when something is wrong,
//! and whoever does not answer at once is not waited for. Which argument takes what follows from its name, so that a new verb
//! completes like the others.

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use dandori_api::{Names, NeedList, PullList, TaskView};
use dandori_config::Config;
use dandori_engine::Layout;
use dandori_git::{Git, Repository};
use dandori_host::Env;
use dandori_text::Lang;
use serde::de::DeserializeOwned;

use crate::cli::Context;
use crate::client::{Client, in_path, quoted};
use crate::localise;
use crate::out::Out;

/// What a shell sets when it asks.
const VARIABLE: &str = "DANDORI_COMPLETE";
/// Longer than that nobody wants to wait for a list.
const PATIENCE: Duration = Duration::from_millis(400);

/// The answer to a shell that asks; `None` when none does.
pub(crate) fn answer(env: &Env, lang: Lang, command: fn() -> Command) -> Option<ExitCode> {
    env.text(VARIABLE)?;
    let factory = move || with_completers(localise::command(command(), lang), &mut Vec::new());
    let here = std::env::current_dir().ok();
    // What is wrong with the line is told when it is run, not while it is typed.
    let _ = CompleteEnv::with_factory(factory)
        .var(VARIABLE)
        .bin("dandori")
        .completer("dandori")
        .try_complete(std::env::args_os().collect::<Vec<OsString>>(), here.as_deref());
    Some(ExitCode::SUCCESS)
}

/// What a shell has to read once, so that it asks.
pub(crate) fn script(shell: &str) -> Option<String> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    shells.completer(shell)?.write_registration(VARIABLE, "dandori", "dandori", "dandori", &mut script).ok()?;
    String::from_utf8(script).ok()
}

fn with_completers(command: Command, path: &mut Vec<String>) -> Command {
    let here = path.clone();
    let command = command.mut_args(|arg| match completer(&here, &arg) {
        Some(completer) => arg.add(completer),
        None => arg,
    });
    let subs: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    subs.into_iter().fold(command, |command, name| {
        path.push(name.clone());
        let command = command.mut_subcommand(&name, |sub| with_completers(sub, path));
        path.pop();
        command
    })
}

fn completer(path: &[String], arg: &Arg) -> Option<ArgValueCompleter> {
    let group = path.first().map(String::as_str);
    Some(match (group, arg.get_id().as_str()) {
        (Some("task" | "pr"), "task" | "tasks" | "of") => ArgValueCompleter::new(tasks_and_runs),
        (Some("task"), "run") if path.get(1).is_some_and(|verb| verb != "log") => ArgValueCompleter::new(runs_of_task),
        (Some("task"), "run" | "runs") => ArgValueCompleter::new(runs_and_agents),
        (Some("run" | "task"), "agent" | "agents") => ArgValueCompleter::new(agents),
        (_, "base") => ArgValueCompleter::new(bases),
        (_, "branch") => ArgValueCompleter::new(branches),
        (Some("worktree"), "from") => ArgValueCompleter::new(preserved),
        (Some("worktree"), "worktree") => ArgValueCompleter::new(worktrees),
        (Some("inbox"), "id" | "ids") => ArgValueCompleter::new(needs),
        (Some("pr"), "pull")
            if path.get(1).is_some_and(|verb| ["merge", "update", "close"].contains(&verb.as_str())) =>
        {
            ArgValueCompleter::new(open_pulls)
        }
        (Some("pr"), "number" | "pull") => ArgValueCompleter::new(pulls),
        (Some("state"), "key") => ArgValueCompleter::new(state_keys),
        (Some("config"), "key") => ArgValueCompleter::new(config_keys),
        _ => return None,
    })
}

fn candidates(names: impl IntoIterator<Item = (String, String)>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let begins = |name: &str| name.get(..current.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(&current));
    let candidate = |(name, about): (String, String)| {
        CompletionCandidate::new(name).help((!about.is_empty()).then(|| about.into()))
    };
    names.into_iter().filter(|(name, _)| begins(name)).map(candidate).collect()
}

fn tasks_and_runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    // As it was begun: somebody who types numbers goes on with numbers.
    let sign = if text.starts_with('#') { "#" } else { "" };
    let is_number = text.starts_with('#') || text.starts_with(|c: char| c.is_ascii_digit());
    let bare = |(name, about): (String, String)| match name.strip_prefix("T-") {
        Some(number) if is_number => (format!("{sign}{number}"), about),
        _ => (name, about),
    };
    // The key of a run is for whoever has begun to type it.
    let kinds = if text.is_empty() { "tasks" } else { "tasks,runs" };
    candidates(from_daemon(kinds, &text).into_iter().map(bare), current)
}

fn runs_and_agents(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let mut found = candidates(from_daemon("runs,tasks", &text), current);
    found.extend(agents(current));
    found
}

fn worktrees(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(from_daemon("worktrees", &current.to_string_lossy()), current)
}

fn pulls(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let sign = if text.starts_with('#') { "#" } else { "" };
    let signed = from_daemon("pulls", &text).into_iter().map(|(name, about)| (format!("{sign}{name}"), about));
    candidates(signed, current)
}

/// Those of the task that stands before: `task pick T-14 `.
fn runs_of_task(current: &OsStr) -> Vec<CompletionCandidate> {
    let words: Vec<String> = std::env::args().collect();
    let verb = words.iter().rposition(|word| word == "pick" || word == "diff");
    let behind = verb.and_then(|at| words.get(at + 1..)).unwrap_or_default();
    let Some(task) = behind.iter().find(|word| !word.starts_with('-') && !word.is_empty()) else { return Vec::new() };
    let found: Option<TaskView> = ask(|_| format!("/v1/tasks/{}", quoted(task)));
    let runs = found.map(|task| task.runs).unwrap_or_default();
    candidates(runs.into_iter().map(|run| (run.key, run.agent)), current)
}

/// Only those something can still be done with.
fn open_pulls(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let sign = if text.starts_with('#') { "#" } else { "" };
    let found: Option<PullList> = ask(|here| format!("/v1/pulls?path={}&state=open&limit=100", in_path(here)));
    let pulls = found.map(|list| list.prs).unwrap_or_default();
    candidates(pulls.into_iter().map(|pull| (format!("{sign}{}", pull.number), pull.title)), current)
}

fn needs(current: &OsStr) -> Vec<CompletionCandidate> {
    let is_asleep = std::env::args().any(|word| word == "wake");
    let found: Option<NeedList> = ask(|here| format!("/v1/needs?snoozed={is_asleep}&path={}", in_path(here)));
    let needs = found.map(|list| list.needs).unwrap_or_default();
    candidates(needs.into_iter().map(|need| (need.id, need.task.unwrap_or(need.kind))), current)
}

/// Work that was kept when its worktree was removed.
fn preserved(current: &OsStr) -> Vec<CompletionCandidate> {
    let kept = refs(&["refs/dandori/preserved/"]).into_iter();
    // git cuts what every ref has in common.
    let whole = kept.map(|(name, about)| (format!("refs/{}", name.trim_start_matches("refs/")), about));
    let found = candidates(whole, current);
    // Whoever types a key or a branch gets those.
    if found.is_empty() { worktrees(current) } else { found }
}

fn agents(current: &OsStr) -> Vec<CompletionCandidate> {
    let env = Env::of_process();
    let root = repository(&env).map(|repository| repository.root().join("dandori.toml"));
    let config = Config::load(&dandori_host::layout::user_config(&env), root.as_deref());
    let names = config.map(|config| config.known_agents()).unwrap_or_default();
    candidates(names.into_iter().map(|name| (name, String::new())), current)
}

fn branches(current: &OsStr) -> Vec<CompletionCandidate> {
    candidates(refs(&["refs/heads/"]), current)
}

/// What a run can start from.
fn bases(current: &OsStr) -> Vec<CompletionCandidate> {
    let head = [("HEAD".to_owned(), String::new())];
    candidates(head.into_iter().chain(refs(&["refs/heads/", "refs/remotes/", "refs/tags/"])), current)
}

fn state_keys(current: &OsStr) -> Vec<CompletionCandidate> {
    let keys = dandori_playbook::State::keys().iter().map(|key| ((*key).to_owned(), String::new()));
    candidates(keys, current)
}

fn config_keys(current: &OsStr) -> Vec<CompletionCandidate> {
    // Those with a name of the user's own in them cannot be completed.
    let plain = dandori_config::keys().filter(|key| !key.name.contains(['*', '@', '#']));
    candidates(plain.map(|key| (key.name.to_owned(), String::new())), current)
}

fn repository(env: &Env) -> Option<Repository> {
    let here = Utf8PathBuf::try_from(std::env::current_dir().ok()?).ok()?;
    Repository::discover(&Git::new(env, "complete"), &here).ok()
}

fn refs(prefixes: &[&str]) -> Vec<(String, String)> {
    let Some(repository) = repository(&Env::of_process()) else { return Vec::new() };
    repository.recent_refs(prefixes).unwrap_or_default()
}

/// Names the daemon knows; none when it does not run or takes its time.
fn from_daemon(kind: &str, begin: &str) -> Vec<(String, String)> {
    let names: Option<Names> =
        ask(|here| format!("/v1/names?kind={kind}&begin={}&path={}", quoted(begin), in_path(here)));
    names.map(|names| names.names.into_iter().map(|n| (n.name, n.about)).collect()).unwrap_or_default()
}

/// What the daemon answers about the place the user stands in.
fn ask<T: DeserializeOwned>(path: impl Fn(&Utf8Path) -> String) -> Option<T> {
    let env = Env::of_process();
    let layout = Layout::from_env(&env)?;
    let cwd = std::env::current_dir().ok().and_then(|path| Utf8PathBuf::try_from(path).ok());
    let context = Context { out: Out::new(Lang::En, true, &env), env, layout, cwd };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let asked = async {
        let here = context.here().ok()?;
        let client = Client::reach(&context).await.ok()??;
        client.get::<T>(&path(&here)).await.ok()
    };
    runtime.block_on(async { tokio::time::timeout(PATIENCE, asked).await.ok().flatten() })
}
