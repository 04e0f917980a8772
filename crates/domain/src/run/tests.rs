//! The flow of a run walked through as a user would see it, and the facts that may not come.

mod local;

use jiff::Timestamp;

use super::*;
use crate::agent::{AgentFailure, AgentName, Usage};
use crate::id::{HostId, RepoId, TaskId, TaskNumber, WorktreeKey};
use crate::machine::{Consequence, Machine, Next};

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
        merges: None,
    }
}

fn run(wants_pull: bool, kind: RunKind) -> Run {
    let settings = RunSettings { wants_pull, ..RunSettings::default() };
    Run::new(RunSpec {
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
        here: None,
        checkout: None,
        brings: None,
        errand: None,
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

/// What comes next, by its name: a step's, or the fact's that is recorded without one.
fn next(run: &Run) -> &'static str {
    match run.next(at(1)) {
        Next::Wait => "wait",
        Next::Rest => "rest",
        Next::Record(Fact::Intended { intent }) => intent.name(),
        Next::Record(fact) => fact.name(),
        Next::Take(step) => match step {
            Step::PlanWorktree => "plan worktree",
            Step::MakeWorktree(_) => "make worktree",
            Step::PlanSetUp(_) => "plan set-up",
            Step::SetUp(_) => "set up",
            Step::Launch(_) => "start",
            Step::Watch(_) => "watch",
            Step::Stage(_) => "stage",
            Step::Commit { .. } => "make commit",
            Step::Push { .. } => "make push",
            Step::Stop { .. } => "stop",
            Step::Preserve { fate: BranchFate::Keep, .. } => "preserve, keep branch",
            Step::Preserve { fate: BranchFate::Delete, .. } => "preserve, delete branch",
            Step::Remove { .. } => "remove worktree",
        },
    }
}

/// Applies each fact after checking what leads to it.
fn walk(run: &mut Run, path: &[(&str, Fact, Status)]) {
    for (step, fact, after) in path {
        assert_eq!(next(run), *step, "before {fact:?}");
        run.apply(fact, at(1)).unwrap();
        assert_eq!(run.status(), *after, "after {fact:?}");
    }
}

fn intended(intent: Intent) -> Fact {
    Fact::Intended { intent }
}

fn to_launched() -> Vec<(&'static str, Fact, Status)> {
    let planned = PlannedWorktree { workspace: workspace(), arrival: None, kept: None };
    vec![
        ("wait", Fact::Admitted, Status::Pending),
        ("plan worktree", intended(Intent::Worktree(planned)), Status::Pending),
        ("make worktree", Fact::WorktreeReady { workspace: workspace(), from_pool: false }, Status::Pending),
        ("plan set-up", Fact::SetUpDone { commands: 0 }, Status::Pending),
        ("launch", intended(Intent::Launch), Status::Pending),
        ("start", Fact::Launched { shim: shim(), sandbox: Sandbox::Landlock { abi: 7 } }, Status::Running),
    ]
}

fn planned_commit() -> Intent {
    let (tree, parent) = (Oid::new("tree"), Oid::new("aaaa"));
    Intent::Commit(PlannedCommit { tree, parent, merges: None, message: "m".into(), at: at(1) })
}

fn planned_push() -> Intent {
    Intent::Push(PlannedPush { oid: Oid::new("cccc"), expected: None })
}

fn to_pushed() -> Vec<(&'static str, Fact, Status)> {
    let staged = Fact::Staged {
        tree: Oid::new("tree"),
        parent: Oid::new("aaaa"),
        changes: Some(Changes { files: 1, insertions: 1, deletions: 0 }),
    };
    vec![
        ("watch", ended(done()), Status::Staging),
        ("stage", staged, Status::Committing),
        ("commit", intended(planned_commit()), Status::Committing),
        ("make commit", Fact::Committed { oid: Oid::new("cccc") }, Status::Pushing),
        ("push", intended(planned_push()), Status::Pushing),
        ("make push", Fact::Pushed { oid: Oid::new("cccc") }, Status::Succeeded),
    ]
}

#[test]
fn a_task_becomes_a_pushed_branch_that_wants_its_pull_request() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed());
    let consequences = run.consequences(&[Fact::Pushed { oid: Oid::new("cccc") }], at(2));
    let [Consequence::WantPull(wanted)] = consequences.as_slice() else { panic!("{consequences:?}") };
    assert_eq!((wanted.head.as_str(), &wanted.head_oid), ("dandori/abcd1234", &Oid::new("cccc")));
    walk(&mut run, &[("settled", Fact::Settled, Status::Succeeded)]);
    assert_eq!(next(&run), "rest");
}

