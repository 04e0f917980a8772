//! What the store promises about needs and notices.

use std::collections::{BTreeSet, HashMap, HashSet};

use dandori_domain::Fact;
use dandori_domain::need::{Answer, NeedId};
use dandori_domain::pull::PullWords;

use crate::sample::{World, at, not_started};
use crate::{Life, NoticeWay, StoreError, TrustWanted, Turn};

fn need(text: &str) -> NeedId {
    text.parse().unwrap()
}

pub(super) async fn only_tasks_that_may_need_somebody_are_looked_at(world: World) {
    let numbers = async || -> BTreeSet<i64> {
        let found = world.store.needy_tasks(world.life.host).await.unwrap();
        assert!(found.iter().all(|task| !task.runs.is_empty()));
        found.iter().map(|task| task.task.number.0).collect()
    };
    let (waiting, waits) = world.task().await;
    let (failed, fails) = world.task().await;
    world.record(fails.spec.id, vec![not_started(), Fact::Settled]).await.unwrap();
    let (done, run) = world.finished_task().await;
    assert_eq!(numbers().await, BTreeSet::from([waiting.number.0, failed.number.0]), "what went well is not");
    // A pull request that is not over is a reason, too.
    let words = PullWords { title: "t".into(), body: "b".into() };
    let wanted = run.pull_wanted(words, dandori_domain::pull::WantedBy::Hand, at(2)).unwrap();
    world.store.want_pull(world.life, wanted, at(2)).await.unwrap();
    assert_eq!(numbers().await, BTreeSet::from([waiting.number.0, failed.number.0, done.number.0]));
    world.record(waits.spec.id, vec![Fact::CancelRequested, Fact::Settled]).await.unwrap();
    assert_eq!(numbers().await, BTreeSet::from([failed.number.0, done.number.0]), "nothing of it was kept");
}

pub(super) async fn the_newest_answer_to_a_need_counts_until_it_is_taken_back(world: World) {
    let store = &world.store;
    let snoozed = Answer::Snoozed { until: at(60), reason: "明日".into() };
    store.answer_need(need("aaaaaaaa"), snoozed.clone(), at(1)).await.unwrap();
    store.answer_need(need("bbbbbbbb"), Answer::Dismissed, at(1)).await.unwrap();
    let both = HashMap::from([(need("aaaaaaaa"), snoozed), (need("bbbbbbbb"), Answer::Dismissed)]);
    assert_eq!(store.need_answers().await.unwrap(), both);
    store.answer_need(need("aaaaaaaa"), Answer::Dismissed, at(2)).await.unwrap();
    assert_eq!(store.need_answers().await.unwrap().get(&need("aaaaaaaa")), Some(&Answer::Dismissed));
    assert!(store.wake_need(need("aaaaaaaa"), at(3)).await.unwrap());
    assert!(!store.wake_need(need("aaaaaaaa"), at(3)).await.unwrap(), "there is none any more");
    assert_eq!(store.need_answers().await.unwrap().len(), 1);
}

pub(super) async fn old_answers_go_with_their_needs_and_no_others(world: World) {
    let store = &world.store;
    for (id, second) in [("aaaaaaaa", 1), ("bbbbbbbb", 1), ("cccccccc", 100)] {
        store.answer_need(need(id), Answer::Dismissed, at(second)).await.unwrap();
    }
    let current = HashSet::from([need("bbbbbbbb")]);
    assert_eq!(store.drop_need_answers(current, at(50)).await, Ok(1));
    let left: HashSet<NeedId> = store.need_answers().await.unwrap().into_keys().collect();
    assert_eq!(left, HashSet::from([need("bbbbbbbb"), need("cccccccc")]), "one is still needed, one is young");
}

pub(super) async fn trust_is_wanted_since_the_first_refusal_of_the_same_content(world: World) {
    let wanted = |digest: &str, second| TrustWanted { repo: world.repo, digest: digest.into(), at: at(second) };
    for (digest, second) in [("one", 1), ("one", 5)] {
        world.store.want_trust(wanted(digest, second)).await.unwrap();
    }
    assert_eq!(world.store.trust_wanted(world.life.host).await.unwrap(), [wanted("one", 1)]);
    world.store.want_trust(wanted("two", 9)).await.unwrap();
    assert_eq!(world.store.trust_wanted(world.life.host).await.unwrap(), [wanted("two", 9)]);
    let nobody = dandori_domain::HostId::mint(at(9), 5);
    assert_eq!(world.store.trust_wanted(nobody).await.unwrap(), []);
}

pub(super) async fn a_notice_is_begun_once_when_many_want_to(world: World) {
    let mut asked = tokio::task::JoinSet::new();
    for seq in 1..=12 {
        let (store, life) = (world.store.clone(), world.life);
        asked.spawn(async move { store.begin_notice(life, "aaaaaaaa".into(), Some(seq), at(1)).await.unwrap() });
    }
    let turns = asked.join_all().await;
    assert_eq!(turns.iter().filter(|turn| **turn == Turn::Ours).count(), 1, "{turns:?}");
    assert_eq!(world.store.notice_cursor(world.life.host).await, Ok(Some(12)), "the newest event stays");
    let open = world.store.notices(world.life.host).await.unwrap();
    assert_eq!((open.len(), open["aaaaaaaa"].done_at), (1, None));
    let way = |second, error: Option<&str>| NoticeWay {
        way: "webhook".into(),
        at: at(second),
        error: error.map(str::to_owned),
    };
    world.store.end_notice(world.life, "aaaaaaaa".into(), vec![way(2, Some("refused"))], at(2)).await.unwrap();
    assert_eq!(world.store.notices(world.life.host).await.unwrap()["aaaaaaaa"].done_at, Some(at(2)));
    world.store.end_notice(world.life, "bbbbbbbb".into(), vec![way(3, None)], at(3)).await.unwrap();
    assert_eq!(world.store.notice_ways(world.life.host).await.unwrap(), [way(3, None)], "the last counts");
}

pub(super) async fn notices_are_the_present_life_s_and_old_ones_go(world: World) {
    let store = &world.store;
    for (occurrence, second) in [("old", 1), ("unfinished", 1), ("young", 90)] {
        store.begin_notice(world.life, occurrence.into(), None, at(second)).await.unwrap();
    }
    for occurrence in ["old", "young"] {
        store.end_notice(world.life, occurrence.into(), Vec::new(), at(91)).await.unwrap();
    }
    assert_eq!(store.notice_cursor(world.life.host).await, Ok(None));
    assert_eq!(store.drop_notices(world.life, at(50)).await, Ok(1));
    let left: BTreeSet<String> = store.notices(world.life.host).await.unwrap().into_keys().collect();
    assert_eq!(left, BTreeSet::from(["unfinished".to_owned(), "young".to_owned()]));
    let epoch = store.begin_life(world.life.host, at(99)).await.unwrap();
    let fenced = store.begin_notice(world.life, "late".into(), None, at(99)).await;
    assert!(matches!(fenced, Err(StoreError::Fenced { .. })), "{fenced:?}");
    let life = Life { epoch, ..world.life };
    assert_eq!(store.begin_notice(life, "unfinished".into(), None, at(99)).await, Ok(Turn::Begun));
}
