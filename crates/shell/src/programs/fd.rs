//! What `fd` chooses, in the words of a search.

use crate::options::{self, Spec};
use crate::programs::patterns::{By, Pattern};
use crate::programs::search::{Act, Deed, Search};
use crate::reading::Word;

impl Search {
    /// Reads the words after `fd`.
    pub(crate) fn of_fd(args: &[Word]) -> Self {
        let at = args.iter().position(|w| matches!(w.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"));
        let own = args.get(..at.unwrap_or(args.len())).unwrap_or_default();
        let long = &[
            "extension",
            "type",
            "exclude",
            "max-depth",
            "min-depth",
            "exact-depth",
            "size",
            "changed-within",
            "changed-before",
            "newer",
            "older",
            "owner",
            "search-path",
            "base-directory",
            "threads",
            "color",
            "format",
        ];
        let parsed = options::parse(own, Spec { short: "etEdSojcC", long, stops: false });
        let first = parsed.operands.first().filter(|w| !matches!(w.text.as_str(), "" | "." | ".*" | "*"));
        let is_large = first.is_some_and(|w| w.text.chars().any(char::is_uppercase));
        let any_case = parsed.has(&["i", "ignore-case"]) || !is_large && !parsed.has(&["s", "case-sensitive"]);
        let is_glob = parsed.has(&["g", "glob"]);
        let by = match (is_glob, parsed.has(&["p", "full-path"])) {
            (true, true) => By::Path,
            (true, false) => By::Name,
            (false, true) => By::PathRegex,
            (false, false) => By::NameRegex,
        };
        let pattern = |word: Word, by| Pattern { word, by, any_case, is_negated: false };
        let named = first.cloned().map(|word| match by {
            // Of the whole path, but anywhere in it.
            By::PathRegex => pattern(Word { text: format!(".*{}.*", word.text), ..word }, by),
            _ => pattern(word, by),
        });
        let mut extensions: Vec<Pattern> = parsed
            .values(&["e", "extension"])
            .map(|w| pattern(Word { text: format!("*.{}", w.text.trim_start_matches('.')), ..w.clone() }, By::Name))
            .collect();
        let (names, also) = match named {
            // One extension is a condition more; of several, one must hold.
            Some(named) if extensions.len() < 2 => (vec![named], extensions),
            Some(named) => (std::mem::take(&mut extensions), vec![named]),
            None => (extensions, Vec::new()),
        };
        let by_fact = ["S", "size", "changed-within", "changed-before", "newer", "older", "o", "owner"];
        let is_choosy = !names.is_empty() || parsed.has(&by_fact);
        let takes_files =
            parsed.value(&["t", "type"]).is_none_or(|w| matches!(w.text.as_str(), "f" | "file" | "x" | "executable"));
        let act = at.and_then(|at| args.get(at + 1..)).map_or(Act::Print, |command| Act::Run(command.to_vec()));
        let mut roots: Vec<Word> = parsed.operands.iter().skip(1).cloned().collect();
        roots.extend(parsed.values(&["search-path", "base-directory"]).cloned());
        if roots.is_empty() {
            roots.push(Word::literal("."));
        }
        Self {
            roots,
            deeds: vec![Deed { act, is_choosy, names, also, takes_files }],
            depth: parsed.value(&["d", "max-depth", "exact-depth"]).and_then(|w| w.text.parse().ok()),
            skips_hidden: !parsed.has(&["H", "hidden", "u", "unrestricted"]),
        }
    }
}
