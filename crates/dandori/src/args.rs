//! The command line: what may be said, and who answers.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use dandori_config::Config;
use dandori_domain::Problem;
use dandori_engine::Layout;
use dandori_host::Env;
use dandori_text::Lang;

use crate::cli;
use crate::out::{Failed, Out};
use crate::{localise, misuse};

#[derive(Parser)]
#[command(
    name = "dandori",
    version,
    about = "Run coding agents on a repository, each in its own worktree, and keep what comes out",
    after_help = EXIT_CODES,
    disable_help_subcommand = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
struct Cli {
    /// Print version
    #[arg(long, short = 'V', action = ArgAction::Version)]
    version: Option<bool>,
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

const LANGUAGES: [&str; 2] = ["en", "ja"];

const EVERYWHERE: &str = "With every command";

const EXIT_CODES: &str = "\
Exit codes:
    0  done, or nothing to do
    1  refused, or a run did not succeed
    2  wrong usage
    3  git, the forge or the disk failed
   70  our bug
  130  interrupted";

#[derive(Args, Clone)]
struct Global {
    /// Print help
    #[arg(long, short = 'h', global = true, action = ArgAction::Help, help_heading = EVERYWHERE)]
    help: Option<bool>,
    /// Language of messages: en or ja (default: from LANG)
    #[arg(
        long,
        global = true,
        value_name = "LANG",
        value_parser = LANGUAGES,
        hide_possible_values = true,
        help_heading = EVERYWHERE
    )]
    lang: Option<String>,
    /// Print one JSON object and nothing else
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Give an agent a task: its own worktree, then a commit on a pushed branch
    Run(cli::run::RunArgs),
    /// Look at tasks and go on with them
    #[command(subcommand)]
    Task(TaskVerb),
    /// Make, list, remove and restore worktrees
    #[command(subcommand)]
    Worktree(WorktreeVerb),
    /// Open and list pull requests
    #[command(subcommand)]
    Pr(PrVerb),
    /// Begin, read and check playbooks: reviewed plans in the repository
    #[command(subcommand)]
    Playbook(PlaybookVerb),
    /// Wind up a finished playbook: changes are open again, and what is next is said
    PostLoop,
    /// Look at and change state.md: what the repository is working on
    #[command(subcommand)]
    State(StateVerb),
    /// Start, stop and look at the daemon
    #[command(subcommand)]
    Daemon(DaemonVerb),
    /// Look at the guards: what they say, why, and what may pass
    #[command(subcommand)]
    Guard(GuardVerb),
    /// Confirm that an agent has understood you: its waiting sessions may make changes
    Consent,
    /// Put dandori's guards into the settings of the agents
    Init(cli::init::InitArgs),
    /// Check this machine: git, agents, their hooks, sandbox, store, disk
    Doctor(cli::doctor::DoctorArgs),
    /// Agree to what this repository's dandori.toml could execute
    Trust(cli::trust::TrustArgs),
    /// Play the whole flow on a temporary repository, without an account
    Demo(crate::demo::DemoArgs),
    /// Print shell completions
    Completions(cli::completions::CompletionsArgs),
}

#[derive(Subcommand)]
enum TaskVerb {
    /// List tasks, newest first
    List(cli::task_list::TaskListArgs),
    /// Show a task and its runs
    Show(cli::task_show::TaskShowArgs),
    /// Go on with a task: same branch, worktree and conversation
    FollowUp(cli::task_follow_up::TaskFollowUpArgs),
    /// Try a failed run again; a failed commit or push goes on without the agent
    Retry(cli::task_retry::TaskRetryArgs),
    /// Cancel a task and keep its uncommitted work
    Cancel(cli::task_cancel::TaskCancelArgs),
    /// Compare the diffs of several agents on one task
    Compare(cli::task_compare::TaskCompareArgs),
    /// Choose the run that becomes the pull request
    Pick(cli::task_pick::TaskPickArgs),
    /// Show what an agent said and did, live while it works
    Log(cli::task_log::TaskLogArgs),
    /// Show the patch of a run
    Diff(cli::task_diff::TaskDiffArgs),
}

#[derive(Subcommand)]
enum WorktreeVerb {
    /// Make a worktree on a branch of its own
    Add(cli::worktree_add::WorktreeAddArgs),
    /// List worktrees and what may be done about them
    List(cli::worktree_list::WorktreeListArgs),
    /// Remove a worktree; its uncommitted and unpushed work is kept first
    Remove(cli::worktree_remove::WorktreeRemoveArgs),
    /// Clean up what is orphaned, merged or stale
    Gc(cli::worktree_gc::WorktreeGcArgs),
    /// Take a worktree made by hand into dandori's care
    Adopt(cli::worktree_adopt::WorktreeAdoptArgs),
    /// Bring kept work back as a worktree
    Restore(cli::worktree_restore::WorktreeRestoreArgs),
}

