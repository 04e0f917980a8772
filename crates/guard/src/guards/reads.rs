//! The files whose text a tool would show, whichever tool it is.
//!
//! In a shell line every word that names a file counts as a read of it, whatever the program: new ways to show or send
//! a file come up faster than any list of them. What is listed instead are the programs that tell nothing of a file,
//! and the words that are text.

use std::collections::HashMap;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Certainty, Word};
use serde_json::Value;

use crate::change::resolve;
use crate::context::Context;
use crate::event::Tool;

mod aimed;
mod flags;
mod found;
mod git;
mod launchers;
mod quiet;
mod variables;
mod words;

pub(super) use quiet::tells_nothing;

/// How deep the input of an unknown tool is looked through.
const DEPTH: usize = 6;

/// A file that would be shown.
pub(super) struct Shown {
    pub(super) path: Utf8PathBuf,
    pub(super) named: Named,
}

/// How sure it is that a word means a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Named {
    /// It may be anything: it counts when there is such a file.
    Perhaps,
    Surely,
}

impl Shown {
    fn surely(path: Utf8PathBuf) -> Self {
        Self { path, named: Named::Surely }
    }
}

/// A word that may name a file.
struct Mention {
    word: Word,
    named: Named,
}

/// Every file that would be read, once. Of a computed path what is known of it: its last name may say enough.
pub(super) fn read_paths(context: &Context) -> Vec<Shown> {
    let mut found = Vec::new();
    match &context.event.tool {
        Some(Tool::Read { path }) => found.push(Shown::surely(path.clone())),
        Some(Tool::Search { path, files, .. }) => {
            found.extend(path.clone().map(Shown::surely));
            if let Some(files) = files.as_deref().filter(|files| !files.starts_with('!')) {
                found.push(Shown::surely(resolve(path.as_deref().or(context.event.workdir()), files)));
                found.extend(aimed::from(context, path.as_deref(), files).into_iter().map(Shown::surely));
            }
        }
        Some(Tool::Bash { command, .. }) => shell_reads(context, command, &mut found),
        _ => {}
    }
    if let Some(input) = context.event.tool.as_ref().and_then(Tool::unread_input) {
        paths_in(context, input, DEPTH, &mut found);
    }
    once(found)
}

/// Each path where it first comes, as sure as it is anywhere.
fn once(found: Vec<Shown>) -> Vec<Shown> {
    let mut at: HashMap<String, usize> = HashMap::with_capacity(found.len());
    let mut kept: Vec<Shown> = Vec::with_capacity(found.len());
    for shown in found {
        match at.get(shown.path.as_str()).and_then(|at| kept.get_mut(*at)) {
            Some(known) => known.named = known.named.max(shown.named),
            None => {
                at.insert(shown.path.to_string(), kept.len());
                kept.push(shown);
            }
        }
    }
    kept
}

fn shell_reads(context: &Context, line: &str, found: &mut Vec<Shown>) {
    let Some(reading) = context.reading() else { return };
    for read in &reading.reads {
        if !tells_nothing(context, &read.program, &read.path) {
            filled_in(context, &read.path, Named::Surely, found);
        }
    }
    for script in &reading.scripts {
        filled_in(context, &script.path, Named::Surely, found);
    }
    for (at, command) in reading.commands.iter().enumerate() {
        let after = reading.commands.get(at + 1..).unwrap_or_default();
        let base = context.folder_of(command);
        let mut take = |mention: Mention, base: Option<&Utf8Path>| {
            let Mention { word, mut named } = mention;
            // Where it lies is not known, so that nobody can look whether it is there.
            if word.is_computed() || base.is_none() && !word.text.starts_with(['/', '~']) {
                named = Named::Surely;
            }
            let path = Word { text: resolve(base, &word.text).into_string(), certainty: word.certainty };
            filled_in(context, &path, named, found);
        };
        if let Some(call) = dandori_shell::git_call(command) {
            let folder = call.folder.as_ref().map(|folder| resolve(base.as_deref(), &folder.text));
            let base = folder.or(base);
            let mut patterns = Vec::new();
            for mention in git::mentions(&call) {
                // Git fills in what the shell has left as it is.
                if mention.word.is_literal() && mention.word.text.contains(['*', '?', '[']) {
                    patterns.push(mention.word.text.clone());
                }
                take(mention, base.as_deref());
            }
            for pattern in patterns {
                found.extend(aimed::from(context, base.as_deref(), &pattern).into_iter().map(Shown::surely));
            }
            if let Some(base) = base {
                found.extend(git::forced_in(context, &call, &base).into_iter().map(Shown::surely));
            }
        } else {
            for mention in variables::printed(command) {
                take(mention, base.as_deref());
            }
            if !launchers::is_wrapper(command, after) {
                for mention in words::mentions(command) {
                    take(mention, base.as_deref());
                }
                for pattern in words::patterns(command) {
                    found.extend(aimed::from(context, base.as_deref(), pattern).into_iter().map(Shown::surely));
                }
            }
        }
    }
    found::handed_on(context, reading, found);
    // Code of another language opens files by names that stand in quotes.
    if reading.commands.iter().any(|command| is_interpreter(&command.program)) {
        let quoted = line.split(['\'', '"', '`']).filter(|piece| is_path_like(piece));
        found.extend(quoted.map(|piece| Shown::surely(context.expanded(piece))));
    }
}

/// A pattern of the shell by the files it stands for.
fn filled_in(context: &Context, path: &Word, named: Named, found: &mut Vec<Shown>) {
    let whole = context.expanded(&path.text);
    if path.certainty == Certainty::Glob {
        found.extend(context.filled_in(&whole).into_iter().map(|path| Shown { path, named }));
    }
    found.push(Shown { path: whole, named });
}

pub(super) fn is_interpreter(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        plain,
        "python"
            | "pypy"
            | "node"
            | "ruby"
            | "perl"
            | "php"
            | "deno"
            | "bun"
            | "lua"
            | "luajit"
            | "tclsh"
            | "osascript"
            | "Rscript"
            | "julia"
            | "elixir"
            | "groovy"
            | "pwsh"
    )
}

/// A text that could be the name of a file: of one word, and no address of the web.
fn is_path_like(text: &str) -> bool {
    !text.is_empty()
        && text.len() < 1024
        && !text.contains(char::is_whitespace)
        && (!text.contains("://") || text.starts_with("file://"))
}

/// Texts in an unknown tool's input that could be paths, those left away that are surely something else.
fn paths_in(context: &Context, value: &Value, depth: usize, found: &mut Vec<Shown>) {
    const PROSE: &[&str] = &[
        "query",
        "pattern",
        "prompt",
        "description",
        "content",
        "contents",
        "text",
        "title",
        "message",
        "body",
        "subject",
        "url",
        "old_string",
        "new_string",
        "name",
        "id",
    ];
    if depth == 0 {
        return;
    }
    match value {
        Value::String(text) if is_path_like(text) => {
            found.push(Shown::surely(context.expanded(text.strip_prefix("file://").unwrap_or(text))));
        }
        Value::Array(items) => items.iter().for_each(|item| paths_in(context, item, depth - 1, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if !PROSE.contains(&name.to_ascii_lowercase().as_str()) || !value.is_string() {
                    paths_in(context, value, depth - 1, found);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
