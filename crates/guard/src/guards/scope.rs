//! Work stays within the playbook's scope, and what was agreed as done stays agreed.

use camino::Utf8Path;
use dandori_playbook::{Phase, Playbook, State};
use dandori_text::guard::edit;

use crate::context::Context;
use crate::glob;
use crate::papers::{self, After, Paper};
use crate::voice::{Trouble, Voice};
use crate::world::Checkout;

/// More are not named at once.
const NAMED: usize = 5;

pub(crate) fn judge(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    judge_places(context, voice)?;
    judge_criteria(context, voice)
}

fn judge_places(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    let mut outside: Vec<String> = Vec::new();
    let mut allowed = String::new();
    for (target, checkout) in papers::work(context) {
        let documents = context.documents(&checkout)?;
        let Some(playbook) = &documents.playbook else { continue };
        let scope = globs(context, &checkout, &playbook.scope);
        let path = checkout.short(&target.real);
        if !scope.is_empty() && !is_within(&scope, path) && !outside.iter().any(|known| known == path) {
            outside.push(path.to_string());
            allowed = scope.join(", ");
        }
    }
    if !outside.is_empty() {
        let more = if outside.len() > NAMED { ", …" } else { "" };
        outside.truncate(NAMED);
        voice.block(edit::out_of_scope(context.lang, &format!("{}{more}", outside.join(", ")), &allowed));
    }
    Ok(())
}

/// The entries of a scope that speak of files. People also describe a scope in words: those hold nothing, and must not
/// forbid everything either.
pub(super) fn globs<'s>(context: &Context, checkout: &Checkout, scope: &'s [String]) -> Vec<&'s str> {
    let is_path = |entry: &&str| {
        !entry.contains(char::is_whitespace)
            && (entry.contains(['/', '*', '.']) || context.world.kind(&checkout.root.join(entry)).is_some())
    };
    scope.iter().map(String::as_str).filter(is_path).collect()
}

/// A folder lies within when what is in it would.
pub(super) fn is_within(scope: &[&str], path: &Utf8Path) -> bool {
    let inside = path.join("x");
    scope.iter().any(|pattern| glob::holds(pattern, path) || glob::holds(pattern, &inside))
}

/// While nobody has reviewed the playbook, its scope and criteria are still being found.
fn judge_criteria(context: &Context, voice: &mut Voice) -> Result<(), Trouble> {
    for change in papers::changes(context) {
        let documents = context.documents(&change.checkout)?;
        let (Some(before), After::Text(after)) = (documents.playbook.as_ref(), &change.after) else { continue };
        if !before.reviewed {
            continue;
        }
        match change.paper {
            Paper::State => judge_goal(context, &documents.state, &State::read(after), voice),
            Paper::Playbook if documents.playbook_path.as_ref() == Some(&change.path) => {
                judge_playbook(context, before, &Playbook::read(after), voice);
            }
            Paper::Playbook => {}
        }
    }
    Ok(())
}

fn judge_playbook(context: &Context, before: &Playbook, after: &Playbook, voice: &mut Voice) {
    let stays = |phase: &Phase| after.phase(&phase.id).is_some_and(|p| p.done_criteria == phase.done_criteria);
    let changed = before.phases.iter().filter(|phase| !phase.done_criteria.is_empty() && !stays(phase));
    let changed: Vec<&str> = changed.map(|phase| phase.id.as_str()).collect();
    if !changed.is_empty() {
        voice.ask(edit::criteria_changed(context.lang, &changed.join(", ")));
    }
    // Empty is everything: to name less of it is no more than to work on less.
    let grows = after.scope.is_empty() || after.scope.iter().any(|entry| !before.scope.contains(entry));
    if !before.scope.is_empty() && grows {
        let shown = |scope: &[String]| {
            if scope.is_empty() { edit::no_scope(context.lang) } else { format!("[{}]", scope.join(", ")) }
        };
        voice.ask(edit::scope_changed(context.lang, &shown(&before.scope), &shown(&after.scope)));
    }
}

