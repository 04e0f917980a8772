//! What did not work, as data and in words. A reader of the API says which language by `Accept-Language`; English without.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Request};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use dandori_api::ErrorView;
use dandori_domain::plain::plain;
use dandori_domain::pull::Pull;
use dandori_domain::run::{Run, Status};
use dandori_domain::{Failure, Problem};
use dandori_text::{Lang, Said, ui};
use serde_json::Value;

use crate::answer::Refusal;

/// The language a request asks for.
#[derive(Clone, Copy)]
pub(crate) struct Speaks(pub(crate) Lang);

impl<S: Send + Sync> FromRequestParts<S> for Speaks {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(language(&parts.headers)))
    }
}

/// The first one named counts: nobody who reads neither is helped by the second.
fn language(headers: &HeaderMap) -> Lang {
    let named = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Lang::choose(named, None, |_| None)
}

/// A refusal is made where nobody knows whom it goes to: its words are put in on the way out.
pub(crate) async fn translate(request: Request, next: Next) -> Response {
    let lang = language(request.headers());
    let response = next.run(request).await;
    match (lang, response.extensions().get::<Refusal>()) {
        (Lang::En, _) | (_, None) => response,
        (lang, Some(refusal)) => refusal.clone().in_words(lang).into_response(),
    }
}

/// A problem, whole.
pub fn problem(lang: Lang, problem: &Problem) -> ErrorView {
    let said = dandori_text::problem(lang, problem);
    ErrorView {
        code: problem.code(),
        message: one_line(&said),
        hint: Some(plain(&said.hint)),
        detail: serde_json::to_value(problem).ok(),
    }
}

/// What happened and why, in one line.
pub fn one_line(said: &Said) -> String {
    plain(&match &said.why {
        Some(why) => format!("{}: {}", said.what, why.replace('\n', " ")),
        None => said.what.clone(),
    })
}

/// Why a run failed. That its agent was killed is what a cancel asks for.
pub(crate) fn of_run(lang: Lang, run: &Run) -> Option<ErrorView> {
    let failure = run.failure().filter(|_| run.status() != Status::Canceled)?;
    Some(of_failure(lang, failure, run.spec.id.key().as_str()))
}

fn of_failure(lang: Lang, failure: &Failure, key: &str) -> ErrorView {
    let message = dandori_text::failure(lang, failure, key);
    let detail = serde_json::to_value(failure).ok();
    let code = detail.as_ref().and_then(|detail| detail.get("kind")).and_then(Value::as_str);
    ErrorView {
        code: code.unwrap_or("failed").to_owned(),
        // Some failures name their own remedy.
        hint: (!message.contains("`dandori ")).then(|| ui::after_failure(lang, key)),
        message,
        detail,
    }
}

/// Why a pull request could not be opened.
pub(crate) fn of_pull(lang: Lang, pull: &Pull) -> Option<ErrorView> {
    pull.problem().map(|of| problem(lang, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_its_code_its_words_and_what_it_is_about() {
        let gone = Problem::NoSuchTask { text: "T-9".to_owned() };
        let (english, japanese) = (problem(Lang::En, &gone), problem(Lang::Ja, &gone));
        assert_eq!((english.code.as_str(), japanese.code.as_str()), ("no_such_task", "no_such_task"));
        assert!(english.message.is_ascii() && !japanese.message.is_ascii(), "{english:?} {japanese:?}");
        assert!(english.hint.is_some());
        assert_eq!(english.detail.unwrap()["text"], "T-9");
    }
}
