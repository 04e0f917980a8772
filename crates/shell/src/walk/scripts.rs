//! Files this very line writes: run afterwards, they are code of the line.

use crate::files;
use crate::reading::{Reach, ScriptRun, Why, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

impl Walker<'_> {
    pub(crate) fn note_fresh(&mut self, path: &str, text: Output, append: bool) {
        let path = self.at(&Word::literal(path)).text;
        let text = match (append, self.fresh.remove(&path)) {
            (true, Some(before)) => before.then(text),
            (true, None) => Output::Unknown,
            (false, _) => text,
        };
        self.fresh.insert(path, text);
    }

    /// The text of a file this line wrote; none when it did not.
    pub(crate) fn fresh_text(&self, path: &str) -> Option<Output> {
        let path = self.at(&Word::literal(path)).text;
        self.fresh.get(&path).cloned()
    }

    /// A file of this name that this line wrote.
    pub(crate) fn fresh_named(&self, name: &str) -> Option<String> {
        self.fresh.keys().find(|path| path.rsplit('/').next() == Some(name)).cloned()
    }

    /// A copy of a file this line wrote is such a file too.
    pub(crate) fn note_copy(&mut self, from: &Word, to: &Word) {
        if let Some(program) = self.program_at(from) {
            let path = self.at(to).text;
            self.renamed.insert(path, program);
        }
        if from.text.starts_with("/dev/") || from.text.starts_with("/proc/") {
            self.note_fresh(&to.text, Output::Unknown, false);
        } else if let Some(text) = self.fresh_text(&from.text) {
            self.note_fresh(&to.text, text, false);
        }
    }

    /// The program that lies here: in a folder for programs, found by `which`, or copied there by this line.
    fn program_at(&self, file: &Word) -> Option<String> {
        if let Some(program) = self.renamed.get(&self.at(file).text) {
            return Some(program.clone());
        }
        let (folder, name) = file.text.rsplit_once('/').unwrap_or(("bin", &file.text));
        let is_folder_for_programs =
            folder.ends_with("bin") || folder.ends_with("libexec") || folder.ends_with("/git-core");
        (is_folder_for_programs && file.is_literal() && !name.is_empty()).then(|| name.to_owned())
    }

    /// `./x.sh` by its path.
    pub(crate) fn path_program(&mut self, word: &Word, args: &[Word], input: &Input) -> Output {
        let path = self.at(word);
        self.reading.scripts.push(ScriptRun { path, by: String::new() });
        if self.fresh_text(&word.text).is_some() {
            self.reading.scripts.pop();
            return self.script_file("", word, args, input);
        }
        Output::Unknown
    }

    /// `make`, `npm run`, `just`: opaque only when this line wrote what they read.
    pub(crate) fn build_tool(&mut self, program: &str, args: &[Word]) {
        if matches!(program, "npm" | "pnpm" | "yarn" | "bun") {
            if self.sets_scripts(program, args) {
                return;
            }
            self.runs_set_scripts(args);
        }
        let named = args.iter().any(|w| matches!(w.text.as_str(), "-f" | "--file" | "--makefile"));
        let names: &[&str] = match program {
            "make" | "gmake" => &["Makefile", "makefile", "GNUmakefile"],
            "npm" | "pnpm" | "yarn" | "bun" => &["package.json"],
            "just" => &["justfile", "Justfile", ".justfile"],
            "task" => &["Taskfile.yml", "Taskfile.yaml"],
            "rake" => &["Rakefile"],
            "deno" => &["deno.json", "deno.jsonc"],
            "composer" => &["composer.json"],
            "cargo" => &["build.rs", ".cargo/config.toml"],
            _ => &[],
        };
        let written = self.fresh.keys().find(|path| {
            let name = path.rsplit('/').next().unwrap_or_default();
            names.iter().any(|n| files::ends_with_path(path, n))
                || (named && args.iter().any(|w| w.text.ends_with(name)))
        });
        if let Some(path) = written.cloned() {
            let text = self.fresh.get(&path).cloned();
            match (program, text) {
                ("make" | "gmake" | "just", Some(Output::Text(text))) => self.recipes(program, &text),
                _ => self.opaque(Why::FreshScript, &path),
            }
        }
        match program {
            "make" | "gmake" => self.make_arguments(program, args),
            "cargo" => self.cargo_arguments(args),
            _ => {}
        }
    }

    /// The recipe lines of a makefile.
    pub(crate) fn recipes(&mut self, program: &str, text: &str) {
        for line in text.lines() {
            let recipe = match line.strip_prefix(['\t', ' ']) {
                Some(recipe) => recipe,
                None => match line.split_once(';') {
                    Some((_, recipe)) => recipe,
                    None => continue,
                },
            };
            let recipe = recipe.trim_start().trim_start_matches(['@', '-', '+']).replace("$$", "$");
            if recipe.contains("$(") || recipe.contains("${") {
                // Make's own variables are not the shell's.
                self.opaque(Why::FreshScript, &recipe);
            } else {
                self.code_apart(&recipe, Reach::Script(program.to_owned()), &Input::Inherited);
            }
        }
    }
}
