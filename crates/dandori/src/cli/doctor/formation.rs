//! `dandori doctor --formation`: what must always hold is held against the records, and what is overdue is repaired and told.

use dandori_api::formation::{FormationSound, FormationSoundness};
use dandori_text::doctor::{Check, Remedy};
use dandori_text::formation::asked as text;

use super::{Context, Finding};
use crate::cli::formation;
use crate::client::Client;
use crate::out::Failed;

pub(super) async fn look(context: &Context) -> Result<Vec<Finding>, Failed> {
    let client = Client::connect(context).await?;
    let found: FormationSoundness = client.get(&format!("/v1/formation/doctor{}", formation::query(context)?)).await?;
    Ok(found.formations.iter().flat_map(|sound| findings(context, sound)).collect())
}

fn findings(context: &Context, sound: &FormationSound) -> Vec<Finding> {
    let lang = context.out.lang;
    let of = |violation: &dandori_api::formation::ViolationView| Finding {
        code: Some(violation.invariant.to_lowercase().into()),
        ..Finding::bad(
            lang,
            Check::Formation,
            format!("{}: {}", violation.invariant, violation.what),
            Remedy::RestoreStore,
        )
    };
    let mut findings: Vec<Finding> = sound.violations.iter().map(of).collect();
    if findings.is_empty() {
        let checked = text::formation_is_sound(lang, sound.commands, sound.tasks, sound.messages);
        findings.push(Finding::good(Check::Formation, checked));
    }
    findings.extend(sound.repairs.iter().map(|repair| Finding::good(Check::Formation, text::repair(lang, repair))));
    findings
}
