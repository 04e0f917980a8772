//! `dandori guard test`

use std::io::Read;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Args;
use dandori_api::{GuardTested, HookAnswer};
use dandori_domain::Problem;
use dandori_hook::Unread;
use dandori_text::guard::{Unjudged, unjudged, verbs as text};

use super::Context;
use super::guard_explain::{guard_words, show_guards, verdict_word};
use crate::guarded::judge_all;
use crate::out::{Failed, Out, dim};

#[derive(Args)]
pub(crate) struct GuardTestArgs {
    /// JSON file with the event as sent by the client; - reads stdin
    event: Utf8PathBuf,
    /// Client that sent the event (default: detected from the event)
    #[arg(long)]
    agent: Option<String>,
}

pub(crate) fn run(args: &GuardTestArgs, context: &Context) -> Result<ExitCode, Failed> {
    let out = &context.out;
    let bad = |why: String| Failed::Refused(text::bad_event(out.lang, &why));
    let mut bytes = Vec::new();
    let read = if args.event == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(&args.event).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|e| Problem::of_named_file(&args.event, &e))?;
    let agent = args
        .agent
        .as_deref()
        .map(str::parse)
        .transpose()
        .map_err(|e: dandori_domain::client::UnknownClient| bad(e.to_string()))?;
    let mut event = match dandori_hook::read(&bytes, agent, out.lang) {
        Ok(event) => event,
        Err(Unread { why: Unjudged::NotJson(why), answer }) if !answer.is_refusal() => return Err(bad(why)),
        Err(unread) => return Ok(show_unread(out, &unread)),
    };
    event.cwd = event.cwd.or(Some(context.here()?));
    let (_, judged) = judge_all(context, &event)?;
    let answer = &judged.answer;
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    out.object(&GuardTested {
        agent: Some(event.agent.to_string()),
        event: Some(event.name.clone()),
        guards: guard_words(&judged.judgement),
        verdict: verdict_word(&judged.judgement).to_owned(),
        answer: HookAnswer { stdout: stdout.clone(), stderr: answer.stderr.clone(), exit: answer.exit },
        oddities: event.oddities.iter().map(ToString::to_string).collect(),
    });
    for oddity in &event.oddities {
        out.note(oddity);
    }
    show_guards(out, &judged.judgement);
    show_answer(out, answer.exit, &stdout);
    Ok(ExitCode::SUCCESS)
}

/// An event no guard is asked about: the hook answers it by itself.
fn show_unread(out: &Out, unread: &Unread) -> ExitCode {
    let Unread { why, answer } = unread;
    let is_refused = answer.is_refusal();
    let stdout = String::from_utf8_lossy(&answer.stdout).into_owned();
    out.object(&GuardTested {
        agent: None,
        event: None,
        guards: Vec::new(),
        verdict: if is_refused { "block" } else { "go" }.to_owned(),
        answer: HookAnswer { stdout: stdout.clone(), stderr: answer.stderr.clone(), exit: answer.exit },
        oddities: vec![unjudged(out.lang, why)],
    });
    out.note(unjudged(out.lang, why));
    out.line(if is_refused { text::would_block(out.lang, "hook") } else { text::would_go(out.lang) });
    show_answer(out, answer.exit, &stdout);
    ExitCode::SUCCESS
}

fn show_answer(out: &Out, exit: u8, stdout: &str) {
    out.line(dim(&format!("exit {exit}")));
    if !stdout.is_empty() {
        out.line(dim(stdout));
    }
}
