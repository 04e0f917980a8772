//! The private state folder of a task and agent: the user's own settings and login, and this task's conversation.
//!
//! The user's folders (`~/.claude` and the like) are read and never written. Before *every* launch the
//! private folder is made anew: everything in it but the conversation goes, then the user's settings are copied in.
//! So whatever a run did to its settings, hooks, rules or credentials ends with that run, and nothing is ever
//! carried back.
//!
//! Logins come along without what a run could take away from the user. Claude's and Codex' refresh tokens are valid
//! once: an agent that used one here would log the user out there. They get the access token alone, and a run that
//! would outlive it is refused at the start rather than in the middle. Google's refresh tokens do not rotate.
//!
//! Links are never followed in the private folder (an agent can make them), always in the user's (dotfiles often
//! are links).

pub(crate) mod copy;
pub(crate) mod prune;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::client::Settings;
use jiff::{SignedDuration, Timestamp};

use crate::Order;
use crate::driver::Driver;

/// A login that ends sooner than this would end inside the run.
const LOGIN_MARGIN: SignedDuration = SignedDuration::from_mins(5);

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("cannot read {path}")]
    Read {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot write {path}")]
    Write {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not valid for the agent: {why}")]
    Malformed { path: Utf8PathBuf, why: String },
    #[error("the login of {agent} has expired: start `{agent}` and log in again")]
    LoginExpired { agent: &'static str },
    #[error("HOME is not set")]
    NoHome,
}

/// What the launch needs to know about the private folder.
#[derive(Default)]
pub(crate) struct PrivateHome {
    pub(crate) env: Vec<(String, String)>,
    /// Variables the user's own settings read by name.
    pub(crate) named: Vec<String>,
    pub(crate) write: Vec<Utf8PathBuf>,
}

/// The folders of one client's settings: the user's, and the one in the private home.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) from: Utf8PathBuf,
    pub(crate) to: Utf8PathBuf,
}

impl Folders {
    fn of(order: &Order<'_>, settings: &Settings) -> Result<Self, HomeError> {
        let below = |path: &Utf8Path| match settings.below_variable() {
            "" => path.to_owned(),
            folder => path.join(folder),
        };
        let from = match order.user_env.path(settings.moved_by.variable()) {
            Some(path) => below(&path),
            None => order.user_env.home().ok_or(HomeError::NoHome)?.join(settings.folder),
        };
        Ok(Self { from, to: below(order.home) })
    }
}

/// Makes the private folder of the order's agent anew. Programs without a driver have none.
pub(crate) fn rebuild(order: &Order<'_>) -> Result<PrivateHome, HomeError> {
    if order.is_acp() {
        return Ok(crate::acp::home(order));
    }
    let Some(client) = order.agent.client() else { return Ok(PrivateHome::default()) };
    let settings = &client.describe().settings;
    let named = (Driver::of(client).rebuild)(order, &Folders::of(order, settings)?)?;
    let env = vec![(settings.moved_by.variable().to_owned(), order.home.to_string())];
    Ok(PrivateHome { env, named, write: vec![order.home.to_owned()] })
}

pub(crate) fn require_fresh(agent: &'static str, ends: Option<Timestamp>, now: Timestamp) -> Result<(), HomeError> {
    match ends {
        Some(ends) if ends < now.saturating_add(LOGIN_MARGIN).unwrap_or(now) => Err(HomeError::LoginExpired { agent }),
        _ => Ok(()),
    }
}

/// A file of the user's as JSON; `None` when there is none.
pub(crate) fn load_json(path: &Utf8Path) -> Result<Option<serde_json::Value>, HomeError> {
    let Some(text) = copy::load(path)? else { return Ok(None) };
    // Some settings may carry comments; whoever reads them strictly would refuse what the agent takes.
    serde_json::from_slice(&copy::without_comments(&text))
        .map(Some)
        .map_err(|e| HomeError::Malformed { path: path.to_owned(), why: e.to_string() })
}

pub(crate) fn write_json(path: &Utf8Path, value: &serde_json::Value) -> Result<(), HomeError> {
    copy::write(path, value.to_string().as_bytes(), 0o600)
}

#[cfg(test)]
mod tests;
