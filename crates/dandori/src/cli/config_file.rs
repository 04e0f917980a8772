//! Which of the two configuration files is meant.

use camino::Utf8PathBuf;
use clap::Args;
use dandori_config::{Config, Powers, Source, TrustFile};
use dandori_domain::Problem;
use dandori_git::{Git, Repository};
use dandori_text::config as text;

use super::Context;
use crate::out::Failed;

#[derive(Args)]
pub(crate) struct FileArgs {
    /// Use this repository's dandori.toml instead of your own settings
    #[arg(long, short = 'r')]
    repository: bool,
}

pub(crate) struct ConfigFile {
    pub(crate) path: Utf8PathBuf,
    pub(crate) source: Source,
    /// What the repository is trusted by.
    git_dir: Option<Utf8PathBuf>,
}

impl FileArgs {
    pub(crate) fn file(&self, context: &Context) -> Result<ConfigFile, Failed> {
        if !self.repository {
            return Ok(ConfigFile::of_user(context));
        }
        ConfigFile::of_repository(context).ok_or_else(|| Failed::Refused(text::outside(context.out.lang)))
    }

    /// As it is typed behind another command.
    pub(crate) fn flag(&self) -> &'static str {
        if self.repository { " --repository" } else { "" }
    }
}

impl ConfigFile {
    pub(crate) fn of_user(context: &Context) -> Self {
        Self { path: dandori_host::layout::user_config(&context.env), source: Source::User, git_dir: None }
    }

    /// In the main checkout: an agent can write the one in a linked worktree.
    pub(crate) fn of_repository(context: &Context) -> Option<Self> {
        let repository = Repository::discover(&Git::new(&context.env, "cli"), context.cwd.as_deref()?).ok()?;
        Some(Self {
            path: repository.root().join("dandori.toml"),
            source: Source::Repository,
            git_dir: Some(repository.common_dir().to_owned()),
        })
    }

    /// What it says; nothing when it is not there.
    pub(crate) fn text(&self) -> Result<String, Problem> {
        match std::fs::read_to_string(&self.path) {
            Ok(text) => Ok(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(e) => Err(Problem::Io { path: self.path.clone(), reason: e.to_string() }),
        }
    }

    pub(crate) fn write(&self, text: &str) -> Result<(), Problem> {
        let io = |e: std::io::Error| Problem::Io { path: self.path.clone(), reason: e.to_string() };
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder).map_err(io)?;
        }
        // A file of dotfiles may be a link to where it is kept.
        let real = self.path.canonicalize_utf8().unwrap_or_else(|_| self.path.clone());
        dandori_host::replace_file(&real, text.as_bytes(), 0o644).map_err(io)
    }

    /// Everything that is wrong with it, as problems.
    pub(crate) fn faults(&self) -> Vec<Problem> {
        Config::faults(&self.path, self.source).iter().map(dandori_config::ConfigError::to_problem).collect()
    }

    /// Says so when it now asks for something that needs the user's agreement.
    pub(crate) fn note_trust(&self, context: &Context) {
        let Some(git_dir) = &self.git_dir else { return };
        let Ok(powers) = Powers::of_file(&self.path) else { return };
        if !TrustFile::load(&context.layout.trust()).trusts(git_dir, &powers) {
            context.out.note(text::needs_trust(context.out.lang, self.path.as_str()));
        }
    }
}

pub(crate) fn name(source: Source) -> &'static str {
    match source {
        Source::User => "user",
        Source::Repository => "repository",
    }
}
