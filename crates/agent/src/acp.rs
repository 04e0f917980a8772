//! Any agent that speaks the Agent Client Protocol: what `dandori acp`, which speaks with it, is to do.
//!
//! The agent is not known: it has no settings of its own here and no login but what its environment gives it. It does have a
//! folder of its own that outlives a run, so that it can keep a conversation.

use dandori_domain::acp::{AcpOrder, VERSION};

use crate::home::PrivateHome;
use crate::{Order, PrepareError, constraints};

/// Names the agent's own folder to its command line.
const HOME: &str = "DANDORI_AGENT_HOME";

/// The order, as `dandori acp` reads it.
pub(crate) fn order(order: &Order<'_>, command: &str, auth: Option<&str>) -> Result<String, PrepareError> {
    // Without hooks nothing else holds what it does unasked.
    let Some(guards) = order.guards.filter(|_| order.sandboxed) else { return Err(PrepareError::NeedsFence) };
    let preface = |instruction: &str| constraints::preface(instruction, order.forbidden_paths);
    let order = AcpOrder {
        version: VERSION,
        command: command.to_owned(),
        worktree: order.workdir.to_owned(),
        also: vec![order.tmp.to_owned(), order.home.to_owned()],
        run: guards.folder.to_owned(),
        prompt: preface(order.instruction),
        session: order.session.cloned(),
        prompt_anew: order.earlier.map(|earlier| preface(&constraints::after(earlier, order.instruction))),
        model: order.model.map(str::to_owned),
        auth: auth.map(str::to_owned),
        grace_seconds: order.limits.grace_seconds,
    };
    let unwritten =
        |source: serde_json::Error| PrepareError::Instruction { path: command.into(), source: source.into() };
    serde_json::to_string(&order).map_err(unwritten)
}

/// Nobody knows what in it is the conversation: it stays as it is from run to run of a task.
pub(crate) fn home(order: &Order<'_>) -> PrivateHome {
    PrivateHome {
        env: vec![(HOME.to_owned(), order.home.to_string())],
        named: Vec::new(),
        write: vec![order.home.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use camino::{Utf8Path, Utf8PathBuf};
    use dandori_domain::run::{CustomAgent, Limits};
    use dandori_domain::{AgentName, RunId, SessionId, TaskId};
    use dandori_host::Env;

    use super::*;
    use crate::{Guards, Launch, prepare};

    fn prepared(root: &Utf8Path, guards: Option<Guards<'_>>, sandboxed: bool) -> Result<Launch, PrepareError> {
        let now = "2026-01-01T12:00:00Z".parse().unwrap_or_default();
        prepare(&Order {
            agent: &AgentName::Custom("mine".to_owned()),
            run: RunId::mint(now, 1),
            task: TaskId::mint(now, 1),
            instruction: "Do more",
            instruction_file: &root.join("instruction"),
            workdir: Utf8Path::new("/tree"),
            tmp: Utf8Path::new("/run/tmp"),
            home: Utf8Path::new("/private"),
            session: Some(&SessionId::new("s1")),
            new_session: uuid::Uuid::nil(),
            model: None,
            budget: None,
            limits: &Limits::default(),
            user_env: &Env::from_pairs([("PATH", "/nowhere")]),
            pass_env: &[],
            sandboxed,
            custom: Some(&CustomAgent::Acp { acp: "agent --acp".to_owned(), auth: Some("key".to_owned()) }),
            earlier: Some("Asked: x"),
            forbidden_paths: &["infra/**".to_owned()],
            guards,
            door: None,
            dandori: Utf8Path::new("/opt/dandori"),
            now,
        })
    }

    #[test]
    fn our_own_process_is_started_with_the_order_on_its_stdin() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(dir.path().to_owned()).unwrap();
        let guards = Guards { folder: Utf8Path::new("/runs/k"), settings: Utf8Path::new("/runs/k/settings") };
        let launch = prepared(&root, Some(guards), true).unwrap();
        assert_eq!(launch.argv, ["/opt/dandori", "acp"]);
        assert_eq!(launch.write, ["/private"]);
        assert!(launch.env.contains(&(HOME.to_owned(), "/private".to_owned())), "{:?}", launch.env);
        assert!(!launch.env.iter().any(|(name, _)| name.starts_with("DANDORI_INSTRUCTION")), "{:?}", launch.env);
        let stdin = std::fs::read(launch.stdin.unwrap()).unwrap();
        let order: AcpOrder = serde_json::from_slice(&stdin).unwrap();
        assert_eq!((order.command.as_str(), order.auth.as_deref()), ("agent --acp", Some("key")));
        assert_eq!((order.worktree.as_str(), order.run.as_str()), ("/tree", "/runs/k"));
        assert!(order.prompt.contains("Do more") && order.prompt.contains("infra/**"), "{}", order.prompt);
        assert!(!order.prompt.contains("Asked: x"));
        assert!(order.prompt_anew.is_some_and(|prompt| prompt.contains("Asked: x") && prompt.contains("Do more")));
    }

    #[test]
    fn without_the_fence_or_the_guards_it_is_not_started() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(dir.path().to_owned()).unwrap();
        let guards = Guards { folder: Utf8Path::new("/runs/k"), settings: Utf8Path::new("/runs/k/settings") };
        assert!(matches!(prepared(&root, Some(guards), false), Err(PrepareError::NeedsFence)));
        assert!(matches!(prepared(&root, None, true), Err(PrepareError::NeedsFence)));
    }
}
