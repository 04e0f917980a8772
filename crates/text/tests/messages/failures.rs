//! Why a run failed.

use dandori_domain::{AgentFailure, Failure, Finding, Limit, ProtocolTrouble, SessionId, Stage, Unfit, UnfitWhy, Usd};

use crate::{every, is_fresh, list, sentences};

const RUN: &str = "7f3k2m9q";

fn findings() -> Vec<Finding> {
    every!(Finding {
        Finding::HeadMoved { .. } => [Finding::HeadMoved { expected: "dandori/t-3".into(), found: "main".into() }],
        Finding::BranchMoved { .. } => [Finding::BranchMoved { expected: "1111111".into(), found: "2222222".into() }],
        Finding::GitFileChanged { .. } => [Finding::GitFileChanged { path: ".git".into() }],
        Finding::GitConfigChanged { .. } => [Finding::GitConfigChanged { key: "core.hooksPath".into() }],
        Finding::NestedRepository { .. } => [Finding::NestedRepository { path: "vendor/lib".into() }],
        Finding::ForbiddenPath { .. } => [
            Finding::ForbiddenPath { path: ".github/workflows/ci.yml".into(), pattern: ".github/**".into() }
        ],
        Finding::WorktreeMissing { .. } => [Finding::WorktreeMissing { path: "/state/worktrees/t-3".into() }],
    })
}

fn unfit() -> Vec<Unfit> {
    let whys = every!(UnfitWhy {
        UnfitWhy::Special => [UnfitWhy::Special],
        UnfitWhy::TooLong => [UnfitWhy::TooLong],
        UnfitWhy::Unreadable => [UnfitWhy::Unreadable],
        UnfitWhy::TooLarge { .. } => [UnfitWhy::TooLarge { bytes: 3 << 30, limit: 1 << 30 }],
        UnfitWhy::TooMany { .. } => [UnfitWhy::TooMany { files: 120_000, limit: 100_000 }],
    });
    whys.into_iter().map(|why| Unfit { path: "build/out".into(), why }).collect()
}

fn troubles() -> Vec<ProtocolTrouble> {
    every!(ProtocolTrouble {
        ProtocolTrouble::NotJson { .. } => [ProtocolTrouble::NotJson { line: "Welcome!".into() }],
        ProtocolTrouble::Version { .. } => [ProtocolTrouble::Version { offered: "2".into() }],
        ProtocolTrouble::Refused { .. } => [
            ProtocolTrouble::Refused { method: "session/new".into(), message: "no such folder".into() }
        ],
        ProtocolTrouble::BadAnswer { .. } => [
            ProtocolTrouble::BadAnswer { method: "session/new".into(), detail: "sessionId is missing".into() }
        ],
        ProtocolTrouble::LoginNeeded { .. } => [
            ProtocolTrouble::LoginNeeded { methods: list(&["api-key", "browser"]) },
            ProtocolTrouble::LoginNeeded { methods: vec![] },
        ],
        ProtocolTrouble::NoSuchModel { .. } => [
            ProtocolTrouble::NoSuchModel { model: "big".into(), offered: list(&["small", "medium"]) },
            ProtocolTrouble::NoSuchModel { model: "big".into(), offered: vec![] },
        ],
    })
}

fn of_agents() -> Vec<AgentFailure> {
    let detail = || "the server's own words".to_owned();
    let session = |text: &str| SessionId::new(text);
    let mut all = every!(AgentFailure {
        AgentFailure::NotAuthorised { .. } => [AgentFailure::NotAuthorised { detail: detail() }],
        AgentFailure::RateLimited { .. } => [AgentFailure::RateLimited { detail: detail() }],
        AgentFailure::Overloaded { .. } => [AgentFailure::Overloaded { status: Some(529), detail: detail() }],
        AgentFailure::Unreachable { .. } => [AgentFailure::Unreachable { detail: detail() }],
        AgentFailure::Api { .. } => [AgentFailure::Api { status: Some(400), detail: detail() }],
        AgentFailure::ContextTooLong { .. } => [AgentFailure::ContextTooLong { detail: detail() }],
        AgentFailure::MaxTurns => [AgentFailure::MaxTurns],
        AgentFailure::MaxTokens => [AgentFailure::MaxTokens],
        AgentFailure::Declined => [AgentFailure::Declined],
        AgentFailure::Interrupted => [AgentFailure::Interrupted],
        AgentFailure::Protocol { .. } => [
            AgentFailure::Protocol { trouble: ProtocolTrouble::Version { offered: "2".into() } }
        ],
        AgentFailure::NeedsFence => [AgentFailure::NeedsFence],
        AgentFailure::NoVerdict { .. } => [
            AgentFailure::NoVerdict { exit: None, signal: Some(9), tail: String::new() },
            AgentFailure::NoVerdict { exit: Some(1), signal: None, tail: "out of memory\n".into() },
            AgentFailure::NoVerdict { exit: None, signal: None, tail: String::new() },
        ],
        AgentFailure::ExitCode { .. } => [
            AgentFailure::ExitCode { code: 7, tail: String::new() },
            AgentFailure::ExitCode { code: 7, tail: "make: *** [test] Error 1\n".into() },
        ],
        AgentFailure::WrongSession { .. } => [
            AgentFailure::WrongSession { asked: session("abc"), got: Some(session("xyz")) },
            AgentFailure::WrongSession { asked: session("abc"), got: None },
        ],
        AgentFailure::NotStarted { .. } => [AgentFailure::NotStarted { detail: "permission denied".into() }],
        AgentFailure::Other { .. } => [AgentFailure::Other { detail: detail() }],
    });
    all.extend(troubles().into_iter().map(|trouble| AgentFailure::Protocol { trouble }));
    all
}

