//! What a request starts from: which checkout its user stands in, what he named, and which commit that is.

use camino::Utf8Path;
use dandori_domain::Problem;
use dandori_domain::id::Oid;
use dandori_domain::run::{Here, Offline, Start};
use dandori_git::{Base, Checkout, Fetch, GitError, Repository};

use super::refuse_unsupported;
use crate::edges::{Footing, Site};

/// In place of a branch: work that goes back to none.
pub(crate) const NO_BRANCH: &str = "HEAD";

/// `HEAD` in whatever form: it is another in every checkout.
fn is_head(base: &str) -> bool {
    let rest = base.strip_prefix("HEAD").or_else(|| base.strip_prefix('@'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['~', '^', '@', '{']))
}

pub(super) fn of(site: &Site, git: &Repository, from: &Utf8Path, base: Option<&str>) -> Result<Footing, Problem> {
    let top = git.checkout_of(from).map_err(|e| e.problem())?;
    let top = top.unwrap_or_else(|| git.root().to_owned());
    let stands = || -> Result<Checkout, Problem> {
        let checkout = git.checkout(&top).map_err(|e| e.problem())?;
        checkout.ok_or_else(|| Problem::NotOurWorktree { path: top.clone() })
    };
    let said = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let (asked, configured) = (said(base), said(site.base.as_deref()));
    if let Some(name) = asked.clone().or_else(|| configured.clone()).filter(|name| is_head(name)) {
        let here = here(git, &stands()?, &name)?;
        return Ok(Footing { checkout: Some(top), base: Some(name), here: Some(here) });
    }
    if asked.is_some() || configured.is_some() || git.remote().map_err(|e| e.problem())?.is_some() {
        return Ok(Footing { checkout: Some(top), base: asked, here: None });
    }
    // No remote and nothing said: what is checked out. A branch is followed while the run waits, as a remote's would be.
    let checkout = stands()?;
    match &checkout.branch {
        Some(branch) => Ok(Footing { base: Some(branch.clone()), checkout: Some(top), here: None }),
        None => Ok(Footing { here: Some(here(git, &checkout, "HEAD")?), base: None, checkout: Some(top) }),
    }
}

fn here(git: &Repository, checkout: &Checkout, name: &str) -> Result<Here, Problem> {
    if checkout.head.is_none() {
        return Err(Problem::NoCommitYet { path: checkout.path.clone() });
    }
    let commit = git.commit_in(&checkout.path, name).map_err(|e| e.problem())?;
    let commit =
        commit.ok_or_else(|| Problem::UnknownBase { base: name.to_owned(), near: Vec::new(), unreachable: None })?;
    Ok(Here { commit, branch: checkout.branch.clone() })
}

/// Looked at without the network where that is possible.
pub(super) fn require_ready(site: &Site, git: &Repository, footing: &Footing, wants_pull: bool) -> Result<(), Problem> {
    let root = site.repo.root.clone();
    let resolve = |fetch| beginning(git, footing, site.base.as_deref(), fetch);
    let known = resolve(Fetch::Never);
    // Where there is a base there is a commit.
    if known.is_err() && !git.has_commit().map_err(|e| e.problem())? {
        return Err(Problem::NoCommitYet { path: root });
    }
    if rustix::fs::access(git.common_dir().as_std_path(), rustix::fs::Access::WRITE_OK).is_err() {
        let reason = "a run keeps its worktree and branch there, and it cannot be written".to_owned();
        return Err(Problem::Io { path: git.common_dir().to_owned(), reason });
    }
    let beginning = known.or_else(|_| resolve(Fetch::First)).map_err(|e| e.problem())?;
    if wants_pull && beginning.branch == NO_BRANCH {
        return Err(Problem::NoBranchToPullTo { commit: beginning.commit });
    }
    refuse_unsupported(git, &beginning.commit)
}

/// The commit that something starts from, and the branch it goes back to.
pub(crate) struct Beginning {
    /// As people call it.
    pub(crate) name: String,
    pub(crate) commit: Oid,
    /// What a pull request of it is made to.
    pub(crate) branch: String,
    pub(crate) offline: Option<Offline>,
    /// The remote does not know what was asked for by its name.
    pub(crate) local_only: bool,
}

impl Beginning {
    pub(crate) fn start(&self) -> Start {
        Start { base: self.name.clone(), commit: self.commit.clone(), offline: self.offline.clone(), left_out: None }
    }
}

pub(crate) fn beginning(
    git: &Repository,
    footing: &Footing,
    configured: Option<&str>,
    fetch: Fetch,
) -> Result<Beginning, GitError> {
    let Some(here) = &footing.here else {
        let base = git.resolve_base(footing.base.as_deref(), configured, fetch)?;
        let name = base.full_name();
        let Base { name: branch, oid, offline, local_only, .. } = base;
        let local_only = local_only && git.remote()?.is_some();
        return Ok(Beginning { name, commit: oid, branch, offline, local_only });
    };
    let name = match footing.base.as_deref().filter(|name| !matches!(*name, "HEAD" | "@")) {
        Some(expression) => expression.to_owned(),
        None => here.branch.clone().unwrap_or_else(|| "HEAD".to_owned()),
    };
    let branch = branch_for(git, here)?;
    Ok(Beginning { name, commit: here.commit.clone(), branch, offline: None, local_only: false })
}

/// What is checked out, where a pull request can go there: the remote has it, or there is none. Else the default branch; `HEAD`
/// when there is none that the commit has to do with.
fn branch_for(git: &Repository, here: &Here) -> Result<String, GitError> {
    if here.branch.is_none() && git.remote()?.is_none() {
        return Ok(git.branch_around(&here.commit)?.unwrap_or_else(|| NO_BRANCH.to_owned()));
    }
    if let Some(branch) = here.branch.as_deref()
        && (git.remote()?.is_none() || git.remote_branch_oid(branch)?.is_some())
    {
        return Ok(branch.to_owned());
    }
    Ok(git.default_branch()?.unwrap_or_else(|| "main".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::is_head;

    #[test]
    fn head_is_known_in_every_form_and_a_branch_that_begins_like_it_is_none() {
        for head in ["HEAD", "@", "HEAD~2", "HEAD^", "@{1}", "HEAD@{yesterday}", "@~1"] {
            assert!(is_head(head), "{head}");
        }
        for other in ["HEADER", "HEAD-fix", "main", "origin/HEAD", "@me", ""] {
            assert!(!is_head(other), "{other}");
        }
    }
}
