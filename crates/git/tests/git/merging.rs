use dandori_domain::Oid;
use dandori_domain::pull::MergeRule;
use dandori_git::{Fetch, GitError, LocalBase, MergeAnswer, MergePlan};

use crate::bed::{Bed, at, read, write};

/// A bed with a branch of one commit, pushed.
fn with_branch(file: &str, text: &str) -> (Bed, Oid) {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join(file), text);
    let head = Bed::commit_all(&tree, "dandori/a", "feat: it\n");
    tree.push(&head, "dandori/a").unwrap();
    (bed, head)
}

fn main_at_origin(bed: &Bed) -> String {
    bed.sh(&bed.home.join("origin.git"), "git rev-parse main")
}

fn main_here(bed: &Bed) -> String {
    bed.sh(&bed.clone_path(), "git rev-parse main")
}

fn status(bed: &Bed) -> String {
    bed.sh(&bed.clone_path(), "git status --porcelain")
}

fn planned(bed: &Bed, head: &Oid, rule: MergeRule) -> (Oid, MergePlan) {
    let base = bed.repo.base_standing("main", Fetch::First).unwrap().unwrap().unwrap();
    let plan = bed.repo.plan_merge(&base.oid, head, rule, "Merge it\n", at(1_700_000_100)).unwrap();
    (base.oid, plan)
}

fn ready(bed: &Bed, head: &Oid, rule: MergeRule) -> (Oid, Oid) {
    match planned(bed, head, rule) {
        (from, MergePlan::Ready { to }) => (from, to),
        (_, other) => panic!("{other:?}"),
    }
}

const CURRENT: MergeAnswer = MergeAnswer::Merged { here: LocalBase::Current };

#[test]
fn a_fast_forward_moves_the_remote_and_the_checkout_together() {
    let (bed, head) = with_branch("new.txt", "new\n");
    // Files git does not follow are nobody's business.
    write(&bed.clone_path().join("notes.txt"), "mine\n");
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    assert_eq!(to, head);
    assert_eq!(bed.repo.sides(&from, &head).unwrap().ahead, 1);
    for _ in 0..2 {
        assert_eq!(bed.repo.merge("main", &from, &to, true).unwrap(), CURRENT);
        assert_eq!((main_at_origin(&bed).as_str(), main_here(&bed).as_str()), (head.as_str(), head.as_str()));
        assert_eq!(bed.repo.remote_branch_oid("main").unwrap().as_ref(), Some(&head));
    }
    assert_eq!(read(&bed.clone_path().join("new.txt")), "new\n");
    assert_eq!(status(&bed), "?? notes.txt");
}

#[test]
fn without_a_remote_the_branch_here_is_the_base() {
    let (bed, head) = with_branch("new.txt", "new\n");
    bed.sh(&bed.clone_path(), "git remote remove origin");
    let base = bed.repo.base_standing("main", Fetch::First).unwrap().unwrap().unwrap();
    assert!(!base.at_remote && base.local.as_ref() == Some(&base.oid), "{base:?}");
    let (from, to) = ready(&bed, &head, MergeRule::MergeCommit);
    assert_eq!(bed.repo.merge("main", &from, &to, false).unwrap(), CURRENT);
    assert_eq!(bed.sh(&bed.clone_path(), "git log --format=%s -2 --first-parent"), "Merge it\nfirst");
    assert_eq!((status(&bed).as_str(), read(&bed.clone_path().join("new.txt")).as_str()), ("", "new\n"));
    assert_eq!(bed.repo.merge("main", &from, &to, false).unwrap(), CURRENT, "again");
    let (_, plan) = planned(&bed, &head, MergeRule::Usual);
    assert!(matches!(plan, MergePlan::Ready { .. }));
    assert_eq!(bed.repo.sides(&to, &head).unwrap().ahead, 0, "it is in there");
}

