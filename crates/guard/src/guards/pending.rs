//! A finished playbook waits for its post-loop: nothing new is begun before.

use dandori_text::guard::edit;
use serde_json::Value;

use crate::context::Context;
use crate::papers;
use crate::voice::{Trouble, Voice};
use crate::world::Mark;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let Some(text) = context.world.mark(&Mark::PostLoop) else { return Ok(()) };
    let is_free = context.project_targets().iter().all(|(target, checkout)| papers::is_state(checkout, &target.real))
        && context.computed_writes().iter().all(|write| papers::is_state(&write.checkout, &write.path));
    if !is_free {
        // A mark that cannot be read stands all the same.
        let mark: Value = serde_json::from_str(&text).unwrap_or_default();
        let playbook = mark.get("playbook").and_then(Value::as_str);
        voice.block(edit::post_loop(context.lang, playbook));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Mark;

    const MARK: &str = r#"{"status":"pending","playbook":"plan/playbook-a.md","timestamp":"2026-01-01T00:00:00Z"}"#;

    fn stage(mark: &str) -> Stage {
        Stage::only("pending", Level::Block).mark_with(Mark::PostLoop, mark)
    }

    #[test]
    fn changes_wait_for_the_post_loop() {
        let stage = stage(MARK);
        for judged in [stage.write("src/a.rs", "y"), stage.write("plan/p.md", "y"), stage.bash("echo y > a")] {
            assert_eq!(judged.outcome(), Outcome::Block);
            assert!(judged.said().contains("plan/playbook-a.md") && judged.said().contains("`dandori post-loop`"));
        }
        let japanese = stage.lang(Lang::Ja).write("a", "y").said();
        assert!(japanese.contains("終了処理") && japanese.contains("`post-loop`"), "{japanese}");
    }

    #[test]
    fn state_md_other_places_and_no_mark_pass() {
        let stage = stage(MARK);
        for judged in [stage.write("state.md", "y"), stage.bash("sed -i s/a/b/ state.md"), stage.write("/tmp/a", "y")] {
            assert_eq!(judged.outcome(), Outcome::Pass);
        }
        assert_eq!(stage.bash("sed -i s/a/b/ state.md a.rs").outcome(), Outcome::Block, "one of two is not enough");
        assert_eq!(Stage::only("pending", Level::Block).write("a", "y").outcome(), Outcome::Pass);
    }

    #[test]
    fn a_mark_that_cannot_be_read_stands() {
        for mark in ["", "{", "[1]", r#"{"playbook": 7}"#] {
            assert_eq!(stage(mark).write("a", "y").outcome(), Outcome::Block, "{mark}");
        }
    }
}
