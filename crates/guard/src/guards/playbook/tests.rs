use dandori_domain::guard::{Level, Profile};
use dandori_text::Lang;
use serde_json::json;

use crate::Client;
use crate::judge::Outcome;
use crate::stage::Stage;
use crate::world::Head;

const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";
const NONE: &str = "---\nplaybook:\n  active: null\nconfig:\n  security: admin\n---\n";
const DRAFT: &str = "---\nname: a\nbranch: work\nreviewed: false\n---\n## p1: One\n- status: in_progress\n\n\
                     ### Subtasks\n- [ ] p1.1 x\n  - technical: ran\n  - consistency: ran\n  - completeness: ran\n";

fn none() -> Stage {
    Stage::only("playbook", Level::Block).file("state.md", NONE)
}

fn draft() -> Stage {
    Stage::only("playbook", Level::Block).file("state.md", STATE).file("plan/playbook-a.md", DRAFT)
}

fn reviewed() -> Stage {
    draft().file("plan/playbook-a.md", &DRAFT.replace("reviewed: false", "reviewed: true"))
}

#[test]
fn without_a_playbook_nothing_is_changed_not_even_by_an_admin() {
    for stage in [none(), Stage::only("playbook", Level::Block)] {
        for judged in [
            stage.write("src/a.rs", "x"),
            stage.bash("echo x > src/a.rs"),
            stage.bash("rm -rf src plan/x"),
            stage.write("planning/a.md", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Block);
            let said = judged.said();
            assert!(
                said.contains("`playbook-init`") && said.contains("`dandori playbook new <name> --activate`"),
                "{said}"
            );
        }
    }
}

#[test]
fn what_is_needed_to_get_a_playbook_passes() {
    let new = DRAFT.replace("name: a", "name: b");
    for judged in [
        none().write("state.md", STATE),
        none().edit("state.md", "null", "plan/playbook-b.md"),
        none().bash("sed -i s/null/x/ state.md"),
        none().write("plan/playbook-b.md", &new),
        none().write("plan/notes.md", "x"),
        none().bash("mkdir -p plan"),
        none().write("/tmp/a", "x"),
        none().bash("git log > /tmp/log"),
        none().bash("cat src/a.rs"),
        draft().edit("plan/playbook-a.md", "One", "Another"),
        draft().write("plan/playbook-a.md", &new),
    ] {
        assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
    }
}

#[test]
fn a_playbook_that_is_missing_or_unreviewed_blocks_and_names_who_helps() {
    let missing = Stage::only("playbook", Level::Block).file("state.md", STATE);
    let judged = missing.write("src/a.rs", "x");
    assert_eq!(judged.outcome(), Outcome::Block);
    assert!(judged.said().contains("plan/playbook-a.md") && judged.said().contains("playbook.active"));
    assert_eq!(missing.write("plan/playbook-a.md", DRAFT).outcome(), Outcome::Pass, "it can be written");

    let judged = draft().edit("src/a.rs", "a", "b");
    assert_eq!(judged.outcome(), Outcome::Block);
    let way = "set `reviewed: true` in plan/playbook-a.md themselves";
    assert!(judged.said().contains("`reviewer`") && judged.said().contains(way), "{}", judged.said());

    for judged in [reviewed().write("src/a.rs", "x"), reviewed().bash("echo x > a"), reviewed().write("plan/x", "")] {
        assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
    }
}

#[test]
fn a_draft_does_not_call_itself_reviewed_done_or_ticked() {
    let stage = draft();
    let yes = DRAFT.replace("reviewed: false", "reviewed: true");
    for (judged, said) in [
        (stage.edit("plan/playbook-a.md", "reviewed: false", "reviewed: true"), "`reviewed: true`"),
        (stage.edit("plan/playbook-a.md", "false", "yes"), "`reviewed: true`"),
        (stage.write("plan/playbook-a.md", &yes), "`reviewed: true`"),
        (stage.write("plan/playbook-b.md", &yes), "`reviewed: true`"),
        (stage.edit("plan/playbook-a.md", "in_progress", "done"), "`reviewer`"),
        (stage.edit("plan/playbook-a.md", "[ ]", "[x]"), "`reviewer`"),
        (stage.edit("plan/playbook-a.md", "not there", "x"), "write the whole file"),
        (stage.bash("sed -i s/false/true/ plan/playbook-a.md"), "editing tool"),
        (stage.bash("cp /tmp/playbook-c.md plan/"), "editing tool"),
        (none().bash("echo 'reviewed: true' > plan/playbook-b.md"), "editing tool"),
    ] {
        assert_eq!(judged.outcome(), Outcome::Block, "{said}");
        assert!(judged.said().contains(said), "{said}: {}", judged.said());
    }
    assert_eq!(stage.bash("rm plan/playbook-a.md").outcome(), Outcome::Pass, "what is gone claims nothing");
}

