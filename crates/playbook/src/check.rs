//! What is wrong with a playbook that could be read.

use std::collections::{HashMap, HashSet};

use crate::playbook::{PhaseStatus, Playbook};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fault {
    NoPhases,
    NoBranch,
    SameId {
        id: String,
    },
    UnknownDependency {
        phase: String,
        on: String,
    },
    /// The phases of it, in order, the first once more at the end.
    Cycle {
        phases: Vec<String>,
    },
    NoCriteria {
        phase: String,
    },
    /// Criteria that are no list items.
    LooseCriteria {
        phase: String,
    },
    /// More than one is in progress.
    SeveralInProgress {
        phases: Vec<String>,
    },
    /// Done, though something it depends on is not.
    DoneTooEarly {
        phase: String,
        before: String,
    },
    /// Ticked without evidence for all three validations.
    Unproven {
        phase: String,
        subtask: String,
        missing: Vec<&'static str>,
    },
    /// The last phase is the one that looks at the whole.
    NoFinalPhase,
}

/// Everything that is wrong, in the order of the file.
pub fn check(playbook: &Playbook) -> Vec<Fault> {
    let mut faults = Vec::new();
    if playbook.branch.is_none() {
        faults.push(Fault::NoBranch);
    }
    if playbook.phases.is_empty() {
        faults.push(Fault::NoPhases);
        return faults;
    }
    let mut status: HashMap<&str, PhaseStatus> = HashMap::new();
    for phase in &playbook.phases {
        // The first of a name is the one that is meant.
        status.entry(&phase.id).or_insert(phase.status);
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for phase in &playbook.phases {
        if !seen.insert(&phase.id) {
            faults.push(Fault::SameId { id: phase.id.clone() });
        }
        for on in &phase.depends_on {
            match status.get(on.as_str()) {
                None => faults.push(Fault::UnknownDependency { phase: phase.id.clone(), on: on.clone() }),
                Some(before) if phase.status == PhaseStatus::Done && *before != PhaseStatus::Done => {
                    faults.push(Fault::DoneTooEarly { phase: phase.id.clone(), before: on.clone() });
                }
                Some(_) => {}
            }
        }
        if phase.done_criteria.is_empty() {
            faults.push(Fault::NoCriteria { phase: phase.id.clone() });
        }
        if phase.loose_criteria {
            faults.push(Fault::LooseCriteria { phase: phase.id.clone() });
        }
        for subtask in phase.subtasks.iter().filter(|subtask| subtask.is_done) {
            let missing = subtask.missing();
            if !missing.is_empty() {
                faults.push(Fault::Unproven { phase: phase.id.clone(), subtask: subtask.text.clone(), missing });
            }
        }
    }
    let working = playbook.phases.iter().filter(|phase| phase.status == PhaseStatus::InProgress);
    let working: Vec<String> = working.map(|phase| phase.id.clone()).collect();
    if working.len() > 1 {
        faults.push(Fault::SeveralInProgress { phases: working });
    }
    faults.extend(cycle(playbook).map(|phases| Fault::Cycle { phases }));
    let is_final = |text: &str| text.to_lowercase().contains("final") || text.contains("最終");
    if !playbook.phases.last().is_some_and(|phase| is_final(&phase.id) || is_final(&phase.title)) {
        faults.push(Fault::NoFinalPhase);
    }
    faults
}

/// One cycle, when there is one: phases are taken away while nothing they wait for is left.
fn cycle(playbook: &Playbook) -> Option<Vec<String>> {
    let ids: HashSet<&str> = playbook.phases.iter().map(|phase| phase.id.as_str()).collect();
    // Who waits for whom, and for how many: a file may have thousands of phases, one behind the other.
    let mut waiting: HashMap<&str, usize> = HashMap::new();
    let mut behind: HashMap<&str, Vec<&str>> = HashMap::new();
    for phase in &playbook.phases {
        let known = phase.depends_on.iter().filter(|id| ids.contains(id.as_str()));
        let count = waiting.entry(&phase.id).or_default();
        for on in known {
            *count += 1;
            behind.entry(on).or_default().push(&phase.id);
        }
    }
    let mut free: Vec<&str> = waiting.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        waiting.remove(id);
        for next in behind.remove(id).unwrap_or_default() {
            if let Some(count) = waiting.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    // Everything left waits for something left: going on from any of them comes round.
    let left: HashMap<&str, &str> = playbook
        .phases
        .iter()
        .filter(|phase| waiting.contains_key(phase.id.as_str()))
        .filter_map(|phase| {
            let next = phase.depends_on.iter().find(|id| waiting.contains_key(id.as_str()))?;
            Some((phase.id.as_str(), next.as_str()))
        })
        .collect();
    let first = playbook.phases.iter().find(|phase| left.contains_key(phase.id.as_str()))?;
    let mut at: HashMap<&str, usize> = HashMap::new();
    let mut way: Vec<&str> = Vec::new();
    let mut here = first.id.as_str();
    loop {
        if let Some(begin) = at.insert(here, way.len()) {
            let round = way.into_iter().skip(begin).chain([here]);
            return Some(round.map(str::to_owned).collect());
        }
        way.push(here);
        here = left.get(here)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<Fault> {
        check(&Playbook::read(&format!("---\nbranch: b\n---\n{text}")))
    }

    const FINAL: &str = "## p_final: all\n- status: pending\n- done_criteria:\n  - all of it\n";

    fn phase(id: &str, keys: &str) -> String {
        format!("## {id}: x\n- done_criteria:\n  - ok\n{keys}\n")
    }

    #[test]
    fn a_sound_playbook_has_no_faults() {
        assert_eq!(faults(&format!("{}{FINAL}", phase("p1", "- status: in_progress"))), vec![]);
    }

    #[test]
    fn each_fault_is_found_by_name() {
        let id = |text: &str| text.to_owned();
        assert_eq!(check(&Playbook::read("")), [Fault::NoBranch, Fault::NoPhases]);
        let twice = phase("p1", "") + &phase("p1", "") + FINAL;
        assert_eq!(faults(&twice), [Fault::SameId { id: id("p1") }]);
        let unknown = phase("p1", "- depends_on: [p9]") + FINAL;
        assert_eq!(faults(&unknown), [Fault::UnknownDependency { phase: id("p1"), on: id("p9") }]);
        let early = phase("p1", "") + &phase("p2", "- status: done\n- depends_on: [p1]") + FINAL;
        assert_eq!(faults(&early), [Fault::DoneTooEarly { phase: id("p2"), before: id("p1") }]);
        let several = phase("p1", "- status: in_progress") + &phase("p2", "- status: in_progress") + FINAL;
        assert_eq!(faults(&several), [Fault::SeveralInProgress { phases: vec![id("p1"), id("p2")] }]);
        assert_eq!(faults(&phase("p1", "")), [Fault::NoFinalPhase]);
        let none = format!("## p1: x\n{FINAL}");
        assert_eq!(faults(&none), [Fault::NoCriteria { phase: id("p1") }]);
        let loose = format!("## p1: x\n- done_criteria:\n  it works\n{FINAL}");
        assert_eq!(faults(&loose), [Fault::LooseCriteria { phase: id("p1") }]);
        let unproven = phase("p1", "- [x] a\n  - technical: ran") + FINAL;
        let missing = vec!["consistency", "completeness"];
        assert_eq!(faults(&unproven), [Fault::Unproven { phase: id("p1"), subtask: id("a"), missing }]);
    }

    #[test]
    fn a_cycle_is_named_from_where_it_begins() {
        let text = phase("p1", "- depends_on: [p2]")
            + &phase("p2", "- depends_on: [p3]")
            + &phase("p3", "- depends_on: [p2]")
            + FINAL;
        let round = ["p2", "p3", "p2"].map(str::to_owned).to_vec();
        assert_eq!(faults(&text), [Fault::Cycle { phases: round }]);
        let own = phase("p1", "- depends_on: [p1]") + FINAL;
        assert_eq!(faults(&own), [Fault::Cycle { phases: vec!["p1".to_owned(); 2] }]);
    }

    #[test]
    fn thousands_of_phases_in_a_row_are_soon_checked() {
        let row = |last: &str| {
            let mut text: String =
                (0..6000).map(|at| phase(&format!("p{at}"), &format!("- depends_on: [p{}]", at + 1))).collect();
            text += &phase("p6000", last);
            faults(&(text + FINAL))
        };
        let begun = std::time::Instant::now();
        assert_eq!(row(""), vec![]);
        assert!(matches!(row("- depends_on: [p0]").as_slice(), [Fault::Cycle { phases }] if phases.len() == 6002));
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
    }
}
