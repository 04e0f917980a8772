use dandori_domain::Oid;
use dandori_domain::run::Arrival;
use dandori_git::{CatchUp, GitError, PushAnswer, RebaseAnswer, Tree};

use crate::bed::{Bed, at, read, stage, write};

fn on_origin(bed: &Bed, branch: &str) -> String {
    bed.sh(&bed.home.join("origin.git"), &format!("git rev-parse --verify -q refs/heads/{branch} || true"))
}

#[test]
fn a_push_arrives_and_repeats() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    assert_eq!(tree.state().unwrap().unpushed, 1);
    assert_eq!(tree.push(&oid, "dandori/a").unwrap(), PushAnswer::Pushed);
    assert_eq!(on_origin(&bed, "dandori/a"), oid.as_str());
    assert_eq!(tree.push(&oid, "dandori/a").unwrap(), PushAnswer::Pushed);
    assert_eq!(tree.state().unwrap().unpushed, 0);
    bed.push_by_another("dandori/a", "more.txt", "more");
    assert_eq!(tree.push(&oid, "dandori/a").unwrap(), PushAnswer::Pushed, "it is in there, and more on top");
    assert!(!read(&bed.clone_path().join(".git/config")).contains("dandori"), "no upstream is written");
}

#[test]
fn a_lock_that_a_killed_push_left_does_not_stop_the_next_fetch() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    let lock = bed.clone_path().join(".git/refs/remotes/origin/dandori/a.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    write(&lock, "");
    assert_eq!(tree.push(&oid, "dandori/a").unwrap(), PushAnswer::Pushed);
    assert!(!lock.exists());
    assert_eq!(bed.sh(&bed.clone_path(), "git fetch -q && git rev-parse refs/remotes/origin/dandori/a"), oid.as_str());
}

#[test]
fn overtaken_it_is_rebased_and_pushed() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let base = bed.base();
    for name in ["one", "two"] {
        write(&tree.path().join(format!("{name}.txt")), name);
        Bed::commit_all(&tree, "dandori/a", &format!("feat: {name}\n\nDandori-Run: run_1\n"));
    }
    let ours = tree.head().unwrap();
    let theirs = bed.push_by_another("dandori/a", "src/file0.txt", "theirs\n");
    assert_eq!(tree.push(&ours, "dandori/a").unwrap(), PushAnswer::Overtaken { theirs: theirs.clone() });
    let RebaseAnswer::Rebased { oid } = tree.rebase("dandori/a", &ours, &base, &theirs).unwrap() else { panic!() };
    assert_eq!(tree.head().unwrap(), oid);
    bed.assert_clean(&tree);
    assert_eq!(read(&tree.path().join("src/file0.txt")), "theirs\n");
    assert_eq!(read(&tree.path().join("two.txt")), "two");
    assert_eq!(bed.sh(tree.path(), "git log --format=%s -4"), "feat: two\nfeat: one\nby another: src/file0.txt\nfirst");
    assert_eq!(tree.push(&oid, "dandori/a").unwrap(), PushAnswer::Pushed);
    assert_eq!(on_origin(&bed, "dandori/a"), oid.as_str());
}

#[test]
fn a_rebase_killed_half_way_is_finished_by_the_next() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let base = bed.base();
    write(&tree.path().join("one.txt"), "one");
    let ours = Bed::commit_all(&tree, "dandori/a", "one\n\nDandori-Run: run_1\n");
    let other = bed.home.join("other");
    bed.push_by_another("dandori/a", "src/file0.txt", "theirs\n");
    std::fs::remove_file(other.join("src/file2.txt")).unwrap();
    let theirs = bed.push_by_another("dandori/a", "src/new.txt", "theirs too\n");
    tree.push(&ours, "dandori/a").unwrap();
    // Some files are already theirs, the index and the branch are not; the killed git left its lock.
    write(&tree.path().join("src/file0.txt"), "theirs\n");
    write(&tree.path().join("src/new.txt"), "theirs too\n");
    std::fs::remove_file(tree.path().join("src/file2.txt")).unwrap();
    write(&tree.git_dir().join("index.lock"), "half");
    // And the user has an edit of his own in a file that nobody else touched.
    write(&tree.path().join("src/file9.txt"), "mine\n");
    let RebaseAnswer::Rebased { oid } = tree.rebase("dandori/a", &ours, &base, &theirs).unwrap() else { panic!() };
    assert_eq!(tree.head().unwrap(), oid);
    assert_eq!(bed.sh(tree.path(), "git status --porcelain"), " M src/file9.txt");
    let again = tree.rebase("dandori/a", &oid, &theirs, &theirs).unwrap();
    assert_eq!(again, RebaseAnswer::Rebased { oid });
}

