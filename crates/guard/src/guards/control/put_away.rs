//! Git puts changes of files away that it has: settings that arm the guards, and are not committed, would go with them.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, GitCall, git_call};

use super::{below, trees};
use crate::change::resolve;
use crate::context::Context;
use crate::world::{Call, Ran};

/// Looking at one file is quick, or not worth it.
const LOOKING: Duration = Duration::from_secs(2);

/// What of the guards a command of the line would put away.
pub(super) fn by_git(context: &Context) -> Option<Utf8PathBuf> {
    // Git is asked once for each file, however often the line says `git stash`.
    let mut changed = BTreeMap::new();
    context.commands().iter().find_map(|command| by(context, command, &mut changed))
}

fn by(context: &Context, command: &Command, changed: &mut BTreeMap<Utf8PathBuf, bool>) -> Option<Utf8PathBuf> {
    let call = git_call(command)?;
    let takes = Takes::of(&call)?;
    let base = context.folder_of(command);
    let base = call.folder.as_ref().map(|folder| resolve(base.as_deref(), &folder.text)).or(base)?;
    let root = context.checkout(&base.join("."))?.root.clone();
    below(context, &root).into_iter().find(|path| {
        trees::is_tracked(context, path)
            && match &takes {
                Takes::Changes(paths) => {
                    paths.mean(&base, &root, path)
                        && *changed.entry(path.clone()).or_insert_with(|| is_changed(context, &root, path))
                }
                Takes::AllBut(folders) => !folders.iter().any(|folder| path.starts_with(root.join(folder))),
            }
    })
}

enum Takes {
    /// What differs from the last commit.
    Changes(Paths),
    /// Everything that does not lie in these folders.
    AllBut(Vec<String>),
}

impl Takes {
    fn of(call: &GitCall) -> Option<Self> {
        let words: Vec<&str> = call.args.iter().map(|word| word.text.as_str()).collect();
        let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
        match call.subcommand.text.as_str() {
            "stash" => {
                let is_push = matches!(verb, "push" | "save" | "branch")
                    || words.first().is_none_or(|word| word.starts_with('-'));
                let paths = if verb == "push" || words.contains(&"--") { Paths::of(&words) } else { Paths::default() };
                is_push.then_some(Self::Changes(paths))
            }
            // Behind the dashes there are paths, which are looked at as what comes back.
            "checkout" if words.contains(&"--") => None,
            "checkout" => call.has_option("force", Some('f')).then(|| Self::Changes(Paths::default())),
            "switch" => {
                let is_forced = call.has_option("force", Some('f')) || call.has_option("discard-changes", None);
                is_forced.then(|| Self::Changes(Paths::default()))
            }
            "sparse-checkout" if matches!(verb, "set" | "init") => {
                let folders = words.iter().filter(|word| **word != verb && !word.starts_with('-'));
                Some(Self::AllBut(folders.map(|word| word.trim_matches('/').to_owned()).collect()))
            }
            _ => None,
        }
    }
}

/// The paths a call is limited to, if it is.
#[derive(Default)]
struct Paths {
    named: Vec<String>,
    left_out: Vec<String>,
}

impl Paths {
    fn of(words: &[&str]) -> Self {
        const VALUED: [&str; 2] = ["-m", "--message"];
        let mut paths = Self::default();
        let mut before = "";
        for word in words {
            let is_option = word.starts_with('-') || VALUED.contains(&before);
            let left_out = [":!", ":^", ":(exclude)"].iter().find_map(|mark| word.strip_prefix(mark));
            match left_out {
                Some(path) => paths.left_out.push(path.to_owned()),
                None if is_option || *word == "push" => {}
                None => paths.named.push((*word).to_owned()),
            }
            before = word;
        }
        paths
    }

    /// A pattern, or a path that says where it begins, may be any.
    fn mean(&self, base: &Utf8Path, root: &Utf8Path, path: &Utf8Path) -> bool {
        let is_any = |word: &str| word.contains(['*', '?', '[', '$', '`']) || word.starts_with(':');
        let holds = |word: &str| path.starts_with(resolve(Some(base), word)) || path.starts_with(root.join(word));
        let is_named = self.named.is_empty() || self.named.iter().any(|word| is_any(word) || holds(word));
        is_named && !self.left_out.iter().any(|word| !is_any(word) && holds(word))
    }
}

/// Whether a file differs from the last commit; asked of git, whose index alone does not say.
fn is_changed(context: &Context, root: &Utf8Path, path: &Utf8Path) -> bool {
    // Nothing that the repository is configured to run is run.
    let words =
        ["git", "-c", "core.fsmonitor=false", "diff", "--quiet", "--no-ext-diff", "--no-textconv", "HEAD", "--"];
    let argv = words.iter().map(|word| (*word).to_owned()).chain([path.to_string()]).collect();
    let call = Call { argv, cwd: Some(root.to_owned()), stdin: String::new(), limit: LOOKING };
    !matches!(context.world.run(&call), Ran::Ended { code: Some(0), .. })
}