#[test]
fn the_targets_own_worktree_counts() {
    let stage = draft()
        .worktree("/wt", Some("/repo"), Head::Branch("other".to_owned()))
        .worktree("/elsewhere", None, Head::Branch("main".to_owned()))
        .file("/wt/state.md", &STATE.replace("-a.md", "-w.md"))
        .file("/wt/plan/playbook-w.md", &DRAFT.replace("reviewed: false", "reviewed: true"));
    assert_eq!(stage.write("/wt/src/a.rs", "x").outcome(), Outcome::Pass, "its own playbook is reviewed");
    assert_eq!(stage.write("/repo/src/a.rs", "x").outcome(), Outcome::Block);
    assert_eq!(stage.write("/elsewhere/a.rs", "x").outcome(), Outcome::Pass, "another repository");
    let patch = "*** Begin Patch\n*** Add File: /wt/b\n+x\n*** Add File: /repo/b\n+x\n*** End Patch";
    let mut codex = stage;
    codex.agent = Client::Codex;
    assert_eq!(codex.tool("apply_patch", &json!({"command": patch})).outcome(), Outcome::Block, "one of two");
}

#[test]
fn a_patch_is_followed_place_by_place() {
    let mut stage = draft();
    stage.agent = Client::Codex;
    let patch = |body: &str| {
        let text = format!("*** Begin Patch\n*** Update File: plan/playbook-a.md\n{body}*** End Patch");
        stage.tool("apply_patch", &json!({"command": text}))
    };
    assert_eq!(patch("@@\n-name: a\n+name: b\n@@\n-- [ ] p1.1 x\n+- [ ] p1.1 y\n").outcome(), Outcome::Pass);
    assert_eq!(patch("@@\n-name: a\n+name: b\n@@\n-reviewed: false\n+reviewed: true\n").outcome(), Outcome::Block);
    assert_eq!(patch("@@\n- reviewed: false\n+reviewed: true\n").outcome(), Outcome::Block, "not found as it stands");
    let moved = "*** Begin Patch\n*** Update File: notes.md\n*** Move to: plan/playbook-z.md\n@@\n-a\n+reviewed: true\n*** End Patch";
    let stage = draft().file("notes.md", "---\na\n---\n");
    assert_eq!(stage.bash(&format!("apply_patch <<'E'\n{moved}\nE")).outcome(), Outcome::Block);
    let twice = moved.replace("+reviewed: true\n", "+name: z\n@@\n-b\n+reviewed: true\n");
    let stage = draft().file("notes.md", "---\na\nb\n---\n");
    let judged = stage.bash(&format!("apply_patch <<'E'\n{twice}\nE"));
    assert!(judged.said().contains("`reviewed: true`"), "the second place is in the moved file: {}", judged.said());
}

