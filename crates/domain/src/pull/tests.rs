//! Facts in, next step out.

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn wanted(oid: &str, then_release: bool) -> PullWanted {
    PullWanted {
        repo: RepoId::mint(at(0), 1),
        host: HostId::mint(at(0), 2),
        task: TaskId::mint(at(0), 3),
        run: RunId::mint(at(0), 4),
        head: "dandori/abcd1234".into(),
        base: "main".into(),
        head_oid: Oid::new(oid),
        words: PullWords { title: "t".into(), body: "b".into() },
        wanted_by: WantedBy::Run,
        then_release,
        release_when_over: true,
        at: at(0),
    }
}

fn link() -> PullLink {
    PullLink { number: 1, url: "u".into() }
}

fn taking(pull: &mut Pull, facts: &[PullFact]) {
    for fact in facts {
        pull.apply(fact, at(1)).unwrap();
    }
}

#[test]
fn what_is_wanted_is_put_on_the_forge_and_then_waits_for_what_happens_there() {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    assert_eq!(pull.next(at(1)), Next::Record(PullFact::PullIntended));
    taking(&mut pull, &[PullFact::PullIntended]);
    assert_eq!(pull.next(at(1)), Next::Take(PullStep::Put(PutPull { wanted: wanted("a", false), link: None })));
    taking(&mut pull, &[PullFact::PullOpened { link: link() }]);
    assert_eq!((pull.next(at(1)), pull.is_pending()), (Next::Wait, false));
    taking(&mut pull, &[PullFact::PullMerged { number: 1 }]);
    assert_eq!(pull.next(at(1)), Next::Rest);
    assert!(pull.apply(&PullFact::PullWanted { wanted: wanted("b", false) }, at(2)).is_err(), "it is over");
}

#[test]
fn one_that_is_wanted_otherwise_while_the_forge_is_asked_is_asked_for_again() {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    taking(&mut pull, &[PullFact::PullIntended, PullFact::PullWanted { wanted: wanted("b", false) }]);
    taking(&mut pull, &[PullFact::PullOpened { link: link() }]);
    assert!(pull.is_pending() && pull.link() == Some(&link()), "{pull:?}");
    taking(&mut pull, &[PullFact::PullIntended]);
    assert_eq!(pull.next(at(1)), Next::Take(PullStep::Put(PutPull { wanted: wanted("b", false), link: Some(link()) })));
}

#[test]
fn one_that_failed_is_tried_again_when_somebody_wants_it() {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    let problem = Problem::ForgeRefused { reason: "no".into() };
    taking(&mut pull, &[PullFact::PullIntended, PullFact::PullFailed { problem: problem.clone() }]);
    assert_eq!((pull.problem(), pull.next(at(1))), (Some(&problem), Next::Wait));
    taking(&mut pull, &[PullFact::PullWanted { wanted: wanted("a", false) }]);
    assert_eq!(pull.next(at(1)), Next::Record(PullFact::PullIntended));
}

#[test]
fn an_open_one_lets_the_worktree_go_where_the_configuration_says_so() {
    let opened = [PullFact::PullOpened { link: link() }];
    let pull = |then_release| Pull::new(PullId::mint(at(0), 5), wanted("a", then_release));
    let release = vec![Consequence::ReleaseRun(RunId::mint(at(0), 4))];
    assert_eq!(pull(true).consequences(&opened, at(1)), release);
    assert_eq!(pull(false).consequences(&opened, at(1)), Vec::new());
    assert_eq!(pull(true).consequences(&[PullFact::PullIntended], at(1)), Vec::new());
}

#[test]
fn one_closed_by_hand_can_be_opened_again_and_nothing_is_closed_that_never_was() {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    assert!(pull.apply(&PullFact::PullClosed { number: 1 }, at(1)).is_err(), "it is nowhere yet");
    taking(&mut pull, &[PullFact::PullIntended, PullFact::PullOpened { link: link() }]);
    assert!(pull.apply(&PullFact::PullClosed { number: 2 }, at(1)).is_err(), "another one was closed");
    taking(&mut pull, &[PullFact::PullClosed { number: 1 }]);
    assert!(pull.is_over());
    taking(&mut pull, &[PullFact::PullReopened { number: 1 }]);
    assert!(!pull.is_over());
}

#[test]
fn one_that_was_merged_unnoticed_does_not_swallow_what_is_wanted_since() {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    taking(&mut pull, &[PullFact::PullIntended, PullFact::PullOpened { link: link() }]);
    taking(&mut pull, &[PullFact::PullWanted { wanted: wanted("b", false) }, PullFact::PullMerged { number: 1 }]);
    assert!(pull.is_pending() && pull.link().is_none(), "{pull:?}");
    taking(&mut pull, &[PullFact::PullIntended]);
    let second = PullLink { number: 2, url: "v".into() };
    taking(&mut pull, &[PullFact::PullOpened { link: second.clone() }]);
    assert_eq!((pull.link(), pull.is_over()), (Some(&second), false));
}

fn open() -> Pull {
    let mut pull = Pull::new(PullId::mint(at(0), 5), wanted("a", false));
    taking(&mut pull, &[PullFact::PullIntended, PullFact::PullOpened { link: link() }]);
    pull
}

fn planned(tries: u32) -> PlannedMerge {
    PlannedMerge {
        head_oid: Oid::new("a"),
        base: "main".into(),
        rule: MergeRule::Usual,
        message: "merge".into(),
        at: at(1),
        tries,
        way: MergeWay::Git { from: Oid::new("b"), to: Oid::new("a"), at_remote: true },
    }
}

