//! Hands a prompt to a client in a pane of tmux, and comes back when the client has it or never will.
//!
//! Carries out what [`Typing`] decides. Whether the client has it is read from what its hook has recorded; of the pane only the
//! title is looked at, and whether its program still runs. A message that was given up is taken away from the client as well
//! ([`take_message`]): the line may still be in its box, and must not be submitted later.
//!
//! A worker begins each task with an empty conversation: the client's own command for that is typed first, in the same way, and counts
//! when the client's event says that a new conversation has begun. Planner and orchestrator keep theirs.

mod events;
mod session;

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::prompt_line::UntypablePath;
use dandori_domain::run::Role;
use dandori_domain::{Client, PromptTag, prompt_line};
use dandori_formation::typing::{Act, Answer, Pace, Seen, Typing, Undelivered};
use dandori_host::tmux::{PaneId, PaneWriter, TmuxError};
use dandori_host::{Tmux, now, replace_file};
use dandori_journal::{Taking, take_message};
use jiff::Timestamp;

use events::Events;
pub use session::{Opened, PaneAgent, PaneLaunch, SessionError, formation_session};

/// How often a pane is looked at.
const LOOK: Duration = Duration::from_millis(40);
/// Longer than a hook takes from taking a message to recording it.
const LATE_RECORD: Duration = Duration::from_secs(10);
/// Each empties a line and joins it with the one before, or behind: in an empty box they do nothing, in the clients' boxes they
/// leave a mode such as that of `!`, and what a person had written can be put back by `C-y`. `C-c` and Escape clear a box at once, but
/// in an empty one they end the client or open a dialog. Not more of them: Claude Code takes a hundred at once for a paste and drops
/// them. They are enough for six lines; of more the next try empties the rest.
const CLEAR: [(&str, u32); 2] = [("C-u", 12), ("C-k", 12)];
/// The same once more right before the line, for what has come in between, and to the beginning of the box: before words that are
/// there all the same, a `/` or `!` of theirs is none at the beginning, and the hook refuses the whole.
const CLEAR_AGAIN: [(&str, u32); 3] = [("C-u", 12), ("C-k", 12), ("C-a", 1)];

#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error(transparent)]
    Tmux(#[from] TmuxError),
    #[error(transparent)]
    Path(#[from] UntypablePath),
    /// It works headless then, where each task has a process of its own.
    #[error("{0} does not report a new conversation at once, so it cannot be a worker in a pane")]
    NoNewConversation(Client),
    #[error("cannot write the prompt to {path}")]
    Prompt {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Whether the client may still submit it is not known then.
    #[error("cannot take back message {tag}")]
    NotTakenBack {
        tag: PromptTag,
        #[source]
        source: std::io::Error,
    },
}

/// What became of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Delivered {
    /// The client's own event shows it.
    Accepted,
    /// It was not and will not be submitted under this epoch.
    Not(Undelivered),
    /// It was taken under this epoch, and nothing is recorded of that: the client's hook was ended in between, or whoever delivered
    /// it before had taken it back.
    Unproven,
}

/// What the client's event has to say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// That the conversation is a new one.
    Fresh,
    /// What became of the message.
    Answer,
}

/// A client in a pane.
#[derive(Clone, Debug)]
pub struct Recipient<'a> {
    pub tmux: &'a Tmux,
    pub pane: &'a PaneId,
    pub client: Client,
    pub role: Role,
    /// Where the hook of this client records its events, and of no other client.
    pub guards: &'a Utf8Path,
    /// Where prompts lie, for the client to read.
    pub prompts: &'a Utf8Path,
    pub pace: Pace,
}

