//! What a guarded tool call costs: the whole chain as a process, against a process that does nothing and against the
//! chain of shell scripts it takes the place of.
//!
//! Always of release builds, whatever profile the benchmark itself has: it is what agents wait for. And of copies of
//! them, as an installation is: the pages of a file that a linker has just written come in one by one.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::{Cmd, Env};
use serde_json::json;

use crate::Size;
use crate::report::{Bound, Figure, Measured, Unit};
use crate::samples::Samples;
use crate::trouble::Trouble;

const BUILD_DEADLINE: Duration = Duration::from_hours(1);
const SETTLED_WITHIN: Duration = Duration::from_secs(30);
/// At once, as a client with many parallel tools would.
const TOGETHER: usize = 16;

/// A line with most of what makes reading hard, and nothing to refuse.
const NASTY: &str = r#"set -euo pipefail; for f in $(git ls-files '*.rs' | grep -v target); do
  if [[ -f "$f" ]]; then sed -n '1,5p' "$f" | awk '{ print $1 }' | sort -u || true; fi
done && (cd src && X=1 Y="a b" env -u Z timeout 5 bash -c 'git log --oneline -n 3 && git -C .. diff --stat HEAD' 2>/dev/null) \
  && cat <<'EOF' | tee /tmp/dandori-bench-notes.txt > /dev/null
git push --force origin main is only text here; rm -rf / as well
EOF
find . -name '*.toml' -newer state.md -exec grep -H 'version' {} + | xargs -I{} echo "{}" | head -3"#;

const STATE: &str = "---\nplaybook:\n  active: plan/playbook-bench.md\n  branch: work\ngoal:\n  milestone: M1\n  phase: p1\n\
                     verification:\n  self_complete: false\nconfig:\n  security: normal\n  toolstack: A\n---\n";
const PLAYBOOK: &str = "---\nname: bench\nbranch: work\nreviewed: true\nscope: [\"src/**\", \"docs/**\"]\n---\n\n# Bench\n\n## p1: First\n\n\
                        - status: in_progress\n- executor: claudecode\n- done_criteria:\n  - it works\n\n- [ ] do it\n  - technical: TODO\n\n\
                        ## p_final: Whole\n\n- status: pending\n- depends_on: [p1]\n- done_criteria:\n  - all of it works\n";

/// A repository under the whole discipline, with a session that may work in it.
struct Bed {
    root: Utf8PathBuf,
    dandori: Utf8PathBuf,
    empty: Utf8PathBuf,
}

pub(crate) fn measure(size: Size, dandori: Option<&Utf8Path>) -> Result<Vec<Figure>, Trouble> {
    let folder = tempfile::tempdir()?;
    let root = Utf8PathBuf::try_from(folder.path().canonicalize()?).map_err(|e| Trouble::wrong(e.to_string()))?;
    let bed = Bed::make(root.join("short"), dandori)?;
    let edit = bed.edit()?;
    let bash = bed.event("bash.json", "Bash", &json!({ "command": NASTY }))?;
    // Once for what only the first event of a session does; it also shows that both pass the whole chain.
    for event in [&edit, &bash] {
        bed.must_pass(event)?;
    }
    bed.settle(&edit)?;
    let mut figures = Vec::new();
    for (name, event) in [("edit", &edit), ("bash", &bash)] {
        figures.extend(bed.against_floor_and_chain(size, name, event)?);
    }
    figures.push(bed.together(size, &edit)?);
    let long = Bed { root: root.join("long"), dandori: bed.dandori.clone(), empty: bed.empty.clone() };
    long.lay_out()?;
    figures.push(bed.long_session(size, &edit, &long)?);
    Ok(figures)
}

impl Bed {
    fn make(root: Utf8PathBuf, dandori: Option<&Utf8Path>) -> Result<Self, Trouble> {
        let (built, empty) = build(dandori.is_none())?;
        let dandori = match dandori {
            Some(path) => path.canonicalize_utf8().map_err(Trouble::io(path))?,
            None => built,
        };
        let install = |from: &Utf8Path, name: &str| {
            let to = root.join("bin").join(name);
            std::fs::create_dir_all(root.join("bin"))?;
            std::fs::copy(from, &to).map_err(Trouble::io(from))?;
            Ok::<_, Trouble>(to)
        };
        let (dandori, empty) = (install(&dandori, "dandori")?, install(&empty, "empty")?);
        let bed = Self { root, dandori, empty };
        bed.lay_out()?;
        Ok(bed)
    }

