//! The arrows between the rooms, as ARCHITECTURE.md draws them. A reversed one fails the build.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Who may use whom. A room that is not here may use nobody.
const ARROWS: &[(&str, &[&str])] = &[
    ("dandori-domain", &[]),
    ("dandori-api", &[]),
    ("dandori-playbook", &["domain"]),
    ("dandori-guard", &["domain", "playbook", "shell", "text"]),
    ("dandori-shell", &["domain"]),
    ("dandori-install", &["domain"]),
    ("dandori-config", &["domain"]),
    ("dandori-policy", &["domain", "config", "guard", "host"]),
    ("dandori-text", &["domain", "playbook"]),
    ("dandori-host", &["domain"]),
    ("dandori-journal", &["guard", "host"]),
    ("dandori-hook", &["domain", "guard", "host", "journal", "playbook", "policy", "text"]),
    ("dandori-store", &["domain"]),
    ("dandori-git", &["domain", "host"]),
    ("dandori-agent", &["domain", "host", "install"]),
    ("dandori-forge", &["domain", "host"]),
    ("dandori-engine", &["domain", "config", "host", "git", "agent", "forge", "store", "journal", "policy"]),
    ("dandori-server", &["domain", "api", "config", "host", "store", "engine"]),
    (
        "dandori",
        &[
            "domain", "api", "guard", "hook", "install", "journal", "policy", "shell", "playbook", "config", "text",
            "host", "git", "agent", "store", "engine", "server",
        ],
    ),
    ("bench", &["domain", "api", "config", "host", "git", "agent", "forge", "store", "engine", "server", "testkit"]),
    ("fuzz", &["corpus", "domain", "guard", "host", "install", "playbook", "shell", "text"]),
    ("dandori-corpus", &["shell"]),
    ("dandori-testkit", &["domain"]),
    ("xtask", &[]),
];

/// What must stay out of the pure rooms, however it might get in.
const PURE: &[&str] = &[
    "dandori-domain",
    "dandori-playbook",
    "dandori-shell",
    "dandori-install",
    "dandori-guard",
    "dandori-text",
    "dandori-config",
    "dandori-policy",
    "dandori-api",
];
const HEAVY: &[&str] = &["tokio", "axum", "reqwest", "rusqlite", "postgres", "rustls", "hyper"];

pub(crate) fn check() -> Result<(), String> {
    let output = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args(["metadata", "--format-version=1", "--locked"])
        .output()
        .map_err(|e| e.to_string())?;
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    let mut wrong = Vec::new();
    let used = used_by_each(&metadata);
    for (room, uses) in &used {
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| name == room) else {
            wrong.push(format!("{room} is not drawn in xtask/src/layers.rs"));
            continue;
        };
        for used in uses.iter().filter(|u| u.starts_with("dandori-")) {
            let short = used.trim_start_matches("dandori-");
            if !allowed.contains(&short) {
                wrong.push(format!("{room} may not use {used}"));
            }
        }
        if PURE.contains(&room.as_str()) {
            let heavy = uses.iter().filter(|u| HEAVY.contains(&u.as_str()));
            wrong.extend(heavy.map(|u| format!("{room} is pure and may not use {u}")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Direct dependencies of each package of the workspace; those only for tests are not arrows.
fn used_by_each(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let members: BTreeSet<&str> =
        metadata["workspace_members"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut used = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        if !package["id"].as_str().is_some_and(|id| members.contains(id)) {
            continue;
        }
        let names = package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|d| d["kind"].as_str() != Some("dev"))
            .filter_map(|d| d["name"].as_str().map(str::to_owned))
            .collect();
        used.insert(package["name"].as_str().unwrap_or_default().to_owned(), names);
    }
    used
}
