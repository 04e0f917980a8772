//! What may be `pub` although no other crate names it, each with its reason.

use std::collections::BTreeSet;

struct Exception {
    of: &'static str,
    name: &'static str,
    #[expect(dead_code, reason = "for whoever reads the list")]
    because: &'static str,
}

const ALL: &[Exception] = &[];

pub(super) fn has(of: &str, name: &str) -> bool {
    ALL.iter().any(|one| one.of == of && one.name == name)
}

/// Exceptions that nothing needs any more.
pub(super) fn left_over(needed: &BTreeSet<(String, String)>) -> Vec<String> {
    let is_needed = |one: &&Exception| needed.contains(&(one.of.to_owned(), one.name.to_owned()));
    let left = ALL.iter().filter(|one| !is_needed(one));
    left.map(|one| format!("xtask/src/dead/exceptions.rs: {} of {} needs no exception", one.name, one.of)).collect()
}
