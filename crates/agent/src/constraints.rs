//! What every agent is told about its place: it edits files, dandori does the rest.
//!
//! Words, not a fence: the sandbox refuses and the engine checks. They save the agent the detour of trying.

/// Short on purpose: it is paid for in every request.
pub(crate) const TEXT: &str = "\
You work in a git worktree that dandori made for this task. Only edit files inside this worktree. \
Do not run git commands that change history, branches or the index (commit, push, checkout, switch, reset, rebase, \
merge, stash, tag, worktree), do not open pull requests, and do not touch .git, .env, .env.*, *.key or *.pem: \
dandori stages, commits and pushes your changes when you are done. Nobody can answer questions while you work: \
decide yourself, finish the task, and end with a short summary of what you changed.";

/// For agents without a system prompt of ours: before the instruction, set off from it.
pub(crate) fn preface(instruction: &str) -> String {
    format!("<rules>\n{TEXT}\n</rules>\n\n{instruction}")
}
