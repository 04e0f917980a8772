//! What an agent may touch, from the run's settings.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::run::RunFacts;
use dandori_host::Env;
use dandori_host::sandbox::{SandboxPolicy, default_caches};

use crate::Layout;

/// Worktree, temporary folder, `extra` and the tool caches writable; the state root hidden but for `read`; all else to be
/// read.
pub(crate) fn sandbox_policy(
    layout: &Layout,
    env: &Env,
    run: &RunFacts,
    worktree: &Utf8Path,
    extra: &[Utf8PathBuf],
    read: &[Utf8PathBuf],
) -> SandboxPolicy {
    let settings = &run.spec.settings.sandbox;
    let home = env.home().unwrap_or_else(|| "/".into());
    let expand = |path: &String| match path.strip_prefix("~") {
        Some(rest) => home.join(rest.trim_start_matches('/')),
        None => Utf8PathBuf::from(path),
    };
    let files = layout.repo(run.spec.repo).run(run.spec.id);
    let mut write = vec![worktree.to_owned(), files.tmp()];
    write.extend_from_slice(extra);
    write.extend(default_caches(&home, env));
    write.extend(settings.write.iter().map(expand));
    let mut hide = vec![layout.root().to_owned()];
    hide.extend(settings.hide.iter().map(expand));
    let mut policy = SandboxPolicy::new(settings.mode);
    policy.write = write;
    policy.read = read.to_vec();
    policy.hide = hide;
    policy
}
