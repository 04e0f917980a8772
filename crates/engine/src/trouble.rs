//! Errors of the edges as the problems users are told.

use dandori_domain::Problem;
use dandori_git::GitError;
use dandori_store::StoreError;

pub(crate) fn store_problem(error: &StoreError) -> Problem {
    Problem::from(error.clone())
}

pub(crate) fn git_reason(error: &GitError) -> String {
    use std::error::Error;
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
