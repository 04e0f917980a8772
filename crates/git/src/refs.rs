//! Branches, dandori's own refs, and how commits stand to each other.

use std::collections::HashSet;

use camino::Utf8PathBuf;
use dandori_domain::Oid;

use crate::error::GitError;
use crate::repository::Repository;

/// Our refs live here; nothing else of the user's is under it.
const OWN: &str = "refs/dandori/";

/// The branch as it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Branch {
    pub(crate) oid: Oid,
    /// The worktree (or main checkout) that has it checked out.
    pub(crate) used_at: Option<Utf8PathBuf>,
}

impl Repository {
    pub fn branch_exists(&self, name: &str) -> Result<bool, GitError> {
        Ok(self.branch_oid(name)?.is_some())
    }

    pub fn branch_oid(&self, name: &str) -> Result<Option<Oid>, GitError> {
        self.reference(&head_ref(name))
    }

    /// The branches whose names begin with `prefix`, without `refs/heads/`.
    pub fn branches(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        let refs = self.refs_under("refs/heads/")?;
        Ok(refs
            .into_iter()
            .filter_map(|(name, oid)| Some((name.strip_prefix("refs/heads/")?.to_owned(), oid)))
            .filter(|(name, _)| name.starts_with(prefix))
            .collect())
    }

    /// Deletes a branch that nobody has checked out; one that is not there is no error. Configuration is left alone:
    /// `git branch -D` would take its lock.
    pub fn delete_branch(&self, name: &str) -> Result<Option<Utf8PathBuf>, GitError> {
        match self.branch(name)? {
            None => Ok(None),
            Some(Branch { used_at: Some(path), .. }) => Ok(Some(path)),
            Some(Branch { oid, used_at: None }) => {
                let reference = head_ref(name);
                self.cmd().args(["update-ref", "-d", &reference, oid.as_str()]).run_patiently()?;
                Ok(None)
            }
        }
    }

    /// Whether everything in `a` is also in `b`. A commit that is not here is in nothing.
    pub fn is_ancestor(&self, a: &Oid, b: &Oid) -> Result<bool, GitError> {
        let output = self.cmd().reading().args(["merge-base", "--is-ancestor", a.as_str(), b.as_str()]).run_any()?;
        Ok(output.status.success())
    }

    /// What a full ref name points at.
    pub fn reference(&self, name: &str) -> Result<Option<Oid>, GitError> {
        let call = self.cmd().reading().args(["rev-parse", "--verify", "--quiet", "--end-of-options", name]);
        Ok(call.answer()?.map(Oid::new))
    }

