//! What has to outlive a compaction: the few pointers with which the work goes on. They go into the instructions for the
//! summary, and again to the model that begins after it.

use dandori_text::guard::lifecycle;

use super::state_injection::standing;
use crate::context::Context;
use crate::event::{Kind, Source};
use crate::voice::{Trouble, Voice};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let is_over = match &context.event.kind {
        Kind::PreCompact { .. } => false,
        Kind::SessionStart { source: Source::Compact } => true,
        _ => return Ok(()),
    };
    let Some(project) = &context.project else { return Ok(()) };
    let documents = context.documents(project)?;
    if !documents.has_state {
        return Ok(());
    }
    // The criteria are in the playbook, which is to be read anyway.
    let now = dandori_text::guard::prompt::Standing { criteria: Vec::new(), ..standing(project, &documents) };
    let mut read = vec!["state.md"];
    read.extend(now.playbook.filter(|_| !now.is_missing));
    voice.info(lifecycle::pointers(context.lang, &now, &read, is_over));
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use crate::judge::{Judgement, Outcome};
    use crate::stage::Stage;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";
    const PLAYBOOK: &str = "---\nbranch: work\nreviewed: true\n---\n## p1: One\n- status: in_progress\n\
                            - done_criteria:\n  - tests pass\n";

    fn stage() -> Stage {
        Stage::only("compact", Level::Info).file("state.md", STATE).file("plan/playbook-a.md", PLAYBOOK)
    }

    fn before(stage: &Stage) -> Judgement {
        stage.event("PreCompact", &json!({"trigger": "auto"}))
    }

    fn after(stage: &Stage) -> Judgement {
        stage.event("SessionStart", &json!({"source": "compact"}))
    }

    #[test]
    fn the_pointers_go_into_the_summary_and_to_the_model_after_it() {
        let pointers = "playbook: plan/playbook-a.md\nphase: p1 One (in_progress), 0 of 1 phases done\nbranch: work\n\
                        read again: state.md, plan/playbook-a.md";
        for judged in [before(&stage()), after(&stage())] {
            assert_eq!(judged.outcome(), Outcome::Info);
            assert!(judged.said().ends_with(pointers) && !judged.said().contains("tests pass"), "{}", judged.said());
        }
        assert!(before(&stage()).said().starts_with("Keep "), "{}", before(&stage()).said());
        let said = after(&stage().lang(Lang::Ja)).said();
        assert!(said.contains("読み直す: state.md, plan/playbook-a.md"), "{said}");
    }

    #[test]
    fn other_beginnings_and_plain_repositories_are_silent() {
        for source in ["startup", "resume", "clear"] {
            assert_eq!(stage().event("SessionStart", &json!({"source": source})).said(), "", "{source}");
        }
        assert_eq!(before(&Stage::only("compact", Level::Info)).said(), "");
        assert_eq!(before(&Stage::new(Profile::Safety).file("state.md", STATE)).said(), "");
        let missing = before(&Stage::only("compact", Level::Info).file("state.md", STATE)).said();
        assert!(missing.contains("file not found") && missing.ends_with("read again: state.md"), "{missing}");
    }
}
