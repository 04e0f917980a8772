//! The rules that hold in a project.

use camino::Utf8Path;
use dandori_guard::{Checkout, Profile, Rules};
use dandori_host::{Env, Layout};

pub(crate) fn load(
    checkout: Option<&Checkout>,
    _env: &Env,
    _layout: &Layout,
    _folder: &Utf8Path,
) -> (Rules, Vec<String>) {
    let has_state = checkout.is_some_and(|c| c.root.join("state.md").is_file());
    (Rules::of(if has_state { Profile::Discipline } else { Profile::Safety }), Vec::new())
}
