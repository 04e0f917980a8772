//! What comes back: a worker's report on a task, a planner's on a command, and what stands for one where nobody reported.

use dandori_domain::{CommandId, Epoch, Oid, ResultId, TaskId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::agent::AgentId;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    Failed,
    Cancelled,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What a worker says about its task: one structured handoff.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    pub outcome: Reported,
    pub summary: String,
    pub files_changed: Vec<String>,
    /// What failed may have left changes behind.
    pub partial_changes: bool,
    /// It may be done again without harm.
    pub retry_safe: bool,
    pub exit_code: Option<i32>,
    /// Its work, to be merged; `None`: it changed nothing.
    pub work: Option<Oid>,
}

/// A worker does not cancel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reported {
    Completed,
    Failed,
}

impl From<Reported> for Outcome {
    fn from(reported: Reported) -> Self {
        match reported {
            Reported::Completed => Self::Completed,
            Reported::Failed => Self::Failed,
        }
    }
}

/// What it is a result of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Of {
    Task(TaskId),
    Command,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ResultRow {
    pub id: ResultId,
    pub command: CommandId,
    pub of: Of,
    pub by: Author,
    pub outcome: Outcome,
    pub report: Report,
    pub at: Timestamp,
    /// It counts. One that is still being checked, or whose work did not fit in, does not.
    pub applied: bool,
    pub told: Told,
}

/// Whether whoever is to know it has been told.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    NotYet,
    Told,
    /// It could not be: the message is a dead letter.
    DeadLettered,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    Agent(AgentId),
    /// Nobody reported: it was cancelled, could not be delivered, or was never filled.
    Engine,
}

/// A report that came too late to count: kept, because work is in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LateReport {
    pub task: TaskId,
    pub command: CommandId,
    pub by: AgentId,
    pub epoch: Epoch,
    /// The epoch that counted when it came.
    pub current: Epoch,
    pub report: Report,
    pub at: Timestamp,
    pub adopted: bool,
}

/// Words that say nothing.
const PLACEHOLDERS: &[&str] =
    &["done", "tbd", "todo", "ok", "completed", "finished", "完了", "完了しました", "済み", "済"];
/// A completed task is told of in at least so many letters; a Japanese sentence says more in fewer.
const SHORTEST: usize = 16;

/// Why a summary says too little to hand the work over.
pub fn says_too_little(summary: &str, outcome: Reported) -> bool {
    let plain = summary.trim().trim_end_matches(['.', '!', '。', '！']).to_lowercase();
    let weight: usize = plain.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    plain.is_empty() || PLACEHOLDERS.contains(&plain.as_str()) || (outcome == Reported::Completed && weight < SHORTEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_to_say_something() {
        for bad in ["", "  ", "done", "Done.", "TBD", "完了しました。", "fixed it"] {
            assert!(says_too_little(bad, Reported::Completed), "{bad}");
        }
        for good in ["The login form validates mail addresses", "ログイン画面の検証を追加した"] {
            assert!(!says_too_little(good, Reported::Completed), "{good}");
        }
        assert!(!says_too_little("no network", Reported::Failed));
    }
}
