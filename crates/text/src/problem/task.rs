//! Instructions, tasks and runs.

use dandori_domain::problem::Rival;
use dandori_domain::run::Status;

use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn unusable_character(lang: Lang, what: &str, character: &str, line: usize) -> Said {
    let what_ja = match what {
        "instruction" => "指示",
        "base" => "ベース",
        "branch" => "ブランチ名",
        "session" => "セッション名",
        "agent" => "エージェント名",
        "model" => "モデル",
        "title" => "タイトル",
        "body" => "本文",
        other => other,
    };
    Said::what(say!(
        lang,
        "the {what} contains an unusable character: {character} in line {line}",
        "{what_ja}に使用できない文字があります: {line} 行目の {character}"
    ))
    .why(say!(
        lang,
        "it cannot be used in a program's argument or in a commit",
        "プログラムの引数にもコミットにも使えません"
    ))
    .hint(say!(lang, "remove it and try again", "削除して、もう一度実行してください"))
}

pub(super) fn empty_instruction(lang: Lang) -> Said {
    Said::what(say!(lang, "the instruction is empty", "指示が空です")).hint(say!(
        lang,
        "describe the task: `dandori run \"add a health endpoint\"`",
        "作業内容を書いてください: `dandori run \"ヘルスチェックを追加して\"`"
    ))
}

pub(super) fn instruction_too_long(lang: Lang, bytes: usize, limit: usize) -> Said {
    Said::what(say!(
        lang,
        "the instruction is too long: {bytes} bytes, the limit is {limit}",
        "指示が長すぎます: {bytes} バイト (上限 {limit})"
    ))
    .hint(say!(
        lang,
        "put the details in a file in the repository and mention the file in the instruction",
        "詳細はリポジトリのファイルに書き、指示ではそのファイル名を伝えてください"
    ))
}

pub(super) fn bad_budget(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "invalid budget `{text}`", "`{text}` は予算に指定できません")).hint(say!(
        lang,
        "use an amount in US dollars above 0, such as --budget 2.50",
        "0 より大きい米ドル額を指定してください (例: --budget 2.50)"
    ))
}

pub(super) fn no_such_task(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "task `{text}` not found", "タスク `{text}` が見つかりません")).hint(say!(
        lang,
        "list the tasks with `dandori task list`",
        "一覧は `dandori task list` で確認できます"
    ))
}

pub(super) fn no_such_need(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "`{text}` not found in the inbox", "要対応 `{text}` が見つかりません")).hint(say!(
        lang,
        "list everything with `dandori inbox -A` and `dandori inbox -A --snoozed`",
        "`dandori inbox -A` と `dandori inbox -A --snoozed` で一覧を確認できます"
    ))
}

pub(super) fn no_such_run(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "run `{text}` not found", "実行 `{text}` が見つかりません")).hint(say!(
        lang,
        "list the tasks and their agents with `dandori task list`",
        "タスクとエージェントの一覧は `dandori task list` で確認できます"
    ))
}

pub(super) fn ambiguous_reference(lang: Lang, text: &str, matches: &[String]) -> Said {
    let matches = matches.join("\n");
    Said::what(say!(lang, "`{text}` is ambiguous", "`{text}` に該当するものが複数あります")).why(matches).hint(say!(
        lang,
        "use the full name of one of them",
        "いずれかを省略せずに指定してください"
    ))
}

pub(super) fn cannot_cancel(lang: Lang, status: Status) -> Said {
    Said::what(say!(lang, "cannot cancel a {status} run", "{status} の実行は取り消せません"))
        .why(say!(
            lang,
            "only PENDING and RUNNING runs can be canceled",
            "取り消せるのは PENDING または RUNNING の実行だけです"
        ))
        .hint(say!(
            lang,
            "check the current state with `dandori task list`",
            "現在の状態は `dandori task list` で確認できます"
        ))
}

pub(super) fn cannot_retry(lang: Lang, run: &str, status: Status) -> Said {
    Said::what(say!(lang, "cannot retry a {status} run", "{status} の実行は再試行できません")).hint(say!(
        lang,
        "give further instructions with `dandori task follow-up {run} \"…\"`",
        "追加の指示は `dandori task follow-up {run} \"…\"` で出せます"
    ))
}

pub(super) fn task_is_busy(lang: Lang, run: &str, status: Status) -> Said {
    if status.is_terminal() {
        return Said::what(say!(
            lang,
            "the worktree of {run} ({status}) is still being cleaned up",
            "{run} ({status}) のワークツリーを片付けている途中です"
        ))
        .hint(say!(lang, "try again in a moment", "しばらくしてから、もう一度実行してください"));
    }
    Said::what(say!(
        lang,
        "the task is still in progress: {run} is {status}",
        "タスクはまだ進行中です: {run} ({status})"
    ))
    .hint(say!(
        lang,
        "wait until it is done, or cancel it with `dandori task cancel {run}`",
        "完了を待つか、`dandori task cancel {run}` で取り消してください"
    ))
}

pub(super) fn nothing_to_pick(lang: Lang, task: &str) -> Said {
    Said::what(say!(lang, "cannot pick this run of {task}", "{task} のこの実行は採用できません"))
        .why(say!(
            lang,
            "only a SUCCEEDED run with changes can be picked",
            "採用できるのは、変更のある SUCCEEDED の実行だけです"
        ))
        .hint(say!(
            lang,
            "`dandori task show {task}` shows the state of its runs",
            "各実行の状態は `dandori task show {task}` で確認できます"
        ))
}

pub(super) fn which_agent(lang: Lang, task: &str, rivals: &[Rival]) -> Said {
    let named = rivals.iter().map(|rival| format!("{}  {}  {}", rival.run, rival.state, rival.agent));
    let commands: Vec<String> = rivals.iter().map(|r| format!("`dandori task diff {}`", r.run)).collect();
    let (en, ja) = (commands.join(" or "), commands.join(" または "));
    Said::what(say!(
        lang,
        "several agents worked on {task}, and none is picked",
        "{task} には複数のエージェントの結果があり、どれも採用されていません"
    ))
    .why(named.collect::<Vec<_>>().join("\n"))
    .hint(say!(lang, "name one: {en}", "1 つ指定してください: {ja}"))
}
