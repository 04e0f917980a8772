//! Two tables and the guards' defaults make the rules.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use dandori_config::GuardTable;
use dandori_config::guards::{AfterEdit, MainWhat as WrittenWhat, MainWhen, Millis, OwnRule, ProtectedPath, Seconds};
use dandori_domain::guard::{ErrorPolicy, Level, Profile, RulesNote};
use dandori_guard::guards::{ALL, On};
use dandori_guard::rules::{self, Active, CustomRule, MainWhat, Protected, Rules};

use crate::merge::{Merge, unite};

/// How long a program of the user's own may take when nobody says.
const RULE_SECONDS: u64 = 5;

/// All that the rules follow from.
#[derive(Clone, PartialEq, Debug)]
pub struct Sources {
    pub user: GuardTable,
    /// The user's file was there and could not be read: what it would have tightened is not known, so nothing is
    /// loosened.
    pub is_user_unknown: bool,
    pub repository: GuardTable,
    pub repository_path: Utf8PathBuf,
    pub trusted: bool,
    /// From `.claude/protected-files.txt`.
    pub listed: Vec<Protected>,
    /// What holds when neither table names a profile.
    pub default_profile: Profile,
    pub control: Vec<Utf8PathBuf>,
    pub worktrees: Vec<Utf8PathBuf>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    pub rules: Rules,
    pub notes: Vec<RulesNote>,
    /// Whose word each guard's level is.
    pub origins: BTreeMap<String, Origin>,
}

/// Whose word it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Default,
    User,
    Repository,
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::User => "user",
            Self::Repository => "repository",
        }
    }
}

pub fn compile(sources: Sources) -> Compiled {
    let Sources { mut user, is_user_unknown, repository, repository_path, trusted, .. } = sources;
    if is_user_unknown {
        user.profile = Some(Profile::Discipline);
    }
    let mut merge = Merge::new(trusted && !is_user_unknown);
    let key = |name: &'static str| move || format!("guards.{name}");
    let (profile, _) = merge.ordered(key("profile"), sources.default_profile, user.profile, repository.profile);
    let default = Rules::of(profile);

    let (opaque, opaque_origin) = merge.ordered(key("opaque"), default.opaque, user.opaque, repository.opaque);
    let (denied_seconds, _) = merge.ordered(
        key("denied_for"),
        default.denied_seconds,
        user.denied_for.map(seconds),
        repository.denied_for.map(seconds),
    );
    let mut required_reads = user.required_reads.clone().unwrap_or(default.required_reads);
    unite(&mut required_reads, repository.required_reads.clone().unwrap_or_default());
    let mut secrets = default.secrets;
    unite(&mut secrets, user.secrets.iter().chain(&repository.secrets).cloned());
    let mut protected_by_repository: Vec<Protected> = repository.protected.iter().map(protected).collect();
    protected_by_repository.extend(sources.listed);

    let custom = own_rules(&user.rule, &repository.rule, trusted, &mut merge);
    let mut origins = BTreeMap::new();
    let levels = Levels { user: &user, repository: &repository, profile, opaque: (opaque, opaque_origin) };
    let order = levels.order(&custom, &mut merge, &mut origins);

    let rules = Rules {
        version: rules::VERSION,
        profile,
        language: user.language.clone(),
        order,
        main: main_rules(default.main, &user, &repository, &mut merge),
        required_reads,
        protected: user.protected.iter().map(protected).collect(),
        protected_by_repository,
        secrets,
        destructive: destructive(&user.destructive, &repository.destructive, &mut merge),
        opaque,
        checks: checks(default.checks.seconds, &user, &repository, trusted, &mut merge),
        issue: rules::IssueRules {
            priorities: merge.one_of(
                "guards.issue.priorities",
                default.issue.priorities,
                user.issue.priorities.clone(),
                repository.issue.priorities.clone(),
            ),
            sections: merge.all_of(
                "guards.issue.sections",
                default.issue.sections,
                user.issue.sections.clone(),
                repository.issue.sections.clone(),
            ),
        },
        pull: rules::PullRules {
            sections: merge.all_of(
                "guards.pull.sections",
                default.pull.sections,
                user.pull.sections.clone(),
                repository.pull.sections.clone(),
            ),
            needs_issue: {
                let default = default.pull.needs_issue;
                merge.ordered(key("pull.needs_issue"), default, user.pull.needs_issue, repository.pull.needs_issue).0
            },
        },
        custom: custom.into_iter().map(|own| own.rule).collect(),
        constraints: None,
        control: sources.control,
        worktrees: sources.worktrees,
        denied_seconds,
        deadline_ms: user.deadline.map_or(default.deadline_ms, |Millis(ms)| ms),
    };
    Compiled { rules, notes: merge.into_note(&repository_path).into_iter().collect(), origins }
}

