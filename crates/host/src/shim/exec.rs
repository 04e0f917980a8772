//! The process that becomes the agent: it ties its life to the shim's, puts up the fence around itself, and execs.
//!
//! Its standard input is a socket to the shim. Over it goes "ready", then the shim's leave to go on (given when
//! `started.json` is durable), and, should the exec itself fail, why. The socket closes by the exec: its silent end
//! means that the agent runs.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use camino::Utf8Path;
use dandori_domain::cause::with_causes;
use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::record::{ExecStep, LAUNCH, LaunchOrder, RUN_MARKER, load};
use crate::Env;
use crate::sandbox::{self, SandboxError};

/// Returns only when the agent did not come to be.
pub fn exec_main(run_dir: &Utf8Path) -> i32 {
    // First of all: from here on the shim's death is ours. Had it died before, the socket would be closed.
    let tied = set_parent_process_death_signal(Some(Signal::KILL));
    let Ok(mut shim) = shim_socket() else { return 1 };
    let failure = match tied {
        Ok(()) => become_agent(run_dir, &mut shim),
        Err(e) => ExecStep::Failed { detail: format!("its life could not be tied to the shim's: {e}") },
    };
    let _ = say(&mut shim, &failure);
    1
}

fn shim_socket() -> std::io::Result<UnixStream> {
    // A copy that closes by itself at the exec, while standard input becomes the agent's.
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?))
}

fn say(shim: &mut UnixStream, step: &ExecStep) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(step)?;
    line.push(b'\n');
    shim.write_all(&line)
}

#[expect(clippy::disallowed_methods, reason = "this process becomes the agent; Cmd is for children")]
fn become_agent(run_dir: &Utf8Path, shim: &mut UnixStream) -> ExecStep {
    let failed = |detail: String| ExecStep::Failed { detail };
    // A session of its own: a signal to "its group" never reaches the shim, and it has no terminal.
    if let Err(e) = setsid() {
        return failed(format!("no session of its own: {e}"));
    }
    let order: LaunchOrder = match load(run_dir, LAUNCH) {
        Ok(Some(order)) => order,
        Ok(None) => return failed("the launch order is gone".into()),
        Err(e) => return failed(format!("the launch order cannot be read: {e}")),
    };
    let Some((name, arguments)) = order.argv.split_first() else {
        return failed("the launch order names no program".into());
    };
    let stdin = match &order.stdin {
        None => Stdio::null(),
        Some(path) => match File::open(path) {
            Ok(file) => file.into(),
            Err(e) => return failed(format!("its input {path} cannot be read: {e}")),
        },
    };
    if let Err(e) = std::env::set_current_dir(&order.cwd) {
        return failed(format!("its folder {} cannot be entered: {e}", order.cwd));
    }
    let env = Env::from_pairs(order.env.iter().map(|(k, v)| (k, v)));
    let Some(program) = env.find_program(name) else {
        return failed(missing(name, &env));
    };
    let mut policy = order.sandbox.clone();
    // Scripts open `/dev/stdin` by name, which opens the file anew.
    policy.read.extend(order.stdin.clone());
    let sandbox = match sandbox::apply(&policy) {
        Ok(sandbox) => sandbox,
        Err(SandboxError::Missing { reason }) => return ExecStep::NoSandbox { reason },
        Err(error) => return failed(with_causes(&error)),
    };
    let mut leave = [0u8; 1];
    if say(shim, &ExecStep::Ready { sandbox }).is_err() || !matches!(shim.read(&mut leave), Ok(1)) {
        return failed("the shim is gone".into());
    }
    let error = std::process::Command::new(&program)
        .arg0(name)
        .args(arguments)
        .env_clear()
        .envs(env.iter())
        .env(RUN_MARKER, &order.run)
        .stdin(stdin)
        .exec();
    failed(format!("{program} could not be executed: {}", explained(&error)))
}

fn missing(name: &str, env: &Env) -> String {
    if name.contains('/') {
        return format!("there is no program {name}, or it may not be executed");
    }
    format!("the program {name} was not found in PATH ({})", env.text("PATH").unwrap_or("which is empty"))
}

fn explained(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "the interpreter or loader that it names is missing".into(),
        std::io::ErrorKind::PermissionDenied => {
            format!("{error} (it is not executable, or the sandbox hides it or its interpreter)")
        }
        _ => error.to_string(),
    }
}
