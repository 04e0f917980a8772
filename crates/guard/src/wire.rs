//! The three clients' hook protocols.
//!
//! What each client honours was found by running it, and differs from what is documented; `tests/data` has the
//! recordings, and a test looks every answer we can give up in them. The rules that follow from them:
//!
//! - A refused tool is told to Claude and Codex in three ways at once (`decision`, `permissionDecision`, exit code 2 with
//!   the reason on stderr). Each honours a different part, and neither is put off by the other's. Gemini takes an exit
//!   code for a failure of the hook and tells its user nothing but that: it gets the reason as a message, and ends well.
//! - Nothing else stands on stdout, and no key that is not needed: Codex takes an answer with a key it does not know, an
//!   empty reason, `ask`, `suppressOutput` or `continue` for a failure of the hook, and runs the tool. Claude does so
//!   when `hookEventName` is not exactly the event's.
//! - Only Claude can ask, and only where a person sits: anywhere else a question is a refusal.
//! - What has happened is not refused but fed back: Codex and Gemini would replace the tool's own output by the reason.
//! - A stop is refused once (`stop_hook_active`): Codex and Gemini would go on for ever.
//! - An event without a rule here passes in silence.
//!
//! | event          | block, ask, error of a closed guard        | warn           | info       | error of an open guard |
//! | -------------- | ------------------------------------------ | -------------- | ---------- | ---------------------- |
//! | before a tool  | refused; Claude asks where it can          | user and model | model      | user                   |
//! | … Gemini       | refused                                    | user           | –          | user                   |
//! | prompt         | dropped                                    | user and model | model      | user                   |
//! | after a tool, session start, Claude's subagent start | as warn | user and model | model   | user                |
//! | stop, Claude's subagent stop | goes on, once; then as warn  | user           | user       | user                   |
//! | Claude's compaction | refused                               | instructions   | instructions | –                    |
//! | Claude's change of settings | refused                       | –              | –          | –                      |
//! | Gemini's session end | as warn                              | user           | user       | user                   |
//! | Claude's session end | as warn                              | user           | –          | user                   |
//! | any other      | –                                          | –              | –          | –                      |

use std::borrow::Cow;

use serde::Serialize;

use crate::decision::{Audience, Note, Permission, Reason, Ruling};
use crate::event::{Agent, Event, Kind, Oddity};
use dandori_domain::Client;

mod acp;
mod claude;
mod codex;
mod commands;
mod fields;
mod gemini;
mod tools;

use fields::Fields;

/// Exit code of a hook that refuses.
const REFUSED: u8 = 2;
/// Exit code of a hook that failed: nothing follows from it, and Claude shows the user what it wrote to stderr.
const FAILED: u8 = 1;

#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error("the event on stdin is not JSON")]
    NotJson(#[source] serde_json::Error),
}

/// Reads an event. `registered` is the client the hook was installed for, when it says so.
pub fn decode(bytes: &[u8], registered: Option<Client>) -> Result<Event, DecodeError> {
    decode_from(bytes, registered.map(Agent::Client))
}

/// Reads what an agent of the Agent Client Protocol asks its client for, put as an event.
pub fn decode_acp(bytes: &[u8]) -> Result<Event, DecodeError> {
    decode_from(bytes, Some(Agent::Acp))
}

fn decode_from(bytes: &[u8], registered: Option<Agent>) -> Result<Event, DecodeError> {
    let text = String::from_utf8_lossy(bytes);
    let mended_bytes = matches!(text, Cow::Owned(_));
    let read = read_event(&text, registered);
    // Mending is for the rare event that needs it: looking through every large write beforehand would cost more than
    // reading it.
    let needs_mending = read.as_ref().map_or(true, |event| !event.oddities.is_empty());
    let mended = if needs_mending { fields::without_half_pairs(&text) } else { None };
    let mut event = match &mended {
        Some(mended) => read_event(mended, registered)?,
        None => read?,
    };
    if mended_bytes || mended.is_some() {
        event.oddities.push(Oddity::BrokenText);
    }
    event.raw = mended.unwrap_or_else(|| text.into_owned());
    Ok(event)
}

