//! Git commands that throw work away.

use dandori_domain::guard::Level;

use crate::guards::argv;
use crate::guards::git_run::GitRun;

use super::{Class, Danger};

pub(super) fn danger(run: &GitRun) -> Option<Danger> {
    let call = &run.call;
    let has = |long, short| call.has_option(long, short);
    let has_letter = |letter: char| {
        call.args.iter().take_while(|w| w.text != "--").any(|w| {
            !w.text.starts_with("--") && w.text.strip_prefix('-').is_some_and(|letters| letters.contains(letter))
        })
    };
    let operands = argv::operands(&call.args, &["-s", "--source"]);
    let all = operands.iter().any(|w| matches!(w.text.as_str(), "." | ":/" | "*" | "./" | ":(top)"));
    if run.is_dry_run() {
        return None;
    }
    let first = run.first();
    let class = match call.subcommand.text.as_str() {
        "push" => return forced_push(run),
        "reset" if has("hard", None) => Class::GitDiscard,
        "clean" if has("force", Some('f')) => Class::GitDiscard,
        "checkout" if all || has_letter('f') || call.args.iter().any(|w| w.text == "--force") => Class::GitDiscard,
        "switch" if has("discard-changes", None) || has("force", Some('f')) => Class::GitDiscard,
        "restore" if all => {
            let only_index = has("staged", Some('S')) && !has("worktree", Some('W'));
            if only_index {
                return None;
            }
            Class::GitDiscard
        }
        "rm" if all && has("force", Some('f')) && !has("cached", None) => Class::GitDiscard,
        // The plumbing below `reset --hard` and `checkout -f`; a copy made elsewhere overwrites nothing.
        "read-tree" if has("reset", None) && has_letter('u') => Class::GitDiscard,
        "checkout-index" if has("force", Some('f')) && !has("prefix", None) => Class::GitDiscard,
        "stash" if matches!(first, "drop" | "clear") => Class::GitDiscard,
        "branch" if has_letter('D') || has("delete", Some('d')) && has("force", Some('f')) => Class::GitDiscard,
        "filter-branch" | "filter-repo" => Class::GitHistory,
        "reflog" if matches!(first, "expire" | "delete") => Class::GitHistory,
        "gc" if call.args.iter().any(|w| matches!(w.text.as_str(), "--prune=now" | "--prune=all")) => Class::GitHistory,
        "update-ref" if has("delete", Some('d')) => Class::GitHistory,
        "prune" if has("expire", None) => Class::GitHistory,
        _ => return None,
    };
    Some(class.into())
}

/// `--force` throws away what others pushed; with a lease, or a branch taken away, a person may mean it.
fn forced_push(run: &GitRun) -> Option<Danger> {
    let call = &run.call;
    if !call.is_forced_push() {
        return None;
    }
    let is_plain = call.args.iter().take_while(|w| w.text != "--").any(|w| match w.text.strip_prefix("--") {
        Some(long) => long.len() > 1 && "force".starts_with(long) || "mirror".starts_with(long) && long.len() > 1,
        None => w.text.strip_prefix('-').is_some_and(|letters| letters.contains('f')),
    });
    let overwrites = call.args.iter().any(|w| w.text.starts_with('+'));
    let milder = (!is_plain && !overwrites).then_some(Level::Ask);
    Some(Danger { class: Class::GitForcePush, milder })
}
