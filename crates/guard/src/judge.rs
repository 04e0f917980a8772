//! One event through all its guards.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use camino::Utf8PathBuf;
use dandori_domain::guard::{ErrorPolicy, Level};

use crate::context::{By, Context};
use crate::decision::{Chain, Decision, GuardName, Permission, Reason, Ruling};
use crate::glob;
use crate::guards;
use crate::rules::Active;
use crate::voice::{Finding, Trouble, Voice};
use crate::world::{About, Effect};

/// What came of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    pub ruling: Ruling,
    /// The guards that were asked, in order.
    pub steps: Vec<Step>,
    pub effects: Vec<Effect>,
}

/// One guard's part in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    pub guard: String,
    pub outcome: Outcome,
    pub message: Option<String>,
    pub took: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Outcome {
    Pass,
    Info,
    Warn,
    Ask,
    Block,
    /// It would have blocked or asked, and a person had given an exception.
    Excepted,
    /// The guard itself failed.
    Error,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Block => "block",
            Self::Excepted => "excepted",
            Self::Error => "error",
        }
    }
}

/// Whether guards after a block are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asking {
    UntilBlocked,
    /// For explaining: every guard says what it would.
    Everyone,
}

/// Asks every guard of the rules that has a say about this event.
pub fn judge(context: &Context, asking: Asking) -> Judgement {
    let mut chain = Chain::default();
    let mut steps = Vec::new();
    let mut effects = Vec::new();
    for active in &context.rules.order {
        let begun = context.world.elapsed();
        let Some(heard) = ask(context, active, begun) else { continue };
        let (decisions, step) = weigh(context, active, heard, &mut effects);
        let is_over = decisions.into_iter().any(|decision| chain.add(decision).is_break());
        steps.push(Step { took: context.world.elapsed().saturating_sub(begun), ..step });
        if is_over && asking == Asking::UntilBlocked {
            break;
        }
    }
    let ruling = chain.finish();
    if let Some(effect) = denied_paths(context, &ruling) {
        effects.push(effect);
    }
    Judgement { ruling, steps, effects }
}

/// What a guard said, and whether it could do its work; `None` when it has no say.
fn ask(context: &Context, active: &Active, elapsed: Duration) -> Option<(Voice, Result<(), Trouble>)> {
    let known = guards::find(&active.name);
    let custom = || context.rules.custom.iter().find(|rule| rule.name == active.name);
    let is_late = elapsed.saturating_sub(context.world.waited()) > Duration::from_millis(context.rules.deadline_ms);
    // A guard that panics has failed, like one that says so: what that means is its policy.
    let heard = catch_unwind(AssertUnwindSafe(|| {
        let mut voice = Voice::default();
        let result = match known {
            Some(guard) if !guard.is_asked(context) => return None,
            _ if is_late => {
                let seconds = context.rules.deadline_ms / 1000;
                return Some((voice, Err(Trouble::TimedOut { what: active.name.clone(), seconds })));
            }
            Some(guard) => (guard.judge)(context, &mut voice),
            None => guards::judge_custom(context, custom()?, &mut voice)?,
        };
        Some((voice, result))
    }));
    let panicked = || Trouble::Other(dandori_text::guard::panicked(context.lang));
    heard.unwrap_or_else(|_| Some((Voice::default(), Err(panicked()))))
}

