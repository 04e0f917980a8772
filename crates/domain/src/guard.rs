//! Words of the guards that the configuration speaks too: how much a finding weighs, what a guard's own failure means.

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// What follows when a guard finds something. A finding weighs at most what its guard is set to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The guard does not run.
    #[default]
    Off,
    /// Said to the model; goes on.
    Info,
    /// Said to the user and the model; goes on.
    Warn,
    /// A person decides; refused where none can be asked.
    Ask,
    Block,
}

impl Level {
    pub const ALL: [Self; 5] = [Self::Off, Self::Info, Self::Warn, Self::Ask, Self::Block];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }

    pub fn of(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

/// Every guard there is, by name: a configuration that names another is wrong.
pub const NAMES: &[&str] = &[
    "unjudged",
    "control",
    "init",
    "main-branch",
    "constraints",
    "secrets",
    "denied",
    "consent",
    "pending",
    "protected-edit",
    "playbook",
    "depends",
    "file-dependencies",
    "executor",
    "critic",
    "subtask",
    "scope",
    "opaque",
    "bash",
    "commit",
    "coherence",
    "lint",
    "issue",
    "pr-create",
    "merge",
    "worktree",
    "golden-path",
    "prompt-scope",
    "state-injection",
    "task-request",
    "post-edit",
    "archive",
    "log-subagent",
    "session",
    "compact",
    "summary",
    "unpushed",
];

/// Every class of destructive commands.
pub const CLASSES: &[&str] = &[
    "rm-root",
    "rm-outside",
    "git-discard",
    "git-force-push",
    "git-history",
    "disk",
    "perms",
    "system",
    "service",
    "database",
    "cloud",
    "publish",
];

/// What a guard's own failure means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorPolicy {
    /// Goes on, and the user is told.
    Open,
    /// Refused, as if it had blocked.
    Closed,
}

/// Which guards are at work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What protects: secrets, protected files, destructive commands, the main branch, the guards themselves.
    #[default]
    Safety,
    /// All of them: work goes by a reviewed playbook.
    Discipline,
}

impl Profile {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safety => "safety",
            Self::Discipline => "discipline",
        }
    }
}

/// What the user should know about the rules that are in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RulesNote {
    /// The user's configuration cannot be read: the strictest defaults stand in for it.
    BadUserConfig { path: Utf8PathBuf, reason: String },
    /// The repository's cannot be read, and is left out.
    BadRepositoryConfig { path: Utf8PathBuf, reason: String },
    /// Keys of the repository's that would loosen or execute something, and are not in force.
    NeedsTrust { path: Utf8PathBuf, keys: Vec<String> },
    /// A key beside `[guards]` that nobody knows: perhaps it was meant to be that.
    UnknownKey { path: Utf8PathBuf, key: String, meant: Option<String> },
    /// A line that is not understood.
    OddLine { path: Utf8PathBuf, line: usize, text: String },
}

impl RulesNote {
    /// A whole file is not in force: what is refused may be refused because of that.
    pub fn is_unusable_file(&self) -> bool {
        matches!(self, Self::BadUserConfig { .. } | Self::BadRepositoryConfig { .. })
    }
}
