//! A worktree by hand: recorded, made, set up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_config::set_up;
use dandori_domain::Problem;
use dandori_domain::run::{Note, SetUpChoice, Start};
use dandori_domain::worktree::{Owner, Worktree};
use dandori_git::{ExistingBranch, Fetch, NewWorktree};
use dandori_host::cmd::last_lines;
use dandori_host::{Cmd, Env, now};

use super::{fresh_key, owned_by};
use crate::Engine;
use crate::edges::{Footing, Site, beginning, free_branch_for, lock_reason, refuse_unsupported};
use crate::repos::Known;
use crate::run::check_line;
use crate::trouble::store_problem;
use dandori_host::layout::{real, without_dots};

/// All the set-up commands together may take so long; whoever asked waits for them.
const SET_UP_PATIENCE: Duration = Duration::from_mins(8);

/// `dandori worktree add`
#[derive(Clone, Default)]
pub struct NewWorktreeRequest {
    /// A folder in the repository.
    pub path: Utf8PathBuf,
    pub branch: Option<String>,
    pub base: Option<String>,
    /// Where, from `path`; below the state root without it.
    pub at: Option<Utf8PathBuf>,
    pub session: Option<String>,
    pub skip_set_up: bool,
    /// The environment of whoever asks; the daemon's own without it.
    pub caller: Option<Arc<Env>>,
}

impl Engine {
    pub async fn add_worktree(&self, request: NewWorktreeRequest) -> Result<(Worktree, Start, Vec<Note>), Problem> {
        for (what, text) in [("base", &request.base), ("branch", &request.branch), ("session", &request.session)] {
            check_line(what, text.as_deref())?;
        }
        let known = self.open_at(&request.path).await?;
        let config = self.config_of(&known.repo)?;
        let set_up = if request.skip_set_up { SetUpChoice::Nothing } else { config.set_up.choice() };
        if matches!(set_up, SetUpChoice::Commands(_)) {
            self.require_trust(&known.repo)?;
        }
        self.require_disk()?;
        let layout = self.layout().repo(known.repo.id);
        let key = fresh_key();
        let (place, root) = match &request.at {
            // Nothing on the way to a place of the user's choice is trusted.
            Some(at) => (self.chosen_place(&request.path, at)?, Utf8PathBuf::from("/")),
            None => (layout.worktrees().join(format!("wt_{key}")), layout.worktrees()),
        };
        let branch = match request.branch {
            Some(branch) => branch,
            None => {
                let (git, key, usual) = (known.git.clone(), key.clone(), format!("dandori/{key}"));
                let free = self.blocking(move |_| free_branch_for(&git, &key)).await?.map_err(|e| e.problem())?;
                free.unwrap_or(usual)
            }
        };
        let plan = Worktree {
            key: key.clone(),
            repo: known.repo.id,
            path: place,
            branch,
            branch_is_ours: true,
            base: String::new(),
            base_oid: dandori_domain::Oid::new(""),
            owner: owned_by(request.session),
            created_at: now(),
            removed_at: None,
        };
        let site = Site { repo: known.repo.clone(), base: config.base, own: self.0.own.clone() };
        let (asked, from, here) = (request.base, request.path.clone(), known.clone());
        let (worktree, start, mut notes) = self
            .blocking(move |engine| {
                let footing = engine.0.edges.git.footing(&site, &from, asked.as_deref())?;
                let named = if asked.is_some() { Base::Named } else { Base::Usual };
                start_at(&here, plan, &footing, site.base.as_deref(), named)
            })
            .await??;
        let being_made = self.0.making.begin(&key);
        self.store().put_worktree(worktree.clone(), now()).await.map_err(|e| store_problem(&e))?;
        let new = worktree.clone();
        let made = self
            .blocking(move |_| {
                // Here, so that it outlives a caller who does not wait for the end.
                let _being_made = being_made;
                make(&known, &new, root)
            })
            .await?;
        if let Err(problem) = made {
            if worktree.path.symlink_metadata().is_err() {
                self.store().mark_removed(key, now()).await.map_err(|e| store_problem(&e))?;
            }
            return Err(problem);
        }
        let (tree, env) = (worktree.path.clone(), request.caller);
        notes.extend(
            self.blocking(move |engine| {
                let managers = set_up::hook_managers(&tree).into_iter();
                let managers = managers.map(|name| Note::HookManager { name: name.to_owned() });
                let env = env.as_deref().unwrap_or_else(|| engine.env());
                let missing = Self::set_up_notes(&set_up, &tree, env);
                let failed = set_up_by_hand(&tree, &set_up, env);
                managers.chain(missing).chain(failed).collect::<Vec<_>>()
            })
            .await?,
        );
        Ok((worktree, start, notes))
    }

