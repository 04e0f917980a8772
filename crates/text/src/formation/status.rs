//! A formation on a terminal: who does what and since when, how that is known, the orders, and what it costs.

use dandori_api::formation::{AgentView, BudgetView, CommandView, FormationView, TokenView, WorkView};
use dandori_domain::plain::plain_line;
use jiff::Timestamp;

use super::{graph, notice, stage};
use crate::lang::say;
use crate::watch::thousands;
use crate::{Lang, Table, ui, wrap, wrap_after};

/// Its lines, no wider than the screen as far as names allow.
pub fn formation(lang: Lang, view: &FormationView, screen: Option<usize>) -> Vec<String> {
    let cells = screen.unwrap_or(usize::MAX);
    let repository = plain_line(&view.repository);
    let state = if view.is_up {
        say!(lang, "formation of {repository}: up", "{repository} のフォーメーション: 稼働中")
    } else {
        say!(
            lang,
            "formation of {repository}: down; `dandori up` starts it",
            "{repository} のフォーメーション: 停止中。`dandori up` で起動します"
        )
    };
    let mut lines = wrap(&state, cells);
    lines.push(String::new());
    lines.extend(agents(lang, view).lines(screen));
    lines.push(String::new());
    lines.extend(commands(lang, view, screen));
    lines.push(String::new());
    for line in costs(lang, view, plain_line) {
        lines.extend(wrap(&line, cells));
    }
    lines
}

fn agents(lang: Lang, view: &FormationView) -> Table {
    let heads: [&str; 7] = match lang {
        Lang::En => ["AGENT", "STATE", "QUEUE", "WORK", "ROLE", "MODEL", "KNOWN BY"],
        Lang::Ja => ["エージェント", "状態", "待ち", "作業", "役割", "モデル", "根拠"],
    };
    let mut table = Table::new(heads).rank([0, 0, 1, 0, 4, 3, 2]).shrink(3, 14).wrapping();
    for agent in &view.agents {
        table.row([
            agent.agent.to_string(),
            state(lang, agent, view.seen_at),
            agent.queued.to_string(),
            agent.work.as_ref().map(|work| doing(lang, work)).unwrap_or_default(),
            stage::role(lang, agent.role).to_owned(),
            model(agent),
            plain_line(&stage::fact(lang, &agent.fact)),
        ]);
    }
    table
}

/// `busy 3m`
pub(super) fn state(lang: Lang, agent: &AgentView, now: Timestamp) -> String {
    let state = stage::agent_state(lang, agent.state);
    let age = agent.since_at.map(|since| ui::age(lang, now.duration_since(since).as_secs()));
    age.map_or_else(|| state.to_owned(), |age| format!("{state} {age}"))
}

/// Its model, or its client where that chooses one.
pub(super) fn model(agent: &AgentView) -> String {
    plain_line(agent.model.as_deref().unwrap_or(&agent.client))
}

/// `#3 login-api`, with the attempt where it is not the first.
pub(super) fn doing(lang: Lang, work: &WorkView) -> String {
    let number = work.number.map(|number| format!("#{number} ")).unwrap_or_default();
    let name = match (&work.task, &work.name) {
        (Some(_), Some(name)) => name.clone(),
        (None, Some(name)) => format!("{} {name}", stage::work(lang, work.kind)),
        (_, None) => stage::work(lang, work.kind).to_owned(),
    };
    let attempt = work.attempt;
    let again = if attempt > 1 { say!(lang, " (try {attempt})", " ({attempt} 回目)") } else { String::new() };
    plain_line(&format!("{number}{name}{again}"))
}

fn commands(lang: Lang, view: &FormationView, screen: Option<usize>) -> Vec<String> {
    if view.commands.is_empty() {
        let none = say!(
            lang,
            "no orders yet; `dandori order \"…\"` gives one",
            "依頼はまだありません。`dandori order \"…\"` で依頼できます"
        );
        return wrap(&none, screen.unwrap_or(usize::MAX));
    }
    let heads: [&str; 5] = match lang {
        Lang::En => ["ORDER", "STATE", "TASKS", "AGE", "TITLE"],
        Lang::Ja => ["依頼", "状態", "タスク", "経過", "内容"],
    };
    let mut table = Table::new(heads).rank([0, 0, 1, 2, 0]).title_last();
    for command in &view.commands {
        let age = ui::age(lang, view.seen_at.duration_since(command.created_at).as_secs());
        table.row([
            format!("#{}", command.number),
            command_state(lang, command),
            graph::counted(lang, command.counts),
            age,
            graph::title(command),
        ]);
    }
    let frame = table.frame(screen);
    let mut lines = table.head(&frame);
    for (command, row) in view.commands.iter().zip(table.rows().skip(1)) {
        lines.extend(frame.lines(row));
        let phases = phases(lang, command);
        if !phases.is_empty() {
            let cells = screen.map_or(usize::MAX, |screen| screen.saturating_sub(4));
            lines.extend(wrap_after(&phases, 0, cells).into_iter().map(|line| format!("    {line}")));
        }
    }
    lines
}

