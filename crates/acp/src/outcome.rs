//! How a turn ended, as a verdict.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use dandori_domain::{AgentFailure, ProtocolTrouble, Usage, Usd, Verdict};
use serde_json::Value;

use crate::quirks;

/// Why a turn came to no answer.
#[derive(Debug)]
pub(crate) enum Over {
    Failed(AgentFailure),
    Died(Option<ExitStatus>),
    /// We were asked to stop.
    Stopped,
}

impl Over {
    pub(crate) fn refused(method: &str, message: String) -> Self {
        let trouble = ProtocolTrouble::Refused { method: method.to_owned(), message };
        Self::Failed(AgentFailure::Protocol { trouble })
    }

    pub(crate) fn bad_answer(method: &str, detail: &str) -> Self {
        let trouble = ProtocolTrouble::BadAnswer { method: method.to_owned(), detail: detail.to_owned() };
        Self::Failed(AgentFailure::Protocol { trouble })
    }

    /// `garbage` is what it printed that is no message.
    pub(crate) fn failure(self, garbage: Option<&str>) -> AgentFailure {
        match (self, garbage) {
            (Self::Failed(failure), _) => failure,
            (Self::Stopped, _) => AgentFailure::Interrupted,
            (Self::Died(_), Some(line)) => {
                AgentFailure::Protocol { trouble: ProtocolTrouble::NotJson { line: line.to_owned() } }
            }
            // The end of what it said on stderr is added by who reads this.
            (Self::Died(status), None) => AgentFailure::NoVerdict {
                exit: status.and_then(|status| status.code()),
                signal: status.and_then(|status| status.signal()),
                tail: String::new(),
            },
        }
    }
}

/// The answer to `session/prompt`.
pub(crate) fn verdict(answer: &Value, summary: String) -> Result<Verdict, Over> {
    let failed = |failure| Ok(Verdict::Failed { failure });
    match answer.get("stopReason").and_then(Value::as_str) {
        Some("end_turn") => Ok(Verdict::Done { summary }),
        Some("max_tokens") => failed(AgentFailure::MaxTokens),
        Some("max_turn_requests") => failed(AgentFailure::MaxTurns),
        Some("refusal") => failed(AgentFailure::Declined),
        Some("cancelled") => failed(AgentFailure::Interrupted),
        Some(other) => Err(Over::bad_answer("session/prompt", &format!("stopReason {other:?}"))),
        None => Err(Over::bad_answer("session/prompt", "no stopReason")),
    }
}

/// What the turn has used, where the agent says so. The protocol counts over a whole conversation, and does not say what
/// it had used before this turn: of one that goes on nothing is known, unless
/// the agent counts by the turn.
pub(crate) fn usage(answer: &Value, is_new: bool, cost: Option<Usd>) -> Option<Usage> {
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_u64).unwrap_or(0);
    if let Some(usage) = answer.get("usage").filter(|usage| is_new && usage.is_object()) {
        let cached = number(usage, "cachedReadTokens");
        let input = number(usage, "inputTokens") + cached + number(usage, "cachedWriteTokens");
        let output = number(usage, "outputTokens") + number(usage, "thoughtTokens");
        return Some(Usage { input_tokens: input, output_tokens: output, cached_tokens: cached, cost });
    }
    match quirks::usage_of_turn(answer) {
        Some(usage) => Some(Usage { cost, ..usage }),
        None => cost.map(|_| Usage { cost, ..Usage::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_reason_to_stop_has_its_verdict() {
        let of = |reason: &str| verdict(&json!({ "stopReason": reason }), "done".to_owned()).unwrap();
        assert_eq!(of("end_turn"), Verdict::Done { summary: "done".to_owned() });
        for (reason, failure) in [
            ("max_tokens", AgentFailure::MaxTokens),
            ("max_turn_requests", AgentFailure::MaxTurns),
            ("refusal", AgentFailure::Declined),
            ("cancelled", AgentFailure::Interrupted),
        ] {
            assert_eq!(of(reason), Verdict::Failed { failure });
        }
        assert!(verdict(&json!({ "stopReason": "tired" }), String::new()).is_err());
        assert!(verdict(&json!({}), String::new()).is_err());
    }

    #[test]
    fn only_a_new_conversation_s_total_is_the_turn_s() {
        let answer = json!({ "usage": {
            "totalTokens": 40, "inputTokens": 10, "outputTokens": 5, "cachedReadTokens": 20, "thoughtTokens": 5,
        } });
        let want = Usage { input_tokens: 30, output_tokens: 10, cached_tokens: 20, cost: None };
        assert_eq!(usage(&answer, true, None), Some(want));
        assert_eq!(usage(&answer, false, None), None);
        assert_eq!(usage(&json!({}), true, None), None);
    }
}
