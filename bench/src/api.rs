//! As much of HTTP as asking the daemon takes: one request a connection, JSON or server-sent events back.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::bed::PATIENCE;
use crate::trouble::Trouble;

pub(crate) struct Api {
    socket: Utf8PathBuf,
    token: Utf8PathBuf,
}

impl Api {
    pub(crate) fn new(state: &Utf8Path) -> Self {
        Self { socket: state.join("dandori.sock"), token: state.join("private/token") }
    }

    pub(crate) fn is_listening(&self) -> bool {
        UnixStream::connect(&self.socket).is_ok()
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, Trouble> {
        let mut body = self.request(path)?;
        let mut text = String::new();
        body.read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// The events of a task, from the first until `enough` of them are there.
    pub(crate) fn events(&self, task: &str, enough: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>, Trouble> {
        let body = BufReader::new(self.request(&format!("/v1/events?task={task}&after=0"))?);
        let mut events = Vec::new();
        for line in body.lines() {
            if let Some(data) = line?.strip_prefix("data:") {
                events.push(serde_json::from_str(data.trim())?);
                if enough(&events) {
                    return Ok(events);
                }
            }
        }
        Err(Trouble::wrong(format!("the events of {task} ended early")))
    }

    fn request(&self, path: &str) -> Result<Body, Trouble> {
        let token = std::fs::read_to_string(&self.token).map_err(Trouble::io(&self.token))?;
        let mut stream = UnixStream::connect(&self.socket).map_err(Trouble::io(&self.socket))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let token = token.trim();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: dandori\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        )?;
        let mut reader = BufReader::new(stream);
        let status = line_of(&mut reader)?;
        if status.split(' ').nth(1) != Some("200") {
            return Err(Trouble::wrong(format!("GET {path}: {status}")));
        }
        let mut chunked = false;
        loop {
            let header = line_of(&mut reader)?.to_ascii_lowercase();
            if header.is_empty() {
                return Ok(Body { reader, chunked, left: 0 });
            }
            chunked |= header == "transfer-encoding: chunked";
        }
    }
}

/// What comes after the headers, out of its chunks if it is in some.
struct Body {
    reader: BufReader<UnixStream>,
    chunked: bool,
    left: u64,
}

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if !self.chunked {
            return self.reader.read(buffer);
        }
        if self.left == 0 {
            let mut size = line_of(&mut self.reader)?;
            if size.is_empty() {
                size = line_of(&mut self.reader)?;
            }
            self.left = u64::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let read = (&mut self.reader).take(self.left).read(buffer)?;
        self.left -= read as u64;
        Ok(read)
    }
}

fn line_of(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
