//! `dandori guard explain`

use std::process::ExitCode;

use clap::Args;
use dandori_api::{GuardExplained, GuardWord, ReadCommand, ReadOpaque, ReadWrite, ReadingView};
use dandori_guard::{Client, Judgement, Permission, decode};
use dandori_shell::{Command, Options, Reach, Reading};
use dandori_text::guard::verbs::{self as text, Part};
use serde_json::json;

use super::Context;
use crate::guarded::judge_all;
use crate::out::{Failed, Out, bad, bold, dim, good};

#[derive(Args)]
pub(crate) struct GuardExplainArgs {
    /// Command line to explain
    command: String,
}

pub(crate) fn run(args: &GuardExplainArgs, context: &Context) -> Result<ExitCode, Failed> {
    let here = context.here()?;
    let event = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": here,
        "tool_input": { "command": args.command },
    });
    let event = decode(event.to_string().as_bytes(), Some(Client::Claude))
        .map_err(|e| Failed::Refused(text::bad_event(context.out.lang, &e.to_string())))?;
    let options = Options {
        home: context.env.home().map(camino::Utf8PathBuf::into_string),
        cwd: Some(here.into_string()),
        ..Options::default()
    };
    let reading = dandori_shell::read_with(&args.command, &options);
    let (session, judged) = judge_all(context, &event)?;
    let out = &context.out;
    out.object(&GuardExplained {
        command: args.command.clone(),
        reading: read(&reading),
        guards: guard_words(&judged.judgement),
        verdict: verdict_word(&judged.judgement).to_owned(),
    });
    show_reading(out, &reading);
    show_guards(out, &judged.judgement);
    let by_session: Vec<&str> =
        ["init", "consent"].into_iter().filter(|name| session.rules.active(name).is_some()).collect();
    if !by_session.is_empty() {
        out.note(text::by_session(out.lang, &by_session.join(", ")));
    }
    Ok(ExitCode::SUCCESS)
}

fn show_reading(out: &Out, reading: &Reading) {
    let lang = out.lang;
    section(
        out,
        Part::Commands,
        reading.commands.iter().map(|command| {
            let ways: Vec<String> = command.reached.iter().map(way).collect();
            let by = if ways.is_empty() {
                String::new()
            } else {
                format!("  {}", dim(&text::reached(lang, &ways.join(" → "))))
            };
            format!("{}{by}", line(command))
        }),
    );
    section(
        out,
        Part::Writes,
        reading.writes.iter().map(|w| format!("{}  {}", w.path.text, dim(text::written(lang, &how(w))))),
    );
    section(out, Part::Reads, reading.reads.iter().map(|r| r.path.text.clone()));
    section(out, Part::Scripts, reading.scripts.iter().map(|s| s.path.text.clone()));
    section(out, Part::Remote, reading.remote.iter().map(|r| format!("{}: {}", r.by, r.text)));
    section(out, Part::Opaque, reading.opaque.iter().map(|o| bad(&o.text)));
}

fn section(out: &Out, part: Part, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return;
    }
    out.line(bold(text::part(out.lang, part)));
    for line in lines {
        out.line(format!("  {line}"));
    }
}

fn line(command: &Command) -> String {
    let set = command.assignments.iter().map(|(name, value)| format!("{name}={}", value.text));
    set.chain([command.line()]).collect::<Vec<_>>().join(" ")
}

fn way(reach: &Reach) -> String {
    match reach {
        Reach::Wrapper(name)
        | Reach::ShellCode(name)
        | Reach::Function(name)
        | Reach::Alias(name)
        | Reach::Script(name)
        | Reach::Setting(name)
        | Reach::Interpreter(name) => name.clone(),
        Reach::Eval => "eval".to_owned(),
        Reach::Trap => "trap".to_owned(),
        Reach::Substitution => "$(…)".to_owned(),
        Reach::Coprocess => "coproc".to_owned(),
    }
}

/// Each guard's word and why; then what it comes to.
pub(super) fn show_guards(out: &Out, judgement: &Judgement) {
    let lang = out.lang;
    out.line(bold(text::part(lang, Part::Guards)));
    let width = judgement.steps.iter().map(|step| step.guard.len()).max().unwrap_or_default();
    for step in &judgement.steps {
        let word = text::outcome(lang, step.outcome.as_str());
        let word = match step.outcome.as_str() {
            "pass" | "excepted" => good(word),
            "block" | "error" | "ask" => bad(word),
            _ => bold(word),
        };
        out.line(format!("  {:width$}  {word}", step.guard));
        if let Some(message) = &step.message {
            out.prose(width + 4, message);
        }
    }
    out.line(match &judgement.ruling.verdict {
        Permission::Go => text::would_go(lang),
        Permission::Ask { guard, .. } => text::would_ask(lang, guard.as_str()),
        Permission::Block { guard, .. } => text::would_block(lang, guard.as_str()),
    });
}

pub(super) fn guard_words(judgement: &Judgement) -> Vec<GuardWord> {
    let words = judgement.steps.iter().map(|step| GuardWord {
        guard: step.guard.clone(),
        outcome: step.outcome.as_str().to_owned(),
        message: step.message.clone(),
        micros: u64::try_from(step.took.as_micros()).unwrap_or(u64::MAX),
    });
    words.collect()
}

pub(super) fn verdict_word(judgement: &Judgement) -> &'static str {
    match judgement.ruling.verdict {
        Permission::Go => "go",
        Permission::Ask { .. } => "ask",
        Permission::Block { .. } => "block",
    }
}

/// The stable name in `--json`.
fn how(write: &dandori_shell::Write) -> String {
    format!("{:?}", write.how).to_lowercase()
}

fn read(reading: &Reading) -> ReadingView {
    let command = |c: &Command| ReadCommand {
        program: (!c.program.is_empty()).then(|| c.program.clone()),
        argv: c.argv.iter().map(|w| w.text.clone()).collect(),
        reached: c.reached.iter().map(way).collect(),
    };
    ReadingView {
        commands: reading.commands.iter().map(command).collect(),
        writes: reading.writes.iter().map(|w| ReadWrite { path: w.path.text.clone(), how: how(w) }).collect(),
        reads: reading.reads.iter().map(|r| r.path.text.clone()).collect(),
        scripts: reading.scripts.iter().map(|s| s.path.text.clone()).collect(),
        remote: reading.remote.iter().map(|r| r.text.clone()).collect(),
        opaque: reading
            .opaque
            .iter()
            .map(|o| ReadOpaque { why: format!("{:?}", o.why), text: o.text.clone() })
            .collect(),
    }
}
