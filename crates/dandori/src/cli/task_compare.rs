//! `dandori task compare`

use std::process::ExitCode;

use clap::Args;
use dandori_api::Comparison;
use dandori_text::ui::{self, Head, head};
use dandori_text::{Table, table};

use super::Context;
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
            run.usage.and_then(|u| u.cost).map(|c| format!("${c:.4}")).unwrap_or_default(),
        ]);
    }
    out.table(&runs);
    out.line("");
    let mut paths: Vec<&str> = compared.runs.iter().flat_map(|r| r.files.iter().map(|f| f.path.as_str())).collect();
    paths.sort_unstable();
    paths.dedup();
    let heads = [head(lang, Head::Files).to_owned()].into_iter().chain(compared.runs.iter().map(|r| r.key.clone()));
    let mut files = Table::new(heads.chain([head(lang, Head::Overlap).to_owned()]));
    for path in paths {
        let mut row = vec![path.to_owned()];
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
    Ok(ExitCode::SUCCESS)
}
