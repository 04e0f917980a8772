//! Many prompts into stand-ins (`client.py`), several panes at once.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_agent::pane::{Delivered, Recipient};
use dandori_domain::run::Role;
use dandori_domain::{Client, PromptTag, Submitted};
use dandori_formation::typing::{Pace, Undelivered};
use dandori_host::tmux::{PaneId, PaneProgram, Place};
use dandori_host::{Env, Layout, Tmux};
use dandori_testkit::env::TestEnv;
use serde_json::Value;

use crate::prompts::{Prompt, prompts};

const PANES: usize = 8;
const TRIES: i64 = 30;
/// A stand-in answers at once, or not at all.
const PACE: Pace = Pace {
    settle: Duration::from_millis(30),
    turn: Duration::from_millis(400),
    gap: Duration::from_millis(20),
    answer: Duration::from_millis(700),
    tries: 3,
    patience: Duration::from_secs(30),
};

struct Formation {
    env: TestEnv,
    tmux: Tmux,
    seed: u64,
}

/// One stand-in, with a checkout of its own.
struct Seat {
    pane: PaneId,
    folder: Utf8PathBuf,
    argv: Vec<String>,
    role: Role,
}

impl Formation {
    fn new(seed: u64) -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
        let path = std::env::var("PATH").unwrap();
        let vars = [("PATH", path), ("HOME", env.home().into_string()), ("LANG", "C.UTF-8".to_owned())];
        let tmux = Tmux::at(&env.root().join("tmux"), &Env::from_pairs(vars));
        Self { env, tmux, seed }
    }

    /// Where the hook of a seat records.
    fn guards(&self, folder: &Utf8Path) -> Utf8PathBuf {
        dandori_hook::guard_folder(&Layout::at(self.env.state()), Some(folder))
    }

    fn log(&self, seat: usize) -> Utf8PathBuf {
        self.env.root().join(format!("log-{seat}"))
    }

    fn argv(&self, seat: usize, folder: &Utf8Path) -> Vec<String> {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/panes/client.py");
        let (seed, log) = (self.seed * 1_000 + u64::try_from(seat).unwrap(), self.log(seat));
        let (state, config) = (self.env.state(), self.env.home().join(".config/dandori/config.toml"));
        let own = ["python3", script, &seed.to_string(), log.as_str(), folder.as_str()].map(str::to_owned);
        let hook = [self.env.bin(), "hook", "claude", "--state", state.as_str(), "--config", config.as_str()];
        own.into_iter().chain(hook.map(str::to_owned)).collect()
    }

    fn seats(&self) -> Vec<Seat> {
        let folders: Vec<_> = (0..PANES).map(|seat| self.env.root().join(format!("checkout-{seat}"))).collect();
        let mut programs = Vec::new();
        for (seat, folder) in folders.iter().enumerate() {
            std::fs::create_dir_all(folder).unwrap();
            self.env.git_in(folder, ["init", "--quiet"]);
            let (folder, argv) = (folder.clone(), self.argv(seat, folder));
            programs.push(PaneProgram { agent_id: "worker", role: "worker", model: "stand-in", folder, argv });
        }
        let place = Place { index: 2, name: "workers" };
        let panes: Vec<_> = programs.iter().map(|program| self.tmux.open(place, program).unwrap()).collect();
        let seat = |(at, (pane, program)): (usize, (PaneId, PaneProgram))| Seat {
            pane,
            folder: program.folder,
            argv: program.argv,
            role: role(at),
        };
        panes.into_iter().zip(programs).enumerate().map(seat).collect()
    }

    /// Delivers one after the other, each until it is accepted. How often it was not, by the reason.
    fn deliver(&self, seat: &Seat, prompts: &[&Prompt]) -> BTreeMap<String, u32> {
        let (mut failures, mut deaths) = (BTreeMap::new(), 0);
        let (guards, folder) = (self.guards(&seat.folder), self.env.root().join("prompts 指示"));
        let (tmux, pane) = (&self.tmux, &seat.pane);
        let recipient = Recipient {
            tmux,
            pane,
            client: Client::Claude,
            role: seat.role,
            guards: &guards,
            prompts: &folder,
            pace: PACE,
        };
        for prompt in prompts {
            let is_delivered = (1..=TRIES).any(|epoch| {
                let delivered = recipient.deliver(prompt.tag(epoch), &prompt.text, dandori_host::now()).unwrap();
                let why = match delivered {
                    Delivered::Accepted => return true,
                    Delivered::Not(why) => why,
                    Delivered::Unproven => panic!("no hook was killed here"),
                };
                if why == Undelivered::PaneDied {
                    let mut argv = seat.argv.clone();
                    // Or it would die of the same again.
                    deaths += 1;
                    argv[2] = format!("{}0{deaths}", seat.argv[2]);
                    self.tmux.respawn(&seat.pane, &seat.folder, &argv).unwrap();
                }
                *failures.entry(why.to_string()).or_default() += 1;
                false
            });
            assert!(is_delivered, "{} was given up {TRIES} times: {failures:?}", prompt.message);
        }
        failures
    }

    fn logged(&self, seat: usize) -> Vec<Value> {
        let lines = std::fs::read_to_string(self.log(seat)).unwrap_or_default();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A worker's message is the first of its conversation, nobody else's conversation is taken away.
    fn check_conversations(&self, seat: usize) {
        let mut words = Vec::new();
        for line in self.logged(seat) {
            match line["kind"].as_str().unwrap() {
                "cleared" | "started" => words.clear(),
                "submitted" => words.push(line.clone()),
                _ => {}
            }
            assert!(role(seat) == Role::Worker || line["kind"] != "cleared", "seat {seat}: {line}");
            let is_ours = |line: &&Value| Submitted::read(line["text"].as_str().unwrap()) != Submitted::Other;
            let ours = words.iter().filter(is_ours).count();
            assert!(role(seat) != Role::Worker || ours <= 1, "seat {seat}: {words:?}");
        }
    }
}

