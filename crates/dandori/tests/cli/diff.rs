//! `task diff`: the whole branch against its base, whatever became of its runs.

use dandori_testkit::env::{Ran, TestEnv, wait_until};
use dandori_testkit::tmux::Tmux;
use serde_json::json;

use crate::{machine, worktree_of};

/// An agent that does what it is told to, as a shell would.
const SHELL: &str = "exec:sh";
/// Works until `go` is in its worktree.
const UNTIL_TOLD: &str = "while [ ! -e go ]; do sleep 0.05; done; rm go";

fn names(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let words = ["task", "diff"].iter().chain(args).copied().chain(["--name-only"]);
    env.dandori(words).ok().lines().map(str::to_owned).collect()
}

fn key(env: &TestEnv, task: &str, run: usize) -> String {
    env.dandori(["task", "show", task, "--json"]).json()["runs"][run]["run"].as_str().unwrap().to_owned()
}

fn at_work(env: &TestEnv, task: &str, run: usize, file: &str) {
    wait_until("its file is there", || worktree_of(env, task, run).join(file).exists());
}

#[test]
fn follow_ups_are_shown_together_and_each_alone() {
    let env = machine();
    env.run_json(["echo 1 > one.txt; echo more >> README.md", "--agent", SHELL]);
    let _ = env.dandori(["task", "follow-up", "T-1", "echo 2 > two.txt; echo 1 >> one.txt"]).ok();
    let _ = env.dandori(["task", "follow-up", "T-1", "true"]).ok();
    let (first, second, third) = (key(&env, "T-1", 0), key(&env, "T-1", 1), key(&env, "T-1", 2));
    let all = ["README.md", "one.txt", "two.txt"];
    for named in ["T-1", "1", &first, &second, &third] {
        assert_eq!(names(&env, &[named]), all, "{named}");
    }
    assert_eq!(names(&env, &["T-1", "--run", &first]), ["README.md", "one.txt"]);
    assert_eq!(names(&env, &["T-1", "--run", &second]), ["one.txt", "two.txt"]);
    assert_eq!(names(&env, &["T-1", "--run", &third]), [""; 0]);
    let json = env.dandori(["task", "diff", "T-1", "--json"]).json();
    assert_eq!((&json["task"], &json["runs"]), (&"T-1".into(), &json!([first, second, third])));
    assert_eq!(json["files"][1], json!({ "path": "one.txt", "insertions": 2, "deletions": 0 }));
    assert_eq!(json["commit"], env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][1]["commit"]);
    assert!(json["patch"].as_str().unwrap().contains("+++ b/two.txt"), "{json}");
    let stat = env.dandori(["task", "diff", "T-1", "--stat"]).ok();
    assert!(stat.contains(" two.txt   | 1 +\n") && stat.contains("3 files changed"), "{stat}");
    // Off a terminal it is a patch for `git apply`, byte for byte.
    let patch = env.root().join("patch");
    std::fs::write(&patch, env.dandori(["task", "diff", "T-1"]).ok()).unwrap();
    env.git(["apply", patch.as_str()]);
    assert_eq!(std::fs::read_to_string(env.repo().join("one.txt")).unwrap(), "1\n1\n");
}

#[test]
fn work_in_progress_is_shown_and_not_disturbed() {
    let env = machine();
    env.run_json(["echo 1 > one.txt", "--agent", SHELL]);
    let asked = format!("echo half > wip.txt; {UNTIL_TOLD}; echo whole > wip.txt");
    let _ = env.dandori(["task", "follow-up", "T-1", &asked, "--detach"]).ok();
    at_work(&env, "T-1", 1, "wip.txt");
    let running = env.dandori(["task", "diff", "T-1", "--json"]).json();
    assert_eq!((&running["state"], &running["commit"]), (&"RUNNING".into(), &json!(null)), "{running}");
    assert!(running["patch"].as_str().unwrap().contains("+half"), "{running}");
    assert_eq!(names(&env, &["T-1"]), ["one.txt", "wip.txt"]);
    assert_eq!(names(&env, &["T-1", "--run", &key(&env, "T-1", 1)]), ["wip.txt"]);
    let compared = env.dandori(["task", "compare", "T-1", "--json"]).json();
    assert_eq!(compared["runs"][0]["files"][1]["path"], "wip.txt", "{compared}");
    // Nothing of the look is left: no lock, no index, no folder.
    let listed = env.command("find", [env.repo().join(".git").as_str(), env.state().as_str()], env.root());
    let is_left = |path: &&str| path.ends_with("index.lock") || path.ends_with("/look") || path.contains("quarantine/");
    let left: Vec<&str> = listed.lines().filter(is_left).collect();
    assert_eq!(left, [""; 0]);
    std::fs::write(worktree_of(&env, "T-1", 1).join("go"), "").unwrap();
    wait_until("it ends as it would have", || {
        env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][1]["state"] == "SUCCEEDED"
    });
    assert!(env.dandori(["task", "diff", "T-1"]).ok().contains("+whole"));
}

