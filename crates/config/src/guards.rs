//! `[guards]`: what a file says about the guards, as it says it.
//!
//! Checked, but not weighed: which of two files wins, and what a repository may loosen, is decided where the guards'
//! own defaults are known. Here stands only what of a repository's table needs the user's trust.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use camino::Utf8Path;
use dandori_domain::guard::{ErrorPolicy, Level, NAMES, Profile};
use serde::{Deserialize, Deserializer};

use crate::key;
use crate::load::{ConfigError, Source, misplaced_keys};
use crate::quantity::{parse_millis, parse_seconds};

/// The section of one file; what it does not say is `None` or empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct GuardTable {
    pub profile: Option<Profile>,
    pub order: Vec<String>,
    pub opaque: Option<Level>,
    pub denied_for: Option<Seconds>,
    pub deadline: Option<Millis>,
    pub required_reads: Option<Vec<String>>,
    pub secrets: Vec<String>,
    pub protected: Vec<ProtectedPath>,
    pub level: BTreeMap<String, Level>,
    pub on_error: BTreeMap<String, ErrorPolicy>,
    pub main: MainTable,
    pub destructive: BTreeMap<String, Level>,
    pub checks: ChecksTable,
    pub issue: IssueTable,
    pub pull: PullTable,
    pub rule: Vec<OwnRule>,
    /// Stands beside the section, not in it; carried along so that one reading gives all the guards need.
    #[serde(skip)]
    pub language: Option<String>,
    /// Keys beside the section that nobody knows, each with the name that was meant: `[guard]` is not `[guards]`.
    #[serde(skip)]
    pub unknown: Vec<(String, Option<String>)>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct MainTable {
    pub branches: Option<Vec<String>>,
    pub when: Option<MainWhen>,
    pub what: Option<MainWhat>,
}

/// The later one is the stricter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MainWhen {
    /// While state.md has `focus: workspace`.
    Workspace,
    Always,
}

/// The later one is the stricter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MainWhat {
    Branch,
    Edits,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct ProtectedPath {
    pub path: String,
    #[serde(default = "block")]
    pub level: Level,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct ChecksTable {
    pub before_commit: Vec<String>,
    pub after_edit: Vec<AfterEdit>,
    pub timeout: Option<Seconds>,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct AfterEdit {
    #[serde(default)]
    pub files: Vec<String>,
    pub run: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct IssueTable {
    pub priorities: Option<Vec<String>>,
    pub sections: Option<Vec<Vec<String>>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct PullTable {
    pub sections: Option<Vec<Vec<String>>>,
    pub needs_issue: Option<bool>,
}

/// A guard of the user's own.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct OwnRule {
    pub name: String,
    #[serde(default)]
    pub events: Vec<String>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub commands: Vec<String>,
    #[serde(default)]
    pub paths: Vec<String>,
    #[serde(default)]
    pub prompts: Vec<String>,
    #[serde(default = "block")]
    pub decision: Level,
    pub message: Option<String>,
    #[serde(default)]
    pub run: Vec<String>,
    pub timeout: Option<Seconds>,
    pub on_error: Option<ErrorPolicy>,
}

fn block() -> Level {
    Level::Block
}

/// Written as people write durations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seconds(pub u64);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Millis(pub u64);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        duration(from, parse_seconds).map(Self)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        duration(from, parse_millis).map(Self)
    }
}

fn duration<'de, D: Deserializer<'de>>(from: D, parse: fn(&str) -> Option<u64>) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    let is_one = parse(&text).filter(|amount| *amount > 0);
    is_one.ok_or_else(|| {
        serde::de::Error::custom(format!("{text:?} is not a duration above 0 such as \"90s\" or \"15m\""))
    })
}

/// Events a rule may name: ours for all clients.
const EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
    "Notification",
    "ConfigChange",
];

/// Clients give up on a hook after a minute: an answer after that is none.
const LONGEST_ANSWER_MS: u64 = 50_000;
/// Below this no guard would get to its end, and those that fail open would be as good as off.
const SHORTEST_ANSWER_MS: u64 = 100;

#[derive(Deserialize)]
struct Section {
    /// The user's alone: whatever a repository has here is nothing to the guards.
    language: Option<toml::Value>,
    guards: Option<GuardTable>,
}

