//! Playbooks and state.md.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `dandori playbook new`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookMade {
    pub path: String,
    pub branch: String,
    pub active: bool,
    /// The playbook that was active before.
    pub replaced: Option<String>,
    /// state.md was written for the first time.
    pub made_state: bool,
}

/// `dandori playbook show`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookView {
    pub path: String,
    pub name: Option<String>,
    pub branch: Option<String>,
    pub reviewed: bool,
    pub executor: Option<String>,
    pub scope: Vec<String>,
    pub phases: Vec<PhaseView>,
    /// What was not understood, in words.
    pub odd: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PhaseView {
    pub id: String,
    pub title: String,
    /// `pending`, `in_progress` or `done`
    pub state: String,
    pub depends_on: Vec<String>,
    pub executor: Option<String>,
    pub done_criteria: Vec<String>,
    pub subtasks: Vec<SubtaskView>,
    /// Where it begins, from 1.
    pub line: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SubtaskView {
    pub text: String,
    pub done: bool,
    /// Validations without evidence.
    pub missing: Vec<String>,
    pub line: usize,
}

/// `dandori playbook check`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookChecked {
    pub path: String,
    pub ok: bool,
    pub faults: Vec<String>,
    pub total: usize,
}

/// `dandori playbook status`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PlaybookStatus {
    pub path: String,
    pub name: Option<String>,
    pub branch: Option<String>,
    /// What is checked out here.
    pub on_branch: Option<String>,
    pub reviewed: bool,
    pub done: usize,
    pub in_progress: usize,
    pub pending: usize,
    pub is_done: bool,
    /// The phase that is worked on, and the one that can be begun.
    pub current: Option<String>,
    pub next: Option<String>,
}

/// `dandori post-loop`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PostLoop {
    /// `null` when nothing is left to do.
    pub next: Option<NextWork>,
}

/// A phase of the active playbook, or another playbook.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NextWork {
    /// `phase` or `playbook`
    pub kind: String,
    /// The playbook's file.
    pub path: String,
    pub phase: Option<String>,
    /// Of the phase or the playbook.
    pub title: Option<String>,
    pub branch: Option<String>,
}

/// `dandori state show`: every value by the name `state set` takes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StateView {
    #[schema(value_type = Object)]
    pub values: BTreeMap<String, serde_json::Value>,
    /// The playbook of each focus.
    #[schema(value_type = Object)]
    pub active_playbooks: BTreeMap<String, Option<String>>,
    /// What was not understood, in words.
    pub odd: Vec<String>,
}

/// `dandori state set`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StateSet {
    pub key: String,
    pub value: Option<String>,
    /// state.md was written for the first time.
    pub made_state: bool,
}

/// `dandori state history`: the list of versions, or one of them whole.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StateHistory {
    pub versions: Vec<StateVersion>,
    pub total: usize,
    /// What the version that was asked for says.
    pub text: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct StateVersion {
    pub version: String,
    pub kept_at: Option<String>,
    pub active: Option<String>,
    pub phase: Option<String>,
}
