//! The rehearsal agent in a formation: it reads its message as any agent would, and answers with the commands it was given.
//!
//! As planner it makes a task of every demand of the order, the last of which waits for all others; `rehearse: ` lines of the
//! order go to the tasks they name (`rehearse: 2 write b.txt Two` is for the second). As worker it plays the lines of its task
//! and reports. As orchestrator it repeats what it was told.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{MARK, play, say};

/// What was delivered, by the first line of it.
enum Delivered<'m> {
    Order {
        command: &'m str,
    },
    Fill {
        command: &'m str,
        phase: &'m str,
    },
    Digest {
        command: &'m str,
    },
    Task {
        task: &'m str,
        epoch: &'m str,
    },
    /// Something to be heard.
    Told,
}

/// `None`: it is no message of a formation.
pub(super) fn answer(instruction: &str) -> Option<Result<(), String>> {
    let header = instruction.lines().rev().find_map(|line| line.strip_prefix("[dandori] "))?;
    Some(match delivered(header) {
        Delivered::Order { command } => submit(command, None, &tasks(&numbered(instruction, "demands:"), instruction)),
        Delivered::Fill { command, phase } => {
            submit(command, Some(phase), &tasks(&numbered(instruction, "covers:"), instruction))
        }
        Delivered::Digest { command } => decide(command, instruction),
        Delivered::Task { task, epoch } => work(task, epoch, instruction),
        Delivered::Told => {
            say(&format!("heard: {header}"));
            Ok(())
        }
    })
}

fn delivered(header: &str) -> Delivered<'_> {
    let field = |name: &str| header.split(' ').find_map(|part| part.strip_prefix(name)?.strip_prefix(':'));
    match (field("task_id"), field("phase"), field("kind"), field("command_id"), field("lease_epoch")) {
        (Some(task), _, _, _, Some(epoch)) => Delivered::Task { task, epoch },
        (_, Some(phase), _, Some(command), _) => Delivered::Fill { command, phase },
        (_, _, Some("digest"), Some(command), _) => Delivered::Digest { command },
        (_, _, None, Some(command), Some(_)) => Delivered::Order { command },
        _ => Delivered::Told,
    }
}

/// The numbered list below a field.
fn numbered(instruction: &str, field: &str) -> Vec<(u32, String)> {
    let lines = instruction.lines().skip_while(|line| *line != field).skip(1);
    let entry = |line: &str| {
        let (number, words) = line.trim_start().split_once(". ")?;
        Some((number.parse().ok()?, words.to_owned()))
    };
    lines.take_while(|line| line.starts_with(' ')).filter_map(entry).collect()
}

/// The plan as YAML. A text in double quotes is YAML when it is JSON.
fn tasks(demands: &[(u32, String)], instruction: &str) -> String {
    let whole = [(0, "do what the order says".to_owned())];
    let parts = if demands.is_empty() { &whole } else { demands };
    let mut lines = vec!["tasks:".to_owned()];
    for (place, (number, words)) in parts.iter().enumerate() {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let is_last = place + 1 == parts.len();
        let before: Vec<String> = parts.iter().take(place).map(|(number, _)| format!("part-{number}")).collect();
        let blocked_by = if is_last && before.len() > 1 { before.join(", ") } else { String::new() };
        let covers = if *number > 0 { format!("[{number}]") } else { "[]".to_owned() };
        lines.extend([
            format!("  - name: part-{number}"),
            format!("    purpose: {}", quoted(words)),
            format!("    content: {}", quoted(&content(*number, words, instruction))),
            "    acceptance_criteria: the file is there".to_owned(),
            "    bloom_level: 2".to_owned(),
            "    required: true".to_owned(),
            format!("    blocked_by: [{blocked_by}]"),
            format!("    covers: {covers}"),
        ]);
    }
    lines.join("\n") + "\n"
}

/// What a worker is told to play: the order's own lines for it, else a file that shows it was there.
fn content(number: u32, words: &str, instruction: &str) -> String {
    let own = format!("{MARK}{number} ");
    let mut lines: Vec<String> = instruction
        .lines()
        .filter_map(|line| line.trim().strip_prefix(own.as_str()))
        .map(|line| format!("{MARK}{line}"))
        .collect();
    if lines.is_empty() {
        lines.push(format!("{MARK}write part-{number}.md {words}"));
    }
    format!("{words}\n{}", lines.join("\n"))
}