#[test]
fn a_base_that_nobody_has_checked_out_moves_alone_and_one_checked_out_elsewhere_with_its_files() {
    let (bed, head) = with_branch("new.txt", "new\n");
    bed.sh(&bed.clone_path(), "git switch -q -c mine");
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    let elsewhere = bed.home.join("elsewhere");
    bed.sh(&bed.clone_path(), &format!("git worktree add -q {elsewhere} main"));
    assert_eq!(bed.repo.merge("main", &from, &to, true).unwrap(), CURRENT);
    assert_eq!(bed.sh(&elsewhere, "git status --porcelain"), "");
    assert_eq!(read(&elsewhere.join("new.txt")), "new\n");
    assert!(!bed.clone_path().join("new.txt").exists(), "another branch's checkout stays");

    bed.sh(&bed.clone_path(), &format!("git worktree remove {elsewhere}"));
    let more = bed.push_by_another("dandori/a", "more.txt", "more");
    bed.repo.fetch().unwrap();
    let (from, to) = ready(&bed, &more, MergeRule::FastForwardOnly);
    assert_eq!(bed.repo.merge("main", &from, &to, true).unwrap(), CURRENT);
    assert_eq!(main_here(&bed), more.as_str());
}

#[test]
fn edits_in_the_base_s_checkout_are_named_and_nothing_is_pushed() {
    for (prepare, expected) in [
        ("echo edit >> README.md", vec!["README.md"]),
        ("echo edit >> README.md && git add README.md", vec!["README.md"]),
        ("echo mine > new.txt", vec!["new.txt"]),
        ("rm src/file3.txt", vec!["src/file3.txt"]),
        ("echo edit >> src/file0.txt", vec!["src/file0.txt"]),
    ] {
        let bed = Bed::new();
        let tree = bed.tree("a");
        write(&tree.path().join("new.txt"), "new\n");
        std::fs::remove_file(tree.path().join("src/file0.txt")).unwrap();
        let head = Bed::commit_all(&tree, "dandori/a", "feat: it\n");
        bed.sh(&bed.clone_path(), prepare);
        let before = (status(&bed), main_here(&bed), main_at_origin(&bed));
        let (from, to) = ready(&bed, &head, MergeRule::Usual);
        let (_, edits) = bed.repo.edits_before("main", &to).unwrap().unwrap();
        assert_eq!(edits, expected, "{prepare}");
        let refused = bed.repo.merge("main", &from, &to, true).unwrap_err();
        assert!(matches!(refused, GitError::EditsInTheWay { files, .. } if files == expected), "{prepare}");
        let here = bed.repo.merge("main", &from, &to, false).unwrap_err();
        assert!(matches!(here, GitError::EditsInTheWay { files, .. } if files == expected), "{prepare}");
        assert_eq!((status(&bed), main_here(&bed), main_at_origin(&bed)), before, "{prepare}");
    }
}

#[test]
fn a_conflict_changes_nothing_and_names_its_files() {
    let (bed, head) = with_branch("README.md", "ours\n");
    bed.push_by_another("main", "README.md", "theirs\n");
    let (base, plan) = planned(&bed, &head, MergeRule::Usual);
    assert_eq!(plan, MergePlan::Conflict { files: vec!["README.md".to_owned()] });
    let sides = bed.repo.sides(&base, &head).unwrap();
    assert_eq!((sides.ahead, sides.behind, sides.conflicts.as_slice()), (1, 1, ["README.md".to_owned()].as_slice()));
}

#[test]
fn one_that_is_behind_gets_a_merge_commit_unless_only_a_fast_forward_will_do() {
    let (bed, head) = with_branch("new.txt", "new\n");
    let theirs = bed.push_by_another("main", "theirs.txt", "theirs\n");
    assert_eq!(planned(&bed, &head, MergeRule::FastForwardOnly).1, MergePlan::Diverged);
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    assert_eq!((from, ready(&bed, &head, MergeRule::Usual).1), (theirs.clone(), to.clone()), "the same every time");
    assert_eq!(bed.repo.merge("main", &theirs, &to, true).unwrap(), CURRENT, "the branch here was behind as well");
    assert_eq!(bed.sh(&bed.clone_path(), "git log -1 --format='%P'"), format!("{} {}", theirs.as_str(), head.as_str()));
    for file in ["new.txt", "theirs.txt"] {
        assert!(bed.clone_path().join(file).is_file(), "{file}");
    }
}

