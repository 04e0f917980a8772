//! While the user has not confirmed the understanding, nothing is changed.

use dandori_text::guard::edit;

use crate::context::Context;
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Mark};

/// Only the user's own word sets the mark that opens. Reading and asking are always possible, so nothing needs an
/// exemption but what is not the project's.
#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    // Where there is no session (`dandori guard explain`), there is nobody to confirm anything to.
    if context.event.session.is_none() || context.world.mark(&Mark::Confirmed).is_some() {
        return Ok(());
    }
    if !context.project_targets().is_empty() || !context.computed_writes().is_empty() {
        // A session whose beginning was not seen, or whose marks were lost, waits from now on.
        voice.note(Effect::Set(Mark::Consent, String::new()));
        voice.block(edit::consent(context.lang));
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
    use crate::world::{Effect, Head, Mark};

    fn stage() -> Stage {
        Stage::only("consent", Level::Block).worktree("/wt", Some("/repo"), Head::Detached).unconfirmed()
    }

    #[test]
    fn every_way_to_change_the_project_is_blocked_until_the_user_consents() {
        let stage = stage().file("src/a.rs", "x");
        for judgement in [
            stage.write("src/a.rs", "y"),
            stage.write("state.md", "y"),
            stage.write("/wt/a", "y"),
            stage.edit("src/a.rs", "x", "y"),
            stage.bash("echo y > src/a.rs"),
            stage.bash("echo y > \"$F\""),
            stage.bash("sed -i s/x/y/ /wt/a"),
        ] {
            assert_eq!(judgement.outcome(), Outcome::Block);
            let said = judgement.said();
            assert!(said.contains("`dandori consent`") && said.contains("`ok`"), "both ways: {said}");
            assert!(judgement.effects.contains(&Effect::Set(Mark::Consent, String::new())), "it waits from now on");
        }
    }

    #[test]
    fn reading_and_files_of_nobody_pass() {
        let stage = stage().file("src/a.rs", "x");
        for judgement in [
            stage.read("src/a.rs"),
            stage.bash("cat src/a.rs | head"),
            stage.write("/tmp/notes.md", "y"),
            stage.bash("git status > /tmp/x"),
        ] {
            assert_eq!(judgement.outcome(), Outcome::Pass, "{}", judgement.said());
        }
        let free = Stage::only("consent", Level::Block);
        assert_eq!(free.write("src/a.rs", "y").outcome(), Outcome::Pass);
    }

    #[test]
    fn every_client_is_held_in_the_users_language() {
        for client in Client::ALL {
            let judged = stage().lang(Lang::Ja).by(client).does(Deed::Write("a.txt")).unwrap();
            assert_eq!(judged.outcome(), Outcome::Block, "{client}");
            assert!(judged.said().contains("理解確認が済んでいない") && judged.said().contains("`dandori consent`"));
        }
    }
}
