//! Warm slots: detached worktrees made ahead of time, so that a run gets its files by a rename.
//!
//! A slot is always freshly made and leaves the pool for good: no agent's tree ever comes back. Its record in the
//! repository holds a mark, written as the last act of filling; a slot without one is thrown away. A mark of an
//! earlier boot does not count either: its files may never have reached the disk. Whoever works on a slot holds the
//! lock file beside it, which the kernel lets go when he dies.
//!
//! A claim goes so: mark away, lock reason "being made", the record's path, the rename, branch, HEAD, reason away.
//! Killed anywhere in between, the next call for the same worktree finds either nothing at the path (and makes it
//! anew) or a half-made worktree there (and finishes it); what is left in the pool has no mark and goes.

mod slot;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use rustix::fs::statvfs;

use crate::add::{Added, NewWorktree, Origin, Plan};
use crate::error::GitError;
use crate::new_worktree_path;
use crate::records::written_path;
use crate::refs::require_branch_name;
use crate::remove::throw_away;
use crate::repository::Repository;
use crate::tree::Tree;
use crate::worktrees::{MAKING, real, recorded_path};

use self::slot::Hold;

const SLOT: &str = "dandori: a warm slot";

#[derive(Clone, Debug)]
pub struct Pool {
    repository: Repository,
    folder: Utf8PathBuf,
    trash: Utf8PathBuf,
}

/// A slot that can be claimed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    pub path: Utf8PathBuf,
    pub base: Oid,
}

/// What filling did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Filled {
    pub made: u32,
    /// Brought to the base from an older one.
    pub moved: u32,
    /// Too many, or not whole.
    pub destroyed: u32,
    /// Free bytes, when they were too few to make all that were wanted.
    pub short_of_disk: Option<u64>,
}

impl Pool {
    /// `folder` is the pool's own; `trash` is on the same disk.
    pub fn new(repository: &Repository, folder: &Utf8Path, trash: &Utf8Path) -> Self {
        Self { repository: repository.clone(), folder: folder.to_owned(), trash: trash.to_owned() }
    }

