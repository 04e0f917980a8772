//! Files of the project that are not to be changed, by whatever tool.

use camino::Utf8Path;
use dandori_domain::guard::Level;
use dandori_text::guard::edit;

use crate::context::{Context, Target};
use crate::papers;
use crate::rules::Protected;
use crate::voice::{Trouble, Voice};

use super::secrets::shown;

#[expect(clippy::unnecessary_wraps, reason = "a guard may fail")]
pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for target in context.targets().iter().filter(|target| !target.is_computed) {
        if let Some(entry) = held(context, target) {
            let level = entry.level.min(context.rules.level("protected-edit"));
            let say = if level >= Level::Ask { edit::protected } else { edit::watched };
            voice.say(entry.level, say(context.lang, &shown(context, &target.real), &entry.pattern));
        }
    }
    if let Some(words) = papers::words_of_computed_writes(context)
        && let Some(name) = literal_names(all(context)).find(|name| mentions(&words, name))
    {
        voice.ask(edit::perhaps_protected(context.lang, name));
    }
    Ok(())
}

/// The heaviest entry that holds a target: by the name it is called, by where it leads, and for a whole folder by what
/// lies in it. What lets a name through lets through neither what is behind a link of that name nor a folder it is in.
fn held<'c>(context: &'c Context, target: &Target) -> Option<&'c Protected> {
    let rules = context.rules;
    let first = |path: &Utf8Path| {
        let place = context.place(path);
        let is_in_checkout = context.checkout(path).is_some();
        // A pattern is about checkouts, unless it says which place it means: a copy of a file in `/tmp` is nobody's.
        rules.protection(|pattern| (is_in_checkout || pattern.starts_with(['/', '~'])) && place.holds(pattern))
    };
    let is_below = |entry: &&Protected| {
        context.touches(&entry.pattern, target)
            && !context.holds(&entry.pattern, &target.path)
            && !context.holds(&entry.pattern, &target.real)
    };
    let below = || all(context).filter(is_below).max_by_key(|entry| entry.level);
    let found = [first(&target.path), first(&target.real), if target.is_tree { below() } else { None }];
    found.into_iter().flatten().max_by_key(|entry| entry.level).filter(|entry| entry.level != Level::Off)
}

/// The user's and the repository's.
fn all<'c>(context: &'c Context) -> impl Iterator<Item = &'c Protected> {
    context.rules.protected.iter().chain(&context.rules.protected_by_repository)
}

/// The file names of what is blocked, as far as they are no patterns.
fn literal_names<'c>(protected: impl Iterator<Item = &'c Protected>) -> impl Iterator<Item = &'c str> {
    let blocked = protected.filter(|entry| entry.level == Level::Block);
    let names = blocked.filter_map(|entry| entry.pattern.trim_end_matches('/').rsplit('/').next());
    names.filter(|name| !name.is_empty() && !name.contains(['*', '?', '[', '{']))
}

