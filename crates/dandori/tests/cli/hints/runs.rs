//! Tasks and runs: what is not found, what cannot be done to a run as it is, and what is preserved.

use std::collections::BTreeSet;

use dandori_testkit::env::wait_until;

use super::{Stage, commands, first, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    not_found(&mut stage);
    instructions(&mut stage);
    ended(&mut stage);
    at_work(&mut stage);
    several(&mut stage);
    left(&mut stage);
    stage.reached
}

fn not_found(stage: &mut Stage) {
    let hint = only(stage.told(&["task", "list"]));
    let _ = stage.typed(&hint).ok();
    assert_eq!(stage.run("T-1", 0)["state"], "SUCCEEDED");
    for (code, words) in
        [("no_such_task", &["task", "show", "T-99"][..]), ("no_such_run", &["task", "pick", "T-1", "zzzz"])]
    {
        let hint = only(stage.refused(code, words));
        assert!(stage.typed(&hint).ok().contains("T-1"), "{hint}");
    }
    let hints = stage.refused("no_such_need", &["inbox", "show", "zzzz"]);
    assert_eq!(hints.len(), 2);
    for hint in &hints {
        let _ = stage.typed(hint).ok();
    }
}

fn instructions(stage: &mut Stage) {
    let hint = only(stage.refused("empty_instruction", &["run", ""]));
    let _ = stage.typed(&hint).ok();
    let hint = only(stage.refused("usage", &["run"]));
    let _ = stage.typed(&hint).ok();
    let before = stage.env.dandori(["task", "show", "T-1", "--json"]).json()["runs"].as_array().unwrap().len();
    let hint = only(stage.refused("usage", &["task", "follow-up", "#1"]));
    let _ = stage.typed(&hint).ok();
    let after = stage.env.dandori(["task", "show", "T-1", "--json"]).json()["runs"].as_array().unwrap().len();
    assert_eq!(after, before + 1, "the hint goes on with the same task");
}

fn ended(stage: &mut Stage) {
    let hint = only(stage.refused("cannot_retry", &["task", "retry", "T-1"]));
    let _ = stage.typed(&hint).ok();
    let hint = only(stage.refused("cannot_cancel", &["task", "cancel", "T-1"]));
    assert!(stage.typed(&hint).ok().contains("SUCCEEDED"));

    // No changes: no pull request, and the log is there to be read.
    let same = stage.env.run_json(["Nothing", "--agent", "exec:echo looked around"]);
    let hint = only(stage.refused("nothing_changed", &["pr", "create", same["task"].as_str().unwrap()]));
    assert!(stage.typed(&hint).ok().contains("looked around"), "{hint}");
    let hint = only(
        stage.refused("nothing_to_pick", &["task", "pick", same["task"].as_str().unwrap(), "exec:echo looked around"]),
    );
    assert!(stage.typed(&hint).ok().contains("SUCCEEDED"));

    // Failed: why, and again; this time it works.
    let failed =
        stage.env.run_json(["Flaky", "--agent", "exec:echo why it failed; test -e fixed.txt && echo x > x.txt"]);
    let task = failed["task"].as_str().unwrap().to_owned();
    let hints = stage.refused("nothing_to_pull", &["pr", "create", &task]);
    let [show, retry] = hints.as_slice() else { panic!("{hints:?}") };
    let shown = stage.typed(show).ok();
    assert!(shown.contains("exited with code 1"), "{shown}");
    let log = commands(&shown).into_iter().find(|hint| hint.contains(" log ")).unwrap();
    assert!(stage.typed(&log).ok().contains("why it failed"));
    stage.fix();
    let _ = stage.typed(retry).ok();

    // A failure that names its own remedy: nothing to push to, until there is.
    let origin = stage.env.origin();
    let away = stage.env.root().join("away.git");
    std::fs::rename(&origin, &away).unwrap();
    let pushed = stage.env.run_json(["Push it"]);
    std::fs::rename(&away, &origin).unwrap();
    let message = pushed["runs"][0]["error"]["message"].as_str().unwrap_or_else(|| panic!("{pushed:#}")).to_owned();
    let _ = stage.typed(&only(commands(&message))).ok();
    let task = pushed["task"].as_str().unwrap();
    assert_eq!(stage.run(task, 0)["state"], "SUCCEEDED");
}

