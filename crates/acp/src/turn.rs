//! One turn with an agent: hello, a conversation, a prompt, its answer.
//!
//! Everything that can happen comes through one channel and is dealt with while we wait for an answer of the agent's:
//! what it says, what it asks for, its end, and a request to stop. Until the conversation stands nothing is told: an agent
//! that never gets so far has said nothing, and the run's limit for that holds.

#[cfg(test)]
mod tests;

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use dandori_domain::acp::AcpOrder;
use dandori_domain::{AgentEvent, AgentFailure, ProtocolTrouble, SessionId, Verdict};
use dandori_host::Env;
use serde_json::{Value, json};

use crate::agent::{Agent, Heard, Outgoing};
use crate::capabilities::{Capabilities, choose_model, initialize};
use crate::desk::Desk;
use crate::outcome::{Over, usage, verdict};
use crate::quirks::Quirks;
use crate::rpc::{self, AUTH_REQUIRED, Incoming, RpcError};
use crate::teller::Teller;
use crate::updates::Updates;

/// Lines that are no messages; some agents print a greeting. More is no protocol.
const MOST_GARBAGE: usize = 20;
/// After a loaded conversation: this long without a word of it, and at the longest.
const REPLAY_QUIET: Duration = Duration::from_millis(300);
const REPLAY_LONGEST: Duration = Duration::from_secs(5);
/// Between the end of the process and the end of its output, whichever comes first.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Has the turn, tells how it went, and ends the agent.
pub(crate) fn have(order: &Arc<AcpOrder>, env: Arc<Env>, teller: &Teller) {
    let finished = |verdict| teller.tell(&AgentEvent::Finished { verdict });
    let agent = match Agent::start(order, &env) {
        Ok(agent) => agent,
        Err(error) => {
            let detail = format!("{}: {error}", order.command);
            return finished(Verdict::Failed { failure: AgentFailure::NotStarted { detail } });
        }
    };
    let desk = Arc::new(Desk::new(Arc::clone(order), env, agent.out.clone(), teller.clone()));
    let mut turn = Turn::new(order, &agent.heard, agent.out.clone(), Arc::clone(&desk), teller.clone());
    finished(turn.run());
    let has_ended = turn.ended.is_some();
    desk.close();
    agent.end(has_ended);
}

pub(crate) struct Turn<'a> {
    order: &'a AcpOrder,
    heard: &'a Receiver<Heard>,
    out: Outgoing,
    desk: Arc<Desk>,
    teller: Teller,
    updates: Updates,
    asked: u64,
    session: Option<String>,
    /// What it says is what was said before.
    is_replaying: bool,
    is_prompting: bool,
    /// Told once the conversation stands.
    garbage: Vec<String>,
    /// Why the earlier conversation is not gone on with, in the agent's words.
    lost: Option<String>,
    has_started: bool,
    /// Asked to stop: the answer is waited for until then.
    stop_by: Option<Instant>,
    /// Process or output has ended: the other is waited for until then.
    end_by: Option<Instant>,
    ended: Option<ExitStatus>,
}

