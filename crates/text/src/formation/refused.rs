//! Why a step of the protocol was refused, and what to do next. In English it is the refusal's own text; the same is said in
//! Japanese.

use dandori_domain::plain::plain;
use dandori_formation::Refused;
use dandori_formation::protocol::NoRequeue;

use super::lines;
use crate::lang::say;
use crate::{Lang, Said};

/// What agents wrote in it commands nobody's terminal.
pub fn refused(lang: Lang, refused: &Refused) -> Said {
    let what = match lang {
        Lang::En => refused.to_string(),
        Lang::Ja => japanese(refused),
    };
    let why = why(lang, refused);
    Said { what: plain(&what), why: why.as_deref().map(plain), hint: plain(&hint(lang, refused)) }
}

fn japanese(refused: &Refused) -> String {
    match refused {
        Refused::UnknownCommand { command } => format!("コマンド {command} はありません"),
        Refused::UnknownTask { task } => format!("タスク {task} はありません"),
        Refused::UnknownPhase { name } => format!("フェーズ {name} はありません"),
        Refused::UnknownMessage { message } => format!("メッセージ {message} はありません"),
        Refused::Empty => "文章が空です".to_owned(),
        Refused::TooLong { bytes, most } => format!("{bytes} バイトあります (上限 {most})"),
        Refused::TooManyCommands { count, most } => format!("待機中のコマンドが {count} 件あります (上限 {most})"),
        Refused::TooManyTasks { agent, count, most } => {
            format!("{agent} の待機中のタスクが {count} 件になります (上限 {most})")
        }
        Refused::NobodyCan { name } => format!("{name} を担当できるワーカーがいません"),
        Refused::Submitted { command } => format!("{command} の計画は提出済みです"),
        Refused::NotSubmitted { command } => format!("{command} の計画はまだ提出されていません"),
        Refused::Cancelling { command } => format!("{command} は取り消し中です"),
        Refused::Over { command, state } => format!("{command} は終了しています ({state})"),
        Refused::NotAwaitingFill { phase, state } => {
            format!("フェーズ {phase} は awaiting_fill ではありません ({state})")
        }
        Refused::TooLate { phase } => format!("フェーズ {phase} の期限が過ぎました"),
        Refused::NameTaken { name } => format!("名前 {name} はこの計画ですでに使われています"),
        Refused::NotYours { task, agent } => format!("{task} は {agent} のタスクではありません"),
        Refused::Stale { given, current, .. } => {
            format!("lease epoch {given} は古い値です (現在 {current})。報告は保存しました")
        }
        Refused::NeverGiven { given, current } => {
            format!("lease epoch {given} は渡されたことのない値です (最新 {current})")
        }
        Refused::LeaseLost { given, current } => format!("lease epoch {given} は古い値です (現在 {current})"),
        Refused::TaskOver { task, .. } => format!("{task} はすでに終了しています。報告は保存しました"),
        Refused::Replaced { task, by } => format!("{task} は {by} に置き換えられました。報告は保存しました"),
        Refused::SaysTooLittle => "要約の内容が足りません".to_owned(),
        Refused::NotComplete { tasks, phases } => {
            format!("まだ完了していません: タスク {} 件、フェーズ {} 件", tasks.len(), phases.len())
        }
        Refused::NotFailed { task, state } => {
            format!("{task} は {state} です。再試行できるのは失敗したタスクだけです")
        }
        Refused::PhaseClosed { task, state } => {
            format!("{task} のフェーズは {state} です。タスクは追加できません")
        }
        Refused::NotDead { message, delivery } => format!("{message} は配信不能ではありません ({delivery})"),
        Refused::CannotRequeue { message, why } => {
            let why = match why {
                NoRequeue::CommandOver => "コマンドが終了しています",
                NoRequeue::PhaseTimedOut => "フェーズが期限切れです",
            };
            format!("{message} はキューに戻せません: {why}")
        }
        Refused::NoReview { command } => format!("{command} は承認を待っていません"),
    }
}

