//! Everything that can be wrong with a request, as data. The API sends it, the CLI puts it into words.

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use crate::id::Oid;
use crate::pull::{MergeObstacle, PullState};
use crate::run::Status;

/// Which exit code a problem ends the CLI with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Exit 1: the user's input or state, a gate, a guard.
    Refused,
    /// Exit 3: git, the forge, the disk, the store.
    World,
    /// Exit 70: our bug.
    Bug,
}

/// Why a value in a document was not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditTrouble {
    /// Neither the key nor its section is there.
    NoPlace,
    /// It has keys or a list below it.
    NotAValue,
    SeveralLines,
    /// Its quotes cannot be kept in one line.
    Unwritable,
}

/// Why an agent's settings file is left alone. Lines and columns count from 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SettingsTrouble {
    /// Not UTF-8.
    NotText,
    NotJson {
        line: usize,
        column: usize,
        reason: String,
    },
    NotAnObject {
        line: usize,
        column: usize,
        /// `None`: the file as a whole.
        key: Option<String>,
    },
    NotAList {
        line: usize,
        column: usize,
        key: String,
    },
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Problem {
    NotARepository {
        path: Utf8PathBuf,
    },
    /// Guards are put into a repository, or with `--user` into the user's own settings.
    NothingToGuard {
        path: Utf8PathBuf,
    },
    /// No agent is on the PATH, none has settings here, and none was named.
    NoAgents,
    /// An agent's settings file is not what it has to be to take hooks in.
    BadSettings {
        path: Utf8PathBuf,
        trouble: SettingsTrouble,
    },
    /// It was moved or deleted since it was first used.
    RepositoryGone {
        path: Utf8PathBuf,
    },
    /// git does not use a repository of another user before it is told to.
    DubiousOwnership {
        path: Utf8PathBuf,
    },
    BareRepository {
        path: Utf8PathBuf,
    },
    NoCommitYet {
        path: Utf8PathBuf,
    },
    /// Several, and none of them is `origin`.
    WhichRemote {
        names: Vec<String>,
    },
    NoIdentity,
    /// state.md names no playbook, or there is no state.md.
    NoPlaybook {
        path: Utf8PathBuf,
    },
    FileExists {
        path: Utf8PathBuf,
    },
    /// A file the user named is not there.
    NoSuchFile {
        path: Utf8PathBuf,
    },
    /// A name that cannot be part of a file's.
    BadName {
        name: String,
    },
    /// A document could not be changed as asked.
    CannotEdit {
        path: Utf8PathBuf,
        key: String,
        reason: EditTrouble,
    },
    /// The key takes only some values.
    BadStateValue {
        key: String,
        value: String,
        known: Vec<String>,
    },
    NoSuchVersion {
        text: String,
    },
    /// It is another daemon's, on another host or below another state root, that shares the database.
    Elsewhere {
        path: Utf8PathBuf,
    },
    UnknownBase {
        base: String,
        near: Vec<String>,
        /// Why the remote, which may have it, could not be asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unreachable: Option<String>,
    },
    Submodules {
        path: Utf8PathBuf,
    },
    LfsMissing,
    GitTooOld {
        found: String,
        needed: String,
    },
    GitMissing,
    AgentMissing {
        agent: String,
        program: String,
    },
    /// An agent of the Agent Client Protocol, and no fence to hold it.
    AcpNeedsFence {
        agent: String,
    },
    BadAgent {
        agent: String,
        known: Vec<String>,
    },
    BadConfig {
        path: Utf8PathBuf,
        reason: String,
        suggestion: Option<String>,
    },
    Untrusted {
        path: Utf8PathBuf,
        what: Vec<String>,
    },
    EmptyInstruction,
    InstructionTooLong {
        bytes: usize,
        limit: usize,
    },
    /// A character that no program's argument and no commit can hold.
    UnusableCharacter {
        /// `instruction`, `base`, `model`, …
        what: String,
        /// As `U+0000`.
        character: String,
        line: usize,
    },
    BadBudget {
        text: String,
    },
    NoSuchTask {
        text: String,
    },
    NoSuchRun {
        text: String,
    },
    /// Nothing that needs a person has this name.
    NoSuchNeed {
        text: String,
    },
    AmbiguousReference {
        text: String,
        matches: Vec<String>,
    },
    CannotCancel {
        status: Status,
    },
    CannotRetry {
        /// Its name; earlier versions did not say it.
        #[serde(default)]
        run: String,
        status: Status,
    },
    TaskIsBusy {
        run: String,
        status: Status,
    },
    NothingToPick {
        task: String,
    },
    /// Several agents worked on a task and none is picked: whose work is meant?
    WhichAgent {
        task: String,
        rivals: Vec<Rival>,
    },
    NoSuchWorktree {
        text: String,
    },
    WorktreeHeld {
        key: String,
        owner: String,
    },
    WorktreeDirty {
        key: String,
        files: u32,
        unpushed: u32,
    },
    WorktreeExists {
        path: Utf8PathBuf,
    },
    UnsafePath {
        path: Utf8PathBuf,
        reason: String,
    },
    WorktreeLocked {
        path: Utf8PathBuf,
        reason: String,
    },
    WorktreeUnrecorded {
        path: Utf8PathBuf,
    },
    WorktreeDetached {
        path: Utf8PathBuf,
    },
    BadBranchName {
        name: String,
    },
    BranchTaken {
        branch: String,
        suggestion: String,
        /// Where it is checked out.
        #[serde(default)]
        used_at: Option<Utf8PathBuf>,
    },
    NotOurWorktree {
        path: Utf8PathBuf,
    },
    NothingPreserved {
        text: String,
    },
    /// The work that a run would go on from was restored, and may have been changed there since.
    WorkRestored {
        task: String,
        worktree: String,
        path: Utf8PathBuf,
    },
    NoSuchPull {
        number: u64,
    },
    /// Neither a number nor a task, run or branch that has one.
    NoPullOf {
        text: String,
    },
    /// It was opened by somebody else, not for a task.
    ForeignPull {
        number: u64,
        url: String,
    },
    /// What it is does not allow what was asked.
    PullIs {
        number: u64,
        state: PullState,
    },
    /// Somebody is merging, closing or reopening it at this moment.
    PullIsBusy {
        number: u64,
    },
    /// What it would start from is on no branch that a pull request could go to.
    NoBranchToPullTo {
        commit: Oid,
    },
    /// Its branch has another one that is open.
    PullTaken {
        branch: String,
        number: u64,
    },
    /// Its branch has everything the base has.
    UpToDate {
        number: u64,
        base: String,
    },
    CannotMerge {
        number: u64,
        /// The task it is of, to go on with.
        task: Option<String>,
        obstacles: Vec<MergeObstacle>,
    },
    /// Others pushed to the base faster than it could be merged.
    MergeOvertaken {
        base: String,
        tries: u32,
    },
    /// The remote did not take the merge.
    MergeRefused {
        base: String,
        reason: String,
    },
    /// The repository's remote does not answer.
    RemoteUnreachable {
        reason: String,
    },
    /// Several agents have something to show, and none is picked.
    PickFirst {
        task: String,
        candidates: Vec<String>,
    },
    NothingToPull {
        run: String,
        status: Status,
    },
    /// A pull request of a run that changed nothing.
    NothingChanged {
        run: String,
    },
    ForgeRefused {
        reason: String,
    },
    ForgeUnreachable {
        reason: String,
    },
    NoForgeToken {
        host: String,
    },
    DiskFull {
        path: Utf8PathBuf,
        free_mib: u64,
        needed_mib: u64,
    },
    StoreFull,
    StoreUnavailable {
        reason: String,
    },
    StoreTooNew {
        found: i64,
        known: i64,
    },
    StoreDamaged {
        quarantine: Utf8PathBuf,
        restored: Option<String>,
    },
    DaemonUnreachable {
        socket: Utf8PathBuf,
        reason: String,
    },
    DaemonStarting {
        log: Utf8PathBuf,
        reason: String,
    },
    DaemonVersion {
        daemon: String,
        cli: String,
    },
    /// The daemon that runs does not listen where it was asked to.
    DaemonListensElsewhere {
        asked: String,
        /// `None`: on its socket alone.
        listens: Option<String>,
    },
    CannotListen {
        address: String,
        reason: String,
    },
    /// The state root, or something in it, belongs to another user.
    ForeignStateRoot {
        path: Utf8PathBuf,
    },
    /// Whoever listens in the daemon's place is another user.
    ForeignDaemon {
        socket: Utf8PathBuf,
    },
    /// More are connected than the daemon serves at once.
    TooManyConnections {
        limit: usize,
    },
    SocketPathTooLong {
        path: Utf8PathBuf,
    },
    StopUnderWay,
    /// A path or method the API does not have.
    NoSuchPath {
        method: String,
        path: String,
    },
    /// Who asks is not let in: the token, the host name, the page.
    /// An agent of a formation asked for what its role may not do.
    NotForRole {
        /// `worker3`
        agent: String,
        role: crate::run::Role,
        /// What it may do, as it is typed.
        may: Vec<String>,
    },
    Unauthorized {
        reason: String,
    },
    BadRequest {
        reason: String,
    },
    /// A step of the formation's protocol was not taken. Its own rules say why, as data: they are not known here.
    FormationRefused {
        #[serde(flatten)]
        refused: serde_json::Map<String, serde_json::Value>,
    },
    /// Everything that is wrong with a plan, each with its path, in the words of the same rules.
    BadPlan {
        errors: Vec<serde_json::Value>,
    },
    /// No order of this repository has this name or number.
    NoSuchOrder {
        text: String,
    },
    /// Nothing that was kept of the formation's input has this name.
    NoSuchKept {
        text: String,
    },
    Git {
        command: String,
        reason: String,
    },
    Io {
        path: Utf8PathBuf,
        reason: String,
    },
    Internal {
        reason: String,
    },
}

