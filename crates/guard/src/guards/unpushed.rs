//! At the end of a session: commits that are on this machine only.

use std::time::Duration;

use dandori_text::guard::lifecycle;

use crate::context::Context;
use crate::event::Kind;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Checkout, Effect, Head, Log, Ran};

/// The client waits three seconds at most, and git needs milliseconds.
const LIMIT: Duration = Duration::from_secs(1);
/// More are not counted.
const MANY: usize = 1_000;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let Kind::SessionEnd { reason } = &context.event.kind else { return Ok(()) };
    // A cleared or changed conversation goes on in the same window: nobody leaves.
    if matches!(reason.as_deref(), Some("clear" | "resume")) {
        return Ok(());
    }
    let Some(project) = &context.project else { return Ok(()) };
    if matches!(project.head, Head::Unborn(_)) || !has_remote_branches(context, project) {
        return Ok(());
    }
    if let Some(count) = count(context, project).filter(|count| *count > 0) {
        let line = format!("unpushed commits={count} branch={}", project.branch().unwrap_or("-"));
        voice.note(Effect::Log { log: Log::Session, line });
        voice.warn(lifecycle::unpushed(context.lang, count, count >= MANY, project.branch()));
    }
    Ok(())
}

/// Where nothing was ever fetched or pushed, there is nowhere to push to, and git need not be asked.
fn has_remote_branches(context: &Context, checkout: &Checkout) -> bool {
    let packed = || context.text(&checkout.common_dir.join("packed-refs")).ok().flatten();
    !context.world.names(&checkout.common_dir.join("refs/remotes")).is_empty()
        || context.world.kind(&checkout.common_dir.join("reftable")).is_some()
        || packed().is_some_and(|refs| refs.contains(" refs/remotes/"))
}

/// Commits of the branch that no remote branch has; `None` when git does not say.
fn count(context: &Context, checkout: &Checkout) -> Option<usize> {
    let git_dir = format!("--git-dir={}", checkout.git_dir);
    let most = format!("--max-count={MANY}");
    let argv = ["git", "--no-optional-locks", &git_dir, "rev-list", "--count", &most, "HEAD", "--not", "--remotes"];
    let call = Call {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        cwd: Some(checkout.root.clone()),
        stdin: String::new(),
        limit: LIMIT,
    };
    match context.world.run(&call) {
        Ran::Ended { code: Some(0), stdout, .. } => stdout.trim().parse().ok(),
        Ran::Ended { .. } | Ran::TimedOut | Ran::NotStarted { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::{Level, Profile};
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::judge::{Judgement, Outcome};
    use crate::stage::Stage;

    fn stage() -> Stage {
        Stage::only("unpushed", Level::Warn).file(".git/refs/remotes/origin/main", "")
    }

    fn end(stage: &Stage, reason: &str) -> Judgement {
        stage.event("SessionEnd", &json!({"reason": reason}))
    }

    #[test]
    fn commits_that_no_remote_has_are_named_when_the_user_leaves() {
        let judged = end(&stage().answers(0, "3\n", ""), "prompt_input_exit");
        assert_eq!(judged.outcome(), Outcome::Warn);
        assert!(judged.said().contains("3 commits on work") && judged.said().contains("git push"), "{}", judged.said());
        let line = "unpushed commits=3 branch=work".to_owned();
        assert_eq!(judged.effects, [Effect::Log { log: Log::Session, line }]);
        let said = end(&stage().answers(0, "1000\n", "").lang(Lang::Ja), "other").said();
        assert!(said.contains("1000 件以上") && said.contains("work"), "{said}");
        let detached = end(&stage().head(Head::Detached).answers(0, "1\n", ""), "other").said();
        assert!(detached.contains("1 commit ") && !detached.contains(" on "), "{detached}");
    }

    #[test]
    fn all_pushed_no_remote_and_a_conversation_that_goes_on_are_silent() {
        assert_eq!(end(&stage().answers(0, "0\n", ""), "other").outcome(), Outcome::Pass);
        for reason in ["clear", "resume"] {
            assert_eq!(end(&stage().answers(0, "3\n", ""), reason).outcome(), Outcome::Pass, "{reason}");
        }
        let plain = Stage::only("unpushed", Level::Warn).answers(0, "3\n", "");
        assert_eq!(end(&plain, "other").outcome(), Outcome::Pass);
        assert!(plain.calls.borrow().is_empty(), "git is not asked");
        let safety = Stage::new(Profile::Safety).file(".git/refs/remotes/origin/main", "").answers(0, "3\n", "");
        assert_eq!(end(&safety, "other").said(), "");
        let packed = Stage::only("unpushed", Level::Warn).file(".git/packed-refs", "abc refs/remotes/origin/main\n");
        assert_eq!(end(&packed.answers(0, "2\n", ""), "other").outcome(), Outcome::Warn);
    }

    #[test]
    fn a_git_that_does_not_answer_fails_nothing() {
        for ran in [Ran::TimedOut, Ran::NotStarted { why: "no git".to_owned() }] {
            assert_eq!(end(&stage().answers_with(ran), "other").outcome(), Outcome::Pass);
        }
        assert_eq!(end(&stage().answers(128, "", "fatal"), "other").outcome(), Outcome::Pass);
        assert_eq!(end(&stage().answers(0, "many", ""), "other").outcome(), Outcome::Pass);
    }
}
