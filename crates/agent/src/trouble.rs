//! From an agent's words about a failure to what it means.
//!
//! The status an API answered decides when it is known; the words decide when it is not. Each agent wraps the
//! API's message in its own way; what people read is the message.

use dandori_domain::AgentFailure;
use serde_json::Value;

const MAX_DETAIL: usize = 300;

const TOO_LONG: &[&str] = &[
    "context window",
    "context length",
    "context_length",
    "prompt is too long",
    "maximum context",
    "input is too long",
    "input token count",
    "ran out of room",
];
const NOT_AUTHORISED: &[&str] = &[
    "not logged in",
    "please run /login",
    "invalid api key",
    "api key not valid",
    "api key must be set",
    "authenticat",
    "unauthorized",
    "unauthorised",
    "permission_denied",
    "token has expired",
    "oauth token",
    "set an auth method",
    "missing environment variable",
    "no api key",
    "log out and sign in",
    "please log in",
    "refresh token",
];
const RATE_LIMITED: &[&str] = &[
    "rate limit",
    "rate_limit",
    "too many requests",
    "quota",
    "usage limit",
    "resource_exhausted",
    "credit balance",
    "billing",
];
const OVERLOADED: &[&str] =
    &["overloaded", "high demand", "at capacity", "internal server error", "service unavailable", "bad gateway"];
const UNREACHABLE: &[&str] = &[
    "connection refused",
    "connectionrefused",
    "econnrefused",
    "unable to connect",
    "connection failed",
    "connection error",
    "fetch failed",
    "error sending request",
    "enotfound",
    "eai_again",
    "getaddrinfo",
    "lookup address",
    "dns error",
    "etimedout",
    "timed out",
    "timeout",
    "econnreset",
    "connection reset",
    "socket hang up",
    "stream disconnected",
    "stream closed",
    "stream ended",
    "network",
];

/// What a failure of the API means. `status` as the agent gives it; else it is looked for in the words.
pub(crate) fn of_api(status: Option<u16>, text: &str) -> AgentFailure {
    let status = status.or_else(|| status_in(text));
    let detail = sentence(text);
    let words = text.to_lowercase();
    let says = |list: &[&str]| list.iter().any(|w| words.contains(w));
    if matches!(status, None | Some(400 | 413)) && says(TOO_LONG) {
        return AgentFailure::ContextTooLong { detail };
    }
    match status {
        Some(401 | 403) => AgentFailure::NotAuthorised { detail },
        Some(429) => AgentFailure::RateLimited { detail },
        Some(500..) => AgentFailure::Overloaded { status, detail },
        None if says(NOT_AUTHORISED) => AgentFailure::NotAuthorised { detail },
        None if says(RATE_LIMITED) => AgentFailure::RateLimited { detail },
        None if says(OVERLOADED) => AgentFailure::Overloaded { status, detail },
        None if says(UNREACHABLE) => AgentFailure::Unreachable { detail },
        _ => AgentFailure::Api { status, detail },
    }
}

/// Like [`of_api`], for words that may have nothing to do with an API: `None` when they do not.
pub(crate) fn in_words(text: &str) -> Option<AgentFailure> {
    match of_api(None, text) {
        AgentFailure::Api { status: None, .. } => None,
        failure => Some(failure),
    }
}

/// `unexpected status 401`, `API Error: 529`, `last status: 429`, `"code":503`.
fn status_in(text: &str) -> Option<u16> {
    ["status ", "status: ", "API Error: ", "\"code\":", "\"code\": ", "HTTP "].iter().find_map(|before| {
        text.match_indices(before).find_map(|(at, _)| {
            let digits = text.get(at + before.len()..)?.get(..3)?;
            let after = text.get(at + before.len() + 3..)?.chars().next();
            let is_alone = !after.is_some_and(|c| c.is_ascii_alphanumeric());
            digits.parse().ok().filter(|code| is_alone && (400..600).contains(code))
        })
    })
}

/// One line a person can read.
pub(crate) fn sentence(text: &str) -> String {
    let text = text.trim();
    let inner =
        text.strip_prefix("[API Error: ").map_or(text, |t| t.split("]\n").next().unwrap_or(t).trim_end_matches(']'));
    let message = json_message(inner).unwrap_or_else(|| inner.to_owned());
    let line = message.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    // Claude's own words around the API's: which of the two failed is said elsewhere, and the advice is for a chat.
    let line = line.rsplit_once("API Error: ").map_or(line, |(_, said)| said);
    let line = line.split(". This is a server-side issue").next().unwrap_or(line);
    shortened(line, MAX_DETAIL)
}

/// An API's own error, when the words are its JSON.
fn json_message(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let message = value.pointer("/error/message").or_else(|| value.get("message"))?.as_str()?;
    // Some carry their JSON as a string inside their JSON.
    Some(json_message(message).unwrap_or_else(|| message.to_owned()))
}

/// The text cut at a character, with a sign that it was.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(failure: &AgentFailure) -> &'static str {
        match failure {
            AgentFailure::NotAuthorised { .. } => "not authorised",
            AgentFailure::RateLimited { .. } => "rate limited",
            AgentFailure::Overloaded { .. } => "overloaded",
            AgentFailure::Unreachable { .. } => "unreachable",
            AgentFailure::ContextTooLong { .. } => "too long",
            AgentFailure::Api { .. } => "api",
            _ => "other",
        }
    }

    #[test]
    fn words_and_statuses_mean_what_they_mean() {
        for (status, text, meaning) in [
            (Some(401), "anything", "not authorised"),
            (Some(403), "quota", "not authorised"),
            (Some(429), "x", "rate limited"),
            (Some(529), "Overloaded", "overloaded"),
            (Some(404), "no such model", "api"),
            (Some(400), "prompt is too long: 210000 tokens > 200000 maximum", "too long"),
            (None, "Not logged in · Please run /login", "not authorised"),
            (None, "unexpected status 403 Forbidden: no, url: http://h/v1", "not authorised"),
            (None, "exceeded retry limit, last status: 429 Too Many Requests", "rate limited"),
            (None, "Connection failed: error sending request", "unreachable"),
            (None, "API Error: Unable to connect to API (ConnectionRefused)", "unreachable"),
            (None, "Selected model is at capacity. Please try a different model.", "overloaded"),
            (None, "[API Error: {\"error\":{\"code\":503,\"message\":\"busy\"}}]", "overloaded"),
            (None, "status 4010 is not a status", "api"),
            (None, "something else", "api"),
        ] {
            assert_eq!(name(&of_api(status, text)), meaning, "{status:?} {text}");
        }
    }

    #[test]
    fn the_detail_is_the_apis_own_sentence() {
        assert_eq!(sentence("[API Error: {\"error\":{\"code\":401,\"message\":\"bad key\"}}]"), "bad key");
        assert_eq!(sentence("[API Error: stub says 429]\nPlease wait and try again later."), "stub says 429");
        assert_eq!(sentence("{\"error\": {\"message\": \"no\"}}"), "no");
        assert_eq!(sentence("\n  one\ntwo"), "one");
        assert_eq!(sentence("Failed to authenticate. API Error: 401 bad key"), "401 bad key");
        assert_eq!(sentence("API Error: 529 busy. This is a server-side issue, usually temporary"), "529 busy");
        assert!(sentence(&"é".repeat(1000)).len() <= MAX_DETAIL + 3);
    }
}
