//! What goes over the socket: an order down, words up.

use std::io::{self, Read, Write};

use dandori_domain::run::Sandbox;
use serde::{Deserialize, Serialize};

use super::Fenced;

/// An environment and a policy are some kilobytes; an instruction never goes this way.
const MAX_ORDER: u32 = 32 << 20;

/// Down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) fenced: Fenced,
    /// Why there are to be no namespaces.
    pub(super) without_namespaces: Option<String>,
}

/// Up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "word", rename_all = "snake_case")]
pub(super) enum Word {
    /// In namespaces where nobody has a name yet.
    Entered,
    /// This machine does not let a view be built.
    NoView {
        reason: String,
    },
    /// Everything is in place but the exec itself.
    Ready {
        sandbox: Sandbox,
    },
    /// The exec went well; from the first process alone, who is there to say it.
    Running,
    Ended(End),
    Failed {
        detail: String,
    },
    NoSandbox {
        reason: String,
    },
}

/// How the program ended, as the first process saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Processes that were there when it ended, and went with it.
    pub(crate) left: u32,
}

/// By its length first: who reads it must not read beyond it.
pub(super) fn send(mut socket: impl Write, order: &Order) -> io::Result<()> {
    let bytes = serde_json::to_vec(order)?;
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    socket.write_all(&length.to_be_bytes())?;
    socket.write_all(&bytes)
}

pub(super) fn receive(mut socket: impl Read) -> io::Result<Order> {
    let mut length = [0u8; 4];
    socket.read_exact(&mut length)?;
    let length = u32::from_be_bytes(length);
    if length > MAX_ORDER {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the order is too long"));
    }
    let mut bytes = vec![0u8; usize::try_from(length).unwrap_or(0)];
    socket.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

pub(super) fn say(mut socket: impl Write, word: &Word) -> io::Result<()> {
    let mut line = serde_json::to_vec(word)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// The next word; `None`: the other end is closed.
pub(super) fn hear(lines: &mut impl io::BufRead) -> io::Result<Option<Word>> {
    let mut line = String::new();
    match lines.read_line(&mut line) {
        Ok(0) => Ok(None),
        Ok(_) => Ok(Some(serde_json::from_str(&line)?)),
        // It died with words of ours unread.
        Err(e) if e.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(e) => Err(e),
    }
}
