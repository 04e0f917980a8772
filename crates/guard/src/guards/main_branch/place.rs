//! Where a git command runs: its checkout, the branch it stands on by then, and what is main's own there.

use camino::Utf8Path;
use dandori_shell::{GitCall, GitOptions, Word};

use crate::change::resolve;
use crate::context::Context;
use crate::world::{Checkout, FileKind, Head};

use super::refspec::Refspec;

pub(in crate::guards) struct Place<'c> {
    pub(in crate::guards) context: &'c Context<'c>,
    pub(in crate::guards) checkout: Option<&'c Checkout>,
    pub(in crate::guards) folder: Option<&'c Utf8Path>,
    pub(in crate::guards) branch: Option<&'c str>,
    /// What the last `git fetch` of the line brought is main's own.
    pub(in crate::guards) fetched: Option<bool>,
    /// The branch that the line left last.
    pub(in crate::guards) left: Option<&'c str>,
    /// What the line itself has set with `git config` so far.
    pub(in crate::guards) settings: &'c [(String, String)],
}

impl Place<'_> {
    pub(super) fn is_main(&self, branch: &str) -> bool {
        super::is_main(self.context, branch)
    }

    /// The main branch, when it is checked out here.
    pub(super) fn on_main(&self) -> Option<&str> {
        self.branch.filter(|branch| self.is_main(branch))
    }

    /// `git merge` of main with its own upstream: nothing new comes in.
    pub(in crate::guards) fn is_catching_up(&self, call: &GitCall, main: &str) -> bool {
        let merged = call.options("mFsX", &["strategy", "strategy-option", "file", "into-name", "cleanup"]).operands;
        merged.iter().all(|word| self.is_upstream(&word.text, main)) && !call.has_option("continue", None)
    }

    /// A name that stands for what main's own remote has.
    pub(in crate::guards) fn is_upstream(&self, name: &str, branch: &str) -> bool {
        if name == "FETCH_HEAD" {
            return self.fetched.unwrap_or_else(|| self.fetched_before(branch));
        }
        if matches!(name.strip_prefix(branch).unwrap_or(name), "@{u}" | "@{upstream}") {
            return true;
        }
        let short = name.strip_prefix("refs/").unwrap_or(name);
        let short = short.strip_prefix("remotes/").unwrap_or(short);
        let remote = short.strip_suffix(branch).and_then(|rest| rest.strip_suffix('/'));
        // A branch of one's own may be called `origin/main` as well.
        remote.is_some_and(|remote| !remote.is_empty() && !remote.contains('/')) && !self.exists(short)
    }

    /// What an earlier line fetched: git notes where each of it comes from.
    fn fetched_before(&self, branch: &str) -> bool {
        let Some(checkout) = self.checkout else { return true };
        let text = self.context.world.text(&checkout.git_dir.join("FETCH_HEAD")).ok().flatten().unwrap_or_default();
        let own = format!("\tbranch '{branch}' of ");
        let is_here = |line: &str| line.ends_with(" of .");
        text.lines()
            .filter(|line| !line.contains("\tnot-for-merge\t"))
            .all(|line| line.contains(&own) && !is_here(line))
    }

    /// A fetch that leaves nothing but main itself to be merged into main.
    pub(super) fn fetches_own(&self, call: &GitCall) -> bool {
        let options = fetch_options(call);
        let Some((remote, specs)) = options.operands.split_first() else { return true };
        let from = |spec: &Word| Refspec::read(&spec.text).from;
        !is_path(&remote.text)
            && (specs.is_empty() && !options.has(&["all", "multiple"]) || specs.iter().all(|s| self.is_main(&from(s))))
    }

    /// Where `switch`, `checkout` or `symbolic-ref HEAD` goes.
    pub(super) fn goes_to(&self, call: &GitCall) -> Option<Head> {
        match call.subcommand.text.as_str() {
            "switch" | "checkout" => {
                let options = switch_options(call);
                // Behind the dashes there are files.
                let has_files = options.dashes.is_some_and(|before| before == 0 || before < options.operands.len());
                if has_files || call.has_computed() {
                    return None;
                }
                if let Some(made) = options.value(&MAKES) {
                    return Some(Head::Branch(made.text.clone()));
                }
                if call.has_option("detach", (call.subcommand.text == "switch").then_some('d')) {
                    return Some(Head::Detached);
                }
                let named = options.operands.first()?;
                if matches!(named.text.as_str(), "-" | "@{-1}") {
                    return self.previous().map(Head::Branch);
                }
                Some(Head::Branch(named.text.clone())).filter(|_| self.exists(&named.text))
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
        if let Some(left) = self.left {
            return Some(left.to_owned());
        }
        let log = self.context.world.text(&self.checkout?.git_dir.join("logs/HEAD")).ok()??;
        let moved =
            log.lines().rev().find_map(|line| line.split_once("checkout: moving from ")).map(|(_, rest)| rest)?;
        moved.split_once(" to ").map(|(from, _)| from.to_owned())
    }

    /// A setting of git's as this call would see it: given with it, set by the line, or in the repository's own file.
    pub(super) fn setting(&self, call: &GitCall, key: &str) -> Option<String> {
        let given =
            call.config.iter().rfind(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, word)| word.text.clone());
        let in_line = || self.settings.iter().rfind(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, v)| v.clone());
        let in_file = || {
            let text = self.context.world.text(&self.checkout?.common_dir.join("config")).ok()??;
            let set = crate::aliases::settings(&text);
            set.into_iter().rfind(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
        };
        given.or_else(in_line).or_else(in_file)
    }

    /// `git checkout README.md` goes nowhere: a name must be a branch to lead away from main.
    fn exists(&self, branch: &str) -> bool {
        let Some(checkout) = self.checkout else { return false };
        let world = self.context.world;
        let name = format!("refs/heads/{branch}");
        let is_packed = || {
            let packed = world.text(&checkout.common_dir.join("packed-refs")).ok().flatten().unwrap_or_default();
            packed.lines().any(|line| line.split_once(' ').is_some_and(|(_, rest)| rest == name))
        };
        world.kind(&checkout.common_dir.join(&name)) == Some(FileKind::File) || is_packed()
    }

    /// git takes a word for a file when it is one, and refuses what is both.
    pub(super) fn is_file(&self, word: &Word) -> bool {
        let is_pattern = word.text.contains(['*', '?', '[']) || word.text.starts_with(":(");
        !word.is_computed() && (is_pattern || self.context.world.kind(&resolve(self.folder, &word.text)).is_some())
    }
}

/// Options of `switch` and `checkout` that make a branch.
const MAKES: [&str; 7] = ["b", "B", "c", "C", "create", "force-create", "orphan"];

pub(super) fn switch_options(call: &GitCall) -> GitOptions {
    call.options("bBcC", &["create", "force-create", "orphan", "conflict", "pathspec-from-file"])
}

pub(super) fn fetch_options(call: &GitCall) -> GitOptions {
    let valued = [
        "depth",
        "deepen",
        "shallow-since",
        "shallow-exclude",
        "upload-pack",
        "refmap",
        "server-option",
        "jobs",
        "negotiation-tip",
        "filter",
        "strategy",
        "strategy-option",
        "cleanup",
    ];
    call.options("josSX", &valued)
}

/// Another repository on this machine, or this one: whatever its branches are called, they may hold anything.
pub(super) fn is_path(remote: &str) -> bool {
    remote.starts_with(['.', '/', '~']) || remote.starts_with("file:")
}
