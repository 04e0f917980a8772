//! `dandori pr create`

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Args;
use dandori_api::{Comparison, CreatePull, Pick, Picked, PullPut};
use dandori_domain::Problem;
use dandori_text::{pulls as text, table};

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, dim};

#[derive(Args)]
pub(crate) struct PrCreateArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    #[arg(value_name = "TASK")]
    of: String,
    /// Title (default: from the instruction)
    #[arg(long)]
    title: Option<String>,
    /// Body (default: from the instruction and the agent's summary)
    #[arg(long)]
    body: Option<String>,
}

pub(crate) async fn run(args: PrCreateArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let mut body = CreatePull {
        path: context.here()?.into_string(),
        of: args.of,
        title: args.title,
        body: args.body,
        env: Some(context.variables()),
    };
    let put: PullPut = match client.post("/v1/pulls", &body).await {
        Err(Problem::PickFirst { task, candidates }) if is_asked(context) => {
            body.of = choose(&client, context, &task, &candidates).await?;
            client.post("/v1/pulls", &body).await?
        }
        other => other?,
    };
    let (out, pull) = (&context.out, &put.pull);
    out.object(&put);
    match put.outcome.as_str() {
        "updated" => out.prose(0, text::updated(out.lang, pull.number, &pull.url)),
        "unchanged" => {
            out.prose(0, text::unchanged(out.lang, pull.number, &pull.url));
            out.say(text::update_hint(out.lang));
        }
        _ => out.prose(0, text::opened(out.lang, pull.number, &pull.url)),
    }
    out.prose(2, &pull.title);
    out.prose(2, dim(&format!("{} → {}", pull.head, pull.base)));
    out.next(&[format!("dandori pr show {}", pull.number), format!("dandori pr merge {}", pull.number)]);
    Ok(ExitCode::SUCCESS)
}

/// Somebody can be asked.
fn is_asked(context: &Context) -> bool {
    context.out.live && std::io::stdin().is_terminal()
}

/// Which candidate it is to be: the choice is kept as the task's pick.
async fn choose(client: &Client, context: &Context, task: &str, keys: &[String]) -> Result<String, Failed> {
    let out = &context.out;
    let compared: Comparison = client.get(&format!("/v1/tasks/{}/compare", quoted(task))).await?;
    out.say(text::choose(out.lang, task));
    let run_of = |key: &String| compared.runs.iter().find(|run| run.chain.contains(key));
    let name = |key: &String| run_of(key).map_or_else(String::new, |run| table::fit(&run.agent, 40));
    let widest = keys.iter().map(|key| table::width(&name(key))).max().unwrap_or(0);
    for (i, key) in keys.iter().enumerate() {
        let (run, agent) = (run_of(key), name(key));
        let agent = format!("{agent}{}", " ".repeat(widest - table::width(&agent)));
        let files = run.map(|run| text::candidate_files(out.lang, run.files.len(), run.insertions, run.deletions));
        out.say(format!("  {}  {key}  {agent}  {}", i + 1, files.unwrap_or_default()));
    }
    let answer = crate::person::answer(&text::which(out.lang, keys.len()))?;
    let at = answer.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let Some(key) = at.and_then(|at| keys.get(at)) else {
        return Err(Failed::Refused(text::not_chosen(out.lang, &text::pick_commands(task, keys))));
    };
    let pick = Pick { run: key.clone(), pr: None, env: Some(context.variables()) };
    let _: Picked = client.post(&format!("/v1/tasks/{}/pick", quoted(task)), &pick).await?;
    Ok(key.clone())
}
