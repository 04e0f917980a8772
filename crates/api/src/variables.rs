//! An environment on its way.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An environment. It holds secrets: it can be sent, and not be shown.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct Variables(pub BTreeMap<String, String>);

impl std::fmt::Debug for Variables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Variables({} of them)", self.0.len())
    }
}
