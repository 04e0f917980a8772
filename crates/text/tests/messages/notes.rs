//! What a user should know though a run goes on.

use dandori_domain::Problem;
use dandori_domain::run::{Note, Refusal, RefusedWhat};
use dandori_domain::sandbox::Gap;

use crate::{every, is_fresh, list, sentences};

fn all() -> Vec<Note> {
    let kept = || "refs/dandori/preserved/t-3".to_owned();
    let refusal = |path: &str, what| Refusal { path: path.into(), what };
    every!(Note {
        Note::Offline { .. } => [Note::Offline { reason: "could not resolve host".into() }],
        Note::MainCheckoutDirty { .. } => [Note::MainCheckoutDirty { files: 1 }, Note::MainCheckoutDirty { files: 3 }],
        Note::MainCheckoutDetached => [Note::MainCheckoutDetached],
        Note::NoSandbox { .. } => [Note::NoSandbox { reason: "sandbox.mode = \"off\"".into() }],
        Note::FenceIsPartial { .. } => [
            Note::FenceIsPartial { missing: list(&["user namespaces"]), open: vec![Gap::Terminals, Gap::Signals] }
        ],
        Note::FenceRefused { .. } => [Note::FenceRefused {
            refusals: vec![
                refusal("/home/ann/.cache/tool", RefusedWhat::Write),
                refusal("/home/ann/.netrc", RefusedWhat::Read),
            ],
        }],
        Note::BaseIsLocal { .. } => [Note::BaseIsLocal { base: "work".into() }],
        Note::HookManager { .. } => [Note::HookManager { name: "husky".into() }],
        Note::PulledBefore { .. } => [Note::PulledBefore { commits: 1 }, Note::PulledBefore { commits: 2 }],
        Note::EditsInTheWay { .. } => [Note::EditsInTheWay { files: list(&["a.rs", "b.rs"]) }],
        Note::ConflictBrought { .. } => [Note::ConflictBrought { files: list(&["a.rs", "b.rs"]) }],
        Note::BaseMerged { .. } => [
            Note::BaseMerged { base: "main".into(), commits: 1 },
            Note::BaseMerged { base: "main".into(), commits: 2 },
        ],
        Note::WorktreeRemade => [Note::WorktreeRemade],
        Note::SetUpFailed { .. } => [Note::SetUpFailed { command: "npm ci".into(), tail: "code E404\n".into() }],
        Note::SetUpToolMissing { .. } => [
            Note::SetUpToolMissing { file: "pnpm-lock.yaml".into(), program: "pnpm".into() }
        ],
        Note::BudgetNotKept { .. } => [Note::BudgetNotKept { agent: "gemini".into() }],
        Note::AsksItself { .. } => [Note::AsksItself { agent: "mine".into() }],
        Note::ConversationAnew { .. } => [Note::ConversationAnew { agent: "codex".into() }],
        Note::KeptWorkBack { .. } => [Note::KeptWorkBack { reference: kept() }],
        Note::KeptWorkStays { .. } => [Note::KeptWorkStays { reference: kept() }],
        Note::BranchAttached { .. } => [Note::BranchAttached { branch: "cart".into() }],
        Note::Unjudged { .. } => [Note::Unjudged { calls: 1 }, Note::Unjudged { calls: 2 }],
        Note::NotCleanedUp { .. } => [
            Note::NotCleanedUp { problem: Problem::WorktreeLocked { path: "/w/t-3".into(), reason: "in use".into() } },
            Note::NotCleanedUp { problem: Problem::WorktreeUnrecorded { path: "/w/t-3".into() } },
        ],
    })
}

#[test]
fn every_note_reads_well_in_both_languages() {
    let name = |note: &Note| serde_json::to_value(note).unwrap()["note"].as_str().unwrap().to_owned();
    let text: Vec<String> =
        all().iter().map(|note| sentences(&name(note), |lang| dandori_text::note(lang, note))).collect();
    is_fresh("notes.txt", &text.join("\n"));
}
