//! `dandori state history`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{StateHistory, StateVersion};
use dandori_playbook::State;
use dandori_text::playbook;
use dandori_text::ui::{Head, head};
use dandori_text::{Table, ui};
use jiff::Timestamp;

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, Out};

#[derive(Args)]
pub(crate) struct StateHistoryArgs {
    /// Print this version in full
    version: Option<String>,
}

pub(crate) fn run(args: &StateHistoryArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let documents = Documents::of(context)?;
    if let Some(version) = &args.version {
        let text = documents.version(version)?;
        let shown = told(version, &State::read(&text));
        out.object(&StateHistory { versions: vec![shown], total: 1, text: Some(text.clone()) });
        if !out.json {
            Out::raw(text.as_bytes());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let versions = documents.versions()?;
    let mut table = Table::new([Head::Version, Head::Age, Head::Playbook, Head::Phase].map(|h| head(out.lang, h)));
    let mut rows: Vec<StateVersion> = Vec::new();
    for version in &versions {
        let state = State::read(&documents.version(version)?);
        let at = kept_at(version);
        let age = at.map_or_else(String::new, |at| ui::age(out.lang, dandori_host::now().duration_since(at).as_secs()));
        rows.push(told(version, &state));
        table.row([version.clone(), age, state.active.unwrap_or_default(), state.phase.unwrap_or_default()]);
    }
    out.object(&StateHistory { total: rows.len(), versions: rows, text: None });
    if versions.is_empty() {
        out.say(playbook::no_history(out.lang));
    } else {
        out.table(&table);
    }
    Ok(ExitCode::SUCCESS)
}

/// A version is named after the moment it was kept.
fn kept_at(version: &str) -> Option<Timestamp> {
    version.parse().ok().and_then(|ms| Timestamp::from_millisecond(ms).ok())
}

fn told(version: &str, state: &State) -> StateVersion {
    StateVersion {
        version: version.to_owned(),
        kept_at: kept_at(version).map(|at| at.to_string()),
        active: state.active.clone(),
        phase: state.phase.clone(),
    }
}
