//! The command line: what may be said, and who answers.

use std::ffi::OsString;
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
use crate::{filled, localise, misuse, near};

#[derive(Parser)]
#[command(
    name = "dandori",
    version,
    about = "Run coding agents in their own worktrees and turn the result into commits and pull requests",
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
    /// Without one: what needs you, what is at work, what was done.
    #[command(subcommand)]
    verb: Option<Verb>,
}

const LANGUAGES: [&str; 2] = ["en", "ja"];

const EVERYWHERE: &str = "Global options";

const EXIT_CODES: &str = "\
Exit codes:
    0  done, or nothing to do
    1  refused, or the run failed
    2  wrong usage
    3  git, the forge or the disk failed
   70  internal error
  130  interrupted";

const INSTALL_COMPLETIONS: &str = "\
Install, once:
  bash  echo 'source <(dandori completions bash)' >> ~/.bashrc
  zsh   echo 'source <(dandori completions zsh)' >> ~/.zshrc
  fish  echo 'dandori completions fish | source' > ~/.config/fish/completions/dandori.fish";

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
    /// Give an agent a task and push the result on its own branch
    Run(cli::run::RunArgs),
    /// List, inspect and continue tasks
    #[command(subcommand)]
    Task(TaskVerb),
    /// Create, list, remove and restore worktrees
    #[command(subcommand)]
    Worktree(WorktreeVerb),
    /// Create, review and merge pull requests
    #[command(subcommand)]
    Pr(PrVerb),
    /// Show what needs you, what is running and what is done (the same as `dandori` alone)
    Status(cli::status::StatusArgs),
    /// List what needs you, and the command that resolves it
    Inbox(cli::inbox::InboxArgs),
    /// Send yourself a notification, or test the configured ones
    Notify(cli::notify::NotifyArgs),
    /// Give an order: it is planned, worked on by several agents, and becomes one pull request
    Order(cli::order::OrderArgs),
    /// Start this repository's formation: planner and workers get work
    Up(cli::up::UpArgs),
    /// Stop this repository's formation; running agents finish
    Down,
    /// Prepare a repository for a formation
    Setup(cli::setup::SetupArgs),
    /// Write to the queue of the planner or the orchestrator
    #[command(subcommand)]
    Queue(QueueVerb),
    /// Submit, show and complete plans (for planners)
    #[command(subcommand)]
    Plan(PlanVerb),
    /// Report the result of a task (for workers)
    #[command(subcommand)]
    Result(ResultVerb),
    /// Inspect messages that could not be delivered, and queue them again
    #[command(subcommand)]
    DeadLetter(DeadLetterVerb),
    /// Inspect refused plans and results, and submit them again
    #[command(subcommand)]
    Quarantine(QuarantineVerb),
    /// Create, show and check playbooks (reviewed plans in the repository)
    #[command(subcommand)]
    Playbook(PlaybookVerb),
    /// Close a finished playbook and show the next step
    PostLoop,
    /// Show and change state.md (what the repository is working on)
    #[command(subcommand)]
    State(StateVerb),
    /// Start, stop and inspect the daemon
    #[command(subcommand)]
    Daemon(DaemonVerb),
    /// Inspect guards and manage exceptions
    #[command(subcommand)]
    Guard(GuardVerb),
    /// Confirm an agent's understanding and let its waiting sessions make changes
    Consent,
    /// Install dandori's guards in the settings of the agents
    Init(cli::init::InitArgs),
    /// Check this machine: git, agents, hooks, sandbox, database, disk
    Doctor(cli::doctor::DoctorArgs),
    /// List, show and edit instruction templates for `run -t`
    #[command(subcommand)]
    Prompt(PromptVerb),
    /// Show and change settings, and where each value comes from
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Trust what this repository's dandori.toml can execute
    Trust(cli::trust::TrustArgs),
    /// Demonstrate the whole workflow on a temporary repository (no account needed)
    Demo(crate::demo::DemoArgs),
    /// Remove dandori's hooks, daemon and state; your work stays in your repositories
    Uninstall(cli::uninstall::UninstallArgs),
    /// Print manual pages
    Man(cli::man::ManArgs),
    /// Print a shell completion script
    #[command(after_help = INSTALL_COMPLETIONS)]
    Completions(cli::completions::CompletionsArgs),
}