fn intends(change: PullChange) -> PullFact {
    PullFact::ChangeIntended { change }
}

fn refused() -> PullFact {
    PullFact::ChangeRefused { problem: Problem::ForgeRefused { reason: "no".into() } }
}

#[test]
fn what_is_decided_is_done_and_its_outcome_is_the_next_fact() {
    let (merge, close, reopen) = (PullChange::Merge(planned(0)), PullChange::Close, PullChange::Reopen);
    let number = 1;
    let mut pull = open();
    for (change, outcome, status) in [
        (close.clone(), PullFact::PullClosed { number }, "closed"),
        (reopen.clone(), PullFact::PullReopened { number }, "open"),
        (merge.clone(), PullFact::PullMerged { number }, "merged"),
    ] {
        taking(&mut pull, &[intends(change.clone())]);
        assert!(pull.is_pending() && !pull.is_over(), "{pull:?}");
        assert_eq!(pull.next(at(1)), Next::Take(PullStep::Change { link: link(), change }));
        taking(&mut pull, &[outcome]);
        assert_eq!(pull.status_name(), status);
    }
    for late in [merge, close, reopen] {
        assert!(pull.apply(&intends(late), at(2)).is_err(), "what is merged stays so");
    }
}

#[test]
fn what_did_not_come_about_leaves_it_as_it_was_and_says_why() {
    for (change, status) in [(PullChange::Merge(planned(0)), "open"), (PullChange::Close, "open")] {
        let mut pull = open();
        taking(&mut pull, &[intends(change.clone()), refused()]);
        assert_eq!((pull.status_name(), pull.refused.is_some()), (status, true));
        taking(&mut pull, &[intends(change)]);
        assert_eq!(pull.refused, None, "another try is not the last one's refusal");
    }
    let mut closed = open();
    taking(&mut closed, &[PullFact::PullClosed { number: 1 }, intends(PullChange::Reopen), refused()]);
    assert_eq!(closed.status_name(), "closed");
}

#[test]
fn a_merge_that_others_were_faster_than_is_worked_out_anew() {
    let mut pull = open();
    taking(&mut pull, &[intends(PullChange::Merge(planned(0))), intends(PullChange::Merge(planned(1)))]);
    let change = PullChange::Merge(planned(1));
    assert_eq!(pull.next(at(1)), Next::Take(PullStep::Change { link: link(), change }));
    assert!(pull.apply(&intends(PullChange::Close), at(2)).is_err(), "not in the middle of a merge");
}

#[test]
fn commits_that_come_in_the_middle_of_a_merge_get_a_pull_request_of_their_own() {
    let more = PullFact::PullWanted { wanted: wanted("b", false) };
    let begun = || {
        let mut pull = open();
        taking(&mut pull, &[intends(PullChange::Merge(planned(0))), more.clone()]);
        assert_eq!(pull.status_name(), "being merged", "what was decided comes first");
        pull
    };
    let mut merged = begun();
    taking(&mut merged, &[PullFact::PullMerged { number: 1 }]);
    assert_eq!((merged.status_name(), merged.link()), ("wanted", None));
    assert_eq!(merged.consequences(&[PullFact::PullMerged { number: 1 }], at(1)), Vec::new(), "the worktree is in use");
    let mut kept = begun();
    taking(&mut kept, &[refused()]);
    assert_eq!((kept.status_name(), kept.link()), ("wanted", Some(&link())), "it is brought up to date");
}

#[test]
fn one_that_is_looked_at_before_it_is_reopened_is_not_closed_by_that() {
    let mut pull = open();
    taking(&mut pull, &[PullFact::PullClosed { number: 1 }, intends(PullChange::Reopen)]);
    assert!(pull.apply(&PullFact::PullClosed { number: 1 }, at(1)).is_err());
    taking(&mut pull, &[PullFact::PullMerged { number: 1 }]);
    assert_eq!(pull.status_name(), "merged", "merged by hand meanwhile");
}

#[test]
fn one_that_is_over_lets_the_worktree_go_where_the_configuration_says_so() {
    let release = vec![Consequence::ReleaseRun(RunId::mint(at(0), 4))];
    for over in [PullFact::PullMerged { number: 1 }, PullFact::PullClosed { number: 1 }] {
        let mut pull = open();
        taking(&mut pull, std::slice::from_ref(&over));
        assert_eq!(pull.consequences(std::slice::from_ref(&over), at(1)), release);
        pull.wanted.release_when_over = false;
        assert_eq!(pull.consequences(&[over], at(1)), Vec::new());
    }
}

#[test]
fn another_head_moves_it_without_making_another() {
    let mut pull = open();
    let moved = PullWanted { head: "dandori/other".into(), ..wanted("b", false) };
    taking(&mut pull, &[PullFact::PullWanted { wanted: moved.clone() }]);
    assert_eq!((pull.head(), pull.link()), ("dandori/other", Some(&link())));
    taking(&mut pull, &[PullFact::PullIntended]);
    assert_eq!(pull.next(at(1)), Next::Take(PullStep::Put(PutPull { wanted: moved, link: Some(link()) })));
}

#[test]
fn one_that_was_stored_before_there_were_changes_is_read() {
    let mut stored = serde_json::to_value(open()).unwrap();
    stored["wanted"].as_object_mut().unwrap().remove("release_when_over");
    stored["spec"]["head"] = "dandori/abcd1234".into();
    let read: Pull = serde_json::from_value(stored).unwrap();
    assert_eq!((read.head(), read.wanted.release_when_over), ("dandori/abcd1234", false));
}
