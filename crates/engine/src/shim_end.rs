//! Waiting for the end of a process without a thread: the host tells how a process is held, the runtime is ours.

use std::os::fd::OwnedFd;
use std::time::Duration;

use dandori_domain::run::ProcessRef;
use dandori_host::{process, shim};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Returns when this very process has ended; at once when it has, or when its pid is another's by now.
pub(crate) async fn ended(process: &ProcessRef) {
    match process::hold(process).and_then(readable) {
        Some(held) => {
            let _ = held.readable().await;
        }
        // No hold to be had: gone, or the machine is out of descriptors.
        None => {
            while process::is_alive(process) {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
    shim::reap_children();
}

#[expect(
    deprecated,
    reason = "its fault is types that lie about their descriptor; an OwnedFd cannot, and the \
                               replacement is an unsafe function"
)]
fn readable(held: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(held, Interest::READABLE).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "a process of the test's own")]
    async fn the_end_is_waited_for_and_whoever_comes_late_does_not_wait() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = process::identify(child.id()).unwrap();
        let early = tokio::time::timeout(Duration::from_millis(50), ended(&process)).await;
        assert!(early.is_err(), "it lives");
        // The end of its input is the end of it.
        drop(child.stdin.take());
        tokio::time::timeout(Duration::from_secs(20), ended(&process)).await.unwrap();
        child.wait().unwrap();
        tokio::time::timeout(Duration::from_secs(5), ended(&process)).await.unwrap();
    }
}
