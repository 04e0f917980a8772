//! The stage of the demo: a folder with a repository, its origin, a colleague's clone, and a state root of its own.
//!
//! Nothing outside the folder is read or written: neither the user's git configuration nor his dandori's. What is
//! left standing afterwards works by itself, because identity and settings are the repository's own.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;
use dandori_git::Git;
use dandori_host::{Cmd, Env, replace_file};
use dandori_text::{Lang, demo};

use crate::out::Failed;

/// What the daemon of the demo is told. The limits are low enough for a small container.
const DAEMON_CONFIG: &str = "\
# The demo's own: your configuration is not read here.
[runs]
max_parallel = 2
min_free_memory = \"0\"
min_free_disk = \"16MiB\"
";

/// The repository's, as a user would write one.
const REPO_CONFIG: &str = "\
# Tasks are played by the built-in rehearsal agent: it needs no account.
agent = \"rehearsal\"
pr = true
";

const GREETING: &str = "#!/bin/sh\necho \"Helo, $1!\"\n";

pub(crate) struct Stage {
    root: Utf8PathBuf,
    env: Env,
}

impl Stage {
    /// Where to play: in `folder`, or in a fresh one below the system's temporary folder.
    pub(crate) fn place(folder: Option<&Utf8Path>, env: &Env, lang: Lang) -> Result<Utf8PathBuf, Failed> {
        Git::new(env, "demo").version().map_err(|e| e.problem())?;
        match folder {
            Some(folder) => own_folder(folder, lang),
            None => Ok(fresh_folder(env)?),
        }
    }

