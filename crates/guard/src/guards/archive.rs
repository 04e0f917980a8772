//! A playbook whose last phase has become done is put away: proposed after the edit that did it. Once state.md goes by
//! another, or by none, the finished one waits for its post-loop.

use dandori_text::guard::lifecycle;

use crate::context::{By, Context};
use crate::event::{Kind, Outcome};
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Mark};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if matches!(context.event.kind, Kind::PostTool { outcome: Outcome::Failed, .. }) {
        return Ok(());
    }
    let Some(project) = &context.project else { return Ok(()) };
    let finished = context.world.mark(&Mark::Finished);
    let is_edit = context.targets().iter().any(|target| target.by == By::Edit);
    if finished.is_none() && !is_edit {
        return Ok(());
    }
    let documents = context.documents(project)?;
    let active = documents.playbook_path.as_deref();
    match finished {
        Some(path) if !path.is_empty() && active.is_none_or(|active| project.short(active) != path) => {
            voice.note(Effect::Clear(Mark::Finished));
            // Without a state.md it is not known what became of it.
            if documents.has_state {
                voice.note(Effect::Set(Mark::PostLoop, path.clone()));
                voice.warn(lifecycle::archived(context.lang, &path));
            }
        }
        known => {
            let Some(path) = active else { return Ok(()) };
            if !context.targets().iter().any(|target| target.real == path) {
                return Ok(());
            }
            let is_done = documents.playbook.as_ref().is_some_and(dandori_playbook::Playbook::is_done);
            match (is_done, known) {
                (true, None) => {
                    let path = project.short(path).as_str();
                    voice.note(Effect::Set(Mark::Finished, path.to_owned()));
                    voice.warn(lifecycle::archive(context.lang, path));
                }
                (false, Some(_)) => voice.note(Effect::Clear(Mark::Finished)),
                (true, Some(_)) | (false, None) => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::judge::{Judgement, Outcome};
    use crate::stage::Stage;

    const PLAN: &str = "plan/playbook-a.md";

    fn stage(second: &str) -> Stage {
        let playbook =
            format!("---\nreviewed: true\n---\n## p1: One\n- status: done\n\n## p2: Two\n- status: {second}\n");
        Stage::only("archive", Level::Warn)
            .file("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n---\n")
            .file(PLAN, &playbook)
    }

    fn put_away() -> Stage {
        stage("done")
            .file("state.md", "---\nplaybook:\n  active: null\n  last_archived: plan/archive/playbook-a.md\n---\n")
            .mark_with(Mark::Finished, PLAN)
    }

    fn edited(stage: &Stage, path: &str) -> Judgement {
        let input = json!({"file_path": format!("/repo/{path}"), "old_string": "x", "new_string": "y"});
        stage.event("PostToolUse", &json!({"tool_name": "Edit", "tool_input": input, "tool_response": {}}))
    }

    fn ran(stage: &Stage, command: &str) -> Judgement {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}});
        stage.event("PostToolUse", &fields)
    }

    #[test]
    fn the_edit_that_finishes_the_last_phase_proposes_the_archive_once() {
        let judged = edited(&stage("done"), PLAN);
        assert_eq!(judged.outcome(), Outcome::Warn);
        for words in [PLAN, "plan/archive/playbook-a.md", "playbook.active: null", "last_archived"] {
            assert!(judged.said().contains(words), "{words}: {}", judged.said());
        }
        assert_eq!(judged.effects, [Effect::Set(Mark::Finished, PLAN.to_owned())]);
        let again = edited(&stage("done").mark_with(Mark::Finished, PLAN), PLAN);
        assert_eq!((again.outcome(), again.effects), (Outcome::Pass, Vec::new()));
        let said = edited(&stage("done").lang(Lang::Ja), PLAN).said();
        assert!(said.contains("すべてのフェーズが完了") && said.contains("plan/archive/"), "{said}");
    }

    #[test]
    fn what_is_left_other_files_and_failed_edits_propose_nothing() {
        for judged in
            [edited(&stage("in_progress"), PLAN), edited(&stage("done"), "src/a.rs"), ran(&stage("done"), "ls")]
        {
            assert_eq!((judged.outcome(), judged.effects), (Outcome::Pass, Vec::new()));
        }
        let input = json!({"file_path": format!("/repo/{PLAN}"), "old_string": "x", "new_string": "y"});
        let fields = json!({"tool_name": "Edit", "tool_input": input, "error": "no"});
        assert_eq!(stage("done").event("PostToolUseFailure", &fields).outcome(), Outcome::Pass);
        let empty = stage("done").file(PLAN, "---\nreviewed: true\n---\n");
        assert_eq!(edited(&empty, PLAN).outcome(), Outcome::Pass, "no phases are not all phases");
        let opened = edited(&stage("in_progress").mark_with(Mark::Finished, PLAN), PLAN);
        assert_eq!(opened.effects, [Effect::Clear(Mark::Finished)], "it was opened again");
        let safety =
            Stage::new(Profile::Safety).file("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n---\n");
        assert_eq!(edited(&safety.file(PLAN, "## p1: x\n- status: done\n"), PLAN).said(), "");
    }

    #[test]
    fn a_finished_playbook_that_was_put_away_waits_for_its_post_loop() {
        let want = [Effect::Clear(Mark::Finished), Effect::Set(Mark::PostLoop, PLAN.to_owned())];
        for judged in [edited(&put_away(), "state.md"), ran(&put_away(), "dandori state set playbook.active null")] {
            assert_eq!(judged.effects, want);
            assert!(judged.said().contains("`dandori post-loop`"), "{}", judged.said());
        }
        let still = ran(&stage("done").mark_with(Mark::Finished, PLAN), "git mv plan/playbook-a.md plan/archive/");
        assert_eq!(still.effects, [], "state.md still goes by it");
        assert_eq!(edited(&stage("done").file("state.md", "---\nfocus: x\n---\n"), "state.md").effects, []);
    }
}
