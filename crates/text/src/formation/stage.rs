//! The states of the formation in words, and their signs. A sign never stands without its word.

use dandori_api::formation::{AgentFact, AgentState, BudgetScope, CommandStage, PhaseStage, TaskStage, WorkKind};
use dandori_formation::Role;

use crate::Lang;
use crate::lang::say;

fn pick(lang: Lang, (en, ja): (&'static str, &'static str)) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub(super) fn role(lang: Lang, role: Role) -> &'static str {
    pick(
        lang,
        match role {
            Role::Orchestrator => ("orchestrator", "オーケストレーター"),
            Role::Planner => ("planner", "プランナー"),
            Role::Worker => ("worker", "ワーカー"),
        },
    )
}

pub(super) fn agent_state(lang: Lang, state: AgentState) -> &'static str {
    pick(
        lang,
        match state {
            AgentState::Stopped => ("stopped", "停止"),
            AgentState::Starting => ("starting", "起動中"),
            AgentState::Idle => ("idle", "待機"),
            AgentState::Delivering => ("delivering", "配信中"),
            AgentState::Busy => ("busy", "作業中"),
            AgentState::Asking => ("asking", "質問中"),
            AgentState::Gone => ("gone", "異常終了"),
        },
    )
}

/// How a state is known.
pub(super) fn fact(lang: Lang, fact: &AgentFact) -> String {
    match fact {
        AgentFact::NotStarted => say!(lang, "not started yet", "まだ起動していません"),
        AgentFact::Hook { event } => say!(lang, "hook {event}", "フック {event}"),
        AgentFact::Title { title } => say!(lang, "title \"{title}\"", "タイトル「{title}」"),
        AgentFact::Run { run, state } => say!(lang, "run {run} {state}", "実行 {run} {state}"),
        AgentFact::Delivered => say!(lang, "not confirmed yet", "未確認"),
        AgentFact::NoMessage => say!(lang, "no message", "メッセージなし"),
        AgentFact::Exited { code: Some(code) } => say!(lang, "exit code {code}", "終了コード {code}"),
        AgentFact::Exited { code: None } => say!(lang, "process ended", "プロセスが終了"),
        AgentFact::PaneGone => say!(lang, "no tmux pane", "tmux のペインがありません"),
        AgentFact::StoppedByPerson => say!(lang, "stopped by a person", "ユーザーが停止"),
    }
}

pub(super) fn command(lang: Lang, stage: CommandStage) -> &'static str {
    pick(
        lang,
        match stage {
            CommandStage::Queued => ("queued", "計画待ち"),
            CommandStage::Sealed => ("in progress", "進行中"),
            CommandStage::Completed => ("completed", "完了"),
            CommandStage::Failed => ("failed", "失敗"),
            CommandStage::Cancelled => ("cancelled", "取り消し"),
        },
    )
}

pub(super) fn phase(lang: Lang, stage: PhaseStage) -> &'static str {
    pick(
        lang,
        match stage {
            PhaseStage::Pending => ("pending", "待機"),
            PhaseStage::AwaitingFill => ("awaiting fill", "タスク待ち"),
            PhaseStage::Active => ("active", "進行中"),
            PhaseStage::Completed => ("completed", "完了"),
            PhaseStage::Failed => ("failed", "失敗"),
            PhaseStage::Cancelled => ("cancelled", "取り消し"),
            PhaseStage::TimedOut => ("timed out", "期限切れ"),
        },
    )
}

pub(super) fn task(lang: Lang, stage: TaskStage) -> &'static str {
    pick(
        lang,
        match stage {
            TaskStage::Planned => ("planned", "計画済み"),
            TaskStage::Ready => ("ready", "開始待ち"),
            TaskStage::Dispatched => ("dispatched", "配信中"),
            TaskStage::Running => ("running", "実行中"),
            TaskStage::VerifyPending => ("verifying", "検証中"),
            TaskStage::RepairPending => ("needs repair", "修正待ち"),
            TaskStage::PausedForReplan => ("paused for replan", "再計画待ち"),
            TaskStage::Completed => ("completed", "完了"),
            TaskStage::Failed => ("failed", "失敗"),
            TaskStage::Cancelled => ("cancelled", "取り消し"),
        },
    )
}

pub(super) fn sign(stage: TaskStage) -> &'static str {
    match stage {
        TaskStage::Planned | TaskStage::Ready => "○",
        TaskStage::Dispatched | TaskStage::Running => "▶",
        TaskStage::VerifyPending => "◐",
        TaskStage::RepairPending | TaskStage::PausedForReplan => "!",
        TaskStage::Completed => "✓",
        TaskStage::Failed => "✗",
        TaskStage::Cancelled => "-",
    }
}

/// What an agent has, when it is not a task with a name.
pub(super) fn work(lang: Lang, kind: WorkKind) -> &'static str {
    pick(
        lang,
        match kind {
            WorkKind::Command => ("plan", "計画"),
            WorkKind::Fill => ("fill", "フェーズの計画"),
            WorkKind::Digest => ("digest", "結果の確認"),
            WorkKind::Task => ("task", "タスク"),
            WorkKind::Notice => ("notice", "完了の通知"),
            WorkKind::Words => ("message", "メッセージ"),
        },
    )
}

pub(super) fn budget(lang: Lang, scope: BudgetScope) -> &'static str {
    pick(
        lang,
        match scope {
            BudgetScope::Task => ("task", "タスク"),
            BudgetScope::Command => ("order", "依頼"),
            BudgetScope::Day => ("day", "1 日"),
        },
    )
}
