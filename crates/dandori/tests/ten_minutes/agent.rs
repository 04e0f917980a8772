//! Agents that need no account: programs called `claude` and `codex` that speak the streams of the real ones.
//!
//! What they say and write is decided by the instruction they are given, as [`Scene`]s: shell scripts with the stream's
//! lines in them, so that a run costs no more than a shell.

use dandori_testkit::env::TestEnv;
use serde_json::{Value, json};

/// What an agent does when its instruction contains this.
pub(crate) struct Scene {
    pub(crate) instruction: &'static str,
    pub(crate) steps: Vec<Step>,
}

pub(crate) enum Step {
    Say(&'static str),
    Read(&'static str),
    /// A file with this text.
    Write(&'static str, &'static str),
    /// A command that is said to have been run, and what it printed.
    Shell(&'static str, &'static str),
    /// Until a file `go` is in its worktree.
    Wait,
    /// Ends without success.
    Refuse(&'static str),
}

/// Puts both agents on the PATH of the environment's terminals.
pub(crate) fn install(env: &mut TestEnv, claude: &[Scene], codex: &[Scene]) {
    let bin = env.home().join(".local/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for (name, version, stream, scenes) in [
        ("claude", "2.1.325 (Claude Code)", &Claude as &dyn Stream, claude),
        ("codex", "codex-cli 0.166.0", &Codex, codex),
    ] {
        std::fs::write(bin.join(name), program(version, stream, scenes)).unwrap();
        env.command("chmod", ["+x", bin.join(name).as_str()], env.root());
    }
    env.var("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap()));
}

/// One client's way to say it.
trait Stream {
    fn begin(&self) -> Value;
    fn step(&self, id: usize, step: &Step) -> Vec<Value>;
    fn end(&self, summary: &str) -> Value;
    fn failed(&self, why: &str) -> Value;
}

struct Claude;
struct Codex;

const SESSION: &str = "8070f560-9d13-4913-8c4c-f500b20b29ed";

impl Stream for Claude {
    fn begin(&self) -> Value {
        json!({"type": "system", "subtype": "init", "session_id": SESSION, "model": "claude-opus-4-8"})
    }

    fn step(&self, id: usize, step: &Step) -> Vec<Value> {
        let id = format!("toolu_{id:02}");
        let assistant =
            |block: Value| json!({"type": "assistant", "message": {"role": "assistant", "content": [block]}});
        let tool = |name: &str, input: Value, output: &str| {
            let result = json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false});
            vec![
                assistant(json!({"type": "tool_use", "id": id, "name": name, "input": input})),
                json!({"type": "user", "message": {"role": "user", "content": [result]}}),
            ]
        };
        match step {
            Step::Say(words) => vec![assistant(json!({"type": "text", "text": words}))],
            Step::Read(path) => tool("Read", json!({"file_path": path}), "1\t…"),
            Step::Write(path, content) => tool("Write", json!({"file_path": path, "content": content}), "ok"),
            Step::Shell(command, output) => tool("Bash", json!({"command": command}), output),
            Step::Wait | Step::Refuse(_) => vec![],
        }
    }

    fn end(&self, summary: &str) -> Value {
        json!({
            "type": "result", "subtype": "success", "is_error": false, "session_id": SESSION, "result": summary,
            "total_cost_usd": 0.0421,
            "modelUsage": {"claude-opus-4-8": {"inputTokens": 5120, "outputTokens": 310, "costUSD": 0.0421}},
        })
    }

    fn failed(&self, why: &str) -> Value {
        json!({
            "type": "result", "subtype": "success", "is_error": true, "api_error_status": 401, "session_id": SESSION,
            "result": why,
        })
    }
}

impl Stream for Codex {
    fn begin(&self) -> Value {
        json!({"type": "thread.started", "thread_id": SESSION})
    }

    fn step(&self, id: usize, step: &Step) -> Vec<Value> {
        let done = |kind: &str, mut item: Value| {
            item["id"] = json!(format!("item_{id}"));
            item["type"] = json!(kind);
            vec![json!({"type": "item.completed", "item": item})]
        };
        match step {
            Step::Say(words) => done("agent_message", json!({"text": words})),
            Step::Read(path) => command(&done, &format!("cat {path}"), "…"),
            Step::Write(path, _) => {
                done("file_change", json!({"changes": [{"path": path, "kind": "update"}], "status": "completed"}))
            }
            Step::Shell(line, output) => command(&done, line, output),
            Step::Wait | Step::Refuse(_) => vec![],
        }
    }

    fn end(&self, _: &str) -> Value {
        json!({"type": "turn.completed", "usage": {"input_tokens": 12000, "cached_input_tokens": 0, "output_tokens": 345}})
    }

    fn failed(&self, why: &str) -> Value {
        json!({"type": "turn.failed", "error": {"message": why}})
    }
}

fn command(done: &dyn Fn(&str, Value) -> Vec<Value>, line: &str, output: &str) -> Vec<Value> {
    let item = json!({"command": line, "aggregated_output": output, "exit_code": 0, "status": "completed"});
    done("command_execution", item)
}

/// The shell script that plays them all.
fn program(version: &str, stream: &dyn Stream, scenes: &[Scene]) -> String {
    let head = format!(
        "#!/bin/sh\ncase \" $* \" in *' --version '*) echo '{version}'; exit 0 ;; esac\n\
         instruction=\"$* $(cat)\"\nsays() {{ printf '%s\\n' \"$1\"; }}\n{}case \"$instruction\" in\n",
        says(&stream.begin())
    );
    let scenes: String = scenes.iter().map(|scene| played(stream, scene)).collect();
    format!("{head}{scenes}*) echo no scene for \"$instruction\" >&2; exit 9 ;;\nesac\n")
}

fn played(stream: &dyn Stream, scene: &Scene) -> String {
    let mut lines = vec![format!("*{}*)\n", quoted(scene.instruction))];
    for (id, step) in scene.steps.iter().enumerate() {
        if let Step::Write(path, text) = step {
            lines.push(format!("cat > '{path}' <<'END'\n{text}END\n"));
        }
        lines.extend(stream.step(id, step).iter().map(says));
        match step {
            Step::Wait => lines.push("while [ ! -e go ]; do sleep 0.05; done; rm go\n".to_owned()),
            Step::Refuse(why) => lines.push(format!("{}exit 1\n", says(&stream.failed(why)))),
            Step::Say(_) | Step::Read(_) | Step::Write(..) | Step::Shell(..) => {}
        }
    }
    let last = scene.steps.iter().rev().find_map(|step| match step {
        Step::Say(words) => Some(*words),
        _ => None,
    });
    lines.push(format!("{};;\n", says(&stream.end(last.unwrap_or_default()))));
    lines.concat()
}

fn says(event: &Value) -> String {
    format!("says {}\n", quoted(&event.to_string()))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
