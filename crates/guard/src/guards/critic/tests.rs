use dandori_domain::guard::Level;
use dandori_text::Lang;
use serde_json::json;

use crate::Client;
use crate::judge::Outcome;
use crate::stage::Stage;
use crate::world::Head;

const STATE: &str =
    "---\nplaybook:\n  active: plan/playbook-a.md\nverification:\n  self_complete: false\n---\n- state: working\n";
const PLAYBOOK: &str = "---\nname: a\nreviewed: true\n---\n## p1: One\n- status: done\n\n## p2: Two\n\
                        - status: in_progress\n\n## p3: Three\n- status: pending\n";

fn stage() -> Stage {
    Stage::only("critic", Level::Block).file("state.md", STATE).file("plan/playbook-a.md", PLAYBOOK)
}

fn passed() -> Stage {
    stage().file("state.md", &STATE.replace("false", "true"))
}

#[test]
fn nothing_is_done_before_the_critic_has_passed_it() {
    let all = PLAYBOOK.replace("in_progress", "done").replace("pending", "done");
    for judged in [
        stage().edit("plan/playbook-a.md", "in_progress", "done"),
        stage().edit("plan/playbook-a.md", "status: pending", "state: 完了"),
        stage().write("plan/playbook-a.md", &all),
        stage().write("plan/playbook-new.md", "## p1: One\n- status: completed\n"),
        stage().edit("state.md", "state: working", "state: done"),
    ] {
        assert_eq!(judged.outcome(), Outcome::Block);
        assert!(judged.said().contains("`critic`"), "{}", judged.said());
    }
    for judged in [
        passed().edit("plan/playbook-a.md", "in_progress", "done"),
        passed().edit("state.md", "state: working", "state: done"),
    ] {
        assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
    }
}

#[test]
fn a_phase_is_done_only_with_its_own_subtasks_ticked_and_proven() {
    let proof = "  - technical: ran\n  - consistency: read\n  - completeness: all\n";
    let with = |subtasks: &str| {
        let playbook = PLAYBOOK.replace("- status: in_progress\n", &format!("- status: in_progress\n\n{subtasks}"));
        passed().file("plan/playbook-a.md", &playbook).edit("plan/playbook-a.md", "in_progress", "done")
    };
    for subtasks in [
        "- [ ] p2.1 a\n".to_owned(),
        format!("- [ ] p2.1 a\n{proof}"),
        "- [x] p2.1 a\n".to_owned(),
        format!("- [x] p2.1 a\n{}", proof.replace("ran", "n/a")),
        format!("- [x] p2.0 b\n{proof}- [ ] p2.1 a\n{proof}"),
    ] {
        let judged = with(&subtasks);
        assert_eq!(judged.outcome(), Outcome::Block, "{subtasks}");
        assert!(judged.said().contains("`p2.1 a`") && !judged.said().contains("p2.0"), "{}", judged.said());
    }
    assert_eq!(with(&format!("- [x] p2.1 a\n{proof}")).outcome(), Outcome::Pass);
    let other = PLAYBOOK.replace("- status: pending\n", "- status: pending\n\n- [ ] p3.1 later\n");
    let judged = passed().file("plan/playbook-a.md", &other).edit("plan/playbook-a.md", "in_progress", "done");
    assert_eq!(judged.outcome(), Outcome::Pass, "another phase's are not asked for: {}", judged.said());
    let judged =
        passed().lang(Lang::Ja).file("plan/playbook-a.md", &other).edit("plan/playbook-a.md", "pending", "done");
    assert!(judged.said().contains("サブタスク"), "{}", judged.said());
}

