//! What holds for every machine: shown with a run, its pull request, and a kettle that exists for this alone.

use dandori_domain::id::{HostId, Oid};
use dandori_domain::machine::{About, IllegalFact, Machine, Next, SubjectRef};
use dandori_domain::pull::{Pull, PullFact, PullLink};
use dandori_domain::run::{BranchFate, Cleanup, Fact, Intent, Removal, Run, RunSettings};
use dandori_domain::worktree::Owner;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::sample::{World, at, path_to_pushed, workspace};
use crate::{EventFilter, Life, Noun, StoreError, Stored, TaskFilter, Touched};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Kettle {
    spec: KettleSpec,
    boiled: u32,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct KettleSpec {
    number: u32,
    host: HostId,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
enum KettleFact {
    Boiled,
}

impl Machine for Kettle {
    const NAME: &'static str = "kettle";
    const VERSION: i64 = 1;
    const FACTS: &'static [&'static str] = &["boiled"];
    const INTENTS: &'static [&'static str] = &[];
    type Id = u32;
    type Fact = KettleFact;
    type Step = ();

    fn id(&self) -> u32 {
        self.spec.number
    }
    fn about(&self) -> About {
        About { host: self.spec.host, repo: None, task: None, run: None }
    }
    fn status_name(&self) -> &'static str {
        if self.boiled == 0 { "cold" } else { "hot" }
    }
    fn apply(&mut self, fact: &KettleFact, _at: Timestamp) -> Result<(), IllegalFact> {
        if self.boiled == 2 {
            return Err(IllegalFact::of(self, fact));
        }
        self.boiled += 1;
        Ok(())
    }
    fn next(&self, _now: Timestamp) -> Next<Self> {
        if self.boiled == 2 { Next::Rest } else { Next::Take(()) }
    }
    fn fact_name(_fact: &KettleFact) -> &'static str {
        "boiled"
    }
    fn intent_of(_fact: &KettleFact) -> Option<&'static str> {
        None
    }
    fn step_name((): &()) -> &'static str {
        "boil"
    }
    fn carries_out((): &()) -> Option<&'static str> {
        None
    }
}

impl Stored for Kettle {
    const NOUN: Noun = Noun::Other;
}

fn kettle(number: u32, host: HostId) -> Kettle {
    Kettle { spec: KettleSpec { number, host }, boiled: 0 }
}

pub(super) async fn any_machine_is_recorded_logged_and_fenced_alike(world: World) {
    let (store, life) = (&world.store, world.life);
    store.create(kettle(1, life.host), at(0)).await.unwrap();
    let boiled = store.record::<Kettle>(life, 1, vec![KettleFact::Boiled], at(1)).await.unwrap();
    assert_eq!((boiled.subject.boiled, boiled.touched), (1, vec![]));
    assert_eq!(store.subject::<Kettle>(1).await.unwrap(), boiled.subject);
    assert_eq!(store.walked::<Kettle>(life.host).await.unwrap(), [boiled.subject]);
    let refused = store.record::<Kettle>(life, 1, vec![KettleFact::Boiled, KettleFact::Boiled], at(1)).await;
    let illegal = IllegalFact { machine: "kettle", status: "hot", fact: "boiled" };
    assert_eq!(refused, Err(StoreError::Illegal(illegal)), "all or none");
    store.record::<Kettle>(life, 1, vec![KettleFact::Boiled], at(2)).await.unwrap();
    assert_eq!(store.walked::<Kettle>(life.host).await.unwrap(), [], "it is over");

    let events = store.events_after(0, EventFilter::default(), 100).await.unwrap();
    let its: Vec<_> = events.iter().filter_map(crate::Event::fact::<Kettle>).collect();
    assert_eq!(its, [KettleFact::Boiled, KettleFact::Boiled]);
    assert!(events.iter().all(|event| event.fact::<Run>().is_none()), "another machine's facts are not a run's");

    let newer = store.begin_life(life.host, at(3)).await.unwrap();
    store.create(kettle(2, life.host), at(3)).await.unwrap();
    let fenced = store.record::<Kettle>(life, 2, vec![KettleFact::Boiled], at(3)).await;
    assert_eq!(fenced, Err(StoreError::Fenced { host: life.host, epoch: life.epoch }));
    let life = Life { epoch: newer, ..life };
    store.record::<Kettle>(life, 2, vec![KettleFact::Boiled], at(3)).await.unwrap();
    let missing = store.subject::<Kettle>(9).await;
    assert!(matches!(missing, Err(StoreError::NotFound { noun: Noun::Other, .. })), "{missing:?}");
}

pub(super) async fn a_lease_is_taken_once_when_many_ask_and_an_earlier_holder_cannot_write(world: World) {
    let store = &world.store;
    store.create(kettle(1, world.life.host), at(0)).await.unwrap();
    let mut asked = tokio::task::JoinSet::new();
    for i in 0..8 {
        let store = store.clone();
        asked.spawn(async move { store.take_lease::<Kettle>(1, format!("worker{i}"), at(1), at(60)).await.unwrap() });
    }
    let held: Vec<_> = asked.join_all().await.into_iter().flatten().collect();
    let [first] = held.as_slice() else { panic!("{held:?}") };
    assert_eq!(store.take_lease::<Kettle>(1, "other".into(), at(59), at(90)).await.unwrap(), None, "still held");
    let second = store.take_lease::<Kettle>(1, "other".into(), at(61), at(90)).await.unwrap().unwrap();
    assert!(second.epoch > first.epoch);
    let late = store.record_leased::<Kettle>(first.clone(), 1, vec![KettleFact::Boiled], at(62)).await;
    assert_eq!(late, Err(StoreError::LeaseLost { holder: first.holder.clone(), epoch: first.epoch }));
    store.record_leased::<Kettle>(second, 1, vec![KettleFact::Boiled], at(62)).await.unwrap();
    assert_eq!(store.subject::<Kettle>(1).await.unwrap().boiled, 1);
}

