//! The git program itself: its environment, its neutral configuration, its deadlines, and patience with locks.
//!
//! The configuration travels in `GIT_CONFIG_COUNT`, which weighs as much as `-c` and keeps command lines readable
//! in messages.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::sandbox::SandboxPolicy;
use dandori_host::{Cmd, CmdError, CmdOutput, Env};

use crate::error::GitError;
use crate::fetch::Fetches;
use crate::records::Records;
use crate::unsupported::Carried;

/// `merge-tree --merge-base` came with it.
pub(crate) const MINIMUM_VERSION: Version = Version { major: 2, minor: 40, patch: 0 };

/// Checking out a large repository on a slow disk takes minutes.
pub(crate) const LOCAL_DEADLINE: Duration = Duration::from_mins(30);
pub(crate) const NETWORK_DEADLINE: Duration = Duration::from_mins(10);

/// How long a lock file somebody else holds is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// The configuration of every command: nothing an agent wrote runs, nothing is tidied up behind our back.
const NEUTRAL: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("core.quotePath", "false"),
    ("color.ui", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.followTags", "false"),
    ("protocol.ext.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("advice.detachedHead", "false"),
    // A slot of the pool is renamed: a path relative to its old place would be wrong at its new one.
    ("worktree.useRelativePaths", "false"),
    ("worktree.guessRemote", "false"),
    // As many as there are cores: two thirds of the time on two of them.
    ("checkout.workers", "0"),
    ("i18n.commitEncoding", "UTF-8"),
    ("merge.renormalize", "false"),
];

/// Of git's own variables the user's way to remotes and identity stays; what could point it elsewhere goes.
const KEPT: &[&str] = &[
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_SSH_VARIANT",
    "GIT_ASKPASS",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
];

/// What puts commands that touch a work tree behind the fence.
pub struct Fence {
    /// The `dandori` binary.
    pub program: Utf8PathBuf,
    /// What is hidden from them, found out when it is needed; what they may write is up to each.
    pub policy: Box<dyn Fn() -> io::Result<SandboxPolicy> + Send + Sync>,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").field("program", &self.program).finish_non_exhaustive()
    }
}

/// The git program with the user's environment, made neutral.
#[derive(Clone, Debug)]
pub struct Git {
    env: Env,
    pub(crate) fence: Option<Arc<Fence>>,
    pub(crate) fetches: Fetches,
    pub(crate) carried: Carried,
    pub(crate) records: Records,
    /// Asked once: a git that is replaced by another while we live is not an older one.
    version: Arc<OnceLock<Version>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Git {
    /// `env` is the user's. Every child carries `DANDORI_COMMAND_OF=<marker>`, so that what a killed daemon left
    /// behind can be found.
    pub fn new(env: &Env, marker: &str) -> Self {
        let mut env = env.filtered(|name| {
            !name.starts_with("GIT_")
                || KEPT.contains(&name)
                || name.starts_with("GIT_SSL_")
                || name.starts_with("GIT_HTTP_")
        });
        env.remove("LANGUAGE");
        env.set("LC_ALL", "C");
        env.set("GIT_TERMINAL_PROMPT", "0");
        env.set(dandori_host::cmd::COMMAND_MARKER, marker);
        env.set("GIT_CONFIG_COUNT", NEUTRAL.len().to_string());
        for (i, (key, value)) in NEUTRAL.iter().enumerate() {
            env.set(format!("GIT_CONFIG_KEY_{i}"), *key);
            env.set(format!("GIT_CONFIG_VALUE_{i}"), *value);
        }
        Self {
            env,
            fence: None,
            fetches: Fetches::default(),
            carried: Carried::default(),
            records: Records::default(),
            version: Arc::default(),
        }
    }

    /// The same program called for somebody else: what is known of repositories is known for both, a way to a remote is
    /// each one's own.
    pub fn called_with(&self, env: &Env, marker: &str) -> Self {
        let Self { env, fetches, .. } = Self::new(env, marker);
        Self { env, fetches, fence: None, ..self.clone() }
    }

    /// The same, with commands that touch a work tree behind this fence.
    pub fn behind(&self, fence: Fence) -> Self {
        Self { fence: Some(Arc::new(fence)), ..self.clone() }
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// The version found; too old or missing is an error.
    pub fn version(&self) -> Result<Version, GitError> {
        if let Some(version) = self.version.get() {
            return Ok(*version);
        }
        let text = self.cmd().arg("version").run().map_err(|e| clean(e).into_missing())?.text();
        let version = parse_version(&text).ok_or_else(|| GitError::unexpected(text.clone()))?;
        if version < MINIMUM_VERSION {
            return Err(GitError::TooOld { found: version.to_string(), needed: MINIMUM_VERSION.to_string() });
        }
        Ok(*self.version.get_or_init(|| version))
    }

    /// A command with no place: nothing of a repository may be asked of it without naming it.
    pub(crate) fn cmd(&self) -> Call {
        Call { cmd: Cmd::new("git", &self.env).deadline(LOCAL_DEADLINE), settings: NEUTRAL.len() }
    }
}

/// One git command. Its errors carry no credentials.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    cmd: Cmd,
    settings: usize,
}

impl Call {
    pub(crate) fn arg(self, arg: impl AsRef<str>) -> Self {
        Self { cmd: self.cmd.arg(arg.as_ref()), ..self }
    }