#[test]
fn other_edits_of_the_papers_pass() {
    let rest = "---\nname: a\nreviewed: true\n---\n## p3: Three\n- status: in_progress\n";
    for judged in [
        stage().edit("plan/playbook-a.md", "Two", "Another two"),
        stage().edit("plan/playbook-a.md", "status: pending", "status: in_progress"),
        stage().edit("plan/playbook-a.md", "status: done", "status: pending"),
        stage().write("plan/playbook-a.md", rest),
        stage().edit("plan/playbook-a.md", "reviewed: true", "reviewed: false"),
        stage().edit("state.md", "working", "status: done is what we want"),
        stage().edit("state.md", "-a.md", "-b.md"),
        stage().edit("state.md", "plan/playbook-a.md", "null"),
        stage().write("src/a.rs", "// status: done\nself_complete: true"),
        stage().write("docs/a.md", "- status: done\nreviewed: true\n"),
        stage().write("plan/archive/playbook-old.md", PLAYBOOK),
        stage().bash("cat state.md plan/playbook-a.md"),
        stage().bash("cp notes.md plan"),
        stage().bash("cp notes.md plan/"),
        stage().write("plan/template/playbook-format.md", PLAYBOOK),
        stage().write("tests/data/playbook-x.md", PLAYBOOK),
        stage().bash("git checkout ."),
        stage().bash("rm plan/playbook-a.md"),
        stage().bash("mv plan/playbook-a.md plan/archive/"),
        stage().bash("dandori state set goal.phase p2"),
        stage().bash("echo 'state.md says state: done' > /tmp/x"),
    ] {
        assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
    }
}

#[test]
fn the_verdicts_are_not_the_agents_to_write() {
    let unreviewed = PLAYBOOK.replace("reviewed: true", "reviewed: false");
    for (judged, mark) in [
        (stage().edit("state.md", "self_complete: false", "self_complete: true"), "self_complete: true"),
        (stage().edit("state.md", "false", "yes"), "self_complete: true"),
        (stage().write("state.md", &STATE.replace("false", "true")), "self_complete: true"),
        (Stage::only("critic", Level::Block).write("state.md", &STATE.replace("false", "true")), "self_complete: true"),
        (stage().file("plan/playbook-a.md", &unreviewed).edit("plan/playbook-a.md", "false", "true"), "reviewed: true"),
        (stage().write("plan/playbook-b.md", "---\nreviewed: true\n---\n"), "reviewed: true"),
        (passed().write("plan/playbook-b.md", "---\nreviewed: true\n---\n"), "reviewed: true"),
    ] {
        assert_eq!(judged.outcome(), Outcome::Block, "{mark}");
        assert!(judged.said().contains(mark) && judged.said().contains("ask the user to set it"), "{}", judged.said());
    }
}

#[test]
fn a_shell_line_that_writes_a_paper_is_sent_to_the_editing_tool() {
    for line in [
        "sed -i s/in_progress/done/ plan/playbook-a.md",
        "cd plan && sed -i s/in_progress/done/ *.md",
        "echo x >> state.md",
        "cat <<'E' | tee state.md\nx\nE",
        "cp /tmp/s state.md",
        "mv /tmp/s ./state.md",
        "git mv notes.md plan/playbook-c.md",
        "cp /tmp/x/* plan/",
        "cp /tmp/x/*.md plan",
        "cp -r /tmp/x/. plan",
        "rsync -a /tmp/x/ plan/",
        "tar xf x.tar -C plan",
        "git checkout HEAD~3 -- state.md",
        "python3 -c \"open('state.md','w').write('x')\"",
    ] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), Outcome::Block, "{line}");
        assert!(judged.said().contains("editing tool"), "{line}: {}", judged.said());
    }
}

#[test]
fn a_hidden_name_is_asked_about_when_the_line_speaks_of_a_paper() {
    let stage = stage().file("x.patch", "--- a/plan/playbook-a.md\n+++ b/plan/playbook-a.md\n");
    for (line, want) in [
        ("f=$(ls state.md); sed -i s/a/b/ \"$f\"", Outcome::Ask),
        ("git apply x.patch", Outcome::Ask),
        ("ls > \"$OUT\"", Outcome::Pass),
    ] {
        assert_eq!(stage.bash(line).outcome(), want, "{line}");
    }
}

