//! Where keys and logins are: unreadable in a run unless the configuration grants them (`sandbox.read`).

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Client;
use dandori_domain::paths::{forbidden_by, secrets};
use dandori_host::Env;

/// Folders that hold nothing else, or nothing a build needs: keys, logins, sessions, what browsers remember.
const FOLDERS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".password-store",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/gcloud",
    ".config/op",
    ".config/git/credentials",
    ".cache/git/credential",
    ".git-credential-cache",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".pgpass",
    ".my.cnf",
    ".cargo/credentials",
    ".terraform.d/credentials.tfrc.json",
    ".config/composer/auth.json",
    ".composer/auth.json",
    ".vault-token",
    ".config/containers/auth.json",
    ".config/rclone",
    ".config/sops",
    ".config/helm/registry",
    ".config/doctl",
    ".fly",
    ".config/netlify",
    ".config/configstore",
    ".config/github-copilot",
    ".oci",
    ".s3cfg",
    ".boto",
    ".terraformrc",
    ".sbt/.credentials",
    ".ivy2/.credentials",
    ".config/pypoetry/auth.toml",
    ".hex/hex.config",
    ".local/share/atuin",
    ".config/nushell/history.txt",
    ".zhistory",
    ".sqlite_history",
    ".irb_history",
    ".config/vivaldi",
    ".config/opera",
    ".var/app",
];

/// Folders and files that the user's own variables have moved: what of them is a login.
const MOVED: &[(&str, &[&str])] = &[
    ("CARGO_HOME", &["credentials.toml", "credentials"]),
    ("GH_CONFIG_DIR", &["hosts.yml"]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[""]),
    ("AWS_CONFIG_FILE", &[""]),
    ("NPM_CONFIG_USERCONFIG", &[""]),
    ("npm_config_userconfig", &[""]),
    ("DOCKER_CONFIG", &["config.json"]),
    ("KUBECONFIG", &[""]),
    ("GNUPGHOME", &[""]),
    ("CLOUDSDK_CONFIG", &[""]),
    ("AZURE_CONFIG_DIR", &[""]),
    ("NETRC", &[""]),
    ("HISTFILE", &[""]),
    ("XDG_CONFIG_HOME", &["gh", "gcloud", "op", "git/credentials", "google-chrome", "chromium", "rclone", "sops"]),
];

/// Folders of a checkout that are looked into: secrets lie near the top.
const DEPTH: usize = 2;
/// Names looked at; a checkout with more keeps its secrets elsewhere.
const LOOKED_AT: usize = 20_000;
/// Folders in which nobody keeps a secret, and many have thousands of names.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv", "vendor"];

/// Those of the user that are there.
pub(super) fn of_user(home: &Utf8Path, env: &Env) -> Vec<Utf8PathBuf> {
    let secrets = secrets();
    let named = secrets.iter().filter_map(|pattern| pattern.strip_prefix("~/")).chain(FOLDERS.iter().copied());
    let mut found: Vec<Utf8PathBuf> = named.map(|name| home.join(name)).collect();
    let elsewhere = secrets.iter().filter(|pattern| pattern.starts_with('/'));
    found.extend(elsewhere.map(Utf8PathBuf::from));
    let moved = |variable: &str| env.path(variable).filter(|path| path.is_absolute() && path != home);
    for settings in Client::ALL.iter().map(|client| &client.describe().settings) {
        let users = home.join(settings.folder);
        let elsewhere = moved(settings.moved_by.variable()).map(|place| place.join(settings.below_variable()));
        for folder in std::iter::once(users).chain(elsewhere) {
            let all = settings.private.iter().chain([&settings.login]);
            found.extend(all.map(|name| folder.join(name)));
        }
    }
    for (variable, logins) in MOVED {
        let Some(place) = moved(variable) else { continue };
        found.extend(logins.iter().map(|name| if name.is_empty() { place.clone() } else { place.join(name) }));
    }
    found.extend(matching(home, 0, &mut LOOKED_AT.clone()));
    found.retain(|path| path.symlink_metadata().is_ok());
    found
}

/// `.env` and its like in the user's own checkout, which a run has no part of.
pub(super) fn of_checkout(root: &Utf8Path) -> Vec<Utf8PathBuf> {
    matching(root, DEPTH, &mut LOOKED_AT.clone())
}

/// What has the name of a secret, in this folder and so deep below it.
fn matching(folder: &Utf8Path, depth: usize, left: &mut usize) -> Vec<Utf8PathBuf> {
    let secrets = secrets();
    let names: Vec<&str> = secrets.iter().map(String::as_str).filter(|pattern| !pattern.contains('/')).collect();
    let mut found = Vec::new();
    for entry in folder.read_dir_utf8().into_iter().flatten().flatten() {
        if *left == 0 {
            break;
        }
        *left -= 1;
        let Ok(kind) = entry.file_type() else { continue };
        let is_file = kind.is_file() || kind.is_symlink() && entry.path().is_file();
        if is_file && forbidden_by(entry.file_name(), &names).is_some() {
            found.push(entry.path().to_owned());
        } else if kind.is_dir() && depth > 0 && !PASSED_OVER.contains(&entry.file_name()) {
            found.extend(matching(entry.path(), depth - 1, left));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_logins_and_env_files_are_found_and_examples_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(dir.path()).unwrap();
        for path in [".ssh/id_rsa", ".netrc", ".aws/credentials", "notes.txt", "repo/.env", "repo/.env.example"] {
            std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            dandori_host::replace_file(&home.join(path), b"x", 0o600).unwrap();
        }
        std::fs::create_dir(home.join("moved")).unwrap();
        dandori_host::replace_file(&home.join("moved/credentials.toml"), b"x", 0o600).unwrap();
        let env = Env::from_pairs([("CARGO_HOME", home.join("moved").as_str())]);
        let found = of_user(home, &env);
        assert!(found.contains(&home.join("moved/credentials.toml")), "{found:?}");
        for path in [".ssh", ".netrc", ".aws", ".aws/credentials"] {
            assert!(found.contains(&home.join(path)), "{path}: {found:?}");
        }
        assert!(!found.contains(&home.join("notes.txt")));
        assert_eq!(of_checkout(&home.join("repo")), [home.join("repo/.env")]);
    }
}
