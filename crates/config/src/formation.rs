//! The formation of a repository: `[formation]`. Who works in it, with which model, and what it may cost.

use std::collections::BTreeMap;

use dandori_domain::Usd;
use dandori_domain::agent::AgentName;
use dandori_formation::{AgentId, Crew, MOST_WORKERS, Rules, Seat};
use serde::{Deserialize, Serialize};

use crate::quantity::parse_seconds;

#[derive(Clone, PartialEq, Debug)]
pub struct FormationSettings {
    pub mode: FormationMode,
    pub workers: u8,
    /// Of whom no other key says something; `None`: as `agent` says for runs.
    pub agent: Option<AgentName>,
    pub orchestrator: Option<AgentName>,
    pub planner: Option<AgentName>,
    /// By worker, in their order; those after the last are as `agent` says.
    pub worker_agents: Vec<AgentName>,
    pub small_model: Option<String>,
    pub large_model: Option<String>,
    /// What a worker can do that not all can.
    pub capabilities: BTreeMap<String, Vec<String>>,
    /// A shell line that decides whether merged work fits together.
    pub check: Option<String>,
    pub budget: FormationBudget,
    /// How many of a hundred tokens may go into coordination; `None`: no limit.
    pub coordination_limit: Option<u8>,
    pub continuous: ContinuousSettings,
    pub rules: Rules,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormationMode {
    Headless,
    Tmux,
}

/// In US dollars, over all vendors. `None`: no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FormationBudget {
    pub task: Option<Usd>,
    pub command: Option<Usd>,
    pub day: Option<Usd>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ContinuousSettings {
    /// 0: no limit.
    pub max_iterations: u32,
    pub pause_on_failure: bool,
    /// 0: no limit.
    pub max_consecutive_failures: u32,
}

impl Default for FormationSettings {
    fn default() -> Self {
        Self {
            mode: FormationMode::Headless,
            workers: 4,
            agent: None,
            orchestrator: None,
            planner: None,
            worker_agents: Vec::new(),
            small_model: None,
            large_model: None,
            capabilities: BTreeMap::new(),
            check: None,
            budget: FormationBudget::default(),
            coordination_limit: None,
            continuous: ContinuousSettings { max_iterations: 10, pause_on_failure: true, max_consecutive_failures: 3 },
            rules: Rules::default(),
        }
    }
}

impl FormationSettings {
    /// Which agent somebody in the formation runs; `default` is what runs are started with.
    pub fn agent_of<'s>(&'s self, who: AgentId, default: &'s AgentName) -> &'s AgentName {
        let own = match who {
            AgentId::Orchestrator => self.orchestrator.as_ref(),
            AgentId::Planner => self.planner.as_ref(),
            AgentId::Worker(number) => self.worker_agents.get(usize::from(number.saturating_sub(1))),
        };
        own.or(self.agent.as_ref()).unwrap_or(default)
    }

    pub fn crew(&self, default: &AgentName, boost: bool) -> Crew {
        let seat = |number: u8| {
            let agent = AgentId::Worker(number);
            Seat {
                agent,
                client: self.agent_of(agent, default).to_string(),
                model: None,
                capabilities: self.capabilities.get(&agent.to_string()).cloned().unwrap_or_default(),
            }
        };
        Crew {
            seats: (1..=self.workers).map(seat).collect(),
            small: self.small_model.clone(),
            large: self.large_model.clone(),
            boost,
        }
    }

