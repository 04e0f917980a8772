//! The host's own processes: a shim each, from this program.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::{ProcessRef, Sandbox};
use dandori_host::shim::{self, LaunchError, LaunchOrder, Probe, Started};
use dandori_host::{Env, machine};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::HostEdge;

pub(crate) struct RealHost {
    /// This program: the shim is started from it.
    dandori: Utf8PathBuf,
    env: Env,
}

impl RealHost {
    pub(crate) fn new(dandori: &Utf8Path, env: &Env) -> Self {
        Self { dandori: dandori.to_owned(), env: env.clone() }
    }
}

impl HostEdge for RealHost {
    fn sandbox(&self) -> Sandbox {
        dandori_host::fenced::probe(&self.dandori)
    }

    fn free_disk(&self, path: &Utf8Path) -> std::io::Result<u64> {
        machine::free_disk(path)
    }

    fn available_memory(&self) -> Option<u64> {
        machine::available_memory()
    }

    fn launch(&self, folder: &Utf8Path, order: &LaunchOrder) -> Result<Started, LaunchError> {
        shim::launch(folder, order, &self.dandori, &self.env)
    }

    fn started(&self, folder: &Utf8Path) -> Option<Started> {
        shim::started(folder)
    }

    fn probe(&self, folder: &Utf8Path) -> Result<Probe, String> {
        shim::probe(folder).map_err(|e| e.to_string())
    }

    fn stop(&self, folder: &Utf8Path, reason: &str, grace: Duration) -> Result<(), String> {
        shim::stop(folder, reason, grace).map(drop).map_err(|e| e.to_string())
    }

    fn watch(&self, process: ProcessRef) -> BoxFuture<'static, ()> {
        async move { crate::shim_end::ended(&process).await }.boxed()
    }

    fn end_leftovers(&self, run: &str, folder: &Utf8Path, tree: &Utf8Path) -> Result<(), String> {
        shim::end_leftovers(run, folder, tree).map(drop).map_err(|e| e.to_string())
    }
}
