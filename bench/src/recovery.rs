//! How long after `kill -9` the daemon is there again, with every live agent in its care, in a store with many rows.
//!
//! The clock runs from the start of `dandori daemon start` until the API has answered and every agent that lived on
//! is watched again. Afterwards the agents are let go: each run must succeed, and each agent must have begun once.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Instant;

use camino::Utf8Path;
use dandori_domain::task::Repo;
use dandori_domain::{HostId, RepoId};
use dandori_host::{now, random};
use dandori_store::{Life, Location, Store};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Size;
use crate::admission_load::runtime;
use crate::bed::Bed;
use crate::memory::running;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{Shape, clone, make_bare};
use crate::samples::{Samples, shown};
use crate::seed;
use crate::timeline::kind_of;
use crate::trouble::Trouble;

const LIVE: usize = 16;

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let rows = size.pick(2_000, 100_000);
    let bed = Bed::new(dandori)?;
    // The agents see the gate behind their fence, where everything else of the bed's folder is not there.
    let gates = bed.path("gates");
    std::fs::create_dir(&gates).map_err(Trouble::io(&gates))?;
    bed.user_config(&format!(
        "[runs]\nmax_parallel = 20\nmin_free_memory = \"16MiB\"\nmin_free_disk = \"16MiB\"\n\n[sandbox]\nwrite = [\"{gates}\"]\n"
    ))?;
    make_bare(&bed, &bed.path("origin.git"), Shape { files: 100, bytes_each: 2_000, commits: 1 })?;
    clone(&bed, &bed.path("origin.git"), &bed.path("repo"))?;
    let repo = bed.path("repo");
    let began = Instant::now();
    seed_store(&bed, rows)?;
    let seeding = began.elapsed();

    let gate = gates.join("gate");
    bed.cmd("mkfifo", &bed.path(""), &[gate.as_str()]).run()?;
    let agent = format!("exec:echo begun >> begun.txt; cat {gate}");
    let mut tasks = Vec::new();
    for _ in 0..LIVE {
        let told = bed.dandori_json(&repo, &["run", "wait", "--agent", &agent, "--detach", "--json"])?;
        tasks.push(told.get("task").and_then(Value::as_str).unwrap_or_default().to_owned());
    }
    bed.wait_until("all agents are at work", || Ok(running(&bed)? == LIVE))?;

    let (mut answers, mut adopted) = (Samples::default(), Samples::default());
    for _ in 0..size.pick(2, 5) {
        kill_and_recover(&bed, &mut answers, &mut adopted)?;
    }
    let_go(&bed, &gate, &tasks)?;
    bed.dandori(&repo, &["daemon", "stop"])?;

    let what = format!("recovery after kill -9 with {LIVE} live runs and {rows} settled ones in the store");
    let figure = Measured::seconds(adopted.median(), format!("API answers, all {LIVE} watched, {}", adopted.spread()));
    Ok(vec![
        Figure::absolute("recovery", what, figure, Bound::AtMost(2.0))
            .detail(format!("until the API answers: {} ({})", shown(answers.median()), answers.spread()))
            .detail(format!("afterwards all {LIVE} runs SUCCEEDED, each agent was launched once"))
            .detail(format!("{rows} runs were seeded in {} through the store's verbs", shown(seeding.as_secs_f64()))),
    ])
}

