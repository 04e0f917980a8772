//! Whether a pull request may be merged, and what a merge is to be. Pure: what git and the forge have found goes in, what
//! stands against it comes out.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::id::Oid;
use crate::pull::PullState;

/// Which kind of merge is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeRule {
    /// A fast-forward where there is one, else a merge commit.
    #[default]
    Usual,
    FastForwardOnly,
    MergeCommit,
}

/// A merge that was decided on, with all that a crash must not decide again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlannedMerge {
    /// This commit and no other: it is what the person was shown.
    pub head_oid: Oid,
    pub base: String,
    pub rule: MergeRule,
    /// What the merge commit says.
    pub message: String,
    pub at: Timestamp,
    /// How often it was worked out.
    pub tries: u32,
    pub way: MergeWay,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum MergeWay {
    /// The forge merges.
    Forge,
    /// The base goes from one commit to another that was made for it.
    Git { from: Oid, to: Oid, at_remote: bool },
}

/// How a pull request and its base stand, as git and the forge see it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MergeLook {
    pub state: PullState,
    pub head_oid: Oid,
    /// Where the branch itself is, when it has moved since.
    pub head_now: Option<Oid>,
    pub base: String,
    /// `None`: there is no such branch.
    pub base_oid: Option<Oid>,
    /// The remote has the base, and is where it is merged.
    pub at_remote: bool,
    pub ahead: u32,
    pub behind: u32,
    pub conflicts: Vec<String>,
    /// The checkout of the base that would have to move.
    pub checkout: Option<BaseCheckout>,
}

/// A checkout of the base, and what of it is not committed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BaseCheckout {
    pub path: Utf8PathBuf,
    pub edits: Vec<String>,
}

/// What a person asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MergeAsked {
    /// The commit he was shown.
    pub head_oid: Oid,
    pub rule: MergeRule,
}

/// What stands against a merge.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum MergeObstacle {
    NotOpen {
        state: PullState,
    },
    /// It has other commits than those that were shown.
    HeadMoved {
        shown: Oid,
        found: Oid,
    },
    NoBase {
        base: String,
    },
    NothingToMerge,
    Conflict {
        files: Vec<String>,
    },
    NotFastForward {
        behind: u32,
    },
    /// Only a fast-forward was wanted, and the forge merges with a merge commit alone.
    ForgeMakesCommits,
    /// The base is checked out there, with edits in the way.
    BaseDirty {
        path: Utf8PathBuf,
        files: Vec<String>,
    },
}

/// Everything that stands against a merge; nothing: it may be merged. The one place for what has to be so before: checks
/// and reviews are to be asked for here.
pub fn may_merge(look: &MergeLook, asked: &MergeAsked) -> Vec<MergeObstacle> {
    if look.state != PullState::Open {
        return vec![MergeObstacle::NotOpen { state: look.state }];
    }
    let mut found = Vec::new();
    let now = look.head_now.as_ref().unwrap_or(&look.head_oid);
    if let Some(moved) = [&look.head_oid, now].into_iter().find(|oid| **oid != asked.head_oid) {
        found.push(MergeObstacle::HeadMoved { shown: asked.head_oid.clone(), found: moved.clone() });
    }
    if look.base_oid.is_none() {
        found.push(MergeObstacle::NoBase { base: look.base.clone() });
    } else if look.ahead == 0 {
        found.push(MergeObstacle::NothingToMerge);
    }
    if !look.conflicts.is_empty() {
        found.push(MergeObstacle::Conflict { files: look.conflicts.clone() });
    } else if asked.rule == MergeRule::FastForwardOnly && look.behind > 0 {
        found.push(MergeObstacle::NotFastForward { behind: look.behind });
    }
    if let Some(checkout) = look.checkout.as_ref().filter(|checkout| !checkout.edits.is_empty()) {
        found.push(MergeObstacle::BaseDirty { path: checkout.path.clone(), files: checkout.edits.clone() });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look() -> MergeLook {
        MergeLook {
            state: PullState::Open,
            head_oid: Oid::new("h"),
            head_now: Some(Oid::new("h")),
            base: "main".into(),
            base_oid: Some(Oid::new("b")),
            at_remote: true,
            ahead: 1,
            behind: 0,
            conflicts: Vec::new(),
            checkout: Some(BaseCheckout { path: "/repo".into(), edits: Vec::new() }),
        }
    }

    fn against(look: &MergeLook, rule: MergeRule) -> Vec<MergeObstacle> {
        may_merge(look, &MergeAsked { head_oid: Oid::new("h"), rule })
    }

    #[test]
    fn what_is_ahead_and_in_nobodys_way_may_be_merged() {
        for (behind, rule) in [(0, MergeRule::Usual), (0, MergeRule::FastForwardOnly), (3, MergeRule::MergeCommit)] {
            assert_eq!(against(&MergeLook { behind, ..look() }, rule), []);
        }
        assert_eq!(against(&MergeLook { head_now: None, ..look() }, MergeRule::Usual), [], "its branch is gone");
    }

    #[test]
    fn every_reason_is_named() {
        let files = vec!["a.txt".to_owned()];
        let cases = [
            (
                MergeLook { state: PullState::Merged, ahead: 0, ..look() },
                MergeObstacle::NotOpen { state: PullState::Merged },
            ),
            (
                MergeLook { head_now: Some(Oid::new("x")), ..look() },
                MergeObstacle::HeadMoved { shown: Oid::new("h"), found: Oid::new("x") },
            ),
            (
                MergeLook { head_oid: Oid::new("x"), head_now: None, ..look() },
                MergeObstacle::HeadMoved { shown: Oid::new("h"), found: Oid::new("x") },
            ),
            (MergeLook { base_oid: None, ..look() }, MergeObstacle::NoBase { base: "main".into() }),
            (MergeLook { ahead: 0, ..look() }, MergeObstacle::NothingToMerge),
            (
                MergeLook { behind: 2, conflicts: files.clone(), ..look() },
                MergeObstacle::Conflict { files: files.clone() },
            ),
            (MergeLook { behind: 2, ..look() }, MergeObstacle::NotFastForward { behind: 2 }),
            (
                MergeLook { checkout: Some(BaseCheckout { path: "/r".into(), edits: files.clone() }), ..look() },
                MergeObstacle::BaseDirty { path: "/r".into(), files },
            ),
        ];
        for (look, expected) in cases {
            assert_eq!(against(&look, MergeRule::FastForwardOnly), [expected]);
        }
    }
}
