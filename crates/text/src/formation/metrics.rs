//! The formation for Prometheus, in its text format (version 0.0.4).
//!
//! All values come from the store, none is counted in a process: there is nothing to register, and after a restart they are the
//! same. Names and help are in English alone, as they are everywhere.

use std::fmt::Write;

use dandori_api::formation::{AgentState, FormationView, TaskCounts};

pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
}

pub fn metrics(views: &[FormationView]) -> String {
    let mut page = Page::default();
    agents(&mut page, views);
    counted(&mut page, views);
    spent(&mut page, views);
    page.text
}

fn agents(page: &mut Page, views: &[FormationView]) {
    page.family("up", Kind::Gauge, "Whether the agents of the formation get work");
    for view in views {
        page.sample("up", &[("repository", &view.repository)], if view.is_up { "1" } else { "0" });
    }
    page.family("agent_state", Kind::Gauge, "1 for the state an agent is in, 0 for the others");
    for (view, agent) in each_agent(views) {
        for state in AgentState::ALL {
            let labels = [
                ("repository", view.repository.as_str()),
                ("agent", &agent.agent.to_string()),
                ("role", agent.role.as_str()),
                ("state", state.as_str()),
            ];
            page.sample("agent_state", &labels, if state == agent.state { "1" } else { "0" });
        }
    }
    page.family("agent_state_since_seconds", Kind::Gauge, "When an agent came into its state, in Unix time");
    for (view, agent) in each_agent(views) {
        if let Some(since) = agent.since_at {
            let labels = [("repository", view.repository.as_str()), ("agent", &agent.agent.to_string())];
            page.sample("agent_state_since_seconds", &labels, &since.as_second().to_string());
        }
    }
    page.family("queue_depth", Kind::Gauge, "Messages that wait for an agent");
    for (view, agent) in each_agent(views) {
        let labels = [("repository", view.repository.as_str()), ("agent", &agent.agent.to_string())];
        page.sample("queue_depth", &labels, &agent.queued.to_string());
    }
}

fn each_agent(views: &[FormationView]) -> impl Iterator<Item = (&FormationView, &dandori_api::formation::AgentView)> {
    views.iter().flat_map(|view| view.agents.iter().map(move |agent| (view, agent)))
}

fn counted(page: &mut Page, views: &[FormationView]) {
    type Read = fn(&FormationView) -> u64;
    let outcomes = |page: &mut Page, name: &str, help: &str, of: fn(&FormationView) -> TaskCounts| {
        page.family(name, Kind::Counter, help);
        for view in views {
            let counts = of(view);
            let each = [("completed", counts.completed), ("failed", counts.failed), ("cancelled", counts.cancelled)];
            for (outcome, count) in each {
                let labels = [("repository", view.repository.as_str()), ("outcome", outcome)];
                page.sample(name, &labels, &count.to_string());
            }
        }
    };
    outcomes(page, "commands_total", "Orders that are over, by outcome", |view| view.counters.commands);
    outcomes(page, "tasks_total", "Tasks that are over, by outcome", |view| view.counters.tasks);
    let plain: [(&str, Kind, &str, Read); 7] = [
        ("commands_open", Kind::Gauge, "Orders that are not over", |view| view.counters.commands.open),
        ("tasks_open", Kind::Gauge, "Tasks that are not over", |view| view.counters.tasks.open),
        ("deliveries_total", Kind::Counter, "Messages given to agents", |view| view.counters.deliveries),
        ("failed_deliveries_total", Kind::Counter, "Deliveries that failed", |view| view.counters.failed_deliveries),
        ("late_reports_total", Kind::Counter, "Reports that came too late", |view| view.counters.late_reports),
        ("repairs_total", Kind::Counter, "Tasks given back to be repaired", |view| view.counters.repairs),
        ("dead_letters", Kind::Gauge, "Messages that could not be delivered", |view| view.counters.dead_letters),
    ];
    for (name, kind, help, read) in plain {
        page.family(name, kind, help);
        for view in views {
            page.sample(name, &[("repository", &view.repository)], &read(view).to_string());
        }
    }
}

fn spent(page: &mut Page, views: &[FormationView]) {
    page.family("tokens_total", Kind::Counter, "Tokens used, for coordination and for work");
    for view in views {
        let work = view.tokens.all.saturating_sub(view.tokens.coordination);
        for (purpose, count) in [("coordination", view.tokens.coordination), ("work", work)] {
            let labels = [("repository", view.repository.as_str()), ("purpose", purpose)];
            page.sample("tokens_total", &labels, &count.to_string());
        }
    }
    page.family("budget_limit_dollars", Kind::Gauge, "Budgets in US dollars");
    for (view, budget) in views.iter().flat_map(|view| view.budgets.iter().map(move |budget| (view, budget))) {
        let labels =
            [("repository", view.repository.as_str()), ("scope", budget.scope.as_str()), ("name", &budget.name)];
        page.sample("budget_limit_dollars", &labels, &budget.limit_cost.to_string());
    }
    page.family("budget_spent_dollars", Kind::Gauge, "What was spent of a budget, where it is known");
    for (view, budget) in views.iter().flat_map(|view| view.budgets.iter().map(move |budget| (view, budget))) {
        if let Some(cost) = budget.cost {
            let labels =
                [("repository", view.repository.as_str()), ("scope", budget.scope.as_str()), ("name", &budget.name)];
            page.sample("budget_spent_dollars", &labels, &cost.to_string());
        }
    }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        let _ = writeln!(self.text, "# HELP dandori_formation_{name} {help}\n# TYPE dandori_formation_{name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: &str) {
        let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let _ = writeln!(self.text, "dandori_formation_{name}{{{}}} {value}", labels.join(","));
    }
}

fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_ends_where_it_should() {
        let mut page = Page::default();
        page.sample("x", &[("repository", "a\\b\"c\nd")], "1");
        assert_eq!(page.text, "dandori_formation_x{repository=\"a\\\\b\\\"c\\nd\"} 1\n");
    }
}
