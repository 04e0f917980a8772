//! Words of `dandori doctor`: what it looks at, and what to do when that is not well.

pub mod hooks;

use std::borrow::Cow;

use dandori_domain::Client;
use dandori_domain::sandbox::Door;

use crate::Lang;
use crate::lang::say;

/// What `doctor` looks at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    Git,
    Identity,
    Tmux,
    Agent(Client),
    /// Whether dandori's hooks stand in an agent's settings as they should.
    Hooks(Client),
    /// Whether they were seen to fire and to block.
    SelfTest(Client),
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
    pub fn code(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Git => "git",
            Self::Identity => "git_identity",
            Self::Tmux => "tmux",
            Self::Agent(client) => client.name(),
            Self::Hooks(client) => return Cow::Owned(format!("{client}_hooks")),
            Self::SelfTest(client) => return Cow::Owned(format!("{client}_self_test")),
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
        })
    }
}

pub fn check(lang: Lang, check: Check) -> Cow<'static, str> {
    let (en, ja) = match check {
        Check::Identity => ("git identity", "git のユーザー情報"),
        Check::Hooks(client) => return Cow::Owned(say!(lang, "hooks of {client}", "{client} のフック")),
        Check::SelfTest(client) => return Cow::Owned(say!(lang, "self-test of {client}", "{client} の自己診断")),
        Check::Guards => ("guards", "ガード"),
        Check::Acp => ("ACP agent", "ACP エージェント"),
        Check::Sandbox => ("sandbox", "サンドボックス"),
        Check::Door(door) => return Cow::Borrowed(crate::sandbox::door(lang, door)),
        Check::Memory => ("memory", "メモリ"),
        Check::Disk => ("disk", "ディスク"),
        Check::UserConfig => ("user configuration", "ユーザー設定"),
        Check::RepositoryConfig => ("repository configuration", "リポジトリ設定"),
        Check::StateRoot => ("state folder", "状態フォルダー"),
        Check::Daemon => ("daemon", "デーモン"),
        Check::Store => ("store", "データベース"),
        Check::Repository => ("repository", "リポジトリ"),
        Check::Git | Check::Tmux | Check::Agent(_) => return check.code(),
    };
    Cow::Borrowed(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
}

/// Which version of an agent was found, and which are known to work.
pub fn version(lang: Lang, client: Client, found: &str, path: &str) -> String {
    let known = client.describe().program.known_to_work;
    if known.contains(&found) {
        return say!(lang, "{found} ({path}), known to work", "{found} ({path})、動作確認済み");
    }
    let known = known.join(", ");
    say!(lang, "{found} ({path}); known to work: {known}", "{found} ({path})。動作確認済みのバージョン: {known}")
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

/// What to do about a finding of `doctor`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Remedy {
    InstallGit,
    InstallTmux,
    InstallAgent(Client),
    InstallHooks,
    Landlock,
    RestoreStore,
    FreeDisk,
    SetIdentity,
    LookIntoStateRoot,
    LookAtWorktrees,
}

pub fn remedy(lang: Lang, remedy: Remedy) -> Cow<'static, str> {
    let (en, ja) = match remedy {
        Remedy::InstallGit => ("install git 2.40 or newer", "git 2.40 以降をインストールしてください"),
        Remedy::InstallTmux => (
            "install tmux to see agents in panes (runs do without it)",
            "エージェントをペインで見るには tmux をインストールしてください (実行には不要です)",
        ),
        Remedy::InstallAgent(client) => return Cow::Owned(client.describe().program.install_command()),
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
    Cow::Borrowed(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
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
