//! Words of the command line itself: headings, progress, answers.

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
        Head::Owner => ("HELD BY", "使用者"),
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
        Head::Version => ("VERSION", "版"),
        Head::Playbook => ("PLAYBOOK", "PLAYBOOK"),
        Head::Guard => ("GUARD", "ガード"),
        Head::Level => ("LEVEL", "レベル"),
        Head::Source => ("SET BY", "設定元"),
        Head::OnError => ("IF IT FAILS", "エラー時"),
        Head::Events => ("ASKED", "判定の対象"),
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
    Said::what(say!(lang, "there is no place to keep dandori's state", "dandori の状態の保存先が決まりません"))
        .why(say!(lang, "neither HOME nor DANDORI_STATE_DIR is set", "HOME も DANDORI_STATE_DIR も設定されていません"))
        .hint(say!(lang, "set DANDORI_STATE_DIR to a folder", "DANDORI_STATE_DIR にフォルダーを設定してください"))
}

pub fn waiting(lang: Lang, place: u64, reason: &WaitReason) -> String {
    match reason {
        WaitReason::Place => {
            say!(lang, "waiting for a place, number {place} in the queue", "順番待ち ({place} 番目)")
        }
        other => {
            let lacking = lacking(lang, other);
            say!(lang, "{lacking}; number {place} in the queue", "{lacking} ({place} 番目)")
        }
    }
}

/// What those who wait are waiting for, other than their turn.
pub fn lacking(lang: Lang, reason: &WaitReason) -> String {
    match reason {
        WaitReason::Place => say!(lang, "waiting for a place", "順番待ち"),
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
                "waiting for {needed} of free space at {path} (runs.min_free_disk): make room, `dandori worktree gc` helps",
                "{path} の空き容量 {needed} を待っています (runs.min_free_disk)。`dandori worktree gc` などで空きを増やしてください"
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
    say!(
        lang,
        "{task} goes on in the background; `dandori task show {task}` tells how it stands",
        "{task} はバックグラウンドで続行します。状況は `dandori task show {task}` で確認できます"
    )
}

pub fn interrupted(lang: Lang, task: &str) -> String {
    say!(
        lang,
        "no longer waiting; {task} goes on, `dandori task show {task}` tells how it stands, `dandori task cancel {task}` ends it",
        "待機をやめました。{task} は続行しています。状況は `dandori task show {task}` で確認でき、`dandori task cancel {task}` で取り消せます"
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
    say!(lang, "{path}: none, the defaults apply", "{path}: なし (既定値を使用)")
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

pub fn pull_failed(lang: Lang, problem: &Problem) -> String {
    let said = crate::problem(lang, problem);
    let reason = said.why.map_or(said.what.clone(), |why| format!("{}: {why}", said.what));
    say!(
        lang,
        "the branch is pushed, but the pull request could not be opened: {reason}; `dandori pr create` tries again",
        "ブランチはプッシュ済みですが、プルリクエストを作成できませんでした: {reason}。`dandori pr create` で再試行できます"
    )
}

/// What to do about a failed run that does not say it itself.
pub fn after_failure(lang: Lang, key: &str) -> String {
    say!(
        lang,
        "`dandori task log {key}` shows what the agent did, `dandori task retry {key}` tries again",
        "エージェントの記録は `dandori task log {key}` で確認でき、`dandori task retry {key}` で再試行できます"
    )
}

pub fn preserved(lang: Lang, reference: &str) -> String {
    say!(lang, "uncommitted work is kept in {reference}", "未コミットの作業を {reference} に保存しました")
}

pub fn restore_hint(lang: Lang, key: &str) -> String {
    say!(lang, "`dandori worktree restore {key}` brings it back", "`dandori worktree restore {key}` で復元できます")
}

pub fn worktree_added(lang: Lang, path: &str, branch: &str) -> String {
    say!(lang, "{path} on {branch}", "{path} ({branch})")
}

pub fn worktree_removed(lang: Lang, path: &str) -> String {
    say!(lang, "removed {path}", "{path} を削除しました")
}

pub fn branch_gone(lang: Lang, branch: &str) -> String {
    say!(lang, "deleted its branch {branch}", "ブランチ {branch} を削除しました")
}

pub fn branch_left(lang: Lang, branch: &str) -> String {
    say!(lang, "its branch {branch} stays", "ブランチ {branch} は残しました")
}

/// Why clearing up took something, or left it.
pub fn leftover_reason(lang: Lang, reason: &LeftoverReason) -> String {
    match reason {
        LeftoverReason::Merged => say!(lang, "everything in it is on its base", "内容はすべてベースにあります"),
        LeftoverReason::Stale => say!(lang, "nobody has used it for long", "長い間使われていません"),
        LeftoverReason::Orphaned => {
            say!(lang, "no run or session knows it", "どの実行・セッションのものでもありません")
        }
        LeftoverReason::Missing => say!(lang, "its folder is gone", "フォルダーがありません"),
        LeftoverReason::Unrecorded => say!(
            lang,
            "git does not know it any more: what is in it could not be kept",
            "git が把握していないため、内容を保存できません"
        ),
        LeftoverReason::Lost => say!(
            lang,
            "its run is not in the restored database; `dandori worktree adopt` takes it up, `worktree remove` away",
            "復元したデータベースに実行の記録がありません。`dandori worktree adopt` で引き継ぐか、`worktree remove` で削除できます"
        ),
        LeftoverReason::Held { owner } => say!(lang, "it belongs to {owner}", "{owner} が使用中です"),
        LeftoverReason::Locked { reason } if reason.is_empty() => say!(lang, "it is locked", "ロックされています"),
        LeftoverReason::Locked { reason } => say!(lang, "it is locked: {reason}", "ロックされています: {reason}"),
    }
}

/// What clearing up found, in a word.
pub fn leftover_kind(lang: Lang, kind: &str) -> &str {
    match (lang, kind) {
        (Lang::Ja, "worktree") => "ワークツリー",
        (Lang::Ja, "branch") => "ブランチ",
        (Lang::Ja, "record") => "記録",
        (_, other) => other,
    }
}

pub fn left_alone(lang: Lang, name: &str, why: &str) -> String {
    say!(lang, "left {name} ({why})", "{name} はそのままにしました ({why})")
}

pub fn nothing_to_collect(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing to clean up",
        Lang::Ja => "片付けるものはありません",
    }
}

pub fn picked(lang: Lang, task: &str, run: &str) -> String {
    say!(lang, "{task}: {run} is picked", "{task}: {run} を選びました")
}

pub fn no_tasks(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no tasks yet; `dandori run \"…\"` starts one",
        Lang::Ja => "タスクはまだありません。`dandori run \"…\"` で始められます",
    }
}

pub fn no_worktrees(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no worktrees; `dandori worktree add` makes one",
        Lang::Ja => "ワークツリーはありません。`dandori worktree add` で作成できます",
    }
}

