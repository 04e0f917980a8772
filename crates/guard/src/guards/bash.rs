//! Destructive commands, by class. What a line *does* is judged, not what it says: the parsed commands.
//!
//! A class has its own weight, and the configuration may give it another. What a tool only rehearses (`--dry-run`) is
//! not destructive, and neither is clearing what a build made: false alarms teach people to look away.

use dandori_domain::guard::Level;
use dandori_shell::How;

use crate::context::{By, Context};
use crate::voice::{Trouble, Voice};

use super::git_run::git_runs;

mod forge;
mod git;
mod machine;
mod removal;
mod services;

/// A kind of destruction that is judged alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    RmRoot,
    RmOutside,
    GitDiscard,
    GitForcePush,
    GitHistory,
    Disk,
    Perms,
    System,
    Service,
    Database,
    Cloud,
    Publish,
}

impl Class {
    /// As the configuration names it.
    fn name(self) -> &'static str {
        match self {
            Self::RmRoot => "rm-root",
            Self::RmOutside => "rm-outside",
            Self::GitDiscard => "git-discard",
            Self::GitForcePush => "git-force-push",
            Self::GitHistory => "git-history",
            Self::Disk => "disk",
            Self::Perms => "perms",
            Self::System => "system",
            Self::Service => "service",
            Self::Database => "database",
            Self::Cloud => "cloud",
            Self::Publish => "publish",
        }
    }

    fn default_level(self) -> Level {
        match self {
            Self::RmRoot | Self::GitForcePush | Self::Disk | Self::Perms | Self::System => Level::Block,
            Self::RmOutside
            | Self::GitDiscard
            | Self::GitHistory
            | Self::Service
            | Self::Database
            | Self::Cloud
            | Self::Publish => Level::Ask,
        }
    }
}

/// Something destructive in a line.
pub(super) struct Danger {
    class: Class,
    /// Weighs less than its class: there is a net under it.
    milder: Option<Level>,
}

impl From<Class> for Danger {
    fn from(class: Class) -> Self {
        Self { class, milder: None }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let mut said: Vec<(Class, String)> = Vec::new();
    let mut say = |danger: Danger, line: &str, voice: &mut Voice| {
        let line = cut(line);
        if said.contains(&(danger.class, line.clone())) {
            return;
        }
        let configured = context.rules.destructive.get(danger.class.name()).copied();
        let own = danger.milder.unwrap_or_else(|| danger.class.default_level());
        let message = dandori_text::guard::bash::destructive(context.lang, danger.class.name(), &line);
        voice.say(configured.unwrap_or(own), message);
        said.push((danger.class, line));
    };
    for run in git_runs(context) {
        if let Some(danger) = git::danger(&run) {
            say(danger, &run.command.line(), voice);
        }
    }
    let mut is_root_said = false;
    for command in context.commands() {
        let found =
            [removal::danger(context, command), machine::danger(context, command), services::danger(context, command)];
        for danger in found.into_iter().flatten() {
            is_root_said |= danger.class == Class::RmRoot;
            say(danger, &command.line(), voice);
        }
    }
    for target in context.targets().iter().filter(|target| !target.is_computed) {
        if machine::is_device(target.path.as_str()) {
            say(Class::Disk.into(), &format!("> {}", target.path), voice);
        }
        // `rm` is judged by its words; what else takes files away, by what goes.
        let goes = !is_root_said && matches!(target.by, By::Shell(How::Interpreter | How::Removed | How::MovedAway));
        if let Some(danger) = goes.then(|| removal::by_target(context, &target.real)).flatten() {
            say(danger, target.path.as_str(), voice);
        }
    }
    Ok(())
}

fn cut(line: &str) -> String {
    const CHARS: usize = 120;
    if line.chars().count() <= CHARS { line.to_owned() } else { line.chars().take(CHARS).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
