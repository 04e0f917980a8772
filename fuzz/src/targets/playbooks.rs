//! state.md, playbooks and project.md: read, checked and edited; an edit changes its line and nothing else.

use dandori_playbook::{EditError, PhaseStatus, Playbook, Project, State, check};

use crate::case::Finding;
use crate::mutate::{self, ODD};
use crate::random::Random;
use crate::seeds::Seeds;

pub(crate) fn input(seeds: &Seeds, random: &mut Random) -> Vec<u8> {
    let text = random.pick(&seeds.documents).cloned().unwrap_or_default();
    let other = random.pick(&seeds.documents).cloned().unwrap_or_default();
    let mut text = mutate::shuffled_lines(&text, &other, random);
    if random.one_in(2) {
        text = mutate::text(&text, &other, random);
    }
    if random.one_in(50) {
        let times = (mutate::long(random) / text.len().max(1)).clamp(1, 500);
        text = text.repeat(times);
    }
    let mut bytes = text.into_bytes();
    if random.one_in(6) {
        mutate::bytes(&mut bytes, other.as_bytes(), random);
    }
    bytes
}

pub(crate) fn look(text: &str, choice: u64) -> Result<(), Finding> {
    let mut random = Random::new(choice);
    State::read(text);
    Project::read(text);
    let playbook = Playbook::read(text);
    check(&playbook);
    state_edit(text, &mut random)?;
    let status = [PhaseStatus::Pending, PhaseStatus::InProgress, PhaseStatus::Done]
        .get(random.below(3))
        .copied()
        .unwrap_or_default();
    if let Some(phase) = random.pick(&playbook.phases) {
        let edited = changes_a_line(text, Playbook::set_status(text, &phase.id, status), "status")?;
        let read = edited.as_deref().map(Playbook::read);
        if read.is_some_and(|read| read.phase(&phase.id).is_none_or(|p| p.status != status)) {
            return Err(Finding::new("edit not read", format!("{}.status: {}", phase.id, status.as_str())));
        }
        if let Some(subtask) = random.pick(&phase.subtasks) {
            let edited = changes_a_line(text, Playbook::tick(text, subtask.line, !subtask.is_done), "tick")?;
            let read = edited.as_deref().map(Playbook::read);
            let now = read.and_then(|read| {
                read.phases.iter().flat_map(|p| &p.subtasks).find(|s| s.line == subtask.line).map(|s| s.is_done)
            });
            if edited.is_some() && now != Some(!subtask.is_done) {
                return Err(Finding::new("edit not read", format!("the tick of line {}", subtask.line)));
            }
        }
    }
    let edited = changes_a_line(text, Playbook::set_reviewed(text, !playbook.reviewed), "reviewed")?;
    if edited.is_some_and(|edited| Playbook::read(&edited).reviewed == playbook.reviewed) {
        return Err(Finding::new("edit not read", "reviewed"));
    }
    Ok(())
}

fn state_edit(text: &str, random: &mut Random) -> Result<(), Finding> {
    let value = match random.below(4) {
        0 => None,
        1 => Some(random.word(ODD)),
        _ => Some(random.word(&[
            "plan/playbook-b.md",
            "feat/x",
            "M 2",
            "a: b",
            "- x",
            "x # y",
            "'q'",
            "日本",
            "true",
            "#",
            "[a]",
            "a,b",
            "x'",
        ])),
    };
    let path =
        random.word(&["playbook.branch", "goal.milestone", "goal.phase", "session.last_start", "config.toolstack"]);
    let Some(edited) = changes_a_line(text, State::set(text, path, value), path)? else { return Ok(()) };
    let read = State::read(&edited);
    let found = match path {
        "playbook.branch" => read.branch,
        "goal.milestone" => read.milestone,
        "goal.phase" => read.phase,
        _ => return Ok(()),
    };
    let wanted = value.map(ToOwned::to_owned);
    if found != wanted {
        return Err(Finding::new("edit not read", format!("{path}: {wanted:?} was read as {found:?}")));
    }
    Ok(())
}

/// The edited text, when there is one: at most one line of it is another, or one more.
fn changes_a_line(text: &str, edited: Result<String, EditError>, what: &str) -> Result<Option<String>, Finding> {
    let Ok(edited) = edited else { return Ok(None) };
    let (old, new): (Vec<&str>, Vec<&str>) = (text.split('\n').collect(), edited.split('\n').collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let left = old.len().min(new.len()).saturating_sub(before);
    let after = old.iter().rev().zip(new.iter().rev()).take(left).take_while(|(a, b)| a == b).count();
    let (gone, come) = (old.len() - before - after, new.len() - before - after);
    // A line put behind the last one, which has no end, gives that one its end.
    if gone <= 1 && come <= gone + 1 && come <= 2 {
        return Ok(Some(edited));
    }
    Err(Finding::new("edit", format!("{what}: {gone} lines became {come}")))
}