#[test]
fn a_worktree_that_is_no_longer_needed_goes_and_the_branch_stays() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed());
    assert!(run.apply(&Fact::Released, at(1)).is_err(), "not before it has settled");
    walk(&mut run, &[("settled", Fact::Settled, Status::Succeeded)]);
    let branch = BranchFate::Keep;
    walk(
        &mut run,
        &[
            ("rest", Fact::Released, Status::Succeeded),
            ("preserve, keep branch", intended(Intent::Remove { branch }), Status::Succeeded),
            ("remove worktree", Fact::Removed { branch }, Status::Succeeded),
            ("settled", Fact::Settled, Status::Succeeded),
        ],
    );
    assert!(run.apply(&Fact::Released, at(1)).is_err(), "it is gone");
}

#[test]
fn no_changes_is_success_and_leaves_nothing_behind() {
    let mut run = run(true, RunKind::First);
    walk(&mut run, &to_launched());
    let branch = BranchFate::Delete;
    let staged = Fact::Staged { tree: Oid::new("t"), parent: Oid::new("aaaa"), changes: None };
    walk(
        &mut run,
        &[
            ("watch", ended(done()), Status::Staging),
            ("stage", staged, Status::Succeeded),
            ("preserve, delete branch", intended(Intent::Remove { branch }), Status::Succeeded),
            ("remove worktree", Fact::Removed { branch }, Status::Succeeded),
            ("settled", Fact::Settled, Status::Succeeded),
        ],
    );
}

#[test]
fn canceling_a_running_run_stops_keeps_and_removes_in_this_order() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let branch = BranchFate::Delete;
    let preserved = Fact::Preserved { reference: "refs/dandori/preserved/x".into(), oid: Oid::new("p") };
    walk(
        &mut run,
        &[
            ("watch", Fact::CancelRequested, Status::Running),
            ("stop", Fact::Stopped, Status::Canceled),
            ("preserve, delete branch", preserved, Status::Canceled),
            ("preserve, delete branch", intended(Intent::Remove { branch }), Status::Canceled),
            ("remove worktree", Fact::Removed { branch }, Status::Canceled),
            ("settled", Fact::Settled, Status::Canceled),
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
            ("preserve, delete branch", Fact::Noted { note }, Status::Canceled),
            ("settled", Fact::Settled, Status::Canceled),
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
    assert_eq!(next(&decided), "settled");
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    for fact in &lost {
        run.apply(fact, at(2)).unwrap();
    }
    assert!(run.apply(&Fact::Settled, at(2)).is_err(), "worktree and branch are still there");
    assert_eq!((run.status(), next(&run)), (Status::Canceled, "preserve, delete branch"));
}

#[test]
fn canceling_what_only_waits_is_over_at_once() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &[("wait", Fact::CancelRequested, Status::Canceled), ("settled", Fact::Settled, Status::Canceled)]);
}

#[test]
fn a_worktree_that_was_half_made_is_removed_and_nothing_is_kept_of_it() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched()[..2]);
    run.apply(&Fact::Failed { failure: Failure::Worktree { reason: "no".into() } }, at(1)).unwrap();
    let branch = BranchFate::Delete;
    walk(
        &mut run,
        &[
            ("remove", intended(Intent::Remove { branch }), Status::Failed),
            ("remove worktree", Fact::Removed { branch }, Status::Failed),
            ("settled", Fact::Settled, Status::Failed),
        ],
    );
}

#[test]
fn canceling_a_follow_up_that_waits_does_not_touch_the_earlier_worktree() {
    let kind = RunKind::FollowUp { after: RunId::mint(at(0), 3), workspace: workspace(), session: None };
    let mut run = run(false, kind);
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    assert_eq!(next(&run), "settled");
}

