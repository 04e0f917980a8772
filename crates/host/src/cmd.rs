//! Child processes with a deadline, their own process group and an environment that is only what was given.
//!
//! Blocking on purpose: the engine calls it from its blocking pool, and everything above reads as plain code. The
//! end is the child's end, not the end of its output: `git fetch` may leave a `gc` behind that holds the pipe open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::Env;
use crate::sandbox::SandboxPolicy;

/// Carried by every command of a daemon, so that what a killed one left behind is found.
pub const COMMAND_MARKER: &str = "DANDORI_COMMAND_OF";

/// More than any output we read whole; a patch goes to a file instead.
const MAX_OUTPUT: usize = 256 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum CmdError {
    #[error("cannot start {program}")]
    NotStarted {
        program: String,
        #[source]
        source: io::Error,
    },
    /// Not the program is missing but the place it was to run in.
    #[error("cannot run {program} in {folder}: the folder does not exist")]
    FolderGone { program: String, folder: String },
    #[error("{command} did not finish within {seconds} s and was stopped")]
    TimedOut { command: String, seconds: u64 },
    #[error("{command} failed ({status}){}", tail_of(.stderr))]
    Failed { command: String, status: String, code: Option<i32>, stdout: Vec<u8>, stderr: String },
    #[error("cannot communicate with {command}")]
    Io {
        command: String,
        #[source]
        source: io::Error,
    },
}

fn tail_of(stderr: &str) -> String {
    let text = stderr.trim();
    if text.is_empty() { String::new() } else { format!(": {}", last_lines(text, 12)) }
}

/// The last lines of a text: what a person reads when something failed.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

impl CmdError {
    /// What the program said on stderr, for reading a machine-known answer out of it.
    pub fn stderr(&self) -> &str {
        match self {
            Self::Failed { stderr, .. } => stderr,
            _ => "",
        }
    }

    pub fn code(&self) -> Option<i32> {
        match self {
            Self::Failed { code, .. } => *code,
            _ => None,
        }
    }

