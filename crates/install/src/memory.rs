//! What was there before we came: so much of it as is needed to take ourselves out again without a trace.
//!
//! It holds no setting of anybody's: of what was there only white space and comments inside empty brackets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    pub file: FileBefore,
    pub hooks: Before,
    /// The lists of the events.
    pub events: BTreeMap<String, Before>,
    /// Settings beside the hooks that were not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileBefore {
    Absent,
    /// Nothing in it but this.
    Blank(String),
    Object(Before),
}

/// Something in brackets, before we came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    Absent,
    /// With this between its brackets.
    Empty(String),
    Filled,
}

impl Memory {
    /// For a file about which nothing is known: what becomes empty was ours, but the file was there.
    pub(crate) fn none() -> Self {
        Self {
            file: FileBefore::Object(Before::Filled),
            hooks: Before::Absent,
            events: BTreeMap::new(),
            settings: Vec::new(),
        }
    }

    pub(crate) fn of_event(&self, event: &str) -> Before {
        self.events.get(event).cloned().unwrap_or(Before::Absent)
    }
}
