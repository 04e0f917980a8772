//! What a plan has to be beyond its shape: names that exist once, dependencies without a circle, limits, and every demand met.

use std::collections::{BTreeMap, BTreeSet};

use dandori_domain::plain;

use super::graph::cycle;
use super::{Body, Fault, Plan, PlanError, PlannedKind, PlannedPhase, PlannedTask};
use crate::assign::Crew;
use crate::phase::PhaseConstraints;
use crate::rules::Rules;

const LONGEST_NAME: usize = 64;

/// What a plan is checked against.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'f> {
    pub rules: &'f Rules,
    pub crew: &'f Crew,
    /// Of the order; empty: it need not say what it covers.
    pub demands: &'f [String],
}

/// Everything that is wrong with it.
pub fn check(plan: &Plan, frame: Frame<'_>) -> Vec<PlanError> {
    let mut checker = Checker { frame, wrong: Vec::new() };
    match &plan.body {
        Body::Tasks(tasks) => checker.tasks(None, tasks),
        Body::Phases(phases) => checker.phases(phases),
    }
    let count = plan.tasks().len();
    checker.count(count);
    checker.coverage(plan);
    checker.wrong
}

/// The tasks a deferred phase is filled with. A fill is written like a plan of tasks.
pub fn check_fill(plan: &Plan, phase: &PhaseConstraints, frame: Frame<'_>) -> Vec<PlanError> {
    let mut checker = Checker { frame, wrong: Vec::new() };
    let Body::Tasks(tasks) = &plan.body else {
        checker.wrong("phases", Fault::UnknownField { nearest: Some("tasks".to_owned()) });
        return checker.wrong;
    };
    checker.tasks(None, tasks);
    let most = usize::try_from(phase.max_tasks).unwrap_or(usize::MAX);
    if tasks.len() > most {
        checker.wrong("tasks", Fault::TooMany { count: tasks.len(), most });
    }
    for (i, task) in tasks.iter().enumerate().filter(|(_, t)| !phase.allowed_bloom_levels.contains(&t.bloom_level)) {
        let fault = Fault::LevelNotAllowed { level: task.bloom_level, allowed: phase.allowed_bloom_levels.clone() };
        checker.wrong(format!("tasks[{i}].bloom_level"), fault);
    }
    let covered: BTreeSet<u32> = tasks.iter().flat_map(|task| task.brief.covers.iter().copied()).collect();
    let given_up: BTreeSet<u32> = plan.left_out.iter().map(|left| left.demand).collect();
    for number in phase.covers.iter().filter(|n| !covered.contains(n) && !given_up.contains(n)) {
        checker.wrong("tasks", Fault::PromiseNotKept { number: *number });
    }
    checker.wrong
}

struct Checker<'f> {
    frame: Frame<'f>,
    wrong: Vec<PlanError>,
}

