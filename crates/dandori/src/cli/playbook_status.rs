//! `dandori playbook status`

use std::process::ExitCode;

use dandori_api::PlaybookStatus;
use dandori_playbook::{PhaseStatus, Playbook};
use dandori_text::playbook;

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, bold};

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let (path, text) = documents.playbook(None, context)?;
    let found = Playbook::read(&text);
    let count = |status| found.phases.iter().filter(|phase| phase.status == status).count();
    let (done, working, pending) =
        (count(PhaseStatus::Done), count(PhaseStatus::InProgress), count(PhaseStatus::Pending));
    let here = documents.branch();
    let current = found.current();
    let ready = found.phases.iter().find(|p| p.status == PhaseStatus::Pending && found.unfinished_before(p).is_empty());
    let path = documents.short(&path);
    out.object(&PlaybookStatus {
        path: path.to_owned(),
        name: found.name.clone(),
        branch: found.branch.clone(),
        on_branch: here.clone(),
        reviewed: found.reviewed,
        done,
        in_progress: working,
        pending,
        is_done: found.is_done(),
        current: current.map(|p| p.id.clone()),
        next: ready.map(|p| p.id.clone()),
    });
    out.line(format!("{} ({path})", bold(found.name.as_deref().unwrap_or(path))));
    out.prose(0, playbook::progress(out.lang, done, working, pending));
    if let Some(phase) = current.or(ready) {
        let status = playbook::phase_status(out.lang, phase.status);
        out.line(format!("  {} {} ({status})", phase.id, phase.title));
        for criterion in &phase.done_criteria {
            out.line(format!("    - {criterion}"));
        }
    }
    if found.is_done() {
        out.prose(0, playbook::all_done(out.lang));
    }
    if !found.reviewed {
        out.note(playbook::unreviewed(out.lang));
    }
    if let (Some(wanted), Some(found)) = (&found.branch, &here)
        && wanted != found
    {
        out.note(playbook::elsewhere(out.lang, wanted, found));
    }
    Ok(ExitCode::SUCCESS)
}
