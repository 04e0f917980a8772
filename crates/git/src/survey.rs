//! Many worktrees looked at together: what is unpushed and merged is asked of git once for all of them; of each there is a glance
//! (`glance`), and only those it does not show to be clean are shown to git, a few at a time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use dandori_domain::Oid;

use crate::error::GitError;
use crate::repository::Repository;
use crate::tree::{Refresh, Tree, TreeState};

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
    pub index: Refresh,
}

impl Repository {
    /// The state of each, told to `each` as it is found out, in any order; `None` where git could not tell.
    pub fn survey(&self, standing: &[Standing], each: &(dyn Fn(usize, Option<TreeState>) + Sync)) {
        let unpushed = self.unpushed_of(standing).unwrap_or_default();
        let trees = self.trees_of(standing).unwrap_or_default();
        let next = AtomicUsize::new(0);
        let look = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(one) = standing.get(at) else { break };
                let known =
                    one.head.as_ref().and_then(|head| unpushed.get(&(head.clone(), one.branch.clone())).copied());
                let tree = one.head.as_ref().and_then(|head| trees.get(head));
                let state = match (known, tree) {
                    (Some(unpushed), Some(tree)) if one.tree.is_certainly_clean(tree) => {
                        let (head, branch) = (one.head.clone(), one.branch.clone());
                        Some(TreeState { dirty: Vec::new(), unpushed, head, branch })
                    }
                    _ => one.tree.state_with(one.head.as_ref(), one.branch.as_deref(), known, one.index).ok(),
                };
                each(at, state);
            }
        };
        let hands = dandori_host::machine::cores().clamp(1, MOST_AT_ONCE).min(standing.len().max(1));
        std::thread::scope(|scope| {
            for _ in 1..hands {
                scope.spawn(look);
            }
            look();
        });
    }

    /// What the commits of all heads hold.
    fn trees_of(&self, standing: &[Standing]) -> Result<HashMap<Oid, Oid>, GitError> {
        let heads: HashSet<&Oid> = standing.iter().filter_map(|one| one.head.as_ref()).collect();
        let heads: Vec<&Oid> = heads.into_iter().collect();
        let trees: Vec<String> = heads.iter().map(|head| format!("{head}^{{tree}}")).collect();
        let asked = lines_of(trees.iter().map(String::as_str));
        let call = self.cmd().reading().args(["cat-file", "--batch-check=%(objectname)"]).stdin(asked);
        let answer = call.run()?.text();
        let is_oid = |line: &&str| !line.is_empty() && line.bytes().all(|b| b.is_ascii_hexdigit());
        // One that is missing has another answer.
        let found = heads.into_iter().zip(answer.lines());
        Ok(found.filter(|(_, line)| is_oid(line)).map(|(head, line)| (head.clone(), Oid::new(line))).collect())
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

    /// How many commits of each head no remote branch has; without a remote, no branch; where a remote has no branches yet, no
    /// other branch.
    fn unpushed_of(&self, standing: &[Standing]) -> Result<HashMap<Place, u32>, GitError> {
        let places: HashSet<Place> =
            standing.iter().filter_map(|one| Some((one.head.clone()?, one.branch.clone()))).collect();
        let shared = match self.has_no_remote_branches()? {
            true if self.is_on_its_own() => "--branches",
            true => return self.on_no_other_branch(&places),
            false => "--remotes",
        };
        let asked = format!("{}--not\n{shared}\n", lines_of(places.iter().map(|(head, _)| head.as_str())));
        let text = self.cmd().reading().args(["rev-list", "--parents", "--stdin"]).stdin(asked).run()?.text();
        let parents = parents_in(&text);
        Ok(places.into_iter().map(|place| (place.clone(), count_from(place.0.as_str(), &parents))).collect())
    }

    /// Of what stands on no other branch, all is listed in one question: first without the branches nobody stands on, then
    /// what is reached from one place alone.
    fn on_no_other_branch(&self, places: &HashSet<Place>) -> Result<HashMap<Place, u32>, GitError> {
        let own: HashSet<&str> = places.iter().filter_map(|(_, branch)| branch.as_deref()).collect();
        let branches = self.branches("")?;
        let others = branches.iter().filter(|(name, _)| !own.contains(name.as_str())).map(|(_, oid)| oid.as_str());
        let heads = places.iter().map(|(head, _)| head.as_str());
        let asked = format!("{}--not\n{}", lines_of(heads), lines_of(others));
        let text = self.cmd().reading().args(["rev-list", "--parents", "--stdin"]).stdin(asked).run()?.text();
        let parents = parents_in(&text);
        // A branch that is checked out counts for the others, wherever it is.
        let mut reached: HashMap<&str, u32> = HashMap::new();
        for (head, _) in places.iter().filter(|(_, branch)| branch.is_some()) {
            for commit in reached_from(head.as_str(), &parents) {
                *reached.entry(commit).or_default() += 1;
            }
        }
        let count = |(head, branch): &Place| {
            let alone = u32::from(branch.is_some());
            let own = reached_from(head.as_str(), &parents);
            let own = own.into_iter().filter(|commit| reached.get(commit).copied().unwrap_or(0) <= alone);
            u32::try_from(own.count()).unwrap_or(u32::MAX)
        };
        Ok(places.iter().map(|place| (place.clone(), count(place))).collect())
    }
}

/// A head, and the branch it is on.
type Place = (Oid, Option<String>);

fn lines_of<'t>(words: impl Iterator<Item = &'t str>) -> String {
    words.flat_map(|word| [word, "\n"]).collect()
}

fn parents_in(text: &str) -> HashMap<&str, Vec<&str>> {
    let of = |line| {
        let mut words = str::split(line, ' ');
        Some((words.next()?, words.collect()))
    };
    text.lines().filter_map(of).collect()
}

/// Commits that are reached from `head` without leaving the listed ones.
fn count_from(head: &str, parents: &HashMap<&str, Vec<&str>>) -> u32 {
    u32::try_from(reached_from(head, parents).len()).unwrap_or(u32::MAX)
}

fn reached_from<'p>(head: &str, parents: &HashMap<&'p str, Vec<&'p str>>) -> HashSet<&'p str> {
    let mut seen: HashSet<&'p str> = HashSet::new();
    let mut open = vec![head];
    while let Some(commit) = open.pop() {
        if let Some((listed, of)) = parents.get_key_value(commit)
            && seen.insert(listed)
        {
            open.extend(of);
        }
    }
    seen
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
