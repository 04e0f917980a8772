//! The command lines agents and people are given, ids and epoch filled in. `"…"` is what they say themselves.

use dandori_domain::{CommandId, Epoch, TaskId, shell_word};
use dandori_formation::AgentId;
use dandori_formation::result::Reported;

pub(super) fn result_write(agent: AgentId, task: TaskId, command: CommandId, epoch: Epoch, of: Reported) -> String {
    let epoch = epoch.0;
    match of {
        Reported::Completed => format!(
            "dandori result write {agent} --task-id {task} --command-id {command} --lease-epoch {epoch} --status completed --summary \"…\" --files-changed \"…\""
        ),
        Reported::Failed => format!(
            "dandori result write {agent} --task-id {task} --command-id {command} --lease-epoch {epoch} --status failed --exit-code 1 --summary \"…\""
        ),
    }
}

pub(super) fn heartbeat(agent: AgentId, task: TaskId, epoch: Epoch) -> String {
    let epoch = epoch.0;
    format!("dandori task heartbeat --task-id {task} --worker-id {agent} --epoch {epoch}")
}

pub(super) fn submit(command: CommandId) -> String {
    format!("dandori plan submit --command-id {command} --tasks-file -")
}

pub(super) fn fill(command: CommandId, phase: &str) -> String {
    let phase = shell_word(phase);
    format!("dandori plan submit --command-id {command} --phase {phase} --tasks-file -")
}

pub(super) fn complete(command: CommandId) -> String {
    format!("dandori plan complete --command-id {command} --summary \"…\"")
}

pub(super) fn retry(command: CommandId, task: TaskId, bloom_level: u8) -> String {
    format!(
        "dandori plan add-retry-task --command-id {command} --retry-of {task} --purpose \"…\" --content \"…\" --acceptance-criteria \"…\" --bloom-level {bloom_level}"
    )
}

pub(super) fn cancel(command: CommandId, by: AgentId) -> String {
    format!("dandori plan request-cancel --command-id {command} --requested-by {by} --reason \"…\"")
}

pub(super) fn show(command: CommandId) -> String {
    format!("dandori plan show --command-id {command}")
}

/// A text that is read from the lines below the command, so that nothing in it has to be quoted.
pub(super) fn with_lines(command: &str, word: &str, lines: &str) -> String {
    let lines = lines.trim_end();
    format!("{command} <<'{word}'\n{lines}\n{word}")
}
