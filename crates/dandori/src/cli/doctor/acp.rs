//! Agents of the Agent Client Protocol that the configuration names: whether they are there, and whether they may run.
//!
//! None is started: what an unknown program does when it is, a look should not find out.

use dandori_config::Config;
use dandori_domain::Problem;
use dandori_domain::run::SandboxMode;
use dandori_git::{Git, Repository};
use dandori_host::fenced;
use dandori_text::doctor::{self, Check};

use super::{Finding, Grade, own_program};
use crate::cli::Context;

pub(super) fn look(context: &Context) -> Vec<Finding> {
    let repository =
        context.cwd.as_ref().and_then(|here| Repository::discover(&Git::new(&context.env, "doctor"), here).ok());
    let file = repository.map(|repository| repository.root().join("dandori.toml"));
    // A file that is wrong has its own finding.
    let Ok(config) = Config::load(&dandori_host::layout::user_config(&context.env), file.as_deref()) else {
        return Vec::new();
    };
    let agents: Vec<(&String, &String)> =
        config.agents.iter().filter_map(|(name, agent)| Some((name, agent.acp.as_ref()?))).collect();
    if agents.is_empty() {
        return Vec::new();
    }
    let holds = || own_program().is_some_and(|program| fenced::probe(&program).holds_files());
    let is_held = config.sandbox.mode != SandboxMode::Off && holds();
    agents.into_iter().map(|(name, command)| of_agent(context, name, command, is_held)).collect()
}

fn of_agent(context: &Context, name: &str, command: &str, is_held: bool) -> Finding {
    let (check, lang) = (Check::Acp, context.out.lang);
    if !is_held {
        return Finding::of_problem(lang, check, Problem::AcpNeedsFence { agent: name.to_owned() });
    }
    let program = program_in(command);
    match context.env.find_program(program) {
        Some(path) => Finding::good(check, doctor::acp_agent(lang, name, command, path.as_str())),
        None => {
            let detail = doctor::acp_missing(lang, name, command, program);
            Finding { grade: Grade::Missing, ..Finding::good(check, detail) }
        }
    }
}

/// The first word that is no variable.
fn program_in(command: &str) -> &str {
    command.split_whitespace().find(|word| !word.contains('=')).unwrap_or(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_stands_after_its_variables() {
        assert_eq!(program_in("agent --acp"), "agent");
        assert_eq!(program_in("A=1 B=\"$HOME\" /opt/agent --stdio"), "/opt/agent");
    }
}
