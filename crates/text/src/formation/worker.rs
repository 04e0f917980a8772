//! A worker's task, as it is given to the worker.

use dandori_domain::Epoch;
use dandori_formation::result::Reported;
use dandori_formation::{AgentId, Brief, Message, Task};

use super::prompt::Prompt;
use super::{Handoff, lines};
use crate::Lang;
use crate::lang::say;

/// What a worker is told about its task.
#[derive(Clone, Copy, Debug)]
pub struct WorkerTask<'w> {
    pub message: &'w Message,
    pub task: &'w Task,
    pub brief: &'w Brief,
    /// Of the whole order.
    pub demands: &'w [String],
    /// What the tasks it waited for have handed over.
    pub before: &'w [Handoff<'w>],
    /// Attempts at the same work that failed: this stands in their place.
    pub failed: &'w [Handoff<'w>],
}

pub fn task(lang: Lang, given: WorkerTask<'_>) -> String {
    let WorkerTask { message, task, brief, demands, before, failed } = given;
    let (id, command, epoch, attempt) = (task.id, task.command, message.epoch, message.attempt());
    let mut prompt =
        Prompt::new(lang, &format!("task_id:{id} command_id:{command} lease_epoch:{} attempt:{attempt}", epoch.0));
    prompt
        .field("agent_id", &message.to.to_string())
        .field("purpose", &brief.purpose)
        .field("content", &brief.content)
        .field("acceptance_criteria", &brief.acceptance_criteria)
        .list("constraints", &brief.constraints)
        .field("tools_hint", &brief.tools_hint.join(", "))
        .field("persona_hint", brief.persona_hint.as_deref().unwrap_or_default())
        .field("skill_refs", &brief.skill_refs.join(", "));
    if !brief.expected_paths.is_empty() {
        prompt.field("expected_paths", &brief.expected_paths.join(", "));
    }
    let covered: Vec<(u32, &String)> =
        (1u32..).zip(demands).filter(|(number, _)| brief.covers.contains(number)).collect();
    if !covered.is_empty() {
        prompt.numbered("covers", covered);
    }
    if !before.is_empty() {
        prompt.list("results_before", before.iter().map(|handoff| handoff.said(lang)));
    }
    if !failed.is_empty() || message.last_error.is_some() {
        let last = message.last_error.clone().into_iter();
        prompt.list("earlier_failures", failed.iter().map(|handoff| handoff.said(lang)).chain(last));
    }
    let is_resume = message.lease().is_some_and(|lease| lease.is_resume);
    if is_resume {
        prompt.field("resume", &resumed(lang, epoch));
    }
    if let Some(misfit) = task.misfit.as_deref().filter(|_| task.repairs > 0) {
        prompt.field("repair", &repair(lang, misfit));
    }
    prompt.gap();
    report(lang, &mut prompt, message.to, task, epoch);
    prompt.done()
}

fn resumed(lang: Lang, epoch: Epoch) -> String {
    let epoch = epoch.0;
    say!(
        lang,
        "You were interrupted while working on this task. Continue where you stopped: check the files in your worktree first, do not start over. Report with lease epoch {epoch}; an earlier one is refused.",
        "このタスクの途中で中断されました。最初からやり直さず、まずワークツリーのファイルを確認し、中断したところから続けてください。報告には lease epoch {epoch} を使ってください。以前の値は拒否されます。"
    )
}

fn repair(lang: Lang, misfit: &str) -> String {
    say!(
        lang,
        "Your work could not be integrated:\n{misfit}\nThe integration branch was merged into your worktree. Where both sides changed the same lines, both are in the file between conflict markers. Resolve them, keep what the other tasks did, make the check pass, and report again. Do not start over.",
        "この作業は統合できませんでした:\n{misfit}\n統合ブランチをワークツリーにマージしてあります。同じ行を両方が変更した箇所は、コンフリクトマーカーで両方の内容がファイルに入っています。ほかのタスクの変更を残したまま解消し、チェックが通るようにしてから、もう一度報告してください。最初からやり直さないでください。"
    )
}

fn report(lang: Lang, prompt: &mut Prompt, agent: AgentId, task: &Task, epoch: Epoch) {
    let line = |of| lines::result_write(agent, task.id, task.command, epoch, of);
    let heartbeat = lines::heartbeat(agent, task.id, epoch);
    prompt
        .line(&say!(lang, "When you are done, report once:", "終わったら、1 回だけ報告してください:"))
        .line(&line(Reported::Completed))
        .line(&say!(
            lang,
            "--summary: what you did and what the others must know, in two to five sentences. --files-changed: paths separated by commas; leave it out if no file changed.",
            "--summary: 行ったことと、ほかの担当者が知っておくべきことを 2〜5 文で。--files-changed: パスをカンマ区切りで。変更がなければ省略してください。"
        ))
        .gap()
        .line(&say!(lang, "If you cannot do it, report that:", "できなかった場合は、そのことを報告してください:"))
        .line(&line(Reported::Failed))
        .line(&say!(
            lang,
            "--summary: what you tried and why it failed. Add --partial-changes if you may have left changes in the files, and --no-retry-safe if doing it again could do harm.",
            "--summary: 試したことと、失敗した理由。変更が途中まで残っている可能性があれば --partial-changes を、もう一度行うと問題が起きる可能性があれば --no-retry-safe を付けてください。"
        ))
        .gap()
        .line(&say!(
            lang,
            "Before a step that takes long without output: {heartbeat}",
            "出力のないまま長くかかる処理の前に: {heartbeat}"
        ));
}