    /// All refs under a prefix, such as `refs/dandori/preserved/`.
    pub fn refs_under(&self, prefix: &str) -> Result<Vec<(String, Oid)>, GitError> {
        let output =
            self.cmd().reading().args(["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix]).run()?;
        let text = output.text();
        Ok(text.lines().filter_map(|l| l.split_once(' ')).map(|(oid, name)| (name.to_owned(), Oid::new(oid))).collect())
    }

    /// Which of these refs are there. Where refs are files they are looked at themselves: lists ask this of every task they show.
    pub fn existing_refs(&self, names: &[String]) -> Result<HashSet<String>, GitError> {
        if !self.has_ref_files() {
            let known: HashSet<String> = self.refs_under("refs/")?.into_iter().map(|(name, _)| name).collect();
            return Ok(names.iter().filter(|name| known.contains(*name)).cloned().collect());
        }
        let is_loose = |name: &&String| self.common_dir().join(name).is_file();
        let (loose, other): (Vec<&String>, Vec<&String>) = names.iter().partition(is_loose);
        let mut found: HashSet<String> = loose.into_iter().cloned().collect();
        if !other.is_empty() {
            let file = self.common_dir().join("packed-refs");
            let packed = match std::fs::read_to_string(&file) {
                Ok(packed) => packed,
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
                Err(e) => return Err(GitError::io(&file)(e)),
            };
            let wanted: HashSet<&str> = other.iter().map(|name| name.as_str()).collect();
            let names = packed.lines().filter_map(|line| line.split_once(' ')).map(|(_, name)| name);
            found.extend(names.filter(|name| wanted.contains(name)).map(str::to_owned));
        }
        Ok(found)
    }

    /// Refs under any of these prefixes by their short names, those that were committed to last first, each with the first line of
    /// its commit. A few: for people to choose from.
    pub fn recent_refs(&self, prefixes: &[&str]) -> Result<Vec<(String, String)>, GitError> {
        let call = self.cmd().reading().args(["for-each-ref", "--count=200", "--sort=-creatordate"]);
        let text = call.args(["--format=%(refname:short)%09%(contents:subject)", "--"]).args(prefixes).run()?.text();
        Ok(text
            .lines()
            .filter_map(|l| l.split_once('\t'))
            .map(|(name, what)| (name.to_owned(), what.to_owned()))
            .collect())
    }

    /// Points one of our own refs somewhere.
    pub fn set_own_ref(&self, name: &str, oid: &Oid) -> Result<(), GitError> {
        require_own(name)?;
        // Work is kept by it: it must outlive a power cut as well.
        self.cmd().durably().args(["update-ref", name, oid.as_str()]).run_patiently()?;
        Ok(())
    }

    /// Puts refs that lie in files of their own into one file when branches of ours have become many: git reads every one
    /// of those files whenever it fetches or pushes. As `git gc` does, which our commands keep from running.
    pub fn pack_refs(&self, most_loose: usize) -> Result<bool, GitError> {
        let loose = |folder: &str| self.common_dir().join(folder).read_dir_utf8().map_or(0, Iterator::count);
        let tracked = self.remote()?.map(|remote| remote.tracking_ref("dandori"));
        let many = tracked.as_deref().into_iter().chain(["refs/heads/dandori"]).any(|f| loose(f) > most_loose);
        if many && self.has_ref_files() {
            self.cmd().durably().args(["pack-refs", "--all"]).run_patiently()?;
        }
        Ok(many)
    }

    /// Forgets one of our own refs; one that is not there is no error.
    pub fn delete_own_ref(&self, name: &str) -> Result<(), GitError> {
        require_own(name)?;
        if self.reference(name)?.is_some() {
            self.cmd().args(["update-ref", "-d", name]).run_patiently()?;
        }
        Ok(())
    }

    pub(crate) fn branch(&self, name: &str) -> Result<Option<Branch>, GitError> {
        let reference = head_ref(name);
        if !self.has_ref_files() {
            return self.branch_by_git(&reference);
        }
        let Some(oid) = self.reference(&reference)? else { return Ok(None) };
        // git itself would read every worktree's record anew.
        Ok(Some(Branch { oid, used_at: self.checked_out_at(&reference)? }))
    }

    fn branch_by_git(&self, reference: &str) -> Result<Option<Branch>, GitError> {
        let format = "--format=%(refname)%00%(objectname)%00%(worktreepath)";
        let output = self.cmd().reading().args(["for-each-ref", format, "--", reference]).run_patiently()?;
        // The pattern also matches everything below it, as if it were a folder.
        Ok(output.text().lines().find_map(|line| {
            let mut fields = line.split('\0');
            let (found, oid, used_at) = (fields.next()?, fields.next()?, fields.next()?);
            (found == reference).then(|| Branch {
                oid: Oid::new(oid),
                used_at: (!used_at.is_empty()).then(|| Utf8PathBuf::from(used_at)),
            })
        }))
    }

    /// Whether a branch of this name could be made: git has no `a/b` beside `a`, nor `a` beside `a/b`.
    pub fn is_free(&self, name: &str) -> Result<bool, GitError> {
        let top = name.split('/').next().unwrap_or(name);
        let (exact, below) = (head_ref(name), format!("{}/", head_ref(name)));
        let stands = |other: &str| {
            other == exact || other.starts_with(&below) || exact.strip_prefix(other).is_some_and(|r| r.starts_with('/'))
        };
        Ok(!self.refs_under(&head_ref(top))?.iter().any(|(other, _)| stands(other)))
    }

    /// A name like `name` that is free.
    pub(crate) fn free_branch_like(&self, name: &str) -> Result<String, GitError> {
        let taken = self.branches("")?;
        let is_free = |candidate: &str| {
            !taken.iter().any(|(other, _)| {
                other == candidate
                    || other.starts_with(&format!("{candidate}/"))
                    || candidate.starts_with(&format!("{other}/"))
            })
        };
        let flat = name.replace('/', "-");
        let candidates = [name, &flat].into_iter().flat_map(|n| (2..100).map(move |i| format!("{n}-{i}")));
        Ok(std::iter::once(flat.clone())
            .filter(|c| c != name && !is_free(&format!("{name}-2")))
            .chain(candidates)
            .find(|c| is_free(c))
            .unwrap_or_else(|| format!("{flat}-{:x}", dandori_host::random())))
    }
}

/// git's own rules (`git help check-ref-format`), and no dash in front. Asked before anything is made.
pub(crate) fn require_branch_name(name: &str) -> Result<(), GitError> {
    let bad_character = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    let bad_part = |p: &str| p.is_empty() || p.starts_with('.') || Utf8PathBuf::from(p).extension() == Some("lock");
    let is_bad = name.is_empty()
        || name == "@"
        || name.starts_with('-')
        || name.ends_with('.')
        || name.contains("..")
        || name.contains("@{")
        || name.contains(bad_character)
        || name.split('/').any(bad_part);
    if is_bad { Err(GitError::BadBranchName { name: name.to_owned() }) } else { Ok(()) }
}

pub(crate) fn head_ref(branch: &str) -> String {
    format!("refs/heads/{branch}")
}

fn require_own(name: &str) -> Result<(), GitError> {
    if name.starts_with(OWN) {
        return Ok(());
    }
    Err(GitError::unexpected(format!("{name} is not one of our refs")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_are_judged_as_git_does() {
        for name in ["main", "dandori/01j9", "a.b/c", "日本語", "x@y", "a.lock.b"] {
            assert!(require_branch_name(name).is_ok(), "{name}");
        }
        for name in [
            "", "@", "-d", "a..b", "a b", "a/", "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "a@{1}", "a~1",
            "a\\b", "a\n",
        ] {
            assert!(require_branch_name(name).is_err(), "{name:?}");
        }
    }
}
