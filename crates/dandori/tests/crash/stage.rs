//! A machine whose daemon dies when it is told to, and a user who simply tries again.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::{PATIENCE, Ran, TestEnv, wait_until};
use serde_json::Value;

/// Small limits, so that a loaded test machine neither refuses work nor waits for long.
const CONFIG: &str = r#"
runs.min_free_memory = "1MiB"
runs.min_free_disk = "1MiB"
limits.grace = "1s"
"#;

pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    /// Where the daemon is to die; `None` plays the same story without a death.
    point: Option<String>,
    /// How often it is to die there: the daemons that commands start meanwhile die as well.
    deaths: usize,
    lives: Vec<Child>,
}

impl Stage {
    /// `config` is added to the user's own configuration, as dotted keys.
    pub(crate) fn new(point: Option<&str>, config: &str) -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
        env.write_user_config(&format!("{CONFIG}{config}\n"));
        Self { env, point: point.map(str::to_owned), deaths: 1, lives: Vec::new() }
    }

    /// The daemon dies at its point so often, each time in the midst of recovering from the death before.
    pub(crate) fn dying(mut self, times: usize) -> Self {
        self.deaths = times;
        self
    }

    /// From here on the daemon is one that dies at the point. Without a point: any daemon.
    pub(crate) fn arm(&mut self) {
        let Some(point) = self.point.clone() else { return };
        let _ = self.env.dandori(["daemon", "stop"]);
        let daemon = self.serve(Some(&point));
        self.lives.push(daemon);
    }

    /// A daemon as the commands start it, but as our own child: how it ends is known exactly.
    pub(crate) fn serve(&self, point: Option<&str>) -> Child {
        std::fs::create_dir_all(self.env.state()).unwrap();
        let log = OpenOptions::new().create(true).append(true).open(self.log_path()).unwrap();
        let mut command = self.env.prepared(Utf8Path::new("/"), ["daemon", "serve"]);
        if let Some(point) = point {
            command.env("DANDORI_CRASH_AT", point);
        }
        let mut daemon = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
        // Nothing at all: it died at its point before it was ready, which is its right.
        assert!(line.trim() == "ready" || line.is_empty(), "the daemon says {line:?}\n{}", self.log());
        daemon
    }

    /// Waits for the armed daemon to die, asking nobody: a question would start the next one.
    pub(crate) fn await_death(&mut self) {
        let log = self.log_path();
        let Some(daemon) = self.lives.last_mut() else { panic!("no daemon was armed") };
        wait_until_or(|| daemon.try_wait().unwrap().is_some(), || format!("the daemon did not die\n{}", read(&log)));
    }

    /// Every armed daemon was killed, at its point, and by nothing else.
    pub(crate) fn assert_died(&mut self) {
        let Some(point) = self.point.clone() else { return };
        let (died, log) = (self.deaths_so_far(), self.log());
        for daemon in &mut self.lives {
            let ended = daemon.try_wait().unwrap();
            assert_eq!(ended.and_then(|s| s.signal()), Some(9), "{point} was never reached ({ended:?})\n{log}");
        }
        assert!(died == self.deaths || (self.deaths > 1 && died > self.deaths), "{died} deaths at {point}\n{log}");
    }

    fn deaths_so_far(&self) -> usize {
        let Some(point) = &self.point else { return 0 };
        let said = format!("crash point {point}");
        read(&self.log_path()).lines().filter(|l| l.ends_with(&said)).count()
    }

    pub(crate) fn log_path(&self) -> Utf8PathBuf {
        self.env.state().join("daemon.log")
    }

    /// The end of the daemon's log, for whoever has to find out why.
    pub(crate) fn log(&self) -> String {
        let log = read(&self.log_path());
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }

    fn say(&self, words: &[&str]) -> Ran {
        let mut command = self.env.prepared(&self.env.repo(), words.iter().chain(&["--json"]));
        if let (Some(point), 2..) = (&self.point, self.deaths)
            && self.deaths_so_far() < self.deaths
        {
            command.env("DANDORI_CRASH_AT", point);
        }
        Ran::of(&command.output().unwrap())
    }

    /// An answer, however often the daemon dies over the question. Only for questions that change nothing.
    pub(crate) fn ask(&self, words: &[&str]) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let ran = self.say(words);
            if ran.code == 0 {
                return ran.json();
            }
            assert!(Instant::now() < until, "no answer: {ran:?}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Gives an order until it has been carried out: `is_done` tells whether an order whose answer was lost was
    /// taken all the same. This is what a user does. `None`: it was, and what was said to it is lost.
    pub(crate) fn order(&self, words: &[&str], is_done: impl Fn() -> bool) -> Option<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let ran = self.say(words);
            if ran.code == 0 {
                return Some(ran.json());
            }
            if is_done() {
                return None;
            }
            assert!(Instant::now() < until, "not carried out: {ran:?}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// As [`Self::order`], at a terminal of its own, out of reach of whoever runs these tests: what only a person may do.
    pub(crate) fn order_at_terminal(&self, words: &str, is_done: impl Fn() -> bool) {
        let until = Instant::now() + PATIENCE;
        loop {
            let (said, done) = (self.env.root().join("said"), self.env.root().join("done"));
            let _ = std::fs::remove_file(&done);
            let crash = match (&self.point, self.deaths) {
                (Some(point), 2..) if self.deaths_so_far() < self.deaths => format!("DANDORI_CRASH_AT={point} "),
                _ => String::new(),
            };
            let line = format!("{crash}{} {words} > {said} 2>&1", env!("CARGO_BIN_EXE_dandori"));
            let inner = format!("{line}; echo $? > {done}.new; mv {done}.new {done}");
            let outer = "exec setsid --fork script -qec \"$1\" /dev/null < /dev/null > /dev/null 2>&1";
            self.env.command("sh", ["-c", outer, "sh", &inner], &self.env.repo());
            wait_for_file(&done);
            if read(&done).trim() == "0" || is_done() {
                return;
            }
            assert!(Instant::now() < until, "not carried out: {}\n{}", read(&said), self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// `run --detach`; gives the task's number.
    pub(crate) fn run(&self, instruction: &str, agent: &str, more: &[&str]) -> String {
        let words = [&["run", instruction, "--agent", agent, "--detach"], more].concat();
        match self.order(&words, || self.task_of(instruction).is_some()) {
            Some(answer) => answer["task"].as_str().unwrap().to_owned(),
            None => self.task_of(instruction).unwrap(),
        }
    }

    fn task_of(&self, instruction: &str) -> Option<String> {
        let tasks = self.ask(&["task", "list", "--limit", "100"]);
        let tasks = tasks["tasks"].as_array().unwrap();
        let found: Vec<&Value> = tasks.iter().filter(|t| t["title"] == instruction).collect();
        assert!(found.len() < 2, "one order, two tasks: {found:#?}");
        found.first().map(|t| t["task"].as_str().unwrap().to_owned())
    }

    /// The runs of a task, oldest first.
    pub(crate) fn runs(&self, task: &str) -> Vec<Value> {
        self.ask(&["task", "show", task])["runs"].as_array().unwrap().clone()
    }

    /// The newest run of a task.
    pub(crate) fn newest(&self, task: &str) -> Value {
        self.runs(task).pop().unwrap()
    }

    /// The newest run as soon as it is so.
    pub(crate) fn newest_when(&self, task: &str, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + PATIENCE;
        loop {
            let run = self.newest(task);
            if is_so(&run) {
                return run;
            }
            assert!(Instant::now() < until, "waited in vain: {what}\n{run:#}\n{}", self.log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn settled(&self, task: &str) -> Value {
        self.newest_when(task, "the run is over", |run| run["settled"] == true)
    }

    pub(crate) fn running(&self, task: &str) -> Value {
        self.newest_when(task, "the agent runs", |run| run["state"] == "RUNNING")
    }

    /// `task follow-up --detach`
    pub(crate) fn follow_up(&self, task: &str, instruction: &str, more: &[&str]) {
        let before = self.runs(task).len();
        let words = [&["task", "follow-up", task, instruction, "--detach"], more].concat();
        self.order(&words, || self.runs(task).len() > before);
        assert_eq!(self.runs(task).len(), before + 1, "one order, one run");
    }

    /// `task cancel`, which waits for the end.
    pub(crate) fn cancel(&self, task: &str) -> Value {
        self.order(&["task", "cancel", task], || {
            let run = self.newest(task);
            run["settled"] == true || run["state"] == "CANCELED"
        });
        self.settled(task)
    }

    /// The folder of a run's records.
    pub(crate) fn run_folder(&self, run: &Value) -> Utf8PathBuf {
        self.below_repos(&format!("runs/{}", run["run"].as_str().unwrap()))
    }

    /// A path below the one repository's state folder.
    pub(crate) fn below_repos(&self, path: &str) -> Utf8PathBuf {
        let repos = self.env.state().join("repos");
        let folders: Vec<_> = repos.read_dir_utf8().unwrap().flatten().collect();
        assert_eq!(folders.len(), 1, "one repository");
        folders[0].path().join(path)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for daemon in &mut self.lives {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

pub(crate) fn read(path: &Utf8Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

pub(crate) fn wait_until_or(mut is_so: impl FnMut() -> bool, why: impl Fn() -> String) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{}", why());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The file is there and is not empty.
pub(crate) fn wait_for_file(path: &Utf8Path) -> String {
    wait_until(&format!("{path} is written"), || !read(path).trim().is_empty());
    read(path).trim().to_owned()
}
