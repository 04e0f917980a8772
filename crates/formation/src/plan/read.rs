//! From YAML to a plan. What has the wrong shape is named with its path, and reading goes on behind it.

use serde_json::{Map, Value};

use super::{Body, Expected, Fault, LeftOut, Plan, PlanError, PlannedKind, PlannedPhase, PlannedTask};
use crate::phase::PhaseConstraints;
use crate::task::Brief;

const PLAN_FIELDS: &[&str] = &["tasks", "phases", "left_out"];
const TASK_FIELDS: &[&str] = &[
    "name",
    "purpose",
    "content",
    "acceptance_criteria",
    "constraints",
    "blocked_by",
    "bloom_level",
    "required",
    "tools_hint",
    "persona_hint",
    "skill_refs",
    "expected_paths",
    "required_capabilities",
    "preferred_capabilities",
    "covers",
];
const PHASE_FIELDS: &[&str] = &["name", "type", "tasks", "depends_on_phases", "constraints", "covers"];
const CONSTRAINT_FIELDS: &[&str] = &["max_tasks", "allowed_bloom_levels", "timeout_minutes"];
const LEFT_OUT_FIELDS: &[&str] = &["demand", "reason"];

const ALL_LEVELS: [u8; 6] = [1, 2, 3, 4, 5, 6];
const DEFAULT_TIMEOUT_MINUTES: u32 = 60;
const DEFAULT_LEVEL: u8 = 3;

/// The plan, and everything that is wrong with its shape. A plan that comes with problems is only there to find more of them.
pub fn read(yaml: &str) -> (Option<Plan>, Vec<PlanError>) {
    let mut reader = Reader::default();
    let value: Value = match serde_saphyr::from_str(yaml) {
        Ok(value) => value,
        Err(error) => {
            let reason = error.to_string().lines().next().unwrap_or_default().to_owned();
            reader.wrong("plan", Fault::NotYaml { reason });
            return (None, reader.wrong);
        }
    };
    let plan = reader.plan(&value);
    (plan, reader.wrong)
}

#[derive(Default)]
struct Reader {
    wrong: Vec<PlanError>,
}

impl Reader {
    fn wrong(&mut self, path: impl Into<String>, fault: Fault) {
        self.wrong.push(PlanError { path: path.into(), fault });
    }

    fn plan(&mut self, value: &Value) -> Option<Plan> {
        let map = self.mapping("plan", value)?;
        self.known(None, map, PLAN_FIELDS);
        let left_out = self.list(map, None, "left_out", Self::left_out);
        let body = match (present(map, "tasks"), present(map, "phases")) {
            (Some(_), Some(_)) => {
                self.wrong("plan", Fault::BothBodies);
                return None;
            }
            (None, None) => {
                self.wrong("plan", Fault::NoBody);
                return None;
            }
            (Some(_), None) => Body::Tasks(self.tasks(map, None)),
            (None, Some(_)) => {
                let phases = self.list(map, None, "phases", Self::phase);
                if phases.is_empty() && !self.wrong.iter().any(|wrong| wrong.path.starts_with("phases")) {
                    self.wrong("phases", Fault::Empty);
                }
                Body::Phases(phases)
            }
        };
        Some(Plan { body, left_out })
    }

    fn tasks(&mut self, map: &Map<String, Value>, parent: Option<&str>) -> Vec<PlannedTask> {
        let before = self.wrong.len();
        let tasks = self.list(map, parent, "tasks", Self::task);
        if tasks.is_empty() && self.wrong.len() == before {
            let fault = if present(map, "tasks").is_some() { Fault::Empty } else { Fault::Missing };
            self.wrong(join(parent, "tasks"), fault);
        }
        tasks
    }

    fn left_out(&mut self, path: &str, value: &Value) -> Option<LeftOut> {
        let map = self.mapping(path, value)?;
        self.known(Some(path), map, LEFT_OUT_FIELDS);
        let demand = self.number(map, path, "demand");
        let reason = self.text(map, path, "reason");
        Some(LeftOut { demand: demand.and_then(|n| u32::try_from(n).ok()).unwrap_or(0), reason: reason? })
    }