async fn run_that_wants_a_pull(world: &World, cleanup: Cleanup) -> Run {
    let mut run = world.new_run();
    run.settings = RunSettings { wants_pull: true, cleanup, ..RunSettings::default() };
    world.store.create_task(world.new_task("publish"), vec![run]).await.unwrap().1.remove(0)
}

fn opened() -> PullFact {
    PullFact::PullOpened { link: PullLink { number: 1, url: "u".into() } }
}

pub(super) async fn a_pushed_branch_has_its_pull_request_in_the_same_moment(world: World) {
    let run = run_that_wants_a_pull(&world, Cleanup::Merged).await;
    let pushed = world.store.record::<Run>(world.life, run.spec.id, path_to_pushed(&run), at(1)).await.unwrap();
    let pulls = world.store.pulls_of(run.spec.task).await.unwrap();
    let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
    let wanted = Touched { subject: SubjectRef::of::<Pull>(pull.spec.id), fact: "pull_wanted" };
    assert_eq!(pushed.touched, [wanted]);
    assert_eq!(world.store.walked::<Pull>(world.life.host).await.unwrap(), pulls);
    let id = pull.spec.id;
    let facts = vec![PullFact::PullIntended, opened()];
    let open = world.store.record::<Pull>(world.life, id, facts, at(2)).await.unwrap();
    assert_eq!(open.touched, vec![], "the worktree stays until it is merged");
    // A second wish for the same branch is for the same pull request.
    let wanted = open.subject.wanted.clone();
    let again = world.store.want_pull(world.life, wanted.clone(), at(3)).await.unwrap();
    assert_eq!((again.spec.id, again.is_pending()), (id, true));
    let facts = vec![PullFact::PullIntended, opened(), PullFact::PullMerged { number: 1 }];
    world.store.record::<Pull>(world.life, id, facts, at(4)).await.unwrap();
    let next = world.store.want_pull(world.life, wanted, at(5)).await.unwrap();
    assert_ne!(next.spec.id, id, "one that is merged stays as it is");
    assert_eq!(world.store.current_pulls(world.repo).await.unwrap(), [next]);
}

pub(super) async fn a_task_is_open_as_long_as_its_pull_request_is_pending(world: World) {
    let run = run_that_wants_a_pull(&world, Cleanup::Merged).await;
    let mut facts = path_to_pushed(&run);
    facts.push(Fact::Settled);
    world.record(run.spec.id, facts).await.unwrap();
    let pull = world.store.pulls_of(run.spec.task).await.unwrap().remove(0).spec.id;
    let open = async || {
        let filter = TaskFilter { open_only: true, ..TaskFilter::default() };
        world.store.tasks(filter, 10).await.unwrap().tasks.into_iter().map(|found| found.task.id).collect::<Vec<_>>()
    };
    assert_eq!(open().await, [run.spec.task], "its run is settled, its pull request is only wanted");
    world.store.record::<Pull>(world.life, pull, vec![PullFact::PullIntended], at(2)).await.unwrap();
    assert_eq!(open().await, [run.spec.task], "the forge has not answered");
    world.store.record::<Pull>(world.life, pull, vec![opened()], at(3)).await.unwrap();
    assert_eq!(open().await, []);
}

pub(super) async fn an_open_pull_request_lets_the_worktree_go_unless_somebody_works_in_it(world: World) {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let run = run_that_wants_a_pull(&world, Cleanup::Pr).await;
        let mut facts = path_to_pushed(&run);
        facts.push(Fact::Settled);
        let run = world.record(run.spec.id, facts).await.unwrap();
        ids.push((run.spec.id, world.store.pulls_of(run.spec.task).await.unwrap().remove(0).spec.id, run));
    }
    let (free, pull, run) = &ids[0];
    let recorded = world.store.record::<Pull>(world.life, *pull, vec![PullFact::PullIntended, opened()], at(2)).await;
    let released = Touched { subject: SubjectRef::of::<Run>(*free), fact: "released" };
    assert_eq!(recorded.unwrap().touched, [released]);
    let released: Run = world.store.subject(*free).await.unwrap();
    assert_eq!((released.removal, released.is_settled()), (Removal::Released, false));
    let owner = world.store.worktree(workspace(run).key).await.unwrap().unwrap().owner;
    assert_eq!(owner, Owner::Run { run: *free });
    let branch = BranchFate::Keep;
    let gone = vec![Fact::Intended { intent: Intent::Remove { branch } }, Fact::Removed { branch }, Fact::Settled];
    world.record(*free, gone).await.unwrap();

    let (busy, pull, run) = &ids[1];
    world.store.add_run(run.spec.task, world.follow_up(run)).await.unwrap();
    let recorded = world.store.record::<Pull>(world.life, *pull, vec![PullFact::PullIntended, opened()], at(2)).await;
    assert_eq!(recorded.unwrap().touched, vec![]);
    assert!(world.store.subject::<Run>(*busy).await.unwrap().is_settled());
    assert_eq!(Oid::new("cccc"), *run.progress.pushed().unwrap());
}
