//! `patch`, `git apply` and `git am`: the files that a patch names.

use crate::options::{self, Parsed, Spec};
use crate::reading::{Cwd, How, Word};
use crate::walk::Walker;
use crate::walk::scope::{Input, Output};

/// Places of a line `diff --git` where one name may end and the other begin.
const MAX_SPLITS: usize = 64;

/// The files that a patch names, as `git apply` and `patch -p1` read them.
#[must_use]
pub fn files_of_patch(text: &str) -> Vec<String> {
    let reader = Reader { is_git: true, strip: None };
    let mut names: Vec<String> = Vec::new();
    for name in text.lines().flat_map(|line| reader.names(line)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How names are read: who applies the patch, and how many folders are taken off them.
#[derive(Clone, Copy)]
struct Reader {
    is_git: bool,
    strip: Option<usize>,
}

impl Walker<'_> {
    pub(crate) fn patch(&mut self, args: &[Word], input: &Input) {
        let long = &[
            "input",
            "directory",
            "direct",
            "dir",
            "output",
            "strip",
            "fuzz",
            "get",
            "reject-file",
            "prefix",
            "suffix",
            "basename-prefix",
            "version-control",
            "ifdef",
            "read-only",
            "quoting-style",
        ];
        let parsed = options::parse(args, Spec { short: "pidoBDFgrVYzx", long, stops: false });
        if parsed.has(&["dry-run"]) {
            return;
        }
        let folder = folder(&parsed, "d");
        for file in parsed.values(&["o", "output", "r", "reject-file"]).cloned().collect::<Vec<_>>() {
            self.writes(below(folder.as_ref(), file), How::Output);
        }
        if let Some(file) = parsed.operands.first().cloned() {
            let is_patch = matches!(file.text.rsplit('.').next(), Some("patch" | "diff"));
            self.writes(below(folder.as_ref(), file), How::Patched);
            if !is_patch {
                return;
            }
        }
        let file = parsed.value(&["i", "input"]).or(parsed.operands.get(1)).cloned();
        let text = self.patch_text(file.as_ref(), input);
        let reader = Reader { is_git: false, strip: strip(&parsed) };
        self.patched(text.as_deref(), reader, folder.as_ref());
    }

    pub(crate) fn git_patch(&mut self, subcommand: &str, args: &[Word], input: &Input) {
        let long = &["directory", "direct", "dir", "exclude", "include", "whitespace", "build-fake-ancestor"];
        let parsed = options::parse(args, Spec { short: "pC", long, stops: false });
        let only_looks = parsed.has(&["check", "stat", "numstat", "summary"]) && !parsed.has(&["apply"]);
        if only_looks || parsed.has(&["abort", "continue", "skip", "quit", "cached"]) {
            return;
        }
        let mut within = folder(&parsed, "");
        if subcommand == "am" {
            // From the top of the checkout, wherever the shell stands.
            match &self.options.checkout {
                Some(top) => {
                    let top = Word::literal(top.clone());
                    within = Some(below(Some(&top), within.unwrap_or_else(|| Word::literal("."))));
                }
                None if self.scope.cwd != Cwd::Start => self.writes(Word::computed("$PATCHED"), How::Patched),
                None => {}
            }
        }
        let reader = Reader { is_git: true, strip: strip(&parsed) };
        let files: Vec<Option<&Word>> =
            if parsed.operands.is_empty() { vec![None] } else { parsed.operands.iter().map(Some).collect() };
        for file in files {
            let text = self.patch_text(file, input);
            if !self.afford(text.as_ref().map_or(0, String::len)) {
                return;
            }
            self.patched(text.as_deref(), reader, within.as_ref());
        }
    }

    /// The patch itself, if it is in the line.
    fn patch_text(&self, file: Option<&Word>, input: &Input) -> Option<String> {
        let is_input = |w: &Word| w.text == "-" || w.text == "/dev/stdin";
        match (file, input) {
            (Some(file), _) if !is_input(file) => match self.fresh_text(&file.text) {
                Some(Output::Text(text)) => Some(text),
                _ => None,
            },
            (_, Input::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    fn patched(&mut self, text: Option<&str>, reader: Reader, folder: Option<&Word>) {
        let unknown = || Word::computed("$PATCHED");
        let mut is_named = false;
        for line in text.unwrap_or_default().lines() {
            for name in reader.names(line) {
                is_named = true;
                let name = if name.contains(['$', '`']) { Word::computed(name) } else { Word::literal(name) };
                self.writes(below(folder, name), How::Patched);
            }
            if line.starts_with(['$', '`']) {
                // More of the patch, which only the run tells.
                self.writes(unknown(), How::Patched);
            }
        }
        if !is_named && text.is_none_or(|text| !text.trim().is_empty()) {
            self.writes(unknown(), How::Patched);
        }
    }
}

fn folder(parsed: &Parsed, letter: &str) -> Option<Word> {
    let is_folder = |name: &str| name == letter || name.len() >= 2 && "directory".starts_with(name);
    parsed.flags.iter().rev().find(|(name, _)| is_folder(name))?.1.clone()
}

fn strip(parsed: &Parsed) -> Option<usize> {
    parsed.value(&["p", "strip"])?.text.parse().ok()
}

fn below(folder: Option<&Word>, file: Word) -> Word {
    match folder {
        Some(folder) if !file.text.starts_with('/') => {
            Word { text: format!("{}/{}", folder.text, file.text), certainty: folder.certainty.max(file.certainty) }
        }
        _ => file,
    }
}

impl Reader {
    /// The files that a line of a patch names: `+++ b/x`, `diff --git a/x b/x`, `rename to x`, `Index: x`.
    fn names(self, line: &str) -> Vec<String> {
        // `patch` takes a patch that is set in as a whole, too.
        let line = if self.is_git { line } else { line.trim_start() };
        if let Some(both) = line.strip_prefix("diff --git ") {
            return two_names(both).iter().flat_map(|name| self.meant(name)).collect();
        }
        let moved = ["rename to ", "rename from ", "rename old ", "rename new ", "copy to "];
        if let Some(name) = moved.iter().find_map(|header| line.strip_prefix(header)) {
            return vec![stripped(&bare(name), self.strip.unwrap_or(1).saturating_sub(1)).to_owned()];
        }
        let Some(rest) = ["+++ ", "--- ", "*** ", "Index: "].iter().find_map(|header| line.strip_prefix(header)) else {
            return Vec::new();
        };
        let is_place = rest.ends_with("****") || rest.ends_with("----");
        let name = bare(rest);
        let mut names = vec![name.clone()];
        if !rest.contains('\t') && !rest.trim_start().starts_with('"') {
            // A date may follow without a tab.
            names.extend(name.split_whitespace().next().filter(|first| *first != name).map(str::to_owned));
        }
        names.retain(|name| !is_place && !name.is_empty() && !name.starts_with("/dev/null"));
        names.iter().flat_map(|name| self.meant(name)).collect()
    }

    /// What is left of a name without the folders that are taken off.
    fn meant(self, name: &str) -> Vec<String> {
        let plain = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).unwrap_or(name);
        let mut names = match self.strip {
            Some(count) => vec![stripped(name, count)],
            None if self.is_git => vec![plain, stripped(name, 1)],
            None => vec![plain, name.rsplit('/').next().unwrap_or(name)],
        };
        names.dedup();
        names.into_iter().map(str::to_owned).collect()
    }
}

/// Without so many folders; a name that has fewer stays as it is.
fn stripped(name: &str, count: usize) -> &str {
    let mut left = name;
    for _ in 0..count {
        match left.split_once('/') {
            Some((_, rest)) => left = rest.trim_start_matches('/'),
            None => return name,
        }
    }
    left
}

/// A name as it stands, up to a tab, or in quotes.
fn bare(text: &str) -> String {
    let text = text.trim();
    match text.strip_prefix('"') {
        Some(quoted) => crate::source::expand::unescape(quoted.get(..closing_quote(quoted)).unwrap_or(quoted)),
        None => text.split('\t').next().unwrap_or_default().trim().to_owned(),
    }
}

fn closing_quote(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = *c == '"' && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// The names of `diff --git`, which are the same but for their first folder unless the file is renamed.
fn two_names(both: &str) -> Vec<String> {
    let both = both.trim();
    if let Some(quoted) = both.strip_prefix('"') {
        let rest = quoted.get(closing_quote(quoted) + 1..).unwrap_or_default();
        return vec![bare(both), bare(rest)];
    }
    let mut splits = both.match_indices(' ').take(MAX_SPLITS).map(|(at, _)| both.split_at(at));
    let is_same = |(from, to): &(&str, &str)| stripped(from, 1) == stripped(to.trim(), 1);
    let found = splits.find(is_same).or_else(|| both.find(" b/").map(|at| both.split_at(at)));
    let found = found.or_else(|| both.find(" \"").or_else(|| both.rfind(' ')).map(|at| both.split_at(at)));
    found.map_or_else(|| vec![bare(both)], |(from, to)| vec![bare(from), bare(to)])
}