/// Everything but `raw`.
#[deny(clippy::wildcard_enum_match_arm)]
fn read_event(text: &str, registered: Option<Agent>) -> Result<Event, DecodeError> {
    let mut fields = Fields::read(text).map_err(DecodeError::NotJson)?;
    let name = fields.string("hook_event_name");
    if name.is_none() {
        fields.odd(Oddity::Missing { field: "hook_event_name".to_owned() });
    }
    let name = name.unwrap_or_default();
    let agent = agent_of(&name, registered, &mut fields);
    let kind = match agent {
        Agent::Client(Client::Claude) => claude::kind(&name, &mut fields),
        Agent::Client(Client::Codex) => codex::kind(&name, &mut fields),
        Agent::Client(Client::Gemini) => gemini::kind(&name, &mut fields),
        Agent::Acp => acp::kind(&name),
    };
    if kind == Kind::Other && !name.is_empty() && !is_known_without_rule(&name) {
        fields.odd(Oddity::UnknownEvent { name: name.clone(), agent });
    }
    let session = fields.string("session_id").map(dandori_domain::SessionId::new);
    let prompt_id = fields.string("prompt_id").or_else(|| fields.string("turn_id"));
    let transcript = fields.string("transcript_path").map(Into::into);
    let cwd = fields.string("cwd").map(|cwd| crate::change::resolve(None, &cwd));
    let permission_mode = fields.string("permission_mode").map(fields::permission_mode);
    let subagent = fields.subagent();
    let tool_name = fields.string("tool_name");
    let tool_use = fields.string("tool_use_id");
    let tool = tool_name.as_deref().map(|name| match agent {
        Agent::Client(Client::Claude) => claude::tool(name, cwd.as_deref(), &mut fields),
        Agent::Client(Client::Codex) => codex::tool(name, cwd.as_deref(), &mut fields),
        Agent::Client(Client::Gemini) => gemini::tool(name, cwd.as_deref(), &mut fields),
        Agent::Acp => acp::tool(name, cwd.as_deref(), &mut fields),
    });
    if tool.is_none() && matches!(kind, Kind::PreTool | Kind::PostTool { .. }) {
        fields.odd(Oddity::Missing { field: "tool_name".to_owned() });
    }
    let oddities = fields.into_oddities();
    let headless = false;
    let raw = String::new();
    Ok(Event {
        agent,
        name,
        kind,
        session,
        prompt_id,
        transcript,
        cwd,
        permission_mode,
        subagent,
        tool_name,
        tool_use,
        tool,
        headless,
        nested: false,
        raw,
        oddities,
    })
}

/// By what the hook was installed for, unless the event's name belongs to another client alone: a hook entry that was
/// copied from one client to another still guards.
fn agent_of(name: &str, registered: Option<Agent>, fields: &mut Fields<'_>) -> Agent {
    let registered = match registered {
        Some(Agent::Acp) => return Agent::Acp,
        Some(Agent::Client(client)) => Some(client),
        None => None,
    };
    let by_name = match name {
        _ if gemini::is_own_event(name) => Some(Client::Gemini),
        _ if claude::is_own_event(name) => Some(Client::Claude),
        // Gemini has no event of this name, so it is one of the other two.
        _ if registered == Some(Client::Gemini) && codex::is_event(name) && !gemini::is_event(name) => {
            Some(by_fields(fields)).filter(|found| *found != Client::Gemini).or(Some(Client::Claude))
        }
        _ => None,
    };
    let client = match (registered, by_name) {
        (Some(registered), Some(found)) if registered != found && !knows(registered, name) => {
            fields.odd(Oddity::OtherAgent { registered, found });
            found
        }
        (Some(registered), _) => registered,
        (None, Some(found)) => found,
        (None, None) => by_fields(fields),
    };
    Agent::Client(client)
}

