//! Titles and commit messages made from an instruction and an agent's summary.

use std::borrow::Cow;

use crate::id::{Oid, RunId, TaskNumber};
use crate::plain::plain;
use crate::run::Run;

/// What a template may name.
pub(crate) struct MessageParts<'a> {
    pub(crate) instruction: &'a str,
    pub(crate) summary: Option<&'a str>,
    pub(crate) run: RunId,
    pub(crate) task: TaskNumber,
    pub(crate) agent: Cow<'a, str>,
}

impl<'a> MessageParts<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self {
            instruction: run.about(),
            summary: run.summary(),
            run: run.spec.id,
            task: run.spec.number,
            agent: run.spec.agent.to_string().into(),
        }
    }
}

/// Conventional by default: `feat: add a health endpoint`, the summary, the trailer.
pub(crate) const DEFAULT_TEMPLATE: &str = "{type}: {subject}\n\n{summary}\n\nDandori-Run: {run}\n";

pub const TRAILER: &str = "Dandori-Run";

const SUBJECT_CHARS: usize = 72;

/// The first line with words in it, cut at a word where there are words.
pub fn title(instruction: &str) -> String {
    let instruction = plain(instruction);
    let line = instruction
        .lines()
        .map(|l| l.trim().trim_start_matches(['#', '-', '*', '>', ' ']).trim())
        .find(|l| !l.is_empty())
        .unwrap_or("work");
    cut(line, SUBJECT_CHARS)
}

/// Whether people who read `text` would rather be answered in Japanese.
pub(crate) fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}'))
}

/// The instruction for an agent that finds both sides of a conflict with what others pushed in its files.
pub fn with_conflict(instruction: &str, files: &[String], theirs: &Oid, ours: &Oid) -> String {
    let why = if is_japanese(instruction) {
        "このブランチには他の人のコミットがプッシュされており、このタスクのこれまでの変更と次のファイルでコンフリクトしています"
    } else {
        "Others have pushed commits to this branch. They conflict with this task's changes so far, in"
    };
    both_sides(instruction, why, files, theirs, ours)
}

/// The same after a merge of the base, or of a commit with a name.
pub fn with_merge_conflict(
    instruction: &str,
    name: Option<&str>,
    files: &[String],
    theirs: &Oid,
    ours: &Oid,
) -> String {
    let why = match (name, is_japanese(instruction)) {
        (None, true) => "ベースの最新のコミットをこのブランチにマージしています。このタスクのこれまでの変更と次のファイルでコンフリクトしています".to_owned(),
        (None, false) => "The newest commits of the base are being merged into this branch. They conflict with this task's changes so far, in".to_owned(),
        (Some(name), true) => format!("{name} をこのブランチにマージしています。このタスクのこれまでの変更と次のファイルでコンフリクトしています"),
        (Some(name), false) => format!("{name} is being merged into this branch. It conflicts with this task's changes so far, in"),
    };
    both_sides(instruction, &why, files, theirs, ours)
}

fn both_sides(instruction: &str, why: &str, files: &[String], theirs: &Oid, ours: &Oid) -> String {
    let list = format!("- {}\n", files.join("\n- "));
    let (theirs, ours) = (theirs.as_str(), ours.as_str());
    if is_japanese(instruction) {
        return format!(
            "{instruction}\n\n---\n{why}:\n{list}まずコンフリクトを解決してください。`<<<<<<< {theirs}` の側が他の人の変更、\
             `>>>>>>> {ours}` の側がこのタスクの変更です。両方の意図を残し、マーカーの行はすべて削除してください。ファイル全体は \
             `git show {theirs}:<file>` と `git show {ours}:<file>` で確認できます。\n"
        );
    }
    format!(
        "{instruction}\n\n---\n{why}:\n\
         {list}Resolve the conflicts first. The side at `<<<<<<< {theirs}` is theirs, the side at `>>>>>>> {ours}` is this \
         task's. Keep the intent of both sides and remove all marker lines. See the complete files with \
         `git show {theirs}:<file>` and `git show {ours}:<file>`.\n"
    )
}

/// The commit message of a run. A template that leaves the trailer out gets it all the same: recovery looks for it.
pub(crate) fn commit_message(template: &str, parts: &MessageParts<'_>) -> String {
    let kind = kind_of(parts.instruction);
    let subject = strip_type(&title(parts.instruction)).to_owned();
    let subject = cut(&lower_first(&subject), SUBJECT_CHARS.saturating_sub(kind.len() + 2));
    let summary = parts.summary.map(|s| cut(s.trim(), 4000)).unwrap_or_default();
    let run = parts.run.to_string();
    let task = parts.task.to_string();
    let text = fill(
        template,
        &[
            ("type", kind),
            ("subject", &subject),
            ("summary", &summary),
            ("instruction", parts.instruction.trim()),
            ("run", &run),
            ("task", &task),
            ("agent", &parts.agent),
        ],
    );
    let text = clean(&plain(&text));
    let trailer = format!("{TRAILER}: {run}");
    if text.lines().any(|l| l == trailer) { text } else { format!("{}\n\n{trailer}\n", text.trim_end()) }
}

