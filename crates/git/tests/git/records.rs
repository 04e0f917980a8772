//! Finding one worktree among many, and looking at many together.

use dandori_git::{Fetch, Pool, Refresh, Standing};

use crate::bed::{Bed, write};

#[test]
fn a_worktree_is_found_wherever_its_record_says_it_is_by_now() {
    let bed = Bed::new();
    let tree = bed.tree("one");
    let (path, moved) = (tree.path().to_owned(), bed.root().join("elsewhere"));
    assert!(bed.repo.worktree(&path).unwrap().is_some());
    // By git itself, past everything that is remembered.
    bed.sh(&bed.clone_path(), &format!("git worktree move {path} {moved}"));
    assert!(bed.repo.worktree(&path).unwrap().is_none(), "not where it was");
    assert_eq!(bed.repo.worktree(&moved).unwrap().unwrap().git_dir(), tree.git_dir());
    bed.sh(&bed.clone_path(), &format!("git worktree move {moved} {path}"));
    assert_eq!(bed.repo.worktree(&path).unwrap().unwrap().git_dir(), tree.git_dir());
    bed.sh(&bed.clone_path(), &format!("git worktree remove {path}"));
    assert!(bed.repo.worktree(&path).unwrap().is_none());
    // Another one in the same place has another record, and is found too.
    bed.sh(&bed.clone_path(), &format!("git worktree add -q -b two {path}"));
    assert!(bed.repo.worktree(&path).unwrap().is_some());
}

#[test]
fn a_worktree_that_was_a_slot_is_found_by_its_place_and_not_by_its_name() {
    let bed = Bed::new();
    let pool = Pool::new(&bed.repo, &bed.home.join("state/pool"), &bed.trash());
    pool.fill(&bed.base(), 1, 0).unwrap();
    let claimed = pool.claim(&bed.wanted("run")).unwrap().unwrap().tree;
    let found = bed.repo.worktree(claimed.path()).unwrap().unwrap();
    assert_eq!(found.git_dir(), claimed.git_dir());
    assert!(found.git_dir().file_name().unwrap().starts_with("slot-"));
    // A record of that name that is somebody else's leads nobody astray.
    bed.sh(&bed.clone_path(), &format!("git worktree add -q -b three {}/elsewhere/run", bed.home));
    assert_eq!(bed.repo.worktree(claimed.path()).unwrap().unwrap().git_dir(), claimed.git_dir());
}

#[test]
fn a_branch_that_somebody_has_checked_out_stays_whoever_switched_to_it() {
    let bed = Bed::new();
    let tree = bed.tree("one");
    bed.sh(&bed.clone_path(), "git branch free && git branch taken");
    assert_eq!(bed.repo.delete_branch("free").unwrap(), None);
    bed.sh(tree.path(), "git switch -q taken");
    assert_eq!(bed.repo.delete_branch("taken").unwrap().as_deref(), Some(tree.path()));
    bed.sh(tree.path(), "git switch -q --detach");
    assert_eq!(bed.repo.delete_branch("taken").unwrap(), None, "nobody has it any more");
    let main = bed.sh(&bed.clone_path(), "git branch --show-current");
    assert_eq!(bed.repo.delete_branch(&main).unwrap(), Some(bed.clone_path()));
}

#[test]
fn many_are_seen_as_each_alone_is() {
    let bed = Bed::new();
    let trees: Vec<_> = ["clean", "dirty", "ahead", "detached"].map(|name| bed.tree(name)).into_iter().collect();
    write(&trees[1].path().join("new.txt"), "x\n");
    write(&trees[2].path().join("new.txt"), "x\n");
    let ahead = Bed::commit_all(&trees[2], "dandori/ahead", "ahead");
    bed.sh(trees[3].path(), "git switch -q --detach");
    let listed = bed.repo.list().unwrap();
    let standing: Vec<Standing> = trees
        .iter()
        .map(|tree| {
            let listed = listed.iter().find(|l| l.path == tree.path()).unwrap();
            Standing {
                tree: tree.clone(),
                head: listed.head.clone(),
                branch: listed.branch.clone(),
                index: Refresh::Yes,
            }
        })
        .collect();
    let together = survey(&bed, &standing);
    for (tree, state) in trees.iter().zip(&together) {
        assert_eq!(state.as_ref(), Some(&tree.state().unwrap()), "{}", tree.path());
    }
    assert_eq!(together[2].as_ref().unwrap().unpushed, 1);
    let heads: Vec<_> = together.iter().map(|s| s.as_ref().unwrap().head.clone().unwrap()).collect();
    let outside = bed.repo.not_in(&heads, &bed.base()).unwrap();
    assert_eq!(outside.into_iter().collect::<Vec<_>>(), [ahead]);
}

