//! A repository that cannot be used as it is, its configuration, and the clients' settings.

use std::collections::BTreeSet;

use super::{Stage, only};

pub(super) fn play() -> BTreeSet<String> {
    let mut stage = Stage::new();
    from_nothing(&mut stage);
    remotes(&mut stage);
    configuration(&mut stage);
    clients(&mut stage);
    daemon(&mut stage);
    moved(&mut stage);
    stage.reached
}

/// From an empty folder to a run, by the hints alone.
fn from_nothing(stage: &mut Stage) {
    let folder = stage.env.root().join("new");
    std::fs::create_dir(&folder).unwrap();
    let hint = only(stage.refused_in(&folder, "not_a_repository", &["run", "x"]));
    let _ = stage.typed_in(&folder, &hint).ok();
    let gitconfig = stage.env.home().join(".gitconfig");
    let kept = std::fs::read_to_string(&gitconfig).unwrap();
    let hint = only(stage.refused_in(&folder, "no_commit_yet", &["run", "x"]));
    let _ = stage.typed_in(&folder, &hint).ok();
    std::fs::write(&gitconfig, "").unwrap();
    let hints = stage.refused_in(&folder, "no_identity", &["run", "x"]);
    assert_eq!(hints.len(), 2, "{hints:?}");
    for hint in hints {
        let _ = stage.typed_in(&folder, &hint).ok();
    }
    let _ = stage.env.dandori_in(&folder, ["run", "x"]).ok();
    std::fs::write(&gitconfig, kept).unwrap();
}

fn remotes(stage: &mut Stage) {
    let hint = only(stage.refused("unknown_base", &["run", "x", "--base", "nowhere-at-all"]));
    assert!(stage.typed(&hint).ok().contains("main"));
    // A name that is near is no command, and is taken all the same.
    let said = stage.env.dandori(["run", "x", "--base", "mian"]).fails(1);
    assert!(said.contains("did you mean `main`?"), "{said}");
    let _ = stage.env.dandori(["run", "x", "--base", "main"]).ok();
    stage.env.git(["remote", "rename", "origin", "company"]);
    stage.env.git(["remote", "add", "mirror", stage.env.origin().as_str()]);
    let hint = only(stage.refused("which_remote", &["run", "x"]));
    let _ = stage.typed(&hint).ok();
    let ran = stage.env.dandori(["run", "x"]);
    assert!(ran.code == 0 && ran.stderr.contains("from company/main"), "{ran:?}");
    stage.env.git(["remote", "remove", "mirror"]);
    stage.env.git(["remote", "rename", "company", "origin"]);
}

fn configuration(stage: &mut Stage) {
    // An editor that takes the wrong line out.
    let editor = stage.env.root().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i /agent/d \"$1\"\n").unwrap();
    stage.env.command("chmod", ["+x", editor.as_str()], stage.env.root());
    stage.env.command("git", ["config", "--global", "core.editor", editor.as_str()], stage.env.root());
    stage.env.write("dandori.toml", "agent = [\n");
    let hint = only(stage.refused("bad_config", &["run", "x"]));
    let _ = stage.typed(&hint).ok();
    let _ = stage.env.dandori(["run", "x"]).ok();

    // What needs trust: at a terminal it is asked, and without one the hint says how to agree.
    stage.env.write("dandori.toml", "[worktrees]\nset_up = [\"true\"]\n");
    let hint = only(stage.refused("untrusted", &["run", "x"]));
    assert_eq!(hint, "dandori trust");
    stage.by_a_person(&hint, "y\n");
    let _ = stage.env.dandori(["run", "x"]).ok();
    stage.env.write("dandori.toml", "[worktrees]\nset_up = [\"true\", \"true\"]\n");
    let hint = only(stage.refused("untrusted", &["run", "x"]));
    let unasked = stage.typed(&format!("{hint} </dev/null"));
    let otherwise = only(super::commands(&unasked.fails(1)));
    let _ = stage.typed(&format!("{otherwise} </dev/null")).ok();
    let _ = stage.env.dandori(["run", "x"]).ok();

    let hint = only(stage.refused("refused", &["config", "show", "agnet"]));
    assert!(stage.typed(&hint).ok().contains("agent"));
    let hint = only(stage.refused("refused", &["config", "set", "base", "--unset"]));
    assert!(stage.typed(&hint).ok().contains("base"));
    let hint = only(stage.refused("refused", &["config", "init"]));
    let _ = stage.typed(&hint).ok();
    let hint = only(stage.told(&["config", "show"]));
    assert!(stage.typed(&hint).ok().contains("limits.run"));
    let hint = only(stage.told(&["config", "set", "runs.max_parallel", "3"]));
    let _ = stage.typed(&hint).ok();
    stage.env.write("dandori.toml", "");
    stage.env.write_user_config(&format!("agent = \"{}\"\n", super::AGENT));
}

fn clients(stage: &mut Stage) {
    let outside = stage.env.root().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let settings = stage.env.home().join(".claude/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let hint = only(stage.refused_in(&outside, "nothing_to_guard", &["init", "--agent", "claude"]));
    let _ = stage.typed_in(&outside, &hint).ok();
    assert!(std::fs::read_to_string(&settings).unwrap().contains("dandori"));
    let _ = stage.typed_in(&outside, &format!("{hint} --uninstall")).ok();

    // Nobody on the path, and no settings.
    let few = stage.env.root().join("few");
    std::fs::create_dir(&few).unwrap();
    for program in ["git", "sh"] {
        let found = stage.typed(&format!("command -v {program}")).ok();
        std::os::unix::fs::symlink(found.trim(), few.join(program)).unwrap();
    }
    let path = stage.typed("echo $PATH").ok();
    stage.env.var("PATH", few.as_str());
    std::fs::remove_dir_all(settings.parent().unwrap()).unwrap();
    let hint = only(stage.refused("no_agents", &["init"]));
    stage.env.var("PATH", path.trim());
    let _ = stage.typed(&hint).ok();
    let _ = stage.typed(&format!("{hint} --uninstall")).ok();
}

fn daemon(stage: &mut Stage) {
    let _ = stage.env.dandori(["daemon", "start"]).ok();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let hints = stage.refused("daemon_listens_elsewhere", &["daemon", "start", "--listen", &free]);
    assert_eq!(hints.len(), 2, "{hints:?}");
    for hint in &hints {
        let _ = stage.typed(hint).ok();
    }
    assert!(stage.env.dandori(["daemon", "status"]).ok().contains(&free));
}

fn moved(stage: &mut Stage) {
    let _ = stage.env.dandori(["run", "It breaks", "--agent", "exec:exit 3"]).fails(1);
    let tasks = stage.env.dandori(["task", "list", "--json"]).json();
    let task = tasks["tasks"][0]["task"].as_str().unwrap().to_owned();
    let there = stage.env.root().join("moved");
    std::fs::rename(stage.env.repo(), &there).unwrap();
    let hint = only(stage.refused_in(&there, "repository_gone", &["task", "retry", &task]));
    let _ = stage.typed_in(&there, &hint).ok();
}
