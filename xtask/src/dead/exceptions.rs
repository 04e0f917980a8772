//! What may be `pub` although no other crate names it, each with its reason.

use std::collections::BTreeSet;

struct Exception {
    of: &'static str,
    name: &'static str,
    #[expect(dead_code, reason = "for whoever reads the list")]
    because: &'static str,
}

const ALL: &[Exception] = &[
    Exception {
        of: "dandori-store",
        name: "drop_keepsake",
        because: "a verb that is held by the contract of both databases; what was kept is not thrown away by itself yet",
    },
    Exception { of: "dandori-store", name: "Lease", because: LEASES },
    Exception { of: "dandori-store", name: "take_lease", because: LEASES },
    Exception { of: "dandori-store", name: "record_leased", because: LEASES },
];

const LEASES: &str = "held by the contract of all stores; the formation's queue takes its messages by them";

pub(super) fn has(of: &str, name: &str) -> bool {
    ALL.iter().any(|one| one.of == of && one.name == name)
}

/// Exceptions that nothing needs any more.
pub(super) fn left_over(needed: &BTreeSet<(String, String)>) -> Vec<String> {
    let is_needed = |one: &&Exception| needed.contains(&(one.of.to_owned(), one.name.to_owned()));
    let left = ALL.iter().filter(|one| !is_needed(one));
    left.map(|one| format!("xtask/src/dead/exceptions.rs: {} of {} needs no exception", one.name, one.of)).collect()
}
