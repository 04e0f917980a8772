//! A newer program takes the daemon over: the old one is asked to stop, and its agents go on in their shims.
//!
//! Taken over is a daemon of an older version, and one of our own version whose program was replaced or removed: what it
//! would start its shims from is gone. An older program never replaces a newer daemon, and one whose program is still
//! there is left alone whichever binary asks, so that those of two checkouts do not fight.

use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_domain::version::Version;
use dandori_text::front;
use serde_json::Value;

use crate::cli::{Context, daemon_stop};
use crate::client::{Client, own_version};
use crate::daemon;

/// Longer than the daemon gives itself.
const PATIENCE: Duration = Duration::from_secs(45);

/// What to do about the daemon that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    Ours,
    /// It is older, or its program has gone.
    TakeOver,
    /// It is newer.
    Refuse,
}

/// `found` is what it says it is; nothing when it does not say.
pub(crate) fn verdict(own: &str, found: Option<&str>, program_is_gone: bool) -> Verdict {
    match found {
        None => Verdict::Ours,
        Some(found) if found == own => {
            if program_is_gone {
                Verdict::TakeOver
            } else {
                Verdict::Ours
            }
        }
        Some(found) => match (found.parse::<Version>(), own.parse::<Version>()) {
            (Ok(found), Ok(own)) if found <= own => Verdict::TakeOver,
            // What cannot be compared may be newer.
            _ => Verdict::Refuse,
        },
    }
}

/// The program a process runs from was replaced or removed. `false` when that cannot be told.
pub(crate) fn program_is_gone(pid: u32) -> bool {
    let Ok(program) = std::fs::read_link(format!("/proc/{pid}/exe")) else { return false };
    let Ok(program) = Utf8PathBuf::try_from(program) else { return false };
    // So says the kernel; a file that is really called so is there.
    program.as_str().ends_with(" (deleted)") && !program.exists()
}

/// Stops the old daemon and starts our own in its place; says so in a line.
pub(crate) async fn take_over(context: &Context, old: &Client) -> Result<(), Problem> {
    let before = old.version().unwrap_or("?").to_owned();
    let health = old.look("/v1/health").await.unwrap_or_default();
    let runs = health.get("live_runs").and_then(Value::as_u64).unwrap_or(0);
    let listen = health.get("listen").and_then(Value::as_str).and_then(|address| address.parse().ok());
    if let Some(address) = listen {
        // Written down first: another command may be the one that starts the next.
        daemon::bequeath(&context.layout, address);
    }
    old.ask_to_stop().await;
    await_gone(context, old.pid()).await?;
    // Another command may have been quicker; then there is one, and this starts none.
    daemon::start(context, None).await?;
    let (lang, own) = (context.out.lang, own_version());
    context.out.say(if before == own {
        front::restarted(lang, own, runs)
    } else {
        front::taken_over(lang, &before, own, runs)
    });
    Ok(())
}

/// Until this process no longer answers: it is gone, or another has its place.
async fn await_gone(context: &Context, pid: Option<u32>) -> Result<(), Problem> {
    let until = Instant::now() + PATIENCE;
    loop {
        let there = Client::reach(context).await?;
        let is_it = there.as_ref().is_some_and(|client| client.pid() == pid);
        if !is_it && (there.is_some() || !daemon_stop::is_held(context)) {
            return Ok(());
        }
        if Instant::now() > until {
            let socket = context.layout.socket();
            return Err(Problem::DaemonUnreachable { socket, reason: "it is still stopping".into() });
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_older_daemon_or_one_without_its_program_is_taken_over() {
        for (own, found, gone, means) in [
            ("0.2.0", Some("0.2.0"), false, Verdict::Ours),
            ("0.2.0", None, false, Verdict::Ours),
            ("0.2.0", Some("0.1.9"), false, Verdict::TakeOver),
            ("0.10.0", Some("0.9.0"), false, Verdict::TakeOver),
            ("0.2.0", Some("0.2.0-rc.1"), false, Verdict::TakeOver),
            ("0.2.0", Some("0.2.0"), true, Verdict::TakeOver),
            ("0.2.0", Some("0.2.1"), false, Verdict::Refuse),
            ("0.9.0", Some("0.10.0"), true, Verdict::Refuse),
            ("0.2.0-rc.1", Some("0.2.0"), false, Verdict::Refuse),
            ("0.2.0", Some("something else"), false, Verdict::Refuse),
        ] {
            assert_eq!(verdict(own, found, gone), means, "{own} finds {found:?}");
        }
    }

    #[test]
    fn a_process_knows_whether_its_program_is_there() {
        assert!(!program_is_gone(std::process::id()));
        assert!(!program_is_gone(u32::MAX), "nobody there, nothing known");
    }
}
