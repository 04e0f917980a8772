//! What one agent does in its own way, by the name it gives itself. The only place that knows any agent.

use dandori_domain::Usage;
use serde_json::Value;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Quirks {
    /// Reads a file through us before it writes it, and takes the protocol's "no such file" for a failure (Gemini CLI up to
    /// 0.61, google-gemini/gemini-cli#17588): a missing file is told as an empty one, or it could never make a new one.
    pub(crate) missing_is_empty: bool,
}

impl Quirks {
    /// `answer` is that to `initialize`.
    pub(crate) fn of(answer: &Value) -> Self {
        let name = answer.pointer("/agentInfo/name").and_then(Value::as_str);
        Self { missing_is_empty: name == Some("gemini-cli") }
    }
}

/// Tokens of one turn, beside the protocol: Gemini CLI has them in the answer to a prompt.
pub(crate) fn usage_of_turn(answer: &Value) -> Option<Usage> {
    let count = answer.pointer("/_meta/quota/token_count")?;
    let number = |field: &str| count.get(field).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage { input_tokens: number("input_tokens"), output_tokens: number("output_tokens"), ..Usage::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nobody_has_another_s_quirks() {
        assert_eq!(Quirks::of(&json!({ "agentInfo": { "name": "other" } })), Quirks::default());
        assert_eq!(Quirks::of(&json!({})), Quirks::default());
        assert!(Quirks::of(&json!({ "agentInfo": { "name": "gemini-cli", "version": "0.61.0" } })).missing_is_empty);
    }

    #[test]
    fn a_turn_s_tokens_are_found() {
        let answer = json!({ "_meta": { "quota": { "token_count": { "input_tokens": 7, "output_tokens": 3 } } } });
        assert_eq!(usage_of_turn(&answer).map(|usage| usage.tokens()), Some(10));
        assert_eq!(usage_of_turn(&json!({ "_meta": {} })), None);
    }
}
