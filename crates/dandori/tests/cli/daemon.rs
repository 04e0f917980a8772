//! The daemon: one per state root, behind a token, and never the reason that something is lost.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use dandori_testkit::env::{is_alive, wait_until};

use crate::machine;

#[test]
fn it_starts_by_itself_stops_when_told_and_comes_back() {
    let env = machine();
    assert_eq!(env.dandori(["daemon", "status"]).code, 1);
    env.run_json(["x", "--agent", "exec:true"]);
    let first = env.daemon_pid().unwrap();
    let _ = env.dandori(["daemon", "stop"]).ok();
    wait_until("it is gone", || !is_alive(first));
    let tasks = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
    assert_eq!(tasks.as_array().unwrap().len(), 1);
    assert_ne!(env.daemon_pid().unwrap(), first);
    assert!(env.dandori(["daemon", "logs"]).ok().contains("ready"));
}

#[test]
fn a_run_outlives_a_stopped_daemon_and_the_waiting_cli_reconnects() {
    let env = machine();
    let agent = "exec:echo up; while [ ! -e go ]; do sleep 0.05; done; echo x > x.txt";
    let waiting = env
        .prepared(&env.repo(), ["run", "x", "--agent", agent, "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the agent runs", || env.dandori(["task", "log", "1", "--raw"]).stdout.contains("up"));
    let tree = env.dandori(["task", "show", "1", "--json"]).json()["runs"][0]["worktree"].as_str().unwrap().to_owned();
    env.kill_daemon();
    std::fs::write(format!("{tree}/go"), "").unwrap();
    let output = waiting.wait_with_output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
}

#[test]
fn loopback_wants_the_token_our_own_name_and_no_foreign_page() {
    let env = machine();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let host = address.strip_prefix("http://").unwrap();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let ask = |path: &str, headers: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    let good = format!("host: {host}\r\nauthorization: Bearer {token}\r\n");
    assert!(ask("/v1/health", &good).starts_with("HTTP/1.1 200"));
    let description = ask("/v1/openapi.json", &good);
    assert!(description.contains("\"/v1/tasks/{task}/follow-up\""));
    assert!(ask("/v1/health", &format!("host: {host}\r\n")).starts_with("HTTP/1.1 401"));
    assert!(ask("/v1/health", &good.replace(host, "evil.example")).starts_with("HTTP/1.1 421"));
    assert!(ask("/v1/health", &format!("{good}origin: http://evil.example\r\n")).starts_with("HTTP/1.1 403"));
    let refused = ask("/v1/health", &format!("host: {host}\r\n"));
    assert!(refused.contains("\"code\":\"unauthorized\"") && refused.contains("token"), "{refused}");
    let refused = env.dandori(["daemon", "serve", "--listen", "0.0.0.0:0"]);
    assert_ne!(refused.code, 0);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(env.state().join("private/token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_the_api_does_not_understand_is_refused_with_a_problem_as_json() {
    let env = machine();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let host = address.strip_prefix("http://").unwrap();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let ask = |line: &str, kind: &str, body: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status: u16 = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-type: application/json"), "{line}: {answer}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        (status, body["error"]["code"].as_str().unwrap().to_owned(), body["error"]["detail"]["reason"].to_string())
    };
    let json = "application/json";
    let cases = [
        ("GET /v1/nothing", json, "", 404, "no_such_path", ""),
        ("GET /", json, "", 404, "no_such_path", ""),
        ("DELETE /v1/tasks", json, "", 405, "no_such_path", ""),
        ("POST /v1/tasks", json, "{", 400, "bad_request", "JSON"),
        ("POST /v1/tasks", json, "{\"path\": 3}", 422, "bad_request", "path"),
        ("POST /v1/tasks", "text/plain", "{}", 415, "bad_request", "application/json"),
        ("GET /v1/worktrees", json, "", 400, "bad_request", "path"),
        ("GET /v1/tasks?limit=many", json, "", 400, "bad_request", "limit"),
        ("GET /v1/pulls?path=/&state=some", json, "", 422, "bad_request", "some"),
        ("GET /v1/events?after=x", json, "", 400, "bad_request", "after"),
    ];
    for (line, kind, body, status, code, reason) in cases {
        let (got, named, why) = ask(line, kind, body);
        assert_eq!((got, named.as_str()), (status, code), "{line}: {why}");
        assert!(why.contains(reason), "{line}: {why}");
    }
}

#[test]
fn a_listener_that_is_asked_for_too_late_is_an_error_that_says_what_to_do() {
    let env = machine();
    let started = env.dandori(["daemon", "start"]).ok();
    assert!(!started.contains("listening"), "{started}");
    let said = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).fails(1);
    assert!(said.contains("only on its socket") && said.contains("dandori daemon stop"), "{said}");
    let stopped = env.dandori(["daemon", "stop"]).ok();
    assert!(stopped.contains("has stopped"), "{stopped}");
    assert!(env.dandori(["daemon", "stop"]).ok().contains("is not running"));
    let started = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0", "--json"]).json();
    let address = started["health"]["listen"].as_str().unwrap().to_owned();
    // Any port is met by the one it has; its own is the same; another is not.
    for asked in ["127.0.0.1:0", &address] {
        let again = env.dandori(["daemon", "start", "--listen", asked]).ok();
        assert!(again.contains(&format!("listening on http://{address}")), "{again}");
    }
    let refused = env.dandori(["daemon", "start", "--listen", "[::1]:0", "--json"]);
    assert_eq!((refused.code, &refused.json()["error"]["detail"]["listens"]), (1, &address.as_str().into()));
    assert!(env.dandori(["daemon", "status"]).ok().contains(&address));
    assert_eq!(env.dandori(["daemon", "stop", "--json"]).json()["stopped"], true);
}

#[test]
fn an_address_that_cannot_be_had_is_named() {
    let env = machine();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = env.dandori(["daemon", "start", "--listen", &address]).fails(3);
    assert!(said.contains(&format!("cannot listen on {address}")), "{said}");
    let said = env.dandori(["daemon", "start", "--listen", "0.0.0.0:0"]).fails(3);
    assert!(said.contains("only loopback"), "{said}");
}

#[test]
fn the_address_of_a_killed_daemon_is_not_told_by_the_next() {
    let env = machine();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let told = env.state().join("private/address");
    assert!(told.exists());
    env.kill_daemon();
    assert_eq!(env.dandori(["daemon", "start", "--json"]).json()["health"]["listen"], serde_json::Value::Null);
    assert!(!told.exists());
}

#[test]
fn events_are_replayed_from_where_a_reader_left_off() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:true"]);
    let _ = env.dandori(["daemon", "stop"]).ok();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let host = address.strip_prefix("http://").unwrap().to_owned();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let read = |last: i64| {
        let mut stream = TcpStream::connect(&host).unwrap();
        write!(
            stream,
            "GET /v1/events?task=T-1 HTTP/1.1\r\nhost: {host}\r\nlast-event-id: {last}\r\nauthorization: Bearer {token}\r\n\r\n"
        )
        .unwrap();
        let mut text = String::new();
        let mut chunk = [0u8; 4096];
        while !text.contains("event: settled") {
            let n = stream.read(&mut chunk).unwrap();
            text.push_str(&String::from_utf8_lossy(&chunk[..n]));
        }
        let ids: Vec<i64> =
            text.lines().filter_map(|l| l.strip_prefix("id: ")).map(|i| i.trim().parse().unwrap()).collect();
        ids
    };
    let all = read(0);
    assert!(all.len() > 5 && all.is_sorted(), "{all:?}");
    let middle = all[all.len() / 2];
    let rest = read(middle);
    assert_eq!(rest, all.iter().copied().filter(|id| *id > middle).collect::<Vec<_>>());
}

