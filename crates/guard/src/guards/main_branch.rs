//! Nothing is done on the main branch: not a commit, not a push to it, and in the discipline profile not an edit either.
//!
//! Which branch that is is asked of the target's own checkout: an agent may stand in one worktree and write in another.
//! What only catches main up with its own remote passes, as `git pull` does.

use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_text::guard::branch as text;

use crate::context::Context;
use crate::rules::MainWhat;
use crate::voice::{Trouble, Voice};
use crate::world::{Checkout, Head};

use super::git_run::{GitRun, git_runs};
use super::secrets::shown;

mod git_context;
mod moves;
mod names;
mod own;
mod refspec;

use git_context::GitContext;
use moves::Moves;
use names::Names;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let (line, moved) = GitLine::until(context, |place, run| {
        let moves = moves::main_moved_by(place, &run.call)?;
        Some(Moved { moves, what: run.command.line(), checkout: place.checkout.cloned() })
    });
    if let Some(moved) = moved {
        if !is_excused(context, moved.checkout.as_ref())? {
            voice.block(match &moved.moves {
                Moves::Branch(branch) => text::moves_main(context.lang, branch, &moved.what),
                Moves::FromInput => text::moves_unseen(context.lang, &moved.what),
            });
        }
        return Ok(());
    }
    if context.rules.main.what == MainWhat::Branch {
        return Ok(());
    }
    let named = context.targets().iter().filter(|target| !target.is_computed).filter_map(|target| {
        let checkout = context.checkout(&target.real)?;
        Some((checkout, shown(context, &target.real)))
    });
    let hidden = context.computed_writes().iter().map(|write| (write.checkout.clone(), write.shown.clone()));
    for (checkout, path) in named.chain(hidden) {
        let Head::Branch(branch) = &checkout.head else { continue };
        let is_away = |to: &Head| !matches!(to, Head::Branch(branch) if is_main(context, branch));
        let has_left = line.switches.iter().any(|(root, to)| *root == checkout.root && is_away(to));
        if is_main(context, branch) && !has_left && !is_excused(context, Some(&checkout))? {
            voice.block(text::edits_main(context.lang, branch, &path));
            return Ok(());
        }
    }
    Ok(())
}

/// The main branch that a line merges something into, other than what its own remote has.
pub(super) fn merged_into(context: &Context) -> Option<String> {
    let (_, main) = GitLine::until(context, |place, run| {
        if run.is("merge") && !moves::only_looks(&run.call) { moves::merge(place, &run.call) } else { None }
    });
    main
}

pub(super) fn is_main(context: &Context, branch: &str) -> bool {
    context.rules.main.branches.iter().any(|main| fast_glob::glob_match(main, branch))
}

/// The seed's other reading: only while the focus is the workspace.
fn is_excused(context: &Context, checkout: Option<&Checkout>) -> Result<bool, Trouble> {
    let Some(checkout) = checkout.filter(|_| context.rules.main.only_workspace) else { return Ok(false) };
    Ok(context.documents(checkout)?.state.focus.as_deref() != Some("workspace"))
}

/// It is the top of one already, which `git init` leaves as it is.
fn is_repository(context: &Context, folder: &Utf8Path) -> bool {
    context.checkout(&folder.join(".")).is_some_and(|checkout| checkout.root == folder)
}

/// The git commands of a line, followed from one to the next: `git switch -c x && git commit` commits on `x`.
#[derive(Default)]
struct GitLine {
    /// Where each checkout went.
    switches: Vec<(Utf8PathBuf, Head)>,
    /// Work trees the line has made, and what they stand on.
    made: Vec<(Utf8PathBuf, String)>,
    /// Folders the line has made repositories of: whatever is called main there has nothing on it yet.
    fresh: Vec<Utf8PathBuf>,
    /// The branch that was left last.
    left: Option<String>,
    /// What the line has set with `git config`.
    settings: Vec<(String, String)>,
    /// Names of settings that the line has changed, be it for one command.
    changed: Vec<String>,
    /// Branches and tags the line has made and deleted.
    names: Names,
    /// What the last `git fetch` of the line brought is main's own.
    fetched: Option<bool>,
}

struct Moved {
    moves: Moves,
    what: String,
    checkout: Option<Checkout>,
}

impl GitLine {
    /// Follows the line up to the first command that the question has an answer for.
    fn until<T>(context: &Context, mut ask: impl FnMut(&GitContext, &GitRun) -> Option<T>) -> (Self, Option<T>) {
        let mut line = Self::default();
        for run in git_runs(context) {
            let answer = line.follow(context, &run, &mut ask);
            if answer.is_some() {
                return (line, answer);
            }
        }
        (line, None)
    }

    fn follow<T>(
        &mut self,
        context: &Context,
        run: &GitRun,
        ask: &mut impl FnMut(&GitContext, &GitRun) -> Option<T>,
    ) -> Option<T> {
        if self.is_fresh(run) {
            return None;
        }
        self.fresh.extend(run.makes_a_repository().filter(|root| !is_repository(context, root)));
        // With another git folder named, or a computed one, the session's own checkout is the best guess.
        let checkout = run.checkout(context).or_else(|| context.project.clone().map(Rc::new));
        let made = run.folder.as_ref().and_then(|folder| self.made.iter().rfind(|(root, _)| folder.starts_with(root)));
        let branch = match made {
            Some((_, branch)) => Some(branch.clone()),
            None => run.head(context).or_else(|| checkout.as_ref().and_then(|checkout| self.branch_of(checkout))),
        };
        let place = GitContext {
            context,
            checkout: checkout.as_deref(),
            folder: run.folder.as_deref(),
            branch: branch.as_deref(),
            line: self,
        };
        let answer = ask(&place, run);
        if answer.is_some() {
            return answer;
        }
        let fetched = (run.is("fetch") || run.is("pull")).then(|| place.fetches_own(&run.call));
        let to = place.goes_to(&run.call);
        let sets = run.sets(branch.as_deref());
        self.fetched = fetched.or(self.fetched);
        self.names.follow(&run.call);
        self.made.extend(run.makes_a_worktree());
        if let (Some(to), Some(checkout)) = (to, &checkout) {
            self.left = branch;
            self.switches.push((checkout.root.clone(), to));
        }
        let changed = run.call.config.iter().map(|(key, _)| key).chain(sets.iter().map(|(key, _)| key));
        self.changed.extend(changed.map(|key| key.to_ascii_lowercase()));
        self.settings.extend(sets);
        None
    }

    /// It stays in a repository of the line's own. What is pushed from there goes elsewhere.
    fn is_fresh(&self, run: &GitRun) -> bool {
        let leaves = ["push", "send-pack", "http-push", "subtree"].iter().any(|verb| run.is(verb));
        let is_own = |folder: &Utf8PathBuf| self.fresh.iter().any(|root| folder.starts_with(root));
        !leaves && !run.call.elsewhere && run.folder.as_ref().is_some_and(is_own)
    }

    /// Where a checkout would stand by now.
    fn branch_of(&self, checkout: &Checkout) -> Option<String> {
        let switched = self.switches.iter().rev().find(|(root, _)| *root == checkout.root);
        match switched.map_or(&checkout.head, |(_, to)| to) {
            Head::Branch(branch) => Some(branch.clone()),
            Head::Unborn(_) | Head::Detached => None,
        }
    }
}

#[cfg(test)]
mod tests;