    fn lay_out(&self) -> Result<(), Trouble> {
        let repo = self.repo();
        for (path, text) in [
            ("state.md", STATE),
            ("plan/playbook-bench.md", PLAYBOOK),
            ("CLAUDE.md", "Be kind.\n"),
            ("src/parser.rs", "fn parse() {}\n"),
            ("src/lib.rs", "mod parser;\n"),
            (".claude/protected-files.txt", "BLOCK:Cargo.lock\nWARN:deploy/**\n"),
        ] {
            let path = repo.join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&repo))?;
            dandori_host::put_file(&path, text.as_bytes(), 0o644)?;
        }
        std::fs::create_dir_all(self.root.join("home"))?;
        let env = self.env();
        for args in [&["init", "-q", "-b", "work"][..], &["add", "-A"], &["commit", "-q", "-m", "bench"]] {
            Cmd::new("git", &env).args(args).cwd(&repo).deadline(Duration::from_secs(30)).run()?;
        }
        self.consent()
    }

    /// Without the user's word nothing may be changed.
    fn consent(&self) -> Result<(), Trouble> {
        let prompt = self.put("prompt.json", json!({ "hook_event_name": "UserPromptSubmit", "prompt": "ok" }))?;
        self.must_pass(&prompt)
    }

    fn repo(&self) -> Utf8PathBuf {
        self.root.join("repo")
    }

    fn state(&self) -> Utf8PathBuf {
        self.root.join("state")
    }

    fn env(&self) -> Env {
        let path = Env::of_process().text("PATH").unwrap_or("/usr/bin:/bin").to_owned();
        let (home, state, repo) = (self.root.join("home"), self.state(), self.repo());
        Env::from_pairs([
            ("PATH", path.as_str()),
            ("HOME", home.as_str()),
            ("DANDORI_STATE_DIR", state.as_str()),
            ("CLAUDE_PROJECT_DIR", repo.as_str()),
            ("GIT_AUTHOR_NAME", "bench"),
            ("GIT_AUTHOR_EMAIL", "bench@example.com"),
            ("GIT_COMMITTER_NAME", "bench"),
            ("GIT_COMMITTER_EMAIL", "bench@example.com"),
            ("LANG", "C"),
        ])
    }

    fn edit(&self) -> Result<Utf8PathBuf, Trouble> {
        let input = json!({
            "file_path": self.repo().join("src/parser.rs"),
            "old_string": "fn parse() {}", "new_string": "fn parse() { todo() }",
        });
        self.event("edit.json", "Edit", &input)
    }

    fn event(&self, file: &str, tool: &str, input: &serde_json::Value) -> Result<Utf8PathBuf, Trouble> {
        let what = json!({
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "toolu_bench",
        });
        self.put(file, what)
    }

    fn put(&self, file: &str, what: serde_json::Value) -> Result<Utf8PathBuf, Trouble> {
        let path = self.root.join(file);
        let mut event = json!({
            "session_id": "bench", "transcript_path": self.root.join("t.jsonl"), "cwd": self.repo(),
            "permission_mode": "default",
        });
        if let (Some(event), serde_json::Value::Object(what)) = (event.as_object_mut(), what) {
            event.extend(what);
        }
        dandori_host::put_file(&path, format!("{event}\n").as_bytes(), 0o600)?;
        Ok(path)
    }

    /// Starts a program with an event on its stdin and waits for it, as bare as can be.
    #[expect(clippy::disallowed_methods, reason = "what is measured is the process, not our way of starting one")]
    fn run(&self, program: &str, args: &[&str], event: &Utf8Path) -> Result<bool, Trouble> {
        let stdin = File::open(event)?;
        let status = Command::new(program)
            .args(args)
            .env_clear()
            .envs(self.env().iter())
            .current_dir(self.repo())
            .stdin(Stdio::from(stdin))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        Ok(status.success())
    }

    fn hook(&self, event: &Utf8Path) -> Result<bool, Trouble> {
        // As `init` writes it.
        let (state, home) = (self.state(), self.root.join("home"));
        let config = home.join(".config/dandori/config.toml");
        let places = ["--state", state.as_str(), "--config", config.as_str(), "--home", home.as_str()];
        let words: Vec<&str> = ["hook", "claude"].into_iter().chain(places).collect();
        self.run(self.dandori.as_str(), &words, event)
    }

    fn must_pass(&self, event: &Utf8Path) -> Result<(), Trouble> {
        if self.hook(event)? {
            return Ok(());
        }
        let asked =
            Cmd::new(self.dandori.as_str(), &self.env()).args(["guard", "test", event.as_str()]).cwd(&self.repo());
        let said = asked.run_any().map(|output| output.text()).unwrap_or_default();
        Err(Trouble::wrong(format!("the event was to pass the whole chain, and did not:\n{said}")))
    }

    /// Until the rules are no longer compiled anew at every event, as they are while their files have only just been
    /// written.
    fn settle(&self, event: &Utf8Path) -> Result<(), Trouble> {
        let until = Instant::now() + SETTLED_WITHIN;
        let compiled = || {
            let mut inodes = Vec::new();
            for entry in self.state().join("guards").read_dir_utf8()? {
                let rules = entry?.path().join("rules.json");
                inodes.extend(rules.metadata().map(|metadata| metadata.ino()));
            }
            Ok::<_, Trouble>(inodes)
        };
        while Instant::now() < until {
            let before = compiled()?;
            self.must_pass(event)?;
            if compiled()? == before {
                return Ok(());
            }
        }
        Err(Trouble::wrong("the rules are compiled anew at every event".to_owned()))
    }

    fn against_floor_and_chain(
        &self,
        size: Size,
        name: &'static str,
        event: &Utf8Path,
    ) -> Result<Vec<Figure>, Trouble> {
        let chain = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("data/chain/pre-tool.sh");
        let (mut floor, mut ours, mut theirs) = (Samples::default(), Samples::default(), Samples::default());
        for _ in 0..size.pick(2, 12) {
            for _ in 0..size.pick(5, 40) {
                floor.time(|| self.run(self.empty.as_str(), &[], event))?;
                ours.time(|| self.hook(event))?;
            }
            let passed = theirs.time(|| self.run("bash", &[chain.as_str()], event))?;
            if !passed {
                return Err(Trouble::wrong(format!("the chain of scripts refused the {name} event")));
            }
        }
        let jq = Cmd::new("jq", &self.env()).args(["--version"]).run()?.text();
        let (floor_name, chain_name) =
            if name == "edit" { ("edit-floor", "edit-chain") } else { ("bash-floor", "bash-chain") };
        let figure = |samples: &Samples, what: &str| {
            Measured::seconds(samples.median(), format!("{what}; {}", samples.spread()))
        };
        Ok(vec![
            Figure::ratio(
                floor_name,
                format!("all guards on PreToolUse {name}, as a process ÷ an empty main"),
                (figure(&ours, "dandori hook claude"), figure(&floor, "fn main() {}")),
                Bound::AtMost(3.0),
            ),
            Figure::ratio(
                chain_name,
                format!("one dispatcher and ten bash guards, a jq call each ÷ all guards on PreToolUse {name}"),
                (figure(&theirs, &format!("bash, {jq}")), figure(&ours, "dandori hook claude")),
                Bound::AtLeast(100.0),
            ),
        ])
    }

    /// Events that come in at once: each has its record.
    fn together(&self, size: Size, event: &Utf8Path) -> Result<Figure, Trouble> {
        let rounds = size.pick(2, 25);
        let before = self.records()?;
        let answered = std::thread::scope(|scope| {
            let hooks = || (0..rounds).map(|_| self.hook(event)).collect::<Result<Vec<bool>, Trouble>>();
            let threads: Vec<_> = (0..TOGETHER).map(|_| scope.spawn(hooks)).collect();
            let mut answered = 0;
            for thread in threads {
                let answers = thread.join().map_err(|_| Trouble::wrong("a thread panicked".to_owned()))?;
                answered += answers?.len();
            }
            Ok::<usize, Trouble>(answered)
        })?;
        let kept = self.records()? - before;
        let lost = u32::try_from(answered.saturating_sub(kept)).unwrap_or(u32::MAX);
        let how = format!("{kept} of {answered} records are there");
        let measured = Measured { value: f64::from(lost), unit: Unit::Records, how };
        let what = format!("records lost by {TOGETHER} hooks at once");
        Ok(Figure::absolute("together", what, measured, Bound::AtMost(0.0)))
    }

    /// Whole lines in the spool.
    fn records(&self) -> Result<usize, Trouble> {
        let mut count = 0;
        for spool in self.spools()? {
            for entry in spool.read_dir_utf8()? {
                let text = std::fs::read_to_string(entry?.path())?;
                count += text.lines().filter(|l| serde_json::from_str::<serde_json::Value>(l).is_ok()).count();
            }
        }
        Ok(count)
    }

    fn spools(&self) -> Result<Vec<Utf8PathBuf>, Trouble> {
        let mut found = Vec::new();
        for entry in self.state().join("guards").read_dir_utf8()? {
            let spool = entry?.path().join("spool");
            if spool.is_dir() {
                found.push(spool);
            }
        }
        Ok(found)
    }

    /// A session that has been at it for long: its next event costs what its first did.
    fn long_session(&self, size: Size, event: &Utf8Path, long: &Self) -> Result<Figure, Trouble> {
        let many = size.pick(1_000, 100_000);
        let long_event = long.edit()?;
        long.must_pass(&long_event)?;
        long.fill(many)?;
        long.settle(&long_event)?;
        // What the filling left to be written is not the event's to wait for.
        rustix::fs::sync();
        let (mut few_samples, mut many_samples) = (Samples::default(), Samples::default());
        for _ in 0..size.pick(10, 300) {
            few_samples.time(|| self.hook(event))?;
            many_samples.time(|| long.hook(&long_event))?;
        }
        let figure = |samples: &Samples, what: String| {
            Measured::seconds(samples.median(), format!("{what}; {}", samples.spread()))
        };
        Ok(Figure::ratio(
            "long-session",
            "the next event of a session with many records ÷ of one with few",
            (figure(&many_samples, format!("{many} records")), figure(&few_samples, "about a thousand".to_owned())),
            Bound::AtMost(1.2),
        ))
    }

    /// As many more records as a very long session leaves, and marks and denials with them.
    fn fill(&self, many: usize) -> Result<(), Trouble> {
        for spool in self.spools()? {
            for entry in spool.read_dir_utf8()? {
                let path = entry?.path().to_owned();
                let text = std::fs::read_to_string(&path)?;
                let line = text.lines().rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
                let more = format!("\n{line}\n").repeat(many);
                dandori_host::put_file(&path, (text + &more).as_bytes(), 0o600)?;
            }
            for session in spool.with_file_name("sessions").read_dir_utf8()? {
                let session = session?.path().to_owned();
                for at in 0..many / 10 {
                    let mark = session.join(format!("wrote-{at:08x}"));
                    dandori_host::put_file(&mark, b"{\"key\":\"x\",\"value\":\"\"}", 0o600)?;
                }
            }
        }
        Ok(())
    }
}

