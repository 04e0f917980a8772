//! What comes to the main branch comes through a pull request and its gate, never around it.

use dandori_shell::{Command, GhCall, gh_call};

use crate::context::Context;
use crate::voice::{Trouble, Voice};

use super::main_branch;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    use dandori_text::guard::forge;
    for command in context.commands() {
        if let Some(call) = gh_call(command) {
            if call.is(&["pr", "merge"]) {
                for flag in ["auto", "admin"].into_iter().filter(|flag| call.has(flag)) {
                    voice.block(forge::merge_flag(context.lang, flag));
                }
            } else if merges_by_api(&call) {
                voice.block(forge::merge_api(context.lang));
            }
        } else if merges_by_address(command) {
            voice.block(forge::merge_api(context.lang));
        }
    }
    if let Some(main) = main_branch::merged_into(context) {
        voice.block(forge::merge_local(context.lang, &main));
    }
    Ok(())
}

/// `gh api …/pulls/1/merge -X PUT`, `…/merges`, and the mutations of GraphQL.
fn merges_by_api(call: &GhCall) -> bool {
    let Some(method) = call.api_method() else { return false };
    let path = call.operands.first().map(|w| w.text.trim_end_matches('/')).unwrap_or_default();
    let by_path = method == "PUT" && path.contains("/pulls/") && path.ends_with("/merge")
        || method == "POST" && path.starts_with("repos/") && path.ends_with("/merges");
    let by_mutation =
        path == "graphql" && call.flags.iter().filter_map(|(_, value)| value.as_ref()).any(|w| mutates(&w.text));
    by_path || by_mutation
}

fn mutates(text: &str) -> bool {
    ["mergePullRequest", "enablePullRequestAutoMerge", "mergeBranch", "enqueuePullRequest"]
        .iter()
        .any(|name| text.contains(name))
}

/// The same by an address.
fn merges_by_address(command: &Command) -> bool {
    matches!(command.program.as_str(), "curl" | "wget" | "http" | "https" | "xh")
        && command.args().iter().any(|w| {
            w.text.contains("github") && w.text.contains("/pulls/") && w.text.trim_end_matches('/').ends_with("/merge")
        })
        && command.args().iter().any(|w| w.text.to_ascii_uppercase().contains("PUT"))
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Head;
    use dandori_text::Lang;

    fn stage(branch: &str) -> Stage {
        Stage::only("merge", Level::Block)
            .branch(branch)
            .worktree("/trees/m", Some("/repo"), Head::Branch("main".into()))
            .file(".git/config", "[remote \"origin\"]\n\turl = /srv/o.git\n")
            .file(".git/refs/heads/topic", "abc")
    }

    #[test]
    fn nothing_goes_around_the_gate() {
        for line in [
            "gh pr merge 1 --auto",
            "gh pr merge --admin --squash 1",
            "env X=1 gh pr merge -R o/r 1 --squash --auto",
            "bash -c 'gh pr merge 1 --admin'",
            "gh api -X PUT repos/o/r/pulls/1/merge",
            "gh api repos/o/r/pulls/1/merge --method put",
            "gh api repos/o/r/merges -f base=main -f head=x",
            "gh api graphql -f query='mutation { mergePullRequest(input: {}) { clientMutationId } }'",
            "gh api graphql -f query='mutation { enablePullRequestAutoMerge(input: {}) { clientMutationId } }'",
            "curl -X PUT https://api.github.com/repos/o/r/pulls/1/merge",
            "git switch main && git merge topic",
            "git checkout main; git merge --no-ff topic",
            "git -C /trees/m merge topic",
            "cd /trees/m && git merge topic",
        ] {
            assert_eq!(stage("work").bash(line).outcome(), Outcome::Block, "{line}");
        }
        for line in [
            "git merge topic",
            "git merge --squash topic",
            "git merge --continue",
            "git merge origin/topic",
            "git fetch origin topic && git merge FETCH_HEAD",
            "git merge FETCH_HEAD",
            "git merge -m --abort topic",
            "git switch -c topic; git merge other",
        ] {
            assert_eq!(stage("main").bash(line).outcome(), Outcome::Block, "{line}");
        }
    }

    #[test]
    fn a_plain_merge_and_the_other_way_round_pass() {
        for line in [
            "gh pr merge 1 --squash",
            "gh pr merge 1 --disable-auto",
            "gh pr view 1",
            "gh api repos/o/r/pulls/1/merge",
            "gh api graphql -f query='{ viewer { login } }'",
            "git merge main",
            "git merge --abort",
            "git merge-base main HEAD",
            "echo 'gh pr merge --auto'",
            "curl https://api.github.com/repos/o/r/pulls/1/merge",
        ] {
            let judged = stage("work").bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
        for line in [
            "git merge --ff-only origin/main",
            "git fetch origin main && git merge FETCH_HEAD",
            "git switch topic && git merge main",
            "git merge --abort",
            "git checkout -b x && git merge y",
        ] {
            let judged = stage("main").bash(line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
    }

    #[test]
    fn branches_that_are_main_by_a_pattern_are_kept_as_well() {
        let with_releases = |branch: &str| {
            let mut stage = stage(branch);
            stage.rules.main.branches.push("release/*".to_owned());
            stage
        };
        assert_eq!(with_releases("release/1").bash("git merge topic").outcome(), Outcome::Block);
        assert_eq!(with_releases("work").bash("git switch release/1 && git merge topic").outcome(), Outcome::Block);
        assert_eq!(with_releases("released").bash("git merge topic").outcome(), Outcome::Pass);
    }

    #[test]
    fn the_way_out_is_said_in_both_languages() {
        assert!(stage("work").bash("gh pr merge --auto 1").said().contains("`gh pr merge`"));
        assert!(stage("main").lang(Lang::Ja).bash("git merge x").said().contains("プルリクエスト"));
    }
}
