//! `dandori config edit`

use std::process::ExitCode;

use clap::Args;
use dandori_api::config::ConfigChangeView;
use dandori_text::config as text;

use super::Context;
use super::config_file::FileArgs;
use super::config_init::template;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct ConfigEditArgs {
    #[command(flatten)]
    file: FileArgs,
}

pub(crate) fn run(args: &ConfigEditArgs, context: &Context) -> Result<ExitCode, Failed> {
    crate::person::refuse_agents(context)?;
    let out = &context.out;
    let file = args.file.file(context)?;
    let is_new = !file.path.exists();
    if is_new {
        file.write(&template(out.lang, file.source))?;
    }
    let before = file.text()?;
    let opened = crate::editor::open(context, &file.path);
    let after = file.text()?;
    // Nobody wrote anything: the file was only there to be looked at.
    if is_new && (opened.is_err() || after == before) {
        let _ = std::fs::remove_file(&file.path);
    }
    opened?;
    let changed = after != before;
    let faults = file.faults();
    if let Some(first) = faults.into_iter().next() {
        return Err(first.into());
    }
    out.object(&ConfigChangeView { path: file.path.to_string(), key: None, value: None, changed });
    let said = if changed { text::is_sound } else { text::unchanged };
    out.prose(0, said(out.lang, file.path.as_str()));
    file.note_trust(context);
    Ok(ExitCode::SUCCESS)
}
