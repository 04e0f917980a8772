//! The two files that configure dandori: the user's, and that of the repository the user stands in.

use dandori_config::{Config, Powers, Source, TrustFile};
use dandori_domain::Problem;
use dandori_domain::run::SandboxMode;
use dandori_git::{Git, GitError, Repository};
use dandori_text::doctor::Check;
use dandori_text::ui;

use super::{Finding, Grade};
use crate::cli::Context;

pub(super) fn look(context: &Context) -> Vec<Finding> {
    let mut findings = file(context, Check::UserConfig, &dandori_host::layout::user_config(&context.env), Source::User);
    let Some(here) = &context.cwd else { return findings };
    let lang = context.out.lang;
    match Repository::discover(&Git::new(&context.env, "doctor"), here) {
        Ok(repository) => findings.extend(of_repository(context, &repository)),
        // Doctor is asked anywhere; git itself has its own finding.
        Err(GitError::NotARepository { .. } | GitError::Bare { .. } | GitError::Missing | GitError::TooOld { .. }) => {}
        Err(e) => {
            findings.push(Finding::of_problem(lang, Check::Repository, e.problem()));
        }
    }
    findings
}

/// Whether runs here are started without the sandbox.
pub(super) fn is_sandbox_off(context: &Context) -> bool {
    let user = dandori_host::layout::user_config(&context.env);
    let here = context.cwd.as_deref();
    let repository = here.and_then(|here| Repository::discover(&Git::new(&context.env, "doctor"), here).ok());
    let of_repository = repository.map(|repository| repository.root().join("dandori.toml"));
    Config::load(&user, of_repository.as_deref()).is_ok_and(|config| config.sandbox.mode == SandboxMode::Off)
}

fn of_repository(context: &Context, repository: &Repository) -> Vec<Finding> {
    let path = repository.root().join("dandori.toml");
    let mut findings = file(context, Check::RepositoryConfig, &path, Source::Repository);
    let Ok(powers) = Powers::of_file(&path) else { return findings };
    if !TrustFile::load(&context.layout.trust()).trusts(repository.common_dir(), &powers) {
        let lang = context.out.lang;
        findings =
            vec![Finding::of_problem(lang, Check::RepositoryConfig, Problem::Untrusted { path, what: powers.0 })];
    }
    findings
}

/// One finding for each thing that is wrong with a file, or one that says it is well.
fn file(context: &Context, check: Check, path: &camino::Utf8Path, source: Source) -> Vec<Finding> {
    let lang = context.out.lang;
    let faults = Config::faults(path, source);
    if !faults.is_empty() {
        return faults.iter().map(|e| Finding::of_problem(lang, check, e.to_problem())).collect();
    }
    if path.exists() {
        return vec![Finding::good(check, path.to_string())];
    }
    let none = Finding::good(check, ui::no_config(lang, path.as_str()));
    vec![Finding { grade: Grade::Missing, ..none }]
}
