//! Where a run starts, and what of the checkout it was asked from it does not see.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::Oid;

/// Known before the agent begins, and kept: what a run was built on is asked long after.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Start {
    /// As people call it, with its remote: `origin/main`, `main`, `v1.2`.
    pub base: String,
    pub commit: Oid,
    /// The remote could not be asked: this is what was known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offline: Option<Offline>,
    /// `None`: the checkout is gone, could not be looked at, or is where the run itself works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Offline {
    pub reason: String,
    /// When the remote last answered, as far as that is known.
    pub fetched_at: Option<Timestamp>,
}

/// What the checkout has that the start has not.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LeftOut {
    /// What is checked out; `None` when HEAD is detached.
    pub branch: Option<String>,
    /// Commits of its HEAD.
    pub commits: u32,
    /// Those of them that are on no remote branch; `None` where there is no remote.
    pub unpushed: Option<u32>,
    /// Files with changes that are not committed.
    pub changed: u32,
}

/// The commit a user stood on who asked to start from there. It is taken down with the request: he may move on while the run
/// waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Here {
    pub commit: Oid,
    /// What was checked out; `None` when HEAD was detached.
    pub branch: Option<String>,
}
