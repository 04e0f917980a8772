//! Reading what an agent prints: bytes in, events out, and at the end one verdict.
//!
//! A reader never fails and never panics, whatever it is fed: half lines, lines that are no JSON, lines of many
//! megabytes, events it has no name for. The raw stream is kept elsewhere; texts in events are cut to what a
//! person reads.
//!
//! The verdict is what the agent's terminal event says. Without one there is none, whatever the exit code: two of
//! three agents exit 0 when they are interrupted. Programs without a protocol are judged by their exit code.

mod acp;
mod lines;
pub(crate) mod told;

use dandori_domain::{AgentEvent, AgentFailure, AgentName, SessionId, Usage, Verdict};
use serde_json::Value;

use self::lines::{Line, Lines};
use self::told::Told;
use crate::driver::Driver;
use crate::trouble;

/// One per stream of one agent process.
#[derive(Debug)]
pub struct Reader {
    protocol: Protocol,
    lines: Lines,
    told: Told,
}

#[derive(Clone, Copy, Debug)]
enum Protocol {
    Client(&'static Driver),
    /// `dandori acp`: our own events.
    Acp,
    /// Its output is the log, its exit code the verdict.
    Plain,
}

impl Reader {
    /// `asked` is the conversation the agent was to go on with or to start under that name. `before` is what the
    /// conversation had used before this process, as far as we know: Codex counts over the whole thread.
    pub fn new(agent: &AgentName, asked: Option<SessionId>, before: Usage) -> Self {
        let protocol = match agent {
            AgentName::Client(client) => Protocol::Client(Driver::of(*client)),
            AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => Protocol::Plain,
        };
        Self { protocol, lines: Lines::default(), told: Told::new(asked, before) }
    }

    /// Of an agent that speaks the Agent Client Protocol, as `dandori acp` tells of it.
    pub fn of_acp(asked: Option<SessionId>) -> Self {
        Self { protocol: Protocol::Acp, lines: Lines::default(), told: Told::new(asked, Usage::default()) }
    }

