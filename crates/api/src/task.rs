//! Tasks: asking for them, listing them, going on with them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::ErrorView;
use crate::run::RunView;
use crate::variables::Variables;

/// `POST /v1/tasks`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CreateTask {
    /// A folder inside the repository.
    pub path: String,
    pub instruction: String,
    /// Empty: the configured one.
    #[serde(default)]
    pub agents: Vec<String>,
    pub base: Option<String>,
    pub pr: Option<bool>,
    /// US dollars.
    pub budget: Option<f64>,
    pub model: Option<String>,
    /// The caller's environment, for the agent; git takes identity and logins from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// `POST /v1/tasks/{task}/follow-up`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FollowUp {
    pub instruction: String,
    /// The folder of whoever asks: what of it the run does not see is told.
    #[serde(default)]
    pub path: Option<String>,
    /// Which of several runs to go on with.
    pub run: Option<String>,
    pub pr: Option<bool>,
    pub budget: Option<f64>,
    /// The caller's environment, for the agent; git takes identity and logins from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// `POST /v1/tasks/{task}/retry`
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Retry {
    /// The caller's environment, for the agent; git takes identity and logins from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

/// What `POST /v1/tasks/{task}/cancel` answers.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Canceled {
    pub task: TaskView,
    /// The runs it was asked for, by their ids.
    pub canceled: Vec<String>,
}

/// `POST /v1/tasks/{task}/pick`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Pick {
    pub run: String,
    pub pr: Option<bool>,
    /// The caller's environment; the forge takes the login from it. Never stored.
    #[serde(default)]
    pub env: Option<Variables>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    pub id: String,
    /// What people call it: `T-12`.
    #[serde(rename = "task")]
    pub number: String,
    pub title: String,
    /// Where it is.
    pub repository: String,
    pub created_at: String,
    /// The run that becomes the pull request, by its key.
    pub picked: Option<String>,
    pub runs: Vec<RunView>,
}

/// `GET /v1/tasks`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskList {
    /// Those at work first, then those that wait, then the newest.
    pub tasks: Vec<TaskView>,
    /// How many there are in all, shown or not.
    pub total: u64,
}

/// What `run`, `task follow-up` and `task retry` print: the runs that were asked for.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskRuns {
    /// `T-12`
    pub task: String,
    pub runs: Vec<RunView>,
}

/// `dandori task cancel`: an entry for each that was named.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CanceledTasks {
    pub tasks: Vec<CanceledTask>,
    pub total: u64,
}

/// One of those that were to be canceled.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CanceledTask {
    /// As it was named.
    pub named: String,
    /// `T-12`; `null` when nothing has that name.
    pub task: Option<String>,
    /// The runs that were canceled.
    pub runs: Vec<RunView>,
    /// Why nothing was.
    pub error: Option<ErrorView>,
}

/// `dandori task open`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TaskOpened {
    pub task: String,
    pub run: String,
    pub worktree: String,
}