/// The release builds of dandori and of the empty program.
fn build(with_dandori: bool) -> Result<(Utf8PathBuf, Utf8PathBuf), Trouble> {
    let env = Env::of_process();
    let own = Utf8PathBuf::try_from(std::env::current_exe()?).map_err(|e| Trouble::wrong(e.to_string()))?;
    let target =
        own.parent().and_then(Utf8Path::parent).ok_or_else(|| Trouble::wrong("no target folder".to_owned()))?;
    let cargo = env.text("CARGO").unwrap_or("cargo").to_owned();
    let mut wanted = vec![vec!["-p", "bench", "--bin", "empty"]];
    if with_dandori {
        wanted.push(vec!["-p", "dandori"]);
    }
    for packages in wanted {
        Cmd::new(&cargo, &env)
            .args(["build", "--release", "--quiet"])
            .args(packages)
            .cwd(Utf8Path::new(env!("CARGO_MANIFEST_DIR")))
            .deadline(BUILD_DEADLINE)
            .run()?;
    }
    Ok((target.join("release/dandori"), target.join("release/empty")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_events_pass_the_whole_chain_and_leave_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let own = Utf8PathBuf::try_from(std::env::current_exe().unwrap()).unwrap();
        let dandori = own.ancestors().nth(2).unwrap().join("dandori");
        if !dandori.is_file() {
            let env = Env::of_process();
            let build = Cmd::new(env.text("CARGO").unwrap(), &env).args(["build", "--quiet", "-p", "dandori"]);
            build.cwd(Utf8Path::new(env!("CARGO_MANIFEST_DIR"))).deadline(BUILD_DEADLINE).run().unwrap();
        }
        let bed = Bed { root, dandori, empty: Utf8PathBuf::new() };
        bed.lay_out().unwrap();
        bed.settle(&bed.edit().unwrap()).unwrap();
        let before = bed.records().unwrap();
        bed.must_pass(&bed.edit().unwrap()).unwrap();
        bed.must_pass(&bed.event("bash.json", "Bash", &json!({ "command": NASTY })).unwrap()).unwrap();
        assert_eq!(bed.records().unwrap() - before, 2);
    }
}
