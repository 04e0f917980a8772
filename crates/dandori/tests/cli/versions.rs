//! A daemon of another version: an older one is taken over, a newer one refused before it is given an order.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

use dandori_testkit::env::{TestEnv, is_alive, wait_until};

use crate::machine;

/// What was asked of the stand-in: `GET /v1/ping`.
type Asked = Arc<Mutex<Vec<String>>>;

/// A machine on whose socket something of version 99.0.0 answers everything with an empty object.
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
    let said = "HTTP/1.1 200 OK\r\nx-dandori-version: 99.0.0\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(said.as_bytes()).ok()?;
    Some(head.first()?.trim_end_matches(" HTTP/1.1").to_owned())
}

#[test]
fn a_newer_daemon_is_refused_before_it_is_given_an_order() {
    let (env, asked) = machine_with_another_daemon();
    let own = env!("CARGO_PKG_VERSION");
    let said = env.dandori(["run", "x", "--agent", "exec:true"]).fails(1);
    assert!(said.contains(&format!("the running daemon is dandori 99.0.0, newer than this dandori {own}")), "{said}");
    assert!(said.contains("use dandori 99.0.0"), "{said}");
    let said = env.dandori(["task", "cancel", "1", "--lang", "ja"]).fails(1);
    assert!(said.contains("デーモン (dandori 99.0.0)"), "{said}");
    let told = env.dandori(["daemon", "status", "--json"]);
    assert_eq!((told.code, &told.json()["error"]["code"]), (1, &"daemon_version".into()), "{told:?}");
    let orders: Vec<String> = asked.lock().unwrap().iter().filter(|a| !a.starts_with("GET ")).cloned().collect();
    assert_eq!(orders, Vec::<String>::new());
}

/// A run that is at work until a file appears.
fn run_until_told(env: &TestEnv) -> camino::Utf8PathBuf {
    let go = env.root().join("tmp/go");
    let agent = format!("exec:while [ ! -e {go} ]; do sleep 0.05; done; echo done > done.txt");
    let _ = env.dandori(["run", "a long one", "--detach", "--agent", &agent]).ok();
    wait_until("it is at work", || {
        env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][0]["state"] == "RUNNING"
    });
    go
}

fn ends_well(env: &TestEnv, go: &camino::Utf8Path, task: &str) {
    std::fs::write(go, "").unwrap();
    let state = || env.dandori(["task", "show", task, "--json"]).json()["runs"][0]["state"].clone();
    wait_until("it has ended", || state() == "SUCCEEDED" || state() == "FAILED");
    assert_eq!(state(), "SUCCEEDED");
}

#[test]
fn a_newer_program_takes_over_from_the_daemon_and_its_run_ends_well() {
    let mut env = machine();
    // A debug build says it is whatever it is told to be.
    env.var("DANDORI_VERSION", "0.0.9");
    // The agent's environment is made by the daemon: the file lies where it can be seen.
    env.write_user_config("[sandbox]\nwrite = [\"/tmp\"]\n");
    let go = run_until_told(&env);
    let before = env.daemon_pid().unwrap();
    env.unset("DANDORI_VERSION");
    let own = env!("CARGO_PKG_VERSION");
    let taken = env.dandori(["task", "list"]);
    assert_eq!(taken.code, 0, "{taken:?}");
    assert_eq!(taken.stderr.trim(), format!("daemon 0.0.9 → {own}; 1 run continues"));
    assert!(taken.stdout.contains("RUNNING"), "{taken:?}");
    let after = env.daemon_pid().unwrap();
    assert_ne!(before, after);
    assert!(!is_alive(before));
    // Once; the next command finds its own. An older one is refused, and changes nothing.
    assert_eq!(env.dandori(["task", "list"]).stderr, "");
    env.var("DANDORI_VERSION", "0.0.9");
    let said = env.dandori(["task", "list"]).fails(1);
    assert!(said.contains("newer than this dandori 0.0.9") && said.contains(own), "{said}");
    env.unset("DANDORI_VERSION");
    assert_eq!(env.daemon_pid(), Some(after));
    ends_well(&env, &go, "T-1");
}

#[test]
fn many_that_take_over_together_start_one_daemon_and_keep_its_listener() {
    let mut env = machine();
    env.var("DANDORI_VERSION", "0.0.9");
    let started = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0", "--json"]).json();
    let address = started["health"]["listen"].as_str().unwrap().to_owned();
    env.unset("DANDORI_VERSION");
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| env.dandori(["task", "list", "--json"]).ok());
        }
    });
    let daemons = env.processes().into_iter().filter(|(_, line)| line.contains("daemon serve")).count();
    assert_eq!(daemons, 1);
    let status = env.dandori(["daemon", "status", "--json"]).json();
    assert_eq!(status["health"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["health"]["listen"], address.as_str(), "who listens there finds it there");
}

#[test]
fn a_daemon_whose_program_was_replaced_is_taken_over_and_one_of_another_checkout_is_not() {
    let env = machine();
    env.write_user_config("[sandbox]\nwrite = [\"/tmp\"]\n");
    let copy = env.root().join("dandori-of-before");
    let put = |to: &camino::Utf8Path| env.command("cp", [env!("CARGO_BIN_EXE_dandori"), to.as_str()], env.root());
    put(&copy);
    env.command(copy.as_str(), ["daemon", "start"], &env.repo());
    let first = env.daemon_pid();
    let go = run_until_told(&env);
    assert_eq!(env.daemon_pid(), first, "another binary of the same version, and its own is still there");
    // As `cargo install` does it.
    let newer = env.root().join("newer");
    put(&newer);
    std::fs::rename(&newer, &copy).unwrap();
    let taken = env.dandori(["task", "list"]);
    assert!(taken.stderr.contains("its program was replaced; 1 run continues"), "{taken:?}");
    let second = env.daemon_pid();
    assert_ne!(first, second);
    // The copy finds a daemon whose program is there: they do not fight.
    env.command(copy.as_str(), ["task", "list"], &env.repo());
    assert_eq!(env.daemon_pid(), second);
    ends_well(&env, &go, "T-1");
}

#[test]
fn a_daemon_of_another_version_is_stopped_all_the_same() {
    let (env, asked) = machine_with_another_daemon();
    let _ = env.dandori(["daemon", "stop"]).ok();
    assert!(asked.lock().unwrap().contains(&"POST /v1/daemon/stop".to_owned()), "{asked:?}");
}
