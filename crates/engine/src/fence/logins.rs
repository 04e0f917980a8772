//! Files that mix settings with logins: a run sees them without the logins, or builds would lose their settings.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::task::Repo;
use dandori_host::sandbox::{Otherwise, Replaced};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::engine::private_folder;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// `key = value`, `key: value`, under `[sections]` or not.
    Lines,
    Docker,
    /// Maven's and NuGet's.
    Xml,
}

/// Each with the variable that names another file to its tool, if there is one.
const MIXED: &[(&str, Kind, &str)] = &[
    (".npmrc", Kind::Lines, "NPM_CONFIG_USERCONFIG"),
    (".yarnrc", Kind::Lines, ""),
    (".yarnrc.yml", Kind::Lines, ""),
    (".bunfig.toml", Kind::Lines, ""),
    (".gitconfig", Kind::Lines, "GIT_CONFIG_GLOBAL"),
    (".config/git/config", Kind::Lines, "GIT_CONFIG_GLOBAL"),
    (".config/pip/pip.conf", Kind::Lines, "PIP_CONFIG_FILE"),
    (".pip/pip.conf", Kind::Lines, "PIP_CONFIG_FILE"),
    (".config/uv/uv.toml", Kind::Lines, "UV_CONFIG_FILE"),
    (".cargo/config.toml", Kind::Lines, ""),
    (".cargo/config", Kind::Lines, ""),
    (".gradle/gradle.properties", Kind::Lines, ""),
    (".bundle/config", Kind::Lines, "BUNDLE_USER_CONFIG"),
    (".gemrc", Kind::Lines, "GEMRC"),
    (".docker/config.json", Kind::Docker, ""),
    (".m2/settings.xml", Kind::Xml, ""),
    (".nuget/NuGet/NuGet.Config", Kind::Xml, ""),
];

/// In the name of a key, each means that its value is a login.
const TELLING: &[&str] = &[
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "_auth",
    "authtoken",
    "authident",
    "oauth",
    "auth=",
    "auth =",
    "credential",
    "apikey",
    "api_key",
    "api-key",
    "extraheader",
    "cookie",
    "privatekey",
    "keyfile",
    "certfile",
    "sslkey",
    "sslcert",
];

/// Settings are small; what is larger is something else and stays hidden.
const MAX: u64 = 4 << 20;

/// Copies of those that hold a login, without it. What holds none is seen as it is.
pub(super) fn copies(home: &Utf8Path, repo: &Repo, folder: &Utf8Path) -> io::Result<Vec<Replaced>> {
    let mut copies = Vec::new();
    let otherwise = |variable: &str| match variable {
        "" => Otherwise::Hidden,
        name => Otherwise::Named(name.to_owned()),
    };
    let of_user = MIXED.iter().map(|(name, kind, variable)| (home.join(name), *kind, otherwise(variable)));
    // Its addresses may carry a password; without it there is no repository.
    let of_repository = [(repo.git_dir.join("config"), Kind::Lines, Otherwise::Seen)];
    for (at, kind, otherwise) in of_user.chain(of_repository) {
        let Some(text) = load(&at) else { continue };
        let clean = without_logins(kind, &text);
        if clean == text {
            continue;
        }
        private_folder(folder)?;
        // By its content: a run that is at work goes on with what it was given.
        let with = folder.join(format!("{:x}", Sha256::digest(clean.as_bytes())));
        if !with.is_file() {
            dandori_host::put_file(&with, clean.as_bytes(), 0o600)?;
        }
        copies.push(Replaced { at, with, otherwise });
    }
    Ok(copies)
}

fn load(path: &Utf8PathBuf) -> Option<String> {
    let meta = path.metadata().ok()?;
    if !meta.is_file() || meta.len() > MAX {
        return None;
    }
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn without_logins(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Lines => lines(text),
        Kind::Docker => docker(text),
        Kind::Xml => xml(text),
    }
}

