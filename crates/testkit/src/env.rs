//! A user's machine in a folder: home, state root, a repository with its origin, and the real binary.
//!
//! Nothing of the surrounding environment gets in but PATH. When it is dropped the daemon and everything it left
//! running are ended, and a test that has not failed yet fails when something was.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "a tool of the tests: a panic is how it reports"
)]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

/// Longer than anything a test waits for on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

pub struct TestEnv {
    _dir: TempDir,
    root: Utf8PathBuf,
    bin: Utf8PathBuf,
    vars: BTreeMap<String, String>,
    /// Words in front of every command.
    wrap: Vec<String>,
}

/// What a command said.
#[must_use = "look at the code or at what was said"]
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// What a command of [`TestEnv::prepared`] said.
    pub fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts exit 0 and gives stdout.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "exit {}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr);
        self.stdout
    }

    /// Asserts this exit code and gives stderr.
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, code, "exit {}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr);
        self.stderr
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(self.stdout.trim()).unwrap_or_else(|e| {
            panic!("not JSON ({e})\nexit {}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
        })
    }
}

impl TestEnv {
    /// A repository with one commit on `main`, pushed to a bare origin.
    pub fn new(bin: &str) -> Self {
        let env = Self::without_repository(bin);
        env.command("git", ["init", "--quiet", "--bare", "-b", "main", "origin.git"], &env.root);
        env.command("git", ["init", "--quiet", "-b", "main", "repo"], &env.root);
        env.git(["remote", "add", "origin", env.root.join("origin.git").as_str()]);
        env.write("README.md", "# demo\n");
        env.git(["add", "-A"]);
        env.git(["commit", "--quiet", "-m", "init"]);
        env.git(["push", "--quiet", "origin", "main"]);
        env.git(["fetch", "--quiet", "origin"]);
        env
    }

    /// The machine alone; `repo` is an empty folder.
    pub fn without_repository(bin: &str) -> Self {
        Self::below(bin, &std::env::temp_dir())
    }

    /// The same in this folder: its path is as long on every machine.
    pub fn below(bin: &str, folder: &std::path::Path) -> Self {
        let dir = TempDir::with_prefix_in("dd-", folder).unwrap();
        let root = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        for folder in ["home", "repo", "tmp"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        std::fs::write(
            root.join("home/.gitconfig"),
            "[user]\n\tname = Test User\n\temail = test@example.com\n[init]\n\tdefaultBranch = main\n",
        )
        .unwrap();
        let path = std::env::var("PATH").unwrap();
        let vars = BTreeMap::from([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), root.join("home").into_string()),
            ("TMPDIR".to_owned(), root.join("tmp").into_string()),
            ("DANDORI_STATE_DIR".to_owned(), root.join("state").into_string()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ]);
        Self { _dir: dir, root, bin: bin.into(), vars, wrap: Vec::new() }
    }

    /// Every command from now on is started by these words (see [`crate::wrap`]).
    pub fn wrap(&mut self, words: Vec<String>) -> &mut Self {
        self.wrap = words;
        self
    }

    /// The program is where a user has it, in `~/.local/bin`: its path is as long on every machine.
    pub fn install(&mut self) -> &mut Self {
        let bin = self.home().join(".local/bin/dandori");
        std::fs::create_dir_all(bin.parent().unwrap()).unwrap();
        std::fs::hard_link(&self.bin, &bin).or_else(|_| std::fs::copy(&self.bin, &bin).map(|_| ())).unwrap();
        self.bin = bin;
        self
    }

    /// Everything on this machine belongs to somebody else from now on, who can also start dandori.
    pub fn give_to(&mut self, id: u32) -> &mut Self {
        let bin = self.root.join("bin/dandori");
        std::fs::create_dir_all(self.root.join("bin")).unwrap();
        std::fs::copy(&self.bin, &bin).unwrap();
        self.bin = bin;
        let owner = format!("{id}:{id}");
        assert!(Command::new("chown").args(["-R", &owner, self.root.as_str()]).status().unwrap().success());
        self
    }

    /// One more variable for every command, the daemon's start included.
    pub fn var(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.vars.insert(name.to_owned(), value.into());
        self
    }

    pub fn unset(&mut self, name: &str) -> &mut Self {
        self.vars.remove(name);
        self
    }

    pub fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub fn home(&self) -> Utf8PathBuf {
        self.root.join("home")
    }

    pub fn repo(&self) -> Utf8PathBuf {
        self.root.join("repo")
    }

    pub fn state(&self) -> Utf8PathBuf {
        self.root.join("state")
    }

    pub fn origin(&self) -> Utf8PathBuf {
        self.root.join("origin.git")
    }

    /// The program under test.
    pub fn bin(&self) -> &str {
        self.bin.as_str()
    }

