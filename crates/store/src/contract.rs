//! What the store promises, in memory, on SQLite and on PostgreSQL alike. Each contract is one function; the list at the end
//! makes a test of it for each of them.

mod formation;
mod guards;
mod machines;
mod needs;

use std::collections::BTreeSet;

use dandori_domain::id::{Epoch, HostId, MessageId, Oid, RepoId, WorktreeKey};
use dandori_domain::pull::{PullDraft, PullState};
use dandori_domain::run::{BranchFate, Errand, Purpose, Role};
use dandori_domain::worktree::{Keepsake, Owner, Worktree};
use dandori_domain::{Fact, Run, Status};

use crate::sample::{
    World, at, not_started, path_to_committed, path_to_pushed, path_to_ready, push_refused, random, repo, workspace,
};
use formation::{
    a_cancellation_wins_over_claims_that_come_at_the_same_moment, a_step_that_is_refused_leaves_nothing_behind,
    how_a_formation_stands_and_what_it_refused_is_kept, many_who_claim_and_report_together_do_each_task_once,
    steps_of_a_formation_answer_and_leave_what_they_do_in_memory,
};
use guards::{
    guard_records_are_taken_in_by_the_present_life_alone,
    guard_records_are_taken_in_once_with_the_place_they_were_read_to, guard_records_are_told_apart_by_their_folder,
    old_guard_records_go,
};
use machines::{
    a_lease_is_taken_once_when_many_ask_and_an_earlier_holder_cannot_write,
    a_pushed_branch_has_its_pull_request_in_the_same_moment, a_task_is_open_as_long_as_its_pull_request_is_pending,
    an_open_pull_request_lets_the_worktree_go_unless_somebody_works_in_it,
    any_machine_is_recorded_logged_and_fenced_alike,
};

use needs::{
    a_notice_is_begun_once_when_many_want_to, notices_are_the_present_life_s_and_old_ones_go,
    old_answers_go_with_their_needs_and_no_others, only_tasks_that_may_need_somebody_are_looked_at,
    the_newest_answer_to_a_need_counts_until_it_is_taken_back,
    trust_is_wanted_since_the_first_refusal_of_the_same_content,
};

use crate::{EventFilter, Life, NewRun, Noun, StoreError, TaskFilter};

async fn task_numbers_are_dense_when_many_ask_together(world: World) {
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..48 {
        let (store, mut task, run) = (world.store.clone(), world.new_task("one of many"), world.new_run());
        // Every sixth is refused by the store in the middle of its transaction: it must not take a number away.
        if i % 6 == 0 {
            task.repo = RepoId::mint(at(0), random());
        }
        asked.spawn(async move { store.create_task(task, vec![run]).await.map(|(task, _)| task.number.0) });
    }
    let outcomes = asked.join_all().await;
    let numbers: BTreeSet<i64> = outcomes.iter().filter_map(|o| o.as_ref().ok().copied()).collect();
    assert_eq!(outcomes.iter().filter(|o| o.is_err()).count(), 8);
    assert_eq!(numbers, (1..=40).collect());
}

