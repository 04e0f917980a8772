//! Nothing is changed without an active, reviewed playbook.
//!
//! state.md always passes, and `plan/` while the playbook is still to be written or reviewed: else nobody could ever
//! get there. What does not pass there are the marks others give: `reviewed`, done and ticks.

use std::rc::Rc;

use dandori_text::guard::edit;

use crate::context::{Context, Documents};
use crate::papers::{self, After, Paper, PaperChange, Unclear};
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let mut seen: Vec<Rc<Checkout>> = Vec::new();
    for (target, checkout) in context.project_targets() {
        let documents = context.documents(&checkout)?;
        if !seen.contains(&checkout) {
            say_odd(context, &checkout, &documents, voice);
            seen.push(checkout.clone());
        }
        if papers::is_state(&checkout, &target.real) || papers::is_plan(&checkout, &target.real) {
            continue;
        }
        if let Some(message) = refusal(context, &checkout, &documents) {
            voice.block(message);
            break;
        }
    }
    for change in papers::changes(context)? {
        let documents = context.documents(&change.checkout)?;
        let is_open = documents.playbook.as_ref().is_some_and(|playbook| playbook.reviewed);
        if change.paper == Paper::Playbook && !is_open {
            judge_draft(context, &change, voice);
        }
    }
    Ok(())
}

/// Why nothing may be changed; `None` when there is a reviewed playbook. The security mode has no say in it.
fn refusal(context: &Context, checkout: &Checkout, documents: &Documents) -> Option<String> {
    let lang = context.lang;
    let Some(path) = &documents.playbook_path else { return Some(edit::no_playbook(lang)) };
    let path = checkout.short(path).as_str();
    match &documents.playbook {
        None => Some(edit::playbook_missing(lang, path)),
        Some(playbook) if !playbook.reviewed => Some(edit::unreviewed(lang, path)),
        Some(_) => None,
    }
}

/// A playbook that is still being written may say anything but that others have passed it.
fn judge_draft(context: &Context, change: &PaperChange, voice: &mut Voice) {
    let lang = context.lang;
    match (&change.after, change.claims()) {
        (After::Unclear(Unclear::Shell), _) => voice.block(edit::use_the_editing_tool(lang, change.short())),
        (After::Unclear(Unclear::Edit), _) => voice.block(edit::edit_not_followed(lang, change.short())),
        (After::Text(_), Some(claims)) if claims.reviewed => {
            voice.block(edit::not_your_mark(lang, change.short(), "reviewed: true"));
        }
        (After::Text(_), Some(claims)) if !claims.done.is_empty() || !claims.ticked.is_empty() => {
            voice.block(edit::marks_too_early(lang, change.short()));
        }
        _ => {}
    }
}

fn say_odd(context: &Context, checkout: &Checkout, documents: &Documents, voice: &mut Voice) {
    let playbook = documents.playbook_path.as_ref().zip(documents.playbook.as_ref());
    let papers = [Some((&documents.state_path, &documents.state.odd)), playbook.map(|(path, p)| (path, &p.odd))];
    for (path, odd) in papers.into_iter().flatten().filter(|(_, odd)| !odd.is_empty()) {
        voice.warn(edit::odd_paper(context.lang, checkout.short(path).as_str(), &odd.join("; ")));
    }
}

#[cfg(test)]
mod tests;
