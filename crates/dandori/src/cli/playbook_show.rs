//! `dandori playbook show`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_playbook::{Phase, Playbook, Subtask};
use dandori_text::ui::{Head, head};
use dandori_text::{Lang, Table, playbook};
use serde_json::{Value, json};

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, bold};

#[derive(Args)]
pub(crate) struct PlaybookShowArgs {
    /// The playbook's file or name (default: the active one)
    file: Option<Utf8PathBuf>,
}

pub(crate) fn run(args: &PlaybookShowArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let (path, text) = documents.playbook(args.file.as_deref(), context)?;
    let found = Playbook::read(&text);
    let path = documents.short(&path);
    out.object(&as_json(path, &found, out.lang));
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

fn as_json(path: &str, found: &Playbook, lang: Lang) -> Value {
    json!({
        "path": path, "name": found.name, "branch": found.branch, "reviewed": found.reviewed,
        "executor": found.executor, "scope": found.scope, "odd": found.odd.iter().map(|odd| playbook::odd(lang, odd)).collect::<Vec<_>>(),
        "phases": found.phases.iter().map(phase).collect::<Vec<_>>(),
    })
}

fn phase(phase: &Phase) -> Value {
    json!({
        "id": phase.id, "title": phase.title, "status": phase.status.as_str(), "depends_on": phase.depends_on,
        "executor": phase.executor, "done_criteria": phase.done_criteria, "line": phase.line + 1,
        "subtasks": phase.subtasks.iter().map(subtask).collect::<Vec<_>>(),
    })
}

fn subtask(subtask: &Subtask) -> Value {
    json!({ "text": subtask.text, "done": subtask.is_done, "missing": subtask.missing(), "line": subtask.line + 1 })
}
