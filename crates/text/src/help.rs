//! `--help` in Japanese. English stands where the command line is defined; here is what takes its place.
//!
//! Keyed by the names of the commands (`task follow-up`, the program itself is empty) and the ids of their arguments.
//! A test of the binary holds this table and the command line against each other, both ways.

/// One command and its arguments.
#[derive(Debug)]
pub struct CommandHelp {
    pub path: &'static str,
    pub about: &'static str,
    pub args: &'static [ArgHelp],
}

#[derive(Debug)]
pub struct ArgHelp {
    pub id: &'static str,
    /// What stands for the value, where that is a word.
    pub value: Option<&'static str>,
    pub help: &'static str,
}

pub const USAGE: &str = "使い方";
pub const COMMAND: &str = "コマンド";
pub const ARGUMENTS: &str = "引数";
pub const OPTIONS: &str = "オプション";
pub const EVERYWHERE: &str = "すべてのコマンドに共通";
pub const DEFAULT: &str = "既定値";
pub const CHOICES: &str = "指定できる値";

pub const EXIT_CODES: &str = "\
終了コード:
    0  完了、または何もすることがない
    1  拒否された、または実行が成功しなかった
    2  使い方の誤り
    3  git、フォージ、ディスクの障害
   70  dandori の不具合
  130  中断";

/// The words of the command with this path.
/// Stands for the names of all clients in a help.
pub const CLIENTS: &str = "{clients}";

pub fn command(path: &str) -> Option<&'static CommandHelp> {
    COMMANDS.iter().find(|c| c.path == path)
}

impl CommandHelp {
    pub fn arg(&self, id: &str) -> Option<&'static ArgHelp> {
        self.args.iter().find(|a| a.id == id)
    }
}

