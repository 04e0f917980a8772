//! A prompt that asks for work outside of what the playbook or project.md is about.
//!
//! A warning that is wrong is worse than none: only requests count, only files that are there, and not when the prompt
//! also names something within.

use camino::Utf8Path;
use dandori_playbook::Project;
use dandori_text::guard::prompt;

use super::{scope, task_request};
use crate::context::Context;
use crate::event::Kind;
use crate::papers;
use crate::voice::{Trouble, Voice};
use crate::world::{Checkout, FileKind};

const NAMED: usize = 5;
/// An item of a few letters is in every other prompt; a long one is a sentence nobody repeats.
const ITEM_CHARS: std::ops::RangeInclusive<usize> = 3..=60;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let (Kind::PromptSubmit { prompt }, Some(project)) = (&context.event.kind, &context.project) else {
        return Ok(());
    };
    if !task_request::is_task(prompt) {
        return Ok(());
    }
    let documents = context.documents(project)?;
    let about = Project::read(&context.text(&project.root.join("project.md"))?.unwrap_or_default());
    let own = documents.playbook.as_ref().map_or(&[][..], |playbook| &playbook.scope);
    let scope = scope::globs(context, project, if own.is_empty() { &about.scope } else { own });
    let (within, outside): (Vec<&str>, Vec<&str>) = files_named(context, project, prompt)
        .into_iter()
        .partition(|file| scope.is_empty() || scope::is_within(&scope, Utf8Path::new(file)));
    if within.is_empty() && !outside.is_empty() {
        let files = outside.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
        voice.warn(prompt::files_out_of_scope(context.lang, &files, &scope.join(", ")));
    }
    if let Some(item) = about.out_of_scope.iter().map(|item| bare(item)).find(|item| is_named(prompt, item)) {
        voice.warn(prompt::item_out_of_scope(context.lang, item));
    }
    Ok(())
}

/// Files of the checkout that stand in the prompt; the papers belong to every scope.
fn files_named<'p>(context: &Context, project: &Checkout, prompt: &'p str) -> Vec<&'p str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-./@+".contains(c);
    let words = prompt.split(|c| !is_part(c)).map(|word| word.trim_start_matches("./").trim_end_matches(['.', '/']));
    let mut found: Vec<&str> = Vec::new();
    for word in words.filter(|word| word.contains(['/', '.']) && !word.starts_with('/') && !word.contains("..")) {
        let path = project.root.join(word);
        let is_paper = papers::is_state(project, &path) || papers::is_plan(project, &path) || word == "project.md";
        if !is_paper && !found.contains(&word) && context.world.kind(&path) == Some(FileKind::File) {
            found.push(word);
        }
    }
    found
}

/// The item without its explanation: `**SSO** (later)` → `SSO`
fn bare(item: &str) -> &str {
    let end = item.find(['(', '（', ':', '：', '—']).unwrap_or(item.len());
    item.get(..end).unwrap_or(item).trim().trim_matches(['*', '`', '"', '.', '。', '「', '」', ' '])
}

/// As words of their own; Japanese does not part them.
fn is_named(prompt: &str, item: &str) -> bool {
    let (prompt, item) = (prompt.to_lowercase(), item.to_lowercase());
    if !ITEM_CHARS.contains(&item.chars().count()) {
        return false;
    }
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let touches = |inner: Option<char>, outer: Option<char>| is_letter(inner) && is_letter(outer);
    prompt.match_indices(&item).any(|(at, _)| {
        let before = prompt.get(..at).and_then(|text| text.chars().next_back());
        let after = prompt.get(at + item.len()..).and_then(|text| text.chars().next());
        !touches(item.chars().next(), before) && !touches(item.chars().next_back(), after)
    })
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;

    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::Stage;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";
    const PROJECT: &str = "# Project\n## Out of scope\n- **SSO** (later)\n- mobile app\n- 決済機能\n- UI\n";

    fn stage(playbook: &str) -> Stage {
        Stage::only("prompt-scope", Level::Warn)
            .file("state.md", STATE)
            .file("plan/playbook-a.md", playbook)
            .file("src/a.rs", "x")
            .file("lib/b.rs", "x")
            .file("README.md", "x")
    }

    fn scoped() -> Stage {
        stage("---\nscope: [src/**]\n---\n")
    }

    #[test]
    fn a_request_about_files_outside_is_warned_of() {
        for prompt in ["fix lib/b.rs", "lib/b.rsを修正して", "`README.md` を直して、すぐ", "Please rewrite ./lib/b.rs."]
        {
            let judged = scoped().prompt(prompt);
            assert_eq!(judged.outcome(), Outcome::Warn, "{prompt}");
            assert!(judged.said().contains("src/**") && judged.said().contains("ask the user"), "{}", judged.said());
        }
        let said = scoped().lang(Lang::Ja).prompt("lib/b.rsを修正して").said();
        assert!(said.contains("lib/b.rs はスコープ (src/**) の外") && said.contains("確認"), "{said}");
        let by_project = stage("---\nreviewed: true\n---\n").file("project.md", "---\nscope: [src/**]\n---\n");
        assert_eq!(by_project.prompt("fix lib/b.rs").outcome(), Outcome::Warn, "project.md's scope");
        for client in Client::ALL {
            assert_eq!(scoped().by(client).prompt("fix lib/b.rs").outcome(), Outcome::Warn, "{client}");
        }
    }

    #[test]
    fn when_it_is_not_sure_nothing_is_said() {
        for prompt in [
            "fix src/a.rs",
            "fix src/a.rs like lib/b.rs",
            "what does lib/b.rs do?",
            "lib/b.rs を説明して",
            "fix lib/new.rs",
            "fix plan/playbook-a.md and state.md",
            "fix it, e.g. v1.2",
            "fix ../lib/b.rs",
        ] {
            let judged = scoped().prompt(prompt);
            assert_eq!(judged.outcome(), Outcome::Pass, "{prompt}: {}", judged.said());
        }
        assert_eq!(stage("---\nreviewed: true\n---\n").prompt("fix lib/b.rs").outcome(), Outcome::Pass, "no scope");
        assert_eq!(Stage::only("prompt-scope", Level::Warn).prompt("fix lib/b.rs").outcome(), Outcome::Pass);
    }

    #[test]
    fn what_project_md_leaves_out_is_warned_of() {
        let stage = stage("").file("project.md", PROJECT);
        for (prompt, item) in
            [("Add SSO to the login", "SSO"), ("build a Mobile App", "mobile app"), ("決済機能を追加して", "決済機能")]
        {
            let judged = stage.prompt(prompt);
            assert_eq!(judged.outcome(), Outcome::Warn, "{prompt}");
            assert!(judged.said().contains(&format!("\"{item}\"")), "{}", judged.said());
        }
        for prompt in ["fix the classSSOx", "is SSO out of scope?", "rebuild the GUI", "fix the UI"] {
            assert_eq!(stage.prompt(prompt).outcome(), Outcome::Pass, "{prompt}");
        }
        assert!(stage.lang(Lang::Ja).prompt("SSOを追加して").said().contains("「SSO」は対象外"));
    }

    #[test]
    fn papers_that_are_odd_or_unreadable_do_not_break_it() {
        assert_eq!(stage("\0## [[").file("project.md", "\0").prompt("fix lib/b.rs").outcome(), Outcome::Pass);
        assert_eq!(scoped().unreadable("project.md").prompt("fix lib/b.rs").outcome(), Outcome::Error);
    }
}