/// A conversation that stands.
struct Session {
    id: String,
    /// The answer that opened it.
    answer: Value,
    is_new: bool,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        order: &'a AcpOrder,
        heard: &'a Receiver<Heard>,
        out: Outgoing,
        desk: Arc<Desk>,
        teller: Teller,
    ) -> Self {
        let updates = Updates::new(teller.clone());
        Self {
            order,
            heard,
            out,
            desk,
            teller,
            updates,
            asked: 0,
            session: None,
            is_replaying: false,
            is_prompting: false,
            garbage: Vec::new(),
            lost: None,
            has_started: false,
            stop_by: None,
            end_by: None,
            ended: None,
        }
    }

    pub(crate) fn run(&mut self) -> Verdict {
        let outcome = self.converse();
        self.updates.flush();
        match outcome {
            Ok(verdict) => verdict,
            Err(over) => {
                let over = if self.stop_by.is_some() { Over::Stopped } else { over };
                let garbage = self.garbage.first().filter(|_| !self.has_started);
                Verdict::Failed { failure: over.failure(garbage.map(String::as_str)) }
            }
        }
    }

    fn converse(&mut self) -> Result<Verdict, Over> {
        let hello = self.require("initialize", &initialize())?;
        let can = Capabilities::of(&hello).map_err(Over::Failed)?;
        self.desk.know(Quirks::of(&hello));
        let session = self.open(&can)?;
        self.desk.judge.in_session(&session.id);
        self.session = Some(session.id.clone());
        self.has_started = true;
        let model = self.order.model.clone();
        self.teller.tell(&AgentEvent::Started { session: Some(SessionId::new(session.id.clone())), model });
        if let Some(text) = self.lost.take() {
            self.teller.warn(text);
        }
        for line in std::mem::take(&mut self.garbage) {
            self.teller.tell(&AgentEvent::Line { text: line });
        }
        if let Some(model) = &self.order.model {
            self.choose(&session, model)?;
        }
        let is_anew = session.is_new && self.order.session.is_some();
        let prompt = self.order.prompt_anew.as_ref().filter(|_| is_anew).unwrap_or(&self.order.prompt);
        let params = json!({ "sessionId": session.id, "prompt": [{ "type": "text", "text": prompt }] });
        self.is_prompting = true;
        let answer = self.require("session/prompt", &params)?;
        self.is_prompting = false;
        self.updates.flush();
        let cost = self.updates.cost().filter(|_| session.is_new);
        if let Some(usage) = usage(&answer, session.is_new, cost) {
            self.teller.tell(&AgentEvent::Usage { usage });
        }
        verdict(&answer, self.updates.summary())
    }

    /// The conversation to go on with, else a new one.
    fn open(&mut self, can: &Capabilities) -> Result<Session, Over> {
        let place = with(&json!({ "mcpServers": [] }), "cwd", self.order.worktree.as_str());
        if let Some(id) = &self.order.session
            && let Some(method) = if can.resume { Some("session/resume") } else { can.load.then_some("session/load") }
        {
            let params = with(&place, "sessionId", id.as_str());
            self.is_replaying = true;
            match self.logged_in(can, method, &params)? {
                Ok(answer) => {
                    self.hear_out()?;
                    self.is_replaying = false;
                    return Ok(Session { id: id.to_string(), answer, is_new: false });
                }
                // It has lost it: the work goes on without, and the user is told.
                Err(error) => self.lost = Some(format!("{method}: {}", error.in_words())),
            }
        }
        self.is_replaying = false;
        let answer = self.logged_in(can, "session/new", &place)?;
        let answer = answer.map_err(|error| Over::refused("session/new", error.in_words()))?;
        match answer.get("sessionId").and_then(Value::as_str) {
            Some(id) => Ok(Session { id: id.to_owned(), answer, is_new: true }),
            None => Err(Over::bad_answer("session/new", "no sessionId")),
        }
    }

    /// Some tell a conversation again only after they have said that it is loaded. What comes late all the same is told as
    /// if it were news: the log has it twice, and nothing else is the matter.
    fn hear_out(&mut self) -> Result<(), Over> {
        let latest = Instant::now() + REPLAY_LONGEST;
        let mut quiet = Instant::now() + REPLAY_QUIET;
        while Instant::now() < quiet.min(latest) {
            if let Some(message) = self.next(Some(quiet.min(latest)))? {
                self.take(message)?;
                quiet = Instant::now() + REPLAY_QUIET;
            }
        }
        Ok(())
    }

    /// Asks, and logs in when that is what is wanted and the user has said how.
    fn logged_in(&mut self, can: &Capabilities, method: &str, params: &Value) -> Result<Result<Value, RpcError>, Over> {
        match self.ask(method, params)? {
            Err(error) if error.code == AUTH_REQUIRED => {}
            answer => return Ok(answer),
        }
        let Some(login) = self.order.auth.as_ref().filter(|login| can.logins.contains(login)) else {
            let trouble = ProtocolTrouble::LoginNeeded { methods: can.logins.clone() };
            return Err(Over::Failed(AgentFailure::Protocol { trouble }));
        };
        let refused = |error: RpcError| Over::Failed(AgentFailure::NotAuthorised { detail: error.in_words() });
        self.ask("authenticate", &json!({ "methodId": login }))?.map_err(refused)?;
        match self.ask(method, params)? {
            Err(error) if error.code == AUTH_REQUIRED => Err(refused(error)),
            answer => Ok(answer),
        }
    }

    fn choose(&mut self, session: &Session, model: &str) -> Result<(), Over> {
        let choice = choose_model(&session.answer, model).map_err(|offered| {
            let trouble = ProtocolTrouble::NoSuchModel { model: model.to_owned(), offered };
            Over::Failed(AgentFailure::Protocol { trouble })
        })?;
        let params = with(&choice.params, "sessionId", &session.id);
        self.require(choice.method, &params).map(drop)
    }

    /// An answer that is no error.
    fn require(&mut self, method: &str, params: &Value) -> Result<Value, Over> {
        self.ask(method, params)?.map_err(|error| Over::refused(method, error.in_words()))
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Result<Value, RpcError>, Over> {
        self.asked += 1;
        let id = json!(self.asked);
        self.out.send(rpc::request(self.asked, method, params), None);
        loop {
            match self.next(None)? {
                Some(Incoming::Response { id: answered, result }) if answered == id => return Ok(result),
                Some(message) => self.take(message)?,
                None => {}
            }
        }
    }

    /// The next message; `None` when something else has happened, or it is `until`.
    fn next(&mut self, until: Option<Instant>) -> Result<Option<Incoming>, Over> {
        let due = [until, self.stop_by, self.end_by, self.updates.due()].into_iter().flatten().min();
        let heard = match due {
            Some(due) => self.heard.recv_timeout(due.saturating_duration_since(Instant::now())),
            None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let now = Instant::now();
        match heard {
            Ok(Heard::Message(message)) => return Ok(Some(message)),
            Ok(Heard::Ended(status)) => {
                self.ended = Some(status);
                self.half_ended(now)?;
            }
            Ok(Heard::Closed) => self.half_ended(now)?,
            Ok(Heard::StopAsked) => self.stop(now)?,
            Err(RecvTimeoutError::Timeout) => {
                if self.stop_by.is_some_and(|by| now >= by) {
                    return Err(Over::Stopped);
                }
                if self.end_by.is_some_and(|by| now >= by) {
                    return Err(Over::Died(self.ended));
                }
                self.updates.flush_due(now);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Over::Died(self.ended)),
        }
        Ok(None)
    }

    /// Of its process and its output the one has ended: the other will, unless something it left behind holds it.
    fn half_ended(&mut self, now: Instant) -> Result<(), Over> {
        match self.end_by.replace(now + LAST_WORDS) {
            Some(_) => Err(Over::Died(self.ended)),
            None => Ok(()),
        }
    }

    /// Asked for the first time the agent may end its turn; asked again, nobody waits.
    fn stop(&mut self, now: Instant) -> Result<(), Over> {
        self.desk.stop();
        let is_first = self.stop_by.is_none();
        let grace = Duration::from_secs(self.order.grace_seconds);
        self.stop_by.get_or_insert(now + grace * 3 / 4);
        match &self.session {
            Some(id) if self.is_prompting && is_first => {
                self.out.send(rpc::notification("session/cancel", &json!({ "sessionId": id })), None);
                Ok(())
            }
            _ => Err(Over::Stopped),
        }
    }

    fn take(&mut self, message: Incoming) -> Result<(), Over> {
        match message {
            Incoming::Request { id, method, params } => {
                if method == "session/request_permission"
                    && let Some(call) = params.get("toolCall")
                {
                    self.updates.mention(call);
                }
                let waits = method == "terminal/wait_for_exit" && !self.updates.has_open_call();
                if waits {
                    self.updates.flush();
                }
                self.desk.take(id, method, params, waits);
            }
            Incoming::Notification { method, params } if method == "session/update" && !self.is_replaying => {
                if let Some(update) = params.get("update") {
                    self.updates.take(update);
                }
            }
            // An answer to nothing, and news for editors.
            Incoming::Notification { .. } | Incoming::Response { .. } => {}
            Incoming::Garbage { line } => return self.take_garbage(line),
        }
        Ok(())
    }

    fn take_garbage(&mut self, line: String) -> Result<(), Over> {
        if self.has_started {
            self.updates.flush();
            self.teller.tell(&AgentEvent::Line { text: line });
            return Ok(());
        }
        self.garbage.push(line);
        if self.garbage.len() <= MOST_GARBAGE {
            return Ok(());
        }
        let line = self.garbage.first().cloned().unwrap_or_default();
        Err(Over::Failed(AgentFailure::Protocol { trouble: ProtocolTrouble::NotJson { line } }))
    }
}

/// The same object with one more field.
fn with(object: &Value, field: &str, value: &str) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), json!(value));
    }
    object
}
