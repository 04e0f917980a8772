//! `cargo xtask links`: what the Markdown documents lead to is there.
//!
//! Links to files and headings; source files in backticks (`sandbox/plan.rs`: the end of some file's path), whatever
//! begins with a folder of ours (`docs/guards.md`), and names in a room (`engine::drive`: each part is a name there).
//! What is elsewhere is not asked for, and what stands in a block of code is an example.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::sources;
use crate::workspace::{Metadata, kept_files};

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let top = &metadata.workspace_root;
    let mut house = House { files: kept_files(top)?, ..House::default() };
    for package in metadata.members() {
        let mut names = BTreeSet::new();
        for source in sources::of_package(package)? {
            sources::collect_names(source.tokens(), &mut names);
            // A file is a module of its name.
            names.extend(source.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
        house.rooms.insert(package.name.trim_start_matches("dandori-").to_owned(), names);
    }
    for file in house.files.clone().into_iter().filter(|file| is_markdown(file)) {
        let text = std::fs::read_to_string(top.join(&file)).map_err(|e| format!("{file}: {e}"))?;
        house.documents.insert(file, Document::of(&text));
    }
    let wrong = house.wrong();
    if wrong.is_empty() { Ok(()) } else { Err(format!("leads nowhere\n{}", wrong.join("\n"))) }
}

fn is_markdown(file: &str) -> bool {
    // Data of tests is what it is.
    Path::new(file).extension().is_some_and(|e| e == "md") && !file.contains("/tests/") && !file.contains("/data/")
}

/// Everything a document can lead to.
#[derive(Default)]
struct House {
    /// Relative to the top.
    files: Vec<String>,
    /// The names in the sources of each package, by its short name.
    rooms: BTreeMap<String, BTreeSet<String>>,
    documents: BTreeMap<String, Document>,
}

#[derive(Default)]
struct Document {
    anchors: BTreeSet<String>,
    /// Line, and where it leads.
    links: Vec<(usize, String)>,
    /// Line, and what stands in backticks.
    code: Vec<(usize, String)>,
}

impl House {
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (file, document) in &self.documents {
            let links = document.links.iter().filter(|(_, to)| !self.leads(file, to));
            let code = document.code.iter().filter(|(_, text)| !self.knows(text));
            wrong.extend(links.chain(code).map(|(line, text)| format!("{file}:{line}: {text}")));
        }
        wrong
    }

    fn leads(&self, from: &str, to: &str) -> bool {
        if to.contains("://") || to.starts_with("mailto:") {
            return true;
        }
        let (path, anchor) = to.split_once('#').map_or((to, None), |(path, anchor)| (path, Some(anchor)));
        let target = if path.is_empty() { Some(from.to_owned()) } else { joined(from, path) };
        let Some(target) = target.filter(|target| self.has(target)) else { return false };
        let document = self.documents.get(&target);
        anchor.is_none_or(|anchor| document.is_none_or(|d| d.anchors.contains(&anchor.to_lowercase())))
    }

    /// A file, or a folder of one.
    fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.files.iter().any(|file| file == path || file.starts_with(&folder))
    }

    fn knows(&self, code: &str) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
        if code.chars().all(plain) && !code.starts_with('/') {
            let path = code.trim_end_matches('/');
            let is_ours =
                |folder: &str| self.files.iter().any(|file| file.split_once('/').is_some_and(|(f, _)| f == folder));
            if path.split_once('/').is_some_and(|(first, _)| is_ours(first) && !first.starts_with('.')) {
                return self.has(path) || self.ends_some(path);
            }
            return Path::new(path).extension().is_none_or(|e| e != "rs") || self.ends_some(path);
        }
        let mut parts = code.trim_end_matches("()").split("::");
        let room = parts.next().unwrap_or_default();
        let Some(names) = self.rooms.get(room.trim_start_matches("dandori_")) else { return true };
        parts.all(|part| names.contains(part) || !part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
    }

    fn ends_some(&self, path: &str) -> bool {
        let end = format!("/{path}");
        self.files.iter().any(|file| file == path || file.ends_with(&end))
    }
}

