//! Nothing is changed without an active, reviewed playbook.
//!
//! state.md always passes, and `plan/` while the playbook is still to be written or reviewed: else nobody could ever
//! get there. What does not pass there are the marks others give: `reviewed`, done and ticks. state.md itself stays:
//! without it nothing could be checked, so it is not removed, and where it is gone or cannot be read nothing else is
//! changed until it is mended.

use std::rc::Rc;

use camino::Utf8Path;
use dandori_shell::{How, git_call};
use dandori_text::guard::edit;

use crate::context::{By, Context, Documents, Target};
use crate::papers::{self, After, Paper, PaperChange, Unclear};
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if papers::removes_state(context) {
        voice.block(edit::state_stays(context.lang));
        return Ok(());
    }
    let named =
        context.project_targets().into_iter().map(|(target, checkout)| Destination::of(context, target, checkout));
    let hidden = context.computed_writes().iter().map(|write| Destination {
        is_free: papers::is_state(&write.checkout, &write.path) || papers::is_plan(&write.checkout, &write.path),
        checkout: write.checkout.clone(),
    });
    let mut seen: Vec<Rc<Checkout>> = Vec::new();
    for Destination { checkout, is_free } in named.chain(hidden) {
        let documents = match context.documents(&checkout) {
            Ok(documents) => documents,
            Err(_) if is_free => continue,
            Err(Trouble::Unreadable { path, reason }) => {
                let path = checkout.short(Utf8Path::new(&path));
                voice.block(edit::paper_unreadable(context.lang, path.as_str(), &reason));
                break;
            }
            Err(trouble) => return Err(trouble),
        };
        if !seen.contains(&checkout) {
            say_odd(context, &checkout, &documents, voice);
            seen.push(checkout.clone());
        }
        if is_free {
            continue;
        }
        if let Some(message) = refusal(context, &checkout, &documents) {
            voice.block(message);
            break;
        }
    }
    for change in papers::changes(context) {
        // What cannot be read has not been reviewed.
        let documents = context.documents(&change.checkout).ok();
        let is_open = documents.is_some_and(|d| d.playbook.as_ref().is_some_and(|playbook| playbook.reviewed));
        if change.paper == Paper::Playbook && !is_open {
            judge_draft(context, &change, voice);
        }
    }
    Ok(())
}

/// Where something would be written.
struct Destination {
    checkout: Rc<Checkout>,
    /// state.md and the plans, and what brings state.md back.
    is_free: bool,
}

impl Destination {
    fn of(context: &Context, target: &Target, checkout: Rc<Checkout>) -> Self {
        let is_paper = papers::is_state(&checkout, &target.real) || papers::is_plan(&checkout, &target.real);
        let is_free = is_paper || brings_state_back(context, target, &checkout);
        Self { checkout, is_free }
    }
}

/// `git checkout .`, where state.md is among what comes back.
fn brings_state_back(context: &Context, target: &Target, checkout: &Checkout) -> bool {
    target.by == By::Shell(How::Restored)
        && target.real == checkout.root
        && context.world.kind(&checkout.root.join("state.md")).is_none()
        && context.commands().iter().filter_map(git_call).all(|call| call.subcommand.text != "clean")
}

/// Why nothing may be changed; `None` when there is a reviewed playbook. The security mode has no say in it.
fn refusal(context: &Context, checkout: &Checkout, documents: &Documents) -> Option<String> {
    let lang = context.lang;
    if !documents.has_state {
        return Some(edit::no_state(lang));
    }
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
        let odd: Vec<String> = odd.iter().map(|odd| dandori_text::playbook::odd(context.lang, odd)).collect();
        voice.warn(edit::odd_paper(context.lang, checkout.short(path).as_str(), &odd.join("; ")));
    }
}

#[cfg(test)]
mod tests;
