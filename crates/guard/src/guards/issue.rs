//! An issue has a priority label and says why, how it is, how it should be, and what is proposed.

use crate::context::Context;
use crate::voice::{Trouble, Voice};

use super::proposal::{Proposal, proposals};
use super::sections;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    use dandori_text::guard::forge;
    let (lang, rules) = (context.lang, &context.rules.issue);
    for issue in proposals(context, "issue")? {
        let missing = sections::missing(&issue.body, &rules.sections, lang);
        let has_priority = rules.priorities.is_empty() || has_priority(&issue, &rules.priorities);
        if issue.is_partly_unseen && (!missing.is_empty() || !has_priority) {
            let names = sections::names(&rules.sections, lang).join(", ");
            voice.ask(forge::issue_unseen(lang, &rules.priorities.join(", "), &names));
            continue;
        }
        if !has_priority {
            let priorities = rules.priorities.join(", ");
            voice.block(if issue.labels.is_empty() {
                forge::issue_no_label(lang, &priorities)
            } else {
                forge::issue_no_priority(lang, &priorities)
            });
        }
        if !missing.is_empty() {
            voice.block(forge::issue_sections(lang, &missing.join(", ")));
        }
        let problems = problems(&issue.body);
        if problems > 1 {
            voice.warn(forge::issue_split(lang, problems));
        }
    }
    Ok(())
}

/// `P1`, `p1`, `priority: P1`, `priority/P1`
fn has_priority(issue: &Proposal, priorities: &[String]) -> bool {
    issue.labels.iter().any(|label| {
        let last = label.rsplit([':', '/', '-', ' ']).next().unwrap_or(label).trim();
        priorities.iter().any(|priority| priority.eq_ignore_ascii_case(last) || priority.eq_ignore_ascii_case(label))
    })
}

/// How many problems it tells of: headings that count them, `Problem 2`, `問題 3`.
fn problems(body: &str) -> usize {
    const WORDS: &[&str] = &["problem", "bug", "issue", "問題", "課題", "不具合"];
    let counts = |heading: &&str| {
        let heading = heading.to_lowercase();
        WORDS.iter().any(|word| {
            heading.strip_prefix(word).is_some_and(|rest| {
                let rest = rest.trim_start_matches([' ', '#', '　']);
                rest.starts_with(|c: char| c.is_numeric() || "①②③④⑤⑥⑦⑧⑨".contains(c))
            })
        })
    };
    sections::headings(body).iter().filter(|heading| counts(heading)).count()
}

#[cfg(test)]
mod tests {
    use crate::Level;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use dandori_text::Lang;

    const BODY: &str = "## Why\na\n## Current\nb\n## Expected\nc\n## Proposal\nd\n";
    const BODY_JA: &str = "## なぜ\na\n## 現状\nb\n## 期待動作\nc\n## 対応案\nd\n";

    fn stage() -> Stage {
        Stage::only("issue", Level::Block).file("b.md", BODY).file("bad.md", "## Why\nx\n")
    }

    fn outcome(line: &str) -> Outcome {
        stage().bash(line).outcome()
    }

    #[test]
    fn a_whole_issue_passes_in_both_languages_and_every_form() {
        for line in [
            format!("gh issue create -t x -l P1 -b '{BODY}'"),
            format!("gh issue new --title x --label bug,p2 --body '{BODY_JA}'"),
            format!("gh issue create --label 'priority: P0' --body \"$(cat <<'EOF'\n{BODY}EOF\n)\""),
            "gh issue create -t x -l priority/P3 -F b.md".to_owned(),
            "cd src && gh issue create -t x -l P3 --body-file ../b.md".to_owned(),
            format!("gh api repos/o/r/issues -X POST -f title=x -f 'labels[]=P1' -f body='{BODY}'"),
            "gh api repos/o/r/issues -f title=x -f 'labels[]=P1' -F body=@b.md".to_owned(),
            format!("gh issue create -l P1 -b \"$INTRO\n{BODY}\""),
        ] {
            let judged = stage().bash(&line);
            assert_eq!(judged.outcome(), Outcome::Pass, "{line}: {}", judged.said());
        }
    }

    #[test]
    fn labels_and_sections_that_are_missing_are_named() {
        let none = stage().bash(&format!("gh issue create -t x -b '{BODY}'"));
        assert!(none.outcome() == Outcome::Block && none.said().contains("--label"), "{}", none.said());
        assert_eq!(outcome(&format!("gh issue create -t x -l bug -b '{BODY}'")), Outcome::Block);
        let bad = stage().bash("env X=1 gh issue create -t x -l P1 -F bad.md");
        assert_eq!(bad.outcome(), Outcome::Block);
        assert!(bad.said().contains("Current, Expected, Proposal") && !bad.said().contains("Why"), "{}", bad.said());
        let japanese = stage().lang(Lang::Ja).bash("gh issue create -t x -l P1 -F bad.md");
        assert!(japanese.said().contains("現状, 期待動作, 対応案"), "{}", japanese.said());
        for line in
            ["gh issue create -t x -l P1", "bash -c 'gh issue create -t x'", "gh api repos/o/r/issues -f title=x"]
        {
            assert_eq!(outcome(line), Outcome::Block, "{line}");
        }
    }

    #[test]
    fn what_cannot_be_checked_is_asked() {
        for line in [
            "gh issue create --web",
            "gh issue create -l P1 --body \"$BODY\"",
            "gh issue create -l \"$L\" -F b.md",
            "gh issue create -l P1 -F - < b.md",
            "gh issue create -l P1 -F not-there.md",
            "cat > n.md <<'E'\nx\nE\ngh issue create -l P1 -F n.md",
            "cat > b.md <<'E'\nx\nE\ngh issue create -l P1 -F b.md",
            "gh api repos/o/r/issues --input not-there.json",
        ] {
            assert_eq!(outcome(line), Outcome::Ask, "{line}");
        }
        assert_eq!(stage().unreadable("b.md").bash("gh issue create -l P1 -F b.md").outcome(), Outcome::Error);
    }

    #[test]
    fn several_problems_are_proposed_to_be_split() {
        let body = format!("{BODY}## Problem 1\nx\n## Problem 2\ny\n");
        assert_eq!(outcome(&format!("gh issue create -l P1 -b '{body}'")), Outcome::Warn);
        let body = format!("{BODY_JA}### 問題1\nx\n### 問題２\ny\n");
        assert_eq!(outcome(&format!("gh issue create -l P1 -b '{body}'")), Outcome::Warn);
    }

    #[test]
    fn other_calls_of_gh_are_left_alone() {
        for line in [
            "gh issue list",
            "gh issue view 1",
            "gh issue create --help",
            "gh api repos/o/r/issues",
            "echo gh issue create",
            "gh issue comment 1 -b x",
        ] {
            assert_eq!(outcome(line), Outcome::Pass, "{line}");
        }
    }
}