pub fn no_pulls(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no pull requests; `dandori pr create <task>` opens one",
        Lang::Ja => "プルリクエストはありません。`dandori pr create <タスク>` で作成できます",
    }
}

pub fn daemon_running(lang: Lang, pid: u32, version: &str) -> String {
    say!(lang, "the daemon runs (pid {pid}, dandori {version})", "デーモンは動作中です (pid {pid}, dandori {version})")
}

pub fn daemon_listens(lang: Lang, address: &str) -> String {
    say!(lang, "listening on http://{address}", "待ち受け: http://{address}")
}

pub fn daemon_has_stopped(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon has stopped; agents at work go on, and the next command takes them up again",
        Lang::Ja => "デーモンを停止しました。稼働中のエージェントは継続し、次のコマンドで引き継がれます",
    }
}

pub fn daemon_stopped(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon does not run; the next command starts it",
        Lang::Ja => "デーモンは動作していません。次のコマンドで自動的に起動します",
    }
}

pub fn daemon_counts(lang: Lang, live: u32, max: u32, waiting: u64) -> String {
    say!(lang, "runs: {live} of {max} at work, {waiting} waiting", "実行: {live}/{max} 稼働中、{waiting} 件待機中")
}

pub fn at_work(lang: Lang, live: u64, waiting: u64) -> String {
    say!(lang, "{live} runs at work, {waiting} waiting", "{live} 件稼働中、{waiting} 件待機中")
}

pub fn trusted(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is trusted as it stands now", "{path} の現在の内容を信頼しました")
}

pub fn trust_revoked(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is no longer trusted", "{path} の信頼を取り消しました")
}

pub fn nothing_to_trust(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the configuration asks for nothing that needs trust",
        Lang::Ja => "設定に信頼が必要な項目はありません",
    }
}

pub fn reconnecting(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the daemon went away; starting it again",
        Lang::Ja => "デーモンが停止したため、再起動しています",
    }
}

pub fn same_change(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "the same change",
        Lang::Ja => "同一の変更",
    }
}

pub fn different_change(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "different changes",
        Lang::Ja => "異なる変更",
    }
}

/// A span of time as short as it can be said.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{}s", seconds.max(0)),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
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