pub const COMMANDS: &[CommandHelp] = &[
    about("", "コーディングエージェントをタスクごとに専用のワークツリーで動かし、その成果を残す").with(&[
        flag("help", "ヘルプを表示する"),
        flag("version", "バージョンを表示する"),
        value("lang", "言語", "メッセージの言語: en または ja (既定: LANG に従う)"),
        flag("json", "JSON オブジェクトを 1 つだけ出力する"),
    ]),
    about("run", "エージェントにタスクを任せ、専用のワークツリーでの成果をコミットしてプッシュする").with(&[
        INSTRUCTION,
        FILE,
        value("agent", "エージェント", "作業するエージェント: {clients}、exec:<コマンド>、dandori.toml の名前"),
        flag("agents", "同じタスクを複数のエージェントに並行して任せる"),
        value("base", "ベース", "起点のブランチ、タグ、コミット (既定: 設定値かリモートの既定ブランチ)"),
        PR,
        flag("no_pr", "設定にかかわらず、プルリクエストを作成しない"),
        DETACH,
        BUDGET,
        value("model", "モデル", "エージェントが使うモデル"),
    ]),
    about("task", "タスクを確認し、続きを進める"),
    about("task list", "タスクを新しい順に一覧表示する").with(&[
        flag("all", "このリポジトリに限らず、すべてのリポジトリのタスクを表示する"),
        flag("open", "終わっていないタスクだけを表示する"),
        value("limit", "件数", "表示する件数"),
    ]),
    about("task show", "タスクとその実行を表示する").with(&[TASK_OR_RUN]),
    about("task follow-up", "タスクに追加の指示を出す。ブランチ、ワークツリー、会話は引き継がれる").with(&[
        TASK_OR_RUN,
        INSTRUCTION,
        FILE,
        PR,
        BUDGET,
        DETACH,
    ]),
    about("task retry", "失敗した実行を再試行する。プッシュの失敗なら、プッシュだけをやり直す")
        .with(&[TASK_OR_RUN, DETACH]),
    about("task cancel", "タスクを取り消す。未コミットの作業は保存される").with(&[TASK_OR_RUN]),
    about("task compare", "1 つのタスクに取り組んだ複数のエージェントの差分を比べる").with(&[TASK]),
    about("task pick", "プルリクエストにする実行を選ぶ").with(&[
        TASK,
        value("run", "実行", "実行のキーか ID、またはエージェントの名前"),
        flag("pr", "選んだ実行のプルリクエストを作成する"),
    ]),
    about("task log", "エージェントの発言と操作を表示する。作業中はリアルタイムで続きを表示する")
        .with(&[RUN, flag("raw", "エージェントの出力を加工せずに表示する")]),
    about("task diff", "実行のパッチを表示する").with(&[RUN]),
    about("worktree", "ワークツリーを作成、一覧表示、削除、復元する"),
    about("worktree add", "専用のブランチを持つワークツリーを作成する").with(&[
        value("branch", "ブランチ", "ブランチ名 (既定: dandori/<キー>)"),
        value("base", "ベース", "起点のブランチ、タグ、コミット"),
        value("path", "パス", "作成する場所 (既定: dandori の状態フォルダーの下)"),
        value("session", "セッション", "このセッションで使用する。他のセッションからは削除できなくなる"),
        flag("no_set_up", "プロジェクトの準備コマンドを実行しない"),
    ]),
    about("worktree list", "ワークツリーの一覧と、それぞれに必要な対処を表示する")
        .with(&[flag("sizes", "ディスク使用量も表示する")]),
    about("worktree remove", "ワークツリーを削除する。未コミット・未プッシュの作業は先に保存される").with(&[
        value("worktree", "ワークツリー", "キー、ブランチ、パスのいずれか"),
        flag("force", "未コミット・未プッシュの作業があっても削除する。作業は refs/dandori/preserved に保存される"),
        flag("keep_branch", "ブランチを残す"),
        value("session", "セッション", "このワークツリーを使用しているセッション"),
    ]),
    about("worktree gc", "孤立したもの、マージ済みのもの、古くなったものを片付ける")
        .with(&[flag("dry_run", "片付けずに、対象だけを表示する")]),
    about("worktree adopt", "手作業で作ったワークツリーを dandori の管理下に置く")
        .with(&[value("path", "パス", "ワークツリーのパス"), SESSION]),
    about("worktree restore", "保存された作業をワークツリーとして復元する").with(&[
        value("from", "復元元", "実行かワークツリーのキー、ブランチ、または refs/dandori/preserved 以下の参照"),
        SESSION,
    ]),
    about("pr", "プルリクエストを作成、一覧表示する"),
    about("pr create", "タスクのプッシュ済みブランチからプルリクエストを作成する").with(&[
        value("of", "タスク", TASK_OR_RUN.help),
        value("title", "タイトル", "タイトル (既定: 指示から作成)"),
        value("body", "本文", "本文 (既定: 指示とエージェントの要約から作成)"),
    ]),
    about("pr list", "プルリクエストを一覧表示する"),
    about("pr show", "プルリクエストを表示する").with(&[value("number", "番号", "プルリクエストの番号")]),
    about("playbook", "playbook (リポジトリ内のレビュー済みの計画) を作成、表示、点検する"),
    about("playbook new", "ひな形から playbook を作成する").with(&[
        value("name", "名前", "名前。ファイルは plan/playbook-<名前>.md"),
        value("branch", "ブランチ", "作業するブランチ (既定: feat/<名前>)"),
        flag("activate", "state.md で有効な playbook にする"),
    ]),
    about("playbook show", "playbook をフェーズとともに表示する").with(&[PLAYBOOK]),
    about("playbook check", "playbook の問題点を探す").with(&[PLAYBOOK]),
    about("playbook status", "有効な playbook の進み具合と次の作業を表示する"),
    about("post-loop", "完了した playbook の後処理を済ませる。変更が再び可能になり、次の作業が示される"),
    about("state", "state.md (リポジトリの現在の状態) を表示、変更する"),
    about("state show", "state.md の内容を表示する"),
    about("state set", "値を 1 つ設定する。変更前の版は保存される").with(&[
        value("key", "キー", "設定する項目 (例: playbook.active)"),
        value("value", "値", "新しい値。なしにするには null、リストは [a, b]"),
    ]),
    about("state history", "state.md の以前の版を一覧または表示する").with(&[value(
        "version",
        "版",
        "この版の全文を表示する",
    )]),
    about("guard stats", "各ガードの判定を集計し、誤検知らしきものを示す").with(&[
        value("since", "期間", "この期間だけを集計する (例: 12h、7d)"),
        flag("all", "このチェックアウトに限らず、すべてを集計する"),
        flag("runs", "代わりに、このリポジトリのランを集計する (--all と併用すると全リポジトリのラン)"),
    ]),
    about("guard list", "ガードの一覧と、有効なレベルとその設定元を表示する"),
    about("daemon", "デーモンを起動、停止、確認する"),
    about("daemon start", "デーモンを起動する").with(&[value(
        "listen",
        "アドレス",
        "このループバックアドレスでも待ち受ける (例: 127.0.0.1:4100)",
    )]),
    about("daemon stop", "デーモンを停止する。エージェントは作業を続け、次の起動時に引き継がれる"),
    about("daemon status", "デーモンが動作しているか、その状況を表示する"),
    about("daemon logs", "デーモンのログを表示する").with(&[value("lines", "行数", "末尾から表示する行数")]),
    about("init", "エージェントの設定に dandori のガードを組み込む").with(&[
        flag("user", "このリポジトリではなく、ユーザー自身の設定に組み込む"),
        value("agent", "エージェント", "対象のエージェント: {clients} (既定: PATH にあるか、ここに設定があるもの)"),
        flag("dry_run", "何も書き込まず、変更の差分だけを表示する"),
        flag("uninstall", "dandori のガードを取り除き、設定を元に戻す"),
    ]),
    about("doctor", "この環境を点検する: git、エージェント、フック、サンドボックス、データベース、ディスク").with(&[
        flag(
            "guards",
            "ガードだけを試す: 内蔵のモデルで各エージェントを一度起動し、フックが働いてブロックすることを確かめる",
        ),
        flag("sandbox", "サンドボックスだけを試す: 脱出の方法を実際に試し、どれが拒否されるかを示す"),
    ]),
    about("guard", "ガードの判定と理由、例外を確認・管理する"),
    about("guard explain", "コマンドラインの動作と、各ガードの判定を表示する").with(&[value(
        "command",
        "コマンド",
        "エージェントが実行するコマンドライン",
    )]),
    about("guard test", "イベントを判定する (記録はしない)").with(&[
        value("event", "イベント", "クライアントが送るイベントの JSON ファイル。- は標準入力"),
        value("agent", "エージェント", "イベントのクライアント (既定: イベントの内容から判断)"),
    ]),
    about("guard allow", "ガードの期限付き例外を許可する (人のみ)").with(&[
        value("guard", "ガード", "通過を許可するガード"),
        value("path", "パス", "対象ファイル (リポジトリのルートからの glob)"),
        value("command", "コマンド", "対象コマンド (語ごとに一致。末尾の * は残り全体)"),
        value("lasts", "期間", "期間: 30m、8h など"),
        value("uses", "回数", "使用できる回数"),
        value("reason", "理由", "記録に残す理由"),
    ]),
    about("guard revoke", "例外を取り消す").with(&[value("id", "ID", "例外の ID (guard list に表示される)")]),
    about("consent", "エージェントの理解を確認し、待機中のセッションに変更を許可する"),
    about("trust", "このリポジトリの dandori.toml が実行しうる内容を信頼する")
        .with(&[flag("revoke", "信頼を取り消す"), flag("show", "信頼の対象を表示するだけで、信頼はしない")]),
    about("demo", "一時リポジトリで一連の流れを実演する。アカウントは不要").with(&[value(
        "dir",
        "パス",
        "実演に使う、新しいか空のフォルダー (既定: 一時フォルダー内に新しく作成)",
    )]),
    about("completions", "シェルの補完スクリプトを出力する").with(&[value("shell", "シェル", "補完を使うシェル")]),
];

