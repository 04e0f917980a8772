//! A stage for tests of the protocol: a peer that plays a script, with the run's real guards and no process.

#![expect(clippy::disallowed_methods, reason = "a test's own files")]
#![expect(clippy::needless_pass_by_value, reason = "a script reads better without references to what it makes up")]

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::Utf8PathBuf;
use dandori_domain::acp::AcpOrder;
use dandori_domain::{AgentEvent, Verdict};
use dandori_host::Env;
use dandori_policy::{AgentHomes, PolicyPaths, Run, RunRules};
use serde_json::{Value, json};

use crate::agent::{Heard, Letter, Outgoing};
use crate::desk::Desk;
use crate::rpc;
use crate::teller::Teller;
use crate::turn::Turn;

/// What was told, for tests to look at.
#[derive(Clone, Default)]
pub(crate) struct Told(Arc<Mutex<Vec<u8>>>);

impl Write for Told {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Told {
    pub(crate) fn teller(&self) -> Teller {
        Teller::to(Box::new(self.clone()))
    }

    pub(crate) fn events(&self) -> Vec<AgentEvent> {
        let bytes = self.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// A worktree, and a run's folder with rules that hold there.
pub(crate) struct Ground {
    _dir: tempfile::TempDir,
    pub(crate) worktree: Utf8PathBuf,
    pub(crate) run: Utf8PathBuf,
    env: Arc<Env>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        let (worktree, run, home) = (root.join("tree"), root.join("run"), root.join("home"));
        for folder in [&worktree, &run.join("tmp/guards"), &home] {
            std::fs::create_dir_all(folder).unwrap();
        }
        std::fs::write(worktree.join("a.txt"), "one\ntwo\n").unwrap();
        std::fs::write(worktree.join(".env"), "SECRET=1\n").unwrap();
        let place = PolicyPaths {
            folder: run.clone(),
            user_config: root.join("config.toml"),
            trust: root.join("trust"),
            state_root: root.join("state"),
            binary: None,
            homes: AgentHomes::default(),
            checkout: Some(worktree.clone()),
            main_checkout: Some(worktree.clone()),
            git_dir: None,
            is_run: true,
            was_disciplined: false,
        };
        let of_run = Run {
            folder: &run,
            guards: &run.join("tmp/guards"),
            worktree: &worktree,
            tmp: &run.join("tmp"),
            home: &home,
            forbidden: &[],
            read_only: false,
        };
        let rules = RunRules::compile(&place, &of_run);
        std::fs::write(run.join("rules.json"), serde_json::to_vec(&rules).unwrap()).unwrap();
        let env = Env::from_pairs([("PATH", "/usr/bin:/bin"), ("HOME", home.as_str()), ("LANG", "C.UTF-8")]);
        Self { _dir: dir, worktree, run, env: Arc::new(env) }
    }

    pub(crate) fn order(&self) -> AcpOrder {
        AcpOrder {
            version: 1,
            command: "not started here".to_owned(),
            worktree: self.worktree.clone(),
            also: Vec::new(),
            run: self.run.clone(),
            prompt: "Do it".to_owned(),
            session: None,
            prompt_anew: None,
            model: None,
            auth: None,
            grace_seconds: 4,
        }
    }

    /// The verdict and what was told, of a turn with this peer.
    pub(crate) fn turn(&self, order: AcpOrder, peer: impl FnOnce(&Peer) + Send) -> (Verdict, Vec<AgentEvent>) {
        let (tell, heard) = sync_channel(1000);
        let (out, letters) = Outgoing::new();
        let told = Told::default();
        let order = Arc::new(order);
        let desk = Desk::new(Arc::clone(&order), Arc::clone(&self.env), out.clone(), told.teller());
        let desk = Arc::new(desk);
        let verdict = std::thread::scope(|scope| {
            // The channel stays open until the peer has ended.
            scope.spawn(move || peer(&Peer { tell, letters }));
            let mut turn = Turn::new(&order, &heard, out, Arc::clone(&desk), told.teller());
            turn.run()
        });
        desk.close();
        (verdict, told.events())
    }

    pub(crate) fn records(&self) -> String {
        let spool = self.run.join("tmp/guards");
        let mut text = String::new();
        let mut folders = vec![spool];
        while let Some(folder) = folders.pop() {
            for entry in folder.read_dir_utf8().unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.into_path());
                } else {
                    text.push_str(&std::fs::read_to_string(entry.path()).unwrap_or_default());
                }
            }
        }
        text
    }
}

pub(crate) struct Peer {
    pub(crate) tell: SyncSender<Heard>,
    pub(crate) letters: Receiver<Letter>,
}

impl Peer {
    /// The next message of the client's.
    pub(crate) fn hear(&self) -> Value {
        match self.letters.recv_timeout(Duration::from_secs(20)).unwrap() {
            Letter::Message(message, _) => message,
            Letter::Close => panic!("closed"),
        }
    }

    /// A request that has to come next; its params.
    pub(crate) fn expect(&self, method: &str) -> (Value, Value) {
        let mut message = self.hear();
        assert_eq!(message["method"], method, "{message}");
        assert_eq!(message["jsonrpc"], "2.0");
        (message["id"].take(), message["params"].take())
    }

    pub(crate) fn say(&self, line: &str) {
        rpc::read_all(line.as_bytes(), |message| self.tell.send(Heard::Message(message)).unwrap());
    }

    pub(crate) fn answer(&self, id: &Value, result: Value) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string());
    }

    pub(crate) fn error(&self, id: &Value, code: i64, message: &str) {
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string());
    }

    pub(crate) fn update(&self, update: Value) {
        let params = json!({ "sessionId": "s1", "update": update });
        self.say(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }).to_string());
    }

    pub(crate) fn message(&self, text: &str) {
        self.update(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }));
    }

    /// Asks the client, and gives its answer.
    pub(crate) fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.say(&json!({ "jsonrpc": "2.0", "id": "theirs", "method": method, "params": params }).to_string());
        let mut answer = self.hear();
        assert_eq!(answer["id"], "theirs", "{answer}");
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].take()),
        }
    }

    pub(crate) fn permission(&self, call: Value) -> Value {
        let options = json!([
            { "optionId": "yes-always", "name": "Always", "kind": "allow_always" },
            { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
            { "optionId": "no", "name": "No", "kind": "reject_once" },
        ]);
        let params = json!({ "sessionId": "s1", "toolCall": call, "options": options });
        self.request("session/request_permission", params).unwrap()
    }

    /// Up to the prompt; its id and its text.
    pub(crate) fn open(&self, capabilities: Value) -> (Value, String) {
        let (id, hello) = self.expect("initialize");
        assert_eq!(hello["protocolVersion"], 1);
        self.answer(&id, json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
        let (id, params) = self.expect("session/new");
        assert!(params["cwd"].as_str().unwrap().ends_with("/tree"));
        assert_eq!(params["mcpServers"], json!([]));
        self.answer(&id, json!({ "sessionId": "s1" }));
        self.prompted()
    }

    pub(crate) fn prompted(&self) -> (Value, String) {
        let (id, params) = self.expect("session/prompt");
        (id, params["prompt"][0]["text"].as_str().unwrap().to_owned())
    }

    pub(crate) fn end_turn(&self, id: &Value) {
        self.answer(id, json!({ "stopReason": "end_turn" }));
    }

    pub(crate) fn ends(&self, code: i32) {
        self.tell.send(Heard::Ended(ExitStatus::from_raw(code << 8))).unwrap();
        self.tell.send(Heard::Closed).unwrap();
    }
}
