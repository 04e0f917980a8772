//! An error body in one sentence.

use serde::Deserialize;
use serde_json::Value;

const MAX_CHARS: usize = 500;

#[derive(Deserialize)]
struct ErrorBody {
    message: Option<String>,
    #[serde(default)]
    errors: Value,
}

/// What GitHub says is wrong; empty for a body that is not GitHub's (a proxy's HTML page).
pub(crate) fn sentence(body: &[u8]) -> String {
    let Ok(ErrorBody { message, errors }) = serde_json::from_slice(body) else { return String::new() };
    let details: Vec<String> = match &errors {
        Value::Array(list) => list.iter().filter_map(detail).collect(),
        other => detail(other).into_iter().collect(),
    };
    let message = message.unwrap_or_default();
    let text = match (message.is_empty(), details.is_empty()) {
        (_, true) => message,
        (true, false) => details.join("; "),
        (false, false) => format!("{message}: {}", details.join("; ")),
    };
    one_line(&text)
}

fn detail(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return Some(text.to_owned());
    }
    let field = |name: &str| error.get(name).and_then(Value::as_str).filter(|t| !t.is_empty());
    if let Some(message) = field("message") {
        return Some(message.to_owned());
    }
    let what = match (field("resource"), field("field")) {
        (Some(resource), Some(field)) => format!("{field} of {resource}"),
        (Some(one), None) | (None, Some(one)) => one.to_owned(),
        (None, None) => "it".to_owned(),
    };
    Some(match field("code")? {
        "missing" => format!("{what} does not exist"),
        "missing_field" => format!("{what} is missing"),
        "invalid" => format!("{what} is invalid"),
        "already_exists" => format!("{what} already exists"),
        "unprocessable" => format!("{what} cannot be processed"),
        code => format!("{what}: {code}"),
    })
}

fn one_line(text: &str) -> String {
    let line = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_error_body_becomes_one_sentence() {
        for (body, said) in [
            (r#"{"message":"Not Found","documentation_url":"https://x"}"#, "Not Found"),
            (
                r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom",
                    "message":"A pull request already exists for o:b."}]}"#,
                "Validation Failed: A pull request already exists for o:b.",
            ),
            (
                r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","field":"head","code":"invalid"},
                    {"field":"title","code":"missing_field"},"No commits between a and b",{"code":"odd"},{}]}"#,
                "Validation Failed: head of PullRequest is invalid; title is missing; No commits between a and b; it: odd",
            ),
            (r#"{"errors":"just text"}"#, "just text"),
            ("{\"message\":\"two\\nlines\\u0007\"}", "two lines"),
            ("<html>502</html>", ""),
            (r#"{"message":7}"#, ""),
            ("[]", ""),
            ("", ""),
        ] {
            assert_eq!(sentence(body.as_bytes()), said, "{body}");
        }
    }

    #[test]
    fn a_novel_is_cut() {
        let body = format!(r#"{{"message":"{}"}}"#, "長".repeat(5000));
        assert_eq!(sentence(body.as_bytes()).chars().count(), MAX_CHARS + 1);
    }
}
