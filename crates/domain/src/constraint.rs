//! What an agent may not do in a run. Told to it, judged by the guards, and looked for before anything is staged.

/// Subcommands of git that are dandori's.
pub const FORBIDDEN_GIT: &[&str] = &["commit", "push", "checkout", "reset --hard", "rebase", "merge"];

/// Others that do the same by another name, and that agents reach for: told, so that none is tried in vain.
pub const FORBIDDEN_GIT_TOO: &[&str] =
    &["switch", "restore", "pull", "cherry-pick", "revert", "stash", "tag", "worktree"];
