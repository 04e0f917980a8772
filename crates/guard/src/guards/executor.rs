//! The phase is somebody else's: said with what to do when they cannot be had.

use dandori_playbook::Executor;
use dandori_text::guard::edit;

use crate::Agent;
use crate::context::Context;
use crate::papers;
use crate::voice::{Trouble, Voice};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let you = match context.event.agent {
        Agent::Client(client) => Executor::Client(client),
        Agent::Acp => Executor::Other(context.event.agent.to_string()),
    };
    for (_, checkout) in papers::work(context) {
        let documents = context.documents(&checkout)?;
        let Some(playbook) = &documents.playbook else { continue };
        let phase = playbook.current();
        let Some(name) = phase.and_then(|phase| phase.executor.as_ref()).or(playbook.executor.as_ref()) else {
            continue;
        };
        let executor = documents.state.executor(name);
        if executor != you {
            let what = phase.map_or_else(|| edit::the_playbook(context.lang), |phase| phase.id.clone());
            let who = if executor.as_str().eq_ignore_ascii_case(name) {
                executor.as_str().to_owned()
            } else {
                format!("{} ({name})", executor.as_str())
            };
            voice.warn(edit::other_executor(context.lang, &what, &who, you.as_str()));
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::{Deed, Stage};

    fn stage(toolstack: &str, executor: &str) -> Stage {
        let state = format!("---\nplaybook:\n  active: plan/playbook-a.md\nconfig:\n  toolstack: {toolstack}\n---\n");
        let playbook =
            format!("---\nexecutor: claude\nreviewed: true\n---\n## p1: One\n- status: in_progress\n{executor}\n");
        Stage::only("executor", Level::Warn).file("state.md", &state).file("plan/playbook-a.md", &playbook)
    }

    #[test]
    fn another_executor_is_named_with_what_to_do_without_them() {
        for (toolstack, executor, want) in [
            ("A", "- executor: codex", "codex"),
            ("A", "- executor: user", "user"),
            ("B", "- executor: worker", "codex (worker)"),
            ("C", "- executor: reviewer", "coderabbit (reviewer)"),
        ] {
            let judged = stage(toolstack, executor).write("src/a.rs", "x");
            assert_eq!(judged.outcome(), Outcome::Warn, "{toolstack} {executor}");
            let said = judged.said();
            assert!(said.contains(&format!("assigned to {want}")) && said.contains("note in the playbook"), "{said}");
        }
        let japanese = stage("B", "- executor: worker").lang(Lang::Ja).bash("echo x > a").said();
        assert!(japanese.contains("担当は codex") && japanese.contains("playbook に記録"), "{japanese}");
    }

    #[test]
    fn a_playbook_without_a_phase_in_progress_is_called_so_in_the_user_s_language() {
        let stage =
            |lang| stage("A", "").file("plan/playbook-a.md", "---\nexecutor: codex\nreviewed: true\n---\n").lang(lang);
        let english = stage(Lang::En).write("a", "x").said();
        assert!(english.starts_with("the playbook is assigned to codex"), "{english}");
        let japanese = stage(Lang::Ja).write("a", "x").said();
        assert!(japanese.starts_with("playbook の担当は codex"), "{japanese}");
    }

    #[test]
    fn the_right_one_and_the_papers_pass() {
        for judged in [
            stage("A", "- executor: worker").write("src/a.rs", "x"),
            stage("B", "").write("src/a.rs", "x"),
            stage("B", "- executor: claude_code").write("src/a.rs", "x"),
            stage("B", "- executor: worker").write("plan/playbook-a.md", "x"),
            stage("B", "- executor: worker").write("state.md", "x"),
            Stage::only("executor", Level::Warn).write("a", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn who_asks_is_the_client_of_the_event() {
        for client in Client::ALL {
            let judged = stage("B", "- executor: worker").by(client).does(Deed::Write("a")).unwrap();
            let want = if client == Client::Codex { Outcome::Pass } else { Outcome::Warn };
            assert_eq!(judged.outcome(), want, "{client}");
        }
    }

    #[test]
    fn a_state_that_is_odd_or_unreadable_does_not_break_it() {
        assert_eq!(stage("Z", "- executor: worker").write("a", "x").outcome(), Outcome::Pass, "A is the default");
        assert_eq!(stage("A", "").unreadable("state.md").write("a", "x").outcome(), Outcome::Error);
    }
}
