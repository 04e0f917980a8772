//! Pushing one commit to one branch, never by force, and telling "overtaken" from "refused" by what the remote has, and
//! "refused" from "unreachable" by whether it answers at all.

use dandori_domain::Oid;

use crate::error::GitError;
use crate::lock::drop_stale_lock;
use crate::refs::head_ref;
use crate::remote::Remote;
use crate::repository::Repository;
use crate::tree::Tree;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PushAnswer {
    /// The remote's branch has the commit, pushed now or before.
    Pushed,
    /// Somebody else's commits are on the remote's branch; they are fetched.
    Overtaken { theirs: Oid },
    /// The remote would not take it. Without credentials.
    Refused { reason: String },
    /// There is none: the commit is on its branch, and that is all there is to do.
    NoRemote,
}

impl Tree {
    pub fn push(&self, oid: &Oid, branch: &str) -> Result<PushAnswer, GitError> {
        self.repository.push(oid, branch)
    }
}

impl Repository {
    pub fn push(&self, oid: &Oid, branch: &str) -> Result<PushAnswer, GitError> {
        let Some(remote) = self.remote()? else { return Ok(PushAnswer::NoRemote) };
        if let Some(reason) = self.push_lfs(&remote, oid, branch)? {
            let _: Option<Oid> = self.remote_tip(&remote, branch).map_err(unreachable)?;
            return Ok(PushAnswer::Refused { reason });
        }
        // A push that was killed may have left it, and git pushes without a word about it: the next fetch would fail.
        drop_stale_lock(&self.common_dir().join(format!("{}.lock", remote.tracking_ref(branch))))?;
        let refspec = format!("{}:{}", oid.as_str(), head_ref(branch));
        let output = self
            .cmd()
            .over_network()
            .args(["push", "--porcelain", "--no-verify", "--no-force", "--no-follow-tags", &remote.name, &refspec])
            .run_any()?;
        if output.status.success() {
            return Ok(PushAnswer::Pushed);
        }
        let (said, complaint) = (refused_line(&output.text()), &output.stderr);
        // A remote that has said no was there.
        if said.is_none() {
            let _: Option<Oid> = self.remote_tip(&remote, branch).map_err(unreachable)?;
        }
        let reason = refusal(said, complaint);
        // The words of a refusal differ from server to server; what the remote has does not.
        match self.fetch_branch(&remote, branch) {
            Ok(Some(theirs)) if self.is_ancestor(oid, &theirs)? => Ok(PushAnswer::Pushed),
            Ok(Some(theirs)) if !self.is_ancestor(&theirs, oid)? => Ok(PushAnswer::Overtaken { theirs }),
            _ => Ok(PushAnswer::Refused { reason }),
        }
    }

    /// Where the remote's branch is now, fetched; `None` when there is none. The error is one line for people.
    pub(crate) fn fetch_branch(&self, remote: &Remote, branch: &str) -> Result<Option<Oid>, String> {
        let say = |error: &dyn std::error::Error| error.to_string();
        if self.remote_tip(remote, branch)?.is_none() {
            return Ok(None);
        }
        let (reference, tracking) = (head_ref(branch), remote.tracking_ref(branch));
        self.cmd()
            .over_network()
            .args(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"])
            .args(["--no-recurse-submodules", &remote.name, &format!("+{reference}:{tracking}")])
            .run_patiently()
            .map_err(|e| crate::base::in_one_line(e.stderr()).unwrap_or_else(|| say(&e)))?;
        self.reference(&tracking).map_err(|e| say(&e))
    }

    /// Where the remote says that its branch is. The error is one line for people: it did not answer.
    fn remote_tip(&self, remote: &Remote, branch: &str) -> Result<Option<Oid>, String> {
        let reference = head_ref(branch);
        let listed = self.cmd().reading().over_network().args(["ls-remote", &remote.name, &reference]).run_any();
        let listed = listed.map_err(|e| e.to_string())?;
        if !listed.status.success() {
            let reason = crate::base::in_one_line(&listed.stderr);
            return Err(reason.unwrap_or_else(|| "cannot reach the remote".to_owned()));
        }
        Ok(listed.text().split_once('\t').map(|(oid, _)| Oid::new(oid)))
    }

    /// git-lfs uploads its files from the pre-push hook; hooks do not run here, so it is asked outright. A clone
    /// without a store of such files has none to upload.
    fn push_lfs(&self, remote: &Remote, oid: &Oid, branch: &str) -> Result<Option<String>, GitError> {
        if !self.common_dir().join("lfs/objects").is_dir() || !self.uses_lfs(oid)? {
            return Ok(None);
        }
        let output = self.cmd().over_network().args(["lfs", "push", &remote.name, &head_ref(branch)]).run_any()?;
        if output.status.success() {
            return Ok(None);
        }
        let reason = crate::base::in_one_line(&output.stderr).unwrap_or_default();
        Ok(Some(format!("git-lfs could not upload: {reason}")))
    }
}

fn unreachable(reason: String) -> GitError {
    GitError::RemoteUnreachable { reason }
}

/// The ref's own line, `!<tab>from:to<tab>[remote rejected] (reason)`: without one the remote has said nothing about it.
fn refused_line(porcelain: &str) -> Option<String> {
    porcelain.lines().find_map(|l| l.strip_prefix("!\t")?.split_once('\t').map(|(_, why)| why.to_owned()))
}

/// That line, and what the remote said about it.
fn refusal(line: Option<String>, stderr: &str) -> String {
    let remote: Vec<&str> =
        stderr.lines().filter_map(|l| l.strip_prefix("remote:")).map(str::trim).filter(|l| !l.is_empty()).collect();
    match line {
        Some(line) if remote.is_empty() => line,
        Some(line) => format!("{line}: {}", remote.join(" ")),
        None => crate::base::in_one_line(stderr).unwrap_or_else(|| "no reason given".to_owned()),
    }
}
