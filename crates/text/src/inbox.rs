//! What needs a person, in words: what it is, and the one command that resolves it.

use dandori_domain::need::{Need, NeedKind};
use dandori_domain::{Failure, RunKey, TaskNumber, Usd};

use crate::lang::say;
use crate::{Lang, ui};

/// What happened, in a line.
pub fn message(lang: Lang, kind: &NeedKind) -> String {
    match kind {
        NeedKind::Failed { failure, kept } => {
            let cause = crate::cause(lang, failure);
            let line = cause.lines().next().unwrap_or_default();
            match kept {
                true => say!(lang, "failed: {line} (its changes are preserved)", "失敗: {line} (変更は保存済み)"),
                false => say!(lang, "failed: {line}", "失敗: {line}"),
            }
        }
        NeedKind::Conflict { files } => {
            let files = some_of(files);
            say!(lang, "conflicts with what others pushed: {files}", "リモートの変更とコンフリクトしています: {files}")
        }
        NeedKind::BudgetReached { budget, spent } => {
            let budget = ui::dollars(*budget);
            say!(
                lang,
                "stopped at its budget of ${budget} ({spent} spent)",
                "予算 ${budget} に達したため停止しました (使用額 {spent})"
            )
        }
        NeedKind::Silent { seconds, .. } => {
            let length = duration(lang, *seconds);
            say!(
                lang,
                "stopped: the agent said nothing for {length}",
                "エージェントの出力が {length}なかったため停止しました"
            )
        }
        NeedKind::Quiet => {
            say!(lang, "running, but the agent is quiet", "実行中ですが、エージェントの出力が止まっています")
        }
        NeedKind::Choice { agents } => {
            let agents = agents.join(", ");
            say!(
                lang,
                "several agents are done ({agents}): pick one",
                "複数のエージェントが完了しました ({agents})。1 つ選んでください"
            )
        }
        NeedKind::KeptWork { .. } => {
            say!(
                lang,
                "canceled; nobody has looked at its preserved work yet",
                "取り消し済み。保存した作業はまだ確認されていません"
            )
        }
        NeedKind::PullFailed { problem } => {
            let said = crate::problem(lang, problem);
            let reason = said.what;
            say!(
                lang,
                "the pull request could not be opened: {reason}",
                "プルリクエストを作成できませんでした: {reason}"
            )
        }
        NeedKind::PullReady { base, behind: Some(behind @ 1..), .. } => {
            let commits = ui::count(*behind, "commit");
            say!(
                lang,
                "the pull request waits for review and merge; it is {commits} behind {base}",
                "プルリクエストがレビューとマージを待っています ({base} より {behind} コミット遅れています)"
            )
        }
        NeedKind::PullConflict { base, files, .. } => {
            let files = some_of(files);
            say!(
                lang,
                "the pull request conflicts with {base}: {files}",
                "プルリクエストが {base} とコンフリクトしています: {files}"
            )
        }
        NeedKind::PullReady { .. } => {
            say!(lang, "the pull request waits for review and merge", "プルリクエストがレビューとマージを待っています")
        }
        NeedKind::Trust { path, .. } => {
            say!(
                lang,
                "a run was refused: {path} is not trusted",
                "{path} が信頼されていないため、実行が拒否されました"
            )
        }
        NeedKind::Consent { .. } => say!(
            lang,
            "an agent waits for you to confirm what it understood",
            "エージェントが理解内容の確認を待っています"
        ),
        NeedKind::StoreRestored { backup: Some(backup), .. } => say!(
            lang,
            "the database was damaged and restored from the backup {backup}",
            "データベースが破損していたため、バックアップ {backup} から復元しました"
        ),
        NeedKind::StoreRestored { backup: None, .. } => say!(
            lang,
            "the database was damaged, and there was no backup: it starts empty",
            "データベースが破損していました。バックアップがないため、空の状態から始めました"
        ),
        NeedKind::DaemonTrouble { problem } => {
            let said = crate::problem(lang, problem);
            match said.why {
                Some(why) => format!("{}: {}", said.what, why.lines().next().unwrap_or_default()),
                None => said.what,
            }
        }
        NeedKind::DiskLow { path, free, needed } => {
            let (free, needed) = (ui::size(*free), ui::size(*needed));
            say!(
                lang,
                "only {free} free at {path}: no run starts below {needed}",
                "{path} の空き容量が {free} しかありません。{needed} 未満では実行を開始しません"
            )
        }
    }
}