#[test]
fn a_base_that_moved_meanwhile_is_not_overwritten() {
    let (bed, head) = with_branch("new.txt", "new\n");
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    let theirs = bed.push_by_another("main", "theirs.txt", "theirs\n");
    assert_eq!(bed.repo.merge("main", &from, &to, true).unwrap(), MergeAnswer::BaseMoved);
    assert_eq!((main_at_origin(&bed).as_str(), main_here(&bed).as_str()), (theirs.as_str(), from.as_str()));
    bed.sh(&bed.clone_path(), "git commit -q --allow-empty -m mine");
    assert_eq!(bed.repo.merge("main", &from, &to, false).unwrap(), MergeAnswer::BaseMoved, "nor here");
}

#[test]
fn commits_of_the_user_s_own_on_the_base_stay_where_they_are() {
    let (bed, head) = with_branch("new.txt", "new\n");
    bed.sh(&bed.clone_path(), "git commit -q --allow-empty -m mine");
    let mine = main_here(&bed);
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    let merged = bed.repo.merge("main", &from, &to, true).unwrap();
    assert_eq!(merged, MergeAnswer::Merged { here: LocalBase::Left });
    assert_eq!((main_at_origin(&bed).as_str(), main_here(&bed)), (head.as_str(), mine));
}

#[test]
fn a_remote_that_refuses_is_quoted() {
    let (bed, head) = with_branch("new.txt", "new\n");
    let hook = bed.home.join("origin.git/hooks/pre-receive");
    write(&hook, "#!/bin/sh\necho protected >&2\nexit 1\n");
    bed.sh(&bed.home, &format!("chmod +x {hook}"));
    let (from, to) = ready(&bed, &head, MergeRule::Usual);
    let answer = bed.repo.merge("main", &from, &to, true).unwrap();
    assert!(matches!(&answer, MergeAnswer::Refused { reason } if reason.contains("protected")), "{answer:?}");
    assert_eq!(main_here(&bed), from.as_str());
}

/// What a kill leaves behind at each point: pushed and no more; some files written; files and index there, the branch not.
#[test]
fn a_merge_killed_half_way_is_finished_by_the_next() {
    for left in [
        "true",
        "git show TO:new.txt > new.txt; rm src/file0.txt",
        "git show TO:new.txt > new.txt; git show TO:README.md > README.md; rm src/file0.txt; touch .git/index.lock",
        "git read-tree -m -u HEAD TO",
    ] {
        for at_remote in [true, false] {
            let bed = Bed::new();
            let tree = bed.tree("a");
            write(&tree.path().join("new.txt"), "new\n");
            write(&tree.path().join("README.md"), "changed\n");
            std::fs::remove_file(tree.path().join("src/file0.txt")).unwrap();
            let head = Bed::commit_all(&tree, "dandori/a", "feat: it\n");
            let (from, to) = ready(&bed, &head, MergeRule::MergeCommit);
            if at_remote {
                bed.sh(&bed.clone_path(), &format!("git push -q origin {}:main", to.as_str()));
            }
            bed.sh(&bed.clone_path(), &left.replace("TO", to.as_str()));
            assert_eq!(bed.repo.merge("main", &from, &to, at_remote).unwrap(), CURRENT, "{left}");
            assert_eq!((main_here(&bed).as_str(), status(&bed).as_str()), (to.as_str(), ""), "{left}");
        }
    }
}

#[test]
fn the_commits_of_a_branch_are_listed_newest_first() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    for name in ["one", "two"] {
        write(&tree.path().join(format!("{name}.txt")), name);
        Bed::commit_all(&tree, "dandori/a", &format!("feat: {name}\n\nmore\n"));
    }
    let head = tree.head().unwrap();
    let listed = bed.repo.commits_between(&bed.base(), &head, 10).unwrap();
    let subjects: Vec<&str> = listed.iter().map(|line| line.subject.as_str()).collect();
    assert_eq!(subjects, ["feat: two", "feat: one"]);
    assert!(listed.iter().all(|line| line.author == "Test" && line.at == Some(at(1_700_000_000))), "{listed:?}");
    assert_eq!(bed.repo.commits_between(&bed.base(), &head, 1).unwrap().len(), 1);
}
