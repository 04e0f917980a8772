//! A formation's session: made, found again, and made whole when something in it is gone.

use std::convert::Infallible;

use camino::Utf8Path;
use dandori_agent::pane::{Opened, PaneAgent, PaneLaunch, formation_session};
use dandori_domain::run::{Role, SandboxMode};
use dandori_host::sandbox::SandboxPolicy;
use dandori_host::shim::{self, LaunchOrder, Streams};
use dandori_host::tmux::PaneId;
use dandori_host::{Env, Tmux};
use dandori_testkit::env::{TestEnv, is_alive, kill, wait_until};

/// Behind a fence that lets it write everything of the test.
pub(crate) fn launch(env: &TestEnv, name: &str, argv: Vec<String>, vars: &Env) -> PaneLaunch {
    let folder = env.root().join("launches").join(format!("{name}-{:x}", dandori_host::random()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut sandbox = SandboxPolicy::new(SandboxMode::Auto);
    sandbox.write = vec![env.root().to_owned()];
    let text = |(name, value): (&std::ffi::OsStr, &std::ffi::OsStr)| {
        (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned())
    };
    let order = LaunchOrder {
        version: shim::VERSION,
        run: format!("run_{:x}", dandori_host::random()),
        argv,
        env: vars.iter().map(text).collect(),
        cwd: env.repo(),
        stdin: None,
        streams: Streams::Terminal,
        sandbox,
        stores: None,
        deadline_seconds: 3_600,
        grace_seconds: 1,
        max_output_bytes: 0,
    };
    PaneLaunch { folder, order }
}

pub(crate) fn agent(id: &str, role: Role) -> PaneAgent {
    PaneAgent { id: id.to_owned(), role, model: "sonnet".to_owned() }
}

struct Session {
    env: TestEnv,
    tmux: Tmux,
    vars: Env,
    agents: Vec<PaneAgent>,
}

impl Session {
    fn new() -> Self {
        let env = TestEnv::new(env!("CARGO_BIN_EXE_dandori"));
        let vars = Env::from_pairs([("PATH", std::env::var("PATH").unwrap())]);
        let tmux = Tmux::at(&env.root().join("tmux"), &vars);
        let mut agents = vec![agent("orchestrator", Role::Orchestrator), agent("planner", Role::Planner)];
        agents.extend(["worker1", "worker2", "worker3", "worker4"].map(|id| agent(id, Role::Worker)));
        Self { env, tmux, vars, agents }
    }

    fn open(&self) -> Vec<(PaneId, Opened)> {
        let prepare =
            |agent: &PaneAgent| Ok::<_, Infallible>(launch(&self.env, &agent.id, vec!["cat".to_owned()], &self.vars));
        formation_session(&self.tmux, Utf8Path::new(self.env.bin()), &self.agents, prepare).unwrap()
    }

    /// Of the shims, by agent.
    fn pids(&self) -> Vec<u32> {
        let panes = self.tmux.panes().unwrap();
        let pid = |agent: &PaneAgent| panes.iter().find(|pane| pane.agent_id == agent.id).unwrap().pid.unwrap();
        self.agents.iter().map(pid).collect()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.tmux.kill();
    }
}

#[test]
fn a_session_is_made_once_and_made_whole_again_when_a_client_a_pane_or_tmux_is_gone() {
    let session = Session::new();
    let made = session.open();
    assert!(made.iter().all(|(_, opened)| *opened == Opened::Now), "{made:?}");
    let panes = session.tmux.panes().unwrap();
    let whose: Vec<_> = panes.iter().map(|pane| (pane.window, pane.role.as_str(), pane.agent_id.as_str())).collect();
    let workers = ["worker1", "worker2", "worker3", "worker4"].map(|id| (2, "worker", id));
    assert_eq!(whose[..2], [(0, "orchestrator", "orchestrator"), (1, "planner", "planner")]);
    assert_eq!(whose[2..], workers);
    assert!(panes.iter().all(|pane| pane.model == "sonnet" && pane.status == "starting"));
    let before: Vec<_> = made.iter().map(|(id, _)| (id.clone(), Opened::Before)).collect();
    assert_eq!(session.open(), before, "nothing changes");

    // The planner's client ends.
    let planner = session.pids()[1];
    kill(planner, "-TERM");
    wait_until("the pane is dead", || session.tmux.pane(&made[1].0).unwrap().is_dead);
    let again = session.open();
    assert_eq!(again[1], (made[1].0.clone(), Opened::Again));
    assert!(again.iter().enumerate().all(|(at, (_, opened))| at == 1 || *opened == Opened::Before), "{again:?}");

    // A person closes the pane of a worker, who is given another one in the same window.
    let socket = session.env.root().join("tmux");
    let close = ["-S", socket.as_str(), "kill-pane", "-t", made[3].0.as_str()];
    assert!(session.env.program("tmux", close, &session.env.repo()).status().unwrap().success());
    let again = session.open();
    assert_eq!((again[3].1, session.tmux.pane(&again[3].0).unwrap().window), (Opened::Now, 2));
    assert_ne!(again[3].0, made[3].0);

    let pids = session.pids();
    let server = std::fs::read_to_string(format!("/proc/{}/stat", pids[0])).unwrap();
    let server: u32 = server.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    kill(server, "-KILL");
    wait_until("nothing is left", || !pids.iter().any(|pid| is_alive(*pid)));
    assert!(session.open().iter().all(|(_, opened)| *opened == Opened::Now));
}
