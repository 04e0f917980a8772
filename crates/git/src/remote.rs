//! Which remote is meant: `origin`, else the only one there is, else the one git itself was told to prefer.
//!
//! A repository without any is no worse for it: its branches are then the only place there is. One with several of which none
//! is `origin` is asked about: a guess would push somebody's work to the wrong place.

use std::collections::BTreeMap;
use std::time::SystemTime;

use camino::Utf8PathBuf;
use dandori_domain::Oid;
use jiff::Timestamp;

use crate::error::GitError;
use crate::repository::Repository;

/// What git calls the remote that a repository was cloned from.
const USUAL: &str = "origin";

/// Touched whenever the remote has answered. git's own FETCH_HEAD belongs to the user.
const HEARD: &str = "dandori.fetched";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remote {
    pub name: String,
    /// As it is configured. It may hold credentials: it is not for showing.
    pub url: String,
}

impl Remote {
    pub(crate) fn tracking_ref(&self, branch: &str) -> String {
        format!("refs/remotes/{}/{branch}", self.name)
    }
}

impl Repository {
    /// `None`: there is none, and nothing is fetched or pushed.
    pub fn remote(&self) -> Result<Option<Remote>, GitError> {
        let keys = r"^(remote\..*\.url|checkout\.defaultremote)$";
        let output = self.cmd().reading().args(["config", "-z", "--get-regexp", keys]).run_any()?;
        // Exit 1 is git's word for "none of these is set".
        if !output.status.success() && output.status.code() != Some(1) {
            return Err(GitError::unexpected(format!("git config: {}", output.stderr.trim())));
        }
        chosen(&output.fields()).map_err(|names| GitError::WhichRemote { names })
    }

    /// Where the remote's branch was when it was last fetched or pushed.
    pub fn remote_branch_oid(&self, name: &str) -> Result<Option<Oid>, GitError> {
        match self.remote()? {
            Some(remote) => self.reference(&remote.tracking_ref(name)),
            None => Ok(None),
        }
    }

    /// No remote: what is on a branch is where it belongs. One that cannot be made out is not none.
    pub(crate) fn is_on_its_own(&self) -> bool {
        matches!(self.remote(), Ok(None))
    }

    pub(crate) fn remote_has_answered(&self) {
        // Only the file's time is looked at, and only to tell a user how old something is.
        let _ = dandori_host::put_file(&self.common_dir().join(HEARD), b"", 0o644);
    }

    /// When a branch of the remote's was last seen; `None` without a remote, or when nothing tells.
    pub fn fetched_at(&self, branch: &str) -> Result<Option<Timestamp>, GitError> {
        Ok(self.remote()?.and_then(|remote| self.last_heard(&remote, branch)))
    }

    /// When the remote was last heard, as far as files tell: by us, by the user's own fetch, or when it was cloned.
    pub(crate) fn last_heard(&self, remote: &Remote, branch: &str) -> Option<Timestamp> {
        let (tracking, head) = (remote.tracking_ref(branch), remote.tracking_ref("HEAD"));
        let places = [HEARD.into(), "FETCH_HEAD".into(), format!("logs/{tracking}"), tracking, format!("logs/{head}")];
        let modified = |place: Utf8PathBuf| place.symlink_metadata().ok()?.modified().ok();
        let newest: Option<SystemTime> =
            places.into_iter().filter_map(|place| modified(self.common_dir().join(place))).max();
        newest.and_then(|time| Timestamp::try_from(time).ok())
    }
}

/// Of what `git config -z --get-regexp` lists, in its order: the last value of a key counts.
fn chosen(fields: &[String]) -> Result<Option<Remote>, Vec<String>> {
    let mut urls: BTreeMap<&str, &str> = BTreeMap::new();
    let mut preferred = None;
    for (key, value) in fields.iter().filter_map(|field| field.split_once('\n')) {
        match key.strip_prefix("remote.").and_then(|rest| rest.strip_suffix(".url")) {
            // One that looks like an option could not be named to git.
            Some(name) if !value.is_empty() && !name.starts_with('-') => drop(urls.insert(name, value)),
            Some(_) => {}
            None => preferred = Some(value),
        }
    }
    let only = || urls.keys().next().copied().filter(|_| urls.len() == 1);
    let wanted = [Some(USUAL), only(), preferred].into_iter().flatten().find_map(|name| urls.get_key_value(name));
    match wanted {
        Some((name, url)) => Ok(Some(Remote { name: (*name).to_owned(), url: (*url).to_owned() })),
        None if urls.is_empty() => Ok(None),
        None => Err(urls.into_keys().map(str::to_owned).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(settings: &[(&str, &str)]) -> Result<Option<String>, Vec<String>> {
        let fields: Vec<String> = settings.iter().map(|(key, value)| format!("{key}\n{value}")).collect();
        chosen(&fields).map(|found| found.map(|remote| remote.name))
    }

    #[test]
    fn origin_is_meant_then_the_only_one_then_the_one_git_prefers() {
        let (origin, work) = (("remote.origin.url", "/o"), ("remote.my.work.url", "/w"));
        assert_eq!(of(&[]), Ok(None));
        assert_eq!(of(&[work, origin, ("checkout.defaultremote", "my.work")]), Ok(Some("origin".into())));
        assert_eq!(of(&[work]), Ok(Some("my.work".into())));
        let (a, b) = (("remote.a.url", "/a"), ("remote.b.url", "/b"));
        assert_eq!(of(&[a, b, ("checkout.defaultremote", "b")]), Ok(Some("b".into())));
        assert_eq!(of(&[a, b]), Err(vec!["a".into(), "b".into()]), "nobody has said which");
        assert_eq!(of(&[a, b, ("checkout.defaultremote", "gone")]), Err(vec!["a".into(), "b".into()]));
        assert_eq!(of(&[("remote.--upload-pack=x.url", "/a")]), Ok(None));
        assert_eq!(of(&[("remote.a.url", "")]), Ok(None), "a remote without an address is none");
    }
}
