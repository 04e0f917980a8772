//! The pure core of dandori: ids, facts, what they mean, and what comes next.
//!
//! Nothing here reads a clock, a file or the network. Facts come in, status and the next step go out; the
//! engine carries the steps out and the CLI shows the status, both from the same functions.

pub mod acp;
pub mod agent;
pub mod candidate;
pub mod cause;
pub mod client;
pub mod constraint;
pub mod deed;
pub mod failure;
pub mod front;
pub mod guard;
pub mod id;
pub mod machine;
pub mod need;
pub mod paths;
pub mod plain;
pub mod problem;
pub mod prompt_line;
pub mod pull;
pub mod run;
pub mod sandbox;
mod shell_word;
pub mod task;
pub mod version;
pub mod wait;
pub mod wording;
pub mod work_at;
pub mod worktree;

pub use agent::{AgentEvent, AgentFailure, AgentName, ProtocolTrouble, Usage, Verdict};
pub use client::Client;
pub use failure::{Failure, Finding, Limit, Stage, Unfit, UnfitWhy};
pub use id::{
    CommandId, Epoch, HostId, MessageId, Oid, PhaseId, PullId, RepoId, ResultId, RunId, RunKey, SessionId, TaskId,
    TaskNumber, Usd, WorktreeKey,
};
pub use machine::{IllegalFact, Machine, Next};
pub use problem::Problem;
pub use prompt_line::{PromptTag, Submitted, prompt_line};
pub use run::{Fact, Intent, Run, RunKind, RunSpec, Status};
pub use shell_word::shell_word;
pub use wait::WaitReason;
