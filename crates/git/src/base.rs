//! What a worktree starts from: the base asked for, configured, or the remote's default branch, fetched first.

use dandori_domain::Oid;
use dandori_domain::run::Offline;

use crate::error::GitError;
use crate::git::scrub;
use crate::refs::head_ref;
use crate::remote::Remote;
use crate::repository::Repository;

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
    /// The remote whose branch it is.
    pub remote: Option<String>,
    /// Why the remote could not be asked; the base is then as it was when it last could.
    pub offline: Option<Offline>,
    /// The base is a branch or commit of this clone that the remote does not know by that name.
    pub local_only: bool,
}

impl Base {
    /// With the remote it is of: `origin/main`.
    pub fn full_name(&self) -> String {
        self.remote.as_ref().map_or_else(|| self.name.clone(), |remote| format!("{remote}/{}", self.name))
    }
}

struct Found {
    name: String,
    oid: Oid,
    place: Place,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A branch of the remote's.
    RemoteBranch,
    /// A tag, or a commit that the remote has.
    Shared,
    Local,
}

impl Repository {
    /// `asked`, else `configured`, else the remote's default branch, else what is checked out. A failed fetch is no error as
    /// long as the base is known from before.
    pub fn resolve_base(&self, asked: Option<&str>, configured: Option<&str>, fetch: Fetch) -> Result<Base, GitError> {
        let wanted = asked.or(configured).map(str::trim).filter(|b| !b.is_empty());
        let remote = self.remote()?;
        let remote = remote.as_ref();
        if fetch == Fetch::WhenMoved
            && let Some(remote) = remote
            && let Some(found) = self.unmoved_base(remote, wanted)?
        {
            self.remote_has_answered();
            return Ok(base_of(found, Some(remote), None));
        }
        let asked = remote.filter(|_| fetch != Fetch::Never).map(|remote| self.fetch_from(remote));
        let unreachable = asked.clone().and_then(Result::err);
        let found = match wanted {
            Some(name) => self.named_base(remote, name)?,
            None => self.default_base(remote, asked.is_some_and(|answer| answer.is_ok()))?,
        };
        let Some(found) = found else {
            let base = wanted.unwrap_or("HEAD").to_owned();
            let near = self.names_near(remote, &base)?;
            return Err(GitError::UnknownBase { base, near, unreachable });
        };
        let offline = unreachable
            .zip(remote)
            .map(|(reason, remote)| Offline { reason, fetched_at: self.last_heard(remote, &found.name) });
        Ok(base_of(found, remote, offline))
    }

    /// The branch a pull request goes to that names no other: the remote's default, else what the main checkout is on.
    pub fn default_branch(&self) -> Result<Option<String>, GitError> {
        let remote = self.remote()?;
        Ok(self.default_base(remote.as_ref(), false)?.map(|found| found.name))
    }

    /// Without a remote: the branch that work on this commit goes back to. Usual names first, or the only branch there is; the
    /// commit is on it, or comes after it. Else the only branch that it is on.
    pub fn branch_around(&self, commit: &Oid) -> Result<Option<String>, GitError> {
        let usual = self.cmd().reading().args(["config", "--get", "init.defaultBranch"]).answer()?;
        let names = usual.into_iter().chain(["main".to_owned(), "master".to_owned()]);
        let theirs: Vec<(String, Oid)> =
            self.branches("")?.into_iter().filter(|(name, _)| !name.starts_with("dandori/")).collect();
        let only = theirs.first().filter(|_| theirs.len() == 1).map(|(name, _)| name.clone());
        for name in names.chain(only) {
            if let Some((_, tip)) = theirs.iter().find(|(branch, _)| *branch == name)
                && (self.is_ancestor(commit, tip)? || self.is_ancestor(tip, commit)?)
            {
                return Ok(Some(name));
            }
        }
        let mut around = Vec::new();
        for (name, tip) in theirs {
            if self.is_ancestor(commit, &tip)? {
                around.push(name);
            }
        }
        Ok(around.pop().filter(|_| around.is_empty()))
    }

    /// The base as it was last seen, when the remote says that it still stands there.
    fn unmoved_base(&self, remote: &Remote, wanted: Option<&str>) -> Result<Option<Found>, GitError> {
        let found = match wanted {
            Some(name) => self.named_base(Some(remote), name)?,
            None => self.default_base(Some(remote), false)?,
        };
        // A tag or a commit is no branch that could move.
        let Some(found) = found.filter(|found| found.place == Place::RemoteBranch) else { return Ok(None) };
        let head = head_ref(&found.name);
        let call = self.cmd().reading().over_network().args(["ls-remote", &remote.name, &head]);
        // Who cannot be asked is fetched from: what is wrong is then told as it always is.
        let Ok(Some(text)) = call.answer() else { return Ok(None) };
        let is_there = |line: &str| line.split_once('\t') == Some((found.oid.as_str(), head.as_str()));
        Ok(text.lines().any(is_there).then_some(found))
    }

