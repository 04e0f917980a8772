use dandori_domain::paths::FORBIDDEN;
use dandori_domain::run::Changes;
use dandori_domain::{Finding, Oid};
use dandori_git::{GitError, StageAnswer};

use crate::bed::{Bed, at, read, stage, write};

#[test]
fn everything_but_ignored_files_is_staged_and_counted() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("README.md"), "hello\nagain\n");
    write(&tree.path().join("日本語/新規.txt"), "一\n二\n");
    write(&tree.path().join("bin"), b"\0\x01\x02");
    write(&tree.path().join("ignored/x"), "no");
    std::fs::remove_file(tree.path().join("src/file3.txt")).unwrap();
    let answer = tree.stage(FORBIDDEN).unwrap();
    let StageAnswer::Staged { tree: staged, parent, changes } = answer else { panic!("{answer:?}") };
    assert_eq!(parent, bed.base());
    assert_eq!(changes, Some(Changes { files: 4, insertions: 3, deletions: 3 }));
    let patch = bed.home.join("run.patch");
    tree.write_patch(&parent, &staged, &patch).unwrap();
    bed.sh(&bed.clone_path(), &format!("git apply --index {patch}"));
    assert_eq!(bed.sh(&bed.clone_path(), "git write-tree"), staged.as_str());
}

#[test]
fn nothing_changed_is_said_so() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("a.log"), "ignored");
    assert!(matches!(tree.stage(FORBIDDEN).unwrap(), StageAnswer::Staged { changes: None, .. }));
}

#[test]
fn forbidden_paths_are_refused_and_nothing_stays_staged() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("README.md"), "fine\n");
    write(&tree.path().join("app/.env"), "SECRET=1\n");
    write(&tree.path().join(".env.example"), "SECRET=\n");
    write(&tree.path().join("certs/server.pem"), "key\n");
    let StageAnswer::Refused { findings } = tree.stage(FORBIDDEN).unwrap() else { panic!() };
    assert_eq!(
        findings,
        [
            Finding::ForbiddenPath { path: "app/.env".into(), pattern: ".env".into() },
            Finding::ForbiddenPath { path: "certs/server.pem".into(), pattern: "*.pem".into() },
        ]
    );
    assert_eq!(bed.sh(tree.path(), "git diff --cached --name-only"), "");
    assert_eq!(read(&tree.path().join("app/.env")), "SECRET=1\n");
    std::fs::remove_file(tree.path().join("app/.env")).unwrap();
    std::fs::remove_file(tree.path().join("certs/server.pem")).unwrap();
    assert!(matches!(tree.stage(FORBIDDEN).unwrap(), StageAnswer::Staged { changes: Some(_), .. }));
}

#[test]
fn a_stale_index_lock_does_not_stop_it_and_the_index_ends_as_staged() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    write(&tree.git_dir().join("index.lock"), "");
    let (staged, _) = stage(&tree);
    assert!(!tree.git_dir().join("index.lock").exists());
    assert_eq!(bed.sh(tree.path(), "git write-tree"), staged.as_str());
}

#[test]
fn a_commit_is_the_users_dated_as_told_and_made_once() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    let (staged, parent) = stage(&tree);
    let message = "feat: new\n\nDandori-Run: run_1\n";
    let oid = tree.commit(&staged, std::slice::from_ref(&parent), message, at(1_700_000_000), "dandori/a").unwrap();
    bed.assert_clean(&tree);
    let shown = bed.sh(tree.path(), "git log -1 --format='%an <%ae> %at %ct%n%B'");
    assert_eq!(shown, format!("Test <t@example.com> 1700000000 1700000000\n{}", message.trim_end()));
    let again = tree.commit(&staged, std::slice::from_ref(&parent), message, at(1_700_000_555), "dandori/a").unwrap();
    assert_eq!(again, oid);
    let other = tree
        .commit(&staged, std::slice::from_ref(&parent), "feat: new\n\nDandori-Run: run_2\n", at(1), "dandori/a")
        .unwrap_err();
    assert!(matches!(other, GitError::RefMoved { .. }), "{other:?}");
    assert_eq!(tree.head().unwrap(), oid);
}

#[test]
fn without_an_identity_the_commit_says_so() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("new.txt"), "new\n");
    write(&bed.home.join(".gitconfig"), "[user]\n useConfigOnly = true\n");
    let (staged, parent) = stage(&tree);
    let error = tree.commit(&staged, std::slice::from_ref(&parent), "x\n", at(1), "dandori/a").unwrap_err();
    assert!(matches!(error, GitError::NoIdentity), "{error:?}");
}

#[test]
fn a_user_who_signs_gets_signed_commits() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(
        &bed.home.join("gpg"),
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED x' >&2\necho '-----BEGIN PGP SIGNATURE-----'\necho fake\necho '-----END PGP SIGNATURE-----'\n",
    );
    bed.sh(&bed.home, "chmod +x gpg && git config --global gpg.program $PWD/gpg && git config --global commit.gpgSign true && git config --global user.signingKey k");
    write(&tree.path().join("new.txt"), "new\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n\nDandori-Run: r\n");
    assert!(bed.sh(tree.path(), &format!("git cat-file commit {}", oid.as_str())).contains("gpgsig "));
}

#[test]
fn state_counts_what_would_be_lost() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let state = tree.state().unwrap();
    assert_eq!((state.dirty.len(), state.unpushed, state.branch.as_deref()), (0, 0, Some("dandori/a")));
    write(&tree.path().join("one.txt"), "1");
    let one = Bed::commit_all(&tree, "dandori/a", "one\n");
    write(&tree.path().join("README.md"), "edit\n");
    write(&tree.path().join("with space\nand newline"), "x");
    let state = tree.state().unwrap();
    assert_eq!(state.dirty, ["README.md", "with space\nand newline"]);
    assert_eq!((state.unpushed, state.head), (1, Some(one)));
    std::fs::remove_dir_all(tree.path()).unwrap();
    let state = tree.state().unwrap();
    assert_eq!((state.dirty.len(), state.unpushed), (0, 1));
}

#[test]
fn differences_between_commits_are_counted_and_shown() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    write(&tree.path().join("README.md"), "hello\nworld\n");
    write(&tree.path().join("bin"), b"\0\0");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    let diff = bed.repo.diff_between(&bed.base(), &oid).unwrap();
    let files: Vec<_> = diff.files.iter().map(|f| (f.path.as_str(), f.added, f.deleted, f.is_binary)).collect();
    assert_eq!(files, [("README.md", 1, 0, false), ("bin", 0, 0, true)]);
    assert!(bed.repo.patch_between(&bed.base(), &oid).unwrap().contains("+world\n"));
    let missing = bed.repo.diff_between(&Oid::new("0".repeat(40)), &oid);
    assert!(missing.is_err());
}
