//! What is wrong with a request: what happened, why, and what to do next. The words of each subject have their own file.

use dandori_domain::Problem;
use dandori_domain::plain::plain;

use crate::{Lang, Said, init, pulls};

mod daemon;
mod document;
mod forge;
pub(crate) mod formation;
mod repository;
mod setup;
mod store;
mod task;
mod worktree;

/// What others said in it commands nobody's terminal.
pub fn problem(lang: Lang, problem: &Problem) -> Said {
    let Said { what, why, hint } = words(lang, problem);
    Said { what: plain(&what), why: why.as_deref().map(plain), hint: plain(&hint) }
}

fn words(lang: Lang, problem: &Problem) -> Said {
    match problem {
        Problem::NotARepository { path } => repository::not_a_repository(lang, path.as_str()),
        Problem::NothingToGuard { path } => init::nothing_to_guard(lang, path.as_str()),
        Problem::NoAgents => init::no_agents(lang),
        Problem::BadSettings { path, trouble } => init::bad_settings(lang, path.as_str(), trouble),
        Problem::RepositoryGone { path } => repository::repository_gone(lang, path.as_str()),
        Problem::DubiousOwnership { path } => repository::dubious_ownership(lang, path.as_str()),
        Problem::BareRepository { path } => repository::bare_repository(lang, path.as_str()),
        Problem::NoCommitYet { path } => repository::no_commit_yet(lang, path.as_str()),
        Problem::WhichRemote { names } => repository::which_remote(lang, names),
        Problem::Elsewhere { path } => repository::elsewhere(lang, path.as_str()),
        Problem::NoPlaybook { path } => document::no_playbook(lang, path.as_str()),
        Problem::FileExists { path } => document::file_exists(lang, path.as_str()),
        Problem::NoSuchFile { path } => document::no_such_file(lang, path.as_str()),
        Problem::BadName { name } => document::bad_name(lang, name),
        Problem::CannotEdit { path, key, reason } => document::cannot_edit(lang, path.as_str(), key, *reason),
        Problem::BadStateValue { key, value, known } => document::bad_state_value(lang, key, value, known),
        Problem::NoSuchVersion { text } => document::no_such_version(lang, text),
        Problem::NoIdentity => repository::no_identity(lang),
        Problem::UnknownBase { base, near, unreachable } => {
            repository::unknown_base(lang, base, near, unreachable.as_deref())
        }
        Problem::Submodules { path } => repository::submodules(lang, path.as_str()),
        Problem::LfsMissing => repository::lfs_missing(lang),
        Problem::GitTooOld { found, needed } => repository::git_too_old(lang, found, needed),
        Problem::GitMissing => repository::git_missing(lang),
        Problem::AgentMissing { agent, program } => setup::agent_missing(lang, agent, program),
        Problem::AcpNeedsFence { agent } => setup::acp_needs_fence(lang, agent),
        Problem::BadAgent { agent, known } => setup::bad_agent(lang, agent, known),
        Problem::BadConfig { path, reason, suggestion } => {
            setup::bad_config(lang, path.as_str(), reason, suggestion.as_deref())
        }
        Problem::Untrusted { path, what } => setup::untrusted(lang, path.as_str(), what),
        Problem::UnusableCharacter { what, character, line } => task::unusable_character(lang, what, character, *line),
        Problem::EmptyInstruction => task::empty_instruction(lang),
        Problem::InstructionTooLong { bytes, limit } => task::instruction_too_long(lang, *bytes, *limit),
        Problem::BadBudget { text } => task::bad_budget(lang, text),
        Problem::NoSuchTask { text } => task::no_such_task(lang, text),
        Problem::NoSuchRun { text } => task::no_such_run(lang, text),
        Problem::NoSuchNeed { text } => task::no_such_need(lang, text),
        Problem::AmbiguousReference { text, matches } => task::ambiguous_reference(lang, text, matches),
        Problem::CannotCancel { status } => task::cannot_cancel(lang, *status),
        Problem::CannotRetry { run, status } => task::cannot_retry(lang, run, *status),
        Problem::TaskIsBusy { run, status } => task::task_is_busy(lang, run, *status),
        Problem::WhichAgent { task, rivals } => task::which_agent(lang, task, rivals),
        Problem::NothingToPick { task } => task::nothing_to_pick(lang, task),
        Problem::NoSuchWorktree { text } => worktree::no_such_worktree(lang, text),
        Problem::WorktreeHeld { key, owner } => worktree::worktree_held(lang, key, owner),
        Problem::WorktreeDirty { key, files, unpushed } => worktree::worktree_dirty(lang, key, *files, *unpushed),
        Problem::WorktreeExists { path } => worktree::worktree_exists(lang, path.as_str()),
        Problem::UnsafePath { path, reason } => worktree::unsafe_path(lang, path.as_str(), reason),
        Problem::WorktreeLocked { path, reason } => worktree::worktree_locked(lang, path.as_str(), reason),
        Problem::WorktreeUnrecorded { path } => worktree::worktree_unrecorded(lang, path.as_str()),
        Problem::WorktreeDetached { path } => worktree::worktree_detached(lang, path.as_str()),
        Problem::BadBranchName { name } => worktree::bad_branch_name(lang, name),
        Problem::BranchTaken { branch, suggestion, used_at } => {
            worktree::branch_taken(lang, branch, suggestion, used_at.as_ref().map(|at| at.as_str()))
        }
        Problem::NotOurWorktree { path } => worktree::not_our_worktree(lang, path.as_str()),
        Problem::NothingPreserved { text } => worktree::nothing_preserved(lang, text),
        Problem::WorkRestored { task, worktree, path } => worktree::work_restored(lang, task, worktree, path.as_str()),
        Problem::NoSuchPull { number } => forge::no_such_pull(lang, *number),
        Problem::NothingToPull { run, status } => forge::nothing_to_pull(lang, run, *status),
        Problem::NothingChanged { run } => forge::nothing_changed(lang, run),
        Problem::ForgeRefused { reason } => forge::forge_refused(lang, reason),
        Problem::ForgeUnreachable { reason } => forge::forge_unreachable(lang, reason),
        Problem::NoForgeToken { host } => forge::no_forge_token(lang, host),
        Problem::DiskFull { path, free_mib, needed_mib } => {
            worktree::disk_full(lang, path.as_str(), *free_mib, *needed_mib)
        }
        Problem::NoPullOf { text } => pulls::no_pull_of(lang, text),
        Problem::ForeignPull { number, url } => pulls::foreign(lang, *number, url),
        Problem::PullIs { number, state } => pulls::pull_is(lang, *number, *state),
        Problem::PullIsBusy { number } => pulls::busy(lang, *number),
        Problem::UpToDate { number, base } => pulls::up_to_date(lang, *number, base),
        Problem::NoBranchToPullTo { commit } => pulls::no_branch(lang, commit.short()),
        Problem::PullTaken { branch, number } => pulls::taken(lang, branch, *number),
        Problem::CannotMerge { number, obstacles, .. } => pulls::cannot_merge(lang, *number, obstacles),
        Problem::MergeOvertaken { base, tries } => pulls::overtaken(lang, base, *tries),
        Problem::RemoteUnreachable { reason } => repository::remote_unreachable(lang, reason),
        Problem::MergeRefused { base, reason } => pulls::merge_refused(lang, base, reason),
        Problem::PickFirst { task, candidates } => pulls::pick_first(lang, task, candidates),
        Problem::StoreFull => store::store_full(lang),
        Problem::StoreUnavailable { reason } => store::store_unavailable(lang, reason),
        Problem::StoreTooNew { found, known } => store::store_too_new(lang, *found, *known),
        Problem::StoreDamaged { quarantine, restored } => {
            store::store_damaged(lang, quarantine.as_str(), restored.as_deref())
        }
        Problem::DaemonUnreachable { socket, reason } => daemon::daemon_unreachable(lang, socket.as_str(), reason),
        Problem::DaemonStarting { log, reason } => daemon::daemon_starting(lang, log.as_str(), reason),
        Problem::DaemonVersion { daemon, cli } => daemon::daemon_version(lang, daemon, cli),
        Problem::DaemonListensElsewhere { asked, listens } => {
            daemon::daemon_listens_elsewhere(lang, asked, listens.as_deref())
        }
        Problem::CannotListen { address, reason } => daemon::cannot_listen(lang, address, reason),
        Problem::ForeignStateRoot { path } => daemon::foreign_state_root(lang, path.as_str()),
        Problem::ForeignDaemon { socket } => daemon::foreign_daemon(lang, socket.as_str()),
        Problem::TooManyConnections { limit } => daemon::too_many_connections(lang, *limit),
        Problem::SocketPathTooLong { path } => daemon::socket_path_too_long(lang, path.as_str()),
        Problem::StopUnderWay => daemon::stop_under_way(lang),
        Problem::NoSuchPath { method, path } => daemon::no_such_path(lang, method, path),
        Problem::NotForRole { agent, role, may } => daemon::not_for_role(lang, agent, *role, may),
        Problem::Unauthorized { reason } => daemon::unauthorized(lang, reason),
        Problem::BadRequest { reason } => daemon::bad_request(lang, reason),
        Problem::FormationRefused { refused } => formation::refused(lang, refused),
        Problem::BadPlan { errors } => formation::bad_plan(lang, errors),
        Problem::NoSuchOrder { text } => formation::no_such_order(lang, text),
        Problem::NoSuchKept { text } => formation::no_such_kept(lang, text),
        Problem::Git { command, reason } => repository::git(lang, command, reason),
        Problem::Io { path, reason } => repository::io(lang, path.as_str(), reason),
        Problem::Internal { reason } => daemon::internal(lang, reason),
    }
}
