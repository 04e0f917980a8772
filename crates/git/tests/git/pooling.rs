use camino::Utf8PathBuf;
use dandori_git::{ExistingBranch, GitError, NewWorktree, Origin, Pool};

use crate::bed::{Bed, read, write};

fn pool(bed: &Bed) -> Pool {
    Pool::new(&bed.repo, &bed.home.join("state/pool"), &bed.trash())
}

fn slot_folders(bed: &Bed) -> Vec<Utf8PathBuf> {
    bed.home
        .join("state/pool")
        .read_dir_utf8()
        .unwrap()
        .map(|e| e.unwrap().into_path())
        .filter(|p| p.is_dir())
        .collect()
}

#[test]
fn a_slot_on_the_base_becomes_the_worktree_by_a_rename() {
    let bed = Bed::new();
    let pool = pool(&bed);
    assert!(pool.claim(&bed.wanted("a")).unwrap().is_none(), "an empty pool");
    let filled = pool.fill(&bed.base(), 2, 0).unwrap();
    assert_eq!((filled.made, pool.list().unwrap().len()), (2, 2));
    let added = pool.claim(&bed.wanted("a")).unwrap().unwrap();
    assert_eq!((added.origin, &added.tip), (Origin::WarmSlot, &bed.base()));
    assert_eq!(added.tree.path(), bed.root().join("a"));
    assert_eq!(added.tree.branch().unwrap().as_deref(), Some("dandori/a"));
    bed.assert_clean(&added.tree);
    assert!(added.tree.findings("dandori/a", &bed.base()).unwrap().is_empty());
    let listed = bed.repo.list().unwrap();
    assert_eq!(listed.iter().find(|w| w.path == added.tree.path()).unwrap().locked, None);
    assert_eq!(pool.list().unwrap().len(), 1);
    // From here on it is a worktree as any other.
    assert_eq!(bed.add("a").origin, Origin::Found);
    write(&added.tree.path().join("README.md"), "edited\n");
    Bed::commit_all(&added.tree, "dandori/a", "x\n");
    bed.repo.remove_worktree(added.tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!(pool.clear().unwrap(), 1);
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));
    assert_eq!(bed.home.join("state/pool").read_dir_utf8().unwrap().count(), 0);
}

#[test]
fn a_slot_on_an_older_base_is_brought_to_the_one_asked_for() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 1, 0).unwrap();
    bed.push_by_another("main", "src/file0.txt", "newer\n");
    bed.push_by_another("main", "added.txt", "added\n");
    bed.repo.fetch().unwrap();
    let added = pool.claim(&bed.wanted("a")).unwrap().unwrap();
    assert_eq!((added.origin, &added.tip), (Origin::MovedSlot, &bed.base()));
    assert_eq!(read(&added.tree.path().join("src/file0.txt")), "newer\n");
    bed.assert_clean(&added.tree);
    assert!(added.tree.findings("dandori/a", &bed.base()).unwrap().is_empty());
}

#[test]
fn filling_brings_older_slots_up_and_drops_surplus_and_stops_when_the_disk_is_short() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 3, 0).unwrap();
    bed.push_by_another("main", "added.txt", "added\n");
    bed.repo.fetch().unwrap();
    let filled = pool.fill(&bed.base(), 2, 0).unwrap();
    assert_eq!((filled.made, filled.moved, filled.destroyed), (0, 2, 1));
    let slots = pool.list().unwrap();
    assert!(slots.iter().all(|s| s.base == bed.base() && s.path.join("added.txt").exists()));
    let filled = pool.fill(&bed.base(), 3, u64::MAX).unwrap();
    assert!(filled.made == 0 && filled.short_of_disk.is_some());
    let added = pool.claim(&bed.wanted("a")).unwrap().unwrap();
    assert_eq!(added.origin, Origin::WarmSlot);
    bed.assert_clean(&added.tree);
}

#[test]
fn a_slot_without_its_mark_or_of_an_earlier_boot_is_never_handed_out_and_goes() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 2, 0).unwrap();
    let worktrees = bed.clone_path().join(".git/worktrees");
    let slots = pool.list().unwrap();
    let mark = |i: usize| worktrees.join(slots[i].path.file_name().unwrap()).join("dandori-slot");
    std::fs::remove_file(mark(0)).unwrap();
    let text = read(&mark(1));
    let boot = read(camino::Utf8Path::new("/proc/sys/kernel/random/boot_id"));
    write(&mark(1), text.replace(boot.trim(), "another boot"));
    assert!(pool.claim(&bed.wanted("a")).unwrap().is_none());
    let filled = pool.fill(&bed.base(), 1, 0).unwrap();
    assert_eq!((filled.destroyed, filled.made), (2, 1));
    assert_eq!((slot_folders(&bed).len(), bed.records()), (1, 1));
}

