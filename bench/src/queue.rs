//! The formation's queue: a claim and its result, alone and beside fifteen others, with little and with very much waiting, and a
//! large plan. The floor is the way of a queue that is one YAML file: read, changed, written whole, synced, renamed.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use dandori_domain::task::Repo;
use dandori_domain::{CommandId, Epoch, HostId, MessageId, RepoId};
use dandori_formation::assign::{Crew, Seat};
use dandori_formation::command::Review;
use dandori_formation::plan::{Body, Plan, PlannedTask};
use dandori_formation::protocol::{self, Claim, NewCommand, ReportIn};
use dandori_formation::result::Reported;
use dandori_formation::{AgentId, Brief, Delivery, Ledger, Message, MessageKind, Report, Rules};
use dandori_host::{now, random};
use dandori_store::{Book, FormationStep, Life, Location, Scope, Store};
use dandori_testkit::postgres::Postgres;

use crate::Size;
use crate::admission_load::runtime;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured, Unit};
use crate::samples::{Samples, shown};
use crate::trouble::Trouble;

/// As many as a formation may have.
const WORKERS: u8 = 8;
/// So that sixteen claim at once.
const FORMATIONS: usize = 2;
const LARGE_PLAN: usize = 10_000;

pub(crate) fn measure(size: Size) -> Result<Vec<Figure>, Trouble> {
    let bed = Bed::new(Utf8Path::new(""))?;
    runtime()?.block_on(async {
        let mut figures = vec![cycle(&bed, size).await?];
        figures.extend(together(&bed, size).await?);
        figures.push(backlog(&bed, size).await?);
        figures.push(large_plan(&bed, size).await?);
        Ok(figures)
    })
}

/// A formation in a store.
#[derive(Clone)]
struct Ground {
    store: Store,
    repo: RepoId,
    life: Life,
    crew: Arc<Crew>,
    rules: Rules,
}

impl Ground {
    async fn sqlite(bed: &Bed, name: &str) -> Result<Self, Trouble> {
        let file = bed.path(name).join("dandori.db");
        Self::on(Store::open(Location::Sqlite(file), now()).await?.0).await
    }

    async fn on(store: Store) -> Result<Self, Trouble> {
        let host = HostId::mint(now(), random());
        let life = Life { host, epoch: store.begin_life(host, now()).await? };
        Self::beside(store, life, 0).await
    }

    /// One more in the same store.
    async fn beside(store: Store, life: Life, number: usize) -> Result<Self, Trouble> {
        let repo = Repo {
            id: RepoId::mint(now(), random()),
            host: life.host,
            root: format!("/nowhere/{number}").into(),
            git_dir: format!("/nowhere/{number}/.git").into(),
            created_at: now(),
        };
        let repo = store.know_repo(repo).await?.id;
        let seat = |number| Seat {
            agent: AgentId::Worker(number),
            client: "claude".to_owned(),
            model: None,
            capabilities: Vec::new(),
        };
        let crew = Crew { seats: (1..=WORKERS).map(seat).collect(), small: None, large: None, boost: false };
        let rules = Rules { pending_per_worker: usize::MAX, tasks_per_plan: usize::MAX, ..Rules::default() };
        Ok(Self { store, repo, life, crew: Arc::new(crew), rules })
    }

    fn step(&self) -> FormationStep {
        FormationStep {
            repo: self.repo,
            life: Some(self.life),
            rules: self.rules.clone(),
            now: now(),
            is_simulated: false,
            seed: random(),
        }
    }

    /// An order with a plan of so many tasks; how long the plan took.
    async fn give(&self, tasks: usize) -> Result<(CommandId, Duration), Trouble> {
        let new = NewCommand { content: "x".to_owned(), demands: Vec::new(), priority: 100, review: Review::NotWanted };
        let order = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| protocol::order(book, step, new.clone());
        let command = self.store.formation_step(self.step(), Scope::Orders, order).await?.value.id;
        let (plan, crew) = (Arc::new(plan(tasks)), Arc::clone(&self.crew));
        let started = Instant::now();
        let submit = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| {
            protocol::submit(book, step, command, &plan, &crew)
        };
        self.store.formation_step(self.step(), Scope::Command(command), submit).await?;
        Ok((command, started.elapsed()))
    }

