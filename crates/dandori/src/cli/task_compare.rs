//! `dandori task compare`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{ComparedRun, Comparison};
use dandori_domain::plain::plain_path;
use dandori_domain::run::Status;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Table, table, watch};

use super::{Context, told};
use crate::client::{Client, quoted};
use crate::out::{Failed, state};

#[derive(Args)]
pub(crate) struct TaskCompareArgs {
    /// Task: T-3 or 3, or a branch
    task: String,
}

pub(crate) async fn run(args: TaskCompareArgs, context: &Context) -> Result<ExitCode, Failed> {
    let client = Client::connect(context).await?;
    let compared: Comparison = client.get(&format!("/v1/tasks/{}/compare", quoted(&args.task))).await?;
    let out = &context.out;
    out.object(&compared);
    let lang = out.lang;
    let columns = [Head::Run, Head::Agent, Head::State, Head::Changes, Head::Cost];
    let mut runs = Table::new(columns.map(|h| head(lang, h)));
    for run in &compared.runs {
        let files = u32::try_from(run.files.len()).unwrap_or(u32::MAX);
        runs.row([
            run.key.clone(),
            table::fit(&run.agent, 32),
            state(run.state),
            if files == 0 { String::new() } else { ui::changes(lang, files, run.insertions, run.deletions) },
            run.usage.and_then(|used| watch::spent(lang, &told::usage(used))).unwrap_or_default(),
        ]);
    }
    // What tells them apart stays.
    let by_agent = names(&compared.runs).iter().zip(&compared.runs).all(|(name, run)| *name == run.agent);
    out.table(&runs.rank(if by_agent { [3, 0, 2, 0, 1] } else { [0, 3, 2, 0, 1] }));
    out.line("");
    let mut paths: Vec<&str> = compared.runs.iter().flat_map(|r| r.files.iter().map(|f| f.path.as_str())).collect();
    paths.sort_unstable();
    paths.dedup();
    let heads = [head(lang, Head::Files).to_owned()].into_iter().chain(names(&compared.runs));
    let mut files = Table::new(heads.chain([head(lang, Head::Overlap).to_owned()]));
    // Who changed what is never left out.
    files = files.rank(compared.runs.iter().map(|_| 0).chain([0, 1])).shrink(0, 12);
    for path in paths {
        let mut row = vec![plain_path(path).into_owned()];
        for run in &compared.runs {
            let file = run.files.iter().find(|f| f.path == path);
            row.push(file.map(|f| format!("+{} −{}", f.insertions, f.deletions)).unwrap_or_default());
        }
        let overlap = compared.overlap.iter().find(|o| o.path == path);
        let word = |same| if same { ui::same_change(lang) } else { ui::different_change(lang) };
        row.push(overlap.map(|o| word(o.same).to_owned()).unwrap_or_default());
        files.row(row);
    }
    out.table(&files);
    let diff = format!("dandori task diff {}", compared.task);
    out.next(&[diff].into_iter().chain(picks(&compared)).collect::<Vec<_>>());
    Ok(ExitCode::SUCCESS)
}

/// What tells the runs apart: their agents, if each is another one, and a short one.
fn names(runs: &[ComparedRun]) -> Vec<String> {
    let is_name = |run: &ComparedRun| {
        let same = runs.iter().filter(|other| other.agent == run.agent).count();
        same == 1 && run.agent.len() <= run.key.len() && run.agent.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let are_names = runs.iter().all(is_name);
    runs.iter().map(|run| if are_names { run.agent.clone() } else { run.key.clone() }).collect()
}

/// The command for each that can be picked.
fn picks(compared: &Comparison) -> impl Iterator<Item = String> {
    let done = compared.runs.iter().zip(names(&compared.runs)).filter(|(run, _)| run.state == Status::Succeeded);
    done.map(|(_, name)| format!("dandori task pick {} {name}", compared.task))
}
