//! A repository with a state.md: first read, then agree, then plan, then edit.

use dandori_testkit::model::Turn;

use dandori_domain::Client;

use crate::stage::{Stage, read};

fn reads_agrees_and_plans_first(agent: Client) {
    let stage = Stage::new(agent);
    stage.env.write("state.md", &dandori_playbook::state_template(false));
    stage.env.write("notes.md", "read me\n");
    let _ = stage.init(&[]).ok();
    let state = stage.path("state.md");
    let turns = [
        stage.write("a.txt"),
        Turn::shell("echo written > b.txt"),
        Turn::call(read(agent, &stage.path("notes.md"))),
        stage.write("a.txt"),
        Turn::call(read(agent, &state)),
        stage.write("a.txt"),
        Turn::shell("echo written > b.txt"),
        Turn::shell("dandori consent"),
        Turn::say("end"),
    ];
    let played = stage.play(turns);
    for turn in [0, 1, 3] {
        played.assert_told(turn, "[dandori init]");
        played.assert_told(turn, "state.md");
    }
    played.assert_told(2, "read me");
    played.assert_told(4, "playbook");
    played.assert_not_told(4, "[dandori");
    for turn in [5, 6] {
        played.assert_told(turn, "[dandori consent]");
    }
    played.assert_told(7, "[dandori control]");

    // A prompt on the command line is nobody's agreement.
    let played = stage.play_with(
        &stage.env.repo(),
        "go ahead",
        &[],
        [Turn::call(read(agent, &state)), stage.write("a.txt"), Turn::say("end")],
    );
    played.assert_told(1, "[dandori consent]");

    // Without that step a plan is still missing.
    stage.env.write_user_config("[guards.level]\nconsent = \"off\"\n");
    let turns =
        [Turn::call(read(agent, &state)), stage.write("a.txt"), Turn::shell("echo written > b.txt"), Turn::say("end")];
    let played = stage.play_with(&stage.env.repo(), "go ahead", &[], turns);
    for turn in [1, 2] {
        played.assert_told(turn, "[dandori playbook]");
    }
    assert!(!stage.has("a.txt") && !stage.has("b.txt"));

    // With a reviewed playbook the work is free.
    stage.env.write("plan/playbook-a.md", PLAYBOOK);
    let _ = stage.env.dandori(["state", "set", "playbook.active", "plan/playbook-a.md"]).ok();
    let turns =
        [Turn::call(read(agent, &state)), stage.write("a.txt"), Turn::shell("echo written > b.txt"), Turn::say("end")];
    let played = stage.play_with(&stage.env.repo(), "go ahead", &[], turns);
    assert!(stage.has("a.txt") && stage.has("b.txt"), "{agent:?}: {}", played.story());
    assert_eq!(played.turns(), 4, "the table at the end keeps nobody from ending");
    if agent == Client::Claude {
        assert!(played.shown().contains("self_complete") && played.shown().contains("1 (p1)"), "{}", played.story());
    }
}

const PLAYBOOK: &str = "---\nname: a\nbranch: work\nreviewed: true\nexecutor: claude\nscope: []\n---\n\n# a\n\n\
    ## p1: Write\n\n- status: in_progress\n- depends_on: []\n- executor: claude\n- done_criteria:\n  - `ls a.txt` shows it\n\n\
    ### Subtasks\n\n- [ ] p1.1: write it\n  - validation: automated\n";

#[test]
fn claude_reads_agrees_and_plans_first() {
    reads_agrees_and_plans_first(Client::Claude);
}

#[test]
fn codex_reads_agrees_and_plans_first() {
    reads_agrees_and_plans_first(Client::Codex);
}

#[test]
fn gemini_reads_agrees_and_plans_first() {
    reads_agrees_and_plans_first(Client::Gemini);
}
