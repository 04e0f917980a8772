//! What the guards go by: the configuration, read and resolved once.
//!
//! The hook loads it from a snapshot: plain data, nothing in it needs compiling.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

use dandori_domain::Client;
use dandori_domain::guard::{ErrorPolicy, Level, Profile};
use dandori_domain::paths::secrets;

/// A snapshot of another version is made again.
pub const VERSION: u32 = 2;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rules {
    pub version: u32,
    pub profile: Profile,
    /// The user's language, when the configuration says it.
    pub language: Option<String>,
    /// The guards in the order they are asked, those that are off left out.
    pub order: Vec<Active>,
    pub main: MainRules,
    /// What must be read before anything else, from the checkout's root.
    pub required_reads: Vec<String>,
    /// The user's; first match wins, and `Off` lets through whatever a repository holds, too.
    pub protected: Vec<Protected>,
    /// The repository's; first match wins among them. They add to the user's and lift none of them.
    pub protected_by_repository: Vec<Protected>,
    /// Files nobody may read or write: keys and passwords.
    pub secrets: Vec<String>,
    /// Classes of destructive commands whose level is not their own default.
    pub destructive: BTreeMap<String, Level>,
    /// What the shell reader cannot see through.
    pub opaque: Level,
    pub checks: Checks,
    pub issue: IssueRules,
    pub pull: PullRules,
    pub custom: Vec<CustomRule>,
    /// Set while this is a run: what it may not do.
    pub constraints: Option<Constraints>,
    /// Folders and files that make the guards work; nobody may write them.
    pub control: Vec<Utf8PathBuf>,
    /// Where runs work, below a folder that is otherwise control: the nearest path decides.
    pub worktrees: Vec<Utf8PathBuf>,
    /// How long a denied write stays denied on other ways.
    pub denied_seconds: u64,
    /// How long an answer may take.
    pub deadline_ms: u64,
}

/// A guard that is at work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Active {
    pub name: String,
    pub level: Level,
    pub on_error: ErrorPolicy,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MainRules {
    pub branches: Vec<String>,
    /// Only while state.md has `focus: workspace`.
    pub only_workspace: bool,
    pub what: MainWhat,
}

/// What is kept off the main branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MainWhat {
    /// Commands that move the branch: commit, merge, push to it.
    Branch,
    /// Every write while it is checked out, too.
    Edits,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Protected {
    /// A glob from the checkout's root; without a slash, a file name anywhere.
    pub pattern: String,
    /// `Off` lets through what a later pattern would hold.
    pub level: Level,
}

/// Commands of the project's own that guards run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Checks {
    /// Before a commit.
    pub before_commit: Vec<String>,
    /// After an edit, in this order.
    pub after_edit: Vec<AfterEdit>,
    pub seconds: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AfterEdit {
    /// Which files it is for; empty is all.
    pub files: Vec<String>,
    /// A shell line; `{file}` is the edited file.
    pub run: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct IssueRules {
    /// One of these labels is needed.
    pub priorities: Vec<String>,
    /// Each section by its names in all languages.
    pub sections: Vec<Vec<String>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullRules {
    pub sections: Vec<Vec<String>>,
    pub needs_issue: bool,
}

/// What a run may not do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Constraints {
    /// Subcommands of git.
    pub git: Vec<String>,
    /// Globs, as in [`Protected`].
    pub paths: Vec<String>,
    /// Folders in which it may only read, by all their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<Utf8PathBuf>,
}

impl Default for Constraints {
    fn default() -> Self {
        let strings = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Self {
            git: strings(dandori_domain::constraint::FORBIDDEN_GIT),
            paths: strings(&[".git", ".git/**", ".env", ".env.*", "*.key", "*.pem"]),
            read_only: Vec::new(),
        }
    }
}

/// A guard of the user's own: a pattern with a decision, or a program that decides.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CustomRule {
    pub name: String,
    /// `PreToolUse`, `PostToolUse`, `UserPromptSubmit`, `Stop`, …: our names for all clients; empty is `PreToolUse`.
    pub events: Vec<String>,
    /// Globs on the tool: `Bash`, `Edit`, `Read`, `mcp__*__write*`; empty is every tool.
    pub tools: Vec<String>,
    /// Words of a command, each a glob, the last `*` for any rest: `npm publish *`.
    pub commands: Vec<String>,
    /// Globs on the files that would be written or read.
    pub paths: Vec<String>,
    /// Text that stands in the prompt, whatever its case.
    pub prompts: Vec<String>,
    pub decision: Level,
    pub message: Option<String>,
    /// The program that decides, with its words; it gets the event on stdin and answers by exit code.
    pub run: Vec<String>,
    pub seconds: u64,
}

