//! As much HTTP/1.1 as the agents speak: one request per connection.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
}

/// No agent says so much at once.
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_LINE: u64 = 64 * 1024;
const MAX_HEADERS: usize = 1000;

/// `None` when the client closed without asking anything.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut input = BufReader::new(stream);
    let first = line(&mut input)?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut headers = BTreeMap::new();
    while headers.len() < MAX_HEADERS {
        let header = line(&mut input)?;
        let Some((name, value)) = header.split_once(':') else { break };
        headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
    }
    let body = if headers.get("transfer-encoding").is_some_and(|e| e.to_lowercase().contains("chunked")) {
        chunks(&mut input)?
    } else {
        let length = headers.get("content-length").map_or(Ok(0), |length| length.parse());
        exactly(&mut input, length.map_err(io::Error::other)?)?
    };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, headers, body }))
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
        let length = usize::from_str_radix(&line(input)?, 16).map_err(io::Error::other)?;
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

pub(crate) fn json(stream: &mut TcpStream, status: u16, body: &Value) -> io::Result<()> {
    let body = body.to_string();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// A stream of events; the end of the connection is its end.
pub(crate) fn begin_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

pub(crate) fn event(stream: &mut TcpStream, kind: Option<&str>, data: &Value) -> io::Result<()> {
    let name = kind.map(|k| format!("event: {k}\n")).unwrap_or_default();
    stream.write_all(format!("{name}data: {data}\n\n").as_bytes())
}
