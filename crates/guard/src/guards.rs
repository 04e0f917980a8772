//! Every guard there is, in the order they are asked.
//!
//! A guard is a plain function: it sees a [`Context`] and says what it finds. What follows from a finding is not its
//! business: that is the level it is set to.

use dandori_domain::guard::{ErrorPolicy, Level, Profile};

use crate::context::Context;
use crate::event::{Event, Kind, Tool};
use crate::voice::{Trouble, Voice};

mod archive;
mod argv;
mod bash;
mod coherence;
mod commit;
mod compact;
mod consent;
mod constraints;
mod control;
mod critic;
mod custom;
mod denied;
mod depends;
mod executor;
mod file_dependencies;
mod git_run;
mod golden_path;
mod init;
mod issue;
mod lint;
mod log_subagent;
mod main_branch;
mod merge;
mod opaque;
mod pending;
mod playbook;
mod post_edit;
mod pr_create;
mod prompt_scope;
mod proposal;
mod protected_edit;
mod reads;
mod recipes;
mod scope;
mod secrets;
mod sections;
mod session;
mod state_injection;
mod subtask;
mod summary;
mod task_request;
mod unjudged;
mod unpushed;
mod worktree;

pub(crate) use custom::judge as judge_custom;

pub struct Guard {
    pub name: &'static str,
    /// When it is asked.
    pub on: &'static [On],
    pub safety: Level,
    pub discipline: Level,
    pub on_error: ErrorPolicy,
    /// A person may give an exception from it.
    pub can_except: bool,
    pub(crate) judge: fn(&Context, &mut Voice) -> Result<(), Trouble>,
}

impl Guard {
    pub fn default_level(&self, profile: Profile) -> Level {
        match profile {
            Profile::Safety => self.safety,
            Profile::Discipline => self.discipline,
        }
    }

    pub(crate) fn is_asked(&self, context: &Context) -> bool {
        self.on.iter().any(|on| on.is_met(context))
    }
}

/// When a guard is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// Before every tool.
    AnyTool,
    /// Before files are changed, by an editing tool or by a shell line.
    Change,
    /// Before an editing tool changes files: what the guard reads is in the texts.
    Edit,
    /// Before a shell line.
    Bash,
    /// Before a subagent or skill is called.
    Agents,
    Prompt,
    /// After an editing tool.
    PostEdit,
    /// After a shell line.
    PostBash,
    /// After every tool.
    PostTool,
    /// Around subagents: after the call, at their start and end.
    Subagents,
    /// Beginning and end of a session.
    Session,
    /// The agent is about to end its turn.
    Stop,
    /// Before the conversation is compacted.
    Compact,
    ConfigChange,
}

impl On {
    /// The events, each with its tools.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::AnyTool => &["PreToolUse:*"],
            Self::Change => &["PreToolUse:Edit/Write", "PreToolUse:Bash"],
            Self::Edit => &["PreToolUse:Edit/Write"],
            Self::Bash => &["PreToolUse:Bash"],
            Self::Agents => &["PreToolUse:Task/Agent", "PreToolUse:Skill"],
            Self::Prompt => &["UserPromptSubmit"],
            Self::PostEdit => &["PostToolUse:Edit/Write"],
            Self::PostBash => &["PostToolUse:Bash"],
            Self::PostTool => &["PostToolUse:*"],
            Self::Subagents => &["SubagentStart", "SubagentStop", "PostToolUse:Task/Agent"],
            Self::Session => &["SessionStart", "SessionEnd"],
            Self::Stop => &["Stop"],
            Self::Compact => &["PreCompact"],
            Self::ConfigChange => &["ConfigChange"],
        }
    }

    fn is_met(self, context: &Context) -> bool {
        let event: &Event = context.event;
        let before = event.kind == Kind::PreTool;
        let after = matches!(event.kind, Kind::PostTool { .. });
        match self {
            Self::AnyTool => before,
            Self::Change => before && !context.targets().is_empty(),
            Self::Edit => before && !context.changes().is_empty(),
            Self::Bash => before && matches!(event.tool, Some(Tool::Bash { .. })),
            Self::Agents => before && matches!(event.tool, Some(Tool::Agent { .. } | Tool::Skill { .. })),
            Self::Prompt => matches!(event.kind, Kind::PromptSubmit { .. }),
            Self::PostEdit => after && !context.changes().is_empty(),
            Self::PostBash => after && matches!(event.tool, Some(Tool::Bash { .. })),
            Self::PostTool => after,
            Self::Subagents => {
                matches!(event.kind, Kind::SubagentStart | Kind::SubagentStop { .. })
                    || after && matches!(event.tool, Some(Tool::Agent { .. }))
            }
            Self::Session => matches!(event.kind, Kind::SessionStart { .. } | Kind::SessionEnd { .. }),
            Self::Stop => matches!(event.kind, Kind::Stop { .. }),
            Self::Compact => matches!(event.kind, Kind::PreCompact { .. }),
            Self::ConfigChange => matches!(event.kind, Kind::ConfigChange { .. }),
        }
    }
}

