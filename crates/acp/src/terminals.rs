//! Terminals: commands the agent has us run, so that it can watch them.
//!
//! Each is a process group of its own; both outputs come through one pipe, in their order. The end of the output is kept, as
//! much as the agent asks for and we allow. A terminal lives until it is released, and none outlives the turn.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::Env;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::rpc::{INTERNAL, INVALID_PARAMS, NOT_FOUND, REFUSED, RpcError};

const MOST_TERMINALS: usize = 32;
const MOST_OUTPUT: usize = 1 << 20;
/// Between asking a command to end and ending it.
const PATIENCE: Duration = Duration::from_secs(1);
/// For the last of the output after the command has ended: what it left behind may hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A command as the agent asks for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
    pub(crate) cwd: Option<Utf8PathBuf>,
    most: usize,
}

impl Wanted {
    pub(crate) fn of(params: &Value) -> Result<Self, RpcError> {
        let bad = |what: &str| RpcError::new(INVALID_PARAMS, what);
        let texts = |value: &Value| value.as_array()?.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        let command = params.get("command").and_then(Value::as_str).filter(|command| !command.trim().is_empty());
        let command = command.ok_or_else(|| bad("command is missing"))?.to_owned();
        let args: Option<Vec<String>> = params.get("args").filter(|v| !v.is_null()).map_or(Some(Vec::new()), texts);
        let args = args.ok_or_else(|| bad("args must be a list of strings"))?;
        let mut env = Vec::new();
        for variable in params.get("env").and_then(Value::as_array).into_iter().flatten() {
            let text = |key: &str| variable.get(key).and_then(Value::as_str).map(str::to_owned);
            match (text("name").filter(|name| !name.is_empty() && !name.contains('=')), text("value")) {
                (Some(name), Some(value)) => env.push((name, value)),
                _ => return Err(bad("env must be a list of names and values")),
            }
        }
        let has_nul = |text: &String| text.contains('\0');
        if has_nul(&command) || args.iter().chain(env.iter().flat_map(|(n, v)| [n, v])).any(has_nul) {
            return Err(bad("a command cannot contain NUL"));
        }
        let cwd = match params.get("cwd").and_then(Value::as_str) {
            Some(cwd) if !cwd.starts_with('/') => return Err(bad("cwd must be absolute")),
            other => other.map(|cwd| dandori_guard::change::resolve(None, cwd)),
        };
        let most = params.get("outputByteLimit").and_then(Value::as_u64);
        let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(MOST_OUTPUT).min(MOST_OUTPUT);
        Ok(Self { command, args, env, cwd, most })
    }

    /// What is run, as a shell would read it: what the guards judge. Variables stand in front, as they may change what a
    /// command does.
    pub(crate) fn line(&self) -> String {
        let mut words: Vec<String> = self.env.iter().map(|(name, value)| format!("{name}={}", quoted(value))).collect();
        if self.args.is_empty() {
            // Agents put a whole line here; it is run as one.
            words.push(self.command.clone());
        } else {
            words.push(quoted(&self.command));
            words.extend(self.args.iter().map(|arg| quoted(arg)));
        }
        words.join(" ")
    }