impl Rules {
    pub fn active(&self, name: &str) -> Option<&Active> {
        self.order.iter().find(|active| active.name == name)
    }

    pub fn level(&self, name: &str) -> Level {
        self.active(name).map_or(Level::Off, |active| active.level)
    }

    /// What protects a file, given which patterns hold it.
    pub fn protection(&self, holds: impl Fn(&str) -> bool) -> Option<&Protected> {
        let user = self.protected.iter().find(|protected| holds(&protected.pattern));
        Protected::stricter(user, self.protected_by_repository.iter().find(|protected| holds(&protected.pattern)))
    }
}

impl Protected {
    /// The user's word and the repository's about one file: the stricter counts, but what the user lets through is let
    /// through. `None` when nothing protects it.
    pub(crate) fn stricter<'p>(user: Option<&'p Self>, repository: Option<&'p Self>) -> Option<&'p Self> {
        let repository = repository.filter(|protected| protected.level != Level::Off);
        match (user, repository) {
            (Some(user), _) if user.level == Level::Off => None,
            (Some(user), Some(repository)) if repository.level > user.level => Some(repository),
            (user, repository) => user.or(repository),
        }
    }
}

/// What stands in no configuration.
impl Default for Rules {
    fn default() -> Self {
        Self::of(Profile::Safety)
    }
}

impl Rules {
    /// The defaults of a profile.
    pub fn of(profile: Profile) -> Self {
        let strings = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>();
        let order = crate::guards::ALL
            .iter()
            .map(|guard| Active {
                name: guard.name.to_owned(),
                level: guard.default_level(profile),
                on_error: guard.on_error,
            })
            .filter(|active| active.level != Level::Off)
            .collect();
        let clients_read = Client::ALL.iter().map(|client| client.describe().reads_first);
        Self {
            version: VERSION,
            profile,
            language: None,
            order,
            main: MainRules {
                branches: strings(&["main", "master"]),
                only_workspace: false,
                what: if profile == Profile::Discipline { MainWhat::Edits } else { MainWhat::Branch },
            },
            required_reads: clients_read.chain(["state.md"]).map(str::to_owned).collect(),
            protected: Vec::new(),
            protected_by_repository: Vec::new(),
            secrets: secrets(),
            destructive: BTreeMap::new(),
            opaque: Level::Ask,
            checks: Checks { seconds: 60, ..Checks::default() },
            issue: IssueRules {
                priorities: strings(&["P0", "P1", "P2", "P3"]),
                sections: vec![
                    strings(&["Why", "Background", "Motivation", "なぜ", "背景", "理由"]),
                    strings(&["Current", "Current state", "Current behavior", "Current behaviour", "現状"]),
                    strings(&[
                        "Expected",
                        "Expected behavior",
                        "Expected behaviour",
                        "期待動作",
                        "期待する動作",
                        "期待",
                    ]),
                    strings(&["Proposal", "Solution", "Approach", "対応案", "対応", "提案", "解決案"]),
                ],
            },
            pull: PullRules {
                sections: vec![
                    strings(&["Summary", "概要", "サマリー", "要約"]),
                    strings(&["Test plan", "Testing", "Tests", "テスト計画", "テスト", "動作確認", "確認方法"]),
                ],
                needs_issue: true,
            },
            custom: Vec::new(),
            constraints: None,
            control: Vec::new(),
            worktrees: Vec::new(),
            denied_seconds: 600,
            deadline_ms: 4_000,
        }
    }
}
