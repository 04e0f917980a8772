//! `--json` of the formation's verbs is what `docs/schema` says.

use std::path::Path;

use serde_json::Value;

use crate::{PLAN, machine, ordered, submitted};

fn check(name: &str, value: &Value) {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema")).join(format!("{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}\n{value:#}");
}

#[test]
fn every_answer_is_as_its_schema_says() {
    let env = machine();
    let command = ordered(&env, "Build it");
    check("plan-submit", &submitted(&env, &command, PLAN));
    for (name, words) in [
        ("plan-show", &["plan", "show", "1"][..]),
        ("order-show", &["order", "show", "1"]),
        ("order-list", &["order", "list"]),
        ("order-pause", &["order", "pause", "1"]),
        ("order-resume", &["order", "resume", "1"]),
        ("order-amend", &["order", "amend", "1", "in blue"]),
        ("status", &["status"]),
        ("queue-write", &["queue", "write", "orchestrator", "--type", "message", "--content", "hi"]),
        ("plan-request-cancel", &["plan", "request-cancel", "--command-id", "1"]),
        ("plan-complete", &["plan", "complete", "--command-id", "1", "--summary", "it was called off"]),
        ("queue-write", &["queue", "write", "planner", "--type", "command", "--content", "again"]),
        ("order-cancel", &["order", "cancel", "2"]),
        ("dead-letter-list", &["dead-letter", "list"]),
        ("quarantine-list", &["quarantine", "list"]),
        ("setup", &["setup"]),
        ("up", &["up"]),
        ("down", &["down"]),
        ("doctor", &["doctor", "--formation"]),
        ("notify", &["notify", "hello"]),
    ] {
        let ran = env.dandori([words, &["--json"]].concat());
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        check(name, &ran.json());
    }
    for words in [&["order", "show", "99"][..], &["order", "approve", "1"], &["dead-letter", "show", "x"]] {
        let ran = env.dandori([words, &["--json"]].concat());
        assert_eq!(ran.code, 1, "{words:?}: {ran:?}");
        check("error", &ran.json());
    }
}
