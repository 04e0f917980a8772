//! What the planner is given: an order to plan, a phase to fill, and what has come back when there is something to decide.

mod digest;
mod example;
mod fill;
mod order;

pub use digest::{Digest, digest};
pub use fill::{PhaseToFill, fill};
pub use order::{OrderToPlan, order};

use dandori_formation::assign::Crew;

use super::prompt::Prompt;
use crate::Lang;
use crate::lang::say;

/// Who there is, and which level gets which model.
fn crew(lang: Lang, prompt: &mut Prompt, crew: &Crew) {
    prompt.list(
        "crew",
        crew.seats.iter().map(|seat| {
            let (agent, client) = (seat.agent, &seat.client);
            let model = seat.model.as_ref().map(|model| format!(", {model}")).unwrap_or_default();
            let able = seat.capabilities.join(", ");
            let able = if able.is_empty() { able } else { format!("; capabilities: {able}") };
            format!("{agent}: {client}{model}{able}")
        }),
    );
    let unknown = || say!(lang, "the client's default", "クライアントの既定");
    let of = |level| crew.model_for(level).cloned().unwrap_or_else(unknown);
    let (small, large) = (of(1), of(6));
    prompt.field("models", &format!("bloom_level 1-3: {small}; 4-6: {large}"));
}
