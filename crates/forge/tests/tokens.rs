//! Where a token comes from, asked of the real programs: `gh`, and a keyring that is unlocked.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "tests: a panic is how they report"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dandori_forge::{Token, TokenSource};
use dandori_host::Env;

fn env(home: &Path, more: &[(&str, &str)]) -> Env {
    let path = std::env::var("PATH").unwrap();
    let mut env = Env::from_pairs([("PATH", path.as_str())].into_iter().chain(more.iter().copied()));
    env.set("HOME", home);
    env
}

#[test]
fn the_login_of_gh_is_used() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/gh");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("hosts.yml"), "github.com:\n    oauth_token: gho_login\n    user: me\n").unwrap();
    let env = env(home.path(), &[]);
    let found = dandori_forge::token::find(&env, "github.com").unwrap();
    assert_eq!(found, (Token::new("gho_login").unwrap(), TokenSource::GhProgram));
    dandori_forge::token::find(&env, "ghe.corp").unwrap_err();
}

/// A session bus with an unlocked keyring that holds one token; both end with it.
struct Keyring(Child, String);

impl Keyring {
    fn with(home: &Path, token: &str) -> Self {
        let script = format!(
            "printf pw | gnome-keyring-daemon --unlock --components=secrets > /dev/null 2>&1 || exit 1
             printf {token} | secret-tool store --label dandori service dandori host github.com || exit 1
             echo \"$DBUS_SESSION_BUS_ADDRESS\"; cat > /dev/null"
        );
        let mut child = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", &script])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", home)
            .env("XDG_RUNTIME_DIR", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("dbus-run-session, gnome-keyring and secret-tool are installed by `cargo xtask needs`");
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self(child, address.trim().to_owned())
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn what_was_stored_for_dandori_in_the_keyring_is_used() {
    let home = tempfile::tempdir().unwrap();
    let keyring = Keyring::with(home.path(), "gho_stored");
    assert!(keyring.1.starts_with("unix:"), "the bus has an address: {:?}", keyring.1);
    let env = env(home.path(), &[("DBUS_SESSION_BUS_ADDRESS", &keyring.1)]);
    let found = dandori_forge::token::find(&env, "github.com").unwrap();
    assert_eq!(found, (Token::new("gho_stored").unwrap(), TokenSource::Keyring));
}