#[derive(Subcommand)]
enum TaskVerb {
    /// List tasks: running, queued, then newest
    List(cli::task_list::TaskListArgs),
    /// Show a task and its runs
    Show(cli::task_show::TaskShowArgs),
    /// Continue a task on the same branch, worktree and conversation
    FollowUp(cli::task_follow_up::TaskFollowUpArgs),
    /// Retry a failed run; a failed commit or push is resumed without the agent
    Retry(cli::task_retry::TaskRetryArgs),
    /// Cancel tasks and preserve their uncommitted work
    Cancel(cli::task_cancel::TaskCancelArgs),
    /// Compare the diffs of several agents on one task
    Compare(cli::task_compare::TaskCompareArgs),
    /// Pick the run to use for the pull request
    Pick(cli::task_pick::TaskPickArgs),
    /// Show what the agent said and did, live while it runs
    Log(cli::task_log::TaskLogArgs),
    /// Open a shell or your editor in a task's worktree
    Open(cli::task_open::TaskOpenArgs),
    /// Say that a formation's task is still being worked on (for workers)
    Heartbeat(cli::task_heartbeat::TaskHeartbeatArgs),
    /// Show what a task has changed: its whole branch, with follow-ups and work in progress
    Diff(cli::task_diff::TaskDiffArgs),
}

#[derive(Subcommand)]
enum WorktreeVerb {
    /// Create a worktree on its own branch
    Add(cli::worktree_add::WorktreeAddArgs),
    /// List worktrees and their state
    List(cli::worktree_list::WorktreeListArgs),
    /// Print a worktree's path, as in cd "$(dandori worktree path T-3)"
    Path(cli::worktree_path::WorktreePathArgs),
    /// Remove a worktree, preserving uncommitted and unpushed work
    Remove(cli::worktree_remove::WorktreeRemoveArgs),
    /// Remove orphaned, merged and stale worktrees and branches
    Gc(cli::worktree_gc::WorktreeGcArgs),
    /// Let dandori manage a worktree you created yourself
    Adopt(cli::worktree_adopt::WorktreeAdoptArgs),
    /// Restore preserved work as a worktree
    Restore(cli::worktree_restore::WorktreeRestoreArgs),
}

#[derive(Subcommand)]
enum PrVerb {
    /// Create or update the pull request of a task
    Create(cli::pr_create::PrCreateArgs),
    /// List pull requests
    List(cli::pr_list::PrListArgs),
    /// Show a pull request: text, commits, changes, and whether it can be merged
    Show(cli::pr_show::PrShowArgs),
    /// Open the web page of a pull request
    Open(cli::pr_open::PrOpenArgs),
    /// Show what a pull request changes
    Diff(cli::pr_diff::PrDiffArgs),
    /// Check out the branch of a pull request
    Checkout(cli::pr_checkout::PrCheckoutArgs),
    /// Merge the base into a pull request's branch; its agent resolves conflicts
    Update(cli::pr_update::PrUpdateArgs),
    /// Merge a pull request into its base (at a terminal only)
    Merge(cli::pr_merge::PrMergeArgs),
    /// Close a pull request without merging it
    Close(cli::pr_close::PrCloseArgs),
    /// Reopen a closed pull request
    Reopen(cli::pr_reopen::PrReopenArgs),
}

#[derive(Subcommand)]
enum QueueVerb {
    /// Write a command, a cancellation or a message
    Write(cli::queue_write::QueueWriteArgs),
}

