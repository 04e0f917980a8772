//! What a user has open besides files and sockets that are connected to: terminals, shared memory, queues, letterboxes.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicI32, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::wait_until;

use crate::ground::{Ground, Kept, Kind, Who, own};

/// No two of them meet: tests run beside each other.
fn number() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(0);
    NEXT.fetch_add(1, Ordering::SeqCst)
}

/// A terminal of the user's, with nobody at it.
pub(crate) struct Terminal {
    pub(crate) path: String,
    script: Kept,
    log: Utf8PathBuf,
}

impl Terminal {
    pub(crate) fn open(kind: Kind) -> Self {
        let name = format!("dd-terminal-{}-{}", std::process::id(), number());
        let log = Utf8PathBuf::from_path_buf(std::env::temp_dir()).unwrap().join(&name);
        let tty = log.with_extension("tty");
        let line = format!("tty > {tty}.new; mv {tty}.new {tty}; exec sleep 1000");
        let mut command = std::process::Command::new("script");
        command.args(["-qfec", &line, log.as_str()]).stdin(std::process::Stdio::null());
        let script = Kept(command.stdout(std::process::Stdio::null()).spawn().unwrap());
        wait_until("the terminal is there", || tty.exists());
        let path = std::fs::read_to_string(&tty).unwrap().trim().to_owned();
        if kind.who == Who::Ordinary {
            own(Utf8PathBuf::from(path.clone()).as_path());
        }
        let _ = std::fs::remove_file(tty);
        Self { path, script, log }
    }

    /// What was written to it.
    pub(crate) fn seen(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter(|line| line.contains("evil")).collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.0.kill();
        let _ = std::fs::remove_file(&self.log);
    }
}

/// Shared memory, semaphores and message queues of the user's.
pub(crate) struct Shared {
    pub(crate) key: i32,
    pub(crate) queue: String,
}

impl Shared {
    pub(crate) fn make(ground: &Ground) -> Self {
        let key = i32::try_from(std::process::id()).unwrap() * 16 + number();
        let queue = format!("/dandori-{key}");
        let code = format!(
            "import ctypes\nc = ctypes.CDLL(None)\nk = ctypes.c_int({key})\n\
             made = c.shmget(k, 4096, 0o1600), c.msgget(k, 0o1600), c.semget(k, 1, 0o1600), c.mq_open(b'{queue}', 0o102, 0o600, None)\n\
             assert min(made) >= 0, made"
        );
        ground.env.command("python3", ["-c", &code], ground.env.root());
        Self { key, queue }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let key = self.key.to_string();
        let _ = std::process::Command::new("ipcrm").args(["-M", &key, "-Q", &key, "-S", &key]).status();
        let code = format!("import ctypes; ctypes.CDLL(None).mq_unlink(b'{}')", self.queue);
        let _ = std::process::Command::new("python3").args(["-c", &code]).status();
    }
}

/// A socket that takes letters without anybody connecting to it.
pub(crate) struct Letters(UnixDatagram);

impl Letters {
    pub(crate) fn at(path: &Utf8Path) -> Self {
        let letters = Self::of(UnixDatagram::bind(path).unwrap());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        letters
    }

    pub(crate) fn abstract_(name: &str) -> Self {
        Self::of(UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap())
    }

    fn of(socket: UnixDatagram) -> Self {
        socket.set_nonblocking(true).unwrap();
        Self(socket)
    }

    pub(crate) fn count(&self) -> usize {
        std::iter::from_fn(|| self.0.recv(&mut [0u8; 16]).ok()).count()
    }
}
