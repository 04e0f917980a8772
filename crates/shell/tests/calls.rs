//! git's and gh's command lines, taken apart.
#![expect(clippy::unwrap_used, reason = "a test")]

use dandori_shell::{GhCall, GitCall, gh_call, git_call, read};

fn git(line: &str) -> GitCall {
    read(line).commands.iter().find_map(git_call).unwrap()
}

fn gh(line: &str) -> GhCall {
    read(line).commands.iter().find_map(gh_call).unwrap()
}

#[test]
fn git_is_understood_past_its_global_options() {
    for line in [
        "git push",
        "git -C x -c a=b --no-pager push",
        "git-push",
        "/usr/lib/git-core/git-push",
        "git --git-dir .git push",
    ] {
        assert_eq!(git(line).subcommand.text, "push", "{line}");
    }
    assert_eq!(git("git -C ../x status").folder.unwrap().text, "../x");
    assert_eq!(git("git -c a.b=c d").config[0].0, "a.b");
}

#[test]
fn a_forced_push_is_told_from_a_plain_one() {
    for line in [
        "git push --force",
        "git push -f",
        "git push -uf",
        "git push --forc",
        "git push --force-with-lease=x",
        "git push o +main",
        "git push o :main",
        "git push --mirror",
        "git push -d o main",
        "git push origin main --force",
        "git push -f -on origin main",
        "git push -4f origin work",
    ] {
        assert!(git(line).is_forced_push(), "{line}");
    }
    for line in [
        "git push",
        "git push -u origin main",
        "git push origin HEAD:main",
        "git push --follow-tags",
        "git pull --force",
        "git push -o -f",
        "git push -of origin work",
    ] {
        assert!(!git(line).is_forced_push(), "{line}");
    }
}

#[test]
fn the_value_of_an_option_is_no_option() {
    for (line, long, short, has) in [
        ("git commit -m --dry-run", "dry-run", None, false),
        ("git commit -am --dry-run", "dry-run", None, false),
        ("git commit -mx --dry-run", "dry-run", None, true),
        ("git commit --message=x --dry-run", "dry-run", None, true),
        ("git commit --mes --dry-run", "dry-run", None, false),
        ("git commit -uno -m x", "no-verify", Some('n'), false),
        ("git commit -un --no-verify", "no-verify", Some('n'), true),
        ("git commit -nm x", "no-verify", Some('n'), true),
        ("git push -on origin main", "dry-run", Some('n'), false),
        ("git push -o x -n origin main", "dry-run", Some('n'), true),
        ("git push --dry-run --no-dry", "dry-run", Some('n'), false),
        ("git clean -e -n -f", "dry-run", Some('n'), false),
        ("git switch --force main", "force", Some('f'), true),
    ] {
        assert_eq!(git(line).has_option(long, short), has, "{line}");
    }
}

#[test]
fn gh_follows_the_rules_of_cobra() {
    for line in [
        "gh pr merge 1 --admin",
        "gh -R o/r pr merge 1 --admin=true",
        "gh pr -R o/r merge --admin",
        "gh pr merge --admin -sd",
    ] {
        let call = gh(line);
        assert!(call.is(&["pr", "merge"]) && call.has("admin"), "{line}");
    }
    for line in ["gh pr merge -t --admin", "gh pr merge --admin=false", "gh pr merge -- --admin"] {
        assert!(!gh(line).has("admin"), "{line}");
    }
    let call = gh("gh pr new -d -t 'a b' -lx,y --label z --base=main");
    assert!(call.is(&["pr", "create"]) && call.has("draft"));
    assert_eq!(call.value("title").unwrap().text, "a b");
    assert_eq!(call.values("label"), ["x", "y", "z"]);
    assert_eq!(call.value("base").unwrap().text, "main");
    assert_eq!(gh("gh pr list -R o/r").repo.unwrap().text, "o/r");
    assert_eq!(gh("gh api repos/o/r/pulls/1/merge --method put").api_method().unwrap(), "PUT");
    assert_eq!(gh("gh api -X=PUT repos/o/r/pulls/1/merge").api_method().unwrap(), "PUT");
    assert!(!gh("gh pr create -d=false").has("draft") && gh("gh pr merge -dR o/r 1").has("delete-branch"));
    assert_eq!(gh("gh pr view -- -x").operands[0].text, "-x");
    assert_eq!(gh("gh api graphql -f query=x").api_method().unwrap(), "POST");
    assert_eq!(gh("gh api user").api_method().unwrap(), "GET");
}

#[test]
fn a_file_after_an_option_without_a_value_is_read() {
    for line in [
        "od -c f",
        "wc -c f",
        "hexdump -C f",
        "head -c 5 f",
        "cut -d, -f2 f",
        "strings -n 4 f",
        "file f",
        "tail -n 3 f",
    ] {
        let reads: Vec<String> = read(line).reads.into_iter().map(|r| r.path.text).collect();
        assert_eq!(reads, ["f"], "{line}");
    }
}
