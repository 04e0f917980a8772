//! Every key there is, where it may stand, and the nearest one to a mistake.

/// Which file a key may stand in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// Both files.
    Anywhere,
    /// Only the user's file: it speaks for the daemon, which serves all repositories.
    UserOnly,
}

/// `*` stands for a name the user chooses.
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
    ("sandbox.pass_env", Place::Anywhere),
    ("forbidden.paths", Place::Anywhere),
    ("github.host", Place::Anywhere),
    ("github.api", Place::Anywhere),
    ("agents.*.command", Place::Anywhere),
    ("agents.*.model", Place::Anywhere),
];

pub(crate) enum Found {
    Known(Place),
    /// A table on the way to known keys.
    Table,
    Unknown,
}

pub(crate) fn look_up(path: &[&str]) -> Found {
    let mut on_the_way = false;
    for (key, place) in KEYS {
        let parts: Vec<&str> = key.split('.').collect();
        let fits = path.iter().zip(&parts).all(|(a, b)| *b == "*" || a == b);
        if !fits || path.len() > parts.len() {
            continue;
        }
        if path.len() == parts.len() {
            return Found::Known(*place);
        }
        on_the_way = true;
    }
    if on_the_way { Found::Table } else { Found::Unknown }
}

/// The known key most like `path`, if any is like it at all.
pub(crate) fn nearest(path: &str) -> Option<String> {
    let wanted: Vec<&str> = path.split('.').collect();
    KEYS.iter()
        .flat_map(|(key, _)| {
            let whole = key.replace('*', wanted.get(1).copied().unwrap_or("name"));
            let table = whole.split('.').next().unwrap_or_default().to_owned();
            [whole, table]
        })
        .map(|key| {
            let last = key.rsplit('.').next().unwrap_or(&key).to_owned();
            let typed = wanted.last().copied().unwrap_or(path);
            let score = strsim::jaro_winkler(&key, path).max(strsim::jaro_winkler(&last, typed) - 0.02);
            (score, key)
        })
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_finds_its_key() {
        assert_eq!(nearest("agnt").as_deref(), Some("agent"));
        assert_eq!(nearest("limits.silense").as_deref(), Some("limits.silence"));
        assert_eq!(nearest("run.max_parallel").as_deref(), Some("runs.max_parallel"));
        assert_eq!(nearest("max_parallel").as_deref(), Some("runs.max_parallel"));
        assert_eq!(nearest("agents.mine.comand").as_deref(), Some("agents.mine.command"));
        assert_eq!(nearest("qqqqqq"), None);
    }
}
