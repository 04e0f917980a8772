//! What is printed, without what is different each time: names that are drawn, commits, places and times.

use std::collections::BTreeMap;

use dandori_testkit::env::TestEnv;
use serde_json::Value;

pub(super) struct Plain {
    root: String,
    program: String,
    /// What was drawn, and what stands for it.
    names: BTreeMap<String, String>,
    /// How many of a kind there are.
    counts: BTreeMap<&'static str, usize>,
}

impl Plain {
    pub(super) fn new(env: &TestEnv) -> Self {
        let (root, program) = (env.root().to_string(), env.bin().to_owned());
        Self { root, program, names: BTreeMap::new(), counts: BTreeMap::new() }
    }

    /// The names that have been drawn by now.
    pub(super) fn learn(&mut self, env: &TestEnv) {
        let object = |words: &[&str]| -> Value {
            let ran = env.dandori([words, &["--json"]].concat());
            serde_json::from_str(ran.stdout.trim()).unwrap_or_default()
        };
        if !env.state().exists() {
            return;
        }
        for task in array(&object(&["task", "list", "-n", "100"])["tasks"]).iter().rev() {
            let shown = object(&["task", "show", task["task"].as_str().unwrap_or_default()]);
            for run in array(&shown["runs"]) {
                self.name("run", &run["run"]);
                // Its whole id ends in its key.
                if let (Some(id), Some(key)) = (run["id"].as_str(), run["run"].as_str())
                    && let Some(name) = self.names.get(key).cloned()
                {
                    self.names.insert(id.to_owned(), name);
                }
            }
        }
        for list in [&["inbox", "-A"][..], &["inbox", "-A", "--snoozed"]] {
            for need in array(&object(list)["needs"]) {
                self.name("need", &need["id"]);
            }
        }
        for worktree in array(&object(&["worktree", "list", "-n", "100"])["worktrees"]).iter().rev() {
            self.name("tree", &worktree["key"]);
        }
        for exception in array(&object(&["guard", "list"])["exceptions"]) {
            self.name("exception", &exception["id"]);
        }
        // The repository's own name is in every place below the state root.
        if let Ok(mut repos) = std::fs::read_dir(env.state().join("repos"))
            && let Some(Ok(repo)) = repos.next()
        {
            self.name("repo", &repo.file_name().to_string_lossy().into());
        }
    }

    fn name(&mut self, kind: &'static str, value: &Value) {
        let Some(text) = value.as_str() else { return };
        if !self.names.contains_key(text) {
            let count = self.counts.entry(kind).or_default();
            *count += 1;
            self.names.insert(text.to_owned(), format!("‹{kind} {count}›"));
        }
    }

    pub(super) fn of(&self, text: &str) -> String {
        let mut text = text.replace('\u{a0}', " ").replace(&self.program, "/bin/dandori").replace(&self.root, "");
        let mut names: Vec<(&String, &String)> = self.names.iter().collect();
        names.sort_by_key(|(drawn, _)| std::cmp::Reverse(drawn.len()));
        for (drawn, name) in names {
            text = text.replace(drawn.as_str(), name);
        }
        let lines = text.lines().map(|line| without_gaps(&told_apart(line)));
        lines.map(|line| line.trim_end().to_owned() + "\n").collect()
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Columns are as wide as what is in them.
fn without_gaps(line: &str) -> String {
    let inner = line.trim_start();
    let lead = line.len() - inner.len();
    let words: Vec<&str> = inner.split("  ").map(str::trim).filter(|word| !word.is_empty()).collect();
    format!("{}{}", " ".repeat(lead), words.join("  "))
}

/// Words of letters and digits, and what is between them.
fn told_apart(line: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() || (c == '.' && word.ends_with(|c: char| c.is_ascii_digit())) {
            word.push(c);
        } else {
            out.push_str(&known(&word, c));
            word.clear();
            out.push(c);
        }
    }
    times(out.trim_end_matches('\n'))
}

fn known(word: &str, next: char) -> String {
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_hex = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    let is_commit = matches!(word.len(), 7 | 10 | 40) && is_hex;
    // As in the names of backups and of preserved work.
    let is_moment = is_number(word) && word.len() == 13
        || word.len() == 19 && word.split_once('T').is_some_and(|(day, rest)| is_number(day) && rest.ends_with('Z'));
    match word {
        _ if is_commit => "‹commit›".to_owned(),
        _ if is_moment => "‹moment›".to_owned(),
        _ if word.strip_suffix(['s', 'm']).is_some_and(is_number) => "0s".to_owned(),
        _ if is_number(word) && matches!(next, '秒' | '分') => "0".to_owned(),
        _ => word.to_owned(),
    }
}

/// Dates, clocks, sizes, ages and processes.
fn times(line: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_date = |word: &str| matches!(word.split('-').collect::<Vec<_>>()[..], [y, m, d] if y.len() == 4 && digits(y) && digits(m) && digits(d));
    let is_clock = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 2 && parts.iter().all(|part| part.len() == 2 && digits(part))
    };
    let mut words: Vec<String> = Vec::new();
    // A size is not broken between its number and its unit.
    let line = ["KiB", "MiB", "GiB"]
        .iter()
        .fold(line.to_owned(), |line, unit| line.replace(&format!("\u{a0}{unit}"), &format!(" {unit}")));
    for word in line.split(' ') {
        let number_before = words.last().is_some_and(|last| last.ends_with(|c: char| c.is_ascii_digit()));
        let clock: String = word.chars().take_while(|c| c.is_ascii_digit() || *c == ':').collect();
        let clock = clock.trim_end_matches(':');
        if number_before && ["KiB", "MiB", "GiB"].iter().any(|unit| word.starts_with(unit)) {
            let last = words.pop().unwrap_or_default();
            let lead = last.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            words.push(format!("{lead}‹size›{}", word.chars().skip(3).collect::<String>()));
        } else if number_before && (word.starts_with('秒') || word.starts_with("分前")) {
            words.pop();
            words.push(format!("0 {}", word.replacen('分', "秒", 1)));
        } else if is_date(word) {
            words.push("‹date›".to_owned());
        } else if is_clock(clock) {
            words.push(word.replacen(clock, "‹time›", 1));
        } else if words.last().is_some_and(|last| last.ends_with("pid")) {
            words.push("‹pid›".to_owned() + word.trim_start_matches(|c: char| c.is_ascii_digit()));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ").replace("0s ago", "just now").replace("0分", "0秒").replace("0 秒前", "たった今")
}
