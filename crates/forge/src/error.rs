//! What can go wrong with a forge, as data: what happened, why, and whether asking again may help.
//!
//! No text in here ever holds the token; whoever makes an error from something the network said scrubs it first.

use dandori_domain::Problem;
use jiff::Timestamp;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ForgeError {
    #[error("no token for {host}")]
    NoToken { host: String },
    #[error("{host} rejected the token: {detail}")]
    Unauthorised { host: String, detail: String },
    #[error("the token does not allow this: {detail}")]
    Forbidden { detail: String },
    /// GitHub answers 404 for what is not there and for what the token may not see alike.
    #[error("{repository} does not exist, or the token cannot see it")]
    NoSuchRepository { repository: String },
    #[error("{repository} has no pull request {number}, or the token cannot see it")]
    NoSuchPull { repository: String, number: u64 },
    #[error("the forge rejected the request: {detail}")]
    Invalid { detail: String },
    #[error("the repository was renamed or moved (the forge points to {location}); set the remote to its new address")]
    Moved { location: String },
    #[error("the forge's rate limit is reached: try again after {until}")]
    RateLimited { until: Timestamp },
    #[error("cannot reach {host}: {detail}")]
    Unreachable { host: String, detail: String },
    #[error("{host} did not answer within {seconds} s")]
    TimedOut { host: String, seconds: u64 },
    #[error("{host} has a problem: {status}{}", after_colon(.detail))]
    Server { host: String, status: u16, detail: String },
    /// A change was sent and its answer never came: it may have happened or not. Look before sending it again.
    #[error("it is unknown whether {host} completed the request: {detail}")]
    UnknownOutcome { host: String, detail: String },
    #[error("{host} sent an invalid answer: {detail}")]
    Garbled { host: String, detail: String },
    #[error("{address} is not a valid forge address: {reason}")]
    BadAddress { address: String, reason: String },
    #[error("cannot set up the HTTP client: {detail}")]
    Setup { detail: String },
}

fn after_colon(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

impl ForgeError {
    /// A change that may or may not have happened.
    pub(crate) fn may_have_happened(&self) -> bool {
        matches!(self, Self::UnknownOutcome { .. })
    }

    /// The same request may succeed later without anybody doing anything.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited { .. }
                | Self::Unreachable { .. }
                | Self::TimedOut { .. }
                | Self::Server { .. }
                | Self::UnknownOutcome { .. }
                | Self::Garbled { .. }
        )
    }

    pub fn to_problem(&self) -> Problem {
        match self {
            Self::NoToken { host } => Problem::NoForgeToken { host: host.clone() },
            Self::NoSuchPull { number, .. } => Problem::NoSuchPull { number: *number },
            error if error.is_transient() => Problem::ForgeUnreachable { reason: error.to_string() },
            error => Problem::ForgeRefused { reason: error.to_string() },
        }
    }
}