impl GuardTable {
    /// The section of one file; all of it is unset when there is no such file. What is wrong elsewhere in the file is
    /// not looked at: a mistake in another section must not take the guards along.
    pub fn load(path: &Utf8Path, source: Source) -> Result<Self, ConfigError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::read(path, &text, source),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Self::default()),
            Err(source) => Err(ConfigError::Unreadable { path: path.to_owned(), source }),
        }
    }

    pub fn read(path: &Utf8Path, text: &str, source: Source) -> Result<Self, ConfigError> {
        let bad = |reason: String, suggestion| ConfigError::Bad { path: path.to_owned(), reason, suggestion };
        let not_toml = |e: toml::de::Error| bad(e.to_string().trim().to_owned(), None);
        let mut table: toml::Table = text.parse().map_err(not_toml)?;
        let is_unknown = |key: &&String| matches!(key::look_up(&[key.as_str()]), key::Found::Unknown);
        let unknown = table.keys().filter(is_unknown).map(|key| (key.clone(), key::nearest_key(key))).collect();
        table.retain(|key, _| key == "guards" || key == "language" && source == Source::User);
        if let Some((reason, suggestion)) = misplaced_keys(&table, &[], source).into_iter().next() {
            return Err(bad(reason, suggestion));
        }
        // From the text and not from the table: only then an error knows its line.
        let Section { language, guards } = toml::from_str(text).map_err(not_toml)?;
        let language = match language.filter(|_| source == Source::User) {
            None => None,
            Some(toml::Value::String(language)) => Some(language),
            Some(_) => return Err(bad("`language` must be a string".to_owned(), None)),
        };
        let guards = guards.unwrap_or_default();
        guards.check(source).map_err(|(reason, suggestion)| bad(reason, suggestion))?;
        Ok(Self { language, unknown, ..guards })
    }

    /// What the types cannot say.
    pub(crate) fn check(&self, source: Source) -> Result<(), (String, Option<String>)> {
        let wrong = |reason: String| Err((reason, None));
        if let Some(Millis(deadline)) = self.deadline {
            if source == Source::Repository {
                return wrong("`guards.deadline` is only allowed in the user's config.toml".into());
            }
            if !(SHORTEST_ANSWER_MS..=LONGEST_ANSWER_MS).contains(&deadline) {
                return wrong(
                    "guards.deadline must be between \"100ms\" and \"50s\" (clients do not wait longer)".into(),
                );
            }
        }
        let levels = self.destructive.iter().map(|(class, level)| (format!("destructive.{class}"), *level));
        for (key, level) in self.opaque.map(|level| ("opaque".to_owned(), level)).into_iter().chain(levels) {
            if level == Level::Info {
                return wrong(format!(
                    "guards.{key} = \"info\" is invalid: use \"off\", \"warn\", \"ask\" or \"block\""
                ));
            }
        }
        self.check_rules()?;
        self.check_order()?;
        self.check_texts()
    }

    fn check_rules(&self) -> Result<(), (String, Option<String>)> {
        let mut names = BTreeSet::new();
        for rule in &self.rule {
            let name = &rule.name;
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
            if name.is_empty() || !name.chars().all(is_name) {
                return Err((
                    format!("guards.rule: invalid name {name:?}: use letters, digits, `-`, `_` and `.`"),
                    None,
                ));
            }
            if NAMES.contains(&name.as_str()) {
                return Err((format!("guards.rule: a guard `{name}` already exists: choose another name"), None));
            }
            if !names.insert(name) {
                return Err((format!("guards.rule: duplicate rule `{name}`"), None));
            }
            if let Some(event) = rule.events.iter().find(|event| !EVENTS.contains(&event.as_str())) {
                let reason =
                    format!("guards.rule `{name}`: unknown event {event:?}; use one of: {}", EVENTS.join(", "));
                return Err((reason, key::most_like(event, EVENTS.iter().copied())));
            }
            let patterns = [&rule.tools, &rule.commands, &rule.paths, &rule.prompts];
            if rule.events.is_empty() && rule.run.is_empty() && patterns.iter().all(|list| list.is_empty()) {
                let reason = format!(
                    "guards.rule `{name}` would match every tool: specify events, tools, commands, paths or prompts"
                );
                return Err((reason, None));
            }
        }
        Ok(())
    }

    fn check_order(&self) -> Result<(), (String, Option<String>)> {
        let own = || self.rule.iter().map(|rule| rule.name.as_str());
        let known = || NAMES.iter().copied().chain(own());
        match self.order.iter().find(|name| !known().any(|known| known == name.as_str())) {
            Some(name) => Err((format!("guards.order: unknown guard `{name}`"), key::most_like(name, known()))),
            None => Ok(()),
        }
    }

    /// Texts that would silently hold nothing.
    fn check_texts(&self) -> Result<(), (String, Option<String>)> {
        let mut globs: Vec<(&str, &str)> = Vec::new();
        globs.extend(self.secrets.iter().map(|p| ("guards.secrets", p.as_str())));
        globs.extend(self.protected.iter().map(|p| ("guards.protected", p.path.as_str())));
        globs.extend(self.main.branches.iter().flatten().map(|b| ("guards.main.branches", b.as_str())));
        globs.extend(
            self.checks.after_edit.iter().flat_map(|a| &a.files).map(|f| ("guards.checks.after_edit", f.as_str())),
        );
        for rule in &self.rule {
            globs.extend([&rule.tools, &rule.paths].into_iter().flatten().map(|p| ("guards.rule", p.as_str())));
        }
        if let Some((key, glob)) = globs.iter().find(|(_, glob)| !is_glob(glob)) {
            return Err((
                format!("{key}: invalid pattern {glob:?}: a bracket is not closed, or the pattern is empty"),
                None,
            ));
        }
        let mut texts: Vec<(&str, &str)> = Vec::new();
        texts.extend(self.checks.before_commit.iter().map(|line| ("guards.checks.before_commit", line.as_str())));
        texts.extend(self.checks.after_edit.iter().map(|after| ("guards.checks.after_edit", after.run.as_str())));
        texts.extend(self.required_reads.iter().flatten().map(|file| ("guards.required_reads", file.as_str())));
        texts.extend(self.issue.priorities.iter().flatten().map(|label| ("guards.issue.priorities", label.as_str())));
        for rule in &self.rule {
            texts.extend(rule.run.first().map(|program| ("guards.rule.run", program.as_str())));
            let words = [&rule.commands, &rule.prompts].into_iter().flatten();
            texts.extend(words.map(|word| ("guards.rule", word.as_str())));
        }
        if let Some((key, _)) = texts.iter().find(|(_, text)| text.trim().is_empty()) {
            return Err((format!("{key}: contains an empty string"), None));
        }
        let sections = [("guards.issue.sections", &self.issue.sections), ("guards.pull.sections", &self.pull.sections)];
        for (key, sections) in sections {
            let mut sections = sections.iter().flatten();
            if sections.any(|names| names.is_empty() || names.iter().any(|name| name.trim().is_empty())) {
                return Err((format!("{key}: each section needs at least one name"), None));
            }
        }
        Ok(())
    }

    /// What of a repository's table could execute something, or loosen what stands without it. Where that depends on a
    /// default, the value counts as loosening unless it is the strictest there is: a guard's default may change.
    pub fn powers(&self) -> Vec<String> {
        let mut powers = Vec::new();
        let mut say = |key: &str, value: &str| powers.push(format!("guards.{key}: {value}"));
        if self.profile == Some(Profile::Safety) {
            say("profile", "safety");
        }
        if let Some(level) = self.opaque.filter(|level| *level != Level::Block) {
            say("opaque", level.as_str());
        }
        if let Some(Seconds(seconds)) = self.denied_for {
            say("denied_for", &format!("{seconds}s"));
        }
        for (table, levels) in [("level", &self.level), ("destructive", &self.destructive)] {
            for (name, level) in levels.iter().filter(|(_, level)| **level != Level::Block) {
                say(&format!("{table}.{name}"), level.as_str());
            }
        }
        for (name, _) in self.on_error.iter().filter(|(_, policy)| **policy == ErrorPolicy::Open) {
            say(&format!("on_error.{name}"), "open");
        }
        if self.main.when == Some(MainWhen::Workspace) {
            say("main.when", "workspace");
        }
        if self.main.what == Some(MainWhat::Branch) {
            say("main.what", "branch");
        }
        if let Some(labels) = &self.issue.priorities {
            say("issue.priorities", &labels.join(", "));
        }
        for (table, sections) in [("issue", &self.issue.sections), ("pull", &self.pull.sections)] {
            if let Some(sections) = sections {
                let sections: Vec<String> = sections.iter().map(|names| names.join("/")).collect();
                say(&format!("{table}.sections"), &sections.join(", "));
            }
        }
        if self.pull.needs_issue == Some(false) {
            say("pull.needs_issue", "false");
        }
        for line in &self.checks.before_commit {
            say("checks.before_commit", line);
        }
        for after in &self.checks.after_edit {
            say("checks.after_edit", &after.run);
        }
        for rule in self.rule.iter().filter(|rule| !rule.run.is_empty()) {
            say(&format!("rule.{}.run", rule.name), &rule.run.join(" "));
        }
        powers
    }
}

/// Whether every bracket of a pattern is closed: one that is not matches nothing at all.
pub fn is_glob(pattern: &str) -> bool {
    let (mut square, mut curly, mut escaped) = (false, 0_u32, false);
    for c in pattern.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if square => square = false,
            _ if square => {}
            '[' => square = true,
            '{' => curly += 1,
            '}' if curly == 0 => return false,
            '}' => curly -= 1,
            _ => {}
        }
    }
    !pattern.trim().is_empty() && !square && curly == 0 && !escaped
}

#[cfg(test)]
mod tests;
