//! In a run the agent edits files, and dandori alone moves git.
//!
//! A forbidden subcommand stands for what it does: whoever may not commit may not cherry-pick either, because that
//! makes a commit too. Reading git's history stays free.

use camino::Utf8PathBuf;
use dandori_shell::{Certainty, GhCall, How, Touch, gh_call};

use crate::context::{By, Context, Target};
use crate::rules::Constraints;
use crate::voice::{Trouble, Voice};

use super::argv;
use super::git_run::{GitRun, git_runs};
use super::secrets::{self, Aim, Hit, is_example, shown};

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let Some(constraints) = &context.rules.constraints else { return Ok(()) };
    commands(context, constraints, voice);
    paths(context, constraints, voice);
    edits(context, constraints, voice);
    Ok(())
}

fn commands(context: &Context, constraints: &Constraints, voice: &mut Voice) {
    let lang = context.lang;
    for run in git_runs(context) {
        let is_met = |rule: &&String| matches_rule(&run, rule);
        if constraints.git.iter().any(|rule| is_met(&rule)) {
            let line = format!("git {}", run.call.subcommand.text);
            let message = match run.call.subcommand.text.as_str() {
                "checkout" | "restore" | "reset" | "switch" | "stash" => {
                    dandori_text::guard::bash::run_git_files(lang, &line)
                }
                _ => dandori_text::guard::bash::run_git(lang, &line),
            };
            voice.block(message);
        }
    }
    // gh pushes and merges by itself.
    for call in context.commands().iter().filter_map(gh_call) {
        let rule = match call.verb.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["pr", "create" | "update-branch"] | ["repo", "sync"] => "push",
            ["pr", "merge"] => "merge",
            ["pr", "checkout"] => "checkout",
            ["api"] if writes_code(&call) => "push",
            _ => continue,
        };
        if constraints.git.iter().any(|word| word == rule) {
            voice.block(dandori_text::guard::bash::run_git(lang, &format!("gh {}", call.verb.join(" "))));
        }
    }
}

/// Branches, files and pull requests through the interface.
fn writes_code(call: &GhCall) -> bool {
    let path = call.operands.first().map(|w| w.text.as_str()).unwrap_or_default();
    call.api_method().is_some_and(|method| method != "GET")
        && ["/git/", "/contents/", "/merge", "/pulls", "/branches"].iter().any(|part| path.contains(part))
}

/// `push`, or `reset --hard`: the subcommand or one that does the same, with all options the rule names.
fn matches_rule(run: &GitRun, rule: &str) -> bool {
    let mut words = rule.split_whitespace();
    let Some(subcommand) = words.next() else { return false };
    let options: Vec<&str> = words.collect();
    if run.is(subcommand) {
        let given = |option: &&str| match option.strip_prefix("--") {
            Some(long) => run.call.has_option(long, None),
            None => run.call.args.iter().any(|w| w.text == **option),
        };
        // What is only known when it runs may be the option.
        if options.iter().all(given) || !options.is_empty() && run.call.has_computed() {
            return !is_only_asking(run);
        }
    }
    is_relative(run, subcommand)
}

/// Subcommands that do the same by another name.
fn is_relative(run: &GitRun, forbidden: &str) -> bool {
    let call = &run.call;
    let has = |long, short| call.has_option(long, short);
    let operands = argv::operands(&call.args, &[]);
    let first = run.first();
    match (forbidden, call.subcommand.text.as_str()) {
        ("commit", "commit-tree" | "cherry-pick" | "revert" | "am" | "fast-import" | "update-ref" | "replace") => true,
        ("commit", "stash") => !matches!(first, "list" | "show"),
        ("commit", "tag") => !operands.is_empty() && !has("list", Some('l')) && !has("verify", Some('v')),
        ("commit", "notes") => !matches!(first, "" | "list" | "show"),
        ("push", "send-pack" | "http-push") => true,
        ("push", "subtree" | "lfs") => first == "push",
        ("push", "svn") => first == "dcommit",
        ("push", "remote") => matches!(first, "add" | "set-url" | "rename" | "remove" | "rm"),
        ("checkout", "switch" | "restore" | "checkout-index" | "sparse-checkout") => true,
        ("checkout", "read-tree") => has("update", Some('u')) || has("reset", None),
        ("checkout", "worktree") => !matches!(first, "list" | ""),
        ("checkout", "bisect") => !matches!(first, "log" | "visualize" | "view" | ""),
        ("checkout", "symbolic-ref") => operands.len() > 1 || has("delete", Some('d')),
        ("checkout", "branch") => {
            has("force", Some('f'))
                || has("delete", Some('d'))
                || has("move", Some('m'))
                || call.args.iter().any(|w| w.text.starts_with('-') && w.text.contains(['D', 'M', 'C']))
        }
        // Any reset that moves the branch, or throws away what stands in the files.
        ("reset", "reset") => {
            ["merge", "keep", "soft"].iter().any(|mode| has(mode, None))
                || operands.iter().any(|w| w.text.contains(['~', '^', '@']) || is_hash(&w.text))
        }
        ("rebase", "filter-branch" | "filter-repo") => true,
        ("rebase", "reflog") => matches!(first, "expire" | "delete"),
        ("rebase" | "merge", "pull") => true,
        ("merge", "subtree") => matches!(first, "merge" | "pull" | "add"),
        ("merge", "fetch") => operands.iter().any(|w| {
            w.text.split_once(':').is_some_and(|(_, to)| {
                !to.is_empty() && !to.starts_with("refs/remotes/") && !w.text.contains("://") && !w.text.contains('@')
            })
        }),
        _ => false,
    }
}

