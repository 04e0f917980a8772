//! Talking to the daemon: over its socket, with its token, starting it when nobody answers.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_api::ErrorBody;
use dandori_domain::Problem;
use dandori_domain::cause::root_cause;
use dandori_host::socket_folder::SocketFolder;
use dandori_host::state_root::is_trusted_peer;
use dandori_host::{StateRoot, StateRootError};
use dandori_server::VERSION_HEADER;
use dandori_server::token::Token;
use dandori_text::Lang;
use reqwest::header::{ACCEPT_LANGUAGE, AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::Context;
use crate::daemon;
use crate::takeover::{self, Verdict};

/// Longer than any verb takes that does not stream: `worktree add` on a slow disk is the slowest.
const PATIENCE: Duration = Duration::from_mins(10);
/// For a daemon that is about to be replaced.
const LOOK: Duration = Duration::from_secs(5);

pub(crate) struct Client {
    http: reqwest::Client,
    /// None at a door: whoever comes by it is known.
    token: Option<Token>,
    /// The socket, as people name it.
    socket: Utf8PathBuf,
    /// What its answers for people are to be written in.
    lang: Lang,
    /// What the daemon said it is when it was found.
    daemon: Option<String>,
    /// Who listens.
    pid: Option<u32>,
    /// Held, because the socket is reached through it.
    _root: Option<StateRoot>,
    _door: Option<SocketFolder>,
}

/// The socket by which an agent of a formation reaches dandori: it cannot start a daemon, and has no token.
const DOOR: &str = "DANDORI_DOOR";
/// For a daemon that is just being started again.
const DOOR_PATIENCE: Duration = Duration::from_secs(15);

impl Client {
    /// A daemon of our own version that answers, started if need be. An older one is taken over, a newer one is refused before
    /// it is given an order: it might carry out what it tells us in words we do not understand.
    pub(crate) async fn connect(context: &Context) -> Result<Self, Problem> {
        Self::connect_listening(context, None).await
    }

    /// The same; one that has to be started also listens on this address.
    pub(crate) async fn connect_listening(context: &Context, listen: Option<SocketAddr>) -> Result<Self, Problem> {
        if let Some(door) = context.env.path(DOOR) {
            return Self::connect_by_door(context, &door).await;
        }
        let mut until = Instant::now() + Duration::from_secs(10);
        let mut taken_over = false;
        loop {
            if let Some(client) = Self::reach(context).await? {
                let is_gone = client.pid.is_some_and(takeover::program_is_gone);
                match takeover::verdict(own_version(), client.version(), is_gone) {
                    Verdict::Ours => return Ok(client),
                    // Once: whoever keeps taking it over again is not to be fought with.
                    Verdict::TakeOver if !taken_over => {
                        takeover::take_over(context, &client).await?;
                        taken_over = true;
                        until = Instant::now() + Duration::from_secs(10);
                        continue;
                    }
                    Verdict::TakeOver | Verdict::Refuse => return Err(client.other_version()),
                }
            }
            if Instant::now() > until {
                let socket = context.layout.socket();
                return Err(Problem::DaemonUnreachable {
                    socket,
                    reason: "it was started but does not respond".into(),
                });
            }
            // One that is just going away still holds the lock: then this starts none, and we come back.
            daemon::start(context, listen).await?;
            if Self::reach(context).await?.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }

    /// The daemon that is there, of whatever version, or `None`.
    pub(crate) async fn reach(context: &Context) -> Result<Option<Self>, Problem> {
        if let Some(door) = context.env.path(DOOR) {
            return Self::by_door(context, &door).await;
        }
        let layout = &context.layout;
        let Some(root) = StateRoot::open(layout).map_err(root_problem)? else { return Ok(None) };
        let socket = root.socket().map_err(root_problem)?;
        let Ok(stream) = tokio::net::UnixStream::connect(&socket).await else { return Ok(None) };
        // Before the token and the environment: whoever listens may have been quicker than the daemon.
        let peer = stream.peer_cred().ok().filter(|peer| is_trusted_peer(peer.uid()));
        let Some(peer) = peer else { return Err(Problem::ForeignDaemon { socket: layout.socket() }) };
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok());
        drop(stream);
        let Ok(token) = Token::load(&layout.token()) else { return Ok(None) };
        let client = Self {
            http: over(&socket)?,
            token: Some(token),
            socket: layout.socket(),
            lang: context.out.lang,
            daemon: None,
            pid,
            _root: Some(root),
            _door: None,
        };
        client.greeted().await
    }

    /// The daemon behind an agent's door, which may just be being started again.
    async fn connect_by_door(context: &Context, door: &Utf8Path) -> Result<Self, Problem> {
        let until = Instant::now() + DOOR_PATIENCE;
        loop {
            if let Some(client) = Self::by_door(context, door).await? {
                require_our_version(client.version())?;
                return Ok(client);
            }
            if Instant::now() > until {
                let reason = "nobody answers at this socket".to_owned();
                return Err(Problem::DaemonUnreachable { socket: door.to_owned(), reason });
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn by_door(context: &Context, door: &Utf8Path) -> Result<Option<Self>, Problem> {
        let Ok(folder) = SocketFolder::open(door) else { return Ok(None) };
        let too_long = |_| Problem::SocketPathTooLong { path: door.to_owned() };
        let client = Self {
            http: over(&folder.socket().map_err(too_long)?)?,
            token: None,
            socket: door.to_owned(),
            lang: context.out.lang,
            daemon: None,
            pid: None,
            _root: None,
            _door: Some(folder),
        };
        client.greeted().await
    }

    /// Once it has answered; `None` when nobody does.
    async fn greeted(self) -> Result<Option<Self>, Problem> {
        // A killed daemon's socket takes connections for a moment longer than it lives.
        match self.request(Method::GET, "/v1/ping").timeout(PATIENCE).send().await {
            Ok(response) => Ok(Some(Self { daemon: spoken_version(&response), ..self })),
            Err(e) if e.is_connect() || e.is_request() => Ok(None),
            Err(_) => Ok(Some(self)),
        }
    }

    /// What the daemon says it is.
    pub(crate) fn version(&self) -> Option<&str> {
        self.daemon.as_deref()
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn other_version(&self) -> Problem {
        let daemon = self.daemon.clone().unwrap_or_else(|| "?".to_owned());
        Problem::DaemonVersion { daemon, cli: own_version().to_owned() }
    }

    /// What a daemon of whatever version answers, as far as it can be read.
    pub(crate) async fn look(&self, path: &str) -> Option<serde_json::Value> {
        let response = self.request(Method::GET, path).timeout(LOOK).send().await.ok()?;
        serde_json::from_slice(&response.bytes().await.ok()?).ok()
    }

    /// Whether it has heard is seen by its going away. Only this one: another may have its place by now.
    pub(crate) async fn ask_to_stop(&self) {
        let body = serde_json::json!({ "pid": self.pid }).to_string();
        let request = self.request(Method::POST, "/v1/daemon/stop").header(CONTENT_TYPE, "application/json");
        let _ = request.body(body).timeout(LOOK).send().await;
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Problem> {
        self.json(self.request(Method::GET, path).timeout(PATIENCE)).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Problem> {
        let text = serde_json::to_vec(body).map_err(|e| Problem::Internal { reason: e.to_string() })?;
        let request = self.request(Method::POST, path).header(CONTENT_TYPE, "application/json").body(text);
        self.json(request.timeout(PATIENCE)).await
    }

    pub(crate) async fn bytes(&self, path: &str) -> Result<Vec<u8>, Problem> {
        let response = self.checked(self.request(Method::GET, path).timeout(PATIENCE)).await?;
        response.bytes().await.map(|b| b.to_vec()).map_err(|e| self.lost(&e))
    }

    /// An answer of any length, handed on as it comes.
    pub(crate) async fn pour(&self, path: &str, mut into: impl FnMut(&[u8])) -> Result<(), Problem> {
        let mut response = self.checked(self.request(Method::GET, path)).await?;
        while let Some(bytes) = response.chunk().await.map_err(|e| self.lost(&e))? {
            into(&bytes);
        }
        Ok(())
    }

    /// Lines of JSON, one at a time.
    pub(crate) async fn lines(&self, path: &str) -> Result<Lines<'_>, Problem> {
        let response = self.checked(self.request(Method::GET, path)).await?;
        Ok(Lines { client: self, response, pending: Vec::new() })
    }

    /// Server-sent events, until the stream ends.
    pub(crate) async fn stream(&self, path: &str) -> Result<Events, Problem> {
        let response = self.checked(self.request(Method::GET, path)).await?;
        Ok(Events { response, pending: Vec::new() })
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        let language = match self.lang {
            Lang::En => "en",
            Lang::Ja => "ja",
        };
        let request = self.http.request(method, format!("http://dandori{path}"));
        let request = request.header(ACCEPT_LANGUAGE, language);
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.bearer()),
            None => request,
        }
    }

    async fn json<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder) -> Result<T, Problem> {
        let response = self.checked(request).await?;
        let bytes = response.bytes().await.map_err(|e| self.lost(&e))?;
        understood(&bytes)
    }

    async fn checked(&self, request: reqwest::RequestBuilder) -> Result<Response, Problem> {
        let response = request.send().await.map_err(|e| self.lost(&e))?;
        require_our_version(spoken_version(&response).as_deref())?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let bytes = response.bytes().await.unwrap_or_default();
        let error = serde_json::from_slice::<ErrorBody>(&bytes).ok().map(|body| body.error);
        let problem = error.and_then(|error| serde_json::from_value::<Problem>(error.detail?).ok());
        Err(problem.unwrap_or_else(|| {
            let text = String::from_utf8_lossy(&bytes).trim().to_owned();
            Problem::BadRequest { reason: format!("{status}: {text}") }
        }))
    }

    fn lost(&self, error: &reqwest::Error) -> Problem {
        Problem::DaemonUnreachable { socket: self.socket.clone(), reason: root_cause(error) }
    }
}

fn over(socket: &Utf8Path) -> Result<reqwest::Client, Problem> {
    // The client is built for TLS all the same, and wants to know whose.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .unix_socket(socket.as_std_path())
        .no_proxy()
        // Nobody is met over TLS here: reading every certificate of the machine takes longer than most answers.
        .tls_certs_only([])
        // Shorter than the daemon keeps one that says nothing: none is used while it is being closed.
        .pool_idle_timeout(Duration::from_secs(2))
        .build()
        .map_err(|e| Problem::Internal { reason: e.to_string() })
}

/// What is wrong with the state root, as a request's problem.
pub(crate) fn root_problem(error: StateRootError) -> Problem {
    match error {
        StateRootError::Foreign { path } => Problem::ForeignStateRoot { path },
        StateRootError::TooLong { path } => Problem::SocketPathTooLong { path },
        StateRootError::Io { path, source } => Problem::Io { path, reason: source.to_string() },
    }
}

/// What this program is.
pub(crate) fn own_version() -> &'static str {
    dandori_server::version()
}

fn spoken_version(response: &Response) -> Option<String> {
    Some(response.headers().get(VERSION_HEADER)?.to_str().ok()?.to_owned())
}

fn require_our_version(spoken: Option<&str>) -> Result<(), Problem> {
    let own = own_version();
    match spoken.filter(|daemon| *daemon != own) {
        None => Ok(()),
        Some(daemon) => Err(Problem::DaemonVersion { daemon: daemon.to_owned(), cli: own.to_owned() }),
    }
}

fn understood<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(bytes)
        .map_err(|e| Problem::DaemonVersion { daemon: format!("? ({e})"), cli: env!("CARGO_PKG_VERSION").to_owned() })
}

/// An answer in lines of JSON.
pub(crate) struct Lines<'c> {
    client: &'c Client,
    response: Response,
    pending: Vec<u8>,
}

