//! `dandori task diff`

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;
use dandori_api::DiffView;
use dandori_domain::Problem;
use dandori_domain::plain::plain_path;
use dandori_domain::problem::Rival;
use dandori_text::{coloured_like, table, ui, watch};
use serde::Serialize;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::{Failed, Out, are_coloured, state, terminal_width};
use crate::pager;

#[derive(Args)]
pub(crate) struct TaskDiffArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    task: String,
    /// Only show the changes of one run
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Show the changed files and line counts
    #[arg(long, conflicts_with = "name_only")]
    stat: bool,
    /// Show the names of the changed files
    #[arg(long)]
    name_only: bool,
    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Object {
    #[serde(flatten)]
    diff: DiffView,
    patch: String,
}

pub(crate) async fn run(args: TaskDiffArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let diff = match fetch(&client, &args.task, args.run.as_deref()).await {
        Err(Problem::WhichAgent { task, rivals }) if is_asked(context) => {
            let Some(rival) = ask(context, &task, &rivals)? else { return Err(Failed::Quiet(1)) };
            fetch(&client, &rival.run, None).await?
        }
        other => other?,
    };
    let out = &context.out;
    if out.json {
        let patch = patch(&client, &diff, "apply").await?;
        out.object(&Object { diff, patch: String::from_utf8_lossy(&patch).into_owned() });
        return Ok(ExitCode::SUCCESS);
    }
    if diff.files.is_empty() {
        out.say(ui::no_changes(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let is_watched = std::io::stdout().is_terminal();
    if diff.commit.is_none() && is_watched {
        out.say(watch::uncommitted(out.lang, &diff.run, diff.state));
    }
    let bytes = if args.name_only {
        // One line each, for those who read them and for those who count them.
        let names: Vec<_> = diff.files.iter().flat_map(|file| [plain_path(&file.path), "\n".into()]).collect();
        names.concat().into_bytes()
    } else if is_watched {
        let cells = terminal_width().unwrap_or(80);
        readable(&client, &diff, &if args.stat { format!("stat&cells={cells}") } else { "read".to_owned() }).await?
    } else {
        patch(&client, &diff, if args.stat { "stat" } else { "apply" }).await?
    };
    if args.no_pager {
        Out::raw(&bytes);
    } else {
        pager::show(context, &bytes);
    }
    Ok(ExitCode::SUCCESS)
}

async fn fetch(client: &Client, task: &str, run: Option<&str>) -> Result<DiffView, Problem> {
    let only = run.map(|run| format!("?run={}", quoted(run))).unwrap_or_default();
    client.get(&format!("/v1/tasks/{}/diff{only}", quoted(task))).await
}

async fn patch(client: &Client, diff: &DiffView, form: &str) -> Result<Vec<u8>, Problem> {
    let (Some(from), Some(to)) = (&diff.from, &diff.to) else { return Ok(Vec::new()) };
    client.bytes(&format!("/v1/tasks/{}/patch?from={from}&to={to}&form={form}", quoted(&diff.task))).await
}

/// For a terminal: with git's own colours where colours are wanted, and nothing of the files commands it.
async fn readable(client: &Client, diff: &DiffView, form: &str) -> Result<Vec<u8>, Problem> {
    let plain = patch(client, diff, form).await?;
    let plain = String::from_utf8_lossy(&plain);
    if !are_coloured() {
        return Ok(dandori_domain::plain::plain(&plain).into_bytes());
    }
    let coloured = patch(client, diff, &format!("{form}&color=true")).await?;
    Ok(coloured_like(&plain, &String::from_utf8_lossy(&coloured)).into_bytes())
}

/// Somebody can be asked.
fn is_asked(context: &Context) -> bool {
    context.out.live && std::io::stdin().is_terminal()
}

/// Whose work is meant. `None`: none of them.
fn ask(context: &Context, task: &str, rivals: &[Rival]) -> Result<Option<Rival>, Failed> {
    let out = &context.out;
    out.say(watch::which_agent(out.lang, task));
    let names: Vec<String> = rivals.iter().map(|rival| table::fit(&rival.agent, 40)).collect();
    let widest = names.iter().map(|name| table::width(name)).max().unwrap_or(0);
    for (i, (rival, name)) in rivals.iter().zip(&names).enumerate() {
        let gap = " ".repeat(widest - table::width(name));
        out.say(format!("  {}  {}  {name}{gap}  {}", i + 1, rival.run, state(rival.state)));
    }
    let _ = write!(anstream::stderr(), "{}", watch::choose(out.lang, rivals.len()));
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.map_err(|e| Problem::Io { path: "/dev/stdin".into(), reason: e.to_string() })?;
    let at = answer.trim().parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    Ok(at.and_then(|at| rivals.get(at)).cloned())
}
