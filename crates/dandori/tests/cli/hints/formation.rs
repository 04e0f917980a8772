//! Orders, plans and what was refused of them.

use std::collections::BTreeSet;

use super::{Stage, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    stage.env.write("dandori.toml", "[formation.rules]\npending_commands = 1\n");
    let give = ["queue", "write", "planner", "--type", "command", "--content", "Build it"];
    stage.env.dandori(give).ok();
    let hint = only(stage.refused("formation_refused", &give));
    assert!(stage.typed(&hint).ok().contains("#1"), "{hint}");
    let hint = only(stage.refused("no_such_order", &["order", "show", "99"]));
    assert!(stage.typed(&hint).ok().contains("Build it"), "{hint}");
    let hint = only(stage.refused("no_such_kept", &["quarantine", "show", "99"]));
    let _ = stage.typed(&hint).ok();
    stage.reached
}