impl Checker<'_> {
    fn wrong(&mut self, path: impl Into<String>, fault: Fault) {
        self.wrong.push(PlanError { path: path.into(), fault });
    }

    fn count(&mut self, count: usize) {
        let most = self.frame.rules.tasks_per_plan;
        if count > most {
            self.wrong("tasks", Fault::TooMany { count, most });
        }
    }

    fn phases(&mut self, phases: &[PlannedPhase]) {
        if !phases.iter().any(|phase| matches!(phase.kind, PlannedKind::Concrete(_))) {
            self.wrong("phases", Fault::NoConcretePhase);
        }
        let places = self.names("phases", phases.iter().map(|phase| phase.name.as_str()));
        let mut edges = Vec::with_capacity(phases.len());
        for (i, phase) in phases.iter().enumerate() {
            let path = format!("phases[{i}]");
            match &phase.kind {
                PlannedKind::Concrete(tasks) => {
                    if !phase.depends_on.is_empty() {
                        self.wrong(format!("{path}.depends_on_phases"), Fault::ConcreteDepends);
                    }
                    self.tasks(Some(&path), tasks);
                }
                PlannedKind::Deferred(constraints) => {
                    if phase.depends_on.is_empty() {
                        self.wrong(format!("{path}.depends_on_phases"), Fault::DeferredAlone);
                    }
                    let most = self.frame.rules.tasks_per_plan;
                    let wanted = usize::try_from(constraints.max_tasks).unwrap_or(usize::MAX);
                    if wanted > most {
                        self.wrong(format!("{path}.constraints.max_tasks"), Fault::TooMany { count: wanted, most });
                    }
                }
            }
            edges.push(self.references(&format!("{path}.depends_on_phases"), i, &phase.depends_on, &places));
        }
        self.circle("phases", &edges, |i| phases.get(i).map_or("", |phase| phase.name.as_str()));
        // Results are told by name: one name, one task, also across phases.
        let mut seen = BTreeSet::new();
        for (i, phase) in phases.iter().enumerate() {
            let PlannedKind::Concrete(tasks) = &phase.kind else { continue };
            let own: BTreeSet<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
            for (j, task) in tasks.iter().enumerate().filter(|(_, task)| seen.contains(task.name.as_str())) {
                let fault = Fault::DuplicateName { name: task.name.clone() };
                self.wrong(format!("phases[{i}].tasks[{j}].name"), fault);
            }
            seen.extend(own);
        }
    }

    fn tasks(&mut self, parent: Option<&str>, tasks: &[PlannedTask]) {
        let list = parent.map_or_else(|| "tasks".to_owned(), |parent| format!("{parent}.tasks"));
        let places = self.names(&list, tasks.iter().map(|task| task.name.as_str()));
        let mut edges = Vec::with_capacity(tasks.len());
        for (i, task) in tasks.iter().enumerate() {
            let path = format!("{list}[{i}]");
            self.words(&path, task);
            edges.push(self.references(&format!("{path}.blocked_by"), i, &task.blocked_by, &places));
        }
        self.circle(&list, &edges, |i| tasks.get(i).map_or("", |task| task.name.as_str()));
    }

    fn words(&mut self, path: &str, task: &PlannedTask) {
        let brief = &task.brief;
        let most = self.frame.rules.content_bytes;
        let texts = [
            ("purpose", &brief.purpose),
            ("content", &brief.content),
            ("acceptance_criteria", &brief.acceptance_criteria),
        ];
        for (field, text) in texts.into_iter().filter(|(_, text)| text.len() > most) {
            self.wrong(format!("{path}.{field}"), Fault::TooLong { bytes: text.len(), most });
        }
        let seats = &self.frame.crew.seats;
        let missing = brief.required_capabilities.iter().enumerate();
        let missing: Vec<(usize, String)> = missing
            .filter(|(_, name)| !seats.iter().any(|seat| seat.capabilities.contains(name)))
            .map(|(i, name)| (i, name.clone()))
            .collect();
        for (i, name) in missing {
            self.wrong(format!("{path}.required_capabilities[{i}]"), Fault::NoSuchCapability { name });
        }
    }

    /// Where each name stands. Names that are missing altogether were told of when the plan was read.
    fn names<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, usize> {
        let mut places = BTreeMap::new();
        for (i, name) in names.enumerate().filter(|(_, name)| !name.is_empty()) {
            let path = format!("{list}[{i}].name");
            if name.starts_with("__") {
                self.wrong(&path, Fault::ReservedName);
            }
            if name.chars().count() > LONGEST_NAME || plain::unusable_in_line(name).is_some() {
                self.wrong(&path, Fault::BadName { most: LONGEST_NAME });
            }
            if places.contains_key(name) {
                self.wrong(&path, Fault::DuplicateName { name: name.to_owned() });
            } else {
                places.insert(name, i);
            }
        }
        places
    }

    fn references(&mut self, path: &str, own: usize, names: &[String], places: &BTreeMap<&str, usize>) -> Vec<usize> {
        let mut found = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let path = format!("{path}[{i}]");
            match places.get(name.as_str()) {
                None => self.wrong(path, Fault::UnknownName { name: name.clone() }),
                Some(place) if *place == own => self.wrong(path, Fault::Itself),
                Some(place) if found.contains(place) => self.wrong(path, Fault::ListedTwice),
                Some(place) => found.push(*place),
            }
        }
        found
    }

    fn circle<'n>(&mut self, list: &str, edges: &[Vec<usize>], name: impl Fn(usize) -> &'n str) {
        if let Some(circle) = cycle(edges) {
            let names = circle.into_iter().map(|i| name(i).to_owned()).collect();
            self.wrong(list, Fault::Cycle { names });
        }
    }

    fn coverage(&mut self, plan: &Plan) {
        let demands = self.frame.demands;
        let mut covered = BTreeSet::new();
        let mut said: Vec<(String, u32)> = Vec::new();
        match &plan.body {
            Body::Tasks(tasks) => said.extend(covers("tasks", tasks)),
            Body::Phases(phases) => {
                for (i, phase) in phases.iter().enumerate() {
                    match &phase.kind {
                        PlannedKind::Concrete(tasks) => said.extend(covers(&format!("phases[{i}].tasks"), tasks)),
                        PlannedKind::Deferred(constraints) => said.extend(
                            constraints
                                .covers
                                .iter()
                                .enumerate()
                                .map(|(j, n)| (format!("phases[{i}].covers[{j}]"), *n)),
                        ),
                    }
                }
            }
        }
        let exists = |number: u32| number >= 1 && usize::try_from(number).is_ok_and(|n| n <= demands.len());
        for (path, number) in said {
            if demands.is_empty() || exists(number) {
                covered.insert(number);
            } else {
                self.wrong(path, Fault::UnknownDemand { number, count: demands.len() });
            }
        }
        let mut left_out = BTreeSet::new();
        for (i, left) in plan.left_out.iter().enumerate() {
            let path = format!("left_out[{i}].demand");
            if !exists(left.demand) {
                self.wrong(path, Fault::UnknownDemand { number: left.demand, count: demands.len() });
            } else if covered.contains(&left.demand) {
                self.wrong(path, Fault::CoveredAndLeftOut { number: left.demand });
            } else if !left_out.insert(left.demand) {
                self.wrong(path, Fault::ListedTwice);
            }
        }
        for (number, text) in (1u32..).zip(demands) {
            if !covered.contains(&number) && !left_out.contains(&number) {
                self.wrong("plan", Fault::NotCovered { number, text: text.clone() });
            }
        }
    }
}

fn covers(list: &str, tasks: &[PlannedTask]) -> Vec<(String, u32)> {
    let each = |(i, task): (usize, &PlannedTask)| {
        let numbers = task.brief.covers.iter().enumerate();
        numbers.map(|(j, n)| (format!("{list}[{i}].covers[{j}]"), *n)).collect::<Vec<_>>()
    };
    tasks.iter().enumerate().flat_map(each).collect()
}
