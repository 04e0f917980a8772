//! A prompt that dandori has typed into a client's terminal: let through once, and only as it was typed.
//!
//! Whoever types cannot see what became of the keys, so the line may be typed again. Here is the place where that does no
//! harm: a message that a client has submitted before, one that was given up in the meantime, and one that was damaged or
//! glued to other words on the way are refused, and clients drop a refused prompt.

use camino::Utf8Path;
use dandori_domain::Submitted;
use dandori_guard::{Decision, Event, GuardName, Kind, Reason};
use dandori_journal::{Taking, take_message};
use dandori_text::Lang;
use dandori_text::guard::Undelivered;

/// Why a prompt is not let through; a message that is let through is taken by that.
pub(crate) fn refusal(folder: &Utf8Path, event: &Event, lang: Lang) -> Option<Decision> {
    let Kind::PromptSubmit { prompt } = &event.kind else { return None };
    let why = match Submitted::read(prompt) {
        Submitted::Other => return None,
        Submitted::Damaged => Undelivered::Damaged,
        Submitted::Ours(tag) => match take_message(folder, tag) {
            Ok(Taking::Now) => return None,
            Ok(Taking::Before) => Undelivered::Before,
            Err(error) => Undelivered::NotTaken(error.to_string()),
        },
    };
    let reason = Reason::new(&dandori_text::guard::undelivered(lang, &why));
    Some(Decision::Block { guard: GuardName::known("delivery"), reason })
}
