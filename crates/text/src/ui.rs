//! Words of the command line itself: headings, progress, answers.

use dandori_domain::plain::plain_path;
use dandori_domain::worktree::LeftoverReason;
use dandori_domain::{Problem, WaitReason};

use crate::lang::say;
use crate::{Lang, Said};

/// Headings of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Head {
    Task,
    Run,
    Agent,
    State,
    Title,
    Branch,
    Base,
    Path,
    Owner,
    Uncommitted,
    Unpushed,
    Repository,
    Changes,
    Pull,
    Age,
    Files,
    Overlap,
    Check,
    Result,
    Cost,
    Size,
    Phase,
    Subtasks,
    After,
    Version,
    Playbook,
    Guard,
    Level,
    Source,
    OnError,
    Events,
    Key,
    Value,
    Name,
}

pub fn head(lang: Lang, head: Head) -> &'static str {
    let (en, ja) = match head {
        Head::Task => ("TASK", "タスク"),
        Head::Run => ("RUN", "実行"),
        Head::Agent => ("AGENT", "エージェント"),
        Head::State => ("STATE", "状態"),
        Head::Title => ("TITLE", "タイトル"),
        Head::Branch => ("BRANCH", "ブランチ"),
        Head::Base => ("BASE", "ベース"),
        Head::Path => ("PATH", "パス"),
        Head::Owner => ("USED BY", "使用者"),
        Head::Uncommitted => ("EDITED", "未コミット"),
        Head::Unpushed => ("UNPUSHED", "未プッシュ"),
        Head::Repository => ("REPOSITORY", "リポジトリ"),
        Head::Changes => ("CHANGES", "変更"),
        Head::Pull => ("PR", "PR"),
        Head::Age => ("AGE", "経過"),
        Head::Files => ("FILES", "ファイル"),
        Head::Overlap => ("OVERLAP", "重複"),
        Head::Check => ("CHECK", "項目"),
        Head::Result => ("RESULT", "結果"),
        Head::Cost => ("COST", "費用"),
        Head::Size => ("SIZE", "サイズ"),
        Head::Phase => ("PHASE", "フェーズ"),
        Head::Subtasks => ("SUBTASKS", "サブタスク"),
        Head::After => ("AFTER", "依存先"),
        Head::Version => ("VERSION", "バージョン"),
        Head::Playbook => ("PLAYBOOK", "PLAYBOOK"),
        Head::Guard => ("GUARD", "ガード"),
        Head::Level => ("LEVEL", "レベル"),
        Head::Source => ("SET BY", "設定元"),
        Head::OnError => ("ON ERROR", "エラー時"),
        Head::Key => ("KEY", "キー"),
        Head::Value => ("VALUE", "値"),
        Head::Name => ("NAME", "名前"),
        Head::Events => ("CHECKS", "判定対象"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub fn error_word(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "error",
        Lang::Ja => "エラー",
    }
}

pub fn hint_word(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "hint",
        Lang::Ja => "ヒント",
    }
}

pub fn note_word(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "note",
        Lang::Ja => "注意",
    }
}

pub fn no_state_root(lang: Lang) -> Said {
    Said::what(say!(lang, "no folder for dandori's state", "dandori の状態を保存するフォルダーがありません"))
        .why(say!(lang, "neither HOME nor DANDORI_STATE_DIR is set", "HOME も DANDORI_STATE_DIR も設定されていません"))
        .hint(say!(lang, "set DANDORI_STATE_DIR to a folder", "DANDORI_STATE_DIR にフォルダーを指定してください"))
}

pub fn waiting(lang: Lang, place: u64, reason: &WaitReason) -> String {
    let place = ordinal(lang, place);
    match reason {
        WaitReason::Place => {
            say!(lang, "queued: {place}", "順番待ち: {place}")
        }
        other => {
            let lacking = lacking(lang, other);
            say!(lang, "{lacking}; queued: {place}", "{lacking} (順番待ち: {place})")
        }
    }
}

/// 1st, 2nd, 3rd, 4th; 1 番目.
fn ordinal(lang: Lang, number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (1, tens) if tens != 11 => "st",
        (2, tens) if tens != 12 => "nd",
        (3, tens) if tens != 13 => "rd",
        _ => "th",
    };
    say!(lang, "{number}{ending}", "{number} 番目")
}