    /// A place the user named: from where he stands, through no link, and not among what is dandori's own.
    fn chosen_place(&self, from: &Utf8Path, at: &Utf8Path) -> Result<Utf8PathBuf, Problem> {
        let place = without_dots(&real(from).join(at));
        let refuse = |reason: String| Err(Problem::UnsafePath { path: place.clone(), reason });
        let real_place = real(&place);
        if place.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return refuse("it is a symbolic link".to_owned());
        }
        if real_place != place {
            return refuse(format!("it goes through a symbolic link; the real path is {real_place}"));
        }
        if real_place.starts_with(real(self.layout().root())) {
            return refuse("it is inside dandori's state folder".to_owned());
        }
        if place.symlink_metadata().is_ok() {
            return Err(Problem::WorktreeExists { path: place });
        }
        Ok(place)
    }
}

/// Whether the user said what to start from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    Named,
    Usual,
}

/// From which commit, and whether the branch is there already.
fn start_at(
    known: &Known,
    mut worktree: Worktree,
    footing: &Footing,
    configured: Option<&str>,
    named: Base,
) -> Result<(Worktree, Start, Vec<Note>), Problem> {
    let git = &known.git;
    if !git.has_commit().map_err(|e| e.problem())? {
        return Err(Problem::NoCommitYet { path: known.repo.root.clone() });
    }
    let base = beginning(git, footing, configured, Fetch::First).map_err(|e| e.problem())?;
    refuse_unsupported(git, &base.commit)?;
    let mut start = base.start();
    let mut notes = Vec::new();
    worktree.base = base.branch;
    worktree.base_oid = base.commit;
    if let Some(tip) = git.branch_oid(&worktree.branch).map_err(|e| e.problem())? {
        notes.push(Note::BranchAttached { branch: worktree.branch.clone() });
        worktree.branch_is_ours = false;
        start = Start { base: worktree.branch.clone(), commit: tip.clone(), ..start };
        worktree.base_oid = tip;
    } else if named == Base::Usual
        && let Some(remote) = git.remote().map_err(|e| e.problem())?
        && let Some(tip) = git.remote_branch_oid(&worktree.branch).map_err(|e| e.problem())?
    {
        // A branch of this name was pushed: it goes on, no other one begins beside it.
        start = Start { base: format!("{}/{}", remote.name, worktree.branch), commit: tip.clone(), ..start };
        worktree.base_oid = tip;
    }
    // A checkout that cannot be looked at is no reason not to make another.
    let left_out = |checkout: &Utf8PathBuf| {
        let changed = git.changed_in(checkout).ok()??;
        git.left_out(checkout, &start.commit, changed).ok()?
    };
    start.left_out = footing.checkout.as_ref().and_then(left_out);
    Ok((worktree, start, notes))
}

fn make(known: &Known, worktree: &Worktree, root: Utf8PathBuf) -> Result<(), Problem> {
    let new = NewWorktree {
        path: worktree.path.clone(),
        root,
        branch: worktree.branch.clone(),
        base: worktree.base_oid.clone(),
        existing: if worktree.branch_is_ours { ExistingBranch::Refuse } else { ExistingBranch::Attach },
    };
    known.git.add_worktree(&new).map_err(|e| e.problem())?;
    if worktree.owner != Owner::Nobody {
        known.git.lock(&worktree.path, &lock_reason(&worktree.owner)).map_err(|e| e.problem())?;
    }
    Ok(())
}

/// The project's own set-up, as its user would run it there. What fails is told; the worktree stays.
fn set_up_by_hand(tree: &Utf8Path, choice: &SetUpChoice, env: &Env) -> Vec<Note> {
    let until = Instant::now() + SET_UP_PATIENCE;
    let commands =
        set_up::commands(choice, |file| tree.join(file).is_file(), |program| env.find_program(program).is_some());
    commands
        .into_iter()
        .filter_map(|command| {
            let left = until.saturating_duration_since(Instant::now());
            let ran = Cmd::new("/bin/sh", env).arg("-c").arg(&command.line).cwd(tree).deadline(left).run_any();
            let tail = match ran {
                Ok(output) if output.status.success() => return None,
                Ok(output) => last_lines(format!("{}\n{}", output.text(), output.stderr).trim(), 12),
                Err(error) => error.to_string(),
            };
            Some(Note::SetUpFailed { command: command.line, tail })
        })
        .collect()
}
