//! What keeps dandori's hooks from being heard, and what came of trying them.

use std::borrow::Cow;

use dandori_domain::Client;
use dandori_domain::problem::SettingsTrouble;

use crate::Lang;
use crate::init::{self, Beyond};
use crate::lang::say;

/// Why hooks are not heard, or not as they should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookTrouble {
    NotInstalled,
    /// The file is no JSON.
    Unparsed {
        path: String,
        trouble: SettingsTrouble,
    },
    /// There is something in the file that its reader does not know.
    Unread {
        path: String,
        what: Beyond,
        line: usize,
        column: usize,
    },
    BadField {
        path: String,
        line: usize,
        column: usize,
        key: String,
        wanted: Wanted,
    },
    /// A key of this file switches hooks off.
    Disabled {
        path: String,
        key: String,
    },
    /// A variable of the environment does.
    DisabledByVariable {
        name: &'static str,
    },
    MissingEvents {
        path: String,
        events: String,
    },
    NoProgram {
        program: String,
    },
    NotExecutable {
        program: String,
    },
    RelativeProgram {
        program: String,
    },
    /// It is there, but it is not the one that says this.
    OtherProgram {
        program: String,
    },
    Weak {
        path: String,
        events: String,
        by: Weak,
    },
    CodexConfig {
        path: String,
        reason: String,
    },
    CodexProject {
        root: String,
    },
    CodexUntrusted {
        path: String,
        count: usize,
    },
    /// They were trusted, and have changed since.
    CodexChanged {
        path: String,
        count: usize,
    },
    CodexOff {
        path: String,
        count: usize,
    },
    /// In a linked worktree Codex reads the hooks of the main one.
    CodexWorktree {
        path: String,
        main: String,
    },
    /// Its client trusts no hook in this folder.
    FolderNotTrusted {
        client: Client,
        root: String,
    },
    ClaudeSubfolder {
        root: String,
    },
    /// An earlier version has put them in: they lack what this one gives them.
    Outdated {
        path: String,
    },
    /// The hooks have their files elsewhere than this environment says.
    OtherPlace {
        path: String,
        option: &'static str,
        theirs: String,
        here: String,
    },
    /// Other sessions may speak as the user.
    OpenToSessions {
        path: String,
        value: String,
    },
}

/// What a field has to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    Object,
    List,
    Text,
    Number,
    Present,
    KnownType,
    FailureWord,
}

/// Why an entry is not always asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Weak {
    Matcher(String),
    If(String),
    Async,
    Timeout(u64),
    FailsOpen,
}

impl HookTrouble {
    /// The stable name in `--json`.
    pub fn code(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::NotInstalled => "not_installed",
            Self::Unparsed { .. } => "not_json",
            Self::Unread { .. } => "unread",
            Self::BadField { .. } => "bad_field",
            Self::Disabled { .. } => "disabled",
            Self::DisabledByVariable { .. } => "disabled_by_variable",
            Self::MissingEvents { .. } => "missing_events",
            Self::NoProgram { .. } => "no_program",
            Self::NotExecutable { .. } => "not_executable",
            Self::RelativeProgram { .. } => "relative_program",
            Self::OtherProgram { .. } => "other_program",
            Self::Weak { .. } => "weak",
            Self::CodexConfig { .. } => "codex_config",
            Self::CodexProject { .. } => "codex_project",
            Self::CodexUntrusted { .. } => "codex_untrusted",
            Self::CodexChanged { .. } => "codex_changed",
            Self::CodexOff { .. } => "codex_off",
            Self::CodexWorktree { .. } => "codex_worktree",
            Self::FolderNotTrusted { client, .. } => return Cow::Owned(format!("{client}_folder")),
            Self::ClaudeSubfolder { .. } => "claude_subfolder",
            Self::Outdated { .. } => "outdated",
            Self::OtherPlace { .. } => "other_place",
            Self::OpenToSessions { .. } => "open_to_sessions",
        })
    }
}

