//! The flow of a run walked through as a user would see it, and the facts that may not come.

use jiff::Timestamp;

use super::*;
use crate::agent::{AgentFailure, AgentName, Usage, Verdict};
use crate::id::{HostId, Oid, RepoId, RunId, TaskId, TaskNumber, WorktreeKey};
use crate::run::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn workspace() -> Workspace {
    Workspace {
        key: WorktreeKey::new("abcd1234"),
        path: "/state/worktrees/run_abcd1234".into(),
        branch: "dandori/abcd1234".into(),
        base: "main".into(),
        base_oid: Oid::new("aaaa"),
        ours_after: Oid::new("aaaa"),
    }
}

fn run(wants_pull: bool, kind: RunKind) -> RunFacts {
    let settings = RunSettings { wants_pull, ..RunSettings::default() };
    RunFacts::new(RunSpec {
        retry_of: None,
        id: RunId::mint(at(0), 7),
        task: TaskId::mint(at(0), 8),
        number: TaskNumber(1),
        repo: RepoId::mint(at(0), 9),
        host: HostId::mint(at(0), 10),
        agent: AgentName::Client(crate::Client::Claude),
        kind,
        instruction: "do it".into(),
        base: None,
        settings,
        created_at: at(0),
    })
}

fn shim() -> ProcessRef {
    ProcessRef { pid: 42, started: 1, boot: "b".into() }
}

fn ended(verdict: Verdict) -> Fact {
    Fact::AgentEnded { verdict, exit: Some(0), signal: None, usage: Usage::default() }
}

fn done() -> Verdict {
    Verdict::Done { summary: "done".into() }
}

/// Applies each fact after checking the step that leads to it.
fn walk(run: &mut RunFacts, path: &[(Step, Fact, Status)]) {
    for (step, fact, after) in path {
        assert_eq!(next_step(run), *step, "before {fact:?}");
        run.apply(fact, at(1)).unwrap();
        assert_eq!(run.status(), *after, "after {fact:?}");
    }
}

fn to_launched() -> Vec<(Step, Fact, Status)> {
    let intended = |intent| Fact::Intended { intent };
    vec![
        (Step::Admit, Fact::Admitted, Status::Pending),
        (Step::MakeWorktree, intended(Intent::Worktree { workspace: workspace(), arrival: None }), Status::Pending),
        (Step::MakeWorktree, Fact::WorktreeReady { workspace: workspace(), from_pool: false }, Status::Pending),
        (Step::SetUp, Fact::SetUpDone { commands: 0 }, Status::Pending),
        (Step::Launch, intended(Intent::Launch), Status::Pending),
        (Step::Launch, Fact::Launched { shim: shim(), sandbox: Sandbox::Landlock { abi: 7 } }, Status::Running),
    ]
}

fn to_pushed() -> Vec<(Step, Fact, Status)> {
    let staged = Fact::Staged {
        tree: Oid::new("tree"),
        parent: Oid::new("aaaa"),
        changes: Some(Changes { files: 1, insertions: 1, deletions: 0 }),
    };
    vec![
        (Step::Watch, ended(done()), Status::Staging),
        (Step::Stage, staged, Status::Committing),
        (Step::Commit, Fact::Committed { oid: Oid::new("cccc") }, Status::Pushing),
        (
            Step::Push,
            Fact::Intended { intent: Intent::Push { oid: Oid::new("cccc"), expected: None } },
            Status::Pushing,
        ),
        (Step::Push, Fact::Pushed { oid: Oid::new("cccc") }, Status::Succeeded),
    ]
}

#[test]
fn a_task_becomes_a_pushed_branch_and_a_pull_request() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed());
    walk(
        &mut run,
        &[
            (Step::OpenPull, Fact::PullOpened { number: 1, url: "u".into() }, Status::Succeeded),
            (Step::Settle, Fact::Settled, Status::Succeeded),
        ],
    );
    assert_eq!(next_step(&run), Step::Rest);
}

#[test]
fn no_changes_is_success_and_leaves_nothing_behind() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    walk(
        &mut run,
        &[
            (Step::Watch, ended(done()), Status::Staging),
            (
                Step::Stage,
                Fact::Staged { tree: Oid::new("t"), parent: Oid::new("aaaa"), changes: None },
                Status::Succeeded,
            ),
            (
                Step::Preserve(BranchFate::Delete),
                Fact::Intended { intent: Intent::Remove { branch: BranchFate::Delete } },
                Status::Succeeded,
            ),
            (Step::Remove(BranchFate::Delete), Fact::Removed { branch: BranchFate::Delete }, Status::Succeeded),
            (Step::Settle, Fact::Settled, Status::Succeeded),
        ],
    );
}

#[test]
fn canceling_a_running_run_stops_keeps_and_removes_in_this_order() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(
        &mut run,
        &[
            (Step::Watch, Fact::CancelRequested, Status::Running),
            (Step::Stop, Fact::Stopped, Status::Canceled),
            (
                Step::Preserve(BranchFate::Delete),
                Fact::Preserved { reference: "refs/dandori/preserved/x".into(), oid: Oid::new("p") },
                Status::Canceled,
            ),
            (
                Step::Preserve(BranchFate::Delete),
                Fact::Intended { intent: Intent::Remove { branch: BranchFate::Delete } },
                Status::Canceled,
            ),
            (Step::Remove(BranchFate::Delete), Fact::Removed { branch: BranchFate::Delete }, Status::Canceled),
            (Step::Settle, Fact::Settled, Status::Canceled),
        ],
    );
}

