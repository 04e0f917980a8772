//! A phase is not worked before those it depends on are done.

use dandori_playbook::PhaseStatus;
use dandori_text::guard::edit;

use crate::context::Context;
use crate::papers;
use crate::voice::{Trouble, Voice};

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for (_, checkout) in papers::work(context) {
        let documents = context.documents(&checkout)?;
        let Some(playbook) = &documents.playbook else { continue };
        let working = playbook.phases.iter().filter(|phase| phase.status == PhaseStatus::InProgress);
        let waiting = working.map(|phase| (phase, playbook.unfinished_before(phase)));
        let waiting: Vec<_> = waiting.filter(|(_, before)| !before.is_empty()).collect();
        for (phase, before) in &waiting {
            voice.block(edit::waits_for(context.lang, &phase.id, &before.join(", ")));
        }
        if !waiting.is_empty() {
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
    use crate::world::Head;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";
    const WAITS: &str = "---\nreviewed: true\n---\n## p1: One\n- status: pending\n\n## p2: Two\n- status: done\n\
                         \n## p3: Three\n- status: in_progress\n- depends_on: [p1, p2, p9]\n";

    fn stage(playbook: &str) -> Stage {
        Stage::only("depends", Level::Block).file("state.md", STATE).file("plan/playbook-a.md", playbook)
    }

    #[test]
    fn a_phase_that_waits_for_others_blocks_and_names_them() {
        for judged in [stage(WAITS).write("src/a.rs", "x"), stage(WAITS).bash("echo x > src/a.rs")] {
            assert_eq!(judged.outcome(), Outcome::Block);
            assert!(judged.said().contains("phase p3") && judged.said().contains("p1, p9"), "{}", judged.said());
        }
        let japanese = stage(WAITS).lang(Lang::Ja).write("a", "x").said();
        assert!(japanese.contains("p1, p9 に依存") && japanese.contains("`depends_on`"), "{japanese}");
        assert_eq!(
            Stage::only("depends", Level::Warn)
                .file("state.md", STATE)
                .file("plan/playbook-a.md", WAITS)
                .write("a", "x")
                .outcome(),
            Outcome::Warn,
            "a setting"
        );
    }

    #[test]
    fn every_phase_in_progress_is_looked_at() {
        let two = "---\nreviewed: true\n---\n## p1: One\n- status: in_progress\n\n## p2: Two\n- status: pending\n\
                   \n## p3: Three\n- status: in_progress\n- depends_on: [p2]\n\n## p4: Four\n- status: in_progress\n\
                   - depends_on: [p1]\n";
        let judged = stage(two).write("src/a.rs", "x");
        assert_eq!(judged.outcome(), Outcome::Block);
        assert!(judged.said().contains("phase p3") && judged.said().contains("phase p4"), "{}", judged.said());
        let ready = two.replace("pending", "done").replace("[p1]", "[p2]");
        assert_eq!(stage(&ready).write("src/a.rs", "x").outcome(), Outcome::Pass);
    }

    #[test]
    fn the_way_out_and_what_is_ready_pass() {
        let ready = WAITS.replace("pending", "done").replace(", p9", "");
        for judged in [
            stage(WAITS).edit("plan/playbook-a.md", "p9", "p2"),
            stage(WAITS).write("state.md", STATE),
            stage(WAITS).write("/tmp/a", "x"),
            stage(&ready).write("src/a.rs", "x"),
            stage(&WAITS.replace("in_progress", "pending")).write("src/a.rs", "x"),
            Stage::only("depends", Level::Block).write("src/a.rs", "x"),
            stage("\u{0}## ##\n- depends_on: [[[").write("src/a.rs", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
        assert_eq!(stage(WAITS).unreadable("plan/playbook-a.md").write("a", "x").outcome(), Outcome::Error);
    }

    #[test]
    fn each_worktree_has_its_own_playbook_and_each_client_is_held() {
        let mut stage = stage("## p1: One\n- status: in_progress\n")
            .worktree("/wt", Some("/repo"), Head::Branch("w".to_owned()))
            .file("/wt/state.md", STATE)
            .file("/wt/plan/playbook-a.md", WAITS);
        assert_eq!(stage.write("src/a.rs", "x").outcome(), Outcome::Pass);
        assert_eq!(stage.write("/wt/src/a.rs", "x").outcome(), Outcome::Block);
        for client in Client::ALL {
            stage.agent = client;
            assert_eq!(stage.does_in("/wt", Deed::Write("a")).unwrap().outcome(), Outcome::Block, "{client}");
        }
    }
}