async fn an_errand_s_run_is_created_once_when_many_ask_together(world: World) {
    let errand = |n: u128, epoch| {
        let message = MessageId::mint(at(0), n << 64);
        let (purpose, agent, role, about) = (Purpose::Work, "worker1".into(), Role::Worker, String::new());
        Errand { command: None, message, epoch: Epoch(epoch), purpose, agent, role, about }
    };
    let for_errand = |errand: Errand| NewRun { id: errand.run_id(), errand: Some(errand), ..world.new_run() };
    let task = world.new_task("an errand");
    let first = for_errand(errand(1, 1));
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..24 {
        let (store, task, run, other) = (world.store.clone(), task.clone(), first.clone(), world.new_task("another"));
        let other_run = world.new_run();
        asked.spawn(async move {
            if i % 4 == 0 {
                store.create_task(other, vec![other_run]).await.unwrap();
            }
            let (task, runs) = store.create_task(task, vec![run]).await.unwrap();
            (task.number.0, runs.into_iter().map(|run| run.spec.id).collect::<Vec<_>>())
        });
    }
    let answers: BTreeSet<_> = asked.join_all().await.into_iter().collect();
    assert_eq!(answers.len(), 1, "all of them got the same: {answers:?}");
    assert_eq!(answers.first().unwrap().1, [first.id]);
    let page = world.store.tasks(TaskFilter::default(), 100).await.unwrap();
    let numbers: BTreeSet<i64> = page.tasks.iter().map(|task| task.task.number.0).collect();
    assert_eq!(numbers, (1..=7).collect(), "no number was lost");

    // A further attempt is a run of the same task, also created once; what has become of it meanwhile is answered.
    let mut asked = tokio::task::JoinSet::new();
    let second = for_errand(errand(1, 2));
    for _ in 0..24 {
        let (store, id, run) = (world.store.clone(), task.id, second.clone());
        asked.spawn(async move { store.add_run(id, run).await.unwrap().spec.id });
    }
    assert!(asked.join_all().await.iter().all(|id| *id == second.id));
    let ids: Vec<_> = world.store.whole_task(task.id).await.unwrap().runs.iter().map(|run| run.spec.id).collect();
    assert_eq!(ids, [first.id, second.id]);
    let admitted = world.record(second.id, vec![Fact::Admitted]).await.unwrap();
    assert_eq!(world.store.add_run(task.id, second.clone()).await.unwrap(), admitted);
    assert_eq!(world.store.create_task(task.clone(), vec![second.clone()]).await.unwrap().1, [admitted]);

    // What is done with its work for the same message under the same epoch is another run, of another task.
    let (order, order_run) = world.store.create_task(world.new_task("an order"), vec![world.new_run()]).await.unwrap();
    let integrates = for_errand(Errand { purpose: Purpose::Integrate, ..errand(1, 2) });
    for _ in 0..2 {
        assert_eq!(world.store.add_run(order.id, integrates.clone()).await.unwrap().spec.id, integrates.id);
    }
    let ids: Vec<_> = world.store.whole_task(order.id).await.unwrap().runs.iter().map(|run| run.spec.id).collect();
    assert_eq!(BTreeSet::from_iter(ids), BTreeSet::from([order_run[0].spec.id, integrates.id]));

    let foreign = NewRun { errand: Some(errand(2, 2)), ..second };
    assert!(matches!(world.store.add_run(task.id, foreign).await, Err(StoreError::Other { .. })));
}

async fn sixteen_that_ask_together_admit_each_run_once_within_the_limit(world: World) {
    let runs = (0..40).map(|_| world.new_run()).collect();
    world.store.create_task(world.new_task("many runs"), runs).await.unwrap();
    let ask_all = async || {
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let (store, life) = (world.store.clone(), world.life);
            asked.spawn(async move { store.admit(life, 6, at(1)).await.unwrap() });
        }
        asked.join_all().await.into_iter().flatten().map(|r| r.subject.spec.id).collect::<Vec<_>>()
    };
    let first = ask_all().await;
    assert_eq!(first.len(), 6, "as many as there are places");
    assert_eq!(first.iter().collect::<BTreeSet<_>>().len(), 6, "each once");
    assert_eq!(ask_all().await, vec![], "no place is free");

    for id in first.iter().take(2) {
        world.record(*id, vec![not_started()]).await.unwrap();
    }
    let second = ask_all().await;
    assert_eq!(second.len(), 2, "a run that has come to its end gives its place back");
    assert!(second.iter().all(|id| !first.contains(id)));
    assert_eq!(world.store.waiting_count(world.life.host).await.unwrap(), 32);
}

async fn runs_are_admitted_in_the_order_they_were_asked_for(world: World) {
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(world.task().await.1.spec.id);
    }
    let places = async || {
        let mut places = Vec::new();
        for id in &ids {
            places.push(world.store.place(*id).await.unwrap());
        }
        places
    };
    assert_eq!(places().await, [Some(1), Some(2), Some(3), Some(4)]);
    world.record(ids[1], vec![Fact::CancelRequested]).await.unwrap();
    assert_eq!(places().await, [Some(1), None, Some(2), Some(3)], "who gives up leaves the queue");
    let mut admitted = Vec::new();
    while let Some(run) = world.store.admit(world.life, 10, at(1)).await.unwrap() {
        assert_eq!(run.subject.progress.admitted_at(), Some(at(1)));
        admitted.push(run.subject.spec.id);
    }
    assert_eq!(admitted, [ids[0], ids[2], ids[3]]);
}

async fn hosts_have_queues_of_their_own(world: World) {
    let (_, run) = world.task().await;
    let other = HostId::mint(at(5), 1 << 100);
    let epoch = world.store.begin_life(other, at(0)).await.unwrap();
    let life = Life { host: other, epoch };
    assert_eq!(world.store.admit(life, 10, at(1)).await.unwrap(), None);
    let refused = world.store.record::<Run>(life, run.spec.id, vec![Fact::Admitted], at(1)).await;
    assert!(matches!(refused, Err(StoreError::OtherHost { .. })), "another host's run: {refused:?}");
    assert_eq!(world.store.walked::<Run>(other).await.unwrap(), vec![]);
}

