//! What an agent can write must not run in us.

use dandori_domain::Finding;
use dandori_domain::paths::FORBIDDEN;
use dandori_git::{StageAnswer, Tree};

use crate::bed::{Bed, at, read, stage, write};

impl Bed {
    /// A shell command that leaves a trace, as a file an agent's configuration can name.
    fn trap(&self) -> String {
        let trap = self.home.join("trap");
        write(&trap, format!("#!/bin/sh\ntouch {}/SPRUNG\ncat\n", self.home));
        self.sh(&self.home, "chmod +x trap");
        trap.into_string()
    }

    fn assert_not_sprung(&self, after: &str) {
        assert!(!self.home.join("SPRUNG").exists(), "{after} ran what an agent wrote");
    }

    /// Everything the daemon does with a worktree.
    fn use_all(&self, tree: &Tree, branch: &str) {
        tree.findings(branch, &self.base()).unwrap();
        self.assert_not_sprung("findings");
        tree.state().unwrap();
        self.assert_not_sprung("state");
        let staged = tree.stage(FORBIDDEN).unwrap();
        self.assert_not_sprung("stage");
        if let StageAnswer::Staged { tree: oid, parent, .. } = staged {
            tree.write_patch(&parent, &oid, &self.home.join("p")).unwrap();
            self.assert_not_sprung("write_patch");
        }
        let reference = format!("refs/dandori/preserved/{}", branch.replace('/', "-"));
        self.repo.preserve(tree, Some(branch), &reference, "kept", at(1)).unwrap();
        self.assert_not_sprung("preserve");
        self.repo.exec_config_fingerprint().unwrap();
        let head = self.repo.checkout(self.repo.root()).unwrap().unwrap().head.unwrap();
        for checkout in [self.repo.root(), tree.path()] {
            let changed = self.repo.changed_in(checkout).unwrap().unwrap();
            self.repo.left_out(checkout, &head, changed).unwrap();
        }
        self.assert_not_sprung("left_out");
    }
}

#[test]
fn a_git_file_that_points_at_an_agents_own_directory_is_found_and_not_followed() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let trap = bed.trap();
    let evil = bed.home.join("evil");
    bed.sh(&bed.home, "git init -q evil");
    bed.sh(&evil, &format!("git config core.fsmonitor {trap} && git config filter.e.clean {trap}"));
    write(&tree.path().join(".git"), format!("gitdir: {evil}/.git\n"));
    write(&tree.path().join("README.md"), "edited\n");
    // It is a real trap: git itself springs it.
    bed.sh(tree.path(), "git status >/dev/null 2>&1 || true");
    assert!(bed.home.join("SPRUNG").exists());
    std::fs::remove_file(bed.home.join("SPRUNG")).unwrap();

    let findings = tree.findings("dandori/a", &bed.base()).unwrap();
    assert_eq!(findings, [Finding::GitFileChanged { path: tree.path().join(".git") }]);
    bed.use_all(&tree, "dandori/a");
    let (staged, parent) = stage(&tree);
    tree.commit(&staged, std::slice::from_ref(&parent), "x\n", at(1), "dandori/a").unwrap();
    bed.assert_not_sprung("commit");
}

#[test]
fn a_git_file_turned_into_a_directory_or_link_or_removed_is_found() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let trap = bed.trap();
    let changed = [Finding::GitFileChanged { path: tree.path().join(".git") }];
    std::fs::remove_file(tree.path().join(".git")).unwrap();
    assert_eq!(tree.findings("dandori/a", &bed.base()).unwrap(), changed);
    bed.sh(tree.path(), &format!("git init -q . && git config core.fsmonitor {trap}"));
    assert_eq!(tree.findings("dandori/a", &bed.base()).unwrap(), changed);
    write(&tree.path().join("kept.txt"), "kept\n");
    bed.use_all(&tree, "dandori/a");
    let kept = bed.repo.reference("refs/dandori/preserved/dandori-a").unwrap().unwrap();
    assert_eq!(bed.sh(&bed.clone_path(), &format!("git show {}:kept.txt", kept.as_str())), "kept");
    std::fs::remove_dir_all(tree.path().join(".git")).unwrap();
    std::os::unix::fs::symlink(tree.git_dir(), tree.path().join(".git")).unwrap();
    assert_eq!(tree.findings("dandori/a", &bed.base()).unwrap(), changed);
}

