//! Before anything else, a session reads what it must know.
//!
//! While the session's pending mark stands, reading and searching are open and everything else is not. A read counts
//! when the tool asks for it, also in a shell line that only looks: not every client has a tool for reading.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_shell::{Command, Read};
use dandori_text::guard::session as text;

use super::reads::tells_nothing;
use crate::context::Context;
use crate::event::Tool;
use crate::quiet::only_looks;
use crate::voice::{Trouble, Voice};
use crate::world::{Effect, Mark};

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    if context.world.mark(&Mark::Pending).is_none() {
        return Ok(());
    }
    let read: Vec<Utf8PathBuf> = match (&context.event.tool, context.reading()) {
        (Some(Tool::Read { path }), _) => vec![context.world.real(path)],
        (Some(Tool::Search { .. }), _) => Vec::new(),
        (_, Some(reading)) if only_looks(reading) => {
            let shown = reading.reads.iter().filter(|read| !is_kept_quiet(context, read));
            shown.map(|read| context.world.real(&context.expanded(&read.path.text))).collect()
        }
        _ => {
            let left = owed(context, &[]);
            if !left.is_empty() {
                let left: Vec<&str> = left.iter().map(|path| short(context, path)).collect();
                voice.block(text::must_read(context.lang, &left));
            }
            return Ok(());
        }
    };
    let owed_before = owed(context, &[]);
    for path in read.iter().filter(|path| owed_before.contains(path)) {
        voice.note(Effect::Set(Mark::Read(path.clone()), String::new()));
    }
    if owed(context, &read).is_empty() {
        voice.note(Effect::Clear(Mark::Pending));
    }
    Ok(())
}

/// The line reads the file, and the model sees nothing of it.
fn is_kept_quiet(context: &Context, read: &Read) -> bool {
    let throws_away = context.event.tool.as_ref().is_some_and(|tool| match tool {
        Tool::Bash { command, .. } => command.replace("2> ", "2>").replace("2>/dev/null", "").contains("/dev/null"),
        _ => false,
    });
    let is_dumb = |command: &Command| matches!(command.program.as_str(), "true" | ":" | "test" | "[" | "[[");
    throws_away || context.commands().iter().all(is_dumb) || tells_nothing(context, &read.program, &read.path)
}

/// The required files that are there: nobody can read what is not.
pub(crate) fn required(context: &Context) -> Vec<Utf8PathBuf> {
    let Some(project) = &context.project else { return Vec::new() };
    let names = context.rules.required_reads.iter();
    let paths = names.map(|name| context.world.real(&crate::change::resolve(Some(&project.root), name)));
    paths.filter(|path| context.world.kind(path).is_some()).collect()
}

/// What is still to be read, `just_read` left out.
fn owed(context: &Context, just_read: &[Utf8PathBuf]) -> Vec<Utf8PathBuf> {
    let mut left = required(context);
    left.retain(|path| !just_read.contains(path) && context.world.mark(&Mark::Read(path.clone())).is_none());
    left
}

pub(crate) fn short<'p>(context: &Context, path: &'p Utf8Path) -> &'p str {
    context.project.as_ref().map_or(path, |project| project.short(path)).as_str()
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::Client;
    use crate::judge::{Judgement, Outcome};
    use crate::stage::Stage;

    fn stage() -> Stage {
        Stage::only("init", Level::Block).file("CLAUDE.md", "").file("state.md", "").mark(Mark::Pending)
    }

    fn read_state() -> Mark {
        Mark::Read("/repo/state.md".into())
    }

    fn clears(judged: &Judgement) -> bool {
        judged.effects.contains(&Effect::Clear(Mark::Pending))
    }

    #[test]
    fn until_the_files_are_read_only_looking_is_open() {
        for (line, open) in [
            ("git status", true),
            ("git log | head", true),
            ("ls -la", true),
            ("cat CLAUDE.md", true),
            ("npm test", false),
            ("git commit -m x", false),
            ("cat CLAUDE.md > copy", false),
        ] {
            assert_eq!(stage().bash(line).outcome() == Outcome::Pass, open, "{line}");
        }
        assert_eq!(stage().write("a.rs", "").outcome(), Outcome::Block);
        assert_eq!(stage().read("other.rs").outcome(), Outcome::Pass);
        assert_eq!(stage().tool("Grep", &json!({"pattern": "x"})).outcome(), Outcome::Pass);
        let without = Stage::only("init", Level::Block).file("CLAUDE.md", "");
        assert_eq!(without.write("a.rs", "").outcome(), Outcome::Pass, "no mark, nothing owed");
    }

    #[test]
    fn a_read_is_noted_and_the_last_one_clears_the_mark() {
        let first = stage().read("CLAUDE.md");
        assert_eq!(first.effects, [Effect::Set(Mark::Read("/repo/CLAUDE.md".into()), String::new())]);
        let last = stage().mark(read_state()).read("CLAUDE.md");
        assert!(clears(&last));
        assert!(!clears(&stage().read("other.rs")));
        let linked = stage().mark(read_state()).link("link.md", "CLAUDE.md").read("link.md");
        assert!(clears(&linked), "the same file by another name");
    }

    #[test]
    fn a_read_in_a_shell_line_counts_for_clients_without_a_tool_for_it() {
        let mut codex = stage();
        codex.agent = Client::Codex;
        assert!(clears(&codex.bash("cat CLAUDE.md && sed -n 1,200p state.md")));
        assert!(!clears(&codex.bash("cat CLAUDE.md; npm i")), "a line that does more does not count");
        assert!(!clears(&codex.bash("echo CLAUDE.md state.md")), "naming is not reading");
        codex = codex.mark(read_state());
        for line in [
            "wc -c CLAUDE.md",
            "stat CLAUDE.md",
            "md5sum CLAUDE.md",
            "grep -q x CLAUDE.md",
            "cat CLAUDE.md > /dev/null",
            "true < CLAUDE.md",
            "head -n 0 CLAUDE.md",
            "head -c0 CLAUDE.md",
        ] {
            assert!(!clears(&codex.bash(line)), "{line} shows nothing");
        }
        assert!(clears(&codex.bash("cat CLAUDE.md 2>/dev/null")));
    }

    #[test]
    fn when_no_required_file_exists_nobody_is_locked_out() {
        let empty = Stage::only("init", Level::Block).mark(Mark::Pending);
        assert_eq!(empty.write("a.rs", "").outcome(), Outcome::Pass);
    }

    #[test]
    fn what_is_left_to_read_is_said_in_both_languages() {
        for lang in [Lang::En, Lang::Ja] {
            let said = stage().mark(read_state()).lang(lang).write("a.rs", "").said();
            assert!(said.contains("CLAUDE.md") && !said.contains("state.md"), "{said}");
        }
    }
}
