//! The checkout a user stands in, and what a run does not see of it.

use camino::Utf8Path;
use dandori_domain::run::LeftOut;

use crate::bed::{Bed, write};

fn left_out(branch: &str, commits: u32, unpushed: u32, changed: u32) -> LeftOut {
    let branch = (!branch.is_empty()).then(|| branch.to_owned());
    LeftOut { branch, commits, unpushed: Some(unpushed), changed }
}

#[test]
fn commits_and_changes_are_counted_where_the_user_stands() {
    let bed = Bed::new();
    let clone = bed.clone_path();
    let base = bed.base();
    let seen = |bed: &Bed, checkout: &Utf8Path| {
        let changed = bed.repo.changed_in(checkout).unwrap()?;
        bed.repo.left_out(checkout, &base, changed).unwrap()
    };
    assert_eq!(seen(&bed, &clone), Some(left_out("main", 0, 0, 0)));
    write(&clone.join("README.md"), "changed\n");
    write(&clone.join("new.txt"), "new\n");
    bed.sh(&clone, "git commit -q --allow-empty -m mine");
    assert_eq!(seen(&bed, &clone), Some(left_out("main", 1, 1, 2)));
    bed.sh(&clone, "git push -q origin HEAD:refs/heads/topic && git checkout -q -b topic");
    assert_eq!(seen(&bed, &clone), Some(left_out("topic", 1, 0, 2)), "pushed, and still not in it");

    bed.sh(&clone, "git worktree add -q --detach ../linked main~1 && cd ../linked && echo x > x.txt");
    let linked = bed.home.join("linked");
    assert_eq!(seen(&bed, &linked), Some(left_out("", 0, 0, 1)));
    bed.sh(&clone, "git worktree remove --force ../linked");
    assert_eq!(seen(&bed, &linked), None, "it is gone");
}

#[test]
fn without_a_remote_nothing_is_unpushed() {
    let bed = Bed::new();
    let base = bed.base();
    bed.sh(&bed.clone_path(), "git remote remove origin && git commit -q --allow-empty -m mine");
    let found = bed.repo.left_out(&bed.clone_path(), &base, 0).unwrap().unwrap();
    assert_eq!((found.commits, found.unpushed), (1, None));
}

#[test]
fn head_is_that_of_the_checkout_one_stands_in() {
    let bed = Bed::new();
    let clone = bed.clone_path();
    bed.sh(&clone, "git worktree add -q -b side ../linked && cd ../linked && git commit -q --allow-empty -m side");
    std::fs::create_dir_all(bed.home.join("linked/src/deep")).unwrap();
    let at = |folder: &Utf8Path| {
        let top = bed.repo.checkout_of(folder).unwrap().unwrap();
        bed.repo.checkout(&top).unwrap().unwrap()
    };
    let main = at(&clone.join("src"));
    assert_eq!((&main.path, main.branch.as_deref(), main.head.as_ref()), (&clone, Some("main"), Some(&bed.base())));
    let linked = at(&bed.home.join("linked/src/deep"));
    let tip = bed.sh(&bed.home.join("linked"), "git rev-parse HEAD");
    assert_eq!((linked.branch.as_deref(), linked.head.unwrap().as_str()), (Some("side"), tip.as_str()));
    assert_eq!(bed.repo.commit_in(&linked.path, "HEAD~1").unwrap(), Some(bed.base()));
    assert_eq!(bed.repo.commit_in(&linked.path, "HEAD~9").unwrap(), None);
    assert_eq!(at(&clone.join(".git")).path, clone, "from inside the git directory");
    bed.sh(&bed.home, "git init -q empty");
    let empty = dandori_git::Repository::discover(&bed.git, &bed.home.join("empty")).unwrap();
    assert_eq!(empty.checkout(&bed.home.join("empty")).unwrap().unwrap().head, None);
    for elsewhere in [&bed.home, &bed.home.join("empty")] {
        assert_eq!(bed.repo.checkout_of(elsewhere).unwrap(), None, "{elsewhere} is none of this repository's");
    }
}