#[test]
fn canceling_a_launched_follow_up_keeps_the_branch() {
    let kind = RunKind::FollowUp { after: RunId::mint(at(0), 3), workspace: workspace(), session: None };
    let mut run = run(false, kind);
    walk(&mut run, &to_launched());
    run.apply(&Fact::CancelRequested, at(1)).unwrap();
    run.apply(&Fact::Stopped, at(2)).unwrap();
    assert_eq!(next(&run), "preserve, keep branch");
}

#[test]
fn an_agent_that_failed_leaves_its_worktree_where_it_is() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let failed = Verdict::Failed { failure: AgentFailure::Interrupted };
    walk(&mut run, &[("watch", ended(failed), Status::Failed), ("settled", Fact::Settled, Status::Failed)]);
}

#[test]
fn a_failure_while_the_agent_lives_ends_the_agent_first() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let failure = Failure::TimedOut { limit: crate::failure::Limit::Run, seconds: 1 };
    walk(
        &mut run,
        &[
            ("watch", Fact::Failed { failure }, Status::Failed),
            ("stop", Fact::Stopped, Status::Failed),
            ("settled", Fact::Settled, Status::Failed),
        ],
    );
}

#[test]
fn a_failed_commit_is_resumed_where_it_failed() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..3]);
    run.apply(&Fact::Failed { failure: Failure::Commit { reason: "no key".into() } }, at(3)).unwrap();
    run.apply(&Fact::Settled, at(4)).unwrap();
    assert_eq!(run.status(), Status::Failed);
    run.apply(&Fact::Resumed, at(5)).unwrap();
    assert_eq!((run.status(), next(&run)), (Status::Committing, "commit"));
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
    walk(&mut run, &to_pushed()[..5]);
    run.apply(&Fact::Failed { failure: Failure::PushConflict { files: vec!["a".into()] } }, at(3)).unwrap();
    run.apply(&Fact::Settled, at(4)).unwrap();
    assert_eq!(run.status(), Status::Failed);
    assert!(run.apply(&Fact::CancelRequested, at(5)).is_err());
    run.apply(&Fact::Resumed, at(5)).unwrap();
    assert_eq!((run.status(), next(&run)), (Status::Pushing, "push"));
    walk(&mut run, &to_pushed()[4..]);
    run.apply(&Fact::Settled, at(6)).unwrap();
    assert!(run.apply(&Fact::Resumed, at(7)).is_err(), "what succeeded is over");
}

#[test]
fn what_stands_on_somebody_else_s_commits_is_pushed_as_it_stands_there() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..5]);
    run.apply(&Fact::Rebased { onto: Oid::new("theirs"), oid: Oid::new("dddd") }, at(3)).unwrap();
    let planned = PlannedPush { oid: Oid::new("dddd"), expected: Some(Oid::new("theirs")) };
    assert_eq!(run.next(at(3)), Next::Record(intended(Intent::Push(planned))));
    assert!(
        run.apply(&Fact::Pushed { oid: Oid::new("cccc") }, at(3)).is_err(),
        "that one is not on the branch any more"
    );
}

#[test]
fn what_is_past_running_cannot_be_canceled_and_nothing_happens_twice() {
    let mut run = run(false, RunKind::First);
    assert!(run.apply(&Fact::Launched { shim: shim(), sandbox: Sandbox::Landlock { abi: 1 } }, at(1)).is_err());
    walk(&mut run, &to_launched());
    assert!(run.apply(&Fact::Admitted, at(1)).is_err());
    walk(&mut run, &to_pushed()[..2]);
    let refused = run.apply(&Fact::CancelRequested, at(2)).unwrap_err();
    assert_eq!(refused, IllegalFact { machine: "run", status: "COMMITTING", fact: "cancel_requested" });
    walk(&mut run, &to_pushed()[2..]);
    assert!(run.apply(&Fact::Committed { oid: Oid::new("x") }, at(3)).is_err());
    assert!(run.apply(&Fact::Pushed { oid: Oid::new("x") }, at(3)).is_err());
}

#[test]
fn every_state_on_the_way_survives_the_store() {
    let mut run = run(true, RunKind::First);
    for (_, fact, _) in to_launched().into_iter().chain(to_pushed()) {
        run.apply(&fact, at(1)).unwrap();
        let text = serde_json::to_string(&run).unwrap();
        assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
    }
}
