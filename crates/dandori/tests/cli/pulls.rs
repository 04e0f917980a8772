//! Pull requests from the first look to the merge, as a user meets them.

use camino::Utf8PathBuf;
use dandori_testkit::env::{TestEnv, wait_until};
use dandori_testkit::tmux::Tmux;
use serde_json::{Value, json};

use crate::guard_verbs::at_a_terminal;
use crate::machine;

const EDITS: &str = "exec:echo hello > hi.txt; echo added a greeting";

/// A machine with a pull request of one commit.
fn with_pull() -> TestEnv {
    let env = machine();
    let ran = env.run_json(["add a greeting", "--agent", EDITS, "--pr"]);
    assert_eq!(ran["runs"][0]["pr"]["number"], 1, "{ran}");
    env
}

/// `pr merge` by a person who types `typed`.
fn merge(env: &TestEnv, args: &str, typed: &str) -> String {
    at_a_terminal(env, &format!("{} pr merge {args}", env!("CARGO_BIN_EXE_dandori")), typed)
}

fn shown(env: &TestEnv, pull: &str) -> Value {
    env.dandori(["pr", "show", pull, "--json"]).json()
}

fn head(env: &TestEnv) -> String {
    shown(env, "1")["commit"].as_str().unwrap().to_owned()
}

fn push_by_colleague(env: &TestEnv, file: &str, text: &str) {
    crate::remote::overtake(env, "main", file, text);
}

/// What changes from run to run has a name of its own.
fn steady(env: &TestEnv, text: &str) -> String {
    let page = shown(env, "1");
    let run = page["run"].as_str().unwrap();
    let url = page["url"].as_str().unwrap();
    let commit = page["commit"].as_str().unwrap();
    let id = env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["id"].as_str().unwrap().to_owned();
    text.replace(&id, "RUN")
        .replace(run, "KEY")
        .replace(url, "URL")
        .replace(&commit[..7], "COMMIT")
        .replace(env.root().as_str(), "ROOT")
}

