//! What a request brings. What cannot be read is refused as every other request is, with a problem and not with the
//! framework's plain text.

use std::time::Duration;

use axum::Json;
use axum::extract::{self, FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use dandori_domain::Problem;
use serde::de::DeserializeOwned;

use crate::answer::Refusal;

/// For all of a request's body.
const BODY_PATIENCE: Duration = Duration::from_mins(1);

/// The body, as JSON.
pub(crate) struct Sent<T>(pub(crate) T);

/// What stands behind the question mark.
pub(crate) struct Query<T>(pub(crate) T);

/// The names in the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Sent<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let Ok(read) = tokio::time::timeout(BODY_PATIENCE, Json::<T>::from_request(request, state)).await else {
            return Err(unread(StatusCode::REQUEST_TIMEOUT, "the request was incomplete".to_owned()));
        };
        read.map(|Json(body)| Self(body)).map_err(|e| unread(e.status(), e.body_text()))
    }
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = extract::Query::<T>::from_request_parts(parts, state).await;
        read.map(|extract::Query(query)| Self(query)).map_err(|e| unread(e.status(), e.body_text()))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = extract::Path::<T>::from_request_parts(parts, state).await;
        read.map(|extract::Path(names)| Self(names)).map_err(|e| unread(e.status(), e.body_text()))
    }
}

fn unread(status: StatusCode, reason: String) -> Refusal {
    Refusal::with(status, Problem::BadRequest { reason })
}
