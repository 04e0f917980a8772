//! Words of `dandori config`: what each key does, and what became of a change.

mod expected;

use crate::lang::say;
use crate::misuse::did_you_mean;
use crate::{Lang, Said};

pub use expected::expected;

/// What a key does, in one line. A test of the program holds this against the keys there are.
pub fn about(lang: Lang, key: &str) -> Option<&'static str> {
    let (en, ja) = match key {
        "base" => (
            "Branch that runs start from (default: the remote's default branch)",
            "実行の起点のブランチ (既定: リモートの既定ブランチ)",
        ),
        "agent" => (
            "Agent to use: claude, codex, gemini, exec:<command>, or a name from [agents]",
            "使用するエージェント: claude、codex、gemini、exec:<コマンド>、[agents] の名前",
        ),
        "pr" => ("Open a pull request for every run", "実行ごとにプルリクエストを作成する"),
        "forge" => ("Where pull requests live: auto, github or local", "プルリクエストの作成先: auto、github、local"),
        "cleanup" => (
            "When a worktree is removed: merged, pr, push or never",
            "ワークツリーを削除する時期: merged、pr、push、never",
        ),
        "language" => {
            ("Language of messages: en or ja (default: from LANG)", "メッセージの言語: en、ja (既定: LANG に従う)")
        }
        "store" => (
            "Database: a postgres:// address (default: embedded SQLite)",
            "データベース: postgres:// のアドレス (既定: 内蔵の SQLite)",
        ),
        "runs.max_parallel" => (
            "Runs at the same time (default: number of cores, at least 2)",
            "同時に動かす実行の数 (既定: コア数、最低 2)",
        ),
        "runs.min_free_memory" => ("Free memory needed to start a run", "実行の開始に必要な空きメモリ"),
        "runs.min_free_disk" => ("Free disk space needed to start a run", "実行の開始に必要なディスクの空き容量"),
        "notify.desktop" => ("Notify on the desktop, if there is one", "デスクトップがあれば通知する"),
        "notify.bell" => ("Ring the bell of the terminal a run was started from", "実行を開始した端末のベルを鳴らす"),
        "notify.command" => (
            "Shell line that gets each notification as JSON on stdin",
            "通知を JSON で標準入力に受け取るシェルコマンド",
        ),
        "notify.webhook" => ("Address that each notification is posted to as JSON", "通知を JSON で POST する送信先"),
        "limits.start" => (
            "Stop an agent that prints nothing for this long after it starts",
            "起動後、この時間何も出力しないエージェントを停止する",
        ),
        "limits.silence" => (
            "Stop an agent that is silent for this long while no tool runs",
            "ツールの実行中を除き、この時間出力のないエージェントを停止する",
        ),
        "limits.run" => ("Time limit of a whole run", "1 回の実行全体の制限時間"),
        "limits.grace" => ("Time between asking an agent to stop and killing it", "停止の要求から強制終了までの猶予"),
        "limits.api_retries" => {
            ("API errors in a row before a run fails", "実行が失敗するまでに許す、連続した API エラーの回数")
        }
        "limits.budget" => ("Maximum cost of one run, in US dollars", "1 回の実行の費用の上限 (米ドル)"),
        "commit.template" => (
            "Commit message: {type} {subject} {summary} {instruction} {task} {agent} {run}",
            "コミットメッセージ: {type} {subject} {summary} {instruction} {task} {agent} {run}",
        ),
        "push.retries" => (
            "How often a push is retried if the remote has changed",
            "リモートが更新されていた場合にプッシュを再試行する回数",
        ),
        "worktrees.set_up" => (
            "Setup commands for a worktree, or false (default: detected from the lock file)",
            "ワークツリーのセットアップコマンド、または false (既定: ロックファイルから判断)",
        ),
        "worktrees.pool" => ("Prepared worktrees kept ready", "準備済みワークツリーの数"),
        "worktrees.keep_days" => {
            ("Days after which an unused worktree counts as stale", "使われないワークツリーを古いとみなす日数")
        }
        "sandbox.mode" => (
            "auto: every layer this machine has; require: refuse to run unless all hold; off",
            "auto: この環境で使える層をすべて使う、require: すべて有効でなければ実行しない、off: 使わない",
        ),
        "sandbox.write" => ("More paths that agents can write to", "エージェントの書き込みを許可するパス"),
        "sandbox.hide" => ("More paths that agents cannot read", "エージェントに読ませないパス"),
        "sandbox.read" => (
            "Hidden paths (keys, logins) that agents can read anyway",
            "非表示のパス (鍵、ログイン情報) のうち、読み取りを許可するもの",
        ),
        "sandbox.processes" => ("Maximum number of processes of one run", "1 回の実行のプロセス数の上限"),
        "sandbox.open_files" => ("Maximum number of open files of one process", "1 プロセスが開けるファイル数の上限"),
        "sandbox.memory" => ("Maximum memory of one process", "1 プロセスのメモリの上限"),
        "sandbox.pass_env" => ("More environment variables that agents see", "エージェントに渡す環境変数"),
        "forbidden.paths" => (
            "Files a run must not change, in addition to .git .env .env.* *.key *.pem",
            "実行による変更を禁止するファイル (.git .env .env.* *.key *.pem のほか)",
        ),
        "github.host" => ("GitHub host, for GitHub Enterprise", "GitHub のホスト (GitHub Enterprise 用)"),
        "github.api" => {
            ("Address of the GitHub API (default: from the host)", "GitHub API のアドレス (既定: ホストから決定)")
        }
        "agents.*.command" => (
            "Shell command of your own agent; the instruction is on stdin",
            "独自のエージェントのコマンド。指示は標準入力で渡す",
        ),
        "agents.*.acp" => (
            "Command of an agent that speaks the Agent Client Protocol",
            "Agent Client Protocol に対応したエージェントのコマンド",
        ),
        "agents.*.auth" => ("How an ACP agent logs in", "ACP エージェントのログイン方法"),
        "agents.*.model" => ("Model this agent uses", "このエージェントが使うモデル"),
        key if key.starts_with("formation.") => about_formation(key)?,
        "guards.profile" => (
            "safety or discipline (default: discipline if there is a state.md)",
            "safety または discipline (既定: state.md があれば discipline)",
        ),
        "guards.order" => ("Guards to run first", "先に判定するガード"),
        "guards.opaque" => (
            "Shell commands that cannot be analyzed: off, warn, ask or block",
            "解析できないコマンドラインの扱い: off、warn、ask、block",
        ),
        "guards.denied_for" => (
            "How long a blocked write stays blocked by other means",
            "ブロックした書き込みを、別の方法でもブロックし続ける時間",
        ),
        "guards.deadline" => ("Time limit of one check", "1 回の判定の制限時間"),
        "guards.required_reads" => ("Files a session must read first", "セッションで最初に読むファイル"),
        "guards.secrets" => ("More files that count as secrets", "機密とみなすファイル"),
        "guards.protected.path" => ("Protected files (glob)", "保護するファイル (glob)"),
        "guards.protected.level" => ("off, info, warn, ask or block", "off、info、warn、ask、block"),
        "guards.level.@" => {
            ("Level of one guard: off, info, warn, ask or block", "ガードごとのレベル: off、info、warn、ask、block")
        }
        "guards.on_error.@" => (
            "If a guard itself fails: open (allow) or closed (block)",
            "ガード自体のエラー時: open (許可)、closed (ブロック)",
        ),
        "guards.main.branches" => ("Branches that count as main", "main とみなすブランチ"),
        "guards.main.when" => (
            "always, or workspace: only while state.md has focus: workspace",
            "always、または workspace (state.md が focus: workspace の間だけ)",
        ),
        "guards.main.what" => (
            "branch: no commits, merges, pushes; edits: no edits either",
            "branch: コミット・マージ・プッシュを禁止、edits: 編集も禁止",
        ),
        "guards.destructive.#" => ("Level of one class of destructive commands", "破壊的コマンドの種類ごとのレベル"),
        "guards.checks.before_commit" => {
            ("Commands that must pass before a commit", "コミット前に成功が必要なコマンド")
        }
        "guards.checks.after_edit.files" => ("Files whose edits are checked (glob)", "編集後に検査するファイル (glob)"),
        "guards.checks.after_edit.run" => {
            ("Command that checks them; {file} is the path", "検査するコマンド。{file} はパス")
        }
        "guards.checks.timeout" => ("Time limit of a check", "検査の制限時間"),
        "guards.issue.priorities" => ("Priority labels of issues", "issue の優先度ラベル"),
        "guards.issue.sections" => ("Sections an issue needs", "issue に必要な項目"),
        "guards.pull.sections" => ("Sections a pull request needs", "プルリクエストに必要な項目"),
        "guards.pull.needs_issue" => {
            ("Whether a pull request must link an issue", "プルリクエストに issue のリンクを必須とするか")
        }
        "guards.rule.name" => ("Name of a rule of your own", "独自ルールの名前"),
        "guards.rule.events" => ("Events it checks", "対象のイベント"),
        "guards.rule.tools" => ("Tools it checks", "対象のツール"),
        "guards.rule.commands" => ("Shell commands it matches", "対象のコマンド"),
        "guards.rule.paths" => ("Files it matches (glob)", "対象のファイル (glob)"),
        "guards.rule.prompts" => ("Prompts it matches", "対象のプロンプト"),
        "guards.rule.decision" => ("off, info, warn, ask or block", "off、info、warn、ask、block"),
        "guards.rule.message" => ("What it says", "表示する文"),
        "guards.rule.run" => ("Command that decides instead", "判定に使うコマンド"),
        "guards.rule.timeout" => ("Time limit of that command", "そのコマンドの制限時間"),
        "guards.rule.on_error" => ("If that command fails: open or closed", "そのコマンドのエラー時: open、closed"),
        _ => return None,
    };
    Some(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
}

