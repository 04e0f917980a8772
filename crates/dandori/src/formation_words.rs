//! What a formation says to its agents, in words.

use dandori_api::PullLink;
use dandori_engine::{HandedOver, MessageToTell, PullToTell, ToTell};
use dandori_host::Env;
use dandori_text::formation::{Handoff, dashboard, notice, planner, pull, roles, worker};
use dandori_text::{Lang, cause, problem};

/// In the language that is configured, else that of the daemon's environment.
pub(crate) fn words(env: &Env, configured: Option<&str>, what: &ToTell) -> String {
    let lang = Lang::choose(None, configured, |name| env.text(name));
    match what {
        ToTell::Role(role) => roles::role(lang, *role).to_owned(),
        ToTell::Message(message) => message_words(lang, message),
        ToTell::Problem(found) => problem(lang, found).what,
        ToTell::Failure(found) => cause(lang, found),
        ToTell::Dashboard(seen) => dashboard::dashboard(lang, &dandori_server::formation_view(seen)),
        ToTell::Pull(told) => {
            let PullToTell { command, summary, tasks } = &**told;
            pull::pull(lang, pull::OrderDone { command, summary, tasks })
        }
    }
}

fn message_words(lang: Lang, message: &MessageToTell) -> String {
    match message {
        MessageToTell::Task { message, task, brief, demands, before, failed } => {
            let (before, failed) = (handoffs(before), handoffs(failed));
            worker::task(lang, worker::WorkerTask { message, task, brief, demands, before: &before, failed: &failed })
        }
        MessageToTell::Order { message, command, crew, rules } => {
            planner::order(lang, planner::OrderToPlan { message, command, crew, rules })
        }
        MessageToTell::Fill { message, command, phase, results, crew } => {
            let results = handoffs(results);
            planner::fill(lang, planner::PhaseToFill { message, command, phase, results: &results, crew })
        }
        MessageToTell::Digest { command, results, paused, outcome } => {
            let (results, paused) = (handoffs(results), paused.iter().collect::<Vec<_>>());
            planner::digest(lang, planner::Digest { command, results: &results, paused: &paused, outcome: *outcome })
        }
        MessageToTell::Over { command, result, continuous, pull } => {
            let pr = pull.as_ref().map(|(number, url)| PullLink { number: *number, url: url.clone(), state: None });
            notice::command_over(lang, notice::CommandOver { command, result, pr: pr.as_ref(), continuous })
        }
        MessageToTell::Words { command, words } => notice::words(lang, command.as_ref(), words),
    }
}

fn handoffs(of: &[HandedOver]) -> Vec<Handoff<'_>> {
    of.iter().map(|(task, result)| Handoff { task, result }).collect()
}
