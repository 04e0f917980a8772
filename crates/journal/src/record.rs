//! One event as it is kept: what was about to happen, what each guard said, how long it took.

use std::borrow::Cow;
use std::time::Duration;

use dandori_domain::{PromptTag, Submitted};
use dandori_guard::change::{Change, ChangeKind};
use dandori_guard::event::{Event, Kind, Source, Tool};
use dandori_guard::{Judgement, judge};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::session::hex;

/// Readers take this version and older ones; fields they do not know they leave alone.
pub(crate) const VERSION: u32 = 1;

const SUBJECT_CHARS: usize = 200;
const NAME_CHARS: usize = 120;
const ODDITIES: usize = 4;
const STEPS: usize = 128;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Record {
    pub version: u32,
    /// When the event came in, in milliseconds.
    pub at: i64,
    pub agent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The client's own id of the prompt this belongs to, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// The same for the same words of a prompt: whoever has sent them finds here that the client took them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_hash: Option<String>,
    /// The message that a prompt was, when dandori has typed it: whoever typed it finds here that the client took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<PromptTag>,
    /// Ours, as in the logs: `pre-tool`.
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The command or the files, cut short; of the start of a session, what it starts from: `clear`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub verdict: RecordedVerdict,
    /// The guard the verdict is from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepRecord>,
    /// The whole event, in microseconds.
    pub micros: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<String>,
    /// The same for the same action, see [`action`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}

/// `["playbook","block",12]`: there are many of them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StepRecord(pub String, pub Outcome, pub u64);

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordedVerdict {
    Go,
    Ask,
    Block,
    /// One that a later version has.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Pass,
    Info,
    Warn,
    Ask,
    Block,
    Excepted,
    Error,
    #[serde(other)]
    Unknown,
}

impl From<judge::Outcome> for Outcome {
    fn from(outcome: judge::Outcome) -> Self {
        match outcome {
            judge::Outcome::Pass => Self::Pass,
            judge::Outcome::Info => Self::Info,
            judge::Outcome::Warn => Self::Warn,
            judge::Outcome::Ask => Self::Ask,
            judge::Outcome::Block => Self::Block,
            judge::Outcome::Excepted => Self::Excepted,
            judge::Outcome::Error => Self::Error,
        }
    }
}

impl Record {
    /// Everything in it is bounded, so that no event writes a page.
    pub fn of(event: &Event, judgement: &Judgement, at: Timestamp, took: Duration) -> Self {
        let (verdict, by) = match &judgement.ruling.verdict {
            dandori_guard::Permission::Go => (RecordedVerdict::Go, None),
            dandori_guard::Permission::Ask { guard, .. } => (RecordedVerdict::Ask, Some(guard)),
            dandori_guard::Permission::Block { guard, .. } => (RecordedVerdict::Block, Some(guard)),
        };
        let step =
            |step: &judge::Step| StepRecord(cut(&step.guard, NAME_CHARS), step.outcome.into(), micros(step.took));
        Self {
            version: VERSION,
            at: at.as_millisecond(),
            agent: event.agent.to_string(),
            session: event.session.as_ref().map(|id| cut(id.as_str(), NAME_CHARS)),
            prompt_id: event.prompt_id.as_deref().map(|id| cut(id, NAME_CHARS)),
            prompt_hash: prompt_hash(event),
            tag: tag(event),
            event: event_name(event).into_owned(),
            tool: event.tool_name.as_deref().map(|name| cut(name, NAME_CHARS)),
            subject: subject(event),
            verdict,
            by: by.map(|guard| cut(guard.as_str(), NAME_CHARS)),
            steps: judgement.steps.iter().take(STEPS).map(step).collect(),
            micros: micros(took),
            oddities: event.oddities.iter().take(ODDITIES).map(|o| cut(&o.to_string(), NAME_CHARS)).collect(),
            action: action(event),
        }
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

/// Our short name of the event: `pre-tool`, `prompt`, `stop`.
pub fn event_name(event: &Event) -> Cow<'static, str> {
    Cow::Borrowed(match &event.kind {
        Kind::SessionStart { .. } => "session-start",
        Kind::PromptSubmit { .. } => "prompt",
        Kind::PreTool => "pre-tool",
        Kind::PostTool { .. } => "post-tool",
        Kind::Stop { .. } => "stop",
        Kind::SubagentStart => "subagent-start",
        Kind::SubagentStop { .. } => "subagent-stop",
        Kind::PreCompact { .. } => "pre-compact",
        Kind::SessionEnd { .. } => "session-end",
        Kind::Notification { .. } => "notification",
        Kind::ConfigChange { .. } => "config-change",
        Kind::Other => return Cow::Owned(kebab(&event.name)),
    })
}

/// `WorktreeCreate` → `worktree-create`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for c in name.chars().take(NAME_CHARS) {
        if c.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    }
    if kebab.is_empty() { "unknown".to_owned() } else { kebab }
}