#[test]
fn a_conflict_names_its_files_and_changes_nothing() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let base = bed.base();
    write(&tree.path().join("src/file0.txt"), "ours\n");
    write(&tree.path().join("日本.txt"), "ours\n");
    write(&tree.path().join("fine.txt"), "ours\n");
    let ours = Bed::commit_all(&tree, "dandori/a", "ours\n");
    bed.push_by_another("dandori/a", "src/file0.txt", "theirs\n");
    let theirs = bed.push_by_another("dandori/a", "日本.txt", "theirs\n");
    assert_eq!(tree.push(&ours, "dandori/a").unwrap(), PushAnswer::Overtaken { theirs: theirs.clone() });
    let answer = tree.rebase("dandori/a", &ours, &base, &theirs).unwrap();
    assert_eq!(answer, RebaseAnswer::Conflict { files: vec!["src/file0.txt".into(), "日本.txt".into()] });
    assert_eq!(tree.head().unwrap(), ours);
    bed.assert_clean(&tree);
    assert_eq!(read(&tree.path().join("src/file0.txt")), "ours\n");
    assert_eq!(on_origin(&bed, "dandori/a"), theirs.as_str());
    let files = bed.repo.conflicts_between(&base, &ours, &theirs).unwrap();
    assert_eq!(files, ["src/file0.txt", "日本.txt"]);
}

#[test]
fn a_refusal_is_told_in_the_remotes_words_without_credentials() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    let hook = bed.home.join("origin.git/hooks/pre-receive");
    write(&hook, "#!/bin/sh\necho 'protected: see https://bot:token@ci.example/rules' >&2\nexit 1\n");
    bed.sh(&bed.home, &format!("chmod +x {hook}"));
    let PushAnswer::Refused { reason } = tree.push(&oid, "dandori/a").unwrap() else { panic!() };
    assert!(reason.contains("pre-receive hook declined") && reason.contains("protected"), "{reason}");
    assert!(!reason.contains("token"), "{reason}");
    bed.sh(&bed.clone_path(), "git remote set-url origin https://me:secret@127.0.0.1:1/x.git");
    let Err(GitError::RemoteUnreachable { reason }) = tree.push(&oid, "dandori/a") else { panic!() };
    assert!(reason.contains("127.0.0.1") && !reason.contains("secret"), "{reason}");
}

/// What the remote has comes in, as far as it can.
fn catch_up(tree: &Tree, ours_after: &Oid) -> Result<Arrival, GitError> {
    let CatchUp::Behind(arrival) = tree.repository().catch_up("dandori/a", &tree.head().unwrap(), ours_after).unwrap()
    else {
        panic!("the remote has more")
    };
    tree.arrive("dandori/a", &arrival).map(|()| arrival)
}

#[test]
fn catching_up_forwards_keeps_edits_and_says_when_it_cannot() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let look = || tree.repository().catch_up("dandori/a", &tree.head().unwrap(), &tree.head().unwrap()).unwrap();
    assert_eq!(look(), CatchUp::Current { theirs: None }, "never pushed");
    write(&tree.path().join("one.txt"), "one\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "one\n");
    tree.push(&oid, "dandori/a").unwrap();
    assert_eq!(look(), CatchUp::Current { theirs: Some(oid.clone()) });

    bed.push_by_another("dandori/a", "one.txt", "one, reviewed\n");
    let tip = bed.push_by_another("dandori/a", "two.txt", "two\n");
    write(&tree.path().join("README.md"), "an edit that stays\n");
    let arrival = catch_up(&tree, &oid).unwrap();
    assert_eq!((arrival.commits, &arrival.to, arrival.takes_commits_apart()), (2, &tip, false));
    assert_eq!(read(&tree.path().join("one.txt")), "one, reviewed\n");
    assert_eq!(bed.sh(tree.path(), "git status --porcelain"), " M README.md");

    bed.push_by_another("dandori/a", "README.md", "theirs\n");
    let refused = catch_up(&tree, &tip);
    assert!(matches!(&refused, Err(GitError::EditsInTheWay { files, .. }) if files == &["README.md"]), "{refused:?}");
    assert_eq!(read(&tree.path().join("README.md")), "an edit that stays\n");
    assert_eq!(tree.head().unwrap(), tip);

    bed.sh(&bed.clone_path(), "git remote set-url origin /nowhere");
    assert!(matches!(look(), CatchUp::Offline { .. }));
    assert!(Oid::new(on_origin(&bed, "dandori/a")) != tip);
}

