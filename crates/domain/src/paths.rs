//! Paths no agent may touch, judged on what would be staged.

use crate::client::{Client, Settings};

/// The names every run refuses; configuration may add to them, never take away.
pub const FORBIDDEN: &[&str] = &[".git", ".env", ".env.*", "*.key", "*.pem"];

/// Keys and passwords by the names they usually have, and where tools keep their logins. Patterns without a `/` hold in any folder,
/// `~/` is the home folder. The guards refuse to read them, and a run cannot see them.
pub fn secrets() -> Vec<String> {
    let login = |settings: &Settings| format!("~/{}/{}", settings.folder, settings.login);
    let logins = Client::ALL.iter().map(|client| login(&client.describe().settings));
    SECRETS.iter().map(|&pattern| pattern.to_owned()).chain(logins).collect()
}

const SECRETS: &[&str] = &[
    ".env",
    ".env.*",
    "*.key",
    "*.pem",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    "~/.npmrc",
    "~/.aws/credentials",
    "~/.azure/msal_token_cache.json",
    "~/.cargo/credentials.toml",
    "~/.config/gcloud/application_default_credentials.json",
    "~/.config/gcloud/credentials.db",
    "~/.config/gh/hosts.yml",
    "~/.config/git/credentials",
    "~/.docker/config.json",
    "~/.gem/credentials",
    "~/.gnupg/private-keys-v1.d",
    "~/.kube/config",
    "/etc/shadow",
    "/etc/gshadow",
];

/// Templates of secret files hold no secrets and belong into the repository.
const EXEMPT_ENDINGS: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// The pattern that forbids `path`, a path with `/` inside the repository, or `None`.
///
/// Patterns without a `/` are matched against each component, so `.git` also forbids `.git/config`, and
/// `*.pem` a key in any folder. Patterns with a `/` are matched against the whole path.
pub fn forbidden_by<'p>(path: &str, patterns: &[&'p str]) -> Option<&'p str> {
    if is_template(path) {
        return None;
    }
    patterns.iter().copied().find(|pattern| {
        if pattern.contains('/') {
            matches(pattern, path)
        } else {
            path.split('/').any(|component| matches(pattern, component))
        }
    })
}

fn is_template(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(".env.") && name.rsplit('.').next().is_some_and(|end| EXEMPT_ENDINGS.contains(&end))
}

/// `*` matches any run of characters but `/`, `**` any at all. Case is ignored: on some disks `.ENV` is `.env`.
fn matches(pattern: &str, text: &str) -> bool {
    fn go(p: &[char], t: &[char]) -> bool {
        match p {
            [] => t.is_empty(),
            ['*', '*', rest @ ..] => {
                let rest = rest.strip_prefix(&['/']).unwrap_or(rest);
                (0..=t.len()).any(|i| t.get(i..).is_some_and(|t| go(rest, t)))
            }
            ['*', rest @ ..] => (0..=t.len())
                .take_while(|i| *i == 0 || t.get(i - 1) != Some(&'/'))
                .any(|i| t.get(i..).is_some_and(|t| go(rest, t))),
            ['?', rest @ ..] => t.split_first().is_some_and(|(c, t)| *c != '/' && go(rest, t)),
            [c, rest @ ..] => t.split_first().is_some_and(|(d, t)| c == d && go(rest, t)),
        }
    }
    let fold = |s: &str| s.to_lowercase().chars().collect::<Vec<_>>();
    go(&fold(pattern), &fold(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_forbidden_in_any_folder_and_templates_are_not() {
        for (path, by) in [
            (".env", Some(".env")),
            (".env.local", Some(".env.*")),
            ("apps/web/.env.production", Some(".env.*")),
            ("certs/server.PEM", Some("*.pem")),
            ("id.key", Some("*.key")),
            (".git/hooks/pre-commit", Some(".git")),
            ("sub/.git/config", Some(".git")),
            (".ENV", Some(".env")),
            (".env.example", None),
            (".env.local.example", None),
            ("docs/.env.sample", None),
            ("src/environment.rs", None),
            (".gitignore", None),
            (".github/workflows/ci.yml", None),
            ("monkey", None),
            ("keys/readme.md", None),
        ] {
            assert_eq!(forbidden_by(path, FORBIDDEN), by, "{path}");
        }
    }

    #[test]
    fn patterns_with_a_slash_match_the_whole_path() {
        assert_eq!(forbidden_by("infra/prod/main.tf", &["infra/**"]), Some("infra/**"));
        assert_eq!(forbidden_by("a/infra/x", &["infra/**"]), None);
        assert_eq!(forbidden_by("a/b/secret.txt", &["a/*/secret.txt"]), Some("a/*/secret.txt"));
        assert_eq!(forbidden_by("a/b/c/secret.txt", &["a/*/secret.txt"]), None);
    }
}
