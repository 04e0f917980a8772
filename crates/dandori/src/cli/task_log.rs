//! `dandori task log`

use std::process::ExitCode;

use clap::Args;
use dandori_api::RunView;
use dandori_domain::{AgentEvent, Verdict};
use dandori_text::table::fit;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, bold, dim};

#[derive(Args)]
pub(crate) struct TaskLogArgs {
    /// A run's key or id, or a task: its newest run
    run: String,
    /// The agent's own stream, byte for byte
    #[arg(long)]
    raw: bool,
}

pub(crate) async fn run(args: TaskLogArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let run: RunView = client.get(&format!("/v1/runs/{}", quoted(&args.run))).await?;
    if args.raw {
        Out::raw(&client.bytes(&format!("/v1/runs/{}/log?raw=true", quoted(&run.id))).await?);
        return Ok(ExitCode::SUCCESS);
    }
    let mut events = client.stream(&format!("/v1/runs/{}/log", quoted(&run.id))).await?;
    while let Some(data) = events.next().await {
        if context.out.json {
            // A stream has no one object: a line each.
            Out::raw(format!("{data}\n").as_bytes());
            continue;
        }
        if let Ok(event) = serde_json::from_str::<AgentEvent>(&data)
            && let Some(line) = told(context, &event)
        {
            context.out.line(line);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn told(context: &Context, event: &AgentEvent) -> Option<String> {
    let one = |text: &str| fit(&text.split_whitespace().collect::<Vec<_>>().join(" "), 160);
    Some(match event {
        AgentEvent::Started { model, .. } => dim(&format!("· {}", model.as_deref().unwrap_or("started"))),
        AgentEvent::Message { text } | AgentEvent::Line { text } => text.trim_end().to_owned(),
        AgentEvent::Thought { text } => dim(&format!("  {}", one(text))),
        AgentEvent::ToolCall { name, input, .. } => format!("{} {}", bold(&format!("▸ {name}")), one(input)),
        AgentEvent::ToolResult { ok: true, output, .. } => dim(&format!("  {}", one(output))),
        AgentEvent::ToolResult { ok: false, output, .. } => format!("  ✗ {}", one(output)),
        AgentEvent::Retrying { attempt, reason } => dim(&format!("  ↻ {attempt}: {}", one(reason))),
        AgentEvent::Warning { text } => dim(&format!("! {}", one(text))),
        AgentEvent::Error { text } => format!("✗ {}", one(text)),
        AgentEvent::Finished { verdict: Verdict::Failed { failure } } => {
            format!("✗ {}", dandori_text::agent_failure(context.out.lang, failure))
        }
        AgentEvent::Finished { verdict: Verdict::Done { .. } } => bold("✓"),
        AgentEvent::Usage { .. } | AgentEvent::Unknown { .. } => return None,
    })
}
