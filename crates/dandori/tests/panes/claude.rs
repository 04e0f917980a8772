//! The same into the real Claude Code, against a scripted model.

use std::time::Duration;

use camino::Utf8Path;
use dandori_agent::pane::{Delivered, Recipient};
use dandori_domain::Client;
use dandori_formation::typing::Pace;
use dandori_host::tmux::PaneProgram;
use dandori_host::{Env, Layout, Tmux};
use dandori_testkit::clis;
use dandori_testkit::env::TestEnv;
use dandori_testkit::model::{ModelServer, Script};
use serde_json::json;

use crate::prompts::prompts;

const PROMPTS: usize = 50;
/// Shorter than for a model that thinks; the answer may take long on a busy machine.
const PACE: Pace = Pace { settle: Duration::from_millis(400), gap: Duration::from_millis(100), ..Pace::USUAL };

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
fn variables(env: &TestEnv, more: Vec<(String, String)>) -> Env {
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

struct Ended<'a>(&'a Tmux);

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
    let pane = tmux.start(&program).unwrap();
    let _ended = Ended(&tmux);

    let guards = dandori_hook::guard_folder(&Layout::at(env.state()), Some(env.repo().as_path()));
    let folder = env.root().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    let recipient = Recipient {
        tmux: &tmux,
        pane: &pane,
        client: Client::Claude,
        guards: &guards,
        prompts: Utf8Path::new(&folder),
        pace: PACE,
    };
    let prompts = prompts(7, PROMPTS);
    for (at, prompt) in prompts.iter().enumerate() {
        if at % 5 == 1 {
            let draft = ["!ls", "/clear", "half a thought\nand its second line", "look at @src", "end\\"][at / 5 % 5];
            tmux.writer(&pane).unwrap().paste(draft).unwrap();
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
