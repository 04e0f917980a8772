//! The intent that leads to a step, as far as it follows from the facts alone.
//!
//! Because it is pure, the engine records it in the same transaction as the fact before it: one fsync less a step.

use dandori_domain::message::{MessageParts, commit_message, is_japanese};
use dandori_domain::run::{Intent, IntentKind, RunFacts};
use dandori_domain::{Step, next_step};
use dandori_forge::{Language, PullText, pull_text};
use jiff::Timestamp;

/// The intent `run` needs recorded before its next step can act; `None` when it has it, or needs none.
pub(crate) fn next_intent(run: &RunFacts, now: Timestamp) -> Option<Intent> {
    let has = |kind: IntentKind| run.open_intent.as_ref().is_some_and(|i| i.kind() == kind);
    let intent = match next_step(run) {
        Step::Launch => Intent::Launch,
        Step::Commit => {
            let staged = run.staged.as_ref()?;
            Intent::Commit { tree: staged.tree.clone(), parent: staged.parent.clone(), message: message(run), at: now }
        }
        Step::Push => Intent::Push { oid: run.commit.clone()?, expected: run.rebased_onto.clone() },
        Step::OpenPull => {
            let text = pull_words(run);
            Intent::Pull { title: text.title, body: text.body }
        }
        _ => return None,
    };
    (!has(intent.kind())).then_some(intent)
}

fn message(run: &RunFacts) -> String {
    with_parts(run, |parts| commit_message(&run.spec.settings.commit_template, parts))
}

/// What a run's pull request says, in the language of its instruction.
pub(crate) fn pull_words(run: &RunFacts) -> PullText {
    let language = if is_japanese(&run.spec.instruction) { Language::Japanese } else { Language::English };
    with_parts(run, |parts| pull_text(parts, language))
}

fn with_parts<T>(run: &RunFacts, make: impl FnOnce(&MessageParts<'_>) -> T) -> T {
    make(&MessageParts {
        instruction: &run.spec.instruction,
        summary: run.summary(),
        run: run.spec.id,
        task: run.spec.number,
        agent: &run.spec.agent.to_string(),
    })
}