#[derive(Subcommand)]
enum PrVerb {
    /// Open a pull request for a task's pushed branch
    Create(cli::pr_create::PrCreateArgs),
    /// List pull requests
    List,
    /// Show one pull request
    Show(cli::pr_show::PrShowArgs),
}

#[derive(Subcommand)]
enum PlaybookVerb {
    /// Begin a playbook from the template
    New(cli::playbook_new::PlaybookNewArgs),
    /// Show a playbook with its phases
    Show(cli::playbook_show::PlaybookShowArgs),
    /// Find what is wrong with a playbook
    Check(cli::playbook_check::PlaybookCheckArgs),
    /// Tell how far the active playbook is, and what is next
    Status,
}

#[derive(Subcommand)]
enum StateVerb {
    /// Show what state.md says
    Show,
    /// Set one value; the version before is kept
    Set(cli::state_set::StateSetArgs),
    /// List earlier versions of state.md, or print one
    History(cli::state_history::StateHistoryArgs),
}

#[derive(Subcommand)]
enum GuardVerb {
    /// Show what a command line would do, and what each guard says about it
    Explain(cli::guard_explain::GuardExplainArgs),
    /// Judge an event without noting anything
    Test(cli::guard_test::GuardTestArgs),
    /// Give a bounded exception from a guard: for people only
    Allow(cli::guard_allow::GuardAllowArgs),
    /// Take an exception back
    Revoke(cli::guard_revoke::GuardRevokeArgs),
    /// Count what each guard did here, and what it probably got wrong
    Stats(cli::guard_stats::GuardStatsArgs),
    /// List the guards with the level in force and who set it
    List,
}

#[derive(Subcommand)]
enum DaemonVerb {
    /// Start the daemon
    Start(cli::daemon_start::DaemonStartArgs),
    /// Stop the daemon; agents go on and are taken up again
    Stop,
    /// Tell whether the daemon runs, and how it is
    Status,
    /// Show the daemon's log
    Logs(cli::daemon_logs::DaemonLogsArgs),
    /// Be the daemon (started by the others)
    #[command(hide = true)]
    Serve(crate::daemon::ServeArgs),
}

pub(crate) fn main() -> ExitCode {
    let env = Env::of_process();
    // A broken user configuration is reported by the verb that needs it, in the locale's language.
    let configured = Config::load(&dandori_host::layout::user_config(&env), None).ok().and_then(|c| c.language);
    let choose = |flag: Option<&str>| Lang::choose(flag, configured.as_deref(), |name| env.text(name));
    let cli = match understood(&env, choose) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let lang = choose(cli.global.lang.as_deref());
    if let Verb::Daemon(DaemonVerb::Serve(args)) = &cli.verb {
        return crate::daemon::serve(args, env);
    }
    let layout = Layout::from_env(&env);
    let out = Out::new(lang, cli.global.json, &env);
    let layout = match layout {
        Some(layout) => layout,
        // The demo brings a state root of its own, completions need none.
        None if matches!(cli.verb, Verb::Demo(_) | Verb::Completions(_)) => Layout::at("/nonexistent"),
        None => return out.fail(&Failed::Usage(dandori_text::ui::no_state_root(lang))),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return out.fail(&Problem::Internal { reason: e.to_string() }.into()),
    };
    let cwd = std::env::current_dir().ok().and_then(|path| camino::Utf8PathBuf::try_from(path).ok());
    let context = cli::Context { out, env, layout, cwd };
    match runtime.block_on(answer(cli.verb, &context)) {
        Ok(code) => code,
        Err(failed) => context.out.fail(&failed),
    }
}

/// The command line, or what became of it: its help was asked for, or it was not understood.
fn understood(env: &Env, choose: impl Fn(Option<&str>) -> Lang) -> Result<Cli, ExitCode> {
    let words: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    let lang = choose(language_among(&words));
    let mut command = localise::command(Cli::command(), lang);
    let parsed = command.try_get_matches_from_mut(std::env::args_os());
    let error = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    let out = Out::new(lang, options(&words).any(|w| w == "--json"), env);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            Out::help(&localise::rendered(&error.render().ansi().to_string(), lang, Out::width()));
            Err(ExitCode::SUCCESS)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let help = localise::rendered(&error.render().ansi().to_string(), lang, Out::width());
            Err(out.fail(&Failed::NoCommand(help)))
        }
        _ => Err(out.fail(&Failed::Usage(misuse::said(lang, &error, &command, &words)))),
    }
}

