//! Why the fuzzer itself could not go on.

use camino::Utf8Path;
use dandori_host::CmdError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error("a command failed")]
    Command(#[from] CmdError),
    #[error("{path}")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("a worker could not be talked to")]
    Pipe(#[from] std::io::Error),
    #[error("a file or a worker's line is not what it should be")]
    Json(#[from] serde_json::Error),
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
}
