//! A deferred phase whose turn has come: what it depends on is done, and it wants its tasks.

use dandori_formation::assign::Crew;
use dandori_formation::{Command, Message, Phase, PhaseKind, PhaseState};

use super::crew;
use crate::Lang;
use crate::formation::prompt::Prompt;
use crate::formation::{Handoff, lines};
use crate::lang::say;

#[derive(Clone, Copy, Debug)]
pub struct PhaseToFill<'p> {
    pub message: &'p Message,
    pub command: &'p Command,
    pub phase: &'p Phase,
    /// Of the phases it depends on.
    pub results: &'p [Handoff<'p>],
    pub crew: &'p Crew,
}

pub fn fill(lang: Lang, given: PhaseToFill<'_>) -> String {
    let PhaseToFill { message, command, phase, results, .. } = given;
    let (name, id, state) = (&phase.name, phase.id, phase.state.name());
    let mut prompt = Prompt::new(lang, &format!("phase:{name} phase_id:{id} status:{state} command_id:{}", command.id));
    prompt.field("content", &command.content);
    let mut promised = Vec::new();
    if let PhaseKind::Deferred { constraints, .. } = &phase.kind {
        promised = (1u32..).zip(&command.demands).filter(|(n, _)| constraints.covers.contains(n)).collect();
        let levels: Vec<String> = constraints.allowed_bloom_levels.iter().map(u8::to_string).collect();
        prompt.field("max_tasks", &constraints.max_tasks.to_string()).field("allowed_bloom_levels", &levels.join(", "));
    }
    if let PhaseState::AwaitingFill { deadline } = &phase.state {
        prompt.field("fill_until", &deadline.to_string());
    }
    let numbers: Vec<String> = promised.iter().map(|(number, _)| number.to_string()).collect();
    if !promised.is_empty() {
        prompt.numbered("covers", promised);
    }
    prompt.list("results_before", results.iter().map(|handoff| handoff.said(lang)));
    crew(lang, &mut prompt, given.crew);
    if let Some(error) = &message.last_error {
        prompt.list("earlier_failures", [error]);
    }
    prompt
        .gap()
        .line(&say!(
            lang,
            "Plan the tasks of this phase from these results and submit them, once, before the deadline (blocked_by: only names of this phase):",
            "これらの結果をもとにこのフェーズのタスクを計画し、期限までに 1 回だけ提出してください (blocked_by に書けるのはこのフェーズの名前だけです):"
        ))
        .line(&lines::with_lines(&lines::fill(command.id, name), "PLAN", &skeleton(lang, &numbers)));
    if !numbers.is_empty() {
        prompt.line(&say!(
            lang,
            "This phase has promised the demands under covers: each must be covered by a task, or be named under left_out with a reason.",
            "covers の要求には、このフェーズで対応することになっています。それぞれをいずれかのタスクの covers に書くか、left_out に理由を付けて書いてください。"
        ));
    }
    prompt.done()
}

fn skeleton(lang: Lang, covers: &[String]) -> String {
    let (purpose, content, criteria) = match lang {
        Lang::En => ("what it is for", "what to do, with files and names", "how to check that it is done"),
        Lang::Ja => ("何のためか", "何をするか (ファイル名や名前も書く)", "できたことを確かめる方法"),
    };
    let covers = if covers.is_empty() { String::new() } else { format!("    covers: [{}]\n", covers.join(", ")) };
    format!(
        "tasks:\n  - name: short-name\n    purpose: {purpose}\n    content: |\n      {content}\n    acceptance_criteria: {criteria}\n    bloom_level: 3\n    blocked_by: []\n{covers}"
    )
}
