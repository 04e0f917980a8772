//! What a search looks into, by the pattern it was given for the files: `.env*` means `.env`, whoever looks.
//!
//! A pattern that means ordinary files as well (`*`, `*.json`) is a search of the project, and stays one.

use camino::{Utf8Path, Utf8PathBuf};

use crate::change::resolve;
use crate::context::Context;
use crate::world::FileKind;

/// Files as every project has them.
const ORDINARY: [&str; 9] =
    ["main.rs", "index.js", "README.md", "package.json", "app.py", "notes.txt", "Makefile", "main.go", "style.css"];
/// What a star of a rule may stand for.
const STANDS_FOR: [&str; 2] = ["local", "server"];
/// How far the folders are gone through, and what is left out.
const DEPTH: usize = 5;
const MOST: usize = 4_000;
const LEFT_OUT: [&str; 4] = [".git", "node_modules", "target", ".venv"];

/// The held files that this pattern aims at below a folder: those that are there, and where there is more than can be
/// looked through, those it would find by name.
pub(super) fn at(context: &Context, folder: &Utf8Path, pattern: &str) -> Vec<Utf8PathBuf> {
    let aims: Vec<String> = alternatives(pattern).into_iter().filter(|pattern| !is_ordinary(pattern)).collect();
    if aims.is_empty() {
        return Vec::new();
    }
    let constraints = context.rules.constraints.iter().flat_map(|constraints| &constraints.paths);
    let held: Vec<&String> = context.rules.secrets.iter().chain(constraints).collect();
    let is_held = |path: &Utf8Path| {
        let place = context.place(path);
        held.iter().any(|rule| place.holds(rule))
    };
    let (there, is_all) = below(context, folder);
    let is_meant = |path: &Utf8PathBuf| aims.iter().any(|aim| means(aim, folder, path)) && is_held(path);
    let mut found: Vec<Utf8PathBuf> = there.into_iter().filter(is_meant).collect();
    if !is_all {
        found.extend(held.iter().flat_map(|rule| by_name(context, folder, &aims, rule)));
    }
    found
}

/// A rule's own names, as far as the pattern means them.
fn by_name(context: &Context, folder: &Utf8Path, aims: &[String], rule: &str) -> Vec<Utf8PathBuf> {
    if rule.contains('/') {
        let path = context.expanded(rule);
        let is_meant = path.starts_with(folder) && aims.iter().any(|aim| means(aim, folder, &path));
        return if is_meant && context.world.kind(&path).is_some() { vec![path] } else { Vec::new() };
    }
    let names = STANDS_FOR.iter().map(|word| rule.replace('*', word));
    let names = names.filter(|name| aims.iter().any(|aim| fits(last(aim), name)));
    names.take(1).map(|name| folder.join(name)).collect()
}

/// Without a slash a pattern means a name anywhere.
fn means(aim: &str, folder: &Utf8Path, path: &Utf8Path) -> bool {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    let by_name = || path.file_name().is_some_and(|name| fits(aim, name));
    if aim.contains('/') { fits(aim.trim_start_matches('/'), inside.as_str()) } else { by_name() }
}

fn is_ordinary(pattern: &str) -> bool {
    ORDINARY.iter().any(|name| fits(last(pattern), name))
}

fn last(pattern: &str) -> &str {
    pattern.rsplit('/').next().unwrap_or(pattern)
}

fn fits(pattern: &str, name: &str) -> bool {
    fast_glob::glob_match(pattern.to_lowercase(), name.to_lowercase())
}

/// `*.js, .env*` and `{a,.env}*` are two each. What is left away is no aim.
fn alternatives(patterns: &str) -> Vec<String> {
    const MANY: usize = 64;
    let mut depth = 0_usize;
    let mut found = vec![String::new()];
    for c in patterns.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match found.last_mut() {
            Some(last) if depth > 0 || !(c == ',' || c.is_whitespace()) => last.push(c),
            _ => found.push(String::new()),
        }
    }
    found.retain(|pattern| !pattern.is_empty() && !pattern.starts_with('!'));
    let mut at = 0;
    while let Some(pattern) = found.get(at).cloned() {
        let Some((before, rest)) = pattern.split_once('{') else {
            at += 1;
            continue;
        };
        let (inner, after) = rest.split_once('}').unwrap_or((rest, ""));
        let filled = inner.split(',').map(|word| format!("{before}{word}{after}"));
        found.splice(at..=at, filled.take(MANY));
        if found.len() > MANY {
            break;
        }
    }
    found
}

/// Files below a folder, and whether they are all. What others have put there is not looked at.
fn below(context: &Context, folder: &Utf8Path) -> (Vec<Utf8PathBuf>, bool) {
    let mut found = Vec::new();
    let mut is_all = true;
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for name in context.world.names(&folder) {
            let path = folder.join(&name);
            if context.world.kind(&path) != Some(FileKind::Folder) {
                found.push(path);
            } else if !LEFT_OUT.contains(&name.as_str()) {
                is_all &= depth < DEPTH;
                folders.extend((depth < DEPTH).then_some((path, depth + 1)));
            }
        }
        if found.len() > MOST {
            return (found, false);
        }
    }
    (found, is_all)
}

/// The same for a pattern as it stands in a tool's input, which may begin with a folder: `src/**/.env*`.
pub(super) fn from(context: &Context, folder: Option<&Utf8Path>, pattern: &str) -> Vec<Utf8PathBuf> {
    let folder = resolve(folder.or(context.event.workdir()), ".");
    at(context, &context.expanded(folder.as_str()), pattern)
}
