//! A server on loopback that gives the answers it was told to, in order, and remembers what it was asked.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use dandori_forge::Url;

/// What the server does with one request.
pub(crate) enum Reply {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// Reads the request and closes the connection.
    Cut,
    /// Announces more than it sends.
    Truncated(Vec<u8>),
    /// Never answers; ends when the client gives up.
    Silence,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::Answer { status, headers: Vec::new(), body: body.into() }
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, body.to_string())
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Answer { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }
}

/// What the server was asked.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query, as sent.
    pub(crate) target: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    pub(crate) at: Instant,
}

pub(crate) struct Server {
    base: Url,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// A request beyond the script is answered 418, and is in `seen` like any other.
    pub(crate) fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port");
        let base = Url::parse(&format!("http://{}", listener.local_addr().expect("its address"))).expect("an address");
        let seen = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(Mutex::new(script.into_iter().collect::<VecDeque<_>>()));
        let to = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, script) = (Arc::clone(&to), Arc::clone(&script));
                std::thread::spawn(move || serve(stream, &seen, &script));
            }
        });
        Self { base, seen }
    }

    pub(crate) fn base(&self) -> Url {
        self.base.clone()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("no test thread died").clone()
    }

    /// `POST /repos/o/r/pulls`, one line for each request.
    pub(crate) fn log(&self) -> Vec<String> {
        self.seen().iter().map(|s| format!("{} {}", s.method, s.target)).collect()
    }
}

/// One request per connection: nothing a test sees then depends on which connection was used again.
fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Seen>>, script: &Mutex<VecDeque<Reply>>) {
    let Some(request) = read_request(&stream) else { return };
    let reply = {
        let mut seen = seen.lock().expect("no test thread died");
        seen.push(request);
        script.lock().expect("no test thread died").pop_front()
    };
    let _ = match reply.unwrap_or_else(|| Reply::new(418, "no more script")) {
        Reply::Answer { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
            head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
            stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Reply::Cut => Ok(()),
        Reply::Truncated(body) => {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len() + 100);
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Reply::Silence => stream.read(&mut [0; 1]).map(|_| ()),
    };
}

fn read_request(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|l| l.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { method, target, headers, body: String::from_utf8(body).ok()?, at: Instant::now() })
}