/// The language asked for, known before the rest is understood: an error may stand before `--lang`.
fn language_among(words: &[String]) -> Option<&str> {
    let mut words = options(words);
    while let Some(word) = words.next() {
        let named = match word.strip_prefix("--lang") {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        if let Some(name) = named.filter(|n| LANGUAGES.contains(n)) {
            return Some(name);
        }
    }
    None
}

/// The words that can be options: behind `--` there are none.
fn options(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().map(String::as_str).take_while(|w| *w != "--")
}

async fn answer(verb: Verb, context: &cli::Context) -> Result<ExitCode, Failed> {
    match verb {
        Verb::Run(args) => cli::run::run(args, context).await,
        Verb::Task(TaskVerb::List(args)) => cli::task_list::run(args, context).await,
        Verb::Task(TaskVerb::Show(args)) => cli::task_show::run(args, context).await,
        Verb::Task(TaskVerb::FollowUp(args)) => cli::task_follow_up::run(args, context).await,
        Verb::Task(TaskVerb::Retry(args)) => cli::task_retry::run(args, context).await,
        Verb::Task(TaskVerb::Cancel(args)) => cli::task_cancel::run(args, context).await,
        Verb::Task(TaskVerb::Compare(args)) => cli::task_compare::run(args, context).await,
        Verb::Task(TaskVerb::Pick(args)) => cli::task_pick::run(args, context).await,
        Verb::Task(TaskVerb::Log(args)) => cli::task_log::run(args, context).await,
        Verb::Task(TaskVerb::Diff(args)) => cli::task_diff::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Add(args)) => cli::worktree_add::run(args, context).await,
        Verb::Worktree(WorktreeVerb::List(args)) => cli::worktree_list::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Remove(args)) => cli::worktree_remove::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Gc(args)) => cli::worktree_gc::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Adopt(args)) => cli::worktree_adopt::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Restore(args)) => cli::worktree_restore::run(args, context).await,
        Verb::Pr(PrVerb::Create(args)) => cli::pr_create::run(args, context).await,
        Verb::Pr(PrVerb::List) => cli::pr_list::run(context).await,
        Verb::Pr(PrVerb::Show(args)) => cli::pr_show::run(args, context).await,
        Verb::Playbook(PlaybookVerb::New(args)) => cli::playbook_new::run(&args, context),
        Verb::Playbook(PlaybookVerb::Show(args)) => cli::playbook_show::run(&args, context),
        Verb::Playbook(PlaybookVerb::Check(args)) => cli::playbook_check::run(&args, context),
        Verb::Playbook(PlaybookVerb::Status) => cli::playbook_status::run(context),
        Verb::PostLoop => cli::post_loop::run(context),
        Verb::State(StateVerb::Show) => cli::state_show::run(context),
        Verb::State(StateVerb::Set(args)) => cli::state_set::run(&args, context),
        Verb::State(StateVerb::History(args)) => cli::state_history::run(&args, context),
        Verb::Guard(GuardVerb::Explain(args)) => cli::guard_explain::run(&args, context),
        Verb::Guard(GuardVerb::Test(args)) => cli::guard_test::run(&args, context),
        Verb::Guard(GuardVerb::Allow(args)) => cli::guard_allow::run(&args, context),
        Verb::Guard(GuardVerb::Revoke(args)) => cli::guard_revoke::run(&args, context),
        Verb::Consent => cli::consent::run(context),
        Verb::Guard(GuardVerb::Stats(args)) => cli::guard_stats::run(&args, context).await,
        Verb::Guard(GuardVerb::List) => cli::guard_list::run(context),
        Verb::Daemon(DaemonVerb::Start(args)) => cli::daemon_start::run(args, context).await,
        Verb::Daemon(DaemonVerb::Stop) => cli::daemon_stop::run(context).await,
        Verb::Daemon(DaemonVerb::Status) => cli::daemon_status::run(context).await,
        Verb::Daemon(DaemonVerb::Logs(args)) => cli::daemon_logs::run(&args, context),
        Verb::Daemon(DaemonVerb::Serve(_)) => Ok(ExitCode::SUCCESS),
        Verb::Init(args) => cli::init::run(&args, context),
        Verb::Doctor(args) => cli::doctor::run(&args, context).await,
        Verb::Trust(args) => cli::trust::run(&args, context),
        Verb::Demo(args) => crate::demo::run(args, context).await,
        Verb::Completions(args) => Ok(cli::completions::run(&args, &mut Cli::command())),
    }
}

#[cfg(test)]
mod tests;
