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

    /// The lines, as one script; `None` when they are more than can be read.
    pub(super) fn script(&self, text: &str) -> Option<String> {
        match &self.lines {
            Lines::Scripts(names) => {
                let json: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
                let line = |name: &String| Some(json.get("scripts")?.get(name)?.as_str()?.to_owned());
                Some(names.iter().filter_map(line).collect::<Vec<_>>().join("\n"))
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

/// The recipe lines of a makefile and what it runs while it is read, with the variables it sets itself filled in and any
/// other by its bare name. `None` when variables of variables make it longer than can be read.
fn recipes(text: &str) -> Option<String> {
    let joined = text.replace("\\\n", " ");
    let mut variables = BTreeMap::new();
    let mut lines: Vec<String> = joined
        .match_indices("$(shell ")
        .filter_map(|(at, found)| {
            let code = joined.get(at + found.len()..)?;
            Some(code.get(..closing_at(code, ')'))?.to_owned())
        })
        .collect();
    let (mut prefix, mut is_defined) = ('\t', false);
    for line in joined.lines() {
        match line.split_once('=') {
            _ if line.starts_with("define ") || line.starts_with("endef") => is_defined = line.starts_with("define "),
            _ if is_defined || line.starts_with(prefix) => {
                lines.push(line.trim_start_matches([prefix, '@', '-', '+', ' ', '\t']).to_owned());
            }
            Some((name, value)) if name.trim() == ".RECIPEPREFIX" => {
                prefix = value.trim().chars().next().unwrap_or('\t');
            }
            Some((name, value)) if name.ends_with('!') => lines.push(value.trim().to_owned()),
            Some((name, value)) => {
                let name = name.trim_end_matches([':', '?', '+', ' ', '\t']).trim();
                variables.insert(name.to_owned(), value.trim().to_owned());
            }
            None => lines.extend(line.split_once(';').map(|(_, recipe)| recipe.trim().to_owned())),
        }
    }
    let mut room = dandori_shell::MAX_BYTES;
    let mut script = String::new();
    for line in lines {
        script.push_str(&filled_in(&line, &variables, 4, &mut room));
        script.push('\n');
        if room == 0 {
            return None;
        }
    }
    Some(script)
}

/// At most so many bytes: variables of variables multiply.
fn filled_in(line: &str, variables: &BTreeMap<String, String>, depth: usize, room: &mut usize) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('$').filter(|_| *room > 0) {
        out.push_str(before);
        *room = room.saturating_sub(before.len() + 1);
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
            Some(value) => out.push_str(&filled_in(value, variables, depth - 1, room)),
            None => out.extend(name.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/'))),
        }
        rest = behind;
    }
    *room = room.saturating_sub(rest.len());
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
        assert_eq!(recipes(text).unwrap(), "git push -f\necho $HOME CC x\nrm -rf ~\n");
        assert_eq!(recipes("\t$(if $(X),a) b").unwrap(), "ifXa b\n");
        assert_eq!(recipes("X := $(shell git push -f)\nY != rm -rf ~\n").unwrap(), "git push -f\nrm -rf ~\n");
        assert_eq!(recipes(".RECIPEPREFIX = >\nx:\n>git push\ndefine z\nrm a\nendef\n").unwrap(), "git push\nrm a\n");
    }

    #[test]
    fn variables_of_variables_end_somewhere() {
        let times = |name: &str| format!("$({name})").repeat(200);
        let text = format!("A={}\nB={}\nC={}\nD=xxxxxxxx\nx:\n\t$(A)\n", times("B"), times("C"), times("D"));
        assert_eq!(recipes(&text), None);
    }

    #[test]
    fn a_package_manager_runs_the_scripts_before_and_after_too() {
        assert_eq!(scripts_of(&["run", "build"]), ["prebuild", "build", "postbuild"]);
        assert_eq!(scripts_of(&["test"]), ["pretest", "test", "posttest"]);
        assert!(scripts_of(&["ci"]).contains(&"postinstall".to_owned()));
    }
}
