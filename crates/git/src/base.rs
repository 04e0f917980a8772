//! What a worktree starts from: the base asked for, configured, or the remote's default branch, fetched first.

use dandori_domain::Oid;

use crate::error::GitError;
use crate::git::scrub;
use crate::refs::{head_ref, tracking_ref};
use crate::repository::{REMOTE, Repository};

/// Whether the remote is asked first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fetch {
    First,
    /// Only when the remote's branch is another than when it was last seen: asking costs less than a fetch, which looks
    /// at every worktree there is.
    WhenMoved,
    Never,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Base {
    /// The name people know it by: `main`, a tag, or what was asked.
    pub name: String,
    pub oid: Oid,
    /// Why the remote could not be asked; the base is then as it was when it last could.
    pub offline: Option<String>,
    /// The base is a branch or commit of this clone that the remote does not know by that name.
    pub local_only: bool,
}

struct Found {
    name: String,
    oid: Oid,
    local_only: bool,
}

impl Repository {
    /// `asked`, else `configured`, else the default branch of `origin`. A failed fetch is no error as long as the
    /// base is known from before.
    pub fn resolve_base(&self, asked: Option<&str>, configured: Option<&str>, fetch: Fetch) -> Result<Base, GitError> {
        let wanted = asked.or(configured).map(str::trim).filter(|b| !b.is_empty());
        if fetch == Fetch::WhenMoved
            && let Some(Found { name, oid, local_only }) = self.unmoved_base(wanted)?
        {
            return Ok(Base { name, oid, offline: None, local_only });
        }
        let asks_remote = fetch != Fetch::Never;
        let unreachable = if asks_remote { self.fetch().err() } else { None };
        let found = match wanted {
            Some(name) => self.named_base(name)?,
            None => self.default_base(unreachable.is_none() && asks_remote)?,
        };
        // A repository without a remote is not offline. Asked only now: nearly every fetch goes well.
        let offline = match unreachable {
            Some(reason) if self.remote_url()?.is_some() => Some(reason),
            _ => None,
        };
        let Some(Found { name, oid, local_only }) = found else {
            let base = wanted.unwrap_or("HEAD").to_owned();
            let near = self.names_near(&base)?;
            return Err(GitError::UnknownBase { base, near });
        };
        Ok(Base { name, oid, offline, local_only })
    }

    /// The base as it was last seen, when the remote says that it still stands there.
    fn unmoved_base(&self, wanted: Option<&str>) -> Result<Option<Found>, GitError> {
        let found = match wanted {
            Some(name) => self.named_base(name)?,
            None => self.default_base(false)?,
        };
        let Some(found) = found.filter(|found| !found.local_only) else { return Ok(None) };
        // A tag or a commit is no branch that could move.
        if self.commit_of(&tracking_ref(&found.name))?.as_ref() != Some(&found.oid) {
            return Ok(None);
        }
        let head = head_ref(&found.name);
        let call = self.cmd().reading().over_network().args(["ls-remote", REMOTE, &head]);
        // Who cannot be asked is fetched from: what is wrong is then told as it always is.
        let Ok(Some(text)) = call.answer() else { return Ok(None) };
        let is_there = |line: &str| line.split_once('\t') == Some((found.oid.as_str(), head.as_str()));
        Ok(text.lines().any(is_there).then_some(found))
    }

    /// Brings `origin` up to date, once for everybody who asked before it began. The error is one line for people.
    pub fn fetch(&self) -> Result<(), String> {
        self.git.fetches.share(self.common_dir(), || {
            let call = self.cmd().over_network().args([
                "fetch",
                "--quiet",
                "--prune",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
                "--no-recurse-submodules",
                REMOTE,
            ]);
            match call.run_patiently() {
                Ok(_) => Ok(()),
                Err(error) => Err(in_one_line(error.stderr()).unwrap_or_else(|| error.to_string())),
            }
        })
    }

