//! A playbook: a plan as a reviewed document, with phases, their subtasks and how each was validated.
//!
//! A phase begins at a heading (`## p1: title`, `## Phase 1: title`, `## フェーズ 1: …`) or at a list item `- id: p1`. Its
//! keys stand below it, as bullets or as yaml; its subtasks are a check list.

use crate::edit::{self, EditError, NoSection};
use crate::lines::{Value, entries, heading_of, key_and_value, prose, readable, value_of, without_comment};
use crate::odd::Odd;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Playbook {
    pub name: Option<String>,
    pub branch: Option<String>,
    /// Somebody other than its author has looked at it and let it pass.
    pub reviewed: bool,
    pub executor: Option<String>,
    /// Which files it is about, as globs; empty is everything.
    pub scope: Vec<String>,
    pub phases: Vec<Phase>,
    /// What could not be understood.
    pub odd: Vec<Odd>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Phase {
    pub id: String,
    pub title: String,
    pub status: PhaseStatus,
    pub depends_on: Vec<String>,
    pub executor: Option<String>,
    pub done_criteria: Vec<String>,
    /// Criteria that are no list items.
    pub loose_criteria: bool,
    pub subtasks: Vec<Subtask>,
    /// Where it begins, from 0.
    pub line: usize,
    status_line: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PhaseStatus {
    #[default]
    Pending,
    InProgress,
    Done,
}

impl PhaseStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Done => "done",
        }
    }

    /// As people write it, in either language.
    pub fn of(text: &str) -> Option<Self> {
        Some(match text.to_lowercase().replace(['-', ' '], "_").as_str() {
            "pending" | "todo" | "not_started" | "未着手" | "保留" => Self::Pending,
            "in_progress" | "active" | "doing" | "started" | "進行中" | "作業中" => Self::InProgress,
            "done" | "completed" | "complete" | "finished" | "完了" => Self::Done,
            _ => return None,
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Subtask {
    pub text: String,
    pub is_done: bool,
    pub kind: ValidationKind,
    pub validations: Vec<Validation>,
    /// Where it stands, from 0.
    pub line: usize,
}

/// Who can tell that a subtask is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ValidationKind {
    #[default]
    Automated,
    Manual,
    Hybrid,
}

/// One of the three looks at a finished subtask.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Validation {
    /// `technical`, `consistency` or `completeness`
    pub name: String,
    /// What shows it; `None` while it is still owed.
    pub evidence: Option<String>,
}

pub(crate) const VALIDATIONS: [(&str, &str); 3] =
    [("technical", "技術"), ("consistency", "整合"), ("completeness", "完全")];

impl Subtask {
    /// Ticked, with evidence for all three validations.
    pub fn is_proven(&self) -> bool {
        self.is_done && self.missing().is_empty()
    }

    /// Which of the three validations have no evidence yet.
    pub fn missing(&self) -> Vec<&'static str> {
        let has = |name: &str| self.validations.iter().any(|v| v.name == name && v.evidence.is_some());
        VALIDATIONS.into_iter().map(|(name, _)| name).filter(|name| !has(name)).collect()
    }
}

impl Playbook {
    pub fn read(text: &str) -> Self {
        let mut playbook = Self::default();
        for entry in entries(text) {
            let value = || entry.value.text().map(str::to_owned);
            match entry.path.strip_prefix("meta.").unwrap_or(&entry.path) {
                "name" | "title" if playbook.name.is_none() => playbook.name = value(),
                "branch" => playbook.branch = value(),
                "reviewed" => match (entry.value.flag(), &entry.value) {
                    (Some(flag), _) => playbook.reviewed = flag,
                    (None, Value::Null) => {}
                    (None, _) => playbook.odd.push(Odd::Reviewed),
                },
                "executor" => playbook.executor = value(),
                "scope" => playbook.scope = entry.value.list(),
                _ => {}
            }
        }
        playbook.name = playbook.name.or_else(|| {
            prose(text)
                .find_map(|(_, line)| line.starts_with("# ").then(|| heading_of(line)).flatten().map(str::to_owned))
        });
        playbook.read_phases(text);
        playbook
    }

