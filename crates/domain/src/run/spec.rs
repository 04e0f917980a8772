//! What was asked of a run, with the configuration as it stood then.

use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::brings::{self, Brings};
use super::{Errand, Here, Workspace};
use crate::agent::AgentName;
use crate::failure::Limit;
use crate::id::{HostId, RepoId, RunId, SessionId, TaskId, TaskNumber, Usd};
use crate::wording::DEFAULT_TEMPLATE;

/// What was asked. Written once, never changed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSpec {
    pub id: RunId,
    pub task: TaskId,
    pub number: TaskNumber,
    pub repo: RepoId,
    /// The state root whose daemon runs it: worktrees are local.
    pub host: HostId,
    pub agent: AgentName,
    pub kind: RunKind,
    pub instruction: String,
    /// A branch or ref asked for; `None` is the repository's default.
    pub base: Option<String>,
    /// The commit to start from, when that was the one its user stood on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub here: Option<Here>,
    /// The checkout it was asked from; `None` is the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Utf8PathBuf>,
    /// What is merged into its branch before anybody works.
    #[serde(default, alias = "updates", deserialize_with = "brings::stored", skip_serializing_if = "Option::is_none")]
    pub brings: Option<Brings>,
    /// Whom it works for, when that is an agent of a formation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<Errand>,
    pub settings: RunSettings,
    /// The run whose instruction this one carries out once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_of: Option<RunId>,
    pub created_at: Timestamp,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunKind {
    /// A fresh worktree and a fresh conversation.
    First,
    /// Goes on with an earlier run's branch, worktree and conversation.
    FollowUp { after: RunId, workspace: Workspace, session: Option<SessionId> },
}

impl RunKind {
    /// The run it goes on from.
    pub fn after(&self) -> Option<RunId> {
        match self {
            Self::First => None,
            Self::FollowUp { after, .. } => Some(*after),
        }
    }
}

/// The configuration as it stood when the run was asked for: a later edit does not change a run in flight.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunSettings {
    pub model: Option<String>,
    pub wants_pull: bool,
    pub budget: Option<Usd>,
    pub limits: Limits,
    pub cleanup: Cleanup,
    /// Further forbidden patterns, beside [`crate::paths::FORBIDDEN`].
    pub forbidden_paths: Vec<String>,
    pub set_up: SetUpChoice,
    pub commit_template: String,
    pub push_retries: u32,
    pub sandbox: SandboxSettings,
    /// Names of further environment variables the agent may see.
    pub pass_env: Vec<String>,
    /// It may look at everything in its worktree and change nothing; nothing is staged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The shell line that decides about a merge in place of an agent; `None`: what git merges is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// How an agent from the configuration is started.
    #[serde(rename = "custom_command", default)]
    pub custom: Option<CustomAgent>,
}

/// An agent of `[agents.<name>]`. Stored as text where it is a mere command, as it was before there was another kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CustomAgent {
    /// A program without a protocol: a shell line.
    Command(String),
    /// One that speaks the Agent Client Protocol, by the shell line that starts it.
    Acp {
        acp: String,
        /// Its own name of the way to log in, for when it asks for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auth: Option<String>,
    },
}

impl RunSettings {
    /// It speaks the Agent Client Protocol.
    pub fn is_acp(&self) -> bool {
        matches!(self.custom, Some(CustomAgent::Acp { .. }))
    }
}

/// What is done where nobody has said otherwise.
impl Default for RunSettings {
    fn default() -> Self {
        Self {
            model: None,
            wants_pull: false,
            budget: None,
            limits: Limits::default(),
            cleanup: Cleanup::Merged,
            forbidden_paths: Vec::new(),
            set_up: SetUpChoice::Detect,
            commit_template: DEFAULT_TEMPLATE.to_owned(),
            push_retries: 2,
            sandbox: SandboxSettings::default(),
            pass_env: Vec::new(),
            read_only: false,
            check: None,
            custom: None,
        }
    }
}

/// How a fresh worktree is made ready for work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetUpChoice {
    /// The project's own package manager, found by its lock file; its failure is only noted.
    Detect,
    /// These shell lines in order; a failure ends the run.
    Commands(Vec<String>),
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    pub start_seconds: u64,
    pub silence_seconds: u64,
    pub run_seconds: u64,
    /// How often an agent may try a dead API again before we end it.
    pub api_retries: u32,
    pub grace_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { start_seconds: 120, silence_seconds: 15 * 60, run_seconds: 2 * 3600, api_retries: 4, grace_seconds: 10 }
    }
}

impl Limits {
    pub fn seconds(&self, limit: Limit) -> u64 {
        match limit {
            Limit::Start => self.start_seconds,
            Limit::Silence => self.silence_seconds,
            Limit::Run => self.run_seconds,
        }
    }
}

/// When a successful run's worktree goes. Its branch stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cleanup {
    /// Kept for CI and review fixes until the pull request is merged or closed.
    Merged,
    /// As soon as the pull request is open.
    Pr,
    /// As soon as the branch is pushed, or committed where there is no remote.
    Push,
    /// Only by hand.
    Never,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SandboxSettings {
    pub mode: SandboxMode,
    /// Further paths an agent may write (`~` is the home folder).
    pub write: Vec<String>,
    /// Further paths an agent may not read.
    pub hide: Vec<String>,
    /// Hidden paths an agent may read all the same.
    #[serde(default)]
    pub read: Vec<String>,
    /// How many processes and threads a run may have, and files each may hold open; `None` is the default.
    #[serde(default)]
    pub processes: Option<u64>,
    #[serde(default)]
    pub open_files: Option<u64>,
    /// Bytes of memory for each process; `None`: what the machine has.
    #[serde(default)]
    pub memory: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Every layer this machine has; the run says which one is missing.
    #[default]
    Auto,
    /// No run unless every layer holds.
    Require,
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_from_the_configuration_is_read_as_it_was_stored_before_there_was_another_kind() {
        let stored = |custom: serde_json::Value| {
            let mut settings = serde_json::to_value(RunSettings::default()).unwrap();
            settings["custom_command"] = custom;
            serde_json::from_value::<RunSettings>(settings).unwrap().custom
        };
        assert_eq!(stored(serde_json::Value::Null), None);
        assert_eq!(stored("./a.sh".into()), Some(CustomAgent::Command("./a.sh".into())));
        for custom in [
            CustomAgent::Command("./a.sh".into()),
            CustomAgent::Acp { acp: "b --acp".into(), auth: None },
            CustomAgent::Acp { acp: "b --acp".into(), auth: Some("key".into()) },
        ] {
            assert_eq!(stored(serde_json::to_value(&custom).unwrap()), Some(custom));
        }
    }
}
