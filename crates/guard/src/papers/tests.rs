use super::*;

const PLAYBOOK: &str = "---\nname: a\nbranch: work\nreviewed: true\n---\n## p1: One\n- status: done\n\n- [x] p1.1 a\n\
                        \n## p2: Two\n- status: in_progress\n- [ ] p2.1 b\n";

#[test]
fn only_marks_that_were_not_there_are_claimed() {
    let claims = |after: &str| playbook_claims(PLAYBOOK, after);
    assert_eq!(claims(PLAYBOOK), Claims::default());
    assert_eq!(claims(&PLAYBOOK.replace("in_progress", "done")).done, ["p2"]);
    let ticked = claims(&PLAYBOOK.replace("[ ]", "[x]")).ticked;
    assert_eq!(ticked.iter().map(|s| s.text.as_str()).collect::<Vec<_>>(), ["p2.1 b"]);
    assert!(playbook_claims("", PLAYBOOK).reviewed);
    assert_eq!(playbook_claims("", PLAYBOOK).done, ["p1"]);
    assert_eq!(claims("# nothing left"), Claims::default());
    assert_eq!(claims(&PLAYBOOK.replace("p1.1 a", "p1.1 another")).ticked.len(), 1, "a tick does not pass on");
    let twice = format!("{PLAYBOOK}## p1: Again\n- status: done\n");
    assert_eq!(claims(&twice).done, ["p1"], "a second phase of the same id is another");
}

#[test]
fn what_state_md_newly_says_is_claimed() {
    let state = "---\nplaybook:\n  active: plan/playbook-a.md\nverification:\n  self_complete: false\n---\n";
    let claims = |after: &str| state_claims(state, after);
    assert_eq!(claims(state), Claims::default());
    assert!(claims(&state.replace("false", "true")).self_complete);
    assert_eq!(claims(&format!("{state}- state: done\n")).done, ["- state: done"]);
    assert_eq!(claims(&state.replace("-a.md", "-b.md")).active.as_deref(), Some("plan/playbook-b.md"));
    for line in [
        "**state**: done",
        "status: \"done\"  # now",
        "state: 完了",
        "{state: done}",
        "p1: { phase: p1, \"state\": \"done\" }",
        "\"state\": done",
        "- 'status' : Finished",
        "state: finished",
        "状態: 完了",
    ] {
        assert!(says_done(line), "{line}");
    }
    for line in [
        "state: pending",
        "it is done",
        "estate: done",
        "state: done soon",
        "{state: pending}",
        "is it done, state: who knows",
    ] {
        assert!(!says_done(line), "{line}");
    }
}

#[test]
fn an_edit_is_followed_as_the_client_would_make_it() {
    let edit = |old: &str, new: &str| Change::edit("/a".into(), Some(old.into()), Some(new.into()));
    let known = |text: &str| Text::Known(text.to_owned());
    for (now, old, new, is_patch, want) in [
        (known("a b a"), "a", "c", false, known("c b c")),
        (known("a\r\nb\r\n"), "a\nb", "c", false, known("c\n")),
        (known("a"), "x", "c", false, Text::Unknown),
        (Text::Gone, "", "new", false, known("new")),
        (known("there"), "", "new", false, Text::Unknown),
        (known("x a\na\n"), "a\n", "c\n", true, known("x a\nc\n")),
        (known("a\na\n"), "a\n", "c\n", true, Text::Unknown),
        (known("x\na"), "a\n", "c\n", true, known("x\nc\n")),
        (known("x\n"), "", "c\n", true, Text::Unknown),
        (Text::Unknown, "a", "b", false, Text::Unknown),
    ] {
        assert_eq!(applied(&edit(old, new), now.clone(), is_patch), want, "{now:?} {old:?} {new:?}");
    }
}
