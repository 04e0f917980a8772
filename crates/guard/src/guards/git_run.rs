//! The git commands of a line, each with the folder it works in.

use std::rc::Rc;

use camino::Utf8PathBuf;
use dandori_shell::{Command, GitCall, git_call};

use crate::change::resolve;
use crate::context::Context;
use crate::world::Checkout;

pub(super) struct GitRun<'c> {
    pub(super) command: &'c Command,
    pub(super) call: GitCall,
    /// Unknown after a `cd` to somewhere computed, or with `--git-dir`.
    pub(super) folder: Option<Utf8PathBuf>,
}

impl GitRun<'_> {
    pub(super) fn is(&self, subcommand: &str) -> bool {
        self.call.subcommand.text == subcommand
    }

    /// Asks only what would happen. `-n` is something else for most subcommands.
    pub(super) fn is_dry_run(&self) -> bool {
        let short = match self.call.subcommand.text.as_str() {
            "push" | "clean" | "rm" | "mv" | "add" | "fetch" => Some('n'),
            _ => None,
        };
        self.call.has_option("dry-run", short)
    }

    pub(super) fn first(&self) -> &str {
        self.call.args.first().map(|w| w.text.as_str()).unwrap_or_default()
    }

    /// The checkout it works in; the project's where that is not known.
    pub(super) fn checkout(&self, context: &Context) -> Option<Rc<Checkout>> {
        match &self.folder {
            Some(folder) => context.checkout(folder),
            None => context.project.clone().map(Rc::new),
        }
    }

    /// The branch of a git folder that is named itself: `--git-dir`, `GIT_DIR`.
    pub(super) fn head(&self, context: &Context) -> Option<String> {
        let named = self.call.git_dir.as_ref().filter(|word| !word.is_computed())?;
        let mut folder = resolve(context.folder_of(self.command).as_deref(), &named.text);
        // A work tree's `.git` may be a file that says where the folder is.
        if let Some(text) = context.world.text(&folder).ok().flatten()
            && let Some(to) = text.strip_prefix("gitdir:")
        {
            folder = resolve(folder.parent(), to.trim());
        }
        let head = context.world.text(&folder.join("HEAD")).ok()??;
        head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// What `git config`, `git remote`, `git branch -u` and `--track` set for the commands after it.
    pub(super) fn sets(&self, branch: Option<&str>) -> Vec<(String, String)> {
        let upstream = |branch: &str, of: &str| {
            let (remote, merge) = of.split_once('/').unwrap_or((".", of));
            vec![
                (format!("branch.{branch}.remote"), remote.to_owned()),
                (format!("branch.{branch}.merge"), format!("refs/heads/{merge}")),
            ]
        };
        match self.call.subcommand.text.as_str() {
            "config" => {
                let operands = self.call.options("f", &["file", "type"]).operands;
                let words: Vec<&str> = operands.iter().map(|w| w.text.as_str()).filter(|w| *w != "set").collect();
                match words.as_slice() {
                    // A remote under another's name is another remote.
                    [_, to] if self.call.has_option("rename-section", None) => {
                        vec![(format!("{to}.url"), String::new())]
                    }
                    ["rename-section", _, to] => vec![(format!("{to}.url"), String::new())],
                    [key, value, ..] => vec![((*key).to_owned(), (*value).to_owned())],
                    _ => Vec::new(),
                }
            }
            "remote" => {
                let operands = self.call.options("tm", &["track", "master"]).operands;
                let words: Vec<&str> = operands.iter().map(|w| w.text.as_str()).collect();
                match words.as_slice() {
                    ["add" | "set-url", name, url, ..] => vec![(format!("remote.{name}.url"), (*url).to_owned())],
                    ["rename", _, name, ..] => vec![(format!("remote.{name}.url"), String::new())],
                    ["set-branches", name, ..] => vec![(format!("remote.{name}.fetch"), String::new())],
                    _ => Vec::new(),
                }
            }
            "branch" => {
                let options = self.call.options("u", &["set-upstream-to"]);
                let branch = options.operands.first().map(|w| w.text.as_str()).or(branch);
                let of = options.value(&["u", "set-upstream-to"]);
                branch.zip(of).map(|(branch, of)| upstream(branch, &of.text)).unwrap_or_default()
            }
            "checkout" | "switch" => {
                let options = self.call.options("bBcC", &["create", "force-create"]);
                let made = options.value(&["b", "B", "c", "C", "create", "force-create"]);
                match (made, options.operands.first()) {
                    (Some(made), Some(of)) if of.text.contains('/') => upstream(&made.text, &of.text),
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// `git init [folder]`
    pub(super) fn makes_a_repository(&self) -> Option<Utf8PathBuf> {
        if !self.is("init") || self.call.elsewhere {
            return None;
        }
        let valued = ["initial-branch", "template", "separate-git-dir", "object-format", "ref-format", "shared"];
        let options = self.call.options("b", &valued);
        match options.operands.first() {
            Some(word) if word.is_computed() => None,
            Some(word) => Some(resolve(Some(self.folder.as_deref()?), &word.text)),
            None => self.folder.clone(),
        }
    }

    /// `git worktree add <path> <branch>`
    pub(super) fn makes_a_worktree(&self) -> Option<(Utf8PathBuf, String)> {
        let options = self.call.options("bB", &["reason"]);
        let mut operands = options.operands.iter();
        if !self.is("worktree") || operands.next()?.text != "add" || self.call.has_option("detach", Some('d')) {
            return None;
        }
        let path = resolve(self.folder.as_deref(), &operands.next()?.text);
        let named = options.value(&["b", "B"]).or(operands.next()).map(|word| word.text.clone());
        let branch = named.or_else(|| path.file_name().map(str::to_owned))?;
        Some((path, branch))
    }

    /// It works in the project, or in another worktree of it.
    pub(super) fn is_in_project(&self, context: &Context) -> bool {
        match (self.checkout(context), &context.project) {
            (Some(checkout), Some(project)) => checkout.common_dir == project.common_dir,
            _ => false,
        }
    }
}

pub(super) fn git_runs<'c>(context: &'c Context) -> Vec<GitRun<'c>> {
    let run = |command: &'c Command| {
        let call = git_call(command)?;
        let folder = match &call.folder {
            _ if call.elsewhere => None,
            Some(folder) if folder.is_computed() => None,
            Some(folder) => {
                let base = context.folder_of(command)?;
                let text = match folder.text.strip_prefix("~/").zip(context.world.home()) {
                    Some((rest, home)) => home.join(rest).into_string(),
                    None => folder.text.clone(),
                };
                Some(resolve(Some(&base), &text))
            }
            None => context.folder_of(command),
        };
        Some(GitRun { command, call, folder })
    };
    context.commands().iter().filter_map(run).collect()
}
