//! `dandori daemon stop`

use std::process::ExitCode;
use std::time::{Duration, Instant};

use dandori_api::DaemonStopped;
use dandori_domain::Problem;
use dandori_host::process;
use dandori_text::ui;
use serde_json::{Value, json};

use super::Context;
use crate::client::Client;
use crate::out::Failed;

/// Longer than the daemon gives itself.
const PATIENCE: Duration = Duration::from_secs(40);
/// For a process without its lock: it has nothing left to do.
const FAREWELL: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failed> {
    let stopped = stop(context).await?;
    let out = &context.out;
    out.object(&DaemonStopped { running: false, stopped: stopped == Stopped::Now });
    out.prose(
        0,
        match stopped {
            Stopped::Now => ui::daemon_has_stopped(out.lang),
            Stopped::Before => ui::daemon_stopped(out.lang),
        },
    );
    Ok(ExitCode::SUCCESS)
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    Now,
    /// There was none.
    Before,
}

/// Asks the daemon to stop and waits until it is gone.
pub(crate) async fn stop(context: &Context) -> Result<Stopped, Problem> {
    let Some(client) = Client::reach(context).await? else { return Ok(Stopped::Before) };
    let daemon = client.pid().and_then(process::identify);
    match client.post::<Value>("/v1/daemon/stop", &json!({})).await {
        // One of another version understands this all the same.
        Ok(_) | Err(Problem::DaemonVersion { .. }) => {}
        Err(problem) => return Err(problem),
    }
    let until = Instant::now() + PATIENCE;
    while is_held(context) {
        if Instant::now() > until {
            let socket = context.layout.socket();
            return Err(Problem::DaemonUnreachable { socket, reason: "it is still stopping".into() });
        }
        tokio::time::sleep(PAUSE).await;
    }
    // Its lock goes a moment before the process does: somebody who looks for it afterwards is to find neither.
    let until = Instant::now() + FAREWELL;
    while daemon.as_ref().is_some_and(process::is_alive) && Instant::now() < until {
        tokio::time::sleep(PAUSE).await;
    }
    Ok(Stopped::Now)
}

/// The lock is the truth: it goes with the process.
pub(crate) fn is_held(context: &Context) -> bool {
    let Ok(file) = std::fs::File::open(context.layout.lock()) else { return false };
    matches!(file.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock))
}
