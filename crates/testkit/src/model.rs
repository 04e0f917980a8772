//! A scripted model on loopback: what Anthropic's Messages API, OpenAI's Responses API and Google's Gemini API
//! answer, as far as the agents ask.
//!
//! The turn that is played is the number of model turns already in the request, so the server keeps no
//! conversation: a resumed or repeated request gets the same answer. Faults are turns too. It answers on
//! 127.0.0.1 alone and records every request.

#![expect(clippy::indexing_slicing, reason = "a JSON value that lacks a key answers null")]
#![expect(clippy::expect_used, reason = "a test that cannot have its server has failed")]
#![expect(clippy::disallowed_methods, reason = "a test's own fixture needs no durable write")]
#![deny(clippy::wildcard_enum_match_arm)]

mod anthropic;
mod gemini;
mod http;
mod openai;
mod script;

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use camino::Utf8Path;
use dandori_domain::Client;
use serde_json::{Value, json};

pub use self::script::{Call, Fault, Script, Turn};

/// Whose interface the model has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Anthropic,
    OpenAi,
    Gemini,
}

impl From<Client> for Kind {
    fn from(client: Client) -> Self {
        match client {
            Client::Claude => Self::Anthropic,
            Client::Codex => Self::OpenAi,
            Client::Gemini => Self::Gemini,
        }
    }
}

/// Stops when it is dropped; its port then refuses connections.
pub struct ModelServer {
    kind: Kind,
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

pub(crate) struct Shared {
    kind: Kind,
    script: Script,
    requests: Mutex<Vec<Value>>,
    hits: Mutex<HashMap<(usize, usize), u32>>,
    is_stopped: Mutex<bool>,
    stopped: Condvar,
}

impl ModelServer {
    pub fn start(kind: impl Into<Kind>, script: Script) -> Self {
        let kind = kind.into();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port on loopback");
        let address = listener.local_addr().expect("the address just bound");
        let shared = Arc::new(Shared {
            kind,
            script,
            requests: Mutex::default(),
            hits: Mutex::default(),
            is_stopped: Mutex::new(false),
            stopped: Condvar::new(),
        });
        let accepting = std::thread::spawn({
            let shared = shared.clone();
            move || accept(&listener, &shared)
        });
        Self { kind, address, shared, accepting: Some(accepting) }
    }

    /// A model nobody serves: every connection is refused.
    pub fn refusing(kind: impl Into<Kind>) -> Self {
        let mut server = Self::start(kind, Script::default());
        server.stop();
        server
    }

    /// The base address as this kind of agent wants it.
    pub fn url(&self) -> String {
        match self.kind {
            Kind::OpenAi => format!("http://{}/v1", self.address),
            Kind::Anthropic | Kind::Gemini => format!("http://{}", self.address),
        }
    }

    /// Settings and login of a user whose home folder is `home`, as the agent's own set-up would leave them. What
    /// comes back belongs into his environment.
    pub fn log_in(&self, home: &Utf8Path) -> Vec<(String, String)> {
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(home)).expect("a folder in the user's home");
            std::fs::write(path, text).expect("a file in the user's home");
        };
        let log_in = match self.kind {
            Kind::Anthropic => anthropic::log_in,
            Kind::OpenAi => openai::log_in,
            Kind::Gemini => gemini::log_in,
        };
        log_in(&self.url(), &write).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Every request so far: `{method, path, headers, body, turn}`, in the order they came.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bodies of the requests for a model's turn, without probes and side requests.
    pub fn turns(&self) -> Vec<Value> {
        self.requests().into_iter().filter(|r| !r["turn"].is_null()).map(|r| r["body"].clone()).collect()
    }

    /// Hanging requests are cut off, the port is closed.
    pub fn stop(&mut self) {
        *self.shared.is_stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.shared.stopped.notify_all();
        if let Some(accepting) = self.accepting.take() {
            // Wakes the accept.
            drop(TcpStream::connect(self.address));
            let _ = accepting.join();
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopped() {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = shared.clone();
        std::thread::spawn(move || {
            // A client that went away is no concern of the server's.
            let _ = answer(stream, &shared);
        });
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let Some(request) = http::read(&mut stream)? else { return Ok(()) };
    match shared.kind {
        Kind::Anthropic => anthropic::answer(&request, &mut stream, shared),
        Kind::OpenAi => openai::answer(&request, &mut stream, shared),
        Kind::Gemini => gemini::answer(&request, &mut stream, shared),
    }
}

impl Shared {
    fn is_stopped(&self) -> bool {
        *self.is_stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until the server is stopped.
    pub(crate) fn hang(&self) {
        let guard = self.is_stopped.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.stopped.wait_while(guard, |stopped| !*stopped));
    }

    pub(crate) fn record(&self, request: &http::Request, turn: Option<usize>) {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(json!({
            "method": request.method,
            "path": request.path,
            "headers": request.headers,
            "body": request.body,
            "turn": turn,
        }));
    }

    /// The turn for a request whose first user message is `first` and which has `number` model turns already.
    pub(crate) fn turn(&self, first: &str, number: usize) -> Turn {
        let (route, turns) = self.script.route(first);
        let mut turn = turns.get(number).cloned().unwrap_or_else(|| Turn::say("done"));
        let mut hits = self.hits.lock().unwrap_or_else(PoisonError::into_inner);
        let count = hits.entry((route, number)).or_default();
        *count += 1;
        let mut left = *count;
        while let Some(times) = turn.times
            && left > times
        {
            left -= times;
            turn = turn.then.map_or_else(|| Turn::say("recovered"), |then| *then);
        }
        turn
    }
}

#[cfg(test)]
mod tests;
