//! What a pull request says, made from the instruction, the agent's summary and the run. Pure.
//!
//! The body has the two sections a merge gate can ask for, *Summary* and *Test plan*, and neither is ever empty. It
//! claims nothing that nobody checked: without the agent's own words on testing, the plan is boxes to tick.

use serde::{Deserialize, Serialize};

use crate::plain::plain;
use crate::run::Run;
use crate::wording::{MessageParts, TRAILER, commit_message, is_japanese};

const SUMMARY_CHARS: usize = 20_000;
const INSTRUCTION_CHARS: usize = 8_000;

/// Title and body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PullWords {
    pub title: String,
    pub body: String,
}

impl PullWords {
    /// What a run's pull request says, in the language of its instruction.
    pub fn of(run: &Run) -> Self {
        Self::of_all(run, &[])
    }

    /// What a branch's pull request says: all that was asked for on it, before this run too, oldest first.
    pub fn of_all(run: &Run, before: &[&Run]) -> Self {
        let language = if is_japanese(&run.spec.instruction) { Language::Japanese } else { Language::English };
        let before: Vec<MessageParts<'_>> = before.iter().map(|run| MessageParts::of(run)).collect();
        pull_text(&MessageParts::of(run), &before, language)
    }
}

/// The language of the headings; summary and instruction stay in the user's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Language {
    English,
    Japanese,
}

struct Words {
    summary: &'static str,
    test_plan: &'static str,
    instruction: &'static str,
    boxes: &'static str,
    by: &'static str,
}

const ENGLISH: Words = Words {
    summary: "Summary",
    test_plan: "Test plan",
    instruction: "Instruction",
    boxes: "- [ ] The checks of this repository pass\n- [ ] The change has been reviewed and does what the instruction says",
    by: "Created by",
};

const JAPANESE: Words = Words {
    summary: "概要",
    test_plan: "テスト計画",
    instruction: "指示",
    boxes: "- [ ] リポジトリのチェックが通る\n- [ ] 変更をレビューし、指示どおりであることを確認した",
    by: "作成:",
};

/// Headings under which agents write how they tested, in lower case.
const TEST_HEADINGS: &[&str] =
    &["test plan", "testing", "tests", "verification", "テスト計画", "テスト", "検証", "動作確認"];
const SUMMARY_HEADINGS: &[&str] = &["summary", "概要", "要約", "まとめ"];

fn pull_text(last: &MessageParts<'_>, before: &[MessageParts<'_>], language: Language) -> PullWords {
    let all = || before.iter().chain([last]);
    let words = match language {
        Language::English => &ENGLISH,
        Language::Japanese => &JAPANESE,
    };
    // The title is the default subject of the first commit, so that a squash merge keeps a conventional history: what was
    // asked for later is a part of it.
    let message = commit_message("{type}: {subject}", before.first().unwrap_or(last));
    let title = message.lines().next().unwrap_or("work").to_owned();
    let (summaries, tests): (Vec<String>, Vec<String>) =
        all().map(|parts| split_tests(parts.summary.unwrap_or_default())).unzip();
    let joined = |texts: &[String]| {
        texts.iter().filter(|text| !text.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n\n")
    };
    let (summary, tests) = (joined(&summaries), joined(&tests));
    let summary = if summary.is_empty() { title.clone() } else { cut(&summary, SUMMARY_CHARS) };
    let tests = if tests.is_empty() { words.boxes.to_owned() } else { cut(&tests, SUMMARY_CHARS) };
    let instructions: Vec<String> = all().map(|parts| parts.instruction.trim().to_owned()).collect();
    let instruction = quoted(&cut(&joined(&instructions), INSTRUCTION_CHARS));
    let body = format!(
        "## {}\n\n{summary}\n\n## {}\n\n{tests}\n\n## {}\n\n{instruction}\n\n\
         {} {} ({})\n\n{TRAILER}: {}\n",
        words.summary, words.test_plan, words.instruction, words.by, last.agent, last.task, last.run
    );
    PullWords { title, body: plain(&body) }
}

/// The agent's summary without, and with only, its section on testing. A heading that only says "Summary" goes too.
fn split_tests(text: &str) -> (String, String) {
    let (mut rest, mut tests) = (Vec::new(), Vec::new());
    let mut test_level = None;
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if let Some((level, name)) = heading(line).filter(|_| !fenced) {
            let named = |names: &[&str]| names.iter().any(|n| name.eq_ignore_ascii_case(n));
            if named(TEST_HEADINGS) {
                test_level = Some(level);
                continue;
            }
            if test_level.is_some_and(|of| level <= of) {
                test_level = None;
            }
            if named(SUMMARY_HEADINGS) {
                continue;
            }
        }
        if test_level.is_some() { tests.push(line) } else { rest.push(line) }
    }
    (rest.join("\n").trim().to_owned(), tests.join("\n").trim().to_owned())
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let name = line.trim_start_matches('#');
    let level = line.len() - name.len();
    ((1..=6).contains(&level) && name.starts_with(' ')).then(|| (level, name.trim().trim_end_matches([':', '：'])))
}

