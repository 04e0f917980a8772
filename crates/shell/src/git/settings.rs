//! git's settings: `-c`, `git config` and variables. Some of them are programs that git runs later, for whoever calls it.

use crate::options::{self, Spec};
use crate::reading::{How, Reach, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;

/// How long a setting holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// For this command, which is in the line with it.
    Once,
    /// For everybody who uses the repository from now on.
    Always,
}

/// Settings whose value is a command.
fn runs_something(key: &str) -> bool {
    const KEYS: [&str; 18] = [
        "core.pager",
        "core.editor",
        "sequence.editor",
        "core.sshcommand",
        "core.fsmonitor",
        "core.alternaterefscommand",
        "core.gitproxy",
        "core.askpass",
        "diff.external",
        "interactive.difffilter",
        "gpg.program",
        "gpg.ssh.program",
        "gpg.openpgp.program",
        "gpg.x509.program",
        "gpg.ssh.defaultkeycommand",
        "uploadpack.packobjectshook",
        "sendemail.tocmd",
        "sendemail.cccmd",
    ];
    const ENDS: [&str; 9] =
        ["cmd", "command", "textconv", "clean", "smudge", "process", "driver", "uploadpack", "receivepack"];
    KEYS.contains(&key)
        || key.starts_with("pager.")
        || key.matches('.').count() >= 2 && key.rsplit('.').next().is_some_and(|end| ENDS.contains(&end))
}

/// Settings that lead to more settings or to hooks.
fn leads_on(key: &str) -> bool {
    matches!(key, "core.hookspath" | "include.path" | "init.templatedir")
        || key.starts_with("includeif.") && key.rsplit('.').next() == Some("path")
}

/// A key that other commands go by in a way that cannot be seen from them.
pub(crate) fn is_telling(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    runs_something(&key) || leads_on(&key) || key.starts_with("alias.") || key.rsplit('.').next() == Some("helper")
}

/// Programs people set, called by their plain name: editors, pagers, tools that show differences, keys.
const USUAL: &str = " true false : cat less more most head vi vim nvim nano emacs emacsclient code codium subl hx micro ed \
kak gedit delta diff-so-fancy difft difftastic bat diff vimdiff nvimdiff meld kdiff3 colordiff icdiff opendiff ssh gpg \
gpg2 gpgsm ssh-keygen ssh-add git-lfs git-crypt nbstripout nbdime git-nbdiffdriver git-nbmergedriver exiftool pandoc \
pdftotext docx2txt hexdump xxd strings sops gh glab aws gcloud store cache osxkeychain manager manager-core libsecret \
wincred ";

fn is_usual(code: &str) -> bool {
    let program = code.split_whitespace().next().unwrap_or_default();
    // One command by its name: what comes after `;` or in `$( )` is another.
    USUAL.contains(&format!(" {program} ")) && !code.contains([';', '|', '&', '`', '(', '<', '>', '\n'])
}

impl Walker<'_> {
    pub(crate) fn git_setting(&mut self, key: &str, value: &Word, lasts: Lasts) {
        let lower = key.to_ascii_lowercase();
        let text = value.text.as_str();
        let is_helper = lower.rsplit('.').next() == Some("helper");
        if let Some(name) = lower.strip_prefix("alias.") {
            self.scope.git_aliases.insert(name.to_owned(), value.text.clone());
        } else if leads_on(&lower) {
            if text != "/dev/null" {
                self.opaque(Why::Setting, &format!("{key}={text}"));
            }
        } else if is_helper && !text.starts_with(['!', '/', '.', '~', '$']) || matches!(text, "" | "true" | "false") {
            // A helper by name is one of git's own.
        } else if is_helper || runs_something(&lower) {
            let code = text.trim_start_matches('!');
            let is_script = code.split_whitespace().next().is_some_and(|program| program.contains('/'));
            if value.is_computed() && text.starts_with('$') || is_script || lasts == Lasts::Always && !is_usual(code) {
                self.opaque(Why::Setting, &format!("{key}={text}"));
            }
            if !(value.is_computed() && text.starts_with('$')) {
                self.code_apart(code, Reach::Setting(key.to_owned()), &Input::Unseen);
            }
        }
    }

    pub(crate) fn git_config(&mut self, args: &[Word]) {
        let parsed =
            options::parse(args, Spec { short: "f", long: &["file", "blob", "type", "default"], stops: false });
        let mut operands: Vec<&Word> = parsed.operands.iter().collect();
        let verb = operands.first().map(|w| w.text.clone()).unwrap_or_default();
        let verb = verb.as_str();
        if parsed.has(&["get", "get-all", "get-regexp", "l", "list", "show-origin", "show-scope"])
            || matches!(verb, "get" | "list")
        {
            return;
        }
        let told = matches!(verb, "set" | "unset" | "edit" | "rename-section" | "remove-section");
        if told {
            operands.remove(0);
        }
        let changes = operands.len() >= 2
            || told
            || parsed.has(&["unset", "unset-all", "add", "replace-all", "e", "edit", "remove-section"]);
        if !changes {
            return;
        }
        let file = match parsed.value(&["f", "file"]) {
            Some(file) => file.clone(),
            None if parsed.has(&["global"]) => Word::literal("~/.gitconfig"),
            None if parsed.has(&["system"]) => Word::literal("/etc/gitconfig"),
            None => Word::literal(".git/config"),
        };
        self.writes(file, How::Configured);
        let takes_away = verb == "unset" || parsed.has(&["unset", "unset-all"]);
        match operands.as_slice() {
            // Without it other hooks run, or none.
            [key, ..] if takes_away && key.text.eq_ignore_ascii_case("core.hookspath") => {
                self.opaque(Why::Setting, &format!("git config --unset {}", key.text));
            }
            [key, value, ..] if !takes_away => {
                self.git_setting(&key.text.clone(), &(*value).clone(), Lasts::Always);
            }
            _ => {}
        }
    }
}
