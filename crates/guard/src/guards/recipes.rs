//! Command lines that stand in a project's own files and are run by name: the scripts of `package.json`, the recipes of a
//! makefile or a justfile, the tasks of a Taskfile. Those that were there before are the project's; a file this session
//! changed is looked into.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::Command;

use super::argv;

mod just;
mod manifests;
mod taskfile;

/// Folders above the one a program is started in where it looks for its file.
const ABOVE: usize = 8;

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
    /// Recipes by name, the first when none is named.
    Justfile(Vec<String>),
    Taskfile(Vec<String>),
    DenoTasks(Vec<String>),
    Composer(Vec<String>),
    /// Code of ruby, as a whole.
    Rakefile,
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
        match self.lines {
            Lines::Scripts(_) | Lines::DenoTasks(_) => Source::Exact,
            Lines::Makefile | Lines::Justfile(_) | Lines::Taskfile(_) | Lines::Composer(_) | Lines::Rakefile => {
                Source::Guessed
            }
        }
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
                above(&folder, &["package.json"], &Lines::Scripts(scripts_of(&words)))
            }
            "just" => {
                let named = argv::values(args, &["-f", "--justfile"]);
                let valued = ["-f", "--justfile", "-d", "--working-directory", "--shell", "--dotenv-path", "--set"];
                let lines = Lines::Justfile(texts(&argv::operands(args, &valued)));
                placed(folder, &named, &["justfile", "Justfile", ".justfile"], &lines)
            }
            "task" | "go-task" => {
                let at = argv::values(args, &["-d", "--dir"]);
                let folder = at.last().map_or(folder.to_owned(), |to| folder.join(to));
                let named = argv::values(args, &["-t", "--taskfile"]);
                let valued = ["-d", "--dir", "-t", "--taskfile", "-C", "--concurrency", "-o", "--output"];
                let lines = Lines::Taskfile(texts(&argv::operands(args, &valued)));
                let usual = ["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml"];
                placed(&folder, &named, &usual, &lines)
            }
            "deno" => {
                let words = texts(&argv::operands(args, &["--config", "-c", "--cwd"]));
                let Some(("task", names)) = words.split_first().map(|(verb, rest)| (verb.as_str(), rest)) else {
                    return Vec::new();
                };
                let named = argv::values(args, &["-c", "--config"]);
                let mut found = placed(folder, &named, &["deno.json", "deno.jsonc"], &Lines::DenoTasks(names.to_vec()));
                found.extend(above(folder, &["package.json"], &Lines::Scripts(names.to_vec())));
                found
            }
            "composer" => {
                let at = argv::values(args, &["-d", "--working-dir"]);
                let folder = at.last().map_or(folder.to_owned(), |to| folder.join(to));
                let words = texts(&argv::operands(args, &["-d", "--working-dir"]));
                let lines = Lines::Composer(composer_scripts_of(&words));
                vec![Self { path: folder.join("composer.json"), lines }]
            }
            "rake" => {
                let named = argv::values(args, &["-f", "--rakefile"]);
                let usual = ["rakefile", "Rakefile", "rakefile.rb", "Rakefile.rb"];
                placed(folder, &named, &usual, &Lines::Rakefile)
            }
            _ => Vec::new(),
        }
    }

    /// The lines, as one script; `None` when they are more than can be read.
    pub(super) fn script(&self, text: &str) -> Option<String> {
        match &self.lines {
            Lines::Scripts(names) => Some(manifests::scripts(text, names)),
            Lines::DenoTasks(names) => Some(manifests::tasks(text, names)),
            Lines::Composer(names) => Some(manifests::composer(text, names)),
            Lines::Justfile(_) | Lines::Taskfile(_) if text.len() > dandori_shell::MAX_BYTES => None,
            Lines::Justfile(words) => just::lines(text, words),
            Lines::Taskfile(words) => taskfile::lines(text, words),
            Lines::Rakefile => rakefile(text),
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

/// What composer runs for these words: a script, or those around its own work.
fn composer_scripts_of(words: &[String]) -> Vec<String> {
    let around = ["pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "post-autoload-dump"];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let names: &[&str] = match words.as_slice() {
        [
            "install" | "i" | "update" | "u" | "upgrade" | "require" | "remove" | "dump-autoload" | "dumpautoload",
            ..,
        ] => &around,
        ["run" | "run-script", name, ..] | [name, ..] => &[*name],
        [] => &[],
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn texts(words: &[&dandori_shell::Word]) -> Vec<String> {
    words.iter().map(|word| word.text.clone()).collect()
}

/// The files that are named, or else the usual ones here and above.
fn placed(folder: &Utf8Path, named: &[&str], usual: &[&str], lines: &Lines) -> Vec<Recipes> {
    if named.is_empty() {
        return above(folder, usual, lines);
    }
    named.iter().map(|name| Recipes { path: folder.join(name), lines: lines.clone() }).collect()
}

fn above(folder: &Utf8Path, names: &[&str], lines: &Lines) -> Vec<Recipes> {
    let folders = folder.ancestors().take(ABOVE);
    folders
        .flat_map(|folder| names.iter().map(|name| Recipes { path: folder.join(name), lines: lines.clone() }))
        .collect()
}

/// The names, and all that they need, by a rule that says what one needs.
fn reachable(mut names: Vec<String>, needs: impl Fn(&str) -> Vec<String>) -> Vec<String> {
    let mut known: BTreeSet<String> = names.iter().cloned().collect();
    let mut looked_at = 0;
    while let Some(name) = names.get(looked_at).cloned() {
        names.extend(needs(&name).into_iter().filter(|needed| known.insert(needed.clone())));
        looked_at += 1;
    }
    names
}

/// `{{name}}` and `{{.Name}}` as make writes it, so that one rule fills in both.
fn from_braces(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (name, behind))) =
        rest.split_once("{{").and_then(|(before, after)| Some((before, after.split_once("}}")?)))
    {
        out.push_str(&before.replace('$', "$$"));
        let plain = name.trim().trim_start_matches('.').split_whitespace().next().unwrap_or_default();
        let name: String = plain.chars().filter(|c| c.is_alphanumeric() || matches!(c, '_' | '-')).collect();
        out.extend(["$(", &name, ")"]);
        rest = behind;
    }
    out.push_str(&rest.replace('$', "$$"));
    out
}

/// Lines with the variables filled in; `None` when they are more than can be read.
fn filled(lines: impl Iterator<Item = String>, variables: &BTreeMap<String, String>) -> Option<String> {
    let mut room = dandori_shell::MAX_BYTES;
    let mut script = String::new();
    for line in lines {
        script.push_str(&filled_in(&line, variables, 4, &mut room));
        script.push('\n');
        if room == 0 {
            return None;
        }
    }
    Some(script)
}

/// A Rakefile as ruby would read it. Its own word for running a line is `sh`.
fn rakefile(text: &str) -> Option<String> {
    const MARK: &str = "DANDORI_END_OF_RAKEFILE";
    let as_ruby = |line: &str| {
        let calls = ["'", "\"", "(", "%"].map(|next| (format!(" sh {next}"), format!(" system {next}")));
        let spaced = format!(" {line}").replace(" sh(", " sh (");
        calls.iter().fold(spaced, |line, (call, system)| line.replace(call.as_str(), system))
    };
    let code: Vec<String> = text.lines().map(as_ruby).collect();
    (!text.contains(MARK)).then(|| format!("ruby - <<'{MARK}'\n{}\n{MARK}", code.join("\n")))
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
    filled(lines.into_iter(), &variables)
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
mod tests;