#[test]
fn work_of_failed_and_canceled_runs_is_shown() {
    let env = machine();
    env.run_json(["echo failed > failed.txt; exit 3", "--agent", SHELL]);
    assert_eq!(names(&env, &["T-1"]), ["failed.txt"], "its worktree is still there");
    let _ = env.dandori(["worktree", "remove", &key(&env, "T-1", 0), "--force"]).ok();
    assert_eq!(names(&env, &["T-1"]), ["failed.txt"], "and kept when that goes");
    env.run_json([&format!("echo canceled > canceled.txt; {UNTIL_TOLD}"), "--agent", SHELL, "--detach"]);
    at_work(&env, "T-2", 0, "canceled.txt");
    let canceled = env.dandori(["task", "cancel", "T-2"]);
    assert!(canceled.stdout.contains("+1 −0  canceled.txt"), "{canceled:?}");
    assert_eq!(names(&env, &["T-2"]), ["canceled.txt"]);
    let compared = env.dandori(["task", "compare", "T-2", "--json"]).json();
    assert_eq!(compared["runs"][0]["insertions"], 1, "{compared}");
    // A follow-up that was called off is no part of the branch; its work is there by its own name.
    env.run_json(["echo 1 > one.txt", "--agent", SHELL]);
    let asked = format!("echo off > off.txt; {UNTIL_TOLD}");
    let _ = env.dandori(["task", "follow-up", "T-3", &asked, "--detach"]).ok();
    at_work(&env, "T-3", 1, "off.txt");
    let _ = env.dandori(["task", "cancel", "T-3"]).ok();
    assert_eq!(names(&env, &["T-3"]), ["one.txt"]);
    assert_eq!(names(&env, &["T-3", "--run", &key(&env, "T-3", 1)]), ["off.txt"]);
    // What is run again from the base takes the place of what failed.
    let _ = env.dandori(["task", "retry", "T-1"]).fails(1);
    assert_eq!(names(&env, &["T-1"]), ["failed.txt"]);
    // A run that waits has none.
    let none = env.dandori(["task", "diff", "T-9"]);
    assert!(none.fails(1).contains("T-9"));
}

#[test]
fn of_several_agents_it_asks_which_at_a_terminal_and_names_the_commands_elsewhere() {
    let env = machine();
    env.run_json(["both", "--agents", "exec:echo a > a.txt,exec:echo b > b.txt"]);
    let (a, b) = (key(&env, "T-1", 0), key(&env, "T-1", 1));
    let Ran { code, stderr, .. } = env.dandori(["task", "diff", "T-1"]);
    assert_eq!(code, 1);
    assert!(stderr.contains(&format!("`dandori task diff {a}` or `dandori task diff {b}`")), "{stderr}");
    assert_eq!(env.dandori(["task", "diff", "T-1", "--json"]).json()["error"]["code"], "which_agent");
    assert_eq!(names(&env, &[&b]), ["b.txt"]);
    for (columns, answer, name) in [(80, "2", "b.txt"), (40, "1", "a.txt")] {
        let terminal = Tmux::start(&env, columns, 40, &[]);
        terminal.begin("dandori task diff T-1 --no-pager --lang en");
        let asked = terminal.wait_for("Which one? [1-2]");
        assert!(asked.contains(&format!("\n  1  {a}  exec:echo a")), "{asked}");
        terminal.answer(answer);
        let shown = terminal.wait_for(&format!("+++ b/{name}"));
        let other = if name == "a.txt" { "+++ b/b.txt" } else { "+++ b/a.txt" };
        assert!(!shown.contains(other), "{shown}");
    }
    let _ = env.dandori(["task", "pick", "T-1", &a]).ok();
    assert_eq!(names(&env, &["T-1"]), ["a.txt"], "once one is picked, it is meant");
}

#[test]
fn at_a_terminal_it_is_git_s_pager_and_git_s_colours() {
    let env = machine();
    env.run_json(["printf 'one\\ntwo\\n' > one.txt", "--agent", SHELL]);
    env.command("git", ["config", "--global", "core.pager", "sed s/^/paged:/"], env.root());
    env.command("git", ["config", "--global", "color.diff.new", "magenta"], env.root());
    // A repository's own pager is not asked: an agent may have written it.
    env.git(["config", "core.pager", "sed s/^/evil:/"]);
    let terminal = Tmux::start(&env, 80, 40, &[]);
    terminal.begin("dandori task diff T-1; echo done");
    terminal.wait_for("done\n");
    let shown = terminal.coloured();
    assert!(shown.contains("paged:") && shown.contains("\u{1b}[35m+two"), "{shown}");
    assert!(!shown.contains("evil"), "{shown}");
    terminal.begin("dandori task diff T-1 --no-pager; echo done");
    terminal.wait_for("+two\ndone\n");
    terminal.begin("GIT_PAGER='sed s/two/TWO/' dandori task diff T-1; echo done");
    terminal.wait_for("+TWO\ndone\n");
    terminal.begin("NO_COLOR=1 dandori task diff T-1 --no-pager; echo done");
    terminal.wait_for("+two\ndone\n");
    assert!(!terminal.coloured().contains("\u{1b}[35m"), "{}", terminal.coloured());
    assert!(!env.dandori(["task", "diff", "T-1"]).ok().contains("paged:"), "no pager off a terminal");
}