fn subject(event: &Event) -> Option<String> {
    if let Kind::SessionStart { source } = &event.kind {
        return Some(cut(start(source), NAME_CHARS));
    }
    let text = match (event.tool.as_ref()?, &event.kind) {
        (Tool::Bash { command, .. }, _) => cut(command, SUBJECT_CHARS),
        (Tool::Edit { changes, .. }, _) => {
            let paths: Vec<&str> = changes.iter().flat_map(Change::paths).map(camino::Utf8Path::as_str).collect();
            cut(&paths.join(" "), SUBJECT_CHARS)
        }
        (Tool::Read { path }, _) => cut(path.as_str(), SUBJECT_CHARS),
        (Tool::Search { path, pattern, .. }, _) => {
            let words = [pattern.as_deref(), path.as_deref().map(camino::Utf8Path::as_str)];
            cut(&words.into_iter().flatten().collect::<Vec<_>>().join(" "), SUBJECT_CHARS)
        }
        (Tool::Skill { name }, _) => cut(name, SUBJECT_CHARS),
        (Tool::Agent { role, .. }, _) => cut(role.as_deref()?, SUBJECT_CHARS),
        (Tool::Mcp { .. } | Tool::Other { .. }, _) => return None,
    };
    (!text.is_empty()).then_some(text)
}

fn start(source: &Source) -> &str {
    match source {
        Source::Startup => "startup",
        Source::Resume => "resume",
        Source::Fork => "fork",
        Source::Clear => "clear",
        Source::Compact => "compact",
        Source::Other(word) => word,
    }
}

/// One line of at most so many characters.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    let mut line: String = text.chars().take(chars).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(chars).is_some() {
        line.push('…');
    }
    line
}

/// The words with one blank between them. Not by a list of the words: of a long text that would be many times as large.
fn with_single_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        out.push_str(if out.is_empty() { "" } else { " " });
        out.push_str(word);
    }
    out
}

/// A hash of what is about to be done: tool and input, blanks in commands not counted. Only an event before a tool has
/// one: what was refused and what was let through are compared by it.
pub fn action(event: &Event) -> Option<String> {
    if event.kind == Kind::PreTool { fingerprint(event) } else { None }
}

/// Blanks around a prompt are the client's to add or leave away.
fn prompt_hash(event: &Event) -> Option<String> {
    let Kind::PromptSubmit { prompt } = &event.kind else { return None };
    Some(hex(&Sha256::digest(prompt.trim()), 8))
}

/// Nothing else of the prompt is kept.
fn tag(event: &Event) -> Option<PromptTag> {
    let Kind::PromptSubmit { prompt } = &event.kind else { return None };
    match Submitted::read(prompt) {
        Submitted::Ours(tag) => Some(tag),
        Submitted::Other | Submitted::Damaged => None,
    }
}

