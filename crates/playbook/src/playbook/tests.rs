use super::*;
use crate::playbook_template;

const FILE: &str = "---
name: health
branch: feat/health
reviewed: true
executor: claude
scope: [src/**, \"tests/**\"]
---
# Health endpoint

## Goal
- status: done is prose here, not a phase's

## p1: Answer
- **status**: in_progress   # now
- depends_on: []
- done_criteria:
  - `curl` says: 200
  - it is fast

### Subtasks
- [x] p1.1 route
  - validation: hybrid
  - technical: `cargo test health` passed
  - consistency: same shape as /ready
  - completeness: GET and HEAD
- [ ] p1.2 docs
  - technical: TODO

## Phase 2: Ship
- status: pending
- depends_on: [p1, p0]
- executor: codex

```sh
- [ ] not a subtask
status: done
```

## Notes
- [ ] not a subtask either
- status: done
";

#[test]
fn everything_the_format_has_is_read() {
    let playbook = Playbook::read(FILE);
    assert_eq!(playbook.name.as_deref(), Some("health"));
    assert_eq!(playbook.branch.as_deref(), Some("feat/health"));
    assert!(playbook.reviewed);
    assert_eq!(playbook.scope, ["src/**", "tests/**"]);
    let [first, second] = &playbook.phases[..] else { panic!("{:#?}", playbook.phases) };
    assert_eq!((first.id.as_str(), first.title.as_str(), first.status), ("p1", "Answer", PhaseStatus::InProgress));
    assert_eq!(first.done_criteria, ["`curl` says: 200", "it is fast"]);
    assert!(!first.loose_criteria);
    let [route, docs] = &first.subtasks[..] else { panic!("{:#?}", first.subtasks) };
    assert_eq!((route.is_done, route.kind, route.missing()), (true, ValidationKind::Hybrid, vec![]));
    assert_eq!((docs.is_done, docs.missing().len()), (false, 3), "a placeholder shows nothing");
    assert_eq!((second.id.as_str(), second.status), ("p2", PhaseStatus::Pending));
    assert_eq!(second.executor.as_deref(), Some("codex"));
    assert!(second.subtasks.is_empty(), "{:#?}", second.subtasks);
    assert_eq!(playbook.unfinished_before(second), ["p1", "p0"], "one that is not there is not done");
    assert_eq!(playbook.odd, []);
}

#[test]
fn phases_may_be_a_yaml_list() {
    let file = "# Plan\n\n```yaml\nmeta:\n  name: n\n  reviewed: false\nphases:\n  - id: p1\n    name: First\n    status: done\n\
                \n    depends_on: []\n  - id: p2\n    status: 進行中\n    depends_on:\n      - p1\n    done_criteria:\n      - works\n```\n";
    let playbook = Playbook::read(file);
    assert_eq!((playbook.name.as_deref(), playbook.reviewed), (Some("n"), false));
    let [first, second] = &playbook.phases[..] else { panic!("{:#?}", playbook.phases) };
    assert_eq!((first.title.as_str(), first.status), ("First", PhaseStatus::Done));
    assert_eq!(
        (second.status, &second.depends_on, &second.done_criteria),
        (PhaseStatus::InProgress, &vec!["p1".to_owned()], &vec!["works".to_owned()])
    );
    assert_eq!(playbook.current().map(|p| p.id.as_str()), Some("p2"));
}

#[test]
fn an_edit_changes_its_line_alone() {
    let edited = Playbook::set_status(FILE, "p1", PhaseStatus::Done).unwrap();
    assert_eq!(edited, FILE.replace("- **status**: in_progress   # now", "- **status**: done   # now"));
    assert_eq!(Playbook::read(&edited).phase("p1").unwrap().status, PhaseStatus::Done);
    assert!(Playbook::set_status(FILE, "p9", PhaseStatus::Done).is_err());

    let docs = Playbook::read(FILE).phases[0].subtasks[1].line;
    let ticked = Playbook::tick(FILE, docs, true).unwrap();
    assert_eq!(ticked, FILE.replace("- [ ] p1.2 docs", "- [x] p1.2 docs"));
    assert_eq!(Playbook::tick(&ticked, docs, false).unwrap(), FILE);
    assert!(Playbook::tick(FILE, 0, true).is_err());

    let unreviewed = Playbook::set_reviewed(FILE, false).unwrap();
    assert_eq!(unreviewed, FILE.replace("reviewed: true", "reviewed: false"));
}

#[test]
fn a_status_nobody_knows_is_named_and_counts_as_pending() {
    let playbook = Playbook::read("## p1: x\n- status: nearly\n");
    assert_eq!(playbook.phases[0].status, PhaseStatus::Pending);
    assert_eq!(playbook.odd, [crate::Odd::Status { phase: "p1".to_owned(), found: "nearly".to_owned() }]);
}

#[test]
fn the_template_is_a_playbook_without_faults() {
    for japanese in [false, true] {
        let text = playbook_template("health", "feat/health", japanese);
        let playbook = Playbook::read(&text);
        assert_eq!((playbook.name.as_deref(), playbook.branch.as_deref()), (Some("health"), Some("feat/health")));
        assert!(!playbook.reviewed);
        assert!(playbook.phases.len() >= 2, "{text}");
        assert_eq!(crate::check(&playbook), vec![]);
    }
}

proptest::proptest! {
    #[test]
    fn nothing_in_a_file_is_a_panic(text in "(\\PC|[\\n\\r#`:\\-\\[\\]x *\"'])*") {
        let playbook = Playbook::read(&text);
        let _ = crate::State::read(&text);
        for phase in &playbook.phases {
            let _ = Playbook::set_status(&text, &phase.id, PhaseStatus::Done);
        }
    }

    #[test]
    fn what_is_set_is_read_again(value in "[^\\n\\r\"]*") {
        let edited = crate::State::set("---\nplaybook:\n  active: a # c\n---\n", "playbook.active", Some(&value)).unwrap();
        proptest::prop_assert_eq!(crate::State::read(&edited).active, Some(value));
    }
}

#[test]
fn a_change_that_would_not_be_read_again_is_refused() {
    assert!(matches!(Playbook::tick("# p1\n- []\n", 1, true), Err(EditError::NoPlace { .. })));
    let twice = "# meta\n```yml\nreviewed: \n```\n# \u{fffd}\n```yml\nreviewed: false\n```\n";
    assert!(matches!(Playbook::set_reviewed(twice, true), Err(EditError::NotAValue { .. })));
}

#[test]
fn a_placeholder_is_no_evidence() {
    let missing = |evidence: &str| {
        let text =
            format!("## p1: a\n- [x] one\n  - technical: {evidence}\n  - consistency: read\n  - completeness: all\n");
        Playbook::read(&text).phases[0].subtasks[0].missing().len()
    };
    for owed in ["-", "n/a", "N/A", "na", "none", "None.", "x", "X", "なし", "無し", "なし。", "TODO", "...", "—", ""]
    {
        assert_eq!(missing(owed), 1, "{owed:?}");
    }
    for shown in ["`cargo test` passed", "none failed", "3 of 3", "...and again", "差分なし", "ok"] {
        assert_eq!(missing(shown), 0, "{shown:?}");
    }
}

#[test]
fn criteria_in_one_line_are_no_list() {
    let text = FILE.replace("done_criteria:\n", "done_criteria: tests pass\n");
    assert_ne!(text, FILE);
    let faults = crate::check(&Playbook::read(&text));
    assert!(faults.iter().any(|f| matches!(f, crate::Fault::LooseCriteria { .. })), "{faults:?}");
    let inline = Playbook::read("## p1: x\n- done_criteria: [tests pass]\n");
    assert!(!inline.phases.first().unwrap().loose_criteria);
}
