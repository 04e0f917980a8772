//! The states users see.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Pending,
    Running,
    Staging,
    Committing,
    Pushing,
    Succeeded,
    Failed,
    Canceled,
}

impl Status {
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Staging,
        Self::Committing,
        Self::Pushing,
        Self::Succeeded,
        Self::Failed,
        Self::Canceled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Running => "RUNNING",
            Self::Staging => "STAGING",
            Self::Committing => "COMMITTING",
            Self::Pushing => "PUSHING",
            Self::Succeeded => "SUCCEEDED",
            Self::Failed => "FAILED",
            Self::Canceled => "CANCELED",
        }
    }

    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Canceled)
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