impl Problem {
    /// A file the user named cannot be read: that it is not there, or is a folder, is in what was named.
    pub fn of_named_file(path: &Utf8Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound};
        match error.kind() {
            NotFound | NotADirectory | IsADirectory => Self::NoSuchFile { path: path.to_owned() },
            _ => Self::Io { path: path.to_owned(), reason: error.to_string() },
        }
    }

    /// Every problem is named here: a new one has no exit code before somebody has decided on it.
    #[deny(clippy::wildcard_enum_match_arm)]
    pub fn class(&self) -> Class {
        match self {
            Self::Git { .. }
            | Self::Io { .. }
            | Self::ForgeUnreachable { .. }
            | Self::ForgeRefused { .. }
            | Self::MergeOvertaken { .. }
            | Self::MergeRefused { .. }
            | Self::RemoteUnreachable { .. }
            | Self::DiskFull { .. }
            | Self::StoreFull
            | Self::StoreUnavailable { .. }
            | Self::StoreTooNew { .. }
            | Self::StoreDamaged { .. }
            | Self::DaemonUnreachable { .. }
            | Self::DaemonStarting { .. }
            | Self::CannotListen { .. }
            | Self::StopUnderWay
            | Self::TooManyConnections { .. }
            | Self::GitMissing
            | Self::GitTooOld { .. } => Class::World,
            Self::Internal { .. } => Class::Bug,
            Self::NotARepository { .. }
            | Self::NothingToGuard { .. }
            | Self::NoAgents
            | Self::BadSettings { .. }
            | Self::RepositoryGone { .. }
            | Self::DubiousOwnership { .. }
            | Self::BareRepository { .. }
            | Self::NoCommitYet { .. }
            | Self::WhichRemote { .. }
            | Self::NoIdentity
            | Self::NoPlaybook { .. }
            | Self::FileExists { .. }
            | Self::NoSuchFile { .. }
            | Self::BadName { .. }
            | Self::CannotEdit { .. }
            | Self::BadStateValue { .. }
            | Self::NoSuchVersion { .. }
            | Self::Elsewhere { .. }
            | Self::UnknownBase { .. }
            | Self::Submodules { .. }
            | Self::LfsMissing
            | Self::AgentMissing { .. }
            | Self::BadAgent { .. }
            | Self::BadConfig { .. }
            | Self::Untrusted { .. }
            | Self::EmptyInstruction
            | Self::InstructionTooLong { .. }
            | Self::UnusableCharacter { .. }
            | Self::BadBudget { .. }
            | Self::NoSuchTask { .. }
            | Self::NoSuchRun { .. }
            | Self::NoSuchNeed { .. }
            | Self::AmbiguousReference { .. }
            | Self::CannotCancel { .. }
            | Self::CannotRetry { .. }
            | Self::TaskIsBusy { .. }
            | Self::NothingToPick { .. }
            | Self::WhichAgent { .. }
            | Self::NoSuchWorktree { .. }
            | Self::WorktreeHeld { .. }
            | Self::WorktreeDirty { .. }
            | Self::WorktreeExists { .. }
            | Self::UnsafePath { .. }
            | Self::WorktreeLocked { .. }
            | Self::WorktreeUnrecorded { .. }
            | Self::WorktreeDetached { .. }
            | Self::BadBranchName { .. }
            | Self::BranchTaken { .. }
            | Self::NotOurWorktree { .. }
            | Self::NothingPreserved { .. }
            | Self::WorkRestored { .. }
            | Self::NoSuchPull { .. }
            | Self::NoPullOf { .. }
            | Self::ForeignPull { .. }
            | Self::PullIs { .. }
            | Self::PullIsBusy { .. }
            | Self::NoBranchToPullTo { .. }
            | Self::PullTaken { .. }
            | Self::UpToDate { .. }
            | Self::CannotMerge { .. }
            | Self::PickFirst { .. }
            | Self::NothingToPull { .. }
            | Self::NothingChanged { .. }
            | Self::NoForgeToken { .. }
            | Self::DaemonVersion { .. }
            | Self::DaemonListensElsewhere { .. }
            | Self::ForeignStateRoot { .. }
            | Self::ForeignDaemon { .. }
            | Self::SocketPathTooLong { .. }
            | Self::NoSuchPath { .. }
            | Self::NotForRole { .. }
            | Self::Unauthorized { .. }
            | Self::BadRequest { .. }
            | Self::FormationRefused { .. }
            | Self::BadPlan { .. }
            | Self::NoSuchOrder { .. }
            | Self::NoSuchKept { .. }
            | Self::AcpNeedsFence { .. } => Class::Refused,
        }
    }

    /// The stable name scripts may rely on.
    pub fn code(&self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|v| v.get("code").and_then(|c| c.as_str().map(str::to_owned)))
            .unwrap_or_else(|| "internal".to_owned())
    }
}

/// One of several agents on a task, by the newest of its runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rival {
    pub run: String,
    pub agent: String,
    pub state: Status,
}
