//! What is delivered to agents.

use std::fmt::Write;

use dandori_formation::continuous::{Continuous, StopReason};
use dandori_formation::message::{Delivery, MessageKind};
use dandori_formation::result::{Outcome, Reported};
use dandori_formation::{AgentId, Rules, TaskState};
use dandori_text::Lang;
use dandori_text::formation::Handoff;
use dandori_text::formation::notice::{self, CommandOver};
use dandori_text::formation::planner::{self, Digest, OrderToPlan, PhaseToFill};
use dandori_text::formation::worker::{self, WorkerTask};

use crate::sample::{Sample, brief, conflict, crew, now, pull};
use crate::{LANGUAGES, is_fresh, is_japanese};

fn in_words(lang: Lang, en: &'static str, ja: &'static str) -> &'static str {
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

/// A title over each, so that the file can be read.
fn check(name: &str, lang: Lang, ending: &str, all: &[(&str, String)]) {
    let mut text = String::new();
    for (title, said) in all {
        assert!(said.starts_with("[dandori] "), "{title}: {said}");
        assert_eq!(is_japanese(said), lang == Lang::Ja, "{title}: {said}");
        assert!(!said.contains("\n\n\n") && said.lines().all(|line| line.trim_end() == line), "{title}: {said:?}");
        let _ = writeln!(text, "======== {title}\n{}\n", said.trim_end());
    }
    is_fresh(&format!("{name}.{ending}.txt"), &text);
}

#[test]
fn a_worker_is_told_its_task_and_how_to_report_it() {
    for (lang, ending) in LANGUAGES {
        let sample = Sample::new(lang);
        let (task, brief) = (sample.named("login-api"), brief(lang));
        let mut message =
            sample.message(AgentId::Worker(2), MessageKind::Task { command: sample.id(), task: task.id }, 1);
        let plain = WorkerTask {
            message: &message.clone(),
            task,
            brief: &brief,
            demands: &sample.command.demands,
            before: &[],
            failed: &[],
        };
        let mut all = vec![("first attempt", worker::task(lang, plain))];

        let schema = sample.named("schema");
        let done = sample.result(
            schema,
            Reported::Completed,
            in_words(
                lang,
                "Added the table users.\nPasswords are hashed with argon2.",
                "users テーブルを追加した。\nパスワードは argon2 でハッシュ化する。",
            ),
        );
        let failed = sample.result(
            task,
            Reported::Failed,
            in_words(
                lang,
                "SessionStore has no constructor that is public.",
                "SessionStore のコンストラクターが公開されていない。",
            ),
        );
        let before = [Handoff { task: schema, result: &done }];
        let failed = [Handoff { task, result: &failed }];
        message.epoch = dandori_domain::Epoch(3);
        message.attempts = 2;
        message.interrupts = 1;
        message.last_error = Some("the agent ended without a report".to_owned());
        if let Delivery::InProgress { lease } = &mut message.delivery {
            lease.is_resume = true;
        }
        let again = WorkerTask { message: &message, before: &before, failed: &failed, ..plain };
        all.push(("resumed, after others, after failures", worker::task(lang, again)));

        let mut misfit = task.clone();
        misfit.repairs = 1;
        misfit.misfit = Some(conflict(lang).to_owned());
        let message = sample.message(AgentId::Worker(2), message.kind.clone(), 4);
        let mut bare = brief.clone();
        bare.covers.clear();
        bare.expected_paths.clear();
        bare.constraints.clear();
        let repair = WorkerTask { message: &message, task: &misfit, brief: &bare, ..plain };
        all.push(("repair", worker::task(lang, repair)));

        for (title, said) in &all {
            let epoch = said.split("lease_epoch:").nth(1).unwrap().split(' ').next().unwrap();
            let ids = format!("--task-id {} --command-id {} --lease-epoch {epoch} --status", task.id, sample.id());
            assert_eq!(said.matches(&ids).count(), 2, "{title}: {said}");
            assert!(said.contains(in_words(lang, "persona_hint: none", "persona_hint: なし")), "{title}");
        }
        check("worker", lang, ending, &all);
    }
}