/// What those who wait are waiting for, other than their turn.
pub fn lacking(lang: Lang, reason: &WaitReason) -> String {
    match reason {
        WaitReason::Place => say!(lang, "queued", "順番待ち"),
        WaitReason::Memory { needed } => {
            let needed = size(*needed);
            say!(
                lang,
                "waiting for {needed} of free memory (runs.min_free_memory)",
                "空きメモリ {needed} を待っています (runs.min_free_memory)"
            )
        }
        WaitReason::Disk { path, needed } => {
            let needed = size(*needed);
            say!(
                lang,
                "waiting for {needed} of free space at {path} (runs.min_free_disk); `dandori worktree gc` frees some",
                "{path} の空き容量 {needed} を待っています (runs.min_free_disk)。`dandori worktree gc` で空きを増やせます"
            )
        }
        WaitReason::Store { problem } => {
            let said = crate::problem(lang, problem);
            let what = format!("{}: {}", said.what, said.hint);
            say!(lang, "waiting for the database: {what}", "データベースを待っています: {what}")
        }
    }
}

/// The same in a word, for a table.
pub fn lacking_word(lang: Lang, reason: &WaitReason) -> Option<&'static str> {
    let (en, ja) = match reason {
        WaitReason::Place => return None,
        WaitReason::Memory { .. } => ("memory", "メモリ"),
        WaitReason::Disk { .. } => ("disk", "ディスク"),
        WaitReason::Store { .. } => ("store", "データベース"),
    };
    Some(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
}

pub fn started(lang: Lang, task: &str, title: &str) -> String {
    say!(lang, "{task} {title}", "{task} {title}")
}

pub fn detached(lang: Lang, task: &str) -> String {
    say!(lang, "{task} is running in the background", "{task} はバックグラウンドで実行中です")
}

pub fn interrupted(lang: Lang, task: &str) -> String {
    say!(
        lang,
        "Detached; {task} is still running\n  `dandori task show {task}` shows its state\n  `dandori task cancel {task}` cancels it",
        "表示を終了しました。{task} は実行中です\n  状況の確認: `dandori task show {task}`\n  取り消し: `dandori task cancel {task}`"
    )
}

pub fn no_changes(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no changes",
        Lang::Ja => "変更なし",
    }
}

pub fn changes(lang: Lang, files: u32, insertions: u64, deletions: u64) -> String {
    let s = if files == 1 { "" } else { "s" };
    match lang {
        Lang::En => format!("{files} file{s}, +{insertions} −{deletions}"),
        Lang::Ja => format!("{files} ファイル、+{insertions} −{deletions}"),
    }
}

/// What a worktree has that is nowhere else.
pub fn unsaved(lang: Lang, files: u32, commits: u32) -> String {
    match (lang, files, commits) {
        (Lang::En, files, 0) => format!("{files} uncommitted"),
        (Lang::En, 0, commits) => format!("{commits} unpushed"),
        (Lang::En, files, commits) => format!("{files} uncommitted, {commits} unpushed"),
        (Lang::Ja, files, 0) => format!("未コミット {files}"),
        (Lang::Ja, 0, commits) => format!("未プッシュ {commits}"),
        (Lang::Ja, files, commits) => format!("未コミット {files}、未プッシュ {commits}"),
    }
}

/// `3 files`, `1 file`.
pub(crate) fn count(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {one}{s}")
}

/// The database in a few words: what is wrong with it, or its newest backup.
pub fn store(lang: Lang, backend: &str, bytes: u64, damage: Option<&str>, backup: Option<&str>) -> String {
    let size = size(bytes);
    match (damage, backup) {
        (Some(damage), _) => format!("{backend}, {size}: {damage}"),
        (None, None) => format!("{backend}, {size}"),
        (None, Some(backup)) => {
            say!(lang, "{backend}, {size}, last backup {backup}", "{backend}、{size}、最新のバックアップ {backup}")
        }
    }
}

pub fn free(lang: Lang, bytes: u64) -> String {
    let size = size(bytes);
    say!(lang, "{size} free", "空き {size}")
}

/// A configuration file that is not there: nothing has to be written.
pub fn no_config(lang: Lang, path: &str) -> String {
    say!(lang, "{path}: not found, using the defaults", "{path}: なし (既定値を使用)")
}

pub fn not_installed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not installed",
        Lang::Ja => "未インストール",
    }
}

