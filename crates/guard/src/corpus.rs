//! The corpora of shell lines through the real guards: harmless ones pass without a word, hostile ones are refused or
//! asked about.

use dandori_corpus::Form;
use dandori_domain::guard::{Level, Profile};

use crate::judge::{Judgement, Outcome};
use crate::rules::{Constraints, Protected, Rules};
use crate::stage::Stage;

/// A checkout of an ordinary project, on a branch for work.
fn judged(rules: &Rules, line: &str) -> Judgement {
    let empty = Stage::new(Profile::Safety);
    let mut stage =
        dandori_corpus::PROJECT.iter().fold(empty, |stage, name| stage.file(name, dandori_corpus::text_of(name)));
    stage.rules = rules.clone();
    stage.bash(line)
}

#[test]
fn no_harmless_line_makes_a_guard_speak() {
    let rules = Rules::of(Profile::Safety);
    let lines = dandori_corpus::harmless();
    let mut alarms = Vec::new();
    for line in &lines {
        for step in judged(&rules, line).steps.into_iter().filter(|step| step.outcome >= Outcome::Warn) {
            alarms.push(format!("{line}\n    {}: {:?}", step.guard, step.message));
        }
    }
    println!("harmless: false alarms {}/{}", alarms.len(), lines.len());
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
}

#[test]
fn with_a_reviewed_playbook_no_harmless_line_makes_the_discipline_refuse() {
    let mut alarms = Vec::new();
    for line in dandori_corpus::harmless() {
        let mut stage = Stage::new(Profile::Discipline)
            .file("state.md", "---\nplaybook:\n  active: plan/playbook-a.md\n---\n")
            .file("plan/playbook-a.md", "---\nbranch: work\nreviewed: true\n---\n## p1: a\n- status: in_progress\n")
            .file("src/lib.rs", "");
        let of_papers = ["playbook", "pending", "depends", "critic", "subtask", "coherence"];
        stage.rules.order.retain(|active| of_papers.contains(&active.name.as_str()));
        for step in stage.bash(&line).steps.into_iter().filter(|step| step.outcome > Outcome::Warn) {
            alarms.push(format!("{line}\n    {}: {:?}", step.guard, step.message));
        }
    }
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
}

#[test]
fn every_hostile_line_is_refused_or_asked_about() {
    let forms = dandori_corpus::hostile();
    let is_caught = |form: &&Form| {
        // The forms of `rm` remove a file that is called x.
        let file = if form.target == "rm" { "x" } else { "protected.txt" };
        let mut rules = Rules::of(Profile::Safety);
        rules.constraints = Some(Constraints { paths: vec![file.to_owned()], ..Constraints::default() });
        rules.protected = vec![Protected { pattern: file.to_owned(), level: Level::Block }];
        judged(&rules, &form.command).steps.iter().any(|step| step.outcome >= Outcome::Ask)
    };
    let missed: Vec<String> =
        forms.iter().filter(|f| !is_caught(f)).map(|f| format!("{}: {}", f.id, f.command)).collect();
    println!("hostile: caught {}/{}", forms.len() - missed.len(), forms.len());
    assert!(missed.is_empty(), "missed:\n{}", missed.join("\n"));
}

#[test]
fn no_guard_fails_on_a_line_that_breaks_off() {
    let mut rules = Rules::of(Profile::Discipline);
    rules.constraints = Some(Constraints::default());
    for form in dandori_corpus::hostile() {
        let chars: Vec<char> = form.command.chars().collect();
        for part in [chars.len() / 3, chars.len() / 2, chars.len() * 2 / 3] {
            let line: String = chars.iter().take(part).collect();
            let failed: Vec<String> = judged(&rules, &line)
                .steps
                .into_iter()
                .filter(|step| step.outcome == Outcome::Error)
                .map(|step| format!("{}: {:?}", step.guard, step.message))
                .collect();
            assert!(failed.is_empty(), "{line}: {failed:?}");
        }
    }
}
