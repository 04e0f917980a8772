//! What did not work, the same everywhere: of a request, of a run, of one thing among several.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorView {
    /// What it is, for programs: it stays when the words change.
    pub code: String,
    /// What it is, for people, in the language that was asked for (`Accept-Language: ja`, or `--lang ja`).
    pub message: String,
    /// What helps; `null` when the message says it already.
    pub hint: Option<String>,
    /// What it is about, as data: a path, a limit, a status.
    #[schema(value_type = Option<Object>)]
    pub detail: Option<serde_json::Value>,
}

/// What a request that failed answers, and what a command that failed prints.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    pub error: ErrorView,
}
