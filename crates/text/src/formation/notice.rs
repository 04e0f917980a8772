//! What the orchestrator and the user hear, the words of a person, and the one line that is typed into a pane.

use dandori_api::PullLink;
use dandori_domain::{CommandId, MessageId, shell_word};
use dandori_formation::continuous::{Continuous, StopReason};
use dandori_formation::{AgentId, Command, Outcome, ResultRow};

use super::lines;
use super::prompt::Prompt;
use crate::Lang;
use crate::lang::say;

/// A command is over.
#[derive(Clone, Copy, Debug)]
pub struct CommandOver<'n> {
    pub command: &'n Command,
    pub result: &'n ResultRow,
    pub pr: Option<&'n PullLink>,
    pub continuous: &'n Continuous,
}

/// To the orchestrator: a command is over, and where to look.
pub fn command_over(lang: Lang, given: CommandOver<'_>) -> String {
    let CommandOver { command, result, pr, continuous } = given;
    let (id, status) = (command.id, result.outcome.name());
    let mut prompt = Prompt::new(lang, &format!("kind:command_completed command_id:{id} status:{status}"));
    let tally = command.tally;
    let (completed, failed, cancelled) = (tally.completed, tally.failed, tally.cancelled);
    prompt
        .field("content", &command.content)
        .field("summary", &result.report.summary)
        .field("tasks", &format!("completed {completed}, failed {failed}, cancelled {cancelled}"))
        .field("pull_request", pr.map(|pr| pr.url.as_str()).unwrap_or_default())
        .gap()
        .line(&say!(lang, "All tasks and their results:", "すべてのタスクと結果:"))
        .line(&lines::show(id));
    prompt.gap();
    if continuous.goes_on() {
        next(lang, &mut prompt, continuous);
    } else {
        prompt.line(&say!(
            lang,
            "Tell the user the result in a few sentences: what was done, what was not, and what the user should look at. Do not give a new order by yourself.",
            "結果をユーザーに短く報告してください: できたこと、できなかったこと、確認してほしいこと。自分の判断で新しい依頼を出さないでください。"
        ));
        if let Some(reason) = continuous.stopped {
            prompt.line(&stopped(lang, reason));
        }
    }
    prompt.done()
}

/// Continuous mode: evaluate, then decide.
fn next(lang: Lang, prompt: &mut Prompt, continuous: &Continuous) {
    let (at, most) = (continuous.current_iteration, continuous.max_iterations);
    let counted = if most > 0 { format!("{at}/{most}") } else { at.to_string() };
    prompt
        .line(&say!(
            lang,
            "Continuous mode, iteration {counted}. Evaluate the result against the user's goal, then decide one of these:",
            "継続モード、{counted} 回目。結果をユーザーの目標と照らし合わせて評価し、次のいずれかを選んでください:"
        ))
        .line(&say!(
            lang,
            "- the next order, or an order that fixes what is wrong: dandori queue write planner --type command --content \"…\"",
            "- 次の依頼、または問題を直す依頼を出す: dandori queue write planner --type command --content \"…\""
        ))
        .line(&say!(lang, "- ask the user, and wait for the answer", "- ユーザーに質問し、回答を待つ"))
        .line(&say!(
            lang,
            "- the goal is reached: tell the user, and give no further order",
            "- 目標を達成した: ユーザーに報告し、新しい依頼は出さない"
        ));
}

/// Why continuous mode gives no further order.
pub fn stopped(lang: Lang, reason: StopReason) -> String {
    match reason {
        StopReason::MaxIterationsReached => say!(
            lang,
            "Continuous mode has stopped: the maximum number of iterations is reached.",
            "継続モードは停止しました: 最大回数に達しました。"
        ),
        StopReason::TaskFailed => say!(
            lang,
            "Continuous mode has stopped: a task failed.",
            "継続モードは停止しました: タスクが失敗しました。"
        ),
        StopReason::ConsecutiveFailures => say!(
            lang,
            "Continuous mode has stopped: too many orders failed in a row.",
            "継続モードは停止しました: 依頼が続けて失敗しました。"
        ),
        StopReason::Stalled => say!(
            lang,
            "Continuous mode has stopped: nothing has happened for too long.",
            "継続モードは停止しました: 長いあいだ進展がありません。"
        ),
        StopReason::Done => {
            say!(lang, "Continuous mode has ended: everything is done.", "継続モードは終了しました: すべて完了です。")
        }
        StopReason::Requested => say!(
            lang,
            "Continuous mode has stopped: a person asked for it.",
            "継続モードは停止しました: ユーザーが停止しました。"
        ),
    }
}

/// A person's words, about a command or about nothing in particular.
pub fn words(lang: Lang, command: Option<&Command>, words: &str) -> String {
    let header = command.map(|command| format!(" command_id:{}", command.id)).unwrap_or_default();
    let mut prompt = Prompt::new(lang, &format!("kind:message{header}"));
    prompt.field("message", words);
    if let Some(command) = command {
        let told = if command.is_sealed() {
            say!(
                lang,
                "The user says this about the order. Its plan cannot be extended, but a failed task can be retried with what you know now. If the order as a whole is no longer wanted:",
                "この依頼についてのユーザーの言葉です。計画にタスクは追加できませんが、失敗したタスクはこれを踏まえて再試行できます。依頼全体が不要になった場合:"
            )
        } else {
            say!(
                lang,
                "The user says this about the order. Take it into account when you plan it. If the order is no longer wanted:",
                "この依頼についてのユーザーの言葉です。計画するときに考慮してください。依頼が不要になった場合:"
            )
        };
        prompt.gap().line(&told).line(&lines::cancel(command.id, AgentId::Planner));
    }
    prompt.done()
}

/// The one short line that is typed into a pane. The client's own event carries the id back, which shows that it has it.
pub fn pointer(lang: Lang, message: MessageId, path: &str) -> String {
    let path = shell_word(path);
    say!(
        lang,
        "[dandori] message_id:{message} Read {path} and do what it says.",
        "[dandori] message_id:{message} {path} を読み、その内容に従ってください。"
    )
}

/// The user's notification: a command is over.
pub fn told(lang: Lang, command: CommandId, outcome: Outcome) -> String {
    match outcome {
        Outcome::Completed => say!(lang, "{command} is completed", "{command} が完了しました"),
        Outcome::Failed => say!(lang, "{command} failed", "{command} が失敗しました"),
        Outcome::Cancelled => say!(lang, "{command} was cancelled", "{command} が取り消されました"),
    }
}