    pub(crate) fn args<A: AsRef<str>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn env(self, name: &str, value: impl AsRef<str>) -> Self {
        Self { cmd: self.cmd.env(name, value.as_ref()), ..self }
    }

    /// One more setting, above all others.
    pub(crate) fn setting(self, key: &str, value: &str) -> Self {
        let place = self.settings;
        let call = self
            .env("GIT_CONFIG_COUNT", (place + 1).to_string())
            .env(&format!("GIT_CONFIG_KEY_{place}"), key)
            .env(&format!("GIT_CONFIG_VALUE_{place}"), value);
        Self { settings: place + 1, ..call }
    }

    /// Objects and refs reach the disk before the command ends; git by itself leaves loose objects to chance.
    pub(crate) fn durably(self) -> Self {
        self.setting("core.fsync", "objects,reference").setting("core.fsyncMethod", "batch")
    }

    /// Where it runs; a folder that is there.
    pub(crate) fn at(self, cwd: &Utf8Path) -> Self {
        Self { cmd: self.cmd.cwd(cwd), ..self }
    }

    /// Looks only: takes no lock for the sake of a faster next time.
    pub(crate) fn reading(self) -> Self {
        self.env("GIT_OPTIONAL_LOCKS", "0")
    }

    pub(crate) fn over_network(self) -> Self {
        self.deadline(NETWORK_DEADLINE)
    }

    pub(crate) fn deadline(self, deadline: Duration) -> Self {
        Self { cmd: self.cmd.deadline(deadline), ..self }
    }

    pub(crate) fn stdin(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self { cmd: self.cmd.stdin(bytes), ..self }
    }

    pub(crate) fn behind(self, program: &Utf8Path, policy: &SandboxPolicy) -> Self {
        Self { cmd: self.cmd.behind(program, policy), ..self }
    }

    pub(crate) fn stdin_from(self, file: std::fs::File) -> Self {
        Self { cmd: self.cmd.stdin_from(file), ..self }
    }

    pub(crate) fn stdout_to(self, path: &Utf8Path) -> Self {
        Self { cmd: self.cmd.stdout_to(path), ..self }
    }

    pub(crate) fn run(&self) -> Result<CmdOutput, CmdError> {
        self.cmd.run().map_err(clean)
    }

    /// Every exit is an answer.
    pub(crate) fn run_any(&self) -> Result<CmdOutput, CmdError> {
        let mut output = self.cmd.run_any().map_err(clean)?;
        output.stderr = scrub(&output.stderr);
        Ok(output)
    }

    /// The answer's first line, or `None` when git said no (exit 1, or 128 for a name it does not know).
    pub(crate) fn answer(&self) -> Result<Option<String>, CmdError> {
        let output = self.run_any()?;
        let text = output.text();
        Ok((output.status.success() && !text.is_empty()).then_some(text))
    }

    /// Runs it, and again for a while when somebody else is in the way.
    pub(crate) fn run_patiently(&self) -> Result<CmdOutput, CmdError> {
        let until = Instant::now() + LOCK_PATIENCE;
        let mut pause = Duration::from_millis(20);
        loop {
            match self.run() {
                Err(error) if is_passing_trouble(error.stderr()) && Instant::now() < until => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(500));
                }
                other => return other,
            }
        }
    }
}