#[test]
fn a_clean_up_that_is_given_up_ends_the_run_with_what_is_left() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    run.apply(&Fact::Stopped, at(2)).unwrap();
    assert!(run.apply(&Fact::Settled, at(3)).is_err(), "not before it is given up");
    let note = Note::NotCleanedUp { problem: crate::Problem::StoreFull };
    walk(
        &mut run,
        &[
            (Step::Preserve(BranchFate::Delete), Fact::Noted { note }, Status::Canceled),
            (Step::Settle, Fact::Settled, Status::Canceled),
        ],
    );
}

#[test]
fn what_was_decided_without_knowing_of_the_cancel_does_not_settle_the_run() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let mut decided = run.clone();
    let lost = [Fact::Failed { failure: Failure::SupervisorLost }, Fact::Stopped];
    for fact in &lost {
        decided.apply(fact, at(2)).unwrap();
    }
    assert_eq!(next_step(&decided), Step::Settle);
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    for fact in &lost {
        run.apply(fact, at(2)).unwrap();
    }
    assert!(run.apply(&Fact::Settled, at(2)).is_err(), "worktree and branch are still there");
    assert_eq!((run.status(), next_step(&run)), (Status::Canceled, Step::Preserve(BranchFate::Delete)));
}

#[test]
fn canceling_what_only_waits_is_over_at_once() {
    let mut run = run(false, RunKind::First);
    walk(
        &mut run,
        &[(Step::Admit, Fact::CancelRequested, Status::Canceled), (Step::Settle, Fact::Settled, Status::Canceled)],
    );
}

#[test]
fn canceling_a_follow_up_that_waits_does_not_touch_the_earlier_worktree() {
    let kind = RunKind::FollowUp { after: RunId::mint(at(0), 3), workspace: workspace(), session: None };
    let mut run = run(false, kind);
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    assert_eq!(next_step(&run), Step::Settle);
}

#[test]
fn canceling_a_launched_follow_up_keeps_the_branch() {
    let kind = RunKind::FollowUp { after: RunId::mint(at(0), 3), workspace: workspace(), session: None };
    let mut run = run(false, kind);
    walk(&mut run, &to_launched());
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    run.apply(&Fact::Stopped, at(2)).unwrap();
    assert_eq!(next_step(&run), Step::Preserve(BranchFate::Keep));
}

#[test]
fn an_agent_that_failed_leaves_its_worktree_where_it_is() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let failed = Verdict::Failed { failure: AgentFailure::Interrupted };
    walk(&mut run, &[(Step::Watch, ended(failed), Status::Failed), (Step::Settle, Fact::Settled, Status::Failed)]);
}

#[test]
fn a_failure_while_the_agent_lives_ends_the_agent_first() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let failure = Failure::TimedOut { limit: crate::failure::Limit::Run, seconds: 1 };
    walk(
        &mut run,
        &[
            (Step::Watch, Fact::Failed { failure }, Status::Failed),
            (Step::Stop, Fact::Stopped, Status::Failed),
            (Step::Settle, Fact::Settled, Status::Failed),
        ],
    );
}

#[test]
fn a_failed_commit_is_resumed_where_it_failed() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..2]);
    run.apply(&Fact::Failed { failure: Failure::Commit { reason: "no key".into() } }, at(3)).unwrap();
    run.apply(&Fact::Settled, at(4)).unwrap();
    assert_eq!(run.status(), Status::Failed);
    run.apply(&Fact::Resumed, at(5)).unwrap();
    assert_eq!((run.status(), next_step(&run)), (Status::Committing, Step::Commit));
    walk(&mut run, &to_pushed()[2..]);
}

#[test]
fn what_failed_before_the_commit_is_not_resumed() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..1]);
    run.apply(&Fact::Failed { failure: Failure::Staging { reason: "no room".into() } }, at(3)).unwrap();
    run.apply(&Fact::Settled, at(4)).unwrap();
    assert!(run.apply(&Fact::Resumed, at(5)).is_err());
}

#[test]
fn a_failed_push_is_resumed_where_it_failed_and_what_succeeded_is_not() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..3]);
    run.apply(&Fact::Failed { failure: Failure::PushConflict { files: vec!["a".into()] } }, at(3)).unwrap();
    run.apply(&Fact::Settled, at(4)).unwrap();
    assert_eq!(run.status(), Status::Failed);
    assert!(run.apply(&Fact::CancelRequested, at(5)).is_err());
    run.apply(&Fact::Resumed, at(5)).unwrap();
    assert_eq!((run.status(), next_step(&run)), (Status::Pushing, Step::Push));
    walk(&mut run, &to_pushed()[3..]);
    run.apply(&Fact::Settled, at(6)).unwrap();
    assert!(run.apply(&Fact::Resumed, at(7)).is_err(), "what succeeded is over");
}

#[test]
fn what_is_past_running_cannot_be_canceled_and_nothing_happens_twice() {
    let mut run = run(false, RunKind::First);
    assert!(run.apply(&Fact::Launched { shim: shim(), sandbox: Sandbox::Landlock { abi: 1 } }, at(1)).is_err());
    walk(&mut run, &to_launched());
    assert!(run.apply(&Fact::Admitted, at(1)).is_err());
    walk(&mut run, &to_pushed()[..2]);
    let refused = run.apply(&Fact::CancelRequested, at(2)).unwrap_err();
    assert_eq!(refused, IllegalFact { status: Status::Committing, fact: FactKind::CancelRequested });
    walk(&mut run, &to_pushed()[2..]);
    assert!(run.apply(&Fact::Committed { oid: Oid::new("x") }, at(3)).is_err());
    assert!(run.apply(&Fact::Pushed { oid: Oid::new("x") }, at(3)).is_err());
}

#[test]
fn facts_survive_the_store() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed());
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<RunFacts>(&text).unwrap(), run);
}
