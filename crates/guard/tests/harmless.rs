//! The corpora of shell lines through the real guards: harmless ones pass without a word, hostile ones are refused or
//! asked about.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::judge::Outcome;
use dandori_guard::rules::{Constraints, Protected};
use dandori_guard::world::{Call, Denied, Exception, FileKind, Head, Ran};
use dandori_guard::{Agent, Asking, Checkout, Context, Judgement, Level, Mark, Profile, Rules, World, decode, judge};
use dandori_text::Lang;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Form {
    id: String,
    kind: String,
    target: String,
    command: String,
}

fn forms(text: &str) -> Vec<Form> {
    serde_json::from_str(text).unwrap()
}

/// A checkout of an ordinary project at `/repo`, on a branch for work.
struct Project {
    files: BTreeMap<Utf8PathBuf, &'static str>,
}

impl Project {
    fn new() -> Self {
        let names = [
            ".git/config",
            ".env",
            ".env.example",
            "protected.txt",
            "d/protected.txt",
            "x",
            "a.txt",
            "Cargo.toml",
            "package.json",
            "src/lib.rs",
            "src/main.rs",
            "build.sh",
            "scripts/ci.sh",
            "tests/a.rs",
            "docs/index.md",
        ];
        Self { files: names.into_iter().map(|name| (Utf8Path::new("/repo").join(name), "")).collect() }
    }
}

impl World for Project {
    fn text(&self, path: &Utf8Path) -> io::Result<Option<String>> {
        Ok(self.files.get(path).map(|text| (*text).to_owned()))
    }

    fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        if self.files.contains_key(path) {
            return Some(FileKind::File);
        }
        self.files.keys().any(|file| file.starts_with(path)).then_some(FileKind::Folder)
    }

    fn names(&self, folder: &Utf8Path) -> Vec<String> {
        let below = self.files.keys().filter_map(|file| file.strip_prefix(folder).ok());
        let mut names: Vec<String> = below.filter_map(|rest| Some(rest.components().next()?.to_string())).collect();
        names.dedup();
        names
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        path.to_owned()
    }

    fn checkout(&self, path: &Utf8Path) -> Option<Checkout> {
        path.starts_with("/repo").then(|| Checkout {
            root: "/repo".into(),
            git_dir: "/repo/.git".into(),
            common_dir: "/repo/.git".into(),
            head: Head::Branch("work".to_owned()),
        })
    }

    fn mark(&self, _: &Mark) -> Option<String> {
        None
    }

    fn denied(&self) -> Vec<Denied> {
        Vec::new()
    }

    fn exceptions(&self) -> Vec<Exception> {
        Vec::new()
    }

    fn run(&self, _: &Call) -> Ran {
        Ran::NotStarted { why: "nothing runs in this test".to_owned() }
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    fn home(&self) -> Option<Utf8PathBuf> {
        Some("/home/user".into())
    }
}

fn judged(rules: &Rules, line: &str) -> Judgement {
    let event = json!({
        "session_id": "s", "cwd": "/repo", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": line},
    });
    let event = decode(event.to_string().as_bytes(), Some(Agent::Claude)).unwrap();
    let world = Project::new();
    let context = Context::new(&event, rules, &world, Lang::En, Some(Utf8Path::new("/repo")));
    judge(&context, Asking::Everyone)
}

fn harmless() -> Vec<String> {
    let known = forms(include_str!("../../shell/corpus/forms.json"));
    let mut lines: Vec<String> = known.into_iter().filter(|f| f.kind == "benign").map(|f| f.command).collect();
    // One line each; what has several stands between lines of `%%`.
    let mut block: Option<Vec<&str>> = None;
    for line in include_str!("../../shell/corpus/harmless.txt").lines() {
        match (&mut block, line) {
            (None, "%%") => block = Some(Vec::new()),
            (Some(_), "%%") => lines.extend(block.take().map(|b| b.join("\n"))),
            (Some(block), line) => block.push(line),
            (None, line) => lines.push(line.to_owned()),
        }
    }
    lines
}

fn hostile() -> Vec<Form> {
    let mut all = forms(include_str!("../../shell/corpus/forms.json"));
    all.retain(|form| form.kind != "benign");
    all.extend(forms(include_str!("../../shell/corpus/hostile.json")));
    all
}

/// Harmless to a reader of shell lines, but they show or write a secret, which is what the guard is for.
const SECRET: &[&str] = &["cat .env", "cp .env.example .env.local"];

#[test]
fn no_harmless_line_makes_a_guard_speak() {
    let rules = Rules::of(Profile::Safety);
    let lines = harmless();
    let mut alarms = Vec::new();
    let mut secrets = Vec::new();
    for line in &lines {
        for step in judged(&rules, line).steps.into_iter().filter(|step| step.outcome >= Outcome::Warn) {
            if step.guard == "secrets" && SECRET.contains(&line.as_str()) {
                secrets.push(line.as_str());
            } else {
                alarms.push(format!("{line}\n    {}: {:?}", step.guard, step.message));
            }
        }
    }
    println!("harmless: false alarms {}/{}", alarms.len(), lines.len() - SECRET.len());
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
    assert_eq!(secrets, SECRET, "these show or write a secret");
}

#[test]
fn every_hostile_line_is_refused_or_asked_about() {
    let forms = hostile();
    let is_caught = |form: &&Form| {
        // The forms of `rm` remove a file that is called x.
        let file = if form.target == "rm" { "x" } else { "protected.txt" };
        let mut rules = Rules::of(Profile::Safety);
        rules.constraints = Some(Constraints { paths: vec![file.to_owned()], ..Constraints::default() });
        rules.protected = vec![Protected { pattern: file.to_owned(), level: Level::Block }];
        judged(&rules, &form.command).steps.iter().any(|step| step.outcome >= Outcome::Ask)
    };
    let missed: Vec<String> =
        forms.iter().filter(|f| !is_caught(f)).map(|f| format!("{}: {}", f.id, f.command)).collect();
    println!("hostile: caught {}/{}", forms.len() - missed.len(), forms.len());
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
}

#[test]
fn no_guard_fails_on_a_line_that_breaks_off() {
    let mut rules = Rules::of(Profile::Discipline);
    rules.constraints = Some(Constraints::default());
    for form in hostile() {
        let chars: Vec<char> = form.command.chars().collect();
        for part in [chars.len() / 3, chars.len() / 2, chars.len() * 2 / 3] {
            let line: String = chars.iter().take(part).collect();
            let failed: Vec<String> = judged(&rules, &line)
                .steps
                .into_iter()
                .filter(|step| step.outcome == Outcome::Error)
                .map(|step| format!("{}: {:?}", step.guard, step.message))
                .collect();
            assert!(failed.is_empty(), "{line}: {failed:?}");
        }
    }
}