#[test]
fn two_commands_at_once_start_one_daemon() {
    let env = machine();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| env.dandori(["task", "list", "--json"]).ok());
        }
    });
    let daemons = env.processes().into_iter().filter(|(_, line)| line.contains("daemon serve")).count();
    assert_eq!(daemons, 1);
}

#[test]
fn a_damaged_database_is_put_aside_restored_from_the_backup_and_said_so() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    // The next life backs up what the first has written.
    let _ = env.dandori(["daemon", "stop"]).ok();
    let _ = env.dandori(["daemon", "start"]).ok();
    let backups = env.state().join("private/backups");
    wait_until("a backup holds the task", || {
        std::fs::read_dir(&backups)
            .is_ok_and(|d| d.flatten().filter(|f| f.path().extension().is_some_and(|e| e == "db")).count() >= 2)
    });
    let _ = env.dandori(["daemon", "stop"]).ok();
    let path = env.state().join("private/dandori.db");
    let mut bytes = std::fs::read(&path).unwrap();
    for i in (100..bytes.len()).step_by(997) {
        bytes[i] ^= 0xff;
    }
    std::fs::write(&path, bytes).unwrap();
    // Where a connection was still open at the end, the log has every page whole, and nothing is damaged.
    for log in ["dandori.db-wal", "dandori.db-shm"] {
        let _ = std::fs::remove_file(path.with_file_name(log));
    }
    let status = env.dandori(["daemon", "start"]);
    assert!(status.stderr.contains("quarantine"), "{status:?}");
    let tasks = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
    assert_eq!(tasks[0]["runs"][0]["state"], "SUCCEEDED", "{tasks}");
}

