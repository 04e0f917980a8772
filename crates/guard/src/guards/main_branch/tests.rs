use dandori_domain::guard::{Level, Profile};
use dandori_text::Lang;
use serde_json::json;

use crate::judge::Outcome;
use crate::rules::MainWhat;
use crate::stage::Stage;
use crate::world::Head;

fn stage() -> Stage {
    Stage::only("main-branch", Level::Block)
}

/// A clone of a repository on this machine, as `git clone` leaves it.
const CLONED: &str = "[remote \"origin\"]\n\turl = /srv/o.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
    [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

fn branch_only() -> Stage {
    let mut stage = stage().file(".git/config", CLONED);
    stage.rules.main.what = MainWhat::Branch;
    stage
}

#[test]
fn a_line_that_moves_the_main_branch_is_refused_and_others_pass() {
    for (branch, line, refused) in [
        ("main", "git commit -m x", true),
        ("main", "git -c a.b=c -C . commit -m x", true),
        ("main", "env A=1 bash -c 'git commit -m x'", true),
        ("main", "git merge feature", true),
        ("main", "git push", true),
        ("main", "git push origin HEAD", true),
        ("work", "git push origin HEAD:main", true),
        ("work", "git push origin work:refs/heads/main", true),
        ("work", "git push origin +main", true),
        ("work", "git push --all", true),
        ("work", "git branch -f main HEAD", true),
        ("work", "git branch -D master", true),
        ("work", "git update-ref refs/heads/main abc", true),
        ("work", "git checkout main && git commit -m x", true),
        ("main", "git checkout README.md && git commit -m x", true),
        ("main", "git checkout $x && git commit -m x", true),
        ("main", "git checkout other && git commit -m x", false),
        ("main", "git switch packed && git commit -m x", false),
        ("work", "git checkout -B main", true),
        ("work", "git commit -m 'git push origin main'", false),
        ("work", "git push origin work", false),
        ("work", "git push -u origin HEAD", false),
        ("work", "git push", false),
        ("main", "git status", false),
        ("main", "git log --oneline", false),
        ("main", "git pull --ff-only", false),
        ("main", "git switch -c work", false),
        ("main", "git switch -c work && git add -A && git commit -m x && git push -u origin work", false),
        ("main", "git checkout -b work origin/main && git commit -m x", false),
        ("main", "git commit --dry-run", false),
        ("main", "git push --dry-run", false),
        ("main", "git merge --abort", false),
        ("main", "git branch -d old", false),
        ("work", "git branch -D old", false),
        ("maintenance", "git commit -m x", false),
        ("main", "echo 'git commit' > notes.txt", false),
        ("work", "cd /tmp && mkdir r && cd r && git init -q && git branch -M main", false),
        (
            "work",
            "git init -q -b main /tmp/r && cd /tmp/r && git commit -m a && git checkout -b x && git checkout main && git merge x",
            false,
        ),
        ("work", "git init -q sub && git -C sub checkout -b main && git -C sub commit --allow-empty -m x", false),
        ("work", "git init -q --bare /tmp/r.git && git push /tmp/r.git HEAD:main", false),
        ("work", "git init -q --bare ../r.git && git push ../r.git main", false),
        ("work", "git init -q --bare /tmp/r.git && git push origin HEAD:main", true),
        ("work", "git push /tmp/r.git HEAD:main", true),
        ("work", "git init /repo && git push /repo HEAD:main", true),
        ("main", "git init && git commit -m x", true),
        ("main", "git init /tmp/r && git commit -m x", true),
        ("work", "git init /tmp/r && cd /tmp/r && git push https://example.com/r HEAD:main", true),
        ("main", "git init /tmp/r && git -C /repo commit -m x", true),
        ("work", "git checkout -q main -- && git commit -m x", true),
        ("main", "git checkout other -- README.md && git commit -m x", true),
        ("main", "git switch -c x; git switch -; git commit -m x", true),
        ("work", "git worktree add ../m main && git -C ../m commit -m x", true),
        ("work", "git worktree add ../m -b new main && git -C ../m commit -m x", false),
        ("work", "git push --dry-run --no-dry-run origin main", true),
        ("work", "git push --no-dry-run --dry-run origin main", false),
        ("work", "git -c remote.origin.mirror=true push", true),
        ("work", "git config remote.origin.push '+refs/heads/*:refs/heads/*' && git push", true),
        ("work", "git branch -u origin/main && git -c push.default=upstream push", true),
        ("work", "git branch -u origin/main && git push", false),
        ("work", "git config branch.work.merge refs/heads/main && git -c push.default=upstream push", true),
        ("work", "git checkout -b zz --track origin/main && git config push.default upstream && git push", true),
        ("work", "git checkout -b zz --track origin/dev && git config push.default upstream && git push", false),
        ("main", "git reset HEAD~1", true),
        ("main", "git reset --soft work", true),
        ("main", "git reset --hard HEAD~1", true),
        ("main", "git reset HEAD~1 --", true),
        ("main", "git reset $commit", true),
        ("main", "git reset", false),
        ("main", "git reset --hard", false),
        ("main", "git reset HEAD", false),
        ("main", "git reset HEAD~1 -- README.md", false),
        ("main", "git reset HEAD~1 README.md", false),
        ("main", "git reset README.md", false),
        ("main", "git reset '*.rs'", false),
        ("main", "git reset -p work", false),
        ("main", "git reset --hard origin/main", false),
        ("main", "git reset --soft @{u}", false),
        ("main", "git checkout --detach && git reset --hard HEAD~1", false),
        ("work", "git reset --hard HEAD~1", false),
        ("work", "git symbolic-ref HEAD refs/heads/main && git reset --soft work", true),
        ("work", "git symbolic-ref refs/heads/main refs/heads/work", true),
        ("work", "git symbolic-ref HEAD", false),
        ("main", "git pull", false),
        ("main", "git pull --rebase origin main", false),
        ("main", "git pull origin", false),
        ("main", "git pull origin work", true),
        ("main", "git pull . work", true),
        ("main", "git pull ../clone", true),
        ("main", "git pull ../clone main", true),
        ("work", "git pull origin main", false),
        ("work", "git pull origin work:main", true),
        ("main", "git fetch -u . work:main", true),
        ("work", "git fetch . work:main", true),
        ("work", "git fetch . +work:heads/main", true),
        ("work", "git fetch ../clone main:main", true),
        ("work", "git fetch . work:refs/remotes/origin/main", true),
        ("work", "git fetch --stdin . <<< work:main", true),
        ("work", "git fetch origin main:main", false),
        ("work", "git fetch origin main", false),
        ("work", "git fetch origin '+refs/heads/*:refs/remotes/origin/*'", false),
        ("work", "git fetch origin main:refs/remotes/origin/main", false),
        ("work", "git fetch origin work:work", false),
        ("work", "git fetch --refmap='+refs/heads/*:refs/heads/*' origin feature/x", true),
        ("work", "git fetch --refmap refs/heads/feature/x:refs/heads/main origin feature/x", true),
        ("work", "git fetch --refm=+refs/heads/x:main origin x", true),
        ("work", "git -c remote.origin.fetch='+refs/heads/*:refs/heads/*' fetch origin", true),
        ("work", "git -c remote.origin.fetch='+refs/heads/x:refs/heads/main' fetch origin x", true),
        ("work", "git -c remote.origin.fetch='+refs/heads/x:refs/remotes/origin/main' fetch origin x", true),
        ("work", "git fetch --refmap= origin x", false),
        ("work", "git fetch --refmap='+refs/heads/*:refs/remotes/origin/*' origin x", false),
        ("work", "git -c remote.origin.fetch='+refs/heads/*:refs/remotes/origin/*' fetch origin x", false),
        ("work", "git -c remote.origin.fetch='+refs/heads/x:refs/heads/main' fetch origin y", false),
        ("work", "git remote add up https://example.com/r && git fetch up main", false),
        ("main", "git update-ref HEAD work", true),
        ("main", "git update-ref -m why HEAD work", true),
        ("work", "git update-ref HEAD main", false),
        ("work", "git update-ref refs/heads/copy refs/heads/main", false),
        ("work", "git update-ref -m why refs/heads/main work", true),
        ("work", "git update-ref --stdin", true),
        ("work", "git fast-import < dump", true),
        ("work", "git branch -C work main", true),
        ("work", "git branch -c main copy", false),
        ("work", "git branch -f copy main", false),
        ("work", "git branch -fq main HEAD~3", true),
        ("main", "git branch -m other-name", true),
        ("work", "git branch -m better-name", false),
        ("work", "git branch -u work main", true),
        ("work", "git branch -u origin/main main", false),
        ("work", "git branch --set-upstream-to=origin/main", false),
        ("work", "git branch --sort=-committerdate --format='%(refname)' main", false),
        ("work", "git worktree add -B main ../x work", true),
        ("work", "git worktree add -Bmain ../x work", true),
        ("work", "git worktree add -b other2 ../x main", false),
        ("work", "git checkout -Bmain", true),
        ("work", "git switch --force-create=main", true),
        ("work", "git switch --force-c main", true),
        ("work", "git switch --force main", false),
        ("work", "git rebase work main", true),
        ("work", "git rebase --onto work main~2 main", true),
        ("work", "git rebase main", false),
        ("work", "git rebase main work", false),
        ("work", "git rebase --onto main work~2", false),
        ("main", "git push origin :", true),
        ("work", "git push origin :", true),
        ("work", "git push origin +:", true),
        ("work", "git push origin 'refs/heads/*:refs/heads/*'", true),
        ("work", "git push origin 'refs/heads/m*'", true),
        ("work", "git push origin work:heads/main", true),
        ("work", "git push origin @:main", true),
        ("main", "git push origin @", true),
        ("work", "git push -o ci.skip origin HEAD:main", true),
        ("main", "git push origin \"$(git branch --show-current)\"", true),
        ("work", "git push -u origin \"$(git branch --show-current)\"", false),
        ("work", "git -c push.default=matching push", true),
        ("work", "git push origin 'refs/tags/*'", false),
        ("main", "git push --tags", false),
        ("main", "git push origin --tags", false),
        ("main", "git push --tags origin main", true),
        ("main", "git push --follow-tags", true),
        ("main", "git push origin v1.0", false),
        ("work", "git send-pack ../o.git main", true),
        ("work", "git send-pack ../o.git work:main", true),
        ("work", "git send-pack ../o.git", true),
        ("work", "git send-pack ../o.git work", false),
        ("work", "git subtree push --prefix src origin main", true),
        ("work", "git subtree push --prefix src origin part", false),
        ("main", "git subtree pull --prefix src ../lib main", true),
        ("main", "git merge --ff-only origin/main", false),
        ("main", "git merge", false),
        ("main", "git merge other/main", true),
        ("main", "git fetch origin && git merge FETCH_HEAD", false),
        ("main", "git fetch origin work && git merge FETCH_HEAD", true),
        ("work", "git filter-branch --msg-filter cat -- main", true),
        // What looks like an option may be the value of another.
        ("main", "git commit -am --abort", true),
        ("main", "git commit -m --dry-run", true),
        ("main", "git commit --mess --dry-run", true),
        ("main", "git commit --abort", true),
        ("main", "git commit -am x -- --dry-run", true),
        ("main", "git commit -C HEAD --dry-run", false),
        ("main", "git commit -m x --dry-run", false),
        ("work", "git push -on origin main", true),
        ("work", "git push -o -n origin main", true),
        ("work", "git push -nu origin main", false),
        ("work", "git push --dry-run --no-dry origin main", true),
        ("main", "git push -o --tags", true),
        ("main", "git merge -m --abort feature", true),
        ("main", "git cherry-pick -X --quit abc", true),
        ("main", "git cherry-pick --abort", false),
        ("main", "git rebase --quit", false),
        ("main", "git am --show-current-patch=diff", false),
    ] {
        let refs = "# pack-refs with: peeled\nabc refs/heads/packed\n";
        let stage = ["main", "other", "other/main"]
            .iter()
            .fold(branch_only(), |s, b| s.file(&format!(".git/refs/heads/{b}"), "abc"));
        let judged = stage.file(".git/packed-refs", refs).file("README.md", "").branch(branch).bash(line);
        assert_eq!(judged.outcome() == Outcome::Block, refused, "on {branch}: {line}: {}", judged.said());
    }
}

#[test]
fn only_what_its_own_remote_has_comes_to_main_by_catching_up() {
    for (line, refused) in [
        ("git pull", false),
        ("git pull --ff-only", false),
        ("git pull origin main", false),
        ("git pull -S origin main", false),
        ("git pull -S origin work", true),
        ("git pull /srv/o.git main", false),
        ("git merge --ff-only origin/main", false),
        ("git merge refs/remotes/origin/main", false),
        ("git merge main@{u}", false),
        ("git fetch && git merge origin/main", false),
        ("git fetch && git merge FETCH_HEAD", false),
        ("git fetch origin main && git merge FETCH_HEAD", false),
        ("git fetch --prune origin && git reset --hard origin/main", false),
        ("git config pull.rebase false && git pull", false),
        ("git config remote.origin.prune true && git pull", false),
        ("git tag v1 && git merge origin/main", false),
        // Another repository.
        ("git remote add e /tmp/evil && git fetch e && git merge e/main", true),
        ("git remote add -f e https://example.org/evil && git merge e/main", true),
        ("git merge e/main", true),
        ("git pull e main", true),
        ("git pull https://example.org/evil main", true),
        ("git fetch https://example.org/evil main && git merge FETCH_HEAD", true),
        ("git fetch e main:main", true),
        // The same name for another.
        ("git remote set-url origin /tmp/evil && git pull", true),
        ("git remote set-url origin /tmp/evil && git fetch && git merge origin/main", true),
        (
            "git remote add e /tmp/evil; git remote remove origin; git remote rename e origin; git pull origin main",
            true,
        ),
        ("git config remote.origin.url /tmp/evil && git pull origin main", true),
        ("git config --replace-all remote.origin.url /tmp/evil o.git && git pull origin main", true),
        ("git config --rename-section remote.e remote.origin; git pull origin main", true),
        ("git -c remote.origin.url=/tmp/evil pull", true),
        ("git -c remote.origin.url=/tmp/evil fetch; git merge origin/main", true),
        ("git -c url./tmp/evil.insteadOf=/srv/o.git pull", true),
        ("git -c include.path=/tmp/evil.cfg pull", true),
        ("git config remote.origin.fetch +refs/heads/work:refs/remotes/origin/main; git fetch", true),
        ("git -c remote.origin.fetch=+refs/heads/work:refs/heads/main fetch", true),
        ("git config branch.main.merge refs/heads/work && git pull", true),
        ("git config branch.main.remote /tmp/evil && git pull", true),
        ("git -c branch.main.remote=. -c branch.main.merge=refs/heads/work merge", true),
        // The same name for something of one's own.
        ("git tag origin/main work; git merge origin/main", true),
        ("git tag -f -m x origin/main work; git merge origin/main", true),
        ("git branch origin/main work; git merge origin/main", true),
        ("git update-ref refs/origin/main work; git merge origin/main", true),
        ("git push . work:refs/tags/origin/main; git merge origin/main", true),
        ("git fetch . 'refs/heads/work*:refs/tags/origin/main*'; git merge origin/main", true),
        ("git tag origin/main work; git merge refs/remotes/origin/main", false),
        ("git merge refs/origin/main", true),
    ] {
        let judged = branch_only().branch("main").bash(line);
        assert_eq!(judged.outcome() == Outcome::Block, refused, "{line}: {}", judged.said());
    }
    for taken in ["refs/tags/origin/main", "refs/heads/origin/main", "refs/origin/main", "origin/main"] {
        let stage = branch_only().branch("main").file(&format!(".git/{taken}"), "abc");
        assert_eq!(stage.bash("git merge origin/main").outcome(), Outcome::Block, "{taken}");
        assert_eq!(stage.bash("git merge remotes/origin/main").outcome(), Outcome::Pass, "{taken}");
    }
    let packed = branch_only().branch("main").file(".git/packed-refs", "abc refs/tags/origin/main\n");
    assert_eq!(packed.bash("git merge origin/main").outcome(), Outcome::Block);
    let bare = stage().branch("main").file(".git/config", "[core]\n\tbare = false\n");
    assert_eq!(bare.bash("git merge origin/main").outcome(), Outcome::Block, "no such remote");
}

#[test]
fn what_was_fetched_before_is_merged_into_main_only_when_it_is_main() {
    let stage = |fetched: &str| {
        let more = "[remote \"hub\"]\n\turl = https://me:secret@example.org/r.git/\n[remote \"ssh\"]\n\turl = git@example.org:o/r.git\n";
        branch_only().branch("main").file(".git/config", &format!("{CLONED}{more}")).file(".git/FETCH_HEAD", fetched)
    };
    for (fetched, passes) in [
        ("abc\t\tbranch 'main' of https://example.org/r\ndef\tnot-for-merge\tbranch 'x' of r\n", true),
        ("abc\t\tbranch 'main' of /srv/o\n", true),
        ("abc\t\tbranch 'main' of example.org:o/r\n", true),
        ("abc\t\tbranch 'work' of https://example.org/r\n", false),
        ("abc\t\tbranch 'main' of .\n", false),
        ("abc\t\tbranch 'main' of ../evil\n", false),
        ("abc\t\tbranch 'main' of https://example.org/evil\n", false),
        ("abc\t\tbranch 'main' of /srv/o\ndef\t\tbranch 'main' of /tmp/evil\n", false),
        ("abc\tnot-for-merge\tbranch 'main' of /srv/o\n", false),
        ("", false),
    ] {
        let judged = stage(fetched).bash("git merge FETCH_HEAD");
        assert_eq!(judged.outcome() == Outcome::Pass, passes, "{fetched}");
    }
    let none = branch_only().branch("main").bash("git merge FETCH_HEAD");
    assert_eq!(none.outcome(), Outcome::Block, "nothing is known of it");
}

#[test]
fn a_branch_that_is_there_is_not_made_and_main_is_not_left() {
    for (line, refused) in [
        ("git switch -c there; git commit -m x", true),
        ("git checkout -b there; git commit -m x", true),
        ("git switch -C there; git commit -m x", false),
        ("git checkout -B there && git commit -m x", false),
        ("git switch -c there || git switch there; git commit -m x", false),
        ("git branch -D there; git switch -c there; git commit -m x", false),
        ("git branch new; git switch -c new; git commit -m x", true),
        ("git branch new && git switch new && git commit -m x", false),
        ("git tag new && git switch new; git commit -m x", true),
        ("git switch -c new && git commit -m x", false),
    ] {
        let stage = branch_only().branch("main").file(".git/refs/heads/there", "abc");
        let judged = stage.bash(line);
        assert_eq!(judged.outcome() == Outcome::Block, refused, "{line}: {}", judged.said());
    }
}

#[test]
fn the_whole_folder_is_named_by_a_dot() {
    let said = stage().branch("main").bash("git reset --hard").said();
    assert!(
        said.contains(" . must not be edited on the branch main") || said.starts_with(". must not be edited"),
        "{said}"
    );
}

#[test]
fn an_edit_on_main_is_refused_only_where_edits_are_kept_off_it() {
    assert_eq!(stage().branch("main").write("a.rs", "").outcome(), Outcome::Block);
    assert_eq!(stage().branch("master").bash("echo x > a.rs").outcome(), Outcome::Block);
    assert_eq!(stage().branch("main").bash("sed -i s/a/b/ a.rs").outcome(), Outcome::Block);
    assert_eq!(stage().branch("work").write("a.rs", "").outcome(), Outcome::Pass);
    assert_eq!(branch_only().branch("main").write("a.rs", "").outcome(), Outcome::Pass);
    assert_eq!(stage().branch("main").bash("cat a.rs 2>/dev/null").outcome(), Outcome::Pass);
    assert_eq!(stage().branch("main").bash("git switch -c x && echo x > a.rs").outcome(), Outcome::Pass, "left it");
    assert_eq!(stage().branch("main").bash("echo x > /tmp/a").outcome(), Outcome::Pass, "outside any checkout");
    assert_eq!(stage().branch("main").read("a.rs").outcome(), Outcome::Pass);
}

#[test]
fn the_target_s_own_checkout_counts_not_where_the_agent_stands() {
    let two =
        |here: &str, there: &str| stage().branch(here).worktree("/wt", Some("/repo"), Head::Branch(there.to_owned()));
    let write = |stage: &Stage| stage.tool("Write", &json!({"file_path": "/wt/a.rs", "content": ""})).outcome();
    assert_eq!(write(&two("main", "work")), Outcome::Pass);
    assert_eq!(write(&two("work", "main")), Outcome::Block);
    assert_eq!(two("work", "main").bash("git -C /wt commit -m x").outcome(), Outcome::Block);
    assert_eq!(two("main", "work").bash("cd /wt && git commit -m x").outcome(), Outcome::Pass);
    assert_eq!(
        two("main", "work").link("link", "/wt").write("link/a.rs", "").outcome(),
        Outcome::Pass,
        "through a link"
    );
    let other = stage().worktree("/other", None, Head::Branch("main".to_owned()));
    assert_eq!(other.bash_in("/other", "git commit -m x").outcome(), Outcome::Block, "another repository's main");
}

#[test]
fn a_branch_without_a_commit_and_a_detached_head_have_nothing_to_protect() {
    for head in [Head::Unborn("main".to_owned()), Head::Detached] {
        assert_eq!(stage().head(head.clone()).write("a.rs", "").outcome(), Outcome::Pass);
        assert_eq!(stage().head(head).bash("git commit -m first").outcome(), Outcome::Pass);
    }
}

#[test]
fn with_the_seed_s_setting_only_the_workspace_is_kept() {
    let with_focus = |focus: &str| {
        let mut stage = stage().branch("main").file("state.md", &format!("---\nfocus: {focus}\n---\n"));
        stage.rules.main.only_workspace = true;
        stage
    };
    assert_eq!(with_focus("workspace").write("a.rs", "").outcome(), Outcome::Block);
    assert_eq!(with_focus("setup").write("a.rs", "").outcome(), Outcome::Pass);
    let unreadable = with_focus("setup").unreadable("state.md");
    assert_eq!(unreadable.write("a.rs", "").outcome(), Outcome::Error, "and this guard fails closed");
    assert!(matches!(unreadable.write("a.rs", "").ruling.verdict, crate::Permission::Block { .. }));
}

#[test]
fn the_way_out_is_said_in_both_languages() {
    let said = |lang| stage().lang(lang).branch("main").write("a.rs", "").said();
    assert!(said(Lang::En).contains("git switch -c"), "{}", said(Lang::En));
    assert!(said(Lang::Ja).contains("git switch -c") && said(Lang::Ja).contains("ブランチ"));
}

#[test]
fn in_the_safety_profile_the_first_edit_of_a_plain_repository_passes() {
    assert_eq!(Stage::new(Profile::Safety).branch("main").write("README.md", "# hi").outcome(), Outcome::Pass);
}

#[test]
fn going_back_and_another_git_folder_are_looked_up() {
    let log = "a b N <e> 1 +0000\tcheckout: moving from main to work\na b N <e> 1 +0000\tcommit: x\n";
    let back = branch_only().file(".git/logs/HEAD", log);
    assert_eq!(back.bash("git checkout - && git commit -m x").outcome(), Outcome::Block);
    let other = branch_only().file(".git/logs/HEAD", &log.replace("from main", "from dev"));
    assert_eq!(other.bash("git checkout - && git commit -m x").outcome(), Outcome::Pass);
    let worktree = || {
        branch_only()
            .file(".git/worktrees/m/HEAD", "ref: refs/heads/main\n")
            .file("/m/.git", "gitdir: /repo/.git/worktrees/m\n")
    };
    for line in [
        "git --git-dir=.git/worktrees/m --work-tree=/m commit -m x",
        "git --git-dir .git/worktrees/m commit -m x",
        "GIT_DIR=.git/worktrees/m git commit -m x",
        "GIT_DIR=/m/.git git commit -m x",
        "export GIT_DIR=/m/.git; git commit -m x",
        "GIT_DIR=/m/.git; export GIT_DIR; git commit -m x",
    ] {
        assert_eq!(worktree().bash(line).outcome(), Outcome::Block, "{line}");
    }
    let settings = "[push]\n\tdefault = upstream\n[branch \"work\"]\n\tmerge = refs/heads/main\n";
    assert_eq!(branch_only().file(".git/config", settings).bash("git push").outcome(), Outcome::Block);
}

#[test]
fn where_a_bare_push_goes_is_asked_of_all_of_git_s_settings() {
    let of_user = "/home/user/.gitconfig";
    for (file, text, refused) in [
        (".git/config", "[remote \"origin\"]\n\tpush = work:main\n\tpush = work\n", true),
        (".git/config", "[remote \"origin\"]\n\tpush = work\n\tpush = work:main\n", true),
        (".git/config", "[remote \"origin\"]\n\tpush = work\n", false),
        (".git/config", "[remote \"origin\"]\n\tmirror = yes\n", true),
        (".git/config", "[remote \"origin\"]\n\tmirror = false\n", false),
        (".git/config", "[branch \"work\"]\n\tpushRemote = o\n[remote \"o\"]\n\tpush = work:main\n", true),
        (".git/config", "[branch \"work\"]\n\tremote = o\n[remote \"o\"]\n\tpush = work:main\n", true),
        (".git/config", "[branch \"work\"]\n\tremote = o\n[remote \"origin\"]\n\tpush = work:main\n", false),
        (".git/config", "[remote]\n\tpushDefault = o\n[remote \"o\"]\n\tmirror\n", true),
        (".git/config.worktree", "[push]\n\tdefault = matching\n", true),
        (of_user, "[push]\n\tdefault = matching\n", true),
        (of_user, "[push]\n\tdefault = current\n", false),
        (of_user, "[include]\n\tpath = ~/more\n", true),
    ] {
        let stage = branch_only().file("/home/user/more", "[push]\n\tdefault = matching\n").file(file, text);
        let judged = stage.bash("git push");
        assert_eq!(judged.outcome() == Outcome::Block, refused, "{file}: {text}: {}", judged.said());
    }
    let twice = "git config --add remote.origin.push work:main; git config --add remote.origin.push work; git push";
    assert_eq!(branch_only().bash(twice).outcome(), Outcome::Block);
}