    /// Takes in what came, and says what it means. Call it with any pieces of the stream, in order.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        for line in self.lines.feed(bytes) {
            self.take_in(line, &mut events);
        }
        events
    }

    /// The end of the stream, and of the process. `stderr_tail` is read only when the stream itself says nothing.
    pub fn finish(&mut self, exit: Option<i32>, signal: Option<i32>, stderr_tail: &str) -> Verdict {
        if let Some(line) = self.lines.rest() {
            self.take_in(line, &mut Vec::new());
        }
        if let Some(failure) = self.told.wrong_session().filter(|_| !self.is_acp()) {
            return Verdict::Failed { failure };
        }
        match (self.protocol, self.told.verdict.clone()) {
            (Protocol::Plain, _) => self.judged_by_exit(exit, signal, stderr_tail),
            (Protocol::Client(driver), Some(Verdict::Failed { failure })) => {
                Verdict::Failed { failure: (driver.with_exit)(failure, exit) }
            }
            (Protocol::Client(_), Some(verdict)) => verdict,
            (Protocol::Client(_), None) => Verdict::Failed { failure: self.without_verdict(exit, signal, stderr_tail) },
            (Protocol::Acp, Some(Verdict::Failed { failure })) => {
                Verdict::Failed { failure: acp::explained(failure, &self.tail(stderr_tail)) }
            }
            (Protocol::Acp, Some(verdict)) => verdict,
            (Protocol::Acp, None) => Verdict::Failed { failure: self.without_verdict(exit, signal, stderr_tail) },
        }
    }

    /// What this process has used so far. Input counts what was read from a cache, too.
    pub fn usage(&self) -> Usage {
        self.told.usage
    }

    /// The conversation, once the agent has named it.
    pub fn session(&self) -> Option<&SessionId> {
        self.told.session.as_ref()
    }

    /// The agent began a conversation in place of the one it was to go on with, and said so.
    pub fn is_anew(&self) -> bool {
        self.is_acp() && self.told.wrong_session().is_some()
    }

    fn is_acp(&self) -> bool {
        matches!(self.protocol, Protocol::Acp)
    }

    /// Whether a tool is running: silence is then nothing to worry about.
    pub fn has_open_tool(&self) -> bool {
        !self.told.open_tools.is_empty()
    }

    /// How often the agent tried its API again since it last got on.
    pub fn retries(&self) -> u32 {
        self.told.retries
    }

    /// Whether it has said anything at all.
    pub fn said_anything(&self) -> bool {
        self.told.has_spoken
    }

    /// What the terminal event said, as soon as it did. More may follow: read on to the end of the stream.
    pub fn verdict(&self) -> Option<&Verdict> {
        self.told.verdict.as_ref()
    }

    /// Whether it has said that it is done, and nothing it asked for is under way.
    pub fn is_done(&self) -> bool {
        matches!(self.told.verdict, Some(Verdict::Done { .. })) && !self.has_open_tool()
    }

    /// Whether the agent itself stopped because its budget was spent; [`Reader::usage`] has the sum.
    pub fn is_over_budget(&self) -> bool {
        self.told.is_over_budget
    }

    fn take_in(&mut self, line: Line, events: &mut Vec<AgentEvent>) {
        self.told.has_spoken = true;
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong => {
                events.push(AgentEvent::Unknown { kind: "a line too long to read".to_owned() });
                return;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_end_matches('\r');
        if let Protocol::Plain = self.protocol {
            self.told.note_line(text);
            events.push(AgentEvent::Line { text: told::cut(text) });
            return;
        }
        if text.trim().is_empty() {
            return;
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value) if value.is_object() => match self.protocol {
                Protocol::Client(driver) => (driver.take_in)(&value, &mut self.told, events),
                Protocol::Acp => acp::take_in(value, &mut self.told, events),
                Protocol::Plain => {}
            },
            _ => {
                self.told.note_line(text);
                events.push(AgentEvent::Line { text: told::cut(text) });
            }
        }
    }

    fn judged_by_exit(&self, exit: Option<i32>, signal: Option<i32>, stderr_tail: &str) -> Verdict {
        let tail = || self.tail(stderr_tail);
        match exit {
            Some(0) if signal.is_none() => Verdict::Done { summary: self.told.last_line.clone() },
            Some(code) if signal.is_none() => {
                Verdict::Failed { failure: AgentFailure::ExitCode { code, tail: tail() } }
            }
            _ => Verdict::Failed { failure: AgentFailure::NoVerdict { exit, signal, tail: tail() } },
        }
    }

    /// It ended without saying how. What it printed instead may tell.
    fn without_verdict(&self, exit: Option<i32>, signal: Option<i32>, stderr_tail: &str) -> AgentFailure {
        let tail = self.tail(stderr_tail);
        let was_ended = signal.is_some() || matches!(exit, None | Some(0 | 129 | 130 | 137 | 143));
        if let Protocol::Client(driver) = self.protocol
            && let Some(failure) = (driver.of_exit)(exit, &tail, &self.told)
        {
            return failure;
        }
        // Ended by us in the middle of its retries: what it retried for is why.
        if self.told.retries > 0
            && let Some(failure) = self.told.last_error.as_deref().and_then(trouble::in_words)
        {
            return failure;
        }
        if was_ended {
            return AgentFailure::NoVerdict { exit, signal, tail };
        }
        if is_unknown_session(&tail)
            && let Some(asked) = self.told.asked.clone()
        {
            return AgentFailure::WrongSession { asked, got: None };
        }
        let words = self.told.last_error.as_deref().unwrap_or(&tail);
        match trouble::in_words(words) {
            Some(failure) => failure,
            // Bad flags and the like: it never got as far as its first event.
            None if !self.told.has_started && !tail.is_empty() => {
                AgentFailure::NotStarted { detail: trouble::sentence(last_line(&tail)) }
            }
            None => AgentFailure::NoVerdict { exit, signal, tail },
        }
    }

    fn tail(&self, stderr_tail: &str) -> String {
        let tail = stderr_tail.trim();
        let tail = if tail.is_empty() { self.told.tail.as_str() } else { tail };
        dandori_host::cmd::last_lines(tail, 20)
    }
}

pub(crate) fn last_line(text: &str) -> &str {
    text.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or_default()
}

/// How the agents say that there is no such conversation.
pub(crate) fn is_unknown_session(text: &str) -> bool {
    let text = text.to_lowercase();
    [
        "no conversation found",
        "invalid session identifier",
        "error resuming session",
        "no rollout found",
        "thread not found",
    ]
    .iter()
    .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests;
