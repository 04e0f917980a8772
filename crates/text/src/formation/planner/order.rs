//! An order to plan.

use dandori_formation::assign::Crew;
use dandori_formation::{Command, Message, Rules};

use super::{crew, example};
use crate::Lang;
use crate::formation::lines;
use crate::formation::prompt::Prompt;
use crate::lang::say;

#[derive(Clone, Copy, Debug)]
pub struct OrderToPlan<'o> {
    pub message: &'o Message,
    pub command: &'o Command,
    pub crew: &'o Crew,
    pub rules: &'o Rules,
}

pub fn order(lang: Lang, given: OrderToPlan<'_>) -> String {
    let OrderToPlan { message, command, rules, .. } = given;
    let (id, epoch, attempt) = (command.id, message.epoch.0, message.attempt());
    let mut prompt = Prompt::new(lang, &format!("command_id:{id} lease_epoch:{epoch} attempt:{attempt}"));
    prompt.field("content", &command.content);
    if !command.demands.is_empty() {
        prompt.numbered("demands", (1u32..).zip(&command.demands));
    }
    crew(lang, &mut prompt, given.crew);
    prompt.field("limits", &limits(lang, rules));
    if let Some(error) = &message.last_error {
        prompt.list("earlier_failures", [error]);
    }
    prompt.gap();
    submit(lang, &mut prompt, command);
    prompt.gap();
    if !command.demands.is_empty() {
        coverage(lang, &mut prompt);
        prompt.gap();
    }
    prompt
        .line(&say!(
            lang,
            "You will be told when something has to be decided, and when everything is done. Then, not before:",
            "判断が必要になったときと、すべて終わったときに通知します。完了の報告は、その通知を受けてから行ってください:"
        ))
        .line(&lines::complete(id));
    prompt.done()
}

fn limits(lang: Lang, rules: &Rules) -> String {
    let (tasks, waiting, bytes) = (rules.tasks_per_plan, rules.pending_per_worker, rules.content_bytes);
    say!(
        lang,
        "at most {tasks} tasks in a plan, {waiting} waiting tasks per worker, {bytes} bytes per text",
        "計画のタスクは {tasks} 個まで、待機中のタスクはワーカーごとに {waiting} 個まで、1 つの文章は {bytes} バイトまで"
    )
}

fn submit(lang: Lang, prompt: &mut Prompt, command: &Command) {
    let (line, demands) = (lines::submit(command.id), command.demands.len());
    prompt
        .line(&say!(
            lang,
            "Answer the Five Questions (what, who, order, risk, verify), then submit the plan, once. An example of its shape:",
            "Five Questions (What、Who、Order、Risk、Verify) に答えてから、計画を 1 回だけ提出してください。書き方の例:"
        ))
        .line(&lines::with_lines(&line, "PLAN", &example::plan(lang, demands)))
        .gap()
        .line(&say!(
            lang,
            "If the work can only be planned after research, submit phases instead of tasks:",
            "調べてからでないと計画できない場合は、tasks の代わりに phases を提出してください:"
        ))
        .line(&lines::with_lines(&line, "PLAN", &example::phases(lang, demands)))
        .gap()
        .line(&say!(
            lang,
            "With --dry-run the plan is only checked. If it is refused, every problem is listed with its path: fix them all and submit again. If one agent would do the work better (one task, or a chain in which nothing runs in parallel), submit that: it becomes a plain run.",
            "--dry-run を付けると検査だけを行います。拒否された場合は、すべての問題が場所とともに表示されます。すべて直して、もう一度提出してください。1 つのエージェントに任せるほうがよい作業 (タスクが 1 つ、または並行できない一続きの作業) は、そのまま提出してください。通常の実行になります。"
        ));
}

fn coverage(lang: Lang, prompt: &mut Prompt) {
    prompt
        .line(&say!(
            lang,
            "Every demand must be covered: each task names the demands it meets (covers: [1, 3]), a deferred phase those it will meet. What you leave out you name with a reason, beside tasks or phases:",
            "すべての要求に対応してください。各タスクには対応する要求の番号を (covers: [1, 3])、deferred のフェーズには後で対応する番号を書きます。対応しない要求は、tasks や phases と同じ階層に理由を付けて書いてください:"
        ))
        .line("left_out:")
        .line("  - demand: 2")
        .line(&say!(lang, "    reason: needs a decision by the user", "    reason: ユーザーの判断が必要なため"))
        .line(&say!(
            lang,
            "A demand that is neither covered nor left out is refused.",
            "どちらにも書かれていない要求があると、計画は拒否されます。"
        ));
}