fn submit(command: &str, phase: Option<&str>, plan: &str) -> Result<(), String> {
    say(plan);
    let mut args = vec!["plan", "submit", "--command-id", command, "--tasks-file", "-"];
    args.extend(phase.into_iter().flat_map(|phase| ["--phase", phase]));
    dandori(&args, plan)
}

/// Everything is done: so it says. Otherwise there is nothing it could do better.
fn decide(command: &str, instruction: &str) -> Result<(), String> {
    if !instruction.lines().any(|line| line.starts_with("dandori plan complete ")) {
        say("nothing to decide");
        return Ok(());
    }
    let summary = "All tasks of the plan are done and merged.";
    dandori(&["plan", "complete", "--command-id", command, "--summary", summary], "")
}

fn work(task: &str, epoch: &str, instruction: &str) -> Result<(), String> {
    let field = |name: &str| instruction.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let worker = field("agent_id").unwrap_or("worker1");
    let mut done = Ok(());
    for line in super::scene(instruction) {
        done = play(line);
        if done.is_err() {
            break;
        }
    }
    let purpose = field("purpose").unwrap_or("the task");
    let (status, summary) = match &done {
        Ok(()) => ("completed", format!("Did as planned, nothing else changed: {purpose}")),
        Err(trouble) => ("failed", trouble.clone()),
    };
    let args = ["result", "write", worker, "--task-id", task, "--lease-epoch", epoch, "--status", status];
    dandori(&[&args[..], &["--summary", &summary]].concat(), "")?;
    say(&summary);
    done
}

/// dandori itself, as an agent would call it.
fn dandori(args: &[&str], input: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|e| format!("cannot find dandori: {e}"))?;
    say(&format!("$ dandori {}", args.join(" ")));
    #[expect(clippy::disallowed_methods, reason = "an agent starts programs as it likes")]
    let started = Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|e| format!("cannot start dandori: {e}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input.as_bytes()).map_err(|e| format!("cannot write: {e}"))?;
    }
    let output = child.wait_with_output().map_err(|e| format!("cannot wait: {e}"))?;
    say(String::from_utf8_lossy(&output.stdout).trim_end());
    if output.status.success() { Ok(()) } else { Err(format!("dandori {} failed", args.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "# Your role\n\n[dandori] command_id:cmd_1 lease_epoch:1 attempt:1\n\ncontent:\n  Do it.\n  \
        rehearse: 2 write b.txt Two\ndemands:\n  1. One\n  2. Two: \"quoted\"\n  3. Three\ncrew:\n  - worker1: rehearsal\n";

    #[test]
    fn a_message_is_known_by_its_first_line() {
        let is = |header| match delivered(header) {
            Delivered::Order { command } => format!("order {command}"),
            Delivered::Fill { command, phase } => format!("fill {phase} of {command}"),
            Delivered::Digest { command } => format!("digest {command}"),
            Delivered::Task { task, epoch } => format!("task {task} {epoch}"),
            Delivered::Told => "told".to_owned(),
        };
        assert_eq!(is("command_id:c lease_epoch:1 attempt:1"), "order c");
        assert_eq!(is("phase:build phase_id:p status:awaiting_fill command_id:c"), "fill build of c");
        assert_eq!(is("kind:digest command_id:c results:2"), "digest c");
        assert_eq!(is("task_id:t command_id:c lease_epoch:2 attempt:1"), "task t 2");
        assert_eq!(is("kind:command_completed command_id:c status:completed"), "told");
    }

    #[test]
    fn each_demand_is_a_task_with_its_own_lines_and_the_last_waits_for_all() {
        let plan = tasks(&numbered(ORDER, "demands:"), ORDER);
        let (read, problems) = dandori_formation::plan::read(&plan);
        assert_eq!(problems, []);
        let dandori_formation::plan::Body::Tasks(tasks) = read.unwrap().body else { panic!("{plan}") };
        assert_eq!(tasks.len(), 3);
        assert_eq!(tasks[1].brief.content, "Two: \"quoted\"\nrehearse: write b.txt Two");
        assert_eq!(tasks[2].blocked_by, ["part-1", "part-2"]);
        assert_eq!(tasks.iter().map(|task| task.brief.covers[0]).collect::<Vec<_>>(), [1, 2, 3]);
    }
}