#[test]
fn show_reads_like_a_page_in_both_languages() {
    let env = with_pull();
    insta::assert_snapshot!(steady(&env, &env.dandori(["pr", "show", "1"]).ok()), @r"
    #1 feat: add a greeting
    open  dandori/KEY → main
    made for T-1 by exec:echo hello > hi.txt; echo added a… (run KEY)

      ## Summary

      added a greeting

      ## Test plan

      - [ ] The checks of this repository pass
      - [ ] The change has been reviewed and does what the instruction says

      ## Instruction

      > add a greeting

      Created by exec:echo hello > hi.txt; echo added a greeting (T-1)

      Dandori-Run: RUN

    1 commit
      COMMIT feat: add a greeting
    1 file, +1 −0
      hi.txt  +1 −0

    checks: none (the embedded forge runs none)
    can be merged: fast-forward of main
    next: `dandori pr merge 1`
    ");
    insta::assert_snapshot!(steady(&env, &env.dandori(["pr", "show", "1", "--lang", "ja"]).ok()), @r"
    #1 feat: add a greeting
    オープン  dandori/KEY → main
    T-1 のために exec:echo hello > hi.txt; echo added a… が作成 (実行 KEY)

      ## Summary

      added a greeting

      ## Test plan

      - [ ] The checks of this repository pass
      - [ ] The change has been reviewed and does what the instruction says

      ## Instruction

      > add a greeting

      Created by exec:echo hello > hi.txt; echo added a greeting (T-1)

      Dandori-Run: RUN

    コミット 1 件
      COMMIT feat: add a greeting
    1 ファイル、+1 −0
      hi.txt  +1 −0

    チェック: なし (内蔵フォージではチェックは実行されません)
    マージできます: main の fast-forward
    次に: `dandori pr merge 1`
    ");
    let page = shown(&env, "1");
    assert_eq!((&page["task"], &page["agent"]), (&json!("T-1"), &json!(EDITS)));
    assert_eq!((&page["checks"], &page["changes"]["files"]), (&json!([]), &json!(1)));
    assert_eq!((&page["merge"]["can"], &page["merge"]["look"]["behind"]), (&json!(true), &json!(0)));
}

#[test]
fn a_pull_request_is_found_by_its_number_its_task_its_run_and_its_branch() {
    let env = with_pull();
    let page = shown(&env, "1");
    let branch = page["branch"].as_str().unwrap();
    let key = branch.strip_prefix("dandori/").unwrap();
    for name in ["#1", "T-1", "t-1", key, branch, page["run"].as_str().unwrap()] {
        assert_eq!(shown(&env, name)["number"], 1, "{name}");
    }
    for (name, word) in [("7", "#7 not found"), ("T-9", "T-9"), ("nobody/knows", "`nobody/knows` has no pull request")]
    {
        let said = env.dandori(["pr", "show", name]).fails(1);
        assert!(said.contains(word) && said.contains("hint: "), "{name}: {said}");
    }
}

#[test]
fn a_person_merges_what_was_shown_and_everything_follows() {
    let env = with_pull();
    let (head, worktree) = (head(&env), crate::worktree_of(&env, "T-1", 0));
    let refused = env.dandori(["pr", "merge", "1", "--yes"]).fails(1);
    assert!(refused.contains("needs an interactive terminal"), "{refused}");
    let unsure = merge(&env, "1", "no\n");
    assert!(unsure.contains("nothing was changed") && unsure.ends_with("exit 1"), "{unsure}");
    assert_eq!(shown(&env, "1")["state"], "open");

    let merged = merge(&env, "1", "yes\n");
    insta::assert_snapshot!(steady(&env, &merged), @r"
    pull request #1: feat: add a greeting
    1 commit into main, up to COMMIT
    fast-forward, no merge commit
    pushes to origin/main
    updates the checkout at ROOT/repo
    merged pull request #1 into main (COMMIT)
    exit 0
    ");
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", "main"]), head);
    assert_eq!((env.git(["rev-parse", "main"]), env.git(["rev-parse", "origin/main"])), (head.clone(), head));
    assert_eq!(env.git(["status", "--porcelain"]), "");
    assert_eq!(std::fs::read_to_string(env.repo().join("hi.txt")).unwrap(), "hello\n");
    wait_until("its worktree is gone", || !worktree.exists());
    let task = env.dandori(["task", "show", "T-1", "--json"]).json();
    assert_eq!(task["runs"][0]["pr"]["state"], "merged", "{task}");
    assert!(env.git(["branch", "--list", "dandori/*"]).contains("dandori/"), "its branch stays");
    assert!(env.dandori(["task", "show", "T-1"]).ok().contains("pull request #1 (merged)"));

    assert_eq!(env.dandori(["pr", "list", "--json"]).json(), json!({"prs": [], "total": 0}));
    let all = env.dandori(["pr", "list", "--state", "all", "--json"]).json();
    assert_eq!((&all["total"], &all["prs"][0]["state"]), (&json!(1), &json!("merged")));
    let page = env.dandori(["pr", "show", "1"]).ok();
    assert!(page.contains("merged") && page.contains("hi.txt  +1 −0"), "what it changed is still shown: {page}");
    let again = merge(&env, "1", "yes\n");
    assert!(again.contains("it is merged") && again.ends_with("exit 1"), "{again}");
}

#[test]
fn without_a_remote_the_merge_stays_in_the_repository() {
    let env = with_pull();
    env.git(["remote", "remove", "origin"]);
    let merged = merge(&env, "1 --no-ff", "yes\n");
    assert!(merged.contains("in this repository only") && merged.ends_with("exit 0"), "{merged}");
    let subject = env.git(["log", "-1", "--format=%s"]);
    assert!(subject.starts_with("Merge pull request #1 from dandori/"), "{subject}");
    assert_eq!((env.git(["status", "--porcelain"]).as_str(), shown(&env, "1")["state"].as_str()), ("", Some("merged")));
}

#[test]
fn without_a_remote_a_detached_head_goes_back_to_the_default_branch_or_is_refused() {
    let env = machine();
    env.git(["remote", "remove", "origin"]);
    env.git(["checkout", "--quiet", "--detach"]);
    env.run_json(["add a greeting", "--agent", EDITS, "--pr"]);
    assert_eq!(shown(&env, "1")["base"], "main");
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    assert!(env.git(["ls-tree", "--name-only", "main"]).contains("hi.txt"));

    env.git(["checkout", "--quiet", "--orphan", "other"]);
    env.git(["commit", "--quiet", "-m", "another beginning"]);
    env.git(["checkout", "--quiet", "--detach"]);
    env.git(["commit", "--quiet", "--allow-empty", "-m", "on no branch"]);
    let commit = env.git(["rev-parse", "HEAD"]);
    let hint = format!("`git branch <name> {}`", &commit[..7]);
    let refused = env.dandori(["run", "x", "--agent", EDITS, "--pr"]).fails(1);
    assert!(refused.contains(&hint), "{refused}");
    // Nor is one opened later, before there is a branch; then it goes there.
    let _ = env.dandori(["run", "x", "--agent", "exec:cat >> b.txt", "--here", "--no-pr"]).ok();
    let refused = env.dandori(["pr", "create", "T-2"]).fails(1);
    assert!(refused.contains(&hint), "{refused}");
    let refused = env.dandori(["task", "follow-up", "T-2", "more", "--pr"]).fails(1);
    assert!(refused.contains(&hint), "{refused}");
    env.git(["branch", "topic", &commit]);
    let followed = env.dandori(["task", "follow-up", "T-2", "more", "--pr", "--json"]).json();
    assert_eq!(followed["runs"][0]["pr"]["number"], 2, "{followed}");
    assert_eq!(shown(&env, "2")["base"], "topic");
}

#[test]
fn a_merge_that_was_not_pushed_is_none_yet() {
    let env = with_pull();
    env.git(["merge", "--quiet", "--no-ff", "-m", "by hand", &head(&env)]);
    let states = || env.dandori(["pr", "list", "--state", "all", "--json"]).json()["prs"][0]["state"].clone();
    assert_eq!(states(), "open");
    env.git(["push", "--quiet", "origin", "main"]);
    assert_eq!(states(), "merged");
}

#[test]
fn after_the_merge_a_follow_up_is_in_no_pull_request_until_one_is_opened() {
    let env = machine();
    env.run_json(["first", "--agent", "exec:cat >> log.txt", "--pr"]);
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    let ran = env.dandori(["task", "follow-up", "T-1", "second"]);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("in no pull request yet: #1 was merged before"), "{said}");
    assert!(said.contains("dandori pr create T-1") && !said.contains("pr show 1"), "{said}");
    let _ = env.dandori(["pr", "create", "T-1"]).ok();
    let inbox = env.dandori(["inbox", "--json"]).json();
    assert_eq!(
        (&inbox["needs"][0]["kind"], &inbox["needs"][0]["pr"]["number"]),
        (&json!("pull_ready"), &json!(2)),
        "{inbox}"
    );
}

#[test]
fn a_follow_up_waits_until_the_worktree_of_a_closed_pull_request_is_gone() {
    let env = machine();
    // Takes a while to remove.
    let agent = "exec:cat >> log.txt; echo junk/ > .gitignore; mkdir -p junk; cd junk; seq 20000 | xargs touch";
    env.run_json(["first", "--agent", agent, "--pr"]);
    let _ = env.dandori(["pr", "close", "1"]).ok();
    let followed = env.dandori(["task", "follow-up", "T-1", "second", "--json"]).json();
    assert_eq!(followed["runs"][0]["state"], "SUCCEEDED", "{followed}");
}

#[test]
fn uncommitted_work_in_the_worktree_is_preserved_at_the_end_and_that_is_said() {
    let env = with_pull();
    std::fs::write(crate::worktree_of(&env, "T-1", 0).join("notes.txt"), "mine\n").unwrap();
    let closed = env.dandori(["pr", "close", "1", "--json"]).json();
    let (reference, run) = (closed["preserved"].as_str().unwrap(), closed["run"].as_str().unwrap());
    assert!(reference.starts_with("refs/dandori/preserved/"), "{closed}");
    assert_eq!(env.git(["show", &format!("{reference}:notes.txt")]), "mine");
    let restored = env.dandori(["worktree", "restore", run, "--json"]).json();
    assert!(Utf8PathBuf::from(restored["worktree"].as_str().unwrap()).join("notes.txt").is_file(), "{restored}");

    env.run_json(["add another", "--agent", "exec:echo two > two.txt", "--pr"]);
    std::fs::write(crate::worktree_of(&env, "T-2", 0).join("more.txt"), "mine\n").unwrap();
    let merged = merge(&env, "2 -y", "");
    let key = shown(&env, "2")["run"].as_str().unwrap().to_owned();
    assert!(merged.contains("uncommitted changes in its worktree were preserved in refs/dandori/"), "{merged}");
    assert!(merged.contains(&format!("`dandori worktree restore {key}`")), "{merged}");

    // Of one without, nothing is said.
    env.run_json(["a third", "--agent", "exec:echo three > three.txt", "--pr"]);
    let closed = env.dandori(["pr", "close", "3", "--lang", "ja"]);
    assert!(!format!("{}{}", closed.stdout, closed.stderr).contains("保存"), "{}", closed.stdout);
    let _ = env.dandori(["pr", "reopen", "3"]).ok();
}

#[test]
fn a_task_of_another_repository_names_the_place_of_its_pull_request() {
    let env = with_pull();
    assert!(env.dandori(["task", "show", "T-1"]).stderr.contains("`dandori pr merge 1`"));
    let elsewhere = env.dandori_in(env.root(), ["task", "show", "T-1"]).stderr;
    assert!(elsewhere.contains(&format!("`cd {} && dandori pr merge 1`", env.repo())), "{elsewhere}");
}

#[test]
fn others_who_pushed_meanwhile_are_merged_with_and_a_fast_forward_alone_is_refused() {
    let env = with_pull();
    push_by_colleague(&env, "theirs.txt", "theirs");
    let refused = merge(&env, "1 --ff-only", "yes\n");
    assert!(refused.contains("1 commit behind its base") && refused.contains("`dandori pr update 1`"), "{refused}");
    let merged = merge(&env, "1 -y", "");
    assert!(merged.contains("merged pull request #1 into main"), "{merged}");
    for file in ["hi.txt", "theirs.txt"] {
        assert!(env.repo().join(file).is_file(), "{file}");
    }
    assert_eq!(env.git(["rev-parse", "main"]), env.git_in(&env.origin(), ["rev-parse", "main"]));
}

#[test]
fn a_base_with_uncommitted_changes_is_named_and_left_alone() {
    let env = with_pull();
    env.write("README.md", "mine\n");
    let before = env.git(["rev-parse", "main", "origin/main"]);
    let refused = merge(&env, "1 -y", "");
    assert!(refused.contains("uncommitted changes in README.md"), "{refused}");
    let hint = format!("`git -C {} stash -u`", env.repo());
    assert!(refused.contains(&hint), "{refused}");
    assert_eq!(env.git(["rev-parse", "main", "origin/main"]), before);
    // A file that git does not follow is in the way as well, and is put aside by the same command.
    env.write("hi.txt", "mine\n");
    env.git(["stash", "-u", "--quiet"]);
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"), "as the hint says");
}

#[test]
fn a_conflict_is_named_and_can_be_resolved_by_hand() {
    let env = machine();
    env.run_json(["edit", "--agent", "exec:echo ours > README.md", "--pr"]);
    push_by_colleague(&env, "README.md", "theirs");
    let refused = merge(&env, "1 -y", "");
    assert!(refused.contains("conflicts with the base in README.md"), "{refused}");
    assert!(refused.contains("`dandori pr update 1`"), "{refused}");
    let page = env.dandori(["pr", "show", "1"]).ok();
    assert!(page.contains("cannot be merged:") && page.contains("1 commit behind main"), "{page}");

    let place = env.dandori(["pr", "checkout", "1", "--json"]).json();
    assert_eq!(place["outcome"], "there");
    let folder = Utf8PathBuf::from(place["worktree"].as_str().unwrap());
    let _ = env.program("git", ["merge", "--quiet", "origin/main"], &folder).output();
    std::fs::write(folder.join("README.md"), "both\n").unwrap();
    env.git_in(&folder, ["commit", "--quiet", "-am", "bring main in"]);
    let before = shown(&env, "1")["commit"].clone();
    env.git_in(&folder, ["push", "--quiet", "origin", "HEAD"]);
    assert_ne!(shown(&env, "1")["commit"], before, "the pull request follows its branch");
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    assert_eq!(std::fs::read_to_string(env.repo().join("README.md")).unwrap(), "both\n");
}

/// Writes its side at first, and both when it finds a conflict.
const MERGES: &str = "exec:if grep -q '<<<<<<<' README.md; then echo both > README.md; else echo ours > README.md; fi";

fn parents_of_head(env: &TestEnv) -> Vec<String> {
    env.git(["fetch", "--quiet"]);
    let shown = env.git(["show", "--no-patch", "--format=%P", &head(env)]);
    shown.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_base_without_a_conflict_is_merged_by_git_alone() {
    let env = with_pull();
    let said = env.dandori(["pr", "update", "1"]).fails(1);
    assert!(said.contains("#1 is up to date with main"), "{said}");
    let before = head(&env);
    // What the base brings is not the agent's doing, whatever the agent may not touch.
    push_by_colleague(&env, ".env", "A=1");
    let updated = env.dandori(["pr", "update", "1", "--json"]).json();
    assert_eq!(updated["runs"][0]["state"], "SUCCEEDED", "{updated}");
    assert_eq!(parents_of_head(&env), [before, env.git(["rev-parse", "origin/main"])]);
    let subject = env.git(["show", "--no-patch", "--format=%s", &head(&env)]);
    assert!(subject.starts_with("Merge main into dandori/"), "{subject}");
    let log = env.dandori(["task", "log", updated["runs"][0]["run"].as_str().unwrap()]).ok();
    assert!(!log.contains("added a greeting"), "no agent was asked: {log}");
    let again = env.dandori(["task", "follow-up", "T-1", "again", "--json"]).json();
    let log = env.dandori(["task", "log", again["runs"][0]["run"].as_str().unwrap()]).ok();
    assert!(log.contains("added a greeting"), "the task goes on with its own agent: {log}");
    assert!(merge(&env, "1 -y --ff-only", "").ends_with("exit 0"));
}

#[test]
fn a_conflict_with_the_base_is_resolved_by_the_agent() {
    let env = machine();
    env.run_json(["edit", "--agent", MERGES, "--pr"]);
    push_by_colleague(&env, "README.md", "theirs");
    let before = head(&env);
    let refused = merge(&env, "1 -y", "");
    assert!(refused.contains("`dandori pr update 1`"), "{refused}");
    let updated = env.dandori(["pr", "update", "1", "--json"]).json();
    assert_eq!(updated["runs"][0]["state"], "SUCCEEDED", "{updated}");
    assert_eq!(parents_of_head(&env), [before, env.git(["rev-parse", "origin/main"])]);
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    assert_eq!(std::fs::read_to_string(env.repo().join("README.md")).unwrap(), "both\n");
}

#[test]
fn a_merge_that_was_not_finished_is_finished_by_the_next_run() {
    let env = machine();
    let agent = "exec:test -e mine.txt || { echo ours > README.md; touch mine.txt; }";
    env.run_json(["edit", "--agent", agent, "--pr"]);
    push_by_colleague(&env, "README.md", "theirs");
    let before = head(&env);
    let left = env.dandori(["pr", "update", "1", "--json"]).json();
    assert_eq!(left["runs"][0]["state"], "FAILED", "{left}");
    assert!(!left["runs"][0]["notes"].to_string().contains("base_merged"), "{left}");
    assert_eq!(head(&env), before, "nothing with markers in it was pushed");
    let folder = Utf8PathBuf::from(left["runs"][0]["worktree"].as_str().unwrap());
    let text = std::fs::read_to_string(folder.join("README.md")).unwrap();
    assert!(text.contains("<<<<<<<") && text.contains("theirs") && text.contains("ours"), "{text}");
    // By hand, and then told to go on.
    std::fs::write(folder.join("README.md"), "both\n").unwrap();
    let done = env.dandori(["task", "follow-up", "T-1", "go on", "--json"]).json();
    assert_eq!(done["runs"][0]["state"], "SUCCEEDED", "{done}");
    let _ = env.dandori(["pr", "create", "T-1"]).ok();
    assert_eq!(parents_of_head(&env), [before, env.git(["rev-parse", "origin/main"])]);
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
}

#[test]
fn a_conflict_resolved_to_the_branch_s_own_side_is_a_merge_all_the_same() {
    let env = machine();
    env.run_json(["edit", "--agent", "exec:echo ours > README.md", "--pr"]);
    push_by_colleague(&env, "README.md", "theirs");
    let before = head(&env);
    let updated = env.dandori(["pr", "update", "1", "--json"]).json();
    assert_eq!(updated["runs"][0]["state"], "SUCCEEDED", "{updated}");
    assert_eq!(parents_of_head(&env), [before, env.git(["rev-parse", "origin/main"])]);
    let said = env.dandori(["pr", "update", "1"]).fails(1);
    assert!(said.contains("#1 is up to date with main"), "{said}");
    assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    assert_eq!(std::fs::read_to_string(env.repo().join("README.md")).unwrap(), "ours\n");
}

/// An update whose agent left the conflict as it was, and the folder with it.
fn with_conflict_left() -> (TestEnv, Utf8PathBuf) {
    let env = machine();
    let agent = "exec:echo asked; test -e mine.txt || { echo ours > README.md; touch mine.txt; }";
    env.run_json(["edit", "--agent", agent, "--pr"]);
    push_by_colleague(&env, "README.md", "theirs");
    let left = env.dandori(["pr", "update", "1", "--json"]).json();
    assert_eq!(left["runs"][0]["state"], "FAILED", "{left}");
    let folder = Utf8PathBuf::from(left["runs"][0]["worktree"].as_str().unwrap());
    (env, folder)
}

#[test]
fn a_conflict_resolved_by_hand_is_committed_without_an_agent_by_whatever_is_tried_next() {
    for tries in
        [&[["pr", "update", "1"]][..], &[["task", "retry", "T-1"]], &[["task", "retry", "T-1"], ["pr", "update", "1"]]]
    {
        let (env, folder) = with_conflict_left();
        let before = head(&env);
        let (last, first) = tries.split_last().unwrap();
        for early in first {
            let failed = env.dandori(early.iter().copied().chain(["--json"])).json();
            assert_eq!(failed["runs"][0]["state"], "FAILED", "the markers are still there: {failed}");
        }
        // To the branch's own side: there is then nothing but the merge to commit.
        std::fs::write(folder.join("README.md"), "ours\n").unwrap();
        let done = env.dandori(last.iter().copied().chain(["--json"])).json();
        assert_eq!(done["runs"][0]["state"], "SUCCEEDED", "{tries:?}: {done}");
        let log = env.dandori(["task", "log", done["runs"][0]["run"].as_str().unwrap()]).ok();
        assert!(!log.contains("asked"), "nobody was needed: {log}");
        assert_eq!(parents_of_head(&env), [before, env.git(["rev-parse", "origin/main"])], "{tries:?}");
        assert!(merge(&env, "1 -y", "").ends_with("exit 0"));
    }
}

#[test]
fn only_the_commit_that_was_shown_is_merged() {
    let env = with_pull();
    let place = env.dandori(["pr", "checkout", "1", "--json"]).json();
    let folder = Utf8PathBuf::from(place["worktree"].as_str().unwrap());
    env.git_in(&folder, ["commit", "--quiet", "--allow-empty", "-m", "more"]);
    let shown = head(&env);
    env.git_in(&folder, ["push", "--quiet", "origin", "HEAD"]);
    env.dandori(["daemon", "stop"]).ok();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let body = json!({"path": env.repo(), "commit": shown});
    let (status, answer) = crate::control_characters::post(&env, "/v1/pulls/1/merge", &body);
    assert_eq!((status, &answer["error"]["detail"]["obstacles"][0]["reason"]), (409, &json!("head_moved")), "{answer}");
    assert_ne!(env.git_in(&env.origin(), ["rev-parse", "main"]), shown);
}

#[test]
fn a_merge_by_hand_is_noticed() {
    let env = with_pull();
    let branch = shown(&env, "1")["branch"].as_str().unwrap().to_owned();
    env.git(["merge", "--quiet", "--no-ff", "-m", "by hand", &branch]);
    env.git(["push", "--quiet", "origin", "main"]);
    let task = env.dandori(["task", "show", "T-1", "--json"]).json();
    assert_eq!(task["runs"][0]["pr"]["state"], "merged", "{task}");
    assert_eq!(env.dandori(["pr", "list", "--state", "merged", "--json"]).json()["total"], 1);
}

#[test]
fn a_closed_one_can_be_reopened_and_says_so() {
    let env = with_pull();
    let closed = env.dandori(["pr", "close", "1"]);
    assert!(closed.stderr.contains("`dandori pr reopen 1`"), "{}", closed.stderr);
    assert_eq!(closed.ok(), "closed pull request #1\n");
    let twice = env.dandori(["pr", "close", "1"]).fails(1);
    assert!(twice.contains("#1 is closed") && twice.contains("`dandori pr reopen 1`"), "{twice}");
    assert!(env.dandori(["pr", "show", "1"]).ok().contains("next: `dandori pr reopen 1`"));
    assert_eq!(env.dandori(["pr", "reopen", "T-1"]).ok(), "reopened pull request #1\n");
    let open = env.dandori(["pr", "reopen", "1", "--lang", "ja"]).fails(1);
    assert!(open.contains("「オープン」"), "{open}");
    assert_eq!(env.dandori(["pr", "list", "--json"]).json()["total"], 1);
}

#[test]
fn what_it_changes_is_shown_and_checked_out_without_touching_anything() {
    let env = with_pull();
    assert!(env.dandori(["pr", "diff", "1"]).ok().contains("+hello"));
    assert!(env.dandori(["pr", "diff", "1", "--json"]).json()["patch"].as_str().unwrap().contains("+hello"));
    let opened = env.dandori(["pr", "open", "1"]);
    assert!(opened.stderr.contains("no web page yet"), "{}", opened.stderr);
    assert!(opened.ok().contains("added a greeting"));

    let branch = shown(&env, "1")["branch"].as_str().unwrap().to_owned();
    let tree = crate::worktree_of(&env, "T-1", 0);
    let _ = env.dandori(["worktree", "remove", tree.as_str(), "--keep-branch"]).ok();
    env.write("README.md", "mine\n");
    let made = env.dandori(["pr", "checkout", "1", "--json"]).json();
    assert_eq!(made["outcome"], "made", "{made}");
    assert_eq!(std::fs::read_to_string(env.repo().join("README.md")).unwrap(), "mine\n", "not touched");
    env.git(["checkout", "--quiet", "README.md"]);
    let _ = env.dandori(["worktree", "remove", made["worktree"].as_str().unwrap(), "--keep-branch"]).ok();
    let switched = env.dandori(["pr", "checkout", "1", "--json"]).json();
    assert_eq!((&switched["outcome"], &switched["worktree"]), (&json!("switched"), &json!(env.repo())));
    assert_eq!(env.git(["symbolic-ref", "--short", "HEAD"]), branch);
}

#[test]
fn words_of_one_s_own_update_an_open_one_and_leave_the_rest() {
    let env = with_pull();
    let body = shown(&env, "1")["body"].clone();
    let said = env.dandori(["pr", "create", "T-1", "--title", "Mine"]).ok();
    assert!(said.starts_with("updated pull request #1 in the embedded forge\n  Mine\n"), "{said}");
    let page = shown(&env, "1");
    assert_eq!((&page["title"], &page["body"]), (&json!("Mine"), &body));
    let again = env.dandori(["pr", "create", "T-1", "--json"]).json();
    assert_eq!((&again["outcome"], &again["title"]), (&json!("unchanged"), &json!("Mine")));
}

/// Two agents, nothing picked yet.
fn with_rivals() -> (TestEnv, Vec<String>) {
    let env = machine();
    let agents = "exec:printf 'a\\nb\\n' > a.txt,exec:echo b > b.txt";
    let ran = env.run_json(["two ways", "--agents", agents]);
    let branches = ran["runs"].as_array().unwrap().iter().map(|r| r["branch"].as_str().unwrap().to_owned());
    let keys = branches.map(|branch| branch.strip_prefix("dandori/").unwrap().to_owned()).collect();
    (env, keys)
}

#[test]
fn of_several_candidates_the_picked_one_becomes_the_pull_request_and_a_later_pick_moves_it() {
    let (env, keys) = with_rivals();
    let refused = env.dandori(["pr", "create", "T-1"]).fails(1);
    for key in &keys {
        assert!(refused.contains(&format!("`dandori task pick T-1 {key} --pr`")), "{refused}");
    }
    let _ = env.dandori(["task", "pick", "T-1", &keys[0], "--pr"]).ok();
    assert_eq!(shown(&env, "1")["branch"], format!("dandori/{}", keys[0]));
    let list = env.dandori(["task", "list"]).ok();
    let line = list.lines().find(|line| line.contains(&keys[0])).unwrap();
    assert!(line.contains(" ★ ") && list.matches('★').count() == 1, "{list}");

    let moved = env.dandori(["task", "pick", "T-1", &keys[1]]).ok();
    assert!(moved.contains(&format!("pull request #1 now shows dandori/{}", keys[1])), "{moved}");
    let all = env.dandori(["pr", "list", "--state", "all", "--json"]).json();
    assert_eq!((&all["total"], &all["prs"][0]["branch"]), (&json!(1), &json!(format!("dandori/{}", keys[1]))));
    assert!(env.dandori(["task", "show", "T-1"]).ok().contains("★ picked"));
    assert_eq!(env.dandori(["pr", "create", "T-1", "--json"]).json()["outcome"], "unchanged", "the pick is known");
    assert_eq!(shown(&env, "T-1")["number"], 1);
    assert!(merge(&env, "T-1 -y", "").ends_with("exit 0"));
    assert!(env.repo().join("b.txt").is_file() && !env.repo().join("a.txt").exists());
}

#[test]
fn at_a_terminal_one_is_asked_which() {
    let (env, keys) = with_rivals();
    let tmux = Tmux::start(&env, 80, 24, &[]);
    tmux.begin("dandori pr create T-1");
    tmux.until("the question", |screen| screen.contains("Which one becomes the pull request? [1-2]"));
    tmux.keys("2");
    tmux.press("Enter");
    let screen = tmux.end();
    assert!(screen.contains("1 file +2 −0") && screen.contains("1 file +1 −0"), "{screen}");
    assert!(screen.contains("opened pull request #1"), "{screen}");
    assert_eq!(shown(&env, "1")["branch"], format!("dandori/{}", keys[1]));
    let task = env.dandori(["task", "show", "T-1", "--json"]).json();
    assert_eq!(task["picked"], task["runs"][1]["run"], "the choice is the task's pick");
}

#[test]
fn lists_say_what_there_is() {
    let env = with_pull();
    let said = env.dandori(["pr", "list", "--state", "closed"]);
    assert!(said.stderr.contains("no closed pull requests") && said.stderr.contains("--state all"), "{}", said.stderr);
    let second = env.run_json(["another", "--agent", "exec:echo x > x.txt", "--pr"]);
    assert_eq!(second["runs"][0]["pr"]["number"], 2);
    let one = env.dandori(["pr", "list", "-n", "1"]);
    assert!(one.stdout.contains("#2") && !one.stdout.contains("#1"), "{}", one.stdout);
    assert!(one.stderr.contains("1 of 2 shown"), "{}", one.stderr);
    let table = env.dandori(["pr", "list"]).ok();
    assert!(table.contains("T-1") && table.contains("T-2") && table.contains("AGE"), "{table}");
}

#[test]
fn a_page_says_how_old_what_it_knows_of_the_base_is() {
    let env = with_pull();
    assert_eq!(shown(&env, "1")["merge"]["look"]["at_remote"], true);
    assert!(!env.dandori(["pr", "show", "1"]).ok().contains("last fetched"), "seen just now");
    let git_dir = env.repo().join(".git");
    let find = ["dandori.fetched", "FETCH_HEAD", "logs/refs/remotes/origin", "refs/remotes/origin"];
    for place in find.into_iter().filter(|place| git_dir.join(place).exists()) {
        env.command(
            "find",
            [git_dir.join(place).as_str(), "-exec", "touch", "-d", "3 hours ago", "{}", "+"],
            env.root(),
        );
    }
    let page = env.dandori(["pr", "show", "1"]).ok();
    assert!(page.contains("main as last fetched 3 hours ago") && page.contains("`git fetch`"), "{page}");
    let page = env.dandori(["pr", "show", "1", "--lang", "ja"]).ok();
    assert!(page.contains("main は 3 時間前に取得した内容です"), "{page}");
    assert!(shown(&env, "1")["base_fetched_at"].is_string());
    env.git(["remote", "remove", "origin"]);
    assert!(shown(&env, "1")["base_fetched_at"].is_null());
}

#[test]
fn a_remote_that_cannot_be_reached_is_told_as_that() {
    let env = with_pull();
    std::fs::rename(env.origin(), env.root().join("away.git")).unwrap();
    let refused = merge(&env, "1 -y", "");
    assert!(refused.contains("the remote could not be reached") && refused.contains("`git fetch`"), "{refused}");
}

#[test]
fn a_file_s_name_is_one_line_wherever_it_is_shown() {
    let env = machine();
    let ran = env.dandori(["run", "x", "--pr", "--agent", "exec:echo x > \"$(printf 'a\\nb')\""]).ok();
    assert!(ran.contains(r#""a\nb""#), "{ran}");
    assert!(env.dandori(["pr", "show", "1"]).ok().contains(r#"  "a\nb"  +1"#));
    assert_eq!(env.dandori(["task", "diff", "T-1", "--name-only"]).ok(), "\"a\\nb\"\n");
}