/// A quotation cannot be ended from within, as a fence can.
fn quoted(text: &str) -> String {
    text.lines().map(|l| format!("> {l}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunId, TaskNumber};
    use jiff::Timestamp;

    fn text(instruction: &str, summary: Option<&str>, language: Language) -> PullWords {
        let run = RunId::mint(Timestamp::UNIX_EPOCH, 1);
        let parts = MessageParts { instruction, summary, run, task: TaskNumber(3), agent: "claude".into() };
        let text = pull_text(&parts, &[], language);
        PullWords { title: text.title, body: text.body.replace(&run.to_string(), "RUN") }
    }

    #[test]
    fn a_pull_request_has_summary_test_plan_instruction_and_run() {
        let text = text("Add a health endpoint\n\nIt answers 200.", Some("Added /health."), Language::English);
        assert_eq!(text.title, "feat: add a health endpoint");
        assert_eq!(
            text.body,
            "## Summary\n\nAdded /health.\n\n## Test plan\n\n- [ ] The checks of this repository pass\n- [ ] The change has \
             been reviewed and does what the instruction says\n\n## Instruction\n\n> Add a health \
             endpoint\n>\n> It answers 200.\n\nCreated by claude (T-3)\n\nDandori-Run: RUN\n"
        );
    }

    #[test]
    fn follow_ups_are_told_below_what_they_follow() {
        let run = RunId::mint(Timestamp::UNIX_EPOCH, 1);
        let parts = |instruction, summary| MessageParts {
            instruction,
            summary: Some(summary),
            run,
            task: TaskNumber(3),
            agent: "claude".into(),
        };
        let first = parts("Add a script that greets", "It greets.\n## Testing\nRan it.");
        let text = pull_text(&parts("Greet several", "It greets everyone."), &[first], Language::English);
        assert_eq!(text.title, "feat: add a script that greets");
        assert!(
            text.body.starts_with(
                "## Summary\n\nIt greets.\n\nIt greets everyone.\n\n## Test plan\n\nRan it.\n\n## Instruction\n\n\
                 > Add a script that greets\n>\n> Greet several\n\nCreated by claude (T-3)\n"
            ),
            "{}",
            text.body
        );
    }

    #[test]
    fn headings_follow_the_language_and_no_section_is_empty() {
        let text = text("ログインを直して", None, Language::Japanese);
        assert_eq!(text.title, "fix: ログインを直して");
        assert!(text.body.starts_with("## 概要\n\nfix: ログインを直して\n\n## テスト計画\n\n- [ ] "), "{}", text.body);
    }

    #[test]
    fn what_the_agent_says_about_testing_becomes_the_test_plan() {
        let summary = "## Summary\nDid it.\n### Testing:\nRan `cargo test`.\n#### More\nAll green.\n### Notes\nNone.";
        let (rest, tests) = split_tests(summary);
        assert_eq!(rest, "Did it.\n### Notes\nNone.");
        assert_eq!(tests, "Ran `cargo test`.\n#### More\nAll green.");
        let fenced = "Before\n```\n# tests\n```\nAfter";
        assert_eq!(split_tests(fenced), (fenced.to_owned(), String::new()));
        assert_eq!(split_tests("#tests are not a heading").1, "");
    }

    #[test]
    fn a_huge_summary_and_instruction_stay_under_what_a_forge_takes() {
        let long = "あ".repeat(500_000);
        let text = text(&long, Some(&long), Language::English);
        assert!(text.body.chars().count() < 65_536);
        assert!(text.title.chars().count() <= 100);
        let fence = self::text("a\n```\nx", None, Language::English);
        assert!(fence.body.contains("> a\n> ```\n> x"), "{}", fence.body);
    }
}
