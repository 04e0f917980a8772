//! Typing a prompt into a client's terminal: which key comes next, by what is seen.
//!
//! What became of a key cannot be seen, so nothing counts but the client's own event that names the message. Until it comes the
//! line is typed again, always into an emptied box; the hook lets a message through once and only undamaged
//! ([`dandori_domain::prompt_line`]), so a line that was typed twice is submitted once. Nothing is typed while it is not known
//! that the client waits for a prompt: a key could answer a question of its own, and a prompt that is sent in the middle of a turn may
//! be taken without an event.
//!
//! Pure: what is seen and the time come in, an act comes out. One machine types one message into one pane; that nobody else
//! types there meanwhile is the caller's to see to.

use std::time::Duration;

use dandori_domain::client::Activity;
use jiff::Timestamp;

/// How long things may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// A client has to be free for so long: titles lag behind keys by a third of a second.
    pub settle: Duration,
    /// After an event of a turn, a title that says it is free is not believed for so long unless the turn's end was told: a client shows
    /// late that it works, and in a short turn never. Longer not: a turn that its user breaks off ends without an event.
    pub turn: Duration,
    /// Between emptying the box, the paste and Enter.
    pub gap: Duration,
    /// From Enter to the client's event; after that, Enter is pressed once more, then all is typed again.
    pub answer: Duration,
    /// How often the line is typed.
    pub tries: u32,
    /// How long a client may not be free, and all of it may take after that.
    pub patience: Duration,
}

impl Pace {
    /// For real clients on a busy machine.
    pub const USUAL: Self = Self {
        settle: Duration::from_millis(600),
        turn: Duration::from_secs(5),
        gap: Duration::from_millis(300),
        answer: Duration::from_secs(10),
        tries: 4,
        patience: Duration::from_mins(2),
    };
}

/// What the client's last hook event was, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LastEvent {
    /// A conversation has begun: the client waits for its first prompt.
    Start,
    /// A tool is about to run: it runs, or its user is asked whether it may.
    BeforeTool,
    /// A prompt was submitted, a tool has run: the turn goes on.
    Turn { at: Timestamp },
    /// Any other.
    Other,
}

/// What the client's event said about our message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Accepted,
    /// By a guard: it would refuse it again.
    Refused {
        guard: String,
    },
}

/// What is seen of a pane now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub is_dead: bool,
    /// By the title; `None` when that does not tell.
    pub activity: Option<Activity>,
    pub last_event: Option<LastEvent>,
    pub answer: Option<Answer>,
    /// How many prompts were refused since the beginning because they were damaged.
    pub damaged: u32,
    pub now: Timestamp,
}

/// What to do now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Act {
    /// Look again.
    Wait,
    /// Empty the box, with keys that do nothing in an empty one.
    Clear,
    /// Paste the line.
    Paste,
    /// Press Enter.
    Enter,
    Accepted,
    GiveUp(Undelivered),
}

/// Why a message was not delivered.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Undelivered {
    #[error("the client has ended")]
    PaneDied,
    #[error("the client was not ready for a prompt: {0}")]
    NotReady(Hindrance),
    #[error("the client did not submit the prompt, typed {tries} times")]
    NotSubmitted { tries: u32 },
    #[error("the guard {guard} refused the prompt")]
    Refused { guard: String },
}

/// Why nothing may be typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Hindrance {
    #[error("it is not known what it is doing")]
    Unknown,
    #[error("it is working")]
    Busy,
    #[error("it may be asking its user something")]
    Asking,
}

