//! The formation's ledger: the same steps have the same answers and leave the same rows as in memory, and those who ask together do
//! not get in each other's way.

use std::sync::Arc;

use dandori_formation::assign::{Crew, Seat};
use dandori_formation::command::Review;
use dandori_formation::memory::Memory;
use dandori_formation::moves::{Answer, Move};
use dandori_formation::plan::{Body, Plan, PlannedTask};
use dandori_formation::protocol::{Accepted, Claim, NewCommand, Released, ReportIn, Step};
use dandori_formation::result::{Author, Reported};
use dandori_formation::{AgentId, Brief, Report, Rules, Standing, invariant};
use dandori_testkit::formation::{World as Play, choices};

use crate::sample::{World, at, random};
use crate::{Book, FormationItem, FormationStep, KeptInput, KeptKind, Result, Scope, StoreError};

fn step_at(world: &World, rules: &Rules, seconds: i64) -> FormationStep {
    FormationStep {
        repo: world.repo,
        life: Some(world.life),
        rules: rules.clone(),
        now: at(seconds),
        is_simulated: true,
        seed: random(),
    }
}

fn scope(played: &Move) -> Scope {
    match played {
        Move::Order(_) | Move::Say { .. } => Scope::Orders,
        Move::Claim { agent, .. } => Scope::Agent(*agent),
        Move::Submit { command, .. }
        | Move::Fill { command, .. }
        | Move::Complete { command, .. }
        | Move::Cancel { command, .. }
        | Move::Pause { command, .. }
        | Move::Resume { command }
        | Move::Approve { command }
        | Move::Retry { command, .. }
        | Move::Scan { command } => Scope::Command(*command),
        Move::Verified { task, .. } | Move::Committed { task, .. } | Move::Interrupted { task, .. } => {
            Scope::Task(*task)
        }
        Move::Report(new) => Scope::Task(new.task),
        Move::Accepted { message, .. }
        | Move::Heartbeat { message, .. }
        | Move::Progress { message, .. }
        | Move::Release { message, .. }
        | Move::Expire { message, .. }
        | Move::Requeue { message } => Scope::Message(*message),
    }
}

fn everything(book: &mut Book<'_>) -> Result<Memory> {
    book.everything()
}

async fn rows_of(world: &World) -> Memory {
    world.store.formation_look(world.repo, at(0), everything).await.unwrap()
}

async fn take(world: &World, step: FormationStep, played: Move, crew: &Arc<Crew>) -> Result<Answer> {
    let crew = Arc::clone(crew);
    let scope = scope(&played);
    world
        .store
        .formation_step(step, scope, move |book, step| played.play(book, step, &crew))
        .await
        .map(|done| done.value)
}

pub(super) async fn steps_of_a_formation_answer_and_leave_what_they_do_in_memory(world: World) {
    let mut play = Play::kept();
    play.rows.continuous.enabled = true;
    let crew = Arc::new(play.crew.clone());
    for choice in choices(11, 1_500) {
        play.step(choice).unwrap();
    }
    play.drain().unwrap();
    let continuous = dandori_formation::continuous::Continuous { enabled: true, ..Default::default() };
    let begin = step_at(&world, &play.rules, 0);
    let put = move |book: &mut crate::Book<'_>, _: &mut dandori_formation::protocol::Step<'_>| {
        dandori_formation::Ledger::put_continuous(book, &continuous)
    };
    world.store.formation_step(begin, Scope::Orders, put).await.unwrap();
    for one in &play.played {
        let step = FormationStep { now: one.now, seed: one.seed, ..step_at(&world, &play.rules, 0) };
        let answer = take(&world, step, one.played.clone(), &crew).await;
        let told = match &answer {
            Ok(answer) => Ok(answer.clone()),
            Err(StoreError::Formation(refused)) => Err(refused.to_string()),
            Err(other) => panic!("{:?}: {other}", one.played),
        };
        assert_eq!(told, one.answer, "{:?}", one.played);
    }
    let rows = rows_of(&world).await;
    assert_eq!(rows.commands, play.rows.commands);
    assert_eq!(rows.phases, play.rows.phases);
    assert_eq!(rows.tasks, play.rows.tasks);
    assert_eq!(rows.messages, play.rows.messages);
    assert_eq!(rows.results, play.rows.results);
    assert_eq!(rows.late, play.rows.late);
    assert_eq!(rows.continuous, play.rows.continuous);
    assert!(rows.tasks.len() > 20 && !rows.late.is_empty(), "{} tasks", rows.tasks.len());
}

