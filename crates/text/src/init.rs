//! What `dandori init` did with the agents' settings, and what is left for the user to do.

use std::borrow::Cow;

use dandori_domain::Client;
use dandori_domain::problem::SettingsTrouble;

use crate::doctor::hooks::{self, HookTrouble};
use crate::lang::say;
use crate::{Lang, Said};

/// What happened to a settings file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Created,
    Changed,
    Unchanged,
    Removed,
}

impl Action {
    /// The stable name in `--json`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
        }
    }
}

pub fn action(lang: Lang, action: Action, path: &str) -> String {
    match action {
        Action::Created => say!(lang, "created   {path}", "作成     {path}"),
        Action::Changed => say!(lang, "changed   {path}", "変更     {path}"),
        Action::Unchanged => say!(lang, "unchanged {path}", "変更なし {path}"),
        Action::Removed => say!(lang, "removed   {path}", "削除     {path}"),
    }
}

/// What to know, or to do, before the hooks are heard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Advice {
    /// `None`: the user's own hooks need no trusted project.
    CodexTrust {
        root: Option<String>,
    },
    /// In a linked worktree Codex reads the hooks of the main checkout.
    CodexWorktree {
        main: String,
    },
    /// Its client reads a project's hooks only in a folder that it trusts.
    FolderTrust {
        client: Client,
    },
    ClaudeSubfolder,
    /// `disableAllHooks` stands in this file.
    Disabled {
        path: String,
    },
    /// There is something in the file that its reader does not know.
    Unread {
        agent: &'static str,
        path: String,
        what: Beyond,
        line: usize,
        column: usize,
    },
    /// The client drops the file, or part of it, for something in it.
    Trouble {
        client: Client,
        trouble: HookTrouble,
    },
    /// It was changed all the same.
    ReadOnly {
        path: String,
    },
    /// The files name a program of this machine, and are everybody's.
    NotForOthers {
        paths: Vec<String>,
        program: String,
    },
    /// The hooks stand in the file that is everybody's, though the client has one for this user alone.
    Shared {
        client: Client,
        path: String,
        local: String,
    },
    /// The file that is this user's alone is not ignored by git.
    NotIgnored {
        path: String,
    },
    /// An agent could replace the program.
    ProgramInRepository {
        path: String,
    },
    /// The user's and the project's settings both hold our hooks.
    Twice {
        agent: &'static str,
        path: String,
    },
    /// After an uninstallation, the other of the two still does.
    StillThere {
        path: String,
        is_users: bool,
    },
    Doctor,
}

/// What is beyond plain JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beyond {
    ByteOrderMark,
    Comment,
    TrailingComma,
}

pub(crate) fn beyond(lang: Lang, what: Beyond) -> &'static str {
    match (lang, what) {
        (Lang::En, Beyond::ByteOrderMark) => "the byte order mark",
        (Lang::En, Beyond::Comment) => "the comment",
        (Lang::En, Beyond::TrailingComma) => "the trailing comma",
        (Lang::Ja, Beyond::ByteOrderMark) => "バイトオーダーマーク",
        (Lang::Ja, Beyond::Comment) => "コメント",
        (Lang::Ja, Beyond::TrailingComma) => "末尾のカンマ",
    }
}

impl Advice {
    /// The stable name in `--json`.
    pub fn code(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::CodexTrust { .. } => "codex_trust",
            Self::CodexWorktree { .. } => "codex_worktree",
            Self::Trouble { trouble, .. } => return trouble.code(),
            Self::ReadOnly { .. } => "read_only",
            Self::NotForOthers { .. } => "not_for_others",
            Self::Shared { .. } => "shared",
            Self::NotIgnored { .. } => "not_ignored",
            Self::FolderTrust { client } => return Cow::Owned(format!("{client}_trust")),
            Self::ClaudeSubfolder => "claude_subfolder",
            Self::Disabled { .. } => "disabled",
            Self::Unread { .. } => "unread",
            Self::ProgramInRepository { .. } => "program_in_repository",
            Self::Twice { .. } => "twice",
            Self::StillThere { .. } => "still_there",
            Self::Doctor => "doctor",
        })
    }
}