impl Drop for Formation {
    fn drop(&mut self) {
        let _ = self.tmux.kill();
    }
}

/// Every fourth keeps its conversation.
fn role(seat: usize) -> Role {
    if seat.is_multiple_of(4) { Role::Planner } else { Role::Worker }
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

#[test]
fn every_prompt_is_submitted_once_or_reported_and_delivered_again_none_glued_none_lost() {
    let seed = number("DANDORI_SEED", 1);
    let formation = Formation::new(seed);
    let prompts = prompts(seed, usize::try_from(number("DANDORI_PROMPTS", 500)).unwrap());
    std::fs::create_dir_all(formation.env.root().join("prompts 指示")).unwrap();
    let seats = formation.seats();
    let failures: Vec<_> = std::thread::scope(|scope| {
        let threads = seats.iter().enumerate().map(|(at, seat)| {
            let share: Vec<&Prompt> = prompts.iter().skip(at).step_by(PANES).collect();
            let formation = &formation;
            scope.spawn(move || formation.deliver(seat, &share))
        });
        // All are started before one is waited for.
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });

    let mut submitted: BTreeMap<_, Vec<(PromptTag, Value)>> = BTreeMap::new();
    let mut kinds: BTreeMap<String, u32> = BTreeMap::new();
    (0..PANES).for_each(|seat| formation.check_conversations(seat));
    for line in (0..PANES).flat_map(|seat| formation.logged(seat)) {
        let (kind, text) = (line["kind"].as_str().unwrap(), line["text"].as_str().unwrap_or_default());
        *kinds.entry(kind.to_owned()).or_default() += 1;
        match (kind, Submitted::read(text)) {
            ("refused", _) => {}
            ("submitted", Submitted::Ours(tag)) => {
                submitted.entry(tag.message).or_default().push((tag, line["content"].clone()));
            }
            // A person's own words, or a bit of a line that tells nobody to do anything.
            (_, Submitted::Other) => assert!(!text.contains("prompts 指示"), "seed {seed}: {line}"),
            _ => panic!("seed {seed}: {line}"),
        }
        assert!(!matches!(kind, "dialog" | "ended by C-c"), "seed {seed}: {line}");
    }
    for prompt in &prompts {
        let times = submitted.remove(&prompt.message).unwrap_or_default();
        let [(_, content)] = times.as_slice() else { panic!("seed {seed}: {}: {times:?}", prompt.message) };
        assert_eq!(content.as_str(), Some(prompt.digest().as_str()), "seed {seed}: {}", prompt.message);
    }
    assert!(submitted.is_empty(), "seed {seed}: {submitted:?}");
    println!("seed {seed}: {} prompts; logged: {kinds:?}; not delivered at first: {failures:?}", prompts.len());
    // The stand-in has done its worst.
    assert!(prompts.len() < 300 || kinds.contains_key("refused") && failures.iter().any(|f| !f.is_empty()));
}
