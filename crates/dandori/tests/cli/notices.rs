//! What people are told, and how: through the real daemon, to a command and to a webhook on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use dandori_testkit::env::{TestEnv, wait_until};
use serde_json::Value;

use crate::machine;

/// A command that writes down what it is told, a line each.
fn with_command(env: &TestEnv, more: &str) -> camino::Utf8PathBuf {
    let told = env.root().join("told.jsonl");
    let line = format!("cat >> {told}; echo >> {told}");
    env.write_user_config(&format!("[notify]\ndesktop = false\ncommand = \"{line}\"\n{more}"));
    told
}

fn lines(path: &camino::Utf8Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_is_told_once_per_need_and_when_a_run_is_over_that_was_left() {
    let env = machine();
    let told = with_command(&env, "");
    // Words of others are data, never a command.
    let title = "it `touch /tmp/never` $(touch /tmp/never) 'fails'";
    env.run_json([title, "--agent", "exec:echo boom; exit 3"]);
    wait_until("it is told", || lines(&told).len() == 1);
    let first = &lines(&told)[0];
    assert_eq!((&first["event"], &first["kind"], &first["task"]), (&"need".into(), &"failed".into(), &"T-1".into()));
    assert_eq!(first["command"], "dandori task retry T-1");
    assert_eq!(first["repository"], env.repo().as_str());
    assert!(first["title"].as_str().unwrap().contains(title), "{first}");
    assert_eq!(first["id"], env.dandori(["inbox", "--json"]).json()["needs"][0]["id"]);
    // Watched to its end: nothing to tell. Left: told.
    env.run_json(["watched", "--agent", "exec:echo x > x.txt"]);
    let _ = env.dandori(["run", "left", "-d", "--agent", "exec:echo y > y.txt"]).ok();
    wait_until("it is told", || lines(&told).len() == 2);
    let second = &lines(&told)[1];
    assert_eq!((&second["event"], &second["task"]), (&"run_ended".into(), &"T-3".into()), "{second}");
    assert!(second["message"].as_str().unwrap().contains("1 file"), "{second}");
    // A killed daemon tells nothing twice.
    env.kill_daemon();
    env.run_json(["fails again", "--agent", "exec:exit 4"]);
    wait_until("it is told", || lines(&told).len() >= 3);
    let tasks: Vec<Value> = lines(&told).iter().map(|line| line["task"].clone()).collect();
    assert_eq!(tasks, ["T-1", "T-3", "T-4"]);
    assert!(!std::path::Path::new("/tmp/never").exists());
}

/// A webhook that answers with these codes in turn, the last one for ever.
fn webhook(codes: &'static [u16]) -> (String, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/hook", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&heard);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let head: Vec<String> =
                reader.by_ref().lines().map_while(Result::ok).take_while(|l| !l.is_empty()).collect();
            let length = |line: &String| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok();
            let mut body = vec![0; head.iter().find_map(length).unwrap_or(0)];
            if head.is_empty() || reader.read_exact(&mut body).is_err() {
                continue;
            }
            let mut noted = noted.lock().unwrap();
            let code = codes.get(noted.len()).or(codes.last()).unwrap();
            noted.push(serde_json::from_slice(&body).unwrap());
            let _ = write!(stream, "HTTP/1.1 {code} X\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        }
    });
    (address, heard)
}

#[test]
fn a_webhook_that_is_out_of_order_for_a_moment_is_tried_again() {
    let env = machine();
    let (address, heard) = webhook(&[503, 200]);
    env.write_user_config(&format!("[notify]\ndesktop = false\nwebhook = \"{address}\"\n"));
    env.run_json(["x", "--agent", "exec:exit 3"]);
    wait_until("it is told", || heard.lock().unwrap().len() == 2);
    let heard = heard.lock().unwrap();
    assert_eq!(heard[0], heard[1], "the same once more");
    assert_eq!((&heard[1]["kind"], &heard[1]["version"]), (&"failed".into(), &1.into()));
}

#[test]
fn what_cannot_be_delivered_is_logged_and_said_by_doctor() {
    let env = machine();
    let (address, heard) = webhook(&[404]);
    env.write_user_config(&format!(
        "[notify]\ndesktop = false\ncommand = \"echo no way >&2; exit 7\"\nwebhook = \"{address}\"\n"
    ));
    env.run_json(["x", "--agent", "exec:exit 3"]);
    let failed = || {
        let report = env.dandori(["doctor", "--json"]).json();
        let checks = report["checks"].as_array().unwrap().clone();
        checks.into_iter().filter(|check| check["check"] == "notices").collect::<Vec<_>>()
    };
    wait_until("doctor knows", || failed().len() == 2);
    let found = failed();
    let details: String = found.iter().map(|check| check["detail"].to_string()).collect();
    assert!(details.contains("no way") && details.contains("404"), "{details}");
    assert!(found[0]["hint"].as_str().unwrap().contains("dandori notify test"), "{found:?}");
    assert_eq!(heard.lock().unwrap().len(), 1, "a refusal is an answer, and not asked again");
    let log = env.dandori(["daemon", "logs"]).ok();
    assert!(log.contains("a notice was not delivered"), "{log}");
}

#[test]
fn every_way_is_tried_on_request_and_says_how_it_went() {
    let env = machine();
    let told = with_command(&env, "bell = true\nwebhook = \"http://127.0.0.1:9/\"\n");
    let tried = env.dandori(["notify", "test", "--json"]);
    assert_eq!(tried.code, 1, "{tried:?}");
    let ways = tried.json();
    let states: Vec<(&str, &str)> = ways["ways"]
        .as_array()
        .unwrap()
        .iter()
        .map(|way| (way["way"].as_str().unwrap(), way["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [("bell", "skipped"), ("command", "sent"), ("webhook", "failed")]);
    assert_eq!(lines(&told)[0]["event"], "test");
    // What the file says now counts, without a restart.
    env.write_user_config("[notify]\ndesktop = true\n");
    let said = env.dandori(["notify", "test", "--lang", "ja"]).ok();
    assert!(said.contains("desktop") && said.contains("デスクトップセッションがありません"), "{said}");
    env.write_user_config("[notify]\ndesktop = false\n");
    let none = env.dandori(["notify", "test"]);
    assert!(none.code == 0 && none.stderr.contains("[notify]"), "{none:?}");
}

#[test]
fn a_repository_cannot_say_how_its_user_is_told() {
    let env = machine();
    env.write("dandori.toml", "[notify]\ncommand = \"touch /tmp/never\"\n");
    let said = env.dandori(["run", "x", "--agent", "exec:true"]).fails(1);
    assert!(said.contains("notify.command") && said.contains("config.toml"), "{said}");
}
