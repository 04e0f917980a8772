//! A task becomes a commit on a pushed branch, or says why not.

use dandori_testkit::env::wait_until;
use serde_json::Value;

use crate::machine;
use crate::remote::{overtake, refuse_pushes};

fn only_run(answer: &Value) -> &Value {
    assert_eq!(answer["runs"].as_array().unwrap().len(), 1, "{answer}");
    &answer["runs"][0]
}

fn branch(run: &Value) -> String {
    run["branch"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_ends_as_a_commit_on_a_pushed_branch_with_a_pull_request() {
    let env = machine();
    let answer =
        env.run_json(["Add a greeting\n\nIn English.", "--agent", "exec:echo hello > hello.txt; echo done", "--pr"]);
    assert_eq!(answer["task"], "T-1");
    let run = only_run(&answer);
    assert_eq!(run["state"], "SUCCEEDED", "{run}");
    let branch = branch(run);
    let key = branch.strip_prefix("dandori/").unwrap();
    assert_eq!(key.len(), 8);
    assert!(run["id"].as_str().unwrap().ends_with(key));

    let at_origin = env.git_in(&env.origin(), ["rev-parse", &branch]);
    assert_eq!(at_origin, run["commit"].as_str().unwrap());
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:hello.txt")]), "hello");
    assert_eq!(env.git_in(&env.origin(), ["rev-list", "--count", &format!("main..{branch}")]), "1");
    let message = env.git_in(&env.origin(), ["log", "-1", "--format=%B", &branch]);
    assert!(message.starts_with("feat: add a greeting\n"), "{message}");
    assert!(message.contains(&format!("Dandori-Run: {}", run["id"].as_str().unwrap())), "{message}");
    let author = env.git_in(&env.origin(), ["log", "-1", "--format=%an <%ae>", &branch]);
    assert_eq!(author, "Test User <test@example.com>");

    assert_eq!(run["pr"]["number"], 1);
    let pulls = env.dandori(["pr", "list", "--json"]).json()["prs"].clone();
    assert_eq!((&pulls[0]["branch"], &pulls[0]["base"]), (&run["branch"], &Value::from("main")));
    let shown = env.dandori(["pr", "show", "1"]).ok();
    assert!(shown.contains("Summary") && shown.contains("Test plan"), "{shown}");

    let patch = env.dandori(["task", "diff", "T-1"]).ok();
    assert!(patch.contains("+hello"), "{patch}");
    assert!(env.dandori(["task", "log", "T-1"]).ok().contains("done"));
    assert_eq!(env.dandori(["task", "log", "T-1", "--raw"]).ok(), "done\n");
    assert_eq!(env.git(["status", "--porcelain"]), "", "the main checkout is untouched");
}

#[test]
fn no_changes_is_success_without_commit_push_worktree_or_branch() {
    let env = machine();
    let answer = env.run_json(["look around", "--agent", "exec:true", "--pr"]);
    let run = only_run(&answer);
    assert_eq!(
        (&run["state"], &run["commit"], &run["branch"], &run["pr"]),
        (&"SUCCEEDED".into(), &Value::Null, &Value::Null, &Value::Null)
    );
    assert!(env.dandori(["task", "show", "1"]).ok().contains("no changes"));
    assert_eq!(env.git(["for-each-ref", "refs/heads/dandori"]), "");
    assert_eq!(env.git_in(&env.origin(), ["for-each-ref", "refs/heads/dandori"]), "");
    assert_eq!(env.git(["worktree", "list", "--porcelain"]).matches("run_").count(), 0);
}

#[test]
fn an_agent_that_fails_says_why_and_its_work_is_kept() {
    let env = machine();
    let ran = env.dandori(["run", "try", "--agent", "exec:echo half > half.txt; echo it broke >&2; exit 7", "--json"]);
    assert_eq!(ran.code, 1);
    let answer = ran.json();
    let run = only_run(&answer);
    assert_eq!(run["state"], "FAILED");
    assert_eq!(run["error"]["message"], "the agent exited with code 7: it broke");
    let task = env.dandori(["task", "show", "T-1", "--json"]).json();
    let worktree = task["runs"][0]["worktree"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(format!("{worktree}/half.txt")).unwrap(), "half\n");
    let japanese = env.dandori(["task", "show", "T-1", "--lang", "ja"]).ok();
    assert!(japanese.contains("終了コード 7") && japanese.contains("`dandori task retry "), "{japanese}");
}

#[test]
fn our_own_limits_end_an_agent_that_hangs() {
    let env = machine();
    env.write_user_config("[limits]\nstart = \"1s\"\nsilence = \"2s\"\nrun = \"4s\"\ngrace = \"1s\"\n");
    let silent = env.run_json(["hang", "--agent", "exec:sleep 600"]);
    assert!(only_run(&silent)["error"]["message"].as_str().unwrap().contains("limits.start"), "{silent}");
    let quiet = env.run_json(["hang", "--agent", "exec:echo begun; sleep 600"]);
    assert!(only_run(&quiet)["error"]["message"].as_str().unwrap().contains("limits.silence"), "{quiet}");
    let long = env.run_json(["hang", "--agent", "exec:while true; do echo tick; sleep 0.2; done"]);
    assert!(only_run(&long)["error"]["message"].as_str().unwrap().contains("limits.run"), "{long}");
    wait_until("no agent is left", || !env.processes().iter().any(|(_, line)| line.contains("sleep")));
}

#[test]
fn a_branch_that_was_overtaken_is_rebased_and_pushed() {
    let env = machine();
    let agent = "exec:echo at work; while [ -e hold ]; do sleep 0.05; done; echo one >> ours.txt";
    let first = env.run_json(["first", "--agent", agent]);
    let branch = branch(only_run(&first));
    let shown = env.dandori(["task", "show", "1", "--json"]).json();
    let hold = format!("{}/hold", shown["runs"][0]["worktree"].as_str().unwrap());
    std::fs::write(&hold, "").unwrap();
    let follow = env.dandori(["task", "follow-up", "T-1", "second", "--detach", "--json"]).json();
    let second = only_run(&follow)["id"].as_str().unwrap().to_owned();
    wait_until("the agent is at work", || env.dandori(["task", "log", &second, "--raw"]).stdout.contains("at work"));
    overtake(&env, &branch, "theirs.txt", "theirs");
    std::fs::remove_file(&hold).unwrap();
    wait_until("it ends", || {
        let task = env.dandori(["task", "show", &second, "--json"]).json();
        task["runs"][1]["settled"] == true
    });
    let task = env.dandori(["task", "show", "1", "--json"]).json();
    assert_eq!(task["runs"][1]["state"], "SUCCEEDED", "{task}");
    let log = env.git_in(&env.origin(), ["log", "--format=%s", &branch]);
    assert_eq!(
        log.lines().collect::<Vec<_>>(),
        ["feat: second", "theirs", "feat: first", "init"],
        "ours on top of theirs"
    );
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:ours.txt")]), "one\none");
    assert_eq!(env.git(["rev-parse", &branch]), env.git_in(&env.origin(), ["rev-parse", &branch]));
}

#[test]
fn a_real_conflict_names_its_files_keeps_everything_and_can_be_resumed() {
    let env = machine();
    let first =
        env.run_json(["first", "--agent", "exec:echo ours-$(cat shared.txt 2>/dev/null | wc -l) >> shared.txt"]);
    let branch = branch(only_run(&first));
    refuse_pushes(&env, true);
    let refused = env.dandori(["task", "follow-up", "T-1", "second", "--json"]).json();
    let run = only_run(&refused).clone();
    assert_eq!(run["state"], "FAILED");
    assert!(run["error"]["message"].as_str().unwrap().contains("not now"), "{run}");

    refuse_pushes(&env, false);
    overtake(&env, &branch, "shared.txt", "theirs");
    let conflict = env.dandori(["task", "retry", "T-1", "--json"]).json();
    let run = only_run(&conflict).clone();
    assert_eq!(run["state"], "FAILED");
    assert!(run["error"]["message"].as_str().unwrap().contains("shared.txt"), "{run}");
    let local = env.git(["rev-parse", &branch]);
    assert_eq!(local, run["commit"].as_str().unwrap(), "our commit is still on our branch");

    // The colleague takes it back: the same run's push is resumed, the agent does not work again.
    env.git_in(&env.origin(), ["update-ref", &format!("refs/heads/{branch}"), &format!("{branch}~1")]);
    let resumed = env.dandori(["task", "retry", "T-1", "--json"]).json();
    let resumed = only_run(&resumed);
    assert_eq!((&resumed["state"], &resumed["id"]), (&"SUCCEEDED".into(), &run["id"]));
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", &branch]), local);
}

#[test]
fn forbidden_paths_are_found_before_anything_is_committed_and_templates_are_not() {
    let env = machine();
    let answer = env.run_json(["x", "--agent", "exec:echo KEY=1 > .env; echo ok > fine.txt"]);
    let run = only_run(&answer);
    assert_eq!(run["state"], "FAILED");
    assert!(run["error"]["message"].as_str().unwrap().contains(".env is protected"), "{run}");
    assert_eq!(env.git_in(&env.origin(), ["for-each-ref", "refs/heads/dandori"]), "");
    let template = env.run_json(["x", "--agent", "exec:echo KEY= > .env.example"]);
    assert_eq!(only_run(&template)["state"], "SUCCEEDED");
}

#[test]
fn a_lock_file_whose_tool_is_missing_is_noted() {
    let mut env = machine();
    env.write("Pipfile.lock", "{}\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "lock"]);
    env.git(["push", "--quiet", "origin", "main"]);
    // A PATH with nothing but what a run cannot do without.
    let bin = env.root().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    for program in ["git", "sh", "true", "cat"] {
        let path = env.command("sh", ["-c", &format!("command -v {program}")], env.root());
        let path = if path.starts_with('/') { path } else { format!("/bin/{program}") };
        std::os::unix::fs::symlink(path, bin.join(program)).unwrap();
    }
    env.var("PATH", bin.as_str());
    let ran = env.dandori(["run", "x", "--agent", "exec:true"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("found Pipfile.lock, but pipenv is not on the PATH"), "{}", ran.stderr);
    let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
    let note = &shown["runs"][0]["notes"][0];
    assert_eq!((&note["file"], &note["program"]), (&"Pipfile.lock".into(), &"pipenv".into()), "{shown}");
    let shown = env.dandori(["task", "show", "T-1", "--lang", "ja"]).ok();
    assert!(shown.contains("pipenv が PATH にない"), "{shown}");
    let again = env.dandori(["task", "follow-up", "T-1", "more", "--json"]).json();
    assert_eq!(again["runs"][0]["state"], "SUCCEEDED", "{again}");
    let made = env.dandori(["worktree", "add", "topic", "--json"]).json();
    assert_eq!(made["warnings"][0]["program"], "pipenv", "{made}");
}

#[test]
fn several_agents_work_side_by_side_and_one_is_picked() {
    let env = machine();
    let answer = env.run_json([
        "write it",
        "--agents",
        "exec:echo a > same.txt && echo x > a.txt,exec:echo a > same.txt && echo y > b.txt",
    ]);
    assert_eq!(answer["runs"].as_array().unwrap().len(), 2, "{answer}");
    assert!(answer["runs"].as_array().unwrap().iter().all(|r| r["state"] == "SUCCEEDED"), "{answer}");
    let compared = env.dandori(["task", "compare", "T-1", "--json"]).json();
    assert_eq!(compared["runs"][0]["files"].as_array().unwrap().len(), 2);
    assert_eq!(compared["overlap"].as_array().unwrap().len(), 1, "{compared}");
    assert_eq!((&compared["overlap"][0]["path"], &compared["overlap"][0]["same"]), (&"same.txt".into(), &true.into()));
    let second = branch(&answer["runs"][1]);
    let key = second.strip_prefix("dandori/").unwrap();
    let _ = env.dandori(["task", "pick", "T-1", key, "--pr"]).ok();
    let pulls = env.dandori(["pr", "list", "--json"]).json()["prs"].clone();
    assert_eq!(pulls.as_array().unwrap().len(), 1);
    assert_eq!(pulls[0]["branch"], second);
}

#[test]
fn the_agent_sees_an_allow_list_and_its_instruction_on_stdin_and_in_the_environment() {
    let mut env = machine();
    env.var("SECRET_TOKEN", "hidden").var("GH_TOKEN", "hidden");
    let agent = "exec:cat > stdin.txt; printf %s \"$DANDORI_INSTRUCTION\" > env.txt; env > names.txt";
    let answer = env.run_json(["do this\nand that", "--agent", agent]);
    let branch = branch(only_run(&answer));
    let show = |file: &str| env.git_in(&env.origin(), ["show", &format!("{branch}:{file}")]);
    assert_eq!(show("env.txt"), "do this\nand that");
    assert!(show("stdin.txt").contains("do this\nand that"));
    assert!(!show("names.txt").contains("hidden"), "{}", show("names.txt"));
    assert!(show("names.txt").contains("DANDORI_RUN=run_"));
}

#[test]
fn a_run_sees_the_environment_it_was_asked_from_not_the_one_the_daemon_was_started_in() {
    let mut env = machine();
    env.write_user_config("[sandbox]\npass_env = [\"WHOSE\"]\n");
    env.var("WHOSE", "the-daemon-s");
    let _ = env.dandori(["daemon", "start"]).ok();
    env.var("WHOSE", "mine").var("DANDORI_CRASH_AT", "never");
    let answer = env.run_json(["x", "--agent", "exec:echo $WHOSE > whose.txt; env | grep CRASH >> whose.txt; true"]);
    let branch = branch(only_run(&answer));
    assert_eq!(env.git_in(&env.origin(), ["show", &format!("{branch}:whose.txt")]), "mine");
    assert!(!env.dandori(["task", "show", "1", "--json"]).stdout.contains("mine"), "it is not stored");
}

#[test]
fn the_sandbox_keeps_the_agent_in_its_worktree() {
    let env = machine();
    let token = env.state().join("private/token");
    let agent = format!(
        "exec:for f in {repo}/x {repo}/.git/hooks/post-commit {home}/x {home}/.gitconfig; do echo bad > $f && echo WROTE $f; done; \
         cat {token} && echo READ; git commit --allow-empty -m x && echo COMMITTED; git status >/dev/null && echo status works; \
         echo ok > inside.txt; true",
        repo = env.repo(),
        home = env.home(),
    );
    let answer = env.run_json(["escape", "--agent", &agent]);
    assert_eq!(only_run(&answer)["state"], "SUCCEEDED", "{answer}");
    let log = env.dandori(["task", "log", "1", "--raw"]).ok();
    let told: Vec<&str> = log.lines().filter(|l| !l.contains("ermission denied") && !l.contains("nable to")).collect();
    assert!(told.contains(&"status works"), "{log}");
    for bad in ["WROTE", "READ", "COMMITTED"] {
        assert!(!told.iter().any(|l| l.starts_with(bad)), "{log}");
    }
    assert!(
        env.dandori(["task", "show", "1", "--json"]).json()["runs"][0]["sandbox"]
            .as_str()
            .unwrap()
            .contains("landlock")
    );
}

#[test]
fn without_a_sandbox_what_the_agent_did_to_git_is_found() {
    let env = machine();
    env.write_user_config("[sandbox]\nmode = \"off\"\n");
    for (agent, finding) in [
        ("exec:echo x > a.txt; git add a.txt; git commit -qm mine", "committed to the branch itself"),
        ("exec:git checkout -q --detach", "HEAD was moved"),
        ("exec:echo gitdir: /tmp/elsewhere > .git; echo x > a.txt", "git file"),
        ("exec:git config core.fsmonitor /tmp/evil; echo x > a.txt", "core.fsmonitor"),
        (
            "exec:mkdir sub; cd sub; git init -q; git -c user.name=a -c user.email=a@a commit -q --allow-empty -m x",
            "repository inside",
        ),
    ] {
        let answer = env.run_json(["tamper", "--agent", agent]);
        let run = only_run(&answer);
        assert_eq!(run["state"], "FAILED", "{agent}: {run}");
        assert!(run["error"]["message"].as_str().unwrap().contains(finding), "{agent}: {run}");
        let _ = std::process::Command::new("git")
            .args(["-C", env.repo().as_str(), "config", "--unset", "core.fsmonitor"])
            .status();
    }
    assert_eq!(env.git_in(&env.origin(), ["for-each-ref", "refs/heads/dandori"]), "");
}

#[test]
fn a_dirty_or_detached_checkout_is_no_error_and_the_run_starts_from_the_base() {
    let env = machine();
    env.write("README.md", "dirty\n");
    env.git(["checkout", "--quiet", "--detach"]);
    let ran = env.dandori(["run", "x", "--agent", "exec:cat README.md > seen.txt"]);
    assert!(ran.stderr.contains("(your 1 changed file is not included)"), "{}", ran.stderr);
    let _ = ran.ok();
    let branch = env.git(["for-each-ref", "--format=%(refname:short)", "refs/heads/dandori"]);
    assert_eq!(env.git(["show", &format!("{branch}:seen.txt")]), "# demo");
    assert_eq!(std::fs::read_to_string(env.repo().join("README.md")).unwrap(), "dirty\n");
}

#[test]
fn an_offline_remote_is_tolerated_with_a_warning_and_the_push_can_be_resumed() {
    let env = machine();
    let away = env.root().join("away.git");
    std::fs::rename(env.origin(), &away).unwrap();
    let ran = env.dandori(["run", "x", "--agent", "exec:echo x > x.txt", "--json"]);
    let answer = ran.json();
    let run = only_run(&answer);
    assert_eq!((&run["state"], &run["error"]["code"]), (&"FAILED".into(), &"remote_unreachable".into()), "{answer}");
    let shown = env.dandori(["task", "show", "1"]).ok();
    assert!(shown.contains("the remote cannot be reached"), "{shown}");
    assert!(shown.contains("not pushed, because the remote could not be reached"), "{shown}");
    let shown = env.dandori(["task", "show", "1", "--lang", "ja"]).ok();
    assert!(shown.contains("リモートに接続できないため、プッシュできませんでした"), "{shown}");
    // It is what to do next, and the commit is named as everywhere.
    let ran = env.dandori(["run", "y", "--agent", "exec:echo y > y.txt"]);
    assert!(
        ran.stderr.contains("next: `dandori task retry T-2`") && !ran.stderr.contains("task log"),
        "{}",
        ran.stderr
    );
    let commit = env.dandori(["task", "show", "2", "--json"]).json()["runs"][0]["commit"].as_str().unwrap().to_owned();
    assert!(ran.stdout.contains(&format!("committed {} on", &commit[..7])), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("FAILED").count() + ran.stderr.matches("FAILED").count(), 1, "{}", ran.stderr);
    // A base that only the remote has may well be there.
    let refused = env.dandori(["run", "x", "--agent", "exec:true", "--base", "release"]).fails(1);
    assert!(refused.contains("not been fetched") && refused.contains("could not be reached"), "{refused}");
    std::fs::rename(&away, env.origin()).unwrap();
    let resumed = env.dandori(["task", "retry", "1", "--json"]).json();
    assert_eq!(only_run(&resumed)["state"], "SUCCEEDED", "{resumed}");
}

#[test]
fn the_project_s_set_up_runs_first_and_its_failure_ends_the_run() {
    let env = machine();
    env.write("dandori.toml", "[worktrees]\nset_up = [\"echo ready > set-up.txt\"]\n");
    let _ = env.dandori(["trust", "--yes"]).ok();
    let answer = env.run_json(["x", "--agent", "exec:cp set-up.txt seen.txt"]);
    assert_eq!(only_run(&answer)["state"], "SUCCEEDED", "{answer}");
    env.write("dandori.toml", "[worktrees]\nset_up = [\"echo no such package >&2; exit 1\"]\n");
    let _ = env.dandori(["trust", "--yes"]).ok();
    let answer = env.run_json(["x", "--agent", "exec:true"]);
    let error = only_run(&answer)["error"]["message"].as_str().unwrap();
    assert!(error.contains("setup") && error.contains("no such package"), "{error}");
}

#[test]
fn a_failed_pull_request_leaves_the_run_succeeded_and_says_so_in_its_exit_code() {
    let env = machine();
    env.write("dandori.toml", "forge = \"github\"\n");
    let ran = env.dandori(["run", "x", "--agent", "exec:echo x > x.txt", "--pr", "--json"]);
    assert_eq!(ran.code, 1, "what was asked for is not there");
    let answer = ran.json();
    let run = only_run(&answer);
    assert_eq!(run["state"], "SUCCEEDED", "{run}");
    assert_eq!((&run["error"], &run["pr_error"]["code"]), (&Value::Null, &"forge_refused".into()), "{run}");
    // Back to the embedded forge: it can be opened after the end.
    std::fs::remove_file(env.repo().join("dandori.toml")).unwrap();
    let _ = env.dandori(["pr", "create", "T-1"]).ok();
    assert_eq!(env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["pr"]["number"], 1);
}

#[test]
fn a_last_line_without_its_end_is_in_the_log() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:printf 'first\\nlast'"]);
    let log = env.dandori(["task", "log", "1"]).ok();
    assert!(log.contains("first") && log.contains("last"), "{log}");
}

#[test]
fn a_budget_is_an_amount_of_money() {
    let env = machine();
    for bad in ["nan", "inf", "0", "-1", "1e30"] {
        let flag = format!("--budget={bad}");
        assert_eq!(env.dandori(["run", "x", "--agent", "exec:true", &flag]).code, 2, "{bad}");
    }
}

#[test]
fn of_several_agents_none_opens_a_pull_request_before_it_is_picked() {
    let env = machine();
    let answer = env.run_json(["x", "--pr", "--agents", "exec:echo a > a.txt,exec:echo b > b.txt"]);
    assert!(answer["runs"].as_array().unwrap().iter().all(|r| r["state"] == "SUCCEEDED"), "{answer}");
    assert_eq!(env.dandori(["pr", "list", "--json"]).json(), serde_json::json!({"prs": [], "total": 0}));
    let ran = env.dandori(["run", "y", "--pr", "--agents", "exec:echo c > c.txt,exec:echo d > d.txt"]);
    assert!(ran.stderr.contains("`dandori task pick T-2 <run> --pr`"), "{}", ran.stderr);
}

#[test]
fn a_branch_named_like_our_prefix_is_no_obstacle() {
    let env = machine();
    env.git(["branch", "dandori"]);
    let ran = env.run_json(["edit", "--agent", "exec:echo b > b.txt"]);
    let run = only_run(&ran);
    assert_eq!(run["state"], "SUCCEEDED", "{ran}");
    let branch = branch(run);
    assert_eq!(branch, format!("dandori-{}", run["run"].as_str().unwrap()));
    let _ = env.dandori(["task", "follow-up", "T-1", "again"]).ok();
    let added = env.dandori(["worktree", "add", "--json"]).json();
    assert!(added["branch"].as_str().unwrap().starts_with("dandori-"), "{added}");
}