fn seconds(Seconds(amount): Seconds) -> u64 {
    amount
}

fn protected(written: &ProtectedPath) -> Protected {
    Protected { pattern: written.path.clone(), level: written.level }
}

fn main_rules(
    default: rules::MainRules,
    user: &GuardTable,
    repository: &GuardTable,
    merge: &mut Merge,
) -> rules::MainRules {
    let mut branches = user.main.branches.clone().unwrap_or(default.branches);
    unite(&mut branches, repository.main.branches.clone().unwrap_or_default());
    let default_when = if default.only_workspace { MainWhen::Workspace } else { MainWhen::Always };
    let (when, _) = merge.ordered(|| "guards.main.when".to_owned(), default_when, user.main.when, repository.main.when);
    let what = |written: WrittenWhat| match written {
        WrittenWhat::Branch => MainWhat::Branch,
        WrittenWhat::Edits => MainWhat::Edits,
    };
    let (what, _) = merge.ordered(
        || "guards.main.what".to_owned(),
        default.what,
        user.main.what.map(what),
        repository.main.what.map(what),
    );
    rules::MainRules { branches, only_workspace: when == MainWhen::Workspace, what }
}

/// What a class weighs by itself is the guard's to know: below a block, a repository's word counts as loosening.
fn destructive(
    user: &BTreeMap<String, Level>,
    repository: &BTreeMap<String, Level>,
    merge: &mut Merge,
) -> BTreeMap<String, Level> {
    let mut classes = user.clone();
    for (class, level) in repository {
        match classes.get_mut(class) {
            Some(set) => *set = (*set).max(*level),
            None if *level == Level::Block || merge.may_loosen => drop(classes.insert(class.clone(), *level)),
            None => merge.refuse(format!("guards.destructive.{class}")),
        }
    }
    classes
}

fn checks(
    default_seconds: u64,
    user: &GuardTable,
    repository: &GuardTable,
    trusted: bool,
    merge: &mut Merge,
) -> rules::Checks {
    let after = |written: &AfterEdit| rules::AfterEdit { files: written.files.clone(), run: written.run.clone() };
    let mut before_commit = Vec::new();
    unite(&mut before_commit, user.checks.before_commit.iter().cloned());
    let mut after_edit: Vec<rules::AfterEdit> = user.checks.after_edit.iter().map(after).collect();
    if trusted {
        unite(&mut before_commit, repository.checks.before_commit.iter().cloned());
        after_edit.extend(repository.checks.after_edit.iter().map(after));
    } else {
        if !repository.checks.before_commit.is_empty() {
            merge.refuse("guards.checks.before_commit".to_owned());
        }
        if !repository.checks.after_edit.is_empty() {
            merge.refuse("guards.checks.after_edit".to_owned());
        }
    }
    // A check that is cut short has not checked: a repository can give it more time, not less.
    let user_seconds = user.checks.timeout.map_or(default_seconds, seconds);
    let seconds = repository.checks.timeout.map_or(user_seconds, |Seconds(repository)| repository.max(user_seconds));
    rules::Checks { before_commit, after_edit, seconds }
}

