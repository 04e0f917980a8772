//! What is noted once an event is judged.

use std::io;

use camino::Utf8Path;
use dandori_guard::world::StateValue;
use dandori_guard::{Effect, Event};
use dandori_host::Layout;
use dandori_journal::Logs;
use dandori_playbook::State;
use jiff::Zoned;

use crate::memory::Memory;
use crate::project;

/// Carries the effects out. Each stands alone: one that fails does not keep the others back.
pub(crate) fn apply(
    effects: &[Effect],
    memory: &Memory,
    logs: &Logs,
    event: &Event,
    layout: Option<&Layout>,
    now: &Zoned,
) -> Vec<String> {
    let mut troubles = Vec::new();
    for effect in effects {
        if let Err(error) = apply_one(effect, memory, logs, event, layout, now) {
            troubles.push(error.to_string());
        }
    }
    troubles
}

/// Takes each exception an answer rests on, once; false when one of them could not be had.
pub(crate) fn use_exceptions(effects: &[Effect], memory: &Memory) -> bool {
    let mut ids: Vec<&String> = effects
        .iter()
        .filter_map(|effect| match effect {
            Effect::UseException { id } => Some(id),
            _ => None,
        })
        .collect();
    ids.sort();
    ids.dedup();
    ids.into_iter().all(|id| memory.exceptions.use_one(id, memory.now).is_ok())
}

fn apply_one(
    effect: &Effect,
    memory: &Memory,
    logs: &Logs,
    event: &Event,
    layout: Option<&Layout>,
    now: &Zoned,
) -> io::Result<()> {
    match effect {
        Effect::Set(mark, value) => memory.session.set(mark, value, memory.now),
        Effect::Clear(mark) => memory.session.clear(mark),
        Effect::EndSession => {
            if let Some(layout) = layout {
                project::forget(event, layout);
            }
            memory.session.end()
        }
        Effect::Deny { paths, guard } => memory.session.deny(paths, guard, memory.now),
        // Taken before the answer was decided.
        Effect::UseException { .. } => Ok(()),
        Effect::Log { log, line } => logs.line(now.datetime(), *log, line),
        // In a run the file belongs to the change that is committed: it is for the agent to edit.
        Effect::SetState { .. } if layout.is_none() => Ok(()),
        Effect::SetState { checkout, key, value } => {
            let text = match value {
                StateValue::Now => now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            };
            set_state(&checkout.join("state.md"), key, &text)
        }
    }
}

/// One value of a state.md; the rest of the file, its mode and a link to it stay as they are.
fn set_state(path: &Utf8Path, key: &str, value: &str) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let path = dandori_host::layout::real(path);
    let mode = path.metadata()?.permissions().mode() & 0o7777;
    let text = std::fs::read_to_string(&path)?;
    // A file without a place for it is left alone: it is the user's.
    let Ok(new) = State::set(&text, key, Some(value)) else { return Ok(()) };
    if new == text { Ok(()) } else { dandori_host::put_file(&path, new.as_bytes(), mode) }
}