macro_rules! guards {
    ($($name:literal $module:ident [$($on:ident),+] $safety:ident $discipline:ident $policy:ident $except:literal;)+) => {
        /// In the order they are asked: those for all tools first.
        pub const ALL: &[Guard] = &[$(Guard {
            name: $name,
            on: &[$(On::$on),+],
            safety: Level::$safety,
            discipline: Level::$discipline,
            on_error: ErrorPolicy::$policy,
            can_except: $except,
            judge: $module::judge,
        }),+];
    };
}

guards! {
    // name            module            asked                    safety discipline  own failure  exceptions
    "unjudged"         unjudged          [AnyTool, PostTool, Prompt, Stop] Warn Warn Open        true;
    "control"          control           [AnyTool, ConfigChange]  Block  Block       Closed       false;
    "init"             init              [AnyTool]                Off    Block       Open         true;
    "main-branch"      main_branch       [AnyTool]                Block  Block       Closed       true;
    "constraints"      constraints       [AnyTool]                Block  Block       Closed       false;
    "secrets"          secrets           [AnyTool]                Block  Block       Closed       true;
    "denied"           denied            [Bash]                   Block  Block       Closed       true;
    "consent"          consent           [Change]                 Off    Block       Open         false;
    "pending"          pending           [Change]                 Off    Block       Open         true;
    "protected-edit"   protected_edit    [Change]                 Block  Block       Closed       true;
    "playbook"         playbook          [Change]                 Off    Block       Open         true;
    "depends"          depends           [Change]                 Off    Block       Open         true;
    "file-dependencies" file_dependencies [Edit]                  Off    Info        Open         true;
    "executor"         executor          [Change]                 Off    Warn        Open         true;
    "critic"           critic            [Change]                 Off    Block       Open         true;
    "subtask"          subtask           [Edit]                   Off    Block       Open         true;
    "scope"            scope             [Change]                 Off    Warn        Open         true;
    "opaque"           opaque            [Bash]                   Ask    Ask         Closed       true;
    "bash"             bash              [Bash]                   Block  Block       Closed       true;
    "commit"           commit            [Bash]                   Off    Warn        Open         true;
    "coherence"        coherence         [Bash]                   Off    Block       Open         true;
    "lint"             lint              [Bash]                   Block  Block       Open         true;
    "issue"            issue             [Bash]                   Off    Block       Open         true;
    "pr-create"        pr_create         [Bash]                   Off    Block       Open         true;
    "merge"            merge             [Bash]                   Block  Block       Open         true;
    "worktree"         worktree          [Bash]                   Off    Block       Open         true;
    "golden-path"      golden_path       [AnyTool, Prompt]        Off    Block       Open         true;
    "prompt-scope"     prompt_scope      [Prompt]                 Off    Warn        Open         true;
    "state-injection"  state_injection   [Prompt]                 Off    Info        Open         true;
    "task-request"     task_request      [Prompt]                 Off    Info        Open         true;
    "post-edit"        post_edit         [PostEdit]               Block  Block       Open         true;
    "archive"          archive           [PostEdit, PostBash]     Off    Warn        Open         true;
    "log-subagent"     log_subagent      [Subagents]              Info   Info        Open         true;
    "session"          session           [Session, Prompt]        Info   Info        Open         true;
    "compact"          compact           [Compact, Session]       Off    Info        Open         true;
    "summary"          summary           [Stop]                   Off    Info        Open         true;
    "unpushed"         unpushed          [Session]                Off    Warn        Open         true;
}

pub fn find(name: &str) -> Option<&'static Guard> {
    ALL.iter().find(|guard| guard.name == name)
}

/// Whether a guard judges shell lines that write, too: what it denied as an edit it denies again by itself.
pub(crate) fn sees_shell(name: &str) -> bool {
    find(name).is_some_and(|guard| guard.on.iter().any(|on| matches!(on, On::AnyTool | On::Change)))
}
