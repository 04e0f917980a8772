//! One request and its answer. The token is put on here, for one origin only, and taken out of everything that leaves.

use std::sync::Once;
use std::time::Duration;

use dandori_domain::cause::root_cause;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, IF_NONE_MATCH};
use reqwest::{Client, Method, StatusCode, Url, redirect};
use serde_json::Value;

use crate::github::{Recorder, Tempo};
use crate::{ForgeError, Token};

const API_VERSION: &str = "2022-11-28";
const USER_AGENT: &str = concat!("dandori/", env!("CARGO_PKG_VERSION"));

/// A hundred pull requests are about 3 MiB; more than this is not an answer.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// Below the time after which servers drop an idle connection: a change sent into a dying one has an unknown outcome.
const IDLE: Duration = Duration::from_secs(20);

/// What went over the wire, without headers. `path` is below the API's base.
#[derive(Clone, PartialEq, Debug)]
pub struct Exchange {
    pub method: String,
    pub path: String,
    pub query: Vec<(String, String)>,
    pub request: Option<Value>,
    pub status: u16,
    pub response: String,
}

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn text(&self, header: HeaderName) -> Option<&str> {
        self.headers.get(header).and_then(|v| v.to_str().ok())
    }
}

/// An exchange that did not end in an answer.
pub(crate) enum Cut {
    /// No connection: the other side has seen nothing.
    NotSent(String),
    TimedOut,
    Broken(String),
}

pub(crate) struct Connection {
    http: Client,
    base: Url,
    token: Token,
    bearer: HeaderValue,
    recorder: Option<Recorder>,
}

impl Connection {
    pub(crate) fn new(base: Url, token: Token, tempo: &Tempo, recorder: Option<Recorder>) -> Result<Self, ForgeError> {
        let on_loopback = is_loopback(&base);
        check(&base, on_loopback)?;
        let setup = |detail: String| ForgeError::Setup { detail };
        let mut bearer = HeaderValue::try_from(format!("Bearer {}", token.secret()))
            .map_err(|_| setup("the token contains characters that are not allowed in a header".to_owned()))?;
        bearer.set_sensitive(true);
        install_crypto();
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .timeout(tempo.timeout)
            .connect_timeout(tempo.connect_timeout)
            .pool_idle_timeout(IDLE)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never());
        if on_loopback {
            builder = builder.no_proxy();
        }
        if base.scheme() == "http" {
            // No certificate will be looked at, so a machine without any can still talk to its own loopback.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|e| setup(root_cause(&e)))?;
        Ok(Self { http, base, token, bearer, recorder })
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    pub(crate) fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The one place the token may go to.
    pub(crate) fn is_home(&self, url: &Url) -> bool {
        url.origin() == self.base.origin()
    }

    pub(crate) fn scrub(&self, text: &str) -> String {
        self.token.scrub(text)
    }

    pub(crate) async fn exchange(
        &self,
        method: &Method,
        url: &Url,
        body: Option<&Value>,
        etag: Option<&HeaderValue>,
    ) -> Result<Reply, Cut> {
        let mut request = self
            .http
            .request(method.clone(), url.clone())
            .header(ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", API_VERSION);
        if self.is_home(url) {
            request = request.header(AUTHORIZATION, self.bearer.clone());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(etag) = etag {
            request = request.header(IF_NONE_MATCH, etag.clone());
        }
        let reply = self.receive(request).await?;
        self.record(method, url, body, &reply);
        Ok(reply)
    }

    async fn receive(&self, request: reqwest::RequestBuilder) -> Result<Reply, Cut> {
        let mut response = request.send().await.map_err(|e| self.cut(&e))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|e| self.cut(&e))? {
            if body.len() + chunk.len() > MAX_BODY {
                return Err(Cut::Broken("the answer is too long".to_owned()));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Reply { status, headers, body })
    }

    fn cut(&self, error: &reqwest::Error) -> Cut {
        let detail = self.scrub(&root_cause(error));
        // A connection that could not be made in time is both; what matters is that nothing was sent.
        if error.is_connect() || error.is_builder() {
            Cut::NotSent(detail)
        } else if error.is_timeout() {
            Cut::TimedOut
        } else {
            Cut::Broken(detail)
        }
    }

    fn record(&self, method: &Method, url: &Url, body: Option<&Value>, reply: &Reply) {
        let Some(recorder) = &self.recorder else { return };
        let below = self.base.path().trim_end_matches('/');
        let path = url.path().strip_prefix(below).unwrap_or(url.path());
        let request = body.map(|b| serde_json::from_str(&self.scrub(&b.to_string())).unwrap_or(Value::Null));
        recorder(&Exchange {
            method: method.to_string(),
            path: self.scrub(path),
            query: url.query_pairs().map(|(k, v)| (k.into_owned(), self.scrub(&v))).collect(),
            request,
            status: reply.status.as_u16(),
            response: self.scrub(&String::from_utf8_lossy(&reply.body)),
        });
    }
}

/// rustls wants one provider for the whole process, and somebody else may have chosen it already.
fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
}

fn check(base: &Url, on_loopback: bool) -> Result<(), ForgeError> {
    let reason = match base.scheme() {
        "http" if !on_loopback => "a token is only sent over https",
        "http" | "https" if base.username().is_empty() && base.password().is_none() => return Ok(()),
        "http" | "https" => "it contains a user name or password",
        _ => "it is neither https nor http",
    };
    let address = format!("{}://{}", base.scheme(), base.host_str().unwrap_or_default());
    Err(ForgeError::BadAddress { address, reason: reason.to_owned() })
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    address.is_ok_and(|a| a.is_loopback()) || host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connect(base: &str) -> Result<Connection, ForgeError> {
        let token = Token::new("secret").unwrap();
        Connection::new(Url::parse(base).unwrap(), token, &Tempo::default(), None)
    }

    #[test]
    fn a_token_goes_over_tls_or_loopback_only() {
        for good in ["https://api.github.com", "http://127.0.0.1:8", "http://localhost:8", "http://[::1]:8/api/v3"] {
            assert!(connect(good).is_ok(), "{good}");
        }
        for bad in ["http://ghe.corp/api/v3", "https://me:pw@ghe.corp", "ftp://ghe.corp", "unix:/x"] {
            let error = connect(bad).err().unwrap();
            assert!(matches!(error, ForgeError::BadAddress { .. }) && !format!("{error:?}").contains("pw"), "{error}");
        }
    }

    #[test]
    fn home_is_scheme_host_and_port() {
        let home = connect("http://127.0.0.1:8/api/v3").unwrap();
        let is_home = |url| home.is_home(&Url::parse(url).unwrap());
        assert!(is_home("http://127.0.0.1:8/elsewhere"));
        assert!(
            !is_home("http://127.0.0.1:9/api/v3")
                && !is_home("https://127.0.0.1:8/")
                && !is_home("http://localhost:8/")
        );
    }
}
