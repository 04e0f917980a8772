use serde_json::json;

use crate::judge::Outcome;
use crate::rules::Constraints;
use crate::stage::Stage;
use crate::{Client, Level};
use dandori_text::Lang;

fn run() -> Stage {
    let mut stage = Stage::only("constraints", Level::Block)
        .file(".git/config", "")
        .file(".env", "")
        .file("protected.txt", "")
        .file("src/a.rs", "");
    stage.rules.constraints = Some(Constraints::default());
    stage
}

#[test]
fn a_run_moves_no_branch_and_makes_no_commit() {
    for line in [
        "git commit -m x",
        "git commit --no-verify -am x",
        "git push",
        "env X=1 git -C . push origin HEAD",
        "bash -c \"git push\"",
        "/usr/bin/git push",
        "git -c user.name=x commit -m x",
        "git checkout main",
        "git checkout -- src/a.rs",
        "git restore src/a.rs",
        "git switch -c x",
        "git reset --hard",
        "git reset --har HEAD",
        "git reset $MODE",
        "git reset --soft HEAD~1",
        "git reset HEAD^",
        "git rebase main",
        "git merge x",
        "git pull",
        "git cherry-pick abc",
        "git revert HEAD",
        "git am < x.patch",
        "git stash",
        "git stash pop",
        "git tag v1",
        "git update-ref refs/heads/main abc",
        "git symbolic-ref HEAD refs/heads/x",
        "git branch -D x",
        "git branch -f main HEAD",
        "git branch -m y",
        "git worktree add ../x",
        "git fetch origin main:main",
        "git commit-tree HEAD^{tree} -m x",
        "git remote set-url origin x",
        "gh pr create --fill",
        "gh pr merge 1",
        "gh api repos/o/r/git/refs -f ref=x",
        "git filter-branch --all",
    ] {
        assert_eq!(run().bash(line).outcome(), Outcome::Block, "{line}");
    }
}