fn crew(workers: u8) -> Arc<Crew> {
    let seat = |number| Seat {
        agent: AgentId::Worker(number),
        client: "claude".to_owned(),
        model: None,
        capabilities: Vec::new(),
    };
    Arc::new(Crew { seats: (1..=workers).map(seat).collect(), small: None, large: None, boost: false })
}

fn plan(tasks: usize) -> Plan {
    let task = |i: usize| PlannedTask {
        name: format!("t{i}"),
        brief: Brief::default(),
        blocked_by: Vec::new(),
        bloom_level: 1,
        required: true,
    };
    Plan { body: Body::Tasks((0..tasks).map(task).collect()), left_out: Vec::new() }
}

fn report(claim: &Claim) -> Move {
    let report = Report {
        outcome: Reported::Completed,
        summary: "what was asked for is done".to_owned(),
        files_changed: Vec::new(),
        partial_changes: false,
        retry_safe: true,
        exit_code: None,
        work: None,
    };
    let task = claim.message.kind.task().unwrap();
    Move::Report(ReportIn { task, by: claim.message.to, epoch: claim.lease.epoch, report })
}

async fn given(world: &World, rules: &Rules, crew: &Arc<Crew>, tasks: usize) -> dandori_domain::CommandId {
    let new = NewCommand { content: "x".to_owned(), demands: Vec::new(), priority: 100, review: Review::NotWanted };
    let Answer::Command(command) = take(world, step_at(world, rules, 1), Move::Order(new), crew).await.unwrap() else {
        panic!("an order is a command")
    };
    let submit = Move::Submit { command: command.id, plan: plan(tasks) };
    take(world, step_at(world, rules, 1), submit, crew).await.unwrap();
    command.id
}

pub(super) async fn many_who_claim_and_report_together_do_each_task_once(world: World) {
    let rules = Rules { pending_per_worker: 100, ..Rules::default() };
    let crew = crew(4);
    let command = given(&world, &rules, &crew, 60).await;
    let world = Arc::new(world);
    let mut asked = tokio::task::JoinSet::new();
    // Three daemons' worth of claims for every worker.
    for agent in (1..=4).flat_map(|worker| [AgentId::Worker(worker); 3]) {
        let (world, rules, crew) = (Arc::clone(&world), rules.clone(), Arc::clone(&crew));
        asked.spawn(async move {
            let mut done = 0;
            let mut idle = 0;
            while idle < 25 {
                let claim = Move::Claim { agent, holder: "host".to_owned() };
                match take(&world, step_at(&world, &rules, 2), claim, &crew).await.unwrap() {
                    Answer::Claim(Some(claim)) => {
                        idle = 0;
                        let answer = take(&world, step_at(&world, &rules, 3), report(&claim), &crew).await.unwrap();
                        assert!(matches!(answer, Answer::Report(Accepted::Now { .. })), "{answer:?}");
                        done += 1;
                    }
                    _ => idle += 1,
                }
            }
            done
        });
    }
    let done: usize = asked.join_all().await.into_iter().sum();
    assert_eq!(done, 60);
    let complete = Move::Complete { command, summary: "all".to_owned(), by: Author::Agent(AgentId::Planner) };
    take(&world, step_at(&world, &rules, 4), complete, &crew).await.unwrap();
    let rows = rows_of(&world).await;
    assert_eq!(invariant::check(&rows, &rules), []);
}

