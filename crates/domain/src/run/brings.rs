//! What a run merges into its branch before anybody works.

use serde::{Deserialize, Deserializer, Serialize};

use crate::id::Oid;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Brings {
    /// The newest base, and nothing else is done: git merges, the agent is there for conflicts.
    Base,
    /// One commit, by the name that people know it by.
    Commit { oid: Oid, name: String, on_conflict: OnConflict },
}

/// What becomes of a commit that does not go together with the branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnConflict {
    /// The run fails and commits nothing. No agent works in it: [`super::RunSettings::check`] decides about what git has merged,
    /// and exactly that is committed.
    GiveBack,
    /// Both sides are in the files for the agent, who has more to do than that.
    Resolve,
}

impl Brings {
    /// It is taken as git merges it, or not at all.
    pub fn gives_back(&self) -> bool {
        matches!(self, Self::Commit { on_conflict: OnConflict::GiveBack, .. })
    }

    /// What is merged, in a branch whose base is `base`.
    pub fn name<'n>(&'n self, base: &'n str) -> &'n str {
        match self {
            Self::Base => base,
            Self::Commit { name, .. } => name,
        }
    }
}

/// Runs were stored with `"updates": true` when there was only the base to bring.
pub(super) fn stored<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Brings>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Updates(bool),
        Brings(Brings),
    }
    Ok(match Option::<Stored>::deserialize(d)? {
        Some(Stored::Updates(true)) => Some(Brings::Base),
        Some(Stored::Updates(false)) | None => None,
        Some(Stored::Brings(brings)) => Some(brings),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_brought_is_read_as_it_was_stored_when_there_was_only_the_base() {
        #[derive(Deserialize)]
        struct Spec {
            #[serde(default, alias = "updates", deserialize_with = "stored")]
            brings: Option<Brings>,
        }
        let read = |text: &str| serde_json::from_str::<Spec>(text).unwrap().brings;
        assert_eq!(read("{}"), None);
        assert_eq!(read(r#"{"updates":true}"#), Some(Brings::Base));
        assert_eq!(read(r#"{"updates":false}"#), None);
        let commit = Brings::Commit { oid: Oid::new("abc"), name: "T-3".into(), on_conflict: OnConflict::GiveBack };
        for brings in [Brings::Base, commit] {
            let text = format!(r#"{{"brings":{}}}"#, serde_json::to_string(&brings).unwrap());
            assert_eq!(read(&text), Some(brings));
        }
    }
}