pub(crate) fn all() -> Vec<Failure> {
    let mut all = every!(Failure {
        Failure::Worktree { .. } => [Failure::Worktree { reason: "no space left on device".into() }],
        Failure::RepositoryGone { .. } => [
            Failure::RepositoryGone { path: "/home/ann/shop".into(), during: None },
            Failure::RepositoryGone { path: "/home/ann/shop".into(), during: Some(Stage::Commit) },
        ],
        Failure::DandoriGone { .. } => [Failure::DandoriGone { program: "/usr/bin/dandori".into() }],
        Failure::SetUp { .. } => [Failure::SetUp { command: "npm ci".into(), tail: "npm error code E404\n".into() }],
        Failure::AgentMissing { .. } => [Failure::AgentMissing { agent: "codex".into(), program: "codex".into() }],
        Failure::Agent { .. } => [Failure::Agent { failure: AgentFailure::Interrupted }],
        Failure::TimedOut { .. } => [
            Failure::TimedOut { limit: Limit::Start, seconds: 60 },
            Failure::TimedOut { limit: Limit::Silence, seconds: 900 },
            Failure::TimedOut { limit: Limit::Run, seconds: 3600 },
        ],
        Failure::OverBudget { .. } => [Failure::OverBudget { budget: Usd(500_000), spent: Usd(510_000) }],
        Failure::SupervisorLost => [Failure::SupervisorLost],
        Failure::ProcessesLeft { .. } => [Failure::ProcessesLeft { pids: vec![4711, 4712] }],
        Failure::Tampered { .. } => [Failure::Tampered { findings: findings() }],
        Failure::ConflictLeft { .. } => [Failure::ConflictLeft { files: list(&["src/cart.rs", "README.md"]) }],
        Failure::Unstageable { .. } => [Failure::Unstageable { paths: unfit() }],
        Failure::Staging { .. } => [Failure::Staging { reason: "index.lock exists".into() }],
        Failure::DiskFull { .. } => [Failure::DiskFull { free: 12 << 20 }],
        Failure::Commit { .. } => [Failure::Commit { reason: "the signing key is not available".into() }],
        Failure::PushRefused { .. } => [Failure::PushRefused { reason: "protected branch hook declined".into() }],
        Failure::RemoteUnreachable { .. } => [Failure::RemoteUnreachable {
            reason: "Could not resolve host: git.example".into(),
        }],
        Failure::DoesNotMerge { .. } => [
            Failure::DoesNotMerge { name: "T-3".into(), files: list(&["src/cart.rs", "README.md"]) },
        ],
        Failure::Check { .. } => [Failure::Check { command: "make test".into(), tail: "2 tests failed".into() }],
        Failure::PushConflict { .. } => [Failure::PushConflict { files: list(&["src/cart.rs"]) }],
        Failure::PushOvertaken { .. } => [Failure::PushOvertaken { retries: 5 }],
    });
    all.extend(of_agents().into_iter().map(|failure| Failure::Agent { failure }));
    all
}

/// `agent: max_turns`
fn name(failure: &Failure) -> String {
    let value = serde_json::to_value(failure).unwrap();
    let word = |value: &serde_json::Value, key: &str| value[key].as_str().map(str::to_owned);
    let inner = value.get("failure").and_then(|inner| word(inner, "why").or_else(|| word(inner, "kind")));
    let kind = word(&value, "kind").unwrap();
    inner.map_or(kind.clone(), |inner| format!("{kind}: {inner}"))
}

#[test]
fn every_failure_reads_well_in_both_languages() {
    let text: Vec<String> = all()
        .iter()
        .map(|failure| {
            let said = sentences(&name(failure), |lang| dandori_text::failure(lang, failure, RUN));
            assert!(!said.contains("<task>"), "{said}");
            said
        })
        .collect();
    is_fresh("failures.txt", &text.join("\n"));
}
