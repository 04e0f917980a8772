//! What is main's own: what the remote has that was there before the line. Everything else an agent can make itself,
//! another repository as well as a name that looks like the remote's.

use dandori_shell::{GitCall, Word};

use crate::aliases;
use crate::world::FileKind;

use super::git_context::GitContext;
use super::refspec::{Refspec, short};

impl GitContext<'_> {
    /// `git merge` of main with its own upstream: nothing new comes in.
    pub(super) fn is_catching_up(&self, call: &GitCall, main: &str) -> bool {
        let valued = ["message", "strategy", "strategy-option", "file", "into-name", "cleanup"];
        let merged = call.options("mFsX", &valued).operands;
        let is_own = match merged.as_slice() {
            [] => self.follows_own(call, main),
            merged => merged.iter().all(|word| self.is_upstream(call, &word.text, main)),
        };
        is_own && !call.has_option("continue", None)
    }

    /// A name that stands for what main's own remote has.
    pub(super) fn is_upstream(&self, call: &GitCall, name: &str, main: &str) -> bool {
        if name == "FETCH_HEAD" {
            return self.line.fetched.unwrap_or_else(|| self.fetched_before(main));
        }
        if matches!(name.strip_prefix(main).unwrap_or(name), "@{u}" | "@{upstream}") {
            return self.follows_own(call, main);
        }
        let whole = name.strip_prefix("refs/remotes/").or_else(|| name.strip_prefix("remotes/"));
        let remote = whole.unwrap_or(name).strip_suffix(main).and_then(|rest| rest.strip_suffix('/'));
        remote.is_some_and(|remote| {
            !remote.is_empty()
                && !remote.contains('/')
                && self.is_own_remote(call, remote)
                && (whole.is_some() || !self.is_taken(name))
        })
    }

    /// git looks for a name among tags and branches before it looks among the remotes'.
    fn is_taken(&self, name: &str) -> bool {
        let places = [name.to_owned(), format!("tags/{name}"), format!("heads/{name}")];
        let is_file = |checkout: &crate::world::Checkout| {
            self.context.world.kind(&checkout.git_dir.join(name)) == Some(FileKind::File)
        };
        places.iter().any(|place| self.line.names.has_made(place) || self.has_ref(place))
            || self.checkout.is_some_and(is_file)
    }

    /// What a bare `git pull` or `git merge` brings to main is main as its remote has it.
    pub(super) fn follows_own(&self, call: &GitCall, main: &str) -> bool {
        let is_own = match self.setting(call, &format!("branch.{main}.remote")).as_deref() {
            // Itself.
            Some(".") => true,
            Some(remote) => self.is_own_remote(call, remote),
            // Without one git takes `origin`, or says that it has none.
            None => !self.is_changed(call, "origin"),
        };
        is_own && self.follows_main(call, main)
    }

    /// The branch of the remote that main follows is main.
    pub(super) fn follows_main(&self, call: &GitCall, main: &str) -> bool {
        self.setting(call, &format!("branch.{main}.merge")).is_none_or(|merge| short(&merge) == main)
    }

    /// A remote that was configured before, by its name or its address, and that the line leaves as it is.
    pub(super) fn is_own_remote(&self, call: &GitCall, remote: &str) -> bool {
        let key = format!("remote.{remote}.url");
        let is_set =
            |(name, url): &(String, String)| name.eq_ignore_ascii_case(&key) || is_address(name) && url == remote;
        !self.is_changed(call, remote) && aliases::in_force(self.context, self.checkout).iter().any(is_set)
    }

    /// The line decides where this remote is, or what its branches are called here.
    fn is_changed(&self, call: &GitCall, remote: &str) -> bool {
        let own = format!("remote.{}.", remote.to_ascii_lowercase());
        let decides = |key: &str| {
            key.starts_with("url.")
                || key.starts_with("include")
                || key.strip_prefix(&own).is_some_and(|name| ["url", "fetch", "vcs", "uploadpack"].contains(&name))
        };
        call.config.iter().any(|(key, _)| decides(&key.to_ascii_lowercase()))
            || self.line.changed.iter().any(|key| decides(key))
    }

    /// What an earlier line fetched: git notes where each of it comes from.
    fn fetched_before(&self, main: &str) -> bool {
        let Some(checkout) = self.checkout else { return false };
        let text = self.context.world.text(&checkout.git_dir.join("FETCH_HEAD")).ok().flatten().unwrap_or_default();
        let own = format!("\tbranch '{main}' of ");
        let settings = aliases::in_force(self.context, self.checkout);
        let is_remote = |address: &str| {
            let is_url = |(key, url): &&(String, String)| is_address(key) && !url.is_empty();
            // Addresses that git writes anew are noted as they were written.
            let is_rewritten = !is_path(address) && settings.iter().any(|(key, _)| key.ends_with(".insteadof"));
            is_rewritten || settings.iter().filter(is_url).any(|(_, url)| noted(url) == address)
        };
        let mut merged = text.lines().filter(|line| !line.contains("\tnot-for-merge\t")).peekable();
        merged.peek().is_some()
            && merged.all(|line| line.split_once(own.as_str()).is_some_and(|(_, address)| is_remote(address)))
    }

    /// A fetch that leaves nothing but main itself to be merged into main.
    pub(super) fn fetches_own(&self, call: &GitCall) -> bool {
        let options = call.own_options();
        let from = |spec: &Word| Refspec::read(&spec.text).from;
        match options.operands.split_first() {
            None => self.on_main().is_some_and(|main| self.follows_own(call, main)),
            Some((remote, [])) => {
                !options.has(&["all", "multiple"])
                    && self.is_own_remote(call, &remote.text)
                    && self.on_main().is_some_and(|main| self.follows_main(call, main))
            }
            Some((remote, specs)) => {
                self.is_own_remote(call, &remote.text) && specs.iter().all(|spec| self.is_main(&from(spec)))
            }
        }
    }
}

/// `remote.<name>.url`
fn is_address(key: &str) -> bool {
    key.starts_with("remote.") && key.rsplit('.').next() == Some("url")
}

/// An address as git notes it down: without who asks, and without what it ends in.
fn noted(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = match rest.split_once('@') {
        Some((who, rest)) if !who.contains('/') && (!scheme.is_empty() || rest.contains(':')) => rest,
        _ => rest,
    };
    let rest = rest.trim_end_matches('/');
    let rest = rest.strip_suffix(".git").unwrap_or(rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

/// Another repository on this machine, or this one: whatever its branches are called, they may hold anything.
fn is_path(remote: &str) -> bool {
    remote.starts_with(['.', '/', '~']) || remote.starts_with("file:")
}