#[test]
fn with_all_guards_at_work_the_way_from_nothing_to_an_edit_is_open() {
    let stage = Stage::new(Profile::Discipline);
    assert_eq!(stage.write("src/a.rs", "x").outcome(), Outcome::Block);
    assert!(stage.write("state.md", NONE).outcome() < Outcome::Ask);
    let stage = stage.file("state.md", NONE);
    assert!(stage.write("plan/playbook-a.md", DRAFT).outcome() < Outcome::Ask);
    let stage = stage.file("plan/playbook-a.md", DRAFT);
    assert!(stage.edit("state.md", "active: null", "active: plan/playbook-a.md").outcome() < Outcome::Ask);
    let stage = stage.file("state.md", STATE);
    assert!(stage.edit("plan/playbook-a.md", "One", "First").outcome() < Outcome::Ask);
    assert_eq!(stage.write("src/a.rs", "x").outcome(), Outcome::Block, "nobody has reviewed it");
    let stage = stage.file("plan/playbook-a.md", &DRAFT.replace("reviewed: false", "reviewed: true"));
    let judged = stage.write("src/a.rs", "x");
    assert!(judged.outcome() < Outcome::Ask, "{}", judged.said());
    assert!(stage.edit("plan/playbook-a.md", "[ ]", "[x]").outcome() < Outcome::Ask, "it has its evidence");

    let judged = Stage::new(Profile::Safety).file("README.md", "x").write("README.md", "y");
    assert_eq!((judged.outcome(), judged.said()), (Outcome::Pass, String::new()), "a plain repository");
}

#[test]
fn gemini_is_held_by_the_same_rule() {
    let mut stage = draft();
    stage.agent = Client::Gemini;
    let write = |path: &str| {
        let input = json!({"tool_name": "write_file", "tool_input": {"file_path": path, "content": "x"}});
        stage.event("BeforeTool", &input).outcome()
    };
    assert_eq!(write("src/a.rs"), Outcome::Block);
    assert_eq!(write("plan/notes.md"), Outcome::Pass);
    let input = json!({"tool_name": "replace",
        "tool_input": {"file_path": "plan/playbook-a.md", "old_string": "reviewed: false", "new_string": "reviewed: on"}});
    assert_eq!(stage.event("BeforeTool", &input).outcome(), Outcome::Block);
}

#[test]
fn every_message_is_japanese_for_a_japanese_user() {
    let japanese = |stage: Stage| stage.lang(Lang::Ja).write("src/a.rs", "x").said();
    let said = japanese(none());
    assert!(said.contains("有効な playbook がない") && said.contains("`playbook-init`"), "{said}");
    let said = japanese(draft());
    assert!(said.contains("未レビュー") && said.contains("`reviewer`"), "{said}");
    let said = japanese(Stage::only("playbook", Level::Block).file("state.md", STATE));
    assert!(said.contains("がありません") && said.contains("playbook.active"), "{said}");
}

#[test]
fn a_malformed_paper_is_named_and_the_policy_stays() {
    let odd_state = Stage::only("playbook", Level::Block).file("state.md", "just prose, no keys\n");
    let judged = odd_state.write("src/a.rs", "x");
    assert_eq!(judged.outcome(), Outcome::Block, "it names no playbook");
    assert!(judged.said().contains("part of state.md could not be read"), "{}", judged.said());
    let crate::Permission::Block { reason, .. } = &judged.ruling.verdict else { panic!("{:?}", judged.ruling) };
    assert!(reason.as_str().starts_with("[dandori playbook] no active playbook"), "the refusal first: {reason}");
    assert!(reason.as_str().contains("part of state.md could not be read"), "and the model is told why: {reason}");

    let odd = DRAFT.replace("reviewed: false", "reviewed: perhaps").replace("in_progress", "nearly");
    let judged = draft().file("plan/playbook-a.md", &odd).write("src/a.rs", "x");
    assert_eq!(judged.outcome(), Outcome::Block, "what is neither true nor false is not reviewed");
    assert!(judged.said().contains("nearly"), "{}", judged.said());
    let japanese = draft().lang(Lang::Ja).file("plan/playbook-a.md", &odd).write("src/a.rs", "x").said();
    assert!(japanese.contains("p1 の status `nearly` は無効です") && !japanese.contains("understood"), "{japanese}");

    let binary = draft().file("plan/playbook-a.md", "\u{fffd}\0---\n[x]").file("state.md", "---\nplaybook: [\n---\n");
    assert_eq!(binary.write("src/a.rs", "x").outcome(), Outcome::Block);
}