    /// A file in the repository's main checkout.
    pub fn write(&self, path: &str, text: &str) {
        put(&self.repo().join(path), text);
    }

    /// `~/.config/dandori/config.toml`
    pub fn write_user_config(&self, text: &str) {
        put(&self.home().join(".config/dandori/config.toml"), text);
    }

    /// Runs dandori in the repository.
    pub fn dandori<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        self.dandori_in(&self.repo(), args)
    }

    pub fn dandori_in<A: AsRef<OsStr>>(&self, folder: &Utf8Path, args: impl IntoIterator<Item = A>) -> Ran {
        ran(self.prepared(folder, args).output().unwrap())
    }

    /// dandori as a command that is not started yet: for tests that talk to it or kill it.
    pub fn prepared<A: AsRef<OsStr>>(&self, folder: &Utf8Path, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.wrapped(self.bin.as_str());
        command.args(args).env_clear().envs(&self.vars).current_dir(folder).stdin(Stdio::null());
        command
    }

    /// `dandori run … --json`: the object, whatever the exit code.
    pub fn run_json<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Value {
        let words: Vec<std::ffi::OsString> = std::iter::once("run".into())
            .chain(args.into_iter().map(|a| a.as_ref().to_owned()))
            .chain(["--json".into()])
            .collect();
        self.dandori(words).json()
    }

    /// git in the main checkout; fails the test when it fails.
    pub fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> String {
        self.command("git", args, &self.repo())
    }

    pub fn git_in<A: AsRef<OsStr>>(&self, folder: &Utf8Path, args: impl IntoIterator<Item = A>) -> String {
        self.command("git", args, folder)
    }

    pub fn command<A: AsRef<OsStr>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = A>,
        folder: &Utf8Path,
    ) -> String {
        let mut command = self.program(program, args, folder);
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.code, 0, "{command:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout.trim_end().to_owned()
    }

    /// Any program as a command that is not started yet, in this machine's environment alone.
    pub fn program<A: AsRef<OsStr>>(
        &self,
        program: &str,
        args: impl IntoIterator<Item = A>,
        folder: &Utf8Path,
    ) -> Command {
        let mut command = self.wrapped(program);
        command.args(args).env_clear().envs(&self.vars).current_dir(folder).stdin(Stdio::null());
        command
    }

    fn wrapped(&self, program: &str) -> Command {
        match self.wrap.split_first() {
            None => Command::new(program),
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        }
    }

    /// A second clone of the origin: somebody else.
    pub fn colleague(&self) -> Utf8PathBuf {
        let folder = self.root.join("colleague");
        if !folder.exists() {
            self.command("git", ["clone", "--quiet", self.origin().as_str(), folder.as_str()], &self.root);
        }
        folder
    }

    /// The daemon's process, if one runs.
    pub fn daemon_pid(&self) -> Option<u32> {
        let ran = self.dandori(["daemon", "status", "--json"]);
        ran.json()["health"]["pid"].as_u64().and_then(|p| u32::try_from(p).ok())
    }

    pub fn kill_daemon(&self) {
        if let Some(pid) = self.daemon_pid() {
            kill(pid, "-KILL");
            wait_until("the daemon is gone", || !is_alive(pid));
        }
    }

    /// Whether a process that carries a run's mark is there.
    pub fn has_processes_of(run: &str) -> bool {
        let mark = format!("DANDORI_RUN={run}");
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            environ.split(|b| *b == 0).any(|variable| variable == mark.as_bytes())
        })
    }

    /// Processes that carry this environment's mark: its state root or its home.
    pub fn processes(&self) -> Vec<(u32, String)> {
        let marks = [format!("DANDORI_STATE_DIR={}", self.state()), format!("HOME={}", self.home())];
        let inside = self.root.as_str();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else { continue };
            let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let marked = environ.split(|b| *b == 0).any(|v| marks.iter().any(|mark| v == mark.as_bytes()));
            if pid != std::process::id() && (marked || cwd.starts_with(inside)) {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let line = String::from_utf8_lossy(&line).replace('\0', " ");
                // A zombie has neither; it is nobody's work any more.
                if !line.trim().is_empty() {
                    found.push((pid, line));
                }
            }
        }
        found
    }
}

impl Drop for TestEnv {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            let left = self.processes();
            if left.is_empty() || Instant::now() > until {
                break;
            }
            for (pid, _) in left {
                kill(pid, "-KILL");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Waits for something to become true, and fails the test when it does not.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for something to be there.
pub fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    wait_until(what, || {
        found = look();
        found.is_some()
    });
    found.unwrap()
}

/// A process that is there and not only waiting to be taken note of.
pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in brackets may hold anything; the state follows the last one.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

pub fn kill(pid: u32, signal: &str) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

fn put(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn ran(output: Output) -> Ran {
    Ran::of(&output)
}
