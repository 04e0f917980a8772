//! What is wrong with a plan, why a step was refused, and what is worth saying about a plan: a sample of every kind.

use std::fmt::Write;

use dandori_domain::{CommandId, MessageId, PhaseId, TaskId};
use dandori_formation::plan::advice::{Advice, Alone};
use dandori_formation::plan::{Expected, Fault, PlanError, read};
use dandori_formation::protocol::NoRequeue;
use dandori_formation::{AgentId, Refused};
use dandori_text::formation::{advice, fault, refused};
use dandori_text::{Lang, ui};

use crate::sample::now;
use crate::{LANGUAGES, is_fresh, is_japanese};

/// A list with a sample of every kind: a kind without one does not compile, nor does one in the wrong place pass.
macro_rules! every {
    ($of:ty { $($pattern:pat => [$($sample:expr),+ $(,)?]),+ $(,)? }) => {{
        let _: fn(&$of) = |one| match one { $($pattern => ()),+ };
        let mut all: Vec<$of> = Vec::new();
        $($({
            let sample: $of = $sample;
            assert!(matches!(sample, $pattern), "{sample:?} is the sample of another kind");
            all.push(sample);
        })+)+
        all
    }};
}

fn faults() -> Vec<(&'static str, Fault)> {
    let text = || "foo".to_owned();
    let all = every!(Fault {
        Fault::NotYaml { .. } => [Fault::NotYaml { reason: "mapping values are not allowed at line 3".into() }],
        Fault::Missing => [Fault::Missing],
        Fault::Empty => [Fault::Empty],
        Fault::WrongType { .. } => [
            Fault::WrongType { expected: Expected::Mapping, found: "a list".into() },
            Fault::WrongType { expected: Expected::List, found: "text".into() },
            Fault::WrongType { expected: Expected::Text, found: "the number 7".into() },
            Fault::WrongType { expected: Expected::Number, found: "a mapping".into() },
            Fault::WrongType { expected: Expected::YesOrNo, found: "empty".into() },
        ],
        Fault::UnknownField { .. } => [
            Fault::UnknownField { nearest: None },
            Fault::UnknownField { nearest: Some("blocked_by".into()) },
        ],
        Fault::OutOfRange { .. } => [Fault::OutOfRange { value: 7, least: 1, most: 6 }],
        Fault::NotPositive => [Fault::NotPositive],
        Fault::NotOneOf { .. } => [Fault::NotOneOf { allowed: vec!["concrete".into(), "deferred".into()] }],
        Fault::UnknownName { .. } => [Fault::UnknownName { name: text() }],
        Fault::DuplicateName { .. } => [Fault::DuplicateName { name: "login-api".into() }],
        Fault::ReservedName => [Fault::ReservedName],
        Fault::BadName { .. } => [Fault::BadName { most: 64 }],
        Fault::ListedTwice => [Fault::ListedTwice],
        Fault::Itself => [Fault::Itself],
        Fault::Cycle { .. } => [
            Fault::Cycle { names: vec!["login-api".into(), "session-mgmt".into(), "login-api".into()] }
        ],
        Fault::TooLong { .. } => [Fault::TooLong { bytes: 70_000, most: 65_536 }],
        Fault::TooMany { .. } => [Fault::TooMany { count: 10_000, most: 200 }],
        Fault::BothBodies => [Fault::BothBodies],
        Fault::NoBody => [Fault::NoBody],
        Fault::NoConcretePhase => [Fault::NoConcretePhase],
        Fault::ConcreteDepends => [Fault::ConcreteDepends],
        Fault::DeferredAlone => [Fault::DeferredAlone],
        Fault::DeferredWithTasks => [Fault::DeferredWithTasks],
        Fault::LevelNotAllowed { .. } => [Fault::LevelNotAllowed { level: 6, allowed: vec![1, 2, 3] }],
        Fault::NoSuchCapability { .. } => [Fault::NoSuchCapability { name: "browser".into() }],
        Fault::UnknownDemand { .. } => [Fault::UnknownDemand { number: 9, count: 3 }],
        Fault::NotCovered { .. } => [Fault::NotCovered { number: 2, text: "Test it".into() }],
        Fault::CoveredAndLeftOut { .. } => [Fault::CoveredAndLeftOut { number: 2 }],
        Fault::PromiseNotKept { .. } => [Fault::PromiseNotKept { number: 2 }],
    });
    all.into_iter().map(|fault| ("tasks[1].x", fault)).collect()
}