/// `[formation]`
fn about_formation(key: &str) -> Option<(&'static str, &'static str)> {
    Some(match key {
        "formation.mode" => (
            "How agents of the formation run: headless (tmux has no effect yet)",
            "フォーメーションのエージェントの動かし方: headless (tmux はまだ使えません)",
        ),
        "formation.workers" => ("Number of workers, 1 to 8", "ワーカーの数 (1〜8)"),
        "formation.agent" => (
            "Agent of the whole formation (default: as for runs)",
            "フォーメーション全体のエージェント (既定: 実行と同じ)",
        ),
        "formation.orchestrator" => ("Agent of the orchestrator", "オーケストレーターのエージェント"),
        "formation.planner" => ("Agent of the planner", "プランナーのエージェント"),
        "formation.worker_agents" => (
            "Agents of worker1, worker2, …; the rest use formation.agent",
            "worker1、worker2 … のエージェント。残りは formation.agent を使う",
        ),
        "formation.small_model" => {
            ("Model for simple tasks (bloom_level 1 to 3)", "易しいタスクのモデル (bloom_level 1〜3)")
        }
        "formation.large_model" => {
            ("Model for hard tasks (bloom_level 4 to 6)", "難しいタスクのモデル (bloom_level 4〜6)")
        }
        "formation.capabilities.*" => ("What this worker can do that others cannot", "このワーカーだけができること"),
        "formation.check" => (
            "Command that must pass after each worker's commit is merged",
            "ワーカーのコミットをマージするたびに成功すべきコマンド",
        ),
        "formation.budget.task" => ("Budget of one task, in US dollars", "タスク 1 件の予算 (米ドル)"),
        "formation.budget.command" => ("Budget of one order, in US dollars", "指示 1 件の予算 (米ドル)"),
        "formation.budget.day" => ("Budget of one day (UTC), in US dollars", "1 日の予算 (UTC、米ドル)"),
        "formation.coordination_limit" => (
            "How much of all tokens the orchestrator and planner may use, in percent",
            "オーケストレーターとプランナーが使ってよいトークンの割合 (%)",
        ),
        "formation.continuous.max_iterations" => {
            ("Continuous mode: orders at most, 0 for no limit", "連続モード: 指示の最大数 (0 は無制限)")
        }
        "formation.continuous.pause_on_failure" => {
            ("Continuous mode: pause when an order fails", "連続モード: 指示が失敗したら止まる")
        }
        "formation.continuous.max_consecutive_failures" => (
            "Continuous mode: stop after this many failed orders in a row, 0 for no limit",
            "連続モード: 指示がこの回数続けて失敗したら終了する (0 は無制限)",
        ),
        "formation.rules.lease" => (
            "Time without a sign of life after which a message is given out again",
            "応答のないメッセージを再配信するまでの時間",
        ),
        "formation.rules.longest" => {
            ("Longest time an agent may work on a message", "1 件のメッセージに取り組める最長時間")
        }
        "formation.rules.replan" => (
            "Time the planner has to decide about a task that cannot be merged",
            "マージできないタスクについてプランナーが判断するまでの時間",
        ),
        "formation.rules.digest" => (
            "How long results wait before the planner is told without a reason to decide",
            "判断の必要がない結果をプランナーに伝えるまでの時間",
        ),
        "formation.rules.attempts" => ("Attempts per message", "メッセージごとの試行回数"),
        "formation.rules.resumes" => ("How often an interrupted conversation is resumed", "中断した会話を再開する回数"),
        "formation.rules.repairs" => (
            "How often a task whose work cannot be merged goes back to its worker",
            "マージできない作業をワーカーに戻す回数",
        ),
        "formation.rules.pending_commands" => ("Orders that may be queued", "待機できる指示の数"),
        "formation.rules.pending_per_worker" => {
            ("Tasks that may be queued per worker", "ワーカーごとに待機できるタスクの数")
        }
        "formation.rules.tasks_per_plan" => ("Tasks a plan may have", "計画 1 件のタスクの最大数"),
        _ => return None,
    })
}

