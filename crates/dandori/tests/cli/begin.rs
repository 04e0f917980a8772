//! Where a run begins and where its work ends up: without a remote, from here, offline, and after a cancel.

use dandori_testkit::env::{TestEnv, wait_until};
use serde_json::Value;

use crate::machine;

const ADDS: &str = "exec:echo a >> a.txt";

/// A repository that has never had a remote.
fn alone() -> TestEnv {
    let env = machine();
    env.git(["remote", "remove", "origin"]);
    env
}

fn shown(env: &TestEnv, task: &str) -> Value {
    env.dandori(["task", "show", task, "--json"]).json()["runs"][0].clone()
}

fn short(env: &TestEnv, name: &str) -> String {
    env.git(["rev-parse", name])[..7].to_owned()
}

/// The states a run passed, and what was said about it on the way.
fn said(env: &TestEnv, words: &[&str]) -> String {
    let ran = env.dandori(words);
    assert_eq!(ran.code, 0, "{ran:?}");
    format!("{}{}", ran.stderr, ran.stdout)
}

#[test]
fn without_a_remote_the_commit_is_on_its_branch_and_that_is_said() {
    let env = alone();
    let ran = env.dandori(["run", "do it", "--agent", ADDS, "--pr"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let run = shown(&env, "T-1");
    let (branch, commit) = (run["branch"].as_str().unwrap(), run["commit"].as_str().unwrap());
    assert_eq!(env.git(["rev-parse", branch]), commit);
    assert_eq!(env.git_in(&env.origin(), ["for-each-ref", "refs/heads/dandori"]), "", "nothing was pushed");
    let end = format!("committed {} on {branch} (no remote: nothing was pushed)", &commit[..7]);
    assert!(ran.stdout.contains(&end), "{}", ran.stdout);
    let states: Vec<&str> = ran.stderr.lines().filter_map(|l| l.split_whitespace().nth(1)).collect();
    assert!(states.contains(&"COMMITTING") && !states.contains(&"PUSHING"), "{}", ran.stderr);
    assert_eq!((&run["state"], &run["pushed"], &run["pr"]["number"]), (&"SUCCEEDED".into(), &false.into(), &1.into()));
    assert_eq!((&run["start"]["base"], &run["start"]["unpushed"]), (&"main".into(), &Value::Null), "{run}");
    let pull = &env.dandori(["pr", "list", "--json"]).json()["prs"][0];
    assert_eq!((&pull["base"], &pull["forge"]), (&"main".into(), &"local".into()), "{pull}");
    let ja = env.dandori(["--lang", "ja", "task", "show", "T-1"]).ok();
    assert!(ja.contains("(リモートがないため未プッシュ)"), "{ja}");
}

#[test]
fn without_a_remote_the_only_copy_of_a_commit_is_never_deleted() {
    let env = alone();
    let run = env.run_json(["do it", "--agent", ADDS]);
    let branch = run["runs"][0]["branch"].as_str().unwrap().to_owned();
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    assert_eq!(
        (&listed["worktrees"][0]["state"], &listed["worktrees"][0]["unpushed"]),
        (&"idle".into(), &0.into()),
        "{listed}"
    );
    let tip = env.git(["rev-parse", &branch]);
    let removed = env.dandori(["worktree", "remove", &branch, "--json"]).json();
    assert_eq!((&removed["branch_deleted"], &removed["preserved"]), (&false.into(), &Value::Null), "{removed}");
    assert_eq!(env.git(["rev-parse", &branch]), tip);
    let gc = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!((&gc["found"], env.git(["rev-parse", &branch])), (&serde_json::json!([]), tip), "{gc}");

    // What is not committed is kept, and a follow-up finds the branch as it was.
    let second = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(second["runs"][0]["state"], "SUCCEEDED", "{second}");
    assert_eq!(env.git(["show", &format!("{branch}:a.txt")]), "a\na");
    env.git(["merge", "--quiet", "--ff-only", &branch]);
    let listed = env.dandori(["worktree", "list", "--json"]).json();
    assert_eq!(listed["worktrees"][0]["state"], "merged", "judged against the branch here: {listed}");
    let gc = env.dandori(["worktree", "gc", "--json"]).json();
    assert_eq!((&gc["removed"], &gc["found"][0]["why"]), (&1.into(), &"merged".into()), "{gc}");
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "", "all of it is on main");
}

#[test]
fn without_a_remote_one_of_several_is_picked_and_the_worktree_goes_when_it_is_told_to() {
    let env = alone();
    env.write_user_config("cleanup = \"push\"\n");
    let one = "exec:echo 1 > one.txt";
    env.run_json(["do it", "--agents", &format!("{one},exec:echo 2 > two.txt")]);
    let compared = env.dandori(["task", "compare", "T-1", "--json"]).json();
    assert_eq!(compared["runs"][0]["files"][0]["path"], "one.txt", "{compared}");
    let picked = env.dandori(["task", "pick", "T-1", one, "--pr", "--json"]).json();
    assert_eq!(picked["runs"][0]["pr"]["number"], 1, "{picked}");
    assert!(picked["runs"][0]["worktree"].is_null() && picked["runs"][0]["branch"].is_string(), "{picked}");
    assert_eq!(env.git(["for-each-ref", "--format=%(refname)", "refs/heads/dandori"]).lines().count(), 2);
}

#[test]
fn a_remote_that_is_added_later_gets_the_whole_branch() {
    let env = alone();
    env.run_json(["one", "--agent", ADDS]);
    env.git(["remote", "add", "origin", env.origin().as_str()]);
    let second = env.dandori(["task", "follow-up", "T-1", "two", "--json"]).json();
    let branch = second["runs"][0]["branch"].as_str().unwrap();
    let log = env.git_in(&env.origin(), ["log", "--format=%s", branch]);
    assert_eq!(log.lines().collect::<Vec<_>>(), ["feat: two", "feat: one", "init"]);
}

#[test]
fn a_remote_by_another_name_is_used_and_of_several_none_is_guessed() {
    let env = machine();
    env.git(["remote", "rename", "origin", "mine"]);
    let said = said(&env, &["run", "do it", "--agent", ADDS]);
    assert!(said.contains(&format!("from mine/main {}", short(&env, "main"))), "{said}");
    assert_eq!(shown(&env, "T-1")["pushed"], true);
    env.git(["remote", "add", "theirs", "/nowhere"]);
    let refused = env.dandori(["run", "do it", "--agent", ADDS]).fails(1);
    assert!(refused.contains("none is named origin: mine, theirs"), "{refused}");
    let hint = refused.split('`').nth(1).unwrap();
    env.command("sh", ["-c", hint], &env.repo());
    assert!(env.dandori(["run", "do it", "--agent", ADDS]).ok().contains("pushed"));
}

#[test]
fn before_the_first_commit_it_is_said_what_to_do() {
    let env = TestEnv::without_repository(env!("CARGO_BIN_EXE_dandori"));
    env.git(["init", "--quiet"]);
    for words in
        [&["run", "do it", "--agent", ADDS][..], &["run", "x", "--here", "--agent", ADDS], &["worktree", "add"]]
    {
        let refused = env.dandori(words).fails(1);
        assert!(refused.contains("has no commits yet"), "{refused}");
        assert!(refused.contains("`git commit --allow-empty -m init`"), "{refused}");
    }
    env.git(["commit", "--allow-empty", "--quiet", "-m", "init"]);
    let _ = env.dandori(["run", "do it", "--agent", ADDS]).ok();
}

#[test]
fn what_is_not_included_is_counted_where_the_user_stands() {
    let env = machine();
    let base = short(&env, "main");
    let clean = said(&env, &["run", "do it", "--agent", ADDS]);
    assert!(clean.lines().any(|line| line == format!("from origin/main {base}")), "{clean}");

    env.git(["commit", "--quiet", "--allow-empty", "-m", "mine"]);
    env.write("README.md", "changed\n");
    env.write("new.txt", "new\n");
    let counted = format!("from origin/main {base} (your 1 unpushed commit and 2 changed files are not included)");
    let ran = env.dandori(["run", "do it", "--agent", ADDS]);
    let before = ran.stderr.find(&counted).unwrap_or_else(|| panic!("{}", ran.stderr));
    assert!(before < ran.stderr.find("RUNNING").unwrap(), "before it starts: {}", ran.stderr);
    let start = &shown(&env, "T-2")["start"];
    assert_eq!((&start["unpushed"], &start["changed"], &start["offline"]), (&1.into(), &2.into(), &Value::Null));
    assert!(env.dandori(["task", "show", "T-2"]).ok().contains(&counted));
    let ja = env.dandori(["--lang", "ja", "run", "do it", "--agent", ADDS]).stderr;
    assert!(ja.contains("未プッシュのコミット 1 件と変更したファイル 2 件は含まれません"), "{ja}");

    env.git(["worktree", "add", "--quiet", "--detach", "../linked", "origin/main"]);
    let linked = env.root().join("linked");
    let ran = env.dandori_in(&linked, ["run", "do it", "--agent", ADDS]);
    assert!(ran.stderr.lines().any(|line| line == format!("from origin/main {base}")), "{}", ran.stderr);
}

#[test]
fn a_follow_up_says_where_it_goes_on() {
    let env = machine();
    env.run_json(["first", "--agent", ADDS]);
    let run = shown(&env, "T-1");
    let (branch, tree) = (run["branch"].as_str().unwrap(), run["worktree"].as_str().unwrap());
    env.write("new.txt", "new\n");
    let expected = format!("from {branch} {} (your 1 changed file is not included)", short(&env, branch));
    let said = said(&env, &["task", "follow-up", "T-1", "more"]);
    assert!(said.contains(&expected), "{expected}\n{said}");
    // Whoever stands in the run's own worktree has everything in it.
    let ran = env.dandori_in(camino::Utf8Path::new(tree), ["task", "follow-up", "T-1", "more"]);
    let last = short(&env, &format!("{branch}~1"));
    assert!(ran.stderr.lines().any(|line| line == format!("from {branch} {last}")), "{}", ran.stderr);
}

#[test]
fn here_is_the_commit_one_stands_on_in_whichever_checkout() {
    let env = machine();
    env.git(["worktree", "add", "--quiet", "-b", "side", "../linked"]);
    let linked = env.root().join("linked");
    env.git_in(&linked, ["commit", "--quiet", "--allow-empty", "-m", "side"]);
    let tip = env.git(["rev-parse", "side"]);
    for words in [&["--here"][..], &["--base", "HEAD"]] {
        let ran = env.dandori_in(&linked, ["run", "x", "--agent", ADDS, "--pr", "--json"].iter().chain(words));
        let run = &ran.json()["runs"][0];
        assert_eq!(env.git(["rev-parse", &format!("{}~1", run["commit"].as_str().unwrap())]), tip, "{ran:?}");
    }
    let run = shown(&env, "T-1");
    assert_eq!((&run["start"]["base"], &run["start"]["commit"]), (&"side".into(), &tip.as_str().into()), "{run}");
    let base_of = |number: usize| env.dandori(["pr", "show", &number.to_string(), "--json"]).json()["base"].clone();
    assert_eq!((base_of(1), &run["base"]), ("main".into(), &"main".into()), "the remote has no side");
    env.git(["push", "--quiet", "origin", "side"]);
    let _ = env.dandori_in(&linked, ["run", "x", "--agent", ADDS, "--pr", "--here"]).ok();
    assert_eq!(base_of(3), "side", "now it has");

    let added = env.dandori_in(&linked, ["worktree", "add", "--here", "--json"]).json();
    assert_eq!(env.git(["rev-parse", added["branch"].as_str().unwrap()]), tip, "{added}");
    assert_eq!((&added["start"]["base"], &added["start"]["commit"]), (&"side".into(), &tip.as_str().into()));
    let both = env.dandori(["run", "x", "--here", "--base", "main"]);
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn offline_it_starts_from_what_was_last_fetched_and_says_how_old_that_is() {
    let env = machine();
    std::fs::rename(env.origin(), env.root().join("away.git")).unwrap();
    let ran = env.dandori(["run", "do it", "--agent", ADDS]);
    let expected = format!("from origin/main {} as last fetched less than a minute ago", short(&env, "main"));
    assert!(ran.stderr.contains(&expected), "{}", ran.stderr);
    assert!(ran.stderr.contains("the remote cannot be reached"), "{}", ran.stderr);
    let start = &shown(&env, "T-1")["start"];
    assert!(start["offline"]["fetched_at"].is_string(), "{start}");
}

#[test]
fn a_run_without_changes_has_no_pull_request_and_the_hint_works() {
    let env = machine();
    env.run_json(["nothing", "--agent", "exec:true", "--pr"]);
    let refused = env.dandori(["pr", "create", "T-1"]).fails(1);
    assert!(refused.contains("no changes, so no pull request"), "{refused}");
    let hint = refused.split("`dandori ").nth(1).unwrap().split('`').next().unwrap();
    let _ = env.dandori(hint.split(' ')).ok();
    let ja = env.dandori(["--lang", "ja", "pr", "create", "T-1"]).fails(1);
    assert!(ja.contains("変更がないため PR を作成できません"), "{ja}");
    // A follow-up without changes stands for the branch it worked on.
    env.run_json(["something", "--agent", "exec:[ -e a.txt ] || echo a > a.txt"]);
    let _ = env.dandori(["task", "follow-up", "T-2", "more"]).ok();
    let pull = env.dandori(["pr", "create", "T-2", "--json"]).json();
    assert_eq!((&pull["number"], &pull["title"]), (&1.into(), &"feat: something".into()), "{pull}");
}

#[test]
fn a_canceled_run_is_followed_up_from_the_work_that_was_kept() {
    let env = machine();
    env.write_user_config("[limits]\ngrace = \"1s\"\n");
    let agent = "exec:if [ -e half.txt ]; then echo whole >> half.txt; [ -e hold ] && sleep 1000 || true; \
                 else echo half > half.txt; echo up; sleep 1000; fi";
    let begun = env.run_json(["begin", "--agent", agent, "--detach"]);
    let key = begun["runs"][0]["id"].as_str().unwrap();
    let key = key[key.len() - 8..].to_owned();
    wait_until("it has edited", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "", "the branch is gone");
    let done = env.dandori(["task", "follow-up", "T-1", "finish it", "--json"]).json();
    let run = &done["runs"][0];
    assert_eq!((&run["state"], &run["branch"]), (&"SUCCEEDED".into(), &format!("dandori/{key}").into()), "{done}");
    let half = || env.git_in(&env.origin(), ["show", &format!("dandori/{key}:half.txt")]);
    assert_eq!(half(), "half\nwhole");
    // Named once more it is not applied again: the branch has moved on. Where its work is, is said, and the hint works.
    let again = env.dandori(["task", "follow-up", &key, "once more"]);
    assert_eq!((again.code, half().as_str()), (0, "half\nwhole\nwhole"), "{again:?}");
    let stays =
        again.stderr.lines().find(|line| line.contains("was not restored")).unwrap_or_else(|| panic!("{again:?}"));
    let hint = stays.split("`dandori ").nth(1).unwrap().split('`').next().unwrap();
    let restored = env.dandori(hint.split(' ').chain(["--json"])).json();
    let path = restored["worktree"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(format!("{path}/half.txt")).unwrap(), "half\n");
}

#[test]
fn a_canceled_follow_up_is_taken_up_where_it_was_stopped() {
    let env = machine();
    env.write_user_config("[limits]\ngrace = \"1s\"\n");
    let agent = "exec:case $(ls | wc -l) in 1) echo one > one.txt;; 2) echo two > two.txt; echo up; sleep 1000;; \
                 *) echo three > three.txt;; esac";
    let first = env.run_json(["one", "--agent", agent]);
    let branch = first["runs"][0]["branch"].as_str().unwrap().to_owned();
    let held = env.dandori(["task", "follow-up", "T-1", "two", "--detach", "--json"]).json();
    let id = held["runs"][0]["id"].as_str().unwrap().to_owned();
    wait_until("it has edited", || env.dandori(["task", "log", &id, "--raw"]).stdout.contains("up"));
    let _ = env.dandori(["task", "cancel", &id]).ok();
    let third = env.dandori(["task", "follow-up", &id, "three", "--json"]).json();
    assert_eq!(
        (&third["runs"][0]["state"], &third["runs"][0]["branch"]),
        (&"SUCCEEDED".into(), &branch.as_str().into())
    );
    let files = env.git_in(&env.origin(), ["ls-tree", "--name-only", &branch]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["README.md", "one.txt", "three.txt", "two.txt"]);
}
