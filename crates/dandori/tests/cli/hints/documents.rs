//! Playbooks, state.md, templates, guards, and words that are near to a command.

use std::collections::BTreeSet;

use super::{Stage, commands, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    playbooks(&mut stage);
    templates(&mut stage);
    guards(&mut stage);
    words(&mut stage);
    stage.reached
}

fn playbooks(stage: &mut Stage) {
    // Without a terminal nobody can be asked whether the profile may change, and the hint says how to agree.
    let hint = only(stage.refused("no_playbook", &["playbook", "show"]));
    let otherwise = only(commands(&stage.typed(&hint).fails(1)));
    let made = stage.typed(&otherwise).ok();
    assert!(made.contains("plan/playbook-plan.md"), "{made}");
    assert!(stage.env.dandori(["playbook", "show"]).ok().contains("plan"));
    // What was just made from the template has no fault.
    let checked = stage.env.dandori(["playbook", "check"]);
    assert_eq!(checked.code, 0, "{checked:?}");

    let hint = only(stage.refused("cannot_edit", &["state", "set", "nothing.like.it", "1"]));
    assert!(stage.typed(&hint).ok().contains("playbook"));
    let hint = only(stage.refused("no_such_version", &["state", "history", "12345"]));
    let _ = stage.typed(&hint).ok();
    // One that is not active tells how it becomes so.
    let hints = stage.told(&["playbook", "new", "second"]);
    let activate = hints.iter().find(|hint| hint.contains("playbook.active")).unwrap();
    let _ = stage.typed(activate).ok();
    assert!(stage.env.dandori(["state", "show"]).ok().contains("playbook-second.md"));
}

fn templates(stage: &mut Stage) {
    stage.env.command("git", ["config", "--global", "core.editor", "true"], stage.env.root());
    let hint = only(stage.refused("refused", &["prompt", "show", "fix"]));
    let _ = stage.typed(&hint).ok();
    assert!(stage.env.repo().join(".dandori/prompts/fix.md").exists());
    let hint = only(stage.refused("refused", &["prompt", "show", "nothing"]));
    assert!(stage.typed(&hint).ok().contains("fix"));
    let hint = only(stage.told(&["prompt", "edit", "fix"]));
    let _ = stage.typed(&hint).ok();
}

fn guards(stage: &mut Stage) {
    let hint = only(stage.refused("refused", &["guard", "allow", "no-such-guard"]));
    assert!(stage.typed(&hint).ok().contains("main-branch"));
    let said = stage.by_a_person("dandori guard allow main-branch", "yes\n");
    let revoke = only(commands(&said));
    let gone = stage.by_a_person(&revoke, "yes\n");
    assert!(gone.contains("revoked"), "{gone}");
    // Once it is gone there is nothing to revoke, and what is in effect is listed.
    let said = crate::guard_verbs::at_a_terminal(&stage.env, &revoke, "yes\n");
    assert!(said.contains("not found") && said.ends_with("exit 1"), "{said}");
    let _ = stage.typed(&only(commands(&said))).ok();
}

/// A word with several meanings is told with whole commands.
fn words(stage: &mut Stage) {
    let _ = stage.env.dandori(["run", "Wait", "--agent", "exec:sleep 600", "--detach"]).ok();
    let hints = stage.refused("usage", &["stop", "T-2"]);
    assert_eq!(hints.len(), 2, "{hints:?}");
    for hint in &hints {
        let _ = stage.typed(hint).ok();
    }
    assert_eq!(stage.run("T-2", 0)["state"], "CANCELED");
    let hints = stage.refused("usage", &["rm", "T-1"]);
    let remove = hints.iter().find(|hint| hint.contains("worktree remove")).unwrap();
    let worktree = stage.run("T-1", 0)["worktree"].as_str().unwrap().to_owned();
    let _ = stage.typed(remove).ok();
    assert!(!std::path::Path::new(&worktree).exists());
    let hints = stage.refused("usage", &["new", "a thing"]);
    let _ = stage.typed(&hints[0]).ok();
    assert_eq!(stage.run("T-3", 0)["instruction"], "a thing");
    for words in [&["task", "shwo", "T-1"][..], &["task", "show"], &["run", "x", "--zzz"], &["task", "list", "more"]] {
        let hints = stage.refused("usage", words);
        for hint in &hints {
            let ran = stage.typed(&hint.replace("dandori task show", "dandori task show T-1"));
            assert_eq!(ran.code, 0, "{hint}: {ran:?}");
        }
        assert!(!hints.is_empty(), "{words:?}");
    }
}
