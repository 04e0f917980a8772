//! A folder as a registry of packages, served on loopback for as long as it is kept.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::{Utf8Path, Utf8PathBuf};

pub(crate) struct Shelf {
    folder: Utf8PathBuf,
    port: u16,
    is_closed: Arc<AtomicBool>,
    server: Option<std::thread::JoinHandle<()>>,
}

impl Shelf {
    pub(crate) fn open(folder: &Utf8Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_closed = Arc::new(AtomicBool::new(false));
        let (asked, served) = (Arc::clone(&is_closed), folder.to_owned());
        let server = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if asked.load(Ordering::SeqCst) {
                    return;
                }
                // A client that goes away is nobody's fault.
                let _ = stream.and_then(|stream| answer(stream, &served));
            }
        });
        Self { folder: folder.to_owned(), port, is_closed, server: Some(server) }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

impl Drop for Shelf {
    /// From here on nobody is served: the listener is gone.
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

/// One request, one answer, and the connection is over.
fn answer(mut stream: TcpStream, folder: &Utf8Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let name = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let (status, body) = match std::fs::read(folder.join(&name)) {
        Ok(body) if !name.contains("..") => ("200 OK", body),
        _ => ("404 Not Found", Vec::new()),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes())?;
    stream.write_all(&body)
}
