//! Command lines that stand in a project's own files and are run by name: the scripts of `package.json`, the recipes of a
//! makefile. Those that were there before are the project's; a file this session changed is looked into.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::Command;

use super::argv;

/// A file with command lines that a command runs.
pub(super) struct Recipes {
    pub(super) path: Utf8PathBuf,
    pub(super) lines: Lines,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Lines {
    /// Scripts of `package.json`, by name.
    Scripts(Vec<String>),
    /// Every recipe: which of them are run follows from rules that only make knows.
    Makefile,
}

/// How well the lines are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Exact,
    /// Another program's language around them: what cannot be read may be that.
    Guessed,
}

impl Recipes {
    pub(super) fn source(&self) -> Source {
        if self.lines == Lines::Makefile { Source::Guessed } else { Source::Exact }
    }

    /// Where a command would look for what it runs, the likeliest first.
    pub(super) fn of(command: &Command, folder: &Utf8Path) -> Vec<Self> {
        let args = command.args();
        match command.program.as_str() {
            "make" | "gmake" => {
                let folder =
                    argv::values(args, &["-C", "--directory"]).last().map_or(folder.to_owned(), |to| folder.join(to));
                let named = argv::values(args, &["-f", "--file", "--makefile"]);
                let usual = ["GNUmakefile", "makefile", "Makefile"];
                let names = if named.is_empty() { usual.to_vec() } else { named };
                names.into_iter().map(|name| Self { path: folder.join(name), lines: Lines::Makefile }).collect()
            }
            "npm" | "pnpm" | "yarn" | "bun" => {
                let valued = ["--prefix", "-C", "--dir", "--cwd", "-w", "--workspace", "--filter"];
                let at = argv::values(args, &["--prefix", "-C", "--dir", "--cwd"]);
                let folder = at.last().map_or(folder.to_owned(), |to| folder.join(to));
                let words: Vec<&str> = argv::operands(args, &valued).into_iter().map(|w| w.text.as_str()).collect();
                let names = scripts_of(&words);
                vec![Self { path: folder.join("package.json"), lines: Lines::Scripts(names) }]
            }
            _ => Vec::new(),
        }
    }

    /// The lines, as one script.
    pub(super) fn script(&self, text: &str) -> String {
        match &self.lines {
            Lines::Scripts(names) => {
                let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
                let line = |name: &String| Some(json.get("scripts")?.get(name)?.as_str()?.to_owned());
                names.iter().filter_map(line).collect::<Vec<_>>().join("\n")
            }
            Lines::Makefile => recipes(text),
        }
    }
}

/// The scripts a package manager would run for these words, those before and after it included.
fn scripts_of(words: &[&str]) -> Vec<String> {
    let names: &[&str] = match words {
        [] | ["install" | "i" | "ci" | "add", ..] => &["preinstall", "install", "postinstall", "prepare"],
        ["run" | "run-script", name, ..] | [name, ..] => &[name],
    };
    names.iter().flat_map(|name| [format!("pre{name}"), (*name).to_owned(), format!("post{name}")]).collect()
}

/// The recipe lines of a makefile, with the variables it sets itself filled in and any other by its bare name.
fn recipes(text: &str) -> String {
    let joined = text.replace("\\\n", " ");
    let mut variables = BTreeMap::new();
    let mut lines = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            lines.push(recipe.trim_start_matches(['@', '-', '+', ' ']).to_owned());
        } else if let Some((name, value)) = line.split_once('=') {
            let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']).trim();
            variables.insert(name.to_owned(), value.trim().to_owned());
        } else if let Some((_, recipe)) = line.split_once(';') {
            lines.push(recipe.trim().to_owned());
        }
    }
    lines.iter().map(|line| filled_in(line, &variables, 4)).collect::<Vec<_>>().join("\n")
}

fn filled_in(line: &str, variables: &BTreeMap<String, String>, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let closing = match after.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            // `$$x` is the shell's own `$x`.
            Some('$') => {
                out.push('$');
                rest = after.get(1..).unwrap_or_default();
                continue;
            }
            // `$@`, `$<`
            next => {
                out.push('x');
                rest = after.get(next.map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
        };
        let inner = after.get(1..).unwrap_or_default();
        let end = closing_at(inner, closing);
        let (name, behind) = (inner.get(..end).unwrap_or_default(), inner.get(end + 1..).unwrap_or_default());
        match variables.get(name.trim()).filter(|_| depth > 0) {
            Some(value) => out.push_str(&filled_in(value, variables, depth - 1)),
            None => out.extend(name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Where the bracket closes that stands before the text.
fn closing_at(text: &str, closing: char) -> usize {
    let opening = if closing == ')' { '(' } else { '{' };
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        if c == opening {
            depth += 1;
        } else if c == closing {
            if depth == 0 {
                return at;
            }
            depth -= 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_makefile_s_recipes_are_read_with_its_own_variables() {
        let text = "CMD = git push\nall: build\n\t@$(CMD) -f\n\techo $$HOME $(CC) $@\nx: ; rm -rf ~\n";
        assert_eq!(recipes(text), "git push -f\necho $HOME CC x\nrm -rf ~");
        assert_eq!(recipes("\t$(if $(X),a) b"), "ifXa b");
    }

    #[test]
    fn a_package_manager_runs_the_scripts_before_and_after_too() {
        assert_eq!(scripts_of(&["run", "build"]), ["prebuild", "build", "postbuild"]);
        assert_eq!(scripts_of(&["test"]), ["pretest", "test", "posttest"]);
        assert!(scripts_of(&["ci"]).contains(&"postinstall".to_owned()));
    }
}