#[test]
fn a_paper_that_cannot_be_read_holds_everything_but_its_repair() {
    for path in ["state.md", "plan/playbook-a.md"] {
        let stage = reviewed().unreadable(path);
        for judged in [stage.write("src/a.rs", "x"), stage.bash("echo x > a"), stage.bash("echo x > $OUT")] {
            assert_eq!(judged.outcome(), Outcome::Block, "{path}");
            assert!(judged.said().contains(path) && judged.said().contains("cannot read"), "{}", judged.said());
        }
        let marked = DRAFT.replace("reviewed: false", "reviewed: true");
        assert_eq!(stage.write("plan/playbook-b.md", &marked).outcome(), Outcome::Block, "it opens nothing");
        for judged in [
            stage.write("state.md", STATE),
            stage.bash("chmod 644 state.md plan/playbook-a.md"),
            stage.write("plan/playbook-a.md", DRAFT),
            stage.write("plan/notes.md", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{path}: {}", judged.said());
        }
    }
    let folder = Stage::only("playbook", Level::Block).file("state.md/x", "").unreadable("state.md");
    assert_eq!(folder.write("src/a.rs", "x").outcome(), Outcome::Block);
    assert_eq!(folder.bash("rm -r state.md").outcome(), Outcome::Pass, "it is in the way of the file");
    let japanese = reviewed().unreadable("state.md").lang(Lang::Ja).write("a", "x").said();
    assert!(japanese.contains("読み取れない (権限がありません)"), "{japanese}");
}

#[test]
fn state_md_stays_where_it_is() {
    let stage = reviewed().file("notes.md", "x").link("link.md", "state.md");
    for line in [
        "rm state.md",
        "rm -f ./state.md src/a.rs",
        "mv state.md state.old",
        "git rm -q state.md",
        "git mv state.md x.md",
        "rm state.md && mkdir state.md",
        "unlink state.md",
        "rm -rf .",
        "cd plan && rm ../state.md",
    ] {
        let judged = stage.bash(line);
        assert_eq!(judged.outcome(), Outcome::Block, "{line}");
        assert!(judged.said().contains("`playbook.active: null`"), "{line}: {}", judged.said());
    }
    let linked = reviewed().link("state.md", "/shared/state.md").file("/shared/state.md", STATE);
    assert_eq!(linked.bash("rm state.md").outcome(), Outcome::Block, "a link of that name, too");
    let mut codex = reviewed();
    codex.agent = Client::Codex;
    let patch = |text: &str| {
        codex.tool("apply_patch", &json!({"command": format!("*** Begin Patch\n{text}\n*** End Patch")})).outcome()
    };
    assert_eq!(patch("*** Delete File: state.md"), Outcome::Block);
    assert_eq!(patch("*** Update File: state.md\n*** Move to: x.md\n@@\n-playbook:\n+playbook:"), Outcome::Block);
    for line in ["git stash", "git checkout HEAD~1", "cat state.md", "rm notes.md", "cp state.md /tmp/x", "ls > /tmp/a"]
    {
        let judged = stage.bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
    assert!(stage.lang(Lang::Ja).bash("rm state.md").said().contains("削除も名前の変更も"));
}

#[test]
fn where_state_md_is_gone_nothing_is_changed_until_it_is_back() {
    let gone = Stage::new(Profile::Discipline).file("plan/playbook-a.md", DRAFT);
    for judged in [gone.write("src/a.rs", "x"), gone.bash("sed -i s/a/b/ src/a.rs"), gone.bash("echo x > $OUT")] {
        assert_eq!(judged.outcome(), Outcome::Block);
        assert!(judged.said().contains("git restore state.md"), "{}", judged.said());
    }
    for line in [
        "git checkout -- state.md",
        "git checkout HEAD~1 -- state.md",
        "git restore state.md",
        "git stash pop",
        "dandori state set playbook.active plan/playbook-a.md",
        "dandori playbook new x",
    ] {
        let judged = gone.bash(line);
        assert!(judged.outcome() < Outcome::Ask, "{line}: {}", judged.said());
    }
    assert!(gone.write("state.md", STATE).outcome() < Outcome::Ask);
    assert!(
        gone.write("state.md", &STATE.replace("---\n", "---\nverification:\n  self_complete: true\n")).outcome()
            > Outcome::Ask
    );
    let whole = Stage::only("playbook", Level::Block).bash("git checkout .");
    assert_eq!(whole.outcome(), Outcome::Pass, "state.md is among it");
    assert_eq!(Stage::only("playbook", Level::Block).bash("git clean -fd").outcome(), Outcome::Block);
}