#[test]
fn everything_that_can_be_wrong_with_a_plan_reads_well_in_both_languages() {
    let mut text = String::new();
    for (path, fault) in faults() {
        for (lang, _) in LANGUAGES {
            let lines = fault::plan_errors(lang, &[PlanError { path: path.to_owned(), fault: fault.clone() }]);
            for line in &lines {
                assert_eq!(is_japanese(line), lang == Lang::Ja, "{line}");
                assert!(!line.ends_with(['.', '。']) && line.matches('`').count() % 2 == 0, "{line}");
                let _ = writeln!(text, "{line}");
            }
        }
        text.push('\n');
    }
    is_fresh("faults.txt", &text);
}

#[test]
fn all_problems_of_a_plan_are_printed_then_what_to_do_each_once() {
    let yaml = "tasks:\n  - name: a\n    purpose: p\n    content: c\n    blockedby: [b]\n  - name: a\n    bloom_level: 7\n    purpose: p\n    content: c\n    acceptance_criterion: x\n";
    let (_, wrong) = read(yaml);
    let lines = fault::plan_errors(Lang::En, &wrong);
    assert_eq!(
        lines,
        [
            "error: tasks[0].blockedby: unknown field, did you mean \"blocked_by\"?",
            "error: tasks[0].acceptance_criteria: required field is missing",
            "error: tasks[1].acceptance_criterion: unknown field, did you mean \"acceptance_criteria\"?",
            "error: tasks[1].bloom_level: value 7 is out of range (1-6)",
            "error: tasks[1].acceptance_criteria: required field is missing",
            "hint: write `blocked_by`",
            "hint: write `acceptance_criteria`",
        ]
    );
    let twice = vec![PlanError { path: "tasks[0].content".into(), fault: Fault::TooLong { bytes: 2, most: 1 } }; 2];
    assert_eq!(fault::plan_errors(Lang::Ja, &twice).len(), 3, "two problems, one hint");
}

