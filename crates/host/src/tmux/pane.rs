//! A pane: what runs in it, and how it is described.

use std::fmt;

use camino::Utf8PathBuf;

use super::TmuxError;

/// tmux' own id of a pane, `%3`: the same for as long as the pane is there, never given twice.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PaneId(String);

impl PaneId {
    pub(super) fn read(text: &str) -> Option<Self> {
        let number = text.strip_prefix('%')?;
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A program that a pane is made for, and whose it is.
#[derive(Clone, Debug)]
pub struct PaneProgram<'a> {
    pub agent_id: &'a str,
    pub role: &'a str,
    pub model: &'a str,
    pub folder: Utf8PathBuf,
    pub argv: Vec<String>,
}

impl PaneProgram<'_> {
    pub(super) fn check(&self) -> Result<(), TmuxError> {
        check("agent id", self.agent_id)?;
        check("role", self.role)?;
        check("model", self.model)
    }

    pub(super) fn options(&self) -> [(&'static str, &str); 4] {
        [("@agent_id", self.agent_id), ("@role", self.role), ("@model", self.model), ("@status", "starting")]
    }
}

/// What separates the fields of a listing, and what tmux would expand, stands in none of them.
pub(super) fn check(name: &'static str, value: &str) -> Result<(), TmuxError> {
    let is_bad = value.chars().any(|c| c.is_control() || matches!(c, '|' | '#'));
    if is_bad { Err(TmuxError::BadValue { name, value: value.to_owned() }) } else { Ok(()) }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pane {
    pub id: PaneId,
    pub is_dead: bool,
    /// With which code its program ended, when it did so by itself.
    pub exit: Option<i32>,
    pub pid: Option<u32>,
    pub window: u32,
    pub role: String,
    pub agent_id: String,
    pub model: String,
    pub status: String,
    pub title: String,
}

impl Pane {
    pub(super) fn read(line: &str) -> Option<Self> {
        let mut fields = line.splitn(10, '|');
        let mut next = || fields.next();
        let (id, dead, exit, pid, window) = (next()?, next()?, next()?, next()?, next()?);
        let mut text = || next().map(str::to_owned);
        Some(Self {
            id: PaneId::read(id)?,
            is_dead: dead == "1",
            exit: exit.parse().ok(),
            pid: pid.parse().ok().filter(|pid| *pid != 0),
            window: window.parse().ok()?,
            role: text()?,
            agent_id: text()?,
            model: text()?,
            status: text()?,
            title: text()?,
        })
    }
}
