//! The command line of each agent, and the prompt it reads from stdin.
//!
//! The prompt never travels as an argument: an argument holds at most 128 KiB and is seen by every user of the
//! machine, an instruction may have 1 MiB.

use camino::Utf8Path;
use dandori_domain::{AgentName, SessionId};

use crate::{Order, PrepareError, constraints};

pub(crate) struct Command {
    pub(crate) argv: Vec<String>,
    pub(crate) session: Option<SessionId>,
}

/// Tools Claude may use without asking where our sandbox does not hold it. Nobody could answer.
const CLAUDE_TOOLS: &str =
    "Bash,Edit,Write,MultiEdit,NotebookEdit,Read,Glob,Grep,LS,Task,TodoWrite,WebFetch,WebSearch,Skill";

/// Tools that Claude does without in a run: a second shell, messages to the user's other sessions, a worktree that is not
/// the run's, and a time to come back at.
const NOT_CLAUDES: &str = "Monitor,SendMessage,EnterWorktree,ScheduleWakeup";

/// What the agent reads from stdin.
pub(crate) fn prompt(order: &Order<'_>) -> String {
    match order.agent {
        // A leading slash would be taken for a command of the client's; "unknown command" then counts as success.
        AgentName::Claude if order.instruction.starts_with('/') => format!("\n{}", order.instruction),
        AgentName::Codex | AgentName::Gemini => constraints::preface(order.instruction, order.forbidden_paths),
        _ => order.instruction.to_owned(),
    }
}

pub(crate) fn command(order: &Order<'_>, program: &Utf8Path) -> Result<Command, PrepareError> {
    let mut line = Line(vec![program.to_string()]);
    let session = match order.agent {
        AgentName::Claude => Some(claude(order, &mut line)),
        AgentName::Codex => codex(order, &mut line),
        AgentName::Gemini => Some(gemini(order, &mut line)),
        AgentName::Exec(command) => {
            line.add(&["-c", &whole_output(command)]);
            None
        }
        AgentName::Custom(name) => {
            let command = order.custom_command.ok_or_else(|| PrepareError::NoCommand { name: name.clone() })?;
            line.add(&["-c", &whole_output(command)]);
            None
        }
        AgentName::Rehearsal => {
            line.add(&["rehearse"]);
            None
        }
    };
    Ok(Command { argv: line.0, session })
}

fn claude(order: &Order<'_>, line: &mut Line) -> SessionId {
    line.add(&["-p", "--output-format", "stream-json", "--verbose"]);
    if order.sandboxed {
        line.add(&["--permission-mode", "bypassPermissions"]);
    } else {
        line.add(&["--permission-mode", "acceptEdits", "--allowedTools", CLAUDE_TOOLS]);
    }
    line.add(&["--disallowedTools", NOT_CLAUDES]);
    line.add(&["--append-system-prompt", &constraints::text(order.forbidden_paths)]);
    line.option("--settings", order.guards.map(|guards| guards.settings.as_str()));
    line.option("--model", order.model);
    if let Some(budget) = order.budget {
        line.add(&["--max-budget-usd", &format!("{:.6}", budget.dollars())]);
    }
    let (flag, session) = chosen_session(order);
    line.add(&[flag, session.as_str()]);
    session
}

fn codex(order: &Order<'_>, line: &mut Line) -> Option<SessionId> {
    line.add(&["exec", "--json", "--skip-git-repo-check"]);
    if order.sandboxed {
        // Nested sandboxes fail: ours is the outer one.
        line.add(&["--dangerously-bypass-approvals-and-sandbox"]);
    } else {
        // Its idea of a workspace includes all of /tmp; the run has a temporary folder of its own.
        line.add(&["-s", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
    }
    line.option("-m", order.model);
    // Without these it posts metrics and fetches plugins at every start, and waits for a dead network for ever.
    line.add(&["-c", "otel.metrics_exporter=\"none\"", "-c", "analytics.enabled=false"]);
    line.add(&["-c", "check_for_update_on_startup=false"]);
    line.add(&["--disable", "plugins", "--disable", "unbounded_connection_retries"]);
    if order.guards.is_some() {
        // Above the user's and the project's configuration. Only the run's own hooks are trusted.
        line.add(&["--enable", "hooks"]);
    }
    // Flags are not remembered by a thread, and have to stand before `resume`.
    if let Some(session) = order.session {
        line.add(&["resume", session.as_str()]);
    }
    line.add(&["-"]);
    order.session.cloned()
}

fn gemini(order: &Order<'_>, line: &mut Line) -> SessionId {
    line.add(&["-o", "stream-json", "--approval-mode", "yolo", "--skip-trust"]);
    line.option("-m", order.model);
    let (flag, session) = chosen_session(order);
    line.add(&[flag, session.as_str()]);
    session
}

/// Claude and Gemini let us name a new conversation, and go on with one by the same kind of id.
fn chosen_session(order: &Order<'_>) -> (&'static str, SessionId) {
    match order.session {
        Some(session) => ("--resume", session.clone()),
        None => ("--session-id", SessionId::new(order.new_session.to_string())),
    }
}

struct Line(Vec<String>);

impl Line {
    fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|w| (*w).to_owned()));
    }

    fn option(&mut self, flag: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(&[flag, value]);
        }
    }
}

/// A program without a protocol has one log: what it says to either side, in the order it says it.
fn whole_output(command: &str) -> String {
    format!("exec 2>&1\n{command}")
}
