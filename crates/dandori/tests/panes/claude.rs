//! The same into the real Claude Code, against a scripted model.

use std::convert::Infallible;
use std::time::Duration;

use camino::Utf8Path;
use dandori_agent::pane::{Delivered, Opened, PaneAgent, Recipient, formation_session};
use dandori_domain::Client;
use dandori_domain::run::Role;
use dandori_formation::typing::{Pace, Undelivered};
use dandori_host::tmux::{PaneProgram, Place};
use dandori_host::{Env, Layout, Tmux};
use dandori_testkit::clis;
use dandori_testkit::env::{TestEnv, kill, wait_until};
use dandori_testkit::model::{ModelServer, Script};
use serde_json::{Value, json};

use crate::prompts::{Prompt, prompts};
use crate::session;

const PROMPTS: usize = 50;
/// Shorter than for a model that thinks; the answer may take long on a busy machine.
pub(crate) const PACE: Pace =
    Pace { settle: Duration::from_millis(400), gap: Duration::from_millis(100), ..Pace::USUAL };

/// What its user has answered when it was first started.
fn answer_first_questions(env: &TestEnv) {
    let answers = json!({
        "hasCompletedOnboarding": true,
        "customApiKeyResponses": { "approved": ["sk-ant-scripted"], "rejected": [] },
        "projects": { env.repo().as_str(): { "hasTrustDialogAccepted": true } },
    });
    std::fs::write(env.home().join(".claude.json"), answers.to_string()).unwrap();
}

/// The environment's variables and nothing else.
pub(crate) fn variables(env: &TestEnv, more: Vec<(String, String)>) -> Env {
    let command = env.program("true", [] as [&str; 0], &env.repo());
    let own = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    let mut all = Env::from_pairs(own.collect::<Vec<_>>());
    for (name, value) in more {
        all.set(name, value);
    }
    let quiet = ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "IS_SANDBOX"];
    for name in quiet {
        all.set(name, "1");
    }
    all
}

/// Whether the end of these words is on the screen, behind the sign of the box or below it.
fn is_in_box(env: &TestEnv, draft: &str) -> bool {
    let socket = env.root().join("tmux");
    let show = ["-u", "-S", socket.as_str(), "capture-pane", "-p"];
    let screen = env.program("tmux", show, &env.repo()).output().unwrap().stdout;
    let last = draft.lines().last().unwrap().trim_start_matches('!');
    let is_there = |line: &str| line.trim_start_matches(['!', '❯', '\u{a0}', ' ']).trim_end() == last;
    String::from_utf8_lossy(&screen).lines().any(is_there)
}

pub(crate) struct Ended<'a>(pub(crate) &'a Tmux);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

#[test]
fn the_real_client_takes_every_prompt_once_also_over_what_a_person_has_left_in_its_box() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
    env.git(["switch", "--quiet", "-c", "work"]);
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    answer_first_questions(&env);
    let server = ModelServer::start(Client::Claude, Script::default());
    let tmux = Tmux::at(&env.root().join("tmux"), &variables(&env, server.log_in(&env.home())));
    let argv = vec![clis::program(Client::Claude).into_string()];
    let program = PaneProgram { agent_id: "worker1", role: "worker", model: "scripted", folder: env.repo(), argv };
    let pane = tmux.open(Place { index: 0, name: "worker" }, &program).unwrap();
    let _ended = Ended(&tmux);

    let guards = dandori_hook::guard_folder(&Layout::at(env.state()), Some(env.repo().as_path()));
    let folder = env.root().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    let recipient = Recipient {
        tmux: &tmux,
        pane: &pane,
        client: Client::Claude,
        role: Role::Planner,
        guards: &guards,
        prompts: Utf8Path::new(&folder),
        pace: PACE,
    };
    let prompts = prompts(7, PROMPTS);
    for (at, prompt) in prompts.iter().enumerate() {
        if at % 5 == 1 {
            let draft = ["!ls", "/clear", "half a thought\nand its second line", "look at @src", "end\\"][at / 5 % 5];
            tmux.writer(&pane).unwrap().paste(draft).unwrap();
            // A paste that is still under way is not in the box: what comes behind it is added to it.
            wait_until("the words are in the box", || is_in_box(&env, draft));
        }
        let delivered = recipient.deliver(prompt.tag(1), &prompt.text, dandori_host::now()).unwrap();
        assert_eq!(delivered, Delivered::Accepted, "prompt {at}: {:?}", tmux.pane(&pane));
    }

    // Each line is in what the model was sent last, once and whole.
    let turns = server.turns();
    let longest = turns.iter().map(ToString::to_string).max_by_key(String::len).unwrap();
    let told = prompts.iter().filter(|prompt| {
        let begins = format!("[dandori {} epoch:1] Read ", prompt.message);
        longest.matches(&begins).count() == 1
    });
    // The last one may not have been sent yet.
    assert!(told.count() >= PROMPTS - 1, "{longest}");
    assert!(!longest.contains("half a thought") && !longest.contains("bash-input"), "{longest}");
}

#[test]
fn a_worker_begins_each_task_with_an_empty_conversation_and_is_started_again_when_it_died() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
    env.git(["switch", "--quiet", "-c", "work"]);
    let _ = env.dandori(["init", "--agent", "claude"]).ok();
    answer_first_questions(&env);
    let server = ModelServer::start(Client::Claude, Script::default());
    let vars = variables(&env, server.log_in(&env.home()));
    let tmux = Tmux::at(&env.root().join("tmux"), &vars);
    let _ended = Ended(&tmux);
    let workers = [session::agent("worker1", Role::Worker)];
    let open = || {
        let argv = vec![clis::program(Client::Claude).into_string()];
        let prepare = |agent: &PaneAgent| Ok::<_, Infallible>(session::launch(&env, &agent.id, argv.clone(), &vars));
        formation_session(&tmux, Utf8Path::new(env.bin()), &workers, prepare).unwrap().remove(0)
    };
    let (pane, _) = open();
    let guards = dandori_hook::guard_folder(&Layout::at(env.state()), Some(env.repo().as_path()));
    let folder = env.root().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    let (client, role, pace) = (Client::Claude, Role::Worker, PACE);
    let recipient = Recipient { tmux: &tmux, pane: &pane, client, role, guards: &guards, prompts: &folder, pace };
    let prompts = prompts(8, 4);
    for (at, prompt) in prompts.iter().enumerate() {
        if at == 3 {
            kill(tmux.pane(&pane).unwrap().pid.unwrap(), "-TERM");
            let died = recipient.deliver(prompt.tag(1), &prompt.text, dandori_host::now()).unwrap();
            assert_eq!(died, Delivered::Not(Undelivered::PaneDied));
            assert_eq!(open(), (pane.clone(), Opened::Again));
        }
        let delivered = recipient.deliver(prompt.tag(2), &prompt.text, dandori_host::now()).unwrap();
        assert_eq!(delivered, Delivered::Accepted, "prompt {at}: {:?}", tmux.pane(&pane));
        wait_until("the model has heard of it", || server.turns().iter().any(|turn| names(turn, prompt)));
    }
    for turn in server.turns() {
        let count = prompts.iter().filter(|prompt| names(&turn, prompt)).count();
        assert!(count <= 1, "two tasks in one conversation: {turn}");
    }
}

fn names(turn: &Value, prompt: &Prompt) -> bool {
    turn.to_string().contains(&format!("[dandori {} epoch:2] Read ", prompt.message))
}
