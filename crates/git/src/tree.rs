//! One worktree, known by its real git directory. Whatever its `.git` file says is looked at, never followed.

use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{Finding, Oid};
use dandori_host::{CmdError, CmdOutput};

use crate::error::GitError;
use crate::git::{Call, Fence};
use crate::inspect::{Purpose, inspect};
use crate::lock::drop_stale_lock;
use crate::refs::head_ref;
use crate::repository::Repository;

#[derive(Clone, Debug)]
pub struct Tree {
    pub(crate) repository: Repository,
    path: Utf8PathBuf,
    git_dir: Utf8PathBuf,
}

/// A tree whose files keep git waiting (a pipe among them) is not one to wait for.
const STATUS_DEADLINE: Duration = Duration::from_mins(1);

/// The settings that name one.
const FILTERS: &str = r"^filter\..*\.(clean|smudge|process)$";

/// What would be lost if the worktree went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeState {
    /// Paths with changes that are not committed, untracked ones included, ignored ones not.
    pub dirty: Vec<String>,
    /// Commits of HEAD that no remote branch has; without a remote those that are on no branch at all.
    pub unpushed: u32,
    pub head: Option<Oid>,
    /// `None` when HEAD is detached.
    pub branch: Option<String>,
}

/// Whether git may write down what it found out about the files, so that the next look is a glance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refresh {
    /// Somebody may be at work and need the index himself.
    No,
    Yes,
}