#[test]
fn commits_that_go_together_with_theirs_are_put_on_top() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("one.txt"), "one\n");
    let pushed = Bed::commit_all(&tree, "dandori/a", "one\n");
    tree.push(&pushed, "dandori/a").unwrap();
    let theirs = bed.push_by_another("dandori/a", "two.txt", "two\n");
    write(&tree.path().join("three.txt"), "three\n");
    Bed::commit_all(&tree, "dandori/a", "three\n");
    let arrival = catch_up(&tree, &pushed).unwrap();
    assert_eq!((&arrival.theirs, arrival.takes_commits_apart()), (&theirs, false));
    assert_eq!(bed.sh(tree.path(), "git status --porcelain"), "");
    assert_eq!(bed.sh(tree.path(), "git log --format=%s -n 3"), "three\nby another: two.txt\none");
}

#[test]
fn commits_that_contradict_theirs_become_edits_with_both_sides_in_the_files() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("one.txt"), "one\n");
    let pushed = Bed::commit_all(&tree, "dandori/a", "one\n");
    tree.push(&pushed, "dandori/a").unwrap();
    let theirs = bed.push_by_another("dandori/a", "one.txt", "theirs\n");
    write(&tree.path().join("one.txt"), "ours\n");
    write(&tree.path().join("three.txt"), "three\n");
    let ours = Bed::commit_all(&tree, "dandori/a", "ours\n");
    let CatchUp::Behind(arrival) = tree.repository().catch_up("dandori/a", &ours, &pushed).unwrap() else { panic!() };
    assert_eq!(arrival.conflicts, ["one.txt"]);
    assert_eq!(tree.head().unwrap(), ours, "nothing was touched yet");

    // Killed after the first file had moved: the same call finishes it, and once more changes nothing.
    let merged = bed.sh(tree.path(), &format!("git show {}:one.txt", arrival.files.as_str())) + "\n";
    write(&tree.path().join("one.txt"), &merged);
    for _ in 0..2 {
        tree.arrive("dandori/a", &arrival).unwrap();
        assert_eq!(tree.head().unwrap(), theirs);
        assert_eq!(read(&tree.path().join("one.txt")), merged);
        assert!(merged.contains("theirs") && merged.contains("ours"), "{merged}");
        assert_eq!(read(&tree.path().join("three.txt")), "three\n");
    }
    let conflict = tree.conflict().unwrap().unwrap();
    assert_eq!((conflict.marked, conflict.plain), (vec!["one.txt".to_owned()], vec![]));
    write(&tree.path().join("one.txt"), merged.replace("<<<<<<<", ""));
    assert_eq!(tree.conflict().unwrap().unwrap().marked, ["one.txt"], "half of the markers are left");
    write(&tree.path().join("one.txt"), "both\n");
    assert_eq!(tree.conflict().unwrap().unwrap().plain, ["one.txt"]);
    tree.forget_conflict().unwrap();
    assert_eq!(tree.conflict().unwrap(), None);
}

#[test]
fn a_base_is_merged_into_the_files_however_often_it_is_begun() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("one.txt"), "one\n");
    let tip = Bed::commit_all(&tree, "dandori/a", "one\n");
    assert_eq!(tree.repository().merge_in(&tip, &bed.base()).unwrap(), None, "it has all of the base");
    bed.push_by_another("main", "README.md", "newer\n");
    bed.repo.fetch().unwrap();
    let base = bed.base();
    let arrival = tree.repository().merge_in(&tip, &base).unwrap().unwrap();
    assert_eq!((arrival.commits, arrival.takes_commits_apart(), &arrival.to), (1, false, &tip));
    for _ in 0..2 {
        tree.arrive("dandori/a", &arrival).unwrap();
        assert_eq!(tree.head().unwrap(), tip, "the branch waits for the commit");
        assert_eq!(read(&tree.path().join("README.md")), "newer\n");
    }
    // Killed half-way: some files are there already.
    bed.sh(tree.path(), "git reset -q --hard");
    write(&tree.path().join("README.md"), "newer\n");
    tree.arrive("dandori/a", &arrival).unwrap();
    let (staged, parent) = stage(&tree);
    let commit =
        || tree.commit(&staged, &[parent.clone(), base.clone()], "merge\n\nDandori-Run: r\n", at(1), "dandori/a");
    let oid = commit().unwrap();
    assert_eq!(commit().unwrap(), oid, "the same, when it is asked for again");
    assert_eq!(bed.sh(tree.path(), "git show -s --format=%P"), format!("{tip} {base}"));
    bed.assert_clean(&tree);
}
