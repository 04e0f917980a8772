//! What an agent is told about its role when it is started, before any message.

use dandori_formation::Role;

use crate::Lang;

pub fn role(lang: Lang, role: Role) -> &'static str {
    match (lang, role) {
        (Lang::En, Role::Orchestrator) => include_str!("roles/en/orchestrator.md"),
        (Lang::En, Role::Planner) => include_str!("roles/en/planner.md"),
        (Lang::En, Role::Worker) => include_str!("roles/en/worker.md"),
        (Lang::Ja, Role::Orchestrator) => include_str!("roles/ja/orchestrator.md"),
        (Lang::Ja, Role::Planner) => include_str!("roles/ja/planner.md"),
        (Lang::Ja, Role::Worker) => include_str!("roles/ja/worker.md"),
    }
}
