//! What can go wrong with the store, as its callers need to tell it apart.

use camino::Utf8PathBuf;
use dandori_domain::cause::with_causes;
use dandori_domain::id::{Epoch, HostId, RunId};
use dandori_domain::worktree::Owner;
use dandori_domain::{IllegalFact, Problem, Status};
use dandori_formation::Refused;

pub type Result<T> = std::result::Result<T, StoreError>;

/// Cloned to every job of a failed group commit, hence causes as text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StoreError {
    #[error("the disk with the database is full; nothing was written")]
    Full,
    #[error("cannot reach the database: {reason}")]
    Unavailable { reason: String },
    /// The commit was sent and its answer never came: it may have happened. Read again before doing it again.
    #[error("it is unknown whether the change was saved: {reason}")]
    Unknown { reason: String },
    #[error("the database has schema version {found}, this program supports up to {known}")]
    TooNew { found: i64, known: i64 },
    #[error("migration {number} of the database differs from this program's")]
    MigrationDiffers { number: i64 },
    #[error("{host} is in a newer life than {}", .epoch.0)]
    Fenced { host: HostId, epoch: Epoch },
    /// Another daemon walks it: what it works on is there.
    #[error("it is on {host}")]
    OtherHost { host: HostId },
    /// Somebody else has had the subject since.
    #[error("{holder} no longer holds it (epoch {})", .epoch.0)]
    LeaseLost { holder: String, epoch: Epoch },
    #[error(transparent)]
    Illegal(#[from] IllegalFact),
    /// A step of the formation's protocol was not taken.
    #[error(transparent)]
    Formation(#[from] Refused),
    #[error("{run} is still running on this branch")]
    Busy { run: RunId, status: Status },
    #[error("the worktree is in use by {owner:?}")]
    Held { owner: Owner },
    #[error("{} {text} not found", .noun.as_str())]
    NotFound { noun: Noun, text: String },
    #[error("{text} is ambiguous: {}", .matches.join(", "))]
    Ambiguous { text: String, matches: Vec<String> },
    #[error("the database is damaged: {reason}")]
    Damaged { reason: String },
    #[error("cannot read a row of the database: {reason}")]
    Unreadable { reason: String },
    #[error("{path}: {reason}")]
    Io { path: Utf8PathBuf, reason: String },
    #[error("{reason}")]
    Other { reason: String },
}

/// What was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noun {
    Repo,
    Task,
    Run,
    Worktree,
    Keepsake,
    Pull,
    /// A subject of a machine that has no word of its own here.
    Other,
}

impl Noun {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repo => "repository",
            Self::Task => "task",
            Self::Run => "run",
            Self::Worktree => "worktree",
            Self::Keepsake => "keepsake",
            Self::Pull => "pull request",
            Self::Other => "subject",
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "by value is how `map_err` hands errors over")]
impl StoreError {
    pub(crate) fn other(reason: impl ToString) -> Self {
        Self::Other { reason: reason.to_string() }
    }

    pub(crate) fn unavailable(reason: impl ToString) -> Self {
        Self::Unavailable { reason: reason.to_string() }
    }

    /// Some errors keep what matters ("connection refused") in their causes.
    pub(crate) fn unavailable_with_causes(error: impl std::error::Error + 'static) -> Self {
        Self::Unavailable { reason: with_causes(&error) }
    }

    pub(crate) fn unreadable(reason: impl ToString) -> Self {
        Self::Unreadable { reason: reason.to_string() }
    }

    pub(crate) fn not_found(noun: Noun, text: impl ToString) -> Self {
        Self::NotFound { noun, text: text.to_string() }
    }

    pub(crate) fn io(path: &camino::Utf8Path, reason: impl ToString) -> Self {
        Self::Io { path: path.to_owned(), reason: reason.to_string() }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Full => Self::StoreFull,
            StoreError::TooNew { found, known } => Self::StoreTooNew { found, known },
            StoreError::Busy { run, status } => Self::TaskIsBusy { run: run.key().to_string(), status },
            StoreError::Ambiguous { text, matches } => Self::AmbiguousReference { text, matches },
            StoreError::NotFound { noun: Noun::Task, text } => Self::NoSuchTask { text },
            StoreError::NotFound { noun: Noun::Run, text } => Self::NoSuchRun { text },
            StoreError::NotFound { noun: Noun::Worktree, text } => Self::NoSuchWorktree { text },
            StoreError::NotFound { noun: Noun::Keepsake, text } => Self::NothingPreserved { text },
            StoreError::NotFound { noun: Noun::Pull, ref text } => match text.parse() {
                Ok(number) => Self::NoSuchPull { number },
                Err(_) => Self::Internal { reason: error.to_string() },
            },
            StoreError::Io { path, reason } => Self::Io { path, reason },
            StoreError::Formation(refused) => match serde_json::to_value(&refused) {
                Ok(serde_json::Value::Object(refused)) => Self::FormationRefused { refused },
                _ => Self::Internal { reason: refused.to_string() },
            },
            StoreError::Unavailable { .. }
            | StoreError::Unknown { .. }
            | StoreError::Damaged { .. }
            | StoreError::MigrationDiffers { .. } => Self::StoreUnavailable { reason: error.to_string() },
            StoreError::Fenced { .. }
            | StoreError::OtherHost { .. }
            | StoreError::LeaseLost { .. }
            | StoreError::Illegal(_)
            | StoreError::Held { .. }
            | StoreError::NotFound { .. }
            | StoreError::Unreadable { .. }
            | StoreError::Other { .. } => Self::Internal { reason: error.to_string() },
        }
    }
}
