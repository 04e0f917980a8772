//! `cargo xtask typos`: misspelled words, found by the program `typos` from PyPI in one version, with `typos.toml` for
//! the words that are ours.
//!
//! It comes as a built program in a Python package: from crates.io it would be compiled for minutes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::workspace::Metadata;

const VERSION: &str = "1.51.1";

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let program = installed(&metadata.target_directory)?;
    let found = misspelled(&program, &metadata.workspace_root, Path::new("."))?;
    if found.is_empty() {
        return Ok(());
    }
    Err(format!("misspelled, or a word for typos.toml\n{}", found.join("\n")))
}

/// `path:line:column: what it should be` for each.
fn misspelled(program: &Path, top: &Path, what: &Path) -> Result<Vec<String>, String> {
    let output = Command::new(program)
        .args(["--format", "brief", "--color", "never", "--config"])
        .arg(top.join("typos.toml"))
        .arg(what)
        .current_dir(top)
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        // 2: it found something. Everything else is a failure of its own.
        Some(0 | 2) => Ok(said.lines().map(str::to_owned).collect()),
        _ => Err(format!("typos: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

fn installed(target: &Path) -> Result<PathBuf, String> {
    let folder = target.join(format!("typos-{VERSION}"));
    let program = folder.join("bin/typos");
    if program.is_file() {
        return Ok(program);
    }
    println!("── installing typos {VERSION}");
    let half = target.join(format!("typos-{VERSION}.part"));
    let _ = std::fs::remove_dir_all(&half);
    let status = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"])
        .arg("--target")
        .arg(&half)
        .arg(format!("typos=={VERSION}"))
        .stdin(Stdio::null())
        .status()
        .map_err(|e| format!("python3: {e}"))?;
    if !status.success() {
        return Err(format!("typos {VERSION} cannot be installed by pip"));
    }
    // Its name says that it is whole: what was broken off is begun again.
    std::fs::rename(&half, &folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_word_is_found_and_japanese_and_our_own_words_are_not() {
        let metadata = Metadata::load().unwrap();
        let program = installed(&metadata.target_directory).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let found = |text: &str| {
            let file = folder.path().join("words.md");
            std::fs::write(&file, text).unwrap();
            misspelled(&program, &metadata.workspace_root, &file).unwrap()
        };
        assert_eq!(found(&format!("It was {}.\n", ["rec", "ieved"].concat())).len(), 1);
        assert!(found("段取りは、エージェントの作業を守ります。dandori worktree fsmonitor\n").is_empty());
    }
}
