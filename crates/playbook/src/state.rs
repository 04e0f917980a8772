//! `state.md`: what is being worked on, the first of the sources of truth.

use crate::edit::{self, EditError, NoSection};
use crate::lines::{Entry, Value, entries, value_of};
use crate::odd::{Odd, Wanted};

/// As much of the file as could be read. Missing keys have their defaults.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The playbook that is being worked, as a path from the repository's root.
    pub active: Option<String>,
    pub branch: Option<String>,
    pub last_archived: Option<String>,
    /// Which of several things is worked on; `active_playbooks` has a playbook for each.
    pub focus: Option<String>,
    pub active_playbooks: Vec<(String, Option<String>)>,
    pub milestone: Option<String>,
    pub phase: Option<String>,
    pub done_criteria: Vec<String>,
    pub last_start: Option<String>,
    pub last_end: Option<String>,
    /// The critic has passed what is about to be called done.
    pub self_complete: bool,
    pub security: Security,
    /// `A`, `B` or `C`: who does what, unless `roles` says otherwise.
    pub toolstack: Option<String>,
    pub roles: Roles,
    /// What could not be understood.
    pub odd: Vec<Odd>,
}

/// What a `state.md` may have, beside a playbook for each focus.
const KEYS: [&str; 15] = [
    "playbook.active",
    "playbook.branch",
    "playbook.last_archived",
    "focus",
    "goal.milestone",
    "goal.phase",
    LIST,
    "session.last_start",
    "session.last_end",
    "verification.self_complete",
    "config.security",
    "config.toolstack",
    "config.roles.orchestrator",
    "config.roles.worker",
    "config.roles.reviewer",
];
/// The one key that takes several values.
const LIST: &str = "goal.done_criteria";

