//! The live part of `dandori doctor --guards`: each agent is started once, in a place of its own, with the user's and
//! the project's real hooks and a model that is built in. The model asks for something harmless and for two things
//! that are refused everywhere; what the guards wrote down, what is on the disk and what the model was told say
//! whether the hooks fire and block.

mod actor;
mod model;
mod stage;

use std::time::Duration;

use dandori_host::cmd::last_lines;
use dandori_host::{WatchEnd, Watched};
use dandori_install::Client;
use dandori_journal::{Record, spool};
use dandori_model::Call;
use dandori_text::doctor::Check;
use dandori_text::doctor::hooks::{self as text, HookTrial, NotTried, Passed};
use jiff::Timestamp;

use self::actor::Actor;
use self::model::Model;
use self::stage::Stage;
use super::hooks::Look;
use super::{Finding, Grade};
use crate::cli::Context;

/// Most need five seconds. A cold start on a busy machine is no reason to cry wolf.
const LIMIT: Duration = Duration::from_mins(1);

/// What the answer to a refused file says in every language, and in every version.
const REASON: &str = "dandori guard allow secrets";

/// What the model asks for, and how it is found again in what the guards wrote down.
struct Play {
    /// What a record about it has in its subject.
    steps: [&'static str; 3],
}

const PLAY: Play = Play { steps: ["git status", BY_TOOL, BY_SHELL] };
/// Refused by every profile, and harmless where it is not. Not `.env`: one refuses that itself, before it asks.
const BY_TOOL: &str = "self-test.pem";
const BY_SHELL: &str = "self-test.key";

pub(super) fn all(context: &Context, looks: &[Look]) -> Vec<Finding> {
    stage::sweep(&context.layout);
    looks.iter().map(|look| finding(context, look)).collect()
}

fn finding(context: &Context, look: &Look) -> Finding {
    let lang = context.out.lang;
    let verdict = if !look.is_installed {
        HookTrial::NotTried(NotTried::NotInstalled)
    } else if !look.is_found {
        HookTrial::NotTried(NotTried::NotFound)
    } else {
        context.out.say(text::trying(lang, look.client));
        attempt(context, look).unwrap_or_else(|reason| HookTrial::NotTried(NotTried::NoStage { reason }))
    };
    let grade = match &verdict {
        HookTrial::FiresAndBlocks => Grade::Good,
        HookTrial::NotTried(NotTried::NotInstalled | NotTried::NotFound) => Grade::Missing,
        _ => Grade::Bad,
    };
    Finding {
        grade,
        remedy: text::after(lang, look.client, &verdict, &look.reasons(lang)),
        code: Some(verdict.code().into()),
        ..Finding::good(Check::SelfTest(look.client), text::verdict(lang, &verdict))
    }
}

fn attempt(context: &Context, look: &Look) -> Result<HookTrial, String> {
    let stage = Stage::set_up(context, look)?;
    let model = Model::start(look.client, PLAY.for_stage(&stage)).map_err(|e| e.to_string())?;
    let command = stage.command(context, look, &model.url())?.deadline(LIMIT);
    let watched = command.run_until(&|| model.is_done()).map_err(|e| dandori_domain::cause::with_causes(&e))?;
    let verdict = Seen::of(&stage, &model, watched).verdict(look.client);
    Ok(match verdict {
        // One drops the prompt when a hook cannot be called: it is as safe as it is useless.
        HookTrial::NotTried(_) if look.calls_nobody() => HookTrial::DoesNotFire,
        verdict => verdict,
    })
}

impl Play {
    fn for_stage(&self, stage: &Stage) -> Vec<Call> {
        let [marker, by_tool, by_shell] = self.steps;
        vec![
            Call::Shell(marker.to_owned()),
            Call::Write { path: stage.repository().join(by_tool).into_string(), content: "SELF_TEST=1\n".to_owned() },
            Call::Shell(format!("printf 'SELF_TEST=1\\n' > {by_shell}")),
        ]
    }
}

/// Everything there is to judge by.
struct Seen {
    records: Vec<Record>,
    /// Of the secrets, those that are on the disk now.
    written: Vec<&'static str>,
    was_asked: bool,
    is_done: bool,
    was_told: bool,
    end: WatchEnd,
    said: String,
}

impl Seen {
    fn of(stage: &Stage, model: &Model, watched: Watched) -> Self {
        let mut records = Vec::new();
        for folder in stage.guard_folders() {
            spool::each(&folder, Timestamp::UNIX_EPOCH, |record| records.push(record));
        }
        let is_there = |name: &&str| stage.repository().join(name).symlink_metadata().is_ok();
        Self {
            records,
            written: [BY_TOOL, BY_SHELL].into_iter().filter(is_there).collect(),
            was_asked: model.was_asked(),
            is_done: model.is_done(),
            was_told: model.was_told(REASON),
            end: watched.end,
            said: last_words(&watched.stderr, &watched.stdout),
        }
    }

    fn verdict(self, client: Client) -> HookTrial {
        let before_tool = |step: &str| {
            let is_it = |r: &&Record| r.event == "pre-tool" && r.subject.as_deref().is_some_and(|s| s.contains(step));
            self.records.iter().find(is_it)
        };
        let not_asked: Vec<&str> = (PLAY.steps.iter().zip(Actor::of(client).tools))
            .filter(|(step, _)| before_tool(step).is_none())
            .map(|(_, tool)| tool)
            .collect();
        let is_through = self.is_done || !self.written.is_empty();
        if self.records.is_empty() && is_through {
            return HookTrial::DoesNotFire;
        }
        if !self.written.is_empty() {
            return HookTrial::DoesNotBlock(match not_asked.first() {
                Some(_) => Passed::NotAsked { tools: once(&not_asked) },
                None => Passed::Written { files: self.written.join(", ") },
            });
        }
        if !self.is_done {
            return HookTrial::NotTried(self.broken_off());
        }
        if !not_asked.is_empty() {
            return HookTrial::DoesNotBlock(Passed::NotAsked { tools: once(&not_asked) });
        }
        if !self.was_told {
            return HookTrial::DoesNotBlock(Passed::NotTold);
        }
        HookTrial::FiresAndBlocks
    }

    fn broken_off(self) -> NotTried {
        let said = if self.said.is_empty() { "-".to_owned() } else { self.said };
        match self.end {
            WatchEnd::TimedOut => NotTried::TimedOut { seconds: LIMIT.as_secs(), said },
            _ if self.was_asked => NotTried::NotFinished { said },
            _ => NotTried::NotStarted { said },
        }
    }
}

fn once(words: &[&str]) -> String {
    let mut words = words.to_vec();
    words.sort_unstable();
    words.dedup();
    words.join(", ")
}

/// What an agent said last, in one line and not too long.
fn last_words(stderr: &str, stdout: &[u8]) -> String {
    const MOST: usize = 300;
    let talk = if stderr.trim().is_empty() { String::from_utf8_lossy(stdout).into_owned() } else { stderr.to_owned() };
    let line: String = last_lines(talk.trim(), 3).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let skipped = line.chars().count().saturating_sub(MOST);
    line.chars().skip(skipped).collect()
}

#[cfg(test)]
mod tests;
