//! As much HTTP/1.1 as the agents speak: one request per connection.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub(in super::super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) wants_upgrade: bool,
    pub(super) body: Value,
}

/// No agent says so much at once.
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_LINE: u64 = 64 * 1024;

/// `None` when the client closed without asking anything.
pub(super) fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut input = BufReader::new(stream);
    let first = line(&mut input)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let (mut length, mut is_chunked, mut wants_upgrade) = (0, false, false);
    loop {
        let header = line(&mut input)?.to_ascii_lowercase();
        let Some((name, value)) = header.split_once(':') else { break };
        match name.trim() {
            "content-length" => length = value.trim().parse().map_err(io::Error::other)?,
            "transfer-encoding" => is_chunked = value.contains("chunked"),
            "upgrade" => wants_upgrade = true,
            _ => {}
        }
    }
    let body = if is_chunked { chunks(&mut input)? } else { exactly(&mut input, length)? };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, wants_upgrade, body }))
}

fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    input.take(MAX_LINE).read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn exactly(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(io::Error::other("too long"));
    }
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let length = line(input)?;
        let length = usize::from_str_radix(&length, 16).map_err(io::Error::other)?;
        let chunk = exactly(input, length)?;
        let _ = line(input)?;
        if length == 0 {
            return Ok(body);
        }
        if body.len() + length > MAX_BODY {
            return Err(io::Error::other("too long"));
        }
        body.extend(chunk);
    }
}

/// What the model answers.
pub(in super::super) enum Reply {
    Json {
        status: u16,
        body: Value,
    },
    /// A stream of events, each with its name where the interface names them.
    Events(Vec<(Option<String>, Value)>),
}

impl Reply {
    pub(super) fn json(body: Value) -> Self {
        Self::Json { status: 200, body }
    }

    /// Events that carry their name in `type` too.
    pub(super) fn named(events: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        let event = |(name, mut data): (&str, Value)| {
            if let Some(fields) = data.as_object_mut() {
                fields.insert("type".to_owned(), name.into());
            }
            (Some(name.to_owned()), data)
        };
        Self::Events(events.into_iter().map(event).collect())
    }

    pub(super) fn write(&self, stream: &mut TcpStream) -> io::Result<()> {
        let (status, kind, body) = match self {
            Self::Json { status, body } => (*status, "application/json", body.to_string()),
            Self::Events(events) => {
                let mut text = String::new();
                for (name, data) in events {
                    if let Some(name) = name {
                        let _ = writeln!(text, "event: {name}");
                    }
                    let _ = write!(text, "data: {data}\n\n");
                }
                (200, "text/event-stream", text)
            }
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Played\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())
    }
}
