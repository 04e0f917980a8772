//! `dandori state show`

use std::collections::BTreeMap;
use std::process::ExitCode;

use dandori_api::StateView;
use dandori_playbook::Security;
use dandori_text::playbook;
use serde_json::json;

use super::Context;
use crate::documents::Documents;
use crate::out::{Failed, dim};

pub(crate) fn run(context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let state = Documents::of(context)?.state()?;
    let security = match state.security {
        Security::Normal => "normal",
        Security::Admin => "admin",
    };
    let playbooks: BTreeMap<String, Option<String>> = state.active_playbooks.iter().cloned().collect();
    let values = [
        ("playbook.active", json!(state.active)),
        ("playbook.branch", json!(state.branch)),
        ("playbook.last_archived", json!(state.last_archived)),
        ("focus", json!(state.focus)),
        ("goal.milestone", json!(state.milestone)),
        ("goal.phase", json!(state.phase)),
        ("goal.done_criteria", json!(state.done_criteria)),
        ("session.last_start", json!(state.last_start)),
        ("session.last_end", json!(state.last_end)),
        ("verification.self_complete", json!(state.self_complete)),
        ("config.security", json!(security)),
        ("config.toolstack", json!(state.toolstack)),
        ("config.roles.orchestrator", json!(state.roles.orchestrator)),
        ("config.roles.worker", json!(state.roles.worker)),
        ("config.roles.reviewer", json!(state.roles.reviewer)),
    ];
    for (key, value) in &values {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        out.line(format!("{} {shown}", dim(&format!("{key}:"))));
    }
    for (name, playbook) in &playbooks {
        let playbook = playbook.as_deref().unwrap_or("null");
        out.line(format!("{} {playbook}", dim(&format!("active_playbooks.{name}:"))));
    }
    let odd: Vec<String> = state.odd.iter().map(|odd| playbook::odd(out.lang, odd)).collect();
    out.object(&StateView {
        values: values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        active_playbooks: playbooks,
        odd: odd.clone(),
    });
    for odd in &odd {
        out.note(odd);
    }
    Ok(ExitCode::SUCCESS)
}