    fn phase(&mut self, path: &str, value: &Value) -> Option<PlannedPhase> {
        let map = self.mapping(path, value)?;
        self.known(Some(path), map, PHASE_FIELDS);
        let name = self.text(map, path, "name").unwrap_or_default();
        let depends_on = self.texts(map, path, "depends_on_phases");
        let covers = self.numbers(map, path, "covers");
        let kind = match self.text(map, path, "type").as_deref() {
            Some("concrete") => PlannedKind::Concrete(self.tasks(map, Some(path))),
            Some("deferred") => {
                if present(map, "tasks").is_some_and(|tasks| tasks.as_array().is_none_or(|list| !list.is_empty())) {
                    self.wrong(join(Some(path), "tasks"), Fault::DeferredWithTasks);
                }
                PlannedKind::Deferred(self.constraints(map, path, covers)?)
            }
            Some(_) => {
                let allowed = vec!["concrete".to_owned(), "deferred".to_owned()];
                self.wrong(join(Some(path), "type"), Fault::NotOneOf { allowed });
                return None;
            }
            None => return None,
        };
        Some(PlannedPhase { name, kind, depends_on })
    }

    fn constraints(&mut self, map: &Map<String, Value>, parent: &str, covers: Vec<u32>) -> Option<PhaseConstraints> {
        let path = join(Some(parent), "constraints");
        let Some(value) = present(map, "constraints") else {
            self.wrong(path, Fault::Missing);
            return None;
        };
        let map = self.mapping(&path, value)?;
        self.known(Some(&path), map, CONSTRAINT_FIELDS);
        let max_tasks = self.positive(map, &path, "max_tasks");
        let timeout = present(map, "timeout_minutes").map(|_| self.positive(map, &path, "timeout_minutes"));
        let allowed = match present(map, "allowed_bloom_levels") {
            None => ALL_LEVELS.to_vec(),
            Some(_) => {
                let levels = self.numbers(map, &path, "allowed_bloom_levels");
                let at = |i: usize| format!("{path}.allowed_bloom_levels[{i}]");
                let levels: Vec<u8> =
                    levels.iter().enumerate().filter_map(|(i, level)| self.level(&at(i), i64::from(*level))).collect();
                if levels.is_empty() && !self.wrong.iter().any(|wrong| wrong.path.starts_with(&path)) {
                    self.wrong(format!("{path}.allowed_bloom_levels"), Fault::Empty);
                }
                levels
            }
        };
        Some(PhaseConstraints {
            max_tasks: max_tasks?,
            allowed_bloom_levels: allowed,
            timeout_minutes: timeout.unwrap_or(Some(DEFAULT_TIMEOUT_MINUTES))?,
            covers,
        })
    }

    fn task(&mut self, path: &str, value: &Value) -> Option<PlannedTask> {
        let map = self.mapping(path, value)?;
        self.known(Some(path), map, TASK_FIELDS);
        let name = self.text(map, path, "name").unwrap_or_default();
        let bloom_level = match present(map, "bloom_level") {
            None => Some(DEFAULT_LEVEL),
            Some(_) => {
                let level = self.number(map, path, "bloom_level");
                level.and_then(|level| self.level(&join(Some(path), "bloom_level"), level))
            }
        };
        let required = match present(map, "required") {
            None => true,
            Some(Value::Bool(is_so)) => *is_so,
            Some(other) => {
                self.wrong_type(&join(Some(path), "required"), Expected::YesOrNo, other);
                true
            }
        };
        let brief = Brief {
            purpose: self.text(map, path, "purpose").unwrap_or_default(),
            content: self.text(map, path, "content").unwrap_or_default(),
            acceptance_criteria: self.text(map, path, "acceptance_criteria").unwrap_or_default(),
            constraints: self.texts(map, path, "constraints"),
            tools_hint: self.texts(map, path, "tools_hint"),
            persona_hint: present(map, "persona_hint").and_then(|_| self.text(map, path, "persona_hint")),
            skill_refs: self.texts(map, path, "skill_refs"),
            expected_paths: self.texts(map, path, "expected_paths"),
            required_capabilities: self.texts(map, path, "required_capabilities"),
            preferred_capabilities: self.texts(map, path, "preferred_capabilities"),
            covers: self.numbers(map, path, "covers"),
        };
        let blocked_by = self.texts(map, path, "blocked_by");
        Some(PlannedTask { name, brief, blocked_by, bloom_level: bloom_level.unwrap_or(DEFAULT_LEVEL), required })
    }

