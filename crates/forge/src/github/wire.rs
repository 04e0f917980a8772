//! Requests and answers: one exchange at a time, with the rules about repeating, limits, redirects and secrets.
//!
//! Two verbs: `read` (GET) is repeated within bounds, conditional and follows redirects; `change` is sent once, ever.
//! No call of GitHub's is known here.

mod exchange;

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use reqwest::header::{ETAG, LOCATION};
use reqwest::{Method, StatusCode, Url};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use tokio::time::Instant;

pub use exchange::Exchange;
use exchange::{Connection, Cut, Reply};

use super::etags::{Etags, Remembered};
use super::pace::{Tempo, limited_until};
use super::{Recorder, refusal};
use crate::{ForgeError, Token};

/// A renamed repository is one hop; more than a few is a circle.
const MAX_HOPS: usize = 4;

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: Arc<[u8]>,
    /// The next page of a list.
    pub(crate) next: Option<Url>,
}

pub(crate) struct Wire {
    connection: Connection,
    tempo: Tempo,
    etags: Mutex<Etags>,
    /// Nothing is sent before this time: asking on against a limit makes it longer.
    limit: Mutex<Option<Timestamp>>,
    /// Held while a change is under way, so that changes are one at a time and apart.
    last_change: tokio::sync::Mutex<Option<Instant>>,
}

impl Wire {
    pub(crate) fn new(base: Url, token: Token, tempo: Tempo, recorder: Option<Recorder>) -> Result<Self, ForgeError> {
        Ok(Self {
            connection: Connection::new(base, token, &tempo, recorder)?,
            tempo,
            etags: Mutex::default(),
            limit: Mutex::default(),
            last_change: tokio::sync::Mutex::default(),
        })
    }

    pub(crate) fn base(&self) -> &Url {
        self.connection.base()
    }

    pub(crate) fn tempo(&self) -> &Tempo {
        &self.tempo
    }