/// What is wrong, in one line.
pub fn trouble(lang: Lang, client: Client, trouble: &HookTrouble) -> String {
    let agent = client.title();
    match trouble {
        HookTrouble::NotInstalled => say!(lang, "no dandori hooks", "dandori のフックがありません"),
        HookTrouble::Unparsed { path, trouble } => {
            let trouble = init::settings_trouble(lang, trouble);
            say!(
                lang,
                "{path}, {trouble}: {agent} runs no hooks from it",
                "{path}、{trouble}。{agent} はこのファイルのフックを実行しません"
            )
        }
        HookTrouble::Unread { path, what, line, column } => {
            let what = init::beyond(lang, *what);
            say!(
                lang,
                "{path}, line {line}, column {column}: because of {what}, {agent} runs no hooks from this file",
                "{path}、{line} 行 {column} 列の{what}のため、{agent} はこのファイルのフックを実行しません"
            )
        }
        HookTrouble::BadField { path, line, column, key, wanted } => {
            let wanted = self::wanted(lang, *wanted);
            let key =
                if key.is_empty() { say!(lang, "the whole file", "ファイル全体") } else { format!("`{key}`") };
            say!(
                lang,
                "{path}, line {line}, column {column}: {key} {wanted}; {agent} therefore ignores hooks in this file (usually all of them) without a message",
                "{path}、{line} 行 {column} 列: {key} {wanted}。そのため {agent} はこのファイルのフックを (多くの場合すべて) 何も表示せずに無視します"
            )
        }
        HookTrouble::Disabled { path, key } => {
            say!(lang, "`{key}` in {path} disables the hooks", "{path} の `{key}` によりフックが無効になっています")
        }
        HookTrouble::DisabledByVariable { name } => {
            say!(
                lang,
                "the environment variable {name} disables the hooks",
                "環境変数 {name} によりフックが無効になっています"
            )
        }
        HookTrouble::MissingEvents { path, events } => {
            say!(lang, "{path} does not register {events}", "{path} に {events} の登録がありません")
        }
        HookTrouble::NoProgram { program } => {
            say!(lang, "the hooks call {program}, which does not exist", "フックが呼び出す {program} がありません")
        }
        HookTrouble::NotExecutable { program } => {
            say!(
                lang,
                "the hooks call {program}, which cannot be executed",
                "フックが呼び出す {program} を実行できません"
            )
        }
        HookTrouble::RelativeProgram { program } => say!(
            lang,
            "the hooks call {program}, a relative path that fails after `cd`",
            "フックが呼び出す {program} は相対パスのため、`cd` のあとは見つかりません"
        ),
        HookTrouble::OtherProgram { program } => {
            say!(
                lang,
                "the hooks call {program}, not this dandori",
                "フックが呼び出すのはこの dandori ではなく {program} です"
            )
        }
        HookTrouble::Weak { path, events, by } => match by {
            Weak::Matcher(matcher) => say!(
                lang,
                "{path} calls the hook for {events} only if `{matcher}` matches",
                "{path} の {events} は `{matcher}` に一致するときしか呼び出されません"
            ),
            Weak::If(condition) => say!(
                lang,
                "{path} calls the hook for {events} only if `{condition}`",
                "{path} の {events} は `{condition}` のときしか呼び出されません"
            ),
            Weak::Async => say!(
                lang,
                "{path} does not wait for the hook's answer to {events} (`async`)",
                "{path} の {events} は `async` のため、応答を待ちません"
            ),
            Weak::Timeout(millis) => say!(
                lang,
                "{path} waits only {millis} ms for the hook's answer to {events}",
                "{path} の {events} は応答を {millis} ms しか待ちません"
            ),
            Weak::FailsOpen => say!(
                lang,
                "{path} allows {events} if the hook is killed (`onFailure`)",
                "{path} の {events} は、フックが強制終了されても許可されます (`onFailure`)"
            ),
        },
        HookTrouble::CodexConfig { path, reason } => {
            say!(lang, "invalid TOML in {path}: {reason}", "{path} を TOML として解釈できません: {reason}")
        }
        HookTrouble::CodexProject { root } => say!(
            lang,
            "Codex does not trust the project {root} and reads no hooks from it",
            "Codex がプロジェクト {root} を信頼していないため、そのフックは読み込まれません"
        ),
        HookTrouble::CodexUntrusted { path, count } => say!(
            lang,
            "{count} hooks in {path} are not trusted yet: Codex skips them (`codex exec` does so silently)",
            "{path} のフック {count} 件がまだ信頼されていません。Codex はこれをスキップします (`codex exec` では何も表示されません)"
        ),
        HookTrouble::CodexChanged { path, count } => say!(
            lang,
            "{count} hooks in {path} have changed since they were trusted: Codex skips them",
            "{path} のフック {count} 件が信頼後に変更されたため、Codex はこれをスキップします"
        ),
        HookTrouble::CodexOff { path, count } => say!(
            lang,
            "{count} hooks in {path} are disabled in Codex",
            "{path} のフック {count} 件が Codex で無効になっています"
        ),
        HookTrouble::CodexWorktree { path, main } => say!(
            lang,
            "Codex does not read {path}: in a linked worktree it uses the hooks of {main}",
            "Codex は {path} を読み込みません。リンクされたワークツリーでは {main} のフックを使います"
        ),
        HookTrouble::FolderNotTrusted { root, .. } => say!(
            lang,
            "{agent} does not trust the folder {root} and reads no hooks from it",
            "{agent} がフォルダー {root} を信頼していないため、そのフックは読み込まれません"
        ),
        HookTrouble::ClaudeSubfolder { root } => say!(
            lang,
            "Claude Code may not read the hooks if started in this folder: they are in {root}",
            "このフォルダーで起動した Claude Code は、フックを読み込まないことがあります (フックは {root} にあります)"
        ),
        HookTrouble::Outdated { path } => say!(
            lang,
            "the hooks in {path} are from an earlier version: an environment variable of {agent} can still switch them to other rules, and a tool still runs if the hook is killed",
            "{path} のフックは以前のバージョンのものです。{agent} の環境変数で別のルールに切り替えられたり、フックが強制終了されてもツールが実行されたりします"
        ),
        HookTrouble::OtherPlace { path, option, theirs, here } => say!(
            lang,
            "the hooks in {path} use {option} {theirs}, but this environment has {here}: your settings here do not affect them",
            "{path} のフックは {option} {theirs} を使いますが、この環境では {here} です。ここでの設定はフックに反映されません"
        ),
        HookTrouble::OpenToSessions { path, value } => say!(
            lang,
            "`crossSessionInbound` in {path} is {value}: input from other sessions and from the agent's own shell counts as yours",
            "{path} の `crossSessionInbound` が {value} のため、他のセッションやエージェント自身のシェルからの入力がユーザーの入力として扱われます"
        ),
    }
}