#[test]
fn reading_git_and_editing_files_stay_free() {
    for line in [
        "git status --short",
        "git log --oneline -5",
        "git diff HEAD",
        "git show HEAD:src/a.rs",
        "git blame src/a.rs",
        "git branch --show-current",
        "git branch -a",
        "git tag --list",
        "git stash list",
        "git worktree list",
        "git fetch origin",
        "git fetch origin '+refs/heads/*:refs/remotes/origin/*'",
        "git add -A",
        "git reset",
        "git reset src/a.rs",
        "git remote -v",
        "git commit --dry-run",
        "git help push",
        "git grep push",
        "echo 'git push'",
        "gh pr view 1",
        "gh api repos/o/r/pulls/1/comments",
        "cat src/a.rs",
        "sed -i s/a/b/ src/a.rs",
        "rg -l foo | xargs sed -i s/foo/bar/",
        "tmp=$(mktemp -d) && cp -r src \"$tmp\"",
        "cat .gitignore",
        "cat .env.example",
        "rm -rf target",
        "tar -xzf a.tgz",
    ] {
        let mut stage = run();
        if line.starts_with("tar") {
            // An archive may bring any file; `.env` is not in a run's worktree unless it is tracked.
            stage.rules.constraints = Some(Constraints { paths: vec![".git".into()], ..Constraints::default() });
        }
        let judged = stage.bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
}

#[test]
fn what_agents_are_told_not_to_run_is_refused() {
    use dandori_domain::constraint::{FORBIDDEN_GIT, FORBIDDEN_GIT_TOO};
    for command in FORBIDDEN_GIT.iter().chain(FORBIDDEN_GIT_TOO) {
        let rest = if *command == "worktree" { " add ../x" } else { " x" };
        assert_eq!(run().bash(&format!("git {command}{rest}")).outcome(), Outcome::Block, "{command}");
    }
    for path in dandori_domain::paths::FORBIDDEN {
        let name = path.replace('*', "x");
        assert_eq!(run().write(&name, "x").outcome(), Outcome::Block, "{path}");
        assert_eq!(run().read(&name).outcome(), Outcome::Block, "{path}");
    }
}

#[test]
fn forbidden_files_are_out_of_reach_for_every_tool() {
    for line in ["cat .git/config", "echo x > .git/hooks/pre-commit", "git config user.name x", "rm -rf .", "cat .env"]
    {
        assert_eq!(run().bash(line).outcome(), Outcome::Block, "{line}");
    }
    assert_eq!(run().read(".git/HEAD").outcome(), Outcome::Block);
    assert_eq!(run().write("server.key", "x").outcome(), Outcome::Block);
    assert_eq!(run().edit(".env", "a", "b").outcome(), Outcome::Block);
    assert_eq!(run().tool("Grep", &json!({"pattern": "x", "path": "/repo/.git"})).outcome(), Outcome::Block);
    assert_eq!(run().edit("src/a.rs", "a", "b").outcome(), Outcome::Pass);
    assert_eq!(run().read("src/a.rs").outcome(), Outcome::Pass);
}

#[test]
fn what_may_be_a_forbidden_file_is_asked() {
    let mut stage = run();
    stage.rules.constraints = Some(Constraints { paths: vec!["protected.txt".into()], ..Constraints::default() });
    for line in ["echo x > \"$UNKNOWN\"", "ls *.txt | xargs rm", "tar xf a.tar", "patch -p1 < x.diff"] {
        assert!(stage.bash(line).outcome() >= Outcome::Ask, "{line}");
    }
    assert_eq!(stage.bash("rm *.txt").outcome(), Outcome::Block);
    assert_eq!(stage.bash("echo x > \"$DIR/notes.md\"").outcome(), Outcome::Pass);
}

#[test]
fn outside_a_run_it_has_nothing_to_say() {
    let mut stage = run();
    stage.rules.constraints = None;
    assert_eq!(stage.bash("git push && cat .env").outcome(), Outcome::Pass);
}

#[test]
fn the_other_clients_shells_are_the_same_and_it_speaks_both_languages() {
    let mut codex = run();
    codex.agent = Client::Codex;
    assert_eq!(codex.tool("Bash", &json!({"command": "git push"})).outcome(), Outcome::Block);
    let mut gemini = run();
    gemini.agent = Client::Gemini;
    let push = json!({"tool_name": "run_shell_command", "tool_input": {"command": "git push"}});
    assert_eq!(gemini.event("BeforeTool", &push).outcome(), Outcome::Block);
    assert!(run().bash("git push").said().contains("dandori commits, pushes"));
    assert!(run().lang(Lang::Ja).bash("git checkout -- a").said().contains("編集ツール"));
}

#[test]
fn a_run_that_may_only_read_changes_nothing_in_its_worktree_by_any_tool() {
    let reads = || {
        let mut stage = run();
        stage.rules.constraints = Some(Constraints { read_only: vec!["/repo".into()], ..Constraints::default() });
        stage
    };
    assert_eq!(reads().write("src/b.rs", "x").outcome(), Outcome::Block);
    assert_eq!(reads().write("/repo/src/a.rs", "x").outcome(), Outcome::Block);
    assert_eq!(reads().edit("src/a.rs", "a", "b").outcome(), Outcome::Block);
    let lines =
        ["echo x > new.txt", "sed -i s/a/b/ src/a.rs", "rm src/a.rs", "rm -rf ..", "mkdir x", "mv src/a.rs /tmp/x"];
    for line in lines.into_iter().chain(["cp /tmp/x src/a.rs", "cd src && touch b.rs", "tee a < /tmp/x"]) {
        let judged = reads().bash(line);
        assert_eq!(judged.outcome(), Outcome::Block, "{line}: {}", judged.said());
        assert_eq!(run().bash(line).outcome(), Outcome::Pass, "{line}: in another run it is work");
    }
    let mut codex = reads();
    codex.agent = Client::Codex;
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch";
    assert_eq!(codex.tool("apply_patch", &json!({ "command": patch })).outcome(), Outcome::Block);
    for line in ["cat src/a.rs", "git log -3", "rg x > /tmp/found", "cargo metadata 2> /dev/null", "ls -A | tee /tmp/y"]
    {
        let judged = reads().bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
    assert_eq!(reads().read("src/a.rs").outcome(), Outcome::Pass);
    assert_eq!(reads().write("/tmp/notes.md", "x").outcome(), Outcome::Pass);
    let said = reads().edit("src/a.rs", "a", "b").said();
    assert!(said.contains("this run may only read") && said.contains("src/a.rs"), "{said}");
    assert!(reads().lang(Lang::Ja).write("src/b.rs", "x").said().contains("読み取りしかできない"));
}