/// Another phase, milestone or playbook has other criteria; the same one keeps those that were agreed.
fn judge_goal(context: &Context, before: &State, after: &State, voice: &mut Voice) {
    let is_same = before.phase == after.phase && before.milestone == after.milestone && before.active == after.active;
    if is_same && !before.done_criteria.is_empty() && before.done_criteria != after.done_criteria {
        voice.ask(edit::goal_changed(context.lang));
    }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;
    use dandori_text::Lang;
    use serde_json::json;

    use crate::Client;
    use crate::judge::Outcome;
    use crate::stage::{Deed, Stage};
    use crate::world::Head;

    const STATE: &str = "---\nplaybook:\n  active: plan/playbook-a.md\n---\n";
    const PLAYBOOK: &str = "---\nreviewed: true\nscope: [src/**, \"*.toml\", docs, the whole front end]\n---\n\
                            ## p1: One\n- status: in_progress\n- done_criteria:\n  - tests pass\n";

    fn at(level: Level, playbook: &str) -> Stage {
        Stage::only("scope", level).file("state.md", STATE).file("plan/playbook-a.md", playbook).file("docs/a.md", "x")
    }

    fn stage() -> Stage {
        at(Level::Warn, PLAYBOOK)
    }

    #[test]
    fn what_lies_outside_is_warned_of_and_blocked_when_strict() {
        for judged in [stage().write("lib/a.rs", "x"), stage().bash("echo x > lib/a.rs"), stage().bash("rm lib/a.rs")] {
            assert_eq!(judged.outcome(), Outcome::Warn);
            let said = judged.said();
            assert!(said.contains("lib/a.rs") && said.contains("src/**") && said.contains("ask the user"), "{said}");
        }
        assert_eq!(at(Level::Block, PLAYBOOK).write("lib/a.rs", "x").outcome(), Outcome::Block);
        let japanese = stage().lang(Lang::Ja).write("lib/a.rs", "x").said();
        assert!(japanese.contains("スコープ (src/**") && japanese.contains("`scope`"), "{japanese}");
    }

    #[test]
    fn what_lies_within_and_the_papers_pass() {
        for judged in [
            stage().write("src/a/b.rs", "x"),
            stage().write("crates/x/Cargo.toml", "x"),
            stage().write("docs/new.md", "x"),
            stage().file("src/a.rs", "x").bash("rm -rf src"),
            stage().write("state.md", STATE),
            stage().write("plan/other.md", "x"),
            stage().write("/tmp/a", "x"),
            at(Level::Warn, "---\nreviewed: true\n---\n").write("lib/a.rs", "x"),
            at(Level::Warn, "---\nscope: [the front end]\n---\n").write("lib/a.rs", "x"),
            at(Level::Warn, "---\nscope: [フロントエンド]\n---\n").write("lib/a.rs", "x"),
            Stage::only("scope", Level::Warn).write("lib/a.rs", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn criteria_that_were_agreed_need_a_confirmation() {
        let asks = at(Level::Block, PLAYBOOK);
        for judged in [
            asks.edit("plan/playbook-a.md", "tests pass", "tests exist"),
            asks.edit("plan/playbook-a.md", "  - tests pass\n", ""),
            asks.edit("plan/playbook-a.md", "## p1: One", "## p4: One"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Ask, "{}", judged.said());
            assert!(judged.said().contains("done_criteria of p1"), "{}", judged.said());
        }
        assert_eq!(stage().edit("plan/playbook-a.md", "tests pass", "x").outcome(), Outcome::Warn);
        assert!(stage().lang(Lang::Ja).edit("plan/playbook-a.md", "tests pass", "x").said().contains("ユーザーの承認"));
        for judged in [
            asks.edit("plan/playbook-a.md", "in_progress", "pending"),
            asks.edit("plan/playbook-a.md", "pass\n", "pass\n\n## p2: Two\n- done_criteria:\n  - more\n"),
            at(Level::Block, &PLAYBOOK.replace("true", "false")).edit("plan/playbook-a.md", "tests pass", "x"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn a_scope_that_was_agreed_grows_only_with_a_confirmation() {
        let asks = at(Level::Block, PLAYBOOK);
        let scope = "scope: [src/**, \"*.toml\", docs, the whole front end]";
        for (old, new) in [
            (scope, "scope: [\"**\"]"),
            (scope, "scope: []"),
            (scope, "note: x"),
            ("docs,", "docs, lib/**,"),
            ("src/**", "**"),
        ] {
            let judged = asks.edit("plan/playbook-a.md", old, new);
            assert_eq!(judged.outcome(), Outcome::Ask, "{new}: {}", judged.said());
            assert!(judged.said().contains("src/**"), "{}", judged.said());
            assert_eq!(stage().edit("plan/playbook-a.md", old, new).outcome(), Outcome::Warn, "{new}");
        }
        let japanese = stage().lang(Lang::Ja).edit("plan/playbook-a.md", scope, "scope: []").said();
        assert!(japanese.contains("ユーザーの承認") && japanese.contains("制限なし"), "{japanese}");
        let free = PLAYBOOK.replace(scope, "scope: []");
        for judged in [
            asks.edit("plan/playbook-a.md", "docs, ", ""),
            at(Level::Block, &free).edit("plan/playbook-a.md", "scope: []", "scope: [src/**]"),
            at(Level::Block, &PLAYBOOK.replace("reviewed: true", "reviewed: false")).edit(
                "plan/playbook-a.md",
                scope,
                "",
            ),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn the_goal_of_a_phase_keeps_its_criteria() {
        let state = STATE.replace("---\n", "");
        let state = format!("---\n{state}goal:\n  phase: p1\n  done_criteria:\n    - tests pass\n---\n");
        let asks = at(Level::Block, PLAYBOOK).file("state.md", &state);
        for judged in [
            asks.edit("state.md", "tests pass", "it builds"),
            asks.edit("state.md", "    - tests pass\n", ""),
            asks.edit("state.md", "    - tests pass\n", "    - tests pass\n    - or not\n"),
        ] {
            assert_eq!(judged.outcome(), Outcome::Ask, "{}", judged.said());
            assert!(judged.said().contains("goal.done_criteria"), "{}", judged.said());
        }
        for judged in [
            asks.write("state.md", &state.replace("p1", "p2").replace("tests pass", "it builds")),
            asks.write("state.md", &state.replace("plan/playbook-a.md", "null").replace("tests pass", "")),
            asks.write("state.md", &format!("{state}more prose\n")),
            asks.file("plan/playbook-a.md", "---\nreviewed: false\n---\n").edit("state.md", "tests pass", "x"),
            at(Level::Block, PLAYBOOK).write("state.md", &state),
        ] {
            assert_eq!(judged.outcome(), Outcome::Pass, "{}", judged.said());
        }
    }

    #[test]
    fn each_worktree_has_its_own_scope_and_each_client_is_seen() {
        let mut stage = stage()
            .worktree("/wt", Some("/repo"), Head::Branch("w".to_owned()))
            .file("/wt/state.md", STATE)
            .file("/wt/plan/playbook-a.md", "---\nscope: [lib/**]\n---\n");
        assert_eq!(stage.write("/wt/lib/a.rs", "x").outcome(), Outcome::Pass);
        assert_eq!(stage.write("/wt/src/a.rs", "x").outcome(), Outcome::Warn);
        stage.agent = Client::Codex;
        let patch =
            json!({"command": "*** Begin Patch\n*** Add File: src/a\n+x\n*** Add File: lib/a\n+x\n*** End Patch"});
        let judged = stage.tool("apply_patch", &patch);
        assert!(judged.outcome() == Outcome::Warn && judged.said().starts_with("lib/a:"), "{}", judged.said());
        for client in Client::ALL {
            stage.agent = client;
            assert_eq!(stage.does(Deed::Write("lib/a")).unwrap().outcome(), Outcome::Warn, "{client}");
        }
        let stage = stage.unreadable("state.md");
        assert_eq!(stage.does(Deed::Write("lib/a")).unwrap().outcome(), Outcome::Error);
    }
}
