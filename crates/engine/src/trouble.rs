//! Errors of the edges as the problems users are told.

use dandori_domain::Problem;
use dandori_domain::cause::with_causes;
use dandori_git::GitError;
use dandori_store::StoreError;

pub(crate) fn store_problem(error: &StoreError) -> Problem {
    Problem::from(error.clone())
}

pub(crate) fn git_reason(error: &GitError) -> String {
    with_causes(error)
}
