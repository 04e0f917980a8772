//! A plan as a Mermaid flowchart: a subgraph per phase, a class per state.

use std::collections::BTreeMap;
use std::fmt::Write;

use dandori_api::formation::{PlanTaskView, PlanView, TaskStage};
use dandori_domain::plain::plain_line;
use dandori_domain::{PhaseId, TaskId};

use super::graph::{current, not_planned};
use super::stage;
use crate::Lang;

pub fn plan(lang: Lang, plan: &PlanView) -> String {
    let tasks: BTreeMap<TaskId, usize> = current(plan).zip(1..).map(|(task, n)| (task.id, n)).collect();
    let phases: BTreeMap<PhaseId, usize> = plan.command.phases.iter().zip(1..).map(|(p, n)| (p.id, n)).collect();
    let mut text = "flowchart TD\n".to_owned();
    for (phase, n) in plan.command.phases.iter().zip(1..) {
        let title = format!("{} ({})", phase.name, stage::phase(lang, phase.state));
        let _ = writeln!(text, "  subgraph p{n}[\"{}\"]", escaped(&title));
        let own: Vec<&PlanTaskView> = current(plan).filter(|task| task.phase == Some(phase.id)).collect();
        if own.is_empty() {
            let _ = writeln!(text, "    p{n}_empty[\"{}\"]:::planned", escaped(&not_planned(lang, phase)));
        }
        for task in own {
            node(lang, &mut text, "    ", task, &tasks);
        }
        text.push_str("  end\n");
    }
    for task in current(plan).filter(|task| task.phase.is_none()) {
        node(lang, &mut text, "  ", task, &tasks);
    }
    for phase in &plan.command.phases {
        for before in &phase.depends_on {
            if let (Some(from), Some(to)) = (phases.get(before), phases.get(&phase.id)) {
                let _ = writeln!(text, "  p{from} --> p{to}");
            }
        }
    }
    for task in current(plan) {
        // The commit step waits for everything: an arrow from each phase says it.
        if let (None, Some(to)) = (task.worker, tasks.get(&task.id))
            && !phases.is_empty()
        {
            for from in phases.values() {
                let _ = writeln!(text, "  p{from} --> t{to}");
            }
            continue;
        }
        for before in &task.blocked_by {
            if let (Some(from), Some(to)) = (tasks.get(before), tasks.get(&task.id)) {
                let _ = writeln!(text, "  t{from} --> t{to}");
            }
        }
    }
    for stage in TaskStage::ALL {
        let _ = writeln!(text, "  classDef {} {}", stage.as_str(), colours(*stage));
    }
    text
}

fn node(lang: Lang, text: &mut String, indent: &str, task: &PlanTaskView, numbers: &BTreeMap<TaskId, usize>) {
    let Some(n) = numbers.get(&task.id) else { return };
    let who = task.worker.map_or_else(|| "dandori".to_owned(), |worker| worker.to_string());
    let (name, state) = (escaped(&task.name), escaped(stage::task(lang, task.state)));
    let _ = writeln!(text, "{indent}t{n}[\"{name}<br/>{state}, {who}\"]:::{}", task.state.as_str());
}

/// Text in quotes: what Mermaid would read as a sign of its own is written as an entity.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in plain_line(text).chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '`' => out.push_str("#96;"),
            '\\' => out.push_str("#92;"),
            c => out.push(c),
        }
    }
    out
}

/// Readable on light and on dark pages.
fn colours(stage: TaskStage) -> &'static str {
    match stage {
        TaskStage::Planned | TaskStage::Ready => "fill:#eeeeee,stroke:#777777,color:#222222",
        TaskStage::Dispatched | TaskStage::Running => "fill:#cfe2ff,stroke:#2f6fd0,color:#10284d",
        TaskStage::VerifyPending => "fill:#e2d9f3,stroke:#6f42c1,color:#2a1a4d",
        TaskStage::RepairPending | TaskStage::PausedForReplan => "fill:#fff3cd,stroke:#b58900,color:#4d3b00",
        TaskStage::Completed => "fill:#d1e7dd,stroke:#2e7d4f,color:#0f3d24",
        TaskStage::Failed => "fill:#f8d7da,stroke:#b02a37,color:#58151c",
        TaskStage::Cancelled => "fill:#f5f5f5,stroke:#aaaaaa,color:#666666,stroke-dasharray:4",
    }
}
