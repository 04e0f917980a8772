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
pub const EVERYWHERE: &str = "共通オプション";
pub const DEFAULT: &str = "既定値";
pub const CHOICES: &str = "指定できる値";

pub const EXIT_CODES: &str = "\
終了コード:
    0  完了、または対象なし
    1  拒否、または実行の失敗
    2  使い方の誤り
    3  git、フォージ、ディスクの障害
   70  dandori の内部エラー
  130  中断";

pub const INSTALL_COMPLETIONS: &str = "\
設定方法 (一度だけ):
  bash  echo 'source <(dandori completions bash)' >> ~/.bashrc
  zsh   echo 'source <(dandori completions zsh)' >> ~/.zshrc
  fish  echo 'dandori completions fish | source' > ~/.config/fish/completions/dandori.fish";

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

pub const COMMANDS: &[CommandHelp] =
    &[
        about("", "コーディングエージェントを専用のワークツリーで動かし、結果をコミットとプルリクエストにする").with(
            &[
                flag("help", "ヘルプを表示する"),
                flag("version", "バージョンを表示する"),
                value("lang", "言語", "メッセージの言語: en または ja (既定: LANG に従う)"),
                flag("json", "JSON オブジェクトを 1 つだけ出力する"),
            ],
        ),
        about("run", "エージェントにタスクを任せ、結果を専用のブランチにプッシュする").with(&[
            INSTRUCTION,
            FILE,
            TEMPLATE,
            value("agent", "エージェント", "使用するエージェント: {clients}、exec:<コマンド>、dandori.toml の名前"),
            flag("agents", "同じタスクを複数のエージェントで並行して実行する"),
            BASE,
            HERE,
            PR,
            flag("no_pr", "設定にかかわらずプルリクエストを作成しない"),
            DETACH,
            QUIET,
            BUDGET,
            value("model", "モデル", "エージェントが使うモデル"),
        ]),
        about("task", "タスクの一覧、確認、続行"),
        about("task list", "タスクを一覧表示する (実行中、待機中、新しい順)").with(&[
            flag("all", "すべてのリポジトリを対象にする"),
            flag("open", "未完了のタスクのみ"),
            value(
                "state",
                "状態",
                "この状態の実行があるタスクのみ: pending, running, staging, committing, pushing, succeeded, failed, canceled",
            ),
            value("agent", "エージェント", "このエージェントの実行があるタスクのみ"),
            value("limit", "件数", "最大表示件数"),
        ]),
        about("task show", "タスクとその実行を表示する").with(&[TASK_OR_RUN]),
        about("task follow-up", "タスクに追加の指示を出す (同じブランチ、ワークツリー、会話で続行)").with(&[
            TASK_OR_RUN,
            INSTRUCTION,
            FILE,
            TEMPLATE,
            PR,
            BUDGET,
            DETACH,
            QUIET,
        ]),
        about("task retry", "失敗した実行を再試行する (コミットやプッシュの失敗は、エージェントを動かさずに再開)")
            .with(&[TASK_OR_RUN, DETACH, QUIET]),
        about("task cancel", "タスクを取り消し、未コミットの作業を保存する").with(&[value(
            "tasks",
            "タスク",
            "タスク (T-3 や 3、実行のキー、ブランチ。複数指定可)",
        )]),
        about("task compare", "1 つのタスクに対する複数のエージェントの差分を比較する").with(&[TASK]),
        about("task pick", "プルリクエストにする実行を採用する").with(&[
            TASK,
            value("run", "実行", "実行のキーか ID、またはエージェント名"),
            flag("pr", "採用した実行のプルリクエストを作成する"),
        ]),
        about("task log", "エージェントの発言と操作を表示する (実行中はリアルタイム)")
            .with(&[RUN, flag("raw", "エージェントの出力をそのまま表示する")]),
        about("task open", "タスクのワークツリーでシェルまたはエディターを開く")
            .with(&[TASK_OR_RUN, flag("editor", "シェルの代わりに、フォルダーをエディターで開く")]),
        about("task diff", "タスクの変更を表示する (追加の指示や作業中の変更を含むブランチ全体)").with(&[
            value("task", "タスク", "タスク (T-3 や 3、実行のキー、ブランチのいずれか)"),
            value("run", "実行", "1 つの実行による変更だけを表示する"),
            flag("stat", "変更されたファイルと行数を表示する"),
            flag("name_only", "変更されたファイルの名前を表示する"),
            flag("no_pager", "ページャーを使わない"),
        ]),
        about("worktree", "ワークツリーの作成、一覧、削除、復元"),
        about("worktree add", "専用のブランチでワークツリーを作成する").with(&[
            value("branch", "ブランチ", "ブランチ名 (既定: dandori/<キー>)"),
            BASE,
            HERE,
            value("path", "パス", "作成する場所 (既定: dandori の状態フォルダー内)"),
            value("session", "セッション", "このセッション専用にする (他のセッションからは削除できない)"),
            flag("no_set_up", "プロジェクトのセットアップコマンドを実行しない"),
        ]),
        about("worktree list", "ワークツリーとその状態を一覧表示する")
            .with(&[flag("sizes", "ディスク使用量も表示する"), value("limit", "件数", "最大表示件数")]),
        about("worktree path", "ワークツリーのパスを表示する (例: cd \"$(dandori worktree path T-3)\")")
            .with(&[value("worktree", "ワークツリー", "タスク、実行、またはワークツリーのキー、ブランチ、パス")]),
        about("worktree remove", "ワークツリーを削除する (未コミット・未プッシュの作業は先に保存)").with(&[
            value("worktree", "ワークツリー", "タスク、実行、またはワークツリーのキー、ブランチ、パス"),
            flag("force", "未コミット・未プッシュの作業があっても削除する (作業は refs/dandori/preserved に保存)"),
            flag("keep_branch", "ブランチを残す"),
            value("session", "セッション", "このワークツリーを使用しているセッション"),
        ]),
        about("worktree gc", "孤立・マージ済み・古いワークツリーとブランチを削除する")
            .with(&[flag("dry_run", "削除せず、対象だけを表示する")]),
        about("worktree adopt", "自分で作成したワークツリーを dandori の管理対象にする")
            .with(&[value("path", "パス", "ワークツリーのパス"), SESSION]),
        about("worktree restore", "保存した作業をワークツリーとして復元する").with(&[
            value("from", "復元元", "実行かワークツリーのキー、ブランチ、または refs/dandori/preserved 以下の参照"),
            SESSION,
        ]),
        about("pr", "プルリクエストの作成、確認、マージ"),
        about("pr create", "タスクのプルリクエストを作成、更新する").with(&[
            value("of", "タスク", TASK_OR_RUN.help),
            value("title", "タイトル", "タイトル (既定: 指示から作成)"),
            value("body", "本文", "本文 (既定: 指示とエージェントの要約から作成)"),
        ]),
        about("status", "要対応、実行中、完了したタスクを表示する (`dandori` だけを実行した場合と同じ)")
            .with(&[
                flag("all", "すべてのリポジトリを対象にする"),
                flag("formation", "このリポジトリのフォーメーションだけを表示する: エージェントと依頼"),
                flag("watch", "Ctrl-C を押すまで表示を更新し続ける"),
            ]),
        about("inbox", "要対応の一覧と、対処するコマンドを表示する").with(&[
            flag("all", "すべてのリポジトリを対象にする"),
            flag("snoozed", "代わりに、スヌーズ中と既読のものを表示する"),
        ]),
        about("inbox show", "要対応を 1 件、その原因とともに表示する").with(&[NEED]),
        about("inbox snooze", "要対応をしばらく表示しない").with(&[
            NEED,
            value("lasts", "期間", "期間: 30m、2h、3d など"),
            value("reason", "理由", "一緒に表示する理由"),
        ]),
        about("inbox dismiss", "新しいことが起きるまで、要対応を表示しない").with(&[
            value("ids", "ID", "`dandori inbox` に表示される ID (先頭だけでも可)、タスク、実行"),
            flag("all", "`dandori inbox` に表示されるものすべて"),
        ]),
        about("inbox wake", "スヌーズ中または既読の要対応を元に戻す").with(&[value(
            "id",
            "ID",
            "`dandori inbox --snoozed` に表示される ID (先頭だけでも可)、タスク、実行",
        )]),
        about("notify", "自分に通知を送る、または設定した通知を試す").with(&[value("words", "文章", "通知の内容")]),
        about("notify test", "設定したすべての方法で通知のテストを送る"),
        about("pr list", "プルリクエストを一覧表示する")
            .with(&[value("state", "状態", "状態: open、merged、closed、all"), value("limit", "件数", "表示する件数")]),
        about("pr show", "プルリクエストの本文、コミット、変更、マージの可否を表示する").with(&[PULL]),
        about("pr open", "プルリクエストの Web ページを開く").with(&[PULL]),
        about("pr diff", "プルリクエストの変更内容を表示する").with(&[
            PULL,
            flag("stat", "変更されたファイルと行数を表示する"),
            flag("no_pager", "ページャーを使わない"),
        ]),
        about("pr checkout", "プルリクエストのブランチをチェックアウトする")
            .with(&[PULL, flag("worktree", "メインのチェックアウトを切り替えず、ワークツリーを作成する")]),
        about("pr update", "プルリクエストのブランチにベースをマージする (コンフリクトはエージェントが解決)").with(&[PULL, DETACH, QUIET]),
        about("pr merge", "プルリクエストをベースにマージする (対話端末のみ)").with(&[
            PULL,
            flag("ff_only", "fast-forward できる場合だけマージする"),
            flag("no_ff", "常にマージコミットを作成する"),
            flag("yes", "確認せずにマージする (端末は必要)"),
        ]),
        about("pr close", "プルリクエストをマージせずにクローズする").with(&[PULL]),
        about("pr reopen", "クローズしたプルリクエストを再オープンする").with(&[PULL]),
        about("playbook", "playbook (リポジトリ内のレビュー済み計画) の作成、表示、点検"),
        about("playbook new", "テンプレートから playbook を作成する").with(&[
            value("name", "名前", "playbook の名前 (ファイルは plan/playbook-<名前>.md)"),
            value("branch", "ブランチ", "作業するブランチ (既定: feat/<名前>)"),
            flag("activate", "state.md で有効な playbook にする"),
            flag("yes", "別の playbook やプロファイルが変わる場合も、確認せずに有効にする"),
        ]),
        about("playbook show", "playbook とそのフェーズを表示する").with(&[PLAYBOOK]),
        about("playbook check", "playbook の問題を点検する").with(&[PLAYBOOK]),
        about("playbook status", "有効な playbook の進捗と次の作業を表示する"),
        about("post-loop", "完了した playbook を終了し、次の作業を表示する"),
        about("state", "state.md (リポジトリの現在の状態) の表示と変更"),
        about("state show", "state.md の内容を表示する"),
        about("state set", "値を 1 つ設定する (以前のバージョンは保存)").with(&[
            value("key", "キー", "設定する項目 (例: playbook.active)"),
            value("value", "値", "新しい値 (null で値なし、[a, b] でリスト)"),
        ]),
        about("state history", "state.md の以前のバージョンを一覧または表示する").with(&[value(
            "version",
            "バージョン",
            "このバージョンの全文を表示する",
        )]),
        about("guard stats", "各ガードの判定と、誤検知の可能性があるものを表示する").with(&[
            value("since", "期間", "集計する期間 (例: 12h、7d)"),
            flag("all", "すべてのチェックアウトを対象にする"),
            flag("runs", "代わりにこのリポジトリの実行を集計する (--all を付けると全リポジトリの実行)"),
        ]),
        about("guard list", "ガードとそのレベル、設定元を一覧表示する"),
        about("daemon", "デーモンの起動、停止、確認"),
        about("daemon start", "デーモンを起動する").with(&[value(
            "listen",
            "アドレス",
            "このループバックアドレスでも待ち受ける (例: 127.0.0.1:4100)",
        )]),
        about("daemon stop", "デーモンを停止する (エージェントは動作を続け、次のデーモンに引き継がれる)"),
        about("daemon status", "デーモンの状態を表示する"),
        about("daemon logs", "デーモンのログを表示する").with(&[value("lines", "行数", "表示する行数")]),
        about("init", "エージェントの設定に dandori のガードを組み込む").with(&[
            flag("user", "このリポジトリではなく、ユーザー設定を使う"),
            value(
                "agent",
                "エージェント",
                "対象のエージェント: {clients} (既定: PATH にあるもの、またはこのリポジトリに設定があるもの)",
            ),
            flag("dry_run", "書き込まずに、変更を差分で表示する"),
            flag("shared", "自分専用の設定ファイルがある場合も、リポジトリで共有する設定ファイルに書き込む"),
            flag("uninstall", "dandori のガードを削除し、設定を元に戻す"),
        ]),
        about("doctor", "環境を点検する: git、エージェント、フック、サンドボックス、データベース、ディスク").with(&[
            flag(
                "guards",
                "ガードだけを点検する: 内蔵モデルで各エージェントを起動し、フックが動作してブロックすることを確認",
            ),
            flag("sandbox", "サンドボックスだけを点検する: 実際に脱出を試み、どれがブロックされるかを表示"),
            flag("formation", "このリポジトリのフォーメーションだけを点検する: 記録の整合性を確認し、期限切れのものを修復"),
        ]),
        about("guard", "ガードの確認と例外の管理"),
        about("guard explain", "コマンドの動作と、各ガードの判定を表示する").with(&[value(
            "command",
            "コマンド",
            "説明するコマンドライン",
        )]),
        about("guard test", "イベントに対するガードの判定を試す (記録しない)").with(&[
            value("event", "イベント", "クライアントが送信したイベントの JSON ファイル (- で標準入力)"),
            value("agent", "エージェント", "イベントを送信したクライアント (既定: イベントから判別)"),
        ]),
        about("guard allow", "ガードに条件付きの例外を設ける (対話端末のみ)").with(&[
            value("guard", "ガード", "例外を設けるガード"),
            value("path", "パス", "対象のファイル (リポジトリのルートからの glob)"),
            value("command", "コマンド", "対象のコマンド (語ごとに一致。末尾の * は残りすべて)"),
            value("lasts", "期間", "例外の有効期間 (例: 30m、8h)"),
            value("uses", "回数", "使用できる回数"),
            value("reason", "理由", "記録に残す理由"),
        ]),
        about("guard revoke", "例外を取り消す").with(&[value("id", "ID", "例外の ID (`dandori guard list` で確認)")]),
        about("consent", "エージェントの理解を確認し、待機中のセッションに変更を許可する"),
        about("prompt", "run -t で使う指示テンプレートの一覧、表示、編集"),
        about("prompt list", "このリポジトリとユーザーのテンプレートを一覧表示する"),
        about("prompt show", "テンプレートを表示する").with(&[value("name", "名前", "テンプレートの名前")]),
        about("prompt edit", "テンプレートをエディターで作成、変更する").with(&[
            value("name", "名前", "テンプレートの名前。なければ作成する"),
            flag("user", "このリポジトリではなく、すべてのリポジトリで使えるようにする"),
        ]),
        about("config", "設定の表示と変更、各値の設定元の確認"),
        about("config show", "有効な設定と、その設定元を表示する").with(&[
            value("key", "キー", "このキーだけを表示する (例: limits.run)"),
            flag("all", "既定値のままのキーもすべて表示する"),
        ]),
        about("config set", "キーを 1 つ設定する。ファイルのコメントと順序は変わらない").with(&[
            value("key", "キー", "設定するキー (例: limits.run)"),
            value("value", "値", "新しい値。リストは [\"a\", \"b\"] と書く"),
            flag("unset", "キーを削除し、既定値に戻す"),
            REPOSITORY,
        ]),
        about("config edit", "ファイルをエディターで開き、閉じた後に検査する").with(&[REPOSITORY]),
        about("config init", "すべてのキーを既定値のままコメントアウトしたファイルを作成する").with(&[REPOSITORY]),
        about("trust", "このリポジトリの dandori.toml が実行できる内容を信頼する").with(&[
            flag("revoke", "信頼を取り消す"),
            flag("show", "信頼の対象を表示するだけにする"),
            YES,
        ]),
        about("demo", "一時リポジトリで全体の流れを実演する (アカウント不要)").with(&[value(
            "dir",
            "パス",
            "使用する新規または空のフォルダー (既定: 一時フォルダー内に新規作成)",
        )]),
        about("uninstall", "dandori のフック、デーモン、状態を削除する (作業はリポジトリに残る)").with(&[
            flag("dry_run", "削除せずに、対象だけを表示する"),
            flag("keep_state", "タスク、ログ、ワークツリーを残し、フックとデーモンだけを削除する"),
            YES,
        ]),
        about("order", "依頼する: 計画を立て、複数のエージェントが作業し、1 つのプルリクエストにする").with(&[
            INSTRUCTION,
            FILE,
            TEMPLATE,
            flag("review", "作業を始める前に、計画を自分で承認する"),
            flag("detach", "待たずに依頼だけを行う"),
            PRIORITY,
        ]),
        about("order list", "依頼を一覧表示する (未完了、新しい順)")
            .with(&[value("limit", "件数", "表示する完了済みの依頼の件数")]),
        about("order show", "依頼の計画、結果、プルリクエストを表示する")
            .with(&[ORDER, flag("follow", "完了するまで表示を続ける")]),
        about("order pause", "依頼の新しい作業を渡さない (実行中のエージェントは最後まで続ける)").with(&[ORDER, WHY]),
        about("order resume", "一時停止した依頼を再開する").with(&[ORDER]),
        about("order amend", "依頼に追加する (作業前なら計画し直し、作業中ならプランナーに伝える)")
            .with(&[ORDER, value("words", "文章", "追加する内容")]),
        about("order approve", "確認待ちの計画を承認する").with(&[ORDER]),
        about("order cancel", "依頼を取り消し、エージェントの作業を保存する").with(&[ORDER, WHY]),
        about("up", "このリポジトリのフォーメーションを起動する: プランナーとワーカーに作業を渡す").with(&[
            flag("reset", "先に未完了の依頼をすべて取り消す (単独で指定すると起動しない)"),
            flag("boost", "すべてのタスクに大きいモデルを使う"),
            flag("continuous", "依頼が終わるたびに、オーケストレーターが次の依頼を出す"),
            flag("no_notify", "依頼が終わっても通知しない"),
            flag("detach", "起動後の状態を表示しない"),
            flag("yes", "リセットの前に確認しない"),
        ]),
        about("down", "このリポジトリのフォーメーションを停止する (実行中のエージェントは最後まで続ける)"),
        about("setup", "リポジトリにフォーメーションの準備をする")
            .with(&[value("folder", "フォルダー", "リポジトリ内のフォルダー")]),
        about("queue", "プランナーまたはオーケストレーターのキューに書き込む"),
        about("queue write", "コマンド、取り消し、メッセージを書き込む").with(&[
            value("agent", "エージェント", "宛先: planner または orchestrator"),
            value("kind", "種類", "種類: command、cancel-request、notification、message"),
            value("content", "文章", "内容"),
            value("content_file", "ファイル", "内容をファイルから読み込む (- で標準入力)"),
            PRIORITY,
            flag("demands", "コマンドの要求に番号を付ける。計画は、各要求に対応するタスクを示す必要がある"),
            value("command_id", "依頼", "対象の依頼 (ID または番号)"),
            value("reason", "文章", "取り消す理由"),
        ]),
        about("plan", "計画の提出、表示、完了 (プランナー用)"),
        about("plan submit", "依頼の計画を提出する、または deferred のフェーズにタスクを提出する").with(&[
            COMMAND_ID,
            value("tasks_file", "ファイル", "YAML の計画 (- で標準入力)"),
            value("phase", "名前", "タスクを提出する、awaiting_fill のフェーズ"),
            flag("dry_run", "保存せずに確認だけを行う"),
        ]),
        about("plan complete", "タスクがすべて終わった依頼を完了する (結果はタスクから決まる)")
            .with(&[COMMAND_ID, SUMMARY, SUMMARY_FILE]),
        about("plan add-retry-task", "失敗したタスクを置き換え、そのために取り消されたタスクを戻す").with(&[
            COMMAND_ID,
            value("retry_of", "タスク", "失敗したタスク"),
            value("purpose", "文章", "タスクの目的 (既定: 元のまま。以下も同様)"),
            value("content", "文章", "作業の内容"),
            value("content_file", "ファイル", "作業の内容をファイルから読み込む (- で標準入力)"),
            value("acceptance_criteria", "文章", "完了の条件"),
            value("constraint", "文章", "守るべき制約 (複数指定可)"),
            value("expected_paths", "パス", "変更する見込みのファイル (カンマ区切り)"),
            value("bloom_level", "段階", "必要な思考の段階 (1〜6)"),
        ]),
        about("plan request-cancel", "依頼を取り消す (元に戻せない)").with(&[
            COMMAND_ID,
            value("requested_by", "名前", "依頼した人 (既定: 実行した人)"),
            WHY,
        ]),
        about("plan show", "依頼の計画をグラフで表示する").with(&[
            ORDER,
            value("command_id", "依頼", "同じ指定 (エージェント用)"),
            flag("mermaid", "Mermaid の図を出力する"),
        ]),
        about("result", "タスクの結果を報告する (ワーカー用)"),
        about("result write", "タスクの結果を報告する").with(&[
            value("worker", "ワーカー", "結果を出したワーカー: worker1〜worker8"),
            value("task_id", "タスク", "タスク"),
            value("command_id", "依頼", "タスクが属する依頼"),
            value("lease_epoch", "番号", "タスクとともに渡された lease epoch"),
            value("status", "結果", "結果: completed または failed"),
            SUMMARY,
            SUMMARY_FILE,
            value("files_changed", "パス", "変更したファイル (カンマ区切り)"),
            flag("partial_changes", "失敗し、途中の変更が残っている可能性がある"),
            flag("no_retry_safe", "このまま再試行してはならない"),
            value("exit_code", "コード", "失敗した処理の終了コード"),
        ]),
        about("task heartbeat", "フォーメーションのタスクが作業中であることを知らせる (ワーカー用)").with(&[
            value("task_id", "タスク", "タスク"),
            value("worker_id", "ワーカー", "担当者: worker1〜worker8"),
            value("epoch", "番号", "タスクとともに渡された lease epoch"),
        ]),
        about("dead-letter", "配信できなかったメッセージを確認し、キューに戻す"),
        about("dead-letter list", "配信できなかったメッセージを一覧表示する"),
        about("dead-letter show", "1 件を表示する").with(&[MESSAGE]),
        about("dead-letter requeue", "原因を取り除いた後、1 件をキューに戻す").with(&[MESSAGE]),
        about("quarantine", "拒否された計画と結果を確認し、もう一度提出する"),
        about("quarantine list", "拒否された計画と結果を一覧表示する (新しい順)"),
        about("quarantine show", "1 件を提出されたまま表示する").with(&[NUMBER]),
        about("quarantine restore", "1 件をそのままもう一度提出する").with(&[NUMBER]),
        about("man", "マニュアルページを出力する").with(&[
            value("command", "コマンド", "表示するコマンド (例: man task diff)"),
            value("dir", "フォルダー", "1 ページを表示する代わりに、全ページをこのフォルダーに書き出す"),
        ]),
        about("completions", "シェルの補完スクリプトを出力する").with(&[value(
            "shell",
            "シェル",
            "補完スクリプトの対象シェル",
        )]),
    ];

