//! Codex and Gemini in panes, against a scripted model.

use std::convert::Infallible;
use std::fs::OpenOptions;
use std::io::Write;

use camino::Utf8Path;
use dandori_agent::pane::{Delivered, DeliveryError, PaneAgent, Recipient, formation_session};
use dandori_domain::Client;
use dandori_domain::run::Role;
use dandori_host::{Env, Layout, Tmux};
use dandori_testkit::clis;
use dandori_testkit::env::{TestEnv, wait_until};
use dandori_testkit::model::{ModelServer, Script};
use serde_json::json;

use crate::claude::{Ended, PACE, variables};
use crate::prompts::prompts;
use crate::session;

/// What its user has answered when it was first started, and the words it is started with.
fn prepare(env: &TestEnv, client: Client) -> Vec<String> {
    let mut argv = vec![clis::program(client).into_string()];
    if client == Client::Codex {
        let known = format!(
            "\n[projects.\"{}\"]\ntrust_level = \"trusted\"\n\n[notice.model_migrations]\n\"gpt-5.5\" = \"gpt-6-sol\"\n\n\
             [tui.model_availability_nux]\n\"gpt-6.1-sol\" = 1\n",
            env.repo()
        );
        let mut file = OpenOptions::new().append(true).open(env.home().join(".codex/config.toml")).unwrap();
        file.write_all(known.as_bytes()).unwrap();
        argv.extend(["--no-daemon", "--dangerously-bypass-hook-trust"].map(str::to_owned));
    } else {
        let settings = json!({ "model": { "name": "gemini-2.5-flash" },
                               "security": { "auth": { "selectedType": "gemini-api-key" } } });
        std::fs::write(env.home().join(".gemini/settings.json"), settings.to_string()).unwrap();
        let trusted = json!({ env.repo().as_str(): "TRUST_FOLDER" });
        std::fs::write(env.home().join(".gemini/trustedFolders.json"), trusted.to_string()).unwrap();
    }
    argv
}

/// How many of the prompts each turn of the model names, after all were delivered.
fn told(client: Client, role: Role, count: usize) -> Vec<usize> {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
    env.git(["switch", "--quiet", "-c", "work"]);
    let server = ModelServer::start(client, Script::default());
    let mut more = server.log_in(&env.home());
    more.push(("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned()));
    let vars = variables(&env, more);
    let argv = prepare(&env, client);
    let _ = env.dandori(["init", "--agent", client.name()]).ok();
    let tmux = Tmux::at(&env.root().join("tmux"), &vars);
    let _ended = Ended(&tmux);
    let launch = |agent: &PaneAgent| Ok::<_, Infallible>(session::launch(&env, &agent.id, argv.clone(), &vars));
    let agents = [session::agent("one", role)];
    let (pane, _) = formation_session(&tmux, Utf8Path::new(env.bin()), &agents, launch).unwrap().remove(0);
    let guards = dandori_hook::guard_folder(&Layout::at(env.state()), Some(env.repo().as_path()));
    let folder = env.root().join("prompts");
    std::fs::create_dir_all(&folder).unwrap();
    let recipient = Recipient { tmux: &tmux, pane: &pane, client, role, guards: &guards, prompts: &folder, pace: PACE };
    let prompts = prompts(9, count);
    let names = |turn: &serde_json::Value, at: usize| {
        turn.to_string().contains(&format!("[dandori {} epoch:1] Read ", prompts[at].message))
    };
    for (at, prompt) in prompts.iter().enumerate() {
        let delivered = recipient.deliver(prompt.tag(1), &prompt.text, dandori_host::now()).unwrap();
        assert_eq!(delivered, Delivered::Accepted, "prompt {at}: {:?}", tmux.pane(&pane));
        wait_until("the model has heard of it", || server.turns().iter().any(|turn| names(turn, at)));
    }
    let of = |turn: &serde_json::Value| (0..count).filter(|at| names(turn, *at)).count();
    server.turns().iter().map(of).collect()
}

#[test]
fn gemini_takes_prompts_in_a_pane_and_as_a_worker_each_in_a_new_conversation() {
    let told = told(Client::Gemini, Role::Worker, 3);
    assert_eq!(told.iter().max(), Some(&1), "{told:?}");
}

#[test]
fn codex_takes_prompts_in_a_pane_in_one_conversation() {
    let told = told(Client::Codex, Role::Planner, 3);
    assert_eq!(told.iter().max(), Some(&3), "{told:?}");
}

#[test]
fn codex_is_no_worker_in_a_pane_because_it_tells_too_late_that_a_conversation_is_new() {
    let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
    let path = Env::from_pairs([("PATH", std::env::var("PATH").unwrap())]);
    let tmux = Tmux::at(&env.root().join("tmux"), &path);
    let _ended = Ended(&tmux);
    let agents = [session::agent("one", Role::Worker)];
    let launch = |_: &PaneAgent| Ok::<_, Infallible>(session::launch(&env, "one", vec!["cat".to_owned()], &path));
    let (pane, _) = formation_session(&tmux, Utf8Path::new(env.bin()), &agents, launch).unwrap().remove(0);
    let (client, role) = (Client::Codex, Role::Worker);
    let guards = env.root().join("guards");
    let recipient = Recipient { tmux: &tmux, pane: &pane, client, role, guards: &guards, prompts: &guards, pace: PACE };
    let prompt = &prompts(1, 1)[0];
    let refused = recipient.deliver(prompt.tag(1), &prompt.text, dandori_host::now());
    assert!(matches!(refused, Err(DeliveryError::NoNewConversation(Client::Codex))), "{refused:?}");
}