async fn an_earlier_life_cannot_write(world: World) {
    let (_, run) = world.task().await;
    let newer = world.store.begin_life(world.life.host, at(1)).await.unwrap();
    assert!(newer > world.life.epoch);
    let fenced = StoreError::Fenced { host: world.life.host, epoch: world.life.epoch };
    assert_eq!(world.record(run.spec.id, vec![Fact::Admitted]).await, Err(fenced.clone()));
    assert_eq!(world.store.admit(world.life, 10, at(1)).await, Err(fenced));
    assert_eq!(world.store.subject::<Run>(run.spec.id).await.unwrap(), run);
    let life = Life { epoch: newer, ..world.life };
    assert!(world.store.admit(life, 10, at(1)).await.unwrap().is_some());
}

async fn facts_are_recorded_all_or_none(world: World) {
    let (_, run) = world.task().await;
    let id = run.spec.id;
    let before = (world.store.subject::<Run>(id).await.unwrap(), world.store.last_seq().await.unwrap());
    // Legal up to the last, which is not.
    let mut facts = path_to_ready(&run);
    facts.push(Fact::Pushed { oid: Oid::new("cccc") });
    let refused = world.record(id, facts).await;
    assert!(matches!(refused, Err(StoreError::Illegal(_))), "{refused:?}");
    let after = (world.store.subject::<Run>(id).await.unwrap(), world.store.last_seq().await.unwrap());
    assert_eq!(before, after, "neither facts nor events");
    assert_eq!(world.store.worktrees(None).await.unwrap(), vec![], "nor what follows from them");

    let run = world.record(id, path_to_pushed(&run)).await.unwrap();
    assert_eq!(run.status(), Status::Succeeded);
    assert_eq!(world.store.subject::<Run>(id).await.unwrap(), run, "what was answered is what is there");
}

async fn a_refusal_does_not_harm_its_neighbours(world: World) {
    let mut ids = Vec::new();
    for _ in 0..32 {
        ids.push(world.task().await.1.spec.id);
    }
    let mut asked = tokio::task::JoinSet::new();
    for (i, id) in ids.iter().copied().enumerate() {
        let (store, life) = (world.store.clone(), world.life);
        let fact = if i % 2 == 0 { Fact::Admitted } else { Fact::Pushed { oid: Oid::new("cccc") } };
        asked.spawn(async move { (i, store.record::<Run>(life, id, vec![fact], at(1)).await.is_ok()) });
    }
    for (i, ok) in asked.join_all().await {
        assert_eq!(ok, i % 2 == 0);
        assert_eq!(world.store.subject::<Run>(ids[i]).await.unwrap().progress.admitted_at().is_some(), ok);
    }
}

async fn events_replay_in_order(world: World) {
    let (task, run) = world.task().await;
    let (_, other) = world.task().await;
    world.record(other.spec.id, vec![Fact::Admitted]).await.unwrap();
    world.record(run.spec.id, path_to_ready(&run)).await.unwrap();
    let all = world.store.events_after(0, EventFilter::default(), 1000).await.unwrap();
    assert!(all.windows(2).all(|w| w[0].seq < w[1].seq));
    assert_eq!(all.last().unwrap().seq, world.store.last_seq().await.unwrap());

    let of_run = EventFilter { run: Some(run.spec.id), ..EventFilter::default() };
    let events = world.store.events_after(0, of_run, 1000).await.unwrap();
    let kinds: Vec<_> = events.iter().map(|e| e.kind.as_str()).collect();
    assert_eq!(kinds, ["run_created", "admitted", "intended", "worktree_ready"]);
    let facts: Vec<_> = events.iter().filter_map(crate::Event::fact::<Run>).collect();
    assert_eq!(facts, path_to_ready(&run), "the log holds the facts themselves");
    assert_eq!((events[1].at, events[1].repo, events[1].task), (at(1), Some(world.repo), Some(task.id)));

    let rest = world.store.events_after(events[1].seq, of_run, 1).await.unwrap();
    assert_eq!(rest, events[2..3], "after what was seen, and no more than asked for");
    let of_task = EventFilter { task: Some(task.id), ..EventFilter::default() };
    assert_eq!(world.store.events_after(0, of_task, 1000).await.unwrap().len(), 5);
    let of_nobody = EventFilter { repo: Some(RepoId::mint(at(0), random())), ..EventFilter::default() };
    assert_eq!(world.store.events_after(0, of_nobody, 1000).await.unwrap(), vec![]);
}

