//! What people and agents ask of a formation, through the binary. The formation is down in most of these: nobody works, so that
//! what is asked can be looked at in peace.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests: a panic is how they report")]

mod asked;
mod order;
mod orders;
mod refused;
mod schemas;

use dandori_testkit::env::TestEnv;
use serde_json::Value;

/// A fresh machine with a repository.
fn machine() -> TestEnv {
    TestEnv::new(env!("CARGO_BIN_EXE_dandori"))
}

/// Two concrete phases, the first with a diamond, and a deferred one behind both.
const PLAN: &str = "\
phases:
  - name: build
    type: concrete
    tasks:
      - {name: base, purpose: p, content: c, acceptance_criteria: d, bloom_level: 2}
      - {name: left, purpose: p, content: c, acceptance_criteria: d, blocked_by: [base]}
      - {name: right, purpose: p, content: c, acceptance_criteria: d, blocked_by: [base], bloom_level: 5}
      - {name: join, purpose: p, content: c, acceptance_criteria: d, blocked_by: [left, right]}
  - name: docs
    type: concrete
    tasks:
      - {name: readme, purpose: p, content: c, acceptance_criteria: d, required: false}
  - name: release
    type: deferred
    depends_on_phases: [build, docs]
    constraints: {max_tasks: 2}
";

/// An order as agents give it: its id.
fn ordered(env: &TestEnv, content: &str) -> String {
    let id = env.dandori(["queue", "write", "planner", "--type", "command", "--content", content]).ok();
    id.trim().to_owned()
}

/// A plan from a file.
fn submitted(env: &TestEnv, command: &str, plan: &str) -> Value {
    env.write("plan.yaml", plan);
    env.dandori(["plan", "submit", "--command-id", command, "--tasks-file", "plan.yaml"]).json()
}
