//! Moving a worktree's files and index from one commit to another, edits kept, and following the remote's branch.

use dandori_domain::Oid;

use crate::error::GitError;
use crate::stage::ScratchIndex;
use crate::tree::Tree;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CatchUp {
    /// The remote has nothing we have not.
    Current,
    /// Their commits are now in the worktree; uncommitted edits are kept.
    Forwarded { commits: u32, tip: Oid },
    /// Both sides have commits of their own: nothing was changed.
    Diverged { theirs: Oid },
    /// Uncommitted edits are in files their commits change: nothing was changed.
    EditsInTheWay { files: Vec<String>, theirs: Oid },
    /// The remote could not be asked: nothing was changed.
    Offline { reason: String },
}

impl Tree {
    /// Takes in what others pushed to the branch, when that is only more of it (T4).
    pub fn catch_up(&self, branch: &str) -> Result<CatchUp, GitError> {
        let theirs = match self.repository.fetch_branch(branch) {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return Ok(CatchUp::Current),
            Err(reason) => return Ok(CatchUp::Offline { reason }),
        };
        let ours = self.head()?;
        if self.repository.is_ancestor(&theirs, &ours)? {
            return Ok(CatchUp::Current);
        }
        if !self.repository.is_ancestor(&ours, &theirs)? {
            return Ok(CatchUp::Diverged { theirs });
        }
        let range = format!("{}..{}", ours.as_str(), theirs.as_str());
        let counted = self.repository.cmd().reading().args(["rev-list", "--count", &range]).run()?;
        match self.bring(&ours, &theirs) {
            Ok(()) => {}
            Err(GitError::EditsInTheWay { files, .. }) => return Ok(CatchUp::EditsInTheWay { files, theirs }),
            Err(error) => return Err(error),
        }
        self.repository.move_branch(branch, &theirs, &ours, "dandori: catch up")?;
        Ok(CatchUp::Forwarded { commits: counted.text().parse().unwrap_or(1), tip: theirs })
    }

    /// Brings files and index from `from` to `to`. Edits in files that do not differ stay; edits in those that do
    /// are an error, and then nothing was touched. Files that are already as in `to`, because an earlier call was
    /// killed half-way, are no edits.
    pub(crate) fn bring(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        self.drop_stale_index_lock()?;
        let read_tree = self.cmd().args(["read-tree", "-m", "-u", from.as_str(), to.as_str()]);
        let Err(refused) = read_tree.run_patiently() else { return Ok(()) };

        let now = {
            let scratch = ScratchIndex::of(self)?;
            let nested = scratch.nested_repositories()?;
            scratch.add_all(&nested)?;
            scratch.write_tree()?
        };
        let wanted = self.repository.delta(from, to)?;
        let mut settled = Vec::new();
        let mut in_the_way = Vec::new();
        for (path, entry) in self.repository.delta(from, &now)?.entries {
            match wanted.entries.get(&path) {
                Some(target) if *target == entry => settled.push((path, entry)),
                Some(_) => in_the_way.push(path),
                None => {}
            }
        }
        if !in_the_way.is_empty() {
            return Err(GitError::EditsInTheWay { path: self.path().to_owned(), files: in_the_way });
        }
        let info =
            settled.iter().fold(String::new(), |info, (path, e)| info + &format!("{} {}\t{path}\0", e.mode, e.oid));
        if !info.is_empty() {
            self.cmd().args(["update-index", "-z", "--index-info"]).stdin(info).run_patiently()?;
        }
        // Its exit says that something differs, which is what edits do.
        self.cmd().args(["update-index", "-q", "--ignore-submodules", "--refresh"]).run_any()?;
        match read_tree.run_patiently() {
            Ok(_) => Ok(()),
            Err(_) => Err(refused.into()),
        }
    }
}
