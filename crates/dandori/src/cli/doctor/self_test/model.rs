//! A model on loopback that plays a few steps: as much of Anthropic's, OpenAI's and Google's interfaces as an agent
//! needs to start, to be asked for a tool, and to end.
//!
//! Which step is played is the number of turns the model already has in the request: it keeps no conversation, and a
//! request that is repeated gets the same answer. What the agents send is kept for whoever wants to know what the model
//! was told.

pub(super) mod anthropic;
pub(super) mod google;
mod http;
pub(super) mod openai;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

pub(super) use http::{Reply, Request};

/// What the model asks the agent to do.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Shell(String),
    /// A file of one line, by the agent's own tool.
    Write {
        path: String,
        line: String,
    },
}

/// How a vendor's models are spoken to.
#[derive(Clone, Copy)]
pub(super) struct Interface {
    /// What the base address ends in.
    pub(super) base: &'static str,
    pub(super) reply: fn(&Request, &Heard) -> Reply,
}

/// A client that says nothing is not waited for longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Stops when it is dropped.
pub(super) struct Model {
    interface: Interface,
    address: SocketAddr,
    heard: Arc<Heard>,
    accepting: Option<JoinHandle<()>>,
}

pub(super) struct Heard {
    steps: Vec<Step>,
    /// Model turns in the longest conversation so far, and one more.
    turns: AtomicUsize,
    last: Mutex<Value>,
    is_stopped: AtomicBool,
}

impl Model {
    pub(super) fn start(interface: Interface, steps: Vec<Step>) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let heard = Arc::new(Heard {
            steps,
            turns: AtomicUsize::new(0),
            last: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&heard);
        let accepting = std::thread::spawn(move || accept(&listener, interface, &theirs));
        Ok(Self { interface, address, heard, accepting: Some(accepting) })
    }

    /// The base address as this agent wants it.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.address, self.interface.base)
    }

    pub(super) fn was_asked(&self) -> bool {
        self.heard.turns.load(Ordering::SeqCst) > 0
    }

    /// The agent has told what came of every step.
    pub(super) fn is_done(&self) -> bool {
        self.heard.turns.load(Ordering::SeqCst) > self.heard.steps.len()
    }

    /// Whether these words are in what the agent told last.
    pub(super) fn was_told(&self, words: &str) -> bool {
        let last = self.heard.last.lock().unwrap_or_else(PoisonError::into_inner);
        contains(&last, words)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.heard.is_stopped.store(true, Ordering::SeqCst);
        if let Some(accepting) = self.accepting.take() {
            // Wakes the accept.
            drop(TcpStream::connect(self.address));
            let _ = accepting.join();
        }
    }
}

impl Heard {
    /// Notes a request with so many turns of the model in it, and gives the next step; `None` at the end.
    fn step(&self, turns: usize, request: &Value) -> Option<&Step> {
        if self.turns.fetch_max(turns + 1, Ordering::SeqCst) <= turns {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = request.clone();
        }
        self.steps.get(turns)
    }
}

fn accept(listener: &TcpListener, interface: Interface, heard: &Arc<Heard>) {
    for stream in listener.incoming() {
        if heard.is_stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let heard = Arc::clone(heard);
        std::thread::spawn(move || {
            // A client that went away is no concern of the model's.
            let _ = converse(stream, interface, &heard);
        });
    }
}

fn converse(mut stream: TcpStream, interface: Interface, heard: &Heard) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(request) = http::read(&stream)? else { return Ok(()) };
    (interface.reply)(&request, heard).write(&mut stream)
}

fn contains(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| contains(item, words)),
        Value::Object(fields) => fields.values().any(|field| contains(field, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A field of an object; `Null` when it is not there.
fn field<'v>(value: &'v Value, name: &str) -> &'v Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    field(value, name).as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