/// Lines whose key tells a login go, sections about nothing else too, and passwords in addresses.
fn lines(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut in_login_section = false;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.starts_with('[') {
            let name = trimmed.trim_start_matches('[').split([' ', '"', ']', '.']).next().unwrap_or_default();
            in_login_section = name.eq_ignore_ascii_case("credential");
        }
        if in_login_section || tells_login(trimmed) {
            continue;
        }
        kept.push_str(&without_userinfo(line));
    }
    kept
}

/// Anywhere on the line: tables in one line, keys after their section, values without a sign between. A setting too many
/// that is lost costs less than a login that is seen.
fn tells_login(line: &str) -> bool {
    let line = line.to_lowercase();
    // Bundler names the host in the key, and the value is the login.
    TELLING.iter().any(|word| line.contains(word)) || line.starts_with("bundle_") && line.contains("__")
}

/// `https://user:password@host` is `https://host`.
fn without_userinfo(line: &str) -> String {
    let mut clean = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after.find(|c: char| c == '/' || c == '"' || c == '\'' || c.is_whitespace()).unwrap_or(after.len());
        let (authority, tail) = after.split_at(end);
        // A name alone is how a remote is reached; with a secret after it, or as one, it is a login.
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        let is_name = !user.contains(':') && user == "git";
        clean.push_str(if is_name { authority } else { host });
        rest = tail;
    }
    clean.push_str(rest);
    clean
}

/// Everything but the logins and the programs that give them out.
fn docker(text: &str) -> String {
    let Ok(mut config) = serde_json::from_str::<Value>(text) else { return "{}".to_owned() };
    let logins = ["auths", "credsStore", "credHelpers", "HttpHeaders"];
    let Some(map) = config.as_object_mut() else { return "{}".to_owned() };
    if !logins.iter().any(|key| map.contains_key(*key)) {
        return text.to_owned();
    }
    map.retain(|key, _| !logins.contains(&key.as_str()));
    config.to_string()
}

/// Elements that hold a login are left empty; attributes named like one too.
fn xml(text: &str) -> String {
    let mut clean = text.to_owned();
    for element in ["password", "passphrase", "privateKey", "username", "value"] {
        clean = emptied(&clean, element);
    }
    if clean.contains("packageSourceCredentials") {
        clean = emptied(&clean, "packageSourceCredentials");
    }
    if clean.contains("apikeys") { emptied(&clean, "apikeys") } else { clean }
}

fn emptied(text: &str, element: &str) -> String {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&open) {
        clean.push_str(before);
        clean.push_str(&open);
        match after.split_once(&close) {
            Some((_, tail)) => {
                clean.push_str(&close);
                rest = tail;
            }
            // Not closed: nothing of it goes in.
            None => rest = "",
        }
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stay_and_logins_go() {
        let npmrc =
            "registry=https://npm.example/\n//npm.example/:_authToken=abc\n@a:registry=https://u:p@r.example/x\n";
        assert_eq!(lines(npmrc), "registry=https://npm.example/\n@a:registry=https://r.example/x\n");
        let git = "[user]\n\tname = N\n[credential \"https://h\"]\n\thelper = store\n[url \"https://tok@github.com/\"]\n\t\
                   insteadOf = https://github.com/\n[remote \"o\"]\n\turl = ssh://git@host/x\n[http]\n\textraHeader = A: b\n";
        let clean = "[user]\n\tname = N\n[url \"https://github.com/\"]\n\tinsteadOf = https://github.com/\n[remote \"o\"]\n\t\
                     url = ssh://git@host/x\n[http]\n";
        assert_eq!(lines(git), clean);
        assert_eq!(lines("[net]\ngit-fetch-with-cli = true\n"), "[net]\ngit-fetch-with-cli = true\n");
        assert_eq!(docker(r#"{"auths":{"r":{"auth":"eA=="}},"proxies":{}}"#), r#"{"proxies":{}}"#);
        assert_eq!(docker(r#"{ "proxies": {} }"#), r#"{ "proxies": {} }"#, "as it was when there is no login");
        let maven = "<server><id>r</id><username>me</username><password>p</password></server>";
        assert_eq!(xml(maven), "<server><id>r</id><username></username><password></password></server>");
    }
}
