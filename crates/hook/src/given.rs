//! Where the guards' own files are: by what the hook was told when it was installed.
//!
//! The environment is the client's, and whoever starts a client, or writes where shells read their variables, decides
//! about it. A hook of an earlier version was told nothing; only then the environment counts.

use camino::Utf8PathBuf;
use dandori_host::{Env, Layout};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Given {
    /// The state folder.
    pub state: Option<Utf8PathBuf>,
    /// The user's own configuration.
    pub config: Option<Utf8PathBuf>,
    pub home: Option<Utf8PathBuf>,
}

impl Given {
    /// `None` when nothing says where it could be.
    pub(crate) fn layout(&self, env: &Env) -> Option<Layout> {
        match &self.state {
            Some(state) => Some(Layout::at(state.clone())),
            None => Layout::from_env(env),
        }
    }

    pub(crate) fn user_config(&self, env: &Env) -> Utf8PathBuf {
        self.config.clone().unwrap_or_else(|| dandori_host::layout::user_config(env))
    }

    pub(crate) fn home(&self, env: &Env) -> Option<Utf8PathBuf> {
        self.home.clone().or_else(|| env.home())
    }
}
