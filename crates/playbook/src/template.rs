//! What a new `state.md` and a new playbook look like.

/// A `state.md` with nothing under way.
pub fn state_template(japanese: bool) -> String {
    let (intro, active, security, toolstack) = if japanese {
        (
            "このリポジトリの現在の状態です。人と dandori が読み書きします。作業の詳細は `playbook.active` で指定した playbook にあります。",
            "plan/playbook-<名前>.md。なければ null",
            "normal か admin",
            "A、B、C のいずれか",
        )
    } else {
        (
            "The current state of this repository, read and written by people and by dandori. The details of the work are \
             in the playbook named by `playbook.active`.",
            "plan/playbook-<name>.md, or null",
            "normal or admin",
            "A, B or C",
        )
    };
    format!(
        "---\n\
         playbook:\n  active: null  # {active}\n  branch: null\n  last_archived: null\n\
         goal:\n  milestone: null\n  phase: null\n  done_criteria: []\n\
         session:\n  last_start: null\n  last_end: null\n\
         verification:\n  self_complete: false\n\
         config:\n  security: normal  # {security}\n  toolstack: A  # {toolstack}\n  \
         roles:\n    orchestrator: claude\n    worker: claude\n    reviewer: claude\n\
         ---\n\n# State\n\n{intro}\n"
    )
}

/// A playbook to be filled in: one phase, and the one that looks at the whole.
pub fn playbook_template(name: &str, branch: &str, japanese: bool) -> String {
    let words = if japanese { JAPANESE } else { ENGLISH };
    let Words { goal, why, phase, criterion, subtasks, subtask, last, whole } = words;
    format!(
        "---\nname: {name}\nbranch: {branch}\nreviewed: false\nexecutor: claude\nscope: []\n---\n\n\
         # {name}\n\n## {goal}\n\n{why}\n\n\
         ## p1: {phase}\n\n- status: pending\n- depends_on: []\n- executor: claude\n- done_criteria:\n  - {criterion}\n\n\
         ### {subtasks}\n\n- [ ] p1.1: {subtask}\n  - validation: automated\n  - technical: TODO\n  \
         - consistency: TODO\n  - completeness: TODO\n\n\
         ## p_final: {last}\n\n- status: pending\n- depends_on: [p1]\n- executor: claude\n- done_criteria:\n  - {whole}\n"
    )
}

struct Words {
    goal: &'static str,
    why: &'static str,
    phase: &'static str,
    criterion: &'static str,
    subtasks: &'static str,
    subtask: &'static str,
    last: &'static str,
    whole: &'static str,
}

const ENGLISH: Words = Words {
    goal: "Goal",
    why: "What should be true when this is done, and why.",
    phase: "First step",
    criterion: "A command that proves it, and its output",
    subtasks: "Subtasks",
    subtask: "One step, small enough to be verified on its own",
    last: "Final review",
    whole: "All tests pass, and the goal above can be demonstrated",
};

const JAPANESE: Words = Words {
    goal: "目的",
    why: "完了時に何が実現しているべきか、その理由。",
    phase: "最初の作業",
    criterion: "それを証明するコマンドと、その出力",
    subtasks: "サブタスク",
    subtask: "単独で検証できる大きさの手順",
    last: "最終確認",
    whole: "すべてのテストが通り、上の目的を達成したことを示せる",
};
