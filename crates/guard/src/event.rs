//! One event for three clients: who is about to do what, or has done it.
//!
//! Nothing here refuses: what a client sent in an unexpected form is kept in `raw` and named in `oddities`.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::client::Hooks;
use dandori_domain::{Client, SessionId};
use serde_json::Value;

use crate::change::Change;

#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    pub agent: Agent,
    /// The client's own name of the event.
    pub name: String,
    pub kind: Kind,
    pub session: Option<SessionId>,
    /// The client's own id of the prompt this belongs to, where it gives one.
    pub prompt_id: Option<String>,
    pub transcript: Option<Utf8PathBuf>,
    pub cwd: Option<Utf8PathBuf>,
    pub permission_mode: Option<PermissionMode>,
    /// Set when it happened inside a subagent, or is about one.
    pub subagent: Option<Subagent>,
    /// The client's own name of the tool.
    pub tool_name: Option<String>,
    pub tool_use: Option<String>,
    pub tool: Option<Tool>,
    /// No person sits in front of this session. No client says so in the event: the caller sets it.
    pub headless: bool,
    /// Another agent has started this client. The caller sets it, where it matters: at prompts and ends.
    pub nested: bool,
    /// The event as it came, for guards of the user's own and for the record; mended where it was not quite text.
    pub raw: String,
    /// What was not as expected, to be logged.
    pub oddities: Vec<Oddity>,
}

impl Tool {
    /// A plain shell with this line.
    pub fn shell(command: impl Into<String>, cwd: Option<Utf8PathBuf>) -> Self {
        Self::Bash { command: command.into(), cwd, beside: Value::Null }
    }

    /// What a tool was given whose input has no form that is known.
    pub fn unread_input(&self) -> Option<&Value> {
        match self {
            Self::Mcp { input, .. } | Self::Other { input, .. } => Some(input),
            Self::Bash { beside, .. } if !beside.is_null() => Some(beside),
            _ => None,
        }
    }
}

impl Event {
    /// The files the tool would change.
    pub fn changes(&self) -> &[Change] {
        match &self.tool {
            Some(Tool::Edit { changes, .. }) => changes,
            _ => &[],
        }
    }

    /// What an answer needs to know: the event without what may be large.
    pub fn outline(&self) -> Self {
        let kind = match &self.kind {
            Kind::PostTool { outcome, .. } => Kind::PostTool { outcome: *outcome, response: None },
            Kind::PromptSubmit { .. } => Kind::PromptSubmit { prompt: String::new() },
            other => other.clone(),
        };
        Self {
            agent: self.agent,
            name: self.name.clone(),
            kind,
            session: self.session.clone(),
            prompt_id: self.prompt_id.clone(),
            transcript: self.transcript.clone(),
            cwd: self.cwd.clone(),
            permission_mode: self.permission_mode.clone(),
            subagent: self.subagent.clone(),
            tool_name: self.tool_name.clone(),
            tool_use: self.tool_use.clone(),
            tool: None,
            headless: self.headless,
            nested: self.nested,
            raw: String::new(),
            oddities: Vec::new(),
        }
    }

    /// Where the tool works: a shell command may have its own folder.
    pub fn workdir(&self) -> Option<&Utf8Path> {
        match &self.tool {
            Some(Tool::Bash { cwd: Some(cwd), .. }) => Some(cwd),
            _ => self.cwd.as_deref(),
        }
    }

    /// Whether a question would reach a person who can answer it.
    pub fn can_ask(&self) -> bool {
        let silenced = matches!(self.permission_mode, Some(PermissionMode::Bypass | PermissionMode::DontAsk));
        self.agent.hooks().is_some_and(|hooks| hooks.can_ask) && !self.headless && !silenced
    }
}

/// Who asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Hash)]
pub enum Agent {
    Client(Client),
    /// Any agent of the Agent Client Protocol. It has no hooks: what it asks its client for is put as an event.
    Acp,
}

impl Agent {
    /// How it asks us; `None` when somebody else asks for it.
    pub fn hooks(self) -> Option<&'static Hooks> {
        match self {
            Self::Client(client) => client.hooks(),
            Self::Acp => None,
        }
    }
}