/// What keeps one from typing, if anything. Claude Code's title is the same when it asks whether a tool may run as when it waits
/// for a prompt; its last event is not. And its first title is lost in tmux 3.3a, which takes a question about pictures for one.
pub fn hindrance(seen: &Seen, pace: &Pace) -> Option<Hindrance> {
    match (seen.activity, seen.last_event) {
        (None | Some(Activity::Idle), Some(LastEvent::Start)) => None,
        (None, _) => Some(Hindrance::Unknown),
        (Some(Activity::Busy), _) => Some(Hindrance::Busy),
        (Some(Activity::Waiting), _) | (Some(Activity::Idle), Some(LastEvent::BeforeTool)) => Some(Hindrance::Asking),
        (Some(Activity::Idle), Some(LastEvent::Turn { at })) if !past(at, pace.turn, seen.now) => Some(Hindrance::Busy),
        (Some(Activity::Idle), Some(LastEvent::Turn { .. } | LastEvent::Other) | None) => None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Free since then, if it is.
    Waiting {
        free_since: Option<Timestamp>,
    },
    Cleared {
        at: Timestamp,
    },
    Pasted {
        at: Timestamp,
    },
    Entered {
        at: Timestamp,
        times: u32,
        damaged: u32,
    },
}

const WAITING: Stage = Stage::Waiting { free_since: None };
/// The first may be lost, or complete a word instead.
const ENTERS: u32 = 2;

#[derive(Clone, Debug)]
pub struct Typing {
    pace: Pace,
    stage: Stage,
    tries: u32,
    /// Patience is counted from here: the beginning, or the last key.
    since: Timestamp,
}

impl Typing {
    pub fn begin(pace: Pace, now: Timestamp) -> Self {
        Self { pace, stage: WAITING, tries: 0, since: now }
    }

    /// What to do now. Each act is carried out before the next is asked for.
    pub fn next(&mut self, seen: &Seen) -> Act {
        match &seen.answer {
            Some(Answer::Accepted) => return Act::Accepted,
            Some(Answer::Refused { guard }) => return Act::GiveUp(Undelivered::Refused { guard: guard.clone() }),
            None => {}
        }
        if seen.is_dead {
            return Act::GiveUp(Undelivered::PaneDied);
        }
        if let Some(hindrance) = hindrance(seen, &self.pace) {
            self.step_back();
            return if past(self.since, self.pace.patience, seen.now) {
                Act::GiveUp(Undelivered::NotReady(hindrance))
            } else {
                Act::Wait
            };
        }
        match self.stage {
            Stage::Waiting { free_since } => self.settle(free_since.unwrap_or(seen.now), seen.now),
            Stage::Cleared { at } if past(at, self.pace.gap, seen.now) => {
                self.act(Stage::Pasted { at: seen.now }, Act::Paste, seen.now)
            }
            Stage::Pasted { at } if past(at, self.pace.gap, seen.now) => {
                let entered = Stage::Entered { at: seen.now, times: 1, damaged: seen.damaged };
                self.act(entered, Act::Enter, seen.now)
            }
            Stage::Entered { damaged, .. } if seen.damaged > damaged => self.settle(seen.now, seen.now),
            Stage::Entered { at, times, damaged } if past(at, self.pace.answer, seen.now) => {
                if times < ENTERS {
                    self.act(Stage::Entered { at: seen.now, times: times + 1, damaged }, Act::Enter, seen.now)
                } else {
                    self.settle(seen.now, seen.now)
                }
            }
            Stage::Cleared { .. } | Stage::Pasted { .. } | Stage::Entered { .. } => Act::Wait,
        }
    }

    /// Somebody else's turn has begun, or a question has come up: what is in the box then nobody knows. Only after Enter that may be
    /// our own turn, whose event is under way; its wait goes on when the client is free again.
    fn step_back(&mut self) {
        if !matches!(self.stage, Stage::Entered { .. }) {
            self.stage = WAITING;
        }
    }

    fn settle(&mut self, free_since: Timestamp, now: Timestamp) -> Act {
        self.stage = Stage::Waiting { free_since: Some(free_since) };
        if !past(free_since, self.pace.settle, now) {
            return Act::Wait;
        }
        if self.tries >= self.pace.tries {
            return Act::GiveUp(Undelivered::NotSubmitted { tries: self.tries });
        }
        self.tries += 1;
        self.act(Stage::Cleared { at: now }, Act::Clear, now)
    }

    fn act(&mut self, stage: Stage, act: Act, now: Timestamp) -> Act {
        self.stage = stage;
        self.since = now;
        act
    }
}

/// A clock that went back is at the beginning again: it waits longer, and never types sooner.
fn past(since: Timestamp, span: Duration, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(since)).is_ok_and(|passed| passed >= span)
}

#[cfg(test)]
mod tests;
