//! Who does what: from the word in a playbook to the one it means.

use dandori_domain::Client;

use crate::state::{Roles, State};

/// Who a phase is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Executor {
    Client(Client),
    CodeRabbit,
    User,
    /// A name we have no meaning for.
    Other(String),
}

impl Executor {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Client(client) => client.name(),
            Self::CodeRabbit => "coderabbit",
            Self::User => "user",
            Self::Other(name) => name,
        }
    }

    fn of(name: &str) -> Self {
        if let Some(client) = Client::meant_by(name) {
            return Self::Client(client);
        }
        match name.trim().to_lowercase().replace(['_', '-', ' '], "").as_str() {
            "coderabbit" => Self::CodeRabbit,
            "user" | "human" | "ユーザー" | "人" => Self::User,
            _ => Self::Other(name.trim().to_owned()),
        }
    }
}

impl State {
    /// Whom an executor's name stands for. A role (`orchestrator`, `worker`, `reviewer`) is what `roles` says, else what
    /// the toolstack says: A is Claude for everything, B has Codex as the worker, C also `CodeRabbit` as the reviewer.
    pub fn executor(&self, name: &str) -> Executor {
        let stack = self.toolstack.as_deref().unwrap_or("A");
        let Roles { orchestrator, worker, reviewer } = &self.roles;
        let (given, by_stack) = match name.trim().to_lowercase().as_str() {
            "orchestrator" => (orchestrator, Executor::Client(Client::Claude)),
            "worker" => {
                (worker, if stack == "A" { Executor::Client(Client::Claude) } else { Executor::Client(Client::Codex) })
            }
            "reviewer" => {
                (reviewer, if stack == "C" { Executor::CodeRabbit } else { Executor::Client(Client::Claude) })
            }
            _ => return Executor::of(name),
        };
        given.as_deref().map_or(by_stack, Executor::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_what_the_toolstack_makes_of_it() {
        let (claude, codex) = (|| Executor::Client(Client::Claude), || Executor::Client(Client::Codex));
        for (stack, worker, reviewer) in [
            (None, claude(), claude()),
            (Some("A"), claude(), claude()),
            (Some("B"), codex(), claude()),
            (Some("C"), codex(), Executor::CodeRabbit),
        ] {
            let state = State { toolstack: stack.map(str::to_owned), ..State::default() };
            assert_eq!(state.executor("orchestrator"), claude(), "{stack:?}");
            assert_eq!(state.executor("Worker"), worker, "{stack:?}");
            assert_eq!(state.executor(" reviewer "), reviewer, "{stack:?}");
        }
    }

    #[test]
    fn roles_come_before_the_toolstack() {
        let roles = Roles { worker: Some("claude".to_owned()), reviewer: Some("user".to_owned()), orchestrator: None };
        let state = State { toolstack: Some("C".to_owned()), roles, ..State::default() };
        assert_eq!(state.executor("worker"), Executor::Client(Client::Claude));
        assert_eq!(state.executor("reviewer"), Executor::User);
    }

    #[test]
    fn names_are_understood_however_they_are_written() {
        let state = State::default();
        for (name, want) in [
            ("claudecode", Executor::Client(Client::Claude)),
            ("claude_code", Executor::Client(Client::Claude)),
            ("Claude Code", Executor::Client(Client::Claude)),
            ("claude", Executor::Client(Client::Claude)),
            ("codex", Executor::Client(Client::Codex)),
            ("Codex-CLI", Executor::Client(Client::Codex)),
            ("CodeRabbit", Executor::CodeRabbit),
            ("user", Executor::User),
            ("ユーザー", Executor::User),
            ("alice", Executor::Other("alice".to_owned())),
        ] {
            assert_eq!(state.executor(name), want, "{name}");
        }
        let circle = Roles { worker: Some("worker".to_owned()), ..Roles::default() };
        let state = State { roles: circle, ..State::default() };
        assert_eq!(state.executor("worker"), Executor::Other("worker".to_owned()), "a role of itself is nobody");
    }
}