    pub(crate) fn take(&mut self, raw: RawFormation) -> Result<(), String> {
        if let Some(mode) = raw.mode {
            self.mode = mode;
        }
        if let Some(workers) = raw.workers {
            self.workers = u8::try_from(workers)
                .ok()
                .filter(|n| (1..=MOST_WORKERS).contains(n))
                .ok_or_else(|| format!("formation.workers = {workers}: from 1 to {MOST_WORKERS}"))?;
        }
        for (key, slot, value) in [
            ("agent", &mut self.agent, raw.agent),
            ("orchestrator", &mut self.orchestrator, raw.orchestrator),
            ("planner", &mut self.planner, raw.planner),
        ] {
            if let Some(value) = value {
                *slot = Some(agent_named(key, &value)?);
            }
        }
        if let Some(names) = raw.worker_agents {
            self.worker_agents =
                names.iter().map(|name| agent_named("worker_agents", name)).collect::<Result<_, _>>()?;
        }
        self.small_model = raw.small_model.or(self.small_model.take());
        self.large_model = raw.large_model.or(self.large_model.take());
        for (worker, capabilities) in raw.capabilities.unwrap_or_default() {
            if !matches!(worker.parse(), Ok(AgentId::Worker(_))) {
                return Err(format!("formation.capabilities.{worker}: worker1 to worker{MOST_WORKERS}"));
            }
            self.capabilities.insert(worker, capabilities);
        }
        if let Some(check) = raw.check {
            if check.trim().is_empty() {
                return Err("formation.check is empty".to_owned());
            }
            self.check = Some(check);
        }
        if let Some(budget) = raw.budget {
            for (key, slot, dollars) in [
                ("task", &mut self.budget.task, budget.task),
                ("command", &mut self.budget.command, budget.command),
                ("day", &mut self.budget.day, budget.day),
            ] {
                let Some(dollars) = dollars else { continue };
                if !(dollars.is_finite() && dollars > 0.0) {
                    return Err(format!("formation.budget.{key} must be an amount in US dollars above 0"));
                }
                *slot = Some(Usd::from_dollars(dollars));
            }
        }
        if let Some(percent) = raw.coordination_limit {
            let fits = u8::try_from(percent).ok().filter(|n| (1..=100).contains(n));
            let percent = fits.ok_or_else(|| format!("formation.coordination_limit = {percent}: from 1 to 100"))?;
            self.coordination_limit = Some(percent);
        }
        if let Some(raw) = raw.continuous {
            let slot = &mut self.continuous;
            slot.max_iterations = raw.max_iterations.unwrap_or(slot.max_iterations);
            slot.pause_on_failure = raw.pause_on_failure.unwrap_or(slot.pause_on_failure);
            slot.max_consecutive_failures = raw.max_consecutive_failures.unwrap_or(slot.max_consecutive_failures);
        }
        raw.rules.map_or(Ok(()), |rules| take_rules(&mut self.rules, rules))
    }
}

fn agent_named(key: &str, name: &str) -> Result<AgentName, String> {
    name.parse().map_err(|_| format!("formation.{key} = {name:?} is not the name of an agent"))
}

fn take_rules(slot: &mut Rules, raw: RawRules) -> Result<(), String> {
    for (key, slot, text) in [
        ("lease", &mut slot.lease_seconds, raw.lease),
        ("longest", &mut slot.longest_seconds, raw.longest),
        ("replan", &mut slot.replan_seconds, raw.replan),
        ("digest", &mut slot.digest_seconds, raw.digest),
    ] {
        let Some(text) = text else { continue };
        let seconds = parse_seconds(&text).and_then(|seconds| i64::try_from(seconds).ok()).filter(|s| *s > 0);
        *slot = seconds
            .ok_or_else(|| format!("formation.rules.{key} = {text:?} is not a duration such as \"90s\" or \"15m\""))?;
    }
    for (key, slot, count) in [
        ("attempts", &mut slot.attempts, raw.attempts),
        ("resumes", &mut slot.resumes, raw.resumes),
        ("repairs", &mut slot.repairs, raw.repairs),
    ] {
        let Some(count) = count else { continue };
        if count == 0 && key == "attempts" {
            return Err("formation.rules.attempts must be at least 1".to_owned());
        }
        *slot = count;
    }
    for (key, slot, count) in [
        ("pending_commands", &mut slot.pending_commands, raw.pending_commands),
        ("pending_per_worker", &mut slot.pending_per_worker, raw.pending_per_worker),
        ("tasks_per_plan", &mut slot.tasks_per_plan, raw.tasks_per_plan),
    ] {
        let Some(count) = count else { continue };
        if count == 0 {
            return Err(format!("formation.rules.{key} must be at least 1"));
        }
        *slot = count;
    }
    Ok(())
}

#[derive(Deserialize)]
pub(crate) struct RawFormation {
    mode: Option<FormationMode>,
    workers: Option<i64>,
    agent: Option<String>,
    orchestrator: Option<String>,
    planner: Option<String>,
    worker_agents: Option<Vec<String>>,
    small_model: Option<String>,
    large_model: Option<String>,
    capabilities: Option<BTreeMap<String, Vec<String>>>,
    check: Option<String>,
    budget: Option<RawBudget>,
    coordination_limit: Option<i64>,
    continuous: Option<RawContinuous>,
    rules: Option<RawRules>,
}

#[derive(Deserialize)]
struct RawBudget {
    task: Option<f64>,
    command: Option<f64>,
    day: Option<f64>,
}

#[derive(Deserialize)]
struct RawContinuous {
    max_iterations: Option<u32>,
    pause_on_failure: Option<bool>,
    max_consecutive_failures: Option<u32>,
}

#[derive(Deserialize)]
struct RawRules {
    lease: Option<String>,
    longest: Option<String>,
    replan: Option<String>,
    digest: Option<String>,
    attempts: Option<u32>,
    resumes: Option<u32>,
    repairs: Option<u32>,
    pending_commands: Option<usize>,
    pending_per_worker: Option<usize>,
    tasks_per_plan: Option<usize>,
}

#[cfg(test)]
mod tests {
    use camino::Utf8Path;
    use dandori_domain::Client;

