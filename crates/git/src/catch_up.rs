//! Following the remote's branch: what others have pushed comes in before work goes on.
//!
//! What is to be done is worked out first, without touching anything ([`Repository::catch_up`]), and done after
//! ([`Tree::arrive`]). Work of ours that contradicts theirs comes to lie on top of it as edits, with both sides in the
//! files between markers; a note beside the index says which files, until they are resolved.

use std::io;

use camino::Utf8PathBuf;
use dandori_domain::Oid;
use dandori_domain::run::{Arrival, Offline};

use crate::error::GitError;
use crate::gather::{Bounds, Lasting, Nested};
use crate::rebase::{Merged, Replay};
use crate::repository::Repository;
use crate::tree::Tree;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CatchUp {
    /// The remote has nothing we have not. `theirs` is what it has, when it has the branch at all.
    Current {
        theirs: Option<Oid>,
    },
    Behind(Arrival),
    /// The remote could not be asked.
    Offline(Offline),
}

impl Repository {
    /// How `branch`, which stands at `from`, gets to what the remote has now. Its commits after `ours_after` are
    /// our own and come along.
    pub fn catch_up(&self, branch: &str, from: &Oid, ours_after: &Oid) -> Result<CatchUp, GitError> {
        let Some(remote) = self.remote()? else { return Ok(CatchUp::Current { theirs: None }) };
        let theirs = match self.fetch_branch(&remote, branch) {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return Ok(CatchUp::Current { theirs: None }),
            Err(reason) => {
                let fetched_at = self.last_heard(&remote, branch);
                return Ok(CatchUp::Offline(Offline { reason, fetched_at }));
            }
        };
        if self.is_ancestor(&theirs, from)? {
            return Ok(CatchUp::Current { theirs: Some(theirs) });
        }
        let (to, files, conflicts) = if self.is_ancestor(from, &theirs)? {
            (theirs.clone(), theirs.clone(), Vec::new())
        } else {
            self.ours_on(&theirs, from, ours_after)?
        };
        let range = format!("{}..{}", from.as_str(), theirs.as_str());
        let counted = self.cmd().reading().args(["rev-list", "--count", &range]).run()?;
        let commits = counted.text().parse().unwrap_or(1);
        Ok(CatchUp::Behind(Arrival { from: from.clone(), to, files, conflicts, theirs, commits, base: None }))
    }

    /// How the work of `base` gets into the files of a branch that stands at `from`: merged, with both sides where they
    /// contradict each other. `None`: the branch has all of it.
    pub fn merge_in(&self, from: &Oid, base: &Oid) -> Result<Option<Arrival>, GitError> {
        if self.is_ancestor(base, from)? {
            return Ok(None);
        }
        // As seen from the base, so that the branch's own side is named last, as it is after a conflict with what others pushed.
        let (files, conflicts) = match self.merge_trees_of(None, base, from)? {
            Merged::Clean { tree } => (tree, Vec::new()),
            Merged::Conflict { tree, files } => (tree, files),
        };
        let range = format!("{}..{}", from.as_str(), base.as_str());
        let commits = self.cmd().reading().args(["rev-list", "--count", &range]).run()?.text().parse().unwrap_or(1);
        let (to, theirs) = (from.clone(), base.clone());
        Ok(Some(Arrival { from: from.clone(), to, files, conflicts, theirs, commits, base: Some(base.clone()) }))
    }

    /// The new tip, what the files become, and where both sides are in them.
    fn ours_on(&self, theirs: &Oid, ours: &Oid, ours_after: &Oid) -> Result<(Oid, Oid, Vec<String>), GitError> {
        if let Replay::Done { oid } = self.replay(ours, ours_after, theirs)? {
            return Ok((oid.clone(), oid, Vec::new()));
        }
        Ok(match self.merge_trees(ours_after, theirs, ours)? {
            Merged::Clean { tree } => (theirs.clone(), tree, Vec::new()),
            Merged::Conflict { tree, files } => (theirs.clone(), tree, files),
        })
    }
}