pub fn advice(lang: Lang, advice: &Advice) -> String {
    match advice {
        Advice::CodexTrust { root: Some(root) } => say!(
            lang,
            "Codex reads a project's hooks only if it trusts the project, and runs only trusted hooks: start `codex` here and confirm both (the hooks in `/hooks`). Until then it skips them; `codex exec` does so silently. The project's trust is a line in its config.toml:\n`[projects.\"{root}\"] trust_level = \"trusted\"`",
            "Codex は信頼したプロジェクトのフックだけを読み込み、信頼されたフックだけを実行します。ここで `codex` を起動し、プロジェクトを信頼して、`/hooks` でフックを確認してください。それまではスキップされます (`codex exec` では何も表示されません)。config.toml での信頼の設定:\n`[projects.\"{root}\"] trust_level = \"trusted\"`"
        ),
        Advice::CodexWorktree { main } => say!(
            lang,
            "Codex does not read hooks in a linked worktree; it uses those of {main}: run `dandori init` there, or `dandori init --user`",
            "Codex はリンクされたワークツリーのフックを読み込まず、{main} のフックを使います。そこで `dandori init` を実行するか、`dandori init --user` を使ってください"
        ),
        Advice::Trouble { client, trouble } => {
            let what = hooks::trouble(lang, *client, trouble);
            let remedy = hooks::remedy(lang, *client, trouble);
            say!(lang, "{what}: {remedy}", "{what}。{remedy}")
        }
        Advice::ReadOnly { path } => say!(
            lang,
            "{path} was read-only; it was changed and is still read-only. Undo the change with `dandori init --uninstall`",
            "{path} は読み取り専用でしたが、変更しました (読み取り専用のままです)。`dandori init --uninstall` で元に戻せます"
        ),
        Advice::NotForOthers { paths, program } => {
            let files = paths.join(", ");
            say!(
                lang,
                "{files} contains the path {program} which exists only on this machine. Do not commit it; in a team, everyone runs `dandori init`, or `dandori init --user` once",
                "{files} にはこのマシン固有のパス {program} が書かれているため、コミットしないでください。チームでは各自が `dandori init` (または一度だけ `dandori init --user`) を実行してください"
            )
        }
        Advice::Shared { client, path, local } => {
            let agent = client.title();
            say!(
                lang,
                "the hooks for {agent} are in {path} which is shared through the repository; to move them to your own {local} run `dandori init --uninstall`, then `dandori init`",
                "{agent} のフックは、リポジトリで共有される {path} にあります。自分専用の {local} に移すには、`dandori init --uninstall` の後に `dandori init` を実行してください"
            )
        }
        Advice::NotIgnored { path } => say!(
            lang,
            "{path} is yours alone, but git does not ignore it; to keep it out of commits:\n`echo {path} >> \"$(git rev-parse --git-path info/exclude)\"`",
            "{path} は自分専用ですが、git の無視対象になっていません。コミットに含めないようにするには:\n`echo {path} >> \"$(git rev-parse --git-path info/exclude)\"`"
        ),
        Advice::CodexTrust { root: None } => say!(
            lang,
            "Codex runs only trusted hooks: start `codex` here and confirm them in `/hooks`. Until then it skips them; `codex exec` does so silently",
            "Codex は信頼されたフックだけを実行します。ここで `codex` を起動し、`/hooks` で確認してください。\
             それまではスキップされます (`codex exec` では何も表示されません)"
        ),
        Advice::FolderTrust { client } => {
            let (agent, program) = (client.title(), client.describe().program.name);
            say!(
                lang,
                "{agent} loads a project's hooks only in a trusted folder: start `{program}` here and confirm that you trust it",
                "{agent} は信頼されたフォルダーでだけプロジェクトのフックを読み込みます。\
                 ここで `{program}` を起動し、フォルダーを信頼してください"
            )
        }
        Advice::ClaudeSubfolder => say!(
            lang,
            "Claude Code may not load these hooks if it is started in a subfolder (it depends on its version); use `dandori init --user` to cover that",
            "Claude Code をサブフォルダーで起動すると、バージョンによってはこのフックが読み込まれません。\
             `dandori init --user` を使えば、どこで起動しても有効です"
        ),
        Advice::Disabled { path } => say!(
            lang,
            "{path} contains `disableAllHooks: true`: Claude Code runs no hooks until you remove it",
            "{path} に `disableAllHooks: true` があるため、Claude Code はフックを実行しません。削除してください"
        ),
        Advice::Unread { agent, path, what, line, column } => {
            let what = beyond(lang, *what);
            say!(
                lang,
                "{agent} cannot read {path} and runs no hooks from it, because of {what} in line {line}, column {column}: remove it",
                "{agent} は {path} を読み込めず、そのフックを実行しません。{line} 行 {column} 列の{what}を削除してください"
            )
        }
        Advice::ProgramInRepository { path } => say!(
            lang,
            "{path} is inside a repository that it guards, where an agent could replace it: install dandori elsewhere, then run `dandori init` again",
            "{path} は保護対象のリポジトリの中にあり、エージェントに置き換えられるおそれがあります。\
             別の場所にインストールして、もう一度 `dandori init` を実行してください"
        ),
        Advice::Twice { agent, path } => say!(
            lang,
            "{path} also contains dandori's hooks: {agent} calls them twice for every event",
            "{path} にも dandori のフックがあるため、{agent} はイベントごとに 2 回呼び出します"
        ),
        Advice::StillThere { path, is_users } => {
            let flag = if *is_users { " --user" } else { "" };
            say!(
                lang,
                "{path} still contains dandori's hooks: remove them with `dandori init --uninstall{flag}`",
                "{path} に dandori のフックが残っています。`dandori init --uninstall{flag}` で削除できます"
            )
        }
        Advice::Doctor => say!(
            lang,
            "check that they run and block with `dandori doctor --guards`",
            "フックが動作してブロックすることを `dandori doctor --guards` で確認してください"
        ),
    }
}