const ORDER: ArgHelp = value("order", "依頼", "依頼 (番号または ID)");
const COMMAND_ID: ArgHelp = value("command_id", "依頼", "依頼 (ID または番号)");
const WHY: ArgHelp = value("reason", "文章", "理由");
const PRIORITY: ArgHelp = value("priority", "番号", "優先度 (0 が最優先、既定: 100)");
const SUMMARY: ArgHelp = value("summary", "文章", "行ったこと (2〜5 文)");
const SUMMARY_FILE: ArgHelp = value("summary_file", "ファイル", "要約をファイルから読み込む (- で標準入力)");
const MESSAGE: ArgHelp = value("message", "メッセージ", "一覧に表示されるメッセージの ID");
const NUMBER: ArgHelp = value("number", "番号", "一覧に表示される番号");
const INSTRUCTION: ArgHelp =
    value("instruction", "指示", "エージェントへの指示 (- で標準入力から読み込み、省略するとエディターを開く)");
const TEMPLATE: ArgHelp =
    value("template", "名前", ".dandori/prompts のテンプレートを使う。指示は {{text}} の位置に入る");
const FILE: ArgHelp = value("file", "ファイル", "指示をファイルから読み込む");
const REPOSITORY: ArgHelp = flag("repository", "ユーザー設定の代わりに、このリポジトリの dandori.toml を使う");
const YES: ArgHelp = flag("yes", "確認せずに実行する");
const BASE: ArgHelp = value(
    "base",
    "ベース",
    "起点のブランチ、タグ、コミット。HEAD は現在のコミット (既定: 設定の値、リモートの既定ブランチ、リモートがなければチェックアウト中のブランチ)",
);
const HERE: ArgHelp = flag("here", "現在のコミットから開始する (未プッシュでも可、--base HEAD と同じ)");
const PR: ArgHelp = flag("pr", "コミットとプッシュの後にプルリクエストを作成する");
const PULL: ArgHelp = value("pull", "PR", "番号 (3、#3)、タスク (T-4)、実行のキー、ブランチのいずれか");
const DETACH: ArgHelp = flag("detach", "完了を待たずにバックグラウンドで実行する");
const QUIET: ArgHelp = flag("quiet", "エージェントの発言と操作を表示しない");
const BUDGET: ArgHelp = flag("budget", "費用の上限 (米ドル)");
const TASK: ArgHelp = value("task", "タスク", "タスク (T-3 や 3、ブランチのいずれか)");
const TASK_OR_RUN: ArgHelp = value("task", "タスク", "タスク (T-3 や 3、実行のキー、ブランチのいずれか)");
const RUN: ArgHelp = value("run", "実行", "実行のキーか ID、またはタスク (最新の実行)");
const NEED: ArgHelp = value("id", "ID", "`dandori inbox` に表示される ID (先頭だけでも可)、タスク、実行");
const PLAYBOOK: ArgHelp = value("file", "ファイル", "playbook のファイルか名前 (既定: 有効な playbook)");
const SESSION: ArgHelp = value("session", "セッション", "このセッション専用にする");

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
