//! The front door and the inbox: what needs a person, as a user meets it.

use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

/// What changes from run to run, by name: ids, keys, ages, paths.
fn plain(env: &TestEnv, text: &str) -> String {
    let mut text = text.replace(env.root().as_str(), "<root>");
    // A need's id stands at the beginning of its line; it may have no digit in it.
    let ids = text.lines().filter_map(|line| line.split_once("  T-")).map(|(id, _)| id.to_owned());
    for id in ids.filter(|id| id.len() == 8 && id.bytes().all(|b| b.is_ascii_alphanumeric())).collect::<Vec<_>>() {
        text = text.replace(&id, "<key>");
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        // One in twenty has no digit; in the inbox it stands before the task.
        let is_before_task = words.get(at + 1).is_some_and(|next| next.starts_with("T-"));
        let is_key = bare.len() == 8
            && (is_before_task || bare.chars().any(|c| c.is_ascii_digit()))
            && bare.chars().all(|c| c.is_ascii_alphanumeric());
        if is_key {
            text = text.replace(bare, "<key>");
        }
    }
    let is_age = |word: &str| {
        word.len() > 1 && word.ends_with('s') && word[..word.len() - 1].bytes().all(|b| b.is_ascii_digit())
    };
    let ages: Vec<String> = text.split_whitespace().filter(|word| is_age(word)).map(str::to_owned).collect();
    for age in ages {
        text = text.replace(&format!(" {age} "), " <age> ").replace(&format!("{age} ago"), "just now");
    }
    text.replace("<age> ago", "just now")
}