#[test]
fn a_planner_is_told_what_to_plan_to_fill_and_to_decide() {
    for (lang, ending) in LANGUAGES {
        let mut sample = Sample::new(lang);
        let (crew, rules) = (crew(), Rules::default());
        let mut message = sample.message(AgentId::Planner, MessageKind::Command { command: sample.id() }, 1);
        message.last_error = Some("the agent ended without a plan".to_owned());
        let given = OrderToPlan { message: &message, command: &sample.command, crew: &crew, rules: &rules };
        let mut all = vec![("an order", planner::order(lang, given))];

        let build = sample.phases.last().unwrap();
        let message = sample.message(AgentId::Planner, MessageKind::Fill { command: sample.id(), phase: build.id }, 1);
        let survey = sample.named("survey");
        let surveyed = sample.result(
            survey,
            Reported::Completed,
            in_words(
                lang,
                "Sessions are in src/session.rs; nothing else writes them.",
                "セッションは src/session.rs にあり、ほかからは書き込まれない。",
            ),
        );
        let results = [Handoff { task: survey, result: &surveyed }];
        let given =
            PhaseToFill { message: &message, command: &sample.command, phase: build, results: &results, crew: &crew };
        all.push(("a phase to fill", planner::fill(lang, given)));

        let docs = sample.named("docs").clone();
        let failed = sample.result(
            &docs,
            Reported::Failed,
            in_words(lang, "mdbook is not installed.", "mdbook がインストールされていない。"),
        );
        let results = [results[0], Handoff { task: &docs, result: &failed }];
        let mut paused = sample.named("login-api").clone();
        paused.repairs = 2;
        paused.state = TaskState::PausedForReplan { since: now(), why: conflict(lang).to_owned() };
        let given = Digest { command: &sample.command, results: &results, paused: &[&paused], outcome: None };
        all.push(("a digest with something to decide", planner::digest(lang, given)));
        let given = Digest { command: &sample.command, results: &results[..1], paused: &[], outcome: None };
        all.push(("a digest with nothing to decide", planner::digest(lang, given)));
        let mut done = sample.command.clone();
        done.tally = dandori_formation::Tally { completed: 8, ..dandori_formation::Tally::default() };
        let given = Digest { command: &done, results: &results[..1], paused: &[], outcome: Some(Outcome::Completed) };
        all.push(("everything is done", planner::digest(lang, given)));
        let given = Digest { command: &sample.command, results: &results, paused: &[], outcome: Some(Outcome::Failed) };
        all.push(("nothing is left, something failed", planner::digest(lang, given)));
        let said = in_words(
            lang,
            "Please use the old form.\nAnd keep its name.",
            "古いフォームを使ってください。\n名前も変えないでください。",
        );
        all.push(("a person's words about an order", notice::words(lang, Some(&sample.command), said)));
        check("planner", lang, ending, &all);

        sample.command.demands.clear();
        let given = OrderToPlan { message: &message, command: &sample.command, crew: &crew, rules: &rules };
        let said = planner::order(lang, given);
        assert!(!said.contains("covers") && !said.contains("left_out"), "nothing to cover: {said}");
    }
}

#[test]
fn the_orchestrator_and_the_user_are_told_how_it_ended() {
    for (lang, ending) in LANGUAGES {
        let sample = Sample::new(lang);
        let summary = in_words(lang, "Login works over HTTP and on the page.", "HTTP でも画面からもログインできる。");
        let result = sample.over(Outcome::Completed, summary);
        let pull = pull();
        let once = Continuous::default();
        let given = CommandOver { command: &sample.command, result: &result, pr: Some(&pull), continuous: &once };
        let mut all = vec![("completed", notice::command_over(lang, given))];
        let going = Continuous { enabled: true, current_iteration: 2, max_iterations: 5, ..Continuous::default() };
        let given = CommandOver { continuous: &going, pr: None, ..given };
        all.push(("completed, continuous mode", notice::command_over(lang, given)));
        let stopped = Continuous { stopped: Some(StopReason::TaskFailed), ..going };
        let result = sample.over(Outcome::Failed, summary);
        let given = CommandOver { continuous: &stopped, result: &result, ..given };
        all.push(("failed, continuous mode stops", notice::command_over(lang, given)));
        all.push((
            "a person's words",
            notice::words(lang, None, in_words(lang, "How far is it?", "どこまで進みましたか?")),
        ));
        let message = sample.message(AgentId::Orchestrator, MessageKind::Command { command: sample.id() }, 1);
        all.push(("typed into a pane", notice::pointer(lang, message.id, "/state/a b/prompt.md")));
        check("orchestrator", lang, ending, &all);
    }
    let id = Sample::new(Lang::Ja).id();
    assert_eq!(notice::told(Lang::Ja, id, Outcome::Completed), format!("{id} が完了しました"));
    assert_eq!(notice::told(Lang::En, id, Outcome::Failed), format!("{id} failed"));
    assert_eq!(notice::told(Lang::Ja, id, Outcome::Cancelled), format!("{id} が取り消されました"));
}

#[test]
fn every_reason_to_stop_is_said_in_both_languages() {
    let all = [
        StopReason::MaxIterationsReached,
        StopReason::TaskFailed,
        StopReason::ConsecutiveFailures,
        StopReason::Stalled,
        StopReason::Done,
        StopReason::Requested,
    ];
    let said: Vec<String> = all.iter().map(|reason| notice::stopped(Lang::En, *reason)).collect();
    assert!(said.iter().enumerate().all(|(i, text)| !said[..i].contains(text) && !is_japanese(text)));
    assert!(all.iter().all(|reason| is_japanese(&notice::stopped(Lang::Ja, *reason))));
}
