//! A workspace from a warm slot against `git worktree add`, on the same repository and disk.
//!
//! What is timed for the slot is the whole step as the engine takes it: the look for what cannot be carried, the
//! claim, the lock. Filling the pool and removing trees is not timed on either side.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Oid;
use dandori_git::{Added, ExistingBranch, Git, NewWorktree, Origin, Pool, Repository};

use crate::Size;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{CHANGED_BY_COMMIT, Shape, make_bare};
use crate::samples::{Samples, shown};
use crate::trouble::Trouble;

const COMMITS_BEHIND: usize = 5;

struct Setup {
    bed: Bed,
    repository: Repository,
    pool: Pool,
    root: Utf8PathBuf,
    trash: Utf8PathBuf,
    tip: Oid,
    old: Oid,
}

pub(crate) fn measure(size: Size) -> Result<Vec<Figure>, Trouble> {
    let shape = Shape { files: size.pick(500, 20_000), bytes_each: size.pick(500, 8_000), commits: COMMITS_BEHIND };
    let setup = Setup::make(shape)?;
    let (mut plain, mut warm, mut moved) = (Samples::default(), Samples::default(), Samples::default());
    for round in 0..size.pick(2, 5) {
        setup.pool.fill(&setup.tip, 1, 0)?;
        setup.claim(&format!("warm-{round}"), Origin::WarmSlot, &mut warm)?;
        setup.add_plainly(&format!("plain-{round}"), &mut plain)?;
        setup.pool.fill(&setup.old, 1, 0)?;
        setup.claim(&format!("moved-{round}"), Origin::MovedSlot, &mut moved)?;
    }
    let baseline = Measured::seconds(plain.median(), format!("git worktree add --no-track -b, {}", plain.spread()));
    let figure = Measured::seconds(warm.median(), format!("warm slot on the base, {}", warm.spread()));
    let behind = moved.median();
    let what = format!("workspace ready from a warm slot ÷ git worktree add, {} files", shape.files);
    Ok(vec![Figure::ratio("workspace", what, (figure, baseline), Bound::AtMost(0.05)).detail(format!(
        "slot on a base {COMMITS_BEHIND} commits ({} files) old: {} ({}), ratio {:.4}",
        COMMITS_BEHIND * CHANGED_BY_COMMIT,
        shown(behind),
        moved.spread(),
        behind / plain.median(),
    ))])
}

impl Setup {
    fn make(shape: Shape) -> Result<Self, Trouble> {
        let bed = Bed::new(Utf8Path::new(""))?;
        let git_dir = bed.path("repo/.git");
        make_bare(&bed, &git_dir, shape)?;
        bed.git(&git_dir, &["config", "core.bare", "false"])?;
        let oid = |name: &str| bed.git(&git_dir, &["rev-parse", name]).map(Oid::new);
        let (tip, old) = (oid("main")?, oid(&format!("main~{COMMITS_BEHIND}"))?);
        let repository = Repository::open(&Git::new(bed.env(), "bench"), &bed.path("repo"), &git_dir);
        let (root, trash) = (bed.path("worktrees"), bed.path("trash"));
        std::fs::create_dir_all(&root).map_err(Trouble::io(&root))?;
        let pool = Pool::new(&repository, &bed.path("pool"), &trash);
        Ok(Self { bed, repository, pool, root, trash, tip, old })
    }

    fn claim(&self, name: &str, expected: Origin, samples: &mut Samples) -> Result<(), Trouble> {
        let new = NewWorktree {
            path: self.root.join(name),
            root: self.root.clone(),
            branch: format!("dandori/{name}"),
            base: self.tip.clone(),
            existing: ExistingBranch::Refuse,
        };
        rustix::fs::sync();
        let added: Option<Added> = samples.time(|| {
            if !self.repository.unsupported(&new.base)?.is_empty() {
                return Err(Trouble::wrong("the repository holds what a worktree cannot carry"));
            }
            let added = self.pool.claim(&new)?;
            self.repository.lock(&new.path, "dandori bench")?;
            Ok(added)
        })?;
        match added {
            Some(added) if added.origin == expected => {}
            other => return Err(Trouble::wrong(format!("{name} did not come from a slot: {other:?}"))),
        }
        self.check_and_remove(name, &new.branch)
    }

    /// As a script would, with git's own defaults.
    fn add_plainly(&self, name: &str, samples: &mut Samples) -> Result<(), Trouble> {
        let path = self.root.join(name);
        let branch = format!("plain/{name}");
        let args = ["worktree", "add", "--quiet", "--no-track", "-b", &branch, path.as_str(), self.tip.as_str()];
        rustix::fs::sync();
        samples.time(|| self.bed.git(&self.bed.path("repo"), &args))?;
        self.check_and_remove(name, &branch)
    }

    /// A workspace that is not whole would be no workspace.
    fn check_and_remove(&self, name: &str, branch: &str) -> Result<(), Trouble> {
        let path = self.root.join(name);
        let status = self.bed.git(&path, &["status", "--porcelain=v1", "--branch"])?;
        let head = self.bed.git(&path, &["rev-parse", "HEAD"])?;
        if status != format!("## {branch}") || head != self.tip.as_str() {
            return Err(Trouble::wrong(format!("{path} is not a clean checkout of the base: {head} {status}")));
        }
        self.repository.remove_worktree(&path, &self.trash, Some(branch))?;
        dandori_git::empty_trash(&self.trash)?;
        Ok(())
    }
}
