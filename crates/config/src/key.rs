//! Every key there is, where it may stand, and the nearest one to a mistake.

use dandori_domain::guard::{CLASSES, NAMES};

/// Which file a key may stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Both files.
    Anywhere,
    /// Only the user's file: it speaks for the daemon, which serves all repositories.
    UserOnly,
}

/// `*` stands for a name the user chooses, `@` for a guard's, `#` for a class of destructive commands.
pub(crate) const KEYS: &[(&str, Place)] = &[
    ("base", Place::Anywhere),
    ("agent", Place::Anywhere),
    ("pr", Place::Anywhere),
    ("forge", Place::Anywhere),
    ("cleanup", Place::Anywhere),
    ("language", Place::UserOnly),
    ("store", Place::UserOnly),
    ("runs.max_parallel", Place::UserOnly),
    ("runs.min_free_memory", Place::UserOnly),
    ("runs.min_free_disk", Place::UserOnly),
    ("notify.desktop", Place::UserOnly),
    ("notify.bell", Place::UserOnly),
    ("notify.command", Place::UserOnly),
    ("notify.webhook", Place::UserOnly),
    ("limits.start", Place::Anywhere),
    ("limits.silence", Place::Anywhere),
    ("limits.run", Place::Anywhere),
    ("limits.grace", Place::Anywhere),
    ("limits.api_retries", Place::Anywhere),
    ("limits.budget", Place::Anywhere),
    ("commit.template", Place::Anywhere),
    ("push.retries", Place::Anywhere),
    ("worktrees.set_up", Place::Anywhere),
    ("worktrees.pool", Place::Anywhere),
    ("worktrees.keep_days", Place::Anywhere),
    ("sandbox.mode", Place::Anywhere),
    ("sandbox.write", Place::Anywhere),
    ("sandbox.hide", Place::Anywhere),
    ("sandbox.read", Place::Anywhere),
    ("sandbox.processes", Place::Anywhere),
    ("sandbox.open_files", Place::Anywhere),
    ("sandbox.memory", Place::Anywhere),
    ("sandbox.pass_env", Place::Anywhere),
    ("forbidden.paths", Place::Anywhere),
    ("github.host", Place::Anywhere),
    ("github.api", Place::Anywhere),
    ("agents.*.command", Place::Anywhere),
    ("agents.*.acp", Place::Anywhere),
    ("agents.*.auth", Place::Anywhere),
    ("agents.*.model", Place::Anywhere),
    ("formation.mode", Place::Anywhere),
    ("formation.workers", Place::Anywhere),
    ("formation.agent", Place::Anywhere),
    ("formation.orchestrator", Place::Anywhere),
    ("formation.planner", Place::Anywhere),
    ("formation.worker_agents", Place::Anywhere),
    ("formation.small_model", Place::Anywhere),
    ("formation.large_model", Place::Anywhere),
    ("formation.coordination_limit", Place::Anywhere),
    ("formation.capabilities.*", Place::Anywhere),
    ("formation.check", Place::Anywhere),
    ("formation.budget.task", Place::Anywhere),
    ("formation.budget.command", Place::Anywhere),
    ("formation.budget.day", Place::Anywhere),
    ("formation.continuous.max_iterations", Place::Anywhere),
    ("formation.continuous.pause_on_failure", Place::Anywhere),
    ("formation.continuous.max_consecutive_failures", Place::Anywhere),
    ("formation.rules.lease", Place::Anywhere),
    ("formation.rules.longest", Place::Anywhere),
    ("formation.rules.replan", Place::Anywhere),
    ("formation.rules.digest", Place::Anywhere),
    ("formation.rules.attempts", Place::Anywhere),
    ("formation.rules.resumes", Place::Anywhere),
    ("formation.rules.repairs", Place::Anywhere),
    ("formation.rules.pending_commands", Place::Anywhere),
    ("formation.rules.pending_per_worker", Place::Anywhere),
    ("formation.rules.tasks_per_plan", Place::Anywhere),
    ("guards.profile", Place::Anywhere),
    ("guards.order", Place::Anywhere),
    ("guards.opaque", Place::Anywhere),
    ("guards.denied_for", Place::Anywhere),
    ("guards.deadline", Place::Anywhere),
    ("guards.required_reads", Place::Anywhere),
    ("guards.secrets", Place::Anywhere),
    ("guards.protected.path", Place::Anywhere),
    ("guards.protected.level", Place::Anywhere),
    ("guards.level.@", Place::Anywhere),
    ("guards.on_error.@", Place::Anywhere),
    ("guards.main.branches", Place::Anywhere),
    ("guards.main.when", Place::Anywhere),
    ("guards.main.what", Place::Anywhere),
    ("guards.destructive.#", Place::Anywhere),
    ("guards.checks.before_commit", Place::Anywhere),
    ("guards.checks.after_edit.files", Place::Anywhere),
    ("guards.checks.after_edit.run", Place::Anywhere),
    ("guards.checks.timeout", Place::Anywhere),
    ("guards.issue.priorities", Place::Anywhere),
    ("guards.issue.sections", Place::Anywhere),
    ("guards.pull.sections", Place::Anywhere),
    ("guards.pull.needs_issue", Place::Anywhere),
    ("guards.rule.name", Place::Anywhere),
    ("guards.rule.events", Place::Anywhere),
    ("guards.rule.tools", Place::Anywhere),
    ("guards.rule.commands", Place::Anywhere),
    ("guards.rule.paths", Place::Anywhere),
    ("guards.rule.prompts", Place::Anywhere),
    ("guards.rule.decision", Place::Anywhere),
    ("guards.rule.message", Place::Anywhere),
    ("guards.rule.run", Place::Anywhere),
    ("guards.rule.timeout", Place::Anywhere),
    ("guards.rule.on_error", Place::Anywhere),
];

