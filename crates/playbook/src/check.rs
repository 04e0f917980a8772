//! What is wrong with a playbook that could be read.

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
    for (at, phase) in playbook.phases.iter().enumerate() {
        if playbook.phases.iter().take(at).any(|earlier| earlier.id == phase.id) {
            faults.push(Fault::SameId { id: phase.id.clone() });
        }
        for on in &phase.depends_on {
            match playbook.phase(on) {
                None => faults.push(Fault::UnknownDependency { phase: phase.id.clone(), on: on.clone() }),
                Some(before) if phase.status == PhaseStatus::Done && before.status != PhaseStatus::Done => {
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
    let mut left: Vec<&crate::Phase> = playbook.phases.iter().collect();
    loop {
        let waits = |id: &String| left.iter().any(|phase| phase.id == *id);
        let (bound, free): (Vec<_>, Vec<_>) =
            left.iter().copied().partition(|phase| phase.depends_on.iter().any(waits));
        if free.is_empty() {
            break;
        }
        left = bound;
    }
    // Everything left waits for something left: going on from any of them comes round.
    let mut way: Vec<String> = vec![left.first()?.id.clone()];
    loop {
        let here = left.iter().find(|phase| Some(&phase.id) == way.last())?;
        let next = here.depends_on.iter().find(|id| left.iter().any(|phase| phase.id == **id))?.clone();
        if let Some(begin) = way.iter().position(|id| *id == next) {
            let mut round = way.split_off(begin);
            round.push(next);
            return Some(round);
        }
        way.push(next);
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
}