    use super::*;
    use crate::{Config, Source};

    fn read(text: &str) -> Result<FormationSettings, String> {
        let mut config = Config::default();
        config.merge(Utf8Path::new("dandori.toml"), text, Source::Repository).map_err(|e| e.to_string())?;
        Ok(config.formation)
    }

    #[test]
    fn each_worker_runs_what_is_said_of_it_or_of_all() {
        let text = "[formation]\nworkers = 3\nagent = \"gemini\"\nworker_agents = [\"codex\"]\nplanner = \"claude\"\n";
        let formation = read(text).unwrap();
        let default = AgentName::Client(Client::Claude);
        let of = |who| formation.agent_of(who, &default).to_string();
        assert_eq!(of(AgentId::Planner), "claude");
        assert_eq!(of(AgentId::Orchestrator), "gemini");
        assert_eq!((of(AgentId::Worker(1)), of(AgentId::Worker(2))), ("codex".to_owned(), "gemini".to_owned()));
        let clients: Vec<String> = formation.crew(&default, false).seats.into_iter().map(|s| s.client).collect();
        assert_eq!(clients, ["codex", "gemini", "gemini"]);
        assert_eq!(read("").unwrap().agent_of(AgentId::Planner, &default), &default);
    }

    #[test]
    fn what_cannot_work_is_refused_by_its_key() {
        for (text, key) in [
            ("workers = 0", "formation.workers"),
            ("workers = 9", "formation.workers"),
            ("planner = \"\"", "formation.planner"),
            ("check = \" \"", "formation.check"),
            ("coordination_limit = 101", "formation.coordination_limit"),
            ("capabilities.planner = []", "formation.capabilities.planner"),
            ("budget.day = -1", "formation.budget.day"),
            ("rules.lease = \"soon\"", "formation.rules.lease"),
            ("rules.attempts = 0", "formation.rules.attempts"),
            ("rules.tasks_per_plan = 0", "formation.rules.tasks_per_plan"),
            ("rules.leese = \"1m\"", "formation.rules.leese"),
        ] {
            let refused = read(&format!("[formation]\n{text}\n")).unwrap_err();
            assert!(refused.contains(key), "{refused}");
        }
    }
}
