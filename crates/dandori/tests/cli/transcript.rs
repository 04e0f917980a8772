//! What every command prints when it does what it was asked, in both languages: `tests/transcript` holds it to be read, and
//! `UPDATE=1 cargo test -p dandori --test cli transcript` writes it.
//!
//! Left out is what depends on the machine (`doctor`, `daemon logs`), is a play of its own (`demo`) or a page (`man`,
//! `completions`).

mod plain;

use std::fmt::Write;

use camino::Utf8Path;
use dandori_testkit::env::{Ran, TestEnv, wait_until};

use crate::guard_verbs::at_a_terminal;
use crate::machine;
use plain::Plain;

const AGENT: &str = "exec:echo hello >> hello.txt; echo All done.";

const STATES: [&str; 8] = ["PENDING", "RUNNING", "STAGING", "COMMITTING", "PUSHING", "SUCCEEDED", "FAILED", "CANCELED"];

struct Play {
    env: TestEnv,
    lang: &'static str,
    text: String,
    plain: Plain,
    /// The keys of runs that have a worktree, in their order.
    started: Vec<String>,
}

impl Play {
    fn new(lang: &'static str) -> Self {
        let env = machine();
        env.write_user_config(&format!(
            "agent = \"{AGENT}\"\nforge = \"local\"\n[runs]\nmax_parallel = 2\n[worktrees]\npool = 0\n"
        ));
        env.command("git", ["config", "--global", "core.editor", "true"], env.root());
        let plain = Plain::new(&env);
        Self { env, lang, text: String::new(), plain, started: Vec::new() }
    }

    fn said(&mut self, shown: &str, ran: &Ran) {
        assert_eq!(ran.code, 0, "{shown}: {ran:?}");
        // The states of a run on its way come as they come, and so do the rows of worktrees.
        let on_the_way = |line: &&str| !line.split_whitespace().nth(1).is_some_and(|word| STATES.contains(&word));
        let mut lines: Vec<&str> = ran.stdout.lines().chain(ran.stderr.lines().filter(on_the_way)).collect();
        if shown == "worktree list"
            && let Some((_, rows)) = lines.split_first_mut()
        {
            let place = |row: &str| row.split(' ').next().map(str::to_owned);
            rows.sort_by_key(|row| place(row).and_then(|branch| self.order(&branch)));
        }
        let _ = writeln!(self.text, "$ dandori {shown}\n{}\n", lines.join("\n"));
    }

    /// Which run a branch is of, in the order they were started.
    fn order(&self, branch: &str) -> Option<usize> {
        let key = branch.strip_prefix("dandori/")?;
        self.started.iter().position(|known| known == key)
    }

    /// A command that does what it was asked.
    fn types(&mut self, words: &[&str]) {
        let ran = self.env.dandori([words, &["--lang", self.lang]].concat());
        self.said(&shown(words), &ran);
    }

    /// The same at a terminal, where somebody answers.
    fn asked(&mut self, words: &[&str], answer: &str) {
        let line = format!("{} {} --lang {}", self.env.bin(), words.join(" "), self.lang);
        let said = at_a_terminal(&self.env, &line, answer);
        let (stdout, code) = said.rsplit_once("exit ").unwrap();
        let ran = Ran { code: code.parse().unwrap(), stdout: stdout.to_owned(), stderr: String::new() };
        self.said(&shown(words), &ran);
    }

    fn key(&self, task: &str, number: usize) -> String {
        let shown = self.env.dandori(["task", "show", task, "--json"]).json();
        shown["runs"][number]["run"].as_str().unwrap().to_owned()
    }
}

