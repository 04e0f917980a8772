//! The names a line gives: `git tag origin/main work` makes another thing of `git merge origin/main`.

use dandori_shell::{GitCall, Word};

use super::git_context::MAKES;
use super::refspec::Refspec;

/// What a line has made and deleted so far, as it lies below `refs/`: `heads/x`, `tags/v1`.
#[derive(Default)]
pub(super) struct Names {
    made: Vec<String>,
    deleted: Vec<String>,
}

impl Names {
    pub(super) fn has_made(&self, name: &str) -> bool {
        self.made.iter().any(|made| match made.split_once('*') {
            Some((before, after)) => name.starts_with(before) && name.ends_with(after),
            None => made == name,
        })
    }

    pub(super) fn has_deleted(&self, name: &str) -> bool {
        self.deleted.iter().any(|deleted| deleted == name)
    }

    pub(super) fn follow(&mut self, call: &GitCall) {
        let deleted = deleted(call);
        self.made.retain(|name| !deleted.contains(name));
        self.deleted.extend(deleted);
        let made = made(call);
        self.deleted.retain(|name| !made.contains(name));
        self.made.extend(made);
    }
}

fn below(folder: &str, word: &Word) -> String {
    format!("{folder}/{}", word.text)
}

fn deleted(call: &GitCall) -> Vec<String> {
    let folder = match call.subcommand.text.as_str() {
        "branch" if call.has_option("delete", Some('d')) || call.options("u", &[]).has(&["D"]) => "heads",
        "tag" if call.has_option("delete", Some('d')) => "tags",
        _ => return Vec::new(),
    };
    call.options("", &[]).operands.iter().map(|word| below(folder, word)).collect()
}

fn made(call: &GitCall) -> Vec<String> {
    let one = |name: Option<String>| name.into_iter().collect::<Vec<_>>();
    match call.subcommand.text.as_str() {
        "branch" | "tag" if !deleted(call).is_empty() => Vec::new(),
        "tag" => {
            let options = call.options("mFu", &["message", "file", "local-user", "sort", "format", "points-at"]);
            one(options
                .operands
                .first()
                .filter(|_| !options.has(&["l", "list", "v", "verify"]))
                .map(|w| below("tags", w)))
        }
        "branch" => {
            let options = call.options("u", &["set-upstream-to", "sort", "contains", "points-at", "format"]);
            let is_renamed = options.has(&["m", "M", "move", "c", "C", "copy"]);
            let named = if is_renamed { options.operands.last() } else { options.operands.first() };
            let is_asking = options.has(&["u", "set-upstream-to", "l", "list", "contains", "merged", "no-merged"]);
            one(named.filter(|_| !is_asking).map(|w| below("heads", w)))
        }
        "switch" | "checkout" => one(call.own_options().value(&MAKES).map(|w| below("heads", w))),
        "worktree" => one(call.options("bB", &["reason"]).value(&["b", "B"]).map(|w| below("heads", w))),
        "update-ref" | "symbolic-ref" => {
            let operands = call.options("m", &[]).operands;
            one(operands.first().filter(|_| operands.len() > 1).and_then(|w| inner(&w.text)))
        }
        "fetch" | "pull" => written(call.own_options().operands.get(1..)),
        "push" => written(call.options("o", &["push-option", "repo", "receive-pack", "exec"]).operands.get(1..)),
        _ => Vec::new(),
    }
}

fn written(specs: Option<&[Word]>) -> Vec<String> {
    let specs = specs.unwrap_or_default().iter().filter(|word| word.text.contains(':'));
    specs.filter_map(|word| inner(&Refspec::read(&word.text).to)).collect()
}

/// `refs/tags/x` and `tags/x` as `tags/x`; a branch without its folder gets it again. What remotes are said to have is
/// watched where it is written.
fn inner(name: &str) -> Option<String> {
    let is_whole = name.starts_with("refs/");
    let name = name.strip_prefix("refs/").unwrap_or(name);
    if name.starts_with("remotes/") {
        return None;
    }
    let has_folder = is_whole || name.starts_with("tags/") || name.starts_with("heads/");
    Some(if has_folder { name.to_owned() } else { format!("heads/{name}") })
}
