//! A git that outlives the daemon which started it: it is ended before its step is taken again.
//!
//! Left alive, it would push, or write files, at some later time, beside the git that does the same for the next
//! daemon. The git here is one that waits for a word nobody says, so that it is at work for sure when the daemon dies.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8PathBuf;
use dandori_testkit::env::{is_alive, wait_until};

use crate::sound::{LAUNCHES, Left, assert_lines, assert_published, assert_sound, processes, text};
use crate::stage::{Stage, read, wait_for_file};

const NO_POOL: &str = "worktrees.pool = 0\n";
const EDITS: &str = "exec:echo launched >> launches.txt; echo work > work.txt";

/// A program that git starts. The first time it waits for ever; later it says whether the first one still lives, and
/// does what it should.
struct Held {
    program: Utf8PathBuf,
    pid: Utf8PathBuf,
    overlap: Utf8PathBuf,
}

impl Held {
    fn new(stage: &Stage, then: &str) -> Self {
        let at = |name: &str| stage.env.root().join(name);
        let held = Self { program: at("held.sh"), pid: at("held.pid"), overlap: at("overlap") };
        let (pid, overlap, fifo) = (&held.pid, &held.overlap, at("fifo"));
        stage.env.command("mkfifo", [fifo.as_str()], stage.env.root());
        let script = format!(
            "#!/bin/sh\n\
             if mkdir {pid}.first 2>/dev/null; then echo $$ > {pid}.new; mv {pid}.new {pid}; read -r _ < {fifo}; fi\n\
             grep -q '^State:.[^ZX]' /proc/$(cat {pid})/status 2>/dev/null && echo both >> {overlap}\n\
             {then}\n"
        );
        std::fs::write(&held.program, script).unwrap();
        std::fs::set_permissions(&held.program, std::fs::Permissions::from_mode(0o755)).unwrap();
        held
    }

    /// The daemon is killed while the program waits; then everything goes on. Gives the run.
    fn survive(&self, stage: &Stage) -> serde_json::Value {
        let task = stage.run("be orphaned", EDITS, &[]);
        let held: u32 = wait_for_file(&self.pid).parse().unwrap();
        stage.env.kill_daemon();
        let orphans: Vec<(u32, String)> =
            processes(stage).into_iter().filter(|(pid, line)| line.starts_with("git ") || *pid == held).collect();
        assert!(is_alive(held) && orphans.len() > 1, "the trap is a real one: {orphans:?}");
        let run = stage.settled(&task);
        assert_eq!(read(&self.overlap), "", "the orphan was there when its step was taken again\n{}", stage.log());
        for (pid, line) in orphans {
            assert!(!is_alive(pid), "still alive: {line}");
        }
        run
    }
}

#[test]
fn a_push_that_outlives_its_daemon_is_ended_before_the_next_push() {
    let mut stage = Stage::new(None, NO_POOL);
    let held = Held::new(&stage, "exec git-receive-pack \"$@\"");
    stage.env.git(["config", "remote.origin.receivepack", held.program.as_str()]);
    let run = held.survive(&stage);
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}

#[test]
fn a_checkout_that_outlives_its_daemon_is_ended_before_the_worktree_is_made_again() {
    let mut stage = Stage::new(None, NO_POOL);
    stage.env.write(".gitattributes", "slow.txt filter=slow\n");
    stage.env.write("slow.txt", "s\n");
    stage.env.git(["add", "-A"]);
    stage.env.git(["commit", "--quiet", "-m", "slow"]);
    stage.env.git(["push", "--quiet", "origin", "main"]);
    // Filters work behind the fence, where they write nothing outside and their numbers are other ones.
    let (program, go, fifo) =
        (stage.env.root().join("slow.sh"), stage.env.root().join("go"), stage.env.root().join("fifo"));
    stage.env.command("mkfifo", [fifo.as_str()], stage.env.root());
    std::fs::write(&program, format!("#!/bin/sh\n[ -e {go} ] || read -r _ < {fifo}\nexec cat\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.env.git(["config", "filter.slow.smudge", program.as_str()]);
    stage.env.git(["config", "filter.slow.clean", "cat"]);
    let waiting = || -> Vec<(u32, String)> {
        processes(&stage).into_iter().filter(|(_, line)| line.contains("slow.sh") || line.starts_with("git ")).collect()
    };
    let task = stage.run("be orphaned", EDITS, &[]);
    wait_until("the checkout waits", || waiting().iter().any(|(_, line)| line.starts_with("/bin/sh ")));
    stage.env.kill_daemon();
    let orphans = waiting();
    assert!(orphans.len() > 1, "the trap is a real one: {orphans:?}");
    std::fs::write(&go, "").unwrap();
    let run = stage.settled(&task);
    for (pid, line) in orphans {
        assert!(!is_alive(pid), "still alive: {line}");
    }
    assert_published(&stage, &run, 0);
    assert_lines(&stage, &run, LAUNCHES, 1);
    assert_sound(&mut stage, &Left { branches: vec![text(&run, "branch")], ..Left::default() });
}
