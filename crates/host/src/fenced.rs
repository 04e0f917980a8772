//! A process behind the fence, and those who put it there.
//!
//! ```text
//! parent ─► enter ─► first ─► last = the program        with namespaces
//! parent ─► enter = last = the program                  without
//! ```
//!
//! `enter` makes the namespaces, `first` is the first process in them (builds the view, reaps, and its end is the end of
//! all), `last` puts up Landlock and the filter of calls and becomes the program. All are this program itself
//! (`dandori fenced <stage>`), so nothing here needs `unsafe`. Each ties its life to the one before it.
//!
//! They talk over a socket on their standard input: orders down, words up ([`Word`]). `last` waits for leave before it
//! becomes the program, so that who started it can write that down first. The program itself never has the socket.

mod begin;
mod command;
mod doors;
mod family;
mod probe;
mod stages;
mod words;

pub use command::{main as command_main, probe_main};
pub use doors::{Outside, doors_main, try_doors};
pub use probe::probe;
pub use stages::main as stage_main;

pub(crate) use begin::{Begun, Outputs, Refusal, begin};
pub(crate) use command::ORDER;
pub(crate) use family::Family;
pub(crate) use words::End;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use crate::sandbox::SandboxPolicy;

/// What a program reads and writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// Its input is a file or nothing, its outputs are whoever's began it. It has no terminal.
    #[default]
    Own,
    /// The terminal of who began it, in the foreground.
    Terminal,
}

/// What is to run, and behind which fence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Fenced {
    pub argv: Vec<String>,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    pub cwd: Utf8PathBuf,
    /// The file it reads as its standard input; `/dev/null` when there is none.
    pub stdin: Option<Utf8PathBuf>,
    #[serde(default)]
    pub streams: Streams,
    pub sandbox: SandboxPolicy,
}

impl Fenced {
    /// What the fence has to know of it.
    pub(crate) fn policy(&self) -> SandboxPolicy {
        let mut policy = self.sandbox.clone();
        // Scripts open `/dev/stdin` by name, which opens the file anew.
        policy.read.extend(self.stdin.clone());
        policy
    }
}