    /// Gives a slot the place and branch of `new`; `None` when there is no slot, or something of `new` is there
    /// already: then [`Repository::add_worktree`] makes or finishes it.
    pub fn claim(&self, new: &NewWorktree) -> Result<Option<Added>, GitError> {
        require_branch_name(&new.branch)?;
        if self.whole_slots()?.is_empty() {
            return Ok(None);
        }
        let held = self.repository.lock_worktrees()?;
        let Some(plan) = self.plan(new)? else { return Ok(None) };
        let Some((slot, hold)) = self.take_slot(&plan.tip)? else { return Ok(None) };
        let tree = self.tree_of(&slot.path);
        let handed = if slot.base == plan.tip {
            self.hand_over(&tree, new, &plan).map(|tree| (tree, plan.tip, Origin::WarmSlot))
        } else {
            drop(held);
            tree.drop_slot_mark()?;
            tree.bring(&slot.base, &plan.tip)?;
            let _held = self.repository.lock_worktrees()?;
            // Others had their turn: the slot is only right if nothing has changed.
            match self.plan(new)? {
                Some(again) if again.tip == plan.tip => {
                    self.hand_over(&tree, new, &again).map(|tree| (tree, again.tip, Origin::MovedSlot))
                }
                _ => return Ok(None),
            }
        };
        match handed {
            Ok((tree, tip, origin)) => {
                hold.forget();
                Ok(Some(Added { tree, tip, origin }))
            }
            // A worktree on another disk than the pool cannot be had by a rename.
            Err(GitError::Io { source, .. }) if source.kind() == io::ErrorKind::CrossesDevices => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Path and branch checked under the lock; `None` when there is already a record at the path.
    fn plan(&self, new: &NewWorktree) -> Result<Option<Plan>, GitError> {
        if self.repository.worktree(&new.path)?.is_some() {
            return Ok(None);
        }
        new_worktree_path::check_new(&new.path, &new.root)?;
        self.repository.plan_for(new, None).map(Some)
    }

    /// A whole slot nobody is working on: on the tip if there is one, else any.
    fn take_slot(&self, tip: &Oid) -> Result<Option<(Slot, Hold)>, GitError> {
        let mut slots = self.whole_slots()?;
        slots.sort_by_key(|slot| slot.base != *tip);
        for slot in slots {
            let Some(hold) = Hold::take(&slot.path)? else { continue };
            // Somebody may have worked on it between the look and the hold.
            if let Some(mark) = self.tree_of(&slot.path).slot_mark()? {
                return Ok(Some((Slot { base: mark.base, ..slot }, hold)));
            }
        }
        Ok(None)
    }

    /// The caller holds the repository's lock and the slot.
    fn hand_over(&self, slot: &Tree, new: &NewWorktree, plan: &Plan) -> Result<Tree, GitError> {
        slot.drop_slot_mark()?;
        slot.relabel(MAKING)?;
        // Of two errors the first is the one to tell. A slot without a record or a mark is swept away later.
        let moved = self.put_in_place(slot, new).inspect_err(|_| drop(slot.remove_record()))?;
        self.repository.take_branch(&moved, &new.branch, plan).inspect_err(|error| {
            let _ = throw_away(moved.path(), &self.trash);
            let _ = moved.remove_record();
            let _ = self.repository.give_branch_back(&new.branch, plan, error);
        })?;
        moved.drop_our_lock()?;
        Ok(moved)
    }

    /// The record first: with the directory not yet there it is one that may be dropped; the other way round it
    /// would be a directory nobody knows.
    fn put_in_place(&self, slot: &Tree, new: &NewWorktree) -> Result<Tree, GitError> {
        if let Some(parent) = new.path.parent() {
            std::fs::create_dir_all(parent).map_err(GitError::io(parent))?;
        }
        let path = real(&new.path);
        slot.write_small("gitdir", &format!("{}\n", path.join(".git")))?;
        std::fs::rename(slot.path(), &path).map_err(GitError::io(&path))?;
        self.repository.remember_record(&path, slot.git_dir());
        Ok(Tree::new(&self.repository, &path, slot.git_dir()))
    }

    /// Brings the pool to `want` slots on `base`: what is not whole goes, older ones are brought up to it, missing
    /// ones are made as long as `min_free_bytes` stay free. For the background; claims go on meanwhile.
    pub fn fill(&self, base: &Oid, want: usize, min_free_bytes: u64) -> Result<Filled, GitError> {
        std::fs::create_dir_all(&self.folder).map_err(GitError::io(&self.folder))?;
        let mut filled = Filled { destroyed: self.sweep()?, ..Filled::default() };
        let mut slots = self.whole_slots()?;
        slots.sort_by_key(|slot| slot.base != *base);
        for surplus in slots.drain(want.min(slots.len())..) {
            filled.destroyed += u32::from(self.destroy(&surplus.path)?);
        }
        let mut fresh = Vec::new();
        for slot in slots.iter().filter(|s| s.base != *base) {
            if self.refresh(&slot.path, base)? {
                filled.moved += 1;
                fresh.push(slot.path.clone());
            }
        }
        for _ in slots.len()..want {
            let free = free_bytes(&self.folder)?;
            if free < min_free_bytes {
                filled.short_of_disk = Some(free);
                break;
            }
            fresh.push(self.make_slot(base)?);
            filled.made += 1;
        }
        self.settle_indexes(&fresh)?;
        Ok(filled)
    }

    /// git takes a file for possibly changed, and reads it whole, when it was written in the same second as the
    /// index: in a fresh checkout that is most of them, and every status costs many times what it should. A second
    /// later, with nobody having touched a slot, the index may say it is newer.
    fn settle_indexes(&self, fresh: &[Utf8PathBuf]) -> Result<(), GitError> {
        for path in fresh {
            let tree = self.tree_of(path);
            let Some(_hold) = Hold::take(path)? else { continue };
            if tree.slot_mark()?.is_some() {
                tree.date_index_after_its_files()?;
            }
        }
        Ok(())
    }

    /// The slots that can be claimed.
    pub fn list(&self) -> Result<Vec<Slot>, GitError> {
        self.whole_slots()
    }

    /// Throws every slot away that nobody is working on.
    pub fn clear(&self) -> Result<u32, GitError> {
        let mut destroyed = 0;
        for path in self.slot_paths()? {
            destroyed += u32::from(self.destroy(&path)?);
        }
        Ok(destroyed)
    }

    fn make_slot(&self, base: &Oid) -> Result<Utf8PathBuf, GitError> {
        let path = self.folder.join(format!("slot-{:016x}", dandori_host::random() >> 64));
        let Some(_hold) = Hold::take(&path)? else {
            return Err(GitError::unexpected(format!("{path} is in use")));
        };
        let tree = {
            let _held = self.repository.lock_worktrees()?;
            self.repository.make_record(&path, base, SLOT)?
        };
        let filled = tree.check_out(base).and_then(|()| tree.write_slot_mark(base));
        filled.inspect_err(|_| drop(self.discard(&path)))?;
        Ok(path)
    }

    fn refresh(&self, path: &Utf8Path, base: &Oid) -> Result<bool, GitError> {
        let Some(_hold) = Hold::take(path)? else { return Ok(false) };
        let Some(mark) = self.tree_of(path).slot_mark()? else { return Ok(false) };
        let tree = self.tree_of(path);
        tree.drop_slot_mark()?;
        tree.bring(&mark.base, base)?;
        tree.cmd().args(["update-ref", "--no-deref", "HEAD", base.as_str()]).run_patiently()?;
        tree.write_slot_mark(base)?;
        Ok(true)
    }

    /// Slots that are not whole and that nobody is working on.
    fn sweep(&self) -> Result<u32, GitError> {
        let mut destroyed = 0;
        for path in self.slot_paths()? {
            let tree = self.tree_of(&path);
            // Looked at again under the hold: whoever was making it may have just finished.
            if tree.slot_mark()?.is_none()
                && let Some(hold) = Hold::take(&path)?
                && tree.slot_mark()?.is_none()
            {
                self.discard(&path)?;
                hold.forget();
                destroyed += 1;
            }
        }
        self.sweep_records()?;
        // Lock files whose slot is gone.
        for entry in self.folder.read_dir_utf8().map_err(GitError::io(&self.folder))?.flatten() {
            let slot = entry.path().with_extension("");
            if entry.path().extension() == Some("lock")
                && slot.symlink_metadata().is_err()
                && let Some(hold) = Hold::take(&slot)?
            {
                hold.forget();
            }
        }
        Ok(destroyed)
    }

    /// Records whose slot was thrown away, or never came to be, when somebody was killed. They are locked: git would
    /// keep them for ever.
    fn sweep_records(&self) -> Result<(), GitError> {
        let records = self.repository.common_dir().join("worktrees");
        let Ok(entries) = records.read_dir_utf8() else { return Ok(()) };
        let _held = self.repository.lock_worktrees()?;
        for entry in entries.flatten().filter(|e| e.file_name().starts_with("slot-")) {
            let slot = self.folder.join(entry.file_name());
            let tree = self.tree_of(&slot);
            let is_ours = match written_path(tree.git_dir()) {
                // Nearly all are worktrees by now: their names alone tell.
                Some(at) => at.file_name() == slot.file_name() && real(&at) == real(&slot),
                // Under the lock nobody is just making it.
                None => tree.lock_reason()?.is_none_or(|reason| reason.is_empty() || reason == SLOT),
            };
            if is_ours && slot.symlink_metadata().is_err() {
                tree.remove_record()?;
            }
        }
        Ok(())
    }

    /// Whether it was ours to destroy: somebody may be working on it.
    fn destroy(&self, path: &Utf8Path) -> Result<bool, GitError> {
        let Some(hold) = Hold::take(path)? else { return Ok(false) };
        self.discard(path)?;
        hold.forget();
        Ok(true)
    }

    fn discard(&self, path: &Utf8Path) -> Result<(), GitError> {
        let _held = self.repository.lock_worktrees()?;
        let tree = self.tree_of(path);
        // The record may already be the one of a worktree elsewhere: a claim that was killed before the rename.
        let is_of_slot = recorded_path(tree.git_dir()).is_some_and(|at| at == real(path));
        if is_of_slot {
            tree.drop_slot_mark()?;
        }
        throw_away(path, &self.trash)?;
        if is_of_slot { tree.remove_record() } else { Ok(()) }
    }

    fn whole_slots(&self) -> Result<Vec<Slot>, GitError> {
        let mut slots = Vec::new();
        for path in self.slot_paths()? {
            if let Some(mark) = self.tree_of(&path).slot_mark()? {
                slots.push(Slot { path, base: mark.base });
            }
        }
        Ok(slots)
    }

    fn slot_paths(&self) -> Result<Vec<Utf8PathBuf>, GitError> {
        let entries = match self.folder.read_dir_utf8() {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(GitError::io(&self.folder)(e)),
        };
        let mut paths: Vec<_> = entries
            .flatten()
            .filter(|e| e.file_name().starts_with("slot-") && e.file_type().is_ok_and(|t| t.is_dir()))
            .map(camino::Utf8DirEntry::into_path)
            .collect();
        paths.sort();
        Ok(paths)
    }

    /// A slot's name is random and git names the record after it, so it is found without looking at the others.
    fn tree_of(&self, path: &Utf8Path) -> Tree {
        let record = self.repository.common_dir().join("worktrees").join(path.file_name().unwrap_or_default());
        Tree::new(&self.repository, &real(path), &record)
    }
}

fn free_bytes(path: &Utf8Path) -> Result<u64, GitError> {
    let stat = statvfs(path.as_std_path()).map_err(|e| GitError::Io { path: path.to_owned(), source: e.into() })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