/// Where a value comes from, in a word.
pub fn from_default(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "default",
        Lang::Ja => "既定値",
    }
}

pub fn not_set(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not set",
        Lang::Ja => "未設定",
    }
}

pub fn file_is_missing(lang: Lang, path: &str) -> String {
    say!(lang, "{path} (does not exist)", "{path} (ファイルなし)")
}

pub fn only_changed(lang: Lang, hidden: usize) -> String {
    let s = if hidden == 1 { "" } else { "s" };
    say!(
        lang,
        "{hidden} setting{s} at the default; `dandori config show --all` shows every key",
        "既定値のままの設定が {hidden} 件あります。`dandori config show --all` ですべて表示します"
    )
}

pub fn was_set(lang: Lang, key: &str, value: &str, path: &str) -> String {
    say!(lang, "{key} = {value} in {path}", "{path} に {key} = {value} を設定しました")
}

pub fn was_unset(lang: Lang, key: &str, path: &str) -> String {
    say!(lang, "removed {key} from {path}", "{path} から {key} を削除しました")
}

/// The user's change has no effect here: the repository's file says otherwise.
pub fn overridden(lang: Lang, key: &str, value: &str, path: &str) -> String {
    say!(
        lang,
        "{key} is still {value} in this repository: {path} sets it",
        "このリポジトリでは {path} の設定により {key} は {value} のままです"
    )
}

