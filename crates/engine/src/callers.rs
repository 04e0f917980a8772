//! Whose environment a run is carried out in: that of the terminal it was asked from.
//!
//! The daemon may have been started days ago from another session; the PATH, keys, tokens and agent sockets that count
//! are those of whoever asks. They hold secrets, so they are kept in memory only: a run that is taken up after a
//! restart gets the environment of the command that started the daemon again.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use dandori_domain::RunId;
use dandori_host::Env;

use crate::Engine;

#[derive(Default)]
pub(crate) struct Callers {
    by_run: Mutex<HashMap<RunId, Arc<Env>>>,
    /// The last one seen: a thousand runs from one terminal share it.
    last: Mutex<Option<Caller>>,
}

struct Caller {
    vars: BTreeMap<String, String>,
    env: Arc<Env>,
}

impl Engine {
    /// The environment a run's commands are made from.
    pub(crate) fn env_of(&self, run: RunId) -> Arc<Env> {
        let by_run = self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        by_run.get(&run).cloned().unwrap_or_else(|| Arc::new(self.env().clone()))
    }

    /// A caller's variables as an environment; what is dandori's own in them is not taken over.
    pub fn caller(&self, vars: Option<BTreeMap<String, String>>) -> Option<Arc<Env>> {
        let vars = vars?;
        let mut last = self.0.callers.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(caller) = last.as_ref().filter(|caller| caller.vars == vars) {
            return Some(Arc::clone(&caller.env));
        }
        let foreign = vars.iter().filter(|(name, _)| !name.starts_with("DANDORI_"));
        let env = Arc::new(Env::from_pairs(foreign.map(|(name, value)| (name.clone(), value.clone()))));
        *last = Some(Caller { vars, env: Arc::clone(&env) });
        Some(env)
    }

    pub(crate) fn remember_caller(&self, run: RunId, env: Option<&Arc<Env>>) {
        if let Some(env) = env {
            let mut by_run = self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner);
            by_run.insert(run, Arc::clone(env));
        }
    }

    /// Nothing more will be done for this run.
    pub(crate) fn forget_caller(&self, run: RunId) {
        self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }
}