#[deny(clippy::wildcard_enum_match_arm)]
fn knows(client: Client, name: &str) -> bool {
    match client {
        Client::Claude => !gemini::is_own_event(name),
        Client::Codex => codex::is_event(name),
        Client::Gemini => gemini::is_event(name),
    }
}

/// Gemini stamps every event with the time, Codex names turn and model; the few events that say nothing of the kind
/// have their transcript in the client's own folder.
fn by_fields(fields: &Fields<'_>) -> Client {
    let in_folder_of_codex = || fields.raw("transcript_path").is_some_and(|path| path.contains("/.codex/"));
    if fields.has("timestamp") && !fields.has("prompt_id") {
        Client::Gemini
    } else if fields.has("turn_id") || (fields.has("model") && fields.has("permission_mode")) || in_folder_of_codex() {
        Client::Codex
    } else {
        Client::Claude
    }
}

/// Events that are part of a protocol but have no rule here; newer ones are worth a line in the log.
fn is_known_without_rule(name: &str) -> bool {
    claude::OBSERVED.contains(&name) || codex::OBSERVED.contains(&name) || gemini::OBSERVED.contains(&name)
}

/// What the hook process says and how it ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    pub stdout: Vec<u8>,
    pub stderr: String,
    pub exit: u8,
}

impl Answer {
    /// Whether the client does not go on with what it asked about.
    pub fn is_refusal(&self) -> bool {
        let says_so =
            || serde_json::from_slice::<serde_json::Value>(&self.stdout).is_ok_and(|v| v.get("decision").is_some());
        self.exit == REFUSED || says_so()
    }
}

/// The answer in the client's own protocol.
#[deny(clippy::wildcard_enum_match_arm)]
pub fn encode(event: &Event, ruling: &Ruling) -> Answer {
    let forms = match event.agent {
        Agent::Client(Client::Claude) => claude::forms(event),
        Agent::Client(Client::Codex) => codex::forms(event),
        Agent::Client(Client::Gemini) => gemini::forms(event),
        Agent::Acp => acp::FORMS,
    };
    match &ruling.verdict {
        Permission::Go => say(&event.name, forms, ruling),
        Permission::Ask { reason, .. } if forms.ask && event.can_ask() => ask(&event.name, reason.as_str()),
        Permission::Ask { reason, .. } | Permission::Block { reason, .. } => match forms.refuse {
            Refuse::Tool => refuse_tool(reason.as_str()),
            Refuse::Shown => refuse_shown(reason.as_str()),
            Refuse::By(word) => refuse_by(word, reason.as_str()),
            Refuse::Exit => refuse_by_exit(reason.as_str()),
            // It is said instead, before whatever else there is to say.
            Refuse::Not => {
                let refusal = Note { to: Audience::Both, text: reason.clone() };
                let notes = std::iter::once(refusal).chain(ruling.notes.iter().cloned()).collect();
                say(&event.name, forms, &Ruling { verdict: Permission::Go, notes })
            }
        },
    }
}

/// The answer to something that is no event at all: nothing is refused, because nobody knows what, and the user is told.
pub fn answer_unreadable(detail: &Reason) -> Answer {
    print(&Said { system_message: Some(detail.as_str()), ..Said::default() })
}

/// The ways in which a client listens at one event.
#[derive(Clone, Copy)]
struct Forms {
    refuse: Refuse,
    ask: bool,
    notes: Notes,
}

impl Forms {
    /// Nothing can be refused, and notes go where `notes` says.
    const fn telling(notes: Notes) -> Self {
        Self { refuse: Refuse::Not, ask: false, notes }
    }

    const fn refusing(refuse: Refuse, notes: Notes) -> Self {
        Self { refuse, ask: false, notes }
    }
}

