//! git's own folder. What lies in it decides which branch is which, what git runs and by whose settings: whoever writes
//! there goes around every guard that watches git. What git only notes down there is left free: messages, `info/exclude`,
//! and locks that a killed git left behind.

use camino::Utf8Path;
use dandori_shell::How;

use crate::context::{By, Context, Target};
use crate::world::Checkout;

/// Files and folders of a git folder that only git itself changes.
const KEPT: [&str; 10] =
    ["hooks", "config", "config.worktree", "HEAD", "packed-refs", "refs", "reftable", "commondir", "gitdir", "objects"];

/// What git goes on from: which commit was fetched from where, which branch a rebase is of. Without it git does not go
/// on, which is what git itself advises after a rebase that was killed.
const BEGUN: [&str; 3] = ["FETCH_HEAD", "rebase-merge", "rebase-apply"];

/// Ways to say where the folder is that are only filled in when the line runs.
const ASKED: [&str; 5] = ["--git-dir", "--git-common-dir", "--absolute-git-dir", "--git-path", "GIT_DIR"];

/// The project's git folder would be written to past git.
pub(super) fn is_written(context: &Context, target: &Target) -> bool {
    let Some(project) = &context.project else { return false };
    match target.by {
        // `git config` says what it sets, and that is judged; an empty folder or file decides nothing.
        By::Shell(How::Configured | How::Made) => false,
        _ if target.is_computed => is_asked_for(target.path.as_str(), matches!(target.by, By::Shell(How::Removed))),
        _ => [&target.path, &target.real].into_iter().any(|path| is_kept(context, project, path, target.by)),
    }
}

fn is_kept(context: &Context, project: &Checkout, path: &Utf8Path, by: By) -> bool {
    let in_project = || context.checkout(path).filter(|checkout| checkout.common_dir == project.common_dir);
    if path.file_name() == Some(".git") {
        // Taking it away whole is destruction, which another guard weighs.
        let is_weighed = matches!(by, By::Shell(How::Removed | How::Mode));
        return !is_weighed && in_project().is_some_and(|checkout| path == checkout.root.join(".git"));
    }
    let is_removed = matches!(by, By::Shell(How::Removed));
    path.strip_prefix(&project.common_dir).is_ok_and(|inner| is_kept_name(inner, is_removed))
}

/// By the path within the git folder; worktrees and submodules have folders of the same kind in it.
fn is_kept_name(inner: &Utf8Path, is_removed: bool) -> bool {
    let is_name = |part: &str| KEPT.contains(&part) || !is_removed && BEGUN.contains(&part);
    let mut parts = inner.components().map(|part| part.as_str());
    let first = match parts.next() {
        Some("worktrees" | "modules") => parts.find(|part| is_name(part)),
        first => first,
    };
    first.is_some_and(is_name) && inner.extension() != Some("lock")
}

/// `"$(git rev-parse --git-dir)/hooks/pre-commit"`, `"$(git rev-parse --show-toplevel)/.git/HEAD"`.
fn is_asked_for(path: &str, is_removed: bool) -> bool {
    let by_top = || path.split_once("/.git/").filter(|_| path.contains("--show-toplevel"));
    let found = ASKED.iter().find_map(|asked| path.split_once(asked)).or_else(by_top);
    let inner = found.map(|(_, rest)| rest.replace([')', '}', '"', ' '], ""));
    inner.is_some_and(|inner| is_kept_name(Utf8Path::new(inner.trim_start_matches('/')), is_removed))
}