pub fn needs_trust(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} now has settings that need trust: review them and run `dandori trust`",
        "{path} に信頼が必要な設定があります。内容を確認して `dandori trust` を実行してください"
    )
}

pub fn daemon_reads_at_start(lang: Lang, key: &str) -> String {
    say!(
        lang,
        "{key} takes effect after the daemon restarts: run `dandori daemon stop`",
        "{key} はデーモンの再起動後に有効になります。`dandori daemon stop` を実行してください"
    )
}

pub fn not_there(lang: Lang, key: &str, path: &str) -> Said {
    Said::what(say!(lang, "{key} is not set in {path}", "{key} は {path} に設定されていません")).hint(say!(
        lang,
        "see where its value comes from with `dandori config show {key}`",
        "`dandori config show {key}` で値の設定元を確認できます"
    ))
}

pub fn unknown_key(lang: Lang, key: &str, near: Option<&str>) -> Said {
    let said = Said::what(say!(lang, "unknown key: {key}", "不明なキーです: {key}"));
    match near {
        Some(near) => said.hint(did_you_mean(lang, &["dandori config show ", near].concat())),
        None => said.hint(say!(
            lang,
            "list all keys with `dandori config show --all`",
            "すべてのキーは `dandori config show --all` で確認できます"
        )),
    }
}

