//! What needs a person, and the command that resolves it.

use dandori_domain::need::NeedKind;
use dandori_domain::{Failure, Limit, Oid, Problem, Usd};
use dandori_text::inbox::{About, command, message};

use crate::{every, is_fresh, list, sentences};

const PULL: &str = "dandori://shop/pulls/7";

fn pull_ready(behind: Option<u32>) -> NeedKind {
    NeedKind::PullReady { url: PULL.into(), base: "main".into(), commit: Oid::new("0123456789abcdef"), behind }
}

fn all() -> Vec<NeedKind> {
    let missing = Failure::AgentMissing { agent: "codex".into(), program: "codex".into() };
    let restored = |backup: Option<&str>| NeedKind::StoreRestored {
        quarantine: "/state/damaged-1".into(),
        backup: backup.map(str::to_owned),
    };
    every!(NeedKind {
        NeedKind::Failed { .. } => [
            NeedKind::Failed { failure: Failure::PushRefused { reason: "hook declined".into() }, kept: false },
            NeedKind::Failed { failure: Failure::Staging { reason: "index.lock exists".into() }, kept: true },
            NeedKind::Failed { failure: missing, kept: false },
        ],
        NeedKind::Conflict { .. } => [
            NeedKind::Conflict { files: list(&["src/cart.rs"]) },
            NeedKind::Conflict { files: list(&["a", "b", "c", "d"]) },
        ],
        NeedKind::BudgetReached { .. } => [NeedKind::BudgetReached { budget: Usd(500_000), spent: Usd(510_000) }],
        NeedKind::Silent { .. } => [NeedKind::Silent { limit: Limit::Silence, seconds: 900 }],
        NeedKind::Quiet => [NeedKind::Quiet],
        NeedKind::Choice { .. } => [NeedKind::Choice { agents: list(&["claude", "codex"]) }],
        NeedKind::KeptWork { .. } => [NeedKind::KeptWork { reference: "refs/dandori/preserved/t-3".into() }],
        NeedKind::PullFailed { .. } => [
            NeedKind::PullFailed { problem: Problem::ForgeRefused { reason: "403".into() } }
        ],
        NeedKind::PullReady { .. } => [pull_ready(None), pull_ready(Some(1)), pull_ready(Some(2))],
        NeedKind::PullConflict { .. } => [NeedKind::PullConflict {
            url: PULL.into(),
            base: "main".into(),
            commit: Oid::new("0123456789abcdef"),
            files: list(&["src/cart.rs"]),
        }],
        NeedKind::Trust { .. } => [NeedKind::Trust { path: "/home/ann/shop/dandori.toml".into(), what: vec![] }],
        NeedKind::Consent { .. } => [NeedKind::Consent { session: "abc".into() }],
        NeedKind::StoreRestored { .. } => [restored(None), restored(Some("2026-07-01"))],
        NeedKind::DaemonTrouble { .. } => [NeedKind::DaemonTrouble { problem: Problem::StoreFull }],
        NeedKind::DiskLow { .. } => [NeedKind::DiskLow { path: "/state".into(), free: 1 << 20, needed: 1 << 30 }],
    })
}

#[test]
fn every_need_reads_well_in_both_languages() {
    let about = About { task: Some("T-3"), run: None, pull: Some(7) };
    let text: Vec<String> = all()
        .iter()
        .map(|kind| {
            let said = sentences(kind.name(), |lang| {
                let (command, _) = command(lang, kind, about);
                format!("{}\n    `{command}`", message(lang, kind))
            });
            assert!(!said.contains("<task>"), "{said}");
            said
        })
        .collect();
    is_fresh("needs.txt", &text.join("\n"));
}
