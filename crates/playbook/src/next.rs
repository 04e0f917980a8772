//! What comes after a finished playbook.

use crate::playbook::{PhaseStatus, Playbook};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// The active playbook goes on.
    Phase {
        playbook: String,
        id: String,
        title: String,
    },
    /// Another playbook waits to be begun.
    Playbook {
        path: String,
        name: Option<String>,
        branch: Option<String>,
    },
    Nothing,
}

impl Next {
    /// `active` and `others` are playbooks with their paths; of the others the first that is not done comes next.
    pub fn of(active: Option<(&str, &Playbook)>, others: &[(String, Playbook)]) -> Self {
        if let Some((path, playbook)) = active {
            let is_left = |status: PhaseStatus| status != PhaseStatus::Done;
            let is_ready = |p: &&crate::Phase| is_left(p.status) && playbook.unfinished_before(p).is_empty();
            let ready = playbook.current().or_else(|| playbook.phases.iter().find(is_ready));
            if let Some(phase) = ready.or_else(|| playbook.phases.iter().find(|p| is_left(p.status))) {
                return Self::Phase { playbook: path.to_owned(), id: phase.id.clone(), title: phase.title.clone() };
            }
        }
        let is_active = |path: &str| active.is_some_and(|(active, _)| active == path);
        let waiting = others.iter().find(|(path, playbook)| !is_active(path) && !playbook.is_done());
        waiting.map_or(Self::Nothing, |(path, playbook)| Self::Playbook {
            path: path.clone(),
            name: playbook.name.clone(),
            branch: playbook.branch.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playbook(statuses: &[&str]) -> Playbook {
        let phase = |(n, status): (usize, &&str)| format!("## p{n}: Phase {n}\n- status: {status}\n");
        Playbook::read(&format!(
            "---\nbranch: b\n---\n# x\n{}",
            statuses.iter().enumerate().map(phase).collect::<String>()
        ))
    }

    #[test]
    fn the_active_playbook_goes_on_before_another_is_begun() {
        let others = [("plan/playbook-b.md".to_owned(), playbook(&["pending"]))];
        for (statuses, want) in [(&["done", "in_progress", "pending"][..], "p1"), (&["done", "pending"], "p1")] {
            let next = Next::of(Some(("plan/playbook-a.md", &playbook(statuses))), &others);
            assert!(
                matches!(&next, Next::Phase { playbook, id, .. } if playbook == "plan/playbook-a.md" && id == want)
            );
        }
        let mut waiting = playbook(&["pending", "pending"]);
        waiting.phases[0].depends_on = vec!["p1".to_owned()];
        let next = Next::of(Some(("a", &waiting)), &[]);
        assert!(matches!(next, Next::Phase { id, .. } if id == "p1"), "the one that waits for nothing");
    }

    #[test]
    fn then_the_first_that_is_not_done_and_else_nothing() {
        let all = [
            ("plan/playbook-a.md".to_owned(), playbook(&["done"])),
            ("plan/playbook-b.md".to_owned(), playbook(&["pending"])),
        ];
        let want = Next::Playbook {
            path: "plan/playbook-b.md".to_owned(),
            name: Some("x".to_owned()),
            branch: Some("b".to_owned()),
        };
        assert_eq!(Next::of(None, &all), want);
        assert_eq!(Next::of(Some(("plan/playbook-a.md", &playbook(&["done"]))), &all), want);
        assert_eq!(Next::of(Some(("plan/playbook-a.md", &playbook(&["done"]))), &all[..1]), Next::Nothing);
        let begun = Playbook::read("# just begun\n");
        assert!(matches!(Next::of(None, &[("p".to_owned(), begun.clone())]), Next::Playbook { .. }));
        assert_eq!(Next::of(Some(("p", &begun)), &[("p".to_owned(), begun.clone())]), Next::Nothing);
    }
}