#[test]
fn a_fresh_repository_is_told_where_to_begin_without_starting_anything() {
    let env = machine();
    let said = env.dandori(Vec::<&str>::new()).ok();
    insta::assert_snapshot!(said, @r#"
    No tasks in this repository yet

    Next
      dandori demo     see it all in a minute, no account needed
      dandori run "…"  give an agent a task
      dandori doctor   check this machine
    "#);
    assert_eq!(env.dandori(["status"]).ok(), said);
    let outside = env.dandori_in(env.root(), ["--lang", "ja"]).ok();
    insta::assert_snapshot!(outside, @r"
    まだタスクがありません

    次の操作
      dandori demo    1 分で一通り試す (アカウント不要)
      dandori doctor  この環境を点検する
      dandori --help  すべてのコマンドを表示する
    ");
    assert!(!env.state().exists(), "nothing was started, and nothing was written");
    let json = env.dandori(["--json"]).json();
    assert_eq!((&json["total"], &json["needs"]), (&0.into(), &serde_json::json!([])));
    assert_eq!(json["next"][0]["command"], "dandori demo");
}

#[test]
fn help_and_version_are_commands_too() {
    let env = machine();
    assert_eq!(env.dandori(["version"]).ok(), env.dandori(["--version"]).ok());
    assert_eq!(env.dandori(["help"]).ok(), env.dandori(["--help"]).ok());
    assert_eq!(env.dandori(["help", "task", "show"]).ok(), env.dandori(["task", "show", "--help"]).ok());
    assert_eq!(
        env.dandori(["help", "ls", "--lang", "ja"]).ok(),
        env.dandori(["task", "list", "--help", "--lang", "ja"]).ok()
    );
}

#[test]
fn near_words_lead_to_the_right_verb_or_name_the_ones_to_choose_from() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    assert_eq!(env.dandori(["ls"]).ok(), env.dandori(["task", "list"]).ok());
    assert_eq!(env.dandori(["diff", "T-1"]).ok(), env.dandori(["task", "diff", "T-1"]).ok());
    assert_eq!(env.dandori(["task", "view", "1"]).ok(), env.dandori(["task", "show", "1"]).ok());
    let said = env.dandori(["rm", "T-1"]).fails(2);
    insta::assert_snapshot!(said, @r"
    error: `rm` can mean several things
    hint: use `dandori task cancel T-1` or `dandori worktree remove T-1`
    ");
    let told = env.dandori(["stop", "--json", "--lang", "ja"]);
    assert_eq!((told.code, &told.json()["error"]["code"]), (2, &"usage".into()));
    assert!(told.stderr.contains("`dandori task cancel …`、`dandori daemon stop`"), "{told:?}");
}

#[test]
fn what_failed_needs_somebody_until_it_is_tried_again() {
    let env = machine();
    env.run_json(["add a file", "--agent", "exec:echo x > x.txt"]);
    let marker = env.root().join("tmp/mended");
    let agent = format!("exec:test -e {marker} || {{ echo boom; exit 3; }}");
    env.write_user_config("[sandbox]\nwrite = [\"/tmp\"]\n");
    env.run_json(["it fails", "--agent", &agent]);
    let said = env.dandori(Vec::<&str>::new()).ok();
    insta::assert_snapshot!(plain(&env, &said), @r"
    Needs you (1)
      T-2  it fails  just now
        failed: the agent exited with code 3: boom
        `dandori task retry T-2`

    Recent
      T-1  SUCCEEDED  just now  1 file, +1 −0  add a file

    Next
      dandori task retry T-2  resolve the newest of these
      dandori task diff T-1   see what it changed
      dandori pr create T-1   open a pull request
    ");
    let listed = env.dandori(["inbox", "--lang", "ja"]).ok();
    insta::assert_snapshot!(plain(&env, &listed), @r"
    <key>  T-2  it fails  たった今
      失敗: エージェントが終了コード 3 で終了しました: boom
      `dandori task retry T-2`
    ");
    let needs = env.dandori(["inbox", "--json"]).json();
    assert_eq!((&needs["total"], &needs["needs"][0]["kind"]), (&1.into(), &"failed".into()), "{needs}");
    assert_eq!(needs["needs"][0]["command"], "dandori task retry T-2");
    assert_eq!(needs["needs"][0]["pr"], serde_json::Value::Null);
    // From elsewhere it is seen with where it is.
    let outside = env.dandori_in(env.root(), ["inbox"]).ok();
    assert!(outside.contains(env.repo().as_str()), "{outside}");
    // What it says to do helps, and then it needs nobody.
    std::fs::write(&marker, "").unwrap();
    let _ = env.dandori(["task", "retry", "T-2"]).ok();
    let quiet = env.dandori(["inbox"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.trim()), ("", "Nothing needs you"));
}

#[test]
fn a_need_is_snoozed_with_a_reason_dismissed_and_brought_back() {
    let env = machine();
    for name in ["one", "two"] {
        env.run_json([name, "--agent", "exec:exit 3"]);
    }
    let ids = |args: &[&str]| -> Vec<String> {
        let words = ["inbox"].iter().chain(args).chain(&["--json"]);
        let found = env.dandori(words).json();
        found["needs"].as_array().unwrap().iter().map(|need| need["id"].as_str().unwrap().to_owned()).collect()
    };
    let both = ids(&[]);
    assert_eq!(both.len(), 2);
    let newest = &both[0];
    let said = env.dandori(["inbox", "snooze", &newest[..5], "--for", "2h", "--reason", "ask Anna"]);
    assert!(said.stdout.contains(newest) && said.stderr.contains(&format!("dandori inbox wake {newest}")), "{said:?}");
    assert_eq!(ids(&[]), [both[1].clone()]);
    let listed = env.dandori(["inbox"]);
    assert!(listed.stderr.contains("1 snoozed: `dandori inbox --snoozed`"), "{listed:?}");
    let snoozed = env.dandori(["inbox", "--snoozed"]).ok();
    assert!(snoozed.contains("ask Anna") && snoozed.contains(newest), "{snoozed}");
    // By what it is about, and over a restart.
    let _ = env.dandori(["inbox", "dismiss", "T-1"]).ok();
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert_eq!(ids(&[]), Vec::<String>::new());
    assert_eq!(ids(&["--snoozed"]).len(), 2);
    let _ = env.dandori(["inbox", "wake", newest]).ok();
    assert_eq!(ids(&[]), std::slice::from_ref(newest));
    assert_eq!(env.dandori(["inbox", "dismiss", "--all", "--json"]).json()["total"], 1);
    assert_eq!(ids(&[]), Vec::<String>::new());
    // A second failure of what was dismissed is another need.
    assert_eq!(env.dandori(["task", "retry", "T-1"]).code, 1);
    assert_eq!(ids(&[]).len(), 1);
    // Mistakes.
    let said = env.dandori(["inbox", "dismiss"]).fails(2);
    assert!(said.contains("--all"), "{said}");
    let said = env.dandori(["inbox", "show", "zzzz"]).fails(1);
    assert!(said.contains("`zzzz` not found in the inbox"), "{said}");
    let said = env.dandori(["inbox", "snooze", newest, "--for", "soon"]).fails(2);
    assert!(said.contains("invalid duration `soon`"), "{said}");
}

#[test]
fn an_agent_cannot_put_needs_away() {
    let mut env = machine();
    env.run_json(["one", "--agent", "exec:exit 3"]);
    env.var("CLAUDECODE", "1");
    let said = env.dandori(["inbox", "dismiss", "--all"]).fails(1);
    assert!(said.contains("Claude"), "{said}");
    assert_eq!(env.dandori(["inbox", "--json"]).json()["total"], 1, "it may look");
}

#[test]
fn a_run_that_was_refused_for_want_of_trust_needs_somebody_until_it_is_trusted() {
    let env = machine();
    env.write("dandori.toml", "[worktrees]\nset_up = [\"true\"]\n");
    assert_eq!(env.dandori(["inbox", "--json"]).json()["total"], 0, "nobody has asked for anything yet");
    let _ = env.dandori(["run", "x", "--agent", "exec:true"]).fails(1);
    let found = env.dandori(["inbox", "--json"]).json();
    assert_eq!((&found["needs"][0]["kind"], &found["needs"][0]["command"]), (&"trust".into(), &"dandori trust".into()));
    let elsewhere = env.dandori_in(env.root(), ["inbox", "--json"]).json();
    assert_eq!(elsewhere["needs"][0]["command"], format!("cd {} && dandori trust", env.repo()));
    let shown = env.dandori(["inbox", "show", found["needs"][0]["id"].as_str().unwrap()]).ok();
    assert!(shown.contains("worktrees.set_up: true"), "{shown}");
    let _ = env.dandori(["trust", "--yes"]).ok();
    assert_eq!(env.dandori(["inbox", "--json"]).json()["total"], 0);
}

#[test]
fn kept_work_needs_a_look_and_a_pull_request_here_a_review() {
    let env = machine();
    let _ = env.dandori(["run", "cancel me", "-d", "--agent", "exec:echo x > x.txt; sleep 600"]).ok();
    wait_until("there is something to keep", || {
        let shown = env.dandori(["task", "show", "T-1", "--json"]).json();
        shown["runs"][0]["worktree"].as_str().is_some_and(|tree| std::path::Path::new(tree).join("x.txt").exists())
    });
    let now = env.dandori(Vec::<&str>::new()).ok();
    assert!(now.contains("Running (1)") && now.contains("dandori task cancel T-1"), "{now}");
    let _ = env.dandori(["task", "cancel", "T-1"]).ok();
    let kinds = || -> Vec<String> {
        let found = env.dandori(["inbox", "--json"]).json();
        found["needs"].as_array().unwrap().iter().map(|need| need["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(), ["kept_work"]);
    let _ = env.dandori(["worktree", "restore", "T-1"]).ok();
    assert_eq!(kinds(), Vec::<String>::new());
    env.run_json(["publish", "--pr", "--agent", "exec:echo y > y.txt"]);
    assert_eq!(kinds(), ["pull_ready"]);
    let found = env.dandori(["inbox", "--json"]).json();
    assert_eq!((&found["needs"][0]["pr"]["number"], &found["needs"][0]["task"]), (&1.into(), &"T-2".into()), "{found}");
    let said = env.dandori(Vec::<&str>::new()).ok();
    assert!(said.contains("`dandori pr merge 1`"), "{said}");
    let _ = env.dandori(["pr", "show", "1"]).ok();
}

#[test]
fn several_that_are_done_are_a_choice_until_one_is_picked() {
    let env = machine();
    env.run_json(["x", "--agents", "exec:echo a > a.txt,exec:echo b > b.txt"]);
    let found = env.dandori(["inbox", "--json"]).json();
    assert_eq!(found["needs"][0]["kind"], "choice", "{found}");
    assert_eq!(found["needs"][0]["command"], "dandori task compare T-1");
    let key = env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["run"].as_str().unwrap().to_owned();
    let _ = env.dandori(["task", "pick", "T-1", &key]).ok();
    assert_eq!(env.dandori(["inbox", "--json"]).json()["total"], 0);
}

#[test]
fn a_pull_request_that_is_behind_or_in_conflict_says_so_with_what_helps() {
    let env = machine();
    env.run_json(["edit", "--pr", "--agent", "exec:echo ours > README.md"]);
    let need = || env.dandori(["inbox", "--json"]).json()["needs"][0].clone();
    assert_eq!((&need()["kind"], &need()["detail"]["behind"]), (&"pull_ready".into(), &0.into()));
    crate::remote::overtake(&env, "main", "theirs.txt", "theirs");
    env.git(["fetch", "--quiet"]);
    assert_eq!((&need()["kind"], &need()["detail"]["behind"]), (&"pull_ready".into(), &1.into()));
    assert!(env.dandori(Vec::<&str>::new()).ok().contains("it is 1 commit behind main"));
    // Who has put aside that it waits is told of the conflict all the same.
    let _ = env.dandori(["inbox", "dismiss", "--all"]).ok();
    crate::remote::overtake(&env, "main", "README.md", "theirs");
    env.git(["fetch", "--quiet"]);
    assert_eq!(
        (&need()["kind"], &need()["command"], &need()["pr"]["number"]),
        (&"pull_conflict".into(), &"dandori pr update 1".into(), &1.into())
    );
    let front = env.dandori(Vec::<&str>::new()).ok();
    assert!(front.contains("conflicts with main: README.md") && front.contains("`dandori pr update 1`"), "{front}");
    let front = env.dandori(["--lang", "ja"]).ok();
    assert!(front.contains("main とコンフリクトしています: README.md"), "{front}");
}

#[test]
fn a_repository_that_was_moved_says_where_its_tasks_are_and_how_to_get_them_back() {
    let env = machine();
    env.run_json(["edit", "--agent", "exec:echo x > x.txt"]);
    let moved = env.root().join("moved here");
    std::fs::rename(env.repo(), &moved).unwrap();
    let front = env.dandori_in(&moved, Vec::<&str>::new()).ok();
    let hint = format!("mv '{moved}' {}", env.repo());
    assert!(front.contains("was moved") && front.contains(&hint), "{front}");
    let front = env.dandori_in(&moved, ["--lang", "ja"]).ok();
    assert!(front.contains("移動されています") && front.contains(&hint), "{front}");
    let status = env.dandori_in(&moved, ["status", "--json"]).json();
    assert_eq!(status["moved_from"], env.repo().as_str());
    env.command("sh", ["-c", &hint], env.root());
    let front = env.dandori(Vec::<&str>::new()).ok();
    assert!(front.contains("T-1") && !front.contains("was moved"), "{front}");
    // Another repository is not meant.
    std::fs::rename(env.repo(), &moved).unwrap();
    let other = env.root().join("other");
    env.command("git", ["init", "--quiet", other.as_str()], env.root());
    assert!(env.dandori_in(&other, Vec::<&str>::new()).ok().contains("No tasks in this repository yet"));
}
