//! A guard of the user's own: a pattern with a decision, or a program that decides.
//!
//! A program gets the event on stdin as the client sent it, and answers like a hook: 0 lets it pass (what it prints is
//! said to the model), 2 is the rule's decision with stderr as the reason, anything else is its own failure.

use std::time::Duration;

use crate::context::Context;
use crate::event::{Kind, Tool};
use crate::glob;
use crate::rules::CustomRule;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Ran};

/// `None` when the rule is not about this event.
pub(crate) fn judge(context: &Context, rule: &CustomRule, voice: &mut Voice) -> Option<Result<(), Trouble>> {
    if !is_about(context, rule) {
        return None;
    }
    if rule.run.is_empty() {
        let message = rule.message.clone().unwrap_or_else(|| dandori_text::guard::own_rule(context.lang, &rule.name));
        voice.say(rule.decision, message);
        return Some(Ok(()));
    }
    Some(run(context, rule, voice))
}

fn run(context: &Context, rule: &CustomRule, voice: &mut Voice) -> Result<(), Trouble> {
    let what = rule.run.join(" ");
    let call = Call {
        argv: rule.run.clone(),
        cwd: context.project.as_ref().map(|p| p.root.clone()),
        stdin: context.event.raw.clone(),
        limit: Duration::from_secs(rule.seconds),
    };
    match context.world.run(&call) {
        Ran::Ended { code: Some(0), stdout, .. } => {
            if !stdout.trim().is_empty() {
                voice.info(stdout);
            }
            Ok(())
        }
        Ran::Ended { code: Some(2), stderr, .. } => {
            let said = if stderr.trim().is_empty() { rule.message.clone() } else { Some(stderr) };
            voice.say(rule.decision, said.unwrap_or_else(|| dandori_text::guard::own_rule(context.lang, &rule.name)));
            Ok(())
        }
        Ran::Ended { code, stderr, .. } => {
            let code = code.map_or_else(|| "signal".to_owned(), |c| c.to_string());
            let said = stderr.trim().trim_end_matches('.');
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            Err(Trouble::Other(format!("{what}: exit {code}{said}")))
        }
        Ran::TimedOut => Err(Trouble::TimedOut { what, seconds: rule.seconds }),
        Ran::NotStarted { why } => Err(Trouble::NotStarted { what, reason: why }),
    }
}

fn is_about(context: &Context, rule: &CustomRule) -> bool {
    let event = context.event;
    let name = event.kind.name().unwrap_or(&event.name);
    let events_fit =
        if rule.events.is_empty() { event.kind == Kind::PreTool } else { rule.events.iter().any(|e| e == name) };
    events_fit
        && (rule.tools.is_empty() || rule.tools.iter().any(|pattern| tool_fits(context, pattern)))
        && (rule.commands.is_empty() || context.commands().iter().any(|command| command_fits(&rule.commands, command)))
        && (rule.paths.is_empty() || rule.paths.iter().any(|pattern| path_fits(context, pattern)))
        && (rule.prompts.is_empty() || prompt_fits(context, &rule.prompts))
}

/// By the tool's own name, and by what it is: `Edit` is every client's way of editing.
fn tool_fits(context: &Context, pattern: &str) -> bool {
    let kinds: &[&str] = match &context.event.tool {
        Some(Tool::Bash { .. }) => &["Bash"],
        Some(Tool::Edit { .. }) => &["Edit", "Write", "MultiEdit"],
        Some(Tool::Read { .. }) => &["Read"],
        Some(Tool::Search { .. }) => &["Search", "Grep", "Glob"],
        Some(Tool::Skill { .. }) => &["Skill"],
        Some(Tool::Agent { .. }) => &["Agent", "Task"],
        Some(Tool::Mcp { .. } | Tool::Other { .. }) | None => &[],
    };
    kinds.iter().copied().chain(context.event.tool_name.as_deref()).any(|name| fast_glob::glob_match(pattern, name))
}

fn command_fits(patterns: &[String], command: &dandori_shell::Command) -> bool {
    let rest = command.args().iter().map(|w| w.text.as_str());
    let words: Vec<&str> = std::iter::once(command.program.as_str()).chain(rest).collect();
    patterns.iter().any(|pattern| glob::holds_words(pattern, &words))
}

fn path_fits(context: &Context, pattern: &str) -> bool {
    let read = match &context.event.tool {
        Some(Tool::Read { path }) => Some(path.clone()),
        _ => None,
    };
    let shell_reads = context.reading().map_or(&[][..], |reading| &reading.reads);
    let reads = read.into_iter().chain(shell_reads.iter().map(|r| context.expanded(&r.path.text)));
    context.targets().iter().any(|target| context.touches(pattern, target))
        || reads
            .into_iter()
            .any(|path| context.holds(pattern, &path) || context.holds(pattern, &context.world.real(&path)))
}

fn prompt_fits(context: &Context, patterns: &[String]) -> bool {
    let Kind::PromptSubmit { prompt } = &context.event.kind else { return false };
    let prompt = prompt.to_lowercase();
    patterns.iter().any(|pattern| prompt.contains(&pattern.to_lowercase()))
}