fn survey(bed: &Bed, standing: &[Standing]) -> Vec<Option<dandori_git::TreeState>> {
    let found = std::sync::Mutex::new(vec![None; standing.len()]);
    bed.repo.survey(standing, &|at, state| *found.lock().unwrap().get_mut(at).unwrap() = state);
    found.into_inner().unwrap()
}

/// Where nothing is pushed, what no other branch has is what would be lost.
#[test]
fn where_nothing_was_pushed_yet_what_no_other_branch_has_is_counted_for_each() {
    let bed = Bed::new();
    let trees: Vec<_> = ["none", "one", "stacked", "detached"].map(|name| bed.tree(name)).into_iter().collect();
    for (tree, name) in [(&trees[1], "one"), (&trees[2], "stacked")] {
        write(&tree.path().join(name), "x\n");
        Bed::commit_all(tree, &format!("dandori/{name}"), name);
    }
    // On top of another's: what they share is lost with neither.
    bed.sh(trees[2].path(), "git rebase -q dandori/one");
    bed.sh(trees[3].path(), "git switch -q --detach dandori/one && git commit -q --allow-empty -m alone");
    bed.sh(&bed.clone_path(), "git remote remove origin && git remote add origin /nowhere");
    let listed = bed.repo.list().unwrap();
    let of = |tree: &dandori_git::Tree| {
        let listed = listed.iter().find(|l| l.path == tree.path()).unwrap();
        Standing { tree: tree.clone(), head: listed.head.clone(), branch: listed.branch.clone(), index: Refresh::Yes }
    };
    let standing: Vec<Standing> = trees.iter().map(of).collect();
    let together = survey(&bed, &standing);
    let counts: Vec<u32> = together.iter().map(|state| state.as_ref().unwrap().unpushed).collect();
    assert_eq!(counts, [0, 0, 1, 1]);
    for (tree, state) in trees.iter().zip(&together) {
        assert_eq!(state.as_ref(), Some(&tree.state().unwrap()), "{}", tree.path());
    }
}

#[test]
fn a_remote_is_fetched_from_only_when_its_branch_has_moved() {
    let bed = Bed::new();
    let unmoved = bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert_eq!((unmoved.oid, unmoved.offline), (bed.base(), None));
    // Only a fetch would bring another's branch.
    bed.push_by_another("topic", "topic.txt", "x\n");
    bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert_eq!(bed.repo.remote_branch_oid("topic").unwrap(), None);
    let newest = bed.push_by_another(&unmoved.name, "main.txt", "x\n");
    let moved = bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert_eq!(moved.oid, newest);
    assert!(bed.repo.remote_branch_oid("topic").unwrap().is_some());
    bed.sh(&bed.home, "mv origin.git away.git");
    let offline = bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert!(offline.oid == newest && offline.offline.is_some(), "known from before, and said so");
}

#[test]
fn many_loose_branches_are_packed_and_few_are_not() {
    let bed = Bed::new();
    for name in ["a", "b", "c"] {
        bed.sh(&bed.clone_path(), &format!("git branch dandori/{name}"));
    }
    assert!(!bed.repo.pack_refs(3).unwrap());
    assert!(bed.repo.pack_refs(2).unwrap());
    assert_eq!(bed.branches().len(), 3);
    assert!(!bed.clone_path().join(".git/refs/heads/dandori/a").exists());
}
