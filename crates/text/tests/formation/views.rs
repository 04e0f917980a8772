//! What people see: the plan, the status, the dashboard and the metrics.

use dandori_api::formation::{
    AgentFact, AgentState, AgentView, BudgetScope, BudgetView, Channel, CommandView, ContinuousView, FormationCounters,
    FormationView, PlanView, TaskCounts, TokenView, WorkKind, WorkView,
};
use dandori_formation::command::{CommandState, Pause, Review};
use dandori_formation::continuous::{Continuous, StopReason};
use dandori_formation::{AgentId, Outcome, Tally};
use dandori_text::Lang;
use dandori_text::formation::{dashboard, graph, mermaid, metrics, status};
use dandori_text::table::width;
use jiff::{SignedDuration, Timestamp};

use crate::sample::{Sample, now, pull};
use crate::{LANGUAGES, is_fresh, is_japanese};

const SCREENS: [usize; 2] = [80, 40];

fn plan(sample: &Sample) -> PlanView {
    PlanView::of(CommandView::of(&sample.command, &sample.phases, None), &sample.tasks)
}

/// All lines fit, but for a command to copy, which stays in one piece.
fn on_screens(name: &str, ending: &str, lang: Lang, made: impl Fn(usize) -> Vec<String>) {
    for screen in SCREENS {
        let lines = made(screen);
        for line in &lines {
            assert!(width(line) <= screen || line.contains('`') || line.contains("https://"), "{screen}: {line}");
        }
        let text = lines.join("\n");
        assert_eq!(is_japanese(&text), lang == Lang::Ja, "{text}");
        is_fresh(&format!("{name}.{screen}.{ending}.txt"), &format!("{text}\n"));
    }
}

#[test]
fn a_plan_is_drawn_by_phases_and_layers() {
    for (lang, ending) in LANGUAGES {
        let sample = Sample::new(lang);
        on_screens("plan", ending, lang, |screen| graph::plan(lang, &plan(&sample), Some(screen)));
        is_fresh(&format!("plan.{ending}.mmd"), &mermaid::plan(lang, &plan(&sample)));
    }
}

#[test]
fn a_plan_that_is_held_up_says_why_and_one_without_phases_has_only_tasks() {
    for (lang, ending) in LANGUAGES {
        let mut sample = Sample::new(lang);
        sample.phases.clear();
        for task in &mut sample.tasks {
            task.phase = None;
        }
        sample.command.review = Review::Wanted;
        let reason = match lang {
            Lang::En => "the budget of the day is used up",
            Lang::Ja => "1 日の予算を使い切ったため",
        };
        sample.command.paused = Some(Pause { reason: reason.to_owned(), at: now() });
        on_screens("plan-of-tasks", ending, lang, |screen| {
            let mut plan = plan(&sample);
            plan.command.pr = Some(pull());
            graph::plan(lang, &plan, Some(screen))
        });
        sample.tasks.clear();
        sample.command.tally = Tally::default();
        sample.command.state = CommandState::Queued;
        let lines = graph::plan(lang, &plan(&sample), None);
        assert!(lines.last().unwrap().contains(match lang {
            Lang::En => "no plan yet",
            Lang::Ja => "計画はまだありません",
        }));
    }
}

#[test]
fn a_name_cannot_break_out_of_the_chart() {
    let mut sample = Sample::new(Lang::En);
    sample.tasks[0].name = "a\"]:::x --> `t9`; <b>#quot;&\\".to_owned();
    let chart = mermaid::plan(Lang::En, &plan(&sample));
    let line = chart.lines().find(|line| line.trim_start().starts_with("t1[")).unwrap();
    assert_eq!(
        line.trim(),
        "t1[\"a#quot;]:::x --#gt; #96;t9#96;; #lt;b#gt;#35;quot;#amp;#92;<br/>completed, worker1\"]:::completed"
    );
}

fn ago(seconds: i64) -> Timestamp {
    now().checked_sub(SignedDuration::from_secs(seconds)).unwrap()
}

fn agent(agent: AgentId, state: AgentState, seconds: i64, fact: AgentFact, work: Option<WorkView>) -> AgentView {
    AgentView {
        agent,
        role: agent.role(),
        client: if agent == AgentId::Worker(4) { "codex" } else { "claude" }.to_owned(),
        model: (agent != AgentId::Worker(4)).then(|| "sonnet".to_owned()),
        channel: Channel::Headless,
        state,
        since_at: (state != AgentState::Stopped).then(|| ago(seconds)),
        fact,
        queued: u64::from(state == AgentState::Busy) * 2,
        work,
    }
}