impl Tree {
    pub(crate) fn new(repository: &Repository, path: &Utf8Path, git_dir: &Utf8Path) -> Self {
        Self { repository: repository.clone(), path: path.to_owned(), git_dir: git_dir.to_owned() }
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    pub fn git_dir(&self) -> &Utf8Path {
        &self.git_dir
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Whether its directory is there, and is one.
    pub fn is_there(&self) -> bool {
        self.path.symlink_metadata().is_ok_and(|m| m.is_dir())
    }

    /// What HEAD stands on.
    pub fn head(&self) -> Result<Oid, GitError> {
        self.head_if_any()?.ok_or_else(|| GitError::NoSuchRef { reference: "HEAD".to_owned() })
    }

    /// The branch HEAD is on; `None` when it is detached.
    pub fn branch(&self) -> Result<Option<String>, GitError> {
        let answer = self.cmd().reading().args(["symbolic-ref", "--quiet", "HEAD"]).answer()?;
        Ok(answer.map(|full| full.strip_prefix("refs/heads/").map_or(full.clone(), str::to_owned)))
    }

    /// What an agent did to git that it may not do. `expected_tip` is where dandori last left the branch.
    pub fn findings(&self, branch: &str, expected_tip: &Oid) -> Result<Vec<Finding>, GitError> {
        if !self.is_there() {
            return Ok(vec![Finding::WorktreeMissing { path: self.path.clone() }]);
        }
        let mut findings = Vec::new();
        if !self.git_file_is_untouched()? {
            findings.push(Finding::GitFileChanged { path: self.path.join(".git") });
        }
        if self.stands_on(branch, expected_tip)? {
            return Ok(findings);
        }
        let found = self.branch()?;
        if found.as_deref() != Some(branch) {
            let found = match found {
                Some(other) => other,
                None => self.head_if_any()?.map_or("nothing".to_owned(), |oid| oid.short().to_owned()),
            };
            findings.push(Finding::HeadMoved { expected: branch.to_owned(), found });
        }
        let tip = self.repository.branch_oid(branch)?;
        if tip.as_ref() != Some(expected_tip) {
            findings.push(Finding::BranchMoved {
                expected: expected_tip.as_str().to_owned(),
                found: tip.map_or("nothing".to_owned(), |t| t.as_str().to_owned()),
            });
        }
        Ok(findings)
    }

    /// Whether HEAD is on the branch and the branch at this commit, in one question.
    fn stands_on(&self, branch: &str, tip: &Oid) -> Result<bool, GitError> {
        let reference = head_ref(branch);
        let call = self.cmd().reading().args(["for-each-ref", "--format=%(HEAD) %(objectname) %(refname)", "--"]);
        let output = call.arg(&reference).run_any()?;
        let wanted = format!("* {} {reference}", tip.as_str());
        Ok(output.status.success() && output.text().lines().any(|line| line == wanted))
    }

    pub fn state(&self) -> Result<TreeState, GitError> {
        self.state_with(self.head_if_any()?.as_ref(), self.branch()?.as_deref(), None, Refresh::No)
    }

    /// The same for one whose HEAD is known, and perhaps how much of it is unpushed.
    pub(crate) fn state_with(
        &self,
        head: Option<&Oid>,
        branch: Option<&str>,
        unpushed: Option<u32>,
        index: Refresh,
    ) -> Result<TreeState, GitError> {
        let unpushed = match (head, unpushed) {
            (_, Some(count)) => count,
            // Without a remote its own branch is where a commit belongs.
            (Some(head), None) => {
                let own = branch.filter(|_| !self.repository.is_on_its_own());
                self.repository.unpushed(head, own)?
            }
            (None, None) => 0,
        };
        let (head, branch) = (head.cloned(), branch.map(str::to_owned));
        if !self.is_there() {
            return Ok(TreeState { dirty: Vec::new(), unpushed, head, branch });
        }
        // git would wait for some of it for ever.
        let unfit = inspect(&self.path, Purpose::Looking);
        if !unfit.is_empty() {
            let dirty = unfit.into_iter().map(|unfit| unfit.path).collect();
            return Ok(TreeState { dirty, unpushed, head, branch: self.branch()? });
        }
        let call = self.cmd_on_files()?.deadline(STATUS_DEADLINE);
        let call = match index {
            Refresh::No => call.reading(),
            Refresh::Yes => call,
        };
        let output = call
            .args(["status", "--porcelain=v2", "--branch", "-z", "--no-renames"])
            .args(["--untracked-files=all", "--ignore-submodules=all", "--no-ahead-behind"])
            .run()?;
        let status = parse_status(&output);
        Ok(TreeState { dirty: status.dirty, unpushed, head, branch: status.branch })
    }

    /// A command on this worktree.
    pub(crate) fn cmd(&self) -> Call {
        let call = self
            .repository
            .git
            .cmd()
            .env("GIT_DIR", &self.git_dir)
            .env("GIT_COMMON_DIR", self.repository.common_dir())
            .env("GIT_WORK_TREE", &self.path);
        if self.is_there() { call.at(&self.path) } else { call.at(self.repository.common_dir()) }
    }

    /// A command that reads the files of this worktree, or writes them. Where git would run filters of the user's on them,
    /// which may well be programs of the tree itself, it does so behind the fence. Those of git-lfs are programs of the
    /// system's, and need the user's login for what they have to fetch.
    pub(crate) fn cmd_on_files(&self) -> Result<Call, GitError> {
        let call = self.cmd();
        let Some(fence) = self.fence_for_filters()? else { return Ok(call) };
        let mut policy = (fence.policy)().map_err(GitError::io(self.git_dir()))?;
        policy.read.extend([self.path.clone(), self.git_dir.clone()]);
        Ok(call.behind(&fence.program, &policy))
    }

    fn fence_for_filters(&self) -> Result<Option<&Fence>, GitError> {
        let Some(fence) = &self.repository.git.fence else { return Ok(None) };
        Ok(self.repository.has_own_filters()?.then_some(fence.as_ref()))
    }

    /// The same for a command that writes the files, and the index with them. Behind the fence it works on an index of its
    /// own: the worktree's record, by which the user's git finds its way, is nothing for a filter to write.
    pub(crate) fn write_files(&self, args: &[&str]) -> Result<(), GitError> {
        self.on_files(args, |call| call.run_patiently().map(drop))
    }

    /// What the index knows of the files, brought up to date. git's exit says that something differs, which is what edits do.
    pub(crate) fn refresh(&self) -> Result<(), GitError> {
        self.on_files(&["update-index", "-q", "--ignore-submodules", "--refresh"], |call| call.run_any().map(drop))
    }

    fn on_files(&self, args: &[&str], run: impl Fn(&Call) -> Result<(), CmdError>) -> Result<(), GitError> {
        let Some(fence) = self.fence_for_filters()? else { return Ok(run(&self.cmd().args(args))?) };
        let (index, scratch) = (self.git_dir.join("index"), self.git_dir.join("dandori-checkout"));
        remove_folder(&scratch)?;
        std::fs::create_dir(&scratch).map_err(GitError::io(&scratch))?;
        let own = scratch.join("index");
        match std::fs::copy(&index, &own) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(GitError::io(&own)(e)),
            _ => {}
        }
        let mut policy = (fence.policy)().map_err(GitError::io(&scratch))?;
        policy.read.push(self.git_dir.clone());
        policy.write.extend([self.path.clone(), scratch.clone()]);
        let call = self.cmd().env("GIT_INDEX_FILE", &own).args(args).behind(&fence.program, &policy);
        run(&call)?;
        if own.symlink_metadata().is_ok_and(|found| found.is_file()) {
            std::fs::rename(&own, &index).map_err(GitError::io(&index))?;
        }
        remove_folder(&scratch)
    }

    pub(crate) fn head_if_any(&self) -> Result<Option<Oid>, GitError> {
        let call = self.cmd().reading().args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        Ok(call.answer()?.map(Oid::new))
    }

    /// All files of `tip` written and the index to go with them. What is in the way goes: only for a worktree nobody
    /// has worked in.
    pub(crate) fn check_out(&self, tip: &Oid) -> Result<(), GitError> {
        self.drop_stale_index_lock()?;
        self.restore_git_file()?;
        self.write_files(&["read-tree", "--reset", "-u", tip.as_str()])?;
        Ok(())
    }

    pub(crate) fn drop_stale_index_lock(&self) -> Result<(), GitError> {
        drop_stale_lock(&self.git_dir.join("index.lock"))
    }

    pub(crate) fn git_file_is_untouched(&self) -> Result<bool, GitError> {
        let file = self.path.join(".git");
        match file.symlink_metadata() {
            Ok(found) if found.is_file() && found.len() < 16 * 1024 => {}
            Ok(_) => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(GitError::io(&file)(e)),
        }
        let text = std::fs::read(&file).map_err(GitError::io(&file))?;
        let text = String::from_utf8_lossy(&text);
        let Some(target) = text.strip_prefix("gitdir: ") else { return Ok(false) };
        let target = self.path.join(target.trim_end_matches('\n'));
        if !self.leads_to_repository() {
            return Ok(false);
        }
        if target == self.git_dir {
            return Ok(true);
        }
        // Made by a git that writes relative paths, or through a linked folder: the same directory all the same.
        Ok(target.canonicalize_utf8().ok() == self.git_dir.canonicalize_utf8().ok())
    }

    /// The user's git finds the repository by this file; ours is told.
    fn leads_to_repository(&self) -> bool {
        let text = std::fs::read_to_string(self.git_dir.join("commondir")).unwrap_or_default();
        let common = self.git_dir.join(text.trim_end());
        common.canonicalize_utf8().ok() == self.repository.common_dir().canonicalize_utf8().ok()
    }

    /// A half-made worktree may lack its `.git` file: git writes the record first.
    fn restore_git_file(&self) -> Result<(), GitError> {
        let file = self.path.join(".git");
        if file.symlink_metadata().is_ok() {
            return Ok(());
        }
        let text = format!("gitdir: {}\n", self.git_dir);
        dandori_host::replace_file(&file, text.as_bytes(), 0o644).map_err(GitError::io(&file))
    }
}

impl Repository {
    /// Whether git would run a program of the user's on files that are read or written.
    fn has_own_filters(&self) -> Result<bool, GitError> {
        if let Some(known) = self.own_filters.get() {
            return Ok(*known);
        }
        let call = self.cmd().reading().args(["config", "--name-only", "--get-regexp", FILTERS]).run_any()?;
        let found = call.text().lines().any(|key| !key.starts_with("filter.lfs."));
        Ok(*self.own_filters.get_or_init(|| found))
    }

