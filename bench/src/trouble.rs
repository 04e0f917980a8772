//! Why a benchmark could not be measured.

use camino::Utf8Path;
use dandori_git::GitError;
use dandori_host::CmdError;
use dandori_store::StoreError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("a command failed")]
    Command(#[from] CmdError),
    #[error("git failed")]
    Git(#[from] GitError),
    #[error("the store failed")]
    Store(#[from] StoreError),
    #[error("{path}")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("the output could not be written")]
    Output(#[from] std::io::Error),
    #[error("an answer could not be read")]
    Json(#[from] serde_json::Error),
    /// What was measured was not what was meant: its time would be a lie.
    #[error("{0}")]
    Wrong(String),
}

impl Trouble {
    pub(crate) fn io(path: &Utf8Path) -> impl Fn(std::io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_string(), source }
    }

    pub(crate) fn wrong(what: impl Into<String>) -> Self {
        Self::Wrong(what.into())
    }

    pub(crate) fn with_causes(&self) -> String {
        dandori_domain::cause::with_causes(self)
    }
}
