//! Git commands that throw work away.

use dandori_domain::guard::Level;
use dandori_shell::GitCall;

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
    if run.is_dry_run() || call.args.iter().any(|w| matches!(w.text.as_str(), "--help" | "-h")) {
        return None;
    }
    let first = run.first();
    let class = match call.subcommand.text.as_str() {
        "push" | "send-pack" => return forced_push(run),
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
        return hides_options(call).then_some(Danger { class: Class::GitForcePush, milder: Some(Level::Ask) });
    }
    let is_plain = call.args.iter().take_while(|w| w.text != "--").any(|w| match w.text.strip_prefix("--") {
        Some(long) => long.len() > 1 && "force".starts_with(long) || "mirror".starts_with(long) && long.len() > 1,
        None => w.text.strip_prefix('-').is_some_and(|letters| letters.contains('f')),
    });
    let overwrites = call.args.iter().any(|w| w.text.starts_with('+'));
    let milder = (!is_plain && !overwrites).then_some(Level::Ask);
    Some(Danger { class: Class::GitForcePush, milder })
}

/// `git push $OPTS`, `git push ${FORCE:+--force} origin x`, `git push "${ARGS[@]}"`, `git push origin HEAD:$TARGET`: what
/// comes out may be `--force` or main. A branch that is only a variable, `git push origin "$BRANCH"`, is a branch.
fn hides_options(call: &GitCall) -> bool {
    const REMOTES: [&str; 3] = ["origin", "upstream", "fork"];
    let operands = argv::operands(&call.args, &["-o", "--push-option", "--repo"]);
    let is_shifted = operands.iter().skip(1).any(|word| REMOTES.contains(&word.text.as_str()));
    operands.iter().enumerate().filter(|(_, word)| word.is_computed()).any(|(at, word)| {
        let text = word.text.as_str();
        let has_option = text.starts_with("${") && ["-f", "--", "[@]", "[*]"].iter().any(|part| text.contains(part));
        let is_first = at == 0 && (operands.len() == 1 || is_shifted);
        let is_target = text.split_once(':').is_some_and(|(from, to)| !from.contains('$') && to.starts_with('$'));
        has_option || is_first || is_target
    })
}