    /// Commits of `oid` that are on no remote branch; where there are none at all, on no branch other than `but`.
    pub(crate) fn unpushed(&self, oid: &Oid, but: Option<&str>) -> Result<u32, GitError> {
        let count = |not: &[&str]| -> Result<u32, GitError> {
            let call = self.cmd().reading().args(["rev-list", "--count", oid.as_str(), "--not"]).args(not);
            Ok(call.run()?.text().parse().unwrap_or(u32::MAX))
        };
        let unpushed = count(&["--remotes"])?;
        if unpushed == 0 || !self.has_no_remote_branches()? {
            return Ok(unpushed);
        }
        match but.map(|b| format!("--exclude={b}")) {
            Some(own) => count(&[own.as_str(), "--branches"]),
            None => count(&["--branches"]),
        }
    }

    pub(crate) fn has_no_remote_branches(&self) -> Result<bool, GitError> {
        let call = self.cmd().reading().args(["for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes/"]);
        Ok(call.answer()?.is_none())
    }
}

fn remove_folder(path: &Utf8Path) -> Result<(), GitError> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(GitError::io(path)(e)),
        _ => Ok(()),
    }
}

pub(crate) struct Status {
    pub(crate) dirty: Vec<String>,
    pub(crate) branch: Option<String>,
}

/// `--porcelain=v2 --branch -z --no-renames`: one field per path.
pub(crate) fn parse_status(output: &CmdOutput) -> Status {
    let mut status = Status { dirty: Vec::new(), branch: None };
    for field in output.fields() {
        if let Some(header) = field.strip_prefix("# ") {
            if let Some(branch) = header.strip_prefix("branch.head ") {
                status.branch = (branch != "(detached)").then(|| branch.to_owned());
            }
            continue;
        }
        let words_before_path = match field.as_bytes().first() {
            Some(b'1') => 8,
            Some(b'u') => 10,
            Some(b'?') => 1,
            _ => continue,
        };
        if let Some(path) = field.splitn(words_before_path + 1, ' ').nth(words_before_path) {
            status.dirty.push(path.to_owned());
        }
    }
    status
}
