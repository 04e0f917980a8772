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
