//! Which worker gets a task: the model its level asks for, then what the worker can do, then who has the least to do.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::agent::AgentId;

/// A worker's place in the formation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seat {
    pub agent: AgentId,
    /// The client it runs: `claude`, `codex`, …
    pub client: String,
    /// Its model when that is fixed, as in a pane; `None`: each task is started with the model it needs.
    pub model: Option<String>,
    pub capabilities: Vec<String>,
}

/// Who there is, and which model thinks how far.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Crew {
    pub seats: Vec<Seat>,
    /// For levels 1 to 3: remember, understand, apply.
    pub small: Option<String>,
    /// For levels 4 to 6: analyse, evaluate, create.
    pub large: Option<String>,
    /// All work goes to the larger model.
    pub boost: bool,
}

/// What a task asks of its worker.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'t> {
    pub bloom_level: u8,
    pub required: &'t [String],
    pub preferred: &'t [String],
}

impl Crew {
    pub fn model_for(&self, bloom_level: u8) -> Option<&String> {
        if self.boost || bloom_level > 3 { self.large.as_ref() } else { self.small.as_ref() }
    }

    /// The worker for a task, and the model it works with. `loads` is what each has to do already; the task is added to it.
    /// `None`: nobody can do what it requires.
    pub fn assign(&self, wish: Wish<'_>, loads: &mut BTreeMap<AgentId, usize>) -> Option<(AgentId, Option<String>)> {
        let model = self.model_for(wish.bloom_level);
        let able = |seat: &&Seat| wish.required.iter().all(|needed| seat.capabilities.contains(needed));
        let misses_model = |seat: &Seat| seat.model.is_some() && model.is_some() && seat.model.as_ref() != model;
        let preferred = |seat: &Seat| wish.preferred.iter().filter(|liked| seat.capabilities.contains(liked)).count();
        let load = |seat: &Seat| loads.get(&seat.agent).copied().unwrap_or(0);
        let chosen = self
            .seats
            .iter()
            .filter(able)
            .min_by_key(|seat| (misses_model(seat), std::cmp::Reverse(preferred(seat)), load(seat), seat.agent))?;
        *loads.entry(chosen.agent).or_default() += 1;
        Some((chosen.agent, chosen.model.clone().or_else(|| model.cloned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: u8, model: Option<&str>, capabilities: &[&str]) -> Seat {
        Seat {
            agent: AgentId::Worker(number),
            client: "claude".to_owned(),
            model: model.map(str::to_owned),
            capabilities: capabilities.iter().map(|c| (*c).to_owned()).collect(),
        }
    }

    fn crew(seats: Vec<Seat>) -> Crew {
        Crew { seats, small: Some("sonnet".to_owned()), large: Some("opus".to_owned()), boost: false }
    }

    fn wish(bloom_level: u8) -> Wish<'static> {
        Wish { bloom_level, required: &[], preferred: &[] }
    }

    fn given(crew: &Crew, levels: &[u8]) -> Vec<String> {
        let mut loads = BTreeMap::new();
        let one = |level: &u8| crew.assign(wish(*level), &mut loads).unwrap();
        levels.iter().map(one).map(|(agent, model)| format!("{agent} {}", model.unwrap_or_default())).collect()
    }

    #[test]
    fn the_level_chooses_the_model_and_the_model_the_worker_then_who_has_the_least_to_do() {
        let panes = crew(vec![seat(1, Some("sonnet"), &[]), seat(2, Some("sonnet"), &[]), seat(3, Some("opus"), &[])]);
        assert_eq!(
            given(&panes, &[1, 2, 3, 5]),
            ["worker1 sonnet", "worker2 sonnet", "worker1 sonnet", "worker3 opus"]
        );
        let headless = crew(vec![seat(1, None, &[]), seat(2, None, &[])]);
        assert_eq!(given(&headless, &[1, 6, 4]), ["worker1 sonnet", "worker2 opus", "worker1 opus"]);
        let boosted = Crew { boost: true, ..headless };
        assert_eq!(given(&boosted, &[1, 2]), ["worker1 opus", "worker2 opus"]);
    }

    #[test]
    fn a_model_nobody_has_is_no_reason_to_refuse_but_a_missing_capability_is() {
        let small = crew(vec![seat(1, Some("sonnet"), &[])]);
        assert_eq!(given(&small, &[6]), ["worker1 sonnet"]);
        let needed = ["browser".to_owned()];
        let wish = Wish { bloom_level: 1, required: &needed, preferred: &[] };
        assert_eq!(small.assign(wish, &mut BTreeMap::new()), None);
        let liked = Wish { bloom_level: 1, required: &[], preferred: &needed };
        let two = crew(vec![seat(1, None, &[]), seat(2, None, &["browser"])]);
        assert_eq!(two.assign(liked, &mut BTreeMap::new()).unwrap().0, AgentId::Worker(2));
    }
}