#[derive(Clone, Copy)]
enum Refuse {
    Tool,
    /// `{"decision": "deny", "reason": …}`, and the same for the user.
    Shown,
    /// `{"decision": <word>, "reason": …}`
    By(&'static str),
    Exit,
    /// It has happened already, or the client does not let it be refused.
    Not,
}

/// Whom notes reach: the user by `systemMessage`, the model by a context.
#[derive(Clone, Copy)]
enum Notes {
    /// Nobody, or nobody has seen what the client does.
    None,
    Both,
    /// What is for the model alone is lost.
    User,
    /// What was for the model is shown to the user: a context would make the agent go on.
    AllToUser,
    /// Plain stdout.
    PlainToModel,
    /// At its end Claude shows the user only what a hook says that failed; what is for the model alone is lost.
    UserByFailing,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

fn refuse_tool(reason: &str) -> Answer {
    let specific = Specific {
        // This name in both clients: Claude insists on it.
        hook_event_name: "PreToolUse",
        permission_decision: Some("deny"),
        permission_decision_reason: Some(reason),
        ..Specific::default()
    };
    let output =
        Said { decision: Some("block"), reason: Some(reason), hook_specific_output: Some(specific), ..Said::default() };
    Answer { stderr: line(reason), exit: REFUSED, ..print(&output) }
}

fn refuse_shown(reason: &str) -> Answer {
    print(&Said { decision: Some("deny"), reason: Some(reason), system_message: Some(reason), ..Said::default() })
}

fn refuse_by(word: &'static str, reason: &str) -> Answer {
    print(&Said { decision: Some(word), reason: Some(reason), ..Said::default() })
}

fn refuse_by_exit(reason: &str) -> Answer {
    Answer { stdout: Vec::new(), stderr: line(reason), exit: REFUSED }
}

fn ask(event: &str, reason: &str) -> Answer {
    let specific = Specific {
        hook_event_name: event,
        permission_decision: Some("ask"),
        permission_decision_reason: Some(reason),
        ..Specific::default()
    };
    print(&Said { hook_specific_output: Some(specific), ..Said::default() })
}

fn say(event: &str, forms: Forms, ruling: &Ruling) -> Answer {
    let for_user = |to| to != Audience::Model;
    let for_model = |to| to != Audience::User;
    let (user, context) = match forms.notes {
        Notes::None => (None, None),
        Notes::User => (ruling.notes_for(for_user), None),
        Notes::AllToUser => (ruling.notes_for(|_| true), None),
        Notes::Both => (ruling.notes_for(for_user), ruling.notes_for(for_model)),
        Notes::UserByFailing => return ruling.notes_for(for_user).as_deref().map_or_else(Answer::default, failing),
        Notes::PlainToModel => return ruling.notes_for(for_model).as_deref().map_or_else(Answer::default, plain),
    };
    if user.is_none() && context.is_none() {
        return Answer::default();
    }
    let specific = context.as_deref().map(|context| Specific {
        hook_event_name: event,
        additional_context: Some(context),
        ..Specific::default()
    });
    print(&Said { system_message: user.as_deref(), hook_specific_output: specific, ..Said::default() })
}

fn failing(text: &str) -> Answer {
    Answer { stdout: Vec::new(), stderr: line(text), exit: FAILED }
}

/// A text that begins like JSON would be read as such, and dropped.
fn plain(text: &str) -> Answer {
    let guarded = if text.starts_with(['{', '[']) { format!("- {text}") } else { text.to_owned() };
    Answer { stdout: line(&guarded).into_bytes(), ..Answer::default() }
}

fn print(output: &Said<'_>) -> Answer {
    // Serialising strings into memory cannot fail; if it did, silence would let the tool run, so the reason still goes
    // out by the exit code.
    match serde_json::to_vec(output) {
        Ok(mut stdout) => {
            stdout.push(b'\n');
            Answer { stdout, ..Answer::default() }
        }
        Err(error) => match output.reason {
            Some(reason) => refuse_by_exit(reason),
            None => Answer { stderr: line(&error.to_string()), ..Answer::default() },
        },
    }
}

fn line(text: &str) -> String {
    format!("{text}\n")
}