/// `path` as seen from the folder of `from`; `None` where it leaves the tree.
fn joined(from: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl Document {
    fn of(text: &str) -> Self {
        let mut document = Self::default();
        let mut fence: Option<&str> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let start = text.trim_start();
            if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)) {
                fence = match fence {
                    None => Some(mark),
                    Some(open) if open == mark => None,
                    open => open,
                };
                continue;
            }
            if fence.is_some() {
                continue;
            }
            if let Some(heading) = heading(text) {
                document.add_anchor(heading);
            }
            let (prose, code) = apart(text);
            document.code.extend(code.into_iter().map(|code| (line, code)));
            document.links.extend(links(&prose).into_iter().map(|link| (line, link)));
        }
        document
    }

    /// As GitHub makes them: a second heading of the same words has a number.
    fn add_anchor(&mut self, heading: &str) {
        let lower = heading.trim().to_lowercase();
        let kept = lower.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let mut free = std::iter::once(anchor.clone()).chain(numbered).filter(|name| !self.anchors.contains(name));
        self.anchors.extend(free.next());
    }
}

fn heading(line: &str) -> Option<&str> {
    let words = line.trim_start_matches('#');
    let level = line.len() - words.len();
    ((1..=6).contains(&level) && words.starts_with(' ')).then_some(words)
}

/// The line without what stands in backticks, and that.
fn apart(line: &str) -> (String, Vec<String>) {
    let (mut prose, mut code) = (String::new(), Vec::new());
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 0 { prose.push_str(part) } else { code.push(part.trim().to_owned()) }
    }
    (prose, code)
}

/// Where `[…](here)`, `[…]: here` and `href="here"` lead.
fn links(prose: &str) -> Vec<String> {
    let until =
        |rest: &str, ends: &[char]| rest.split(ends).next().unwrap_or_default().trim_matches(['<', '>']).to_owned();
    let mut found: Vec<String> = prose.split("](").skip(1).map(|rest| until(rest, &[')', ' '])).collect();
    for attribute in ["href=\"", "src=\""] {
        found.extend(prose.split(attribute).skip(1).map(|rest| until(rest, &['"'])));
    }
    if let Some((_, rest)) = prose.split_once("]: ").filter(|(label, _)| label.starts_with('[')) {
        found.push(until(rest.trim(), &[' ']));
    }
    found.retain(|link| !link.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> Vec<String> {
        let files = ["README.md", "docs/guards.md", "crates/host/src/sandbox/plan.rs"].map(str::to_owned).to_vec();
        let names = ["sandbox", "plan", "Cmd"].map(str::to_owned).into();
        let rooms = BTreeMap::from([("host".to_owned(), names)]);
        let documents = [
            ("README.md".to_owned(), Document::of(text)),
            (
                "docs/guards.md".to_owned(),
                Document::of("# The guards\n\n## 守り\n\n## Twice\n## Twice\n[up](../README.md)\n"),
            ),
        ];
        House { files, rooms, documents: documents.into() }.wrong()
    }

    #[test]
    fn links_to_what_is_there_are_good() {
        let text = "[a](docs/guards.md) [b](./docs) [c](docs/guards.md#the-guards) [d](docs/guards.md#守り)\n\
                    [e](docs/guards.md#twice-1) [f](https://example.com/x)\n\
                    `sandbox/plan.rs` `plan.rs` `docs/guards.md` `host::Cmd` `host::sandbox::plan` `.claude/settings.json`\n\
                    ```\n[x](nowhere.md) `nowhere.rs`\n```\n";
        assert_eq!(wrong(text), Vec::<String>::new());
    }

    #[test]
    fn what_leads_nowhere_is_found_with_its_line() {
        let inside = |text: &'static str| {
            text.trim_matches('`').trim_start_matches("[a](").trim_start_matches("[a]: ").trim_end_matches(')')
        };
        let found = |text: &'static str| {
            assert_eq!(wrong(&format!("first\n{text}\n")), [format!("README.md:2: {}", inside(text))], "{text}");
        };
        found("[a](docs/gone.md)");
        found("[a](docs/guards.md#gone)");
        found("[a](#gone)");
        found("[a](../outside.md)");
        found("[a]: docs/gone.md");
        found("`engine/src/layout.rs`");
        found("`docs/gone.md`");
        found("`host::gone`");
    }
}
