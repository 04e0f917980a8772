//! What is being worked on, told to the model with every prompt: a context that was compacted has lost it.

use dandori_playbook::PhaseStatus;
use dandori_text::guard::prompt::{self, Standing, StandingPhase};

use crate::context::{Context, Documents};
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

const CHARS: usize = 1_500;
const CRITERIA: usize = 8;
const CRITERION_CHARS: usize = 160;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let Some(project) = &context.project else { return Ok(()) };
    let documents = context.documents(project)?;
    if documents.has_state {
        let said = prompt::standing(context.lang, &standing(project, &documents));
        voice.info(cut(&said, CHARS));
    }
    Ok(())
}

pub(crate) fn standing<'d>(project: &'d Checkout, documents: &'d Documents) -> Standing<'d> {
    let state = &documents.state;
    let playbook = documents.playbook.as_ref();
    // state.md may name a phase the playbook has not begun.
    let named = || playbook?.phase(state.phase.as_deref()?);
    let phase = playbook.and_then(|playbook| playbook.current()).or_else(named);
    let criteria = phase.map(|phase| &phase.done_criteria).filter(|c| !c.is_empty()).unwrap_or(&state.done_criteria);
    let branch = project.branch();
    let wanted = playbook.and_then(|playbook| playbook.branch.as_deref()).or(state.branch.as_deref());
    let is_active = documents.playbook_path.is_some();
    Standing {
        playbook: documents.playbook_path.as_ref().map(|path| project.short(path).as_str()),
        is_missing: is_active && playbook.is_none(),
        is_reviewed: playbook.is_some_and(|playbook| playbook.reviewed),
        phase: phase.map(|phase| StandingPhase { id: &phase.id, title: &phase.title, status: phase.status }),
        progress: playbook.map(|playbook| {
            let done = playbook.phases.iter().filter(|phase| phase.status == PhaseStatus::Done).count();
            (done, playbook.phases.len())
        }),
        branch,
        wanted_branch: wanted.filter(|wanted| is_active && branch != Some(*wanted)),
        criteria: criteria.iter().take(CRITERIA).map(|criterion| cut(criterion, CRITERION_CHARS)).collect(),
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use super::*;
    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Head;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\ngoal:\n  phase: p2\n---\n";
    const PLAYBOOK: &str = "---\nbranch: work\nreviewed: true\n---\n## p1: One\n- status: done\n\n## p2: Second thing\n\
                            - status: in_progress\n- done_criteria:\n  - tests pass\n  - docs say so\n";

    fn stage(playbook: &str) -> Stage {
        Stage::only("state-injection", Level::Info).file("state.md", STATE).file("plan/playbook-a.md", playbook)
    }

    #[test]
    fn the_model_is_told_where_the_work_stands() {
        let judged = stage(PLAYBOOK).prompt("go on");
        assert_eq!(judged.outcome(), Outcome::Info);
        assert_eq!(
            judged.said(),
            "playbook: plan/playbook-a.md\nphase: p2 Second thing (in_progress), 1 of 2 phases done\nbranch: work\n\
             done when:\n- tests pass\n- docs say so"
        );
        let said = stage(PLAYBOOK).lang(Lang::Ja).prompt("続けて").said();
        assert!(said.contains("フェーズ: p2 Second thing (進行中)、全 2 フェーズ中 1 完了"), "{said}");
    }

    #[test]
    fn what_is_not_in_order_is_said() {
        let said = stage(&PLAYBOOK.replace("true", "false")).branch("main").prompt("x").said();
        assert!(said.contains("(not reviewed)") && said.contains("main, but the playbook is for work"), "{said}");
        let missing = Stage::only("state-injection", Level::Info).file("state.md", STATE);
        assert!(missing.prompt("x").said().contains("file not found"));
        let none = Stage::only("state-injection", Level::Info).file("state.md", "---\nfocus: x\n---\n");
        assert_eq!(none.prompt("x").said(), "playbook: none active\nbranch: work");
        let idle = stage(&PLAYBOOK.replace("in_progress", "pending")).prompt("x").said();
        assert!(idle.contains("p2 Second thing (pending)"), "as state.md has it: {idle}");
        let detached = stage(PLAYBOOK).head(Head::Detached).prompt("x").said();
        assert!(!detached.contains("branch:"), "{detached}");
    }

    #[test]
    fn nothing_is_said_without_state_md() {
        let judged = Stage::only("state-injection", Level::Info).prompt("x");
        assert_eq!(judged.outcome(), Outcome::Pass);
    }

    #[test]
    fn it_is_bounded_whatever_the_papers_hold() {
        let long = format!("{PLAYBOOK}{}", "  - とても長い条件\u{1f4a5}".repeat(2_000));
        let title = "長".repeat(9_000);
        for playbook in [long, PLAYBOOK.replace("Second thing", &title), "\0---\n## ##".to_owned()] {
            let said = stage(&playbook).prompt("x").said();
            assert!(said.chars().count() <= CHARS + 1, "{}", said.chars().count());
        }
        assert_eq!(stage(PLAYBOOK).unreadable("state.md").prompt("x").outcome(), Outcome::Error);
    }

    #[test]
    fn every_client_is_told() {
        for client in Client::ALL {
            assert_eq!(stage(PLAYBOOK).by(client).prompt("x").outcome(), Outcome::Info, "{client}");
        }
    }
}
