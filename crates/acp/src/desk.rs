//! Where the agent's requests are answered: judged first, then carried out.
//!
//! Each on a thread of its own, because judging takes time and a terminal may be waited for; only so many at once, because
//! an agent could ask for ever and never listen.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use camino::Utf8Path;
use dandori_domain::AgentEvent;
use dandori_domain::acp::AcpOrder;
use dandori_guard::change::resolve;
use dandori_host::Env;
use serde_json::{Value, json};

use crate::agent::Outgoing;
use crate::files;
use crate::judge::{Asked, Judge, Refusal};
use crate::permission::{self, Leave};
use crate::quirks::Quirks;
use crate::rpc::{CANCELLED, INTERNAL, METHOD_NOT_FOUND, NOT_FOUND, REFUSED, RpcError, response};
use crate::teller::Teller;
use crate::terminals::{Terminals, Wanted};

const MOST_AT_ONCE: usize = 64;

/// A place among those that are answered at once.
pub(crate) struct Permit(Arc<AtomicUsize>);

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(crate) struct Desk {
    order: Arc<AcpOrder>,
    env: Arc<Env>,
    out: Outgoing,
    teller: Teller,
    pub(crate) judge: Judge,
    terminals: Terminals,
    at_once: Arc<AtomicUsize>,
    is_stopping: AtomicBool,
    quirks: OnceLock<Quirks>,
}

impl Desk {
    pub(crate) fn new(order: Arc<AcpOrder>, env: Arc<Env>, out: Outgoing, teller: Teller) -> Self {
        let judge = Judge::new(&order.run, &order.worktree, Arc::clone(&env), teller.clone());
        Self {
            order,
            env,
            out,
            teller,
            judge,
            terminals: Terminals::default(),
            at_once: Arc::default(),
            is_stopping: AtomicBool::new(false),
            quirks: OnceLock::new(),
        }
    }

    /// Who asks.
    pub(crate) fn know(&self, quirks: Quirks) {
        let _ = self.quirks.set(quirks);
    }

    fn quirks(&self) -> Quirks {
        self.quirks.get().copied().unwrap_or_default()
    }

