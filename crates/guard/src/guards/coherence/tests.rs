use crate::Level;
use crate::judge::Outcome;
use crate::stage::Stage;
use crate::world::Head;
use dandori_text::Lang;

const PLAYBOOK: &str = "---\nbranch: feat/x\nreviewed: true\n---\n## p1: a\n- status: done\n- done_criteria:\n  - ok\n\
                        ## p2: b\n- status: in_progress\n- done_criteria:\n  - ok\n- [ ] one\n## p_final: c\n- status: pending\n";
const STATE: &str = "---\nplaybook:\n  active: plan/playbook-x.md\n  branch: feat/x\n---\n";

fn with(state: &str, playbook: &str) -> Stage {
    Stage::only("coherence", Level::Block)
        .branch("feat/x")
        .file("state.md", state)
        .file("plan/playbook-x.md", playbook)
        .file("src/a.rs", "")
}

fn stage() -> Stage {
    with(STATE, PLAYBOOK)
}

#[test]
fn on_another_branch_than_the_playbooks_nothing_is_changed() {
    for line in [
        "git commit -m x",
        "env X=1 git -C . commit -m x",
        "bash -c 'git push'",
        "git merge main",
        "git rebase main",
        "git cherry-pick abc",
        "echo x > src/a.rs",
        "sed -i s/a/b/ src/a.rs",
        "rm src/a.rs",
        "gh pr create --fill",
    ] {
        let judged = stage().branch("other").bash(line);
        assert_eq!(judged.outcome(), Outcome::Block, "{line}: {}", judged.said());
        assert!(judged.said().contains("git switch feat/x"), "{}", judged.said());
        assert_eq!(stage().bash(line).outcome(), Outcome::Pass, "{line}: {}", stage().bash(line).said());
    }
    assert!(stage().branch("other").lang(Lang::Ja).bash("git commit").said().contains("ブランチ"));
}

#[test]
fn what_reads_or_repairs_always_passes() {
    for line in [
        "git status",
        "git log --oneline",
        "git diff main",
        "git branch -a",
        "git show HEAD",
        "ls -la",
        "cat src/a.rs",
        "grep -rn x src",
        "sed -n 1,5p src/a.rs",
        "find . -name '*.rs'",
        "git switch feat/x",
        "git checkout feat/x",
        "git checkout -b feat/x",
        "git switch feat/x && git commit -m x",
        "git stash",
        "git fetch origin",
        "git pull",
        "git rebase --abort",
        "dandori state set playbook.branch other",
        "sed -i s/x/y/ state.md",
        "echo x >> plan/playbook-x.md",
        "echo x > /tmp/notes",
        "cargo test 2>&1 | tail -5",
    ] {
        let judged = stage().branch("other").bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
    assert_eq!(stage().head(Head::Detached).bash("git commit -m x").outcome(), Outcome::Pass);
}

#[test]
fn another_repository_and_one_without_state_are_left_alone() {
    let other = stage().branch("other").worktree("/other", None, Head::Branch("main".into()));
    assert_eq!(other.bash("git -C /other commit -m x").outcome(), Outcome::Pass);
    assert_eq!(Stage::only("coherence", Level::Block).bash("git commit -m x").outcome(), Outcome::Pass);
    let none = with("---\nplaybook:\n  active: null\n  branch: feat/x\n---\n", PLAYBOOK).branch("other");
    assert_eq!(none.bash("git commit -m x").outcome(), Outcome::Pass, "no playbook is active");
}

#[test]
fn a_worktree_of_the_project_goes_by_its_own_documents() {
    let stage = stage()
        .worktree("/trees/y", Some("/repo"), Head::Branch("feat/y".into()))
        .file("/trees/y/state.md", "---\nplaybook:\n  active: plan/playbook-y.md\n---\n")
        .file("/trees/y/plan/playbook-y.md", &PLAYBOOK.replace("feat/x", "feat/z"));
    assert_eq!(stage.bash("git -C /trees/y commit -m x").outcome(), Outcome::Block);
    assert_eq!(stage.bash("git commit -m x").outcome(), Outcome::Pass);
}

#[test]
fn documents_that_disagree_are_warned_about_when_work_is_handed_in() {
    let focus = "---\nfocus: web\nactive_playbooks:\n  web: plan/playbook-other.md\nplaybook:\n  active: plan/playbook-x.md\n---\n";
    let several = PLAYBOOK.replace("status: pending", "status: in_progress");
    let none = PLAYBOOK.replace("status: in_progress", "status: pending");
    let loose = PLAYBOOK.replace("- done_criteria:\n  - ok\n- [ ] one", "- done_criteria:\n  ok\n- [ ] one");
    let ticked = PLAYBOOK.replace("- [ ] one", "- [x] one");
    for (state, playbook, word) in [
        (focus, PLAYBOOK, "playbook-other.md"),
        (STATE, several.as_str(), "p2, p_final"),
        (STATE, none.as_str(), "in_progress"),
        (STATE, loose.as_str(), "p2: start each criterion"),
        (STATE, ticked.as_str(), "critic"),
    ] {
        for line in ["git commit -m x", "gh pr create --title x"] {
            let judged = with(state, playbook).bash(line);
            assert_eq!(judged.outcome(), Outcome::Warn, "{word}: {}", judged.said());
            assert!(judged.said().contains(word), "{word}: {}", judged.said());
        }
        assert_eq!(with(state, playbook).bash("echo x > src/a.rs").outcome(), Outcome::Pass, "{word}");
    }
    let complete = format!("{}verification:\n  self_complete: true\n---\n", STATE.trim_end_matches("---\n"));
    assert_eq!(with(&complete, &ticked).bash("git commit -m x").outcome(), Outcome::Pass);
}

#[test]
fn broken_documents_are_named_and_unreadable_ones_are_a_failure() {
    let judged = with("just prose\n", PLAYBOOK).bash("git commit -m x");
    assert_eq!(judged.outcome(), Outcome::Warn, "{}", judged.said());
    let gone = with("---\nplaybook:\n  active: plan/gone.md\n---\n", PLAYBOOK).bash("git commit -m x");
    assert!(gone.outcome() == Outcome::Warn && gone.said().contains("plan/gone.md"), "{}", gone.said());
    assert_eq!(stage().unreadable("state.md").bash("git commit -m x").outcome(), Outcome::Error);
}

#[test]
fn a_focus_that_the_list_does_not_have_is_said_and_a_state_without_a_list_is_not() {
    let state = |list: &str| STATE.replace("---\nplaybook", &format!("---\nfocus: a\n{list}playbook"));
    let judged = with(&state("active_playbooks:\n  b: plan/playbook-x.md\n"), PLAYBOOK).bash("git commit -m x");
    assert_eq!(judged.outcome(), Outcome::Warn);
    assert!(judged.said().contains("null") && judged.said().contains("plan/playbook-x.md"), "{}", judged.said());
    for list in ["", "active_playbooks:\n  a: plan/playbook-x.md\n"] {
        let judged = with(&state(list), PLAYBOOK).bash("git commit -m x");
        assert_eq!(judged.outcome(), Outcome::Pass, "{list}: {}", judged.said());
    }
}
