//! The three clients: where their hooks stand, which events we hear, and how long an answer may take.

use dandori_domain::shell_word;

use crate::tree::Looseness;
use crate::wanted::Wanted;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {
    Claude,
    Codex,
    Gemini,
}

/// The longest an answer may take, in seconds: every client goes on without one after that. The hook's own limits
/// (`dandori_hook::DEADLINE` and what it allows to checks of the project) are below these.
const BEFORE_TOOL: u32 = 120;
const AFTER_TOOL: u32 = 120;
/// Codex allows no more.
const SESSION_END: u32 = 3;
const OTHER: u32 = 10;

struct Event {
    name: &'static str,
    seconds: u32,
    /// Its groups choose by a matcher. Where none is taken, none is written: Gemini compares a lifecycle event's word
    /// for word.
    has_matcher: bool,
    /// What is asked about does not go on when the hook is killed, or takes too long. Clients that do not know the word
    /// leave it alone.
    fails_closed: bool,
}

const fn plain(name: &'static str) -> Event {
    Event { name, seconds: OTHER, has_matcher: false, fails_closed: false }
}

const fn matched(name: &'static str, seconds: u32) -> Event {
    Event { name, seconds, has_matcher: true, fails_closed: false }
}

const fn closed(name: &'static str, seconds: u32) -> Event {
    Event { name, seconds, has_matcher: true, fails_closed: true }
}

/// Never `WorktreeCreate`: who registers it replaces the making of worktrees. And not `PermissionRequest`: what we
/// have to say has been said before the client asks.
const CLAUDE: &[Event] = &[
    matched("SessionStart", OTHER),
    plain("UserPromptSubmit"),
    closed("PreToolUse", BEFORE_TOOL),
    matched("PostToolUse", AFTER_TOOL),
    matched("PostToolUseFailure", AFTER_TOOL),
    plain("Stop"),
    matched("SubagentStart", OTHER),
    matched("SubagentStop", OTHER),
    matched("PreCompact", OTHER),
    matched("SessionEnd", SESSION_END),
    matched("Notification", OTHER),
    // Without it an agent takes the hooks out of the settings, and the session goes on without them.
    closed("ConfigChange", OTHER),
];

const CODEX: &[Event] = &[
    matched("SessionStart", OTHER),
    plain("UserPromptSubmit"),
    matched("PreToolUse", BEFORE_TOOL),
    matched("PostToolUse", AFTER_TOOL),
    plain("Stop"),
    matched("SubagentStart", OTHER),
    matched("SubagentStop", OTHER),
    matched("PreCompact", OTHER),
    Event { name: "SessionEnd", seconds: SESSION_END, has_matcher: false, fails_closed: false },
];

const GEMINI: &[Event] = &[
    plain("SessionStart"),
    plain("BeforeAgent"),
    matched("BeforeTool", BEFORE_TOOL),
    matched("AfterTool", AFTER_TOOL),
    plain("AfterAgent"),
    Event { name: "SessionEnd", seconds: SESSION_END, has_matcher: false, fails_closed: false },
    plain("PreCompress"),
    plain("Notification"),
];

impl Client {
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Its name on the command line, and its program's.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The folder in a project, and in the user's home, that holds its settings.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Claude => ".claude",
            Self::Codex => ".codex",
            Self::Gemini => ".gemini",
        }
    }

    /// The file in that folder.
    pub fn file(self) -> &'static str {
        match self {
            Self::Claude | Self::Gemini => "settings.json",
            Self::Codex => "hooks.json",
        }
    }

    /// Whether it reads the file with this in it. Claude Code and Codex drop the whole file for what they do not read,
    /// Gemini does not start.
    pub(crate) fn reads(self, looseness: Looseness) -> bool {
        match looseness {
            Looseness::ByteOrderMark => self == Self::Claude,
            Looseness::Comment => self == Self::Gemini,
            Looseness::TrailingComma => false,
        }
    }

    /// Settings beside the hooks that we put in where they are missing. Claude Code takes what another session sends for
    /// the user's word, and an agent's shell is given what it takes to send it.
    pub fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claude => &[("crossSessionInbound", "refuse")],
            Self::Codex | Self::Gemini => &[],
        }
    }

    /// Whether a hook at this event is to be told that its failure is a refusal.
    pub(crate) fn fails_closed(self, event: &str) -> bool {
        self == Self::Claude && CLAUDE.iter().any(|known| known.name == event && known.fails_closed)
    }

    /// The groups we want, by event. `more` are words of the call behind the client's name.
    pub(crate) fn wanted(self, program: &str, more: &[&str]) -> Vec<(&'static str, Wanted)> {
        let events = match self {
            Self::Claude => CLAUDE,
            Self::Codex => CODEX,
            Self::Gemini => GEMINI,
        };
        events.iter().map(|event| (event.name, self.group(event, program, more))).collect()
    }

    fn group(self, event: &Event, program: &str, more: &[&str]) -> Wanted {
        let hooks = ("hooks", Wanted::List(vec![self.handler(event, program, more)]));
        if event.has_matcher {
            Wanted::object([("matcher", Wanted::text("*")), hooks])
        } else {
            Wanted::object([hooks])
        }
    }

    /// What stands behind the program.
    pub(crate) fn call_words<'w>(self, more: &[&'w str]) -> impl Iterator<Item = &'w str> {
        ["hook", self.name()].into_iter().chain(more.to_vec())
    }

    /// The whole call, for a shell.
    pub(crate) fn call_line(self, program: &str, more: &[&str]) -> String {
        std::iter::once(program).chain(self.call_words(more)).map(shell_word).collect::<Vec<_>>().join(" ")
    }

    fn handler(self, event: &Event, program: &str, more: &[&str]) -> Wanted {
        let kind = ("type", Wanted::text("command"));
        let line = ("command", Wanted::text(self.call_line(program, more)));
        match self {
            // With arguments of its own it is started without a shell.
            Self::Claude => {
                let args = ("args", Wanted::List(self.call_words(more).map(Wanted::text).collect()));
                let timeout = ("timeout", Wanted::Number(event.seconds));
                let plain = [kind, ("command", Wanted::text(program)), args, timeout];
                let closed = event.fails_closed.then(|| ("onFailure", Wanted::text("block")));
                Wanted::object(plain.into_iter().chain(closed))
            }
            Self::Codex => Wanted::object([kind, line, ("timeout", Wanted::Number(event.seconds))]),
            Self::Gemini => Wanted::object([
                kind,
                ("name", Wanted::text("dandori")),
                line,
                ("timeout", Wanted::Number(event.seconds * 1000)),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_is_still_made_by_git_and_codex_waits_no_longer_than_it_may() {
        assert!(Client::ALL.iter().all(|c| c.wanted("/d", &[]).iter().all(|(name, _)| *name != "WorktreeCreate")));
        assert!(CODEX.iter().all(|e| e.name != "SessionEnd" || e.seconds <= 3));
    }
}
