//! A repository without a remote, or with one that is not called `origin`.

use dandori_git::{BranchEnd, CatchUp, Fetch, GitError, PushAnswer, Refresh, Standing};

use crate::bed::{Bed, at, write};

const REF: &str = "refs/dandori/preserved/a";

fn alone() -> Bed {
    let bed = Bed::new();
    bed.sh(&bed.clone_path(), "git remote remove origin");
    bed
}

#[test]
fn nothing_is_fetched_or_pushed_and_nothing_is_wrong_with_that() {
    let bed = alone();
    let tree = bed.tree("a");
    write(&tree.path().join("x.txt"), "x");
    let ours = bed.base();
    let head = Bed::commit_all(&tree, "dandori/a", "x\n");
    bed.repo.fetch().unwrap();
    assert_eq!(tree.push(&head, "dandori/a").unwrap(), PushAnswer::NoRemote);
    let caught_up = bed.repo.catch_up("dandori/a", &head, &ours).unwrap();
    assert_eq!(caught_up, CatchUp::Current { theirs: None });
    let base = bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert_eq!((base.full_name().as_str(), base.offline), ("main", None));
    assert_eq!(bed.repo.default_branch().unwrap().as_deref(), Some("main"));
}

/// Of the one that is looked at.
fn unpushed(bed: &Bed, standing: &[Standing]) -> u32 {
    let found = std::sync::Mutex::new(None);
    bed.repo.survey(standing, &|_, state| *found.lock().unwrap() = state);
    found.into_inner().unwrap().unwrap().unpushed
}

#[test]
fn a_commit_on_its_own_branch_is_not_lost_and_one_on_none_is() {
    let bed = alone();
    let tree = bed.tree("a");
    write(&tree.path().join("x.txt"), "x");
    let head = Bed::commit_all(&tree, "dandori/a", "x\n");
    let standing = || {
        let (head, branch) = (tree.head().ok(), tree.branch().unwrap());
        [Standing { tree: tree.clone(), head, branch, index: Refresh::Yes }]
    };
    assert_eq!(tree.state().unwrap().unpushed, 0);
    assert_eq!(unpushed(&bed, &standing()), 0);
    assert_eq!(bed.repo.preserve_beside(&tree, "dandori/a", REF, "kept", at(1)).unwrap(), None, "the branch stays");
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(1)).unwrap(), Some(head), "it may go");

    bed.sh(tree.path(), "git checkout -q --detach && git commit -q --allow-empty -m loose");
    assert_eq!(tree.state().unwrap().unpushed, 1);
    assert_eq!(unpushed(&bed, &standing()), 1);
    let loose = tree.head().unwrap();
    let kept = bed.repo.preserve_beside(&tree, "dandori/a", "refs/dandori/preserved/b", "kept", at(1)).unwrap();
    assert_eq!(kept, Some(loose));
}

#[test]
fn a_branch_goes_with_its_worktree_only_when_another_has_its_commits() {
    let bed = alone();
    let tree = bed.tree("a");
    write(&tree.path().join("x.txt"), "x");
    Bed::commit_all(&tree, "dandori/a", "x\n");
    assert!(!bed.repo.is_spare("dandori/a").unwrap());
    bed.sh(&bed.clone_path(), "git merge -q --ff-only dandori/a");
    assert!(bed.repo.is_spare("dandori/a").unwrap());
    let end = bed.repo.remove_worktree(tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!(end, BranchEnd::Deleted);
    let with_remote = Bed::new();
    with_remote.tree("a");
    assert!(
        with_remote.repo.is_spare("dandori/a").unwrap(),
        "where there is a remote, keeping is not up to the branch"
    );
}

#[test]
fn the_only_remote_is_used_whatever_it_is_called() {
    let bed = Bed::new();
    bed.sh(&bed.clone_path(), "git remote rename origin mine 2>/dev/null");
    let theirs = bed.push_by_another("main", "fresh.txt", "fresh");
    let base = bed.repo.resolve_base(None, None, Fetch::WhenMoved).unwrap();
    assert_eq!((base.full_name().as_str(), base.oid), ("mine/main", theirs.clone()));
    assert_eq!(bed.repo.resolve_base(Some("mine/main"), None, Fetch::Never).unwrap().name, "main");
    let tree = bed.tree("a");
    write(&tree.path().join("x.txt"), "x");
    let head = Bed::commit_all(&tree, "dandori/a", "x\n");
    assert_eq!(tree.push(&head, "dandori/a").unwrap(), PushAnswer::Pushed);
    assert_eq!(bed.repo.remote_branch_oid("dandori/a").unwrap(), Some(head));
}

#[test]
fn of_several_remotes_none_is_guessed() {
    let bed = Bed::new();
    bed.sh(&bed.clone_path(), "git remote rename origin mine 2>/dev/null && git remote add theirs ../origin.git");
    let error = bed.repo.resolve_base(None, None, Fetch::Never).unwrap_err();
    assert!(matches!(&error, GitError::WhichRemote { names } if names == &["mine", "theirs"]), "{error:?}");
    bed.sh(&bed.clone_path(), "git config checkout.defaultRemote mine");
    assert_eq!(bed.repo.resolve_base(None, None, Fetch::First).unwrap().full_name(), "mine/main");
}

#[test]
fn a_remote_that_comes_later_gets_every_commit_of_the_branch() {
    let bed = alone();
    let tree = bed.tree("a");
    for name in ["one", "two"] {
        write(&tree.path().join(name), name);
        Bed::commit_all(&tree, "dandori/a", &format!("{name}\n"));
    }
    bed.sh(&bed.clone_path(), "git remote add origin ../origin.git");
    assert_eq!(tree.push(&tree.head().unwrap(), "dandori/a").unwrap(), PushAnswer::Pushed);
    let log = bed.sh(&bed.home.join("origin.git"), "git log --format=%s dandori/a");
    assert_eq!(log.lines().collect::<Vec<_>>(), ["two", "one", "first"]);
}
