//! The sockets, and the daemon's one lock.

use std::fs::File;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use camino::Utf8PathBuf;
use dandori_domain::Problem;
use dandori_engine::{Engine, EngineOptions, Layout};
use dandori_host::{StateRoot, StateRootError, now, replace_file};
use tokio::net::{TcpListener, UnixListener};
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::access;
use crate::connections::{self, Strangers};
use crate::doors;
use crate::routes::{App, router, streams};
use crate::token::Token;
use crate::words;

/// Every answer carries it.
pub const VERSION_HEADER: &str = "x-dandori-version";

/// What this program is. A debug build says what `DANDORI_VERSION` names instead: for tests of one version beside another.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "a switch of the tests, read where it acts")]
pub fn version() -> &'static str {
    static NAMED: std::sync::OnceLock<Option<&'static str>> = std::sync::OnceLock::new();
    let named = || std::env::var("DANDORI_VERSION").ok().map(|text| &*text.leak());
    NAMED.get_or_init(named).unwrap_or(env!("CARGO_PKG_VERSION"))
}

#[cfg(not(debug_assertions))]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("another daemon is running (lock {lock})")]
    AnotherLives { lock: Utf8PathBuf },
    #[error("cannot use {path}")]
    Io {
        path: Utf8PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Root(#[from] StateRootError),
    #[error("the engine did not start: {0:?}")]
    Engine(Problem),
}

/// How it ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Served {
    /// Asked to, and everything under way was brought to a point from which it goes on.
    Stopped,
}

/// Runs the daemon until `stop` is cancelled.
pub async fn serve(
    options: EngineOptions,
    loopback: Option<SocketAddr>,
    stop: CancellationToken,
    ready: impl FnOnce(),
) -> Result<Served, ServeError> {
    let layout = options.layout.clone();
    let root = StateRoot::make(&layout)?;
    // As many as the system lets us: connections and runs are not to wait for each other.
    dandori_host::machine::raise_open_files();
    let _lock = lock(&layout)?;
    let token_path = layout.token();
    let token = Token::load_or_make(&token_path).map_err(|source| ServeError::Io { path: token_path, source })?;
    let listener = bind(&layout, &root)?;
    let tcp = match loopback {
        Some(address) => Some(bind_loopback(address).await?),
        None => None,
    };
    let listen = tcp.as_ref().map(|(_, bound)| *bound);
    let engine = Engine::start(options).await.map_err(ServeError::Engine)?;
    tell_address(&layout, listen)?;
    let app = App { engine: engine.clone(), stop: stop.clone(), started_at: now(), listen, streams: streams() };
    let service = router(app)
        .layer(axum::middleware::from_fn_with_state(token.clone(), access::check))
        .layer(axum::middleware::from_fn(words::translate))
        .layer(axum::middleware::map_response(say_version));
    tokio::spawn(keep_token(layout.token(), token.clone(), stop.clone()));
    info!(socket = %layout.socket(), "ready");
    ready();
    let strangers = Strangers::default();
    let unix = tokio::spawn(connections::serve(listener, service.clone(), strangers.clone(), None, stop.clone()));
    if let Some((tcp, _)) = tcp {
        tokio::spawn(connections::serve(tcp, service.clone(), strangers, None, stop.clone()));
    }
    tokio::spawn(doors::serve(engine.clone(), service));
    stop.cancelled().await;
    info!("stopping");
    engine.stop().await;
    // A client that holds its connection open does not hold us.
    let _ = tokio::time::timeout(std::time::Duration::from_secs(2), unix).await;
    let _ = std::fs::remove_file(layout.socket());
    let _ = std::fs::remove_file(layout.address());
    Ok(Served::Stopped)
}

/// A token file that was lost would lock the user out of a daemon that lives.
async fn keep_token(path: Utf8PathBuf, token: Token, stop: CancellationToken) {
    while !stop.is_cancelled() {
        if !Token::load(&path).is_ok_and(|kept| kept == token) {
            let _ = token.write(&path);
        }
        tokio::select! {
            () = tokio::time::sleep(std::time::Duration::from_secs(2)) => {}
            () = stop.cancelled() => {}
        }
    }
}

/// So that a client of another version says so instead of misunderstanding.
async fn say_version(mut response: axum::response::Response) -> axum::response::Response {
    response.headers_mut().insert(VERSION_HEADER, axum::http::HeaderValue::from_static(version()));
    response
}

/// One daemon per state root. The lock goes with the process, however it ends.
fn lock(layout: &Layout) -> Result<File, ServeError> {
    let path = layout.lock();
    let io = |source| ServeError::Io { path: path.clone(), source };
    let file = File::options().create(true).truncate(false).read(true).write(true).open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(ServeError::AnotherLives { lock: path }),
        Err(std::fs::TryLockError::Error(source)) => Err(ServeError::Io { path, source }),
    }
}

/// Under the lock nobody else can be listening: a socket that is there is a dead one.
fn bind(layout: &Layout, root: &StateRoot) -> Result<UnixListener, ServeError> {
    let io = |source| ServeError::Io { path: layout.socket(), source };
    let path = root.socket()?;
    match std::fs::remove_file(&path) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(io(e)),
    }
    let listener = UnixListener::bind(&path).map_err(io)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(io)?;
    Ok(listener)
}

async fn bind_loopback(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let refused = |source| ServeError::Listen { address, source };
    if !address.ip().is_loopback() {
        return Err(refused(io::Error::other("only loopback addresses are allowed")));
    }
    let listener = TcpListener::bind(address).await.map_err(refused)?;
    let bound = listener.local_addr().map_err(refused)?;
    Ok((listener, bound))
}

/// Where we listen, for whoever looks into the state root. What a killed daemon left there is not true any more.
fn tell_address(layout: &Layout, listen: Option<SocketAddr>) -> Result<(), ServeError> {
    let path = layout.address();
    let told = match listen {
        Some(bound) => {
            info!(%bound, "also on loopback");
            replace_file(&path, format!("http://{bound}").as_bytes(), 0o600)
        }
        None => match std::fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    told.map_err(|source| ServeError::Io { path, source })
}
