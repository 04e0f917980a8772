//! `dandori task log`

use std::process::ExitCode;

use clap::Args;
use dandori_api::RunView;
use dandori_domain::AgentEvent;
use dandori_text::{LogLine, LogLines, Tone, json_screen};

use super::{Context, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, bad, bold, dim};

#[derive(Args)]
pub(crate) struct TaskLogArgs {
    /// Key or id of a run, or a task (its latest run)
    run: String,
    /// Print the agent's raw output
    #[arg(long)]
    raw: bool,
}

pub(crate) async fn run(args: TaskLogArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let run: RunView = client.get(&format!("/v1/runs/{}", quoted(&args.run))).await?;
    if args.raw {
        client.pour(&format!("/v1/runs/{}/log?raw=true", quoted(&run.id)), Out::raw).await?;
        return Ok(ExitCode::SUCCESS);
    }
    let out = &context.out;
    let mut lines = LogLines::new(out.lang, run.worktree.as_deref());
    let mut events = client.stream(&format!("/v1/runs/{}/log", quoted(&run.id))).await?;
    while let Some(data) = events.next().await {
        if out.json {
            // A stream has no one object: a line each.
            Out::raw(format!("{}\n", json_screen(&data)).as_bytes());
        } else if let Ok(event) = serde_json::from_str::<AgentEvent>(&data) {
            show(out, &lines.of(&event));
        }
    }
    // What ended it may not be the agent's own word: a limit of ours, or what was found afterwards.
    let run: RunView = client.get(&format!("/v1/runs/{}", quoted(&run.id))).await?;
    show(out, &lines.end(told::error(out, &run).as_deref()));
    Ok(ExitCode::SUCCESS)
}

fn show(out: &Out, lines: &[LogLine]) {
    for line in lines {
        match line.tone {
            // Sentences; what tools print stays as it is.
            Tone::Plain => out.prose(0, &line.text),
            Tone::Strong => out.line(bold(&line.text)),
            Tone::Faint => out.line(dim(&line.text)),
            Tone::Bad => out.prose(0, bad(&line.text)),
        }
    }
}
