//! What a run that waits is waiting for.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum WaitReason {
    /// Its turn: as many run as may.
    Place,
    /// Free memory for one more agent, in bytes.
    Memory { needed: u64 },
    /// Free space for one more worktree, in bytes.
    Disk { path: Utf8PathBuf, needed: u64 },
    /// A store that writes down who goes next.
    Store { problem: Problem },
}
