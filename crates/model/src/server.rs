//! The server itself: connections, what was asked, and which turn of the script is next.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use dandori_domain::Client;
use serde_json::{Value, json};

use crate::script::{Script, Turn};
use crate::{anthropic, google, http, openai};

/// How long a client may be silent in the middle of a request.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Anthropic,
    OpenAi,
    Google,
}

impl From<Client> for Kind {
    #[deny(clippy::wildcard_enum_match_arm)]
    fn from(client: Client) -> Self {
        match client {
            Client::Claude => Self::Anthropic,
            Client::Codex => Self::OpenAi,
            Client::Gemini => Self::Google,
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
    pub fn start(kind: Kind, script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
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
        Ok(Self { kind, address, shared, accepting: Some(accepting) })
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The base address as this kind of agent wants it.
    pub fn url(&self) -> String {
        match self.kind {
            Kind::OpenAi => format!("http://{}/v1", self.address),
            Kind::Anthropic | Kind::Google => format!("http://{}", self.address),
        }
    }

    /// Every request so far: `{method, path, headers, body, turn}`, in the order they came.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The bodies of the requests for a model's turn, without probes and side requests.
    pub fn turns(&self) -> Vec<Value> {
        self.requests().into_iter().filter(|r| !r["turn"].is_null()).map(|r| r["body"].clone()).collect()
    }

    /// The furthest turn that a model was asked for, counted from 1, and the request for it; `None` before the first.
    pub fn furthest<T>(&self, look: impl FnOnce(usize, &Value) -> T) -> Option<T> {
        let requests = self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = |request: &Value| request["turn"].as_u64().and_then(|turn| usize::try_from(turn).ok());
        // Of several requests for the same turn the first.
        let asked = requests.iter().rev().filter_map(|request| Some((turn(request)?, request)));
        asked.max_by_key(|(turn, _)| *turn).map(|(turn, request)| look(turn + 1, &request["body"]))
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

fn answer(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(request) = http::read(&mut stream)? else { return Ok(()) };
    match shared.kind {
        Kind::Anthropic => anthropic::answer(&request, &mut stream, shared),
        Kind::OpenAi => openai::answer(&request, &mut stream, shared),
        Kind::Google => google::answer(&request, &mut stream, shared),
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
