//! A user's machine with everything on it that an agent might want.

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_testkit::env::TestEnv;
use dandori_testkit::wrap;
use serde_json::{Value, json};

/// Nobody on any machine.
pub(crate) const SOMEBODY: u32 = 64_321;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Whoever runs the tests.
    Self_,
    /// An ordinary user; for a superuser to become.
    Ordinary,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Kind {
    pub(crate) who: Who,
    pub(crate) namespaces: bool,
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

/// The kinds of machine this one can be.
pub(crate) fn kinds() -> Vec<Kind> {
    let users: &[Who] = if is_root() { &[Who::Self_, Who::Ordinary] } else { &[Who::Self_] };
    users.iter().flat_map(|who| [true, false].map(|namespaces| Kind { who: *who, namespaces })).collect()
}

pub(crate) struct Ground {
    pub(crate) env: TestEnv,
    pub(crate) uid: u32,
    pub(crate) kind: Kind,
}

impl Ground {
    pub(crate) fn new(kind: Kind) -> Self {
        let mut env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
        // A short stay in other folders' names: everything is below this one, which an ordinary user has to enter.
        std::fs::set_permissions(env.root(), std::fs::Permissions::from_mode(0o755)).unwrap();
        // Programs that everybody can start.
        env.var("PATH", "/usr/local/bin:/usr/bin:/bin");
        furnish(&env);
        let mut words = Vec::new();
        if !kind.namespaces {
            words.extend(wrap::without_namespaces());
        }
        if kind.who == Who::Ordinary {
            env.give_to(SOMEBODY);
            words.extend(wrap::as_user(SOMEBODY));
        }
        env.wrap(words);
        let uid = if kind.who == Who::Ordinary { SOMEBODY } else { own_uid() };
        Self { env, uid, kind }
    }

    pub(crate) fn home(&self, path: &str) -> Utf8PathBuf {
        self.env.home().join(path)
    }

    /// A program of this machine's user.
    pub(crate) fn start(&self, program: &str, args: &[&str]) -> Child {
        let mut command = self.env.program(program, args, self.env.root());
        command.env("SECRET", "s3cret").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    /// A file in the repository's main branch, there before the agent comes.
    pub(crate) fn plant(&self, name: &str, text: &str) {
        self.env.write(name, text);
        if self.kind.who == Who::Ordinary {
            own(&self.env.repo().join(name));
        }
        self.env.git(["add", "-A"]);
        self.env.git(["commit", "--quiet", "-m", name]);
        self.env.git(["push", "--quiet", "origin", "main"]);
    }

    /// What `doctor` says of the fence.
    pub(crate) fn doctor(&self) -> Value {
        let ran = self.env.dandori(["doctor", "--json"]);
        ran.json()["checks"].as_array().unwrap().iter().find(|c| c["check"] == "sandbox").unwrap().clone()
    }
}

pub(crate) fn own(path: &Utf8Path) {
    let owner = format!("{SOMEBODY}:{SOMEBODY}");
    assert!(Command::new("chown").args(["-R", &owner, path.as_str()]).status().unwrap().success());
}

fn own_uid() -> u32 {
    std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap())
}

/// Keys, logins, notes, caches.
fn furnish(env: &TestEnv) {
    let home = env.home();
    for (path, text) in [
        (".ssh/id_ed25519", "s3cret"),
        (".ssh/authorized_keys", "mine"),
        (".aws/credentials", "s3cret"),
        (".netrc", "machine h password s3cret"),
        (".config/gh/hosts.yml", "oauth_token: s3cret"),
        (".npmrc", "registry=https://npm.example/\n//npm.example/:_authToken=s3cret\n"),
        (".docker/config.json", r#"{"auths":{"r":{"auth":"s3cret"}},"proxies":{}}"#),
        (".git-credentials", "https://me:s3cret@h"),
        (".cargo/credentials.toml", "token = \"s3cret\""),
        (".cargo/registry/index", "crate"),
        (".cargo/bin/tool", "#!/bin/sh\n"),
        (".npm/content", "package"),
        (".cache/tool/entry", "entry"),
        (".claude/.credentials.json", r#"{"x":"s3cret"}"#),
        (".codex/auth.json", r#"{"x":"s3cret"}"#),
        (".gemini/oauth_creds.json", r#"{"x":"s3cret"}"#),
        (".bash_history", "export T=s3cret"),
        (".bashrc", "# mine\n"),
        ("notes.txt", "notes"),
    ] {
        let path = home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    std::fs::write(env.repo().join(".env"), "KEY=s3cret").unwrap();
    env.write(".gitignore", ".env\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "ignore"]);
    env.git(["push", "--quiet", "origin", "main"]);
    env.git(["config", "remote.spare.url", "https://me:s3cret@host.example/x.git"]);
}

/// Somebody who listens at a socket and counts who comes.
pub(crate) struct Door(Arc<AtomicUsize>);

impl Door {
    pub(crate) fn at(path: &Utf8Path) -> Self {
        let door = Self::of(UnixListener::bind(path).unwrap());
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
        door
    }

    pub(crate) fn abstract_(name: &str) -> Self {
        Self::of(UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap())
    }

    fn of(listener: UnixListener) -> Self {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        // Ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0u8; 16]);
                let _ = stream.write_all(b"door\n");
            }
        });
        Self(count)
    }

    pub(crate) fn visits(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// A process that is ended with the test.
pub(crate) struct Kept(pub(crate) Child);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The run of an agent that does this, to its end.
pub(crate) fn run(ground: &Ground, agent: &str) -> Value {
    let told = ground.env.run_json(["try it", "--agent", agent]);
    told["runs"][0].clone()
}

pub(crate) fn places(ground: &Ground, more: &Value) -> String {
    let mut all = json!({
        "home": ground.env.home(), "state": ground.env.state(), "repo": ground.env.repo(),
        "uid": ground.uid, "namespaces": ground.kind.namespaces,
    });
    for (key, value) in more.as_object().unwrap() {
        all[key] = value.clone();
    }
    all.to_string()
}
