//! What is fuzzed. Each target makes an input out of the seeds, and looks at what becomes of one.

mod bash;
mod events;
mod guarded;
mod patches;
mod playbooks;
mod processes;
mod settings;
mod shell;

pub(crate) use bash::is_there as has_bash;
pub(crate) use processes::Bed;

use dandori_corpus::Form;

use crate::case::{Case, Finding, Target};
use crate::random::Random;
use crate::seeds::Seeds;

pub(crate) fn input(seeds: &Seeds, target: Target, choice: u64, random: &mut Random) -> Vec<u8> {
    match target {
        Target::Events => events::input(seeds, choice, random),
        Target::Shell => shell::input(seeds, choice, random),
        Target::Bash => bash::input(seeds, random),
        Target::Playbooks => playbooks::input(seeds, random),
        Target::Settings => settings::input(seeds, random),
        Target::Patches => patches::input(seeds, random),
        Target::Processes => processes::input(seeds, choice, random),
    }
}

/// The line that must be seen in what is made of it.
pub(crate) fn form(seeds: &Seeds, target: Target, choice: u64) -> Option<Form> {
    if target == Target::Shell { shell::form(seeds, choice) } else { None }
}

/// What must not be, when it is so. Panics, time and memory are the worker's to see.
pub(crate) fn look(seeds: &Seeds, case: &Case, bed: Option<&Bed>) -> Result<(), Finding> {
    let text = || String::from_utf8_lossy(&case.input);
    match case.target {
        Target::Events => events::look(seeds, &case.input, case.choice),
        Target::Shell => shell::look(&text(), case.choice, case.form.as_ref()),
        Target::Bash => bash::look(&text()),
        Target::Playbooks => playbooks::look(&text(), case.choice),
        Target::Settings => settings::look(&text(), case.choice),
        Target::Patches => patches::look(&text()),
        Target::Processes => bed.map_or(Ok(()), |bed| bed.look(&case.input, case.choice)),
    }
}