/// The same before a tool and after it.
pub(crate) fn fingerprint(event: &Event) -> Option<String> {
    let mut hash = Sha256::new();
    let mut add = |part: &str| {
        // Its length first: two parts are never one.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    match event.tool.as_ref()? {
        Tool::Bash { command, cwd, beside } => {
            add("bash");
            add(&with_single_blanks(command));
            add(cwd.as_ref().or(event.cwd.as_ref()).map_or("", |path| path.as_str()));
            if !beside.is_null() {
                add(&beside.to_string());
            }
        }
        Tool::Edit { changes, .. } => {
            add("edit");
            for change in changes {
                add(match &change.kind {
                    ChangeKind::Write => "write",
                    ChangeKind::Edit => "edit",
                    ChangeKind::Delete => "delete",
                    ChangeKind::Rename { .. } => "rename",
                });
                change.paths().for_each(|path| add(path.as_str()));
                add(change.old.as_deref().unwrap_or_default());
                add(change.new.as_deref().unwrap_or_default());
            }
        }
        Tool::Read { path } => ["read", path.as_str()].into_iter().for_each(add),
        Tool::Search { path, pattern, files } => {
            add("search");
            add(path.as_ref().map_or("", |p| p.as_str()));
            add(pattern.as_deref().unwrap_or_default());
            add(files.as_deref().unwrap_or_default());
        }
        Tool::Skill { name } => ["skill", name].into_iter().for_each(add),
        Tool::Agent { role, prompt } => {
            ["agent", role.as_deref().unwrap_or_default(), prompt].into_iter().for_each(add);
        }
        Tool::Mcp { server, tool, input } => {
            ["mcp", server, tool, &input.to_string()].into_iter().for_each(add);
        }
        Tool::Other { name, input } => ["other", name, &input.to_string()].into_iter().for_each(add),
    }
    Some(hex(&hash.finalize(), 8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::client::Moment;
    use dandori_guard::{Client, decode};
    use serde_json::{Value, json};

    fn event(tool: &str, input: &Value) -> Event {
        let event = json!({
            "session_id": "s", "cwd": "/repo", "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
        });
        decode(event.to_string().as_bytes(), Some(Client::Claude)).unwrap()
    }

    fn bash(command: &str) -> Event {
        event("Bash", &json!({ "command": command }))
    }

    #[test]
    fn the_same_action_has_the_same_fingerprint_whatever_its_blanks() {
        assert_eq!(action(&bash("git push  origin\n main")), action(&bash(" git push origin main ")));
        let different = [
            bash("git push origin main"),
            bash("git push origin master"),
            event("Write", &json!({ "file_path": "/repo/a", "content": "x" })),
            event("Write", &json!({ "file_path": "/repo/a", "content": "y" })),
            event("Write", &json!({ "file_path": "/repo/b", "content": "x" })),
            event("Edit", &json!({ "file_path": "/repo/a", "old_string": "x", "new_string": "y" })),
            event("Read", &json!({ "file_path": "/repo/a" })),
            event("Skill", &json!({ "skill": "review" })),
            event("Task", &json!({ "subagent_type": "critic", "prompt": "look" })),
            event("mcp__a__b", &json!({ "x": 1 })),
            event("mcp__a__b", &json!({ "x": 2 })),
        ];
        let seen: std::collections::BTreeSet<_> = different.iter().map(|e| action(e).unwrap()).collect();
        assert_eq!(seen.len(), different.len());
    }

    #[test]
    fn a_record_is_bounded_and_one_line_whatever_the_event() {
        let event = bash(&"\u{0}\n\"é".repeat(10_000));
        let steps = (0..1_000).map(|_| judge::Step {
            guard: "\u{1}".repeat(10_000),
            outcome: judge::Outcome::Warn,
            message: None,
            took: Duration::MAX,
        });
        let ruling = dandori_guard::Chain::default().finish();
        let judgement = Judgement { ruling, steps: steps.collect(), effects: Vec::new() };
        let line =
            serde_json::to_string(&Record::of(&event, &judgement, Timestamp::UNIX_EPOCH, Duration::MAX)).unwrap();
        assert!(line.len() < 32 * 1024 && !line.contains('\n'), "{}", line.len());
    }

    #[test]
    fn a_usual_record_is_short_and_reads_back() {
        let judgement = Judgement {
            ruling: dandori_guard::Chain::default().finish(),
            steps: vec![judge::Step {
                guard: "playbook".to_owned(),
                outcome: judge::Outcome::Pass,
                message: None,
                took: Duration::from_micros(12),
            }],
            effects: Vec::new(),
        };
        let record = Record::of(&bash("cargo  test"), &judgement, Timestamp::UNIX_EPOCH, Duration::from_millis(1));
        let line = serde_json::to_string(&record).unwrap();
        assert!(line.contains(r#""steps":[["playbook","pass",12]]"#), "{line}");
        assert!(line.contains(r#""event":"pre-tool","tool":"Bash","subject":"cargo  test","verdict":"go""#), "{line}");
        assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
        let newer =
            line.replace(r#""pass""#, r#""postponed""#).replace(r#""verdict":"go""#, r#""verdict":"wait","x":1"#);
        let newer: Record = serde_json::from_str(&newer).unwrap();
        assert_eq!((newer.verdict, newer.steps[0].1), (RecordedVerdict::Unknown, Outcome::Unknown));
    }

    #[test]
    fn that_a_client_took_a_prompt_shows_by_its_session_its_id_and_its_words() {
        let judgement =
            || Judgement { ruling: dandori_guard::Chain::default().finish(), steps: Vec::new(), effects: Vec::new() };
        let record = |event: &Value, agent| {
            let event = decode(event.to_string().as_bytes(), Some(agent)).unwrap();
            Record::of(&event, &judgement(), Timestamp::UNIX_EPOCH, Duration::ZERO)
        };
        let mut hashes = Vec::new();
        for (agent, hooks) in Client::with_hooks() {
            let event = hooks.event(Moment::Prompt).unwrap();
            let mut sent = json!({ "session_id": "s1", "hook_event_name": event, "prompt": "fix the bug" });
            assert_eq!(record(&sent, agent).prompt_id, None, "not every client gives one");
            // Claude Code's word for it, and Codex'.
            for field in ["prompt_id", "turn_id"] {
                let mut with_id = sent.clone();
                with_id[field] = json!("p1");
                assert_eq!(record(&with_id, agent).prompt_id.as_deref(), Some("p1"), "{agent}");
            }
            let kept = record(&sent, agent);
            assert_eq!((kept.event.as_str(), kept.session.as_deref()), ("prompt", Some("s1")));
            hashes.push(kept.prompt_hash.unwrap());
            sent["prompt"] = json!("fix another bug");
            assert_ne!(record(&sent, agent).prompt_hash.as_ref(), hashes.last());
        }
        assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
        let tool = json!({ "session_id": "s1", "prompt_id": "p1", "hook_event_name": "PreToolUse", "tool_name": "Read",
                           "tool_input": { "file_path": "/a" } });
        let kept = record(&tool, Client::Claude);
        assert_eq!((kept.prompt_id.as_deref(), kept.prompt_hash), (Some("p1"), None));
    }

    #[test]
    fn events_nobody_knows_have_a_name_too() {
        let mut event = bash("ls");
        assert_eq!(event_name(&event), "pre-tool");
        event.kind = Kind::Other;
        for (name, want) in [("WorktreeCreate", "worktree-create"), ("", "unknown"), ("a b\n", "a-b-")] {
            event.name = name.to_owned();
            assert_eq!(event_name(&event), want);
        }
        assert_eq!(action(&event), None);
    }
}