#[derive(Subcommand)]
enum PlanVerb {
    /// Submit the plan of an order, or fill a deferred phase
    Submit(cli::plan_submit::PlanSubmitArgs),
    /// Complete an order whose tasks are all done; the status follows from them
    Complete(cli::plan_complete::PlanCompleteArgs),
    /// Replace a failed task and bring back what was canceled with it
    AddRetryTask(cli::plan_add_retry_task::PlanAddRetryTaskArgs),
    /// Cancel an order; it cannot be undone
    RequestCancel(cli::plan_request_cancel::PlanRequestCancelArgs),
    /// Show the plan of an order as a graph
    Show(cli::plan_show::PlanShowArgs),
}

#[derive(Subcommand)]
enum ResultVerb {
    /// Report what came of a task
    Write(cli::result_write::ResultWriteArgs),
}

#[derive(Subcommand)]
enum DeadLetterVerb {
    /// List messages that could not be delivered
    List,
    /// Show one of them
    Show(cli::dead_letter::MessageArg),
    /// Queue one again, after what was in its way is gone
    Requeue(cli::dead_letter::MessageArg),
}

#[derive(Subcommand)]
enum QuarantineVerb {
    /// List plans and results that were refused, newest first
    List,
    /// Show one of them as it was submitted
    Show(cli::quarantine::NumberArg),
    /// Submit one again as it is
    Restore(cli::quarantine::NumberArg),
}

#[derive(Subcommand)]
enum PlaybookVerb {
    /// Create a playbook from the template
    New(cli::playbook_new::PlaybookNewArgs),
    /// Show a playbook and its phases
    Show(cli::playbook_show::PlaybookShowArgs),
    /// Check a playbook for problems
    Check(cli::playbook_check::PlaybookCheckArgs),
    /// Show the progress of the active playbook and the next step
    Status,
}

#[derive(Subcommand)]
enum StateVerb {
    /// Show the contents of state.md
    Show,
    /// Set a value and keep the previous version
    Set(cli::state_set::StateSetArgs),
    /// List earlier versions of state.md, or print one
    History(cli::state_history::StateHistoryArgs),
}

#[derive(Subcommand)]
enum GuardVerb {
    /// Show what a command would do and what each guard decides
    Explain(cli::guard_explain::GuardExplainArgs),
    /// Test how guards decide on an event (nothing is recorded)
    Test(cli::guard_test::GuardTestArgs),
    /// Allow a limited exception to a guard (at a terminal only)
    Allow(cli::guard_allow::GuardAllowArgs),
    /// Revoke an exception
    Revoke(cli::guard_revoke::GuardRevokeArgs),
    /// Show what each guard decided and its likely false positives
    Stats(cli::guard_stats::GuardStatsArgs),
    /// List guards with their level and where it is set
    List,
}

#[derive(Subcommand)]
enum PromptVerb {
    /// List the templates of this repository and your own
    List,
    /// Print a template
    Show(cli::prompt_show::PromptShowArgs),
    /// Create or change a template in your editor
    Edit(cli::prompt_edit::PromptEditArgs),
}

#[derive(Subcommand)]
enum ConfigVerb {
    /// Show the settings in effect and where each comes from
    Show(cli::config_show::ConfigShowArgs),
    /// Set one key and keep the file's comments and order
    Set(cli::config_set::ConfigSetArgs),
    /// Open the file in your editor and check it afterwards
    Edit(cli::config_edit::ConfigEditArgs),
    /// Write a file with every key commented out at its default
    Init(cli::config_init::ConfigInitArgs),
}

#[derive(Subcommand)]
enum DaemonVerb {
    /// Start the daemon
    Start(cli::daemon_start::DaemonStartArgs),
    /// Stop the daemon; agents keep running and are taken over by the next one
    Stop,
    /// Show daemon status
    Status,
    /// Show the daemon's log
    Logs(cli::daemon_logs::DaemonLogsArgs),
    /// Run the daemon (started by other commands)
    #[command(hide = true)]
    Serve(crate::daemon::ServeArgs),
}

