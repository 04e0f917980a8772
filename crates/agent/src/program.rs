//! Where an agent's program is, and which version of it.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::AgentName;
use dandori_host::{Cmd, CmdError, Env};

/// The longest a `--version` may take: Gemini needs two seconds on a slow machine, eight on a cold one.
const VERSION_DEADLINE: Duration = Duration::from_secs(20);

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the program {program} of the agent {agent} is not on the PATH")]
pub struct Missing {
    pub agent: String,
    pub program: String,
}

#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    #[error(transparent)]
    Missing(#[from] Missing),
    #[error(transparent)]
    Failed(#[from] CmdError),
}

/// The name looked for on the PATH. Programs without a driver run in a shell.
pub(crate) fn program_name(agent: &AgentName) -> &'static str {
    match agent {
        AgentName::Claude => "claude",
        AgentName::Codex => "codex",
        AgentName::Gemini => "gemini",
        AgentName::Exec(_) | AgentName::Custom(_) | AgentName::Rehearsal => "sh",
    }
}

/// The program to start. For Codex the native one behind its Node launcher, where it can be found: a signal then
/// reaches it, and no half of it outlives a kill.
pub fn find_program(agent: &AgentName, env: &Env) -> Result<Utf8PathBuf, Missing> {
    let program = program_name(agent);
    let found =
        env.find_program(program).ok_or_else(|| Missing { agent: agent.to_string(), program: program.to_owned() })?;
    Ok(match agent {
        AgentName::Codex => native_codex(&found).unwrap_or(found),
        _ => found,
    })
}

/// What the program says its version is, for `doctor`. It sees the PATH and nothing else; `home` is an empty folder,
/// because the agents write into it even for this.
pub fn version(agent: &AgentName, env: &Env, home: &Utf8Path) -> Result<String, VersionError> {
    let program = find_program(agent, env)?;
    let bare = env.filtered(|name| name == "PATH" || name == "LANG");
    let output = Cmd::new(program.as_str(), &bare)
        .arg("--version")
        .env("HOME", home.as_str())
        .env("TMPDIR", home.as_str())
        .env("CLAUDE_CONFIG_DIR", home.join(".claude").as_str())
        .env("DISABLE_AUTOUPDATER", "1")
        .env("GEMINI_CLI_NO_RELAUNCH", "true")
        .cwd(home)
        .deadline(VERSION_DEADLINE)
        .run()?;
    Ok(version_in(&output.text()))
}

/// The first word with a digit in front: `2.1.197 (Claude Code)`, `codex-cli 0.166.0`, `0.61.0`.
fn version_in(text: &str) -> String {
    text.split_whitespace()
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or_else(|| text.trim())
        .to_owned()
}

const CODEX_TARGET: Option<(&str, &str)> = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    Some(("codex-linux-x64", "x86_64-unknown-linux-musl"))
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    Some(("codex-linux-arm64", "aarch64-unknown-linux-musl"))
} else if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
    Some(("codex-darwin-x64", "x86_64-apple-darwin"))
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    Some(("codex-darwin-arm64", "aarch64-apple-darwin"))
} else {
    None
};

/// The platform package lies beside the launcher's package or inside it, depending on who installed it.
fn native_codex(launcher: &Utf8Path) -> Option<Utf8PathBuf> {
    let (package, triple) = CODEX_TARGET?;
    let script = launcher.canonicalize_utf8().ok()?;
    if script.extension() != Some("js") {
        return None;
    }
    let root = script.parent()?.parent()?;
    let tail = Utf8Path::new("vendor").join(triple).join("bin/codex");
    [
        root.join("node_modules/@openai").join(package).join(&tail),
        root.parent()?.join(package).join(&tail),
        root.join(&tail),
    ]
    .into_iter()
    .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn file(path: &Utf8Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn the_version_is_the_word_with_the_number() {
        assert_eq!(version_in("2.1.197 (Claude Code)"), "2.1.197");
        assert_eq!(version_in("codex-cli 0.166.0\n"), "0.166.0");
        assert_eq!(version_in("nightly"), "nightly");
    }

    #[test]
    fn codex_is_started_without_its_launcher_where_the_native_program_lies_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let script = root.join("node_modules/@openai/codex/bin/codex.js");
        file(&script);
        let bin = root.join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(&script, bin.join("codex")).unwrap();
        let env = Env::from_pairs([("PATH", bin.as_str())]);
        assert_eq!(find_program(&AgentName::Codex, &env).unwrap(), bin.join("codex"), "alone, the launcher has to do");

        let (package, triple) = CODEX_TARGET.unwrap();
        let native = root.join("node_modules/@openai").join(package).join("vendor").join(triple).join("bin/codex");
        file(&native);
        assert_eq!(find_program(&AgentName::Codex, &env).unwrap(), native);
    }

    #[test]
    fn a_missing_agent_is_named_with_its_program() {
        let env = Env::from_pairs([("PATH", "/nonexistent")]);
        let missing = find_program(&AgentName::Gemini, &env).unwrap_err();
        assert_eq!(missing, Missing { agent: "gemini".to_owned(), program: "gemini".to_owned() });
    }
}