/// Runs of earlier days, written by this state root's own host while no daemon is there.
fn seed_store(bed: &Bed, rows: usize) -> Result<(), Trouble> {
    let repo = bed.path("repo");
    bed.dandori(&repo, &["daemon", "start"])?;
    bed.dandori(&repo, &["daemon", "stop"])?;
    let host = bed.path("state/private/host.json");
    let host: Value = serde_json::from_slice(&std::fs::read(&host).map_err(Trouble::io(&host))?)?;
    let host: Option<HostId> = host.get("host").and_then(|host| host.as_str()?.parse().ok());
    let host = host.ok_or_else(|| Trouble::wrong("the state root has no name"))?;
    let known = Repo {
        id: RepoId::mint(now(), random()),
        host,
        root: repo.clone(),
        git_dir: repo.join(".git"),
        created_at: now(),
    };
    let database = bed.path("state/private/dandori.db");
    bed.wait_until("the daemon is gone", || Ok(!bed.api().is_listening()))?;
    runtime()?.block_on(async {
        let (store, _) = Store::open(Location::Sqlite(database), now()).await?;
        let life = Life { host, epoch: store.begin_life(host, now()).await? };
        let repo = store.know_repo(known).await?.id;
        seed::settled(&store, repo, life, rows).await
    })
}

fn kill_and_recover(bed: &Bed, answers: &mut Samples, adopted: &mut Samples) -> Result<(), Trouble> {
    let repo = bed.path("repo");
    let pid = bed.daemon_pid()?;
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| Trouble::wrong("a pid of 0"))?;
    kill_process(pid, Signal::KILL).map_err(|e| Trouble::wrong(format!("the daemon cannot be killed: {e}")))?;
    // Until the kernel has closed its files somebody still seems to listen.
    bed.wait_until("the daemon is dead", || Ok(!bed.api().is_listening()))?;
    let log = bed.path("state/daemon.log");
    let from = std::fs::metadata(&log).map_err(Trouble::io(&log))?.len();

    let started = Instant::now();
    bed.dandori(&repo, &["daemon", "start"])?;
    bed.wait_until("the API answers", || Ok(bed.api().get("/v1/health").is_ok()))?;
    answers.add(started.elapsed());
    bed.wait_until("all agents are watched", || Ok(watched(&log, from)? == LIVE))?;
    adopted.add(started.elapsed());
    if running(bed)? != LIVE {
        return Err(Trouble::wrong("not every run is RUNNING after the restart"));
    }
    Ok(())
}

/// The runs this life of the daemon has begun to watch, by its log: nothing else tells, for nothing about a run
/// changes by it.
fn watched(log: &Utf8Path, from: u64) -> Result<usize, Trouble> {
    let mut text = String::new();
    let mut file = std::fs::File::open(log).map_err(Trouble::io(log))?;
    file.seek(SeekFrom::Start(from))?;
    file.read_to_string(&mut text)?;
    let watches = text.lines().filter(|line| line.contains("step=\"watch\""));
    let runs: HashSet<&str> = watches.filter_map(|l| l.split_whitespace().find(|w| w.starts_with("id="))).collect();
    Ok(runs.len())
}

/// Opens the gate and looks at how every run ended.
fn let_go(bed: &Bed, gate: &Utf8Path, tasks: &[String]) -> Result<(), Trouble> {
    bed.wait_until("all runs are over", || {
        // Whoever waits to read goes on when a writer has come and gone; without a reader nobody can write.
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
        drop(OpenOptions::new().write(true).custom_flags(nonblocking).open(gate));
        Ok(bed.api().get("/v1/tasks?limit=200&open=true")?.get("total").and_then(Value::as_u64) == Some(0))
    })?;
    for task in tasks {
        let told = bed.api().get(&format!("/v1/tasks/{task}"))?;
        let run = told.pointer("/runs/0").unwrap_or(&Value::Null);
        let text = |key: &str| run.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("state") != "SUCCEEDED" {
            return Err(Trouble::wrong(format!("{task} did not succeed: {run}")));
        }
        let events = bed.api().events(task, |events| events.iter().any(|event| kind_of(event) == "settled"))?;
        let launches = events.iter().filter(|event| kind_of(event) == "launched").count();
        let begun = bed.git(&bed.path("origin.git"), &["show", &format!("{}:begun.txt", text("branch"))])?;
        if launches != 1 || begun != "begun" {
            return Err(Trouble::wrong(format!("the agent of {task} began {launches} times: {begun:?}")));
        }
    }
    Ok(())
}
