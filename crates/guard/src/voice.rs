//! What a guard has to say about one event.

use camino::Utf8PathBuf;
use dandori_domain::guard::Level;
use dandori_text::Lang;

use crate::world::Effect;

/// Filled by a guard: findings, and what should be noted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Voice {
    pub findings: Vec<Finding>,
    pub effects: Vec<Effect>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What the guard itself thinks it weighs; never more than what the guard is set to.
    pub weight: Level,
    pub message: String,
    /// The one file it is about, when it is about one: an exception for a path is held against it.
    pub path: Option<Utf8PathBuf>,
}

impl Voice {
    pub(crate) fn block(&mut self, message: impl Into<String>) {
        self.say(Level::Block, message);
    }

    pub(crate) fn ask(&mut self, message: impl Into<String>) {
        self.say(Level::Ask, message);
    }

    pub(crate) fn warn(&mut self, message: impl Into<String>) {
        self.say(Level::Warn, message);
    }

    pub(crate) fn info(&mut self, message: impl Into<String>) {
        self.say(Level::Info, message);
    }

    pub(crate) fn say(&mut self, weight: Level, message: impl Into<String>) {
        self.findings.push(Finding { weight, message: message.into(), path: None });
    }

    /// About one file, read or written.
    pub(crate) fn block_file(&mut self, path: impl Into<Utf8PathBuf>, message: impl Into<String>) {
        self.findings.push(Finding { weight: Level::Block, message: message.into(), path: Some(path.into()) });
    }

    /// Something was found that is refused.
    pub(crate) fn is_blocking(&self) -> bool {
        self.findings.iter().any(|finding| finding.weight == Level::Block)
    }

    /// Noted whatever the answer will be.
    pub(crate) fn note(&mut self, effect: Effect) {
        self.effects.push(effect);
    }
}

/// Why a guard could not do its work: not the agent's fault, and not a finding.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("cannot read {path}: {reason}")]
    Unreadable { path: String, reason: String },
    #[error("{what} did not finish within {seconds} s")]
    TimedOut { what: String, seconds: u64 },
    #[error("cannot start {what}: {reason}")]
    NotStarted { what: String, reason: String },
    #[error("{0}")]
    Other(String),
}

impl Trouble {
    /// For the user, in their language.
    pub(crate) fn said(&self, lang: Lang) -> String {
        use dandori_text::guard as text;
        match self {
            Self::Unreadable { path, reason } => text::unreadable(lang, path, reason),
            Self::TimedOut { what, seconds } => text::timed_out(lang, what, *seconds),
            Self::NotStarted { what, reason } => text::not_started(lang, what, reason),
            Self::Other(text) => text.clone(),
        }
    }
}
