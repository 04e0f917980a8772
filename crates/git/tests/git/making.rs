use camino::Utf8Path;
use dandori_domain::Oid;
use dandori_git::{
    BranchEnd, ExistingBranch, Fetch, GitError, Listed, NewWorktree, Origin, Repository, Unsafe, Unsupported,
    empty_trash,
};

use crate::bed::{Bed, read, write};

#[test]
fn the_repository_is_found_from_a_folder_of_it_and_from_a_linked_worktree() {
    let bed = Bed::new();
    assert_eq!(bed.repo.root(), bed.clone_path());
    assert_eq!(bed.repo.common_dir(), bed.clone_path().join(".git"));
    let tree = bed.tree("a");
    for from in [bed.clone_path().join("src"), tree.path().join("src"), bed.clone_path().join(".git")] {
        let found = Repository::discover(&bed.git, &from).unwrap();
        assert_eq!((found.root(), found.common_dir()), (bed.repo.root(), bed.repo.common_dir()), "{from}");
    }
    let nowhere = Repository::discover(&bed.git, &bed.home).unwrap_err();
    assert!(matches!(nowhere, GitError::NotARepository { .. }), "{nowhere:?}");
    let bare = Repository::discover(&bed.git, &bed.home.join("origin.git")).unwrap_err();
    assert!(matches!(bare, GitError::Bare { .. }), "{bare:?}");
}

#[test]
fn a_repository_without_a_commit_says_so() {
    let bed = Bed::new();
    assert!(bed.repo.has_commit().unwrap());
    bed.sh(&bed.home, "git init -q empty");
    let empty = Repository::discover(&bed.git, &bed.home.join("empty")).unwrap();
    assert!(!empty.has_commit().unwrap());
    assert_eq!(empty.remote().unwrap(), None);
}

/// git writes a null HEAD first when it makes a worktree.
#[test]
fn a_worktree_that_is_just_being_made_is_in_nobodys_way() {
    let bed = Bed::new();
    let _made = bed.add("a");
    let head = bed.clone_path().join(".git/worktrees/a/HEAD");
    let whole = read(&head);
    let null = format!("{}\n", "0".repeat(40));
    write(&head, &null);
    assert!(bed.repo.has_commit().unwrap());

    // The remote has something new, and answers the second fetch once the worktree is complete.
    bed.sh(&bed.home, "git clone -q origin.git other && cd other && git commit -q --allow-empty -m new && git push -q");
    write(&bed.home.join("whole"), &whole);
    let answer = format!(
        "#!/bin/sh\nif [ -e '{0}/asked' ]; then cp '{0}/whole' '{head}'; fi\ntouch '{0}/asked'\nexec git-upload-pack \"$@\"\n",
        bed.home
    );
    write(&bed.home.join("answer"), answer);
    bed.sh(&bed.clone_path(), "chmod +x ../answer && git config remote.origin.uploadpack \"$PWD/../answer\"");
    bed.repo.fetch().unwrap();
    assert_eq!(read(&head), whole, "the first fetch met the worktree being made");
}

#[test]
fn a_worktree_has_its_files_its_branch_and_no_lock() {
    let bed = Bed::new();
    let added = bed.add("a");
    assert_eq!(added.origin, Origin::Made);
    assert_eq!(added.tip, bed.base());
    assert_eq!(added.tree.branch().unwrap().as_deref(), Some("dandori/a"));
    assert_eq!(read(&added.tree.path().join("README.md")), "hello\n");
    bed.assert_clean(&added.tree);
    assert!(added.tree.findings("dandori/a", &added.tip).unwrap().is_empty());
    let listed = bed.repo.list().unwrap();
    let ours = listed.iter().find(|w| w.path == added.tree.path()).unwrap();
    assert_eq!((ours.branch.as_deref(), &ours.locked, &ours.prunable), (Some("dandori/a"), &None, &None));
    assert!(!read(&bed.clone_path().join(".git/config")).contains("dandori"), "no upstream tracking is written");
}