impl PartialEq<Client> for Agent {
    fn eq(&self, other: &Client) -> bool {
        *self == Self::Client(*other)
    }
}

impl From<Client> for Agent {
    fn from(client: Client) -> Self {
        Self::Client(client)
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client) => client.fmt(f),
            Self::Acp => f.write_str("acp"),
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    SessionStart {
        source: Source,
    },
    PromptSubmit {
        prompt: String,
    },
    PreTool,
    PostTool {
        outcome: Outcome,
        /// The tool's answer, as JSON text: its form is the tool's own.
        response: Option<String>,
    },
    Stop {
        /// The turn goes on because a stop was refused before: refusing again may never end.
        active: bool,
        last_message: Option<String>,
    },
    SubagentStart,
    SubagentStop {
        active: bool,
        last_message: Option<String>,
    },
    PreCompact {
        trigger: Option<String>,
    },
    SessionEnd {
        reason: Option<String>,
    },
    Notification {
        about: Option<String>,
        message: Option<String>,
    },
    ConfigChange {
        source: Option<String>,
        path: Option<Utf8PathBuf>,
    },
    /// An event nobody here has a rule for; its name is `Event::name`.
    Other,
}

impl Kind {
    /// Our name of it, the same for all clients.
    pub fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::SessionStart { .. } => "SessionStart",
            Self::PromptSubmit { .. } => "UserPromptSubmit",
            Self::PreTool => "PreToolUse",
            Self::PostTool { .. } => "PostToolUse",
            Self::Stop { .. } => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop { .. } => "SubagentStop",
            Self::PreCompact { .. } => "PreCompact",
            Self::SessionEnd { .. } => "SessionEnd",
            Self::Notification { .. } => "Notification",
            Self::ConfigChange { .. } => "ConfigChange",
            Self::Other => return None,
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    Startup,
    Resume,
    /// A copy of a conversation, under a name of its own.
    Fork,
    Clear,
    Compact,
    Other(String),
}

/// How a tool call ended, as far as the client says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    Succeeded,
    Failed,
    /// Codex says nothing about a command's exit code.
    Unknown,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PermissionMode {
    Default,
    Plan,
    /// The client decides by itself what it asks about. A hook's question is asked all the same.
    Auto,
    AcceptEdits,
    Bypass,
    DontAsk,
    Other(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subagent {
    pub id: Option<String>,
    /// Its type, as `general-purpose`.
    pub role: Option<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub enum Tool {
    Bash {
        command: String,
        cwd: Option<Utf8PathBuf>,
        /// What a tool that is no plain shell was given besides: it may name files of its own.
        beside: Value,
    },
    Edit {
        with: EditTool,
        changes: Vec<Change>,
        /// False when part of what it would do could not be read.
        complete: bool,
    },
    Read {
        path: Utf8PathBuf,
    },
    Search {
        path: Option<Utf8PathBuf>,
        pattern: Option<String>,
        /// Which files it looks into, as a glob.
        files: Option<String>,
    },
    Skill {
        name: String,
    },
    Agent {
        role: Option<String>,
        prompt: String,
    },
    Mcp {
        server: String,
        tool: String,
        input: Value,
    },
    /// Any other tool, and a known one whose input was not in its form.
    Other {
        name: String,
        input: Value,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EditTool {
    Edit,
    Write,
    MultiEdit,
    NotebookEdit,
    Patch,
}

/// Something that was not in the form a client is known to use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Oddity {
    #[error("the event is not an object")]
    NotAnObject,
    #[error("{field} is not {expected}")]
    WrongType { field: String, expected: &'static str },
    #[error("{field} is missing")]
    Missing { field: String },
    #[error("unknown event {name:?} for {agent}")]
    UnknownEvent { name: String, agent: Agent },
    #[error("registered for {registered}, but this is an event of {found}")]
    OtherAgent { registered: Client, found: Client },
    #[error("the text contained invalid bytes")]
    BrokenText,
    #[error("part of the patch could not be parsed")]
    OddPatch,
    #[error("cannot read {field}: {why}")]
    Unreadable { field: String, why: String },
}
