//! JSON-RPC 2.0, one message a line, as the protocol has it on stdio.

use std::io::{BufRead, BufReader, Read};

use serde::Serialize;
use serde_json::{Value, json};

/// Longer than any message worth having; an agent that sends one is not speaking with us.
const MAX_LINE: u64 = 32 << 20;

pub(crate) const METHOD_NOT_FOUND: i64 = -32601;
pub(crate) const INVALID_PARAMS: i64 = -32602;
pub(crate) const INTERNAL: i64 = -32603;
/// The protocol's own: log in first.
pub(crate) const AUTH_REQUIRED: i64 = -32000;
pub(crate) const NOT_FOUND: i64 = -32002;
/// Ours, from the range that is left to implementations: the guards said no, or a limit did.
pub(crate) const REFUSED: i64 = -32050;
pub(crate) const CANCELLED: i64 = -32800;

/// One message of the agent's.
#[derive(Debug)]
pub(crate) enum Incoming {
    Request {
        id: Value,
        method: String,
        params: Value,
    },
    Notification {
        method: String,
        params: Value,
    },
    Response {
        id: Value,
        result: Result<Value, RpcError>,
    },
    /// A line that is no message.
    Garbage {
        line: String,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i64,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    pub(crate) fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// With what agents put beside a message that says nothing.
    pub(crate) fn in_words(&self) -> String {
        let text = |key: &str| self.data.as_ref()?.get(key)?.as_str();
        let more = self.data.as_ref().and_then(Value::as_str).or_else(|| text("details")).or_else(|| text("message"));
        match more.filter(|more| !more.is_empty() && !self.message.contains(more)) {
            Some(more) => format!("{}: {more}", self.message),
            None => self.message.clone(),
        }
    }
}

pub(crate) fn request(id: u64, method: &str, params: &impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn notification(method: &str, params: &impl Serialize) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

pub(crate) fn response(id: &Value, result: Result<Value, RpcError>) -> Value {
    match result {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }
}

/// Reads messages until the stream ends or a line is longer than it may be.
pub(crate) fn read_all(stream: impl Read, mut take: impl FnMut(Incoming)) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stream.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.last() != Some(&b'\n') && line.len() as u64 >= MAX_LINE => {
                take(Incoming::Garbage { line: shortened(&line) });
                return;
            }
            Ok(_) => {}
        }
        if !line.trim_ascii().is_empty() {
            take(message(&line));
        }
    }
}

fn message(line: &[u8]) -> Incoming {
    let garbage = || Incoming::Garbage { line: shortened(line) };
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(line) else { return garbage() };
    let id = fields.remove("id").filter(|id| !id.is_null());
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Incoming::Request { id, method, params },
        (Some(Value::String(method)), None) => Incoming::Notification { method, params },
        (None, Some(id)) => match (fields.remove("result"), fields.remove("error")) {
            (_, Some(error)) if !error.is_null() => Incoming::Response { id, result: Err(error_of(error)) },
            (Some(result), _) => Incoming::Response { id, result: Ok(result) },
            _ => garbage(),
        },
        _ => garbage(),
    }
}

fn error_of(mut error: Value) -> RpcError {
    let code = error.get("code").and_then(Value::as_i64).unwrap_or(INTERNAL);
    let message = error.get("message").and_then(Value::as_str).unwrap_or("an error without a message").to_owned();
    let data = error.get_mut("data").map(Value::take).filter(|data| !data.is_null());
    RpcError { code, message, data }
}

fn shortened(line: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(line.get(..MOST * 4).unwrap_or(line));
    let plain = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Incoming> {
        let mut all = Vec::new();
        read_all(text.as_bytes(), |message| all.push(message));
        all
    }

    #[test]
    fn requests_notifications_and_responses_are_told_apart() {
        let all = read(concat!(
            "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"a\",\"params\":{\"x\":1}}\n",
            "\r\n",
            "{\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":\"one\",\"result\":null}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"no\",\"data\":{\"details\":\"why\"}}}\n",
            "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":7}",
        ));
        assert_eq!(all.len(), 5, "{all:?}");
        assert!(
            matches!(&all[0], Incoming::Request { id, method, params } if id == 0 && method == "a" && params["x"] == 1)
        );
        assert!(matches!(&all[1], Incoming::Notification { method, .. } if method == "b"));
        assert!(matches!(&all[2], Incoming::Response { id, result: Ok(Value::Null) } if id == "one"));
        let Incoming::Response { result: Err(error), .. } = &all[3] else { panic!("{:?}", all[3]) };
        assert_eq!((error.code, error.in_words().as_str()), (-32000, "no: why"));
        assert!(matches!(&all[4], Incoming::Response { result: Ok(_), .. }), "a last line needs no end");
    }

    #[test]
    fn what_is_no_message_is_kept_short_and_printable() {
        for line in
            ["Welcome!", "{\"id\":1}", "[1]", "{\"jsonrpc\":\"2.0\"}", "{\"id\":1,\"error\":null}", "\u{1b}[31mred"]
        {
            let all = read(&format!("{line}\n"));
            let [Incoming::Garbage { line }] = all.as_slice() else { panic!("{line:?}: {all:?}") };
            assert!(!line.contains('\u{1b}'));
        }
        let all = read(&"é".repeat(10_000));
        assert!(matches!(all.as_slice(), [Incoming::Garbage { line }] if line.chars().count() == 200));
    }
}
