//! What a handler answers, and how a problem looks on the wire.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dandori_api::ErrorBody;
use dandori_domain::Problem;
use dandori_domain::problem::Class;
use dandori_text::Lang;

use crate::words;

/// A problem on its way out.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    problem: Problem,
    lang: Lang,
}

impl Refusal {
    /// Where HTTP itself has a word for it.
    pub(crate) fn with(status: StatusCode, problem: Problem) -> Self {
        Self { status, problem, lang: Lang::En }
    }

    pub(crate) fn in_words(self, lang: Lang) -> Self {
        Self { lang, ..self }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self { status: status(&problem), problem, lang: Lang::En }
    }
}

pub(crate) type Answer<T> = Result<Json<T>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = ErrorBody { error: words::problem(self.lang, &self.problem) };
        let mut response = (self.status, Json(body)).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

fn status(problem: &Problem) -> StatusCode {
    match problem {
        Problem::NoSuchTask { .. }
        | Problem::NoSuchRun { .. }
        | Problem::NoSuchNeed { .. }
        | Problem::NoSuchWorktree { .. }
        | Problem::NoSuchPath { .. }
        | Problem::NothingPreserved { .. }
        | Problem::NoPullOf { .. }
        | Problem::NoSuchOrder { .. }
        | Problem::NoSuchKept { .. }
        | Problem::NoSuchPull { .. } => StatusCode::NOT_FOUND,
        Problem::FormationRefused { refused } => {
            let is_unknown =
                refused.get("refused").and_then(|name| name.as_str()).is_some_and(|n| n.starts_with("unknown_"));
            if is_unknown { StatusCode::NOT_FOUND } else { StatusCode::CONFLICT }
        }
        Problem::NotForRole { .. } => StatusCode::FORBIDDEN,
        Problem::TaskIsBusy { .. }
        | Problem::CannotCancel { .. }
        | Problem::CannotRetry { .. }
        | Problem::WorktreeHeld { .. }
        | Problem::WorktreeDirty { .. }
        | Problem::WorktreeExists { .. }
        | Problem::WorktreeLocked { .. }
        | Problem::WorkRestored { .. }
        | Problem::PullIs { .. }
        | Problem::PullIsBusy { .. }
        | Problem::PullTaken { .. }
        | Problem::UpToDate { .. }
        | Problem::CannotMerge { .. }
        | Problem::PickFirst { .. }
        | Problem::BranchTaken { .. } => StatusCode::CONFLICT,
        Problem::StoreFull | Problem::DiskFull { .. } => StatusCode::INSUFFICIENT_STORAGE,
        Problem::StopUnderWay | Problem::StoreUnavailable { .. } | Problem::TooManyConnections { .. } => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        other => match other.class() {
            Class::Refused => StatusCode::UNPROCESSABLE_ENTITY,
            Class::World => StatusCode::BAD_GATEWAY,
            Class::Bug => StatusCode::INTERNAL_SERVER_ERROR,
        },
    }
}
