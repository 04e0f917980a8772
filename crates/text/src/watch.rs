//! Words for a run one watches: what is done, how it ended, and what to type next.

use dandori_domain::Usage;
use dandori_domain::run::Status;

use crate::Lang;
use crate::lang::say;

/// Stands before a set-up command.
pub fn set_up(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "setup:",
        Lang::Ja => "セットアップ:",
    }
}

pub fn thinking(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "thinking",
        Lang::Ja => "考え中",
    }
}

pub(crate) fn read(lang: Lang, path: &str) -> String {
    say!(lang, "Read {path}", "読み取り {path}")
}

pub(crate) fn search(lang: Lang, what: &str) -> String {
    say!(lang, "Search {what}", "検索 {what}")
}

/// Files read and searches made one after the other.
pub(crate) fn looked(lang: Lang, files: usize, searches: usize) -> String {
    let (s, es) = (if files == 1 { "" } else { "s" }, if searches == 1 { "" } else { "es" });
    match (files, searches) {
        (_, 0) => say!(lang, "Read {files} file{s}", "読み取り {files} ファイル"),
        (0, _) => say!(lang, "{searches} search{es}", "検索 {searches} 回"),
        _ => say!(lang, "Read {files} file{s}, {searches} search{es}", "読み取り {files} ファイル、検索 {searches} 回"),
    }
}

pub(crate) fn edit(lang: Lang, path: &str) -> String {
    say!(lang, "Edit {path}", "編集 {path}")
}

pub(crate) fn write(lang: Lang, path: &str) -> String {
    say!(lang, "Write {path}", "書き込み {path}")
}

/// What is done to a file, as a client names it.
pub(crate) fn change(lang: Lang, kind: &str, path: &str) -> String {
    match kind {
        "add" => say!(lang, "Add {path}", "追加 {path}"),
        "delete" => say!(lang, "Delete {path}", "削除 {path}"),
        _ => edit(lang, path),
    }
}

pub(crate) fn change_files(lang: Lang, files: usize) -> String {
    say!(lang, "Change {files} files", "変更 {files} ファイル")
}

pub(crate) fn lines(lang: Lang, lines: usize) -> String {
    let s = if lines == 1 { "" } else { "s" };
    say!(lang, "({lines} line{s})", "({lines} 行)")
}

pub(crate) fn more_lines(lang: Lang, lines: usize) -> String {
    say!(lang, "… {lines} more lines", "… 残り {lines} 行")
}

pub(crate) fn fetch(lang: Lang, what: &str) -> String {
    say!(lang, "Fetch {what}", "取得 {what}")
}

pub(crate) fn delegate(lang: Lang, what: &str) -> String {
    say!(lang, "Subagent: {what}", "サブエージェント: {what}")
}

pub(crate) fn plan(lang: Lang, done: usize, all: usize, now: Option<&str>) -> String {
    let now = now.map(|now| format!(": {now}")).unwrap_or_default();
    say!(lang, "Plan {done}/{all}{now}", "計画 {done}/{all}{now}")
}

pub(crate) fn exit(lang: Lang, code: i32) -> String {
    say!(lang, "exit {code}", "終了コード {code}")
}

pub(crate) fn retrying(lang: Lang, attempt: u32, reason: &str) -> String {
    say!(lang, "retry {attempt}: {reason}", "再試行 {attempt} 回目: {reason}")
}

/// A span of time with what matters of it: `8s`, `1m 12s`, `2h 5m`.
pub fn span(lang: Lang, seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (lang, hours, minutes) {
        (Lang::En, 0, 0) => format!("{rest}s"),
        (Lang::En, 0, _) => format!("{minutes}m {rest}s"),
        (Lang::En, ..) => format!("{hours}h {minutes}m"),
        (Lang::Ja, 0, 0) => format!("{rest}秒"),
        (Lang::Ja, 0, _) => format!("{minutes}分{rest}秒"),
        (Lang::Ja, ..) => format!("{hours}時間{minutes}分"),
    }
}

/// A span of time that stands alone.
pub fn lasted(lang: Lang, time: &str) -> String {
    say!(lang, "after {time}", "{time}で終了")
}

