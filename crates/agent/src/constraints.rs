//! What every agent is told about its place: it edits files, dandori does the rest.
//!
//! Words, not a fence: the guards and the sandbox refuse, and the engine checks. They save the agent the detour of trying.

use dandori_domain::constraint::{FORBIDDEN_GIT, FORBIDDEN_GIT_TOO};
use dandori_domain::paths::FORBIDDEN;

/// Short on purpose: it is paid for in every request. `forbidden` are paths of the project's own.
pub(crate) fn text(forbidden: &[String]) -> String {
    let git = [FORBIDDEN_GIT, FORBIDDEN_GIT_TOO].concat().join(", ");
    let paths: Vec<&str> = FORBIDDEN.iter().copied().chain(forbidden.iter().map(String::as_str)).collect();
    format!(
        "You work in a git worktree that dandori created for this task. Only edit files inside this worktree. \
         Do not run git commands that create commits, move branches or discard changes ({git}), do not open pull \
         requests, and do not read or change {}: dandori stages, commits and pushes your changes when you are done. \
         Nobody can answer questions while you work: decide yourself, finish the task, and end with a short summary of \
         what you changed.",
        paths.join(", ")
    )
}

/// For agents without a system prompt of ours: before the instruction, set off from it.
pub(crate) fn preface(instruction: &str, forbidden: &[String]) -> String {
    format!("<rules>\n{}\n</rules>\n\n{instruction}", text(forbidden))
}

/// For a conversation that has to be begun anew: what came before, then what is asked now.
pub(crate) fn after(earlier: &str, instruction: &str) -> String {
    format!(
        "<earlier>\nThis continues earlier work in the same worktree. Its conversation is not available; these are the \
         instructions and reports so far, oldest first:\n\n{earlier}\n</earlier>\n\n{instruction}"
    )
}
