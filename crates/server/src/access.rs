//! Who may come in: the token always, a Host that is ours, an Origin that is ours or none.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dandori_domain::Problem;
use dandori_engine::Whose;

use crate::answer::Refusal;
use crate::connections::Seat;
use crate::doors;
use crate::token::Token;

pub(crate) async fn check(State(token): State<Token>, request: Request, next: Next) -> Response {
    if let Some(whose) = request.extensions().get::<Arc<Whose>>() {
        // Such a connection stays a stranger: an agent has few of them, and is in nobody's way but its own.
        return match foreign(request.headers()).map(unauthorized).or_else(|| doors::refused(whose, &request)) {
            None => next.run(request).await,
            Some(refusal) => refusal.into_response(),
        };
    }
    match refused(request.headers(), &token) {
        None => {
            if let Some(seat) = request.extensions().get::<Arc<Seat>>() {
                seat.know();
            }
            next.run(request).await
        }
        Some(refused) => unauthorized(refused).into_response(),
    }
}

fn unauthorized((status, why): (StatusCode, &str)) -> Refusal {
    Refusal::with(status, Problem::Unauthorized { reason: why.to_owned() })
}

fn refused(headers: &HeaderMap, token: &Token) -> Option<(StatusCode, &'static str)> {
    if let Some(foreign) = foreign(headers) {
        return Some(foreign);
    }
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    if !given.is_some_and(|given| token.opens(given)) {
        return Some((StatusCode::UNAUTHORIZED, "the token is missing or wrong"));
    }
    None
}

/// From a name that is not ours.
fn foreign(headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    // A page on another name that resolves to this machine sends that name.
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    if !host.is_some_and(is_ours) {
        return Some((StatusCode::MISDIRECTED_REQUEST, "unknown host name"));
    }
    if let Some(origin) = headers.get(header::ORIGIN) {
        let ours = origin.to_str().ok().and_then(|o| o.strip_prefix("http://")).is_some_and(is_ours);
        if !ours {
            return Some((StatusCode::FORBIDDEN, "requests from other origins are not allowed"));
        }
    }
    None
}

fn is_ours(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "dandori" | "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn answer(pairs: &[(header::HeaderName, &str)]) -> Option<StatusCode> {
        let dir = tempfile::tempdir().unwrap();
        let path = camino::Utf8Path::from_path(dir.path()).unwrap().join("token");
        dandori_host::replace_file(&path, "a".repeat(64).as_bytes(), 0o600).unwrap();
        let token = Token::load(&path).unwrap();
        let headers = pairs.iter().map(|(n, v)| (n.clone(), HeaderValue::from_str(v).unwrap())).collect();
        refused(&headers, &token).map(|(status, _)| status)
    }

    #[test]
    fn the_right_token_on_our_own_name_comes_in_and_nothing_else_does() {
        let good = format!("Bearer {}", "a".repeat(64));
        let host = (header::HOST, "127.0.0.1:4100");
        assert_eq!(answer(&[host.clone(), (header::AUTHORIZATION, &good)]), None);
        assert_eq!(answer(&[(header::HOST, "dandori"), (header::AUTHORIZATION, &good)]), None);
        assert_eq!(answer(std::slice::from_ref(&host)), Some(StatusCode::UNAUTHORIZED));
        let wrong = format!("Bearer {}", "b".repeat(64));
        assert_eq!(answer(&[host.clone(), (header::AUTHORIZATION, &wrong)]), Some(StatusCode::UNAUTHORIZED));
        assert_eq!(
            answer(&[(header::HOST, "evil.example"), (header::AUTHORIZATION, &good)]),
            Some(StatusCode::MISDIRECTED_REQUEST)
        );
        let foreign = (header::ORIGIN, "http://evil.example");
        assert_eq!(answer(&[host.clone(), (header::AUTHORIZATION, &good), foreign]), Some(StatusCode::FORBIDDEN));
        let own = (header::ORIGIN, "http://127.0.0.1:4100");
        assert_eq!(answer(&[host, (header::AUTHORIZATION, &good), own]), None);
    }
}