/// Whoever follows the log by its numbers sees every event, in whatever order the transactions commit.
async fn a_follower_of_the_log_misses_nothing(world: World) {
    const RUNS: usize = 60;
    let mut followers = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let mut follower = world.store.watch_events();
        let store = world.store.clone();
        followers.spawn(async move {
            let (mut seen, mut admitted) = (0, 0);
            while admitted < RUNS {
                for event in store.events_after(seen, EventFilter::default(), 7).await.unwrap() {
                    assert_eq!(event.seq, seen + 1, "no gap");
                    seen = event.seq;
                    admitted += usize::from(event.kind == "admitted");
                }
                if *follower.borrow_and_update() <= seen && admitted < RUNS {
                    follower.changed().await.unwrap();
                }
            }
        });
    }
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..RUNS {
        let (store, life) = (world.store.clone(), world.life);
        let (task, run) = (world.new_task("followed"), world.new_run());
        asked.spawn(async move {
            let (_, runs) = store.create_task(task, vec![run]).await.unwrap();
            store.record::<Run>(life, runs[0].spec.id, vec![Fact::Admitted], at(1)).await.unwrap();
        });
    }
    asked.join_all().await;
    tokio::time::timeout(std::time::Duration::from_mins(1), followers.join_all()).await.expect("all seen");
}

async fn references_resolve(world: World) {
    let (first, run) = world.task().await;
    let (second, _) =
        world.store.create_task(world.new_task("two"), vec![world.new_run(), world.new_run()]).await.unwrap();
    for text in ["T-2", "t-2", "2", "#2", " 2 ", &second.id.to_string()] {
        assert_eq!(world.store.find_task(text).await.unwrap(), second, "{text}");
        assert_eq!(world.store.find_runs(text).await.unwrap().len(), 2, "{text}");
    }
    let key = run.spec.id.key().to_string();
    let forms =
        [run.spec.id.to_string(), key.clone(), format!("dandori/{key}"), key[3..].into(), key[..5].to_uppercase()];
    for text in forms {
        assert_eq!(world.store.find_runs(&text).await.unwrap(), std::slice::from_ref(&run), "{text}");
        assert_eq!(world.store.find_task(&text).await.unwrap(), first, "{text}");
    }
    for text in [
        "T-9",
        "zzzzzzzz",
        "",
        "x%",
        "____",
        "#",
        "T-",
        "task_%",
        "run_0_",
        "-1",
        "+2",
        &RepoId::mint(at(0), random()).to_string(),
    ] {
        let missing = world.store.find_task(text).await;
        assert!(matches!(missing, Err(StoreError::NotFound { noun: Noun::Task, .. })), "{text}: {missing:?}");
    }
}

async fn an_ambiguous_key_lists_what_it_could_mean(world: World) {
    let mut runs = [world.new_run(), world.new_run()];
    // The last 40 bits are the key: the same last 25 bits are the same last five characters.
    for (run, random) in runs.iter_mut().zip([1u128 << 80 | 7 << 48, 2u128 << 80 | 7 << 48]) {
        run.id = dandori_domain::RunId::mint(at(0), random);
    }
    let mut lone = world.new_run();
    lone.id = dandori_domain::RunId::mint(at(9), u128::MAX);
    let ids = runs.each_ref().map(|r| r.id.to_string());
    let keys = runs.each_ref().map(|r| r.id.key().to_string());
    let shared = runs[0].id.key().as_str()[3..].to_owned();
    assert_eq!(shared, runs[1].id.key().as_str()[3..]);
    world.store.create_task(world.new_task("twins"), runs.to_vec()).await.unwrap();
    let Err(StoreError::Ambiguous { matches, .. }) = world.store.find_runs(&shared).await else { panic!("{shared}") };
    assert_eq!(matches.len(), 2, "{matches:?}");
    let named = |key: &str| matches.iter().any(|m| m.starts_with(key) && m.contains("T-1") && m.contains("twins"));
    assert!(keys.iter().all(|key| named(key)), "each with what it is about: {matches:?}");
    // One character is enough where no other begins so.
    let (third, _) = world.store.create_task(world.new_task("other"), vec![lone.clone()]).await.unwrap();
    let one = &lone.id.key().to_string()[..1];
    assert!(keys.iter().all(|key| !key.starts_with(one)), "{keys:?} {one}");
    assert_eq!(world.store.find_task(one).await.unwrap(), third);
    // Both were asked for in the same millisecond: their ids begin alike.
    let Err(StoreError::Ambiguous { .. }) = world.store.find_runs(&ids[0][..14]).await else { panic!("{ids:?}") };
    assert_eq!(world.store.find_runs(&ids[0][..29]).await.unwrap()[0].spec.id, runs[0].id);
}

