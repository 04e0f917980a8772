//! `dandori run "…"`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{CreateTask, TaskView};
use dandori_domain::Problem;
use dandori_text::{editor, pulls, ui};

use super::Context;
use super::begin::BaseArgs;
use super::instruction::InstructionArgs;
use super::wait::WaitArgs;
use crate::client::Client;
use crate::out::Failed;

fn who_works() -> String {
    format!("Agent to use: {}, exec:<command>, or a name from dandori.toml", dandori_domain::client::names())
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    instruction: InstructionArgs,
    #[arg(long, short = 'a', conflicts_with = "agents", help = who_works())]
    agent: Option<String>,
    /// Run several agents on the same task in parallel
    #[arg(long, value_name = "A,B")]
    agents: Vec<String>,
    #[command(flatten)]
    base: BaseArgs,
    /// Open a pull request when the work is committed and pushed
    #[arg(long, overrides_with = "no_pr")]
    pr: bool,
    /// Do not open a pull request, even if the configuration says so
    #[arg(long)]
    no_pr: bool,
    #[command(flatten)]
    wait: WaitArgs,
    /// Maximum cost in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = super::instruction::budget)]
    budget: Option<f64>,
    /// Model for the agent to use
    #[arg(long, short = 'm')]
    model: Option<String>,
}

pub(crate) async fn run(args: RunArgs, context: &Context) -> Result<ExitCode, Failed> {
    let here = context.here()?;
    let instruction =
        args.instruction.read(context, &editor::for_run(context.out.lang, here.as_str()), "dandori run")?;
    let request = CreateTask {
        path: here.into_string(),
        instruction: instruction.text.clone(),
        agents: args.agent.into_iter().chain(args.agents.iter().flat_map(|a| side_by_side(a))).collect(),
        base: args.base.name(),
        pr: (args.pr || args.no_pr).then_some(args.pr),
        budget: args.budget,
        model: args.model,
        env: Some(context.variables()),
    };
    let asked = async {
        let client = Client::connect(context).await?;
        let task: TaskView = client.post("/v1/tasks", &request).await?;
        Ok::<_, Problem>((client, task))
    };
    let (client, task) = asked.await.inspect_err(|_| instruction.kept(context, "dandori run"))?;
    instruction.taken();
    context.out.say_on(2, &ui::started(context.out.lang, &task.number, &task.title));
    if args.pr && task.runs.len() > 1 {
        context.out.note(pulls::waits_for_pick(context.out.lang, &task.number));
    }
    let runs = task.runs.iter().map(|r| r.id.clone()).collect();
    args.wait.wait(client, task, runs, context).await
}

/// `claude,exec:echo a,b > f` is two agents: a comma parts them only where a name or `exec:` follows it.
fn side_by_side(text: &str) -> Vec<String> {
    let is_name = |t: &str| {
        t.starts_with("exec:") || !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
    };
    let mut agents: Vec<String> = Vec::new();
    for part in text.split(',') {
        match agents.last_mut() {
            Some(last) if !is_name(part.trim()) => {
                last.push(',');
                last.push_str(part);
            }
            _ => agents.push(part.to_owned()),
        }
    }
    agents
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn a_comma_inside_a_command_is_part_of_it() {
        assert_eq!(side_by_side("claude,codex"), ["claude", "codex"]);
        assert_eq!(side_by_side("claude,exec:echo a, b > f,my-agent"), ["claude", "exec:echo a, b > f", "my-agent"]);
        assert_eq!(side_by_side("exec:a,exec:b"), ["exec:a", "exec:b"]);
    }
}