fn refusals() -> Vec<Refused> {
    let command = CommandId::mint(now(), 1 << 64);
    let task = TaskId::mint(now(), 2 << 64);
    let phase = PhaseId::mint(now(), 3 << 64);
    let message = MessageId::mint(now(), 4 << 64);
    let agent = AgentId::Worker(2);
    every!(Refused {
        Refused::UnknownCommand { .. } => [Refused::UnknownCommand { command }],
        Refused::UnknownTask { .. } => [Refused::UnknownTask { task }],
        Refused::UnknownPhase { .. } => [Refused::UnknownPhase { name: "build".into() }],
        Refused::UnknownMessage { .. } => [Refused::UnknownMessage { message }],
        Refused::Empty => [Refused::Empty],
        Refused::TooLong { .. } => [Refused::TooLong { bytes: 70_000, most: 65_536 }],
        Refused::TooManyCommands { .. } => [Refused::TooManyCommands { count: 20, most: 20 }],
        Refused::TooManyTasks { .. } => [Refused::TooManyTasks { agent, count: 11, most: 10 }],
        Refused::NobodyCan { .. } => [Refused::NobodyCan { name: "login-api".into() }],
        Refused::Submitted { .. } => [Refused::Submitted { command }],
        Refused::NotSubmitted { .. } => [Refused::NotSubmitted { command }],
        Refused::Cancelling { .. } => [Refused::Cancelling { command }],
        Refused::Over { .. } => [Refused::Over { command, state: "completed".into() }],
        Refused::NotAwaitingFill { .. } => [Refused::NotAwaitingFill { phase, state: "pending".into() }],
        Refused::TooLate { .. } => [Refused::TooLate { phase }],
        Refused::NameTaken { .. } => [Refused::NameTaken { name: "login-api".into() }],
        Refused::NotYours { .. } => [Refused::NotYours { task, agent }],
        Refused::Stale { .. } => [Refused::Stale { task, given: 2, current: 3 }],
        Refused::NeverGiven { .. } => [Refused::NeverGiven { given: 9, current: 3 }],
        Refused::LeaseLost { .. } => [Refused::LeaseLost { given: 2, current: 3 }],
        Refused::TaskOver { .. } => [Refused::TaskOver { task, state: "completed".into() }],
        Refused::Replaced { .. } => [Refused::Replaced { task, by: TaskId::mint(now(), 5 << 64) }],
        Refused::SaysTooLittle => [Refused::SaysTooLittle],
        Refused::NotComplete { .. } => [
            Refused::NotComplete { tasks: vec!["login-api (running)".into()], phases: vec!["build".into()] }
        ],
        Refused::NotFailed { .. } => [Refused::NotFailed { task, state: "running".into() }],
        Refused::PhaseClosed { .. } => [Refused::PhaseClosed { task, state: "completed".into() }],
        Refused::NotDead { .. } => [Refused::NotDead { message, delivery: "pending".into() }],
        Refused::CannotRequeue { .. } => [
            Refused::CannotRequeue { message, why: NoRequeue::CommandOver },
            Refused::CannotRequeue { message, why: NoRequeue::PhaseTimedOut },
        ],
        Refused::NoReview { .. } => [Refused::NoReview { command }],
    })
}

#[test]
fn every_refusal_reads_well_in_both_languages_and_says_what_to_do() {
    let mut text = String::new();
    for refusal in refusals() {
        for (lang, _) in LANGUAGES {
            let said = refused::refused(lang, &refusal);
            let all = format!("{} {} {}", said.what, said.why.clone().unwrap_or_default(), said.hint);
            assert_eq!(is_japanese(&said.what), lang == Lang::Ja, "{all}");
            assert!(is_japanese(&said.hint) == (lang == Lang::Ja) && !said.hint.is_empty(), "{all}");
            assert!(!said.what.ends_with(['.', '。']) && !said.hint.ends_with(['.', '。']), "{all}");
            assert!(all.matches('`').count() % 2 == 0, "{all}");
            let _ = writeln!(text, "{}: {}", ui::error_word(lang), said.what);
            for line in said.why.iter().flat_map(|why| why.lines()) {
                let _ = writeln!(text, "  {line}");
            }
            let _ = writeln!(text, "{}: {}", ui::hint_word(lang), said.hint);
        }
        text.push('\n');
    }
    is_fresh("refusals.txt", &text);
}

#[test]
fn what_is_worth_saying_about_a_plan_is_said_in_both_languages() {
    let pair = |one: &str, other: &str| [one.to_owned(), other.to_owned()];
    let all = every!(Advice {
        Advice::Overlap { .. } => [
            Advice::Overlap { tasks: pair("login-api", "login-form"), paths: pair("src", "src/form.rs") },
            Advice::Overlap { tasks: pair("login-api", "login-form"), paths: pair("src/a.rs", "src/a.rs") },
        ],
        Advice::OneAgentIsBetter { .. } => [
            Advice::OneAgentIsBetter { why: Alone::OneTask },
            Advice::OneAgentIsBetter { why: Alone::Chain },
        ],
    });
    let mut text = String::new();
    for one in all {
        for (lang, _) in LANGUAGES {
            let said = advice::advice(lang, &one);
            assert_eq!(is_japanese(&said), lang == Lang::Ja, "{said}");
            let _ = writeln!(text, "{said}");
        }
        text.push('\n');
    }
    is_fresh("advice.txt", &text);
}
