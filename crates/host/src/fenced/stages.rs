//! The stages on the way to the program, each a process of its own.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use dandori_domain::cause::with_causes;
use dandori_domain::run::SandboxMode;
use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal, setpgid, setsid, wait,
};

use super::Streams;
use super::family::{go_on, stops};
use super::words::{End, Order, Word, hear, receive, say, send};
use crate::Env;
use crate::sandbox::view::{self, ViewError};
use crate::sandbox::{self, Namespaces, Otherwise, SandboxError, SandboxPolicy, namespaces, runtime_folder};
use crate::shim::RUN_MARKER;

/// `dandori fenced <stage>`. Returns only when the program did not come to be, or, for those before it, is over.
pub fn main(stage: &str) -> i32 {
    // First of all: from here on the parent's death is ours. Had it died before, the socket would be closed.
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    close_all_but_streams();
    let Ok(mut socket) = socket() else { return 1 };
    let trouble = match (tied, stage) {
        (Err(e), _) => failed(format!("its life could not be tied to its parent's: {e}")),
        (Ok(()), "enter") => enter(&mut socket),
        (Ok(()), "first") => first(&mut socket),
        (Ok(()), "last") => match receive(&socket) {
            Ok(order) => last(&order, &mut socket, &order.without_namespaces.clone().map_or(Ok(()), Err)),
            Err(e) => failed(format!("cannot read its order: {e}")),
        },
        (Ok(()), other) => failed(format!("there is no stage {other}")),
    };
    match trouble {
        Stage::Over(code) => code,
        Stage::Says(word) => {
            let _ = say(&socket, &word);
            1
        }
    }
}

/// Whatever a terminal had open without saying that it is its own went along to the daemon, the shim, and here. Before
/// anything is open that is ours.
fn close_all_but_streams() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // Among them is the one by which they were listed.
        let _ = nix::unistd::close(number);
    }
}

/// How a stage came to its end.
enum Stage {
    Over(i32),
    Says(Word),
}

fn failed(detail: String) -> Stage {
    Stage::Says(Word::Failed { detail })
}

fn socket() -> io::Result<UnixStream> {
    // A copy that closes by itself at the exec, while standard input becomes the program's.
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?))
}

fn enter(socket: &mut UnixStream) -> Stage {
    let order = match receive(&*socket) {
        Ok(order) => order,
        Err(e) => return failed(format!("cannot read its order: {e}")),
    };
    if order.fenced.sandbox.mode == SandboxMode::Off {
        return last(&order, socket, &Err("disabled in the configuration".into()));
    }
    if let Some(reason) = &order.without_namespaces {
        return last(&order, socket, &Err(reason.clone()));
    }
    if let Err(reason) = namespaces::enter() {
        return last(&order, socket, &Err(reason));
    }
    let mut named = [0u8; 1];
    if say(&*socket, &Word::Entered).is_err() || !matches!(socket.read(&mut named), Ok(1)) {
        return Stage::Over(1);
    }
    let tied = set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from);
    let child = tied.and_then(|()| namespaces::keep_powers()).and_then(|()| socket.try_clone());
    match child.and_then(|socket| spawn("first", socket, &order)) {
        Ok(mut child) => Stage::Over(child.wait().ok().and_then(|status| status.code()).unwrap_or(1)),
        Err(e) => failed(format!("the first process could not be made: {e}")),
    }
}

/// The first process of the namespaces. What it leaves behind when it ends, the kernel ends.
fn first(socket: &mut UnixStream) -> Stage {
    let mut order = match receive(&*socket) {
        Ok(order) => order,
        Err(e) => return failed(format!("cannot read its order: {e}")),
    };
    match view::build(&order.fenced.policy()) {
        Ok(plain_stores) => {
            for store in &mut order.fenced.sandbox.stores {
                store.is_over &= !plain_stores.contains(&sandbox::resolved(store.at.as_std_path()));
            }
        }
        Err(error @ ViewError::Machine { .. }) => return Stage::Says(Word::NoView { reason: with_causes(&error) }),
        Err(error @ ViewError::Path { .. }) => {
            return failed(format!("the run's file system: {}", with_causes(&error)));
        }
    }
    // Nobody behind the fence looks into it, though it is the same user's.
    if let Err(e) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        return failed(format!("the first process cannot be closed: {e}"));
    }
    let child = match begin_last(socket, &order) {
        Ok(child) => child,
        Err(stage) => return stage,
    };
    // It needs nothing any more: all it does is to wait.
    let end = reap_until(Pid::from_child(&child), order.fenced.streams);
    let _ = say(&*socket, &Word::Ended(end));
    Stage::Over(0)
}

/// Passes the words on between the last process and whoever began all this.
fn begin_last(socket: &mut UnixStream, order: &Order) -> Result<Child, Stage> {
    let trouble = |what: &str, e: &io::Error| failed(format!("{what}: {e}"));
    let (ours, theirs) = UnixStream::pair().map_err(|e| trouble("no socket to the last process", &e))?;
    let child = spawn("last", theirs, order).map_err(|e| trouble("the last process could not be made", &e))?;
    let inside = Order { without_namespaces: None, ..order.clone() };
    send(&ours, &inside).map_err(|e| trouble("the last process does not listen", &e))?;
    let mut lines = BufReader::new(&ours);
    let mut next = || hear(&mut lines).map_err(|e| trouble("the last process did not answer", &e));
    match next()? {
        Some(ready @ Word::Ready { .. }) => drop(say(&*socket, &ready)),
        Some(other) => return Err(Stage::Says(other)),
        None => return Err(failed("the last process died before it became the program".into())),
    }
    let mut leave = [0u8; 1];
    if !matches!(socket.read(&mut leave), Ok(1)) {
        return Err(Stage::Over(1));
    }
    (&ours).write_all(&leave).map_err(|e| trouble("the last process did not wait", &e))?;
    match next()? {
        None => drop(say(&*socket, &Word::Running)),
        Some(other) => return Err(Stage::Says(other)),
    }
    Ok(child)
}

