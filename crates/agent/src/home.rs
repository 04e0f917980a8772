//! The private state folder of a task and agent: the user's own settings and login, and this task's conversation.
//!
//! The user's folders (`~/.claude`, `~/.codex`, `~/.gemini`) are read and never written. Before *every* launch the
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

mod claude;
mod codex;
mod copy;
mod gemini;
mod prune;

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::AgentName;
use jiff::{SignedDuration, Timestamp};

use crate::Order;

/// A login that ends sooner than this would end inside the run.
const LOGIN_MARGIN: SignedDuration = SignedDuration::from_mins(5);

#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("{path} could not be read")]
    Read {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} could not be written")]
    Write {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not what the agent itself would read: {why}")]
    Malformed { path: Utf8PathBuf, why: String },
    #[error("the login of {agent} has expired: start `{agent}` once and log in")]
    LoginExpired { agent: &'static str },
    #[error("the environment has no HOME")]
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

/// Makes the private folder of the order's agent anew. Programs without a driver have none.
pub(crate) fn rebuild(order: &Order<'_>) -> Result<PrivateHome, HomeError> {
    if order.is_acp() {
        return Ok(crate::acp::home(order));
    }
    let place = match order.agent {
        AgentName::Claude => claude::rebuild(order)?,
        AgentName::Codex => codex::rebuild(order)?,
        AgentName::Gemini => gemini::rebuild(order)?,
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => return Ok(PrivateHome::default()),
    };
    Ok(PrivateHome { write: vec![order.home.to_owned()], ..place })
}

/// The user's folder of an agent: where a variable says, else below the home folder.
fn users_folder(order: &Order<'_>, variable: &str, below_home: &str) -> Result<Utf8PathBuf, HomeError> {
    match order.user_env.path(variable) {
        Some(path) => Ok(path),
        None => Ok(order.user_env.home().ok_or(HomeError::NoHome)?.join(below_home)),
    }
}

fn require_fresh(agent: &'static str, ends: Option<Timestamp>, now: Timestamp) -> Result<(), HomeError> {
    match ends {
        Some(ends) if ends < now.saturating_add(LOGIN_MARGIN).unwrap_or(now) => Err(HomeError::LoginExpired { agent }),
        _ => Ok(()),
    }
}

/// A file of the user's as JSON; `None` when there is none.
fn load_json(path: &Utf8Path) -> Result<Option<serde_json::Value>, HomeError> {
    let Some(text) = copy::load(path)? else { return Ok(None) };
    // Gemini's settings may carry comments; whoever reads them strictly would refuse what the agent takes.
    serde_json::from_slice(&copy::without_comments(&text))
        .map(Some)
        .map_err(|e| HomeError::Malformed { path: path.to_owned(), why: e.to_string() })
}

fn write_json(path: &Utf8Path, value: &serde_json::Value) -> Result<(), HomeError> {
    copy::write(path, value.to_string().as_bytes(), 0o600)
}

#[cfg(test)]
mod tests;
