//! The world as the guards ask for it: from files.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::cause::with_causes;
use dandori_guard::world::{Call, Denied, Exception, FileKind, Gap, Ran};
use dandori_guard::{Checkout, Mark, World};
use dandori_host::{Cmd, CmdError, Env};

use crate::looks::Looks;
use crate::memory::Memory;

/// A longer document is cut: nobody's state.md or settings are that long.
const MAX_TEXT: u64 = 4 * 1024 * 1024;

pub struct Files<'a> {
    pub env: &'a Env,
    /// The user's, wherever the client's environment says it is.
    pub home: Option<Utf8PathBuf>,
    pub memory: &'a Memory,
    pub begun: Instant,
    pub waited: Cell<Duration>,
    /// Those that were found already: most paths lie in one.
    pub checkouts: RefCell<Vec<Checkout>>,
    pub looks: Looks,
    /// How long programs of the project's own may still hold up the answer, in milliseconds, for the watchdog.
    pub allowance: Arc<AtomicU64>,
}

impl World for Files<'_> {
    fn text(&self, path: &Utf8Path) -> io::Result<Option<String>> {
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
            Err(e) => return Err(e),
        };
        // Opening a pipe would wait for its writer for ever.
        if !metadata.is_file() {
            let kind = if metadata.is_dir() { io::ErrorKind::IsADirectory } else { io::ErrorKind::Unsupported };
            return Err(kind.into());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(MAX_TEXT)).unwrap_or(0) + 1);
        std::fs::File::open(path)?.take(MAX_TEXT).read_to_end(&mut bytes)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        self.looks.kind(path)
    }

    fn names(&self, folder: &Utf8Path) -> Vec<String> {
        /// More names than anybody would protect.
        const MANY: usize = 20_000;
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        entries.take(MANY).map(|entry| entry.file_name().to_owned()).collect()
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        self.looks.real(path)
    }

    fn checkout(&self, path: &Utf8Path) -> Option<Checkout> {
        let known = |folder: &Utf8Path| self.checkouts.borrow().iter().find(|c| c.root == folder).cloned();
        let found = crate::checkout::find_among(path, known)?;
        let mut checkouts = self.checkouts.borrow_mut();
        if !checkouts.contains(&found) {
            checkouts.push(found.clone());
        }
        Some(found)
    }

    fn mark(&self, mark: &Mark) -> Option<String> {
        self.memory.mark(mark)
    }

    fn denied(&self) -> Vec<Denied> {
        self.memory.denied()
    }

    fn exceptions(&self) -> Vec<Exception> {
        self.memory.exceptions()
    }

    fn gaps(&self) -> Vec<Gap> {
        self.memory.gaps.clone()
    }

    fn run(&self, call: &Call) -> Ran {
        let Some((program, args)) = call.argv.split_first() else {
            return Ran::NotStarted { why: "no program is named".to_owned() };
        };
        let limit = u64::try_from(call.limit.as_millis()).unwrap_or(u64::MAX);
        self.allowance.fetch_add(limit, Ordering::SeqCst);
        let mut cmd = Cmd::new(program, self.env).args(args).stdin(call.stdin.as_bytes()).deadline(call.limit);
        if let Some(cwd) = &call.cwd {
            cmd = cmd.cwd(cwd);
        }
        let begun = Instant::now();
        let ran = match cmd.run_any() {
            Ok(output) => Ran::Ended {
                code: output.status.code(),
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: output.stderr,
            },
            Err(CmdError::TimedOut { .. }) => Ran::TimedOut,
            // Who asked names the program; the system knows why.
            Err(CmdError::NotStarted { source, .. }) => Ran::NotStarted { why: source.to_string() },
            Err(error) => Ran::NotStarted { why: with_causes(&error) },
        };
        self.looks.forget();
        self.waited.set(self.waited.get() + begun.elapsed());
        let unused = call.limit.saturating_sub(begun.elapsed());
        self.allowance.fetch_sub(u64::try_from(unused.as_millis()).unwrap_or(0).min(limit), Ordering::SeqCst);
        ran
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    fn waited(&self) -> Duration {
        self.waited.get()
    }

    fn home(&self) -> Option<Utf8PathBuf> {
        self.home.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.env.text(name).map(str::to_owned)
    }

    fn config_home(&self) -> Option<Utf8PathBuf> {
        let named = self.env.path("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
        named.or_else(|| self.env.home().map(|home| home.join(".config")))
    }
}