/// What a need is about, as commands name it.
#[derive(Clone, Copy, Debug, Default)]
pub struct About<'a> {
    pub task: Option<&'a str>,
    /// Only where the task's name would not do.
    pub run: Option<&'a str>,
    pub pull: Option<u64>,
}

/// The command that resolves it, and whether it has to be typed in its repository.
pub fn command(lang: Lang, kind: &NeedKind, about: About<'_>) -> (String, InRepository) {
    let task = about.task.unwrap_or_default();
    let run = about.run.unwrap_or(task);
    let anywhere = |command: String| (command, InRepository::No);
    let there = |command: String| (command, InRepository::Yes);
    match kind {
        NeedKind::Failed { failure: Failure::AgentMissing { .. }, .. } => anywhere("dandori doctor".to_owned()),
        NeedKind::Failed { .. } | NeedKind::Silent { .. } => anywhere(format!("dandori task retry {run}")),
        NeedKind::Conflict { .. } => {
            let words = say!(lang, "Resolve the conflicts", "コンフリクトを解決してください");
            anywhere(format!("dandori task follow-up {run} \"{words}\""))
        }
        NeedKind::BudgetReached { budget, .. } => {
            let words = say!(lang, "Continue", "続けてください");
            let twice = ui::dollars(Usd(budget.0.saturating_mul(2)));
            anywhere(format!("dandori task follow-up {run} \"{words}\" --budget {twice}"))
        }
        NeedKind::Quiet => anywhere(format!("dandori task log {run}")),
        NeedKind::Choice { .. } => anywhere(format!("dandori task compare {task}")),
        NeedKind::KeptWork { .. } => there(format!("dandori worktree restore {run}")),
        NeedKind::PullFailed { .. } => there(format!("dandori pr create {run}")),
        NeedKind::PullReady { .. } => there(format!("dandori pr merge {}", about.pull.unwrap_or_default())),
        NeedKind::PullConflict { .. } => there(format!("dandori pr update {}", about.pull.unwrap_or_default())),
        NeedKind::Trust { .. } => there("dandori trust".to_owned()),
        NeedKind::Consent { .. } => there("dandori consent".to_owned()),
        NeedKind::StoreRestored { .. } | NeedKind::DaemonTrouble { .. } => anywhere("dandori doctor".to_owned()),
        NeedKind::DiskLow { .. } => there("dandori worktree gc".to_owned()),
    }
}

/// Where a command has to be typed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InRepository {
    No,
    Yes,
}

/// A need's title, message and command, for a notice.
pub fn told(lang: Lang, need: &Need) -> (String, String, String) {
    let subject = &need.subject;
    let number = subject.number.map(|number: TaskNumber| number.to_string());
    let key = subject.run.filter(|_| !subject.is_sole).map(|run| run.key()).as_ref().map(RunKey::to_string);
    let about = About { task: number.as_deref(), run: key.as_deref(), pull: subject.pull };
    let (command, _) = command(lang, &need.kind, about);
    let title = match (&number, &subject.title) {
        (Some(number), Some(title)) => format!("{number} {title}"),
        (Some(number), None) => number.clone(),
        _ => "dandori".to_owned(),
    };
    (title, message(lang, &need.kind), command)
}

/// A run that ended well while nobody looked.
pub fn ended(lang: Lang, changes: &str) -> String {
    say!(lang, "done: {changes}", "完了: {changes}")
}

pub fn test_notice(lang: Lang) -> String {
    say!(lang, "This is a test of dandori's notifications", "dandori の通知のテストです")
}