const INSTRUCTION: ArgHelp = value("instruction", "指示", "作業の内容。`-` なら標準入力から読み込む");
const FILE: ArgHelp = value("file", "ファイル", "指示をファイルから読み込む");
const PR: ArgHelp = flag("pr", "プッシュ後にプルリクエストを作成する");
const DETACH: ArgHelp = flag("detach", "終了を待たない");
const BUDGET: ArgHelp = flag("budget", "費用の上限 (米ドル)");
const TASK: ArgHelp = value("task", "タスク", "T-3、3、ID のいずれか");
const TASK_OR_RUN: ArgHelp = value("task", "タスク", "T-3、3、ID、実行のキーのいずれか");
const RUN: ArgHelp = value("run", "実行", "実行のキーか ID、またはタスク (その最新の実行)");
const PLAYBOOK: ArgHelp = value("file", "ファイル", "playbook のファイルまたは名前 (既定: 有効な playbook)");
const SESSION: ArgHelp = value("session", "セッション", "このセッションで使用する");

const fn about(path: &'static str, about: &'static str) -> CommandHelp {
    CommandHelp { path, about, args: &[] }
}

impl CommandHelp {
    const fn with(self, args: &'static [ArgHelp]) -> Self {
        Self { args, ..self }
    }
}

/// An argument without a value, or with one whose name is no word (`A,B`, `USD`).
const fn flag(id: &'static str, help: &'static str) -> ArgHelp {
    ArgHelp { id, value: None, help }
}

const fn value(id: &'static str, value: &'static str, help: &'static str) -> ArgHelp {
    ArgHelp { id, value: Some(value), help }
}
