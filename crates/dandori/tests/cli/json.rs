//! Every verb with `--json`, once as it should be and once as it fails: what it prints is what `docs/schema` says, no more and no less.

use std::collections::BTreeSet;
use std::path::Path;

use dandori_testkit::env::{Ran, TestEnv};
use serde_json::{Value, json};

use crate::guard_verbs::at_a_terminal;
use crate::machine;

const EDITS: &str = "exec:echo hello > hello.txt; echo done";

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema"))
}

/// The schema of a command, without room for what it does not name.
fn schema(command: &str) -> jsonschema::Validator {
    let path = folder().join(format!("{command}.json"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{command} has no schema: {}: {e}", path.display()));
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    // The parts of one that is put together do not know each other's properties.
    if !text.contains("NDJSON") && !text.contains("allOf") {
        close(&mut schema);
    }
    jsonschema::validator_for(&schema).unwrap()
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.contains_key("properties") {
                object.insert("additionalProperties".to_owned(), false.into());
            }
            object.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn check(command: &str, what: &str, value: &Value) {
    let found: Vec<String> =
        schema(command).iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(found.is_empty(), "{what}: {found:#?}\n{value:#}");
}

/// What has been tried, by the names of the schemas.
#[derive(Default)]
struct Tried {
    well: BTreeSet<String>,
    badly: BTreeSet<String>,
}

impl Tried {
    fn name(words: &[&str]) -> String {
        let groups = [
            "task",
            "worktree",
            "pr",
            "playbook",
            "state",
            "daemon",
            "guard",
            "inbox",
            "notify",
            "prompt",
            "config",
            "order",
            "queue",
            "plan",
            "result",
            "dead-letter",
            "quarantine",
        ];
        match words {
            [group, verb, ..] if groups.contains(group) && !verb.starts_with('-') => format!("{group}-{verb}"),
            [verb, ..] => (*verb).to_owned(),
            [] => String::new(),
        }
    }

    fn said(env: &TestEnv, words: &[&str]) -> Ran {
        env.dandori([words, &["--json"]].concat())
    }

    /// It answers with its object, whatever its exit code says about it.
    fn well(&mut self, env: &TestEnv, words: &[&str]) -> Value {
        let name = Self::name(words);
        let ran = Self::said(env, words);
        let value = ran.json();
        assert!(value.get("error").is_none(), "{words:?}: {value:#}");
        check(&name, &words.join(" "), &value);
        self.well.insert(name);
        value
    }

    /// The same at a terminal, where somebody types.
    fn by_a_person(&mut self, env: &TestEnv, words: &[&str], typed: &str) -> Value {
        let name = Self::name(words);
        let line = format!("{} {} --json 2> /dev/null", env.bin(), words.join(" "));
        let said = at_a_terminal(env, &line, typed);
        let (object, code) = said.rsplit_once("exit ").unwrap();
        assert_eq!(code, "0", "{words:?}: {said}");
        let value: Value = serde_json::from_str(object.trim()).unwrap_or_else(|e| panic!("{words:?}: {e}: {said}"));
        check(&name, &words.join(" "), &value);
        self.well.insert(name);
        value
    }

    fn lines(&mut self, env: &TestEnv, words: &[&str]) {
        let name = Self::name(words);
        let ran = Self::said(env, words);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.stdout.is_empty());
        for line in ran.stdout.lines() {
            check(&name, &words.join(" "), &serde_json::from_str(line).unwrap());
        }
        self.well.insert(name);
    }

    /// It fails, with one object that says so.
    fn badly(&mut self, env: &TestEnv, words: &[&str]) {
        let ran = Self::said(env, words);
        assert_ne!(ran.code, 0, "{words:?}: {ran:?}");
        let value = ran.json();
        check("error", &words.join(" "), &value);
        let (message, hint) = (&value["error"]["message"], &value["error"]["hint"]);
        assert!(message.as_str().is_some_and(|m| !m.is_empty()) && hint != "", "{value:#}");
        self.badly.insert(Self::name(words));
    }
}

/// Every verb the program has, by what its own completion knows of it.
fn verbs(env: &TestEnv) -> BTreeSet<String> {
    let leaf = |path: &[String]| path.join("-");
    let mut found = BTreeSet::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = open.pop() {
        let help = env.dandori(path.iter().map(String::as_str).chain(["--help"])).ok();
        let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
        let subs: Vec<String> = listed
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
            .collect();
        if subs.is_empty() {
            found.insert(leaf(&path));
        }
        open.extend(subs.into_iter().map(|sub| path.iter().cloned().chain([sub]).collect()));
    }
    found
}

/// What needs a person, put away and brought back.
fn inbox(tried: &mut Tried, env: &TestEnv) {
    tried.well(env, &["run", "It breaks too", "--agent", "exec:exit 8"]);
    let listed = tried.well(env, &["inbox"]);
    let id = listed["needs"][0]["id"].as_str().unwrap();
    tried.well(env, &["inbox", "show", id]);
    tried.well(env, &["inbox", "snooze", id, "--for", "1h", "--reason", "later"]);
    tried.badly(env, &["inbox", "snooze", id, "--for", "soon"]);
    tried.well(env, &["inbox", "--snoozed"]);
    tried.well(env, &["inbox", "wake", id]);
    tried.well(env, &["inbox", "dismiss", id]);
    for words in [&["inbox", "show", "zzzz"][..], &["inbox", "wake", "zzzz"], &["inbox", "dismiss"]] {
        tried.badly(env, words);
    }
    tried.well(env, &["notify", "test"]);
    env.write_user_config("[notify]\nbell = true\ncommand = \"exit 3\"\n");
    tried.well(env, &["notify", "test"]);
    tried.badly(env, &["notify", "test", "now"]);
}

/// A formation whose first worker always fails and whose others never come to an end: a task that failed, a message that could
/// not be delivered, a lease that somebody has.
fn formation(tried: &mut Tried, env: &TestEnv) {
    let config = |pending: u32| {
        env.write_user_config(&format!(
            "[formation]\nworkers = 2\nagent = \"exec:sleep 600\"\nworker_agents = [\"exec:exit 7\"]\n\
             [formation.rules]\nattempts = 1\npending_per_worker = {pending}\n"
        ));
    };
    config(1);
    tried.well(env, &["setup"]);
    tried.badly(env, &["setup", "/nonexistent"]);
    let given = tried.well(env, &["queue", "write", "planner", "--type", "command", "--content", "Build it"]);
    tried.badly(env, &["queue", "write", "planner", "--type", "command"]);
    let order = given["command_id"].as_str().unwrap();
    env.write(
        "plan.yaml",
        "tasks:\n- {name: a, purpose: p, content: c, acceptance_criteria: d}\n\
        - {name: b, purpose: p, content: c, acceptance_criteria: d}\n\
        - {name: c, purpose: p, content: c, acceptance_criteria: d, blocked_by: [a]}\n",
    );
    let submit = ["plan", "submit", "--command-id", order, "--tasks-file", "plan.yaml"];
    // Refused, as one worker would have two tasks; then there is room.
    tried.badly(env, &submit);
    config(9);
    let kept = tried.well(env, &["quarantine", "list"])["quarantined"][0]["number"].to_string();
    tried.badly(env, &["quarantine", "list", "--nonsense"]);
    tried.well(env, &["quarantine", "show", &kept]);
    tried.badly(env, &["quarantine", "show", "99"]);
    let restored = tried.well(env, &["quarantine", "restore", &kept]);
    tried.badly(env, &["quarantine", "restore", &kept]);
    let task = |name: &str| {
        let tasks = restored["plan"]["tasks"].as_array().unwrap();
        tasks.iter().find(|task| task["name"] == name).unwrap()["task_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (task("a"), task("b"));
    tried.well(env, &["plan", "show", order]);
    tried.badly(env, &["plan", "show"]);
    tried.well(env, &["order", "pause", order, "--reason", "lunch"]);
    tried.badly(env, &["order", "pause", "99"]);
    tried.well(env, &["order", "resume", order]);
    tried.badly(env, &["order", "resume", "99"]);
    tried.well(env, &["up"]);
    tried.badly(env, &["up", "--yes"]);
    let state_of = |task: &str| {
        let shown = env.dandori(["order", "show", order, "--json"]).json();
        let tasks = shown["tasks"].as_array().unwrap();
        tasks.iter().find(|found| found["id"] == task).unwrap()["state"].as_str().unwrap().to_owned()
    };
    dandori_testkit::env::wait_until("the first has failed, the second is at work", || {
        state_of(&first) == "failed" && state_of(&second) == "running"
    });
    tried.well(env, &["order", "show", order]);
    tried.badly(env, &["order", "show", "99"]);
    tried.well(env, &["order", "list"]);
    tried.badly(env, &["order", "list", "--nonsense"]);
    let letter = tried.well(env, &["dead-letter", "list"])["dead_letters"][0]["id"].as_str().unwrap().to_owned();
    tried.badly(env, &["dead-letter", "list", "--nonsense"]);
    tried.well(env, &["dead-letter", "show", &letter]);
    tried.badly(env, &["dead-letter", "show", "nothing"]);
    let report = ["result", "write", "worker2", "--task-id", &second, "--lease-epoch", "1", "--status", "completed"];
    tried.well(env, &["task", "heartbeat", "--task-id", &second, "--worker-id", "worker2", "--epoch", "1"]);
    tried.badly(env, &["task", "heartbeat", "--task-id", &second, "--worker-id", "worker1", "--epoch", "1"]);
    let written = tried.well(env, &[&report[..], &["--summary", "It is built, with its tests"]].concat());
    assert_eq!(written["accepted"], "noted", "its run has not ended: {written:#}");
    tried.badly(env, &[&report[..], &["--summary", "done"]].concat());
    tried.well(env, &["down"]);
    tried.badly(env, &["down", "now"]);
    let retry = ["plan", "add-retry-task", "--command-id", order, "--retry-of", &first];
    let added = tried.well(env, &[&retry[..], &["--content", "Build it otherwise"]].concat());
    assert_eq!(added["cascade_recovered"].as_array().unwrap().len(), 1, "{added:#}");
    tried.badly(env, &retry);
    tried.badly(env, &["dead-letter", "requeue", &letter]);
    tried.well.insert("dead-letter-requeue".to_owned());
    let reviewed = env.dandori(["order", "Write about it", "--review", "--detach", "--json"]).json();
    check("order", "order", &reviewed);
    tried.badly(env, &["order", "approve", "2"]);
    env.dandori(["down"]).ok();
    env.write("one.yaml", "tasks:\n- {name: w, purpose: p, content: c, acceptance_criteria: d, covers: [1]}\n");
    tried.well(env, &["plan", "submit", "--command-id", "2", "--tasks-file", "one.yaml"]);
    tried.well(env, &["order", "approve", "2"]);
    tried.well(env, &["order", "amend", "2", "in blue"]);
    tried.badly(env, &["order", "amend", "99", "in blue"]);
    tried.badly(env, &["plan", "complete", "--command-id", "2", "--summary", "all of it is written"]);
    tried.well(env, &["order", "cancel", "2"]);
    tried.badly(env, &["order", "cancel", "99"]);
    tried.well(env, &["plan", "complete", "--command-id", "2", "--summary", "it was called off"]);
    tried.well(env, &["plan", "request-cancel", "--command-id", order]);
    tried.badly(env, &["plan", "request-cancel", "--command-id", "99"]);
    tried.well(env, &["doctor", "--formation"]);
    dandori_testkit::env::wait_until("the second is stopped", || state_of(&second) == "cancelled");
    // The planner would not come to an end by itself.
    for open in env.dandori(["task", "list", "--open", "--json"]).json()["tasks"].as_array().unwrap() {
        env.dandori(["task", "cancel", open["task"].as_str().unwrap()]).ok();
    }
    env.write_user_config("");
    std::fs::remove_file(env.repo().join("dandori.toml")).unwrap();
}

/// Templates and configuration files, with an editor that adds a line.
fn files(tried: &mut Tried, env: &TestEnv) {
    let editor = env.root().join("editor");
    std::fs::write(&editor, "#!/bin/sh\necho '# seen' >> \"$1\"\n").unwrap();
    env.command("chmod", ["+x", editor.as_str()], env.root());
    env.command("git", ["config", "--global", "core.editor", editor.as_str()], env.root());
    tried.well(env, &["prompt", "edit", "fix"]);
    tried.badly(env, &["prompt", "edit", "../fix"]);
    tried.well(env, &["prompt", "show", "fix"]);
    tried.badly(env, &["prompt", "show", "nothing"]);
    tried.well(env, &["prompt", "list"]);

    tried.well(env, &["config", "set", "pr", "true"]);
    tried.well(env, &["config", "set", "pr", "--unset"]);
    tried.badly(env, &["config", "set", "pr", "perhaps"]);
    tried.well(env, &["config", "init", "--repository"]);
    tried.badly(env, &["config", "init", "--repository"]);
    tried.well(env, &["config", "edit"]);
    std::fs::write(&editor, "#!/bin/sh\necho 'agnet = 1' >> \"$1\"\n").unwrap();
    tried.badly(env, &["config", "edit"]);
    env.write_user_config("");
    tried.badly(env, &["config", "show", "nothing"]);
}

#[test]
fn every_verb_prints_what_its_schema_says() {
    let env = machine();
    let mut tried = Tried::default();
    let elsewhere = env.root().to_owned();
    let outside = |tried: &mut Tried, words: &[&str]| {
        let ran = env.dandori_in(&elsewhere, [words, &["--json"]].concat());
        check("error", &words.join(" "), &ran.json());
        tried.badly.insert(Tried::name(words));
    };

    tried.well(&env, &["run", "Say hello", "--agent", EDITS, "--pr"]);
    tried.badly(&env, &["run", "x", "--agent", "nobody"]);
    tried.well(&env, &["run", "It breaks", "--agent", "exec:exit 7"]);
    tried.well(&env, &["task", "list"]);
    tried.badly(&env, &["task", "list", "--state", "sleeping"]);
    tried.well(&env, &["task", "show", "T-2"]);
    tried.badly(&env, &["task", "show", "T-99"]);
    tried.well(&env, &["task", "follow-up", "1", "Say it again"]);
    tried.badly(&env, &["task", "follow-up", "T-99", "x"]);
    tried.well(&env, &["task", "retry", "T-2"]);
    tried.badly(&env, &["task", "retry", "T-1"]);
    tried.well(&env, &["task", "compare", "T-1"]);
    tried.badly(&env, &["task", "compare", "T-99"]);
    tried.well(&env, &["task", "pick", "T-1", EDITS]);
    tried.badly(&env, &["task", "pick", "T-1", "nobody"]);
    tried.lines(&env, &["task", "log", "T-1"]);
    tried.badly(&env, &["task", "log", "T-99"]);
    tried.well(&env, &["task", "diff", "T-1"]);
    tried.badly(&env, &["task", "diff", "T-99"]);
    let started = tried.well(&env, &["run", "Wait", "--agent", "exec:sleep 600", "--detach"]);
    let canceled = tried.well(&env, &["task", "cancel", started["task"].as_str().unwrap(), "T-99"]);
    assert_eq!(canceled["tasks"][1]["error"]["code"], "no_such_task", "{canceled:#}");
    tried.badly(&env, &["task", "cancel", "T-99"]);

    tried.well(&env, &["worktree", "add", "hand"]);
    tried.badly(&env, &["worktree", "add", "hand"]);
    tried.well(&env, &["worktree", "list"]);
    tried.well(&env, &["worktree", "list", "--sizes"]);
    outside(&mut tried, &["worktree", "list"]);
    tried.well(&env, &["worktree", "remove", "hand"]);
    tried.badly(&env, &["worktree", "remove", "hand"]);
    tried.well(&env, &["worktree", "gc", "--dry-run"]);
    outside(&mut tried, &["worktree", "gc"]);
    let other = env.root().join("other");
    env.git(["worktree", "add", "-q", "-b", "other", other.as_str()]);
    tried.well(&env, &["worktree", "adopt", other.as_str()]);
    tried.badly(&env, &["worktree", "adopt", "/nowhere"]);
    std::fs::write(other.join("kept.txt"), "kept\n").unwrap();
    tried.well(&env, &["worktree", "remove", "--force", "other"]);
    tried.well(&env, &["worktree", "restore", "other"]);
    tried.badly(&env, &["worktree", "restore", "nothing-like-it"]);

    tried.well(&env, &["worktree", "path", "other"]);
    tried.badly(&env, &["worktree", "path", "nothing-like-it"]);
    tried.well(&env, &["task", "open", "T-1"]);
    tried.badly(&env, &["task", "open", "T-99"]);
    for words in [&["status"][..], &["inbox"], &["config", "show"], &["prompt", "list"]] {
        tried.well(&env, words);
        tried.badly(&env, &[words, &["--nonsense"]].concat());
    }

    tried.well(&env, &["pr", "create", "T-1"]);
    tried.badly(&env, &["pr", "create", "T-99"]);
    tried.well(&env, &["pr", "list"]);
    outside(&mut tried, &["pr", "list"]);
    tried.well(&env, &["pr", "show", "#1"]);
    tried.badly(&env, &["pr", "show", "99"]);
    tried.well(&env, &["pr", "open", "1"]);
    tried.badly(&env, &["pr", "open", "99"]);
    tried.well(&env, &["pr", "diff", "1"]);
    tried.badly(&env, &["pr", "diff", "99"]);
    tried.well(&env, &["pr", "checkout", "1"]);
    tried.badly(&env, &["pr", "checkout", "99"]);
    tried.badly(&env, &["pr", "merge", "1", "--yes"]);
    tried.well(&env, &["pr", "close", "1"]);
    tried.badly(&env, &["pr", "close", "99"]);
    tried.well(&env, &["pr", "reopen", "1"]);
    tried.badly(&env, &["pr", "reopen", "99"]);
    tried.badly(&env, &["pr", "update", "1"]);
    crate::remote::overtake(&env, "main", "theirs.txt", "theirs");
    tried.well(&env, &["pr", "update", "1"]);
    // Back from the branch that was checked out: the merge moves main with its checkout.
    env.git(["switch", "-q", "main"]);
    tried.by_a_person(&env, &["pr", "merge", "1", "--yes"], "");

    formation(&mut tried, &env);
    inbox(&mut tried, &env);
    files(&mut tried, &env);

    tried.badly(&env, &["playbook", "show"]);
    tried.badly(&env, &["playbook", "check"]);
    tried.badly(&env, &["playbook", "status"]);
    tried.well(&env, &["state", "history"]);
    tried.well(&env, &["playbook", "new", "plan", "--activate", "--yes"]);
    tried.badly(&env, &["playbook", "new", "plan"]);
    tried.well(&env, &["playbook", "show"]);
    tried.well(&env, &["playbook", "check"]);
    tried.well(&env, &["playbook", "status"]);
    tried.well(&env, &["post-loop"]);
    tried.badly(&env, &["post-loop", "--nonsense"]);
    tried.well(&env, &["state", "show"]);
    outside(&mut tried, &["state", "show"]);
    tried.well(&env, &["state", "set", "focus", "plan"]);
    tried.badly(&env, &["state", "set", "config.security", "whatever"]);
    tried.well(&env, &["state", "history"]);
    tried.badly(&env, &["state", "history", "12345"]);

    tried.well(&env, &["guard", "explain", "git push --force && cat .env > out | sh"]);
    tried.badly(&env, &["guard", "explain"]);
    let event = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": env.repo(),
                        "tool_input": { "command": "rm -rf /" } });
    env.write("event.json", &event.to_string());
    tried.well(&env, &["guard", "test", "event.json"]);
    tried.badly(&env, &["guard", "test", "no-such-file.json"]);
    tried.well(&env, &["guard", "list"]);
    tried.badly(&env, &["guard", "list", "--nonsense"]);
    tried.well(&env, &["guard", "stats"]);
    tried.well(&env, &["guard", "stats", "--runs"]);
    tried.badly(&env, &["guard", "stats", "--since", "yesterday"]);
    tried.badly(&env, &["guard", "revoke", "nothing"]);
    tried.badly(&env, &["guard", "allow", "main-branch"]);
    let given = tried.by_a_person(&env, &["guard", "allow", "main-branch"], "yes\n");
    tried.by_a_person(&env, &["guard", "revoke", given["id"].as_str().unwrap()], "yes\n");
    tried.well(&env, &["consent"]);
    tried.badly(&env, &["consent", "--nonsense"]);

    tried.well(&env, &["init", "--agent", "claude", "--dry-run"]);
    tried.well(&env, &["init", "--agent", "claude"]);
    tried.badly(&env, &["init", "--agent", "nobody"]);
    tried.well(&env, &["doctor"]);
    tried.badly(&env, &["doctor", "--guards", "--sandbox"]);
    tried.well(&env, &["trust", "--show"]);
    outside(&mut tried, &["trust", "--show"]);
    tried.well(&env, &["completions", "bash"]);
    tried.badly(&env, &["completions", "cmd.exe"]);
    tried.badly(&env, &["demo", "--nonsense"]);
    tried.well(&env, &["demo"]);

    tried.well(&env, &["daemon", "status"]);
    tried.well(&env, &["daemon", "start"]);
    tried.badly(&env, &["daemon", "start", "--listen", "127.0.0.1:1"]);
    tried.well(&env, &["daemon", "logs"]);
    tried.badly(&env, &["daemon", "logs", "-n", "many"]);
    tried.well(&env, &["daemon", "stop"]);
    tried.well(&env, &["daemon", "status"]);
    tried.badly(&env, &["daemon", "status", "now"]);
    tried.badly(&env, &["daemon", "stop", "now"]);
    tried.badly(&env, &["uninstall"]);
    tried.well(&env, &["uninstall", "--dry-run"]);
    tried.well(&env, &["uninstall", "--yes"]);

    // Manual pages are for people.
    tried.well.insert("man".to_owned());
    tried.badly.insert("man".to_owned());
    let verbs = verbs(&env);
    assert!(verbs.len() > 40, "{verbs:?}");
    let untried: Vec<&String> =
        verbs.iter().filter(|v| !tried.well.contains(*v) || !tried.badly.contains(*v)).collect();
    assert!(untried.is_empty(), "no schema, or not tried with --json both ways: {untried:?}");
}

#[test]
fn errors_speak_the_language_that_was_asked_for_and_have_the_same_code() {
    let env = machine();
    let english = env.dandori(["task", "show", "T-9", "--json"]).json();
    let japanese = env.dandori(["task", "show", "T-9", "--json", "--lang", "ja"]).json();
    assert_eq!(
        (&english["error"]["code"], &japanese["error"]["code"]),
        (&"no_such_task".into(), &"no_such_task".into())
    );
    assert!(english["error"]["message"].as_str().unwrap().is_ascii());
    assert!(!japanese["error"]["message"].as_str().unwrap().is_ascii());
    let failed = env.dandori(["run", "x", "--agent", "exec:exit 3", "--lang", "ja", "--json"]).json();
    let error = &failed["runs"][0]["error"];
    assert_eq!(error["code"], "agent", "{failed:#}");
    assert!(!error["message"].as_str().unwrap().is_ascii() && !error["hint"].as_str().unwrap().is_ascii(), "{error:#}");
}
