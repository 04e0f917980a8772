//! Setting dandori up and looking after it: init, doctor, trust, the demo.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::pull::PullView;
use crate::task::TaskRuns;

/// `dandori init`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct InitReport {
    /// `project` or `user`
    pub scope: String,
    /// What the hooks start.
    pub program: String,
    pub dry_run: bool,
    pub files: Vec<SettingsFile>,
    pub advice: Vec<InitAdvice>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct SettingsFile {
    pub agent: String,
    pub path: String,
    /// What was done to it, or would be.
    pub action: String,
    /// What would change; `null` unless it is only planned.
    pub diff: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct InitAdvice {
    pub code: String,
    pub message: String,
}

/// `dandori doctor`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DoctorChecks {
    pub ok: bool,
    pub checks: Vec<DoctorCheck>,
    pub total: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DoctorCheck {
    pub check: String,
    pub ok: bool,
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What it is, for programs.
    pub code: Option<String>,
    #[schema(value_type = Option<Object>)]
    pub problem: Option<serde_json::Value>,
}

/// `dandori trust`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Trusted {
    pub path: String,
    /// What the file could execute.
    pub powers: Vec<String>,
    pub trusted: bool,
}

/// `dandori demo`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DemoReport {
    pub ok: bool,
    pub dir: String,
    pub repository: String,
    pub origin: String,
    pub state_dir: String,
    pub tasks: Vec<TaskRuns>,
    pub pulls: Vec<PullView>,
    pub claims: Vec<DemoClaim>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct DemoClaim {
    pub claim: String,
    pub ok: bool,
    /// What was found instead.
    pub found: Option<String>,
}

/// `dandori completions`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CompletionScript {
    pub shell: String,
    pub script: String,
}
