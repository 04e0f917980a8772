//! What commands say that ask something of a formation.

use dandori_api::formation::{
    Acceptance, CommandView, OrderChanged, RepairKind, RepairView, ResultWritten, StandingView, TaskCounts,
};
use dandori_domain::plain::{plain, plain_line};

use super::{graph, refused};
use crate::lang::say;
use crate::{Lang, Said};

pub fn bad_id(lang: Lang, flag: &str, text: &str) -> Said {
    Said::what(say!(lang, "invalid value {text:?} for {flag}", "{flag} の値 {text:?} は正しくありません")).hint(say!(
        lang,
        "copy the id from the message you were given, or from `dandori status --formation`",
        "受け取ったメッセージか `dandori status --formation` の ID をそのまま使ってください"
    ))
}

/// An argument that this kind of message needs.
pub fn missing(lang: Lang, flag: &str, kind: &str) -> Said {
    Said::what(say!(lang, "--type {kind} needs {flag}", "--type {kind} には {flag} が必要です")).hint(say!(
        lang,
        "see `dandori queue write --help`",
        "`dandori queue write --help` を参照してください"
    ))
}

pub fn wrong_receiver(lang: Lang, kind: &str, right: &str) -> Said {
    Said::what(say!(lang, "--type {kind} goes to {right}", "--type {kind} の宛先は {right} です")).hint(say!(
        lang,
        "write to `{right}` instead",
        "宛先を `{right}` にしてください"
    ))
}

/// Orders can be named by these two.
pub fn no_order_named(lang: Lang) -> Said {
    Said::what(say!(lang, "which order?", "どの依頼ですか?")).hint(say!(
        lang,
        "name it by number or id; `dandori order list` lists the orders",
        "番号か ID を指定してください。一覧は `dandori order list` で確認できます"
    ))
}

pub fn order_given(lang: Lang, number: u32, demands: usize, is_up: bool) -> String {
    let counted = match demands {
        0 => String::new(),
        1 => say!(lang, ", 1 demand", "、要求 1 件"),
        n => say!(lang, ", {n} demands", "、要求 {n} 件"),
    };
    if is_up {
        say!(lang, "order #{number} given to the planner{counted}", "依頼 #{number} をプランナーに渡しました{counted}")
    } else {
        say!(
            lang,
            "order #{number} queued{counted}; the formation is down: `dandori up` starts it",
            "依頼 #{number} を登録しました{counted}。フォーメーションは停止中です。`dandori up` で起動します"
        )
    }
}

pub fn words_sent(lang: Lang, to: &str) -> String {
    say!(lang, "sent to {to}", "{to} に送りました")
}

pub fn plan_is_valid(lang: Lang) -> String {
    say!(lang, "the plan is valid; nothing was stored", "計画に問題はありません。何も保存していません")
}

pub fn completed(lang: Lang, command: &str, status: &str) -> String {
    let status = outcome(lang, status);
    say!(lang, "{command}: {status}", "{command}: {status}")
}

pub fn outcome(lang: Lang, name: &str) -> String {
    match (lang, name) {
        (Lang::Ja, "completed") => "完了".to_owned(),
        (Lang::Ja, "failed") => "失敗".to_owned(),
        (Lang::Ja, "cancelled") => "取り消し".to_owned(),
        (_, name) => name.to_owned(),
    }
}

pub fn written(lang: Lang, written: &ResultWritten) -> String {
    let task = written.task_id;
    match (written.accepted, &written.kept_because) {
        (Acceptance::Now, _) => say!(lang, "result of {task} recorded", "{task} の結果を記録しました"),
        (Acceptance::Noted, _) => say!(
            lang,
            "result of {task} recorded; it counts when this run has ended and its work is committed",
            "{task} の結果を記録しました。この実行が終わり、作業がコミットされると有効になります"
        ),
        (Acceptance::Before, _) => {
            say!(lang, "the result of {task} was recorded before", "{task} の結果は記録済みです")
        }
        (Acceptance::Adopted, _) => say!(
            lang,
            "result of {task} recorded; it came late, and nobody else had the task",
            "{task} の結果を記録しました。期限後でしたが、ほかに担当者はいませんでした"
        ),
        (Acceptance::Kept, Some(why)) => refused::refused(lang, why).what,
        (Acceptance::Kept, None) => {
            say!(lang, "the result of {task} was kept and does not count", "{task} の結果は保存しましたが、無効です")
        }
    }
}

pub fn alive(lang: Lang, task: &str, until: &str) -> String {
    say!(lang, "{task} is yours until {until}", "{task} の担当期限: {until}")
}

