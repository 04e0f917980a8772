//! What worktrees cost that are kept: a run beside a thousand of them against one beside none, and the list of them.
//!
//! The run changes nothing, so that nothing but the way through the engine is measured. Both repositories are served by
//! one daemon and have a warm slot ready, as in normal use.

use camino::Utf8Path;
use dandori_domain::task::Repo;
use dandori_domain::worktree::{Owner, Worktree};
use dandori_domain::{RunId, WorktreeKey};
use dandori_git::{ExistingBranch, Fetch, Git, NewWorktree, Repository};
use dandori_host::{now, random};
use dandori_store::{Location, Store};
use serde_json::Value;
use tokio::task::JoinSet;

use crate::Size;
use crate::admission_load::runtime;
use crate::bed::Bed;
use crate::cli::host;
use crate::overhead::wait_for_slot;
use crate::report::{Bound, Figure, Measured};
use crate::repository::{Shape, clone, make_bare};
use crate::samples::Samples;
use crate::seed::joined;
use crate::trouble::Trouble;

pub(crate) fn measure(size: Size, dandori: &Utf8Path) -> Result<Vec<Figure>, Trouble> {
    let count = size.pick(20, 1_000);
    let bed = Bed::new(dandori)?;
    bed.user_config("[runs]\nmin_free_memory = \"16MiB\"\nmin_free_disk = \"16MiB\"\n")?;
    for name in ["none", "kept"] {
        make_bare(&bed, &bed.path(&format!("{name}.git")), Shape { files: 50, bytes_each: 2_000, commits: 1 })?;
        clone(&bed, &bed.path(&format!("{name}.git")), &bed.path(name))?;
        run(&bed, name, &mut Samples::default())?;
    }
    bed.dandori(&bed.path("kept"), &["daemon", "stop"])?;
    runtime()?.block_on(async {
        let (store, _) = Store::open(Location::Sqlite(bed.path("state/private/dandori.db")), now()).await?;
        let root = bed.path("kept");
        let repo = store.repos(host(&bed)?).await?.into_iter().find(|repo| repo.root == root);
        let repo = repo.ok_or_else(|| Trouble::wrong("the repository is not known"))?;
        keep(&bed, &store, &repo, count).await
    })?;

    let (mut none, mut kept, mut list) = (Samples::default(), Samples::default(), Samples::default());
    for name in ["none", "kept"] {
        run(&bed, name, &mut Samples::default())?;
    }
    for round in 0..size.pick(2, 15) {
        // Each goes first as often as the other.
        let (first, second) = if round % 2 == 0 { ("none", "kept") } else { ("kept", "none") };
        for name in [first, second] {
            wait_for_slot(&bed, "none")?;
            wait_for_slot(&bed, "kept")?;
            rustix::fs::sync();
            run(&bed, name, if name == "none" { &mut none } else { &mut kept })?;
        }
    }
    for _ in 0..size.pick(1, 3) {
        let listed = list
            .time(|| bed.dandori_json(&bed.path("kept"), &["worktree", "list", "-n", &count.to_string(), "--json"]))?;
        let found = listed.get("worktrees").and_then(Value::as_array).map_or(0, Vec::len);
        if found != count {
            return Err(Trouble::wrong(format!("{found} worktrees were listed instead of {count}")));
        }
    }
    bed.dandori(&bed.path("kept"), &["daemon", "stop"])?;
    let baseline = Measured::seconds(none.median(), format!("beside none, {}", none.spread()));
    let figure = Measured::seconds(kept.median(), format!("beside {count}, {}", kept.spread()));
    let what = format!("a run that changes nothing beside {count} kept worktrees ÷ the same beside none");
    let listed = Measured::seconds(list.median(), list.spread());
    Ok(vec![
        Figure::ratio("kept", what, (figure, baseline), Bound::AtMost(1.2)),
        Figure::absolute("list", format!("`worktree list` of {count} kept worktrees"), listed, Bound::AtMost(5.0)),
    ])
}

fn run(bed: &Bed, name: &str, samples: &mut Samples) -> Result<(), Trouble> {
    let args = ["run", "look around", "--agent", "exec:true", "--json"];
    let told = samples.time(|| bed.dandori_json(&bed.path(name), &args))?;
    match told.pointer("/runs/0/state").and_then(Value::as_str) {
        Some("SUCCEEDED") => Ok(()),
        _ => Err(Trouble::wrong(format!("the run did not succeed: {told}"))),
    }
}

/// Worktrees as runs leave them, on the disk and in the store; the daemon does not run.
pub(crate) async fn keep(bed: &Bed, store: &Store, repo: &Repo, count: usize) -> Result<(), Trouble> {
    let folder = bed.path("state/repos").join(repo.id.folder()).join("worktrees");
    let git = Repository::open(&Git::new(bed.env(), "bench"), &repo.root, &repo.git_dir);
    let base = git.resolve_base(None, None, Fetch::Never)?;
    let mut written = JoinSet::new();
    for _ in 0..count {
        let key = WorktreeKey::from(RunId::mint(now(), random()).key());
        let new = NewWorktree {
            path: folder.join(format!("run_{key}")),
            root: folder.clone(),
            branch: format!("dandori/{key}"),
            base: base.oid.clone(),
            existing: ExistingBranch::Refuse,
        };
        git.add_worktree(&new)?;
        let worktree = Worktree {
            key,
            repo: repo.id,
            path: new.path,
            branch: new.branch,
            branch_is_ours: true,
            base: base.name.clone(),
            base_oid: base.oid.clone(),
            owner: Owner::Nobody,
            created_at: now(),
            removed_at: None,
        };
        let store = store.clone();
        written.spawn(async move { store.put_worktree(worktree, now()).await });
    }
    while joined(written.join_next().await)?.is_some() {}
    Ok(())
}