#[test]
fn only_a_playbook_of_this_repository_can_be_activated() {
    for active in
        ["/tmp/playbook-x.md", "../playbook-x.md", "plan/archive/playbook-a.md", "plan/x/playbook-a.md", "notes.md"]
    {
        let judged = stage().edit("state.md", "plan/playbook-a.md", active);
        assert_eq!(judged.outcome(), Outcome::Block, "{active}");
        assert!(judged.said().contains("`dandori playbook new "), "{}", judged.said());
    }
    let linked = stage().link("plan/playbook-l.md", "/tmp/x.md");
    assert_eq!(linked.edit("state.md", "playbook-a", "playbook-l").outcome(), Outcome::Block, "through a link");
    assert_eq!(stage().edit("state.md", "plan/playbook-a", "setup/playbook-setup").outcome(), Outcome::Pass);
}

#[test]
fn a_playbook_under_another_name_counts_once_it_is_active() {
    let stage = stage().file("state.md", &STATE.replace("plan/playbook-a.md", "work.md")).file("work.md", PLAYBOOK);
    assert_eq!(stage.edit("work.md", "in_progress", "done").outcome(), Outcome::Block);
}

#[test]
fn every_client_and_every_worktree_is_held() {
    let mut stage = passed()
        .worktree("/wt", Some("/repo"), Head::Branch("w".to_owned()))
        .file("/wt/state.md", STATE)
        .file("/wt/plan/playbook-a.md", PLAYBOOK);
    assert_eq!(stage.edit("/wt/plan/playbook-a.md", "in_progress", "done").outcome(), Outcome::Block);
    assert_eq!(stage.edit("plan/playbook-a.md", "in_progress", "done").outcome(), Outcome::Pass, "its own verdict");
    stage.agent = Client::Codex;
    let patch = |text: &str| {
        let text = format!("*** Begin Patch\n{text}*** End Patch");
        let fields = json!({"tool_name": "apply_patch", "tool_input": {"command": text}});
        stage.event_in("/wt", "PreToolUse", &fields).outcome()
    };
    let update = "*** Update File: plan/playbook-a.md\n";
    assert_eq!(patch(&format!("{update}@@\n-## p2: Two\n+## p2: 2\n")), Outcome::Pass);
    assert_eq!(patch(&format!("{update}@@\n-- status: in_progress\n+- status: done\n")), Outcome::Block);
    assert_eq!(patch(&format!("{update}@@ ## p2: Two\n+- status: done\n")), Outcome::Block, "where is not known");
    assert_eq!(
        patch(&format!(
            "*** Update File: state.md\n@@\n-  self_complete: false\n+  self_complete: true\n{update}@@\n-- status: pending\n+- status: done\n"
        )),
        Outcome::Block
    );
    stage.agent = Client::Gemini;
    let input = json!({"tool_name": "replace",
        "tool_input": {"file_path": "plan/playbook-a.md", "old_string": "in_progress", "new_string": "done"}});
    assert_eq!(stage.event_in("/wt", "BeforeTool", &input).outcome(), Outcome::Block);
}

#[test]
fn the_message_is_japanese_for_a_japanese_user() {
    let said = stage().lang(Lang::Ja).edit("plan/playbook-a.md", "in_progress", "done").said();
    assert!(said.contains("承認") && said.contains("`critic`"), "{said}");
    let said = stage().lang(Lang::Ja).bash("echo x > state.md").said();
    assert!(said.contains("編集ツール"), "{said}");
}

#[test]
fn papers_that_are_odd_or_unreadable_do_not_break_it() {
    let odd = stage().file("state.md", "\u{fffd}\0---\nverification: [\n");
    assert_eq!(odd.edit("plan/playbook-a.md", "in_progress", "done").outcome(), Outcome::Block, "no verdict in it");
    let unreadable = passed().unreadable("state.md");
    assert_eq!(unreadable.edit("state.md", "a", "b").outcome(), Outcome::Block);
    assert_eq!(unreadable.edit("plan/playbook-a.md", "in_progress", "done").outcome(), Outcome::Block, "no verdict");
    assert_eq!(unreadable.write("state.md", STATE).outcome(), Outcome::Pass, "it can be written anew");
    assert_eq!(stage().write("plan/playbook-a.md", "\0## p\n- status: {{").outcome(), Outcome::Pass);
}
