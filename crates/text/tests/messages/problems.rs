//! What is wrong with a request.

use dandori_domain::problem::{EditTrouble, Rival, SettingsTrouble};
use dandori_domain::pull::{MergeObstacle, PullState};
use dandori_domain::run::{Role, Status};
use dandori_domain::{Oid, Problem};
use serde_json::json;

use crate::{every, is_fresh, list, printed};

const REPO: &str = "/home/ann/shop";
const RUN: &str = "7f3k2m9q";

fn cannot_edit(reason: EditTrouble) -> Problem {
    Problem::CannotEdit { path: "state.md".into(), key: "config.security".into(), reason }
}

fn bad_settings(trouble: SettingsTrouble) -> Problem {
    Problem::BadSettings { path: "/home/ann/shop/.claude/settings.json".into(), trouble }
}

fn nothing_to_pull(status: Status) -> Problem {
    Problem::NothingToPull { run: RUN.into(), status }
}

fn cannot_merge(obstacle: MergeObstacle) -> Problem {
    Problem::CannotMerge { number: 4, task: Some("T-3".into()), obstacles: vec![obstacle] }
}

fn obstacles() -> Vec<MergeObstacle> {
    let oid = |digit: &str| Oid::new(digit.repeat(40));
    every!(MergeObstacle {
        MergeObstacle::NotOpen { .. } => [
            MergeObstacle::NotOpen { state: PullState::Closed },
            MergeObstacle::NotOpen { state: PullState::Merged },
        ],
        MergeObstacle::HeadMoved { .. } => [MergeObstacle::HeadMoved { shown: oid("1"), found: oid("2") }],
        MergeObstacle::NoBase { .. } => [MergeObstacle::NoBase { base: "release".into() }],
        MergeObstacle::NothingToMerge => [MergeObstacle::NothingToMerge],
        MergeObstacle::Conflict { .. } => [
            MergeObstacle::Conflict { files: list(&["src/cart.rs"]) },
            MergeObstacle::Conflict { files: list(&["a", "b", "c", "d", "e", "f", "g"]) },
        ],
        MergeObstacle::NotFastForward { .. } => [
            MergeObstacle::NotFastForward { behind: 1 },
            MergeObstacle::NotFastForward { behind: 3 },
        ],
        MergeObstacle::ForgeMakesCommits => [MergeObstacle::ForgeMakesCommits],
        MergeObstacle::BaseDirty { .. } => [
            MergeObstacle::BaseDirty { path: REPO.into(), files: list(&["README.md"]) }
        ],
    })
}

