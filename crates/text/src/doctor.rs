//! Words of `dandori doctor`: what it looks at, and what to do when that is not well.

pub mod hooks;

use dandori_domain::sandbox::Door;

use crate::Lang;
use crate::lang::say;

/// An agent with hooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Agent {
    Claude,
    Codex,
    Gemini,
}

impl Agent {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini",
        }
    }
}

/// What `doctor` looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    Git,
    Identity,
    Tmux,
    Claude,
    Codex,
    Gemini,
    /// Whether dandori's hooks stand in an agent's settings as they should.
    Hooks(Agent),
    /// Whether they were seen to fire and to block.
    SelfTest(Agent),
    /// The guards as a whole, when there is no agent they could guard.
    Guards,
    /// An agent of the Agent Client Protocol from the configuration.
    Acp,
    Sandbox,
    /// One of the ways out that were tried.
    Door(Door),
    Memory,
    Disk,
    UserConfig,
    RepositoryConfig,
    StateRoot,
    Daemon,
    Store,
    Repository,
}

impl Check {
    /// Its name in `--json`, the same in every language.
    pub fn code(self) -> &'static str {
        match self {
            Self::Git => "git",
            Self::Identity => "git_identity",
            Self::Tmux => "tmux",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Hooks(Agent::Claude) => "claude_hooks",
            Self::Hooks(Agent::Codex) => "codex_hooks",
            Self::Hooks(Agent::Gemini) => "gemini_hooks",
            Self::SelfTest(Agent::Claude) => "claude_self_test",
            Self::SelfTest(Agent::Codex) => "codex_self_test",
            Self::SelfTest(Agent::Gemini) => "gemini_self_test",
            Self::Guards => "guards",
            Self::Acp => "acp",
            Self::Sandbox => "sandbox",
            Self::Door(_) => "sandbox_self_test",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::UserConfig => "user_config",
            Self::RepositoryConfig => "repository_config",
            Self::StateRoot => "state_root",
            Self::Daemon => "daemon",
            Self::Store => "store",
            Self::Repository => "repository",
        }
    }
}

pub fn check(lang: Lang, check: Check) -> &'static str {
    let (en, ja) = match check {
        Check::Identity => ("git identity", "git のユーザー情報"),
        Check::Hooks(Agent::Claude) => ("hooks of claude", "claude のフック"),
        Check::Hooks(Agent::Codex) => ("hooks of codex", "codex のフック"),
        Check::Hooks(Agent::Gemini) => ("hooks of gemini", "gemini のフック"),
        Check::SelfTest(Agent::Claude) => ("self-test of claude", "claude の自己診断"),
        Check::SelfTest(Agent::Codex) => ("self-test of codex", "codex の自己診断"),
        Check::SelfTest(Agent::Gemini) => ("self-test of gemini", "gemini の自己診断"),
        Check::Guards => ("guards", "ガード"),
        Check::Acp => ("ACP agent", "ACP エージェント"),
        Check::Sandbox => ("sandbox", "サンドボックス"),
        Check::Door(door) => return crate::sandbox::door(lang, door),
        Check::Memory => ("memory", "メモリ"),
        Check::Disk => ("disk", "ディスク"),
        Check::UserConfig => ("user configuration", "ユーザー設定"),
        Check::RepositoryConfig => ("repository configuration", "リポジトリ設定"),
        Check::StateRoot => ("state folder", "状態フォルダー"),
        Check::Daemon => ("daemon", "デーモン"),
        Check::Store => ("store", "データベース"),
        Check::Repository => ("repository", "リポジトリ"),
        Check::Git | Check::Tmux | Check::Claude | Check::Codex | Check::Gemini => (check.code(), check.code()),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

/// A restored backup is older than some runs.
pub fn unrecorded_runs(lang: Lang, root: &str, runs: u32) -> String {
    let counted = crate::ui::count(runs, "run");
    say!(
        lang,
        "{root}: {counted} not in the restored database; worktrees and branches are untouched",
        "{root}: 復元したデータベースにない実行が {runs} 件あります。ワークツリーとブランチはそのまま残っています"
    )
}

/// Others could enter the state root until now.
pub fn open_state_root(lang: Lang, path: &str, mode: u32) -> String {
    say!(
        lang,
        "{path} was open to other users (mode {mode:o}); it is closed now",
        "{path} は他のユーザーもアクセスできる状態でした (モード {mode:o})。アクセスできないように変更しました"
    )
}

pub(crate) const INSTALL_CLAUDE: &str = "npm install -g @anthropic-ai/claude-code";
pub(crate) const INSTALL_CODEX: &str = "npm install -g @openai/codex";
pub(crate) const INSTALL_GEMINI: &str = "npm install -g @google/gemini-cli";

/// What to do about a finding of `doctor`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    InstallGit,
    InstallTmux,
    InstallClaude,
    InstallCodex,
    InstallGemini,
    InstallHooks,
    Landlock,
    RestoreStore,
    FreeDisk,
    SetIdentity,
    LookIntoStateRoot,
    LookAtWorktrees,
}

