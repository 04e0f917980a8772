//! A daemon of another version: told apart before it is given an order, and stopped by one that is newer or older.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use dandori_testkit::env::TestEnv;

use crate::machine;

/// What was asked of the stand-in: `GET /v1/ping`.
type Asked = Arc<Mutex<Vec<String>>>;

/// A machine on whose socket something of version 0.0.0 answers everything with an empty object.
fn machine_with_another_daemon() -> (TestEnv, Asked) {
    let env = machine();
    // A life of the real one leaves the token behind.
    let _ = env.dandori(["daemon", "start"]).ok();
    let _ = env.dandori(["daemon", "stop"]).ok();
    let listener = UnixListener::bind(env.state().join("dandori.sock")).unwrap();
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            if let Some(request) = answer(&stream) {
                noted.lock().unwrap().push(request);
            }
        }
    });
    (env, asked)
}

/// One request, answered; `None` for a connection that asks nothing.
fn answer(mut stream: &UnixStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let head: Vec<String> = reader.by_ref().lines().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
    let length = |line: &String| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
    let mut body = vec![0; head.iter().find_map(length).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let said = "HTTP/1.1 200 OK\r\nx-dandori-version: 0.0.0\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(said.as_bytes()).ok()?;
    Some(head.first()?.trim_end_matches(" HTTP/1.1").to_owned())
}

#[test]
fn a_daemon_of_another_version_is_refused_before_it_is_given_an_order() {
    let (env, asked) = machine_with_another_daemon();
    let own = env!("CARGO_PKG_VERSION");
    let said = env.dandori(["run", "x", "--agent", "exec:true"]).fails(1);
    assert!(said.contains(&format!("the daemon is dandori 0.0.0, this is {own}")), "{said}");
    assert!(said.contains("dandori daemon stop"), "{said}");
    let said = env.dandori(["task", "cancel", "1", "--lang", "ja"]).fails(1);
    assert!(said.contains("デーモンは dandori 0.0.0"), "{said}");
    let told = env.dandori(["daemon", "status", "--json"]);
    assert_eq!((told.code, &told.json()["error"]["code"]), (1, &"daemon_version".into()), "{told:?}");
    let orders: Vec<String> = asked.lock().unwrap().iter().filter(|a| !a.starts_with("GET ")).cloned().collect();
    assert_eq!(orders, Vec::<String>::new());
}

#[test]
fn a_daemon_of_another_version_is_stopped_all_the_same() {
    let (env, asked) = machine_with_another_daemon();
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert!(asked.lock().unwrap().contains(&"POST /v1/daemon/stop".to_owned()), "{asked:?}");
}
