//! Moving a worktree's files and index from one commit to another, edits kept.

use dandori_domain::Oid;

use crate::error::GitError;
use crate::gather::{Bounds, Lasting, Nested};
use crate::tree::Tree;

impl Tree {
    /// Brings files and index from `from` to `to`. Edits in files that do not differ stay; edits in those that do
    /// are an error, and then nothing was touched. Files that are already as in `to`, because an earlier call was
    /// killed half-way, are no edits.
    pub(crate) fn bring(&self, from: &Oid, to: &Oid) -> Result<(), GitError> {
        self.drop_stale_index_lock()?;
        let read_tree = || self.write_files(&["read-tree", "-m", "-u", from.as_str(), to.as_str()]);
        let Err(refused) = read_tree() else { return Ok(()) };

        let now = self.gather(Nested::LeftOut, Lasting::Repeatable, Bounds::default())?.tree;
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
        self.refresh()?;
        match read_tree() {
            Ok(()) => Ok(()),
            Err(_) => Err(refused),
        }
    }
}
