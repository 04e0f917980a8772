//! The coding agents that dandori knows: what is particular to one of them and can be said as data stands in its own file
//! here, as a [`Description`], and everybody else derives from it.
//!
//! What is behaviour (command line and private home, stream, hook protocol, self-test, scripted model) is a file per
//! client in the room it belongs to, and is reached there by one match without a wildcard: a further client does not
//! compile until each has answered for it. No other place asks which client it is.

#![deny(clippy::wildcard_enum_match_arm)]

mod claude;
mod codex;
mod description;
mod gemini;

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use camino::Utf8Path;

pub use description::*;

/// Made from one list, so that none is missing in `ALL`.
macro_rules! clients {
    ($($client:ident in $file:ident),+ $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Client {
            $($client),+
        }

        impl Client {
            pub const ALL: [Self; [$(Self::$client),+].len()] = [$(Self::$client),+];

            /// What is particular to it.
            pub const fn describe(self) -> &'static Description {
                match self {
                    $(Self::$client => &$file::DESCRIPTION),+
                }
            }
        }
    };
}

clients! { Claude in claude, Codex in codex, Gemini in gemini }

impl Client {
    /// Its name on the command line, in files and in `--json`.
    pub const fn name(self) -> &'static str {
        self.describe().name
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        self.describe().title
    }

    /// How it asks us about what it does; `None` when it cannot.
    pub const fn hooks(self) -> Option<&'static Hooks> {
        self.describe().hooks.as_ref()
    }

    /// Those that ask us, each with how.
    pub fn with_hooks() -> impl Iterator<Item = (Self, &'static Hooks)> {
        Self::ALL.into_iter().filter_map(|client| Some((client, client.hooks()?)))
    }

    /// The one whose program has this name.
    pub fn of_program(program: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.describe().program.name == program)
    }

    /// The one that a person means by this, however it is written: `Claude-Code`, `codex_cli`.
    pub fn meant_by(text: &str) -> Option<Self> {
        let word = text.trim().to_lowercase().replace(['_', '-', ' '], "");
        let is_meant = |client: &Self| client.name() == word || client.describe().also_called.contains(&word.as_str());
        Self::ALL.into_iter().find(is_meant)
    }

    /// Their folders in a project and in a home.
    pub fn folders() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|client| client.describe().settings.folder)
    }

    /// Every settings file, with the folder it lies in.
    pub fn settings_files() -> impl Iterator<Item = (&'static str, &'static SettingsFile)> {
        let files = |settings: &'static Settings| settings.files.iter().map(|file| (settings.folder, file));
        Self::ALL.into_iter().flat_map(move |client| files(&client.describe().settings))
    }

    /// Whose settings lie at this path: a project's, a user's, a nested folder's in which it may be started.
    pub fn settings_at(path: &Utf8Path) -> Option<&'static SettingsFile> {
        let (folder, name) = (path.parent()?.file_name()?, path.file_name()?);
        Self::settings_files().find(|(of, file)| *of == folder && file.name == name).map(|(_, file)| file)
    }

    /// What the title of its terminal says it is doing; `None` when that cannot be told, as before it has begun.
    pub fn activity(self, title: &str) -> Option<Activity> {
        let Titles { busy, waiting, idle } = &self.describe().titles;
        let sign = title.trim_start().chars().next()?;
        let begins = |signs: &[RangeInclusive<char>]| signs.iter().any(|range| range.contains(&sign));
        if begins(busy) {
            Some(Activity::Busy)
        } else if begins(waiting) {
            Some(Activity::Waiting)
        } else {
            let is_idle = begins(idle) || idle.is_empty();
            is_idle.then_some(Activity::Idle)
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown agent {text:?}; use one of: {known}", known = names())]
pub struct UnknownClient {
    text: String,
}

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        let found = Self::ALL.into_iter().find(|client| client.name() == text);
        found.ok_or_else(|| UnknownClient { text: text.to_owned() })
    }
}

/// All of their names.
pub fn names() -> String {
    Client::ALL.iter().map(|client| client.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
