//! A pull request says what it does, how it was tested, and which issue it is for.

use crate::context::Context;
use crate::voice::{Trouble, Voice};

use super::proposal::proposals;
use super::sections;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    use dandori_text::guard::forge;
    let (lang, rules) = (context.lang, &context.rules.pull);
    for pull in proposals(context, "pr")? {
        let missing = sections::missing(&pull.body, &rules.sections, lang);
        let is_linked = !rules.needs_issue || links_issue(&pull.body) || links_issue(&pull.title);
        let names = || sections::names(&rules.sections, lang).join(", ");
        if missing.is_empty() && is_linked {
            continue;
        }
        if pull.is_partly_unseen {
            voice.ask(forge::pull_unseen(lang, &names(), rules.needs_issue));
        } else if pull.is_filled && pull.body.is_empty() {
            voice.block(forge::pull_filled(lang, &names(), rules.needs_issue));
        } else {
            if !missing.is_empty() {
                voice.block(forge::pull_sections(lang, &missing.join(", ")));
            }
            if !is_linked {
                voice.block(forge::pull_issue(lang));
            }
        }
    }
    Ok(())
}

/// `#12`, `owner/repo#12`, `GH-12`, or an issue's address.
fn links_issue(text: &str) -> bool {
    let has_number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let after =
        |mark: &str| text.match_indices(mark).any(|(at, _)| text.get(at + mark.len()..).is_some_and(has_number));
    after("#") || after("GH-") || after("/issues/")
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use dandori_text::Lang;

    const BODY: &str = "## Summary\na\n## Test plan\n- [x] ran it\n\nCloses #12\n";

    fn stage() -> Stage {
        Stage::only("pr-create", Level::Block).file("b.md", BODY)
    }

    #[test]
    fn a_whole_pull_request_passes() {
        for line in [
            format!("gh pr create --title x --body '{BODY}'"),
            format!("gh pr new -t x -b '{BODY}' --base main"),
            "gh pr create -t x -F b.md --draft".to_owned(),
            format!("gh pr create --fill -b '{BODY}'"),
            format!("gh pr create -t x --body \"$(cat <<'EOF'\n{BODY}EOF\n)\""),
            "gh pr create -t x -b '## 概要\na\n## テスト計画\nb\nFixes o/r#3'".to_owned(),
            "gh pr create -t 'x (#3)' -b '**Summary**\na\n\n**Test plan**\nb'".to_owned(),
            "gh pr create -t x -b '# Summary\na\n# Testing\nb\nhttps://github.com/o/r/issues/3'".to_owned(),
            format!("gh api repos/o/r/pulls -f title=x -f head=b -f base=main -f body='{BODY}'"),
            "gh pr create --dry-run".to_owned(),
        ] {
            let judged = stage().bash(&line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let filled = stage().bash("gh pr create --fill");
        assert_eq!(filled.outcome(), Outcome::Block);
        assert!(
            filled.said().contains("Summary, Test plan") && filled.said().contains("Closes #"),
            "{}",
            filled.said()
        );
        let link = stage().bash("gh pr create -t x -b '## Summary\na\n## Test plan\nb'");
        assert!(link.outcome() == Outcome::Block && link.said().contains("Closes #"), "{}", link.said());
        let plan = stage().bash("bash -c \"gh pr create -t x --draft -b '## Summary\na\nCloses #1'\"");
        assert!(plan.outcome() == Outcome::Block && plan.said().contains("Test plan"), "{}", plan.said());
        assert!(stage().lang(Lang::Ja).bash("gh pr create -t x -b '#1'").said().contains("概要, テスト計画"));
        assert_eq!(stage().bash("env GH_TOKEN=x gh pr create -R o/r -t x").outcome(), Outcome::Block);
    }

    #[test]
    fn an_issue_is_not_always_needed() {
        let mut free = stage();
        free.rules.pull.needs_issue = false;
        assert_eq!(free.bash("gh pr create -t x -b '## Summary\na\n## Test plan\nb'").outcome(), Outcome::Pass);
    }

    #[test]
    fn what_cannot_be_checked_is_asked_and_other_calls_pass() {
        for line in ["gh pr create --web", "gh pr create -b \"$B\"", "gh pr create -F -", "gh pr create -F gone.md"] {
            assert_eq!(stage().bash(line).outcome(), Outcome::Ask, "{line}");
        }
        for line in
            ["gh pr list", "gh pr view 1", "gh pr checks", "gh api repos/o/r/pulls", "git commit -m 'gh pr create'"]
        {
            assert_eq!(stage().bash(line).outcome(), Outcome::Pass, "{line}");
        }
        assert_eq!(stage().unreadable("b.md").bash("gh pr create -F b.md").outcome(), Outcome::Error);
    }
}
