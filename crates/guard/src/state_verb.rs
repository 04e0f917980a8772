//! `dandori state set` in a shell line is an edit of state.md, and is judged as one.

use camino::Utf8PathBuf;
use dandori_playbook::State;
use dandori_shell::{Command, Word};

use crate::change::{Change, ChangeKind};
use crate::context::Context;
use crate::verb;

/// The edits of state.md the line's verbs would make, each with the file's whole new text. Without one where the value
/// is only known when it runs and something depends on it.
pub(crate) fn changes(context: &Context) -> Vec<Change> {
    let mut texts: Vec<(Utf8PathBuf, String)> = Vec::new();
    let mut found = Vec::new();
    for command in context.commands() {
        let Some((key, value)) = assigned(command) else { continue };
        let here = context.folder_of(command).or_else(|| context.project.as_ref().map(|project| project.root.clone()));
        let Some(checkout) = here.and_then(|folder| context.checkout(&folder)) else { continue };
        let path = checkout.root.join("state.md");
        let before = match texts.iter().rev().find(|(known, _)| *known == path) {
            Some((_, text)) => text.clone(),
            None => context.text(&path).ok().flatten().unwrap_or_else(|| dandori_playbook::state_template(false)),
        };
        let text = (value.text != "null").then_some(value.text.as_str());
        // What it would refuse to write it does not write.
        let Ok(after) = State::set_or_add(&before, &key.text, text) else { continue };
        let is_told = value.is_literal() || !decides(&key.text);
        texts.push((path.clone(), after.clone()));
        found.push(Change { path, kind: ChangeKind::Write, old: None, new: is_told.then_some(after) });
    }
    found
}

/// Values that guards go by.
fn decides(key: &str) -> bool {
    ["verification", "playbook.active", "playbook.current", "active_playbooks", "focus", "state", "status"]
        .iter()
        .any(|known| key.starts_with(known) || key.rsplit('.').next() == Some(known))
}

/// `state set KEY VALUE`
fn assigned(command: &Command) -> Option<(&Word, &Word)> {
    match verb::words(command)?.as_slice() {
        [state, set, key, value] if state.text == "state" && set.text == "set" => Some((key, value)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use dandori_domain::guard::Level;

    use crate::judge::Outcome;
    use crate::stage::Stage;
    use crate::world::Head;

    const STATE: &str = "---\nfocus: a\nplaybook:\n  active: plan/playbook-a.md\n  branch: null\nactive_playbooks:\n  \
                         a: plan/playbook-a.md\ngoal:\n  phase: p1\nverification:\n  self_complete: false\n---\n";

    fn stage(guard: &str) -> Stage {
        Stage::only(guard, Level::Block).file("state.md", STATE)
    }

    #[test]
    fn what_an_edit_may_not_say_the_verb_may_not_either() {
        for (line, said) in [
            ("dandori state set verification.self_complete true", "self_complete: true"),
            ("cd src && dandori --lang ja state set --json verification.self_complete yes", "self_complete: true"),
            ("env A=1 dandori state set -- verification.self_complete true", "self_complete: true"),
            ("dandori state set goal.phase p2 && dandori state set verification.self_complete on", "self_complete"),
            ("dandori state set playbook.active plan/archive/playbook-old.md", "plan/archive/playbook-old.md"),
            ("dandori state set playbook.active \"$(ls plan/archive/*)\"", "cannot be determined"),
            ("dandori state set verification.self_complete $x", "cannot be determined"),
        ] {
            let judged = stage("critic").bash(line);
            assert_eq!(judged.outcome(), Outcome::Block, "{line}");
            assert!(judged.said().contains(said), "{line}: {}", judged.said());
        }
        let consent = stage("consent").unconfirmed().bash("dandori state set goal.phase p2");
        assert_eq!(consent.outcome(), Outcome::Block, "it changes a file");
    }

    #[test]
    fn a_section_that_is_not_there_yet_is_made_by_the_verb_and_seen_by_the_guards() {
        let bare = Stage::only("critic", Level::Block).file("state.md", "---\nfocus: x\n---\n");
        for line in [
            "dandori state set playbook.active plan/archive/playbook-old.md",
            "dandori st\"ate\" s\"et\" playbook.active plan/archive/playbook-old.md",
            "dandori --lang ja state set verification.self_complete true",
        ] {
            assert_eq!(bare.bash(line).outcome(), Outcome::Block, "{line}");
        }
    }

    #[test]
    fn what_an_edit_may_say_passes() {
        for line in [
            "dandori state set goal.phase p2",
            "dandori state set playbook.branch \"$(git branch --show-current)\"",
            "dandori state set playbook.active null",
            "dandori state set playbook.active plan/playbook-b.md",
            "dandori state set verification.self_complete false",
            "dandori state set verification.nothing.there true",
            "dandori state show",
            "dandori state set --help",
        ] {
            for guard in ["critic", "playbook"] {
                let judged = stage(guard).bash(line);
                assert_eq!(judged.outcome(), Outcome::Pass, "{guard}: {line}: {}", judged.said());
            }
        }
    }

    #[test]
    fn the_checkout_the_line_stands_in_counts() {
        let stage =
            stage("critic").worktree("/other", None, Head::Branch("w".to_owned())).file("/other/state.md", STATE);
        let line = "cd /other && dandori state set verification.self_complete true";
        assert_eq!(stage.bash(line).outcome(), Outcome::Pass, "another repository's");
        assert_eq!(stage.bash("cd $D && dandori state set verification.self_complete true").outcome(), Outcome::Block);
    }
}