    /// From here on nothing new is begun.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::SeqCst);
    }

    /// No terminal outlives the turn.
    pub(crate) fn close(&self) {
        self.stop();
        self.terminals.end_all();
    }

    /// Answers a request, now or later.
    /// `waits`: nothing else says that a tool is at work while this is answered.
    pub(crate) fn take(self: &Arc<Self>, id: Value, method: String, params: Value, waits: bool) {
        let before = self.at_once.fetch_add(1, Ordering::SeqCst);
        let permit = Permit(Arc::clone(&self.at_once));
        if before >= MOST_AT_ONCE {
            let error =
                RpcError::new(REFUSED, format!("{MOST_AT_ONCE} requests are in progress: wait for one to finish"));
            self.out.send(response(&id, Err(error)), None);
            return;
        }
        let desk = Arc::clone(self);
        let name = id.clone();
        let begun = std::thread::Builder::new().spawn(move || {
            let answer = if waits { desk.wait_for_exit(&params) } else { desk.answer(&method, &params) };
            desk.out.send(response(&id, answer), Some(permit));
        });
        if let Err(error) = begun {
            self.out.send(response(&name, Err(RpcError::new(INTERNAL, error.to_string()))), None);
        }
    }

    fn answer(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        match method {
            "session/request_permission" => Ok(self.permission(params)),
            "fs/read_text_file" => {
                let path = files::path_of(params)?;
                self.require(&Asked::new("Read", json!({ "file_path": path })))?;
                match files::read(&path, params) {
                    Err(error) if error.code == NOT_FOUND && self.quirks().missing_is_empty => {
                        Ok(json!({ "content": "" }))
                    }
                    read => read,
                }
            }
            "fs/write_text_file" => {
                let path = files::path_of(params)?;
                let content = params.get("content").unwrap_or(&Value::Null);
                self.require(&Asked::new("Write", json!({ "file_path": path, "content": content })))?;
                files::write(&path, params, &self.roots())
            }
            "terminal/create" => {
                let wanted = Wanted::of(params)?;
                self.require(&Asked::shell(&wanted.line(), wanted.cwd.as_ref().map(|cwd| cwd.as_str())))?;
                self.terminals.create(&wanted, &self.order.worktree, &self.env)
            }
            "terminal/output" => self.terminals.output(params),
            "terminal/wait_for_exit" => self.terminals.wait_for_exit(params),
            "terminal/kill" => self.terminals.kill(params),
            "terminal/release" => self.terminals.release(params),
            other => Err(RpcError::new(METHOD_NOT_FOUND, format!("dandori does not support {other}"))),
        }
    }

    /// Says so while a command is waited for: silence is then nothing to worry about.
    fn wait_for_exit(&self, params: &Value) -> Result<Value, RpcError> {
        let id = params.get("terminalId").and_then(Value::as_str).unwrap_or_default().to_owned();
        let input = self.terminals.line(params)?;
        self.teller.tell(&AgentEvent::ToolCall { id: id.clone(), name: "terminal".to_owned(), input });
        let answer = self.terminals.wait_for_exit(params);
        let ok = answer.as_ref().is_ok_and(|status| status.get("exitCode") == Some(&json!(0)));
        let output = answer.as_ref().map_or_else(|error| error.message.clone(), ToString::to_string);
        self.teller.tell(&AgentEvent::ToolResult { id, ok, output: if ok { String::new() } else { output } });
        answer
    }

    /// The guards' leave to do it, and nothing is begun once we are asked to stop.
    fn require(&self, asked: &Asked) -> Result<(), RpcError> {
        if self.is_stopping.load(Ordering::SeqCst) {
            return Err(RpcError::new(CANCELLED, "the turn is ending"));
        }
        self.judge.ask(asked, None).map_err(|refusal| {
            self.teller.warn(refusal.in_words());
            let Refusal { guard, reason } = refusal;
            RpcError { code: REFUSED, message: reason, data: Some(json!({ "guard": guard })) }
        })
    }

    /// The folders that may be written.
    fn roots(&self) -> Vec<&Utf8Path> {
        self.order.also.iter().map(AsRef::as_ref).chain([self.order.worktree.as_path()]).collect()
    }

    /// An edit of a file elsewhere: the fence would not let it happen, so it is not let pass either.
    fn strays(&self, asked: &Asked) -> Option<Refusal> {
        let path = asked.edits().map(|path| resolve(Some(&self.order.worktree), path))?;
        let is_inside = files::inside(&path, &self.roots()).is_some();
        (!is_inside).then(|| Refusal { guard: "worktree".to_owned(), reason: files::outside(&path) })
    }

    fn permission(&self, params: &Value) -> Value {
        let call = params.get("toolCall").unwrap_or(&Value::Null);
        let id = call.get("toolCallId").and_then(Value::as_str);
        let asked = permission::asked(call, |asked| self.judge.is_shell(asked));
        let is_stopping = || self.is_stopping.load(Ordering::SeqCst);
        let refused = |asked: &Asked| self.judge.ask(asked, id).err().or_else(|| self.strays(asked));
        let refusal = if is_stopping() { None } else { asked.iter().find_map(refused) };
        let leave = match &refusal {
            // Also when it began while the guards were asked.
            _ if is_stopping() => Leave::Cancelled,
            Some(_) => Leave::Refused,
            None => Leave::Given,
        };
        let chosen = permission::choose(params, leave);
        if chosen.asks_no_more {
            let title = call.get("title").and_then(Value::as_str).unwrap_or_default();
            self.teller.warn(format!("[dandori] {title}: allow_always"));
        }
        let mut answer = json!({ "outcome": chosen.outcome });
        if let Some(refusal) = &refusal {
            let output = refusal.in_words();
            // A call that was refused is over: not every agent says so.
            self.teller.tell(&match id {
                Some(id) => AgentEvent::ToolResult { id: id.to_owned(), ok: false, output },
                None => AgentEvent::Warning { text: output },
            });
        }
        // The protocol has no place for a reason; some agents show what they find here.
        if let (Some(Refusal { guard, reason }), Some(fields)) = (refusal, answer.as_object_mut()) {
            fields.insert("_meta".to_owned(), json!({ "dandori": { "guard": guard, "reason": reason } }));
        }
        answer
    }
}
