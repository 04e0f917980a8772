use dandori_domain::guard::Profile;

use crate::judge::Outcome;
use crate::stage::Stage;

fn stage() -> Stage {
    Stage::new(Profile::Safety)
        .file(".git/config", "[core]\n\tbare = false\n[alias]\n\tpp = push -f ; force\n\tgone = \"!rm -rf \\\"$HOME\\\"\"\n")
        .file("/home/user/.gitconfig", "[include]\n\tpath = more\n[Alias]\n  st = status -s\n  Top = pp\n  ci = commit \\\n -q\n")
        .file("/home/user/more", "[alias] hard = reset '--hard' HEAD~1\n")
        .file("/home/user/.config/git/config", "[alias]\n\tf = \"!f() { git push --force \\\"$@\\\"; }; f\"\n")
        .file(
            "/home/user/.config/gh/config.yml",
            "prompt: enabled\naliases:\n    now: pr merge --admin $1\n    bye: '!rm -rf \"$HOME\"'\n    co: pr checkout\n    two: |-\n        !echo a\n        gh pr merge --auto \"$1\"\neditor:\n",
        )
}

#[test]
fn an_alias_of_the_configuration_is_judged_as_what_it_stands_for() {
    for line in [
        "git pp",
        "git -C . PP origin main",
        "git gone",
        "git top",
        "git hard",
        "git f origin topic",
        "cd src && git pp",
        "env git pp",
        "gh now 12",
        "gh bye",
        "gh two 3",
        "gh alias set z 'pr merge --admin' && gh z 1",
        "gh alias set -s z 'rm -rf ~'; gh z",
    ] {
        let judged = stage().bash(line);
        assert!(judged.outcome() >= Outcome::Ask, "{line}: {}", judged.said());
    }
    for line in ["git st", "git ci -m x", "git lfs pull", "git status", "gh co 3", "gh pr view 3", "gh dash"] {
        let judged = stage().bash(line);
        assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
    }
}

#[test]
fn the_aliases_are_those_of_the_checkout_the_command_runs_in() {
    let stage = Stage::new(Profile::Safety)
        .worktree("/other", None, crate::world::Head::Branch("x".to_owned()))
        .file("/other/.git/config", "[alias]\npp = push -f\n");
    assert_eq!(stage.bash("git -C /other pp").outcome(), Outcome::Block);
    assert_eq!(stage.bash("cd /other && git pp").outcome(), Outcome::Block);
    assert_eq!(stage.bash("git pp").outcome(), Outcome::Pass);
}

#[test]
fn a_file_that_cannot_be_read_or_includes_itself_stops_nothing() {
    let stage = Stage::new(Profile::Safety)
        .unreadable(".git/config")
        .file("/home/user/.gitconfig", "[include]\npath = .gitconfig\n[");
    assert_eq!(stage.bash("git lfs pull").outcome(), Outcome::Pass);
}