fn is_hash(text: &str) -> bool {
    text.len() >= 7 && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Nothing is changed by it.
fn is_only_asking(run: &GitRun) -> bool {
    run.call.has_option("help", Some('h')) && !run.is("commit")
        || run.call.args.iter().any(|w| w.text == "--help")
        || run.is("commit") && run.is_dry_run()
}

fn paths(context: &Context, constraints: &Constraints, voice: &mut Voice) {
    let lang = context.lang;
    let mut said: Vec<Utf8PathBuf> = Vec::new();
    let mut refuse = |path: &Utf8PathBuf, voice: &mut Voice| {
        if !said.contains(path) {
            voice.block_file(path.clone(), dandori_text::guard::bash::run_path(lang, &shown(context, path)));
            said.push(path.clone());
        }
    };
    for target in context.targets().iter().filter(|target| !is_example(&target.path)) {
        let takes_all = matches!(target.by, By::Shell(How::Removed | How::MovedAway));
        let aim = Aim::at(context, target);
        for pattern in &constraints.paths {
            match aim.hit(pattern) {
                Hit::Itself => refuse(&target.path, voice),
                Hit::Below if takes_all => refuse(&target.path, voice),
                // Git keeps its own folder out of what it and archives bring.
                Hit::Below if !pattern.starts_with(".git") => {
                    voice.ask(dandori_text::guard::bash::run_path_perhaps(
                        lang,
                        &shown(context, &target.path),
                        pattern,
                    ));
                }
                Hit::Below | Hit::No => {}
            }
        }
    }
    for path in secrets::read(context, &constraints.paths) {
        refuse(&path, voice);
    }
    computed(context, constraints, voice);
}

/// A run that may only read changes nothing in its worktree. Without a sandbox nothing else would hold it; with one, the agent
/// is told why. Where else it may write is for the sandbox and the other guards.
fn edits(context: &Context, constraints: &Constraints, voice: &mut Voice) {
    let is_held = |target: &&Target| {
        let paths = [&target.path, &target.real];
        let is_in = |folder: &Utf8PathBuf| paths.iter().any(|path| path.starts_with(folder));
        let is_around = |folder: &Utf8PathBuf| target.is_tree && paths.iter().any(|path| folder.starts_with(path));
        constraints.read_only.iter().any(|folder| is_in(folder) || is_around(folder))
    };
    let mut said: Vec<&Utf8PathBuf> = Vec::new();
    for target in context.targets().iter().filter(is_held) {
        if !said.contains(&&target.path) {
            let name = shown(context, &target.path);
            voice.block_file(target.path.clone(), dandori_text::guard::bash::run_only_reads(context.lang, &name));
            said.push(&target.path);
        }
    }
}

/// A path that is only known when it runs may be a forbidden one. Hidden files are left out: what lists files for such
/// a line leaves them away, and asking about every `xargs sed -i` would stop ordinary work.
fn computed(context: &Context, constraints: &Constraints, voice: &mut Voice) {
    let Some(reading) = context.reading() else { return };
    let is_plain = |pattern: &&String| !pattern.starts_with('.') && !pattern.contains(['*', '?', '[', '{']);
    for write in reading.writes.iter().filter(|write| write.path.certainty != Certainty::Literal) {
        for pattern in constraints.paths.iter().filter(is_plain) {
            if write.touches(pattern) != Touch::No {
                voice.ask(dandori_text::guard::bash::run_path_perhaps(context.lang, &write.path.text, pattern));
            }
        }
    }
}

#[cfg(test)]
mod tests;
