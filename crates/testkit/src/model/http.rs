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

/// `None` when the client closed without asking anything.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Option<Request>> {
    let mut input = BufReader::new(stream);
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.trim().to_lowercase(), value.trim().to_owned());
        }
    }
    let body = match headers.get("content-length").and_then(|l| l.parse().ok()) {
        Some(length) => {
            let mut body = vec![0; length];
            input.read_exact(&mut body)?;
            body
        }
        None if headers.get("transfer-encoding").is_some_and(|e| e.contains("chunked")) => chunks(&mut input)?,
        None => Vec::new(),
    };
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Ok(Some(Request { method, path, headers, body }))
}

fn chunks(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length + 2];
        input.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok(body);
        }
        chunk.truncate(length);
        body.append(&mut chunk);
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