#[test]
fn a_repository_inside_the_worktree_is_refused_kept_as_files_and_never_entered() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let trap = bed.trap();
    let plant = |at: &str| {
        let folder = tree.path().join(at);
        write(&folder.join("inner.txt"), "inner\n");
        bed.sh(&folder, "git init -q . && git add -A && git commit -qm inner");
        bed.sh(&folder, &format!("git config core.fsmonitor {trap} && git config filter.e.clean {trap}"));
        write(&folder.join(".gitattributes"), "* filter=e\n");
        // Of the same size: git has to read it, through the filter, to know whether it changed.
        write(&folder.join("inner.txt"), "INNER\n");
    };
    plant("vendor/sub");
    plant("vendor/sub/deeper");
    bed.sh(tree.path(), "mkdir unborn && cd unborn && git init -q . && echo u > u.txt");
    bed.use_all(&tree, "dandori/a");
    let StageAnswer::Refused { findings } = tree.stage(FORBIDDEN).unwrap() else { panic!() };
    assert_eq!(
        findings,
        [Finding::NestedRepository { path: "unborn".into() }, Finding::NestedRepository { path: "vendor/sub".into() }]
    );
    let kept = bed.repo.reference("refs/dandori/preserved/dandori-a").unwrap().unwrap();
    let files = bed.sh(&bed.clone_path(), &format!("git ls-tree -r --name-only {} vendor unborn", kept.as_str()));
    assert_eq!(
        files,
        "unborn/u.txt\nvendor/sub/.gitattributes\nvendor/sub/deeper/.gitattributes\nvendor/sub/deeper/inner.txt\nvendor/sub/inner.txt"
    );
}

#[test]
fn a_submodule_that_an_agent_filled_is_never_entered() {
    let bed = Bed::new();
    let trap = bed.trap();
    bed.sh(
        &bed.clone_path(),
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && git commit -qm gitlink && git push -q origin main",
    );
    let tree = bed.tree("a");
    let sub = tree.path().join("sub");
    write(&sub.join("inner.txt"), "inner\n");
    bed.sh(&sub, "git init -q . && git add -A && git commit -qm inner");
    bed.sh(&sub, &format!("git config core.fsmonitor {trap} && git config filter.e.clean {trap}"));
    write(&sub.join(".gitattributes"), "* filter=e\n");
    write(&sub.join("inner.txt"), "INNER\n");
    bed.sh(tree.path(), "git -c core.fsmonitor=false status >/dev/null 2>&1 || true");
    assert!(bed.home.join("SPRUNG").exists(), "git itself springs it");
    std::fs::remove_file(bed.home.join("SPRUNG")).unwrap();
    bed.use_all(&tree, "dandori/a");
    let StageAnswer::Refused { findings } = tree.stage(FORBIDDEN).unwrap() else { panic!() };
    assert_eq!(findings, [Finding::NestedRepository { path: "sub".into() }]);
    let kept = bed.repo.reference("refs/dandori/preserved/dandori-a").unwrap().unwrap();
    let files = bed.sh(&bed.clone_path(), &format!("git ls-tree -r --name-only {} sub", kept.as_str()));
    assert_eq!(files, "sub/.gitattributes\nsub/inner.txt", "what is in it is kept as files");
}

#[test]
fn hooks_do_not_run() {
    let bed = Bed::new();
    let trap = bed.trap();
    for hook in ["post-checkout", "pre-commit", "post-commit", "pre-push", "reference-transaction", "post-index-change"]
    {
        bed.sh(&bed.clone_path(), &format!("cp {trap} .git/hooks/{hook}"));
    }
    let tree = bed.tree("a");
    bed.assert_not_sprung("add_worktree");
    write(&tree.path().join("README.md"), "edited\n");
    bed.use_all(&tree, "dandori/a");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    tree.push(&oid, "dandori/a").unwrap();
    bed.repo.fetch().unwrap();
    bed.repo.remove_worktree(tree.path(), &bed.trash(), Some("dandori/a")).unwrap();
    bed.assert_not_sprung("something");
}