/// What dandori itself does in this state, while the agent is not at work.
pub fn doing(lang: Lang, state: Status) -> Option<&'static str> {
    let (en, ja) = match state {
        Status::Pending => ("preparing the worktree", "ワークツリーを準備中"),
        Status::Running => ("starting the agent", "エージェントを起動中"),
        Status::Staging => ("collecting changes", "変更を収集中"),
        Status::Committing => ("committing", "コミット中"),
        Status::Pushing => ("pushing to origin", "origin にプッシュ中"),
        Status::Succeeded | Status::Failed | Status::Canceled => return None,
    };
    Some(match lang {
        Lang::En => en,
        Lang::Ja => ja,
    })
}

/// Money where it is known, else tokens: `$0.0421`, `12.3k tokens`.
pub fn spent(lang: Lang, usage: &Usage) -> Option<String> {
    match (usage.cost, usage.tokens()) {
        (Some(cost), _) if cost.0 != 0 => Some(cost.to_string()),
        (_, 0) => None,
        (_, tokens) => {
            let count = thousands(tokens);
            Some(say!(lang, "{count} tokens", "{count} トークン"))
        }
    }
}

pub(crate) fn thousands(count: u64) -> String {
    match count {
        ..1000 => count.to_string(),
        1000..1_000_000 => format!("{}.{}k", count / 1000, count % 1000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// How many more runs there are than rows on the screen.
pub fn more_runs(lang: Lang, count: usize) -> String {
    say!(lang, "and {count} more", "他 {count} 件")
}

pub fn more_files(lang: Lang, count: usize) -> String {
    let s = if count == 1 { "" } else { "s" };
    say!(lang, "and {count} more file{s}", "他 {count} ファイル")
}

/// A file whose lines cannot be counted.
pub fn binary(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "binary",
        Lang::Ja => "バイナリ",
    }
}

/// Stands before the commands that fit.
pub fn next(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "next:",
        Lang::Ja => "次に:",
    }
}

/// What a run that has ended is like, as far as it decides what helps now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending<'a> {
    pub task: &'a str,
    pub run: &'a str,
    pub state: Status,
    pub has_changes: bool,
    pub is_pushed: bool,
    /// The number of its pull request, and whether that is open.
    pub pull: Option<(u64, bool)>,
    /// Others of the task ran beside it, and none is picked.
    pub has_rivals: bool,
    /// Its uncommitted work was kept.
    pub is_kept: bool,
    /// An agent or a set-up command was started: there is something to read.
    pub has_log: bool,
    /// Its task has no other run: the task's name is enough.
    pub is_only: bool,
    /// It is committed; the push alone failed, and may succeed the next time.
    pub is_unpushed: bool,
    /// Its failure already names what to do.
    pub is_told: bool,
}

/// The one or two commands that fit. Each works when it is typed, in this very state.
pub fn next_commands(ending: &Ending<'_>) -> Vec<String> {
    let Ending { task, run, .. } = ending;
    // With rivals a task's own name would be ambiguous.
    let name = if ending.has_rivals { run } else { task };
    let run = if ending.is_only { task } else { run };
    match ending.state {
        Status::Succeeded if !ending.has_changes => vec![format!("dandori task follow-up {name} \"…\"")],
        Status::Succeeded if !ending.is_pushed => {
            vec![format!("dandori task diff {name}"), format!("dandori task follow-up {name} \"…\"")]
        }
        Status::Succeeded => match ending.pull {
            Some((number, true)) => vec![format!("dandori pr show {number}"), format!("dandori pr merge {number}")],
            Some((number, false)) => vec![format!("dandori pr show {number}")],
            None if ending.has_rivals => vec![format!("dandori task diff {name}")],
            None => vec![format!("dandori task diff {name}"), format!("dandori pr create {name}")],
        },
        Status::Failed if ending.is_unpushed => vec![format!("dandori task retry {run}")],
        Status::Failed => {
            let log = ending.has_log.then(|| format!("dandori task log {run}"));
            let retry = (!ending.is_told).then(|| format!("dandori task retry {run}"));
            log.into_iter().chain(retry).collect()
        }
        Status::Canceled if ending.is_kept => {
            vec![format!("dandori task diff {run}"), format!("dandori worktree restore {}", ending.run)]
        }
        Status::Canceled => vec![format!("dandori task retry {run}")],
        Status::Pending | Status::Running | Status::Staging | Status::Committing | Status::Pushing => Vec::new(),
    }
}

