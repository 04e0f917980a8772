//! What of a repository's own configuration could run a program or send data elsewhere, so that a change is noticed.
//!
//! Under the sandbox an agent cannot write it. Without one it can, and this finds it before dandori or the user runs the
//! next git command that would obey.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::Tree;

/// Names with the hash of their values: values may be secrets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(BTreeMap<String, String>);

impl Fingerprint {
    /// The first name that `later` has otherwise than this.
    pub fn changed(&self, later: &Self) -> Option<String> {
        let differs = |name: &&String| self.0.get(*name) != later.0.get(*name);
        later.0.keys().find(differs).or_else(|| self.0.keys().find(differs)).cloned()
    }

    fn add(&mut self, name: &str, value: &[u8]) {
        let mut hash = Sha256::new();
        // Keys may have several values, in order.
        hash.update(self.0.get(name).map(String::as_bytes).unwrap_or_default());
        hash.update(value);
        let text = hash.finalize().iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"));
        self.0.insert(name.to_owned(), text);
    }
}

impl Repository {
    pub fn exec_config_fingerprint(&self) -> Result<Fingerprint, GitError> {
        let output = self.cmd().reading().args(["config", "--list", "-z", "--show-scope", "--includes"]).run()?;
        let mut print = Fingerprint::default();
        add_config(&mut print, &output.fields());
        let hooks = self.common_dir().join("hooks");
        for hook in hooks.read_dir_utf8().into_iter().flatten().flatten() {
            let name = hook.file_name().to_owned();
            if !name.ends_with(".sample") {
                add_file(&mut print, &format!("hooks/{name}"), hook.path());
            }
        }
        add_file(&mut print, "info/attributes", &self.common_dir().join("info/attributes"));
        Ok(print)
    }
}

impl Tree {
    /// The repository's, and what is configured for this worktree alone.
    pub fn exec_config_fingerprint(&self) -> Result<Fingerprint, GitError> {
        let mut print = self.repository.exec_config_fingerprint()?;
        add_file(&mut print, "config.worktree", &self.git_dir().join("config.worktree"));
        Ok(print)
    }
}

fn add_file(print: &mut Fingerprint, name: &str, path: &Utf8Path) {
    if let Ok(bytes) = std::fs::read(path) {
        print.add(name, &bytes);
    }
}

/// Pairs of fields: the scope, then the key and its value with a newline between. Only what lies in the repository
/// counts: the user's own files are his, and the command's own settings are ours.
fn add_config(print: &mut Fingerprint, fields: &[String]) {
    for pair in fields.chunks_exact(2) {
        let [scope, entry] = pair else { continue };
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        if matches!(scope.as_str(), "local" | "worktree") && can_run_or_redirect(key) {
            print.add(key, value.as_bytes());
        }
    }
}

/// git prints sections and variables in lower case; what stands between them is as it was written.
fn can_run_or_redirect(key: &str) -> bool {
    let Some((section, rest)) = key.split_once('.') else { return false };
    let variable = rest.rsplit('.').next().unwrap_or(rest);
    match section {
        "core" => matches!(
            variable,
            "fsmonitor"
                | "hookspath"
                | "sshcommand"
                | "editor"
                | "pager"
                | "askpass"
                | "gitproxy"
                | "alternaterefscommand"
                | "worktree"
                | "attributesfile"
                | "bare"
        ),
        "diff" => matches!(variable, "external" | "command" | "textconv" | "trustexitcode"),
        "merge" => variable == "driver",
        "trailer" => matches!(variable, "command" | "cmd"),
        "remote" => {
            matches!(variable, "url" | "pushurl" | "uploadpack" | "receivepack" | "vcs" | "proxy" | "pushdefault")
        }
        "submodule" => matches!(variable, "update" | "url"),
        "sequence" => variable == "editor",
        "interactive" => variable == "difffilter",
        "commit" => variable == "gpgsign",
        "user" => variable == "signingkey",
        "tar" => variable == "command",
        "man" | "browser" | "difftool" | "mergetool" | "guitool" => matches!(variable, "cmd" | "path"),
        "extensions" => variable == "worktreeconfig",
        "filter" | "credential" | "gpg" | "url" | "include" | "includeif" | "alias" | "pager" | "protocol" | "http"
        | "https" | "ssh" | "lfs" | "uploadpack" | "receive" | "init" | "sendemail" | "hook" | "fsmonitor" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_run_or_redirect_is_watched_and_the_rest_is_not() {
        for key in [
            "core.fsmonitor",
            "core.hookspath",
            "core.sshcommand",
            "filter.evil.clean",
            "diff.My Driver.textconv",
            "remote.origin.url",
            "remote.a.b.pushurl",
            "url.https://evil/.insteadof",
            "include.path",
            "includeif.gitdir:/x.path",
            "alias.st",
            "credential.helper",
            "credential.https://h.helper",
            "gpg.ssh.program",
            "merge.x.driver",
        ] {
            assert!(can_run_or_redirect(key), "{key}");
        }
        for key in
            ["core.filemode", "branch.main.remote", "remote.origin.fetch", "user.name", "diff.renames", "nonsense"]
        {
            assert!(!can_run_or_redirect(key), "{key}");
        }
    }

    #[test]
    fn added_changed_and_removed_keys_are_named() {
        let print = |pairs: &[(&str, &str)]| {
            let mut print = Fingerprint::default();
            let fields: Vec<String> =
                pairs.iter().flat_map(|(k, v)| ["local".to_owned(), format!("{k}\n{v}")]).collect();
            add_config(&mut print, &fields);
            print
        };
        let before = print(&[("remote.origin.url", "a")]);
        assert_eq!(before.changed(&before.clone()), None);
        let after = print(&[("remote.origin.url", "a"), ("core.fsmonitor", "x")]);
        assert_eq!(before.changed(&after).as_deref(), Some("core.fsmonitor"));
        assert_eq!(before.changed(&print(&[("remote.origin.url", "b")])).as_deref(), Some("remote.origin.url"));
        assert_eq!(before.changed(&print(&[])).as_deref(), Some("remote.origin.url"));
        let twice = print(&[("remote.origin.url", "a"), ("remote.origin.url", "b")]);
        assert_eq!(before.changed(&twice).as_deref(), Some("remote.origin.url"));
        assert!(!serde_json::to_string(&after).unwrap().contains("\"a\""), "values are not stored");
    }
}