/// The value as it stands in the file; `[a, b]` is a list only where one belongs.
fn written(path: &str, value: Option<&str>) -> Result<String, EditError> {
    match (path, value) {
        (LIST, Some(value)) if value.starts_with('[') && value.ends_with(']') => {
            edit::written_list(&value_of(value).list())
        }
        (LIST, Some(value)) => edit::written_list(&[value.to_owned()]),
        _ => edit::written(value),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Security {
    #[default]
    Normal,
    Admin,
}

/// Who does what.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roles {
    pub orchestrator: Option<String>,
    pub worker: Option<String>,
    pub reviewer: Option<String>,
}

impl State {
    /// What can be set, beside a playbook for each focus.
    pub fn keys() -> &'static [&'static str] {
        &KEYS
    }

    pub fn read(text: &str) -> Self {
        let mut state = Self::default();
        let found = entries(text);
        if found.is_empty() && !text.trim().is_empty() {
            state.odd.push(Odd::NoKeys);
        }
        for entry in &found {
            state.take(entry);
        }
        // An explicit null is a word: nothing is worked.
        let says_active = |e: &Entry| matches!(e.path.as_str(), "playbook.active" | "playbook.current");
        if !found.iter().any(says_active) {
            state.active = state.playbook_of_focus();
        }
        state
    }

    /// The file with one value changed, or added to its section when it is not there.
    pub fn set(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
        edit::set(text, path, &written(path, value)?, NoSection::Refuse)
    }

    /// As [`State::set`]; a section that is missing is begun when the key is one of ours.
    pub fn set_or_add(text: &str, path: &str, value: Option<&str>) -> Result<String, EditError> {
        let is_ours = KEYS.contains(&path) || path.strip_prefix("active_playbooks.").is_some_and(|n| !n.contains('.'));
        let no_section = if is_ours { NoSection::Begin } else { NoSection::Refuse };
        edit::set(text, path, &written(path, value)?, no_section)
    }

    /// The values that are understood, for a key that does not take any text.
    pub fn allowed(path: &str) -> Option<&'static [&'static str]> {
        match path {
            "verification.self_complete" => Some(&["true", "false"]),
            "config.security" => Some(&["normal", "admin"]),
            "config.toolstack" => Some(&["A", "B", "C"]),
            _ => None,
        }
    }

    /// The playbook `active_playbooks` has for the focus.
    pub fn playbook_of_focus(&self) -> Option<String> {
        let focus = self.focus.as_deref()?;
        self.active_playbooks.iter().find(|(name, _)| name == focus).and_then(|(_, playbook)| playbook.clone())
    }

    fn take(&mut self, entry: &Entry) {
        let text = || entry.value.text().map(str::to_owned);
        match entry.path.as_str() {
            "playbook.active" | "playbook.current" => self.active = text(),
            "playbook.branch" => self.branch = text(),
            "playbook.last_archived" => self.last_archived = text(),
            "focus" | "focus.current" => self.focus = text(),
            "goal.milestone" => self.milestone = text(),
            "goal.phase" => self.phase = text(),
            "goal.done_criteria" => self.done_criteria = entry.value.list(),
            "session.last_start" | "session_tracking.last_start" => self.last_start = text(),
            "session.last_end" | "session_tracking.last_end" => self.last_end = text(),
            "verification.self_complete" => match (entry.value.flag(), &entry.value) {
                (Some(flag), _) => self.self_complete = flag,
                (None, Value::Null) => {}
                (None, _) => self.find_odd(entry, Wanted::Flag),
            },
            "config.security" => match entry.value.text() {
                Some("admin") => self.security = Security::Admin,
                Some("normal") | None => {}
                Some(_) => self.find_odd(entry, Wanted::Security),
            },
            "config.toolstack" => match entry.value.text() {
                Some(stack @ ("A" | "B" | "C")) => self.toolstack = Some(stack.to_owned()),
                None => {}
                Some(_) => self.find_odd(entry, Wanted::Toolstack),
            },
            "config.roles.orchestrator" => self.roles.orchestrator = text(),
            "config.roles.worker" => self.roles.worker = text(),
            "config.roles.reviewer" => self.roles.reviewer = text(),
            other => {
                if let Some(name) = other.strip_prefix("active_playbooks.") {
                    self.active_playbooks.push((name.to_owned(), text()));
                }
            }
        }
    }

    fn find_odd(&mut self, entry: &Entry, wanted: Wanted) {
        let found = entry.value.text().unwrap_or_default().to_owned();
        self.odd.push(Odd::Value { key: entry.path.clone(), found, wanted });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_template;

    #[test]
    fn every_key_of_the_document_is_read() {
        let text = "---\nfocus: workspace\nactive_playbooks:\n  workspace: plan/playbook-w.md\n  setup: null\n\
                    goal:\n  milestone: M1\n  phase: p2\n  done_criteria:\n    - it works\nsession_tracking:\n  last_start: 2026-01-01\n\
                    verification:\n  self_complete: true\nconfig:\n  security: admin\n  toolstack: B\n  roles:\n    worker: codex\n---\n";
        let state = State::read(text);
        assert_eq!(state.active.as_deref(), Some("plan/playbook-w.md"), "by the focus");
        assert_eq!((state.milestone.as_deref(), state.phase.as_deref()), (Some("M1"), Some("p2")));
        assert_eq!(state.done_criteria, ["it works"]);
        assert_eq!(state.last_start.as_deref(), Some("2026-01-01"));
        assert!(state.self_complete);
        assert_eq!((state.security, state.toolstack.as_deref()), (Security::Admin, Some("B")));
        assert_eq!(state.roles.worker.as_deref(), Some("codex"));
        assert_eq!(state.odd, []);
    }

    #[test]
    fn an_explicit_null_is_not_overridden_by_the_focus() {
        let listed = "focus: a\nactive_playbooks:\n  a: plan/playbook-a.md\n";
        for none in ["active: null", "active:", "active: ~", "current: null"] {
            let state = State::read(&format!("---\n{listed}playbook:\n  {none}\n---\n"));
            assert_eq!(state.active, None, "{none}");
        }
        let absent = State::read(&format!("---\n{listed}playbook:\n  branch: b\n---\n"));
        assert_eq!(absent.active.as_deref(), Some("plan/playbook-a.md"));
    }

    #[test]
    fn what_is_not_understood_is_named_and_has_its_default() {
        let state = State::read("---\nverification:\n  self_complete: perhaps\nconfig:\n  security: root\n---\n");
        assert!(!state.self_complete);
        assert_eq!(state.security, Security::Normal);
        assert_eq!(state.odd.len(), 2, "{:?}", state.odd);
        assert_eq!(State::read("# just prose\n").odd.len(), 1);
        assert_eq!(State::read("").odd.len(), 0, "an empty file is a new one");
    }

    #[test]
    fn the_template_is_read_without_a_word() {
        for japanese in [false, true] {
            let state = State::read(&state_template(japanese));
            assert_eq!((state.active, state.odd), (None, Vec::new()));
        }
    }
}