fn view(lang: Lang) -> FormationView {
    let sample = Sample::new(lang);
    let work = |kind, name: Option<&str>, attempt| {
        let task = (kind == WorkKind::Task).then(|| sample.named("login-api").id);
        let name = name.map(str::to_owned);
        let (command, number) = (Some(sample.id()), Some(3));
        Some(WorkView { kind, command, number, task, name, attempt, lease_epoch: 3, since_at: ago(90) })
    };
    let hook = |event: &str| AgentFact::Hook { event: event.to_owned() };
    let run = AgentFact::Run { run: "7f3k2m9q".to_owned(), state: "RUNNING".to_owned() };
    let title = AgentFact::Title { title: "✳ Login".to_owned() };
    let agents = vec![
        agent(AgentId::Orchestrator, AgentState::Idle, 120, hook("Stop"), None),
        agent(AgentId::Planner, AgentState::Busy, 40, hook("PreToolUse"), work(WorkKind::Fill, Some("build"), 1)),
        agent(AgentId::Worker(1), AgentState::Busy, 7200, run, work(WorkKind::Task, Some("login-api"), 2)),
        agent(AgentId::Worker(2), AgentState::Asking, 300, title, work(WorkKind::Task, Some("end-to-end-test"), 1)),
        agent(AgentId::Worker(3), AgentState::Delivering, 3, AgentFact::Delivered, work(WorkKind::Words, None, 1)),
        agent(AgentId::Worker(4), AgentState::Gone, 86_400, AgentFact::Exited { code: Some(137) }, None),
        agent(AgentId::Worker(5), AgentState::Stopped, 0, AgentFact::NotStarted, None),
    ];
    let mut over = sample.command.clone();
    over.number = 2;
    let content = match lang {
        Lang::En => "Rename the | package, and `nothing` else in the whole repository of the shop",
        Lang::Ja => "パッケージの | 名前を変える。リポジトリの `ほか` の部分は何も変更しない",
    };
    content.clone_into(&mut over.content);
    over.state = CommandState::Over { at: now(), outcome: Outcome::Failed, result: None };
    over.tally = Tally { open: 0, completed: 1, failed: 1, cancelled: 2 };
    let budget = |scope, name: &str, limit_cost, cost| BudgetView { scope, name: name.to_owned(), limit_cost, cost };
    FormationView {
        repository: "/home/ann/shop".to_owned(),
        is_up: true,
        seen_at: now(),
        agents,
        commands: vec![
            CommandView::of(&sample.command, &sample.phases, None),
            CommandView::of(&over, &[], Some(pull())),
        ],
        budgets: vec![
            budget(BudgetScope::Day, "2026-03-02", 20.0, Some(3.2)),
            budget(BudgetScope::Command, "#3", 5.0, Some(5.01)),
            budget(BudgetScope::Task, "login-api", 1.0, None),
        ],
        tokens: TokenView { coordination: 12_300, all: 120_000, limit_percent: Some(20) },
        continuous: Some(ContinuousView {
            current_iteration: 2,
            max_iterations: Some(5),
            consecutive_failures: 0,
            stopped: None,
        }),
        counters: FormationCounters {
            commands: TaskCounts { open: 1, completed: 4, failed: 1, cancelled: 0 },
            tasks: TaskCounts { open: 5, completed: 31, failed: 2, cancelled: 1 },
            deliveries: 52,
            failed_deliveries: 3,
            late_reports: 1,
            repairs: 4,
            dead_letters: 1,
        },
    }
}

#[test]
fn the_status_shows_who_does_what_since_when_and_how_that_is_known() {
    for (lang, ending) in LANGUAGES {
        on_screens("status", ending, lang, |screen| status::formation(lang, &view(lang), Some(screen)));
        let mut wide = status::formation(lang, &view(lang), None).join("\n");
        wide.push('\n');
        is_fresh(&format!("status.wide.{ending}.txt"), &wide);
        is_fresh(&format!("dashboard.{ending}.md"), &dashboard::dashboard(lang, &view(lang)));
    }
}

#[test]
fn a_formation_that_is_down_says_how_to_start_it_and_how_to_give_an_order() {
    for (lang, ending) in LANGUAGES {
        let mut view = view(lang);
        view.is_up = false;
        view.agents.truncate(1);
        view.commands.clear();
        view.budgets.clear();
        view.tokens = TokenView::default();
        let stopped = Continuous { enabled: true, stopped: Some(StopReason::TaskFailed), ..Continuous::default() };
        view.continuous = ContinuousView::of(&stopped);
        view.counters = FormationCounters::default();
        on_screens("status-down", ending, lang, |screen| status::formation(lang, &view, Some(screen)));
    }
}

#[test]
fn coordination_has_a_share_and_a_limit() {
    let mut view = view(Lang::En);
    let line = |view: &FormationView| {
        let lines = status::formation(Lang::En, view, None);
        lines.into_iter().find(|line| line.starts_with("coordination")).unwrap()
    };
    assert_eq!(line(&view), "coordination: 12.3k of 120.0k tokens (10%, limit 20%)");
    view.tokens.limit_percent = Some(10);
    assert_eq!(line(&view), "coordination: 12.3k of 120.0k tokens (10%, over the limit of 10%)");
    view.tokens.limit_percent = None;
    assert_eq!(line(&view), "coordination: 12.3k of 120.0k tokens (10%)");
}

#[test]
fn prometheus_can_read_the_metrics() {
    let mut other = view(Lang::En);
    other.repository = "/home/ann/a \"b\"\\c".to_owned();
    other.agents.truncate(1);
    let text = metrics::metrics(&[view(Lang::En), other]);
    let mut family = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let name = rest.split(' ').next().unwrap();
            assert_eq!(text.matches(&format!("# TYPE {name} ")).count(), 1, "{name} is declared once");
            family = name;
        } else if !line.starts_with('#') {
            assert!(line.starts_with(&format!("{family}{{")), "{line} belongs to {family}");
            assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
            assert_eq!(family.ends_with("_total"), text.contains(&format!("# TYPE {family} counter")), "{family}");
        }
    }
    is_fresh("metrics.txt", &text);
}
