//! What `/proc` says about processes. Read-only; everything may be gone by the time it is looked at again.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// In clock ticks since boot.
    pub(crate) started: u64,
    pub(crate) has_terminal: bool,
    state: u8,
}

impl Entry {
    /// Ended, and only waiting for its parent to ask.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// All processes of one moment.
#[derive(Debug, Default)]
pub(crate) struct Table(HashMap<u32, Entry>);

impl Table {
    pub(crate) fn read() -> Self {
        let Ok(folder) = std::fs::read_dir("/proc") else { return Self::default() };
        let pids = folder.filter_map(|e| e.ok()?.file_name().to_str()?.parse().ok());
        Self(pids.filter_map(entry).map(|e| (e.pid, e)).collect())
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    /// These and everything below them, parents before their children.
    pub(crate) fn with_descendants(&self, roots: &[u32]) -> Vec<Entry> {
        let mut seen: HashSet<u32> = HashSet::new();
        let mut found: Vec<Entry> = Vec::new();
        let mut next: Vec<u32> = roots.to_vec();
        while !next.is_empty() {
            found.extend(next.iter().filter(|p| seen.insert(**p)).filter_map(|p| self.0.get(p)));
            next =
                self.entries().filter(|e| next.contains(&e.parent) && !seen.contains(&e.pid)).map(|e| e.pid).collect();
        }
        found
    }

    pub(crate) fn descendants_of(&self, pid: u32) -> Vec<Entry> {
        self.with_descendants(&[pid]).into_iter().filter(|e| e.pid != pid).collect()
    }

    /// Our own line up to the first process of all.
    pub(crate) fn ancestors(&self) -> HashSet<u32> {
        let mut line = HashSet::from([1]);
        let parent_of = |pid| self.0.get(&pid).map_or(0, |e: &Entry| e.parent);
        let mut pid = parent_of(std::process::id());
        // The set also ends a circle that a table read in motion could show.
        while pid > 1 && line.insert(pid) {
            pid = parent_of(pid);
        }
        line
    }
}

pub(crate) fn entry(pid: u32) -> Option<Entry> {
    parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The child of a process that has one.
pub(crate) fn only_child(pid: u32) -> Option<u32> {
    // Not in every kernel; the whole table always is.
    if let Ok(children) = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) {
        return children.split_ascii_whitespace().next()?.parse().ok();
    }
    Table::read().entries().find(|e| e.parent == pid).map(|e| e.pid)
}

/// `pid (name) state parent group session terminal … start …`: the name may hold spaces, brackets and any byte, so
/// the fields are counted from its last bracket.
fn parse(pid: u32, stat: &[u8]) -> Option<Entry> {
    let after_name = stat.iter().rposition(|b| *b == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Entry {
        pid,
        state: fields.first()?.bytes().next()?,
        parent: fields.get(1)?.parse().ok()?,
        has_terminal: *fields.get(4)? != "0",
        started: fields.get(19)?.parse().ok()?,
    })
}

pub(crate) fn boot_id() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned())
}

/// `name=value` stands in the environment the process was started with.
pub(crate) fn has_marker(pid: u32, name: &str, value: &str) -> bool {
    let wanted = format!("{name}={value}");
    std::fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|b| *b == 0).any(|pair| pair == wanted.as_bytes()))
}

pub(crate) fn arguments(pid: u32) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    bytes.split(|b| *b == 0).map(<[u8]>::to_vec).collect()
}

/// Where the process is; a folder that was removed under it still counts as that folder's path.
pub(crate) fn working_folder(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// It can never gain privileges again. Every agent behind our fence is so, and all it started; this cannot be undone.
pub(crate) fn is_confined(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/status"))
        .is_ok_and(|s| s.lines().any(|l| l.strip_prefix("NoNewPrivs:").is_some_and(|v| v.trim() == "1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_brackets_and_bytes_does_not_shift_the_fields() {
        let stat = b"42 (a) R 1 (\xff) ) S 7 42 42 34816 42 4194304 1 0 0 0 0 0 0 0 20 0 1 0 987654 0 0";
        let entry = parse(42, stat).unwrap();
        assert_eq!((entry.parent, entry.started, entry.has_terminal, entry.is_dead()), (7, 987_654, true, false));
        assert!(parse(42, b"42 (cut").is_none());
        assert!(parse(42, b"42 (short) S 1 2").is_none());
    }
}
