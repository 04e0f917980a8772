//! A few seconds of it, always the same ones: what a change breaks at once is seen at once.

use std::path::Path;
use std::process::Command;

#[test]
#[expect(clippy::disallowed_methods, reason = "a test, and the program under it keeps its own time")]
fn a_few_seconds_of_every_target_find_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let fuzz = Path::new(env!("CARGO_BIN_EXE_fuzz"));
    let mut run = Command::new(fuzz);
    run.args(["--seconds", "12", "--seed", "1", "--findings"]).arg(folder.path());
    // The binary is built before the tests; where it was not, the fuzzer builds it, which takes longer than all of this.
    let dandori = fuzz.with_file_name("dandori");
    if dandori.is_file() {
        run.arg("--dandori").arg(dandori);
    }
    let output = run.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    for target in ["events", "shell", "bash", "playbooks", "settings", "patches", "processes"] {
        assert!(said.lines().any(|line| line.starts_with(target)), "{target} was not run:\n{said}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test, and the program under it keeps its own time")]
fn what_once_took_too_much_memory_does_not_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let doubled = "set -- a a a $@ $@; ".repeat(8);
    for (name, line) in [
        ("many small words", format!("{doubled}cat <<E\n`git push`\n{}\nE", "$@ ".repeat(4_000))),
        ("many times", "set -- a a a $@ $@; ".repeat(900)),
    ] {
        let file = folder.path().join("case");
        let head = r#"{"target":"shell","choice":1,"form":null,"kind":"memory","detail":""}"#;
        std::fs::write(&file, format!("{head}\n{line}")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_fuzz")).arg("one").arg(&file).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim(), "null", "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