async fn a_pull_of_the_same_head_is_opened_once(world: World) {
    let draft = |head: &str, title: &str| PullDraft {
        title: title.into(),
        body: "body".into(),
        head: head.into(),
        base: "main".into(),
    };
    let (store, repo) = (&world.store, world.repo);
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..8 {
        let (store, draft) = (store.clone(), draft(&format!("dandori/{}", i % 2), "first"));
        asked.spawn(async move {
            store.open_local_pull(repo, None, None, draft, Oid::new("1111"), at(1)).await.unwrap().number
        });
    }
    let numbers: BTreeSet<u64> = asked.join_all().await.into_iter().collect();
    assert_eq!(numbers, BTreeSet::from([1, 2]), "numbered from 1, without gaps");

    let (_, run) = world.task().await;
    let again = store
        .open_local_pull(repo, None, Some(run.spec.id), draft("dandori/0", "second"), Oid::new("2222"), at(2))
        .await
        .unwrap();
    assert_eq!((again.draft.title.as_str(), again.head_oid.as_str(), again.run), ("second", "2222", Some(run.spec.id)));
    assert_eq!((again.created_at, again.updated_at), (at(1), at(2)));
    assert_eq!(store.local_pull(repo, again.number).await.unwrap(), again);

    store.set_local_pull_state(repo, again.number, PullState::Merged, at(3)).await.unwrap();
    let next = store.open_local_pull(repo, None, None, draft("dandori/0", "third"), Oid::new("3333"), at(4));
    assert_eq!(next.await.unwrap().number, 3, "a merged one stays merged");
    let moved = store.open_local_pull(repo, Some(3), None, draft("dandori/9", "moved"), Oid::new("4444"), at(5));
    let moved = moved.await.unwrap();
    assert_eq!((moved.number, moved.draft.head.as_str(), moved.created_at), (3, "dandori/9", at(4)));
    let taken = store.open_local_pull(repo, Some(3), None, draft("dandori/1", "moved"), Oid::new("5555"), at(6));
    // Whichever of the two was first.
    assert_eq!(taken.await.unwrap().number, 3 - again.number, "a branch has one");
    let listed: Vec<_> = store.local_pulls(repo).await.unwrap().iter().map(|p| p.number).collect();
    assert_eq!(listed, [3, 2, 1]);
    let missing = store.local_pull(repo, 99).await;
    assert!(matches!(missing, Err(StoreError::NotFound { noun: Noun::Pull, .. })), "{missing:?}");
}

async fn a_worktree_follows_its_run(world: World) {
    let (_, run) = world.task().await;
    let (id, place) = (run.spec.id, workspace(&run));
    let tree = async || world.store.worktree(place.key.clone()).await.unwrap();
    assert_eq!(tree().await, None);
    world.record(id, path_to_ready(&run)).await.unwrap();
    let ready = tree().await.unwrap();
    assert_eq!((ready.owner, ready.created_at, ready.branch), (Owner::Run { run: id }, at(1), place.branch.clone()));
    world.record(id, vec![not_started(), Fact::Settled]).await.unwrap();
    assert_eq!(tree().await.unwrap().owner, Owner::Nobody);

    // A second run is canceled: what it did is kept and its worktree goes.
    let (_, run) = world.task().await;
    let (id, place) = (run.spec.id, workspace(&run));
    world.record(id, path_to_ready(&run)).await.unwrap();
    world.record(id, vec![Fact::CancelRequested]).await.unwrap();
    let kept = Fact::Preserved { reference: "refs/dandori/preserved/x".into(), oid: Oid::new("eeee") };
    world.record(id, vec![kept, Fact::Removed { branch: BranchFate::Delete }]).await.unwrap();
    let gone = world.store.worktree(place.key.clone()).await.unwrap().unwrap();
    assert_eq!((gone.removed_at, gone.owner), (Some(at(1)), Owner::Nobody));
    assert_eq!(world.store.worktrees(Some(world.repo)).await.unwrap().len(), 1, "a tombstone is not listed");
    let kept = world.store.keepsakes(world.repo).await.unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0].key, &kept[0].branch, kept[0].oid.as_str()), (&place.key, &place.branch, "eeee"));
}

