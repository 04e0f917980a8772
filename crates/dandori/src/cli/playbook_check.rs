//! `dandori playbook check`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::PlaybookChecked;
use dandori_playbook::{Playbook, check};
use dandori_text::playbook;

use super::Context;
use crate::documents::Documents;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlaybookCheckArgs {
    /// Playbook file or name (default: the active playbook)
    file: Option<Utf8PathBuf>,
}

pub(crate) fn run(args: &PlaybookCheckArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    let (path, text) = documents.playbook(args.file.as_deref(), context)?;
    let found = Playbook::read(&text);
    let faults = check(&found).into_iter().map(|fault| playbook::fault(out.lang, &fault));
    let faults: Vec<String> = found.odd.iter().map(|odd| playbook::odd(out.lang, odd)).chain(faults).collect();
    let path = documents.short(&path);
    out.object(&PlaybookChecked {
        path: path.to_owned(),
        ok: faults.is_empty(),
        faults: faults.clone(),
        total: faults.len(),
    });
    for fault in &faults {
        out.prose(0, fault);
    }
    if faults.is_empty() {
        out.prose(0, playbook::no_faults(out.lang, path));
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}
