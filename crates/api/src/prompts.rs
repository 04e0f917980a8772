//! What `dandori prompt` prints with `--json`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `dandori prompt list`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PromptList {
    pub prompts: Vec<PromptView>,
    pub total: usize,
}

/// `dandori prompt show` and `edit`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct PromptView {
    pub name: String,
    pub path: String,
    /// `user` or `repository`
    pub source: String,
    pub text: String,
}
