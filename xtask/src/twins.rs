//! `cargo xtask twins`: every page for users exists in Japanese too, and is complete there.
//!
//! Read are the README and the pages of `docs/` (the guides for contributors are English only). A page and its twin
//! (`name.md`, `name.ja.md`) have the same headings by number and level, as many code blocks and table rows, and lead to
//! each other. Whether it is well said no program knows.

use std::collections::BTreeSet;
use std::path::Path;

use crate::workspace::{Metadata, kept_files};

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let pages: BTreeSet<String> = kept_files(&metadata.workspace_root)?.into_iter().filter(|f| is_page(f)).collect();
    let read =
        |file: &str| std::fs::read_to_string(metadata.workspace_root.join(file)).map_err(|e| format!("{file}: {e}"));
    let mut wrong = Vec::new();
    for page in &pages {
        let twin = twin_of(page);
        if !pages.contains(&twin) {
            wrong.push(format!("{page}: {twin} does not exist"));
        } else if !page.ends_with(".ja.md") {
            wrong.extend(differences(page, &read(page)?, &twin, &read(&twin)?));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not the same in both languages\n{}", wrong.join("\n"))) }
}

fn is_page(file: &str) -> bool {
    let is_markdown = Path::new(file).extension().is_some_and(|e| e == "md");
    let in_docs = is_markdown && file.strip_prefix("docs/").is_some_and(|name| !name.contains('/'));
    in_docs || file == "README.md" || file == "README.ja.md"
}

fn twin_of(page: &str) -> String {
    let stem = page.strip_suffix(".md").unwrap_or(page);
    stem.strip_suffix(".ja").map_or_else(|| format!("{stem}.ja.md"), |english| format!("{english}.md"))
}

fn differences(page: &str, english: &str, twin: &str, japanese: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, text, to) in [(page, english, twin), (twin, japanese, page)] {
        let name = to.rsplit('/').next().unwrap_or(to);
        if !text.contains(&format!("]({name})")) {
            wrong.push(format!("{from}: no link to {to}"));
        }
    }
    let (one, other) = (Shape::of(english), Shape::of(japanese));
    let mut theirs = other.headings.iter();
    for (line, level, words) in &one.headings {
        match theirs.next() {
            Some((_, same, _)) if same == level => {}
            Some((at, _, found)) => {
                wrong.push(format!("{page}:{line}: `{words}` is `{found}` in {twin}:{at}, of another level"));
                return wrong;
            }
            None => {
                wrong.push(format!("{page}:{line}: `{words}` is missing in {twin}"));
                return wrong;
            }
        }
    }
    wrong.extend(theirs.next().map(|(line, _, words)| format!("{twin}:{line}: `{words}` is not in {page}")));
    for (what, one, other) in [("code blocks", one.blocks, other.blocks), ("table rows", one.rows, other.rows)] {
        if one != other {
            wrong.push(format!("{page}: {one} {what}, and {other} in {twin}"));
        }
    }
    wrong
}

#[derive(Default)]
struct Shape {
    /// Line, level and words.
    headings: Vec<(usize, usize, String)>,
    blocks: usize,
    rows: usize,
}

impl Shape {
    fn of(text: &str) -> Self {
        let mut shape = Self::default();
        let mut in_code = false;
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim_start().starts_with("```") {
                in_code = !in_code;
                shape.blocks += usize::from(in_code);
            } else if !in_code {
                let words = text.trim_start_matches('#');
                let level = text.len() - words.len();
                if level > 0 && words.starts_with(' ') {
                    shape.headings.push((line, level, words.trim().to_owned()));
                }
                shape.rows += usize::from(text.starts_with('|'));
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENGLISH: &str = "# Tasks\n[日本語](a.ja.md)\n## Start\n```sh\n# not a heading\n```\n| a |\n";

    fn against(japanese: &str) -> Vec<String> {
        differences("docs/a.md", ENGLISH, "docs/a.ja.md", japanese)
    }

    #[test]
    fn the_same_page_in_other_words_is_good() {
        assert_eq!(
            against("# タスク\n[English](a.md)\n\n## 開始\n```sh\n# 見出しではない\n```\n| あ |\n"),
            [] as [&str; 0]
        );
    }

    #[test]
    fn what_is_missing_too_much_or_of_another_level_is_found() {
        let found = |japanese: &str, told: &str| assert_eq!(against(japanese), [told], "{japanese}");
        found("# タスク\n[E](a.md)\n```\n```\n| あ |\n", "docs/a.md:3: `Start` is missing in docs/a.ja.md");
        found(
            "# タスク\n[E](a.md)\n### 開始\n```\n```\n| あ |\n",
            "docs/a.md:3: `Start` is `開始` in docs/a.ja.md:3, of another level",
        );
        found(
            "# タスク\n[E](a.md)\n## 開始\n## 続き\n```\n```\n| あ |\n",
            "docs/a.ja.md:4: `続き` is not in docs/a.md",
        );
        found("# タスク\n[E](a.md)\n## 開始\n| あ |\n", "docs/a.md: 1 code blocks, and 0 in docs/a.ja.md");
        found("# タスク\n[E](a.md)\n## 開始\n```\n```\n", "docs/a.md: 1 table rows, and 0 in docs/a.ja.md");
        found("# タスク\n## 開始\n```\n```\n| あ |\n", "docs/a.ja.md: no link to docs/a.md");
    }

    #[test]
    fn pages_are_what_users_read() {
        assert!(["README.md", "README.ja.md", "docs/tasks.md"].into_iter().all(is_page));
        assert!(!["CHANGELOG.md", "docs/guides/add-a-verb.md", "docs/openapi.json"].into_iter().any(is_page));
        assert_eq!((twin_of("docs/a.md"), twin_of("docs/a.ja.md")), ("docs/a.ja.md".into(), "docs/a.md".into()));
    }
}
