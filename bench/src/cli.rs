//! What a user waits for: lists, completion and the bare command with 10,000 tasks and 500 worktrees against the same with ten of
//! each, and the first line of each against `git status` in the same repository.
//!
//! Both machines have a daemon at work and have been asked once before: what is measured is a command that somebody types, not
//! the first look at files nobody has looked at. The store and the worktrees are made directly; no agent runs.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Instant;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::HostId;
use dandori_host::now;
use dandori_store::{Life, Location, Store};
use serde_json::Value;

use crate::Size;
use crate::admission_load::runtime;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{Shape, clone, make_bare};
use crate::samples::Samples;
use crate::trouble::Trouble;
use crate::{kept, seed};

const FEW: usize = 10;

/// A command, and what a shell would set for it.
struct Asked {
    name: &'static str,
    words: &'static [&'static str],
    /// Completion is asked for by a variable.
    completes: bool,
    /// What has to be in the answer: a command that fails is quick, too.
    shows: &'static str,
}

const ASKED: [Asked; 4] = [
    Asked { name: "task-list", words: &["task", "list"], completes: false, shows: "T-10" },
    Asked { name: "worktree-list", words: &["worktree", "list"], completes: false, shows: "dandori/" },
    Asked { name: "completion", words: &["--", "dandori", "task", "show", "T-1"], completes: true, shows: "T-10" },
    Asked { name: "front-door", words: &[], completes: false, shows: "dandori" },
];

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let few = Machine::new(dandori, FEW, FEW)?;
    let (tasks, worktrees) = size.pick((200, 20), (10_000, 500));
    let many = Machine::new(dandori, tasks, worktrees)?;
    let mut figures = Vec::new();
    for asked in &ASKED {
        let (mut of_few, mut of_many) = (Samples::default(), Samples::default());
        let (mut first, mut status) = (Samples::default(), Samples::default());
        for machine in [&few, &many] {
            machine.ask(asked)?;
        }
        for round in 0..size.pick(2, 15) {
            // Each goes first as often as the other.
            let order = if round % 2 == 0 { [true, false] } else { [false, true] };
            for is_many in order {
                let (machine, samples) = if is_many { (&many, &mut of_many) } else { (&few, &mut of_few) };
                let told = machine.ask(asked)?;
                samples.add(told.whole);
                if is_many {
                    first.add(told.first);
                }
            }
            status.time(|| many.bed.git(&many.repository, &["status"]))?;
        }
        let of = format!("{tasks} tasks and {worktrees} worktrees");
        let what = format!("{}: with {of} ÷ with {FEW} of each", asked.name);
        let measured = Measured::seconds(of_many.median(), of_many.spread());
        let baseline = Measured::seconds(of_few.median(), of_few.spread());
        figures.push(Figure::ratio(asked.name, what, (measured, baseline), Bound::AtMost(3.0)));
        let what = format!("{}: its first line with {of} ÷ `git status`", asked.name);
        let measured = Measured::seconds(first.median(), first.spread());
        let baseline = Measured::seconds(status.median(), status.spread());
        figures.push(Figure::ratio(asked.name, what, (measured, baseline), Bound::AtMost(5.0)));
    }
    Ok(figures)
}

/// How long an answer took.
struct Told {
    first: std::time::Duration,
    whole: std::time::Duration,
}

/// A user's machine with so much on it, and its daemon at work.
struct Machine {
    bed: Bed,
    repository: Utf8PathBuf,
    dandori: Utf8PathBuf,
}

impl Machine {
    fn new(dandori: &Utf8Path, tasks: usize, worktrees: usize) -> Result<Self, Trouble> {
        let bed = Bed::new(dandori)?;
        bed.user_config("[runs]\nmin_free_memory = \"16MiB\"\nmin_free_disk = \"16MiB\"\n[worktrees]\npool = 0\n")?;
        make_bare(&bed, &bed.path("origin.git"), Shape { files: 50, bytes_each: 2_000, commits: 1 })?;
        let repository = bed.path("repo");
        clone(&bed, &bed.path("origin.git"), &repository)?;
        // The repository is known once something has been asked about it.
        bed.dandori(&repository, &["worktree", "list"])?;
        bed.dandori(&repository, &["daemon", "stop"])?;
        runtime()?.block_on(async {
            let (store, _) = Store::open(Location::Sqlite(bed.path("state/private/dandori.db")), now()).await?;
            let host = host(&bed)?;
            let repo = store.repos(host).await?.into_iter().find(|repo| repo.root == repository);
            let repo = repo.ok_or_else(|| Trouble::wrong("the repository is not known"))?;
            let life = Life { host, epoch: store.begin_life(host, now()).await? };
            seed::tasks(&store, repo.id, life, tasks).await?;
            kept::keep(&bed, &store, &repo, worktrees).await
        })?;
        let machine = Self { bed, repository, dandori: dandori.to_owned() };
        machine.bed.dandori(&machine.repository, &["daemon", "start"])?;
        // The first look at files that were written a moment ago is another thing.
        machine.bed.dandori(&machine.repository, &["worktree", "list"])?;
        Ok(machine)
    }

    /// Asks as a user would, and takes the time.
    #[expect(clippy::disallowed_methods, reason = "the first line is looked for while the command still runs")]
    fn ask(&self, asked: &Asked) -> Result<Told, Trouble> {
        let mut command = Command::new(&self.dandori);
        command.args(asked.words).current_dir(&self.repository).env_clear();
        command.envs(self.bed.env().iter()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if asked.completes {
            let last = asked.words.len().saturating_sub(2).to_string();
            command.env("DANDORI_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", last).env("_CLAP_IFS", "\n");
        }
        let began = Instant::now();
        let mut child = command.spawn()?;
        let mut text = Vec::new();
        let mut first = None;
        if let Some(mut stdout) = child.stdout.take() {
            let mut some = [0; 8192];
            loop {
                let count = stdout.read(&mut some)?;
                if count == 0 {
                    break;
                }
                first.get_or_insert_with(|| began.elapsed());
                text.extend_from_slice(some.get(..count).unwrap_or_default());
            }
        }
        let ended = child.wait_with_output()?;
        let whole = began.elapsed();
        let said = format!("{}{}", String::from_utf8_lossy(&text), String::from_utf8_lossy(&ended.stderr));
        if !said.contains(asked.shows) {
            return Err(Trouble::wrong(format!("{} does not show {}: {said}", asked.name, asked.shows)));
        }
        Ok(Told { first: first.unwrap_or(whole), whole })
    }
}

/// The name of a state root.
pub(crate) fn host(bed: &Bed) -> Result<HostId, Trouble> {
    let path = bed.path("state/private/host.json");
    let host: Value = serde_json::from_slice(&std::fs::read(&path).map_err(Trouble::io(&path))?)?;
    let host = host.get("host").and_then(Value::as_str).and_then(|text| text.parse::<HostId>().ok());
    host.ok_or_else(|| Trouble::wrong("the state root has no name"))
}
