//! `cargo xtask layers`: the arrows between the rooms, as ARCHITECTURE.md draws them. A reversed one fails the build,
//! also one that is reversed through somebody else: what a room must not have it must not get from what it uses.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{self, Part};
use crate::workspace::Metadata;

/// Who may use whom. A room that is not here may use nobody.
const ARROWS: &[(&str, &[&str])] = &[
    ("dandori-domain", &[]),
    ("dandori-formation", &["domain"]),
    ("dandori-api", &["domain", "formation"]),
    ("dandori-playbook", &["domain"]),
    ("dandori-guard", &["domain", "playbook", "shell", "text"]),
    ("dandori-shell", &["domain"]),
    ("dandori-install", &["domain"]),
    ("dandori-config", &["domain", "formation"]),
    ("dandori-policy", &["domain", "config", "guard", "host"]),
    ("dandori-text", &["domain", "api", "formation", "playbook"]),
    ("dandori-host", &["domain"]),
    ("dandori-journal", &["domain", "guard", "host"]),
    ("dandori-hook", &["domain", "guard", "host", "journal", "playbook", "policy", "text"]),
    ("dandori-store", &["domain", "formation"]),
    ("dandori-git", &["domain", "host"]),
    ("dandori-acp", &["domain", "guard", "hook", "host"]),
    ("dandori-agent", &["domain", "formation", "host", "install", "journal"]),
    ("dandori-forge", &["domain", "host"]),
    (
        "dandori-engine",
        &["domain", "formation", "config", "host", "git", "agent", "forge", "store", "journal", "policy"],
    ),
    ("dandori-server", &["domain", "formation", "api", "host", "store", "engine", "text"]),
    (
        "dandori",
        &[
            "acp",
            "domain",
            "formation",
            "api",
            "guard",
            "hook",
            "install",
            "journal",
            "policy",
            "shell",
            "playbook",
            "config",
            "model",
            "text",
            "host",
            "git",
            "agent",
            "engine",
            "server",
        ],
    ),
    (
        "bench",
        &[
            "domain",
            "api",
            "config",
            "formation",
            "host",
            "git",
            "agent",
            "forge",
            "store",
            "engine",
            "server",
            "testkit",
        ],
    ),
    ("fuzz", &["corpus", "domain", "guard", "host", "install", "playbook", "shell", "text"]),
    ("dandori-corpus", &["shell"]),
    ("dandori-model", &["domain"]),
    ("dandori-testkit", &["domain", "formation", "model"]),
    ("xtask", &[]),
];

