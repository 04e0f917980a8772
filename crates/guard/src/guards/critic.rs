//! Who did the work does not call it done: done needs the critic, and the verdicts are dandori's to write.

use dandori_text::guard::edit;

use crate::change::resolve;
use crate::context::Context;
use crate::papers::{self, After, Claims, PaperChange, Unclear};
use crate::voice::{Trouble, Voice};

/// More are not named at once.
const NAMED: usize = 3;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for change in papers::changes(context) {
        match (&change.after, change.claims()) {
            (After::Unclear(Unclear::Shell), _) => {
                voice.block(edit::use_the_editing_tool(context.lang, change.short()));
            }
            (After::Unclear(Unclear::Edit), _) => voice.block(edit::edit_not_followed(context.lang, change.short())),
            (After::Text(_), claims) => judge_claims(context, &change, &claims.unwrap_or_default(), voice),
        }
    }
    if papers::words_of_computed_writes(context)
        .is_some_and(|words| words.contains("state.md") || words.contains("playbook-"))
    {
        voice.ask(edit::perhaps_a_paper(context.lang));
    }
    Ok(())
}

fn judge_claims(context: &Context, change: &PaperChange, claims: &Claims, voice: &mut Voice) {
    let (lang, path) = (context.lang, change.short());
    if claims.self_complete {
        voice.block(edit::not_your_mark(lang, path, "self_complete: true"));
    }
    if claims.reviewed {
        voice.block(edit::not_your_mark(lang, path, "reviewed: true"));
    }
    if !claims.done.is_empty()
        && !context.documents(&change.checkout).is_ok_and(|documents| documents.state.self_complete)
    {
        voice.block(edit::needs_critic(lang, path, &claims.done.join(", ")));
    }
    // One verdict is not for every phase: each has its own subtasks to show.
    if !claims.owed.is_empty() {
        let named: Vec<&str> = claims.owed.iter().take(NAMED).map(String::as_str).collect();
        let more = if claims.owed.len() > NAMED { ", …" } else { "" };
        let named = format!("`{}`{more}", named.join("`, `"));
        voice.block(edit::subtasks_owed(lang, path, &claims.done.join(", "), &named));
    }
    // A playbook nobody here can look at, or one that is over, would open the gate without a review.
    if let Some(active) = &claims.active {
        let at = context.world.real(&resolve(Some(&change.checkout.root), active));
        if !at.starts_with(&change.checkout.root) || !papers::is_playbook(&change.checkout, &at) {
            voice.block(edit::not_a_playbook_to_activate(lang, active));
        }
    }
}

#[cfg(test)]
mod tests;