#[test]
fn the_records_say_what_git_says() {
    let bed = Bed::new();
    let (a, _) = (bed.tree("a"), bed.tree("b"));
    bed.tree("gone");
    bed.sh(&bed.home, "git -C clone worktree add -q --detach ../beside");
    bed.repo.lock(a.path(), "run_1").unwrap();
    std::fs::remove_dir_all(bed.root().join("gone")).unwrap();
    for _ in 0..2 {
        let mut recorded = bed.repo.recorded().unwrap();
        bed.repo.heads(&mut recorded.iter_mut().collect::<Vec<_>>()).unwrap();
        let told = |listed: &[Listed]| {
            let mut told: Vec<_> = listed
                .iter()
                .filter(|one| !one.is_main)
                .map(|one| (one.path.clone(), one.branch.clone(), one.head.clone(), one.locked.clone()))
                .collect();
            told.sort();
            told
        };
        assert_eq!(told(&recorded), told(&bed.repo.list().unwrap()));
        assert_eq!(recorded.len(), 4);
        let tree = bed.repo.tree_of(&recorded[0]).unwrap().unwrap();
        assert_eq!(tree.git_dir(), bed.repo.worktree(&recorded[0].path).unwrap().unwrap().git_dir());
        // Read once more when a worktree has moved on.
        bed.sh(a.path(), "git commit -q --allow-empty -m more");
    }
}

#[test]
fn thirty_two_worktrees_made_eight_at_a_time_are_all_there_and_leave_nothing_else() {
    let bed = Bed::new();
    let next = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    if i >= 32 {
                        break;
                    }
                    bed.add(&format!("t{i}"));
                }
            });
        }
    });
    assert_eq!((bed.branches().len(), bed.records()), (32, 32));
    for i in 0..32 {
        let tree = bed.repo.worktree(&bed.root().join(format!("t{i}"))).unwrap().unwrap();
        assert_eq!(tree.branch().unwrap().unwrap(), format!("dandori/t{i}"));
        bed.assert_clean(&tree);
    }
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let bed = &bed;
            scope.spawn(move || {
                for i in (worker..32).step_by(8) {
                    let name = format!("dandori/t{i}");
                    let end = bed.repo.remove_worktree(&bed.root().join(format!("t{i}")), &bed.trash(), Some(&name));
                    assert_eq!(end.unwrap(), BranchEnd::Deleted);
                }
            });
        }
    });
    assert_eq!((bed.branches().len(), bed.records()), (0, 0));
    assert_eq!(bed.root().read_dir_utf8().unwrap().count(), 0);
    assert_eq!(empty_trash(&bed.trash()).unwrap(), 32);
    assert_eq!(empty_trash(&bed.trash()).unwrap(), 0);
}

#[test]
fn asking_twice_is_asking_once() {
    let bed = Bed::new();
    let first = bed.add("a");
    write(&first.tree.path().join("README.md"), "an edit\n");
    let again = bed.add("a");
    assert_eq!(again.origin, Origin::Found);
    assert_eq!(read(&first.tree.path().join("README.md")), "an edit\n");
    assert_eq!(bed.records(), 1);
}