#[test]
fn a_claim_killed_anywhere_ends_in_a_right_worktree() {
    let bed = Bed::new();
    let pool = pool(&bed);
    let worktrees = bed.clone_path().join(".git/worktrees");
    let wanted = bed.wanted("a");
    // What a claim does, in its order; the test stops after each.
    let steps: &[&str] = &[
        "rm $REC/dandori-slot",
        "echo 'dandori: being made' > $REC/locked",
        "echo $PLACE/.git > $REC/gitdir",
        "mkdir -p $(dirname $PLACE) && mv $SLOT $PLACE",
        "git update-ref refs/heads/dandori/a $BASE",
        "GIT_DIR=$REC git symbolic-ref HEAD refs/heads/dandori/a",
        "rm $REC/locked",
    ];
    for done in 0..=steps.len() {
        pool.fill(&bed.base(), 1, 0).unwrap();
        let slot = pool.list().unwrap().remove(0).path;
        let record = worktrees.join(slot.file_name().unwrap());
        let set = format!("set -e; REC={record} SLOT={slot} PLACE={} BASE={}; ", wanted.path, bed.base().as_str());
        bed.sh(&bed.clone_path(), &(set + &steps[..done].join("; ")));
        let added = match pool.claim(&wanted).unwrap() {
            Some(added) => added,
            None => bed.repo.add_worktree(&wanted).unwrap(),
        };
        assert_eq!(added.tree.branch().unwrap().as_deref(), Some("dandori/a"), "after {done}");
        bed.assert_clean(&added.tree);
        assert!(added.tree.findings("dandori/a", &bed.base()).unwrap().is_empty(), "after {done}");
        let listed = bed.repo.list().unwrap();
        assert_eq!(listed.iter().find(|w| w.path == wanted.path).unwrap().locked, None, "after {done}");
        bed.repo.remove_worktree(&wanted.path, &bed.trash(), Some("dandori/a")).unwrap();
        pool.fill(&bed.base(), 0, 0).unwrap();
        assert_eq!((bed.records(), bed.branches().len(), slot_folders(&bed).len()), (0, 0, 0), "after {done}");
    }
}

#[test]
fn many_claims_at_once_each_get_a_slot_of_their_own() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 6, 0).unwrap();
    std::thread::scope(|scope| {
        for i in 0..6 {
            let (bed, pool) = (&bed, &pool);
            scope.spawn(move || {
                let wanted = bed.wanted(&format!("t{i}"));
                match pool.claim(&wanted).unwrap() {
                    Some(added) => added,
                    None => bed.repo.add_worktree(&wanted).unwrap(),
                }
            });
        }
        scope.spawn(|| pool.fill(&bed.base(), 2, 0).unwrap());
    });
    for i in 0..6 {
        let tree = bed.repo.worktree(&bed.root().join(format!("t{i}"))).unwrap().unwrap();
        assert_eq!(tree.branch().unwrap().unwrap(), format!("dandori/t{i}"));
        bed.assert_clean(&tree);
    }
}

#[test]
fn a_branch_that_is_taken_costs_no_slot() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 1, 0).unwrap();
    bed.push_by_another("ahead", "x.txt", "x");
    bed.sh(&bed.clone_path(), "git fetch -q && git branch -q --no-track dandori/a origin/ahead");
    assert!(matches!(pool.claim(&bed.wanted("a")).unwrap_err(), GitError::BranchTaken { .. }));
    assert_eq!(pool.list().unwrap().len(), 1);
    let attach = NewWorktree { existing: ExistingBranch::Attach, ..bed.wanted("a") };
    let added = pool.claim(&attach).unwrap().unwrap();
    assert_eq!(read(&added.tree.path().join("x.txt")), "x");
    bed.assert_clean(&added.tree);
}

#[test]
fn a_slot_is_moved_only_where_a_worktree_may_be_made() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 1, 0).unwrap();
    std::fs::create_dir_all(bed.root()).unwrap();
    std::os::unix::fs::symlink(&bed.home, bed.root().join("link")).unwrap();
    for path in [bed.root().join("link/x"), bed.home.join("elsewhere")] {
        let refused = pool.claim(&NewWorktree { path: path.clone(), ..bed.wanted("a") }).unwrap_err();
        assert!(matches!(refused, GitError::UnsafePath { .. }), "{path}: {refused:?}");
        assert!(!path.exists(), "{path}");
    }
    assert_eq!((pool.list().unwrap().len(), bed.branches().len()), (1, 0));
}

#[test]
fn records_of_slots_that_are_gone_or_never_came_to_be_are_swept_away() {
    let bed = Bed::new();
    let pool = pool(&bed);
    pool.fill(&bed.base(), 1, 0).unwrap();
    let claimed = pool.claim(&bed.wanted("a")).unwrap().unwrap();
    pool.fill(&bed.base(), 1, 0).unwrap();
    // Killed between throwing a slot away and forgetting it, and between git's first two acts.
    let gone = slot_folders(&bed).pop().unwrap();
    std::fs::remove_dir_all(&gone).unwrap();
    write(&bed.clone_path().join(".git/worktrees/slot-0123456789abcdef/locked"), "dandori: a warm slot\n");
    pool.fill(&bed.base(), 1, 0).unwrap();
    assert_eq!((pool.list().unwrap().len(), bed.records()), (1, 2), "one slot, and the worktree made from another");
    bed.assert_clean(&claimed.tree);
}
