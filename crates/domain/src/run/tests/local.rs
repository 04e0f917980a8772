//! A repository without a remote: the commit on its branch is the end of the run, and where it starts is known.

use super::*;

fn to_local() -> Vec<(&'static str, Fact, Status)> {
    let mut path = to_pushed();
    path.truncate(3);
    path.push(("make commit", Fact::CommittedLocally { oid: Oid::new("cccc") }, Status::Succeeded));
    path
}

fn local(wants_pull: bool) -> Run {
    let mut run = run(wants_pull, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_local());
    run
}

#[test]
fn a_commit_that_has_nowhere_to_go_is_success_without_a_push() {
    let mut run = local(false);
    assert_eq!((run.progress.pushed(), run.progress.delivered()), (None, Some(&Oid::new("cccc"))));
    assert!(run.apply(&Fact::Pushed { oid: Oid::new("cccc") }, at(2)).is_err(), "it was not");
    let failure = Failure::PushRefused { reason: "no".into() };
    assert!(run.apply(&Fact::Failed { failure }, at(2)).is_err(), "what is done does not fail");
    walk(&mut run, &[("settled", Fact::Settled, Status::Succeeded)]);
}

#[test]
fn its_pull_request_is_wanted_all_the_same() {
    let consequences = local(true).consequences(&[Fact::CommittedLocally { oid: Oid::new("cccc") }], at(2));
    let [Consequence::WantPull(wanted)] = consequences.as_slice() else { panic!("{consequences:?}") };
    assert_eq!((wanted.base.as_str(), &wanted.head_oid), ("main", &Oid::new("cccc")));
}

#[test]
fn its_worktree_goes_as_any_other_and_the_branch_never() {
    let mut run = local(true);
    walk(&mut run, &[("settled", Fact::Settled, Status::Succeeded), ("rest", Fact::Released, Status::Succeeded)]);
    assert_eq!(next(&run), "preserve, keep branch");
    run.spec.settings.cleanup = Cleanup::Push;
    let mut at_once = local(false);
    at_once.spec.settings.cleanup = Cleanup::Push;
    assert_eq!(next(&at_once), "preserve, keep branch");
}

#[test]
fn a_remote_that_is_gone_by_the_time_of_the_push_ends_it_the_same_way() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    walk(&mut run, &to_pushed()[..5]);
    assert!(run.apply(&Fact::CommittedLocally { oid: Oid::new("other") }, at(2)).is_err(), "not what it committed");
    walk(&mut run, &[("make push", Fact::CommittedLocally { oid: Oid::new("cccc") }, Status::Succeeded)]);
}

#[test]
fn all_its_commits_are_still_its_own_for_a_follow_up() {
    assert_eq!(local(false).next_workspace().unwrap().ours_after, Oid::new("aaaa"));
}

#[test]
fn where_it_starts_is_known_before_anything_is_made_and_survives_the_store() {
    let mut run = run(false, RunKind::First);
    let left_out = LeftOut { branch: Some("main".into()), commits: 1, unpushed: Some(1), changed: 2 };
    let start = Start { base: "origin/main".into(), commit: Oid::new("aaaa"), offline: None, left_out: Some(left_out) };
    let fact = Fact::StartsFrom { start: start.clone() };
    assert!(run.apply(&fact, at(1)).is_err(), "nobody has looked yet");
    run.apply(&Fact::Admitted, at(1)).unwrap();
    run.apply(&fact, at(1)).unwrap();
    assert_eq!(next(&run), "plan worktree", "it moves nothing");
    walk(&mut run, &to_launched()[1..]);
    assert_eq!(run.start, Some(start), "and is kept");
    assert!(run.apply(&fact, at(2)).is_err(), "it has begun");
    walk(&mut run, &to_local());
    let text = serde_json::to_string(&run).unwrap();
    assert_eq!(serde_json::from_str::<Run>(&text).unwrap(), run);
}

#[test]
fn a_run_that_was_stored_before_there_were_starts_is_read() {
    let mut run = run(false, RunKind::First);
    walk(&mut run, &to_launched());
    let mut stored = serde_json::to_value(&run).unwrap();
    let spec = stored["spec"].as_object_mut().unwrap();
    for new in ["here", "checkout"] {
        assert_eq!(spec.remove(new), None, "{new} is not written where it says nothing");
    }
    assert_eq!(stored.as_object_mut().unwrap().remove("start"), None);
    assert_eq!(serde_json::from_value::<Run>(stored).unwrap(), run);
}
