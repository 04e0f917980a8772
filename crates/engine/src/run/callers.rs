//! Whose environment a run is carried out in: that of the terminal it was asked from.
//!
//! The daemon may have been started days ago from another session; the PATH, keys, tokens and agent sockets that count
//! are those of whoever asks. They hold secrets, so they are kept in memory only: a run that is taken up after a
//! restart gets the environment of the command that started the daemon again.
//!
//! That is the agent's environment. The daemon's own commands (`git`, `gh`) run outside of every fence: for them a request
//! says who the user is ([`TAKEN_OVER`]), never what is run. Programs, libraries and the files that name them (PATH, HOME,
//! git's configuration, `LD_PRELOAD`) are the daemon's own, as they were when it started.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use dandori_domain::{Run, RunId};
use dandori_host::Env;

use crate::Engine;

/// What the daemon's own commands take over from whoever asks: identity, logins, the way to the network, words. Nothing
/// here can name a program, a library or a file of settings.
const TAKEN_OVER: &[&str] = &[
    "EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "KRB5CCNAME",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "GH_ENTERPRISE_TOKEN",
    "GITHUB_ENTERPRISE_TOKEN",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "TZ",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
];

/// The terminal somebody asks from, for its bell. No agent gets it: what they see of an environment is a list.
const TERMINAL: &str = "DANDORI_TERMINAL";

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

/// The daemon's own environment for its own commands, as it starts with it: programs are found by whole paths only, since a
/// command may run in a folder that an agent can write.
pub(crate) fn own(env: &Env) -> Env {
    let mut own = env.clone();
    if let Some(path) = env.text("PATH") {
        let whole: Vec<&str> = path.split(':').filter(|folder| folder.starts_with('/')).collect();
        own.set("PATH", whole.join(":"));
    }
    own
}

/// The same, with what a caller may say.
fn own_for(own: &Env, caller: &Env) -> Env {
    let mut env = own.clone();
    for name in TAKEN_OVER {
        // What the caller has not is not there for him either: another user's token is none.
        match caller.text(name) {
            Some(value) => env.set(*name, value),
            None => env.remove(name),
        };
    }
    env
}

impl Engine {
    /// What the daemon's own commands for a run are made from.
    pub(crate) fn own_env_of(&self, run: RunId) -> Env {
        let by_run = self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner);
        by_run.get(&run).map_or_else(|| self.0.own.clone(), |caller| own_for(&self.0.own, caller))
    }

    /// The same for whoever asks for something that is not a run.
    pub(crate) fn own_env_for(&self, caller: Option<&Arc<Env>>) -> Env {
        caller.map_or_else(|| self.0.own.clone(), |caller| own_for(&self.0.own, caller))
    }

    /// The environment a run's agent and its set-up are made from.
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
        let foreign = vars.iter().filter(|(name, _)| !name.starts_with("DANDORI_") || *name == TERMINAL);
        let env = Arc::new(Env::from_pairs(foreign.map(|(name, value)| (name.clone(), value.clone()))));
        *last = Some(Caller { vars, env: Arc::clone(&env) });
        Some(env)
    }

    pub(crate) fn remember_caller(&self, run: RunId, env: Option<&Arc<Env>>) {
        if let Some(env) = env {
            if let Some(terminal) = env.path(TERMINAL) {
                self.0.attendance.asked_from(run.key(), terminal);
            }
            let mut by_run = self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner);
            by_run.insert(run, Arc::clone(env));
        }
    }

    /// What a caller's environment was kept for may have passed to another run: secrets are not kept for nothing.
    pub(crate) async fn forget_callers_of_what_is_over(&self) {
        let remembered: Vec<RunId> = {
            let by_run = self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner);
            by_run.keys().copied().collect()
        };
        for id in remembered {
            let Ok(run) = self.store().subject::<Run>(id).await else { continue };
            let Ok(pull) = self.pull_of(&run).await else { continue };
            let is_wanted = pull.is_some_and(|pull| pull.is_pending() && pull.wanted.run == id);
            if run.is_settled() && !is_wanted {
                self.forget_caller(id);
            }
        }
    }

    /// Nothing more will be done for this run.
    pub(crate) fn forget_caller(&self, run: RunId) {
        self.0.callers.by_run.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_who_the_user_is_and_never_what_is_run() {
        let daemon = Env::from_pairs([
            ("PATH", "/usr/bin:.::bin:/bin"),
            ("HOME", "/home/me"),
            ("GIT_SSH_COMMAND", "ssh -i mine"),
            ("GH_TOKEN", "old"),
            ("SSH_AUTH_SOCK", "/old"),
        ]);
        let caller = Env::from_pairs([
            ("PATH", "/evil"),
            ("HOME", "/evil"),
            ("LD_PRELOAD", "/evil.so"),
            ("LD_LIBRARY_PATH", "/evil"),
            ("GIT_EXEC_PATH", "/evil"),
            ("GIT_SSH_COMMAND", "evil"),
            ("GIT_SSH", "evil"),
            ("GIT_ASKPASS", "evil"),
            ("SSH_ASKPASS", "evil"),
            ("GIT_PROXY_COMMAND", "evil"),
            ("GIT_CONFIG_GLOBAL", "/evil"),
            ("XDG_CONFIG_HOME", "/evil"),
            ("GH_CONFIG_DIR", "/evil"),
            ("DBUS_SESSION_BUS_ADDRESS", "unixexec:path=/evil"),
            ("SSH_AUTH_SOCK", "/mine"),
            ("GIT_AUTHOR_NAME", "Me"),
            ("HTTPS_PROXY", "http://proxy"),
        ]);
        let env = own_for(&own(&daemon), &caller);
        let found: Vec<(String, String)> = env
            .iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        assert!(found.iter().all(|(_, value)| !value.contains("evil")), "{found:?}");
        let value = |name: &str| env.text(name);
        assert_eq!(value("PATH"), Some("/usr/bin:/bin"));
        assert_eq!(value("HOME"), Some("/home/me"));
        assert_eq!(value("GIT_SSH_COMMAND"), Some("ssh -i mine"), "the daemon's own stays");
        assert_eq!((value("SSH_AUTH_SOCK"), value("GIT_AUTHOR_NAME")), (Some("/mine"), Some("Me")));
        assert_eq!(value("GH_TOKEN"), None, "a login the caller does not have is not used for him");
    }
}
