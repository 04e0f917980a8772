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
    /// How people are told.
    Notices,
    Repository,
    /// What must always hold of a formation's records.
    Formation,
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
            Self::Notices => "notices",
            Self::Repository => "repository",
            Self::Formation => "formation",
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
        Check::Store => ("database", "データベース"),
        Check::Notices => ("notifications", "通知"),
        Check::Repository => ("repository", "リポジトリ"),
        Check::Formation => ("formation", "フォーメーション"),
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
        return say!(lang, "{found} ({path}), tested version", "{found} ({path})、動作確認済み");
    }
    let known = known.join(", ");
    say!(lang, "{found} ({path}); tested versions: {known}", "{found} ({path})。動作確認済みのバージョン: {known}")
}

/// A restored backup is older than some runs.
pub fn unrecorded_runs(lang: Lang, root: &str, runs: u32) -> String {
    let counted = crate::ui::count(runs, "run");
    say!(
        lang,
        "{root}: {counted} not in the restored database; worktrees and branches are unchanged",
        "{root}: 復元したデータベースにない実行が {runs} 件あります。ワークツリーとブランチはそのまま残っています"
    )
}

/// Others could enter the state root until now.
pub fn open_state_root(lang: Lang, path: &str, mode: u32) -> String {
    say!(
        lang,
        "{path} was accessible to other users (mode {mode:o}); access is now restricted",
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
    TryNotices,
}

pub fn remedy(lang: Lang, remedy: Remedy) -> Cow<'static, str> {
    let (en, ja) = match remedy {
        Remedy::InstallGit => ("install git 2.40 or newer", "git 2.40 以降をインストールしてください"),
        Remedy::InstallTmux => (
            "install tmux to watch agents in panes (not needed for runs)",
            "エージェントをペインで見るには tmux をインストールしてください (実行には不要です)",
        ),
        Remedy::InstallAgent(client) => return Cow::Owned(client.describe().program.install_command()),
        Remedy::InstallHooks => (
            "install the hooks with `dandori init`; the agent must be on the PATH or named with `--agent`",
            "`dandori init` で組み込んでください。エージェントは PATH に置くか `--agent` で指定します",
        ),
        Remedy::Landlock => (
            "agents can write wherever you can: use Linux 5.13 or newer with Landlock enabled",
            "エージェントがあなたと同じ範囲に書き込めます。Landlock が有効な Linux 5.13 以降を使ってください",
        ),
        Remedy::RestoreStore => (
            "run `dandori daemon stop`, then `dandori daemon start`: the last good backup is restored",
            "`dandori daemon stop` のあと `dandori daemon start` を実行すると、最後の正常なバックアップが復元されます",
        ),
        Remedy::FreeDisk => (
            "free some space, for example with `dandori worktree gc`",
            "`dandori worktree gc` などで空きを増やしてください",
        ),
        Remedy::LookAtWorktrees => (
            "list them with `dandori worktree list`, then adopt or remove each",
            "`dandori worktree list` で確認し、それぞれ引き継ぐか削除してください",
        ),
        Remedy::TryNotices => (
            "correct [notify] in your configuration; `dandori notify test` tries it",
            "設定の [notify] を見直してください。`dandori notify test` で確認できます",
        ),
        Remedy::LookIntoStateRoot => (
            "check it for files that you did not create, and delete private/token to get a new token",
            "心当たりのないファイルがないか確認し、private/token を削除してトークンを作り直してください",
        ),
        Remedy::SetIdentity => (
            "run `git config --global user.name …` and `git config --global user.email …`",
            "`git config --global user.name …` と `git config --global user.email …` を実行してください",
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
        "{name}: {command} ({program}); guards check what it asks for, only the sandbox restricts what it does without asking",
        "{name}: {command} ({program})。確認を求めた操作はガードが判定し、確認なしの操作はサンドボックスだけが制限します"
    )
}

/// Its program is nowhere to be found.
pub fn acp_missing(lang: Lang, name: &str, command: &str, program: &str) -> String {
    say!(lang, "{name}: {command}: {program} is not on the PATH", "{name}: {command}: {program} が PATH にありません")
}

/// Which layers are missing and what that leaves open, word for word as runs are told.
pub fn not_covered(lang: Lang, why: &str, open: &[&str]) -> String {
    let open = open.join("; ");
    crate::lang::say!(lang, "{why}; not protected: {open}", "{why}。保護されないもの: {open}")
}

pub fn look_at_store(lang: Lang) -> String {
    crate::lang::say!(
        lang,
        "check the address with `dandori config show store`, and that the database runs",
        "`dandori config show store` のアドレスと、データベースが動いていることを確認してください"
    )
}

pub fn sandbox_off(lang: Lang) -> String {
    crate::lang::say!(
        lang,
        "turned off by sandbox.mode = \"off\": agents can read and write all your files",
        "sandbox.mode = \"off\" により無効です。エージェントはすべてのファイルを読み書きできます"
    )
}

pub fn sandbox_on(lang: Lang) -> String {
    crate::lang::say!(
        lang,
        "turn it on with `dandori config set sandbox.mode auto`, or remove the key from dandori.toml",
        "`dandori config set sandbox.mode auto` で有効にするか、dandori.toml からキーを削除してください"
    )
}

/// The last line: may one begin?
pub fn verdict(lang: Lang, well: bool, bad: usize, checked: usize) -> String {
    let s = if bad == 1 { "" } else { "s" };
    match (well, bad) {
        (true, _) => {
            say!(lang, "ready: {checked} checks, no problems", "準備完了: {checked} 項目を確認し、問題はありません")
        }
        (false, 0) => say!(lang, "not proven: nothing could be tried", "確認できませんでした: 試せる項目がありません"),
        (false, _) => say!(
            lang,
            "{bad} problem{s} in {checked} checks; the lines marked → say what to do",
            "{checked} 項目中 {bad} 件の問題があります。→ の行に対処方法を示しています"
        ),
    }
}
