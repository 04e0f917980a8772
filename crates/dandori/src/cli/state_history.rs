//! `dandori state history`

use std::process::ExitCode;

use clap::Args;
use dandori_playbook::State;
use dandori_text::playbook;
use dandori_text::ui::{Head, head};
use dandori_text::{Table, ui};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct StateHistoryArgs {
    /// Print this version whole
    version: Option<String>,
}

pub(crate) fn run(args: &StateHistoryArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    if let Some(version) = &args.version {
        let text = documents.version(version)?;
        out.object(&json!({ "version": version, "text": text }));
        if !out.json {
            Out::raw(text.as_bytes());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let versions = documents.versions()?;
    let mut table = Table::new([Head::Version, Head::Age, Head::Playbook, Head::Phase].map(|h| head(out.lang, h)));
    let mut rows: Vec<Value> = Vec::new();
    for version in &versions {
        let state = State::read(&documents.version(version)?);
        let at = version.parse().ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        let age = at.map_or_else(String::new, |at| ui::age(dandori_host::now().duration_since(at).as_secs()));
        rows.push(json!({ "version": version, "at": at, "active": state.active, "phase": state.phase }));
        table.row([version.clone(), age, state.active.unwrap_or_default(), state.phase.unwrap_or_default()]);
    }
    out.object(&json!({ "versions": rows }));
    if versions.is_empty() {
        out.say(playbook::no_history(out.lang));
    } else {
        out.table(&table);
    }
    Ok(ExitCode::SUCCESS)
}
