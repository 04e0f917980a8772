//! Staging as a run does it, behind the fence and through the quarantine, against `git add` and `git write-tree` in the
//! open. Both begin with the same worktree in which the same files have changed.

use camino::Utf8Path;
use dandori_domain::run::SandboxMode;
use dandori_git::{Bounds, ExistingBranch, Fence, Git, NewWorktree, Repository, StageAnswer};
use dandori_host::Cmd;
use dandori_host::sandbox::SandboxPolicy;

use crate::Size;
use crate::bed::Bed;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{Shape, file_name, make_bare};
use crate::samples::{Samples, shown};
use crate::trouble::Trouble;

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let shape = Shape { files: size.pick(300, 20_000), bytes_each: 2_000, commits: 1 };
    let bed = Bed::new(dandori)?;
    let git_dir = bed.path("repo/.git");
    make_bare(&bed, &git_dir, shape)?;
    bed.git(&git_dir, &["config", "core.bare", "false"])?;
    let program = dandori.to_owned();
    let policy = Box::new(|| Ok(SandboxPolicy::new(SandboxMode::Auto)));
    let git = Git::new(bed.env(), "bench").behind(Fence { program, policy });
    let repository = Repository::open(&git, &bed.path("repo"), &git_dir);
    let (mut plain, mut ours) = (Samples::default(), Samples::default());
    for round in 0..size.pick(2, 5) {
        // Each goes first as often as the other.
        for is_ours in [round % 2 == 0, round % 2 != 0] {
            stage(&bed, &repository, shape, (round, is_ours), if is_ours { &mut ours } else { &mut plain })?;
        }
    }
    let (mut open, mut fenced) = (Samples::default(), Samples::default());
    for _ in 0..size.pick(3, 21) {
        let truly = || Cmd::new("true", bed.env()).cwd(&bed.path(""));
        open.time(|| truly().run().map_err(Trouble::from))?;
        fenced.time(|| truly().behind(dandori, &SandboxPolicy::new(SandboxMode::Auto)).run().map_err(Trouble::from))?;
    }
    let what = format!("staging {} changed files ÷ git add and write-tree", shape.files);
    let baseline = Measured::seconds(plain.median(), format!("git, {}", plain.spread()));
    let figure = Measured::seconds(ours.median(), format!("behind the fence, {}", ours.spread()));
    Ok(vec![Figure::ratio("staging", what, (figure, baseline), Bound::AtMost(1.5)).detail(format!(
        "the fence itself: `true` {} behind it, {} in the open",
        shown(fenced.median()),
        shown(open.median())
    ))])
}

fn stage(
    bed: &Bed,
    repository: &Repository,
    shape: Shape,
    (round, is_ours): (usize, bool),
    samples: &mut Samples,
) -> Result<(), Trouble> {
    let name = format!("{}-{round}", if is_ours { "ours" } else { "plain" });
    let base = repository.resolve_base(None, Some("main"), dandori_git::Fetch::Never)?.oid;
    let root = bed.path("worktrees");
    std::fs::create_dir_all(&root).map_err(Trouble::io(&root))?;
    let new = NewWorktree {
        path: root.join(&name),
        root,
        branch: format!("dandori/{name}"),
        base,
        existing: ExistingBranch::Refuse,
    };
    let tree = repository.add_worktree(&new)?.tree;
    for index in 0..shape.files {
        // Other contents for each side and round: an object that is there is not written again.
        let path = tree.path().join(file_name(index));
        let text = format!("{name} {index}\n").repeat(60);
        dandori_host::put_file(&path, text.as_bytes(), 0o644).map_err(Trouble::io(&path))?;
    }
    rustix::fs::sync();
    if is_ours {
        let answer = samples.time(|| tree.stage_within(&new.base, &[], Bounds::default()).map_err(Trouble::from))?;
        return match answer {
            StageAnswer::Staged { changes: Some(_), .. } => Ok(()),
            other => Err(Trouble::wrong(format!("it was not staged: {other:?}"))),
        };
    }
    samples.time(|| {
        bed.git(tree.path(), &["add", "--all"])?;
        bed.git(tree.path(), &["write-tree"])
    })?;
    Ok(())
}