/// The commands of a task with several agents, once all have ended; `failed` are those that did not get there.
pub fn next_of_several(task: &str, failed: &[&str]) -> Vec<String> {
    let log = failed.first().map(|run| format!("dandori task log {run}"));
    std::iter::once(format!("dandori task compare {task}")).chain(log).collect()
}

/// Where work is that did not get to the remote.
pub fn committed(lang: Lang, branch: &str, commit: &str) -> String {
    say!(lang, "committed {commit} on {branch}, not pushed", "{commit} を {branch} にコミット済み (未プッシュ)")
}

/// Above a diff that holds more than commits.
pub fn uncommitted(lang: Lang, run: &str, state: Status) -> String {
    say!(lang, "{run} is {state}: includes uncommitted work", "{run} は {state} です。未コミットの作業を含みます")
}

pub fn which_agent(lang: Lang, task: &str) -> String {
    say!(
        lang,
        "Several agents worked on {task}, and none is picked:",
        "{task} には複数のエージェントの結果があり、まだどれも採用されていません:"
    )
}

pub fn choose(lang: Lang, count: usize) -> String {
    say!(lang, "Which one? [1-{count}] ", "どれを表示しますか? [1-{count}] ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dandori_domain::Usd;

    #[test]
    fn time_is_told_by_what_matters_of_it() {
        for (seconds, en, ja) in [
            (0, "0s", "0秒"),
            (59, "59s", "59秒"),
            (72, "1m 12s", "1分12秒"),
            (3600, "1h 0m", "1時間0分"),
            (7512, "2h 5m", "2時間5分"),
        ] {
            assert_eq!((span(Lang::En, seconds).as_str(), span(Lang::Ja, seconds).as_str()), (en, ja));
        }
    }

    #[test]
    fn what_was_spent_is_money_or_tokens_and_never_an_invented_zero() {
        let usage = |input, cost| Usage { input_tokens: input, cost, ..Usage::default() };
        assert_eq!(spent(Lang::En, &usage(0, None)), None);
        assert_eq!(spent(Lang::En, &usage(12_345, None)).unwrap(), "12.3k tokens");
        assert_eq!(spent(Lang::Ja, &usage(950, Some(Usd::default()))).unwrap(), "950 トークン");
        assert_eq!(spent(Lang::En, &usage(12_345, Some(Usd::from_dollars(0.0421)))).unwrap(), "$0.0421");
    }

    #[test]
    fn what_helps_depends_on_how_it_ended() {
        let done = Ending {
            task: "T-3",
            run: "abcd",
            state: Status::Succeeded,
            has_changes: true,
            is_pushed: true,
            pull: None,
            has_rivals: false,
            is_kept: false,
            has_log: true,
            is_only: false,
            is_unpushed: false,
            is_told: false,
        };
        for (ending, commands) in [
            (done, vec!["dandori task diff T-3", "dandori pr create T-3"]),
            (Ending { pull: Some((7, true)), ..done }, vec!["dandori pr show 7", "dandori pr merge 7"]),
            (Ending { pull: Some((7, false)), ..done }, vec!["dandori pr show 7"]),
            (Ending { has_changes: false, is_pushed: false, ..done }, vec!["dandori task follow-up T-3 \"…\""]),
            (Ending { has_rivals: true, ..done }, vec!["dandori task diff abcd"]),
            (
                Ending { state: Status::Failed, is_pushed: false, ..done },
                vec!["dandori task log abcd", "dandori task retry abcd"],
            ),
            (Ending { state: Status::Failed, is_told: true, ..done }, vec!["dandori task log abcd"]),
            (Ending { state: Status::Failed, is_told: true, is_only: true, ..done }, vec!["dandori task log T-3"]),
            (
                Ending { state: Status::Failed, is_told: true, is_unpushed: true, ..done },
                vec!["dandori task retry abcd"],
            ),
            (Ending { state: Status::Failed, has_log: false, ..done }, vec!["dandori task retry abcd"]),
            (
                Ending { state: Status::Canceled, is_kept: true, ..done },
                vec!["dandori task diff abcd", "dandori worktree restore abcd"],
            ),
            (Ending { state: Status::Canceled, ..done }, vec!["dandori task retry abcd"]),
        ] {
            assert_eq!(next_commands(&ending), commands, "{ending:?}");
        }
    }
}
