//! A run's folder and worktree in a temporary place, and a real shim to play with.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{ProcessRef, SandboxMode};
use dandori_host::Env;
use dandori_host::sandbox::SandboxPolicy;
use dandori_host::shim::{self, ExitRecord, LaunchError, LaunchOrder, Probe, Started, Streams};
use rustix::process::{Pid, Signal, kill_process};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_shim-test");
pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct Bed {
    pub(crate) run: String,
    root: Utf8PathBuf,
    pub(crate) run_dir: Utf8PathBuf,
    pub(crate) worktree: Utf8PathBuf,
    program: Utf8PathBuf,
    _dir: tempfile::TempDir,
}

/// A shell script as an agent.
pub(crate) fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).into()
}

impl Bed {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
        let (run_dir, worktree) = (root.join("run"), root.join("worktree"));
        std::fs::create_dir(&run_dir).unwrap();
        std::fs::create_dir(&worktree).unwrap();
        let run = format!("run_{:x}", dandori_host::random());
        Self { run, root, run_dir, worktree, program: PROGRAM.into(), _dir: dir }
    }

    /// On a machine that lets nobody make namespaces.
    pub(crate) fn without_namespaces() -> Self {
        let mut bed = Self::new();
        bed.write("plain-shim", &format!("#!/bin/sh\nexec {PROGRAM} without-namespaces {PROGRAM} \"$@\"\n"));
        bed.make_executable("plain-shim");
        bed.program = bed.path("plain-shim");
        bed
    }

    /// With every layer this machine has, and without namespaces.
    pub(crate) fn both() -> [Self; 2] {
        [Self::new(), Self::without_namespaces()]
    }

    /// A time to sleep for that no other process sleeps for.
    pub(crate) fn nap(&self) -> String {
        format!("600.{}", self.run.bytes().fold(7u64, |n, b| n.wrapping_mul(31).wrapping_add(b.into())))
    }

    /// How many processes on the machine sleep for it.
    pub(crate) fn nappers(&self) -> usize {
        napping(&self.nap())
    }

    /// Behind the fence as a run would be: the worktree can be written, the run's folder not even read.
    pub(crate) fn order(&self, argv: &[String]) -> LaunchOrder {
        let mut sandbox = SandboxPolicy::new(SandboxMode::Auto);
        sandbox.write = vec![self.worktree.clone()];
        sandbox.hide = vec![self.run_dir.clone()];
        LaunchOrder {
            version: shim::VERSION,
            run: self.run.clone(),
            argv: argv.to_vec(),
            env: vec![("PATH".into(), PATH.into())],
            cwd: self.worktree.clone(),
            stdin: None,
            streams: Streams::Own,
            sandbox,
            stores: None,
            deadline_seconds: 60,
            grace_seconds: 2,
            max_output_bytes: 64 << 20,
        }
    }

    pub(crate) fn program(&self) -> &Utf8Path {
        &self.program
    }

    pub(crate) fn launch(&self, order: &LaunchOrder) -> Result<Started, LaunchError> {
        shim::launch(&self.run_dir, order, &self.program, &Env::default())
    }

    /// Runs a script to its end and returns what it said on both outputs.
    pub(crate) fn run_script(&self, order: &LaunchOrder) -> (ExitRecord, String) {
        self.launch(order).unwrap();
        let record = self.ended();
        (record, self.read("run/output") + &self.read("run/stderr"))
    }

    pub(crate) fn ended(&self) -> ExitRecord {
        let until = Instant::now() + Duration::from_secs(50);
        loop {
            match shim::probe(&self.run_dir).unwrap() {
                Probe::Ended(record) => return record,
                Probe::Alive(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                other => panic!("it should end: {other:?}"),
            }
        }
    }

    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn read(&self, relative: &str) -> String {
        std::fs::read_to_string(self.path(relative)).unwrap_or_default()
    }

    pub(crate) fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        dandori_host::replace_file(&path, text.as_bytes(), 0o644).unwrap();
    }

    pub(crate) fn make_executable(&self, relative: &str) {
        std::fs::set_permissions(self.path(relative), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Somebody who merely looks around in the worktree.
    #[expect(clippy::disallowed_methods, reason = "a process that is not the run's")]
    pub(crate) fn bystander(&self) -> Bystander {
        let mut command = std::process::Command::new("sleep");
        command.arg("600").current_dir(&self.worktree).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Bystander(command.spawn().unwrap())
    }
}

pub(crate) struct Bystander(std::process::Child);

impl Bystander {
    pub(crate) fn is_still_there(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Bed {
    /// A test that failed half-way must not leave processes behind.
    fn drop(&mut self) {
        let _ = shim::stop(&self.run_dir, "the test is over", Duration::ZERO);
        let _ = shim::end_leftovers(&self.run, &self.run_dir, &self.worktree);
    }
}

pub(crate) fn signal(process: &ProcessRef, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(process.pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

pub(crate) fn kill_9(process: &ProcessRef) {
    signal(process, Signal::KILL);
    eventually("it is gone", || !dandori_host::process::is_alive(process));
}

pub(crate) fn parent_of(process: &ProcessRef) -> ProcessRef {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap();
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap();
    dandori_host::process::identify(parent.trim().parse().unwrap()).unwrap()
}

fn napping(nap: &str) -> usize {
    let is_it = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).skip(1).any(|word| word == nap.as_bytes())
    };
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_it(*pid)).count()
}

pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