    /// The program and its words.
    fn argv(&self) -> (&str, Vec<&str>) {
        if self.args.is_empty() {
            ("/bin/sh", vec!["-c", &self.command])
        } else {
            (&self.command, self.args.iter().map(String::as_str).collect())
        }
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[derive(Default)]
pub(crate) struct Terminals {
    all: Mutex<(u64, BTreeMap<String, Arc<Terminal>>)>,
}

struct Terminal {
    group: Pid,
    line: String,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    output: Vec<u8>,
    truncated: bool,
    most: usize,
    /// Nothing more comes.
    is_read: bool,
    exit: Option<ExitStatus>,
}

impl Terminals {
    #[expect(
        clippy::disallowed_methods,
        reason = "it lives until the agent releases it; Cmd is for tools with a deadline"
    )]
    pub(crate) fn create(&self, wanted: &Wanted, worktree: &Utf8Path, env: &Env) -> Result<Value, RpcError> {
        let mut all = lock(&self.all);
        if all.1.len() >= MOST_TERMINALS {
            return Err(RpcError::new(REFUSED, format!("{MOST_TERMINALS} terminals are open: release one first")));
        }
        let failed =
            |error: io::Error| RpcError::new(INTERNAL, format!("{} cannot be started: {error}", wanted.command));
        let (program, args) = wanted.argv();
        let (output, to_output) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(|e| failed(e.into()))?;
        let child = std::process::Command::new(program)
            .args(args)
            .env_clear()
            .envs(env.iter())
            .envs(wanted.env.iter().map(|(name, value)| (name, value)))
            .current_dir(wanted.cwd.as_deref().unwrap_or(worktree))
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::from(to_output.try_clone().map_err(failed)?))
            .stderr(Stdio::from(to_output))
            .spawn()
            .map_err(failed)?;
        let state = State { most: wanted.most, ..State::default() };
        let group = Pid::from_child(&child);
        let terminal =
            Arc::new(Terminal { group, line: wanted.line(), state: Mutex::new(state), changed: Condvar::new() });
        let (reads, waits) = (Arc::clone(&terminal), Arc::clone(&terminal));
        let begun = std::thread::Builder::new()
            .spawn(move || reads.read(output.into()))
            .and_then(|_| std::thread::Builder::new().spawn(move || waits.wait(child)));
        if let Err(error) = begun {
            let _ = kill_process_group(group, Signal::KILL);
            return Err(failed(error));
        }
        all.0 += 1;
        let id = format!("term-{}", all.0);
        all.1.insert(id.clone(), terminal);
        Ok(json!({ "terminalId": id }))
    }

    pub(crate) fn output(&self, params: &Value) -> Result<Value, RpcError> {
        let terminal = self.find(params)?;
        let state = lock(&terminal.state);
        let text = String::from_utf8_lossy(&state.output).into_owned();
        let mut answer = json!({ "output": text, "truncated": state.truncated });
        if let (Some(status), Some(fields)) = (state.exit, answer.as_object_mut()) {
            fields.insert("exitStatus".to_owned(), exit_status(status));
        }
        Ok(answer)
    }

    /// What it runs.
    pub(crate) fn line(&self, params: &Value) -> Result<String, RpcError> {
        Ok(self.find(params)?.line.clone())
    }

    /// Waits for as long as it takes.
    pub(crate) fn wait_for_exit(&self, params: &Value) -> Result<Value, RpcError> {
        let terminal = self.find(params)?;
        let state = lock(&terminal.state);
        let state = terminal.changed.wait_while(state, |state| state.exit.is_none());
        let state = state.unwrap_or_else(PoisonError::into_inner);
        Ok(state.exit.map_or(Value::Null, exit_status))
    }

    pub(crate) fn kill(&self, params: &Value) -> Result<Value, RpcError> {
        self.find(params)?.kill();
        Ok(json!({}))
    }

    pub(crate) fn release(&self, params: &Value) -> Result<Value, RpcError> {
        let terminal = self.find(params)?;
        lock(&self.all).1.retain(|_, known| !Arc::ptr_eq(known, &terminal));
        terminal.kill();
        Ok(json!({}))
    }

    /// Ends them all at once, without asking.
    pub(crate) fn end_all(&self) {
        for terminal in std::mem::take(&mut lock(&self.all).1).values() {
            terminal.signal(Signal::KILL);
        }
    }

    fn find(&self, params: &Value) -> Result<Arc<Terminal>, RpcError> {
        let id = params.get("terminalId").and_then(Value::as_str).unwrap_or_default();
        let found = lock(&self.all).1.get(id).cloned();
        found.ok_or_else(|| RpcError::new(NOT_FOUND, format!("unknown terminal {id:?}")))
    }
}

impl Terminal {
    fn read(&self, mut output: std::fs::File) {
        let mut piece = vec![0u8; 64 * 1024];
        loop {
            let count = match output.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            lock(&self.state).add(piece.get(..count).unwrap_or_default());
        }
        lock(&self.state).is_read = true;
        self.changed.notify_all();
    }

    fn wait(&self, mut child: Child) {
        let status = child.wait();
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, LAST_WORDS, |state| !state.is_read);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.exit = Some(status.unwrap_or_else(|_| ExitStatus::from_raw(0xff00)));
        drop(state);
        self.changed.notify_all();
    }

    /// Asks, then insists.
    fn kill(&self) {
        self.signal(Signal::TERM);
        let state = lock(&self.state);
        drop(self.changed.wait_timeout_while(state, PATIENCE, |state| state.exit.is_none()));
        self.signal(Signal::KILL);
    }

    /// Of one that has ended the number may be somebody else's by now.
    fn signal(&self, signal: Signal) {
        if lock(&self.state).exit.is_none() {
            let _ = kill_process_group(self.group, signal);
        }
    }
}