impl Lines<'_> {
    /// The next line; `None` at the end.
    pub(crate) async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Problem> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.pending.drain(..=end).collect();
                return understood(&line).map(Some);
            }
            match self.response.chunk().await.map_err(|e| self.client.lost(&e))? {
                Some(bytes) => self.pending.extend_from_slice(&bytes),
                None => return Ok(None),
            }
        }
    }
}

/// A stream of server-sent events, one `data` at a time.
pub(crate) struct Events {
    response: Response,
    pending: Vec<u8>,
}

impl Events {
    /// The next event's data; `None` at the end, whichever way it came.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(data) = self.take() {
                return Some(data);
            }
            match self.response.chunk().await {
                Ok(Some(bytes)) => self.pending.extend_from_slice(&bytes),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// One whole event out of what has come. Comments (keep-alives) have no data and are passed over.
    fn take(&mut self) -> Option<String> {
        loop {
            let end = self.pending.windows(2).position(|w| w == b"\n\n")?;
            let event: Vec<u8> = self.pending.drain(..end + 2).collect();
            let text = String::from_utf8_lossy(&event);
            let data: Vec<&str> = text
                .lines()
                .filter_map(|l| l.strip_prefix("data:"))
                .map(|d| d.strip_prefix(' ').unwrap_or(d))
                .collect();
            if !data.is_empty() {
                return Some(data.join("\n"));
            }
        }
    }
}

/// An agent of a formation has a door of its own.
pub(crate) fn is_at_door(context: &Context) -> bool {
    context.env.path(DOOR).is_some()
}

/// A path segment or query value, made safe for an address.
pub(crate) fn quoted(text: &str) -> String {
    use std::fmt::Write;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

pub(crate) fn in_path(path: &Utf8Path) -> String {
    quoted(path.as_str())
}
