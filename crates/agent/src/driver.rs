//! What each client needs done in its own way when it is started and read. A file per client; the one match is here.

mod claude;
mod codex;
mod gemini;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{AgentEvent, AgentFailure, Client, SessionId};
use serde_json::Value;

use crate::Order;
use crate::home::{Folders, HomeError};
use crate::reader::told::Told;

#[derive(Debug)]
pub(crate) struct Driver {
    /// What it reads from stdin.
    pub(crate) prompt: fn(&Order<'_>) -> String,
    /// Its words behind the program; the conversation, when it is known before the start.
    pub(crate) command: fn(&Order<'_>, &mut Line) -> Option<SessionId>,
    /// What to start in place of what was found on the PATH.
    pub(crate) native: fn(&Utf8Path) -> Option<Utf8PathBuf>,
    /// Variables that are set for it, besides those that keep it quiet.
    pub(crate) variables: fn(&Order<'_>) -> Vec<(&'static str, String)>,
    /// Whether a variable of the user's is part of the login it goes by, beyond those that always are.
    pub(crate) is_login: fn(&Order<'_>, &str) -> bool,
    /// Files and folders of that login.
    pub(crate) login_files: fn(&Order<'_>) -> Vec<Utf8PathBuf>,
    /// Makes its private folder anew; answers with the variables that the user's own settings read by name.
    pub(crate) rebuild: fn(&Order<'_>, &Folders) -> Result<Vec<String>, HomeError>,
    /// Takes in one event of its stream.
    pub(crate) take_in: fn(&Value, &mut Told, &mut Vec<AgentEvent>),
    /// What its exit code adds to the failure that it told.
    pub(crate) with_exit: fn(AgentFailure, Option<i32>) -> AgentFailure,
    /// What its exit code says where it told nothing.
    pub(crate) of_exit: fn(Option<i32>, &str, &Told) -> Option<AgentFailure>,
}

impl Driver {
    #[deny(clippy::wildcard_enum_match_arm)]
    pub(crate) fn of(client: Client) -> &'static Self {
        match client {
            Client::Claude => &claude::DRIVER,
            Client::Codex => &codex::DRIVER,
            Client::Gemini => &gemini::DRIVER,
        }
    }
}

/// A command line in the making.
pub(crate) struct Line(pub(crate) Vec<String>);

impl Line {
    pub(crate) fn add(&mut self, words: &[&str]) {
        self.0.extend(words.iter().map(|w| (*w).to_owned()));
    }

    fn option(&mut self, flag: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(&[flag, value]);
        }
    }

    /// For a client that lets us name a new conversation, and goes on with one by the same kind of id.
    fn session(&mut self, order: &Order<'_>) -> SessionId {
        let (flag, session) = match order.session {
            Some(session) => ("--resume", session.clone()),
            None => ("--session-id", SessionId::new(order.new_session.to_string())),
        };
        self.add(&[flag, session.as_str()]);
        session
    }
}

/// Whether a variable of the user's is set, to anything but `0` and `false`.
fn is_on(order: &Order<'_>, name: &str) -> bool {
    order.user_env.text(name).is_some_and(|value| value != "0" && value != "false")
}
