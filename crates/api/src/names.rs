//! Names for shells that complete them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// `GET /v1/names`
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Names {
    pub names: Vec<NameView>,
    pub total: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct NameView {
    pub name: String,
    /// A title, an agent, a path: what tells it from the others.
    pub about: String,
}
