//! The user's token: found when it is needed, held in memory, shown to nobody.
//!
//! Asked in the order `gh` itself asks: the environment, `gh auth token`, the desktop's keyring. The keyring is asked
//! through `secret-tool` (libsecret's own program) rather than a library: a Secret Service client brings D-Bus and
//! some sixty crates or a C library into every build, for one look-up that most users never reach. Nothing is ever
//! written anywhere, and an Enterprise host never gets the token meant for github.com, nor the other way round.

use std::fmt;
use std::time::Duration;

use dandori_host::{Cmd, Env};

use crate::ForgeError;
use crate::choose::is_github_com;

/// Long enough for a keyring on a slow disk; short enough that an unlock dialog nobody sees does not hold a run.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the two programs need to find their own settings and the session's keyring, and no more.
const PASSED_ON: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
];

/// A secret. It has no `Display`, its `Debug` does not show it, and it cannot be serialised.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// `None` for what cannot be a token: empty, or with characters that no bearer token has (RFC 6750). So a token reads
    /// the same in a header, in JSON and in an address, and can be found in each to be taken out.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
        (!text.is_empty() && text.bytes().all(plain)).then(|| Self(text.to_owned()))
    }

    pub(crate) fn secret(&self) -> &str {
        &self.0
    }

    /// The text with the token taken out, wherever an answer may have echoed it.
    pub(crate) fn scrub(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}

/// Where a token came from, for `doctor`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenSource {
    Variable(&'static str),
    GhProgram,
    Keyring,
}

/// The token for a host. Blocking, as it may run programs: call it from the blocking pool.
pub fn find(env: &Env, host: &str) -> Result<(Token, TokenSource), ForgeError> {
    from_env(env, host)
        .or_else(|| from_gh(env, host).map(|t| (t, TokenSource::GhProgram)))
        .or_else(|| from_keyring(env, host).map(|t| (t, TokenSource::Keyring)))
        .ok_or_else(|| ForgeError::NoToken { host: host.to_owned() })
}

fn from_env(env: &Env, host: &str) -> Option<(Token, TokenSource)> {
    let names: [&'static str; 2] = if is_github_com(host) {
        ["GH_TOKEN", "GITHUB_TOKEN"]
    } else {
        ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]
    };
    names.into_iter().find_map(|name| {
        let token = env.text(name).and_then(Token::new)?;
        Some((token, TokenSource::Variable(name)))
    })
}

fn from_gh(env: &Env, host: &str) -> Option<Token> {
    let args = ["auth", "token", "--hostname", host];
    ask(env, "gh", &args)
}

/// First what the user stored for dandori (`secret-tool store --label dandori service dandori host H`), then what `gh`
/// left there: it may have been installed and removed, or be off this process's path.
fn from_keyring(env: &Env, host: &str) -> Option<Token> {
    let of_gh = format!("gh:{host}");
    ask(env, "secret-tool", &["lookup", "service", "dandori", "host", host])
        .or_else(|| ask(env, "secret-tool", &["lookup", "service", &of_gh]))
}

/// A failure is "no token here" and nothing more: its text could hold the secret.
fn ask(env: &Env, program: &str, args: &[&str]) -> Option<Token> {
    let program = env.find_program(program)?;
    let clean = env.filtered(|name| PASSED_ON.contains(&name));
    let output = Cmd::new(program.as_str(), &clean)
        .args(args)
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .deadline(DEADLINE)
        .run()
        .ok()?;
    Token::new(&output.text())
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// One test at a time: a program being written while another test forks is "busy" for that moment.
    static WRITING: Mutex<()> = Mutex::new(());

    /// A folder with stand-in programs, as the only thing on the path.
    struct Programs(tempfile::TempDir, #[expect(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

    impl Programs {
        fn new() -> Self {
            let alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            Self(tempfile::tempdir().unwrap(), alone)
        }

        fn with(self, name: &str, script: &str) -> Self {
            let path = self.0.path().join(name);
            let utf8 = camino::Utf8Path::from_path(&path).unwrap();
            dandori_host::replace_file(utf8, format!("#!/bin/sh\n{script}\n").as_bytes(), 0o700).unwrap();
            self
        }

        fn env(&self, pairs: &[(&str, &str)]) -> Env {
            let mut env = Env::from_pairs(pairs.iter().copied());
            env.set("PATH", self.0.path());
            env
        }
    }

    fn found(env: &Env, host: &str) -> Option<(String, TokenSource)> {
        find(env, host).ok().map(|(t, s)| (t.secret().to_owned(), s))
    }

    #[test]
    fn the_environment_comes_first_and_each_host_has_its_own_names() {
        let none = Programs::new();
        let env = none.env(&[("GH_TOKEN", "one"), ("GITHUB_TOKEN", "two"), ("GITHUB_ENTERPRISE_TOKEN", "three")]);
        assert_eq!(found(&env, "github.com"), Some(("one".into(), TokenSource::Variable("GH_TOKEN"))));
        assert_eq!(found(&env, "ghe.corp"), Some(("three".into(), TokenSource::Variable("GITHUB_ENTERPRISE_TOKEN"))));
        let only_cloud = none.env(&[("GITHUB_TOKEN", "two")]);
        assert_eq!(found(&only_cloud, "github.com"), Some(("two".into(), TokenSource::Variable("GITHUB_TOKEN"))));
        assert_eq!(find(&only_cloud, "ghe.corp"), Err(ForgeError::NoToken { host: "ghe.corp".into() }));
    }

    #[test]
    fn gh_is_asked_for_the_host_with_a_clean_environment() {
        let programs = Programs::new().with(
            "gh",
            r#"[ "$*" = "auth token --hostname ghe.corp" ] && [ -z "$SECRET" ] && [ "$HOME" = /h ] && echo from-gh"#,
        );
        let env = programs.env(&[("HOME", "/h"), ("SECRET", "x"), ("GH_TOKEN", "for the cloud")]);
        assert_eq!(found(&env, "ghe.corp"), Some(("from-gh".into(), TokenSource::GhProgram)));
    }

    #[test]
    fn the_keyring_is_the_last_to_be_asked() {
        let programs = Programs::new()
            .with("gh", "echo 'no oauth token' >&2; exit 1")
            .with("secret-tool", r#"[ "$*" = "lookup service dandori host github.com" ] && printf from-keyring"#);
        assert_eq!(found(&programs.env(&[]), "github.com"), Some(("from-keyring".into(), TokenSource::Keyring)));
        let left_by_gh =
            programs.with("secret-tool", r#"[ "$*" = "lookup service gh:github.com" ] && printf left-by-gh"#);
        assert_eq!(found(&left_by_gh.env(&[]), "github.com"), Some(("left-by-gh".into(), TokenSource::Keyring)));
    }

    #[test]
    fn what_cannot_be_a_token_is_none_and_a_token_does_not_show() {
        for bad in ["", "  \n", "two words", "line\nbreak", "日本", "quo\"te"] {
            assert_eq!(Token::new(bad), None, "{bad:?}");
        }
        let token = Token::new(" ghp_abc\n").unwrap();
        assert_eq!(token.secret(), "ghp_abc");
        assert_eq!(format!("{token:?}"), "Token(***)");
        assert_eq!(token.scrub("Bearer ghp_abc is bad"), "Bearer *** is bad");
    }
}
