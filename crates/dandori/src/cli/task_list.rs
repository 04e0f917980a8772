//! `dandori task list`

use std::process::ExitCode;

use clap::Args;
use dandori_api::TaskView;
use dandori_domain::WaitReason;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Table, table};

use super::{Context, told};
use crate::client::{Client, in_path};
use crate::out::{Failed, state, terminal_width};

#[derive(Args)]
pub(crate) struct TaskListArgs {
    /// Of all repositories, not only of this one
    #[arg(long, short = 'A')]
    all: bool,
    /// Only what is not over
    #[arg(long)]
    open: bool,
    /// How many
    #[arg(long, short = 'n', default_value_t = 20)]
    limit: u32,
}

pub(crate) async fn run(args: TaskListArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let here = if args.all { String::new() } else { format!("&path={}", in_path(&context.here()?)) };
    let tasks: Vec<TaskView> = client.get(&format!("/v1/tasks?limit={}&open={}{here}", args.limit, args.open)).await?;
    let out = &context.out;
    out.object(&tasks);
    if tasks.is_empty() {
        out.say(ui::no_tasks(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let columns = [Head::Task, Head::Run, Head::Agent, Head::State, Head::Changes, Head::Pull, Head::Title];
    // A command line as an agent must not take the title's place.
    let agent_cells = if terminal_width().is_some_and(|cells| cells < 110) { 10 } else { 24 };
    let mut rows = Table::new(columns.map(|h| head(out.lang, h)));
    let mut lacks = Vec::new();
    for task in &tasks {
        for (i, run) in task.runs.iter().enumerate() {
            let first = i == 0;
            let reason = told::waits_for(run);
            let lacking = ui::lacking_word(out.lang, &reason).map(|word| format!(" {word}")).unwrap_or_default();
            let place = run.place.map(|p| format!(" #{p}{lacking}")).unwrap_or_default();
            if reason != WaitReason::Place && !lacks.contains(&reason) {
                lacks.push(reason);
            }
            rows.row([
                if first { task.number.clone() } else { String::new() },
                run.key.clone(),
                table::fit(&run.agent, agent_cells),
                format!("{}{place}", state(run.state)),
                told::result(out, run),
                run.pr.as_ref().map(|p| format!("#{}", p.number)).unwrap_or_default(),
                if first { task.title.clone() } else { String::new() },
            ]);
        }
    }
    out.table(&rows);
    for reason in lacks {
        out.note(ui::lacking(out.lang, &reason));
    }
    Ok(ExitCode::SUCCESS)
}