pub fn is_up(lang: Lang, view: &StandingView) -> String {
    let mut how = Vec::new();
    if view.boost {
        how.push(say!(lang, "larger model for all tasks", "すべて大きいモデル"));
    }
    if view.continuous {
        how.push(say!(lang, "continuous", "連続モード"));
    }
    if !view.notify {
        how.push(say!(lang, "no notifications", "通知なし"));
    }
    let how = match (how.is_empty(), lang) {
        (true, _) => String::new(),
        (false, Lang::En) => format!(" ({})", how.join(", ")),
        (false, Lang::Ja) => format!(" ({})", how.join("、")),
    };
    let open = match view.open {
        0 => String::new(),
        1 => say!(lang, "; 1 open order continues", "。未完了の依頼 1 件を続行します"),
        n => say!(lang, "; {n} open orders continue", "。未完了の依頼 {n} 件を続行します"),
    };
    say!(lang, "the formation is up{how}{open}", "フォーメーションを起動しました{how}{open}")
}

pub fn is_down(lang: Lang, view: &StandingView) -> String {
    match view.open {
        0 => say!(lang, "the formation is down", "フォーメーションを停止しました"),
        n => say!(
            lang,
            "the formation is down; running agents finish, {n} open orders continue with `dandori up`",
            "フォーメーションを停止しました。実行中のエージェントは最後まで続け、未完了の依頼 {n} 件は `dandori up` で続行します"
        ),
    }
}

pub fn was_reset(lang: Lang, count: usize) -> String {
    match count {
        0 => say!(lang, "reset; no orders were open", "リセットしました。未完了の依頼はありませんでした"),
        1 => say!(lang, "reset; 1 order canceled", "リセットし、依頼 1 件を取り消しました"),
        n => say!(lang, "reset; {n} orders canceled", "リセットし、依頼 {n} 件を取り消しました"),
    }
}

pub fn may_reset(lang: Lang) -> String {
    say!(
        lang,
        "Cancel all open orders of this repository's formation?",
        "このリポジトリのフォーメーションの未完了の依頼をすべて取り消しますか?"
    )
}

/// What was done with an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Pause,
    Resume,
    Approve,
    Cancel,
    Amend,
}

pub fn changed(lang: Lang, change: Change, done: &OrderChanged) -> String {
    let number = done.order.number;
    match (change, &done.replaced_by) {
        (Change::Amend, Some(by)) => {
            let by = by.number;
            say!(
                lang,
                "order #{number} is replaced by #{by}, which has your addition",
                "依頼 #{number} を、追加内容を含む #{by} に置き換えました"
            )
        }
        (Change::Amend, None) => {
            say!(lang, "the planner of #{number} is told", "#{number} のプランナーに伝えます")
        }
        (Change::Pause, _) => say!(
            lang,
            "order #{number} paused; running agents finish, nothing more is given out",
            "依頼 #{number} を一時停止しました。実行中のエージェントは最後まで続け、新しい作業は渡しません"
        ),
        (Change::Resume, _) => say!(lang, "order #{number} resumed", "依頼 #{number} を再開しました"),
        (Change::Approve, _) => say!(lang, "plan of #{number} approved", "#{number} の計画を承認しました"),
        (Change::Cancel, _) if done.order.cancelling.is_some() => say!(
            lang,
            "order #{number} is being canceled; running agents are stopped, their work is preserved",
            "依頼 #{number} を取り消しています。実行中のエージェントを停止し、作業を保存します"
        ),
        (Change::Cancel, _) => say!(lang, "order #{number} canceled", "依頼 #{number} を取り消しました"),
    }
}

pub fn no_orders(lang: Lang) -> String {
    say!(
        lang,
        "no orders yet; `dandori order \"…\"` gives one",
        "依頼はまだありません。`dandori order \"…\"` で依頼できます"
    )
}

pub fn order_heads(lang: Lang) -> [&'static str; 5] {
    match lang {
        Lang::En => ["ORDER", "STATE", "TASKS", "PR", "TITLE"],
        Lang::Ja => ["依頼", "状態", "タスク", "PR", "内容"],
    }
}

/// A row below [`order_heads`].
pub fn order_row(lang: Lang, order: &CommandView) -> [String; 5] {
    [
        format!("#{}", order.number),
        super::status::command_state(lang, order),
        graph::counted(lang, order.counts),
        order.pr.as_ref().map(|pr| format!("#{}", pr.number)).unwrap_or_default(),
        graph::title(order),
    ]
}

pub fn no_dead_letters(lang: Lang) -> String {
    say!(lang, "no undeliverable messages", "配信できなかったメッセージはありません")
}

pub fn dead_letter_heads(lang: Lang) -> [&'static str; 5] {
    match lang {
        Lang::En => ["MESSAGE", "TO", "ABOUT", "TRIES", "REASON"],
        Lang::Ja => ["メッセージ", "宛先", "内容", "回数", "理由"],
    }
}

/// `#3 login-api`
pub fn about_message(lang: Lang, letter: &dandori_api::formation::DeadLetterView) -> String {
    let number = letter.number.map(|number| format!("#{number} ")).unwrap_or_default();
    let name = letter.name.clone().unwrap_or_else(|| super::stage::work(lang, letter.kind).to_owned());
    plain_line(&format!("{number}{name}"))
}

pub fn requeued(lang: Lang, answer: &dandori_api::formation::DeadLetterRequeued) -> String {
    if let Some(task) = answer.task_id {
        say!(lang, "{task} stands in for its task", "代わりのタスク: {task}")
    } else if let Some(command) = answer.command_id {
        say!(lang, "the order is given again: {command}", "もう一度依頼しました: {command}")
    } else {
        say!(lang, "queued again", "キューに戻しました")
    }
}

