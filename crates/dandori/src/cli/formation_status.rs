//! The formation's part of `dandori status`.

use std::process::ExitCode;
use std::time::Duration;

use dandori_api::formation::{CommandStage, FormationView};
use dandori_domain::Problem;
use dandori_text::formation::status;

use super::{Context, formation};
use crate::client::Client;
use crate::moving::Moving;
use crate::out::{Failed, Out, terminal_width};

/// How often it is looked at while somebody watches.
const LOOK: Duration = Duration::from_secs(1);

/// Below everything else, where it is up or has something to do.
pub(crate) fn beside(out: &Out, view: Option<&FormationView>) {
    let is_open = |stage| matches!(stage, CommandStage::Queued | CommandStage::Sealed);
    let Some(view) = view.filter(|view| view.is_up || view.commands.iter().any(|c| is_open(c.state))) else { return };
    out.line("");
    print(out, view);
}

/// Alone. One that there is not yet is shown as it would be.
pub(crate) async fn show(view: Option<FormationView>, context: &Context) -> Result<(), Failed> {
    if context.out.json {
        return Ok(());
    }
    let view = match view {
        Some(view) => view,
        None => look(context).await?,
    };
    print(&context.out, &view);
    Ok(())
}

/// An agent of the formation sees this and nothing else of the repository.
pub(crate) async fn alone(context: &Context) -> Result<ExitCode, Failed> {
    let view = look(context).await?;
    context.out.object(&view);
    print(&context.out, &view);
    Ok(ExitCode::SUCCESS)
}

fn print(out: &Out, view: &FormationView) {
    for line in status::formation(out.lang, view, terminal_width()) {
        out.line(line);
    }
}

async fn look(context: &Context) -> Result<FormationView, Failed> {
    let client = Client::connect(context).await?;
    Ok(client.get(&format!("/v1/formation{}", formation::query(context)?)).await?)
}

/// Drawn over itself until Ctrl-C.
pub(crate) async fn watch(context: &Context) -> Result<ExitCode, Failed> {
    let mut moving = Moving::new(&context.env);
    let client = Client::connect(context).await?;
    let path = format!("/v1/formation{}", formation::query(context)?);
    loop {
        let view: Result<FormationView, Problem> = client.get(&path).await;
        let view = match view {
            Ok(view) => view,
            Err(problem) => {
                moving.clear();
                return Err(problem.into());
            }
        };
        let (columns, rows) = Moving::room();
        let mut lines = status::formation(context.out.lang, &view, Some(columns));
        lines.truncate(rows.saturating_sub(1));
        moving.draw(&[], &lines);
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = tokio::signal::ctrl_c() => {
                moving.draw(&lines, &[]);
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}