    pub fn phase(&self, id: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.id == id)
    }

    /// The phase that is being worked: the first that is in progress.
    pub fn current(&self) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.status == PhaseStatus::InProgress)
    }

    pub fn is_done(&self) -> bool {
        !self.phases.is_empty() && self.phases.iter().all(|phase| phase.status == PhaseStatus::Done)
    }

    /// What a phase waits for.
    pub fn unfinished_before<'p>(&self, phase: &'p Phase) -> Vec<&'p str> {
        let is_done = |id: &str| self.phase(id).is_some_and(|p| p.status == PhaseStatus::Done);
        phase.depends_on.iter().map(String::as_str).filter(|id| !is_done(id)).collect()
    }

    /// The file with a phase's status changed.
    pub fn set_status(text: &str, id: &str, status: PhaseStatus) -> Result<String, EditError> {
        let playbook = Self::read(text);
        let nowhere = || EditError::NoPlace { path: format!("{id}.status"), section: id.to_owned() };
        let line = playbook.phase(id).and_then(|phase| phase.status_line).ok_or_else(nowhere)?;
        let edited = edit::with_line(text, line, |line| edit::replaced(line, status.as_str()));
        let is_read = Self::read(&edited).phase(id).is_some_and(|phase| phase.status == status);
        if is_read { Ok(edited) } else { Err(nowhere()) }
    }

    pub fn set_reviewed(text: &str, reviewed: bool) -> Result<String, EditError> {
        let value = if reviewed { "true" } else { "false" };
        let path = if entries(text).iter().any(|e| e.path == "meta.reviewed") { "meta.reviewed" } else { "reviewed" };
        let edited = edit::set(text, path, value, NoSection::Refuse)?;
        // A file may say it in two places.
        let is_read = Self::read(&edited).reviewed == reviewed;
        if is_read { Ok(edited) } else { Err(EditError::NotAValue { path: path.to_owned() }) }
    }

    /// The file with a subtask ticked, or not; `line` is [`Subtask::line`].
    pub fn tick(text: &str, line: usize, done: bool) -> Result<String, EditError> {
        let is_there = |text: &str, is_so: &dyn Fn(&Subtask) -> bool| {
            Self::read(text)
                .phases
                .iter()
                .flat_map(|p| &p.subtasks)
                .any(|subtask| subtask.line == line && is_so(subtask))
        };
        let nowhere = || EditError::NoPlace { path: format!("line {}", line + 1), section: "subtasks".to_owned() };
        if !is_there(text, &|_| true) {
            return Err(nowhere());
        }
        let (from, to) = if done { ("[ ]", "[x]") } else { ("[x]", "[ ]") };
        let edited = edit::with_line(text, line, |line| line.replacen("[X]", "[x]", 1).replacen(from, to, 1));
        if is_there(&edited, &|subtask| subtask.is_done == done) { Ok(edited) } else { Err(nowhere()) }
    }

    fn read_phases(&mut self, text: &str) {
        // The last key that takes list items below it, with its indentation.
        let mut taking: Option<(Takes, usize)> = None;
        let mut is_inside = false;
        for (number, line, is_prose) in readable(text) {
            let words = line.trim_start();
            let indent = line.len() - words.len();
            let heading = if is_prose { heading_of(line) } else { None };
            if let Some((id, title)) = heading.map_or_else(|| phase_item(line), phase_heading) {
                self.phases.push(Phase { id, title, line: number, ..Phase::default() });
                (taking, is_inside) = (None, true);
                continue;
            }
            if heading.is_some() {
                // Another chapter of the same height: what it lists is not the phase's.
                is_inside = is_inside && line.starts_with("###");
                taking = None;
                continue;
            }
            let Some(phase) = self.phases.last_mut().filter(|_| is_inside) else { continue };
            if let Some((is_done, text)) = check_box(words) {
                phase.subtasks.push(Subtask { text, is_done, line: number, ..Subtask::default() });
                taking = None;
                continue;
            }
            let bullet = words.strip_prefix("- ").or_else(|| words.strip_prefix("* "));
            let bare = without_comment(bullet.unwrap_or(words));
            if let Some((key, value)) = key_and_value(bare)
                && !matches!(taking, Some((Takes::Criteria, at)) if bullet.is_some() && indent > at)
            {
                taking = phase.take(key, value, number).map(|takes| (takes, indent));
                continue;
            }
            match (bullet, &taking) {
                (Some(item), Some((Takes::Criteria, _))) => phase.done_criteria.push(item.trim().to_owned()),
                (Some(item), Some((Takes::Dependencies, _))) => phase.depends_on.push(item.trim().to_owned()),
                (None, Some((Takes::Criteria, _))) if !words.is_empty() => {
                    phase.done_criteria.push(words.to_owned());
                    phase.loose_criteria = true;
                }
                _ => {}
            }
        }
        self.name_odd_statuses(text);
    }

    fn name_odd_statuses(&mut self, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        for phase in &self.phases {
            let Some(line) = phase.status_line.and_then(|number| lines.get(number)) else { continue };
            let value = key_and_value(without_comment(line.trim_start().trim_start_matches(['-', '*', ' '])));
            let said = value.map(|(_, value)| value).unwrap_or_default();
            if !said.is_empty() && PhaseStatus::of(crate::lines::unquoted(said)).is_none() {
                self.odd.push(Odd::Status { phase: phase.id.clone(), found: said.to_owned() });
            }
        }
    }
}