/// As a word of its own: `a.lock` is not in `data.lock`.
fn mentions(words: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    words.match_indices(name).any(|(at, _)| {
        let before = words.get(..at).and_then(|w| w.chars().next_back());
        let after = words.get(at + name.len()..).and_then(|w| w.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
    })
}

#[cfg(test)]
mod tests {
    use dandori_text::Lang;
    use serde_json::json;

    use super::*;
    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::{Deed, Stage};

    fn stage() -> Stage {
        let mut stage = Stage::only("protected-edit", Level::Block)
            .file("Cargo.lock", "x")
            .file("docs/spec/a.md", "x")
            .file("docs/spec/draft/b.md", "x")
            .link("notes.md", "docs/spec/a.md")
            .link("docs/spec/draft/out.md", "Cargo.lock");
        stage.rules.protected = [
            ("docs/spec/draft", Level::Off),
            ("docs/spec", Level::Block),
            ("Cargo.lock", Level::Block),
            ("*.gen.rs", Level::Warn),
            ("deploy.sh", Level::Ask),
            ("~/.profile", Level::Block),
        ]
        .map(|(pattern, level)| Protected { pattern: pattern.to_owned(), level })
        .to_vec();
        stage
    }

    #[test]
    fn what_a_server_s_tool_calls_a_path_is_a_path_at_any_depth() {
        for (tool, input) in [
            ("mcp__serena__replace_regex", json!({"relative_path": "Cargo.lock", "regex": "a"})),
            ("mcp__fs__write_files", json!({"files": [{"path": "a.rs"}, {"path": "Cargo.lock"}]})),
            ("mcp__fs__delete", json!({"paths": ["Cargo.lock"]})),
        ] {
            assert_eq!(stage().tool(tool, &input).outcome(), Outcome::Block, "{tool}");
        }
        let read = stage().tool("mcp__fs__read_files", &json!({"paths": ["Cargo.lock"]}));
        assert_eq!(read.outcome(), Outcome::Pass);
    }

    #[test]
    fn an_entry_weighs_what_it_says_and_the_first_one_wins() {
        let stage = stage();
        for (path, want) in [
            ("Cargo.lock", Outcome::Block),
            ("sub/Cargo.lock", Outcome::Block),
            ("docs/spec/a.md", Outcome::Block),
            ("docs/spec/new.md", Outcome::Block),
            ("notes.md", Outcome::Block),
            ("docs/spec/draft/b.md", Outcome::Pass),
            ("docs/spec/draft/out.md", Outcome::Block),
            ("src/a.gen.rs", Outcome::Warn),
            ("deploy.sh", Outcome::Ask),
            ("src/a.rs", Outcome::Pass),
            ("docs/b.md", Outcome::Pass),
            ("/home/user/.profile", Outcome::Block),
            ("/tmp/Cargo.lock", Outcome::Pass),
        ] {
            assert_eq!(stage.write(path, "y").outcome(), want, "{path}");
        }
    }

    #[test]
    fn the_repository_adds_to_the_user_s_list_and_lifts_nothing_of_it() {
        let mut stage = stage();
        let entry = |pattern: &str, level| Protected { pattern: pattern.to_owned(), level };
        stage.rules.protected_by_repository = vec![
            entry("Cargo.lock", Level::Off),
            entry("*.gen.rs", Level::Block),
            entry("docs/spec/draft", Level::Block),
            entry("ci.yml", Level::Block),
        ];
        for (path, want) in [
            ("Cargo.lock", Outcome::Block),
            ("src/a.gen.rs", Outcome::Block),
            ("docs/spec/draft/b.md", Outcome::Pass),
            ("ci.yml", Outcome::Block),
        ] {
            assert_eq!(stage.write(path, "y").outcome(), want, "{path}");
        }
        assert_eq!(stage.bash("f=$(find . -name ci.yml); echo x > $f").outcome(), Outcome::Ask);
    }

    #[test]
    fn a_shell_line_that_writes_is_an_edit_too() {
        let stage = stage();
        for (line, want) in [
            ("echo x >> Cargo.lock", Outcome::Block),
            ("sed -i s/x/y/ docs/spec/a.md", Outcome::Block),
            ("cd docs && tee spec/a.md < /dev/null", Outcome::Block),
            ("rm -rf docs", Outcome::Block),
            ("rm -rf docs/spec", Outcome::Block),
            ("rm -rf docs/spec/draft", Outcome::Pass),
            ("git checkout -- Cargo.lock", Outcome::Block),
            ("cp x.md docs/spec/", Outcome::Block),
            ("python3 -c \"open('Cargo.lock','w')\"", Outcome::Block),
            ("cat Cargo.lock docs/spec/a.md", Outcome::Pass),
            ("cp Cargo.lock /tmp/x", Outcome::Pass),
            ("git commit -m 'change Cargo.lock'", Outcome::Pass),
        ] {
            assert_eq!(stage.bash(line).outcome(), want, "{line}");
        }
    }

    #[test]
    fn a_name_that_is_only_known_later_is_asked_about_when_the_line_speaks_of_it() {
        let stage = stage().file("x.patch", "--- a/Cargo.lock\n+++ b/Cargo.lock\n").file("y.patch", "+++ b/a.rs\n");
        for (line, want) in [
            ("f=$(ls | grep Cargo.lock); echo x > \"$f\"", Outcome::Ask),
            ("echo x > \"$OUT\"", Outcome::Pass),
            ("grep -c x MyCargo.lock > \"$OUT\"", Outcome::Pass),
            ("git apply x.patch", Outcome::Ask),
            ("patch -p1 < x.patch", Outcome::Ask),
            ("git apply y.patch", Outcome::Pass),
        ] {
            assert_eq!(stage.bash(line).outcome(), want, "{line}");
        }
    }

    #[test]
    fn the_message_names_file_pattern_and_way_out_in_both_languages() {
        let english = stage().write("docs/spec/a.md", "y").said();
        let japanese = stage().lang(Lang::Ja).write("docs/spec/a.md", "y").said();
        for said in [&english, &japanese] {
            assert!(said.contains("docs/spec/a.md") && said.contains("`docs/spec`"), "{said}");
            assert!(said.contains("dandori guard allow protected-edit --path 'docs/spec/a.md'"), "{said}");
        }
        assert!(japanese.contains("保護されています"), "{japanese}");
    }

    #[test]
    fn what_only_warns_does_not_speak_of_leaving_it_alone() {
        let mut capped = Stage::only("protected-edit", Level::Warn);
        capped.rules.protected = stage().rules.protected;
        for said in [stage().write("src/a.gen.rs", "y").said(), capped.write("Cargo.lock", "y").said()] {
            assert!(said.contains("warning only") && !said.contains("guard allow"), "{said}");
        }
    }

    #[test]
    fn a_patch_and_a_relative_path_are_seen() {
        let mut stage = stage();
        stage.agent = Client::Codex;
        let patch = "*** Begin Patch\n*** Update File: x.md\n*** Move to: docs/spec/x.md\n@@\n-a\n+b\n*** End Patch";
        assert_eq!(stage.tool("apply_patch", &json!({"command": patch})).outcome(), Outcome::Block);
        for client in Client::ALL {
            stage.agent = client;
            let judged = stage.does(Deed::Write("docs/../Cargo.lock")).unwrap();
            assert_eq!(judged.outcome(), Outcome::Block, "{client}");
        }
    }
}
