//! Sections of a Markdown text, by their headings: `## Why`, `**Why**`, `## なぜ (背景)`.

use dandori_text::Lang;

/// The sections that are not there, or have nothing in them, each by its name in the reader's language.
pub(super) fn missing(text: &str, wanted: &[Vec<String>], lang: Lang) -> Vec<String> {
    let found = filled_headings(text);
    let is_there = |names: &Vec<String>| found.iter().any(|heading| names.iter().any(|name| is_called(heading, name)));
    wanted.iter().filter(|names| !is_there(names)).filter_map(|names| name_in(names, lang)).collect()
}

/// Every section by its name in the reader's language.
pub(super) fn names(wanted: &[Vec<String>], lang: Lang) -> Vec<String> {
    wanted.iter().filter_map(|names| name_in(names, lang)).collect()
}

fn name_in(names: &[String], lang: Lang) -> Option<String> {
    let fits = |name: &&String| name.is_ascii() == (lang == Lang::En);
    names.iter().find(fits).or(names.first()).cloned()
}

/// All headings, those in code left away.
pub(super) fn headings(text: &str) -> Vec<&str> {
    lines(text).filter_map(|(_, heading)| heading.map(|(_, words)| words)).collect()
}

/// Headings with something below them. A deeper heading is something.
fn filled_headings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (line, heading) in lines(text) {
        match heading {
            Some((depth, words)) => {
                open.retain(|(above, _)| *above < depth);
                found.extend(open.drain(..).map(|(_, words)| words));
                open.push((depth, words));
            }
            None if !line.trim().is_empty() => found.extend(open.drain(..).map(|(_, words)| words)),
            None => {}
        }
    }
    found
}

/// Each line, and the heading it is; in fenced code there are none.
fn lines(text: &str) -> impl Iterator<Item = (&str, Option<(usize, &str)>)> {
    let mut is_code = false;
    text.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_code ^= is_fence;
        (line, if is_code { None } else { heading(line) })
    })
}

/// Its depth and its words; a bold line is the deepest.
fn heading(line: &str) -> Option<(usize, &str)> {
    let line = line.trim();
    let depth = line.len() - line.trim_start_matches('#').len();
    if (1..=6).contains(&depth) {
        return line.get(depth..).filter(|rest| rest.starts_with(char::is_whitespace)).map(|rest| (depth, rest.trim()));
    }
    let bold = line.strip_prefix("**").or_else(|| line.strip_prefix("__"))?;
    let (words, rest) = bold.split_once("**").or_else(|| bold.split_once("__"))?;
    matches!(rest.trim(), "" | ":" | "：").then_some((7, words))
}

/// `1. Why?`, `🐛 Current behaviour`, `Why (なぜ)`, `現状の動作`
fn is_called(heading: &str, name: &str) -> bool {
    let name = name.to_lowercase();
    heading.split(['/', '・', '(', ')', '（', '）', '|', '&', '、']).any(|part| {
        let part = part.trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
        match part.strip_prefix(&name) {
            Some(rest) => !name.is_ascii() || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-'),
            None => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Vec<Vec<String>> {
        vec![vec!["Why".to_owned(), "なぜ".to_owned()], vec!["Current".to_owned(), "現状".to_owned()]]
    }

    #[test]
    fn sections_are_found_in_every_form_of_heading() {
        for text in [
            "## Why\nx\n## Current\ny",
            "# why?\nx\n### 2. Current behaviour\ny",
            "**Why:**\nx\n\n**Current**:\ny",
            "## なぜ\nx\n## 現状の動作\ny",
            "## 🐛 Why (なぜ)\nx\n## Background / Current\ny",
            "## Why\n### Story\nx\n## Current\ny",
        ] {
            assert_eq!(missing(text, &wanted(), Lang::En), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_is_not_there_is_empty_or_only_looks_alike_is_missing() {
        assert_eq!(missing("", &wanted(), Lang::En), ["Why", "Current"]);
        assert_eq!(missing("", &wanted(), Lang::Ja), ["なぜ", "現状"]);
        assert_eq!(missing("## Why\n\n## Current\nx", &wanted(), Lang::En), ["Why"]);
        assert_eq!(missing("Why it is so\n## Currently\nx", &wanted(), Lang::En), ["Why", "Current"]);
        assert_eq!(missing("```\n## Why\nx\n```\n## Current\n```\n# x\n```", &wanted(), Lang::En), ["Why"]);
        assert_eq!(missing("## Whyever\nx\n## Current\nx", &wanted(), Lang::En), ["Why"]);
    }
}