impl Tree {
    /// Brings files and branch to where [`Repository::catch_up`] said. Edits in files that change are an error, and
    /// then nothing was touched. The files move before the branch does: killed in between, the same call finishes it.
    pub fn arrive(&self, branch: &str, arrival: &Arrival) -> Result<(), GitError> {
        // A branch that does not move says nothing about its files; to bring them twice is harmless.
        let moves = arrival.from != arrival.to;
        if moves && self.repository.branch_oid(branch)?.as_ref() == Some(&arrival.to) {
            return Ok(());
        }
        self.bring(&arrival.from, &arrival.files)?;
        if !arrival.conflicts.is_empty() {
            let ours = if arrival.base.is_some() { &arrival.to } else { &arrival.from };
            let (theirs, ours) = (arrival.theirs.as_str(), ours.as_str());
            let fields = [theirs, ours].into_iter().chain(arrival.conflicts.iter().map(String::as_str));
            let note = fields.collect::<Vec<_>>().join("\0");
            dandori_host::replace_file(&self.conflict_note(), note.as_bytes(), 0o600)
                .map_err(GitError::io(&self.conflict_note()))?;
        }
        if moves {
            self.repository.move_branch(branch, &arrival.to, &arrival.from, "dandori: catch up")?;
        }
        Ok(())
    }

    /// Whether everything in it, but for ignored files, is as in one of these trees or commits.
    pub fn is_as(&self, any_of: &[&Oid]) -> Result<bool, GitError> {
        let now = self.gather(Nested::LeftOut, Lasting::Repeatable, Bounds::default())?.tree;
        for one in any_of {
            if self.repository.delta(one, &now)?.entries.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the files those of `tip` again. What else is in them goes, but for ignored files: only for one whose work is kept
    /// elsewhere.
    pub fn put_back(&self, tip: &Oid) -> Result<(), GitError> {
        self.forget_conflict()?;
        self.check_out(tip)?;
        self.write_files(&["clean", "-ffdq"])
    }

    /// The files in which both sides of a conflict still stand; `None` when there was none, or none is left.
    pub fn conflict(&self) -> Result<Option<Conflict>, GitError> {
        let note = match std::fs::read_to_string(self.conflict_note()) {
            Ok(note) => note,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(GitError::io(&self.conflict_note())(e)),
        };
        let mut fields = note.split('\0').map(str::to_owned);
        let (Some(theirs), Some(ours)) = (fields.next(), fields.next()) else { return Ok(None) };
        let has_markers = |file: &String| {
            let path = self.path().join(file);
            // An agent may have put anything in its place: only a plain file is read.
            let is_file = path.symlink_metadata().is_ok_and(|m| m.is_file());
            is_file && std::fs::read(&path).is_ok_and(|bytes| is_marked(&bytes, &theirs, &ours))
        };
        let (marked, plain) = fields.partition(has_markers);
        Ok(Some(Conflict { theirs: Oid::new(theirs), ours: Oid::new(ours), marked, plain }))
    }

    /// The conflict is no more.
    pub fn forget_conflict(&self) -> Result<(), GitError> {
        match std::fs::remove_file(self.conflict_note()) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(&self.conflict_note())(e)),
            _ => Ok(()),
        }
    }

    fn conflict_note(&self) -> Utf8PathBuf {
        self.git_dir().join("dandori-conflict")
    }
}

/// Two sides that contradict each other, as they are in a worktree's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    pub theirs: Oid,
    pub ours: Oid,
    /// Files with both sides between markers.
    pub marked: Vec<String>,
    /// Files without markers: resolved since, or never marked (binary, or deleted on one side).
    pub plain: Vec<String>,
}

impl Conflict {
    pub fn files(&self) -> Vec<String> {
        self.marked.iter().chain(&self.plain).cloned().collect()
    }
}

/// `<<<<<<< theirs` or `>>>>>>> ours` at the beginning of a line, however long git was told to make its markers.
fn is_marked(bytes: &[u8], theirs: &str, ours: &str) -> bool {
    let names = |line: &[u8], mark: u8, oid: &str| {
        let marks = line.iter().take_while(|byte| **byte == mark).count();
        let rest = line.get(marks..).unwrap_or_default();
        marks > 0 && rest.strip_prefix(b" ").is_some_and(|rest| rest.starts_with(oid.as_bytes()))
    };
    bytes.split(|byte| *byte == b'\n').any(|line| names(line, b'<', theirs) || names(line, b'>', ours))
}