    /// An address below the base; each segment is encoded, so that no name can leave its place.
    pub(crate) fn url(&self, segments: &[&str], query: &[(&str, &str)]) -> Result<Url, ForgeError> {
        let mut url = self.base().clone();
        let bad = || ForgeError::BadAddress { address: self.host(), reason: "it must not have a path".to_owned() };
        url.path_segments_mut().map_err(|()| bad())?.pop_if_empty().extend(segments);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    pub(crate) async fn read(&self, url: Url) -> Result<Answer, ForgeError> {
        let mut attempt = 0;
        loop {
            self.wait_out_limit().await?;
            let error = match self.read_once(&url).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match error {
                _ if attempt >= self.tempo.retries => return Err(error),
                // The limit itself is waited for above, if it is short enough.
                ForgeError::RateLimited { .. } => {}
                ForgeError::Unreachable { .. } | ForgeError::TimedOut { .. } | ForgeError::Server { .. } => {
                    self.tempo.pause_before_retry(attempt).await;
                }
                _ => return Err(error),
            }
            attempt += 1;
        }
    }

    /// Sends a change once. Whatever leaves open whether it happened is `UnknownOutcome`.
    pub(crate) async fn change(&self, method: &Method, url: Url, body: &Value) -> Result<Answer, ForgeError> {
        let mut last = self.last_change.lock().await;
        self.wait_out_limit().await?;
        if let Some(at) = *last {
            tokio::time::sleep_until(at + self.tempo.change_gap).await;
        }
        // Set before as well: a caller that stops waiting in the middle has sent its change all the same.
        *last = Some(Instant::now());
        let reply = self.connection.exchange(method, &url, Some(body), None).await;
        *last = Some(Instant::now());
        drop(last);
        let reply = match reply {
            Ok(reply) => reply,
            Err(cut @ Cut::NotSent(_)) => return Err(self.cut(cut)),
            Err(cut) => return Err(self.unknown_outcome(&self.cut(cut))),
        };
        self.note_limit(&reply);
        if reply.status.is_success() {
            return Ok(Answer { body: reply.body.into(), next: None });
        }
        if reply.status.is_server_error() {
            return Err(self.unknown_outcome(&self.refused(&reply)));
        }
        if let Some(location) = reply.text(LOCATION).filter(|_| reply.status.is_redirection()) {
            return Err(ForgeError::Moved { location: self.connection.scrub(location) });
        }
        Err(self.refused(&reply))
    }

    pub(crate) fn parse<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, ForgeError> {
        // serde's message quotes at most one value of the answer, which is scrubbed like everything else.
        serde_json::from_slice(&answer.body).map_err(|e| self.garbled(&e.to_string()))
    }

    pub(crate) fn unknown_outcome(&self, cause: &ForgeError) -> ForgeError {
        ForgeError::UnknownOutcome { host: self.host(), detail: cause.to_string() }
    }

    async fn read_once(&self, asked: &Url) -> Result<Answer, ForgeError> {
        let remembered = self.etags().recall(asked);
        let mut url = asked.clone();
        for _ in 0..MAX_HOPS {
            let at_home = self.connection.is_home(&url);
            let etag = remembered.as_ref().filter(|_| at_home).map(|r| &r.etag);
            let reply = self.connection.exchange(&Method::GET, &url, None, etag).await.map_err(|e| self.cut(e))?;
            self.note_limit(&reply);
            if let Some(target) = self.redirect(&url, &reply)? {
                url = target;
                continue;
            }
            if reply.status == StatusCode::NOT_MODIFIED {
                let Some(Remembered { body, next, .. }) = remembered else {
                    return Err(self.garbled("304 to an unconditional request"));
                };
                return Ok(Answer { body, next });
            }
            if !reply.status.is_success() {
                return Err(self.refused(&reply));
            }
            let answer = Answer { next: self.next_page(&reply)?, body: reply.body.as_slice().into() };
            if at_home {
                self.remember(asked, &reply, &answer);
            }
            return Ok(answer);
        }
        Err(self.garbled("too many redirects"))
    }

    fn redirect(&self, from: &Url, reply: &Reply) -> Result<Option<Url>, ForgeError> {
        if !matches!(reply.status.as_u16(), 301 | 302 | 307 | 308) {
            return Ok(None);
        }
        let target = reply.text(LOCATION).and_then(|l| from.join(l).ok());
        let target = target.filter(|t| matches!(t.scheme(), "https" | "http"));
        target.map(Some).ok_or_else(|| self.garbled("a redirect without a target"))
    }

    /// The next page must be on the same host: the token goes with the request.
    fn next_page(&self, reply: &Reply) -> Result<Option<Url>, ForgeError> {
        let Some(next) = reply.text(reqwest::header::LINK).and_then(next_link) else { return Ok(None) };
        match self.base().join(next) {
            Ok(url) if self.connection.is_home(&url) => Ok(Some(url)),
            _ => Err(self.garbled("a next page on another host")),
        }
    }

    /// Only what can be read is worth a 304 later on.
    fn remember(&self, url: &Url, reply: &Reply, answer: &Answer) {
        if let Some(etag) = reply.headers.get(ETAG)
            && serde_json::from_slice::<IgnoredAny>(&answer.body).is_ok()
        {
            let entry = Remembered { etag: etag.clone(), body: Arc::clone(&answer.body), next: answer.next.clone() };
            self.etags().remember(url, entry);
        }
    }

    async fn wait_out_limit(&self) -> Result<(), ForgeError> {
        let limit = *self.limit.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(until) = limit else { return Ok(()) };
        let Some(wait) = self.tempo.wait_for(until) else { return Err(ForgeError::RateLimited { until }) };
        tokio::time::sleep(wait).await;
        Ok(())
    }

    fn note_limit(&self, reply: &Reply) {
        if let Some(until) = self.limit_of(reply) {
            let mut limit = self.limit.lock().unwrap_or_else(PoisonError::into_inner);
            *limit = (*limit).max(Some(until));
        }
    }

    fn limit_of(&self, reply: &Reply) -> Option<Timestamp> {
        let message = refusal::sentence(&reply.body);
        limited_until(reply.status, &reply.headers, &message, (self.tempo.now)())
    }

    fn refused(&self, reply: &Reply) -> ForgeError {
        let status = reply.status;
        let said = self.connection.scrub(&refusal::sentence(&reply.body));
        let detail = if said.is_empty() { status.to_string() } else { said.clone() };
        match status.as_u16() {
            403 | 429 if let Some(until) = self.limit_of(reply) => ForgeError::RateLimited { until },
            401 => ForgeError::Unauthorised { host: self.host(), detail },
            403 | 451 => ForgeError::Forbidden { detail },
            404 | 410 => ForgeError::NoSuchRepository { repository: self.host() },
            400..=499 => ForgeError::Invalid { detail },
            500..=599 => ForgeError::Server { host: self.host(), status: status.as_u16(), detail: said },
            _ => self.garbled(&format!("the status {status}")),
        }
    }

    fn cut(&self, cut: Cut) -> ForgeError {
        match cut {
            Cut::TimedOut => ForgeError::TimedOut { host: self.host(), seconds: self.tempo.timeout.as_secs() },
            Cut::NotSent(detail) | Cut::Broken(detail) => ForgeError::Unreachable { host: self.host(), detail },
        }
    }

    fn garbled(&self, detail: &str) -> ForgeError {
        ForgeError::Garbled { host: self.host(), detail: self.connection.scrub(detail) }
    }

    fn host(&self) -> String {
        self.connection.host()
    }

    fn etags(&self) -> std::sync::MutexGuard<'_, Etags> {
        self.etags.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The `rel="next"` target of a `Link` header.
fn next_link(header: &str) -> Option<&str> {
    header.split(',').find_map(|link| {
        let (target, parameters) = link.trim().strip_prefix('<')?.split_once('>')?;
        parameters.split(';').any(|p| matches!(p.trim(), "rel=\"next\"" | "rel=next")).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_the_links() {
        let header =
            r#"<https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel="next", <https://h/a?page=9>; rel="last""#;
        assert_eq!(next_link(header), Some("https://h/a?page=3"));
        assert_eq!(next_link(r#"<https://h/a?page=1>; rel="prev""#), None);
        assert_eq!(next_link("nonsense, <x"), None);
    }

    #[test]
    fn names_cannot_leave_their_segment_and_the_base_path_stays() {
        let base = Url::parse("https://ghe.corp/api/v3/").unwrap();
        let wire = Wire::new(base, Token::new("t").unwrap(), Tempo::default(), None).unwrap();
        let url = wire.url(&["repos", "o", "../../x?y#z"], &[("head", "o:a/b&c")]).unwrap();
        assert_eq!(url.as_str(), "https://ghe.corp/api/v3/repos/o/..%2F..%2Fx%3Fy%23z?head=o%3Aa%2Fb%26c");
    }
}
