//! Processes that live in a map, and end when the story says so.

use camino::Utf8Path;
use dandori_domain::run::{ProcessRef, Sandbox};
use dandori_engine::edges::HostEdge;
use dandori_host::shim::{LaunchError, LaunchOrder, Probe, Started, VERSION, Why};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;

use super::{Process, World, record};

impl HostEdge for World {
    fn sandbox(&self) -> Sandbox {
        Sandbox::None { reason: "a story".into() }
    }

    fn free_disk(&self, _path: &Utf8Path) -> std::io::Result<u64> {
        Ok(1 << 40)
    }

    fn available_memory(&self) -> Option<u64> {
        None
    }

    fn launch(&self, folder: &Utf8Path, order: &LaunchOrder) -> Result<Started, LaunchError> {
        let mut inner = self.lock();
        if inner.processes.contains_key(folder) {
            return Err(LaunchError::AlreadyStarted);
        }
        let pid = 1000 + u32::try_from(inner.processes.len()).unwrap();
        let process = ProcessRef { pid, started: 1, boot: "story".into() };
        let started = Started {
            version: VERSION,
            shim: process.clone(),
            agent: process,
            sandbox: order.sandbox_in_story(),
            at: Timestamp::UNIX_EPOCH,
        };
        *inner.starts.entry(folder.to_owned()).or_default() += 1;
        let script = order.argv.join(" ");
        let ended = inner.play(&script, &order.cwd, folder, &order.argv);
        let process = Process { started: started.clone(), cwd: order.cwd.clone(), ended };
        inner.processes.insert(folder.to_owned(), process);
        drop(inner);
        self.ended.notify_waiters();
        Ok(started)
    }

    fn started(&self, folder: &Utf8Path) -> Option<Started> {
        self.lock().processes.get(folder).map(|process| process.started.clone())
    }

    fn probe(&self, folder: &Utf8Path) -> Result<Probe, String> {
        let inner = self.lock();
        Ok(match inner.processes.get(folder) {
            None => Probe::NeverStarted,
            Some(Process { ended: Some(record), .. }) => Probe::Ended(record.clone()),
            Some(process) => Probe::Alive(process.started.clone()),
        })
    }

    fn stop(&self, folder: &Utf8Path, reason: &str, _grace: Duration) -> Result<(), String> {
        let mut inner = self.lock();
        if inner.processes.contains_key(folder) {
            inner.end(folder, record(None, Some(15), Why::Stopped { reason: reason.to_owned() }));
        }
        drop(inner);
        self.ended.notify_waiters();
        Ok(())
    }

    fn watch(&self, process: ProcessRef) -> BoxFuture<'static, ()> {
        let bell = Arc::clone(&self.ended);
        let is_over = {
            let inner = self.lock();
            inner.processes.values().any(|p| p.started.shim == process && p.ended.is_some())
        };
        async move {
            if !is_over {
                bell.notified().await;
            }
        }
        .boxed()
    }

    fn end_leftovers(&self, _run: &str, _folder: &Utf8Path, tree: &Utf8Path) -> Result<(), String> {
        let mut inner = self.lock();
        for process in inner.processes.values_mut().filter(|p| p.cwd == tree) {
            process.ended.get_or_insert(record(None, Some(9), Why::Ended));
        }
        Ok(())
    }
}

/// What a story's processes are behind.
trait InStory {
    fn sandbox_in_story(&self) -> Sandbox;
}

impl InStory for LaunchOrder {
    fn sandbox_in_story(&self) -> Sandbox {
        Sandbox::None { reason: "a story".into() }
    }
}