pub(crate) fn main() -> ExitCode {
    let env = Env::of_process();
    // A broken user configuration is reported by the verb that needs it, in the locale's language.
    let configured = Config::load(&dandori_host::layout::user_config(&env), None).ok().and_then(|c| c.language);
    let choose = |flag: Option<&str>| Lang::choose(flag, configured.as_deref(), |name| env.text(name));
    if let Some(code) = crate::complete::answer(&env, choose(None), Cli::command) {
        return code;
    }
    let cli = match understood(&env, choose) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let lang = choose(cli.global.lang.as_deref());
    let verb = cli.verb.unwrap_or_else(|| Verb::Status(cli::status::StatusArgs::default()));
    if let Verb::Daemon(DaemonVerb::Serve(args)) = &verb {
        return crate::daemon::serve(args, env);
    }
    let layout = Layout::from_env(&env);
    let out = Out::new(lang, cli.global.json, &env);
    let layout = match layout {
        Some(layout) => layout,
        // The demo brings a state root of its own, completions need none.
        None if matches!(verb, Verb::Demo(_) | Verb::Completions(_) | Verb::Man(_)) => Layout::at("/nonexistent"),
        None => return out.fail(&Failed::Usage(dandori_text::ui::no_state_root(lang))),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => return out.fail(&Problem::Internal { reason: e.to_string() }.into()),
    };
    let cwd = std::env::current_dir().ok().and_then(|path| camino::Utf8PathBuf::try_from(path).ok());
    let context = cli::Context { out, env, layout, cwd };
    match runtime.block_on(answer(verb, &context)) {
        Ok(code) => code,
        Err(failed) => context.out.fail(&failed),
    }
}

