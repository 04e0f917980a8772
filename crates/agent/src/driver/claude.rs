//! Claude Code.

mod home;
mod stream;

use camino::Utf8PathBuf;
use dandori_domain::{Client, SessionId};

use super::{Driver, Line, is_on};
use crate::{Order, constraints};

pub(super) const DRIVER: Driver = Driver {
    prompt,
    command: |order, line| Some(command(order, line)),
    native: |_| None,
    variables,
    is_login: is_cloud_login,
    login_files,
    rebuild: home::rebuild,
    take_in: stream::take_in,
    with_exit: |failure, _| failure,
    of_exit: |_, _, _| None,
};

/// Tools it may use without asking where our sandbox does not hold it. Nobody could answer.
const TOOLS: &str = "Bash,Edit,Write,MultiEdit,NotebookEdit,Read,Glob,Grep,LS,Task,TodoWrite,WebFetch,WebSearch,Skill";

/// Tools that it does without in a run: a second shell, messages to the user's other sessions, a worktree that is not the
/// run's, and a time to come back at.
const NOT_ITS: &str = "Monitor,SendMessage,EnterWorktree,ScheduleWakeup";

/// A leading slash would be taken for a command of the client's; "unknown command" then counts as success.
fn prompt(order: &Order<'_>) -> String {
    let before = if order.instruction.starts_with('/') { "\n" } else { "" };
    format!("{before}{}", order.instruction)
}

fn command(order: &Order<'_>, line: &mut Line) -> SessionId {
    line.add(&["-p", "--output-format", "stream-json", "--verbose"]);
    if order.sandboxed {
        line.add(&["--permission-mode", "bypassPermissions"]);
    } else {
        line.add(&["--permission-mode", "acceptEdits", "--allowedTools", TOOLS]);
    }
    line.add(&["--disallowedTools", NOT_ITS]);
    line.add(&["--append-system-prompt", &constraints::text(order.forbidden_paths)]);
    if let Some(option) = Client::Claude.hooks().and_then(|hooks| hooks.settings_option) {
        line.option(option, order.guards.map(|guards| guards.settings.as_str()));
    }
    line.option("--model", order.model);
    if let Some(budget) = order.budget {
        line.add(&["--max-budget-usd", &format!("{:.6}", budget.dollars())]);
    }
    line.session(order)
}

fn variables(order: &Order<'_>) -> Vec<(&'static str, String)> {
    let mut env = vec![
        // Nothing goes on behind the run's back, or comes again after it. Agents are waited for instead.
        ("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_CRON", "1".to_owned()),
        ("CLAUDE_CODE_DISABLE_WORKFLOWS", "1".to_owned()),
        ("CLAUDE_CODE_MAX_RETRIES", order.limits.api_retries.to_string()),
    ];
    // It refuses to go without questions as root unless it is told that somebody holds it.
    if order.sandboxed && rustix::process::geteuid().is_root() {
        env.push(("IS_SANDBOX", "1".to_owned()));
    }
    env
}

/// The cloud its login goes through, only when it does.
fn is_cloud_login(order: &Order<'_>, name: &str) -> bool {
    let clouds: &[&str] = match name.split('_').next() {
        Some("AWS") => &["BEDROCK", "MANTLE", "ANTHROPIC_AWS"],
        Some("GOOGLE" | "VERTEX") => &["VERTEX"],
        Some("AZURE") => &["FOUNDRY"],
        _ => &[],
    };
    clouds.iter().any(|cloud| is_on(order, &format!("CLAUDE_CODE_USE_{cloud}")))
}

fn login_files(order: &Order<'_>) -> Vec<Utf8PathBuf> {
    let home = order.user_env.home();
    let below = |name: &str| home.as_ref().map(|home| home.join(name));
    let mut files = Vec::new();
    if is_cloud_login(order, "AWS_PROFILE") {
        files.extend(below(".aws"));
        files.extend(["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"].iter().filter_map(|n| order.user_env.path(n)));
    }
    if is_cloud_login(order, "AZURE_CONFIG_DIR") {
        files.extend(order.user_env.path("AZURE_CONFIG_DIR").or_else(|| below(".azure")));
    }
    if is_cloud_login(order, "GOOGLE_CLOUD_PROJECT") {
        files.extend(order.user_env.path("GOOGLE_APPLICATION_CREDENTIALS"));
        files.extend(below(".config/gcloud"));
    }
    files
}
