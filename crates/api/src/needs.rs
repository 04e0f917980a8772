//! What needs a person, the front door, and how people are told.

use dandori_domain::need::NeedKind;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::formation::FormationView;
use crate::{PullLink, TaskView};

/// `GET /v1/needs`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NeedList {
    /// Newest first.
    pub needs: Vec<NeedView>,
    pub total: u64,
    /// How many are snoozed and therefore not among them.
    pub snoozed: u64,
}

/// Something that needs a person. It goes by itself when its cause is gone.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NeedView {
    /// The same for as long as it is the same occurrence.
    pub id: String,
    /// `failed`, `conflict`, `budget_reached`, `silent`, `quiet`, `choice`, `kept_work`, `pull_failed`, `pull_ready`,
    /// `pull_conflict`, `trust`, `consent`, `store_restored`, `daemon_trouble`, `disk_low`
    pub kind: String,
    pub since_at: String,
    /// The main checkout.
    pub repository: Option<String>,
    /// `T-3`
    pub task: Option<String>,
    /// The run's key.
    pub run: Option<String>,
    /// The task's name means this run, too.
    pub is_sole: bool,
    pub pr: Option<PullLink>,
    /// The task's.
    pub title: Option<String>,
    pub snoozed_until: Option<String>,
    /// Why it was snoozed.
    pub reason: Option<String>,
    pub dismissed: bool,
    /// What it was derived from, by its kind.
    #[schema(value_type = Object)]
    pub detail: NeedKind,
}

/// A need as `dandori inbox --json` prints it: with its words.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NeedShown {
    #[serde(flatten)]
    pub need: NeedView,
    /// In the language that was asked for.
    pub message: String,
    /// What resolves it.
    pub command: String,
}

/// What `dandori inbox --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Inbox {
    pub needs: Vec<NeedShown>,
    pub total: u64,
    pub snoozed: u64,
}

/// `POST /v1/needs/{id}/snooze`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SnoozeNeed {
    /// RFC 3339.
    pub until: String,
    #[serde(default)]
    pub reason: String,
}

/// `POST /v1/needs/dismiss`
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct DismissNeeds {
    /// Ids, or what they are about: `T-3`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Everything that is in sight, of one repository or of all.
    #[serde(default)]
    pub all: bool,
    /// A folder in the repository that is meant by `all`.
    pub path: Option<String>,
}

/// What `GET /v1/front` answers: all that bare `dandori` shows.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Front {
    /// The repository that was asked about; `null`: all of them.
    pub repository: Option<String>,
    pub needs: Vec<NeedView>,
    pub snoozed: u64,
    /// Tasks with a run that is not over, newest first; a part of `running_total`.
    pub running: Vec<AtWork>,
    pub running_total: u64,
    /// Tasks that are over, newest first.
    pub recent: Vec<TaskView>,
    /// Of all tasks there are here.
    pub total: u64,
    /// `null`: the repository has none, or all of them were asked about.
    pub formation: Option<FormationView>,
    /// Where the repository was when its tasks were run, if it was moved since.
    pub moved_from: Option<String>,
}

/// A task at work, with what its agents do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct AtWork {
    #[serde(flatten)]
    pub task: TaskView,
    pub doing: Vec<DoingNow>,
}

/// What an agent was last heard to do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DoingNow {
    /// The run's key.
    pub run: String,
    /// An agent event, as `task log --json` prints it.
    #[schema(value_type = Object)]
    pub event: dandori_domain::AgentEvent,
}

/// What `dandori --json` and `dandori status --json` print.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct FrontStatus {
    pub repository: Option<String>,
    pub needs: Vec<NeedShown>,
    pub snoozed: u64,
    pub running: Vec<AtWork>,
    pub running_total: u64,
    pub recent: Vec<TaskView>,
    pub total: u64,
    /// `null`: the repository has none, or all of them were asked about.
    pub formation: Option<FormationView>,
    /// Where the repository was when its tasks were run, if it was moved since.
    pub moved_from: Option<String>,
    pub next: Vec<NextCommand>,
}

/// A command worth typing next.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NextCommand {
    pub command: String,
    pub purpose: String,
}

/// `POST /v1/notify/test`
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct TestNotices {
    /// The terminal whose bell is to ring.
    pub terminal: Option<String>,
}

/// What `POST /v1/notify/test` answers, and `dandori notify test --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticesTried {
    pub ways: Vec<NoticeTried>,
    pub total: u64,
}

/// How a notice went on one way.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeTried {
    /// `desktop`, `bell`, `command`, `webhook`
    pub way: String,
    /// `sent`, `failed`, `skipped`
    pub state: String,
    pub reason: Option<String>,
}

/// How the last notice went on one way, for `doctor`.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NoticeState {
    pub way: String,
    pub at: String,
    pub reason: Option<String>,
}

/// `POST /v1/daemon/stop`
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct StopDaemon {
    /// Only the daemon with this process id: another may have taken its place meanwhile.
    pub pid: Option<u32>,
}
