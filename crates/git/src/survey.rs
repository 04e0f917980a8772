//! Many worktrees looked at together: what is unpushed and merged is asked of git once for all of them, what is edited of
//! each, a few at a time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use dandori_domain::Oid;

use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::{Tree, TreeState};

/// git reads a whole index for each: more at once than there are cores only wait for each other.
const MOST_AT_ONCE: usize = 8;

/// More heads do not fit into a command line everywhere.
const HEADS_AT_ONCE: usize = 10_000;

/// A worktree to be looked at, and where git says it stands.
#[derive(Clone, Debug)]
pub struct Standing {
    pub tree: Tree,
    pub head: Option<Oid>,
    pub branch: Option<String>,
}

impl Repository {
    /// The state of each, in order; `None` where git could not tell.
    pub fn states(&self, standing: &[Standing]) -> Vec<Option<TreeState>> {
        let unpushed = self.unpushed_of(standing).unwrap_or_default();
        let next = AtomicUsize::new(0);
        let states: Mutex<Vec<Option<TreeState>>> = Mutex::new(vec![None; standing.len()]);
        let look = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = standing.get(at) else { break };
                let known = one.head.as_ref().and_then(|head| unpushed.get(head).copied());
                let state = one.tree.state_with(one.head.as_ref(), one.branch.as_deref(), known).ok();
                if let Some(place) = states.lock().unwrap_or_else(PoisonError::into_inner).get_mut(at) {
                    *place = state;
                }
            }
        };
        let hands = dandori_host::machine::cores().clamp(1, MOST_AT_ONCE).min(standing.len().max(1));
        std::thread::scope(|scope| {
            for _ in 1..hands {
                scope.spawn(look);
            }
            look();
        });
        states.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of `heads` that are not wholly in `base`.
    pub fn not_in(&self, heads: &[Oid], base: &Oid) -> Result<HashSet<Oid>, GitError> {
        let mut outside = HashSet::new();
        for some in heads.chunks(HEADS_AT_ONCE) {
            let call = self.cmd().reading().arg("rev-list").args(some.iter().map(Oid::as_str));
            let listed = call.args(["--not", base.as_str()]).run()?.text();
            let listed: HashSet<&str> = listed.lines().collect();
            outside.extend(some.iter().filter(|head| listed.contains(head.as_str())).cloned());
        }
        Ok(outside)
    }

    /// How many commits of each head no remote branch has. Empty where there are no remote branches: then each has to be
    /// counted against the others.
    fn unpushed_of(&self, standing: &[Standing]) -> Result<HashMap<Oid, u32>, GitError> {
        if self.has_no_remote_branches()? {
            return Ok(HashMap::new());
        }
        let heads: HashSet<&Oid> = standing.iter().filter_map(|one| one.head.as_ref()).collect();
        let heads: Vec<&Oid> = heads.into_iter().collect();
        let mut counts = HashMap::new();
        for some in heads.chunks(HEADS_AT_ONCE) {
            let call = self.cmd().reading().args(["rev-list", "--parents"]).args(some.iter().map(|head| head.as_str()));
            let text = call.args(["--not", "--remotes"]).run()?.text();
            let parents: HashMap<&str, Vec<&str>> = text
                .lines()
                .filter_map(|line| {
                    let mut words = line.split(' ');
                    Some((words.next()?, words.collect()))
                })
                .collect();
            counts.extend(some.iter().map(|head| ((*head).clone(), count_from(head.as_str(), &parents))));
        }
        Ok(counts)
    }
}

/// Commits that are reached from `head` without leaving the listed ones.
fn count_from(head: &str, parents: &HashMap<&str, Vec<&str>>) -> u32 {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut open = vec![head];
    while let Some(commit) = open.pop() {
        if let Some((listed, of)) = parents.get_key_value(commit)
            && seen.insert(listed)
        {
            open.extend(of);
        }
    }
    u32::try_from(seen.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_counted_once_and_only_as_far_as_they_are_listed() {
        // d merges b and c, both on a; p is pushed and so not listed.
        let parents = HashMap::from([("d", vec!["b", "c"]), ("b", vec!["a"]), ("c", vec!["a"]), ("a", vec!["p"])]);
        assert_eq!(count_from("d", &parents), 4);
        assert_eq!(count_from("b", &parents), 2);
        assert_eq!(count_from("p", &parents), 0);
    }
}
