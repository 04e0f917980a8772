//! What is worth saying about a plan that is not wrong: paths two would write at the same time, and work one agent would do better.

use serde::{Deserialize, Serialize};

use super::{Body, Plan, PlannedKind, PlannedTask, depth};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "advice", rename_all = "snake_case")]
pub enum Advice {
    /// Both may be worked on at the same time.
    Overlap { tasks: [String; 2], paths: [String; 2] },
    /// Nothing of it can be done side by side: a plain run is cheaper and quicker.
    OneAgentIsBetter { why: Alone },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alone {
    OneTask,
    Chain,
}

pub fn advise(plan: &Plan) -> Vec<Advice> {
    let mut advice: Vec<Advice> = alone(plan).map(|why| Advice::OneAgentIsBetter { why }).into_iter().collect();
    // Concrete phases start together, so their tasks are as parallel as those of one phase.
    let groups: Vec<&[PlannedTask]> = match &plan.body {
        Body::Tasks(tasks) => vec![tasks.as_slice()],
        Body::Phases(phases) => phases.iter().filter_map(|p| concrete(&p.kind)).collect(),
    };
    for (i, group) in groups.iter().enumerate() {
        let before = ancestors(group);
        for (a, task) in group.iter().enumerate() {
            for (b, other) in group.iter().enumerate().skip(a + 1) {
                let is_ordered = before.get(a).is_some_and(|set| set.contains(&b))
                    || before.get(b).is_some_and(|set| set.contains(&a));
                if !is_ordered {
                    advice.extend(overlap(task, other));
                }
            }
            for other in groups.iter().skip(i + 1).flat_map(|group| group.iter()) {
                advice.extend(overlap(task, other));
            }
        }
    }
    advice
}

fn concrete(kind: &PlannedKind) -> Option<&[PlannedTask]> {
    match kind {
        PlannedKind::Concrete(tasks) => Some(tasks),
        PlannedKind::Deferred(_) => None,
    }
}

fn alone(plan: &Plan) -> Option<Alone> {
    let tasks = match &plan.body {
        Body::Tasks(tasks) => tasks.as_slice(),
        // What a deferred phase will hold is not known.
        Body::Phases(phases) => match phases.as_slice() {
            [only] => concrete(&only.kind)?,
            _ => return None,
        },
    };
    match tasks.len() {
        0 => None,
        1 => Some(Alone::OneTask),
        count => (depth(&edges(tasks)) == count).then_some(Alone::Chain),
    }
}

fn edges(tasks: &[PlannedTask]) -> Vec<Vec<usize>> {
    let place = |name: &String| tasks.iter().position(|task| task.name == *name);
    tasks.iter().map(|task| task.blocked_by.iter().filter_map(place).collect()).collect()
}

/// For each task everything that has to be done before it.
fn ancestors(tasks: &[PlannedTask]) -> Vec<std::collections::BTreeSet<usize>> {
    let edges = edges(tasks);
    let all_before = |start: usize| {
        let mut found = std::collections::BTreeSet::new();
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for next in edges.get(at).map(Vec::as_slice).unwrap_or_default() {
                if found.insert(*next) {
                    open.push(*next);
                }
            }
        }
        found
    };
    (0..tasks.len()).map(all_before).collect()
}

fn overlap(a: &PlannedTask, b: &PlannedTask) -> Option<Advice> {
    let pairs = a.brief.expected_paths.iter().flat_map(|x| b.brief.expected_paths.iter().map(move |y| (x, y)));
    let (x, y) = pairs.into_iter().find(|(x, y)| touch(x, y))?;
    Some(Advice::Overlap { tasks: [a.name.clone(), b.name.clone()], paths: [x.clone(), y.clone()] })
}

/// One of them is within the other. What stands behind a `*` may be anything.
fn touch(a: &str, b: &str) -> bool {
    let fixed = |path: &str| {
        let path = path.trim_start_matches("./");
        let end = path.find(['*', '?', '[']).unwrap_or(path.len());
        (path.get(..end).unwrap_or_default().trim_end_matches('/').to_owned(), end < path.len())
    };
    let ((a, a_is_open), (b, b_is_open)) = (fixed(a), fixed(b));
    let within = |inner: &str, outer: &str, is_open: bool| {
        inner == outer
            || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/') || is_open || outer.is_empty())
    };
    within(&a, &b, b_is_open) || within(&b, &a, a_is_open)
}