struct Own {
    rule: CustomRule,
    on_error: ErrorPolicy,
    origin: Origin,
}

/// The rules of both. One of the repository's that would execute something is left out whole without trust: without its
/// program it would always decide.
fn own_rules(user: &[OwnRule], repository: &[OwnRule], trusted: bool, merge: &mut Merge) -> Vec<Own> {
    let mut all: Vec<Own> = user.iter().map(|rule| own(rule, rule.name.clone(), Origin::User)).collect();
    for rule in repository {
        if !rule.run.is_empty() && !trusted {
            merge.refuse(format!("guards.rule.{}.run", rule.name));
            continue;
        }
        // Rules are found by name: the repository's must not stand in the way of the user's.
        let is_taken = user.iter().any(|of_user| of_user.name == rule.name);
        let name = if is_taken { format!("repository/{}", rule.name) } else { rule.name.clone() };
        all.push(own(rule, name, Origin::Repository));
    }
    all
}

fn own(written: &OwnRule, name: String, origin: Origin) -> Own {
    let rule = CustomRule {
        name,
        events: written.events.clone(),
        tools: written.tools.clone(),
        commands: written.commands.clone(),
        paths: written.paths.clone(),
        prompts: written.prompts.clone(),
        decision: written.decision,
        message: written.message.clone(),
        run: written.run.clone(),
        seconds: written.timeout.map_or(RULE_SECONDS, seconds),
    };
    Own { rule, on_error: written.on_error.unwrap_or(ErrorPolicy::Open), origin }
}

struct Levels<'t> {
    user: &'t GuardTable,
    repository: &'t GuardTable,
    profile: Profile,
    opaque: (Level, Origin),
}

impl Levels<'_> {
    /// The guards that are at work: those for all tools first, then as the order says, then as they stand by default.
    fn order(&self, custom: &[Own], merge: &mut Merge, origins: &mut BTreeMap<String, Origin>) -> Vec<Active> {
        let wanted = if self.user.order.is_empty() { &self.repository.order } else { &self.user.order };
        let place = |name: &str| wanted.iter().position(|named| named == name).unwrap_or(usize::MAX);
        let mut found: Vec<(bool, usize, Active)> = Vec::new();
        for guard in ALL {
            // What cannot be seen through has a key of its own: the guard weighs as much as that says.
            let default = if guard.name == "opaque" { self.opaque.0 } else { guard.default_level(self.profile) };
            let (level, origin) = merge.ordered(
                || format!("guards.level.{}", guard.name),
                default,
                self.user.level.get(guard.name).copied(),
                self.repository.level.get(guard.name).copied(),
            );
            let (on_error, _) = merge.ordered(
                || format!("guards.on_error.{}", guard.name),
                guard.on_error,
                self.user.on_error.get(guard.name).copied(),
                self.repository.on_error.get(guard.name).copied(),
            );
            let is_by_key = guard.name == "opaque" && origin == Origin::Default;
            origins.insert(guard.name.to_owned(), if is_by_key { self.opaque.1 } else { origin });
            let active = Active { name: guard.name.to_owned(), level, on_error };
            // Nobody has said anything: they stand in their order already.
            let is_later = !wanted.is_empty() && !guard.on.contains(&On::AnyTool);
            found.push((is_later, place(guard.name), active));
        }
        for own in custom {
            origins.insert(own.rule.name.clone(), own.origin);
            let active = Active { name: own.rule.name.clone(), level: own.rule.decision, on_error: own.on_error };
            found.push((!wanted.is_empty(), place(&own.rule.name), active));
        }
        found.retain(|(_, _, active)| active.level != Level::Off);
        // What it has to tell is told once: nobody is to block before it.
        let is_told_first = |active: &Active| active.name == "unjudged";
        found.sort_by_key(|(is_later, place, active)| (!is_told_first(active), *is_later, *place));
        found.into_iter().map(|(_, _, active)| active).collect()
    }
}

#[cfg(test)]
mod tests;