pub fn nothing_written(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing was written; these are the changes that would be made",
        Lang::Ja => "何も書き込んでいません。上の差分が変更の内容です",
    }
}

pub fn nothing_installed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "dandori's hooks are not installed here",
        Lang::Ja => "dandori のフックは組み込まれていません",
    }
}

pub(crate) fn nothing_to_guard(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} is not in a git repository", "{path} は git リポジトリではありません")).hint(say!(
        lang,
        "change to a repository, or install for all repositories with `dandori init --user`",
        "リポジトリに移動するか、`dandori init --user` で全リポジトリに設定してください"
    ))
}

pub(crate) fn no_agents(lang: Lang) -> Said {
    let known: Vec<&str> = Client::with_hooks().map(|(client, _)| client.describe().program.name).collect();
    let (or, list) = (known.join(" nor "), known.join("、"));
    Said::what(say!(lang, "no agent found to install hooks for", "フックを設定するエージェントが見つかりません"))
        .why(say!(
            lang,
            "neither {or} is on the PATH, and none has settings here",
            "{list} のいずれも PATH になく、ここに設定もありません"
        ))
        .hint(say!(
            lang,
            "install one, or name it: `dandori init --agent claude`",
            "インストールするか、`dandori init --agent claude` のように指定してください"
        ))
}

pub(crate) fn bad_settings(lang: Lang, path: &str, trouble: &SettingsTrouble) -> Said {
    Said::what(say!(
        lang,
        "cannot install hooks in {path}; nothing was changed",
        "{path} にフックを設定できません。何も変更していません"
    ))
    .why(settings_trouble(lang, trouble))
    .hint(say!(
        lang,
        "fix the file and try again; the agent may be ignoring it entirely",
        "修正してから、もう一度実行してください。エージェントもこのファイル全体を無視している可能性があります"
    ))
}

pub(crate) fn settings_trouble(lang: Lang, trouble: &SettingsTrouble) -> String {
    match trouble {
        SettingsTrouble::NotText => say!(lang, "not UTF-8 text", "UTF-8 のテキストではありません"),
        SettingsTrouble::NotJson { line, column, reason } => {
            say!(
                lang,
                "line {line}, column {column}: {reason}",
                "{line} 行 {column} 列: JSON として解釈できません ({reason})"
            )
        }
        SettingsTrouble::NotAnObject { line, column, key: Some(key) } => say!(
            lang,
            "line {line}, column {column}: `{key}` is not an object",
            "{line} 行 {column} 列: `{key}` がオブジェクトではありません"
        ),
        SettingsTrouble::NotAnObject { line, column, key: None } => say!(
            lang,
            "line {line}, column {column}: not an object",
            "{line} 行 {column} 列: オブジェクトではありません"
        ),
        SettingsTrouble::NotAList { line, column, key } => say!(
            lang,
            "line {line}, column {column}: `{key}` is not a list",
            "{line} 行 {column} 列: `{key}` がリストではありません"
        ),
    }
}
