//! What Codex alone asks for: a project it trusts, and each hook agreed to.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_install::CodexConfig;
use dandori_text::doctor::hooks::HookTrouble;

use super::{Look, Scope};
use crate::cli::Context;
use crate::cli::init::{files, places};

/// The root whose hooks it reads: of a linked worktree that is the main one's.
pub(in crate::cli) fn project(root: &Utf8Path) -> Utf8PathBuf {
    dandori_hook::find_checkout(root).map_or_else(|| root.to_owned(), |checkout| dandori_hook::main_root(&checkout))
}

/// By its name and by where it leads: Codex writes down what it was started with.
pub(in crate::cli::doctor) fn names(path: &Utf8Path) -> Vec<String> {
    let real = dandori_host::layout::real(path);
    let mut names = vec![path.to_string()];
    if real != path {
        names.push(real.into_string());
    }
    names
}

pub(super) fn look(look: &mut Look, context: &Context) {
    beside_a_worktree(look);
    let path = places::user_folder(context, look.client).join("config.toml");
    let text = files::read(&path).ok().flatten().unwrap_or_default();
    let config = match CodexConfig::read(&text) {
        Ok(config) => config,
        Err(reason) => return look.troubles.push(HookTrouble::CodexConfig { path: path.into_string(), reason }),
    };
    if config.hooks_are_off() {
        let key = "features.hooks".to_owned();
        look.troubles.push(HookTrouble::Disabled { path: path.into_string(), key });
    }
    let mut troubles = Vec::new();
    for (file, _) in look.own_files() {
        let root = file.path.parent().and_then(Utf8Path::parent);
        if let (Scope::Project, Some(root)) = (file.scope, root)
            && !names(root).iter().any(|root| config.trusts_project(root))
        {
            troubles.push(HookTrouble::CodexProject { root: root.to_string() });
            // Until then it has not even seen them.
            continue;
        }
        let text = file.text().unwrap_or_default();
        let all = names(&file.path).into_iter().map(|path| config.trust(&path, text));
        let Some(trust) = all.max_by_key(|trust| trust.trusted) else { continue };
        let path = || file.path.to_string();
        if trust.unknown > 0 {
            troubles.push(HookTrouble::CodexUntrusted { path: path(), count: trust.unknown });
        }
        if trust.changed > 0 {
            troubles.push(HookTrouble::CodexChanged { path: path(), count: trust.changed });
        }
        if trust.off > 0 {
            troubles.push(HookTrouble::CodexOff { path: path(), count: trust.off });
        }
    }
    look.troubles.extend(troubles);
}

/// Hooks that were put into a linked worktree are not read.
fn beside_a_worktree(look: &mut Look) {
    let Some(root) = look.root.clone() else { return };
    let main = project(&root);
    let path = root.join(look.client.describe().settings.folder).join(look.hooks.file);
    let text = files::read(&path).ok().flatten();
    if main != root && text.is_some_and(|text| dandori_install::has_ours(look.client, &text)) {
        look.is_installed = true;
        look.troubles.push(HookTrouble::CodexWorktree { path: path.into_string(), main: main.into_string() });
    }
}