/// git has no exit code for "somebody holds the lock"; with `LC_ALL=C` its words are stable. Nor does it have one for
/// a worktree's record that somebody removed while git looked at them all, or has only begun to write.
fn is_passing_trouble(stderr: &str) -> bool {
    let stderr = stderr.to_ascii_lowercase();
    let is_locked = stderr.contains("file exists") && (stderr.contains(".lock") || stderr.contains("lock config file"));
    let has_vanished = stderr.contains("invalid path '") && stderr.contains("/worktrees/");
    let is_being_made = stderr.contains("bad object worktrees/");
    is_locked || has_vanished || is_being_made
}

trait IntoMissing {
    fn into_missing(self) -> GitError;
}

impl IntoMissing for CmdError {
    fn into_missing(self) -> GitError {
        if self.is_missing_program() { GitError::Missing } else { GitError::Command(self) }
    }
}

fn clean(error: CmdError) -> CmdError {
    match error {
        CmdError::Failed { command, status, code, stdout, stderr } => {
            CmdError::Failed { command: scrub(&command), status, code, stdout, stderr: scrub(&stderr) }
        }
        other => other,
    }
}

/// Without the user and password of any URL in it.
pub(crate) fn scrub(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let end = after.find(|c: char| c == '/' || c.is_whitespace() || c == '\'' || c == '"').unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        out.push_str(authority.rsplit_once('@').map_or(authority, |(_, host)| host));
        rest = tail;
    }
    out.push_str(rest);
    out
}

/// `git version 2.47.3 (Apple Git-154)`, `2.50.0.rc1`.
fn parse_version(text: &str) -> Option<Version> {
    let number = text.split_whitespace().nth(2)?;
    let mut parts = number.split('.').map(|p| p.parse::<u32>().ok());
    Some(Version { major: parts.next()??, minor: parts.next()??, patch: parts.next().flatten().unwrap_or(0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_in_urls_are_taken_out() {
        assert_eq!(
            scrub("fatal: unable to access 'https://me:s3cret@host.example/a.git/': 403\nssh://git@host/x ok"),
            "fatal: unable to access 'https://host.example/a.git/': 403\nssh://host/x ok"
        );
        assert_eq!(scrub("https://p@ss@host/x"), "https://host/x");
        assert_eq!(scrub("no url, a@b.c"), "no url, a@b.c");
    }

    #[test]
    fn versions_are_read_with_their_suffixes() {
        for (text, expected) in [
            ("git version 2.47.3", "2.47.3"),
            ("git version 2.39.5 (Apple Git-154)", "2.39.5"),
            ("git version 2.50.0.rc1", "2.50.0"),
            ("git version 2.45.GIT", "2.45.0"),
        ] {
            assert_eq!(parse_version(text).unwrap().to_string(), expected);
        }
        assert!(parse_version("git version 2.39.5").unwrap() < MINIMUM_VERSION);
    }

    #[test]
    fn only_a_held_lock_is_waited_for() {
        assert!(is_passing_trouble("error: could not lock config file .git/config: File exists"));
        assert!(is_passing_trouble("fatal: Unable to create '/r/.git/packed-refs.lock': File exists."));
        assert!(!is_passing_trouble("fatal: a branch named 'x.lock' is not valid"));
        assert!(!is_passing_trouble("fatal: Unable to create '/r/.git/index.lock': Permission denied"));
    }

    #[test]
    fn the_users_way_to_remotes_stays_and_what_points_git_elsewhere_goes() {
        let user = Env::from_pairs([
            ("GIT_DIR", "/elsewhere"),
            ("GIT_CONFIG_PARAMETERS", "'core.fsmonitor=evil'"),
            ("GIT_EXTERNAL_DIFF", "evil"),
            ("GIT_SSH_COMMAND", "ssh -i key"),
            ("GIT_AUTHOR_NAME", "Me"),
            ("GIT_AUTHOR_DATE", "yesterday"),
            ("SSH_AUTH_SOCK", "/s"),
            ("HTTPS_PROXY", "http://proxy"),
        ]);
        let git = Git::new(&user, "run_1");
        let names: Vec<_> = git.env.iter().map(|(k, _)| k.to_str().unwrap().to_owned()).collect();
        for gone in ["GIT_DIR", "GIT_CONFIG_PARAMETERS", "GIT_EXTERNAL_DIFF", "GIT_AUTHOR_DATE"] {
            assert!(!names.contains(&gone.to_owned()), "{gone}");
        }
        for kept in ["GIT_SSH_COMMAND", "GIT_AUTHOR_NAME", "SSH_AUTH_SOCK", "HTTPS_PROXY", "DANDORI_COMMAND_OF"] {
            assert!(names.contains(&kept.to_owned()), "{kept}");
        }
    }
}