pub fn pushed(lang: Lang, branch: &str, commit: &str) -> String {
    say!(lang, "pushed {commit} to {branch}", "{commit} を {branch} にプッシュしました")
}

pub fn pull_opened(lang: Lang, number: u64, url: &str) -> String {
    say!(lang, "pull request #{number}: {url}", "プルリクエスト #{number}: {url}")
}

pub fn pull_failed(lang: Lang, problem: &Problem, run: &str) -> String {
    let said = crate::problem(lang, problem);
    pull_failed_because(lang, &said.why.map_or(said.what.clone(), |why| format!("{}: {why}", said.what)), run)
}

pub fn pull_failed_because(lang: Lang, reason: &str, run: &str) -> String {
    say!(
        lang,
        "the work is committed, but the pull request could not be opened: {reason}; try again with `dandori pr create {run}`",
        "変更はコミット済みですが、プルリクエストを作成できませんでした: {reason}。`dandori pr create {run}` で再試行できます"
    )
}

/// What to do about a failed run that does not say it itself.
pub fn after_failure(lang: Lang, key: &str) -> String {
    say!(
        lang,
        "see what the agent did with `dandori task log {key}`, or try again with `dandori task retry {key}`",
        "エージェントのログは `dandori task log {key}` で確認できます。`dandori task retry {key}` で再試行できます"
    )
}

pub fn already_canceled(lang: Lang, task: &str) -> String {
    say!(lang, "{task} is already canceled", "{task} は既に取り消されています")
}

pub fn preserved(lang: Lang, reference: &str) -> String {
    say!(lang, "the work was preserved in {reference}", "作業内容を {reference} に保存しました")
}

pub fn restore_hint(lang: Lang, key: &str) -> String {
    say!(lang, "restore it with `dandori worktree restore {key}`", "`dandori worktree restore {key}` で復元できます")
}

pub fn worktree_added(lang: Lang, path: &str, branch: &str) -> String {
    say!(lang, "{path} on {branch}", "{path} ({branch})")
}

/// Above its path.
pub fn worktree_restored(lang: Lang, branch: &str) -> String {
    say!(lang, "restored the work on {branch} in a worktree:", "{branch} の作業をワークツリーに復元しました:")
}

pub fn worktree_removed(lang: Lang, path: &str) -> String {
    say!(lang, "removed {path}", "{path} を削除しました")
}

pub fn branch_gone(lang: Lang, branch: &str) -> String {
    say!(lang, "deleted branch {branch}", "ブランチ {branch} を削除しました")
}

pub fn branch_left(lang: Lang, branch: &str) -> String {
    say!(lang, "kept branch {branch}", "ブランチ {branch} は残しました")
}

/// Why clearing up took something, or left it.
pub fn leftover_reason(lang: Lang, reason: &LeftoverReason) -> String {
    match reason {
        LeftoverReason::Merged => say!(lang, "fully merged into its base", "ベースにすべてマージ済みです"),
        LeftoverReason::Stale => say!(lang, "not used for a long time", "長期間使用されていません"),
        LeftoverReason::Orphaned => {
            say!(lang, "not used by any run or session", "どの実行・セッションからも使用されていません")
        }
        LeftoverReason::Missing => say!(lang, "its folder is missing", "フォルダーがありません"),
        LeftoverReason::Unknown => say!(
            lang,
            "no longer known to git: its contents could not be preserved",
            "git の管理から外れているため、内容を保存できません"
        ),
        LeftoverReason::Unrecorded => say!(
            lang,
            "its run is not in the restored database; take it over with `dandori worktree adopt <path>`, or remove it with `dandori worktree remove <worktree>`",
            "復元したデータベースに実行の記録がありません。`dandori worktree adopt <path>` で引き継ぐか、`dandori worktree remove <worktree>` で削除できます"
        ),
        LeftoverReason::Held { owner } => say!(lang, "in use by {owner}", "{owner} が使用中です"),
        LeftoverReason::Locked { reason } if reason.is_empty() => say!(lang, "locked", "ロックされています"),
        LeftoverReason::Locked { reason } => say!(lang, "locked: {reason}", "ロックされています: {reason}"),
    }
}

/// What clearing up found, in a word.
pub(crate) fn leftover_kind(lang: Lang, kind: &str) -> &str {
    match (lang, kind) {
        (Lang::Ja, "worktree") => "ワークツリー",
        (Lang::Ja, "branch") => "ブランチ",
        (Lang::Ja, "record") => "記録",
        (_, other) => other,
    }
}

