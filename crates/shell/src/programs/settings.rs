//! Variables that make other programs run something: whoever sets one runs what is in it.

use crate::git::settings::is_telling;
use crate::reading::{Reach, ScriptRun, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::Input;

/// Variables whose value is a command that others run.
const COMMAND_VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_SSH",
    "GIT_PROXY_COMMAND",
    "GH_EDITOR",
    "GH_PAGER",
    "GH_BROWSER",
    "GLAB_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "SUDO_EDITOR",
    "SUDO_ASKPASS",
    "SVN_EDITOR",
    "HGEDITOR",
    "KUBE_EDITOR",
    "SYSTEMD_EDITOR",
    "PSQL_EDITOR",
    "PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "PSQL_PAGER",
    "BAT_PAGER",
    "DELTA_PAGER",
    "AWS_PAGER",
    "PROMPT_COMMAND",
    "LESSOPEN",
    "LESSCLOSE",
    "BROWSER",
    "SSH_ASKPASS",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "FZF_DEFAULT_COMMAND",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
];
/// Variables that make a shell, the loader or git run a file, or go by settings in one.
const LOADER_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "LD_PRELOAD",
    "DYLD_INSERT_LIBRARIES",
    "PERL5OPT",
    "PYTHONSTARTUP",
    "PERL5DB",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
];
/// Prompts: the shell expands them, substitutions and all, whenever it shows them.
const PROMPTS: &[&str] = &["PS0", "PS1", "PS2", "PS4"];

impl Walker<'_> {
    /// Some variables are commands in waiting.
    pub(crate) fn setting(&mut self, name: &str, value: &Word) {
        let is_runner = name.starts_with("CARGO_TARGET_") && (name.ends_with("_RUNNER") || name.ends_with("_LINKER"));
        if COMMAND_VARIABLES.contains(&name) || is_runner {
            if value.is_computed() {
                return;
            }
            self.code_apart(value.text.trim_start_matches('|'), Reach::Setting(name.to_owned()), &Input::Unseen);
        } else if PROMPTS.contains(&name) {
            self.runs_within(&value.text);
        } else if names_code(name, value) {
            self.opaque(Why::Setting, &format!("{name}={}", value.text));
        } else if name == "NODE_OPTIONS" || name == "RUBYOPT" {
            self.preloads(name, value);
        }
    }

    /// `NODE_OPTIONS='--require ./x.js'`: a script that is run before any other.
    fn preloads(&mut self, name: &str, value: &Word) {
        let mut words = value.text.split_whitespace();
        while let Some(word) = words.next() {
            let file = match word.split_once('=') {
                Some(("--require" | "--import" | "--loader" | "--experimental-loader", file)) => Some(file),
                _ if matches!(word, "-r" | "--require" | "--import" | "--loader" | "--experimental-loader") => {
                    words.next()
                }
                _ => word.strip_prefix("-r"),
            };
            // A bare name is a package that is installed.
            let Some(file) = file.filter(|file| file.starts_with(['.', '/', '~'])) else { continue };
            let path = self.at(&Word::literal(file));
            let by = if name == "RUBYOPT" { "ruby" } else { "node" };
            if self.fresh_text(file).is_some() || file.starts_with("/tmp/") || file.starts_with("/dev/") {
                self.opaque(Why::Setting, &format!("{name}={}", value.text));
            }
            self.reading.scripts.push(ScriptRun { path, by: by.to_owned() });
        }
    }
}

/// A file, a setting of git or an option in the value makes somebody run something.
fn names_code(name: &str, value: &Word) -> bool {
    let text = value.text.as_str();
    let loads = LOADER_VARIABLES.contains(&name) && !text.is_empty() && !text.starts_with("/dev/null");
    let tells_git = name.starts_with("GIT_CONFIG_KEY_") && (value.is_computed() || is_telling(text));
    loads || tells_git || carries_code(name, text)
}

/// Options for a program that make it run something.
fn carries_code(name: &str, value: &str) -> bool {
    let options: &[&str] = match name {
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => &["--eval", "SHELL=", "-f", "--file", "--makefile"],
        "TAR_OPTIONS" => &["exec=", "to-command", "use-compress-program", "-I", "rsh-command", "script"],
        "RUSTFLAGS" | "CARGO_ENCODED_RUSTFLAGS" => &["linker="],
        "GOFLAGS" => &["-exec", "-toolexec"],
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "MAVEN_OPTS" => &["-javaagent:/tmp", "OnOutOfMemoryError", "OnError="],
        _ => return false,
    };
    options.iter().any(|option| value.contains(option))
}