#[test]
fn a_half_made_worktree_is_finished_wherever_it_was_interrupted() {
    let bed = Bed::new();
    let git_dir = bed.clone_path().join(".git");
    let (path, base) = (bed.root().join("a"), bed.base());
    let record = format!(
        "git worktree add -q --detach --no-checkout --lock --reason 'dandori: being made' {path} {}",
        base.as_str()
    );
    let half_made: &[&str] = &[
        "true",
        "git symbolic-ref HEAD refs/heads/dandori/a",
        "git update-ref refs/heads/dandori/a $BASE && git symbolic-ref HEAD refs/heads/dandori/a",
        "git update-ref refs/heads/dandori/a $BASE && git symbolic-ref HEAD refs/heads/dandori/a && touch $GIT_DIR/index.lock && echo half > $WT/README.md",
        "rm $WT/.git",
        "rm -r $WT",
    ];
    for (i, line) in half_made.iter().enumerate() {
        bed.sh(&bed.clone_path(), &record);
        let set = format!("export BASE={} WT={path}; export GIT_DIR={git_dir}/worktrees/a; ", base.as_str());
        bed.sh(&bed.clone_path(), &(set + line));
        let added = bed.add("a");
        assert_eq!(added.tree.branch().unwrap().as_deref(), Some("dandori/a"), "case {i}");
        bed.assert_clean(&added.tree);
        assert!(added.tree.findings("dandori/a", &base).unwrap().is_empty(), "case {i}");
        assert_eq!(bed.repo.list().unwrap().last().unwrap().locked, None, "case {i}");
        bed.repo.remove_worktree(&path, &bed.trash(), Some("dandori/a")).unwrap();
        assert_eq!((bed.records(), bed.branches().len()), (0, 0), "case {i}");
    }
    // Only the branch was made.
    bed.sh(&bed.clone_path(), &format!("git branch --no-track dandori/a {}", base.as_str()));
    bed.add("a");
}

#[test]
fn a_branch_that_is_taken_is_refused_with_a_name_to_use_and_leaves_nothing() {
    let bed = Bed::new();
    bed.push_by_another("ahead", "x.txt", "x");
    bed.sh(&bed.clone_path(), "git fetch -q && git branch -q --no-track dandori/a origin/ahead && git branch -q flat");
    let taken = bed.repo.add_worktree(&bed.wanted("a")).unwrap_err();
    assert!(matches!(&taken, GitError::BranchTaken { suggestion, .. } if suggestion == "dandori/a-2"), "{taken:?}");
    let below = NewWorktree { branch: "flat/b".to_owned(), ..bed.wanted("b") };
    let taken = bed.repo.add_worktree(&below).unwrap_err();
    assert!(matches!(&taken, GitError::BranchTaken { suggestion, .. } if suggestion == "flat-b"), "{taken:?}");
    assert_eq!(bed.records(), 0);
    assert!(!bed.root().join("a").exists() && !bed.root().join("b").exists());

    let attached = NewWorktree { existing: ExistingBranch::Attach, ..bed.wanted("a") };
    let added = bed.repo.add_worktree(&attached).unwrap();
    assert_eq!(read(&added.tree.path().join("x.txt")), "x");
    let elsewhere = NewWorktree { path: bed.root().join("c"), ..attached };
    let in_use = bed.repo.add_worktree(&elsewhere).unwrap_err();
    assert!(matches!(&in_use, GitError::BranchTaken { used_at: Some(at), .. } if at == added.tree.path()));
    let bad = bed.repo.add_worktree(&NewWorktree { branch: "a..b".to_owned(), ..bed.wanted("d") }).unwrap_err();
    assert!(matches!(bad, GitError::BadBranchName { .. }));
}

#[test]
fn a_failed_add_leaves_neither_branch_nor_directory() {
    let bed = Bed::new();
    let wrong = NewWorktree { base: Oid::new("1".repeat(40)), ..bed.wanted("a") };
    bed.repo.add_worktree(&wrong).unwrap_err();
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));
    assert!(!bed.root().join("a").exists());

    // The record and the branch succeed, writing the files does not: a filter of the user's fails.
    bed.sh(&bed.clone_path(), "echo 'src/* filter=boom' > .git/info/attributes");
    bed.sh(&bed.clone_path(), "git config filter.boom.smudge false && git config filter.boom.required true");
    bed.repo.add_worktree(&bed.wanted("a")).unwrap_err();
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));
    assert!(!bed.root().join("a").exists());
}