/// The command line, or what became of it: its help was asked for, or it was not understood.
fn understood(env: &Env, choose: impl Fn(Option<&str>) -> Lang) -> Result<Cli, ExitCode> {
    let words: Vec<String> = std::env::args_os().skip(1).map(|w| w.to_string_lossy().into_owned()).collect();
    let lang = choose(language_among(&words));
    let mut command = filled::command(localise::command(Cli::command(), lang));
    let led = match led(&words) {
        Ok(led) => led,
        Err(unclear) => {
            let out = Out::new(lang, options(&words).any(|w| w == "--json"), env);
            let said = dandori_text::front::two_meanings(lang, &unclear.word, &unclear.commands);
            return Err(out.fail(&Failed::Usage(said)));
        }
    };
    // What is wrong is said of the command that was meant.
    let words: Vec<String> = led.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = command.try_get_matches_from_mut(std::iter::once("dandori".into()).chain(led));
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

/// The command line with near words led to the commands they mean. What is not UTF-8 is left as it is.
fn led(words: &[String]) -> Result<Vec<OsString>, near::Unclear> {
    let typed: Vec<OsString> = std::env::args_os().skip(1).collect();
    if typed.iter().any(|word| word.to_str().is_none()) {
        return Ok(typed);
    }
    Ok(near::led(words.to_vec())?.into_iter().map(OsString::from).collect())
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
        Verb::Task(TaskVerb::Open(args)) => cli::task_open::run(args, context).await,
        Verb::Task(TaskVerb::Diff(args)) => cli::task_diff::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Add(args)) => cli::worktree_add::run(args, context).await,
        Verb::Worktree(WorktreeVerb::List(args)) => cli::worktree_list::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Path(args)) => cli::worktree_path::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Remove(args)) => cli::worktree_remove::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Gc(args)) => cli::worktree_gc::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Adopt(args)) => cli::worktree_adopt::run(args, context).await,
        Verb::Worktree(WorktreeVerb::Restore(args)) => cli::worktree_restore::run(args, context).await,
        Verb::Pr(PrVerb::Create(args)) => cli::pr_create::run(args, context).await,
        Verb::Pr(PrVerb::List(args)) => cli::pr_list::run(args, context).await,
        Verb::Pr(PrVerb::Show(args)) => cli::pr_show::run(args, context).await,
        Verb::Status(args) => cli::status::run(args, context).await,
        Verb::Inbox(args) => cli::inbox::run(args, context).await,
        Verb::Notify(args) => cli::notify::run(args, context).await,
        Verb::Order(args) => cli::order::run(args, context).await,
        Verb::Up(args) => cli::up::run(args, context).await,
        Verb::Down => cli::down::run(context).await,
        Verb::Setup(args) => cli::setup::run(&args, context),
        Verb::Queue(QueueVerb::Write(args)) => cli::queue_write::run(args, context).await,
        Verb::Plan(PlanVerb::Submit(args)) => cli::plan_submit::run(args, context).await,
        Verb::Plan(PlanVerb::Complete(args)) => cli::plan_complete::run(args, context).await,
        Verb::Plan(PlanVerb::AddRetryTask(args)) => cli::plan_add_retry_task::run(args, context).await,
        Verb::Plan(PlanVerb::RequestCancel(args)) => cli::plan_request_cancel::run(args, context).await,
        Verb::Plan(PlanVerb::Show(args)) => cli::plan_show::run(args, context).await,
        Verb::Result(ResultVerb::Write(args)) => cli::result_write::run(args, context).await,
        Verb::DeadLetter(DeadLetterVerb::List) => cli::dead_letter::list(context).await,
        Verb::DeadLetter(DeadLetterVerb::Show(args)) => cli::dead_letter::show(args, context).await,
        Verb::DeadLetter(DeadLetterVerb::Requeue(args)) => cli::dead_letter::requeue(args, context).await,
        Verb::Quarantine(QuarantineVerb::List) => cli::quarantine::list(context).await,
        Verb::Quarantine(QuarantineVerb::Show(args)) => cli::quarantine::show(args, context).await,
        Verb::Quarantine(QuarantineVerb::Restore(args)) => cli::quarantine::restore(args, context).await,
        Verb::Task(TaskVerb::Heartbeat(args)) => cli::task_heartbeat::run(args, context).await,
        Verb::Pr(PrVerb::Open(args)) => cli::pr_open::run(args, context).await,
        Verb::Pr(PrVerb::Diff(args)) => cli::pr_diff::run(args, context).await,
        Verb::Pr(PrVerb::Checkout(args)) => cli::pr_checkout::run(args, context).await,
        Verb::Pr(PrVerb::Update(args)) => cli::pr_update::run(args, context).await,
        Verb::Pr(PrVerb::Merge(args)) => cli::pr_merge::run(args, context).await,
        Verb::Pr(PrVerb::Close(args)) => cli::pr_close::run(args, context).await,
        Verb::Pr(PrVerb::Reopen(args)) => cli::pr_reopen::run(args, context).await,
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
        Verb::Prompt(PromptVerb::List) => Ok(cli::prompt_list::run(context)),
        Verb::Prompt(PromptVerb::Show(args)) => cli::prompt_show::run(&args, context),
        Verb::Prompt(PromptVerb::Edit(args)) => cli::prompt_edit::run(&args, context),
        Verb::Config(ConfigVerb::Show(args)) => cli::config_show::run(&args, context),
        Verb::Config(ConfigVerb::Set(args)) => cli::config_set::run(&args, context),
        Verb::Config(ConfigVerb::Edit(args)) => cli::config_edit::run(&args, context),
        Verb::Config(ConfigVerb::Init(args)) => cli::config_init::run(&args, context),
        Verb::Trust(args) => cli::trust::run(&args, context),
        Verb::Uninstall(args) => cli::uninstall::run(args, context).await,
        Verb::Demo(args) => crate::demo::run(args, context).await,
        Verb::Man(args) => cli::man::run(&args, context, Cli::command()),
        Verb::Completions(args) => Ok(cli::completions::run(&args, context)),
    }
}

#[cfg(test)]
mod tests;