fn all() -> Vec<Problem> {
    let mut all = every!(Problem {
        Problem::NotARepository { .. } => [Problem::NotARepository { path: "/home/ann".into() }],
        Problem::NothingToGuard { .. } => [Problem::NothingToGuard { path: "/home/ann".into() }],
        Problem::NoAgents => [Problem::NoAgents],
        Problem::BadSettings { .. } => [
            bad_settings(SettingsTrouble::NotText),
            bad_settings(SettingsTrouble::NotJson { line: 3, column: 9, reason: "expected a comma".into() }),
            bad_settings(SettingsTrouble::NotAnObject { line: 1, column: 1, key: None }),
            bad_settings(SettingsTrouble::NotAnObject { line: 2, column: 12, key: Some("hooks".into()) }),
            bad_settings(SettingsTrouble::NotAList { line: 4, column: 20, key: "hooks.PreToolUse".into() }),
        ],
        Problem::RepositoryGone { .. } => [Problem::RepositoryGone { path: REPO.into() }],
        Problem::DubiousOwnership { .. } => [Problem::DubiousOwnership { path: REPO.into() }],
        Problem::BareRepository { .. } => [Problem::BareRepository { path: "/srv/shop.git".into() }],
        Problem::NoCommitYet { .. } => [Problem::NoCommitYet { path: REPO.into() }],
        Problem::WhichRemote { .. } => [Problem::WhichRemote { names: list(&["company", "mirror"]) }],
        Problem::NoIdentity => [Problem::NoIdentity],
        Problem::NoPlaybook { .. } => [Problem::NoPlaybook { path: "state.md".into() }],
        Problem::FileExists { .. } => [Problem::FileExists { path: "plan/playbook-cart.md".into() }],
        Problem::NoSuchFile { .. } => [Problem::NoSuchFile { path: "todo.md".into() }],
        Problem::BadName { .. } => [Problem::BadName { name: "../cart".into() }],
        Problem::CannotEdit { .. } => [
            cannot_edit(EditTrouble::NoPlace),
            cannot_edit(EditTrouble::NotAValue),
            cannot_edit(EditTrouble::SeveralLines),
            cannot_edit(EditTrouble::Unwritable),
        ],
        Problem::BadStateValue { .. } => [Problem::BadStateValue {
            key: "config.security".into(),
            value: "loose".into(),
            known: list(&["normal", "admin"]),
        }],
        Problem::NoSuchVersion { .. } => [Problem::NoSuchVersion { text: "12345".into() }],
        Problem::Elsewhere { .. } => [Problem::Elsewhere { path: REPO.into() }],
        Problem::UnknownBase { .. } => [
            Problem::UnknownBase { base: "mian".into(), near: list(&["main"]), unreachable: None },
            Problem::UnknownBase { base: "xyz".into(), near: vec![], unreachable: None },
            Problem::UnknownBase {
                base: "xyz".into(),
                near: list(&["xy"]),
                unreachable: Some("Could not resolve host: git.example".into()),
            },
        ],
        Problem::Submodules { .. } => [Problem::Submodules { path: "vendor/lib".into() }],
        Problem::LfsMissing => [Problem::LfsMissing],
        Problem::GitTooOld { .. } => [Problem::GitTooOld { found: "2.30.2".into(), needed: "2.40".into() }],
        Problem::GitMissing => [Problem::GitMissing],
        Problem::AgentMissing { .. } => [
            Problem::AgentMissing { agent: "codex".into(), program: "codex".into() },
            Problem::AgentMissing { agent: "mine".into(), program: "my-agent".into() },
        ],
        Problem::AcpNeedsFence { .. } => [Problem::AcpNeedsFence { agent: "mine".into() }],
        Problem::BadAgent { .. } => [Problem::BadAgent {
            agent: "cluade".into(),
            known: list(&["claude", "codex", "gemini", "exec:<command>"]),
        }],
        Problem::BadConfig { .. } => [
            Problem::BadConfig {
                path: "dandori.toml".into(),
                reason: "unknown key `agnet`".into(),
                suggestion: Some("agent".into()),
            },
            Problem::BadConfig { path: "dandori.toml".into(), reason: "line 3: invalid string".into(), suggestion: None },
        ],
        Problem::Untrusted { .. } => [Problem::Untrusted {
            path: "/home/ann/shop/dandori.toml".into(),
            what: list(&["worktrees.set_up = [\"make deps\"]", "agents.mine.command = \"my-agent\""]),
        }],
        Problem::EmptyInstruction => [Problem::EmptyInstruction],
        Problem::InstructionTooLong { .. } => [Problem::InstructionTooLong { bytes: 200_000, limit: 102_400 }],
        Problem::UnusableCharacter { .. } => [Problem::UnusableCharacter {
            what: "instruction".into(),
            character: "U+0000".into(),
            line: 2,
        }],
        Problem::BadBudget { .. } => [Problem::BadBudget { text: "-1".into() }],
        Problem::NoSuchTask { .. } => [Problem::NoSuchTask { text: "T-99".into() }],
        Problem::NoSuchRun { .. } => [Problem::NoSuchRun { text: "zzzz".into() }],
        Problem::NoSuchNeed { .. } => [Problem::NoSuchNeed { text: "zzzz".into() }],
        Problem::AmbiguousReference { .. } => [Problem::AmbiguousReference {
            text: "7f".into(),
            matches: list(&["7f3k2m9q", "7fa81xx0"]),
        }],
        Problem::CannotCancel { .. } => [Problem::CannotCancel { status: Status::Succeeded }],
        Problem::CannotRetry { .. } => [Problem::CannotRetry { run: RUN.into(), status: Status::Succeeded }],
        Problem::TaskIsBusy { .. } => [Problem::TaskIsBusy { run: RUN.into(), status: Status::Running }],
        Problem::NothingToPick { .. } => [Problem::NothingToPick { task: "T-3".into() }],
        Problem::WhichAgent { .. } => [Problem::WhichAgent {
            task: "T-3".into(),
            rivals: vec![
                Rival { run: RUN.into(), agent: "claude".into(), state: Status::Succeeded },
                Rival { run: "q8z1c0aa".into(), agent: "codex".into(), state: Status::Failed },
            ],
        }],
        Problem::NoSuchWorktree { .. } => [Problem::NoSuchWorktree { text: "cart".into() }],
        Problem::WorktreeHeld { .. } => [Problem::WorktreeHeld { key: "cart".into(), owner: "run 7f3k2m9q".into() }],
        Problem::WorktreeDirty { .. } => [Problem::WorktreeDirty { key: "cart".into(), files: 1, unpushed: 2 }],
        Problem::WorktreeExists { .. } => [Problem::WorktreeExists { path: "/home/ann/cart".into() }],
        Problem::UnsafePath { .. } => [Problem::UnsafePath {
            path: "/home/ann/shop/cart".into(),
            reason: "it is inside the repository /home/ann/shop".into(),
        }],
        Problem::WorktreeLocked { .. } => [Problem::WorktreeLocked {
            path: "/home/ann/cart".into(),
            reason: "on a removable disk".into(),
        }],
        Problem::WorktreeUnrecorded { .. } => [Problem::WorktreeUnrecorded { path: "/home/ann/cart".into() }],
        Problem::WorktreeDetached { .. } => [Problem::WorktreeDetached { path: "/home/ann/cart".into() }],
        Problem::BadBranchName { .. } => [Problem::BadBranchName { name: "a..b".into() }],
        Problem::BranchTaken { .. } => [
            Problem::BranchTaken { branch: "cart".into(), suggestion: "cart-2".into(), used_at: None },
            Problem::BranchTaken {
                branch: "cart".into(),
                suggestion: "cart-2".into(),
                used_at: Some("/home/ann/cart".into()),
            },
        ],
        Problem::NotOurWorktree { .. } => [Problem::NotOurWorktree { path: "/home/ann/other".into() }],
        Problem::NothingPreserved { .. } => [Problem::NothingPreserved { text: "cart".into() }],
        Problem::WorkRestored { .. } => [Problem::WorkRestored {
            task: "T-3".into(),
            worktree: RUN.into(),
            path: "/home/ann/wt_7f3k2m9q".into(),
        }],
        Problem::NoSuchPull { .. } => [Problem::NoSuchPull { number: 99 }],
        Problem::NoPullOf { .. } => [Problem::NoPullOf { text: "T-3".into() }],
        Problem::ForeignPull { .. } => [Problem::ForeignPull {
            number: 12,
            url: "https://github.com/ann/shop/pull/12".into(),
        }],
        Problem::PullIs { .. } => [
            Problem::PullIs { number: 4, state: PullState::Open },
            Problem::PullIs { number: 4, state: PullState::Closed },
            Problem::PullIs { number: 4, state: PullState::Merged },
        ],
        Problem::PullIsBusy { .. } => [Problem::PullIsBusy { number: 4 }],
        Problem::NoBranchToPullTo { .. } => [Problem::NoBranchToPullTo { commit: Oid::new("0123456789abcdef") }],
        Problem::PullTaken { .. } => [Problem::PullTaken { branch: "dandori/t-3".into(), number: 5 }],
        Problem::UpToDate { .. } => [Problem::UpToDate { number: 4, base: "main".into() }],
        Problem::CannotMerge { .. } => [Problem::CannotMerge { number: 4, task: None, obstacles: vec![] }],
        Problem::MergeOvertaken { .. } => [Problem::MergeOvertaken { base: "main".into(), tries: 3 }],
        Problem::MergeRefused { .. } => [Problem::MergeRefused {
            base: "main".into(),
            reason: "protected branch hook declined".into(),
        }],
        Problem::RemoteUnreachable { .. } => [Problem::RemoteUnreachable {
            reason: "Could not resolve host: git.example".into(),
        }],
        Problem::PickFirst { .. } => [Problem::PickFirst { task: "T-3".into(), candidates: list(&[RUN, "q8z1c0aa"]) }],
        Problem::NothingToPull { .. } => [
            nothing_to_pull(Status::Pending),
            nothing_to_pull(Status::Failed),
            nothing_to_pull(Status::Canceled),
        ],
        Problem::NothingChanged { .. } => [Problem::NothingChanged { run: RUN.into() }],
        Problem::ForgeRefused { .. } => [Problem::ForgeRefused { reason: "403: Resource not accessible".into() }],
        Problem::ForgeUnreachable { .. } => [Problem::ForgeUnreachable { reason: "connection refused".into() }],
        Problem::NoForgeToken { .. } => [Problem::NoForgeToken { host: "github.com".into() }],
        Problem::DiskFull { .. } => [Problem::DiskFull {
            path: "/home/ann/.local/state/dandori".into(),
            free_mib: 120,
            needed_mib: 1024,
        }],
        Problem::StoreFull => [Problem::StoreFull],
        Problem::StoreUnavailable { .. } => [Problem::StoreUnavailable { reason: "connection refused".into() }],
        Problem::StoreTooNew { .. } => [Problem::StoreTooNew { found: 12, known: 9 }],
        Problem::StoreDamaged { .. } => [
            Problem::StoreDamaged { quarantine: "/state/damaged-1".into(), restored: Some("2026-07-01".into()) },
            Problem::StoreDamaged { quarantine: "/state/damaged-1".into(), restored: None },
        ],
        Problem::DaemonUnreachable { .. } => [Problem::DaemonUnreachable {
            socket: "/state/daemon.sock".into(),
            reason: "no answer within 10 s".into(),
        }],
        Problem::DaemonStarting { .. } => [Problem::DaemonStarting {
            log: "/state/logs/daemon.log".into(),
            reason: "it ended with code 1".into(),
        }],
        Problem::DaemonVersion { .. } => [
            Problem::DaemonVersion { daemon: "0.1.0".into(), cli: "0.2.0".into() },
            Problem::DaemonVersion { daemon: "0.3.0".into(), cli: "0.2.0".into() },
        ],
        Problem::DaemonListensElsewhere { .. } => [
            Problem::DaemonListensElsewhere { asked: "127.0.0.1:4100".into(), listens: None },
            Problem::DaemonListensElsewhere { asked: "127.0.0.1:4100".into(), listens: Some("127.0.0.1:4200".into()) },
        ],
        Problem::CannotListen { .. } => [Problem::CannotListen {
            address: "127.0.0.1:80".into(),
            reason: "permission denied".into(),
        }],
        Problem::ForeignStateRoot { .. } => [Problem::ForeignStateRoot { path: "/state".into() }],
        Problem::ForeignDaemon { .. } => [Problem::ForeignDaemon { socket: "/state/daemon.sock".into() }],
        Problem::TooManyConnections { .. } => [Problem::TooManyConnections { limit: 64 }],
        Problem::SocketPathTooLong { .. } => [Problem::SocketPathTooLong { path: "/a/very/long/path".into() }],
        Problem::StopUnderWay => [Problem::StopUnderWay],
        Problem::NoSuchPath { .. } => [Problem::NoSuchPath { method: "GET".into(), path: "/v1/nothing".into() }],
        Problem::NotForRole { .. } => [Problem::NotForRole {
            agent: "worker2".into(),
            role: Role::Worker,
            may: vec!["result write".into(), "task heartbeat".into()],
        }],
        Problem::Unauthorized { .. } => [Problem::Unauthorized { reason: "no token".into() }],
        Problem::BadRequest { .. } => [Problem::BadRequest { reason: "missing field `instruction`".into() }],
        Problem::FormationRefused { .. } => [Problem::FormationRefused {
            refused: json!({ "refused": "too_many_commands", "count": 20, "most": 20 }).as_object().unwrap().clone(),
        }],
        Problem::BadPlan { .. } => [Problem::BadPlan {
            errors: vec![
                json!({ "path": "tasks[1].blocked_by[0]", "fault": { "fault": "unknown_name", "name": "foo" } }),
                json!({ "path": "tasks[2].bloom_level", "fault": { "fault": "out_of_range", "value": 7, "least": 1, "most": 6 } }),
            ],
        }],
        Problem::NoSuchOrder { .. } => [Problem::NoSuchOrder { text: "#7".into() }],
        Problem::NoSuchKept { .. } => [Problem::NoSuchKept { text: "7".into() }],
        Problem::Git { .. } => [Problem::Git { command: "git fetch origin".into(), reason: "not found".into() }],
        Problem::Io { .. } => [Problem::Io { path: "/home/ann/notes.md".into(), reason: "permission denied".into() }],
        Problem::Internal { .. } => [Problem::Internal { reason: "a lock is poisoned".into() }],
    });
    all.extend(obstacles().into_iter().map(cannot_merge));
    all
}

#[test]
fn every_problem_reads_well_in_both_languages() {
    let text: Vec<String> =
        all().iter().map(|problem| printed(&problem.code(), |lang| dandori_text::problem(lang, problem))).collect();
    is_fresh("problems.txt", &text.join("\n"));
}
