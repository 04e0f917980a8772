//! The commit is made in the user's name, with his key: what that needs, and what happens when it is missing.

use std::os::unix::fs::PermissionsExt;

use camino::Utf8PathBuf;
use dandori_testkit::env::TestEnv;
use serde_json::json;

use crate::machine;

/// Counts how often it was started.
const EDITS: &str = "exec:echo launched >> launches.txt; echo work > work.txt";

/// A user who has never told git who he is, on a machine that does not guess.
fn stranger() -> TestEnv {
    let env = machine();
    std::fs::write(env.home().join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    env
}

#[test]
fn without_an_identity_a_run_is_refused_before_the_agent_starts() {
    let env = stranger();
    let said = env.dandori(["run", "x", "--agent", EDITS]).fails(1);
    assert!(
        said.contains("git has no user name and e-mail address") && said.contains("git config --global user.name"),
        "{said}"
    );
    let said = env.dandori(["run", "x", "--agent", EDITS, "--lang", "ja"]).fails(1);
    assert!(
        said.contains("git にユーザー名とメールアドレスが設定されていません") && said.contains("user.email"),
        "{said}"
    );
    assert_eq!(env.dandori(["run", "x", "--agent", EDITS, "--json"]).json()["error"]["code"], "no_identity");
    assert_eq!(env.dandori(["task", "list", "--json"]).json()["tasks"], json!([]), "nothing was taken on");
}

#[test]
fn half_an_identity_is_none() {
    let mut env = stranger();
    env.git(["config", "user.name", "Somebody"]);
    let said = env.dandori(["run", "x", "--agent", EDITS]).fails(1);
    assert!(said.contains("git has no user name and e-mail address"), "{said}");
    // The author alone: whoever commits is still unknown.
    env.var("GIT_AUTHOR_EMAIL", "author@example.com");
    let said = env.dandori(["run", "x", "--agent", EDITS]).fails(1);
    assert!(said.contains("git has no user name and e-mail address"), "{said}");
    env.unset("GIT_AUTHOR_EMAIL").var("GIT_COMMITTER_EMAIL", "committer@example.com");
    let said = env.dandori(["run", "x", "--agent", EDITS]).fails(1);
    assert!(said.contains("git has no user name and e-mail address"), "{said}");
}

#[test]
fn the_identity_may_come_from_the_repository_or_from_whoever_asks() {
    let mut env = stranger();
    // Started by somebody without a name: what counts is who asks.
    let _ = env.dandori(["daemon", "start"]).ok();
    let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    for name in names {
        env.var(name, if name.ends_with("NAME") { "Asker" } else { "asker@example.com" });
    }
    let asked = env.run_json(["by environment", "--agent", EDITS]);
    assert_eq!(asked["runs"][0]["state"], "SUCCEEDED", "{asked}");
    assert_eq!(author(&env, &asked), "Asker <asker@example.com>");

    for name in names {
        env.unset(name);
    }
    env.git(["config", "user.name", "Local"]);
    env.git(["config", "user.email", "local@example.com"]);
    let configured = env.run_json(["by repository", "--agent", EDITS]);
    assert_eq!(configured["runs"][0]["state"], "SUCCEEDED", "{configured}");
    assert_eq!(author(&env, &configured), "Local <local@example.com>");
}

#[test]
fn an_address_git_takes_from_the_environment_will_do_unless_the_configuration_alone_counts() {
    let mut env = stranger();
    env.git(["config", "user.name", "Local"]);
    env.var("EMAIL", "mail@example.com");
    let said = env.dandori(["run", "x", "--agent", EDITS]).fails(1);
    assert!(said.contains("git has no user name and e-mail address"), "{said}");
    env.git(["config", "user.useConfigOnly", "false"]);
    let asked = env.run_json(["x", "--agent", EDITS]);
    assert_eq!(author(&env, &asked), "Local <mail@example.com>");
}

fn author(env: &TestEnv, answer: &serde_json::Value) -> String {
    env.git(["log", "-1", "--format=%an <%ae>", answer["runs"][0]["commit"].as_str().unwrap()])
}

#[test]
fn a_follow_up_without_an_identity_is_refused_as_well() {
    let env = machine();
    let first = env.run_json(["x", "--agent", EDITS]);
    assert_eq!(first["runs"][0]["state"], "SUCCEEDED", "{first}");
    std::fs::write(env.home().join(".gitconfig"), "[user]\n\tuseConfigOnly = true\n").unwrap();
    let said = env.dandori(["task", "follow-up", "1", "more"]).fails(1);
    assert!(said.contains("git has no user name and e-mail address"), "{said}");
}

/// A user who signs, with a signing program that has no key until `key` is there.
fn signer() -> (TestEnv, Utf8PathBuf) {
    let env = machine();
    let (program, key) = (env.root().join("gpg"), env.root().join("key"));
    let script = format!(
        "#!/bin/sh\ncat > /dev/null\n[ -e {key} ] || {{ echo 'gpg: signing failed: No secret key' >&2; exit 2; }}\n\
         echo '[GNUPG:] SIG_CREATED D' >&2\n\
         printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    env.git(["config", "--global", "gpg.program", program.as_str()]);
    env.git(["config", "--global", "commit.gpgSign", "true"]);
    (env, key)
}

#[test]
fn a_commit_that_failed_is_made_and_pushed_by_a_retry_without_the_agent() {
    let (env, key) = signer();
    let failed = env.run_json(["sign it", "--agent", EDITS, "--pr"]);
    let run = &failed["runs"][0];
    assert_eq!((&run["state"], &run["commit"]), (&"FAILED".into(), &serde_json::Value::Null));
    let why = run["error"]["message"].as_str().unwrap();
    assert!(why.contains("No secret key") && why.contains("task retry"), "{why}");
    assert_eq!(env.git_in(&env.origin(), ["for-each-ref", "refs/heads/dandori"]), "");

    let again = env.dandori(["task", "retry", "1", "--json"]).json();
    assert_eq!((&again["runs"][0]["id"], &again["runs"][0]["state"]), (&run["id"], &"FAILED".into()), "no key yet");

    // What he writes into the worktree meanwhile is his; the agent's work is what was staged.
    let shown = env.dandori(["task", "show", "1", "--json"]).json();
    let worktree = Utf8PathBuf::from(shown["runs"][0]["worktree"].as_str().unwrap());
    std::fs::write(worktree.join("mine.txt"), "mine\n").unwrap();
    std::fs::write(&key, "").unwrap();
    let resumed = env.dandori(["task", "retry", "1", "--json"]).json();
    let resumed = &resumed["runs"][0];
    assert_eq!((&resumed["id"], &resumed["state"]), (&run["id"], &"SUCCEEDED".into()), "{resumed}");
    assert_eq!(resumed["pr"]["number"], 1);
    let (branch, commit) = (resumed["branch"].as_str().unwrap(), resumed["commit"].as_str().unwrap());
    assert_eq!(env.git_in(&env.origin(), ["rev-parse", branch]), commit);
    assert_eq!(env.git(["show", &format!("{commit}:launches.txt")]), "launched", "the agent was started once");
    assert_eq!(env.git(["diff", "--name-only", "main", commit]), "launches.txt\nwork.txt");
    assert!(env.git(["cat-file", "commit", commit]).contains("gpgsig"));
    assert_eq!(std::fs::read_to_string(worktree.join("mine.txt")).unwrap(), "mine\n");
}

#[test]
fn a_commit_whose_worktree_was_removed_is_run_again_from_the_base() {
    let (env, key) = signer();
    let failed = env.run_json(["sign it", "--agent", EDITS]);
    let run = &failed["runs"][0];
    assert_eq!(run["state"], "FAILED");
    let name = run["branch"].as_str().unwrap().strip_prefix("dandori/").unwrap();
    let _ = env.dandori(["worktree", "remove", name, "--force"]).ok();
    std::fs::write(&key, "").unwrap();
    let again = env.dandori(["task", "retry", "1", "--json"]).json();
    let again = &again["runs"][0];
    assert_ne!(again["id"], run["id"]);
    assert_eq!(again["state"], "SUCCEEDED", "{again}");
}
