//! Continuous mode: one command after the other, until a limit, a failure or a person ends it.
//!
//! Execute → Commit → Evaluate → Decide. The orchestrator evaluates and decides when it is told that a command is over; this counts,
//! and says when there is to be no next one.

use dandori_domain::CommandId;
use serde::{Deserialize, Serialize};

use crate::result::Outcome;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Continuous {
    pub enabled: bool,
    pub current_iteration: u32,
    /// 0: no limit.
    pub max_iterations: u32,
    pub pause_on_failure: bool,
    /// 0: no limit.
    pub max_consecutive_failures: u32,
    pub consecutive_failures: u32,
    /// Counted already: a notice that is sent twice counts once.
    pub last_command: Option<CommandId>,
    pub stopped: Option<StopReason>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    MaxIterationsReached,
    TaskFailed,
    ConsecutiveFailures,
    Stalled,
    /// The orchestrator said that everything is done.
    Done,
    /// A person.
    Requested,
}

impl StopReason {
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxIterationsReached => "max_iterations_reached",
            Self::TaskFailed => "task_failed",
            Self::ConsecutiveFailures => "consecutive_failures",
            Self::Stalled => "stalled",
            Self::Done => "done",
            Self::Requested => "requested",
        }
    }
}

impl Continuous {
    /// The next command may be given.
    pub fn goes_on(&self) -> bool {
        self.enabled && self.stopped.is_none()
    }

    /// A command is over, and the orchestrator is being told.
    #[must_use]
    pub fn count(&self, command: CommandId, outcome: Outcome) -> Self {
        let mut next = self.clone();
        if !self.enabled || self.last_command == Some(command) {
            return next;
        }
        next.last_command = Some(command);
        next.current_iteration += 1;
        next.consecutive_failures = if outcome == Outcome::Completed { 0 } else { self.consecutive_failures + 1 };
        let reached = |limit: u32, count: u32| limit > 0 && count >= limit;
        let reason = if outcome == Outcome::Failed && self.pause_on_failure {
            Some(StopReason::TaskFailed)
        } else if reached(self.max_consecutive_failures, next.consecutive_failures) {
            Some(StopReason::ConsecutiveFailures)
        } else if reached(self.max_iterations, next.current_iteration) {
            Some(StopReason::MaxIterationsReached)
        } else {
            None
        };
        next.stopped = self.stopped.or(reason);
        next
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn command(n: u128) -> CommandId {
        CommandId::mint(Timestamp::UNIX_EPOCH, n << 64)
    }

    fn enabled() -> Continuous {
        Continuous { enabled: true, ..Continuous::default() }
    }

    #[test]
    fn a_command_counts_once_however_often_it_is_told_of() {
        let once = enabled().count(command(1), Outcome::Completed);
        assert_eq!(once.current_iteration, 1);
        assert_eq!(once.count(command(1), Outcome::Completed), once);
        assert_eq!(once.count(command(2), Outcome::Completed).current_iteration, 2);
        assert_eq!(Continuous::default().count(command(1), Outcome::Failed), Continuous::default());
    }

    #[test]
    fn it_stops_at_its_limits_and_says_which() {
        let limited = Continuous { max_iterations: 2, ..enabled() };
        let limited = limited.count(command(1), Outcome::Completed);
        assert!(limited.goes_on());
        let limited = limited.count(command(2), Outcome::Failed);
        assert_eq!(limited.stopped, Some(StopReason::MaxIterationsReached));

        let pausing = Continuous { pause_on_failure: true, ..enabled() };
        assert_eq!(pausing.count(command(1), Outcome::Failed).stopped, Some(StopReason::TaskFailed));
        assert!(pausing.count(command(1), Outcome::Cancelled).goes_on());

        let failing = Continuous { max_consecutive_failures: 2, ..enabled() };
        let failing = failing.count(command(1), Outcome::Failed).count(command(2), Outcome::Completed);
        let failing = failing.count(command(3), Outcome::Failed);
        assert!(failing.goes_on(), "a success in between begins anew");
        let failing = failing.count(command(4), Outcome::Cancelled);
        assert_eq!(failing.stopped, Some(StopReason::ConsecutiveFailures));
        assert_eq!(failing.count(command(5), Outcome::Completed).stopped, Some(StopReason::ConsecutiveFailures));
    }
}