fn at_work(stage: &mut Stage) {
    let agent = "exec:echo kept > kept.txt; sleep 600";
    let started = stage.env.dandori(["run", "Wait", "--agent", agent, "--detach"]);
    assert_eq!(started.code, 0, "{started:?}");
    let log = first(commands(&format!("{}{}", started.stdout, started.stderr)));
    let task = log.rsplit(' ').next().unwrap().to_owned();
    let worktree = crate::worktree_of(&stage.env, &task, 0);
    wait_until("it works", || worktree.join("kept.txt").exists());
    let hint = only(stage.refused("nothing_to_pull", &["pr", "create", &task]));
    assert!(stage.typed(&hint).ok().contains("RUNNING"));
    let hint = only(stage.refused("refused", &["uninstall", "--yes"]));
    assert!(hint.starts_with("dandori task cancel "), "{hint}");
    let hint = only(stage.refused("task_is_busy", &["task", "follow-up", &task, "more"]));
    let canceled = stage.typed(&hint);
    assert_eq!(canceled.code, 0, "{canceled:?}");
    assert_eq!(stage.run(&task, 0)["state"], "CANCELED");

    // Canceled: what it had done is shown and restored, and the task goes on with it.
    let next = commands(&format!("{}{}", canceled.stdout, canceled.stderr));
    let restore = next.iter().find(|hint| hint.contains("worktree restore")).unwrap();
    let diff = next.iter().find(|hint| hint.contains("task diff")).unwrap();
    assert!(stage.typed(diff).ok().contains("+kept"));
    let hints = stage.refused("nothing_to_pull", &["pr", "create", &task]);
    let follow_up = hints.iter().find(|hint| hint.contains("follow-up")).unwrap();
    // Another agent's patience: the one of the run would sleep again.
    let ran = stage.typed(&format!("{follow_up} --detach"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let back = crate::worktree_of(&stage.env, &task, 1);
    wait_until("the preserved work is back", || back.join("kept.txt").exists());
    let _ = stage.env.dandori(["task", "cancel", &task]).ok();
    let restored = stage.typed(restore).ok();
    let path = restored.lines().find(|line| line.trim().starts_with('/')).unwrap_or_else(|| panic!("{restored}"));
    assert!(camino::Utf8Path::new(path.trim()).join("kept.txt").exists(), "{restored}");
}

fn several(stage: &mut Stage) {
    let both = stage.env.run_json(["Both", "--agents", "exec:echo 1 > a.txt,exec:echo 2 > a.txt"]);
    let task = both["task"].as_str().unwrap().to_owned();
    let hints = stage.refused("which_agent", &["task", "diff", &task]);
    assert_eq!(hints.len(), 2);
    for (hint, line) in hints.iter().zip(["+1", "+2"]) {
        assert!(stage.typed(hint).ok().contains(line), "{hint}");
    }
    let hint = only(stage.refused("refused", &["task", "open", &task]));
    let opened = stage.typed(&format!("{hint} --json")).json();
    assert_eq!(opened["task"], task, "{opened}");
    let hints = stage.refused("pick_first", &["pr", "create", &task]);
    assert_eq!(hints.len(), 2);
    let picked = stage.typed(&hints[1]).ok();
    assert!(picked.contains("pull request #1"), "{picked}");
    let runs = stage.env.dandori(["task", "show", &task, "--json"]).json();
    assert_eq!(runs["picked"], runs["runs"][1]["run"], "{runs:#}");
    // With a pick the task's own name is enough.
    let opened = stage.env.dandori(["task", "open", &task, "--json"]).json();
    assert_eq!(opened["run"], runs["picked"], "{opened}");
}

/// A task whose worktree is gone: its branch, its preserved work, or nothing is left of it.
fn left(stage: &mut Stage) {
    let done = stage.env.run_json(["Done"]);
    let (task, key) = (done["task"].as_str().unwrap(), done["runs"][0]["run"].as_str().unwrap());
    let _ = stage.env.dandori(["worktree", "remove", key]).ok();
    let hint = only(stage.refused("refused", &["task", "open", task]));
    let _ = stage.typed(&hint).ok();
    let branch = done["runs"][0]["branch"].as_str().unwrap();
    let path = stage.env.dandori(["worktree", "path", branch]).ok();
    assert!(camino::Utf8Path::new(path.trim()).join("hello.txt").exists(), "{path}");
}