async fn a_worktree_has_one_owner_at_a_time(world: World) {
    let key = WorktreeKey::new("abcd1234");
    let tree = Worktree {
        key: key.clone(),
        repo: world.repo,
        path: "/trees/a".into(),
        branch: "topic".into(),
        branch_is_ours: false,
        base: "main".into(),
        base_oid: Oid::new("aaaa"),
        owner: Owner::Nobody,
        created_at: at(0),
        removed_at: None,
    };
    world.store.put_worktree(tree.clone(), at(0)).await.unwrap();
    assert_eq!(world.store.worktrees(Some(world.repo)).await.unwrap(), std::slice::from_ref(&tree));
    let session = |name: &str| Owner::Session { session: name.into() };
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..8 {
        let (store, key, me) = (world.store.clone(), key.clone(), session(&format!("s{i}")));
        asked.spawn(async move { store.set_owner(key, Owner::Nobody, me, at(1)).await });
    }
    let outcomes = asked.join_all().await;
    assert_eq!(outcomes.iter().filter(|o| o.is_ok()).count(), 1);
    assert!(outcomes.iter().filter_map(|o| o.as_ref().err()).all(|e| matches!(e, StoreError::Held { .. })));
    let holder = world.store.worktree(key.clone()).await.unwrap().unwrap().owner;
    world.store.set_owner(key.clone(), holder, Owner::Nobody, at(2)).await.unwrap();
    assert_eq!(world.store.mark_removed(key.clone(), at(3)).await.unwrap().removed_at, Some(at(3)));
    assert_eq!(world.store.mark_removed(key, at(4)).await.unwrap().removed_at, Some(at(3)), "gone once");
    let missing = world.store.mark_removed(WorktreeKey::new("nowhere0"), at(4)).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

async fn keepsakes_are_kept_until_dropped(world: World) {
    let keepsake = |reference: &str, second| Keepsake {
        key: WorktreeKey::new("abcd1234"),
        reference: reference.into(),
        oid: Oid::new("eeee"),
        branch: "topic".into(),
        path: "/trees/a".into(),
        at: at(second),
    };
    world.store.keep(world.repo, keepsake("refs/a", 1)).await.unwrap();
    world.store.keep(world.repo, keepsake("refs/b", 2)).await.unwrap();
    world.store.keep(world.repo, keepsake("refs/a", 1)).await.unwrap();
    let listed = world.store.keepsakes(world.repo).await.unwrap();
    assert_eq!(listed, [keepsake("refs/b", 2), keepsake("refs/a", 1)], "newest first, each once");
    world.store.drop_keepsake(world.repo, "refs/b".into(), at(3)).await.unwrap();
    assert_eq!(world.store.keepsakes(world.repo).await.unwrap(), [keepsake("refs/a", 1)]);
    let missing = world.store.drop_keepsake(world.repo, "refs/b".into(), at(3)).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

async fn a_branch_has_one_run_at_work(world: World) {
    let (task, first) = world.task().await;
    let first = world.record(first.spec.id, path_to_pushed(&first)).await.unwrap();
    let busy = world.store.add_run(task.id, world.follow_up(&first)).await;
    assert_eq!(busy, Err(StoreError::Busy { run: first.spec.id, status: Status::Succeeded }), "not settled yet");
    world.record(first.spec.id, vec![Fact::Settled]).await.unwrap();

    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, run) = (world.store.clone(), world.follow_up(&first));
        asked.spawn(async move { store.add_run(task.id, run).await });
    }
    let outcomes = asked.join_all().await;
    assert_eq!(outcomes.iter().filter(|o| o.is_ok()).count(), 1, "{outcomes:?}");
    assert!(outcomes.iter().filter_map(|o| o.as_ref().err()).all(|e| matches!(e, StoreError::Busy { .. })));
    let follow_up = outcomes.into_iter().find_map(Result::ok).unwrap();
    assert_eq!((follow_up.spec.number, follow_up.spec.repo), (task.number, task.repo));
    assert_eq!(world.store.runs_of(task.id).await.unwrap().len(), 2);
}

async fn a_push_is_resumed_only_on_a_free_branch(world: World) {
    let (task, run) = world.task().await;
    let mut facts = path_to_committed(&run);
    facts.extend([push_refused(), Fact::Settled]);
    let run = world.record(run.spec.id, facts).await.unwrap();
    let resumed = world.record(run.spec.id, vec![Fact::Resumed]).await.unwrap();
    assert_eq!(resumed.status(), Status::Pushing);
    let owner = async || world.store.worktree(workspace(&run).key).await.unwrap().unwrap().owner;
    assert_eq!(owner().await, Owner::Run { run: run.spec.id }, "the worktree is its own again");
    assert_eq!(world.store.walked::<Run>(world.life.host).await.unwrap().len(), 1);
    world.record(run.spec.id, vec![push_refused(), Fact::Settled]).await.unwrap();

    let follow_up = world.store.add_run(task.id, world.follow_up(&run)).await.unwrap();
    let busy = world.record(run.spec.id, vec![Fact::Resumed]).await;
    assert_eq!(busy, Err(StoreError::Busy { run: follow_up.spec.id, status: Status::Pending }));
    assert_eq!(owner().await, Owner::Nobody);
}

async fn walked_runs_are_those_a_restart_goes_on_with(world: World) {
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(world.task().await.1);
    }
    world.record(runs[1].spec.id, vec![Fact::Admitted]).await.unwrap();
    world.record(runs[2].spec.id, vec![Fact::CancelRequested]).await.unwrap();
    world.record(runs[3].spec.id, path_to_pushed(&runs[3])).await.unwrap();
    world.record(runs[4].spec.id, vec![Fact::CancelRequested, Fact::Settled]).await.unwrap();
    let walked = world.store.walked::<Run>(world.life.host).await.unwrap();
    let open: BTreeSet<_> = walked.iter().map(|r| r.spec.id).collect();
    assert_eq!(open, [runs[1].spec.id, runs[2].spec.id, runs[3].spec.id].into());
}

