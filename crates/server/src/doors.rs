//! Requests of a formation's agents: each comes by a door of its own, which says who it is, and gets what its role may.
//!
//! A handler that has to know who asks takes the request's extension `Arc<Whose>`; without one it is a person. What is not in
//! [`VERBS`] no agent gets.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::serve::Listener;
use dandori_domain::Problem;
use dandori_engine::{Door, Engine, Whose};
use dandori_formation::access::{self, Verb};
use tokio::net::unix::SocketAddr;
use tokio::net::{UnixListener, UnixStream};
use tracing::warn;

use crate::answer::Refusal;
use crate::connections::{self, Strangers};

/// The routes that agents use. A route of the formation's has its line here.
const VERBS: &[(Method, &str, Verb)] = &[
    (Method::GET, "/v1/ping", Verb::Ping),
    (Method::GET, "/v1/tasks/{task}", Verb::ShowTask),
    (Method::POST, "/v1/formation/results", Verb::WriteResult),
    (Method::POST, "/v1/formation/heartbeats", Verb::Heartbeat),
    (Method::POST, "/v1/formation/orders/{order}/plan", Verb::SubmitPlan),
    (Method::POST, "/v1/formation/orders/{order}/complete", Verb::CompletePlan),
    (Method::POST, "/v1/formation/orders/{order}/retries", Verb::AddRetryTask),
    (Method::POST, "/v1/formation/orders/{order}/cancel", Verb::RequestCancel),
    (Method::GET, "/v1/formation/orders/{order}", Verb::ShowPlan),
    (Method::GET, "/v1/formation", Verb::Status),
    (Method::POST, "/v1/formation/orders", Verb::WriteQueue),
    (Method::POST, "/v1/notify", Verb::Notify),
];

/// How often, and how long, the note of an agent's start is waited for.
const START_LOOKS: u32 = 20;
const START_LOOK: Duration = Duration::from_millis(50);

/// Serves every door until it is closed.
pub(crate) async fn serve(engine: Engine, service: Router) {
    let Some(mut doors) = engine.doors() else { return };
    while let Some(Door { listener, whose, closed }) = doors.recv().await {
        match UnixListener::from_std(listener) {
            Ok(listener) => {
                let whose = Arc::new(whose);
                let listener = OwnDoor { listener, engine: engine.clone(), whose: Arc::clone(&whose) };
                let whose = Some(whose);
                tokio::spawn(connections::serve(listener, service.clone(), Strangers::default(), whose, closed));
            }
            Err(e) => warn!(run = %whose.run, "its door cannot be served: {e}"),
        }
    }
}

/// Lets in the processes of one run alone.
struct OwnDoor {
    listener: UnixListener,
    engine: Engine,
    whose: Arc<Whose>,
}

impl Listener for OwnDoor {
    type Io = UnixStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (UnixStream, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            let pid = stream.peer_cred().ok().and_then(|peer| peer.pid()).and_then(|pid| u32::try_from(pid).ok());
            if let Some(pid) = pid
                && self.is_own(pid).await
            {
                return (stream, address);
            }
            warn!(run = %self.whose.run, pid, "somebody else came to its door");
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl OwnDoor {
    /// An agent may be quicker than the note of its start.
    async fn is_own(&self, pid: u32) -> bool {
        for _ in 0..START_LOOKS {
            if let Some(is_own) = self.engine.is_at_own_door(&self.whose, pid) {
                return is_own;
            }
            tokio::time::sleep(START_LOOK).await;
        }
        false
    }
}

/// Why whoever comes by this door does not get what he asks for.
pub(crate) fn refused(whose: &Whose, request: &Request) -> Option<Refusal> {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let verb = path.and_then(|path| verb(request.method(), path));
    let role = whose.errand.role;
    let is_allowed = verb.is_some_and(|verb| access::may(role, verb) && is_own(whose, verb, request.uri().path()));
    if is_allowed {
        return None;
    }
    let may = access::commands(role).into_iter().map(str::to_owned).collect();
    Some(Problem::NotForRole { agent: whose.errand.agent.clone(), role, may }.into())
}

fn verb(method: &Method, path: &str) -> Option<Verb> {
    VERBS.iter().find(|(by, at, _)| by == method && *at == path).map(|(_, _, verb)| *verb)
}

/// Others' tasks are none of its business.
fn is_own(whose: &Whose, verb: Verb, path: &str) -> bool {
    verb != Verb::ShowTask || path.rsplit('/').next().is_some_and(|text| whose.is_own_task(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::run::{Errand, Purpose, Role};
    use dandori_domain::{Epoch, MessageId, RepoId, RunId, TaskId, TaskNumber};
    use jiff::Timestamp;

    fn whose(role: Role) -> Whose {
        let (at, agent) = (Timestamp::UNIX_EPOCH, role.to_string());
        let (message, epoch, purpose) = (MessageId::mint(at, 1), Epoch(1), Purpose::Work);
        let errand = Errand { command: None, message, epoch, purpose, agent, role, about: String::new() };
        let (repo, task, run) = (RepoId::mint(at, 1), TaskId::mint(at, 2), RunId::mint(at, 3));
        Whose { repo, task, number: TaskNumber(3), run, errand }
    }

    #[test]
    fn every_route_of_an_agent_s_is_one_that_is_served() {
        let served = crate::routes::served();
        for (method, path, _) in VERBS.iter().filter(|(_, path, _)| *path != "/v1/ping") {
            let is_there = served.iter().any(|(by, at)| by == method.as_str() && at == path);
            assert!(is_there, "{method} {path} is not in {served:?}");
        }
    }

    #[test]
    fn what_has_no_line_is_for_people_and_a_task_is_shown_to_its_own_worker_alone() {
        let allowed = |role| {
            let routes = crate::routes::served().into_iter().map(|(method, path)| (method.parse().unwrap(), path));
            let is_allowed =
                |(method, path): &(Method, String)| verb(method, path).is_some_and(|verb| access::may(role, verb));
            let mut found: Vec<String> =
                routes.filter(is_allowed).map(|(method, path)| format!("{method} {path}")).collect();
            found.sort();
            found
        };
        assert_eq!(
            allowed(Role::Worker),
            ["GET /v1/tasks/{task}", "POST /v1/formation/heartbeats", "POST /v1/formation/results"]
        );
        assert_eq!(
            allowed(Role::Planner),
            [
                "GET /v1/formation",
                "GET /v1/formation/orders/{order}",
                "POST /v1/formation/orders/{order}/cancel",
                "POST /v1/formation/orders/{order}/complete",
                "POST /v1/formation/orders/{order}/plan",
                "POST /v1/formation/orders/{order}/retries",
            ]
        );
        assert_eq!(allowed(Role::Orchestrator), ["GET /v1/formation", "POST /v1/formation/orders", "POST /v1/notify"]);
        let worker = whose(Role::Worker);
        for own in ["T-3", "3", &worker.task.to_string(), &worker.run.key().to_string()] {
            assert!(is_own(&worker, Verb::ShowTask, &format!("/v1/tasks/{own}")), "{own}");
        }
        for other in ["T-4", "33", "", "T-3%2F"] {
            assert!(!is_own(&worker, Verb::ShowTask, &format!("/v1/tasks/{other}")), "{other}");
        }
    }
}