/// What follows from it.
fn weigh(
    context: &Context,
    active: &Active,
    (voice, result): (Voice, Result<(), Trouble>),
    effects: &mut Vec<Effect>,
) -> (Vec<Decision>, Step) {
    let guard =
        guards::find(&active.name).map_or_else(|| GuardName::custom(&active.name), |g| GuardName::known(g.name));
    let step = |outcome, message| Step { guard: active.name.clone(), outcome, message, took: Duration::ZERO };
    // What it noted before it failed still happened.
    effects.extend(voice.effects);
    if let Err(trouble) = result {
        let text = dandori_text::guard::failed(
            context.lang,
            &trouble.said(context.lang),
            active.on_error == ErrorPolicy::Closed,
        );
        let decision = Decision::Error { guard, detail: Reason::new(&text), policy: active.on_error };
        return (vec![decision], step(Outcome::Error, Some(text)));
    }
    let mut decisions = Vec::new();
    let mut heaviest = Outcome::Pass;
    let mut messages: Vec<String> = Vec::new();
    for finding in voice.findings {
        let weight = finding.weight.min(active.level);
        let exception = if weight >= Level::Ask { exception(context, active, &finding) } else { None };
        if let Some(id) = exception {
            effects.push(Effect::UseException { id });
            messages.push(finding.message);
            heaviest = heaviest.max(Outcome::Excepted);
            continue;
        }
        let reason = Reason::new(&format!("[dandori {}] {}", active.name, finding.message));
        let guard = guard.clone();
        let (decision, outcome) = match weight {
            Level::Off => continue,
            Level::Info => (Decision::Info { guard, reason }, Outcome::Info),
            Level::Warn => (Decision::Warn { guard, reason }, Outcome::Warn),
            Level::Ask => (Decision::Ask { guard, reason }, Outcome::Ask),
            Level::Block => (Decision::Block { guard, reason }, Outcome::Block),
        };
        decisions.push(decision);
        messages.push(finding.message);
        heaviest = if heaviest == Outcome::Excepted { outcome } else { heaviest.max(outcome) };
    }
    if decisions.iter().any(|decision| matches!(decision, Decision::Block { .. })) {
        decisions = vec![Decision::Block { reason: whole_reason(&decisions), guard }];
    }
    let message = (!messages.is_empty()).then(|| messages.join("\n"));
    (decisions, step(heaviest, message))
}

/// A block ends the chain, so what the same guard has to say besides goes into its reason: the blocks first, then the
/// rest that is more than a remark.
fn whole_reason(decisions: &[Decision]) -> Reason {
    let blocks = decisions.iter().filter_map(|decision| match decision {
        Decision::Block { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    let others = decisions.iter().filter_map(|decision| match decision {
        Decision::Ask { reason, .. } | Decision::Warn { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    let mut said: Vec<&str> = Vec::new();
    for reason in blocks.chain(others) {
        if !said.contains(&reason) {
            said.push(reason);
        }
    }
    Reason::new(&said.join("\n"))
}

/// The exception a person has given for what this guard found.
fn exception(context: &Context, active: &Active, finding: &Finding) -> Option<String> {
    if guards::find(&active.name).is_some_and(|guard| !guard.can_except) {
        return None;
    }
    let exceptions = context.world.exceptions();
    let fits = |about: &About| match about {
        About::All => true,
        About::Command(pattern) => {
            let mut commands = context.commands().iter().filter(|c| c.reached.is_empty()).peekable();
            commands.peek().is_some()
                && context.reading().is_some_and(dandori_shell::Reading::is_clear)
                && commands.all(|command| {
                    let words: Vec<&str> = command.argv.iter().map(|w| w.text.as_str()).collect();
                    glob::holds_words(pattern, &words)
                })
        }
        About::Path(pattern) => {
            if let Some(path) = &finding.path {
                return context.holds(pattern, path);
            }
            let targets = context.targets();
            !targets.is_empty() && targets.iter().all(|target| context.touches(pattern, target))
        }
    };
    exceptions.into_iter().find(|e| e.guard == active.name && fits(&e.about)).map(|e| e.id)
}

/// A refused write is remembered: the same file must not be reached another way.
fn denied_paths(context: &Context, ruling: &Ruling) -> Option<Effect> {
    let guard = match &ruling.verdict {
        Permission::Block { guard, .. } => guard,
        Permission::Ask { guard, .. } if !context.event.can_ask() => guard,
        Permission::Ask { .. } | Permission::Go => return None,
    };
    if !context.is_before_tool() {
        return None;
    }
    let edited = context.targets().iter().filter(|target| target.by == By::Edit);
    let paths: Vec<Utf8PathBuf> = edited.map(|target| target.real.clone()).collect();
    (!paths.is_empty()).then(|| Effect::Deny { paths, guard: guard.as_str().to_owned() })
}