fn wanted(lang: Lang, wanted: Wanted) -> &'static str {
    let (en, ja) = match wanted {
        Wanted::Object => ("is not an object", "がオブジェクトではありません"),
        Wanted::List => ("is not a list", "がリストではありません"),
        Wanted::Text => ("is not a string", "が文字列ではありません"),
        Wanted::Number => ("is not a number", "が数値ではありません"),
        Wanted::Present => ("is missing", "がありません"),
        Wanted::KnownType => ("is an unknown type of hook", "が未知の種類のフックです"),
        Wanted::FailureWord => ("must be `block` or `continue`", "は `block` か `continue` でなければなりません"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

/// What to do about it.
pub fn remedy(lang: Lang, client: Client, trouble: &HookTrouble) -> String {
    let program = client.describe().program.name;
    match trouble {
        HookTrouble::NotInstalled
        | HookTrouble::MissingEvents { .. }
        | HookTrouble::NoProgram { .. }
        | HookTrouble::NotExecutable { .. }
        | HookTrouble::RelativeProgram { .. }
        | HookTrouble::OtherProgram { .. }
        | HookTrouble::Outdated { .. }
        | HookTrouble::Weak { .. } => say!(
            lang,
            "reinstall them with `dandori init` (or `dandori init --user` for your user settings)",
            "`dandori init` (ユーザー設定は `dandori init --user`) で組み込み直してください"
        ),
        HookTrouble::Unparsed { .. } | HookTrouble::Unread { .. } | HookTrouble::BadField { .. } => {
            say!(lang, "fix this place in the file", "ファイルのその箇所を修正してください")
        }
        HookTrouble::OtherPlace { .. } => say!(
            lang,
            "run `dandori init` in the intended environment, or unset DANDORI_CONFIG, DANDORI_STATE_DIR and the XDG variables here",
            "意図した環境で `dandori init` を実行するか、ここで DANDORI_CONFIG、DANDORI_STATE_DIR、XDG 関連の環境変数を unset してください"
        ),
        HookTrouble::OpenToSessions { .. } => {
            say!(lang, "set it to \"refuse\" (or \"hold\")", "\"refuse\" (または \"hold\") にしてください")
        }
        HookTrouble::Disabled { .. } => say!(lang, "remove that key", "そのキーを削除してください"),
        HookTrouble::DisabledByVariable { name } => say!(lang, "unset {name}", "{name} を unset してください"),
        HookTrouble::CodexConfig { .. } => {
            say!(
                lang,
                "fix the file: Codex does not start with it",
                "ファイルを修正してください。このままでは Codex が起動しません"
            )
        }
        HookTrouble::CodexProject { .. } => say!(
            lang,
            "start `codex` there and confirm that you trust it, then the hooks in `/hooks`; or use `dandori init --user`",
            "そこで `codex` を起動してプロジェクトを信頼し、`/hooks` でフックを確認してください。`dandori init --user` でもかまいません"
        ),
        HookTrouble::CodexUntrusted { .. } | HookTrouble::CodexChanged { .. } | HookTrouble::CodexOff { .. } => {
            say!(
                lang,
                "start `codex` here and confirm them in `/hooks`",
                "ここで `codex` を起動し、`/hooks` で確認してください"
            )
        }
        HookTrouble::CodexWorktree { main, .. } => say!(
            lang,
            "run `dandori init` in {main}, or `dandori init --user`",
            "{main} で `dandori init`、または `dandori init --user` を実行してください"
        ),
        HookTrouble::FolderNotTrusted { .. } => say!(
            lang,
            "start `{program}` there and confirm that you trust it, or use `dandori init --user`",
            "そこで `{program}` を起動してフォルダーを信頼するか、`dandori init --user` を使ってください"
        ),
        HookTrouble::ClaudeSubfolder { root } => say!(
            lang,
            "start `claude` in {root}, or use `dandori init --user`",
            "{root} で `claude` を起動するか、`dandori init --user` を使ってください"
        ),
    }
}

/// Hooks that nothing is wrong with, as far as can be seen.
pub fn installed(lang: Lang, paths: &str) -> String {
    say!(lang, "installed in {paths}", "{paths} に組み込み済み")
}

pub fn no_agent(lang: Lang) -> String {
    say!(
        lang,
        "no agent has dandori's hooks here, and no agent is on the PATH",
        "dandori のフックが組み込まれたエージェントがなく、PATH にもエージェントがありません"
    )
}

/// After a look at the settings alone.
pub fn only_looked(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "test the hooks with `dandori doctor --guards`: it starts each agent once with a built-in model",
        Lang::Ja => {
            "`dandori doctor --guards` でフックを実際に試せます (内蔵モデルで各エージェントを 1 回ずつ起動します)"
        }
    }
}

pub fn trying(lang: Lang, client: Client) -> String {
    let agent = client.title();
    say!(lang, "testing the hooks of {agent} …", "{agent} のフックを試しています…")
}

/// What came of trying an agent's hooks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HookTrial {
    FiresAndBlocks,
    DoesNotFire,
    /// What the agent did although it must not.
    DoesNotBlock(Passed),
    NotTried(NotTried),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Passed {
    /// These files were written.
    Written { files: String },
    /// It was not asked before these tools.
    NotAsked { tools: String },
    /// It was refused, and the agent was not told why.
    NotTold,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotTried {
    NotFound,
    NotInstalled,
    /// It ended, or was ended, before it had asked the model anything.
    NotStarted {
        said: String,
    },
    /// It asked the model, and did not go on to the end.
    NotFinished {
        said: String,
    },
    TimedOut {
        seconds: u64,
        said: String,
    },
    /// No place could be made to try it in.
    NoStage {
        reason: String,
    },
}

impl HookTrial {
    /// The stable name in `--json`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::FiresAndBlocks => "fires_and_blocks",
            Self::DoesNotFire => "does_not_fire",
            Self::DoesNotBlock(_) => "fires_but_does_not_block",
            Self::NotTried(_) => "not_tried",
        }
    }
}