/// What is still open, where that is what it is about.
fn why(lang: Lang, refused: &Refused) -> Option<String> {
    match refused {
        Refused::NotComplete { tasks, phases } => {
            let task = |name: &String| say!(lang, "task {name}", "タスク {name}");
            let phase = |name: &String| say!(lang, "phase {name}", "フェーズ {name}");
            let lines: Vec<String> = tasks.iter().map(task).chain(phases.iter().map(phase)).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        Refused::Stale { .. } => Some(say!(
            lang,
            "the task was given out again after the lease expired",
            "リースの期限が切れたため、タスクは改めて渡されました"
        )),
        _ => None,
    }
}

fn hint(lang: Lang, refused: &Refused) -> String {
    match refused {
        Refused::UnknownCommand { .. } | Refused::UnknownTask { .. } | Refused::UnknownMessage { .. } => say!(
            lang,
            "copy the id from the message you were given, or from `dandori status`",
            "受け取ったメッセージ、または `dandori status` の ID をそのまま使ってください"
        ),
        Refused::UnknownPhase { .. } => {
            say!(lang, "use the phase's name as it is in the plan", "計画に書いたフェーズの名前を指定してください")
        }
        Refused::Empty => say!(lang, "write what should be done or was done", "内容を書いてください"),
        Refused::TooLong { .. } => say!(
            lang,
            "put the details in a file of the repository and name the file",
            "詳細はリポジトリのファイルに書き、そのファイル名を書いてください"
        ),
        Refused::TooManyCommands { .. } => say!(
            lang,
            "wait until one of them is planned; `dandori status` shows them",
            "いずれかの計画が終わるまで待ってください。`dandori status` で確認できます"
        ),
        Refused::TooManyTasks { .. } => say!(
            lang,
            "submit fewer tasks, or move later work to a deferred phase",
            "タスクを減らすか、後の作業を deferred のフェーズに移してください"
        ),
        Refused::NobodyCan { .. } => say!(
            lang,
            "require only capabilities that a worker has; they are listed under crew",
            "required_capabilities には、crew に書かれているものだけを指定してください"
        ),
        Refused::Submitted { command } => {
            let show = lines::show(*command);
            say!(
                lang,
                "only failed tasks can be changed now, with add-retry-task; the plan: `{show}`",
                "変更できるのは失敗したタスクだけです (add-retry-task)。計画の確認: `{show}`"
            )
        }
        Refused::NotSubmitted { command } => {
            let submit = lines::submit(*command);
            say!(lang, "submit a plan first: `{submit}`", "先に計画を提出してください: `{submit}`")
        }
        Refused::Cancelling { .. } => say!(
            lang,
            "stop working on it; a cancelled command stays cancelled",
            "作業を終えてください。取り消したコマンドは元に戻せません"
        ),
        Refused::Over { command, .. } => {
            let show = lines::show(*command);
            say!(
                lang,
                "its results: `{show}`; further work needs a new order",
                "結果の確認: `{show}`。続きの作業には新しい依頼が必要です"
            )
        }
        Refused::NotAwaitingFill { .. } => say!(
            lang,
            "a phase is filled once, when you are told that it is awaiting_fill",
            "フェーズにタスクを提出できるのは、awaiting_fill の通知を受けてから 1 回だけです"
        ),
        Refused::TooLate { .. } => say!(
            lang,
            "nothing can be added to it; complete the command when you are told that everything is done",
            "タスクは追加できません。すべて終わったという通知を受けたら、コマンドを完了してください"
        ),
        Refused::NameTaken { .. } => say!(
            lang,
            "choose another name; names are unique in the whole plan",
            "別の名前にしてください。名前は計画全体で重複できません"
        ),
        Refused::NotYours { .. } => say!(
            lang,
            "report only your own task, with the command you were given",
            "受け取ったコマンドで、自分のタスクだけを報告してください"
        ),
        Refused::Stale { .. } | Refused::LeaseLost { .. } | Refused::TaskOver { .. } | Refused::Replaced { .. } => {
            say!(
                lang,
                "stop working on it; use the ids of the last message you were given",
                "この作業を終えてください。最後に受け取ったメッセージの ID を使ってください"
            )
        }
        Refused::NeverGiven { .. } => say!(
            lang,
            "copy the report command from the message you were given",
            "受け取ったメッセージの報告コマンドをそのまま使ってください"
        ),
        Refused::SaysTooLittle => say!(
            lang,
            "say in two to five sentences what you did, and what the others must know",
            "行ったことと、ほかの担当者が知っておくべきことを 2〜5 文で書いてください"
        ),
        Refused::NotComplete { .. } => say!(
            lang,
            "nothing was written; wait until you are told that everything is done",
            "何も記録していません。すべて終わったという通知を待ってください"
        ),
        Refused::NotFailed { .. } => say!(
            lang,
            "wait for its result; `dandori status` shows how far it is",
            "結果を待ってください。進み具合は `dandori status` で確認できます"
        ),
        Refused::PhaseClosed { .. } => say!(
            lang,
            "further work needs a new order: `dandori queue write planner --type command --content \"…\"`",
            "続きの作業には新しい依頼が必要です: `dandori queue write planner --type command --content \"…\"`"
        ),
        Refused::NotDead { .. } => {
            say!(lang, "`dandori dead-letter list` shows those that are", "一覧は `dandori dead-letter list`")
        }
        Refused::CannotRequeue { message, .. } => say!(
            lang,
            "see what it was about: `dandori dead-letter show {message}`",
            "内容の確認: `dandori dead-letter show {message}`"
        ),
        Refused::NoReview { command } => {
            let show = lines::show(*command);
            say!(lang, "see its state: `{show}`", "状態の確認: `{show}`")
        }
    }
}
