//! A look at a work tree while somebody may be at work in it: what it holds as a tree, without a trace.
//!
//! Read behind the fence as for staging, but from a scratch folder of the caller's, so that the run's own staging is not
//! disturbed; the worktree's index is copied and no lock is taken. What is new goes into the repository as objects that
//! nothing refers to: git clears them away in time.

use std::sync::{Mutex, PoisonError};

use camino::Utf8Path;
use dandori_domain::Oid;

use super::{Bounds, IndexFrom, Lasting, Nested, Quarantine};
use crate::error::GitError;
use crate::inspect::{Purpose, inspect};
use crate::tree::Tree;

/// Whoever looks waits for it.
const BOUNDS: Bounds = Bounds { seconds: 120, bytes: 1 << 30, files: 200_000 };

/// One scratch folder serves one look.
static LOOKING: Mutex<()> = Mutex::new(());

impl Tree {
    /// Everything but ignored files, as it is this moment. `scratch` is a folder nobody else uses; it is gone afterwards.
    pub fn look(&self, scratch: &Utf8Path) -> Result<Oid, GitError> {
        let _one_at_a_time = LOOKING.lock().unwrap_or_else(PoisonError::into_inner);
        let unfit = inspect(self.path(), Purpose::Looking);
        if !unfit.is_empty() {
            return Err(GitError::Unfit { paths: unfit });
        }
        let known = self.head_if_any()?;
        let gather = |index| {
            let quarantine = Quarantine::at(scratch, self)?;
            self.gather_with(&quarantine, Nested::LeftOut, Lasting::Repeatable, BOUNDS, known.clone(), index)
        };
        let gathered = match gather(IndexFrom::Worktree) {
            // It may have been written this moment.
            Err(GitError::Gathering { .. }) => gather(IndexFrom::Head)?,
            other => other?,
        };
        Ok(gathered.tree)
    }
}
