//! What the hooks have written down, by the verbs that show it.

use std::fmt::Write;

use camino::Utf8Path;
use serde_json::json;

use crate::machine;

fn append(folder: &Utf8Path, verdict: &str, session: &str) {
    let at = jiff::Zoned::now().timestamp();
    let segment = at.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d-%H.jsonl").to_string();
    let outcome = if verdict == "block" { "block" } else { "pass" };
    let record = json!({
        "version": 1, "at": at.as_millisecond(), "agent": "claude", "session": session, "event": "pre-tool",
        "verdict": verdict, "by": (verdict == "block").then_some("playbook"), "micros": 1_500, "action": "a1",
        "steps": [["init", "pass", 3], ["playbook", outcome, 1_200]],
    });
    let path = folder.join("spool").join(segment);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut text = std::fs::read_to_string(&path).unwrap_or_default();
    writeln!(text, "\n{record}").unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn guard_stats_needs_no_daemon_and_counts_what_each_guard_did() {
    let env = machine();
    let said = env.dandori(["guard", "stats"]);
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
    assert!(said.stderr.contains("no events yet"), "{}", said.stderr);
    let folder = dandori_engine::Layout::at(env.state()).guard(&env.repo());
    for (verdict, session) in [("block", "s"), ("block", "t"), ("go", "s"), ("go", "u")] {
        append(&folder, verdict, session);
    }
    let stats = env.dandori(["guard", "stats", "--json"]).json();
    assert_eq!(stats["stats"]["events"], 4);
    let playbook = &stats["stats"]["guards"][0];
    let counts = ["calls", "blocks", "likely_false_alarms"].map(|key| playbook[key].as_u64().unwrap());
    assert_eq!((playbook["guard"].as_str(), counts), (Some("playbook"), [4, 2, 1]), "{stats}");
    let shown = env.dandori(["guard", "stats", "--since", "1h"]);
    assert!(shown.stdout.contains("playbook  4      2       1                 1.1ms"), "{}", shown.stdout);
    assert!(shown.stdout.contains("4 events, 2 blocked, 0 asked;"), "{}", shown.stdout);
    assert!(env.dandori(["guard", "stats", "--all", "--lang", "ja"]).ok().contains("ブロック 2 件"));
    let wrong = env.dandori(["guard", "stats", "--since", "soon"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("7d"), "{}", wrong.stderr);
    assert!(!env.state().join("daemon.lock").exists(), "no daemon was started");
}

#[test]
fn guard_stats_counts_the_runs_of_a_repository_when_asked_for_them() {
    let env = machine();
    let none = env.dandori(["guard", "stats", "--runs"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("no events from runs yet"), "{}", none.stderr);
    env.run_json(["nothing", "--agent", "exec:true"]);
    let repos = env.state().join("repos");
    let folders: Vec<_> = repos.read_dir_utf8().unwrap().map(|entry| entry.unwrap().path().to_owned()).collect();
    let [repo] = folders.as_slice() else { panic!("one repository has had a run: {folders:?}") };
    let runs = |repo: &Utf8Path, key: &str| dandori_engine::RunLayout::at(repo.join("runs").join(key)).guards();
    for (verdict, session) in [("block", "s"), ("go", "s"), ("go", "u")] {
        append(&runs(repo, "r1"), verdict, session);
    }
    append(&runs(repo, "r2"), "block", "v");
    append(&runs(&repos.join("another"), "r3"), "block", "w");
    let stats = env.dandori(["guard", "stats", "--runs", "--json"]).json();
    assert_eq!((&stats["stats"]["events"], &stats["stats"]["blocked"]), (&json!(4), &json!(2)), "{stats}");
    let shown = env.dandori(["guard", "stats", "--runs"]);
    assert!(shown.stdout.contains("playbook  4      2       1                 1.1ms"), "{}", shown.stdout);
    let all = env.dandori(["guard", "stats", "--runs", "--all", "--json"]).json();
    assert_eq!((&all["stats"]["events"], &all["stats"]["blocked"]), (&json!(5), &json!(3)), "{all}");
    assert_eq!(env.dandori(["guard", "stats", "--json"]).json()["stats"]["events"], 0, "hooks of the checkout alone");
}
