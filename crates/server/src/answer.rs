//! What a handler answers, and how a problem looks on the wire.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dandori_api::ErrorBody;
use dandori_domain::Problem;
use dandori_domain::problem::Class;

/// A problem on its way out.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    problem: Problem,
}

impl Refusal {
    /// Where HTTP itself has a word for it.
    pub(crate) fn with(status: StatusCode, problem: Problem) -> Self {
        Self { status, problem }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self { status: status(&problem), problem }
    }
}

pub(crate) type Answer<T> = Result<Json<T>, Refusal>;

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(ErrorBody { problem: self.problem })).into_response()
    }
}

fn status(problem: &Problem) -> StatusCode {
    match problem {
        Problem::NoSuchTask { .. }
        | Problem::NoSuchRun { .. }
        | Problem::NoSuchWorktree { .. }
        | Problem::NoSuchPath { .. }
        | Problem::NothingPreserved { .. }
        | Problem::NoSuchPull { .. } => StatusCode::NOT_FOUND,
        Problem::TaskIsBusy { .. }
        | Problem::CannotCancel { .. }
        | Problem::CannotRetry { .. }
        | Problem::CannotFollowUp { .. }
        | Problem::WorktreeHeld { .. }
        | Problem::WorktreeDirty { .. }
        | Problem::WorktreeExists { .. }
        | Problem::WorktreeLocked { .. }
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