pub fn empty(lang: Lang) -> String {
    say!(lang, "Nothing needs you", "要対応はありません")
}

pub fn hidden(lang: Lang, snoozed: usize) -> String {
    say!(lang, "{snoozed} snoozed: `dandori inbox --snoozed`", "スヌーズ中 {snoozed} 件: `dandori inbox --snoozed`")
}

pub fn snoozed(lang: Lang, id: &str, until: &str) -> String {
    say!(lang, "{id} snoozed until {until}", "{id} を {until} までスヌーズしました")
}

pub fn dismissed(lang: Lang, count: usize) -> String {
    say!(lang, "{count} dismissed", "{count} 件を既読にしました")
}

pub fn how_to_wake(lang: Lang, id: &str) -> String {
    say!(lang, "`dandori inbox wake {id}` shows it again", "`dandori inbox wake {id}` で元に戻せます")
}

pub fn woken(lang: Lang, id: &str) -> String {
    say!(lang, "{id} is in the inbox again", "{id} を要対応に戻しました")
}

/// What stands beside a need that is out of sight.
pub fn until(lang: Lang, until: &str, reason: &str) -> String {
    if reason.is_empty() {
        say!(lang, "snoozed until {until}", "{until} までスヌーズ")
    } else {
        say!(lang, "snoozed until {until}: {reason}", "{until} までスヌーズ: {reason}")
    }
}

pub fn put_away(lang: Lang) -> String {
    say!(lang, "dismissed", "既読")
}

pub fn bad_duration(lang: Lang, text: &str) -> crate::Said {
    crate::Said::what(say!(lang, "invalid duration `{text}`", "`{text}` は期間として解釈できません")).hint(say!(
        lang,
        "use a number with m, h or d: 30m, 2h, 3d",
        "数字に m、h、d のいずれかを付けてください (例: 30m、2h、3d)"
    ))
}

pub fn nothing_named(lang: Lang) -> crate::Said {
    crate::Said::what(say!(lang, "nothing to dismiss was named", "対象が指定されていません")).hint(say!(
        lang,
        "name the ids that `dandori inbox` shows, or add --all",
        "`dandori inbox` に表示される ID を指定するか、--all を付けてください"
    ))
}

/// How a notice went on one way.
pub fn way_sent(lang: Lang) -> String {
    say!(lang, "sent", "送信しました")
}

pub fn way_failed(lang: Lang, reason: &str) -> String {
    say!(lang, "failed: {reason}", "失敗: {reason}")
}

pub fn way_skipped(lang: Lang, reason: &str) -> String {
    match reason {
        "no_session" => say!(lang, "skipped: no desktop session", "対象外: デスクトップセッションがありません"),
        "no_program" => say!(
            lang,
            "skipped: neither notify-send nor busctl is installed",
            "対象外: notify-send も busctl もインストールされていません"
        ),
        "no_terminal" => say!(lang, "skipped: no terminal", "対象外: 端末がありません"),
        "terminal_gone" => say!(lang, "skipped: the terminal was closed", "対象外: 端末は閉じられています"),
        other => say!(lang, "skipped: {other}", "対象外: {other}"),
    }
}

pub fn no_ways(lang: Lang, config: &str) -> String {
    say!(
        lang,
        "No notifications are configured; set desktop, bell, command or webhook below [notify] in {config}",
        "通知が設定されていません。{config} の [notify] に desktop、bell、command、webhook のいずれかを設定してください"
    )
}

/// Five minutes, two hours, in a word.
pub fn duration(lang: Lang, seconds: u64) -> String {
    let (count, en, ja) = match seconds {
        0..60 => (seconds, "s", "秒"),
        60..3_600 => (seconds / 60, "m", "分"),
        3_600..86_400 => (seconds / 3_600, "h", "時間"),
        _ => (seconds / 86_400, "d", "日"),
    };
    match lang {
        Lang::En => format!("{count}{en}"),
        Lang::Ja => format!("{count} {ja}"),
    }
}