async fn a_long_instruction_comes_back_whole(world: World) {
    let mut run = world.new_run();
    run.instruction = "段取り \"八分\"\n\u{1F980}\t".repeat(50_000);
    assert!(run.instruction.len() > 1024 * 1024);
    let (_, runs) = world.store.create_task(world.new_task("long"), vec![run.clone()]).await.unwrap();
    let admitted = world.store.admit(world.life, 1, at(1)).await.unwrap().unwrap().subject;
    assert_eq!(admitted.spec.instruction, run.instruction);
    assert_eq!(world.store.subject::<Run>(runs[0].spec.id).await.unwrap(), admitted);
}

async fn a_repository_is_known_once(world: World) {
    let mut asked = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let (store, candidate) = (world.store.clone(), repo(world.life.host, "/src/other/.git"));
        asked.spawn(async move { store.know_repo(candidate).await.unwrap() });
    }
    let known = asked.join_all().await;
    assert!(known.windows(2).all(|w| w[0] == w[1]));
    assert_eq!(world.store.repo(known[0].id).await.unwrap(), known[0]);
    let here = world.life.host;
    assert_eq!(world.store.repos(here).await.unwrap().len(), 2);
    let elsewhere = HostId::mint(at(0), random());
    let same_path = world.store.know_repo(repo(elsewhere, "/src/other/.git")).await.unwrap();
    assert_ne!(same_path.id, known[0].id, "the same path on another host is another repository");
    assert_eq!(world.store.repos(here).await.unwrap().len(), 2);
    let missing = world.store.repo(RepoId::mint(at(0), random())).await;
    assert!(matches!(missing, Err(StoreError::NotFound { noun: Noun::Repo, .. })), "{missing:?}");
}

async fn tasks_are_listed_newest_first_with_their_runs(world: World) {
    let (done, _) = world.finished_task().await;
    let (open, run) = world.task().await;
    let other = world.store.know_repo(repo(world.life.host, "/src/other/.git")).await.unwrap();
    let mut elsewhere = world.new_task("elsewhere");
    elsewhere.repo = other.id;
    let (elsewhere, _) = world.store.create_task(elsewhere, vec![world.new_run()]).await.unwrap();

    let listed = async |filter, limit| {
        let page = world.store.tasks(filter, limit).await.unwrap();
        page.tasks.into_iter().map(|t| (t.task.id, t.runs.len())).collect::<Vec<_>>()
    };
    let all = [(elsewhere.id, 1), (open.id, 1), (done.id, 1)];
    assert_eq!(listed(TaskFilter::default(), 10).await, all);
    assert_eq!(listed(TaskFilter::default(), 2).await, all[..2]);
    let here = TaskFilter { repo: Some(world.repo), ..TaskFilter::default() };
    assert_eq!(listed(here.clone(), 10).await, all[1..]);
    assert_eq!(listed(TaskFilter { open_only: true, ..here.clone() }, 10).await, all[1..2]);
    assert_eq!(world.store.tasks(TaskFilter::default(), 1).await.unwrap().total, 3, "the rest is counted");
    let in_state = |state| TaskFilter { states: vec![state], ..here.clone() };
    assert_eq!(listed(in_state(Status::Pending), 10).await, all[1..2]);
    assert_eq!(listed(in_state(Status::Failed), 10).await, []);
    let of_agent = |agent: String| TaskFilter { agent: Some(agent), ..here.clone() };
    assert_eq!(listed(of_agent(run.spec.agent.to_string()), 10).await, all[1..]);
    assert_eq!(listed(of_agent("nobody".to_owned()), 10).await, []);

    let picked = world.store.pick(open.id, run.spec.id, None, at(2)).await.unwrap();
    assert_eq!(picked.picked, Some(run.spec.id));
    assert_eq!(world.store.task(open.id).await.unwrap(), picked);
    let wrong = world.store.pick(done.id, run.spec.id, None, at(2)).await;
    assert!(matches!(wrong, Err(StoreError::NotFound { noun: Noun::Run, .. })), "{wrong:?}");
}

async fn everything_is_there_after_reopening(world: World) {
    let (task, run) = world.finished_task().await;
    let seq = world.store.last_seq().await.unwrap();
    let again = world.reopen().await;
    assert_eq!(again.task(task.id).await.unwrap(), task);
    assert_eq!(again.subject::<Run>(run.spec.id).await.unwrap(), run);
    assert_eq!(again.last_seq().await.unwrap(), seq);
    assert_eq!(*again.watch_events().borrow(), seq);
    let next = again.begin_life(world.life.host, at(1)).await.unwrap();
    assert!(next > world.life.epoch);
    let health = again.health().await.unwrap();
    assert_eq!((health.backend, health.damage, health.schema), (again.backend(), None, crate::migrate::known()));
    assert!(health.bytes > 4096);
    assert_eq!(again.check_integrity().await.unwrap().findings, Vec::<String>::new());
}

