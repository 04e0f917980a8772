//! Who is connected, and for how long: nobody is kept out by connections that say nothing.
//!
//! A connection is a stranger until a request on it has shown the token. Strangers are few: one more than
//! [`MOST_STRANGERS`] sends the oldest away, so that a program that opens a thousand of them is in nobody's way but its
//! own. Whoever does not get a request's head out in time is closed, between requests as well, and so is one that does
//! not take what it asked for: a reader of events comes back with `Last-Event-ID` and misses nothing.

use std::collections::VecDeque;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::serve::Listener;
use dandori_engine::Whose;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

/// Far more than come in the moment it takes to show a token.
const MOST_STRANGERS: usize = 64;
/// For the head of a request; the idle time between two counts.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// For whoever takes nothing of what he is sent.
const WRITE_PATIENCE: Duration = Duration::from_secs(30);
/// What is written ahead of a slow reader. Also the longest head of a request.
const BUFFER_BYTES: usize = 64 * 1024;

/// Those who have not shown the token yet.
#[derive(Clone, Default)]
pub(crate) struct Strangers(Arc<Mutex<VecDeque<Arc<Seat>>>>);

/// One connection's.
pub(crate) struct Seat {
    is_known: AtomicBool,
    /// Cancelled when the connection is to end, or has.
    end: CancellationToken,
}

impl Seat {
    /// The token was shown: no longer a stranger.
    pub(crate) fn know(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }
}

impl Strangers {
    fn come_in(&self) -> Arc<Seat> {
        let seat = Arc::new(Seat { is_known: AtomicBool::new(false), end: CancellationToken::new() });
        let mut strangers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        strangers.retain(|seat| !seat.is_known.load(Ordering::Relaxed) && !seat.end.is_cancelled());
        while strangers.len() >= MOST_STRANGERS {
            if let Some(oldest) = strangers.pop_front() {
                oldest.end.cancel();
            }
        }
        strangers.push_back(Arc::clone(&seat));
        seat
    }
}

/// Serves whoever comes until `stop`, and then until those who are being served are. `whose` is on every request of a listener
/// that is somebody's own.
pub(crate) async fn serve<L>(
    mut listener: L,
    service: Router,
    strangers: Strangers,
    whose: Option<Arc<Whose>>,
    stop: CancellationToken,
) where
    L: Listener,
    L::Io: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let tracker = TaskTracker::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        tracker.spawn(converse(
            Patient::new(stream),
            service.clone(),
            strangers.come_in(),
            whose.clone(),
            stop.clone(),
        ));
    }
    drop(listener);
    tracker.close();
    tracker.wait().await;
}

async fn converse<S>(
    stream: Patient<S>,
    service: Router,
    seat: Arc<Seat>,
    whose: Option<Arc<Whose>>,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let of_request = Arc::clone(&seat);
    let service = service.map_request(move |request: axum::http::Request<Incoming>| {
        let mut request: Request = request.map(Body::new);
        request.extensions_mut().insert(Arc::clone(&of_request));
        if let Some(whose) = &whose {
            request.extensions_mut().insert(Arc::clone(whose));
        }
        request
    });
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE).max_buf_size(BUFFER_BYTES);
    let connection = protocol.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
    let mut connection = pin!(connection);
    let mut is_stopping = false;
    loop {
        tokio::select! {
            // However it ended: whoever was there is gone.
            _ = connection.as_mut() => break,
            () = seat.end.cancelled() => break,
            () = stop.cancelled(), if !is_stopping => {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
    seat.end.cancel();
}

/// A stream whose other side has to take what it is sent, in time.
struct Patient<S> {
    stream: S,
    /// Running while nothing can be written.
    patience: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn new(stream: S) -> Self {
        Self { stream, patience: None }
    }

    fn judge<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.patience = None;
            return outcome;
        }
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_PATIENCE)));
        match patience.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let me = self.get_mut();
        let outcome = Pin::new(&mut me.stream).poll_write(cx, buf);
        me.judge(cx, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let me = self.get_mut();
        let outcome = Pin::new(&mut me.stream).poll_write_vectored(cx, bufs);
        me.judge(cx, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let me = self.get_mut();
        let outcome = Pin::new(&mut me.stream).poll_flush(cx);
        me.judge(cx, outcome)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[test]
    fn the_oldest_stranger_makes_room_and_whoever_is_known_stays() {
        let strangers = Strangers::default();
        let known = strangers.come_in();
        known.know();
        let first = strangers.come_in();
        let second = strangers.come_in();
        let rest: Vec<_> = (0..MOST_STRANGERS - 1).map(|_| strangers.come_in()).collect();
        assert!(first.end.is_cancelled(), "one too many");
        assert!(!second.end.is_cancelled() && !known.end.is_cancelled());
        assert!(rest.iter().all(|seat| !seat.end.is_cancelled()));
        // Those who left are not counted.
        for seat in &rest {
            seat.end.cancel();
        }
        strangers.come_in();
        assert!(!second.end.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_takes_nothing_is_given_up_and_whoever_is_slow_is_not() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut patient = Patient::new(near);
        patient.write_all(b"12345678").await.unwrap();
        let slow = tokio::spawn(async move {
            tokio::time::sleep(WRITE_PATIENCE / 2).await;
            let mut taken = [0u8; 8];
            tokio::io::AsyncReadExt::read_exact(&mut far, &mut taken).await.unwrap();
            far
        });
        patient.write_all(b"abcdefgh").await.unwrap();
        let _far = slow.await.unwrap();
        assert_eq!(patient.write_all(b"more").await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