pub(super) async fn a_cancellation_wins_over_claims_that_come_at_the_same_moment(world: World) {
    let rules = Rules { pending_per_worker: 100, ..Rules::default() };
    let crew = crew(4);
    let world = Arc::new(world);
    for round in 0..8 {
        let command = given(&world, &rules, &crew, 8).await;
        let mut asked = tokio::task::JoinSet::new();
        for worker in 1..=4 {
            let (world, rules, crew) = (Arc::clone(&world), rules.clone(), Arc::clone(&crew));
            let claim = Move::Claim { agent: AgentId::Worker(worker), holder: "host".to_owned() };
            asked.spawn(async move { drop(take(&world, step_at(&world, &rules, 2), claim, &crew).await.unwrap()) });
        }
        let cancel = Move::Cancel { command, by: "user".to_owned(), reason: "no".to_owned() };
        take(&world, step_at(&world, &rules, 2), cancel, &crew).await.unwrap();
        asked.join_all().await;
        let rows = rows_of(&world).await;
        assert_eq!(invariant::check(&rows, &rules), [], "round {round}");
        for message in rows.messages.values().filter(|message| message.kind.task().is_some()) {
            if let Some(lease) = message.lease() {
                let released = Released::Interrupted { why: "stopped".to_owned() };
                let release = Move::Release { message: message.id, epoch: lease.epoch, released };
                take(&world, step_at(&world, &rules, 3), release, &crew).await.unwrap();
            }
        }
        let rows = rows_of(&world).await;
        assert!(rows.commands[&command].is_over(), "round {round}");
    }
}

pub(super) async fn a_step_that_is_refused_leaves_nothing_behind(world: World) {
    let rules = Rules { pending_per_worker: 3, ..Rules::default() };
    let crew = crew(2);
    let new = NewCommand { content: "x".to_owned(), demands: Vec::new(), priority: 100, review: Review::NotWanted };
    let Answer::Command(command) = take(&world, step_at(&world, &rules, 1), Move::Order(new), &crew).await.unwrap()
    else {
        panic!("an order is a command")
    };
    let before = rows_of(&world).await;
    let submit = Move::Submit { command: command.id, plan: plan(7) };
    let refused = take(&world, step_at(&world, &rules, 1), submit, &crew).await;
    assert!(matches!(refused, Err(StoreError::Formation(_))), "{refused:?}");
    let after = rows_of(&world).await;
    assert_eq!(before, after);
}

pub(super) async fn how_a_formation_stands_and_what_it_refused_is_kept(world: World) {
    let (rules, crew) = (Rules::default(), crew(2));
    let standing = |world: &World| {
        let (store, repo) = (world.store.clone(), world.repo);
        async move { store.formation_look(repo, at(0), |book: &mut Book<'_>| book.standing()).await.unwrap() }
    };
    assert_eq!(standing(&world).await, Standing::default());
    assert_eq!(world.store.formations().await.unwrap(), []);
    let up = Standing { is_up: true, since: Some(at(1)), boost: true, is_quiet: true };
    let raise = move |book: &mut Book<'_>, _: &mut Step<'_>| book.put_standing(&up);
    world.store.formation_step(step_at(&world, &rules, 1), Scope::Orders, raise).await.unwrap();
    assert_eq!(standing(&world).await, up);
    assert_eq!(world.store.formations().await.unwrap(), [world.repo]);

    let command = given(&world, &rules, &crew, 2).await;
    let item = FormationItem::Command(command);
    assert_eq!(world.store.formation_with(item).await.unwrap(), Some(world.repo));
    let look = |book: &mut Book<'_>| Ok((book.command_by_number(1)?, book.command_by_number(2)?, book.counts()?));
    let (first, second, counts) = world.store.formation_look(world.repo, at(2), look).await.unwrap();
    assert_eq!((first.map(|row| row.id), second), (Some(command), None));
    assert_eq!((counts.commands, counts.deliveries), (vec![("sealed".to_owned(), 1)], 0));

    let kept = |n: i64| KeptInput {
        kind: KeptKind::Plan,
        command: Some(command),
        task: None,
        by: Some(AgentId::Planner),
        at: at(n),
        why: serde_json::json!({ "code": "bad_plan" }),
        phase: None,
        content: format!("plan {n}"),
        restored_at: None,
    };
    let mut first = 0;
    for n in 0..103 {
        let number = world.store.keep_input(world.repo, kept(n)).await.unwrap();
        first = if n == 0 { number } else { first };
    }
    let all = world.store.kept_inputs(world.repo).await.unwrap();
    assert_eq!((all.len(), all[0].1.content.as_str(), all[99].1.content.as_str()), (100, "plan 102", "plan 3"));
    assert_eq!(world.store.kept_input(world.repo, first).await.unwrap(), None);
    let (number, newest) = all[0].clone();
    let restored = KeptInput { restored_at: Some(at(200)), ..newest };
    world.store.input_was_restored(world.repo, number, restored.clone()).await.unwrap();
    assert_eq!(world.store.kept_input(world.repo, number).await.unwrap(), Some(restored));
}
