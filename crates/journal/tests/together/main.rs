//! Many hooks at once, and hooks that are killed: nothing lost, nothing half.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests: a panic is how they report")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::world::About;
use dandori_guard::{Client, Mark};
use dandori_journal::spool::{self, Skipped};
use dandori_journal::{Exceptions, Given, Session};
use jiff::Timestamp;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

struct Bed(tempfile::TempDir);

impl Bed {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> Utf8PathBuf {
        Utf8Path::from_path(self.0.path()).unwrap().join("checkout")
    }

    fn session(&self) -> Session {
        Session::new(&self.folder(), Client::Claude, Some("shared"))
    }

    fn hook(&self, name: &str, count: u64) -> Child {
        Command::new(env!("CARGO_BIN_EXE_journal-test"))
            .args([self.folder().as_str(), name, &count.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn records(&self) -> (BTreeSet<String>, Skipped) {
        let mut subjects = BTreeSet::new();
        let skipped = spool::each(&self.folder(), NOW, |record| {
            assert!(subjects.insert(record.subject.unwrap()), "a record is there once");
        });
        (subjects, skipped)
    }

    /// Without the empty lines: a writer that is held up in the middle of its line may look like one that was killed, and the
    /// next one then begins a new line.
    fn log(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.folder().join("logs").join(name)).unwrap();
        text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn sixteen_hooks_at_once_lose_nothing_and_every_line_is_whole() {
    const EACH: u64 = 15;
    let bed = Bed::new();
    for mut hook in begun((0..16).map(|n| bed.hook(&format!("hook{n}"), EACH))) {
        let mut said = String::new();
        hook.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(hook.wait().unwrap().success());
        assert_eq!(said.lines().count() as u64, EACH);
    }
    let wanted: BTreeSet<String> = (0..16).flat_map(|n| (0..EACH).map(move |i| format!("hook{n}-{i}"))).collect();

    let (records, skipped) = bed.records();
    assert_eq!((records, skipped), (wanted.clone(), Skipped::default()));

    let session = bed.session();
    for subject in &wanted {
        assert!(session.mark(&Mark::Wrote(subject.into())).is_some(), "the mark of {subject}");
    }
    assert!(is_one_value(&session.mark(&Mark::Pending).unwrap()));

    let denied: BTreeSet<String> =
        session.denied(NOW, Duration::from_secs(1)).into_iter().map(|d| d.path.into_string()).collect();
    assert_eq!(denied, wanted);

    let lines = bed.log("session.log");
    let seen: BTreeSet<&str> = lines.lines().map(|line| line.split_once("] ").unwrap().1).inspect(whole).collect();
    assert_eq!(seen.len(), wanted.len());
    let timings = bed.log("hook-timing.log");
    let seen: BTreeSet<String> = timings
        .lines()
        .map(|line| {
            let rest = line.strip_prefix("[0000-01-01 00:00:00] pre-tool tool=").unwrap();
            rest.strip_suffix(" elapsed=0ms").unwrap().to_owned()
        })
        .collect();
    assert_eq!(seen, wanted);
}

#[test]
fn records_of_sixteen_that_do_nothing_else_are_all_whole() {
    const EACH: u64 = 500;
    let bed = Bed::new();
    for mut hook in begun((0..16).map(|n| bed.hook(&format!("record:{n}"), EACH))) {
        assert!(hook.wait().unwrap().success());
    }
    let (records, skipped) = bed.records();
    assert_eq!((records.len() as u64, skipped), (16 * EACH, Skipped::default()));
}

#[test]
fn a_hook_that_is_killed_leaves_nothing_half_and_what_it_acknowledged_is_there() {
    let bed = Bed::new();
    let session = bed.session();
    let mut acknowledged = BTreeSet::new();
    // Where it is killed is a matter of chance: after some acknowledgements and a moment.
    for round in 0..60_u32 {
        let name = format!("round{round}");
        let mut hook = bed.hook(&name, 1_000_000);
        drop(hook.stdin.take());
        let mut said = BufReader::new(hook.stdout.take().unwrap()).lines();
        for _ in 0..=round % 5 {
            acknowledged.insert(format!("{name}-{}", said.next().unwrap().unwrap()));
        }
        std::thread::sleep(Duration::from_micros(u64::from(round * 97 % 1_500)));
        hook.kill().unwrap();
        hook.wait().unwrap();
        // It went on until the kill arrived. A last number may be cut off: nobody was told.
        let rest: Vec<String> = said.map_while(Result::ok).collect();
        acknowledged.extend(rest.iter().rev().skip(1).map(|i| format!("{name}-{i}")));

        assert!(is_one_value(&session.mark(&Mark::Pending).unwrap()), "after {name}");
        let newest = session.denied(NOW, Duration::from_secs(1));
        assert!(newest.iter().all(|d| d.guard == "playbook"));
        assert!(newest.iter().any(|d| d.path.as_str().starts_with(&name)), "the denials of {name}");
    }
    let (records, skipped) = bed.records();
    let lost: Vec<&String> = acknowledged.difference(&records).collect();
    assert_eq!(lost, [""; 0]);
    assert_eq!(skipped.unreadable, 0);
    for subject in &acknowledged {
        assert!(session.mark(&Mark::Wrote(subject.into())).is_some(), "the mark of {subject}");
    }
    session.end().unwrap();
    assert_eq!(bed.folder().join("sessions").read_dir_utf8().unwrap().count(), 0, "what was begun goes with the rest");
}

#[test]
fn an_exception_for_five_times_is_used_five_times_by_sixteen() {
    let bed = Bed::new();
    std::fs::create_dir_all(bed.folder()).unwrap();
    let given = Given {
        id: "five".to_owned(),
        guard: "main".to_owned(),
        about: About::All,
        until: NOW + Duration::from_hours(1),
        uses_left: Some(5),
        given_by: "mei".to_owned(),
        reason: "a test".to_owned(),
        given_at: NOW,
    };
    let exceptions = Exceptions::new(&bed.folder());
    exceptions.add(given, NOW).unwrap();
    let mut used = 0;
    for mut hook in begun((0..16).map(|_| bed.hook("use:five", 4))) {
        let mut said = String::new();
        hook.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert!(hook.wait().unwrap().success());
        used += said.lines().count();
    }
    assert_eq!(used, 5);
    assert_eq!(exceptions.list(NOW).unwrap(), []);
}

/// Those that wait are let go once all of them are there.
fn begun(hooks: impl Iterator<Item = Child>) -> Vec<Child> {
    let mut hooks: Vec<Child> = hooks.collect();
    for hook in &mut hooks {
        drop(hook.stdin.take());
    }
    hooks
}

/// One writer's text over and over, to its full length.
fn is_one_value(value: &str) -> bool {
    let Some(period) = period(value) else { return false };
    value.len() > 39_900 && value.as_bytes().chunks(period).all(|chunk| value.as_bytes().starts_with(chunk))
}

/// How long the text is that is repeated: up to where its name begins again.
fn period(value: &str) -> Option<usize> {
    let name = value.split('-').next()?;
    value.get(1..)?.find(name).map(|at| at + 1)
}

fn whole(line: &&str) {
    let period = period(line).unwrap();
    assert!(line.len() > 2_980 && line.as_bytes().chunks(period).all(|chunk| chunk.len() == period), "{line}");
}