    /// Brings the remote's branches up to date; without a remote there is nothing to do.
    pub fn fetch(&self) -> Result<(), String> {
        match self.remote() {
            Ok(Some(remote)) => self.fetch_from(&remote),
            Ok(None) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Once for everybody who asked before it began. The error is one line for people.
    fn fetch_from(&self, remote: &Remote) -> Result<(), String> {
        self.git.fetches.share(self.common_dir(), || {
            let call = self.cmd().over_network().args([
                "fetch",
                "--quiet",
                "--prune",
                "--no-write-fetch-head",
                "--no-auto-maintenance",
                "--no-recurse-submodules",
                &remote.name,
            ]);
            match call.run_patiently() {
                Ok(_) => {
                    self.remote_has_answered();
                    Ok(())
                }
                Err(error) => Err(in_one_line(error.stderr()).unwrap_or_else(|| error.to_string())),
            }
        })
    }

    fn named_base(&self, remote: Option<&Remote>, name: &str) -> Result<Option<Found>, GitError> {
        let plain = name.strip_prefix("refs/heads/").unwrap_or(name);
        let mut places = Vec::new();
        if let Some(remote) = remote {
            let on_remote = name.strip_prefix(&format!("{}/", remote.name)).unwrap_or(name);
            places.push((remote.tracking_ref(plain), plain, Place::RemoteBranch));
            places.push((remote.tracking_ref(on_remote), on_remote, Place::RemoteBranch));
        }
        places.push((format!("refs/tags/{name}"), name, Place::Shared));
        places.push((head_ref(plain), plain, Place::Local));
        for (reference, name, place) in places {
            if let Some(oid) = self.commit_of(&reference)? {
                return Ok(Some(Found { name: name.to_owned(), oid, place }));
            }
        }
        // A commit id, or an expression such as `main~3`.
        let Some(oid) = self.commit_of(name)? else { return Ok(None) };
        let place = if self.is_on_remote(&oid)? { Place::Shared } else { Place::Local };
        Ok(Some(Found { name: name.to_owned(), oid, place }))
    }

    fn default_base(&self, remote: Option<&Remote>, may_ask_remote: bool) -> Result<Option<Found>, GitError> {
        if let Some(remote) = remote
            && let Some((name, oid)) = self.remote_default_base(remote, may_ask_remote)?
        {
            return Ok(Some(Found { name, oid, place: Place::RemoteBranch }));
        }
        // A remote that is still empty, or none: what the user has checked out.
        let Some(oid) = self.commit_of("HEAD")? else { return Ok(None) };
        let branch = self.cmd().reading().args(["symbolic-ref", "--quiet", "--short", "HEAD"]).answer()?;
        Ok(Some(Found { name: branch.unwrap_or_else(|| "HEAD".to_owned()), oid, place: Place::Local }))
    }

    fn remote_default_base(&self, remote: &Remote, may_ask: bool) -> Result<Option<(String, Oid)>, GitError> {
        let prefix = remote.tracking_ref("");
        let head = remote.tracking_ref("HEAD");
        // Where it points and which commit that is, in one question. One that points nowhere is not listed.
        let known = self.cmd().reading().args(["for-each-ref", "--format=%(symref) %(objectname)", "--", &head]);
        let known = known.answer()?;
        if let Some((name, oid)) = known.as_deref().and_then(|line| line.strip_prefix(&prefix)?.split_once(' ')) {
            return Ok(Some((name.to_owned(), Oid::new(oid))));
        }
        let mut names = Vec::new();
        if may_ask {
            names.extend(self.remote_head(remote)?);
        }
        names.extend(["main".to_owned(), "master".to_owned()]);
        for name in names {
            if let Some(oid) = self.commit_of(&remote.tracking_ref(&name))? {
                return Ok(Some((name, oid)));
            }
        }
        Ok(None)
    }

    fn remote_head(&self, remote: &Remote) -> Result<Option<String>, GitError> {
        let call = self.cmd().reading().over_network().args(["ls-remote", "--symref", &remote.name, "HEAD"]);
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
    fn names_near(&self, remote: Option<&Remote>, wanted: &str) -> Result<Vec<String>, GitError> {
        let name = remote.map_or_else(String::new, |remote| format!("{}/", remote.name));
        let wanted = wanted.strip_prefix(&name).unwrap_or(wanted).to_lowercase();
        let remote = remote.map_or_else(|| "refs/heads/".to_owned(), |remote| remote.tracking_ref(""));
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

fn base_of(found: Found, remote: Option<&Remote>, offline: Option<Offline>) -> Base {
    let Found { name, oid, place } = found;
    let remote = remote.filter(|_| place == Place::RemoteBranch).map(|remote| remote.name.clone());
    Base { name, oid, remote, offline, local_only: place == Place::Local }
}

/// The line of git's complaint that says most.
pub(crate) fn in_one_line(stderr: &str) -> Option<String> {
    let lines = || stderr.lines().map(str::trim).filter(|l| !l.is_empty());
    let line = lines().find(|l| l.starts_with("fatal: ") || l.starts_with("error: ")).or_else(|| lines().next())?;
    Some(scrub(line.trim_start_matches("fatal: ").trim_start_matches("error: ")))
}