#[test]
fn a_held_config_lock_is_tolerated() {
    let bed = Bed::new();
    write(&bed.clone_path().join(".git/config.lock"), "");
    let added = bed.add("a");
    bed.assert_clean(&added.tree);
    bed.repo.remove_worktree(added.tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));
}

#[test]
fn paths_outside_the_root_through_links_or_in_repositories_are_refused() {
    let bed = Bed::new();
    std::fs::create_dir_all(bed.root()).unwrap();
    std::os::unix::fs::symlink(&bed.home, bed.root().join("link")).unwrap();
    let reason = |path: &Utf8Path, branch: &str| {
        let new = NewWorktree { path: path.to_owned(), ..bed.wanted(branch) };
        match bed.repo.add_worktree(&new).unwrap_err() {
            GitError::UnsafePath { reason, .. } => reason,
            other => panic!("{path}: {other:?}"),
        }
    };
    let (root, link) = (bed.root(), bed.root().join("link"));
    let in_git = root.join("x/.git/y");
    assert_eq!(reason(&bed.home.join("elsewhere"), "a"), Unsafe::OutsideRoot { root: root.clone() });
    assert_eq!(reason(Utf8Path::new(&format!("{root}/../out")), "a"), Unsafe::NotPlain);
    assert_eq!(reason(&link.join("x"), "a"), Unsafe::Symlink { component: link });
    assert_eq!(reason(&in_git, "a"), Unsafe::InsideRepository { repository: in_git.clone() });
    let tree = bed.add("a").tree.path().to_owned();
    assert_eq!(reason(&tree.join("inner"), "b"), Unsafe::InsideRepository { repository: tree });
    write(&bed.root().join("file"), "mine");
    let there = bed.repo.add_worktree(&bed.wanted("file")).unwrap_err();
    assert!(matches!(there, GitError::PathTaken { .. }));
    assert_eq!((bed.records(), bed.branches().len()), (1, 1));
}

#[test]
fn removal_repeats_copes_with_a_missing_directory_and_respects_foreign_locks() {
    let bed = Bed::new();
    let path = bed.root().join("a");
    let remove = || bed.repo.remove_worktree(&path, &bed.trash(), Some("dandori/a"));
    assert_eq!(remove().unwrap(), BranchEnd::Deleted, "what was never there");

    bed.add("a");
    bed.repo.lock(&path, "run_1 is at work").unwrap();
    std::fs::remove_dir_all(&path).unwrap();
    assert_eq!(remove().unwrap(), BranchEnd::Deleted, "our own lock, no directory");
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));

    bed.add("a");
    bed.sh(&bed.clone_path(), &format!("git worktree lock --reason 'on a stick' {path}"));
    let refused = remove().unwrap_err();
    assert!(matches!(&refused, GitError::Locked { reason, .. } if reason == "on a stick"), "{refused:?}");
    assert!(matches!(bed.repo.unlock(&path).unwrap_err(), GitError::Locked { .. }));
    assert!(matches!(bed.repo.lock(&path, "mine").unwrap_err(), GitError::Locked { .. }));
    assert!(path.join("README.md").exists());
    bed.sh(&bed.clone_path(), &format!("git worktree unlock {path}"));
    assert_eq!(remove().unwrap(), BranchEnd::Deleted);

    write(&path.join("precious.txt"), "not a worktree at all");
    assert!(matches!(remove().unwrap_err(), GitError::NotOurs { .. }));
    assert!(path.join("precious.txt").exists());
}