/// The message of a run that merges something into its branch.
pub(crate) fn merge_message(name: &str, branch: &str, parts: &MessageParts<'_>) -> String {
    let summary = parts.summary.map(|s| cut(s.trim(), 4000)).unwrap_or_default();
    clean(&plain(&format!("Merge {name} into {branch}\n\n{summary}\n\n{TRAILER}: {}\n", parts.run)))
}

/// One pass, so that text put in is never read as a template itself.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let hit = values.iter().find_map(|(name, value)| {
            from.strip_prefix('{')?.strip_prefix(*name)?.strip_prefix('}').map(|after| (*value, after))
        });
        if let Some((value, after)) = hit {
            out.push_str(value);
            rest = after;
        } else {
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}

/// Empty lines in a row become one; a message ends with one newline.
fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut blank = true;
    for line in text.lines().map(str::trim_end) {
        if line.is_empty() {
            blank = true;
            continue;
        }
        if blank && !out.is_empty() {
            out.push('\n');
        }
        blank = false;
        out.push_str(line);
        out.push('\n');
    }
    out
}

const TYPES: &[(&str, &[&str])] = &[
    ("fix", &["fix", "bug", "repair", "correct", "修正", "直", "不具合", "バグ"]),
    ("docs", &["doc", "readme", "comment", "typo", "文書", "ドキュメント", "誤字"]),
    ("test", &["test", "テスト"]),
    ("refactor", &["refactor", "rename", "clean up", "simplify", "move", "リファクタ", "整理", "改名"]),
    ("perf", &["faster", "speed up", "optimi", "perf", "高速化", "最適化"]),
    ("chore", &["bump", "upgrade", "update dependenc", "依存"]),
];

const CONVENTIONAL: &[&str] =
    &["feat", "fix", "docs", "test", "refactor", "perf", "chore", "build", "ci", "style", "revert"];

fn kind_of(instruction: &str) -> &'static str {
    let line = title(instruction);
    if let Some(kind) = written_type(&line) {
        return kind;
    }
    let line = line.to_lowercase();
    TYPES.iter().find(|(_, words)| words.iter().any(|w| line.contains(w))).map_or("feat", |(kind, _)| kind)
}

fn written_type(line: &str) -> Option<&'static str> {
    let (head, _) = line.split_once(": ")?;
    let head = head.split('(').next().unwrap_or(head).trim_end_matches('!');
    CONVENTIONAL.iter().copied().find(|t| *t == head)
}

fn strip_type(line: &str) -> &str {
    match written_type(line) {
        Some(_) => line.split_once(": ").map_or(line, |(_, rest)| rest),
        None => line,
    }
}

/// `Add x` becomes `add x`; `README` and `iOS` stay as they are.
fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if first.is_ascii_uppercase() && second.is_lowercase() => {
            format!("{}{}", first.to_ascii_lowercase(), chars.as_str())
        }
        _ => text.to_owned(),
    }
}

fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let head: String = text.chars().take(chars.saturating_sub(1)).collect();
    let head = match head.rfind(' ') {
        Some(at) if at > head.len() / 2 => head.get(..at).unwrap_or(&head).to_owned(),
        _ => head,
    };
    format!("{}…", head.trim_end())
}

/// What a run was asked and what it said at its end, for an agent that was not there.
pub fn earlier(instruction: &str, summary: Option<&str>) -> String {
    let summary = summary.map(str::trim).filter(|summary| !summary.is_empty()).unwrap_or("(none)");
    format!("Instruction: {}\nReport: {summary}", instruction.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn message(template: &str, instruction: &str, summary: Option<&str>) -> String {
        let run = RunId::mint(Timestamp::UNIX_EPOCH, 1);
        let parts = MessageParts { instruction, summary, run, task: TaskNumber(3), agent: "claude".into() };
        commit_message(template, &parts).replace(&run.to_string(), "RUN")
    }

    #[test]
    fn the_default_is_conventional_with_summary_and_trailer() {
        assert_eq!(
            message(DEFAULT_TEMPLATE, "Add a health endpoint\n\nIt answers 200.", Some("Added /health.")),
            "feat: add a health endpoint\n\nAdded /health.\n\nDandori-Run: RUN\n"
        );
        assert_eq!(
            message(DEFAULT_TEMPLATE, "ログイン画面の不具合を直して", None),
            "fix: ログイン画面の不具合を直して\n\nDandori-Run: RUN\n"
        );
    }

    #[test]
    fn a_type_the_user_wrote_is_kept() {
        assert_eq!(
            message("{type}: {subject}", "refactor(api): split the router", None),
            "refactor: split the router\n\nDandori-Run: RUN\n"
        );
    }

    #[test]
    fn text_put_in_is_not_read_as_a_template() {
        let text = message("{subject} [{task}]", "use {run} and {nothing}", None);
        assert_eq!(text, "use {run} and {nothing} [T-3]\n\nDandori-Run: RUN\n");
    }

    #[test]
    fn long_titles_are_cut_at_a_word_and_never_inside_a_character() {
        let long = "word ".repeat(40);
        assert!(title(&long).chars().count() <= 72);
        assert!(title(&long).ends_with("word…"));
        let japanese = "あ".repeat(200);
        assert_eq!(title(&japanese).chars().count(), 72);
        assert_eq!(title("\n\n# Heading\ntext"), "Heading");
        assert_eq!(title("   "), "work");
    }
}
