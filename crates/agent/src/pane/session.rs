//! The panes of a formation: the orchestrator in window 0, the planner in window 1, the workers in a grid in window 2.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::Role;
use dandori_host::Tmux;
use dandori_host::shim::{self, LaunchError, LaunchOrder};
use dandori_host::tmux::{PaneId, PaneProgram, Place, TmuxError};

/// An agent that has a pane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PaneAgent {
    /// `orchestrator`, `planner`, `worker1`.
    pub id: String,
    pub role: Role,
    pub model: String,
}

/// How a client is started in a pane.
#[derive(Clone, Debug)]
pub struct PaneLaunch {
    /// A new one for each start: a folder sees one launch.
    pub folder: Utf8PathBuf,
    pub order: LaunchOrder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opened {
    /// Its client runs.
    Before,
    /// Its client was started now.
    Now,
    /// Its last client had ended, and one was started in the same pane.
    Again,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError<E: std::error::Error + 'static> {
    #[error(transparent)]
    Tmux(#[from] TmuxError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("cannot prepare the client of {agent}")]
    Prepare {
        agent: String,
        #[source]
        source: E,
    },
}

/// Sees to it that every agent has a pane in which its client runs: makes the session and what is missing in it, and starts a client
/// again that has ended. Whoever calls it again changes nothing. `prepare` is asked for those alone that are to be started.
pub fn formation_session<E: std::error::Error + 'static>(
    tmux: &Tmux,
    dandori: &Utf8Path,
    agents: &[PaneAgent],
    mut prepare: impl FnMut(&PaneAgent) -> Result<PaneLaunch, E>,
) -> Result<Vec<(PaneId, Opened)>, SessionError<E>> {
    let panes = if tmux.is_running() { tmux.panes()? } else { Vec::new() };
    let mut opened = Vec::new();
    for agent in agents {
        let pane = panes.iter().find(|pane| pane.agent_id == agent.id);
        if let Some(pane) = pane.filter(|pane| !pane.is_dead) {
            opened.push((pane.id.clone(), Opened::Before));
            continue;
        }
        let prepared = prepare(agent);
        let launch = prepared.map_err(|source| SessionError::Prepare { agent: agent.id.clone(), source })?;
        let argv = shim::in_pane(&launch.folder, &launch.order, dandori)?;
        let folder = launch.order.cwd;
        opened.push(match pane {
            Some(pane) => {
                tmux.respawn(&pane.id, &folder, &argv)?;
                tmux.set_status(&pane.id, "starting")?;
                (pane.id.clone(), Opened::Again)
            }
            None => {
                let role = agent.role.as_str();
                let program = PaneProgram { agent_id: &agent.id, role, model: &agent.model, folder, argv };
                (tmux.open(place(agent.role), &program)?, Opened::Now)
            }
        });
    }
    Ok(opened)
}

fn place(role: Role) -> Place {
    match role {
        Role::Orchestrator => Place { index: 0, name: "orchestrator" },
        Role::Planner => Place { index: 1, name: "planner" },
        Role::Worker => Place { index: 2, name: "workers" },
    }
}