pub fn nothing_to_collect(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing to clean up",
        Lang::Ja => "削除するものはありません",
    }
}

pub fn picked(lang: Lang, task: &str, agent: &str, run: &str) -> String {
    say!(lang, "{task}: picked {agent} ({run})", "{task}: {agent} ({run}) を採用しました")
}

pub fn no_tasks(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no tasks yet; start one with `dandori run \"…\"`",
        Lang::Ja => "タスクはまだありません。`dandori run \"…\"` で始められます",
    }
}

pub fn no_worktrees(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no worktrees; create one with `dandori worktree add`",
        Lang::Ja => "ワークツリーはありません。`dandori worktree add` で作成できます",
    }
}

pub fn daemon_running(lang: Lang, pid: u32, version: &str) -> String {
    say!(
        lang,
        "the daemon is running (pid {pid}, dandori {version})",
        "デーモンは動作中です (pid {pid}, dandori {version})"
    )
}

pub fn daemon_listens(lang: Lang, address: &str) -> String {
    say!(lang, "listening on http://{address}", "待ち受けアドレス: http://{address}")
}

pub fn daemon_has_stopped(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon has stopped; agents keep running, and the next command takes them over",
        Lang::Ja => "デーモンを停止しました。エージェントは実行を続け、次のコマンドで引き継がれます",
    }
}

pub fn daemon_stopped(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon is not running; the next command starts it",
        Lang::Ja => "デーモンは動作していません。次のコマンドで自動的に起動します",
    }
}

pub fn daemon_counts(lang: Lang, live: u32, max: u32, waiting: u64) -> String {
    say!(lang, "runs: {live} of {max} running, {waiting} queued", "実行: {live}/{max} 件実行中、{waiting} 件待機中")
}

pub fn at_work(lang: Lang, live: u64, waiting: u64) -> String {
    say!(lang, "{live} runs running, {waiting} queued", "{live} 件実行中、{waiting} 件待機中")
}

pub fn trusted(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is now trusted in its current form", "{path} を現在の内容で信頼しました")
}

pub fn trust_question(lang: Lang, path: &str) -> String {
    say!(lang, "Trust these settings of {path}?", "{path} のこれらの設定を信頼しますか?")
}

pub fn trust_revoked(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is no longer trusted", "{path} の信頼を取り消しました")
}

pub fn nothing_to_trust(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing in the configuration needs trust",
        Lang::Ja => "設定に信頼が必要な項目はありません",
    }
}

pub fn reconnecting(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon stopped; restarting it",
        Lang::Ja => "デーモンが停止したため、再起動しています",
    }
}

pub fn same_change(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "same",
        Lang::Ja => "同じ",
    }
}

pub fn different_change(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "different",
        Lang::Ja => "異なる",
    }
}

/// A span of time as short as it can be said.
pub fn age(lang: Lang, seconds: i64) -> String {
    let seconds = seconds.max(0);
    let (count, en, ja) = match seconds {
        ..60 => (seconds, "s", "秒"),
        60..3600 => (seconds / 60, "m", "分"),
        3600..86_400 => (seconds / 3600, "h", "時間"),
        _ => (seconds / 86_400, "d", "日"),
    };
    say!(lang, "{count}{en}", "{count}{ja}")
}

/// A path as it is typed; one that begins at the home keeps its `~`, which quotes would hide from the shell.
pub(crate) fn path_word(path: &str) -> String {
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", dandori_domain::shell_word(rest)),
        None => dandori_domain::shell_word(path),
    }
}

/// An amount as a user writes it for `--budget`: `0.50`, or as exact as it has to be.
pub(crate) fn dollars(amount: dandori_domain::Usd) -> String {
    const CENT: u64 = 10_000;
    let dollars = amount.dollars();
    if amount.0.is_multiple_of(CENT) {
        format!("{dollars:.2}")
    } else {
        format!("{dollars:.6}").trim_end_matches('0').to_owned()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size a person reads")]
pub fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or("B");
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {name}") }
}

/// Names of files, each in one piece.
pub(crate) fn files(names: &[String]) -> String {
    names.iter().map(|name| plain_path(name)).collect::<Vec<_>>().join(", ")
}