#[test]
fn attributes_choose_no_program_for_diffs() {
    let bed = Bed::new();
    let trap = bed.trap();
    bed.sh(&bed.home, &format!("git config --global diff.evil.textconv {trap} && git config --global diff.evil.command {trap} && git config --global diff.external {trap}"));
    write(&bed.clone_path().join(".git/info/attributes"), "* diff=evil\n");
    let tree = bed.tree("a");
    write(&tree.path().join(".gitattributes"), "* diff=evil\n");
    write(&tree.path().join("README.md"), "edited\n");
    bed.sh(tree.path(), "git diff >/dev/null 2>&1 || true");
    assert!(bed.home.join("SPRUNG").exists(), "git itself springs it");
    std::fs::remove_file(bed.home.join("SPRUNG")).unwrap();
    bed.use_all(&tree, "dandori/a");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    bed.repo.diff_between(&bed.base(), &oid).unwrap();
    bed.repo.patch_between(&bed.base(), &oid).unwrap();
    bed.assert_not_sprung("a diff");
}

#[test]
fn the_users_own_filters_stay_in_force() {
    let bed = Bed::new();
    bed.sh(
        &bed.home,
        "git config --global filter.rot.clean 'tr a-z b-za' && git config --global filter.rot.smudge 'tr b-za a-z'",
    );
    let tree = bed.tree("a");
    write(&tree.path().join(".gitattributes"), "secret.txt filter=rot\n");
    write(&tree.path().join("secret.txt"), "abc\n");
    let oid = Bed::commit_all(&tree, "dandori/a", "x\n");
    assert_eq!(bed.sh(&bed.clone_path(), &format!("git cat-file -p {}:secret.txt", oid.as_str())), "bcd");
}

#[test]
fn commits_head_and_configuration_of_an_agents_own_are_found() {
    let bed = Bed::new();
    let tree = bed.tree("a");
    let before = tree.exec_config_fingerprint().unwrap();
    write(&tree.path().join("README.md"), "by the agent\n");
    bed.sh(tree.path(), "git commit -qam sneaky");
    let found = bed.sh(tree.path(), "git rev-parse HEAD");
    assert_eq!(
        tree.findings("dandori/a", &bed.base()).unwrap(),
        [Finding::BranchMoved { expected: bed.base().as_str().to_owned(), found: found.clone() }]
    );
    bed.sh(tree.path(), "git checkout -q --detach HEAD~1");
    let findings = tree.findings("dandori/a", &bed.base()).unwrap();
    assert!(matches!(findings.as_slice(), [Finding::HeadMoved { .. }, Finding::BranchMoved { .. }]), "{findings:?}");
    // Work on both the branch it left and in the files is kept.
    write(&tree.path().join("src/file1.txt"), "edited\n");
    let kept = bed.repo.preserve(&tree, Some("dandori/a"), "refs/dandori/preserved/a", "kept", at(1)).unwrap().unwrap();
    assert!(bed.repo.is_ancestor(&dandori_domain::Oid::new(found), &kept).unwrap());

    assert_eq!(before.changed(&tree.exec_config_fingerprint().unwrap()), None);
    bed.sh(tree.path(), "git config core.fsmonitor evil");
    assert_eq!(before.changed(&tree.exec_config_fingerprint().unwrap()).as_deref(), Some("core.fsmonitor"));
    bed.sh(tree.path(), "git config --unset core.fsmonitor && touch ../../../clone/.git/hooks/pre-commit");
    assert_eq!(before.changed(&tree.exec_config_fingerprint().unwrap()).as_deref(), Some("hooks/pre-commit"));

    std::fs::remove_dir_all(tree.path()).unwrap();
    assert_eq!(
        tree.findings("dandori/a", &bed.base()).unwrap(),
        [Finding::WorktreeMissing { path: tree.path().to_owned() }]
    );
    assert!(!read(&bed.clone_path().join("README.md")).contains("agent"));
}