/// A value that does not fit, or a key that may not stand there. The file is as it was.
pub fn cannot_set(lang: Lang, key: &str, reason: &str, near: Option<&str>) -> Said {
    let said =
        Said::what(say!(lang, "cannot set {key}; nothing was changed", "{key} を設定できません。何も変更していません"))
            .why(reason);
    match near {
        Some(near) => said.hint(did_you_mean(lang, near)),
        None => said.hint(say!(
            lang,
            "list all keys and values with `dandori config show --all`",
            "すべてのキーと値は `dandori config show --all` で確認できます"
        )),
    }
}

/// A value that does not fit its key.
pub fn cannot_be(lang: Lang, key: &str, value: &str, expected: &str) -> Said {
    Said::what(say!(
        lang,
        "cannot set {key} to `{value}`; nothing was changed",
        "{key} に `{value}` は設定できません。何も変更していません"
    ))
    .hint(say!(lang, "use {expected}", "指定できる値: {expected}"))
}

/// `agents..command`
pub fn empty_part(lang: Lang, key: &str) -> Said {
    Said::what(say!(
        lang,
        "`{key}` is not a key: there is no name between two dots; nothing was changed",
        "`{key}` はキーではありません。名前が空の部分があります。何も変更していません"
    ))
    .hint(say!(
        lang,
        "list all keys and values with `dandori config show --all`",
        "すべてのキーと値は `dandori config show --all` で確認できます"
    ))
}

pub fn exists(lang: Lang, path: &str, flag: &str) -> Said {
    Said::what(say!(lang, "{path} already exists", "{path} は既に存在します")).hint(say!(
        lang,
        "open it with `dandori config edit{flag}`",
        "`dandori config edit{flag}` で開けます"
    ))
}

pub fn written(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "created {path} with every key commented out at its default",
        "{path} を作成しました。すべてのキーを既定値のままコメントアウトしてあります"
    )
}

pub fn is_sound(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is valid", "{path} に問題はありません")
}

pub fn unchanged(lang: Lang, path: &str) -> String {
    say!(lang, "{path} was not changed", "{path} は変更されていません")
}

/// The first lines of a new file.
pub fn template_head(lang: Lang, is_users: bool) -> &'static str {
    match (lang, is_users) {
        (Lang::En, true) => {
            "# dandori: your settings for all repositories. Remove the # at the start of a line to change it.\n# `dandori config show` shows the values in effect and where they come from.\n"
        }
        (Lang::Ja, true) => {
            "# dandori のユーザー設定 (すべてのリポジトリに適用)。行頭の # を外すと有効になります。\n# 有効な値とその設定元は `dandori config show` で確認できます。\n"
        }
        (Lang::En, false) => {
            "# dandori: settings of this repository. Remove the # at the start of a line to change it.\n# `dandori config show` shows the values in effect and where they come from.\n"
        }
        (Lang::Ja, false) => {
            "# dandori のリポジトリ設定。行頭の # を外すと有効になります。\n# 有効な値とその設定元は `dandori config show` で確認できます。\n"
        }
    }
}

pub fn outside(lang: Lang) -> Said {
    Said::what(say!(
        lang,
        "not in a repository, so there is no dandori.toml",
        "ここはリポジトリではないため、dandori.toml がありません"
    ))
    .hint(say!(
        lang,
        "change to a repository, or leave out `--repository` to use your own settings",
        "リポジトリに移動するか、`--repository` を外してユーザー設定を使ってください"
    ))
}