    pub(crate) fn build(root: Utf8PathBuf, env: &Env, lang: Lang) -> Result<Self, Problem> {
        let stage = Self { env: env_of(env, &root), root };
        for folder in [stage.cues(), stage.root.join("state")] {
            std::fs::create_dir_all(&folder).map_err(|e| io(&folder, &e))?;
        }
        // The agents see their cues, which may lie in a folder that each run has for itself.
        let cues = serde_json::Value::from(stage.cues().as_str());
        stage.write("config.toml", &format!("{DAEMON_CONFIG}\n[sandbox]\nread = [{cues}]\n"))?;
        stage.git(&stage.root, &["init", "--quiet", "--bare", "--initial-branch=main", "origin.git"])?;
        stage.git(&stage.root, &["init", "--quiet", "--initial-branch=main", "repo"])?;
        stage.introduce(&stage.repo(), "You", "you@example.com")?;
        stage.write("repo/README.md", &format!("# Greeting\n\n{}\n", demo::readme(lang).0))?;
        stage.write("repo/greet.sh", GREETING)?;
        stage.write("repo/dandori.toml", REPO_CONFIG)?;
        let repo = stage.repo();
        stage.git(&repo, &["remote", "add", "origin", stage.origin().as_str()])?;
        stage.git(&repo, &["add", "--all"])?;
        stage.git(&repo, &["commit", "--quiet", "--no-verify", "-m", demo::first_commit(lang)])?;
        stage.git(&repo, &["push", "--quiet", "--no-verify", "--set-upstream", "origin", "main"])?;
        stage.git(&stage.root, &["clone", "--quiet", stage.origin().as_str(), "colleague"])?;
        stage.introduce(&stage.colleague(), "Colleague", "colleague@example.com")?;
        Ok(stage)
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub(crate) fn repo(&self) -> Utf8PathBuf {
        self.root.join("repo")
    }

    pub(crate) fn origin(&self) -> Utf8PathBuf {
        self.root.join("origin.git")
    }

    pub(crate) fn config(&self) -> Utf8PathBuf {
        self.root.join("config.toml")
    }

    fn colleague(&self) -> Utf8PathBuf {
        self.root.join("colleague")
    }

    fn cues(&self) -> Utf8PathBuf {
        self.root.join("cues")
    }

    /// The environment of everything that is started here.
    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    /// The file an agent waits for.
    pub(crate) fn cue(&self, name: &str) -> Utf8PathBuf {
        self.cues().join(name)
    }

    pub(crate) fn give_cue(&self, name: &str) -> Result<(), Problem> {
        let path = self.cue(name);
        replace_file(&path, b"", 0o644).map_err(|e| io(&path, &e))
    }

    /// Somebody else commits a test to the branch and pushes it. Gives the commit.
    pub(crate) fn colleague_pushes(&self, branch: &str, lang: Lang) -> Result<String, Problem> {
        let theirs = self.colleague();
        self.git(&theirs, &["fetch", "--quiet", "origin", branch])?;
        self.git(&theirs, &["checkout", "--quiet", "-B", branch, "FETCH_HEAD"])?;
        self.write("colleague/greet_test.sh", "#!/bin/sh\nsh greet.sh Ada | grep -q Ada\n")?;
        self.git(&theirs, &["add", "--all"])?;
        self.git(&theirs, &["commit", "--quiet", "--no-verify", "-m", demo::colleagues_commit(lang)])?;
        self.git(&theirs, &["push", "--quiet", "--no-verify", "origin", branch])?;
        self.git(&theirs, &["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, folder: &Utf8Path, args: &[&str]) -> Result<String, Problem> {
        let command = Cmd::new("git", &self.env).args(args).cwd(folder);
        let failed = |reason: String| Problem::Git { command: command.shown(), reason };
        command.run().map(|output| output.text()).map_err(|e| failed(e.to_string()))
    }

    /// Who commits here; in the repository, so that it also holds for what is tried out later. Nobody's key is asked
    /// for a rehearsal.
    fn introduce(&self, repo: &Utf8Path, name: &str, email: &str) -> Result<(), Problem> {
        for (key, value) in [("user.name", name), ("user.email", email), ("commit.gpgSign", "false")] {
            self.git(repo, &["config", key, value])?;
        }
        Ok(())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), Problem> {
        let path = self.root.join(path);
        replace_file(&path, text.as_bytes(), 0o644).map_err(|e| io(&path, &e))
    }
}

fn io(path: &Utf8Path, error: &dyn ToString) -> Problem {
    Problem::Io { path: path.to_owned(), reason: error.to_string() }
}

/// The user's environment without his git and dandori, with those of the stage.
fn env_of(user: &Env, root: &Utf8Path) -> Env {
    let mut env = user.filtered(|name| !name.starts_with("GIT_") && !name.starts_with("DANDORI_"));
    env.set("GIT_CONFIG_GLOBAL", "/dev/null");
    env.set("GIT_CONFIG_NOSYSTEM", "1");
    env.set("DANDORI_STATE_DIR", root.join("state").as_str());
    env.set("DANDORI_CONFIG", root.join("config.toml").as_str());
    env
}

/// A folder the user named: it must be new or empty.
fn own_folder(folder: &Utf8Path, lang: Lang) -> Result<Utf8PathBuf, Failed> {
    std::fs::create_dir_all(folder).map_err(|e| io(folder, &e))?;
    let mut entries = std::fs::read_dir(folder).map_err(|e| io(folder, &e))?;
    if entries.next().is_some() {
        return Err(Failed::Usage(demo::not_empty(lang, folder.as_str())));
    }
    Ok(folder.canonicalize_utf8().map_err(|e| io(folder, &e))?)
}

/// A short name of our own; nobody else can look inside.
fn fresh_folder(env: &Env) -> Result<Utf8PathBuf, Problem> {
    use std::os::unix::fs::DirBuilderExt;
    let temporary = env.path("TMPDIR").unwrap_or_else(|| "/tmp".into());
    let temporary = temporary.canonicalize_utf8().map_err(|e| io(&temporary, &e))?;
    loop {
        let folder = temporary.join(format!("dandori-demo-{:06x}", dandori_host::random() & 0xff_ffff));
        match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(io(&folder, &e)),
        }
    }
}
