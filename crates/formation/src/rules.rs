//! The figures the protocol goes by. All of them can be configured; these are the defaults.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::message::MessageKind;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// How long an agent has a message without a sign of life.
    pub lease_seconds: i64,
    /// How long a busy agent may keep a message at most.
    pub longest_seconds: i64,
    /// A message that waits rises by one priority after this long.
    pub ageing_seconds: i64,
    /// A delivery that failed is tried again after this long, then twice as long.
    pub pause_seconds: i64,
    pub attempts: u32,
    /// For notices to the orchestrator, whose user may be typing.
    pub notice_attempts: u32,
    /// How often an agent that had made progress may be interrupted without it being its fault.
    pub interrupts: u32,
    /// How often an interrupted conversation is gone on with; after that the task begins anew.
    pub resumes: u32,
    /// How often a task whose work does not fit in is given back to be mended.
    pub repairs: u32,
    /// How long a planner may take to decide about a task that cannot be mended.
    pub replan_seconds: i64,
    pub pending_commands: usize,
    pub pending_per_worker: usize,
    pub content_bytes: usize,
    pub tasks_per_plan: usize,
    /// Results that need no decision are told with the next one that does, and after this long at the latest.
    pub digest_seconds: i64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            lease_seconds: 120,
            longest_seconds: 2 * 3600,
            ageing_seconds: 60,
            pause_seconds: 5,
            attempts: 5,
            notice_attempts: 10,
            interrupts: 6,
            resumes: 3,
            repairs: 2,
            replan_seconds: 3600,
            pending_commands: 20,
            pending_per_worker: 10,
            content_bytes: 64 * 1024,
            tasks_per_plan: 200,
            digest_seconds: 600,
        }
    }
}

impl Rules {
    pub fn lease_until(&self, now: Timestamp) -> Timestamp {
        after(now, self.lease_seconds)
    }

    pub fn attempts_for(&self, kind: &MessageKind) -> u32 {
        match kind {
            MessageKind::Notice { .. } | MessageKind::Words { .. } => self.notice_attempts,
            MessageKind::Command { .. }
            | MessageKind::Task { .. }
            | MessageKind::Fill { .. }
            | MessageKind::Digest { .. } => self.attempts,
        }
    }

    /// When a delivery that failed for the `attempts`th time is tried again.
    pub fn try_again_at(&self, now: Timestamp, attempts: u32) -> Timestamp {
        after(now, self.pause_seconds.saturating_mul(1 << attempts.saturating_sub(1).min(6)))
    }

    /// What is waited for longest comes first in the end: 0 is the most urgent.
    pub fn effective_priority(&self, priority: u32, created_at: Timestamp, now: Timestamp) -> u32 {
        let age = now.duration_since(created_at).as_secs().max(0);
        let risen = age.checked_div(self.ageing_seconds).unwrap_or(0);
        priority.saturating_sub(u32::try_from(risen).unwrap_or(u32::MAX))
    }
}

/// So many seconds later, or as late as can be said.
pub fn after(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}