    async fn claim(&self, agent: AgentId) -> Result<Option<Claim>, Trouble> {
        let claim =
            move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| protocol::claim(book, step, agent, "bench");
        Ok(self.store.formation_step(self.step(), Scope::Agent(agent), claim).await?.value)
    }

    async fn report(&self, claim: &Claim) -> Result<(), Trouble> {
        let task = claim.message.kind.task().ok_or_else(|| Trouble::wrong("not a task's message"))?;
        let report = Report {
            outcome: Reported::Completed,
            summary: "what was asked for is done".to_owned(),
            files_changed: Vec::new(),
            partial_changes: false,
            retry_safe: true,
            exit_code: None,
            work: None,
        };
        let new = ReportIn { task, by: claim.message.to, epoch: claim.lease.epoch, report };
        let report = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| protocol::report(book, step, &new);
        self.store.formation_step(self.step(), Scope::Task(task), report).await?;
        Ok(())
    }

    async fn cycle(&self, agent: AgentId) -> Result<bool, Trouble> {
        let Some(claim) = self.claim(agent).await? else { return Ok(false) };
        self.report(&claim).await?;
        Ok(true)
    }
}

fn plan(tasks: usize) -> Plan {
    let task = |i: usize| PlannedTask {
        name: format!("task-{i}"),
        brief: Brief { content: "do what is asked ".repeat(40), ..Brief::default() },
        blocked_by: if i % 10 == 9 { vec![format!("task-{}", i - 1)] } else { Vec::new() },
        bloom_level: 2,
        required: true,
    };
    Plan { body: Body::Tasks((0..tasks).map(task).collect()), left_out: Vec::new() }
}

async fn cycle(bed: &Bed, size: Size) -> Result<Figure, Trouble> {
    let entries = size.pick(100, 1_000);
    let ground = Ground::sqlite(bed, "cycle").await?;
    ground.give(entries).await?;
    let yaml = Yaml::new(bed, entries)?;
    let (mut ours, mut theirs) = (Samples::default(), Samples::default());
    for round in 0..size.pick(3, 20) {
        let started = Instant::now();
        ground.cycle(AgentId::Worker(1)).await?;
        ours.add(started.elapsed());
        theirs.time(|| yaml.change(round, "in_progress").and_then(|()| yaml.change(round, "completed")))?;
    }
    let what = format!("a queue of {entries} as one YAML file ÷ claim and result of ours");
    let measured =
        (Measured::seconds(theirs.median(), theirs.spread()), Measured::seconds(ours.median(), ours.spread()));
    Ok(Figure::ratio("cycle", what, measured, Bound::AtLeast(50.0))
        .detail("both synced to the disk before they answer; one worker"))
}

async fn together(bed: &Bed, size: Size) -> Result<Vec<Figure>, Trouble> {
    let first = Ground::sqlite(bed, "together").await?;
    let mut grounds = vec![first.clone()];
    for number in 1..FORMATIONS {
        grounds.push(Ground::beside(first.store.clone(), first.life, number).await?);
    }
    let rounds = size.pick(3, 60);
    for ground in &grounds {
        ground.give(rounds * usize::from(WORKERS) * 2).await?;
    }
    let (mut claims, mut commits, mut worst, mut waits) = (0usize, 0u64, Duration::ZERO, Samples::default());
    for _ in 0..rounds {
        let before = first.store.stats();
        let mut asked = tokio::task::JoinSet::new();
        for ground in &grounds {
            for worker in 1..=WORKERS {
                let ground = ground.clone();
                asked.spawn(async move {
                    let started = Instant::now();
                    let claim = ground.claim(AgentId::Worker(worker)).await;
                    (ground, claim, started.elapsed())
                });
            }
        }
        let answers = asked.join_all().await;
        let after = first.store.stats();
        commits += after.commits - before.commits;
        let mut reports = tokio::task::JoinSet::new();
        for (ground, claim, waited) in answers {
            worst = worst.max(waited);
            waits.add(waited);
            if let Some(claim) = claim? {
                claims += 1;
                reports.spawn(async move { ground.report(&claim).await });
            }
        }
        for reported in reports.join_all().await {
            reported?;
        }
    }
    let at_once = FORMATIONS * usize::from(WORKERS);
    let per_fsync = ratio(claims, usize::try_from(commits).unwrap_or(usize::MAX));
    let shared = Measured { value: per_fsync, unit: Unit::PerFsync, how: format!("{claims} in {commits}") };
    let postgres = postgres_beside(size).await;
    Ok(vec![
        Figure::absolute(
            "claims-per-fsync",
            format!("claims per fsync, {at_once} workers at once, SQLite synchronous=FULL"),
            shared,
            Bound::AtLeast(10.0),
        )
        .detail("counted by the store's commits, each one fsync"),
        Figure::absolute(
            "worst-claim",
            format!("the longest a claim waited, {at_once} workers at once"),
            Measured::seconds(worst.as_secs_f64(), waits.spread()),
            Bound::AtMost(0.1),
        )
        .detail(postgres),
    ])
}