impl Recipient<'_> {
    /// Waits for the client to be free, and types. `since` is when the message was first given out under its epoch: whoever was
    /// killed in between calls again and finds what has happened.
    pub fn deliver(&self, tag: PromptTag, prompt: &str, since: Timestamp) -> Result<Delivered, DeliveryError> {
        let clear = match (self.role, self.client.describe().clear) {
            (Role::Orchestrator | Role::Planner, _) => None,
            (Role::Worker, Some(clear)) => Some(clear),
            (Role::Worker, None) => return Err(DeliveryError::NoNewConversation(self.client)),
        };
        let writer = self.tmux.writer(self.pane)?;
        let path = self.prompts.join(format!("{}.md", tag.file_name()));
        let line = prompt_line(tag, &path)?;
        replace_file(&path, prompt.as_bytes(), 0o600)
            .map_err(|source| DeliveryError::Prompt { path: path.clone(), source })?;
        let mut events = Events::of(self.guards, tag, since);
        for (words, end) in clear.map(|clear| (clear, End::Fresh)).into_iter().chain([(line.as_str(), End::Answer)]) {
            if let Err(why) = self.type_in(&writer, words, &mut events, end)? {
                return self.take_back(tag, &mut events, why);
            }
        }
        Ok(Delivered::Accepted)
    }

    /// Until the client's event says so, or it is given up.
    fn type_in(
        &self,
        writer: &PaneWriter,
        words: &str,
        events: &mut Events,
        end: End,
    ) -> Result<Result<(), Undelivered>, DeliveryError> {
        let mut typing = Typing::begin(self.pace, now());
        loop {
            match typing.next(&self.look(events, end)) {
                Act::Accepted => return Ok(Ok(())),
                Act::GiveUp(why) => return Ok(Err(why)),
                Act::Wait => std::thread::sleep(LOOK),
                act => carry_out(writer, &act, words)?,
            }
        }
    }

    fn look(&self, events: &mut Events, end: End) -> Seen {
        events.read();
        // A message that was answered needs no new conversation any more: whoever delivered it before was killed in between.
        let is_ready = end == End::Fresh && events.is_fresh;
        let answer = events.answer.clone().or_else(|| is_ready.then_some(Answer::Accepted));
        let (damaged, last_event) = (events.damaged, events.last);
        if answer.is_some() {
            // Then the pane does not matter any more.
            return Seen { is_dead: false, activity: None, last_event, answer, damaged, now: now() };
        }
        let pane = self.tmux.pane(self.pane);
        // A pane that cannot be looked at is unknown; it is gone when tmux is.
        let is_dead = pane.as_ref().map_or_else(|_| !self.tmux.is_running(), |pane| pane.is_dead);
        let activity = pane.ok().and_then(|pane| self.client.activity(&pane.title));
        Seen { is_dead, activity, last_event, answer, damaged, now: now() }
    }

    /// Whoever takes it first has it: the client's hook, or we.
    fn take_back(&self, tag: PromptTag, events: &mut Events, why: Undelivered) -> Result<Delivered, DeliveryError> {
        let taking = take_message(self.guards, tag).map_err(|source| DeliveryError::NotTakenBack { tag, source })?;
        if taking == Taking::Now {
            return Ok(Delivered::Not(why));
        }
        let begun = now();
        while now().duration_since(begun).unsigned_abs() < LATE_RECORD {
            events.read();
            if events.is_accepted() {
                return Ok(Delivered::Accepted);
            }
            std::thread::sleep(LOOK);
        }
        Ok(Delivered::Unproven)
    }
}

/// A pane that died in between is seen as dead at the next look.
fn carry_out(writer: &PaneWriter, act: &Act, line: &str) -> Result<(), DeliveryError> {
    let done = match act {
        Act::Clear => writer.press(&CLEAR),
        Act::Paste => writer.press(&CLEAR_AGAIN).and_then(|()| writer.paste(line)),
        Act::Enter => writer.press(&[("Enter", 1)]),
        Act::Wait | Act::Accepted | Act::GiveUp(_) => Ok(()),
    };
    match done {
        Err(TmuxError::PaneDead(_)) => Ok(()),
        other => Ok(other?),
    }
}
