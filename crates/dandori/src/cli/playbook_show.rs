//! `dandori playbook show`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::{PhaseView, PlaybookView, SubtaskView};
use dandori_playbook::{Phase, Playbook, Subtask};
use dandori_text::ui::{Head, head};
use dandori_text::{Lang, Table, playbook};

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, bold};

#[derive(Args)]
pub(crate) struct PlaybookShowArgs {
    /// Playbook file or name (default: the active playbook)
    file: Option<Utf8PathBuf>,
}

pub(crate) fn run(args: &PlaybookShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let (path, text) = documents.playbook(args.file.as_deref(), context)?;
    let found = Playbook::read(&text);
    let path = documents.short(&path);
    out.object(&told(path, &found, out.lang));
    let name = found.name.as_deref().unwrap_or(path);
    let reviewed = if found.reviewed { playbook::reviewed(out.lang) } else { playbook::unreviewed(out.lang) };
    out.line(format!("{} ({})", bold(name), reviewed));
    out.line(format!("  {path}  {}", found.branch.as_deref().unwrap_or_default()));
    let columns = [Head::Phase, Head::State, Head::Subtasks, Head::After, Head::Title];
    let mut table = Table::new(columns.map(|h| head(out.lang, h)));
    for phase in &found.phases {
        let done = phase.subtasks.iter().filter(|s| s.is_done).count();
        let subtasks =
            if phase.subtasks.is_empty() { String::new() } else { format!("{done}/{}", phase.subtasks.len()) };
        let status = playbook::phase_status(out.lang, phase.status).to_owned();
        table.row([phase.id.clone(), status, subtasks, phase.depends_on.join(", "), phase.title.clone()]);
    }
    out.table(&table);
    for odd in &found.odd {
        out.note(playbook::odd(out.lang, odd));
    }
    Ok(ExitCode::SUCCESS)
}

fn told(path: &str, found: &Playbook, lang: Lang) -> PlaybookView {
    PlaybookView {
        path: path.to_owned(),
        name: found.name.clone(),
        branch: found.branch.clone(),
        reviewed: found.reviewed,
        executor: found.executor.clone(),
        scope: found.scope.clone(),
        phases: found.phases.iter().map(phase).collect(),
        odd: found.odd.iter().map(|odd| playbook::odd(lang, odd)).collect(),
    }
}

fn phase(phase: &Phase) -> PhaseView {
    PhaseView {
        id: phase.id.clone(),
        title: phase.title.clone(),
        state: phase.status.as_str().to_owned(),
        depends_on: phase.depends_on.clone(),
        executor: phase.executor.clone(),
        done_criteria: phase.done_criteria.clone(),
        subtasks: phase.subtasks.iter().map(subtask).collect(),
        line: phase.line + 1,
    }
}

fn subtask(subtask: &Subtask) -> SubtaskView {
    SubtaskView {
        text: subtask.text.clone(),
        done: subtask.is_done,
        missing: subtask.missing().into_iter().map(str::to_owned).collect(),
        line: subtask.line + 1,
    }
}