    pub fn is_missing_program(&self) -> bool {
        matches!(self, Self::NotStarted { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// What a command answered.
#[derive(Debug)]
pub struct CmdOutput {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub status: ExitStatus,
}

impl CmdOutput {
    /// Standard output as text, without the newline at its end.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim_end_matches('\n').to_owned()
    }

    /// NUL-separated fields, as `-z` prints them.
    pub fn fields(&self) -> Vec<String> {
        self.stdout
            .split(|b| *b == 0)
            .filter(|f| !f.is_empty())
            .map(|f| String::from_utf8_lossy(f).into_owned())
            .collect()
    }
}

/// What a command said that was only watched, however it ended.
#[derive(Debug)]
pub struct Watched {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub end: WatchEnd,
}

#[derive(Debug, PartialEq, Eq)]
pub enum WatchEnd {
    Exited(ExitStatus),
    /// It had done what it was watched for, and was ended.
    Enough,
    /// The deadline came, and it was ended.
    TimedOut,
}

/// How often somebody who watches is asked whether it is enough.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub struct Cmd {
    program: OsString,
    args: Vec<OsString>,
    env: Env,
    cwd: Option<Utf8PathBuf>,
    stdin: Vec<u8>,
    stdin_file: Option<Arc<File>>,
    stdout_file: Option<Utf8PathBuf>,
    deadline: Duration,
    fence: Option<(Utf8PathBuf, SandboxPolicy)>,
}

impl Cmd {
    /// A command with exactly this environment.
    pub fn new(program: impl Into<OsString>, env: &Env) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: env.clone(),
            cwd: None,
            stdin: Vec::new(),
            stdin_file: None,
            stdout_file: None,
            deadline: Duration::from_mins(1),
            fence: None,
        }
    }

    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.set(name, value);
        self
    }

    pub fn cwd(mut self, path: &Utf8Path) -> Self {
        self.cwd = Some(path.to_owned());
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Standard input comes from this file, from where it stands: for one run.
    pub fn stdin_from(mut self, file: File) -> Self {
        self.stdin_file = Some(Arc::new(file));
        self
    }

    /// Runs it behind the fence, put up by `program`, the `dandori` binary. It gets no standard input then.
    pub fn behind(mut self, program: &Utf8Path, policy: &SandboxPolicy) -> Self {
        self.fence = Some((program.to_owned(), policy.clone()));
        self
    }

    /// Standard output goes into this file instead of memory.
    pub fn stdout_to(mut self, path: &Utf8Path) -> Self {
        self.stdout_file = Some(path.to_owned());
        self
    }

    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The command as a person would write it, for messages. Arguments that could carry a secret do not come here:
    /// tokens travel by environment or stdin.
    pub fn shown(&self) -> String {
        let mut words = vec![self.program.to_string_lossy().into_owned()];
        words.extend(self.args.iter().map(|a| a.to_string_lossy().into_owned()));
        words.join(" ")
    }

    /// Runs it; any exit but 0 is an error.
    pub fn run(&self) -> Result<CmdOutput, CmdError> {
        let output = self.run_any()?;
        if output.status.success() {
            return Ok(output);
        }
        Err(CmdError::Failed {
            command: self.shown(),
            status: output.status.to_string(),
            code: output.status.code(),
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// Runs it; every exit is an answer.
    pub fn run_any(&self) -> Result<CmdOutput, CmdError> {
        let Watched { stdout, stderr, end } = self.carry_out(None)?;
        match end {
            WatchEnd::Exited(status) => Ok(CmdOutput { stdout, stderr, status }),
            WatchEnd::Enough | WatchEnd::TimedOut => {
                Err(CmdError::TimedOut { command: self.shown(), seconds: self.deadline.as_secs() })
            }
        }
    }

    /// Runs it until it ends, its deadline comes or `is_enough` says so: then its group is ended. What it said until
    /// then comes back in every case.
    pub fn run_until(&self, is_enough: &dyn Fn() -> bool) -> Result<Watched, CmdError> {
        self.carry_out(Some(is_enough))
    }

    fn carry_out(&self, is_enough: Option<&dyn Fn() -> bool>) -> Result<Watched, CmdError> {
        let failed = |source| CmdError::Io { command: self.shown(), source };
        let mut child = self.spawn()?;
        let writer = child.stdin.take().map(|mut pipe| {
            let bytes = self.stdin.clone();
            // A program that does not read its input closes the pipe: not our error.
            std::thread::spawn(move || drop(pipe.write_all(&bytes)))
        });
        let read = self.read_until(&mut child, is_enough);
        if !matches!(read, Ok((_, _, Stop::Ended))) {
            end_group(&mut child);
        }
        if let Some(writer) = writer {
            let _ = writer.join();
        }
        let (stdout, stderr, stop) = read.map_err(failed)?;
        let end = match stop {
            Stop::Ended => WatchEnd::Exited(child.wait().map_err(failed)?),
            Stop::Enough => WatchEnd::Enough,
            Stop::TimedOut => WatchEnd::TimedOut,
        };
        Ok(Watched { stdout, stderr: String::from_utf8_lossy(&stderr).into_owned(), end })
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts commands")]
    fn spawn(&self) -> Result<Child, CmdError> {
        let not_started =
            |source| CmdError::NotStarted { program: self.program.to_string_lossy().into_owned(), source };
        let mut command = match &self.fence {
            None => {
                let mut command = std::process::Command::new(&self.program);
                command.args(&self.args).env_clear().envs(self.env.iter());
                command
            }
            Some((program, policy)) => self.fenced(program, policy),
        };
        command.process_group(0).stderr(Stdio::piped());
        command.stdin(match &self.stdin_file {
            Some(file) => file.try_clone().map_err(not_started)?.into(),
            None if self.stdin.is_empty() => Stdio::null(),
            None => Stdio::piped(),
        });
        command.stdout(match &self.stdout_file {
            Some(path) => std::fs::File::create(path).map_err(not_started)?.into(),
            None => Stdio::piped(),
        });
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.spawn().map_err(|source| match &self.cwd {
            Some(folder) if source.kind() == io::ErrorKind::NotFound && !folder.exists() => CmdError::FolderGone {
                program: self.program.to_string_lossy().into_owned(),
                folder: folder.to_string(),
            },
            _ => not_started(source),
        })
    }

    /// The order travels in the environment: a command line is seen by every user.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts commands")]
    fn fenced(&self, program: &Utf8Path, policy: &SandboxPolicy) -> std::process::Command {
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let env: Vec<(String, String)> = self.env.iter().map(|(k, v)| (text(k), text(v))).collect();
        let order = crate::fenced::Fenced {
            streams: crate::fenced::Streams::Own,
            argv: std::iter::once(&self.program).chain(&self.args).map(|word| text(word)).collect(),
            cwd: self.cwd.clone().unwrap_or_else(|| "/".into()),
            stdin: None,
            sandbox: policy.clone(),
            env,
        };
        let marker = order.env.iter().filter(|(name, _)| name == COMMAND_MARKER).cloned().collect::<Vec<_>>();
        let mut command = std::process::Command::new(program);
        command.arg("fence").env_clear().envs(marker);
        command.env(crate::fenced::ORDER, serde_json::to_string(&order).unwrap_or_default());
        command
    }

    /// Both outputs until the child ends, it is enough, or the deadline comes.
    fn read_until(
        &self,
        child: &mut Child,
        is_enough: Option<&dyn Fn() -> bool>,
    ) -> io::Result<(Vec<u8>, Vec<u8>, Stop)> {
        let until = Instant::now() + self.deadline;
        let pid = Pid::from_child(child);
        let end = pidfd_open(pid, PidfdFlags::empty())?;
        let mut pipes = [Drain::of(child.stdout.take())?, Drain::of(child.stderr.take())?];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let pause = if is_enough.is_some() { left.min(LOOK) } else { left };
            let wait = Timespec::try_from(pause).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 });
            let mut fds = vec![PollFd::new(&end, PollFlags::IN)];
            for pipe in &pipes {
                if let Some(file) = pipe.file.as_ref() {
                    fds.push(PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN));
                }
            }
            let ready = match poll(&mut fds, Some(&wait)) {
                Ok(ready) => ready,
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            };
            let ended = fds.first().is_some_and(|f| !f.revents().is_empty());
            drop(fds);
            for pipe in &mut pipes {
                pipe.take_in()?;
            }
            let stop = if ended {
                Stop::Ended
            } else if is_enough.is_some_and(|is_enough| is_enough()) {
                Stop::Enough
            } else if ready == 0 && until <= Instant::now() {
                Stop::TimedOut
            } else {
                continue;
            };
            let [out, err] = pipes;
            return Ok((out.bytes, err.bytes, stop));
        }
    }
}