impl State {
    /// The end is kept; what is cut is cut at a character.
    fn add(&mut self, bytes: &[u8]) {
        self.output.extend_from_slice(bytes);
        if self.output.len() > self.most {
            let over = self.output.len() - self.most;
            let is_inside = |at: usize| self.output.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
            let cut = (over..over + 4).find(|at| !is_inside(*at)).unwrap_or(over).min(self.output.len());
            self.output.drain(..cut);
            self.truncated = true;
        }
    }
}

fn exit_status(status: ExitStatus) -> Value {
    json!({ "exitCode": status.code(), "signal": status.signal().map(|number| number.to_string()) })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(terminals: &Terminals, params: &Value) -> Result<Value, RpcError> {
        let env = Env::from_pairs([("PATH", "/usr/bin:/bin")]);
        terminals.create(&Wanted::of(params)?, Utf8Path::new("/"), &env)
    }

    #[test]
    fn what_is_judged_is_what_is_run() {
        let line = |params: Value| Wanted::of(&params).unwrap().line();
        assert_eq!(line(json!({ "command": "git", "args": ["push", "it's"] })), "git push 'it'\\''s'");
        assert_eq!(line(json!({ "command": "git push && ls" })), "git push && ls");
        assert_eq!(line(json!({ "command": "a b", "args": ["c"] })), "'a b' c", "a program with a space in its name");
        let env = json!([{ "name": "GIT_DIR", "value": "/x y" }]);
        assert_eq!(line(json!({ "command": "git", "args": ["log"], "env": env })), "GIT_DIR='/x y' git log");
        for bad in [
            json!({}),
            json!({ "command": " " }),
            json!({ "command": "a", "args": [1] }),
            json!({ "command": "a", "cwd": "b" }),
            json!({ "command": "a\0" }),
            json!({ "command": "a", "env": [{ "name": "A=B", "value": "" }] }),
        ] {
            assert_eq!(Wanted::of(&bad).unwrap_err().code, INVALID_PARAMS, "{bad}");
        }
    }

    #[test]
    fn a_command_is_watched_to_its_end_and_both_outputs_come_in_their_order() {
        let terminals = Terminals::default();
        let id = create(&terminals, &json!({ "command": "echo one; echo two >&2; echo three; exit 3" })).unwrap();
        assert_eq!(terminals.wait_for_exit(&id).unwrap(), json!({ "exitCode": 3, "signal": null }));
        let output = terminals.output(&id).unwrap();
        assert_eq!(output["output"], "one\ntwo\nthree\n");
        assert_eq!(output["truncated"], false);
        assert_eq!(output["exitStatus"]["exitCode"], 3);
        terminals.release(&id).unwrap();
        assert_eq!(terminals.output(&id).unwrap_err().code, NOT_FOUND);
    }

    #[test]
    fn the_end_of_a_long_output_is_kept_and_cut_at_a_character() {
        let terminals = Terminals::default();
        let params = json!({ "command": "printf", "args": ["aéé"], "outputByteLimit": 3 });
        let id = create(&terminals, &params).unwrap();
        terminals.wait_for_exit(&id).unwrap();
        let output = terminals.output(&id).unwrap();
        assert_eq!((output["output"].as_str(), &output["truncated"]), (Some("é"), &json!(true)));
    }

    #[test]
    fn a_command_that_does_not_listen_is_ended_with_all_of_its_group() {
        let terminals = Terminals::default();
        let id = create(&terminals, &json!({ "command": "trap '' TERM; echo ready; sleep 1000 & wait; sleep 1000" }))
            .unwrap();
        while terminals.output(&id).unwrap()["output"] != "ready\n" {
            std::thread::yield_now();
        }
        terminals.kill(&id).unwrap();
        assert_eq!(terminals.wait_for_exit(&id).unwrap()["signal"], "9");
    }

    #[test]
    fn there_are_only_so_many_and_a_program_that_is_missing_is_said() {
        let terminals = Terminals::default();
        let missing = create(&terminals, &json!({ "command": "/no/such", "args": ["x"] })).unwrap_err();
        assert!(missing.message.contains("/no/such"), "{}", missing.message);
        for _ in 0..MOST_TERMINALS {
            create(&terminals, &json!({ "command": "sleep", "args": ["1000"] })).unwrap();
        }
        assert_eq!(create(&terminals, &json!({ "command": "ls" })).unwrap_err().code, REFUSED);
        terminals.end_all();
        create(&terminals, &json!({ "command": "ls" })).unwrap();
    }
}