/// What the list below a key is.
enum Takes {
    Criteria,
    Dependencies,
}

impl Phase {
    /// One key of the phase, or of its newest subtask. Answers what the items below it are.
    fn take(&mut self, key: &str, value: &str, line: usize) -> Option<Takes> {
        let text = value_of(value);
        match key {
            "status" | "state" | "状態" => {
                self.status = text.text().and_then(PhaseStatus::of).unwrap_or_default();
                self.status_line = Some(line);
            }
            "depends_on" | "depends" | "依存" => {
                self.depends_on = text.list();
                return Some(Takes::Dependencies);
            }
            "executor" | "担当" => self.executor = text.text().map(str::to_owned),
            "name" | "title" if self.title.is_empty() => value.clone_into(&mut self.title),
            "done_criteria" | "done_when" | "完了条件" => {
                self.loose_criteria = text.text().is_some();
                self.done_criteria = text.list();
                return Some(Takes::Criteria);
            }
            "validation" | "validation_type" | "検証" => {
                if let Some(subtask) = self.subtasks.last_mut() {
                    subtask.kind = match text.text() {
                        Some("manual" | "手動") => ValidationKind::Manual,
                        Some("hybrid" | "併用") => ValidationKind::Hybrid,
                        _ => ValidationKind::Automated,
                    };
                }
            }
            other => {
                let known = VALIDATIONS.into_iter().find(|(name, ja)| other == *name || other.starts_with(ja));
                if let (Some((name, _)), Some(subtask)) = (known, self.subtasks.last_mut()) {
                    subtask.validations.push(Validation { name: name.to_owned(), evidence: evidence(&text) });
                }
            }
        }
        None
    }
}

/// What is only a placeholder shows nothing.
fn evidence(value: &Value) -> Option<String> {
    const OWED: [&str; 18] = [
        "todo",
        "tbd",
        "pending",
        "fail",
        "…",
        "...",
        "未",
        "未検証",
        "-",
        "--",
        "—",
        "n/a",
        "na",
        "none",
        "x",
        "なし",
        "無し",
        "?",
    ];
    let text = value.text()?.trim();
    let lower = text.to_lowercase();
    let is_owed = OWED.contains(&lower.as_str()) || OWED.contains(&lower.trim_end_matches(['.', '。']));
    (!text.is_empty() && !is_owed).then(|| text.to_owned())
}

/// `- [ ] text` or `- [x] text`
fn check_box(words: &str) -> Option<(bool, String)> {
    let rest = words.strip_prefix("- ").or_else(|| words.strip_prefix("* "))?.trim_start();
    let (mark, text) = rest.strip_prefix('[')?.split_once(']')?;
    let is_done = match mark {
        " " | "" => false,
        "x" | "X" => true,
        _ => return None,
    };
    Some((is_done, text.trim().to_owned()))
}

fn phase_heading(words: &str) -> Option<(String, String)> {
    let (id, title) = words.split_once([':', '：']).map_or((words, ""), |(id, title)| (id.trim(), title.trim()));
    phase_id(id).map(|id| (id, title.to_owned()))
}

/// `- id: p1` of a yaml list.
fn phase_item(line: &str) -> Option<(String, String)> {
    let item = without_comment(line).trim_start().strip_prefix("- ")?;
    let (key, value) = key_and_value(item)?;
    (key == "id" && !value.is_empty()).then(|| (crate::lines::unquoted(value).to_owned(), String::new()))
}

/// `p1`, `p_final`, `Phase 2`, `フェーズ 3`
fn phase_id(words: &str) -> Option<String> {
    let lower = words.to_lowercase();
    for word in ["phase", "フェーズ"] {
        if let Some(rest) = lower.strip_prefix(word) {
            let rest = rest.trim().trim_start_matches('_');
            let is_id = !rest.is_empty() && !rest.contains(char::is_whitespace);
            return is_id.then(|| {
                if rest.starts_with(|c: char| c.is_ascii_digit()) { format!("p{rest}") } else { rest.to_owned() }
            });
        }
    }
    let rest = lower.strip_prefix('p')?;
    let is_id = rest.starts_with(|c: char| c.is_ascii_digit() || c == '_') && !rest.contains(char::is_whitespace);
    is_id.then(|| words.to_owned())
}

#[cfg(test)]
mod tests;
