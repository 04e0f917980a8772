//! state.md, the playbook and the branch agree, in five checks, each with its fix.
//!
//! Only the wrong branch is refused, and only for what changes files or git: reading, and whatever repairs the state
//! (another branch, state.md, the plan), always passes. The rest is said when work is handed in, not on every line.

use camino::Utf8Path;
use dandori_playbook::{Phase, PhaseStatus, Playbook};
use dandori_shell::{How, gh_call};

use crate::context::{By, Context, Documents};
use crate::papers;
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

use super::argv;
use super::git_run::{GitRun, git_runs};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let runs = git_runs(context);
    let Some(project) = &context.project else { return Ok(()) };
    let makes_pull = context.commands().iter().filter_map(gh_call).any(|call| call.is(&["pr", "create"]));
    for (checkout, work) in places(context, &runs, project, makes_pull) {
        let documents = context.documents(&checkout)?;
        if !documents.has_state {
            continue;
        }
        branch(context, &runs, &checkout, &documents, voice);
        if work == Work::HandedIn {
            documents_agree(context, &documents, voice);
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Changed,
    /// Committed, or proposed as a pull request.
    HandedIn,
}

/// The checkouts of the project that the line changes.
fn places(context: &Context, runs: &[GitRun], project: &Checkout, makes_pull: bool) -> Vec<(Checkout, Work)> {
    let mut found: Vec<(Checkout, Work)> = Vec::new();
    let mut add =
        |checkout: &Checkout, work: Work| match found.iter_mut().find(|(known, _)| known.root == checkout.root) {
            Some((_, known)) if work == Work::HandedIn => *known = work,
            Some(_) => {}
            None => found.push((checkout.clone(), work)),
        };
    for run in runs.iter().filter(|run| run.is_in_project(context) && !run.is_dry_run()) {
        let Some(checkout) = run.checkout(context) else { continue };
        match run.call.subcommand.text.as_str() {
            "commit" => add(&checkout, Work::HandedIn),
            "merge" | "rebase" | "cherry-pick" | "revert" | "am" | "push" => {
                let repairs =
                    ["abort", "quit", "continue", "skip"].iter().any(|option| run.call.has_option(option, None));
                if !repairs {
                    add(&checkout, Work::Changed);
                }
            }
            _ => {}
        }
    }
    if makes_pull {
        add(project, Work::HandedIn);
    }
    for (target, checkout) in context.project_targets() {
        let short = checkout.short(&target.real);
        let repairs = short == "state.md" || short.starts_with("plan");
        // What git itself writes was looked at above, or is a repair.
        let by_git = matches!(target.by, By::Shell(How::Restored | How::Cleaned));
        if !repairs && !by_git {
            add(&checkout, Work::Changed);
        }
    }
    for write in context.computed_writes() {
        if !papers::is_state(&write.checkout, &write.path) && !papers::is_plan(&write.checkout, &write.path) {
            add(&write.checkout, Work::Changed);
        }
    }
    found
}

/// 2: the branch is the playbook's.
fn branch(context: &Context, runs: &[GitRun], checkout: &Checkout, documents: &Documents, voice: &mut Voice) {
    let wanted = documents.playbook.as_ref().and_then(|playbook| playbook.branch.as_deref());
    let Some(wanted) = wanted.or(documents.state.branch.as_deref()) else { return };
    // Detached is where a rebase or a bisect stands: nobody works there by mistake.
    let Some(found) = checkout.branch() else { return };
    let goes_there = runs.iter().any(|run| {
        matches!(run.call.subcommand.text.as_str(), "checkout" | "switch")
            && argv::operands(&run.call.args, &[]).first().is_some_and(|w| w.text == wanted)
    });
    if found != wanted && documents.playbook_path.is_some() && !goes_there {
        voice.block(dandori_text::guard::bash::wrong_branch(context.lang, found, wanted));
    }
}

/// 1, 3, 4 and 5.
fn documents_agree(context: &Context, documents: &Documents, voice: &mut Voice) {
    use dandori_text::guard::bash;
    let (lang, state) = (context.lang, &documents.state);
    if let (Some(focus), Some(active)) = (state.focus.as_deref(), state.active.as_deref()) {
        let of_focus = state.playbook_of_focus();
        // A state.md that keeps no list has nothing to differ from.
        if !state.active_playbooks.is_empty() && of_focus.as_deref() != Some(active) {
            voice.warn(bash::focus_differs(lang, focus, of_focus.as_deref().unwrap_or("null"), active));
        }
    }
    for odd in &state.odd {
        voice.warn(bash::state_odd(lang, &dandori_text::playbook::odd(lang, odd)));
    }
    let Some(playbook) = &documents.playbook else {
        if let Some(path) = &documents.playbook_path {
            voice.warn(bash::playbook_missing(lang, &shown(documents, path)));
        }
        return;
    };
    phases(context, playbook, voice);
    for phase in playbook.phases.iter().filter(|phase| phase.loose_criteria) {
        voice.warn(dandori_text::playbook::fault(
            lang,
            &dandori_playbook::Fault::LooseCriteria { phase: phase.id.clone() },
        ));
    }
    let is_ticked = |phase: &&Phase| !phase.subtasks.is_empty() && phase.subtasks.iter().all(|subtask| subtask.is_done);
    if let Some(phase) = playbook.current().filter(is_ticked).filter(|_| !state.self_complete) {
        voice.warn(bash::critic_owed(lang, &phase.id));
    }
}

fn phases(context: &Context, playbook: &Playbook, voice: &mut Voice) {
    let working: Vec<String> =
        playbook.phases.iter().filter(|p| p.status == PhaseStatus::InProgress).map(|p| p.id.clone()).collect();
    if working.len() > 1 {
        let fault = dandori_playbook::Fault::SeveralInProgress { phases: working };
        voice.warn(dandori_text::playbook::fault(context.lang, &fault));
    } else if working.is_empty() && !playbook.phases.is_empty() && !playbook.is_done() {
        voice.warn(dandori_text::guard::bash::none_in_progress(context.lang));
    }
}

fn shown(documents: &Documents, path: &Utf8Path) -> String {
    let root = documents.state_path.parent();
    root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).to_string()
}

#[cfg(test)]
mod tests;