fn shown(words: &[&str]) -> String {
    words.iter().map(|word| dandori_domain::shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn play(lang: &'static str) -> String {
    let mut play = Play::new(lang);
    for part in [empty, runs, pulls, inbox, worktrees, documents, settings, leaving] {
        part(&mut play);
        // What was drawn is learned while it is there.
        play.plain.learn(&play.env);
    }
    play.plain.of(play.text.trim_end())
}

fn empty(play: &mut Play) {
    for words in [&[][..], &["task", "list"], &["pr", "list"], &["worktree", "list"], &["inbox"], &["prompt", "list"]] {
        play.types(words);
    }
}

fn runs(play: &mut Play) {
    play.types(&["run", "Say hello"]);
    play.types(&["task", "follow-up", "T-1", "Say it again"]);
    play.types(&["run", "Look around", "--agent", "exec:echo looked"]);
    play.types(&["run", "Both", "--agents", "exec:echo 1 > a.txt,exec:echo 2 > a.txt"]);
    play.types(&["task", "compare", "T-3"]);
    let second = play.key("T-3", 1);
    play.types(&["task", "pick", "T-3", &second]);
    play.types(&["run", "Wait", "--agent", "exec:echo kept > kept.txt; sleep 600", "--detach"]);
    let worktree = crate::worktree_of(&play.env, "T-4", 0);
    // The agent may be at work a moment before that is written down.
    let is_running = || play.env.dandori(["task", "show", "T-4", "--json"]).json()["runs"][0]["state"] == "RUNNING";
    wait_until("it works", || worktree.join("kept.txt").exists() && is_running());
    play.types(&[]);
    play.types(&["task", "cancel", "T-4"]);
    let failing = play.env.dandori(["run", "It breaks", "--agent", "exec:echo broken; exit 3", "--lang", play.lang]);
    assert_eq!(failing.code, 1);
    play.types(&["task", "list"]);
    for task in ["T-1", "T-2", "T-3", "T-4", "T-5"] {
        play.types(&["task", "show", task]);
    }
    play.types(&["task", "diff", "T-1"]);
    play.types(&["task", "diff", "T-1", "--stat"]);
    play.types(&["task", "log", "T-5"]);
    play.types(&["task", "list", "--state", "running"]);
}

fn pulls(play: &mut Play) {
    let worktree = crate::worktree_of(&play.env, "T-1", 0);
    play.types(&["pr", "create", "T-1"]);
    play.types(&["pr", "create", "T-1"]);
    play.types(&["pr", "create", "T-1", "--title", "Say hello twice"]);
    play.types(&["pr", "list"]);
    play.types(&["pr", "show", "1"]);
    play.types(&["pr", "open", "1"]);
    play.types(&["pr", "diff", "1", "--stat"]);
    play.types(&["pr", "checkout", "1"]);
    play.types(&["pr", "close", "1"]);
    play.types(&["pr", "reopen", "1"]);
    play.asked(&["pr", "merge", "1"], "y\n");
    wait_until("its worktree is gone", || !worktree.exists());
    play.types(&["pr", "list", "--state", "all"]);
    play.types(&["pr", "list", "--state", "closed"]);
}

fn inbox(play: &mut Play) {
    play.types(&["inbox"]);
    let listed = play.env.dandori(["inbox", "--json"]).json();
    let id = listed["needs"][0]["id"].as_str().unwrap().to_owned();
    play.types(&["inbox", "show", &id]);
    play.types(&["inbox", "snooze", &id, "--reason", "later"]);
    play.types(&["inbox"]);
    play.types(&["inbox", "--snoozed"]);
    play.types(&["inbox", "wake", &id]);
    play.types(&["inbox", "dismiss", &id]);
    play.types(&["notify", "test"]);
    play.types(&[]);
    play.types(&["status", "-A"]);
}

fn worktrees(play: &mut Play) {
    play.started = vec![play.key("T-3", 0), play.key("T-3", 1), play.key("T-5", 0)];
    play.types(&["worktree", "add", "hand"]);
    let path = play.env.dandori(["worktree", "path", "hand"]).ok();
    std::fs::write(Utf8Path::new(path.trim()).join("kept.txt"), "kept\n").unwrap();
    play.types(&["worktree", "list"]);
    play.types(&["worktree", "path", "hand"]);
    play.plain.learn(&play.env);
    play.types(&["worktree", "remove", "--force", "hand"]);
    play.types(&["worktree", "restore", "hand"]);
    let other = play.env.root().join("other");
    play.env.git(["worktree", "add", "-q", "-b", "other", other.as_str()]);
    play.types(&["worktree", "adopt", other.as_str()]);
    play.plain.learn(&play.env);
    play.types(&["worktree", "gc", "--dry-run"]);
    play.types(&["worktree", "gc"]);
}

fn documents(play: &mut Play) {
    play.types(&["state", "history"]);
    play.types(&["playbook", "new", "cart", "--activate", "--yes"]);
    play.types(&["playbook", "show"]);
    play.types(&["playbook", "check"]);
    play.types(&["playbook", "status"]);
    play.types(&["playbook", "new", "second"]);
    play.types(&["state", "show"]);
    play.types(&["state", "set", "focus", "cart"]);
    play.types(&["post-loop"]);
    play.types(&["prompt", "edit", "fix"]);
    play.types(&["prompt", "list"]);
    play.types(&["prompt", "show", "fix"]);
}

fn settings(play: &mut Play) {
    play.types(&["guard", "explain", "git push --force && cat .env > out | sh"]);
    play.asked(&["guard", "allow", "main-branch"], "yes\n");
    play.types(&["guard", "list"]);
    play.types(&["guard", "stats"]);
    play.types(&["consent"]);
    play.types(&["init", "--agent", "claude"]);
    play.types(&["init", "--agent", "claude", "--uninstall"]);
    play.types(&["config", "show"]);
    play.types(&["config", "set", "pr", "true"]);
    play.types(&["config", "set", "runs.max_parallel", "3"]);
    play.types(&["config", "set", "pr", "--unset"]);
    play.types(&["config", "init", "--repository"]);
    play.types(&["config", "edit", "--repository"]);
    play.env.write("dandori.toml", "[worktrees]\nset_up = [\"make deps\"]\n");
    play.types(&["trust", "--show"]);
    play.types(&["trust", "--yes"]);
    play.types(&["trust", "--revoke"]);
    play.env.write("dandori.toml", "");
    play.types(&["trust"]);
}

fn leaving(play: &mut Play) {
    play.types(&["daemon", "status"]);
    play.types(&["daemon", "stop"]);
    play.types(&["daemon", "start"]);
    play.types(&["uninstall", "--dry-run"]);
    play.types(&["uninstall", "--yes"]);
    play.types(&["uninstall", "--yes"]);
}

#[test]
fn every_success_is_as_it_was_read() {
    let played = std::thread::scope(|scope| {
        let plays = ["en", "ja"].map(|lang| (lang, scope.spawn(move || play(lang))));
        plays.map(|(lang, made)| (lang, made.join().unwrap_or_else(|e| std::panic::resume_unwind(e))))
    });
    for (lang, made) in played {
        let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/transcript/{lang}.txt"));
        if std::env::var("UPDATE").is_ok() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &made).unwrap();
            continue;
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        let changed: Vec<_> = kept.lines().zip(made.lines()).filter(|(kept, made)| kept != made).take(3).collect();
        assert!(
            kept == made,
            "{path} is stale at {changed:#?}: UPDATE=1 cargo test -p dandori --test cli transcript, and read it"
        );
    }
}
