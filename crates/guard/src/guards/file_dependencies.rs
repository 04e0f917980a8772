//! Who mentions the file that is about to change: for the model's information, and best effort throughout.
//!
//! Said once for a file in a session: it is a search through the repository, and the model knows it from then on.

use std::time::Duration;

use camino::Utf8Path;
use dandori_text::guard::edit;

use crate::context::Context;
use crate::voice::{Trouble, Voice};
use crate::world::{Call, Checkout, Effect, FileKind, Mark, Ran};

const LIMIT: Duration = Duration::from_millis(300);
/// Names that are said, and files of one event that are looked at.
const NAMED: usize = 8;
const FILES: usize = 2;
const SHORTEST: usize = 4;

const SOURCES: [&str; 38] = [
    "c", "cc", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs", "java", "js", "jsx", "kt", "lua",
    "mjs", "cjs", "ml", "mts", "cts", "php", "proto", "py", "rb", "rs", "scala", "scss", "sh", "sql", "svelte",
    "swift", "ts", "tsx", "vue", "zig", "pl",
];
/// Names that say nothing about the file.
const COMMON: [&str; 7] = ["index", "main", "__init__", "setup", "tests", "types", "utils"];

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let targets = context.project_targets().into_iter();
    let sources = targets.filter_map(|(target, checkout)| {
        let stem = stem(&target.real)?.to_owned();
        let is_news = context.world.mark(&Mark::Told(target.real.clone())).is_none();
        (is_news && context.world.kind(&target.real) == Some(FileKind::File)).then_some((target, checkout, stem))
    });
    for (target, checkout, stem) in sources.take(FILES) {
        voice.note(Effect::Set(Mark::Told(target.real.clone()), String::new()));
        let path = checkout.short(&target.real);
        let mut names = mentions(context, &checkout, path, &stem);
        let has_more = names.len() > NAMED;
        names.truncate(NAMED);
        if !names.is_empty() {
            voice.info(edit::depended_on(context.lang, path.as_str(), &names, has_more));
        }
    }
    Ok(())
}

fn stem(path: &Utf8Path) -> Option<&str> {
    let is_source = path.extension().is_some_and(|extension| SOURCES.contains(&extension));
    path.file_stem().filter(|stem| is_source && stem.chars().count() >= SHORTEST && !COMMON.contains(stem))
}

/// Tracked files that have the name as a word; whatever goes wrong, none.
fn mentions(context: &Context, checkout: &Checkout, path: &Utf8Path, stem: &str) -> Vec<String> {
    // No monitor of the repository's own is started for a mere note.
    let argv = ["git", "-c", "core.fsmonitor=false", "grep", "-l", "-z", "-w", "-I", "-F", "-e", stem, "--"];
    let mut argv: Vec<String> = argv.map(str::to_owned).to_vec();
    argv.push(format!(":(top,exclude,literal){path}"));
    let call = Call { argv, cwd: Some(checkout.root.clone()), stdin: String::new(), limit: LIMIT };
    match context.world.run(&call) {
        Ran::Ended { code: Some(0), stdout, .. } => {
            stdout.split('\0').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
        }
        Ran::Ended { .. } | Ran::TimedOut | Ran::NotStarted { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::Stage;

    fn stage() -> Stage {
        Stage::only("file-dependencies", Level::Info).file("src/parser.rs", "x").file("src/index.ts", "x")
    }

    #[test]
    fn it_is_said_once_in_a_session() {
        let told = Mark::Told("/repo/src/parser.rs".into());
        let first = stage().answers(0, "src/lib.rs\0", "").write("src/parser.rs", "y");
        assert!(first.effects.contains(&Effect::Set(told.clone(), String::new())));
        let again = stage().mark(told).answers(0, "src/lib.rs\0", "");
        assert_eq!(again.write("src/parser.rs", "y").outcome(), Outcome::Pass);
        assert!(again.calls.borrow().is_empty(), "nobody searches again");
    }

    #[test]
    fn those_who_mention_the_file_are_named() {
        let stage = stage().answers(0, "src/lib.rs\0src/main.rs\0", "");
        let judged = stage.write("src/parser.rs", "y");
        assert_eq!(judged.outcome(), Outcome::Info);
        assert!(judged.said().contains("src/lib.rs, src/main.rs"), "{}", judged.said());
        let calls = stage.calls.borrow();
        let [call] = &calls[..] else { panic!("{calls:?}") };
        assert_eq!(call.cwd.as_deref(), Some(Utf8Path::new("/repo")));
        assert!(call.argv.ends_with(&["parser".into(), "--".into(), ":(top,exclude,literal)src/parser.rs".into()]));
        assert!(call.limit <= Duration::from_millis(300));
    }

    #[test]
    fn at_most_eight_are_named_in_the_users_language() {
        let many = (0..30).map(|n| format!("f{n}.rs\0")).collect::<Vec<_>>().concat();
        let said = stage().lang(Lang::Ja).answers(0, &many, "").edit("src/parser.rs", "x", "y").said();
        assert!(said.contains("f7.rs, …") && !said.contains("f8.rs") && said.contains("参照されています"), "{said}");
    }

    #[test]
    fn what_fails_says_nothing() {
        let silent = |stage: Stage| stage.write("src/parser.rs", "y").outcome();
        assert_eq!(silent(stage()), Outcome::Pass, "git is not there");
        assert_eq!(silent(stage().answers(1, "", "")), Outcome::Pass, "nobody");
        assert_eq!(silent(stage().answers(128, "x\0", "fatal")), Outcome::Pass);
        assert_eq!(silent(stage().answers_with(Ran::TimedOut)), Outcome::Pass);
    }

    #[test]
    fn only_sources_that_are_there_are_looked_up() {
        let stage = stage().file("a.rs", "").file("README.md", "").file("/tmp/parser.rs", "");
        for path in ["src/newfile.rs", "a.rs", "README.md", "src/index.ts", "/tmp/parser.rs"] {
            assert_eq!(stage.write(path, "y").outcome(), Outcome::Pass, "{path}");
        }
        assert!(stage.calls.borrow().is_empty(), "{:?}", stage.calls.borrow());
    }

    #[test]
    fn a_patch_of_many_files_asks_for_few() {
        let names = ["alpha.rs", "bravo.rs", "charlie.rs"];
        let mut stage = names.iter().fold(stage(), |stage, name| stage.file(name, "x\n"));
        stage.agent = Client::Codex;
        let updates = names.map(|n| format!("*** Update File: {n}\n@@\n-x\n+y\n")).concat();
        stage.tool("apply_patch", &json!({"command": format!("*** Begin Patch\n{updates}*** End Patch")}));
        assert_eq!(stage.calls.borrow().len(), FILES);
    }
}
