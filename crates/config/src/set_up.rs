//! What a fresh worktree needs before an agent can work in it: the project's own dependency install.

use camino::Utf8Path;
use dandori_domain::run::SetUpChoice;
use serde::Deserialize;

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(untagged)]
pub enum SetUp {
    /// `set_up = ["make deps"]`: exactly these, in order.
    Commands(Vec<String>),
    /// `set_up = false`: nothing.
    Switch(bool),
    /// Not written: found by the files that are there.
    #[serde(skip)]
    Detect,
}

/// A lock file and the command that honours it. The first of a family wins: a project has one package manager.
const FAMILIES: &[&[(&str, &str)]] = &[
    &[
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile --prefer-offline"),
        ("bun.lock", "bun install --frozen-lockfile"),
        ("bun.lockb", "bun install --frozen-lockfile"),
        ("yarn.lock", "yarn install --frozen-lockfile"),
        ("package-lock.json", "npm ci --prefer-offline --no-audit --no-fund"),
    ],
    &[
        ("uv.lock", "uv sync --frozen"),
        ("poetry.lock", "poetry install --no-interaction"),
        ("Pipfile.lock", "pipenv sync"),
    ],
    &[("Gemfile.lock", "bundle install")],
    &[("composer.lock", "composer install --no-interaction")],
    &[("go.sum", "go mod download")],
    &[("mix.lock", "mix deps.get")],
    &[("Cargo.lock", "cargo fetch --locked")],
];

/// A set-up command and whether its failure ends the run: what the user wrote must work, what we guessed may not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetUpCommand {
    pub line: String,
    pub required: bool,
}

impl SetUp {
    pub fn choice(&self) -> SetUpChoice {
        match self {
            Self::Commands(lines) => SetUpChoice::Commands(lines.clone()),
            Self::Switch(false) => SetUpChoice::Nothing,
            Self::Switch(true) | Self::Detect => SetUpChoice::Detect,
        }
    }
}

/// The commands for a tree; `has` says whether a file is in its root and `program` whether a program is there.
pub fn commands(choice: &SetUpChoice, has: impl Fn(&str) -> bool, program: impl Fn(&str) -> bool) -> Vec<SetUpCommand> {
    match choice {
        SetUpChoice::Commands(lines) => {
            lines.iter().map(|line| SetUpCommand { line: line.clone(), required: true }).collect()
        }
        SetUpChoice::Nothing => Vec::new(),
        SetUpChoice::Detect => detected(has)
            .filter(|(_, line)| program(program_of(line)))
            .map(|(_, line)| SetUpCommand { line: line.to_owned(), required: false })
            .collect(),
    }
}

/// Lock files whose program is not there, each with that program: nothing is installed for them.
pub fn without_program(
    choice: &SetUpChoice,
    has: impl Fn(&str) -> bool,
    program: impl Fn(&str) -> bool,
) -> Vec<(&'static str, &'static str)> {
    match choice {
        SetUpChoice::Commands(_) | SetUpChoice::Nothing => Vec::new(),
        SetUpChoice::Detect => {
            let needed = detected(has).map(|(file, line)| (file, program_of(line)));
            needed.filter(|(_, needed)| !program(needed)).collect()
        }
    }
}

fn detected(has: impl Fn(&str) -> bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    FAMILIES.iter().filter_map(move |family| family.iter().find(|(file, _)| has(file)).copied())
}

fn program_of(line: &'static str) -> &'static str {
    line.split(' ').next().unwrap_or(line)
}

/// Managers of git hooks found in a tree. Their hooks do not run on dandori's own commits: the run says so.
pub fn hook_managers(root: &Utf8Path) -> Vec<&'static str> {
    [
        ("lefthook", &["lefthook.yml", "lefthook.yaml", ".lefthook.yml"][..]),
        ("husky", &[".husky"][..]),
        ("pre-commit", &[".pre-commit-config.yaml"][..]),
        ("overcommit", &[".overcommit.yml"][..]),
    ]
    .into_iter()
    .filter(|(_, files)| files.iter().any(|f| root.join(f).exists()))
    .map(|(name, _)| name)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(set_up: &SetUp, files: &[&str]) -> Vec<String> {
        commands(&set_up.choice(), |f| files.contains(&f), |p| p != "bundle").into_iter().map(|c| c.line).collect()
    }

    #[test]
    fn each_family_gives_one_command_and_missing_programs_give_none() {
        assert_eq!(
            lines(&SetUp::Detect, &["package-lock.json", "pnpm-lock.yaml"]),
            ["pnpm install --frozen-lockfile --prefer-offline"]
        );
        assert_eq!(lines(&SetUp::Detect, &["uv.lock", "Cargo.lock"]), ["uv sync --frozen", "cargo fetch --locked"]);
        assert_eq!(lines(&SetUp::Detect, &["Gemfile.lock"]), Vec::<String>::new());
    }

    #[test]
    fn a_lock_file_whose_program_is_missing_is_named_unless_nothing_is_looked_for() {
        let missing = |set_up: &SetUp| {
            let files = ["Gemfile.lock", "uv.lock"];
            without_program(&set_up.choice(), |f| files.contains(&f), |p| p != "bundle")
        };
        assert_eq!(missing(&SetUp::Detect), [("Gemfile.lock", "bundle")]);
        assert!(missing(&SetUp::Switch(false)).is_empty());
        assert!(missing(&SetUp::Commands(vec!["make".into()])).is_empty());
    }

    #[test]
    fn what_is_written_is_taken_as_it_is() {
        assert_eq!(lines(&SetUp::Commands(vec!["make deps".into()]), &["uv.lock"]), ["make deps"]);
        assert!(lines(&SetUp::Switch(false), &["uv.lock"]).is_empty());
    }
}