/// Tables there may be many of.
const LISTS: &[&str] = &["guards.protected", "guards.checks.after_edit", "guards.rule"];

pub(crate) enum Found {
    Known(Place),
    /// A table on the way to known keys.
    Table,
    /// A list of such tables.
    List,
    Unknown,
}

pub(crate) fn look_up(path: &[&str]) -> Found {
    let mut on_the_way = false;
    for (key, place) in KEYS {
        let parts: Vec<&str> = key.split('.').collect();
        let fits = path.iter().zip(&parts).all(|(typed, part)| match *part {
            "*" => !typed.is_empty(),
            "@" => NAMES.contains(typed),
            "#" => CLASSES.contains(typed),
            part => *typed == part,
        });
        if !fits || path.len() > parts.len() {
            continue;
        }
        if path.len() == parts.len() {
            return Found::Known(*place);
        }
        on_the_way = true;
    }
    match on_the_way {
        true if LISTS.contains(&path.join(".").as_str()) => Found::List,
        true => Found::Table,
        false => Found::Unknown,
    }
}

/// The known key most like `path`, if any is like it at all.
pub fn nearest_key(path: &str) -> Option<String> {
    let wanted: Vec<&str> = path.split('.').collect();
    let typed = wanted.last().copied().unwrap_or(path);
    KEYS.iter()
        .flat_map(|(key, _)| {
            let ends = key.match_indices('.').map(|(end, _)| end);
            ends.filter_map(|end| key.get(..end)).chain([*key])
        })
        .flat_map(|key| {
            // A name the user chooses is what was typed, whatever the key: it says nothing about it.
            let is_free = key.ends_with('*');
            spelled_out(key, &wanted).into_iter().map(move |key| (key, is_free))
        })
        .map(|(key, is_free)| {
            let last = key.rsplit('.').next().filter(|_| !is_free).unwrap_or_default();
            let score = strsim::jaro_winkler(&key, path).max(strsim::jaro_winkler(last, typed) - 0.02);
            (score, key)
        })
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, key)| key)
}

/// A key with names in the place of what stands for them.
fn spelled_out(key: &str, wanted: &[&str]) -> Vec<String> {
    for (mark, names) in [('@', NAMES), ('#', CLASSES)] {
        if let Some(table) = key.strip_suffix(mark) {
            return names.iter().map(|name| format!("{table}{name}")).collect();
        }
    }
    let parts = key.split('.').enumerate();
    let names = parts.map(|(i, part)| if part == "*" { wanted.get(i).copied().unwrap_or("name") } else { part });
    vec![names.collect::<Vec<_>>().join(".")]
}

/// The one of `known` most like what was typed, if any is like it at all.
pub(crate) fn most_like<'k>(typed: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    known
        .map(|name| (strsim::jaro_winkler(name, typed), name))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_finds_its_key() {
        assert_eq!(nearest_key("agnt").as_deref(), Some("agent"));
        assert_eq!(nearest_key("limits.silense").as_deref(), Some("limits.silence"));
        assert_eq!(nearest_key("run.max_parallel").as_deref(), Some("runs.max_parallel"));
        assert_eq!(nearest_key("max_parallel").as_deref(), Some("runs.max_parallel"));
        assert_eq!(nearest_key("agents.mine.comand").as_deref(), Some("agents.mine.command"));
        assert_eq!(nearest_key("guards.levl").as_deref(), Some("guards.level"));
        assert_eq!(nearest_key("guards.level.scpe").as_deref(), Some("guards.level.scope"));
        assert_eq!(nearest_key("guards.chekcs").as_deref(), Some("guards.checks"));
        assert_eq!(nearest_key("guard").as_deref(), Some("guards"));
        assert_eq!(nearest_key("qqqqqq"), None);
    }
}