    fn level(&mut self, path: &str, level: i64) -> Option<u8> {
        let found = u8::try_from(level).ok().filter(|level| ALL_LEVELS.contains(level));
        if found.is_none() {
            self.wrong(path, Fault::OutOfRange { value: level, least: 1, most: 6 });
        }
        found
    }

    fn mapping<'v>(&mut self, path: &str, value: &'v Value) -> Option<&'v Map<String, Value>> {
        if value.as_object().is_none() {
            self.wrong_type(path, Expected::Mapping, value);
        }
        value.as_object()
    }

    fn list<T>(
        &mut self,
        map: &Map<String, Value>,
        parent: Option<&str>,
        field: &str,
        mut each: impl FnMut(&mut Self, &str, &Value) -> Option<T>,
    ) -> Vec<T> {
        let path = join(parent, field);
        match present(map, field) {
            None => Vec::new(),
            Some(Value::Array(items)) => {
                let items = items.iter().enumerate();
                items.filter_map(|(i, item)| each(self, &format!("{path}[{i}]"), item)).collect()
            }
            Some(other) => {
                self.wrong_type(&path, Expected::List, other);
                Vec::new()
            }
        }
    }

    /// A field that has to be there.
    fn text(&mut self, map: &Map<String, Value>, parent: &str, field: &str) -> Option<String> {
        let path = join(Some(parent), field);
        match present(map, field) {
            None => self.wrong(path, Fault::Missing),
            Some(Value::String(text)) if text.trim().is_empty() => self.wrong(path, Fault::Empty),
            Some(Value::String(text)) => return Some(text.clone()),
            Some(other) => self.wrong_type(&path, Expected::Text, other),
        }
        None
    }

    fn texts(&mut self, map: &Map<String, Value>, parent: &str, field: &str) -> Vec<String> {
        self.list(map, Some(parent), field, |reader, path, value| {
            if value.as_str().is_none() {
                reader.wrong_type(path, Expected::Text, value);
            }
            value.as_str().map(str::to_owned)
        })
    }

    fn number(&mut self, map: &Map<String, Value>, parent: &str, field: &str) -> Option<i64> {
        let path = join(Some(parent), field);
        match present(map, field) {
            None => self.wrong(path, Fault::Missing),
            Some(value) => match value.as_i64() {
                Some(number) => return Some(number),
                None => self.wrong_type(&path, Expected::Number, value),
            },
        }
        None
    }

    fn positive(&mut self, map: &Map<String, Value>, parent: &str, field: &str) -> Option<u32> {
        let number = self.number(map, parent, field)?;
        let found = u32::try_from(number).ok().filter(|n| *n > 0);
        if found.is_none() {
            self.wrong(join(Some(parent), field), Fault::NotPositive);
        }
        found
    }

    fn numbers(&mut self, map: &Map<String, Value>, parent: &str, field: &str) -> Vec<u32> {
        self.list(map, Some(parent), field, |reader, path, value| {
            let found = value.as_i64().and_then(|n| u32::try_from(n).ok());
            if found.is_none() {
                reader.wrong_type(path, Expected::Number, value);
            }
            found
        })
    }

    fn known(&mut self, parent: Option<&str>, map: &Map<String, Value>, fields: &[&str]) {
        for key in map.keys().filter(|key| !fields.contains(&key.as_str())) {
            let near = fields.iter().map(|field| (strsim::damerau_levenshtein(key, field), field));
            let nearest = near.min().filter(|(distance, _)| *distance <= 3).map(|(_, field)| (*field).to_owned());
            self.wrong(join(parent, key), Fault::UnknownField { nearest });
        }
    }

    fn wrong_type(&mut self, path: &str, expected: Expected, found: &Value) {
        let found = match found {
            Value::Null => "empty".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => format!("the number {number}"),
            Value::String(_) => "text".to_owned(),
            Value::Array(_) => "a list".to_owned(),
            Value::Object(_) => "a mapping".to_owned(),
        };
        self.wrong(path, Fault::WrongType { expected, found });
    }
}

/// A field that is there and not empty: `tasks:` alone is as good as none.
fn present<'v>(map: &'v Map<String, Value>, field: &str) -> Option<&'v Value> {
    map.get(field).filter(|value| !value.is_null())
}

fn join(parent: Option<&str>, field: &str) -> String {
    parent.map_or_else(|| field.to_owned(), |parent| format!("{parent}.{field}"))
}
