//! `dandori playbook check`

use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_playbook::{Playbook, check};
use dandori_text::playbook;
use serde_json::json;

use super::Context;
use crate::documents::Documents;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct PlaybookCheckArgs {
    /// The playbook's file or name (default: the active one)
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
    out.object(&json!({ "path": path, "ok": faults.is_empty(), "faults": faults }));
    for fault in &faults {
        out.line(fault);
    }
    if faults.is_empty() {
        out.line(playbook::no_faults(out.lang, path));
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}