pub fn verdict(lang: Lang, verdict: &HookTrial) -> String {
    match verdict {
        HookTrial::FiresAndBlocks => say!(lang, "runs and blocks", "フックが動作し、ブロックします"),
        HookTrial::DoesNotFire => say!(
            lang,
            "does not run: dandori was never called",
            "フックが動作しません: dandori は一度も呼び出されませんでした"
        ),
        HookTrial::DoesNotBlock(passed) => {
            let passed = self::passed(lang, passed);
            say!(lang, "runs but does not block: {passed}", "フックは動作しますが、ブロックしません ({passed})")
        }
        HookTrial::NotTried(why) => {
            let why = not_tried(lang, why);
            say!(lang, "could not be tested: {why}", "試せませんでした: {why}")
        }
    }
}

fn passed(lang: Lang, passed: &Passed) -> String {
    match passed {
        Passed::Written { files } => {
            say!(lang, "these files were written anyway: {files}", "書き込まれてしまったファイル: {files}")
        }
        Passed::NotAsked { tools } => say!(lang, "it is not called before {tools}", "{tools} の前に呼び出されません"),
        Passed::NotTold => say!(lang, "the model was not told the reason", "モデルに理由が伝わりません"),
    }
}

fn not_tried(lang: Lang, why: &NotTried) -> String {
    match why {
        NotTried::NotFound => say!(lang, "not on the PATH", "PATH にありません"),
        NotTried::NotInstalled => say!(lang, "no dandori hooks", "dandori のフックがありません"),
        NotTried::NotStarted { said } => say!(lang, "it did not start: {said}", "起動できませんでした: {said}"),
        NotTried::NotFinished { said } => say!(lang, "it stopped halfway: {said}", "途中で終了しました: {said}"),
        NotTried::TimedOut { seconds, said } => {
            say!(lang, "it did not finish within {seconds} s: {said}", "{seconds} 秒以内に完了しませんでした: {said}")
        }
        NotTried::NoStage { reason } => reason.clone(),
    }
}

/// What to do about a verdict. `likely`: what was found wrong in the settings.
pub fn after(lang: Lang, client: Client, verdict: &HookTrial, likely: &[String]) -> Option<String> {
    match verdict {
        HookTrial::FiresAndBlocks | HookTrial::NotTried(NotTried::NotFound) => None,
        HookTrial::NotTried(NotTried::NotInstalled) => Some(remedy(lang, client, &HookTrouble::NotInstalled)),
        _ if !likely.is_empty() => {
            let likely = likely.join(match lang {
                Lang::En => "; ",
                Lang::Ja => "、",
            });
            Some(say!(lang, "likely cause: {likely}", "考えられる原因: {likely}"))
        }
        HookTrial::DoesNotFire | HookTrial::DoesNotBlock(_) => Some(say!(
            lang,
            "nothing in the settings explains it: check what else the agent reads (managed settings, plugins), then run `dandori init` again",
            "設定に原因は見当たりません。エージェントが読むほかの設定 (管理者設定、プラグイン) を確認し、もう一度 `dandori init` を実行してください"
        )),
        HookTrial::NotTried(_) => Some(say!(
            lang,
            "start the agent manually and check its output",
            "エージェントを手動で起動し、表示を確認してください"
        )),
    }
}
