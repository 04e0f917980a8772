//! What each role may ask dandori for. An agent of a formation reaches it by a door of its own: whatever is not named here is
//! for people.

use crate::agent::Role;

/// Something that an agent may be allowed to do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Verb {
    /// Whether anybody is there, and of which version.
    Ping,
    /// The task it works on, and no other.
    ShowTask,
    WriteResult,
    Heartbeat,
    SubmitPlan,
    CompletePlan,
    AddRetryTask,
    RequestCancel,
    ShowPlan,
    Status,
    WriteQueue,
    Notify,
}

impl Verb {
    pub const ALL: [Self; 12] = [
        Self::Ping,
        Self::ShowTask,
        Self::WriteResult,
        Self::Heartbeat,
        Self::SubmitPlan,
        Self::CompletePlan,
        Self::AddRetryTask,
        Self::RequestCancel,
        Self::ShowPlan,
        Self::Status,
        Self::WriteQueue,
        Self::Notify,
    ];

    /// As it is typed; `None` where nobody types it.
    pub fn command(self) -> Option<&'static str> {
        Some(match self {
            Self::Ping => return None,
            Self::ShowTask => "task show",
            Self::WriteResult => "result write",
            Self::Heartbeat => "task heartbeat",
            Self::SubmitPlan => "plan submit",
            Self::CompletePlan => "plan complete",
            Self::AddRetryTask => "plan add-retry-task",
            Self::RequestCancel => "plan request-cancel",
            Self::ShowPlan => "plan show",
            Self::Status => "status",
            Self::WriteQueue => "queue write planner",
            Self::Notify => "notify",
        })
    }
}

/// A worker reports and does not plan; the planner plans and does not report; the orchestrator hands over what people want.
pub fn may(role: Role, verb: Verb) -> bool {
    match verb {
        Verb::Ping => true,
        Verb::ShowTask | Verb::WriteResult | Verb::Heartbeat => role == Role::Worker,
        Verb::SubmitPlan | Verb::CompletePlan | Verb::AddRetryTask | Verb::RequestCancel | Verb::ShowPlan => {
            role == Role::Planner
        }
        Verb::Status => matches!(role, Role::Planner | Role::Orchestrator),
        Verb::WriteQueue | Verb::Notify => role == Role::Orchestrator,
    }
}

/// The commands of a role.
pub fn commands(role: Role) -> Vec<&'static str> {
    Verb::ALL.into_iter().filter(|verb| may(role, *verb)).filter_map(Verb::command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_own_verbs_and_no_others() {
        assert_eq!(commands(Role::Worker), ["task show", "result write", "task heartbeat"]);
        assert_eq!(
            commands(Role::Planner),
            ["plan submit", "plan complete", "plan add-retry-task", "plan request-cancel", "plan show", "status"]
        );
        assert_eq!(commands(Role::Orchestrator), ["status", "queue write planner", "notify"]);
        for verb in Verb::ALL {
            let who = Role::ALL.iter().filter(|role| may(**role, verb)).count();
            let expected = match verb {
                Verb::Ping => 3,
                Verb::Status => 2,
                _ => 1,
            };
            assert_eq!(who, expected, "{verb:?}");
        }
    }

    #[test]
    fn every_verb_is_listed_once() {
        let mut all = Verb::ALL.to_vec();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), Verb::ALL.len());
        assert_eq!(all.last(), Some(&Verb::Notify), "the last of them");
    }
}
