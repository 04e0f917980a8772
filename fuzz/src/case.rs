//! One input with everything that decides what becomes of it, and what was found with it.
//!
//! A case is made from a seed and a number alone, so a worker need only say its number: whoever outlives it can make the
//! input again.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_corpus::Form;
use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::seeds::Seeds;
use crate::targets;
use crate::trouble::Trouble;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Target {
    /// Hook events through decoding, all guards and encoding
    Events,
    /// Shell lines through the reader, and hostile ones in disguise
    Shell,
    /// Shell lines that bash itself accepts
    Bash,
    /// state.md, playbooks and project.md
    Playbooks,
    /// The clients' settings, in and out again
    Settings,
    /// Texts of `apply_patch`
    Patches,
    /// `dandori hook` as a process
    Processes,
}

impl Target {
    pub(crate) const ALL: [Self; 7] =
        [Self::Events, Self::Shell, Self::Bash, Self::Playbooks, Self::Settings, Self::Patches, Self::Processes];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Shell => "shell",
            Self::Bash => "bash",
            Self::Playbooks => "playbooks",
            Self::Settings => "settings",
            Self::Patches => "patches",
            Self::Processes => "processes",
        }
    }

    /// It starts processes: some a second are enough.
    pub(crate) fn is_rationed(self) -> bool {
        matches!(self, Self::Bash | Self::Processes)
    }

    fn salt(self) -> u64 {
        Self::ALL.iter().position(|t| *t == self).and_then(|at| u64::try_from(at).ok()).unwrap_or_default() << 56
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Case {
    pub(crate) target: Target,
    /// What the target still has to choose: agent, rules, answers of the world.
    pub(crate) choice: u64,
    /// The hostile line it was made from, when it must be seen as that.
    pub(crate) form: Option<Form>,
    pub(crate) input: Vec<u8>,
}

impl Case {
    pub(crate) fn make(seeds: &Seeds, target: Target, seed: u64, number: u64) -> Self {
        let mut random = Random::of(seed ^ target.salt(), number);
        let choice = random.next();
        let form = targets::form(seeds, target, choice);
        let input = targets::input(seeds, target, choice, &mut random);
        Self { target, choice, form, input }
    }
}

/// Something that must not be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    /// What it is, in a word or two: findings of the same kind are likely the same fault.
    pub(crate) kind: String,
    pub(crate) detail: String,
}

impl Finding {
    pub(crate) fn new(kind: impl Into<String>, detail: impl Into<String>) -> Self {
        let detail: String = detail.into();
        Self { kind: kind.into(), detail: detail.chars().take(2_000).collect() }
    }
}

/// The first line of a finding's file; the input follows as it is.
#[derive(Serialize, Deserialize)]
struct Header {
    target: Target,
    choice: u64,
    form: Option<Form>,
    #[serde(flatten)]
    finding: Finding,
}

pub(crate) fn write(folder: &Utf8Path, name: &str, case: &Case, finding: &Finding) -> Result<Utf8PathBuf, Trouble> {
    std::fs::create_dir_all(folder).map_err(Trouble::io(folder))?;
    let path = folder.join(name);
    let header = Header { target: case.target, choice: case.choice, form: case.form.clone(), finding: finding.clone() };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.push(b'\n');
    bytes.extend_from_slice(&case.input);
    dandori_host::put_file(&path, &bytes, 0o644).map_err(Trouble::io(&path))?;
    Ok(path)
}

pub(crate) fn read(path: &Utf8Path) -> Result<(Case, Finding), Trouble> {
    let bytes = std::fs::read(path).map_err(Trouble::io(path))?;
    let end = bytes.iter().position(|b| *b == b'\n').unwrap_or(bytes.len());
    let (header, rest) = bytes.split_at_checked(end).unwrap_or((&bytes, &[]));
    let header: Header = serde_json::from_slice(header)?;
    let input = rest.get(1..).unwrap_or_default().to_vec();
    Ok((Case { target: header.target, choice: header.choice, form: header.form, input }, header.finding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_made_again_from_its_number_and_read_again_from_its_file() {
        let seeds = Seeds::load().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let finding = Finding::new("kind", "a\nb");
        for target in Target::ALL {
            let case = Case::make(&seeds, target, 7, 42);
            assert_eq!(case, Case::make(&seeds, target, 7, 42));
            let file = write(folder, target.name(), &case, &finding).unwrap();
            assert_eq!(read(&file).unwrap(), (case, finding.clone()));
        }
    }
}