pub fn nothing_quarantined(lang: Lang) -> String {
    say!(lang, "nothing in quarantine", "隔離されたものはありません")
}

pub fn quarantine_heads(lang: Lang) -> [&'static str; 5] {
    match lang {
        Lang::En => ["NUMBER", "KIND", "FROM", "AGE", "REASON"],
        Lang::Ja => ["番号", "種類", "送信元", "経過", "理由"],
    }
}

pub fn kept_kind(lang: Lang, kind: &str) -> String {
    match (lang, kind) {
        (Lang::Ja, "plan") => "計画".to_owned(),
        (Lang::Ja, "result") => "結果".to_owned(),
        (_, kind) => kind.to_owned(),
    }
}

pub fn person(lang: Lang) -> String {
    say!(lang, "user", "ユーザー")
}

pub fn restored(lang: Lang, number: i64) -> String {
    say!(lang, "{number} was accepted this time", "{number} は受け付けられました")
}

pub fn restored_before(lang: Lang, at: &str) -> String {
    say!(lang, "accepted since, at {at}", "{at} に受け付け済み")
}

/// What a follower is told of a task.
pub fn task_line(lang: Lang, name: &str, state: dandori_api::formation::TaskStage, who: &str) -> String {
    let state = super::stage::task(lang, state);
    plain_line(&format!("{name}: {state} ({who})"))
}

pub fn awaits_planner(lang: Lang) -> String {
    say!(lang, "the planner is working on the plan", "プランナーが計画を作成しています")
}

pub fn awaits_approval(lang: Lang, number: u32) -> String {
    say!(
        lang,
        "the plan waits for you: `dandori order approve {number}` or `dandori order amend {number} \"…\"`",
        "計画の承認を待っています: `dandori order approve {number}` または `dandori order amend {number} \"…\"`"
    )
}

pub fn may_approve(lang: Lang) -> String {
    say!(lang, "Carry out this plan?", "この計画を実行しますか?")
}

pub fn detached(lang: Lang, number: u32) -> String {
    say!(
        lang,
        "Detached; order #{number} continues. `dandori order show {number} --follow` shows it again",
        "表示を終了しました。依頼 #{number} は続行中です。`dandori order show {number} --follow` で再び表示できます"
    )
}

pub fn ended(lang: Lang, number: u32, state: &str, counts: TaskCounts) -> String {
    let state = outcome(lang, state);
    let counted = graph::counted(lang, counts);
    say!(lang, "order #{number}: {state} {counted}", "依頼 #{number}: {state} {counted}").trim_end().to_owned()
}

pub fn pull(lang: Lang, number: u64, url: &str) -> String {
    say!(lang, "pull request #{number}: {url}", "プルリクエスト #{number}: {url}")
}

/// What an agent wrote, as a person may read it.
pub fn summary(text: &str) -> String {
    plain(text)
}

pub fn formation_is_sound(lang: Lang, commands: u64, tasks: u64, messages: u64) -> String {
    say!(
        lang,
        "{commands} orders, {tasks} tasks, {messages} messages checked",
        "依頼 {commands} 件、タスク {tasks} 件、メッセージ {messages} 件を確認しました"
    )
}

pub fn repair(lang: Lang, repair: &RepairView) -> String {
    let name = plain_line(repair.name.as_deref().unwrap_or_default());
    let command = repair.command.map(|command| command.to_string()).unwrap_or_default();
    match repair.repair {
        RepairKind::TimedOut => say!(
            lang,
            "phase {name} of {command} was not filled in time: timed_out",
            "{command} のフェーズ {name} は期限までにタスクが提出されなかったため、timed_out にしました"
        ),
        RepairKind::GivenUp => say!(
            lang,
            "the planner did not decide about {name} of {command} in time: failed",
            "{command} のタスク {name} は期限までに判断がなかったため、failed にしました"
        ),
        RepairKind::WokenToMerge => say!(
            lang,
            "the work of {name} of {command} waits to be merged: looked at again",
            "{command} のタスク {name} の作業はマージ待ちです。確認をやり直しました"
        ),
        RepairKind::LeaseExpired => {
            let message = repair.message.map(|message| message.to_string()).unwrap_or_default();
            say!(
                lang,
                "the lease of {message} has expired: looked at again",
                "{message} の期限が切れています。確認をやり直しました"
            )
        }
        RepairKind::Told => {
            say!(lang, "the planner of {command} is told again", "{command} のプランナーに改めて伝えます")
        }
    }
}

pub fn set_up(lang: Lang, repository: &str) -> String {
    say!(lang, "{repository} is ready for a formation", "{repository} の準備ができました")
}

pub fn set_up_file(lang: Lang, path: &str, is_new: bool) -> String {
    if is_new {
        say!(lang, "created {path}", "作成: {path}")
    } else {
        say!(lang, "{path} is there already and was left as it is", "既存のためそのまま: {path}")
    }
}
