//! `dandori consent`

use std::process::ExitCode;

use dandori_api::Consented;
use dandori_guard::Mark;
use dandori_text::guard::verbs as text;

use super::Context;
use crate::guarded::Guarded;
use crate::out::Failed;
use crate::person::Confirmed;

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let guarded = Guarded::here(context)?;
    let mut waiting = dandori_journal::sessions(&guarded.folder);
    waiting.retain(|session| session.mark(&Mark::Consent).is_some() && session.mark(&Mark::Confirmed).is_none());
    if waiting.is_empty() {
        out.object(&Consented { sessions: 0 });
        out.prose(0, text::nothing_to_consent(out.lang));
        return Ok(ExitCode::SUCCESS);
    }
    let Confirmed { .. } = Confirmed::ask(context, &text::consent_what(out.lang, waiting.len()))?;
    for session in &waiting {
        // In this order: one that was interrupted is found again.
        session.set(&Mark::Confirmed, "", dandori_host::now()).map_err(|e| guarded.io(&e))?;
        session.clear(&Mark::Consent).map_err(|e| guarded.io(&e))?;
    }
    out.object(&Consented { sessions: waiting.len() });
    out.prose(0, text::consented(out.lang, waiting.len()));
    Ok(ExitCode::SUCCESS)
}