enum Stop {
    Ended,
    Enough,
    TimedOut,
}

/// One output of a child, read as far as it goes without waiting.
struct Drain {
    file: Option<std::fs::File>,
    bytes: Vec<u8>,
}

impl Drain {
    fn of(pipe: Option<impl Into<std::os::fd::OwnedFd>>) -> io::Result<Self> {
        let file = pipe.map(|p| std::fs::File::from(p.into()));
        if let Some(file) = &file {
            rustix::io::ioctl_fionbio(file, true)?;
        }
        Ok(Self { file, bytes: Vec::new() })
    }

    fn take_in(&mut self) -> io::Result<()> {
        let mut chunk = [0u8; 16 * 1024];
        while let Some(file) = &mut self.file {
            match file.read(&mut chunk) {
                Ok(0) => self.file = None,
                Ok(n) => {
                    self.bytes.extend_from_slice(chunk.get(..n).unwrap_or_default());
                    if self.bytes.len() > MAX_OUTPUT {
                        return Err(io::Error::other("the output is too long"));
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Asks the whole group to end, then makes it.
fn end_group(child: &mut Child) {
    let group = Pid::from_child(child);
    let _ = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        if matches!(child.try_wait(), Ok(Some(_))) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}

/// The signal that ended a process, if one did.
pub fn signal_of(status: ExitStatus) -> Option<i32> {
    status.signal()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Cmd {
        let env = Env::of_process().filtered(|n| n == "PATH");
        Cmd::new("sh", &env).args(["-c", script])
    }

    #[test]
    fn input_goes_in_and_both_outputs_come_back() {
        let big = "x".repeat(300_000);
        let out = sh("cat; echo warned >&2").stdin(big.clone()).run().unwrap();
        assert_eq!((out.text(), out.stderr.as_str()), (big, "warned\n"));
    }

    #[test]
    fn a_failure_says_what_failed_and_why() {
        let error = sh("echo no such thing >&2; exit 3").run().unwrap_err();
        assert_eq!(error.code(), Some(3));
        assert!(error.to_string().contains("no such thing"), "{error}");
        let missing = Cmd::new("no-such-program-here", &Env::default()).run().unwrap_err();
        assert!(missing.is_missing_program());
    }

    #[test]
    fn a_deadline_ends_the_whole_group() {
        let started = Instant::now();
        let error = sh("sleep 60 & wait").deadline(Duration::from_millis(100)).run().unwrap_err();
        assert!(matches!(error, CmdError::TimedOut { .. }));
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn one_that_is_watched_is_ended_when_it_has_done_enough_and_what_it_said_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let seen = dir.path().join("seen");
        let script = format!("echo begun; echo talk >&2; touch {}; sleep 60", seen.display());
        let watched = sh(&script).run_until(&|| seen.exists()).unwrap();
        assert_eq!((watched.stdout.as_slice(), watched.stderr.as_str()), (&b"begun\n"[..], "talk\n"));
        assert_eq!(watched.end, WatchEnd::Enough);
        let late = sh("echo begun; sleep 60").deadline(Duration::from_millis(300)).run_until(&|| false).unwrap();
        assert_eq!((late.stdout.as_slice(), late.end), (&b"begun\n"[..], WatchEnd::TimedOut));
        let ended = sh("exit 3").run_until(&|| false).unwrap();
        assert!(matches!(ended.end, WatchEnd::Exited(status) if status.code() == Some(3)));
    }

    #[test]
    fn a_grandchild_that_keeps_the_pipe_open_does_not_keep_us() {
        let started = Instant::now();
        let out = sh("(sleep 30 &) ; echo done").run().unwrap();
        assert_eq!(out.text(), "done");
        assert!(started.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn the_environment_is_only_what_was_given() {
        let out = sh("env | cut -d= -f1 | sort | tr '\\n' ' '").env("ONLY", "this").run().unwrap();
        let names: Vec<_> = out.text().split_whitespace().map(str::to_owned).collect();
        assert!(
            names.iter().all(|n| ["ONLY", "PATH", "PWD", "SHLVL", "_", "OLDPWD"].contains(&n.as_str())),
            "{names:?}"
        );
    }
}