/// The same cycle on PostgreSQL, where there is one.
async fn postgres_beside(size: Size) -> String {
    let address = match tokio::task::spawn_blocking(|| Postgres::shared().database()).await {
        Ok(address) => address,
        Err(e) => return format!("PostgreSQL: not measured ({e})"),
    };
    let measured = async {
        let ground = Ground::on(Store::open(Location::Postgres(address), now()).await?.0).await?;
        ground.give(200).await?;
        let mut samples = Samples::default();
        for _ in 0..size.pick(3, 50) {
            let started = Instant::now();
            ground.cycle(AgentId::Worker(1)).await?;
            samples.add(started.elapsed());
        }
        Ok::<_, Trouble>(samples)
    };
    match measured.await {
        Ok(samples) => format!("PostgreSQL: claim and result {}, {}", shown(samples.median()), samples.spread()),
        Err(e) => format!("PostgreSQL: not measured ({})", e.with_causes()),
    }
}

async fn backlog(bed: &Bed, size: Size) -> Result<Figure, Trouble> {
    let (few, many) = size.pick((100, 2_000), (1_000, 1_000_000));
    let short = Ground::sqlite(bed, "short").await?;
    let long = Ground::sqlite(bed, "long").await?;
    let started = Instant::now();
    fill(&short, few).await?;
    fill(&long, many).await?;
    let seeded = started.elapsed();
    let (mut at_short, mut at_long) = (Samples::default(), Samples::default());
    for round in 0..size.pick(3, 200) {
        // The first fills caches on both sides.
        for (ground, samples) in [(&short, &mut at_short), (&long, &mut at_long)] {
            let started = Instant::now();
            claim_and_end(ground).await?;
            if round > 0 {
                samples.add(started.elapsed());
            }
        }
    }
    let what = format!("a claim and its end with {many} waiting ÷ with {few}");
    let measured = (
        Measured::seconds(at_long.median(), at_long.spread()),
        Measured::seconds(at_short.median(), at_short.spread()),
    );
    Ok(Figure::ratio("backlog", what, measured, Bound::AtMost(1.5))
        .detail(format!("filled in {}", shown(seeded.as_secs_f64()))))
}

/// Words to one worker: messages that need no plan.
async fn fill(ground: &Ground, count: usize) -> Result<(), Trouble> {
    let mut made = 0;
    while made < count {
        let (from, to) = (made, (made + 2_000).min(count));
        let write = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| {
            for i in from..to {
                book.put_message(&message(step.mint.message(), i, step.now))?;
            }
            Ok(())
        };
        ground.store.formation_step(ground.step(), Scope::Orders, write).await?;
        made = to;
    }
    Ok(())
}

fn message(id: MessageId, number: usize, at: jiff::Timestamp) -> Message {
    Message {
        id,
        to: AgentId::Worker(1),
        kind: MessageKind::Words { command: None, words: "x".repeat(200) },
        priority: 100,
        created_at: at,
        delivery: Delivery::Pending { not_before: None },
        epoch: Epoch(0),
        attempts: 0,
        interrupts: 0,
        resumes: 0,
        resume_next: false,
        last_error: None,
        key: format!("words:{number}"),
    }
}

async fn claim_and_end(ground: &Ground) -> Result<(), Trouble> {
    let claim = ground.claim(AgentId::Worker(1)).await?.ok_or_else(|| Trouble::wrong("nothing waits"))?;
    let (id, epoch) = (claim.message.id, claim.lease.epoch);
    let end = move |book: &mut Book<'_>, step: &mut protocol::Step<'_>| protocol::accepted(book, step, id, epoch);
    ground.store.formation_step(ground.step(), Scope::Message(id), end).await?;
    Ok(())
}

