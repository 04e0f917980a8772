//! The fence tried from inside, for `doctor --sandbox`: each door of the machine that a hostile agent would try, tried for
//! real by our own program. The tests have a longer list; this one needs nothing but the binary.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::sandbox::Door;
use rustix::mount::MountFlags;
use rustix::process::{Pid, Resource, getpriority_process, prlimit, setpriority_process, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::sandbox::SandboxPolicy;
use crate::{Cmd, CmdError, Env};

/// What stands outside, for somebody to get at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outside {
    /// A folder with `secret`, which is hidden, `file` and `socket`.
    pub folder: Utf8PathBuf,
    /// A folder that may be written.
    pub inside: Utf8PathBuf,
    /// The name of an abstract socket somebody listens at.
    pub abstract_name: String,
    /// A process of the same user.
    pub pid: u32,
    /// A terminal of the same user, if there is one.
    pub terminal: Option<Utf8PathBuf>,
    /// A name nobody else uses.
    pub token: String,
}

impl Outside {
    fn shared(&self) -> Utf8PathBuf {
        Utf8Path::new("/tmp").join(&self.token)
    }
}

/// Tries them all behind the fence. Those that are open, after what was left behind has been looked at and cleared.
pub fn try_doors(program: &Utf8Path, outside: &Outside, policy: &SandboxPolicy) -> Result<Vec<(Door, bool)>, CmdError> {
    let order = serde_json::to_string(outside).unwrap_or_default();
    let env = Env::from_pairs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("DANDORI_RUN", outside.token.as_str())]);
    let cmd = Cmd::new(program.as_str(), &env).args(["fence-doors", &order]).cwd(&outside.inside);
    let output = cmd.deadline(Duration::from_mins(1)).behind(program, policy).run()?;
    let mut tried: Vec<(Door, bool)> = serde_json::from_slice(&output.stdout).unwrap_or_default();
    // Whether these are doors at all is seen from outside alone.
    let shared = outside.shared();
    tried.push((Door::SharedFolder, shared.exists()));
    let _ = std::fs::remove_file(shared);
    let survivors = crate::process::end_marked("DANDORI_RUN", &outside.token);
    tried.push((Door::Survivors, survivors.is_ok_and(|count| count > 0)));
    Ok(tried)
}

/// `dandori fence-doors <order>`: says which are open.
pub fn doors_main(order: &str) -> i32 {
    let Ok(outside) = serde_json::from_str::<Outside>(order) else { return 2 };
    let tried: Vec<(Door, bool)> = DOORS.iter().map(|(door, is_open)| (*door, is_open(&outside))).collect();
    leave_something(&outside);
    let text = serde_json::to_vec(&tried).unwrap_or_default();
    i32::from(std::io::Write::write_all(&mut std::io::stdout(), &text).is_err())
}

type Try = fn(&Outside) -> bool;

const DOORS: &[(Door, Try)] = &[
    (Door::Secrets, |o| std::fs::read_to_string(o.folder.join("secret")).is_ok_and(|text| !text.is_empty())),
    (Door::Writing, |o| std::fs::File::create(o.folder.join("new")).is_ok()),
    (Door::Modes, |o| std::fs::set_permissions(o.folder.join("file"), std::fs::Permissions::from_mode(0o600)).is_ok()),
    (Door::PathSockets, |o| UnixStream::connect(o.folder.join("socket")).is_ok()),
    (Door::AbstractSockets, |o| {
        SocketAddr::from_abstract_name(&o.abstract_name).and_then(|a| UnixStream::connect_addr(&a)).is_ok()
    }),
    (Door::Processes, |o| std::fs::read(format!("/proc/{}/cmdline", o.pid)).is_ok_and(|line| is_ours(&line))),
    (Door::Memory, |o| std::fs::File::open(format!("/proc/{}/mem", o.pid)).is_ok() && sees(o)),
    (Door::Signals, |o| sees_pid(o).is_some_and(|pid| test_kill_process(pid).is_ok()) && sees(o)),
    (Door::Limits, |o| {
        let own = rustix::process::getrlimit(Resource::Core);
        sees_pid(o).is_some_and(|pid| prlimit(Some(pid), Resource::Core, own).is_ok())
    }),
    (Door::Priorities, |o| {
        let same = |pid| getpriority_process(Some(pid)).and_then(|now| setpriority_process(Some(pid), now));
        sees_pid(o).is_some_and(|pid| same(pid).is_ok()) && sees(o)
    }),
    (Door::Terminals, |o| o.terminal.as_ref().is_some_and(|path| opens_to_write(path))),
    (Door::Mounts, |o| rustix::mount::mount("x", o.folder.as_str(), "tmpfs", MountFlags::empty(), c"").is_ok()),
];

fn opens_to_write(path: &Utf8Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK;
    std::fs::OpenOptions::new().write(true).custom_flags(flags.bits().cast_signed()).open(path).is_ok()
}

fn sees_pid(outside: &Outside) -> Option<Pid> {
    Pid::from_raw(i32::try_from(outside.pid).ok()?)
}

/// In namespaces the number is somebody else's, or nobody's.
fn sees(outside: &Outside) -> bool {
    std::fs::read(format!("/proc/{}/cmdline", outside.pid)).is_ok_and(|line| is_ours(&line))
}

fn is_ours(line: &[u8]) -> bool {
    String::from_utf8_lossy(line).contains("doctor")
}

/// A file where everybody's are, and a process that nobody waits for.
fn leave_something(outside: &Outside) {
    let _ = std::fs::File::create(outside.shared());
    let env = Env::from_pairs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("DANDORI_RUN", outside.token.as_str())]);
    let line = "setsid sleep 300 < /dev/null > /dev/null 2>&1 &";
    let _ = Cmd::new("sh", &env).args(["-c", line]).deadline(Duration::from_secs(5)).run();
}
