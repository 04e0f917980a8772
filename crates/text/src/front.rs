//! Words of the front door: bare `dandori`.

use dandori_domain::front::Suggestion;
use dandori_domain::shell_word;

use crate::Lang;
use crate::lang::say;

pub fn needs_you(lang: Lang, count: usize) -> String {
    say!(lang, "Needs you ({count})", "要対応 ({count})")
}

pub fn running(lang: Lang, count: usize) -> String {
    say!(lang, "Running ({count})", "実行中 ({count})")
}

pub fn recent(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Recent",
        Lang::Ja => "最近",
    }
}

pub fn next(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Next",
        Lang::Ja => "次の操作",
    }
}

pub fn more_needs(lang: Lang, count: usize) -> String {
    say!(lang, "{count} more: `dandori inbox`", "ほか {count} 件: `dandori inbox`")
}

pub fn more_running(lang: Lang, count: u64) -> String {
    say!(lang, "{count} more: `dandori task list --open`", "ほか {count} 件: `dandori task list --open`")
}

pub fn quiet(lang: Lang) -> String {
    say!(lang, "Nothing needs you, and nothing is running", "要対応も実行中のタスクもありません")
}

pub fn nothing_yet(lang: Lang) -> String {
    say!(lang, "No tasks in this repository yet", "このリポジトリにはまだタスクがありません")
}

/// Tasks and worktrees stay with the place a repository was at.
pub fn moved(lang: Lang, from: &str) -> String {
    say!(
        lang,
        "This repository was moved: its tasks and worktrees belong to {from}, which is gone",
        "このリポジトリは移動されています。タスクとワークツリーは、以前の場所 {from} に結び付いています"
    )
}

pub fn moved_hint(lang: Lang, here: &str, from: &str) -> String {
    let (here, from) = (shell_word(here), shell_word(from));
    say!(
        lang,
        "move it back with `mv {here} {from}` to go on with them, or start new tasks here",
        "続けるには `mv {here} {from}` で元の場所に戻してください。ここで新しいタスクを始めることもできます"
    )
}

pub fn nothing_anywhere(lang: Lang) -> String {
    say!(lang, "No tasks yet", "まだタスクがありません")
}

/// The heading when no repository is around.
pub fn everywhere(lang: Lang) -> String {
    say!(lang, "All repositories", "すべてのリポジトリ")
}

/// The command itself.
pub fn command(lang: Lang, suggestion: &Suggestion) -> String {
    match suggestion {
        Suggestion::Demo => "dandori demo".to_owned(),
        Suggestion::Run => say!(lang, "dandori run \"…\"", "dandori run \"…\""),
        Suggestion::Doctor => "dandori doctor".to_owned(),
        Suggestion::Inbox => "dandori inbox".to_owned(),
        Suggestion::Watch { task } => format!("dandori task log {task}"),
        Suggestion::Cancel { task } => format!("dandori task cancel {task}"),
        Suggestion::Diff { run } => format!("dandori task diff {run}"),
        Suggestion::FollowUp { task } => format!("dandori task follow-up {task} \"…\""),
        Suggestion::CreatePull { run } => format!("dandori pr create {run}"),
        Suggestion::ShowPull { number } => format!("dandori pr show {number}"),
        Suggestion::Tasks => "dandori task list".to_owned(),
        Suggestion::AllTasks => "dandori task list -A".to_owned(),
        Suggestion::Resolve { command } => command.clone(),
        Suggestion::Help => "dandori --help".to_owned(),
    }
}

/// What it is good for.
pub fn purpose(lang: Lang, suggestion: &Suggestion) -> String {
    match suggestion {
        Suggestion::Demo => {
            say!(lang, "see it all in a minute, no account needed", "1 分で一通り試す (アカウント不要)")
        }
        Suggestion::Run => say!(lang, "give an agent a task", "エージェントにタスクを任せる"),
        Suggestion::Doctor => say!(lang, "check this machine", "この環境を点検する"),
        Suggestion::Inbox => say!(lang, "show everything that needs you", "要対応をすべて表示する"),
        Suggestion::Watch { .. } => say!(lang, "watch it work", "作業の様子を見る"),
        Suggestion::Cancel { .. } => say!(lang, "cancel it and keep its work", "取り消して作業内容を保存する"),
        Suggestion::Diff { .. } => say!(lang, "see what it changed", "変更内容を見る"),
        Suggestion::FollowUp { .. } => say!(lang, "ask for more", "追加の指示を出す"),
        Suggestion::CreatePull { .. } => say!(lang, "open a pull request", "プルリクエストを作成する"),
        Suggestion::ShowPull { .. } => say!(lang, "review its pull request", "プルリクエストを確認する"),
        Suggestion::Tasks => say!(lang, "list the tasks", "タスクを一覧表示する"),
        Suggestion::AllTasks => {
            say!(lang, "list the tasks of all repositories", "すべてのリポジトリのタスクを一覧表示する")
        }
        Suggestion::Resolve { .. } => say!(lang, "resolve the newest of these", "最新の要対応に対処する"),
        Suggestion::Help => say!(lang, "show all commands", "すべてのコマンドを表示する"),
    }
}

/// A word with two meanings; the commands are whole, as they are typed.
pub fn two_meanings(lang: Lang, word: &str, commands: &[String]) -> crate::Said {
    let listed = commands.iter().map(|command| ["`", command, "`"].concat()).collect::<Vec<_>>();
    let (or, listed_ja) = (listed.join(" or "), listed.join("、"));
    crate::Said::what(say!(lang, "`{word}` can mean several things", "`{word}` には複数の意味があります")).hint(say!(
        lang,
        "use {or}",
        "{listed_ja} のいずれかを使ってください"
    ))
}

/// A newer program has taken over from the daemon.
pub fn taken_over(lang: Lang, before: &str, now: &str, runs: u64) -> String {
    let runs = continuing(lang, runs);
    say!(lang, "daemon {before} → {now}{runs}", "デーモン {before} → {now}{runs}")
}

/// The same, when only the program was replaced.
pub fn restarted(lang: Lang, now: &str, runs: u64) -> String {
    let runs = continuing(lang, runs);
    say!(
        lang,
        "daemon {now} restarted: its program was replaced{runs}",
        "プログラムが更新されたため、デーモン {now} を再起動しました{runs}"
    )
}

fn continuing(lang: Lang, runs: u64) -> String {
    match (lang, runs) {
        (_, 0) => String::new(),
        (Lang::En, 1) => "; 1 run continues".to_owned(),
        (Lang::En, runs) => format!("; {runs} runs continue"),
        (Lang::Ja, runs) => format!("。{runs} 件の実行は継続しています"),
    }
}