fn everything(book: &mut Book<'_>) -> dandori_store::Result<dandori_formation::memory::Memory> {
    book.everything()
}

async fn large_plan(bed: &Bed, size: Size) -> Result<Figure, Trouble> {
    let tasks = size.pick(200, LARGE_PLAN);
    let ground = Ground::sqlite(bed, "plan").await?;
    let (_, took) = ground.give(tasks).await?;
    let started = Instant::now();
    let mut asked = tokio::task::JoinSet::new();
    for worker in 1..=WORKERS {
        let ground = ground.clone();
        asked.spawn(async move {
            let mut done = 0usize;
            let mut idle = 0;
            // What waits for another worker's task comes a moment later.
            while idle < 200 {
                if ground.cycle(AgentId::Worker(worker)).await? {
                    (done, idle) = (done + 1, 0);
                } else {
                    idle += 1;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
            Ok::<_, Trouble>(done)
        });
    }
    let mut done = 0;
    for worker in asked.join_all().await {
        done += worker?;
    }
    let drained = started.elapsed();
    let rows = ground.store.formation_look(ground.repo, now(), everything).await?;
    let wrong = dandori_formation::invariant::check(&rows, &ground.rules);
    if done != tasks || !wrong.is_empty() {
        return Err(Trouble::wrong(format!("{done} of {tasks} tasks were done; {wrong:?}")));
    }
    let measured = Measured::seconds(took.as_secs_f64(), "once");
    Ok(Figure::absolute("large-plan", format!("a plan of {tasks} tasks submitted"), measured, Bound::AtMost(2.0))
        .detail(format!("done by {WORKERS} workers in {}", shown(drained.as_secs_f64()))))
}

/// A queue as one file: every change reads, checks, writes and syncs all of it, with a copy of the last one beside it.
struct Yaml {
    path: camino::Utf8PathBuf,
}

impl Yaml {
    fn new(bed: &Bed, entries: usize) -> Result<Self, Trouble> {
        let path = bed.path("queue.yaml");
        let entries = (0..entries).map(|i| entry(i, "pending")).collect::<String>();
        let text = format!("schema_version: 1\ntasks:\n{entries}");
        dandori_host::replace_file(&path, text.as_bytes(), 0o600).map_err(Trouble::io(&path))?;
        Ok(Self { path })
    }

    fn change(&self, number: usize, status: &str) -> Result<(), Trouble> {
        let io = || Trouble::io(&self.path);
        let text = std::fs::read_to_string(&self.path).map_err(io())?;
        let queue: serde_json::Value = serde_saphyr::from_str(&text).map_err(|e| Trouble::wrong(e.to_string()))?;
        let tasks = queue.get("tasks").and_then(|tasks| tasks.as_array()).ok_or_else(|| Trouble::wrong("no tasks"))?;
        let mut changed = String::from("schema_version: 1\ntasks:\n");
        for (i, task) in tasks.iter().enumerate() {
            let was = task.get("status").and_then(|status| status.as_str()).unwrap_or("pending");
            changed.push_str(&entry(i, if i == number { status } else { was }));
        }
        let (copy, new) = (self.path.with_extension("bak"), self.path.with_extension("new"));
        std::fs::copy(&self.path, copy).map_err(io())?;
        let mut file = std::fs::File::create(&new).map_err(io())?;
        file.write_all(changed.as_bytes()).and_then(|()| file.sync_all()).map_err(io())?;
        std::fs::rename(&new, &self.path).map_err(io())?;
        let folder = self.path.parent().unwrap_or(&self.path);
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(io())
    }
}

fn entry(number: usize, status: &str) -> String {
    format!(
        "  - id: task_1700000000_{number:016x}\n    command_id: cmd_1700000000_0000000000000001\n    purpose: what it is for\n    \
         content: |\n      {}\n    acceptance_criteria: it works\n    blocked_by: []\n    bloom_level: 3\n    priority: 100\n    \
         status: {status}\n    attempts: 0\n    lease_owner: null\n    lease_expires_at: null\n    lease_epoch: 0\n    \
         created_at: \"2026-01-01T00:00:00Z\"\n    updated_at: \"2026-01-01T00:00:00Z\"\n",
        "do what is asked ".repeat(60)
    )
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn ratio(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}
