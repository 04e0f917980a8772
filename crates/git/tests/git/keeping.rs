use std::os::unix::fs::PermissionsExt;

use dandori_git::{GitError, NewWorktree, Origin};

use crate::bed::{Bed, at, read, write};

const REF: &str = "refs/dandori/preserved/a";

#[test]
fn work_of_every_kind_comes_back_as_it_was() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let base = bed.base();
    let path = tree.path().to_owned();
    write(&path.join("committed.txt"), "committed\n");
    let head = Bed::commit_all(&tree, "dandori/a", "mine\n");
    write(&path.join("README.md"), "edited\n");
    write(&path.join("binary"), [0u8, 159, 146, 150, 10]);
    write(&path.join("日本語.txt"), "日本\n");
    write(&path.join("new\nline and \"quote\".txt"), "odd\n");
    write(&path.join("run.sh"), "#!/bin/sh\n");
    std::fs::set_permissions(path.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("README.md", path.join("link")).unwrap();
    std::fs::remove_file(path.join("src/file1.txt")).unwrap();
    write(&path.join("staged.txt"), "staged\n");
    bed.sh(&path, "git add staged.txt");
    write(&path.join("ignored/cache"), "cache");
    let before = bed.sh(&path, "git status --porcelain -uall | sort");
    let index = std::fs::read(tree.git_dir().join("index")).unwrap();

    let kept = bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(5)).unwrap().unwrap();
    assert_eq!(std::fs::read(tree.git_dir().join("index")).unwrap(), index, "its own index is not touched");
    assert_eq!(bed.sh(&path, "git status --porcelain -uall | sort"), before);
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(9)).unwrap().unwrap(), kept, "once");
    assert_eq!(bed.repo.refs_under("refs/dandori/preserved/").unwrap(), [(REF.to_owned(), kept.clone())]);

    bed.repo.remove_worktree(&path, &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(9)).unwrap(), Some(kept.clone()));
    for round in 0..2 {
        let restored = bed.repo.restore(REF, &NewWorktree { base: base.clone(), ..bed.wanted("a") }).unwrap();
        assert_eq!(restored.tree.branch().unwrap().as_deref(), Some("dandori/a"));
        assert_eq!(restored.tip, head, "round {round}");
        let after = bed.sh(&path, "git status --porcelain -uall | sort");
        assert_eq!(after, before.replace("A  staged.txt", "?? staged.txt"), "round {round}");
        assert_eq!(std::fs::read(path.join("binary")).unwrap(), [0u8, 159, 146, 150, 10]);
        assert_eq!(path.join("run.sh").metadata().unwrap().permissions().mode() & 0o111, 0o111);
        assert_eq!(read(&path.join("new\nline and \"quote\".txt")), "odd\n");
        assert_eq!(read(&path.join("日本語.txt")), "日本\n");
        assert_eq!(read(&path.join("link")), "edited\n");
        assert!(!path.join("src/file1.txt").exists() && !path.join("ignored").exists());
    }
    bed.repo.delete_own_ref(REF).unwrap();
    bed.repo.delete_own_ref(REF).unwrap();
    assert!(matches!(bed.repo.restore(REF, &bed.wanted("b")).unwrap_err(), GitError::NoSuchRef { .. }));
}

#[test]
fn nothing_to_keep_is_nothing_kept() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("x.log"), "ignored");
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(1)).unwrap(), None);
    assert_eq!(bed.repo.reference(REF).unwrap(), None);
}

#[test]
fn commits_alone_are_kept_as_they_are() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("x.txt"), "x");
    let head = Bed::commit_all(&tree, "dandori/a", "x\n");
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(1)).unwrap(), Some(head.clone()));
    bed.repo.remove_worktree(tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    // The name was taken meanwhile by something else.
    bed.sh(&bed.clone_path(), "git commit -q --allow-empty -m other && git branch -q --no-track dandori/a");
    let restored = bed.repo.restore(REF, &bed.wanted("a")).unwrap();
    assert_eq!(restored.tree.branch().unwrap().as_deref(), Some("dandori/a-2"));
    assert_eq!(restored.tip, head);
    bed.assert_clean(&restored.tree);
    assert_eq!(bed.repo.restore(REF, &bed.wanted("a")).unwrap().origin, Origin::Found);
}

#[test]
fn commits_of_a_clone_without_remote_branches_are_kept_when_no_other_branch_has_them() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    bed.sh(&bed.clone_path(), "git remote remove origin");
    assert_eq!(bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(1)).unwrap(), None);
    write(&tree.path().join("x.txt"), "x");
    let head = Bed::commit_all(&tree, "dandori/a", "x\n");
    assert_eq!(bed.repo.preserve(&tree, None, REF, "kept", at(1)).unwrap(), Some(head));
}

#[test]
fn keeping_again_loses_nothing_that_was_kept_before() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("first.txt"), "first");
    let first = bed.repo.preserve(&tree, None, REF, "kept", at(1)).unwrap().unwrap();
    std::fs::remove_file(tree.path().join("first.txt")).unwrap();
    write(&tree.path().join("second.txt"), "second");
    let second = bed.repo.preserve(&tree, None, REF, "kept", at(2)).unwrap().unwrap();
    assert!(bed.repo.is_ancestor(&first, &second).unwrap());
    bed.repo.remove_worktree(tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    let restored = bed.repo.restore(REF, &bed.wanted("a")).unwrap();
    assert_eq!(restored.tree.state().unwrap().dirty, ["second.txt"]);

    let third = Bed::commit_all(&restored.tree, "dandori/a", "third\n");
    let kept = bed.repo.preserve(&restored.tree, None, REF, "kept", at(3)).unwrap().unwrap();
    assert!(bed.repo.is_ancestor(&second, &kept).unwrap() && bed.repo.is_ancestor(&third, &kept).unwrap());
    bed.repo.remove_worktree(tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    let restored = bed.repo.restore(REF, &bed.wanted("a")).unwrap();
    assert_eq!(restored.tip, third);
    bed.assert_clean(&restored.tree);
}

#[test]
fn a_damaged_index_or_a_head_without_commits_keeps_the_files_all_the_same() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("README.md"), "edited\n");
    write(&tree.git_dir().join("index"), "rubbish");
    let kept = bed.repo.preserve(&tree, Some("dandori/a"), REF, "kept", at(1)).unwrap().unwrap();
    let show = |oid: &dandori_domain::Oid| bed.sh(&bed.clone_path(), &format!("git show {}:README.md", oid.as_str()));
    assert_eq!(show(&kept), "edited");
    bed.sh(&bed.clone_path(), &format!("GIT_DIR={} git symbolic-ref HEAD refs/heads/unborn", tree.git_dir()));
    let other = "refs/dandori/preserved/b";
    let kept = bed.repo.preserve(&tree, Some("dandori/a"), other, "kept", at(1)).unwrap().unwrap();
    assert_eq!(show(&kept), "edited");
    let restored = bed.repo.restore(other, &bed.wanted("b")).unwrap();
    assert_eq!(restored.tree.state().unwrap().dirty, ["README.md"]);
}

#[test]
fn only_our_own_refs_are_written() {
    let bed = Bed::new();
    assert!(bed.repo.set_own_ref("refs/heads/main", &bed.base()).is_err());
    assert!(bed.repo.delete_own_ref("refs/heads/main").is_err());
}