#[test]
fn a_database_of_a_newer_dandori_is_refused_and_left_alone() {
    let env = machine();
    env.run_json(["x", "--agent", "exec:true"]);
    let _ = env.dandori(["daemon", "stop"]).ok();
    let path = env.state().join("private/dandori.db");
    let sql = "INSERT INTO schema_migration (number, name, checksum, applied_at) SELECT 999, name, checksum, applied_at FROM schema_migration LIMIT 1";
    let python = format!("import sqlite3; c=sqlite3.connect({:?}); c.execute({sql:?}); c.commit()", path.as_str());
    env.command("python3", ["-c", &python], env.root());
    let said = env.dandori(["task", "list"]).fails(3);
    assert!(said.contains("newer dandori") && said.contains("upgrade"), "{said}");
}

#[test]
fn doctor_and_completions_and_help_answer() {
    let env = machine();
    let report = env.dandori(["doctor", "--json"]).json();
    let checks: Vec<&str> = report["checks"].as_array().unwrap().iter().map(|c| c["check"].as_str().unwrap()).collect();
    for wanted in ["git", "tmux", "claude", "codex", "gemini", "sandbox", "store", "disk", "daemon"] {
        assert!(checks.contains(&wanted), "{wanted} in {checks:?}");
    }
    assert!(env.dandori(["completions", "bash"]).ok().contains("dandori"));
    assert!(env.dandori(["--help"]).ok().contains("Exit codes"));
}

#[test]
fn a_daemon_whose_program_was_removed_is_taken_over_by_the_next_command() {
    let env = machine();
    let copy = env.root().join("dandori-of-before");
    // By a process of its own: what another test starts meanwhile would hold our copy open, and it could not be run.
    env.command("cp", [env!("CARGO_BIN_EXE_dandori"), copy.as_str()], env.root());
    env.command(copy.as_str(), ["daemon", "start", "--listen", "127.0.0.1:0"], &env.repo());
    std::fs::remove_file(&copy).unwrap();
    // Whoever does not come by the command line is told what to do.
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let host = address.strip_prefix("http://").unwrap();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let body = format!("{{\"path\":\"{}\",\"instruction\":\"x\",\"agents\":[\"exec:echo x > x.txt\"]}}", env.repo());
    let ask = |line: &str, body: &str| {
        let mut stream = TcpStream::connect(host).unwrap();
        let length = body.len();
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    assert!(ask("POST /v1/tasks", &body).starts_with("HTTP/1.1 200"));
    wait_until("it has failed", || ask("GET /v1/tasks/T-1", "").contains("\"dandori_gone\""));
    // The command line has a program: it takes over, says so, and the retry goes well.
    let again = env.dandori(["task", "retry", "T-1"]);
    assert!(again.stderr.contains("its program was replaced"), "{again:?}");
    assert_eq!(env.dandori(["task", "show", "T-1", "--json"]).json()["runs"][1]["state"], "SUCCEEDED");
}

#[test]
fn a_lost_token_is_written_again_while_the_daemon_lives() {
    let env = machine();
    let _ = env.dandori(["daemon", "start"]).ok();
    let token = env.state().join("private/token");
    let before = std::fs::read(&token).unwrap();
    std::fs::remove_file(&token).unwrap();
    wait_until("it is there again", || std::fs::read(&token).is_ok_and(|now| now == before));
    let _ = env.dandori(["daemon", "stop"]).ok();
}