async fn a_schema_newer_than_this_program_is_refused(world: World) {
    let newer = crate::migrate::known() + 1;
    let write = world.store.write(move |tx| {
        let sql = "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, 'x', 'x', 'x')";
        tx.execute(sql, crate::tx::params![newer])
    });
    write.await.unwrap();
    let refused = crate::Store::open(world.location.clone(), at(1)).await.map(|(_, report)| report);
    assert_eq!(refused, Err(StoreError::TooNew { found: newer, known: newer - 1 }));
}

async fn a_changed_migration_is_refused(world: World) {
    world.store.write(|tx| tx.execute("UPDATE schema_migration SET checksum = 'other'", &[])).await.unwrap();
    let refused = crate::Store::open(world.location.clone(), at(1)).await.map(|(_, report)| report);
    assert_eq!(refused, Err(StoreError::MigrationDiffers { number: 1 }));
}

async fn a_verb_that_breaks_off_is_an_error_and_the_store_goes_on(world: World) {
    let broken = world.store.write(|_| -> crate::Result<()> { panic!("on purpose") }).await;
    assert!(matches!(broken, Err(StoreError::Other { .. })), "{broken:?}");
    world.task().await;
}

/// Makes each contract a test on each of the stores named.
macro_rules! contract_test {
    ($($store:ident),+ => $names:tt) => { $(contract_test!(@one $store $names);)+ };
    (@one $store:ident ($($name:ident),+ $(,)?)) => {
        mod $store {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(super::World::$store().await).await;
            })+
        }
    };
}

contract_test!(memory, sqlite, postgres => (
    task_numbers_are_dense_when_many_ask_together,
    an_errand_s_run_is_created_once_when_many_ask_together,
    sixteen_that_ask_together_admit_each_run_once_within_the_limit,
    runs_are_admitted_in_the_order_they_were_asked_for,
    hosts_have_queues_of_their_own,
    an_earlier_life_cannot_write,
    facts_are_recorded_all_or_none,
    a_refusal_does_not_harm_its_neighbours,
    events_replay_in_order,
    a_follower_of_the_log_misses_nothing,
    references_resolve,
    an_ambiguous_key_lists_what_it_could_mean,
    a_pull_of_the_same_head_is_opened_once,
    a_worktree_follows_its_run,
    a_worktree_has_one_owner_at_a_time,
    keepsakes_are_kept_until_dropped,
    a_branch_has_one_run_at_work,
    a_push_is_resumed_only_on_a_free_branch,
    walked_runs_are_those_a_restart_goes_on_with,
    a_long_instruction_comes_back_whole,
    a_repository_is_known_once,
    tasks_are_listed_newest_first_with_their_runs,
    a_verb_that_breaks_off_is_an_error_and_the_store_goes_on,
    guard_records_are_taken_in_once_with_the_place_they_were_read_to,
    guard_records_are_taken_in_by_the_present_life_alone,
    guard_records_are_told_apart_by_their_folder,
    old_guard_records_go,
    only_tasks_that_may_need_somebody_are_looked_at,
    the_newest_answer_to_a_need_counts_until_it_is_taken_back,
    old_answers_go_with_their_needs_and_no_others,
    trust_is_wanted_since_the_first_refusal_of_the_same_content,
    a_notice_is_begun_once_when_many_want_to,
    notices_are_the_present_life_s_and_old_ones_go,
    any_machine_is_recorded_logged_and_fenced_alike,
    a_lease_is_taken_once_when_many_ask_and_an_earlier_holder_cannot_write,
    a_task_is_open_as_long_as_its_pull_request_is_pending,
    a_pushed_branch_has_its_pull_request_in_the_same_moment,
    an_open_pull_request_lets_the_worktree_go_unless_somebody_works_in_it,
    steps_of_a_formation_answer_and_leave_what_they_do_in_memory,
    many_who_claim_and_report_together_do_each_task_once,
    a_cancellation_wins_over_claims_that_come_at_the_same_moment,
    a_step_that_is_refused_leaves_nothing_behind,
    how_a_formation_stands_and_what_it_refused_is_kept,
));

/// What outlives its handle.
mod lasting {
    use super::{
        World, a_changed_migration_is_refused, a_schema_newer_than_this_program_is_refused,
        everything_is_there_after_reopening,
    };

    contract_test!(sqlite, postgres => (
        everything_is_there_after_reopening,
        a_schema_newer_than_this_program_is_refused,
        a_changed_migration_is_refused,
    ));
}
