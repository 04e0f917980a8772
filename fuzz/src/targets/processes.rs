//! `dandori hook` as clients run it: a process, an event on stdin, an answer in time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_host::{Cmd, CmdError, Env};
use serde_json::json;
use tempfile::TempDir;

use super::events;
use crate::case::Finding;
use crate::measure;
use crate::mutate;
use crate::random::Random;
use crate::seeds::{PLAYBOOK, STATE, Seeds};
use crate::trouble::Trouble;

/// The hook answers before its own limit, and no client waits less than this.
const DEADLINE: Duration = Duration::from_secs(9);
/// Stands for the folder of the bed: cases are made before there is one.
const REPO: &str = "/repo";

/// A user's machine in a temporary folder: a home, a state folder, and a repository under the whole discipline.
pub(crate) struct Bed {
    root: Utf8PathBuf,
    dandori: Utf8PathBuf,
    ourselves: Utf8PathBuf,
    /// The memory the last process had, in bytes.
    weighed: Cell<u64>,
    _dir: TempDir,
}

pub(crate) fn input(seeds: &Seeds, choice: u64, random: &mut Random) -> Vec<u8> {
    let mut bytes = events::input(seeds, choice, random);
    if random.one_in(25) {
        // Large, and still an event: a client sends what a tool has read.
        let text = random.pick(&seeds.events).cloned().unwrap_or_default();
        let size = mutate::long(random) * 2;
        let filler = random.word(&["a", "日本", "a;", "\\n", "$("]);
        bytes = text
            .replacen('{', &format!("{{\"tool_response\":\"{}\",", filler.repeat(size / filler.len())), 1)
            .into_bytes();
    }
    if random.one_in(25) {
        bytes = many_paths(random);
    }
    bytes
}

/// Files that are not there, in folders that are not there: what is remembered of each adds up.
fn many_paths(random: &mut Random) -> Vec<u8> {
    let depth = 1 + random.below(2_000);
    let letters = if random.one_in(2) { 60_000 } else { 1_000_000 };
    let count = 1 + random.below(letters / (2 * depth + 4));
    let top = random.word(&["x", "../x", "/x", "~/x", "src/x", "link/x"]);
    let part = random.word(&["/a", "/日", "/.", "/..", "/.git"]).repeat(depth);
    let paths: Vec<String> = (0..count).map(|at| format!("{top}{at}{part}")).collect();
    let (tool, input) = match random.below(4) {
        0 => ("Bash", json!({ "command": format!("cat {}", paths.join(" ")) })),
        1 => ("Bash", json!({ "command": format!("rm -rf {}", paths.join(" ")) })),
        2 => ("mcp__files__write_files", json!({ "paths": paths })),
        _ => ("mcp__files__read_files", json!({ "paths": paths })),
    };
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": REPO, "tool_name": tool, "tool_input": input,
        "tool_use_id": "t",
    });
    event.to_string().into_bytes()
}

impl Bed {
    pub(crate) fn make(dandori: &Utf8Path) -> Result<Self, Trouble> {
        let dir = tempfile::Builder::new().prefix("dandori-fuzz-").tempdir()?;
        let root = Utf8PathBuf::try_from(dir.path().canonicalize()?).map_err(|e| Trouble::wrong(e.to_string()))?;
        let ourselves = Utf8PathBuf::try_from(std::env::current_exe()?).map_err(|e| Trouble::wrong(e.to_string()))?;
        let bed = Self { root, dandori: dandori.to_owned(), ourselves, weighed: Cell::new(0), _dir: dir };
        for (path, text) in [
            ("repo/state.md", STATE),
            ("repo/plan/playbook-a.md", PLAYBOOK),
            ("repo/CLAUDE.md", "Be kind.\n"),
            ("repo/src/lib.rs", "mod parser;\n"),
            ("plain/README.md", "Nothing here.\n"),
            ("home/.keep", ""),
        ] {
            let path = bed.root.join(path);
            let folder = path.parent().unwrap_or(&bed.root);
            std::fs::create_dir_all(folder).map_err(Trouble::io(folder))?;
            dandori_host::put_file(&path, text.as_bytes(), 0o644).map_err(Trouble::io(&path))?;
        }
        for repo in ["repo", "plain"] {
            let git = Cmd::new("git", &bed.env()).args(["init", "-q", "-b", "work"]).cwd(&bed.root.join(repo));
            git.deadline(Duration::from_secs(30)).run()?;
            std::os::unix::fs::symlink("src", bed.root.join(repo).join("link"))?;
        }
        Ok(bed)
    }

    fn env(&self) -> Env {
        let path = Env::of_process().text("PATH").unwrap_or("/usr/bin:/bin").to_owned();
        let (home, state) = (self.root.join("home"), self.root.join("state"));
        Env::from_pairs([
            ("PATH", path.as_str()),
            ("HOME", home.as_str()),
            ("DANDORI_STATE_DIR", state.as_str()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("LANG", "C.UTF-8"),
        ])
    }

    pub(crate) fn weighed(&self) -> u64 {
        self.weighed.get()
    }

    pub(crate) fn look(&self, input: &[u8], choice: u64) -> Result<(), Finding> {
        let mut random = Random::new(choice);
        let repo = self.root.join(random.word(&["repo", "plain"]));
        let agents: Vec<&str> = Client::ALL.iter().map(|client| client.name()).chain(["", "nobody"]).collect();
        let agent = random.word(&agents);
        let input = replaced(input, REPO.as_bytes(), repo.as_str().as_bytes());
        let weight = self.root.join("weight");
        let begun = Instant::now();
        let hook = Cmd::new(self.ourselves.as_str(), &self.env())
            .args(["weigh", weight.as_str(), self.dandori.as_str(), "hook", agent])
            .cwd(&repo)
            .stdin(input);
        let output = match hook.deadline(DEADLINE).run_any() {
            Ok(output) => output,
            Err(CmdError::TimedOut { .. }) => {
                return Err(Finding::new("deadline", format!("no answer in {DEADLINE:?}")));
            }
            Err(error) => return Err(Finding::new("process", format!("{error:?}"))),
        };
        let took = begun.elapsed();
        let peak = std::fs::read_to_string(&weight).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
        self.weighed.set(peak);
        if peak > measure::MEMORY_LIMIT {
            return Err(Finding::new("process memory", format!("{} kB", peak / 1024)));
        }
        let code = output.status.code();
        let is_object =
            serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok_and(|value| value.is_object());
        let is_plain = !output.stdout.trim_ascii_start().starts_with(b"{");
        let said =
            || format!("{code:?} after {took:?}: {} / {}", String::from_utf8_lossy(&output.stdout), output.stderr);
        match code {
            Some(2) if output.stderr.trim().is_empty() => Err(Finding::new("process answer", said())),
            Some(0 | 2) if output.stdout.is_empty() || is_object || is_plain => Ok(()),
            Some(0 | 2) => Err(Finding::new("process answer", said())),
            _ => Err(Finding::new("process exit", said())),
        }
    }
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 256);
    let mut rest = bytes;
    while let Some(first) = rest.first() {
        match rest.strip_prefix(from) {
            Some(tail) => {
                out.extend_from_slice(to);
                rest = tail;
            }
            None => {
                out.push(*first);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    out
}
