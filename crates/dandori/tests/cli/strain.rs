//! A daemon under strain: what is open, printed or kept does not weigh on it.

use std::io::{Read, Write};
use std::net::TcpStream;

use dandori_testkit::env::{TestEnv, wait_until};

use crate::machine;

/// The highest the daemon's memory has been, in megabytes.
fn peak(env: &TestEnv) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", env.daemon_pid().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1000
}

fn listening(env: &TestEnv) -> (String, String) {
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    (address.strip_prefix("http://").unwrap().to_owned(), token)
}

#[test]
fn idle_connections_keep_nobody_out_and_are_closed() {
    let env = machine();
    let (host, _) = listening(&env);
    let mut idle: Vec<TcpStream> = Vec::new();
    for _ in 0..900 {
        // What the daemon will not have is refused or closed at once: either way it is not in the way.
        idle.extend(TcpStream::connect(&host));
    }
    let listed = env.dandori(["task", "list", "--json"]);
    assert_eq!((listed.code, listed.json()), (0, serde_json::json!({ "tasks": [], "total": 0 })), "{listed:?}");
    let pid = env.daemon_pid().unwrap();
    let open = || std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    wait_until("nearly all of them are closed", || open() < 100);
    // One that says half a word and then nothing is closed as well.
    let mut half = TcpStream::connect(&host).unwrap();
    half.write_all(b"GET /v1/health HTTP/1.1\r\nhost: x").unwrap();
    half.set_read_timeout(Some(dandori_testkit::env::PATIENCE)).unwrap();
    let mut rest = Vec::new();
    let _ = half.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
}

#[test]
fn readers_from_the_beginning_that_do_not_read_cost_little_and_the_log_stays_whole() {
    let env = machine();
    env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n");
    let (host, token) = listening(&env);
    // Events that weigh: a megabyte of them for every reader.
    let file = env.root().join("instruction");
    std::fs::write(&file, "word ".repeat(2_000)).unwrap();
    let agent = format!("exec:printf '%s' '{}'; echo x >> x.txt", "y".repeat(20_000));
    for _ in 0..12 {
        let _ = env.dandori(["run", "--file", file.as_str(), "--agent", &agent, "--detach"]).ok();
    }
    wait_until("all are over", || {
        let tasks = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
        tasks.as_array().unwrap().iter().all(|t| t["runs"][0]["settled"] == true)
    });
    let before = peak(&env);
    let mut readers = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(&host).unwrap();
        write!(stream, "GET /v1/events?after=0 HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n")
            .unwrap();
        readers.push(stream);
    }
    // The last one reads: it gets everything, in order.
    let reader = readers.last_mut().unwrap();
    let mut text = String::new();
    let mut chunk = vec![0u8; 65536];
    while text.matches("event: settled").count() < 12 {
        let count = reader.read(&mut chunk).unwrap();
        assert!(count > 0, "it ended early");
        text.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    let ids: Vec<i64> =
        text.lines().filter_map(|l| l.strip_prefix("id: ")).map(|i| i.trim().parse().unwrap()).collect();
    assert!(ids.windows(2).all(|pair| pair[1] > pair[0]), "in order, none twice");
    let after = peak(&env);
    assert!(after < before + 60, "{before} MB before, {after} MB with 200 readers");
}

#[test]
fn what_an_agent_prints_does_not_go_into_the_daemon_s_memory() {
    let env = machine();
    env.write_user_config("[runs]\nmin_free_disk = \"1MiB\"\n");
    let _ = env.dandori(["daemon", "start"]).ok();
    let before = peak(&env);
    let agent = "exec:yes 'a line of output' | head -c 8000000; head -c 10000000 /dev/zero | tr '\\0' z; \
                 yes err | head -c 8000000 >&2; echo x > x.txt";
    let answer = env.run_json(["x", "--agent", agent]);
    assert_eq!(answer["runs"][0]["state"], "SUCCEEDED", "{answer}");
    let log = env.dandori(["task", "log", "T-1"]).ok();
    assert!(log.len() > 8_000_000, "{} bytes of log", log.len());
    let after = peak(&env);
    assert!(after < before + 40, "{before} MB before, {after} MB after 26 MB of output");
}

#[test]
fn a_list_of_worktrees_asks_git_little_about_each_and_little_besides() {
    let mut env = machine();
    let bin = env.root().join("bin");
    let asked = env.root().join("asked");
    std::fs::create_dir_all(&bin).unwrap();
    let git = env.command("sh", ["-c", "command -v git"], env.root());
    std::fs::write(env.root().join("script"), format!("#!/bin/sh\necho \"$1\" >> {asked}\nexec {git} \"$@\"\n"))
        .unwrap();
    // By a process of its own: what another test starts meanwhile would hold ours open, and it could not be run.
    env.command("cp", [env.root().join("script"), bin.join("git")], env.root());
    env.command("chmod", ["+x", bin.join("git").as_str()], env.root());
    let path = std::env::var("PATH").unwrap();
    env.var("PATH", format!("{bin}:{path}"));
    for i in 0..12 {
        let _ = env.dandori(["worktree", "add", &format!("topic-{i}")]).ok();
    }
    std::fs::write(&asked, "").unwrap();
    let listed = env.dandori(["worktree", "list", "--json"]).json()["worktrees"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 12);
    let text = std::fs::read_to_string(&asked).unwrap();
    let count = |word: &str| text.lines().filter(|line| *line == word).count();
    assert_eq!(count("status"), 12, "{text}");
    // Beside the status of each, what git would run in its files is asked for.
    assert!(text.lines().count() <= 3 * 12 + 12, "{text}");
}
