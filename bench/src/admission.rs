//! Admission of waiting runs: how many share one wait for the disk, and what one costs when very many wait.

use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::task::Repo;
use dandori_domain::{HostId, RepoId};
use dandori_host::{Cmd, Env, now, random};
use dandori_store::{Life, Location, Store};

use crate::Size;
use crate::admission_load::{ADMISSIONS_OF_ROUND, CONCURRENT, Told, round, runtime};
use crate::bed::{Bed, PATIENCE};
use crate::report::{Bound, Figure, Measured, Unit};
use crate::samples::{Samples, shown};
use crate::seed;
use crate::trouble::Trouble;

struct Line {
    store: Store,
    file: Utf8PathBuf,
    repo: RepoId,
    life: Life,
    waiting: usize,
    seeding: Duration,
}

pub(crate) fn measure(size: Size) -> Result<Vec<Figure>, Trouble> {
    let bed = Bed::new(Utf8Path::new(""))?;
    let runtime = runtime()?;
    let (cost, short) = runtime.block_on(cost(&bed, size))?;
    let (file, host) = (short.file.clone(), short.life.host);
    // Its process is the only one that opens the file.
    drop(short);
    Ok(vec![shared(&bed, size, &file, host)?, cost])
}

async fn cost(bed: &Bed, size: Size) -> Result<(Figure, Line), Trouble> {
    let mut short = Line::of(bed, "short", 1_000).await?;
    let mut long = Line::of(bed, "long", size.pick(5_000, 1_000_000)).await?;
    let (mut at_short, mut at_long) = (Samples::default(), Samples::default());
    // The first round fills caches on both sides.
    short.admit(&mut Samples::default()).await?;
    long.admit(&mut Samples::default()).await?;
    for _ in 0..size.pick(3, 15) {
        short.admit(&mut at_short).await?;
        long.admit(&mut at_long).await?;
    }
    let told = |line: &Line, samples: &Samples| {
        let how = format!("each, {} wait, {CONCURRENT} at once, {}", line.waiting, samples.spread());
        Measured::seconds(samples.median(), how)
    };
    let what = format!("cost of an admission when {} wait ÷ when {} wait", long.waiting, short.waiting);
    let figures = (told(&long, &at_long), told(&short, &at_short));
    let figure = Figure::ratio("admission-cost", what, figures, Bound::AtMost(1.5)).detail(format!(
        "{} waiting runs were seeded in {} through Store::create_task, 1000 runs a transaction",
        long.waiting,
        shown(long.seeding.as_secs_f64())
    ));
    Ok((figure, short))
}

impl Line {
    async fn of(bed: &Bed, name: &str, waiting: usize) -> Result<Self, Trouble> {
        let file = bed.path(name).join("dandori.db");
        let (store, _) = Store::open(Location::Sqlite(file.clone()), now()).await?;
        let host = HostId::mint(now(), random());
        let life = Life { host, epoch: store.begin_life(host, now()).await? };
        let repo = Repo {
            id: RepoId::mint(now(), random()),
            host,
            root: "/nowhere/project".into(),
            git_dir: "/nowhere/project/.git".into(),
            created_at: now(),
        };
        let repo = store.know_repo(repo).await?.id;
        let started = Instant::now();
        seed::waiting(&store, repo, host, waiting).await?;
        Ok(Self { store, file, repo, life, waiting, seeding: started.elapsed() })
    }

    /// One round; afterwards as many wait and as few are live as before.
    async fn admit(&mut self, samples: &mut Samples) -> Result<(), Trouble> {
        let (took, runs) = round(&self.store, self.life).await?;
        let each = took / u32::try_from(ADMISSIONS_OF_ROUND).unwrap_or(1);
        samples.add(each);
        let admitted = runs.len();
        seed::give_up(&self.store, self.life, runs).await?;
        seed::waiting(&self.store, self.repo, self.life.host, admitted).await
    }
}

/// Admissions per fsync: counted by the kernel's own calls where strace is there, else by the store's commits.
fn shared(bed: &Bed, size: Size, file: &Utf8Path, host: HostId) -> Result<Figure, Trouble> {
    let own = std::env::current_exe()?.to_string_lossy().into_owned();
    let rounds = size.pick(2, 5).to_string();
    let load = [own.as_str(), "admission-load", file.as_str(), &host.to_string(), &rounds].map(str::to_owned);
    let trace = bed.path("fsync.trace");
    let env = Env::of_process();
    let (told, fsyncs, how) = if env.find_program("strace").is_some() {
        let options = ["-f", "--seccomp-bpf", "-qq", "-ttt", "-e", "trace=fsync,fdatasync,sync_file_range,msync"];
        let traced = Cmd::new("strace", &env).args(options).args(["-o", trace.as_str()]).args(&load);
        let told: Told = serde_json::from_slice(&traced.deadline(PATIENCE).run()?.stdout)?;
        let calls = std::fs::read_to_string(&trace).map_err(Trouble::io(&trace))?;
        let fsyncs = calls.lines().filter(|line| is_call_within(line, &told.windows)).count();
        (told, fsyncs, "fsync and fdatasync counted by strace")
    } else {
        let [program, args @ ..] = &load;
        let told: Told = serde_json::from_slice(&Cmd::new(program, &env).args(args).deadline(PATIENCE).run()?.stdout)?;
        let fsyncs = usize::try_from(told.commits).unwrap_or(usize::MAX);
        (told, fsyncs, "no strace here: the store's own count of commits, each one fsync")
    };
    let per_fsync = counted(told.admitted) / counted(fsyncs.max(1));
    let figure = Measured { value: per_fsync, unit: Unit::PerFsync, how: format!("{} in {fsyncs}", told.admitted) };
    let what = format!("admissions of waiting runs per fsync, {CONCURRENT} concurrent, SQLite synchronous=FULL");
    Ok(Figure::absolute("admission", what, figure, Bound::AtLeast(10.0))
        .detail(format!("{how}; the store counted {} commits", told.commits)))
}

/// `1234 1700000000.123456 fdatasync(9) = 0`; a call that was interrupted has a second line, which is not counted.
fn is_call_within(line: &str, windows: &[(f64, f64)]) -> bool {
    let mut words = line.split_whitespace().skip(1);
    let at = words.next().and_then(|at| at.parse::<f64>().ok());
    let is_call = words.next().is_some_and(|call| call.starts_with('f'));
    is_call && at.is_some_and(|at| windows.iter().any(|(from, to)| (*from..=*to).contains(&at)))
}

#[expect(clippy::cast_precision_loss, reason = "some hundreds")]
fn counted(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_calls_within_a_window_are_counted_and_each_once() {
        let windows = [(10.0, 20.0), (30.0, 40.0)];
        for (line, counts) in [
            ("12 15.5 fdatasync(9) = 0", true),
            ("12 35.5 fsync(9 <unfinished ...>", true),
            ("12 35.6 <... fsync resumed>) = 0", false),
            ("12 25.0 fsync(9) = 0", false),
            ("12 15.0 +++ exited with 0 +++", false),
            ("", false),
        ] {
            assert_eq!(is_call_within(line, &windows), counts, "{line}");
        }
    }
}