/// Text and values in, text and values out. They use one another alone, and neither files nor processes.
const PURE: &[&str] = &[
    "dandori-api",
    "dandori-domain",
    "dandori-formation",
    "dandori-guard",
    "dandori-install",
    "dandori-playbook",
    "dandori-shell",
    "dandori-text",
];
/// On the way of a hook, which starts for every tool an agent uses: they touch files and start programs, and wait.
const LIGHT: &[&str] = &["dandori-config", "dandori-hook", "dandori-host", "dandori-journal", "dandori-policy"];
/// Runtimes, databases and HTTP: in neither of them, however they might get in.
const HEAVY: &[&str] = &[
    "axum",
    "h2",
    "hyper",
    "libsqlite3-sys",
    "mio",
    "postgres",
    "reqwest",
    "rusqlite",
    "rustls",
    "tokio",
    "tokio-postgres",
];
/// What a pure room does not touch, as modules of the standard library.
const WORLD: &[&str] = &["fs", "net", "process"];

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let uses = Uses::of(&metadata);
    let mut wrong = uses.wrong();
    for package in metadata.members().filter(|package| PURE.contains(&package.name.as_str())) {
        for source in sources::of_package(package)?.iter().filter(|source| source.part == Part::Library) {
            let touched = sources::paths_below("std", source.tokens());
            let touched = touched.iter().filter(|name| WORLD.contains(&name.as_str()));
            let at = source.path.strip_prefix(&metadata.workspace_root).unwrap_or(&source.path).display();
            wrong.extend(touched.map(|name| format!("{} is pure and may not use std::{name}: {at}", package.name)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Who uses whom by name, in what is built: what is only for tests is no arrow.
struct Uses {
    rooms: BTreeSet<String>,
    of_each: BTreeMap<String, BTreeSet<String>>,
}

impl Uses {
    fn of(metadata: &Metadata) -> Self {
        let name = |id: &str| metadata.by_id(id).map(|package| package.name.clone());
        let is_built = |id: &str| metadata.by_id(id).is_some_and(|package| !package.is_macro());
        let mut of_each: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in &metadata.resolve.nodes {
            let used = node.deps.iter().filter(|edge| edge.is_ordinary() && is_built(&edge.pkg));
            let used = used.filter_map(|edge| name(&edge.pkg));
            of_each.entry(name(&node.id).unwrap_or_default()).or_default().extend(used);
        }
        Self { rooms: metadata.members().map(|package| package.name.clone()).collect(), of_each }
    }

    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for room in &self.rooms {
            let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == room) else {
                wrong.push(format!("{room} is not drawn in xtask/src/layers.rs"));
                continue;
            };
            for used in self.direct(room).filter(|used| self.rooms.contains(*used)) {
                if !allowed.contains(&used.trim_start_matches("dandori-")) {
                    wrong.push(format!("{room} may not use {used}"));
                }
            }
            let (is_pure, is_light) = (PURE.contains(&room.as_str()), LIGHT.contains(&room.as_str()));
            for way in self.ways(room).iter().filter(|_| is_pure || is_light) {
                let Some(used) = way.last() else { continue };
                let kind = if is_pure { "pure" } else { "light" };
                let is_impure_room = is_pure && self.rooms.contains(*used) && !PURE.contains(used);
                if HEAVY.contains(used) || is_impure_room {
                    wrong.push(format!("{room} is {kind} and may not use {used}: {}", way.join(" → ")));
                }
            }
        }
        wrong
    }

    fn direct<'u>(&'u self, name: &str) -> impl Iterator<Item = &'u str> {
        self.of_each.get(name).into_iter().flatten().map(String::as_str)
    }

    /// A shortest way to each package that a room has, near or far.
    fn ways<'u>(&'u self, room: &'u str) -> Vec<Vec<&'u str>> {
        let mut seen = BTreeSet::from([room]);
        let mut ways = vec![vec![room]];
        let mut at = 0;
        while let Some(way) = ways.get(at).cloned() {
            for next in self.direct(way.last().copied().unwrap_or(room)).filter(|next| seen.insert(*next)) {
                ways.push([way.as_slice(), &[next]].concat());
            }
            at += 1;
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(uses: &[(&str, &[&str])]) -> Vec<String> {
        let strings = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let rooms = uses.iter().map(|(room, _)| *room).filter(|n| n.starts_with("dandori")).map(str::to_owned);
        let of_each = uses.iter().map(|(room, used)| ((*room).to_owned(), strings(used))).collect();
        Uses { rooms: rooms.collect(), of_each }.wrong()
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_wrong_and_so_is_a_room_that_is_not() {
        assert!(wrong(&[("dandori-domain", &[]), ("dandori-store", &["dandori-domain"])]).is_empty());
        let reversed = wrong(&[("dandori-domain", &["dandori-store"]), ("dandori-store", &[])]);
        assert!(reversed.contains(&"dandori-domain may not use dandori-store".to_owned()), "{reversed:?}");
        assert_eq!(wrong(&[("dandori-cellar", &[])]), ["dandori-cellar is not drawn in xtask/src/layers.rs"]);
    }

    #[test]
    fn what_a_pure_or_light_room_must_not_have_is_found_through_others() {
        let by_host =
            wrong(&[("dandori-policy", &["dandori-host"]), ("dandori-host", &["tokio"]), ("tokio", &["mio"])]);
        let by_way = "dandori-policy is light and may not use tokio: dandori-policy → dandori-host → tokio";
        assert!(by_host.contains(&by_way.to_owned()), "{by_host:?}");
        let by_crate = wrong(&[("dandori-playbook", &["somebody"]), ("somebody", &["rusqlite"])]);
        let by_way = "dandori-playbook is pure and may not use rusqlite: dandori-playbook → somebody → rusqlite";
        assert_eq!(by_crate, [by_way]);
        let impure =
            wrong(&[("dandori-guard", &["dandori-text"]), ("dandori-text", &["dandori-host"]), ("dandori-host", &[])]);
        let by_way = "dandori-guard is pure and may not use dandori-host: dandori-guard → dandori-text → dandori-host";
        assert!(impure.contains(&by_way.to_owned()), "{impure:?}");
    }
}
