//! A subtask is ticked only with evidence for its three validations.

use dandori_text::guard::edit;

use crate::context::Context;
use crate::papers::{self, After, Paper, Unclear};
use crate::voice::{Trouble, Voice};

/// More are not named at once: a model does not act on a page.
const NAMED: usize = 3;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for change in papers::changes(context).into_iter().filter(|change| change.paper == Paper::Playbook) {
        if change.after == After::Unclear(Unclear::Edit) {
            voice.block(edit::edit_not_followed(context.lang, change.short()));
        }
        let ticked = change.claims().unwrap_or_default().ticked;
        for subtask in ticked.iter().filter(|subtask| !subtask.missing().is_empty()).take(NAMED) {
            voice.block(edit::unproven(context.lang, &subtask.text, &subtask.missing().join(", ")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;
    use serde_json::json;

    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::{Deed, Stage};

    const PLAYBOOK: &str = "---\nreviewed: true\n---\n## p1: One\n- status: in_progress\n\n### Subtasks\n\
        - [x] p1.1 old, without evidence\n- [ ] p1.2 proven\n  - technical: `cargo test` passed\n  - consistency: read\n\
        \x20 - completeness: all three\n- [ ] p1.3 not proven\n  - technical: ran it\n  - consistency: TODO\n\
        \n## Notes\n- [ ] somebody's list\n";

    fn stage() -> Stage {
        Stage::only("subtask", Level::Block).file("plan/playbook-a.md", PLAYBOOK)
    }

    #[test]
    fn a_tick_needs_its_three_validations() {
        let ticked = PLAYBOOK.replace("[ ] p1.3", "[x] p1.3");
        for judged in [
            stage().edit("plan/playbook-a.md", "- [ ] p1.3", "- [x] p1.3"),
            stage().edit("plan/playbook-a.md", "- [ ]", "- [X]"),
            stage().write("plan/playbook-a.md", &ticked),
        ] {
            assert_eq!(judged.outcome(), Outcome::Block);
            let said = judged.said();
            assert!(said.contains("`p1.3 not proven`") && said.contains("consistency, completeness"), "{said}");
            assert!(said.contains("`- technical: …`"), "{said}");
        }
        let new = Stage::only("subtask", Level::Block).write("plan/playbook-b.md", "## p1: x\n- [x] a\n");
        assert_eq!(new.outcome(), Outcome::Block, "in a new file, too");
        let said = stage().lang(Lang::Ja).edit("plan/playbook-a.md", "[ ] p1.3", "[x] p1.3").said();
        assert!(said.contains("証拠がありません") && said.contains("`- technical: …`"), "{said}");
    }

    #[test]
    fn a_tick_with_evidence_and_everything_else_passes() {
        let proven = "- [x] p1.3 not proven\n  - technical: ran it\n  - consistency: same\n  - completeness: whole";
        let owed = "- [ ] p1.3 not proven\n  - technical: ran it\n  - consistency: TODO";
        for judged in [
            stage().edit("plan/playbook-a.md", "- [ ] p1.2", "- [x] p1.2"),
            stage().edit("plan/playbook-a.md", owed, proven),
            stage().edit("plan/playbook-a.md", "- [x] p1.1", "- [ ] p1.1"),
            stage().edit("plan/playbook-a.md", "One", "First"),
            stage().edit("plan/playbook-a.md", "- [ ] somebody", "- [x] somebody"),
            stage().write("docs/list.md", "## p1: x\n- [x] a\n"),
            stage().write("plan/archive/playbook-a.md", "## p1: x\n- [x] a\n"),
            stage().write("state.md", "- [x] a\n"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn an_edit_that_cannot_be_followed_is_not_let_through() {
        let judged = stage().edit("plan/playbook-a.md", "nowhere", "- [x]");
        assert_eq!(judged.outcome(), Outcome::Block);
        let judged = stage().unreadable("plan/playbook-a.md").edit("plan/playbook-a.md", "a", "b");
        assert_eq!(judged.outcome(), Outcome::Block);
    }

    #[test]
    fn every_client_is_followed() {
        let mut stage = stage();
        stage.agent = Client::Codex;
        let patch = |line: &str| {
            let text = format!(
                "*** Begin Patch\n*** Update File: plan/playbook-a.md\n@@\n-- [ ] {line}\n+- [x] {line}\n*** End Patch"
            );
            stage.tool("apply_patch", &json!({"command": text})).outcome()
        };
        assert_eq!((patch("p1.2 proven"), patch("p1.3 not proven")), (Outcome::Pass, Outcome::Block));
        for client in Client::ALL {
            stage.agent = client;
            let (old, new) = ("- [ ] p1.3 not proven", "- [x] p1.3 not proven");
            let judged = stage.does(Deed::Edit { path: "plan/playbook-a.md", old, new }).unwrap();
            assert_eq!(judged.outcome(), Outcome::Block, "{client}");
        }
    }
}
