//! Steps of the protocol one by one, where the simulation does not look closely enough.

use dandori_domain::{CommandId, Epoch, Oid, TaskId};

use super::*;
use crate::assign::{Crew, Seat};
use crate::command::{Command, Review};
use crate::memory::Memory;
use crate::message::DEFAULT_PRIORITY;
use crate::plan;
use crate::result::{Report, Reported};

const WORKER: AgentId = AgentId::Worker(1);

fn crew() -> Crew {
    let seat = Seat { agent: WORKER, client: "claude".into(), model: None, capabilities: Vec::new() };
    Crew { seats: vec![seat], small: None, large: None, boost: false }
}

/// One formation whose steps are taken a second apart.
struct Play {
    rows: Memory,
    rules: Rules,
    seconds: i64,
}

impl Play {
    fn new() -> Self {
        Self { rows: Memory::default(), rules: Rules::default(), seconds: 0 }
    }

    fn step<T>(&mut self, work: impl FnOnce(&mut Memory, &mut Step<'_>) -> Result<T, Refused>) -> Result<T, Refused> {
        self.seconds += 1;
        let now = Timestamp::from_second(self.seconds).unwrap();
        let mut rows = self.rows.clone();
        let mut step = Step::new(&self.rules, now, u128::from(self.seconds.unsigned_abs()));
        let value = work(&mut rows, &mut step)?;
        self.rows = rows;
        Ok(value)
    }

    fn order(&mut self, content: &str, review: Review) -> Command {
        let new = NewCommand { content: content.into(), demands: Vec::new(), priority: DEFAULT_PRIORITY, review };
        self.step(|rows, step| order(rows, step, new)).unwrap()
    }

    fn plan(&mut self, command: CommandId) -> TaskId {
        let yaml = "tasks:\n- {name: a, purpose: p, content: c, acceptance_criteria: d}\n";
        let (plan, errors) = plan::read(yaml);
        assert_eq!(errors, []);
        let plan = plan.unwrap();
        let done = self.step(|rows, step| submit(rows, step, command, &plan, &crew())).unwrap();
        done.tasks.unwrap()[0].task_id
    }

    fn claim(&mut self) -> Epoch {
        let claimed = self.step(|rows, step| claim(rows, step, WORKER, "here")).unwrap().unwrap();
        let (message, epoch) = (claimed.message.id, claimed.lease.epoch);
        self.step(|rows, step| accepted(rows, step, message, epoch)).unwrap();
        epoch
    }

    fn report(&mut self, task: TaskId, epoch: Epoch, summary: &str) -> Accepted {
        let report = Report {
            outcome: Reported::Completed,
            summary: summary.into(),
            files_changed: Vec::new(),
            partial_changes: false,
            retry_safe: true,
            exit_code: None,
            work: Some(Oid::new("1".repeat(40))),
        };
        let new = ReportIn { task, by: WORKER, epoch, report };
        self.step(|rows, step| super::report(rows, step, &new)).unwrap()
    }
}

#[test]
fn a_report_on_work_that_did_not_fit_in_is_not_taken_for_one_on_its_repair() {
    let mut play = Play::new();
    let command = play.order("write a", Review::NotWanted).id;
    let task = play.plan(command);
    let first = play.claim();
    let Accepted::Now { result } = play.report(task, first, "the first attempt at a") else { panic!("not taken") };
    let misfit = Verdict::Misfit { why: "both wrote a.txt".into() };
    play.step(|rows, step| verified(rows, step, task, result, misfit)).unwrap();
    let second = play.claim();
    assert!(second > first, "{second:?} {first:?}");
    let again = play.report(task, first, "the first attempt at a, told again");
    assert!(matches!(again, Accepted::Kept { why: Refused::Stale { .. } }), "{again:?}");
    assert!(matches!(play.report(task, second, "now it fits with the others"), Accepted::Now { .. }));
}

#[test]
fn an_order_is_amended_by_another_until_somebody_works_on_it() {
    let mut play = Play::new();
    let queued = play.order("write a", Review::NotWanted).id;
    let amended = play.step(|rows, step| amend(rows, step, queued, "ann", "and b")).unwrap();
    let Amended::Replaced { by } = amended else { panic!("{amended:?}") };
    assert_eq!((by.content.as_str(), by.number), ("write a\n\nand b", 2));
    assert!(play.rows.commands[&queued].is_over());
    assert_eq!(play.step(|rows, step| amend(rows, step, by.id, "ann", " ")), Err(Refused::Empty));

    let reviewed = play.order("write c", Review::Wanted).id;
    play.plan(reviewed);
    let amended = play.step(|rows, step| amend(rows, step, reviewed, "ann", "and d")).unwrap();
    let Amended::Replaced { by } = amended else { panic!("{amended:?}") };
    assert_eq!(by.review, Review::Wanted);
    assert!(play.rows.commands[&reviewed].cancel.is_some());

    play.plan(by.id);
    play.step(|rows, step| approve(rows, step, by.id)).unwrap();
    let told = play.step(|rows, step| amend(rows, step, by.id, "ann", "in blue")).unwrap();
    assert!(matches!(told, Amended::Told { .. }), "{told:?}");
    assert!(play.rows.commands[&by.id].cancel.is_none());
}