#[test]
fn removal_takes_only_its_own_record_and_a_branch_in_use_stays() {
    let bed = Bed::new();
    let (a, b) = (bed.tree("a"), bed.tree("b"));
    std::fs::remove_dir_all(b.path()).unwrap();
    std::fs::create_dir_all(a.path().join("closed/inner")).unwrap();
    bed.sh(a.path(), "chmod 000 closed");
    bed.repo.remove_worktree(a.path(), &bed.trash(), None).unwrap();
    assert_eq!(bed.records(), 1, "the other's record stays though its directory is gone");
    assert_eq!(bed.branches().len(), 2);
    assert_eq!(empty_trash(&bed.trash()).unwrap(), 1);

    bed.sh(&bed.clone_path(), "git checkout -q dandori/a");
    let end = bed.repo.remove_worktree(a.path(), &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!(end, BranchEnd::InUse { at: bed.clone_path() });
}

#[test]
fn the_base_is_what_was_asked_configured_or_the_remotes_default() {
    let bed = Bed::new();
    let theirs = bed.push_by_another("main", "fresh.txt", "fresh");
    let feature = bed.push_by_another("feature/login", "f.txt", "f");
    bed.sh(&bed.clone_path(), "git tag v1 && git branch mine");
    let stale = bed.repo.resolve_base(None, None, Fetch::Never).unwrap();
    assert_ne!(stale.oid, theirs);
    let base = bed.repo.resolve_base(None, None, Fetch::First).unwrap();
    assert_eq!((base.name.as_str(), &base.oid, &base.offline, base.local_only), ("main", &theirs, &None, false));
    let named = |asked, configured| bed.repo.resolve_base(asked, configured, Fetch::Never).unwrap();
    assert_eq!(named(Some("feature/login"), Some("main")).oid, feature);
    assert_eq!(named(None, Some("origin/feature/login")).name, "feature/login");
    assert_eq!(named(Some("v1"), None).oid, stale.oid);
    let mine = named(Some("mine"), None);
    assert!(mine.local_only);
    let sha = named(Some(feature.as_str()), None);
    assert_eq!((sha.oid, sha.local_only), (feature, false));

    bed.sh(&bed.clone_path(), "git remote set-head origin -d");
    assert_eq!(bed.repo.resolve_base(None, None, Fetch::First).unwrap().name, "main");
}

#[test]
fn an_unknown_base_names_what_may_have_been_meant() {
    let bed = Bed::new();
    bed.push_by_another("feature/login", "f.txt", "f");
    let error = bed.repo.resolve_base(Some("feature/logn"), None, Fetch::First).unwrap_err();
    assert!(matches!(&error, GitError::UnknownBase { near, .. } if near == &["feature/login"]), "{error:?}");
    let error = bed.repo.resolve_base(Some("--upload-pack=evil"), None, Fetch::Never).unwrap_err();
    assert!(matches!(&error, GitError::UnknownBase { near, .. } if near.is_empty()), "{error:?}");
}

#[test]
fn a_remote_that_cannot_be_reached_is_noted_and_the_known_base_is_used() {
    let bed = Bed::new();
    bed.sh(&bed.clone_path(), "git remote set-url origin https://me:secret@127.0.0.1:1/x.git");
    let base = bed.repo.resolve_base(None, None, Fetch::First).unwrap();
    let offline = base.offline.unwrap();
    let (reason, fetched_at) = (offline.reason, offline.fetched_at.unwrap());
    assert!((dandori_host::now() - fetched_at).get_seconds() < 3600, "a clone is heard from its remote: {fetched_at}");
    assert!(!reason.contains("secret") && reason.contains("127.0.0.1"), "{reason}");
    assert_eq!(base.name, "main");
}

#[test]
fn without_a_remote_or_with_an_empty_one_the_base_is_local() {
    let bed = Bed::new();
    bed.sh(
        &bed.home,
        "git init -q --bare hollow.git && git init -q solo && cd solo && git commit -q --allow-empty -m x",
    );
    let solo = Repository::discover(&bed.git, &bed.home.join("solo")).unwrap();
    let base = solo.resolve_base(None, None, Fetch::First).unwrap();
    assert_eq!((base.name.as_str(), base.local_only, base.offline), ("main", true, None));
    bed.sh(&bed.home.join("solo"), "git remote add origin ../hollow.git");
    let base = solo.resolve_base(None, None, Fetch::First).unwrap();
    assert_eq!((base.name.as_str(), base.local_only, base.offline), ("main", true, None));
}

#[test]
fn submodules_and_lfs_without_git_lfs_are_named() {
    let bed = Bed::new();
    assert_eq!(bed.repo.unsupported(&bed.base()).unwrap(), []);
    bed.sh(
        &bed.clone_path(),
        "git -c protocol.file.allow=always submodule --quiet add ../origin.git libs/sub && \
         mkdir art && echo '*.bin filter=lfs diff=lfs' > art/.gitattributes && git add -A && git commit -qm both",
    );
    let tip = Oid::new(bed.sh(&bed.clone_path(), "git rev-parse HEAD"));
    let unsupported = bed.repo.unsupported(&tip).unwrap();
    assert_eq!(unsupported, [Unsupported::Submodules { paths: vec!["libs/sub".into()] }, Unsupported::LfsMissing]);
}

/// In the order in which git makes them; a killed git leaves the first so many.
#[test]
fn a_record_that_git_had_only_begun_is_made_anew() {
    let bed = Bed::new();
    let steps: [(&str, &str); 8] = [
        ("record", ""),
        ("locked", ""),
        ("locked", "dandori: being made\n"),
        ("folder", ""),
        ("gitdir", ""),
        ("gitdir", "{path}/.git\n"),
        (".git", "gitdir: {record}\n"),
        ("commondir", "../..\n"),
    ];
    for killed_after in 1..=steps.len() {
        let name = format!("k{killed_after}");
        let path = bed.root().join(&name);
        let record = bed.clone_path().join(".git/worktrees").join(&name);
        for (what, text) in &steps[..killed_after] {
            let text = text.replace("{path}", path.as_str()).replace("{record}", record.as_str());
            match *what {
                "record" => std::fs::create_dir_all(&record).unwrap(),
                "folder" => std::fs::create_dir_all(&path).unwrap(),
                ".git" => write(&path.join(".git"), text),
                file => write(&record.join(file), text),
            }
        }
        let added = bed.repo.add_worktree(&bed.wanted(&name)).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(added.tree.branch().unwrap().unwrap(), format!("dandori/{name}"));
        bed.assert_clean(&added.tree);
        assert_eq!(bed.records(), killed_after, "no stump is left beside it");
    }
}

#[test]
fn a_base_that_was_found_fit_is_refused_once_the_clone_gives_files_to_git_lfs() {
    let bed = Bed::new();
    assert_eq!(bed.repo.unsupported(&bed.base()).unwrap(), []);
    bed.sh(&bed.clone_path(), "mkdir -p .git/info && echo '*.bin filter=lfs' > .git/info/attributes");
    assert_eq!(bed.repo.unsupported(&bed.base()).unwrap(), [Unsupported::LfsMissing]);
}

#[test]
fn removing_what_git_had_only_begun_leaves_no_record_behind() {
    let bed = Bed::new();
    let path = bed.root().join("a");
    write(&bed.clone_path().join(".git/worktrees/a/locked"), "dandori: being made\n");
    std::fs::create_dir_all(&path).unwrap();
    bed.repo.remove_worktree(&path, &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!((bed.records(), path.exists()), (0, false));
    // Somebody else's, just in the making.
    write(&bed.clone_path().join(".git/worktrees/a/locked"), "initializing");
    bed.repo.remove_worktree(&path, &bed.trash(), None).unwrap();
    assert_eq!(bed.records(), 1);
}

#[test]
fn a_removal_killed_half_way_through_the_record_is_finished_by_the_next() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    std::fs::remove_dir_all(tree.path()).unwrap();
    std::fs::remove_file(tree.git_dir().join("gitdir")).unwrap();
    bed.repo.remove_worktree(&bed.root().join("a"), &bed.trash(), Some("dandori/a")).unwrap();
    assert_eq!((bed.records(), bed.branches().len()), (0, 0));
}
