//! When a turn ends, the user sees in one table where the playbook stands. Never refused, and said once a turn.

use dandori_playbook::PhaseStatus;
use dandori_text::guard::lifecycle::{self, Summary};

use crate::context::Context;
use crate::event::Kind;
use crate::voice::{Trouble, Voice};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    // The turn goes on because its end was refused before: the table was shown then.
    if !matches!(context.event.kind, Kind::Stop { active: false, .. }) {
        return Ok(());
    }
    let Some(project) = &context.project else { return Ok(()) };
    let documents = context.documents(project)?;
    if !documents.has_state {
        return Ok(());
    }
    let phases = documents.playbook.as_ref().map(|playbook| playbook.phases.as_slice()).unwrap_or_default();
    let with = |status: PhaseStatus| {
        let ids = phases.iter().filter(move |phase| phase.status == status).map(|phase| phase.id.as_str());
        ids.collect::<Vec<_>>()
    };
    voice.info(lifecycle::summary(
        context.lang,
        &Summary {
            playbook: documents.playbook_path.as_ref().map(|path| project.short(path).as_str()),
            is_missing: documents.playbook.is_none(),
            done: with(PhaseStatus::Done).len(),
            in_progress: with(PhaseStatus::InProgress),
            pending: with(PhaseStatus::Pending).len(),
            self_complete: documents.state.self_complete,
        },
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use dandori_domain::client::Moment;

    use crate::Client;
    use crate::judge::{Judgement, Outcome};
    use crate::stage::Stage;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\nverification:\n  self_complete: false\n---\n";
    const PLAYBOOK: &str = "---\nreviewed: true\n---\n## p1: One\n- status: done\n\n## p2: Two\n- status: in_progress\n\n\
                            ## p3: Three\n- status: pending\n\n## p_final: All\n- status: pending\n";

    fn stage() -> Stage {
        Stage::only("summary", Level::Info).file("state.md", STATE).file("plan/playbook-a.md", PLAYBOOK)
    }

    fn stop(stage: &Stage, active: bool) -> Judgement {
        stage.event("Stop", &json!({"stop_hook_active": active}))
    }

    #[test]
    fn the_end_of_a_turn_shows_the_phases_in_a_table_and_never_blocks() {
        let judged = stop(&stage(), false);
        assert_eq!(judged.outcome(), Outcome::Info);
        assert_eq!(
            judged.said(),
            "playbook            done  in_progress  pending  self_complete\n\
             plan/playbook-a.md  1     1 (p2)       2        false"
        );
        let judged = stop(&stage().file("state.md", &STATE.replace("false", "true")).lang(Lang::Ja), false);
        assert_eq!(
            judged.said(),
            "playbook            完了  進行中  未着手  self_complete\nplan/playbook-a.md  1     1 (p2)  2       true"
        );
        let mut blocking = stage();
        blocking.rules.order[0].level = Level::Block;
        assert_eq!(stop(&blocking, false).outcome(), Outcome::Info, "whatever it is set to");
        for client in Client::ALL {
            let judged = stage().by(client).at(Moment::Stop, &json!({}));
            assert!(judged.said().contains("1 (p2)"), "{client}: {}", judged.said());
        }
    }

    #[test]
    fn it_is_said_once_a_turn_and_only_where_there_is_a_state() {
        assert_eq!(stop(&stage(), true).said(), "");
        assert_eq!(stop(&Stage::only("summary", Level::Info), false).said(), "");
        assert_eq!(stop(&Stage::new(Profile::Safety).file("state.md", STATE), false).said(), "");
        assert_eq!(stage().event("SubagentStop", &json!({"stop_hook_active": false})).said(), "");
    }

    #[test]
    fn without_a_playbook_that_is_said() {
        let none = stop(&stage().file("state.md", "---\nplaybook:\n  active: null\n---\n"), false).said();
        assert!(none.contains("none") && none.contains("false"), "{none}");
        let gone = Stage::only("summary", Level::Info).file("state.md", STATE);
        assert!(stop(&gone, false).said().contains("plan/playbook-a.md (file not found)"));
        assert_eq!(stop(&stage().unreadable("state.md"), false).outcome(), Outcome::Error);
    }
}
