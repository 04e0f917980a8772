//! What has come back since the planner was last told, because something has to be decided.

use dandori_formation::{Command, Outcome, Task, TaskState};

use crate::Lang;
use crate::formation::prompt::Prompt;
use crate::formation::{Handoff, lines};
use crate::lang::say;

#[derive(Clone, Copy, Debug)]
pub struct Digest<'d> {
    pub command: &'d Command,
    /// Since the last time.
    pub results: &'d [Handoff<'d>],
    /// Tasks whose work could not be fitted in: they wait for the planner.
    pub paused: &'d [&'d Task],
    /// What the command has come to; `None`: not everything is done.
    pub outcome: Option<Outcome>,
}

pub fn digest(lang: Lang, given: Digest<'_>) -> String {
    let Digest { command, results, paused, outcome } = given;
    let (id, tally) = (command.id, command.tally);
    let mut prompt = Prompt::new(lang, &format!("kind:digest command_id:{id} results:{}", results.len()));
    prompt.list("results", results.iter().map(|handoff| handoff.said(lang)));
    let (open, completed, failed, cancelled) = (tally.open, tally.completed, tally.failed, tally.cancelled);
    prompt.field("tasks", &format!("open {open}, completed {completed}, failed {failed}, cancelled {cancelled}"));
    let failed: Vec<&Task> = results
        .iter()
        .filter(|handoff| handoff.result.outcome == Outcome::Failed && handoff.task.is_current())
        .map(|handoff| handoff.task)
        .collect();
    for task in &failed {
        decide(lang, &mut prompt, task);
    }
    for task in paused {
        decide(lang, &mut prompt, task);
    }
    prompt.gap();
    match outcome {
        Some(outcome) => end(lang, &mut prompt, command, outcome),
        None if failed.is_empty() && paused.is_empty() => {
            prompt.line(&say!(
                lang,
                "Nothing has to be decided now. The other tasks are still in progress; you will be told.",
                "いま判断が必要なことはありません。ほかのタスクは進行中です。必要になれば通知します。"
            ));
        }
        None => {
            prompt.line(&say!(
                lang,
                "The other tasks are still in progress. If you do not retry a required task, the command fails.",
                "ほかのタスクは進行中です。必須のタスクを再試行しなければ、コマンドは失敗になります。"
            ));
        }
    }
    prompt.done()
}

fn decide(lang: Lang, prompt: &mut Prompt, task: &Task) {
    let (name, id) = (&task.name, task.id);
    prompt.gap();
    match &task.state {
        TaskState::PausedForReplan { why, .. } => {
            let repairs = task.repairs;
            prompt
                .line(&say!(
                    lang,
                    "To decide: {name} ({id}) could not be integrated after {repairs} repairs and is paused:",
                    "要判断: {name} ({id}) は {repairs} 回修正しても統合できず、停止しています:"
                ))
                .field("reason", why);
        }
        _ => {
            prompt.line(&say!(lang, "To decide: {name} ({id}) failed.", "要判断: {name} ({id}) が失敗しました。"));
        }
    }
    prompt
        .line(&say!(
            lang,
            "Retry it with a better description (what waits for it is planned again):",
            "内容を見直して再試行する場合 (これを待つタスクも計画に戻ります):"
        ))
        .line(&lines::retry(task.command, id, task.bloom_level));
}

fn end(lang: Lang, prompt: &mut Prompt, command: &Command, outcome: Outcome) {
    let name = outcome.name();
    let told = match outcome {
        Outcome::Completed => say!(
            lang,
            "Everything is done. Check the results against the order, then end the command:",
            "すべて終わりました。結果を依頼内容と照らし合わせてから、コマンドを完了してください:"
        ),
        Outcome::Failed | Outcome::Cancelled => say!(
            lang,
            "Nothing is in progress any more. If you retry nothing, end the command; it ends as {name}:",
            "進行中のタスクはもうありません。再試行しない場合は、コマンドを完了してください。状態は {name} になります:"
        ),
    };
    prompt.line(&told).line(&lines::complete(command.id)).line(&say!(
        lang,
        "--summary: what was done and what was not, for the user. The status follows from the tasks.",
        "--summary: できたこととできなかったことを、ユーザー向けに。状態はタスクの結果から決まります。"
    ));
}
