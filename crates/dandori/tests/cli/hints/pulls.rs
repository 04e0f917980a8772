//! Pull requests: what stands against what was asked, and what helps.

use std::collections::BTreeSet;

use super::{Stage, commands, first, only};
use crate::guard_verbs::at_a_terminal;

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    stage.env.write_user_config(&format!("agent = \"{}\"\nforge = \"local\"\n", super::AGENT));
    not_found(&mut stage);
    open(&mut stage);
    closed(&mut stage);
    away(&mut stage);
    merge(&mut stage);
    no_branch(&mut stage);
    stage.reached
}

fn not_found(stage: &mut Stage) {
    stage.env.run_json(["Say hello"]);
    let hint = only(stage.refused("no_such_pull", &["pr", "show", "99"]));
    let _ = stage.typed(&hint).ok();
    let hint = only(stage.refused("no_pull_of", &["pr", "show", "T-1"]));
    let _ = stage.typed(&hint).ok();
}

/// What is already open can be changed, as the hint says.
fn open(stage: &mut Stage) {
    let _ = stage.env.dandori(["pr", "create", "T-1"]).ok();
    let again = stage.env.dandori(["pr", "create", "T-1"]);
    let told = format!("{}{}", again.stdout, again.stderr);
    assert!(told.contains("change it with --title or --body"), "{told}");
    let show = first(commands(&told));
    let _ = stage.env.dandori(["pr", "create", "T-1", "--title", "Another title"]).ok();
    assert!(stage.typed(&show).ok().contains("Another title"));
    let merge = stage.told(&["pr", "show", "1"]);
    assert!(merge.contains(&"dandori pr merge 1".to_owned()), "{merge:?}");
    let hint = only(stage.refused("pull_is", &["pr", "reopen", "1"]));
    assert!(stage.typed(&hint).ok().contains("open"));
}

fn closed(stage: &mut Stage) {
    let reopen = only(stage.told(&["pr", "close", "1"]));
    let _ = stage.typed(&reopen).ok();
    let _ = stage.env.dandori(["pr", "close", "1"]).ok();
    let hint = only(stage.refused("pull_is", &["pr", "close", "1"]));
    assert_eq!(hint, "dandori pr reopen 1");
    let refused = at_a_terminal(&stage.env, "dandori pr merge 1 --yes", "");
    assert!(refused.ends_with("exit 1"), "{refused}");
    let _ = stage.typed(&only(commands(&refused))).ok();
    // Closed, and its branch has another one: the first cannot be opened beside it.
    let _ = stage.env.dandori(["pr", "close", "1"]).ok();
    let _ = stage.env.dandori(["task", "follow-up", "T-1", "more", "--pr"]).ok();
    let listed = stage.env.dandori(["pr", "list", "--json"]).json();
    if listed["prs"][0]["number"] == 2 {
        let hint = only(stage.refused("pull_taken", &["pr", "reopen", "1"]));
        assert!(stage.typed(&hint).ok().contains("#2"), "{hint}");
    }
}

/// A remote that does not answer: the hint's command says whether it does again.
fn away(stage: &mut Stage) {
    let listed = stage.env.dandori(["pr", "list", "--json"]).json();
    let number = listed["prs"][0]["number"].as_u64().unwrap().to_string();
    let elsewhere = stage.env.root().join("away.git");
    std::fs::rename(stage.env.origin(), &elsewhere).unwrap();
    let hint = only(stage.refused("remote_unreachable", &["pr", "update", &number]));
    assert_ne!(stage.typed(&hint).code, 0);
    std::fs::rename(&elsewhere, stage.env.origin()).unwrap();
    let _ = stage.typed(&hint).ok();
    let _ = stage.refused("up_to_date", &["pr", "update", &number]);
}

/// Work that began on no branch has one to go to as soon as it is made.
fn no_branch(stage: &mut Stage) {
    stage.env.git(["remote", "remove", "origin"]);
    stage.env.git(["checkout", "--quiet", "--orphan", "other"]);
    stage.env.git(["commit", "--quiet", "--allow-empty", "-m", "another beginning"]);
    stage.env.git(["checkout", "--quiet", "--detach"]);
    stage.env.git(["branch", "--quiet", "-D", "other"]);
    let ran = stage.env.run_json(["Say hello", "--here", "--no-pr"]);
    let task = ran["task"].as_str().unwrap();
    let hint = only(stage.refused("no_branch_to_pull_to", &["pr", "create", task]));
    let _ = stage.typed(&hint.replace("<name>", "topic")).ok();
    let _ = stage.env.dandori(["pr", "create", task]).ok();
}

fn merge(stage: &mut Stage) {
    let listed = stage.env.dandori(["pr", "list", "--json"]).json();
    let number = listed["prs"][0]["number"].as_u64().unwrap().to_string();
    let merge = format!("dandori pr merge {number} --yes");
    // Edits in the checkout of the base are in the way.
    stage.env.write("hello.txt", "in the way\n");
    let refused = at_a_terminal(&stage.env, &merge, "");
    assert!(refused.contains("uncommitted changes") && refused.ends_with("exit 1"), "{refused}");
    stage.reached.insert("cannot_merge".to_owned());
    stage.env.git(["add", "hello.txt"]);
    let _ = stage.typed(&only(commands(&refused))).ok();
    let hint = only(stage.refused("up_to_date", &["pr", "update", &number]));
    assert!(stage.typed(&hint).ok().contains("can be merged"));
    // Behind its base, a fast-forward is not possible until the base has come in, as the hint says.
    stage.env.write("other.txt", "other\n");
    stage.env.git(["add", "other.txt"]);
    stage.env.git(["commit", "-qm", "other"]);
    stage.env.git(["push", "-q", "origin", "main"]);
    let refused = at_a_terminal(&stage.env, &format!("{merge} --ff-only"), "");
    assert!(refused.contains("fast-forward") && refused.ends_with("exit 1"), "{refused}");
    let _ = stage.typed(&only(commands(&refused))).ok();
    let merged = stage.by_a_person(&format!("{merge} --ff-only"), "");
    assert!(merged.contains("merged pull request"), "{merged}");
    let hint = only(stage.refused("pull_is", &["pr", "close", &number]));
    assert!(stage.typed(&hint).ok().contains("merged"));
}
