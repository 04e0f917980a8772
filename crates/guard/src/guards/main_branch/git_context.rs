//! Where a git command runs: its checkout, the branch it stands on by then, and what git's settings are there.

use camino::Utf8Path;
use dandori_shell::{GitCall, Word};

use crate::change::resolve;
use crate::context::Context;
use crate::world::{Checkout, FileKind, Head};

use super::GitLine;

pub(super) struct GitContext<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) checkout: Option<&'c Checkout>,
    pub(super) folder: Option<&'c Utf8Path>,
    pub(super) branch: Option<&'c str>,
    /// What the line has done so far.
    pub(super) line: &'c GitLine,
}

impl GitContext<'_> {
    pub(super) fn is_main(&self, branch: &str) -> bool {
        super::is_main(self.context, branch)
    }

    /// The main branch, when it is checked out here.
    pub(super) fn on_main(&self) -> Option<&str> {
        self.branch.filter(|branch| self.is_main(branch))
    }

    /// Where `switch`, `checkout` or `symbolic-ref HEAD` goes.
    pub(super) fn goes_to(&self, call: &GitCall) -> Option<Head> {
        match call.subcommand.text.as_str() {
            "switch" | "checkout" => {
                let options = call.own_options();
                // Behind the dashes there are files.
                let has_files = options.dashes.is_some_and(|before| before == 0 || before < options.operands.len());
                if has_files || call.has_computed() {
                    return None;
                }
                if let Some(made) = options.value(&MAKES) {
                    // git refuses to make what is there, and stays where it is.
                    let is_refused = options.value(&ANEW).is_none() && self.exists(&made.text);
                    return Some(Head::Branch(made.text.clone())).filter(|_| !is_refused);
                }
                if call.has_option("detach", (call.subcommand.text == "switch").then_some('d')) {
                    return Some(Head::Detached);
                }
                let named = options.operands.first()?;
                if matches!(named.text.as_str(), "-" | "@{-1}") {
                    return self.previous().map(Head::Branch);
                }
                Some(Head::Branch(named.text.clone())).filter(|_| self.is_main(&named.text) || self.exists(&named.text))
            }
            "symbolic-ref" => {
                let operands = call.options("m", &[]).operands;
                let [head, to] = operands.as_slice() else { return None };
                let branch = to.text.strip_prefix("refs/heads/").filter(|_| head.text == "HEAD")?;
                Some(Head::Branch(branch.to_owned()))
            }
            _ => None,
        }
    }

    /// Where `git switch -` goes back to.
    fn previous(&self) -> Option<String> {
        if let Some(left) = &self.line.left {
            return Some(left.clone());
        }
        let log = self.context.world.text(&self.checkout?.git_dir.join("logs/HEAD")).ok()??;
        let moved =
            log.lines().rev().find_map(|line| line.split_once("checkout: moving from ")).map(|(_, rest)| rest)?;
        moved.split_once(" to ").map(|(from, _)| from.to_owned())
    }

    /// A setting of git's as this call would see it.
    pub(super) fn setting(&self, call: &GitCall, key: &str) -> Option<String> {
        self.values(call, key).pop()
    }

    /// All values of a setting: in git's files, set by the line, given with the call.
    pub(super) fn values(&self, call: &GitCall, key: &str) -> Vec<String> {
        let is_key = |name: &str| name.eq_ignore_ascii_case(key);
        let in_files = crate::aliases::in_force(self.context, self.checkout);
        let kept = in_files.into_iter().chain(self.line.settings.iter().cloned());
        let given = call.config.iter().map(|(name, word)| (name.clone(), word.text.clone()));
        kept.chain(given).filter(|(name, _)| is_key(name)).map(|(_, value)| value).collect()
    }

    /// `git checkout README.md` goes nowhere: a name must be a branch to lead away from main.
    fn exists(&self, branch: &str) -> bool {
        let name = format!("heads/{branch}");
        let names = &self.line.names;
        names.has_made(&name) || !names.has_deleted(&name) && self.has_ref(&name)
    }

    /// By its path below `refs/`.
    pub(super) fn has_ref(&self, name: &str) -> bool {
        let Some(checkout) = self.checkout else { return false };
        let world = self.context.world;
        let name = format!("refs/{name}");
        let is_packed = || {
            let packed = world.text(&checkout.common_dir.join("packed-refs")).ok().flatten().unwrap_or_default();
            packed.lines().any(|line| line.split_once(' ').is_some_and(|(_, rest)| rest == name))
        };
        world.kind(&checkout.common_dir.join(&name)) == Some(FileKind::File) || is_packed()
    }

    /// `git init --bare /tmp/r.git && git push /tmp/r.git main`: a path, not the name of a remote, that the line has made a
    /// repository of.
    pub(super) fn is_made_here(&self, remote: &Word) -> bool {
        let is_path = remote.text.starts_with(['/', '.']) && !remote.is_computed();
        is_path && self.line.fresh.contains(&resolve(self.folder, &remote.text))
    }

    /// git takes a word for a file when it is one, and refuses what is both.
    pub(super) fn is_file(&self, word: &Word) -> bool {
        let is_pattern = word.text.contains(['*', '?', '[']) || word.text.starts_with(":(");
        !word.is_computed() && (is_pattern || self.context.world.kind(&resolve(self.folder, &word.text)).is_some())
    }
}

/// Options of `switch` and `checkout` that make a branch.
pub(super) const MAKES: [&str; 7] = ["b", "B", "c", "C", "create", "force-create", "orphan"];

/// Those that make it anew where it is there.
const ANEW: [&str; 3] = ["B", "C", "force-create"];