/// What holds it up counts more than how far it is.
pub(super) fn command_state(lang: Lang, command: &CommandView) -> String {
    use dandori_formation::command::Review;
    if command.cancelling.is_some() {
        say!(lang, "being cancelled", "取り消し中")
    } else if command.paused.is_some() {
        say!(lang, "paused", "一時停止中")
    } else if command.review == Review::Wanted {
        say!(lang, "to be approved", "承認待ち")
    } else {
        stage::command(lang, command.state).to_owned()
    }
}

/// `research: completed (2/2) · build: awaiting fill`
pub(super) fn phases(lang: Lang, command: &CommandView) -> String {
    let each = command.phases.iter().map(|phase| {
        let (state, counted) = (stage::phase(lang, phase.state), graph::counted(lang, phase.counts));
        let counted = if counted.is_empty() { counted } else { format!(" ({counted})") };
        plain_line(&format!("{}: {state}{counted}", phase.name))
    });
    each.collect::<Vec<_>>().join(" · ")
}

/// Budgets, tokens, continuous mode and what could not be delivered. `clean` is how names are made harmless where it is shown.
pub(super) fn costs(lang: Lang, view: &FormationView, clean: fn(&str) -> String) -> Vec<String> {
    let mut lines: Vec<String> =
        view.budgets.iter().map(|budget| budget_line(lang, budget, &clean(&budget.name))).collect();
    lines.push(tokens(lang, &view.tokens));
    if let Some(continuous) = &view.continuous {
        let at = continuous.current_iteration;
        let most = continuous.max_iterations.map(|most| format!("/{most}")).unwrap_or_default();
        lines.push(match continuous.stopped {
            None => say!(lang, "continuous mode: iteration {at}{most}", "継続モード: {at}{most} 回目"),
            Some(reason) => notice::stopped(lang, reason),
        });
    }
    let dead = view.counters.dead_letters;
    if dead > 0 {
        let counted = ui::count(dead, "message");
        lines.push(say!(
            lang,
            "{counted} could not be delivered: `dandori dead-letter list`",
            "配信できなかったメッセージが {dead} 件あります: `dandori dead-letter list`"
        ));
    }
    lines
}

fn budget_line(lang: Lang, budget: &BudgetView, name: &str) -> String {
    let (scope, limit) = (stage::budget(lang, budget.scope), budget.limit_cost);
    let Some(cost) = budget.cost else {
        return say!(
            lang,
            "budget of {scope} {name}: ${limit:.2}, spent unknown",
            "予算 ({scope} {name}): ${limit:.2}、使用額は不明"
        );
    };
    let over = cost >= limit;
    let note = if over { say!(lang, ", used up", "、上限に達しました") } else { String::new() };
    say!(
        lang,
        "budget of {scope} {name}: ${cost:.2} of ${limit:.2}{note}",
        "予算 ({scope} {name}): ${limit:.2} 中 ${cost:.2}{note}"
    )
}

fn tokens(lang: Lang, tokens: &TokenView) -> String {
    let Some(percent) = tokens.coordination_percent() else {
        return say!(lang, "tokens: none used yet", "トークン: まだ使われていません");
    };
    let (part, all) = (thousands(tokens.coordination), thousands(tokens.all));
    let limit = match tokens.limit_percent {
        None => String::new(),
        Some(limit) if tokens.is_over_limit() => {
            say!(lang, ", over the limit of {limit}%", "、上限 {limit}% を超えています")
        }
        Some(limit) => say!(lang, ", limit {limit}%", "、上限 {limit}%"),
    };
    say!(
        lang,
        "coordination: {part} of {all} tokens ({percent}%{limit})",
        "調整に使ったトークン: {all} 中 {part} ({percent}%{limit})"
    )
}