pub fn remedy(lang: Lang, remedy: Remedy) -> &'static str {
    let (en, ja) = match remedy {
        Remedy::InstallGit => ("install git 2.40 or newer", "git 2.40 以降をインストールしてください"),
        Remedy::InstallTmux => (
            "install tmux to see agents in panes (runs do without it)",
            "エージェントをペインで見るには tmux をインストールしてください (実行には不要です)",
        ),
        Remedy::InstallClaude => (INSTALL_CLAUDE, INSTALL_CLAUDE),
        Remedy::InstallCodex => (INSTALL_CODEX, INSTALL_CODEX),
        Remedy::InstallGemini => (INSTALL_GEMINI, INSTALL_GEMINI),
        Remedy::InstallHooks => (
            "`dandori init` puts them in, with an agent on the PATH or named by `--agent`",
            "エージェントを PATH に置くか `--agent` で指定し、`dandori init` で組み込んでください",
        ),
        Remedy::Landlock => (
            "agents can write wherever you can: use Linux 5.13 or newer with Landlock enabled",
            "エージェントがあなたと同じ範囲に書き込めます。Landlock が有効な Linux 5.13 以降を使ってください",
        ),
        Remedy::RestoreStore => (
            "dandori daemon stop, then dandori daemon start: the last good backup is restored",
            "dandori daemon stop と dandori daemon start で、最後の正常なバックアップが復元されます",
        ),
        Remedy::FreeDisk => {
            ("dandori worktree gc, or make room otherwise", "dandori worktree gc などで空きを増やしてください")
        }
        Remedy::LookAtWorktrees => (
            "`dandori worktree list` shows them; adopt or remove each",
            "`dandori worktree list` で確認し、引き継ぐか削除してください",
        ),
        Remedy::LookIntoStateRoot => (
            "look whether there is anything in it that you did not put there, and remove private/token for a new one",
            "心当たりのないファイルがないか確認し、private/token を削除してトークンを作り直してください",
        ),
        Remedy::SetIdentity => (
            "git config --global user.name … and user.email …",
            "git config --global user.name … と user.email … を設定してください",
        ),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

/// An agent of the Agent Client Protocol that can be run. `program` is where it is.
pub fn acp_agent(lang: Lang, name: &str, command: &str, program: &str) -> String {
    say!(
        lang,
        "{name}: {command} ({program}); the guards judge what it asks for, only the fence holds what it does without asking",
        "{name}: {command} ({program})。確認を求めた操作はガードが判定し、確認なしに行う操作はサンドボックスだけが制限します"
    )
}

/// Its program is nowhere to be found.
pub fn acp_missing(lang: Lang, name: &str, command: &str, program: &str) -> String {
    say!(lang, "{name}: {command}: {program} is not on the PATH", "{name}: {command}: {program} が PATH にありません")
}

/// Which layers are missing and what that leaves open, word for word as runs are told.
pub fn not_covered(lang: Lang, why: &str, open: &[&str]) -> String {
    let open = open.join("; ");
    crate::lang::say!(lang, "{why}; not covered: {open}", "{why}。保護されないもの: {open}")
}
