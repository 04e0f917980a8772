//! Plans as a planner might write them, made from a number.

use dandori_formation::Brief;
use dandori_formation::phase::PhaseConstraints;
use dandori_formation::plan::{Body, Plan, PlannedKind, PlannedPhase, PlannedTask};

pub(super) fn plan(choice: u64) -> Plan {
    let body = if choice.is_multiple_of(3) {
        let concrete = 1 + (choice >> 8) % 2;
        let mut phases: Vec<PlannedPhase> = (0..concrete)
            .map(|i| PlannedPhase {
                name: format!("phase-{i}"),
                kind: PlannedKind::Concrete(tasks(choice >> (16 + i), &format!("p{i}"))),
                depends_on: Vec::new(),
            })
            .collect();
        for i in 0..(choice >> 12) % 3 {
            let earlier = phases.len() - usize::try_from((choice >> 20) % 2).unwrap_or(0).min(phases.len() - 1);
            phases.push(PlannedPhase {
                name: format!("later-{i}"),
                kind: PlannedKind::Deferred(PhaseConstraints {
                    max_tasks: 4,
                    allowed_bloom_levels: vec![1, 2, 3, 4, 5, 6],
                    timeout_minutes: 30,
                    covers: Vec::new(),
                }),
                depends_on: phases.iter().take(earlier.max(1)).map(|phase| phase.name.clone()).collect(),
            });
        }
        Body::Phases(phases)
    } else {
        Body::Tasks(tasks(choice >> 16, "t"))
    };
    Plan { body, left_out: Vec::new() }
}

pub(super) fn tasks(choice: u64, prefix: &str) -> Vec<PlannedTask> {
    let count = 1 + choice % 4;
    (0..count)
        .map(|i| {
            let name = |j: u64| format!("{prefix}-{j}");
            let waits_for = (0..i).filter(|j| (choice >> (4 + i + 3 * j)) & 1 == 1).map(name).collect();
            PlannedTask {
                name: name(i),
                brief: Brief::default(),
                blocked_by: waits_for,
                bloom_level: u8::try_from(1 + (choice >> i) % 6).unwrap_or(1),
                required: (choice >> (20 + i)) & 3 != 0,
            }
        })
        .collect()
}
