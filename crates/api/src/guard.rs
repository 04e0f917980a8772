//! Guards: what they did, what they say, and what may pass.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /v1/guards/stats`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardStatsView {
    pub events: u64,
    pub blocked: u64,
    pub asked: u64,
    /// Of nothing there is no median.
    pub p50_micros: Option<u64>,
    pub p99_micros: Option<u64>,
    /// Those that refused most come first.
    pub guards: Vec<GuardView>,
}

/// What one guard did.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardView {
    pub guard: String,
    pub calls: u64,
    pub blocks: u64,
    pub asks: u64,
    pub warnings: u64,
    pub infos: u64,
    pub errors: u64,
    /// It would have refused, and a person had given an exception.
    pub exceptions: u64,
    /// Refusals after which the same session did the same and was let through.
    pub likely_false_alarms: u64,
    pub p50_micros: u64,
    pub p99_micros: u64,
}

/// `dandori guard stats`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardStatsReport {
    /// The earliest event that counts.
    pub since_at: String,
    pub stats: GuardStatsView,
    pub skipped: SkippedRecords,
}

/// What could not be counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct SkippedRecords {
    pub broken: u64,
    pub newer: u64,
    pub unreadable: u64,
}

/// `dandori guard list`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardList {
    pub profile: String,
    pub guards: Vec<ListedGuard>,
    pub total: usize,
    pub exceptions: Vec<ExceptionView>,
    /// What is wrong with the rules.
    #[schema(value_type = Vec<Object>)]
    pub notes: Vec<serde_json::Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ListedGuard {
    pub guard: String,
    /// `off`, `info`, `warn`, `ask` or `block`
    pub level: String,
    /// Who set the level: `default`, `user` or `repository`
    pub source: String,
    /// What its own failure means: `open` or `closed`; `null` when it is off.
    pub on_error: Option<String>,
    pub events: Vec<String>,
    /// A rule of this repository or user.
    pub own: bool,
}

/// An exception from a guard, as `guard allow` gives it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExceptionView {
    pub id: String,
    pub guard: String,
    /// The files it is for.
    pub path: Option<String>,
    /// The command it is for; for everything when both are `null`.
    pub command: Option<String>,
    pub expires_at: String,
    /// `null`: as often as wanted.
    pub uses_left: Option<u32>,
    pub given_by: Option<String>,
    pub reason: Option<String>,
    pub given_at: String,
}

/// `dandori guard revoke`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ExceptionRevoked {
    pub id: String,
}

/// `dandori guard explain`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardExplained {
    pub command: String,
    pub reading: ReadingView,
    pub guards: Vec<GuardWord>,
    /// `go`, `ask` or `block`
    pub verdict: String,
}

/// What a command line would do.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadingView {
    pub commands: Vec<ReadCommand>,
    pub writes: Vec<ReadWrite>,
    pub reads: Vec<String>,
    pub scripts: Vec<String>,
    pub remote: Vec<String>,
    pub opaque: Vec<ReadOpaque>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadCommand {
    pub program: Option<String>,
    pub argv: Vec<String>,
    /// Through what it is reached.
    pub reached: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadWrite {
    pub path: String,
    pub how: String,
}

/// What cannot be seen through.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ReadOpaque {
    pub why: String,
    pub text: String,
}

/// What one guard says.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardWord {
    pub guard: String,
    pub outcome: String,
    pub message: Option<String>,
    pub micros: u64,
}

/// `dandori guard test`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct GuardTested {
    pub agent: Option<String>,
    pub event: Option<String>,
    pub guards: Vec<GuardWord>,
    /// `go`, `ask` or `block`
    pub verdict: String,
    pub answer: HookAnswer,
    /// What is unusual about the event.
    pub oddities: Vec<String>,
}

/// What the client would be told.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct HookAnswer {
    pub stdout: String,
    pub stderr: String,
    pub exit: u8,
}

/// `dandori consent`
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
pub struct Consented {
    /// Sessions that may go on now.
    pub sessions: usize,
}