    fn named_base(&self, name: &str) -> Result<Option<Found>, GitError> {
        let on_remote = name.strip_prefix(&format!("{REMOTE}/")).unwrap_or(name);
        let plain = name.strip_prefix("refs/heads/").unwrap_or(name);
        let places = [
            (tracking_ref(plain), plain, false),
            (tracking_ref(on_remote), on_remote, false),
            (format!("refs/tags/{name}"), name, false),
            (format!("refs/heads/{plain}"), plain, true),
        ];
        for (reference, name, local_only) in places {
            if let Some(oid) = self.commit_of(&reference)? {
                return Ok(Some(Found { name: name.to_owned(), oid, local_only }));
            }
        }
        // A commit id, or an expression such as `main~3`.
        let Some(oid) = self.commit_of(name)? else { return Ok(None) };
        let local_only = !self.is_on_remote(&oid)?;
        Ok(Some(Found { name: name.to_owned(), oid, local_only }))
    }

    fn default_base(&self, may_ask_remote: bool) -> Result<Option<Found>, GitError> {
        let prefix = format!("refs/remotes/{REMOTE}/");
        let head = format!("{prefix}HEAD");
        // Where it points and which commit that is, in one question. One that points nowhere is not listed.
        let known = self.cmd().reading().args(["for-each-ref", "--format=%(symref) %(objectname)", "--", &head]);
        let known = known.answer()?;
        if let Some((name, oid)) = known.as_deref().and_then(|line| line.strip_prefix(&prefix)?.split_once(' ')) {
            return Ok(Some(Found { name: name.to_owned(), oid: Oid::new(oid), local_only: false }));
        }
        let mut names = Vec::new();
        if may_ask_remote {
            names.extend(self.remote_default()?);
        }
        names.extend(["main".to_owned(), "master".to_owned()]);
        for name in names {
            if let Some(oid) = self.commit_of(&tracking_ref(&name))? {
                return Ok(Some(Found { name, oid, local_only: false }));
            }
        }
        // A remote that is still empty, or none: what the user has checked out.
        let Some(oid) = self.commit_of("HEAD")? else { return Ok(None) };
        let branch = self.cmd().reading().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?;
        Ok(Some(Found { name: branch.unwrap_or_else(|| "HEAD".to_owned()), oid, local_only: true }))
    }

    fn remote_default(&self) -> Result<Option<String>, GitError> {
        let call = self.cmd().reading().over_network().args(["ls-remote", "--symref", REMOTE, "HEAD"]);
        let Some(text) = call.answer()? else { return Ok(None) };
        Ok(text.lines().find_map(|line| {
            let (target, name) = line.strip_prefix("ref: ")?.split_once('\t')?;
            (name == "HEAD").then(|| target.strip_prefix("refs/heads/").unwrap_or(target).to_owned())
        }))
    }

    fn is_on_remote(&self, oid: &Oid) -> Result<bool, GitError> {
        let call = self.cmd().reading().args([
            "for-each-ref",
            "--count=1",
            "--format=%(refname)",
            &format!("--contains={}", oid.as_str()),
            "refs/remotes/",
        ]);
        Ok(call.answer()?.is_some())
    }

    /// Names a person may have meant, best first.
    fn names_near(&self, wanted: &str) -> Result<Vec<String>, GitError> {
        let wanted = wanted.strip_prefix(&format!("{REMOTE}/")).unwrap_or(wanted).to_lowercase();
        let remote = format!("refs/remotes/{REMOTE}/");
        let mut names: Vec<String> = Vec::new();
        for (full, _) in self.refs_under("refs/")? {
            let short = [remote.as_str(), "refs/heads/", "refs/tags/"].iter().find_map(|p| full.strip_prefix(p));
            if let Some(short) = short.filter(|s| *s != "HEAD" && !s.starts_with("dandori/"))
                && !names.iter().any(|n| n == short)
            {
                names.push(short.to_owned());
            }
        }
        let mut scored: Vec<(f64, String)> = names
            .into_iter()
            .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
            .filter(|(score, _)| *score >= 0.72)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        Ok(scored.into_iter().take(3).map(|(_, name)| name).collect())
    }
}

/// The line of git's complaint that says most.
pub(crate) fn in_one_line(stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim).filter(|l| !l.is_empty());
    let line = lines().find(|l| l.starts_with("fatal: ") || l.starts_with("error: ")).or_else(|| lines().next())?;
    Some(scrub(line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
}
