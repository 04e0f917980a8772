//! Codex CLI.

mod home;
mod stream;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::SessionId;

use super::{Driver, Line};
use crate::{Order, constraints};

pub(super) const DRIVER: Driver = Driver {
    prompt: |order| constraints::preface(order.instruction, order.forbidden_paths),
    command,
    native,
    variables: |_| Vec::new(),
    is_login: |_, _| false,
    login_files: |_| Vec::new(),
    rebuild: home::rebuild,
    take_in: stream::take_in,
    with_exit: |failure, _| failure,
    of_exit: |_, _, _| None,
};

fn command(order: &Order<'_>, line: &mut Line) -> Option<SessionId> {
    line.add(&["exec", "--json", "--skip-git-repo-check"]);
    if order.sandboxed {
        // Nested sandboxes fail: ours is the outer one.
        line.add(&["--dangerously-bypass-approvals-and-sandbox"]);
    } else {
        // Its idea of a workspace includes all of /tmp; the run has a temporary folder of its own.
        line.add(&["-s", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"]);
    }
    line.option("-m", order.model);
    // Without these it posts metrics and fetches plugins at every start, and waits for a dead network for ever.
    line.add(&["-c", "otel.metrics_exporter=\"none\"", "-c", "analytics.enabled=false"]);
    line.add(&["-c", "check_for_update_on_startup=false"]);
    line.add(&["--disable", "plugins", "--disable", "unbounded_connection_retries"]);
    if order.guards.is_some() {
        // Above the user's and the project's configuration. Only the run's own hooks are trusted.
        line.add(&["--enable", "hooks"]);
    }
    // Flags are not remembered by a thread, and have to stand before `resume`.
    if let Some(session) = order.session {
        line.add(&["resume", session.as_str()]);
    }
    line.add(&["-"]);
    order.session.cloned()
}

const TARGET: Option<(&str, &str)> = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    Some(("codex-linux-x64", "x86_64-unknown-linux-musl"))
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    Some(("codex-linux-arm64", "aarch64-unknown-linux-musl"))
} else if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
    Some(("codex-darwin-x64", "x86_64-apple-darwin"))
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    Some(("codex-darwin-arm64", "aarch64-apple-darwin"))
} else {
    None
};

/// The program behind its Node launcher, where it can be found: a signal then reaches it, and no half of it outlives a
/// kill. The platform package lies beside the launcher's package or inside it, depending on who installed it.
fn native(launcher: &Utf8Path) -> Option<Utf8PathBuf> {
    let (package, triple) = TARGET?;
    let script = launcher.canonicalize_utf8().ok()?;
    if script.extension() != Some("js") {
        return None;
    }
    let root = script.parent()?.parent()?;
    let tail = Utf8Path::new("vendor").join(triple).join("bin/codex");
    [
        root.join("node_modules/@openai").join(package).join(&tail),
        root.parent()?.join(package).join(&tail),
        root.join(&tail),
    ]
    .into_iter()
    .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use dandori_domain::{AgentName, Client};
    use dandori_host::Env;

    use super::*;
    use crate::find_program;

    fn file(path: &Utf8Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap().set_permissions(PermissionsExt::from_mode(0o755)).unwrap();
    }

    #[test]
    fn it_is_started_without_its_launcher_where_the_native_program_lies_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        let script = root.join("node_modules/@openai/codex/bin/codex.js");
        file(&script);
        let bin = root.join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(&script, bin.join("codex")).unwrap();
        let env = Env::from_pairs([("PATH", bin.as_str())]);
        let agent = AgentName::Client(Client::Codex);
        assert_eq!(find_program(&agent, &env).unwrap(), bin.join("codex"), "alone, the launcher has to do");

        let (package, triple) = TARGET.unwrap();
        let native = root.join("node_modules/@openai").join(package).join("vendor").join(triple).join("bin/codex");
        file(&native);
        assert_eq!(find_program(&agent, &env).unwrap(), native);
    }
}
