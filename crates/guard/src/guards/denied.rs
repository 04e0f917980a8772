//! What was refused as an edit stays refused as a shell line: models change the channel within seconds.
//!
//! Most guards see shell writes themselves and judge them anew, so that a reason that has gone is no reason any more.
//! This one is for the rest: guards that look at an edit's text, and lines that reach a refused file in a way that
//! cannot be seen through.

use dandori_text::guard::control as text;

use crate::context::Context;
use crate::event::Tool;
use crate::guards::sees_shell;
use crate::voice::{Trouble, Voice};

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let (Some(Tool::Bash { command, .. }), Some(reading)) = (&context.event.tool, context.reading()) else {
        return Ok(());
    };
    let hides = !reading.opaque.is_empty()
        || !reading.scripts.is_empty()
        || context.targets().iter().any(|target| target.is_computed)
        || reading.commands.iter().any(|c| c.argv.iter().any(dandori_shell::Word::is_computed));
    for denied in context.world.denied() {
        if denied.seconds_ago > context.rules.denied_seconds {
            continue;
        }
        let is_written = context.targets().iter().filter(|target| !target.is_computed).any(|target| {
            target.real == denied.path
                || target.path == denied.path
                || target.is_tree && denied.path.starts_with(&target.real)
        });
        let is_mentioned = || denied.path.file_name().is_some_and(|name| command.contains(name));
        if is_written && !sees_shell(&denied.guard) || hides && is_mentioned() {
            let file = context.checkout(&denied.path).map_or(denied.path.clone(), |c| c.short(&denied.path).to_owned());
            voice.block(text::denied_before(context.lang, file.as_str(), &denied.guard));
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use crate::judge::Outcome;
    use crate::stage::Stage;

    fn stage(guard: &str) -> Stage {
        Stage::only("denied", Level::Block).file("plan/playbook-a.md", "").denied("plan/playbook-a.md", guard)
    }

    #[test]
    fn a_refused_file_is_not_reached_by_a_shell_line_either() {
        for (guard, line, refused) in [
            ("subtask", "echo x > plan/playbook-a.md", true),
            ("my-own-rule", "tee plan/playbook-a.md < /tmp/x", true),
            ("subtask", "cp /tmp/x ./plan/../plan/playbook-a.md", true),
            ("subtask", "rm -rf plan", true),
            ("subtask", "cat plan/playbook-a.md", false),
            ("subtask", "echo x > plan/other.md", false),
            // The guard judges the line itself, with what is true now.
            ("playbook", "echo x > plan/playbook-a.md", false),
            // What cannot be seen through counts when it names the file.
            ("playbook", "f=$(find . -name playbook-a.md); echo x > $f", true),
            ("playbook", "python3 -c \"exec(__import__('zlib').decompress(x)); 'playbook-a.md'\"", true),
            ("playbook", "echo x > $(mktemp)", false),
        ] {
            let judged = stage(guard).bash(line);
            assert_eq!(judged.outcome() == Outcome::Block, refused, "{guard}: {line}");
        }
    }

    #[test]
    fn after_a_while_it_is_forgotten() {
        let mut stage = stage("subtask");
        stage.rules.denied_seconds = 4;
        assert_eq!(stage.bash("echo x > plan/playbook-a.md").outcome(), Outcome::Pass);
    }

    #[test]
    fn the_guard_that_refused_is_named_in_both_languages() {
        for lang in [Lang::En, Lang::Ja] {
            let said = stage("subtask").lang(lang).bash("echo x > plan/playbook-a.md").said();
            assert!(said.contains("subtask") && said.contains("plan/playbook-a.md"), "{said}");
        }
    }
}
