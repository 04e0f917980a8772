//! `dandori task open`: a shell or the editor in the worktree of a task.

use std::process::ExitCode;

use clap::Args;
use dandori_api::{RunView, TaskOpened, TaskView};
use dandori_text::worktree as text;

use super::Context;
use crate::client::{Client, quoted};
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct TaskOpenArgs {
    /// Task: T-3 or 3, a run's key, or a branch
    task: String,
    /// Open the folder in your editor instead of a shell
    #[arg(long, short = 'e')]
    editor: bool,
}

pub(crate) async fn run(args: TaskOpenArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let client = Client::connect(context).await?;
    let task: TaskView = client.get(&format!("/v1/tasks/{}", quoted(&args.task))).await?;
    let run = chosen(&task, &args, context)?;
    let Some(worktree) = run.worktree.as_deref().filter(|path| camino::Utf8Path::new(path).is_dir()) else {
        let preserved = run.preserved.as_ref().map(|_| run.key.as_str());
        return Err(Failed::Refused(text::gone(out.lang, &args.task, run.branch.as_deref(), preserved)));
    };
    out.object(&TaskOpened { task: task.number.clone(), run: run.key.clone(), worktree: worktree.to_owned() });
    if out.json {
        return Ok(ExitCode::SUCCESS);
    }
    if !run.state.is_terminal() {
        out.note(text::agent_is_there(out.lang, &run.key));
    }
    if args.editor {
        crate::editor::open(context, worktree.into())?;
        return Ok(ExitCode::SUCCESS);
    }
    out.say(text::in_shell(out.lang, worktree, run.branch.as_deref().unwrap_or_default()));
    let shell = context.env.text("SHELL").unwrap_or("/bin/sh");
    let io = |e: std::io::Error| dandori_domain::Problem::Io { path: shell.into(), reason: e.to_string() };
    let status = crate::editor::in_foreground(context, shell, &[], Some(worktree.into())).map_err(io)?;
    // What the last command in the shell said is between the user and the shell.
    let _ = status;
    Ok(ExitCode::SUCCESS)
}

/// The run that is named, else the picked one, else the only one whose worktree is there, else the newest.
fn chosen<'t>(task: &'t TaskView, args: &TaskOpenArgs, context: &Context) -> Result<&'t RunView, Failed> {
    let named = task.runs.iter().find(|r| r.key == args.task || r.id == args.task);
    let picked = || task.runs.iter().find(|r| Some(&r.key) == task.picked.as_ref());
    if let Some(run) = named.or_else(picked) {
        return Ok(run);
    }
    // Follow-ups share the worktree of the first: the newest stands for it.
    let mut there: Vec<&RunView> = Vec::new();
    for run in task.runs.iter().filter(|r| r.worktree.is_some()) {
        there.retain(|known| known.worktree != run.worktree);
        there.push(run);
    }
    match there.as_slice() {
        [one] => Ok(one),
        [] => task.runs.last().ok_or_else(|| Failed::Refused(text::gone(context.out.lang, &args.task, None, None))),
        several => {
            let listed: Vec<_> = several.iter().map(|r| (r.key.clone(), r.agent.clone())).collect();
            Err(Failed::Refused(text::several(context.out.lang, &task.number, &listed, "dandori task open")))
        }
    }
}
