//! An order to an agent, and what it takes to carry it out.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::cause::with_causes;
use dandori_domain::run::{CustomAgent, Limits};
use dandori_domain::{AgentFailure, AgentName, RunId, SessionId, TaskId, Usd};
use dandori_host::Env;
use jiff::Timestamp;
use uuid::Uuid;

use crate::home::HomeError;
use crate::{Missing, argv, environment, find_program, guards, home};

/// Everything a driver may know about a run. Time and ids are handed in.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    pub agent: &'a AgentName,
    pub run: RunId,
    pub task: TaskId,
    pub instruction: &'a str,
    /// A file of the run's own that [`prepare`] writes the prompt into; the agent reads it from stdin.
    pub instruction_file: &'a Utf8Path,
    pub workdir: &'a Utf8Path,
    /// The run's own temporary folder: `TMPDIR`.
    pub tmp: &'a Utf8Path,
    /// The private state folder of this task and agent. It outlives a run: the conversation is in it.
    pub home: &'a Utf8Path,
    /// The conversation to go on with.
    pub session: Option<&'a SessionId>,
    /// The conversation's id where the agent lets us choose it.
    pub new_session: Uuid,
    pub model: Option<&'a str>,
    pub budget: Option<Usd>,
    pub limits: &'a Limits,
    /// The user's environment: programs, logins and folders are found with it; what goes on is an allow-list.
    pub user_env: &'a Env,
    /// Names of further variables the agent may see.
    pub pass_env: &'a [String],
    /// Whether our own sandbox holds the agent. The agents' own stay on where it does not.
    pub sandboxed: bool,
    /// How an agent from the configuration is started.
    pub custom: Option<&'a CustomAgent>,
    /// What came before, for an agent that may not be able to go on with its conversation.
    pub earlier: Option<&'a str>,
    /// Paths the project forbids, besides those no run may touch: the agent is told.
    pub forbidden_paths: &'a [String],
    /// `None`: nothing judges what the agent does.
    pub guards: Option<Guards<'a>>,
    /// The way to dandori, for an agent of a formation.
    pub door: Option<Door<'a>>,
    /// This program: the rehearsal agent is `<dandori> rehearse`, and the guards are `<dandori> hook`.
    pub dandori: &'a Utf8Path,
    pub now: Timestamp,
}

/// Where an agent of a formation reaches dandori, and as whom.
#[derive(Clone, Copy, Debug)]
pub struct Door<'a> {
    pub socket: &'a Utf8Path,
    /// `worker3`
    pub agent: &'a str,
}

/// The guards that judge what the agent does, called by its own client.
#[derive(Clone, Copy, Debug)]
pub struct Guards<'a> {
    /// The run's folder, with the rules they go by.
    pub folder: &'a Utf8Path,
    /// Where [`prepare`] writes settings that call them, for a client that takes some by path. Out of the agent's reach.
    pub settings: &'a Utf8Path,
}

/// What the supervisor is to start: these words, exactly this environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    pub argv: Vec<String>,
    pub env: Vec<(String, String)>,
    /// The file that is its stdin; `None` is `/dev/null`.
    pub stdin: Option<Utf8PathBuf>,
    /// What must be writable beyond the worktree and the temporary folder.
    pub write: Vec<Utf8PathBuf>,
    /// What must be readable although it is a login: the agent's own.
    pub read: Vec<Utf8PathBuf>,
    /// The conversation, when it is known before the start.
    pub session: Option<SessionId>,
}

#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The login cannot carry a run; starting the agent would only say so later.
    #[error("{detail}")]
    NotAuthorised { detail: String },
    #[error("the agent {name} has no command in the configuration")]
    NoCommand { name: String },
    #[error("an ACP agent needs the sandbox")]
    NeedsFence,
    #[error("cannot create the agent's state folder")]
    Home(#[source] HomeError),
    #[error("cannot write the guard settings to {path}")]
    Guards {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("cannot write the instruction to {path}")]
    Instruction {
        path: Utf8PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl From<HomeError> for PrepareError {
    fn from(error: HomeError) -> Self {
        match error {
            HomeError::LoginExpired { .. } => Self::NotAuthorised { detail: error.to_string() },
            other => Self::Home(other),
        }
    }
}

impl Order<'_> {
    /// It speaks the Agent Client Protocol.
    pub(crate) fn is_acp(&self) -> bool {
        matches!((self.agent, self.custom), (AgentName::Custom(_), Some(CustomAgent::Acp { .. })))
    }
}

impl PrepareError {
    /// The same as the failure of a run.
    pub fn failure(&self) -> AgentFailure {
        match self {
            Self::NotAuthorised { detail } => AgentFailure::NotAuthorised { detail: detail.clone() },
            Self::NeedsFence => AgentFailure::NeedsFence,
            other => AgentFailure::NotStarted { detail: with_causes(other) },
        }
    }
}

/// Makes the private state folder anew, writes the prompt, and says what to start.
pub fn prepare(order: &Order<'_>) -> Result<Launch, PrepareError> {
    let program = match order.agent {
        AgentName::Rehearsal => order.dandori.to_owned(),
        AgentName::Custom(_) if order.is_acp() => order.dandori.to_owned(),
        AgentName::Client(_) | AgentName::Exec(_) | AgentName::Custom(_) => find_program(order.agent, order.user_env)?,
    };
    let command = argv::command(order, &program)?;
    let private = home::rebuild(order)?;
    if let Some(guards) = &order.guards {
        guards::write_settings(order, guards)
            .map_err(|source| PrepareError::Guards { path: guards.settings.to_owned(), source })?;
    }
    let prompt = argv::prompt(order)?;
    // Not synced: after a power cut no agent reads it any more, and the next launch writes its own.
    dandori_host::put_file(order.instruction_file, prompt.as_bytes(), 0o600)
        .map_err(|source| PrepareError::Instruction { path: order.instruction_file.to_owned(), source })?;
    Ok(Launch {
        argv: command.argv,
        env: environment::of(order, &private.env, &private.named),
        stdin: Some(order.instruction_file.to_owned()),
        write: private.write,
        read: environment::login_files(order),
        session: command.session,
    })
}