/// How long ago.
pub fn ago(lang: Lang, seconds: u64) -> String {
    if seconds < 60 {
        return say!(lang, "just now", "たった今");
    }
    let length = duration(lang, seconds);
    say!(lang, "{length} ago", "{length}前")
}

fn some_of(files: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown = ui::files(files.get(..SHOWN).unwrap_or(files));
    if files.len() > SHOWN { format!("{shown}, …") } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::{Limit, Oid, Problem};

    fn every_kind() -> Vec<NeedKind> {
        vec![
            NeedKind::Failed { failure: Failure::PushRefused { reason: "no".into() }, kept: false },
            NeedKind::Failed { failure: Failure::SupervisorLost, kept: true },
            NeedKind::Failed {
                failure: Failure::AgentMissing { agent: "codex".into(), program: "codex".into() },
                kept: false,
            },
            NeedKind::Conflict { files: ["a", "b", "c", "d"].map(str::to_owned).to_vec() },
            NeedKind::BudgetReached { budget: Usd(500_000), spent: Usd(510_000) },
            NeedKind::Silent { limit: Limit::Silence, seconds: 900 },
            NeedKind::Quiet,
            NeedKind::Choice { agents: vec!["claude".into(), "codex".into()] },
            NeedKind::KeptWork { reference: "refs/x".into() },
            NeedKind::PullFailed { problem: Problem::ForgeRefused { reason: "no".into() } },
            NeedKind::PullReady { url: "u".into(), base: "main".into(), commit: Oid::new("a"), behind: None },
            NeedKind::PullConflict { url: "u".into(), base: "main".into(), commit: Oid::new("a"), files: Vec::new() },
            NeedKind::Trust { path: "/r/dandori.toml".into(), what: vec![] },
            NeedKind::Consent { session: "s".into() },
            NeedKind::StoreRestored { quarantine: "/q".into(), backup: None },
            NeedKind::StoreRestored { quarantine: "/q".into(), backup: Some("b".into()) },
            NeedKind::DaemonTrouble { problem: Problem::StoreFull },
            NeedKind::DiskLow { path: "/s".into(), free: 1 << 20, needed: 1 << 30 },
        ]
    }

    #[test]
    fn a_failure_is_told_without_a_command_that_knows_no_task() {
        let gone = Failure::RepositoryGone { path: "/r".into(), during: None };
        for failure in [Failure::SupervisorLost, gone, Failure::PushRefused { reason: "no".into() }] {
            for lang in [Lang::En, Lang::Ja] {
                let line = message(lang, &NeedKind::Failed { failure: failure.clone(), kept: false });
                assert!(!line.contains('<') && !line.contains('`'), "{line}");
            }
        }
        let line = message(Lang::En, &NeedKind::Failed { failure: Failure::SupervisorLost, kept: false });
        let told =
            "failed: the agent's supervisor was killed or the machine went down; the work is still in its worktree";
        assert_eq!(line, told);
    }

    #[test]
    fn every_need_has_a_line_in_both_languages_and_a_command_of_ours() {
        let about = About { task: Some("T-3"), run: Some("abcd1234"), pull: Some(7) };
        for kind in every_kind() {
            let (en, ja) = (message(Lang::En, &kind), message(Lang::Ja, &kind));
            assert!(!en.contains('\n') && !ja.contains('\n'), "{kind:?}");
            assert_ne!(en, ja, "{kind:?}");
            assert!(!ja.is_ascii(), "{ja}");
            let (command, _) = command(Lang::En, &kind, about);
            assert!(command.starts_with("dandori "), "{command}");
        }
    }

    #[test]
    fn lengths_of_time_are_one_word() {
        let said = |seconds| (duration(Lang::En, seconds), duration(Lang::Ja, seconds));
        assert_eq!(said(5), ("5s".into(), "5 秒".into()));
        assert_eq!(said(900).0, "15m");
        assert_eq!(said(7_300).0, "2h");
        assert_eq!(said(400_000), ("4d".into(), "4 日".into()));
    }
}
