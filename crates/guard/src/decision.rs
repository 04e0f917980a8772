//! What a guard says, and what several of them together come to.
//!
//! The first block ends the chain. A question stays open until the chain is through, because a later block is stricter.
//! Warnings, infos and errors of guards that fail open are gathered and said together.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

use dandori_domain::guard::ErrorPolicy;

/// Longer reasons are cut: a model does not act on a page, Claude moves more than 10 000 characters into a file, and
/// Codex cuts a context at 2500 tokens, which is about as many characters of Japanese.
const REASON_CHARS: usize = 2_000;
/// For everything that is said at once.
const TOGETHER_CHARS: usize = 6_000;

/// One guard's answer to one event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    Block {
        guard: GuardName,
        reason: Reason,
    },
    /// A person should decide; refused where none can be asked.
    Ask {
        guard: GuardName,
        reason: Reason,
    },
    /// For the user and the model; goes on.
    Warn {
        guard: GuardName,
        reason: Reason,
    },
    /// For the model only; goes on.
    Info {
        guard: GuardName,
        reason: Reason,
    },
    Pass,
    /// The guard itself failed.
    Error {
        guard: GuardName,
        detail: Reason,
        policy: ErrorPolicy,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub struct GuardName(Cow<'static, str>);

impl GuardName {
    pub const fn known(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// The name of a guard from the configuration.
    pub fn custom(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for GuardName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Words for a model or a user: bounded, without control characters, never empty (Codex runs the tool when the reason
/// is).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason(String);

impl Reason {
    pub fn new(text: &str) -> Self {
        Self(bounded(text, REASON_CHARS))
    }

    /// This and a further paragraph, which is not cut away by a long reason.
    #[must_use]
    pub fn with(&self, more: &str) -> Self {
        Self(bounded(&format!("{}\n{}", self.0, bounded(more, REASON_CHARS)), TOGETHER_CHARS))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn bounded(text: &str, limit: usize) -> String {
    let text = text.trim();
    // An escape sequence in a file's name must not reach the user's terminal.
    let mut clean: String =
        text.chars().filter(|c| !c.is_control() || *c == '\n' || *c == '\t').take(limit + 1).collect();
    if let Some((cut, _)) = clean.char_indices().nth(limit) {
        clean.truncate(cut);
        clean.push('…');
    }
    if clean.trim().is_empty() { "dandori".to_owned() } else { clean }
}

/// Gathers the decisions of a chain of guards.
#[derive(Default, Debug)]
pub struct Chain {
    block: Option<(GuardName, Reason)>,
    asks: Vec<(GuardName, Reason)>,
    notes: Vec<Note>,
}

impl Chain {
    /// Takes the next decision; `Break` when the rest of the chain need not run.
    pub fn add(&mut self, decision: Decision) -> ControlFlow<()> {
        if self.block.is_some() {
            return ControlFlow::Break(());
        }
        match decision {
            Decision::Block { guard, reason } => self.block = Some((guard, reason)),
            Decision::Error { guard, detail, policy: ErrorPolicy::Closed } => {
                let reason = Reason::new(&format!("dandori {guard}: {detail}"));
                self.block = Some((guard, reason));
            }
            Decision::Error { guard, detail, policy: ErrorPolicy::Open } => {
                let text = Reason::new(&format!("dandori {guard}: {detail}"));
                self.notes.push(Note { to: Audience::User, text });
            }
            Decision::Ask { guard, reason } => self.asks.push((guard, reason)),
            Decision::Warn { reason, .. } => self.notes.push(Note { to: Audience::Both, text: reason }),
            Decision::Info { reason, .. } => self.notes.push(Note { to: Audience::Model, text: reason }),
            Decision::Pass => {}
        }
        if self.block.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub fn finish(self) -> Ruling {
        let verdict = match (self.block, self.asks.first()) {
            (Some((guard, reason)), _) => Permission::Block { guard, reason },
            (None, Some((guard, _))) => {
                let reason = joined(self.asks.iter().map(|(_, reason)| reason));
                Permission::Ask { guard: guard.clone(), reason: Reason(reason.unwrap_or_default()) }
            }
            (None, None) => Permission::Go,
        };
        Ruling { verdict, notes: self.notes }
    }
}

fn joined<'a>(parts: impl Iterator<Item = &'a Reason>) -> Option<String> {
    let parts: Vec<_> = parts.map(Reason::as_str).collect();
    (!parts.is_empty()).then(|| bounded(&parts.join("\n"), TOGETHER_CHARS))
}

/// What the chain came to, for the client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ruling {
    pub verdict: Permission,
    pub notes: Vec<Note>,
}

/// Whether what is asked about may go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Permission {
    Go,
    Ask { guard: GuardName, reason: Reason },
    Block { guard: GuardName, reason: Reason },
}

/// Something that is said while the work goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub to: Audience,
    pub text: Reason,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Audience {
    User,
    Model,
    Both,
}

impl Ruling {
    pub fn of(decisions: impl IntoIterator<Item = Decision>) -> Self {
        let mut chain = Chain::default();
        for decision in decisions {
            if chain.add(decision).is_break() {
                break;
            }
        }
        chain.finish()
    }

    /// All notes that pass `wanted`, as one text.
    pub(crate) fn notes_for(&self, wanted: impl Fn(Audience) -> bool) -> Option<String> {
        joined(self.notes.iter().filter(|note| wanted(note.to)).map(|note| &note.text))
    }
}

impl From<Decision> for Ruling {
    fn from(decision: Decision) -> Self {
        Self::of([decision])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: GuardName = GuardName::known("a");

    fn reason(text: &str) -> Reason {
        Reason::new(text)
    }

    #[test]
    fn the_first_block_ends_the_chain_and_the_rest_is_not_said() {
        let mut chain = Chain::default();
        assert!(chain.add(Decision::Warn { guard: A, reason: reason("w") }).is_continue());
        assert!(chain.add(Decision::Ask { guard: A, reason: reason("q") }).is_continue());
        assert!(chain.add(Decision::Block { guard: A, reason: reason("first") }).is_break());
        assert!(chain.add(Decision::Block { guard: A, reason: reason("second") }).is_break());
        assert_eq!(chain.finish().verdict, Permission::Block { guard: A, reason: reason("first") });
    }

    #[test]
    fn warnings_infos_and_open_errors_are_joined_and_addressed() {
        let ruling = Ruling::of([
            Decision::Warn { guard: A, reason: reason("w1") },
            Decision::Info { guard: A, reason: reason("i") },
            Decision::Pass,
            Decision::Error { guard: A, detail: reason("no state"), policy: ErrorPolicy::Open },
            Decision::Warn { guard: A, reason: reason("w2") },
        ]);
        assert_eq!(ruling.verdict, Permission::Go);
        let user = ruling.notes_for(|to| to != Audience::Model);
        assert_eq!(user.as_deref(), Some("w1\ndandori a: no state\nw2"));
        assert_eq!(ruling.notes_for(|to| to != Audience::User).as_deref(), Some("w1\ni\nw2"));
    }

    #[test]
    fn a_failure_of_a_closed_guard_blocks() {
        let failed = Decision::Error { guard: A, detail: reason("no state"), policy: ErrorPolicy::Closed };
        let want = Permission::Block { guard: A, reason: reason("dandori a: no state") };
        assert_eq!(Ruling::from(failed).verdict, want);
    }

    #[test]
    fn questions_are_asked_together_when_nobody_blocks() {
        let ask = |text| Decision::Ask { guard: A, reason: reason(text) };
        let want = Permission::Ask { guard: A, reason: reason("q1\nq2") };
        assert_eq!(Ruling::of([ask("q1"), ask("q2")]).verdict, want);
    }

    #[test]
    fn a_reason_is_bounded_never_empty_and_without_escape_sequences() {
        assert_eq!(reason("\u{1b}[2Jgone\r\n\tx\0").as_str(), "[2Jgone\n\tx");
        assert_eq!(reason(" \n\u{7}").as_str(), "dandori");
        let long = reason(&"あ".repeat(50_000));
        assert_eq!(long.as_str().chars().count(), REASON_CHARS + 1);
        assert!(long.as_str().ends_with('…'));
        let many = Ruling::of((0..50).map(|_| Decision::Info { guard: A, reason: long.clone() }));
        assert_eq!(many.notes_for(|_| true).map(|m| m.chars().count()), Some(TOGETHER_CHARS + 1));
    }
}
