//! Where the rules of a project come from.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::Checkout;
use dandori_host::{Env, Layout};
use dandori_policy::{AgentHomes, PolicyPaths};

use crate::Given;
use crate::checkout::main_root;

/// Where the rules of a checkout come from; `None` is outside of every repository.
pub fn policy_paths(
    checkout: Option<&Checkout>,
    env: &Env,
    given: &Given,
    layout: &Layout,
    folder: &Utf8Path,
) -> PolicyPaths {
    PolicyPaths {
        folder: folder.to_owned(),
        user_config: given.user_config(env),
        trust: layout.trust(),
        state_root: layout.root().to_owned(),
        binary: std::env::current_exe().ok().and_then(|path| Utf8PathBuf::try_from(path).ok()),
        homes: AgentHomes::of(env),
        checkout: checkout.map(|c| c.root.clone()),
        main_checkout: checkout.map(main_root),
        git_dir: checkout.map(|c| c.common_dir.clone()),
        is_run: false,
        was_disciplined: false,
    }
}
