//! The kernel with a machine that exists for this alone: a kettle that is boiled and poured. Nothing in the kernel, the
//! store or the crash points knows it, and all of them serve it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use dandori_domain::HostId;
use dandori_domain::machine::{About, IllegalFact};
use dandori_store::{Location, Noun};
use serde::Deserialize;

use super::fault::{CrashPlan, points};
use super::*;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Kettle {
    spec: KettleSpec,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
struct KettleSpec {
    number: u32,
    host: HostId,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum State {
    Cold,
    Boiling,
    Hot,
    Pouring,
    Poured,
}

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
enum KettleFact {
    BoilIntended,
    Boiled,
    PourIntended,
    Poured,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum KettleStep {
    Boil,
    Pour,
}

impl Machine for Kettle {
    const NAME: &'static str = "kettle";
    const VERSION: i64 = 1;
    const FACTS: &'static [&'static str] = &["boil_intended", "boiled", "pour_intended", "poured"];
    const INTENTS: &'static [&'static str] = &["boil", "pour"];
    type Id = u32;
    type Fact = KettleFact;
    type Step = KettleStep;

    fn id(&self) -> u32 {
        self.spec.number
    }
    fn about(&self) -> About {
        About { host: self.spec.host, repo: None, task: None, run: None }
    }
    fn status_name(&self) -> &'static str {
        "a kettle"
    }
    fn apply(&mut self, fact: &KettleFact, _at: Timestamp) -> Result<(), IllegalFact> {
        self.state = match (fact, self.state) {
            (KettleFact::BoilIntended, State::Cold) => State::Boiling,
            (KettleFact::Boiled, State::Boiling) => State::Hot,
            (KettleFact::PourIntended, State::Hot) => State::Pouring,
            (KettleFact::Poured, State::Pouring) => State::Poured,
            _ => return Err(IllegalFact::of(self, fact)),
        };
        Ok(())
    }
    fn next(&self, _now: Timestamp) -> Next<Self> {
        match self.state {
            State::Cold => Next::Record(KettleFact::BoilIntended),
            State::Boiling => Next::Take(KettleStep::Boil),
            State::Hot => Next::Record(KettleFact::PourIntended),
            State::Pouring => Next::Take(KettleStep::Pour),
            State::Poured => Next::Rest,
        }
    }
    fn fact_name(fact: &KettleFact) -> &'static str {
        match fact {
            KettleFact::BoilIntended => "boil_intended",
            KettleFact::Boiled => "boiled",
            KettleFact::PourIntended => "pour_intended",
            KettleFact::Poured => "poured",
        }
    }
    fn intent_of(fact: &KettleFact) -> Option<&'static str> {
        match fact {
            KettleFact::BoilIntended => Some("boil"),
            KettleFact::PourIntended => Some("pour"),
            KettleFact::Boiled | KettleFact::Poured => None,
        }
    }
    fn step_name(step: &KettleStep) -> &'static str {
        match step {
            KettleStep::Boil => "boil",
            KettleStep::Pour => "pour",
        }
    }
    fn carries_out(step: &KettleStep) -> Option<&'static str> {
        Some(match step {
            KettleStep::Boil => "boil",
            KettleStep::Pour => "pour",
        })
    }
}

impl Stored for Kettle {
    const NOUN: Noun = Noun::Other;
}

/// What is really hot and poured, however often it is asked for.
#[derive(Default)]
struct Kitchen {
    boiled: AtomicU32,
    poured: AtomicU32,
}

#[derive(Clone)]
struct Cook {
    kernel: Kernel,
    kitchen: Arc<Kitchen>,
}

impl Walker for Cook {
    type Machine = Kettle;

    fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    async fn take(&self, step: KettleStep, _: &Kettle, _: &Notify) -> Result<Vec<KettleFact>, WalkError> {
        // What has happened is found, not done again.
        let done_once = |count: &AtomicU32| count.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst).is_ok();
        Ok(match step {
            KettleStep::Boil => {
                done_once(&self.kitchen.boiled);
                vec![KettleFact::Boiled]
            }
            KettleStep::Pour => {
                assert_eq!(self.kitchen.boiled.load(Ordering::SeqCst), 1, "cold water is not poured");
                done_once(&self.kitchen.poured);
                vec![KettleFact::Poured]
            }
        })
    }
}

struct Once {
    point: String,
    was_reached: AtomicBool,
    reached: Notify,
}

impl CrashPlan for Once {
    fn ends_at(&self, point: &str) -> bool {
        let ends = point == self.point && !self.was_reached.swap(true, Ordering::SeqCst);
        if ends {
            self.reached.notify_one();
        }
        ends
    }
}

async fn life(store: &Store, host: HostId, kitchen: &Arc<Kitchen>, plan: &Arc<Once>) -> Cook {
    let epoch = store.begin_life(host, dandori_host::now()).await.unwrap();
    let faults = Faults::Story(Arc::clone(plan) as Arc<dyn CrashPlan>);
    let life = Life { host, epoch };
    let kernel = Kernel::new(store.clone(), life, Arc::new(SystemClock), Arc::new(SystemIds), faults);
    let cook = Cook { kernel: kernel.clone(), kitchen: Arc::clone(kitchen) };
    kernel.take_up(&cook).await.unwrap();
    cook
}

async fn poured(store: &Store) {
    let mut events = store.watch_events();
    while store.subject::<Kettle>(1).await.unwrap().state != State::Poured {
        events.changed().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_machine_nobody_has_heard_of_is_walked_through_every_crash_point_of_its_own() {
    let all = points::<Kettle>();
    assert_eq!(all.len(), 2 + 2 * 2, "a point after each fact, and two for each intent: {all:?}");
    for point in all {
        let (store, _) = Store::open(Location::Memory, dandori_host::now()).await.unwrap();
        let host = HostId::mint(dandori_host::now(), 7);
        let kettle = Kettle { spec: KettleSpec { number: 1, host }, state: State::Cold };
        store.create(kettle, dandori_host::now()).await.unwrap();
        let kitchen = Arc::new(Kitchen::default());
        let plan = Arc::new(Once { point: point.clone(), was_reached: AtomicBool::new(false), reached: Notify::new() });
        let first = life(&store, host, &kitchen, &plan).await;
        plan.reached.notified().await;
        first.kernel.kill().await;
        let second = life(&store, host, &kitchen, &plan).await;
        poured(&store).await;
        second.kernel.stop().await;
        let counts = (kitchen.boiled.load(Ordering::SeqCst), kitchen.poured.load(Ordering::SeqCst));
        assert_eq!(counts, (1, 1), "killed at {point}");
        assert_eq!(store.walked::<Kettle>(host).await.unwrap(), [], "killed at {point}");
        let late = first.kernel.record_just::<Kettle>(1, vec![KettleFact::Boiled]).await;
        assert!(matches!(late, Err(StoreError::Fenced { .. })), "the first life is over: {late:?}");
    }
}
