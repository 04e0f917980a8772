//! What a run may touch, from its settings and from what is on this machine.
//!
//! The worktree, its temporary folder and its private home can be written; dandori's own state, keys, logins and the
//! user's sessions cannot be seen ([`secrets`]); files that mix settings with logins are seen without the logins
//! ([`logins`]); tools' caches are read through and written to layers of the repository's own.

mod logins;
mod refused;
mod secrets;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{Refusal, Run, Sandbox, SandboxMode};
use dandori_domain::task::Repo;
use dandori_host::Env;
use dandori_host::sandbox::{self, RunLimits, SandboxPolicy, Stores};

use crate::engine::private_folder;
use crate::{Layout, RunLayout};

/// More processes and threads than builds and browsers need, and less than a machine has.
const PROCESSES: u64 = 8192;
const OPEN_FILES: u64 = 65_536;

/// What was said last is what it could not do.
const TOLD_BYTES: u64 = 4 << 20;

/// Whose fence it is, and what is asked for beyond the usual.
pub(crate) struct Wanted<'a> {
    pub(crate) run: &'a Run,
    pub(crate) repo: &'a Repo,
    pub(crate) worktree: &'a Utf8Path,
    /// The user's environment: where his things are.
    pub(crate) env: &'a Env,
    /// Further places that may be written, and read although they are hidden.
    pub(crate) write: &'a [Utf8PathBuf],
    pub(crate) read: &'a [Utf8PathBuf],
    /// Folders with sockets that it may connect to.
    pub(crate) reach: &'a [Utf8PathBuf],
}

/// The policy of a run. Makes the folders it names and writes the copies it shows.
pub(crate) fn policy(layout: &Layout, machine: &Sandbox, wanted: &Wanted<'_>) -> std::io::Result<SandboxPolicy> {
    let settings = &wanted.run.spec.settings.sandbox;
    let home = home_of(wanted.env);
    let expand = |path: &String| match path.strip_prefix("~") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => Utf8PathBuf::from(path),
    };
    let files = layout.repo(wanted.run.spec.repo).run(wanted.run.spec.id);
    let granted: Vec<Utf8PathBuf> = settings.read.iter().map(expand).collect();
    let mut policy = hiding(layout, wanted.repo, wanted.env)?;
    policy.mode = settings.mode;
    policy.needs_namespaces = machine.layers().namespaces;
    policy.tmp = Some(shared_tmp(&files)?);
    let is_read_only = wanted.run.spec.settings.read_only;
    policy.write = vec![files.tmp()];
    let worktree = if is_read_only { &mut policy.read } else { &mut policy.write };
    worktree.push(wanted.worktree.to_owned());
    policy.write.extend_from_slice(wanted.write);
    policy.write.extend(settings.write.iter().map(expand));
    // What the user grants is neither hidden nor replaced.
    policy.hide.retain(|path| !granted.contains(path));
    policy.replace.retain(|copy| !granted.contains(&copy.at));
    policy.hide.extend(settings.hide.iter().map(expand));
    policy.read.extend(granted);
    policy.read.extend_from_slice(wanted.read);
    policy.reach.extend_from_slice(wanted.reach);
    policy.protect = sandbox::programs_in_stores(&home);
    policy.limits = RunLimits {
        processes: Some(settings.processes.unwrap_or(PROCESSES)),
        open_files: Some(settings.open_files.unwrap_or(OPEN_FILES)),
        memory: settings.memory,
    };
    Ok(policy)
}

/// What the fence of a run that has ended refused, as its tools told it.
pub(crate) fn refusals(files: &RunLayout) -> Vec<Refusal> {
    let Some(policy) = dandori_host::shim::policy(files.root()) else { return Vec::new() };
    let told =
        [files.output(), files.stderr()].map(|path| dandori_host::file::tail(&path, TOLD_BYTES).unwrap_or_default());
    let bounds = refused::Bounds { writable: &policy.write, hidden: &policy.hide };
    let mut found = Vec::new();
    for text in told {
        for refusal in refused::refused(&String::from_utf8_lossy(&text), &bounds) {
            if !found.contains(&refusal) {
                found.push(refusal);
            }
        }
    }
    found
}

/// The policy of a git command in a work tree: what it may write is up to git.
pub(crate) fn around_git(layout: &Layout, machine: &Sandbox, repo: &Repo, env: &Env) -> std::io::Result<SandboxPolicy> {
    let mut policy = hiding(layout, repo, env)?;
    policy.needs_namespaces = machine.layers().namespaces;
    policy.limits = RunLimits { processes: Some(PROCESSES), open_files: Some(OPEN_FILES), memory: None };
    Ok(policy)
}

/// What nobody sees who works in a tree an agent has written.
fn hiding(layout: &Layout, repo: &Repo, env: &Env) -> std::io::Result<SandboxPolicy> {
    let home = home_of(env);
    let mut policy = SandboxPolicy::new(SandboxMode::Auto);
    policy.replace = logins::copies(&home, repo, &layout.repo(repo.id).copies())?;
    policy.hide = vec![layout.root().to_owned()];
    policy.hide.extend(secrets::of_user(&home, env));
    policy.hide.extend(secrets::of_checkout(&repo.root));
    // A copy takes its place.
    policy.hide.retain(|path| !policy.replace.iter().any(|copy| copy.at == *path));
    policy.read = needed_to_read(&home, repo, env);
    // Without namespaces the copies are found by the names that tools take for them.
    policy.read.extend(policy.replace.iter().map(|copy| copy.with.clone()));
    Ok(policy)
}

fn home_of(env: &Env) -> Utf8PathBuf {
    env.home().unwrap_or_else(|| "/nonexistent".into())
}

/// The tools' caches, with layers of this repository's own.
pub(crate) fn stores(layout: &Layout, run: &Run, env: &Env) -> Option<Stores> {
    let home = env.home()?;
    Some(Stores { pool: layout.repo(run.spec.repo).caches(), stores: sandbox::stores(&home, env) })
}

/// What is `/tmp` for a run. Beside its temporary folder, not in it: what a set-up command may write, it could replace by
/// a link to anywhere before the agent starts.
fn shared_tmp(files: &RunLayout) -> std::io::Result<Utf8PathBuf> {
    let folder = files.shared_tmp();
    private_folder(&folder)?;
    Ok(folder)
}

/// What would be out of sight only because it lies in a folder that a run has for itself.
fn needed_to_read(home: &Utf8Path, repo: &Repo, env: &Env) -> Vec<Utf8PathBuf> {
    let mut read = vec![home.to_owned(), repo.root.clone(), repo.git_dir.clone()];
    let path = env.text("PATH").unwrap_or_default();
    read.extend(path.split(':').filter(|folder| folder.starts_with('/')).map(Utf8PathBuf::from));
    read
}