/// Takes in whatever ends until the program has.
fn reap_until(program: Pid, streams: Streams) -> End {
    loop {
        match wait(stops(streams)) {
            Ok(Some((pid, status))) if status.stopped() => go_on(pid),
            Ok(Some((pid, status))) if pid == program => {
                let (code, signal) = (status.exit_status(), status.terminating_signal());
                return End { code, signal, left: others() };
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return End { code: None, signal: None, left: 0 },
        }
    }
}

/// How many there are besides the first process; those that only wait to be reaped do not count.
fn others() -> u32 {
    crate::process::Table::read().entries().filter(|e| e.pid != 1 && !e.is_dead()).count().try_into().unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "a stage has no deadline and no environment; Cmd is for tools")]
fn spawn(stage: &str, socket: UnixStream, order: &Order) -> io::Result<Child> {
    // By this name it is our own program even when an update has replaced the file meanwhile.
    std::process::Command::new("/proc/self/exe")
        .arg0("dandori")
        .args(["fenced", stage])
        .env_clear()
        .envs(markers(order))
        .stdin(Stdio::from(OwnedFd::from(socket)))
        .spawn()
}

/// By which a leftover is found.
pub(super) fn markers(order: &Order) -> impl Iterator<Item = (&String, &String)> {
    let is_marker = |name: &str| name == RUN_MARKER || name == crate::cmd::COMMAND_MARKER;
    order.fenced.env.iter().filter(move |(name, _)| is_marker(name)).map(|(name, value)| (name, value))
}

/// Puts up what is left of the fence, waits for leave, and becomes the program.
#[expect(clippy::disallowed_methods, reason = "this process becomes the program; Cmd is for children")]
fn last(order: &Order, socket: &mut UnixStream, namespaces: &Namespaces) -> Stage {
    let fenced = &order.fenced;
    // A session or a group of its own: a signal to "its group" never reaches those before it.
    let apart = match fenced.streams {
        Streams::Own => setsid().map(drop),
        Streams::Terminal => setpgid(None, None),
    };
    if let Err(e) = apart {
        return failed(format!("no session of its own: {e}"));
    }
    let Some((name, arguments)) = fenced.argv.split_first() else {
        return failed("the order names no program".into());
    };
    let stdin = match (&fenced.stdin, fenced.streams) {
        (None, Streams::Own) => Stdio::null(),
        (None, Streams::Terminal) => match rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3) {
            Ok(terminal) => terminal.into(),
            Err(e) => return failed(format!("it has no terminal: {e}")),
        },
        (Some(path), _) => match File::open(path) {
            Ok(file) => file.into(),
            Err(e) => return failed(format!("cannot read its input {path}: {e}")),
        },
    };
    if let Err(e) = std::env::set_current_dir(&fenced.cwd) {
        return failed(format!("cannot enter its folder {}: {e}", fenced.cwd));
    }
    let mut env = Env::from_pairs(fenced.env.iter().map(|(k, v)| (k, v)));
    tell_places(&mut env, &fenced.sandbox, namespaces.is_ok());
    let Some(program) = env.find_program(name) else {
        return failed(missing(name, &env));
    };
    let sandbox = match sandbox::apply(&fenced.policy(), namespaces) {
        Ok(sandbox) => sandbox,
        Err(SandboxError::Missing { reason }) => return Stage::Says(Word::NoSandbox { reason }),
        Err(error) => return failed(with_causes(&error)),
    };
    let mut leave = [0u8; 1];
    if say(&*socket, &Word::Ready { sandbox }).is_err() || !matches!(socket.read(&mut leave), Ok(1)) {
        return Stage::Over(1);
    }
    let error = std::process::Command::new(&program)
        .arg0(name)
        .args(arguments)
        .env_clear()
        .envs(env.iter())
        .stdin(stdin)
        .exec();
    failed(format!("cannot execute {program}: {}", explained(&error)))
}

/// What the view cannot put in its place is told to the tools by their own variables.
fn tell_places(env: &mut Env, policy: &SandboxPolicy, in_namespaces: bool) {
    if in_namespaces {
        env.set("XDG_RUNTIME_DIR", runtime_folder());
    } else {
        for copy in &policy.replace {
            if let Otherwise::Named(variable) = &copy.otherwise {
                env.set(variable, copy.with.as_str());
            }
        }
    }
    for store in policy.stores.iter().filter(|store| !in_namespaces || !store.is_over) {
        sandbox::tell(store, env);
    }
}

fn missing(name: &str, env: &Env) -> String {
    if name.contains('/') {
        return format!("program {name} does not exist or is not executable");
    }
    format!("the program {name} was not found in PATH ({})", env.text("PATH").unwrap_or("which is empty"))
}

fn explained(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the interpreter or loader that it names is missing".into(),
        io::ErrorKind::PermissionDenied => {
            format!("{error} (it is not executable, or the sandbox hides it or its interpreter)")
        }
        _ => error.to_string(),
    }
}
