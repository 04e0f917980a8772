//! Characters that command a terminal, or turn what it shows around: they come in with instructions, agents' words,
//! file names and answers of others, and go out nowhere.

use std::io::{Read, Write};
use std::net::TcpStream;

use dandori_testkit::env::TestEnv;

use crate::machine;

/// An operating-system command, its C1 form, a carriage return, a deletion, and an override of the direction.
const HOSTILE: &str = "a\u{1b}]0;owned\u{7}b\u{9d}0;owned\u{9c}c\rd\u{7f}e\u{202e}f\u{2066}g";

/// What a terminal does not show.
const HIDING: &str = "\u{1b}[8mhidden\u{1b}[2J";

fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn clean(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|c| is_hostile(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text:?}");
}

/// A request to the daemon, on loopback.
pub(crate) fn post(env: &TestEnv, path: &str, body: &serde_json::Value) -> (u16, serde_json::Value) {
    let address = std::fs::read_to_string(env.state().join("private/address")).unwrap();
    let host = address.strip_prefix("http://").unwrap();
    let token = std::fs::read_to_string(env.state().join("private/token")).unwrap();
    let body = body.to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    (status, serde_json::from_str(body).unwrap())
}

#[test]
fn they_reach_neither_titles_nor_commits_nor_the_screen() {
    let env = machine();
    let file = env.root().join("instruction");
    std::fs::write(&file, format!("Fix {HOSTILE} now\n\nmore {HOSTILE}\n")).unwrap();
    let agent = format!("exec:printf 'said %s' '{HOSTILE}'; echo x > x.txt");
    let answer = env.dandori(["run", "--file", file.as_str(), "--agent", &agent, "--json"]);
    clean("--json", &answer.stdout);
    assert_eq!(answer.json()["runs"][0]["state"], "SUCCEEDED", "{answer:?}");
    for args in [vec!["task", "list"], vec!["task", "show", "T-1"], vec!["task", "log", "T-1"]] {
        let ran = env.dandori(&args);
        clean(&args.join(" "), &ran.stdout);
        clean(&args.join(" "), &ran.stderr);
    }
    let listed = env.dandori(["task", "list", "--json"]).json()["tasks"].clone();
    clean("the title", listed[0]["title"].as_str().unwrap());
    let branch = listed[0]["runs"][0]["branch"].as_str().unwrap();
    let message = env.git(["log", "-1", "--format=%B", branch]);
    clean("the commit", &message);
    assert!(message.starts_with("fix: fix a]0;ownedb0;ownedc defg now\n"), "the words stay: {message}");
    let _ = env.dandori(["pr", "create", "T-1"]).ok();
    let pull = env.dandori(["pr", "show", "1", "--json"]).json();
    clean("the pull request's title", pull["title"].as_str().unwrap());
}

#[test]
fn they_do_not_come_back_in_errors() {
    let env = machine();
    for args in
        [vec!["task", "show", HOSTILE], vec!["run", "x", "--agent", HOSTILE], vec!["run", "x", "--base", HOSTILE]]
    {
        let ran = env.dandori(&args);
        assert_ne!(ran.code, 0);
        clean(&format!("{args:?}"), &ran.stderr);
        let words: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
        clean(&format!("{args:?} as JSON"), &env.dandori(&words).stdout);
    }
    let failed = env.run_json(["x", "--agent", &format!("exec:printf '%s' '{HOSTILE}' >&2; exit 3")]);
    clean("the failure", failed["runs"][0]["error"]["message"].as_str().unwrap());
    clean("the failure shown", &env.dandori(["task", "show", "T-1"]).stdout);
}

#[test]
fn a_nul_in_what_is_asked_is_refused_before_anything_is_taken_on() {
    let env = machine();
    let file = env.root().join("instruction");
    std::fs::write(&file, "first line\nsecond\0line\n").unwrap();
    let said = env.dandori(["run", "--file", file.as_str(), "--agent", "exec:true"]).fails(1);
    assert!(said.contains("U+0000") && said.contains("line 2"), "{said}");
    let _ = env.dandori(["daemon", "stop"]).ok();
    let _ = env.dandori(["daemon", "start", "--listen", "127.0.0.1:0"]).ok();
    let asked = |field: &str, value: serde_json::Value| {
        let mut body = serde_json::json!({"path": env.repo(), "instruction": "x", "agents": ["exec:true"]});
        body[field] = value;
        post(&env, "/v1/tasks", &body)
    };
    for (field, value) in [
        ("instruction", serde_json::json!("a\0b")),
        ("base", "ma\0in".into()),
        ("model", "m\0".into()),
        ("agents", serde_json::json!(["exec:tr\0ue"])),
    ] {
        let (status, answer) = asked(field, value);
        assert_eq!((status, &answer["error"]["code"]), (422, &"unusable_character".into()), "{field}: {answer}");
    }
    assert_eq!(env.dandori(["task", "list", "--json"]).json()["tasks"], serde_json::json!([]), "nothing was taken on");
    // A follow-up and a pull request are asked for in words too.
    env.run_json(["x", "--agent", "exec:echo x > x.txt"]);
    let (status, answer) = post(&env, "/v1/tasks/1/follow-up", &serde_json::json!({"instruction": "a\0b"}));
    assert_eq!((status, &answer["error"]["code"]), (422, &"unusable_character".into()), "{answer}");
    let (status, answer) =
        post(&env, "/v1/pulls", &serde_json::json!({"path": env.repo(), "of": "1", "title": "a\0b"}));
    assert_eq!((status, &answer["error"]["code"]), (422, &"unusable_character".into()), "{answer}");
}

/// Everything a terminal is sent: our own colours and the few ways our moving lines are cleared are taken out of it.
fn at_a_terminal(env: &TestEnv, line: &str) -> String {
    let sent = env.root().join("sent");
    let bin = env.bin();
    let line = format!("stty cols 80 rows 30; {bin} {line}");
    env.command("script", ["-qec", &line, sent.as_str()], &env.repo());
    let text = String::from_utf8_lossy(&std::fs::read(&sent).unwrap()).into_owned();
    let mut rest = without_ours(&text);
    for ours in ["\r\n", "\r"] {
        rest = rest.replace(ours, "\n");
    }
    rest
}

/// Without what we may send: colours, and up and away with what moves.
fn without_ours(text: &str) -> String {
    let text = text.replace("\u{1b}[?7l", "").replace("\u{1b}[?7h", "");
    let mut shown = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("\u{1b}[") {
        let (before, after) = rest.split_at(at);
        shown.push_str(before);
        let inner = &after[2..];
        let end = inner.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(inner.len());
        // Of colours those that we and git use: others hide what follows.
        let is_used =
            |code: &str| matches!(code, "" | "0" | "1" | "2" | "31" | "32" | "33" | "34" | "35" | "36" | "41");
        let ours = match inner[end..].chars().next() {
            Some('m') => inner[..end].split(';').all(is_used),
            last => matches!(last, Some('A' | 'J')),
        };
        let skipped = if ours { 2 + end + 1 } else { 2 };
        if !ours {
            shown.push('\u{1b}');
        }
        rest = &after[skipped..];
    }
    shown + rest
}

#[test]
fn they_do_not_get_through_to_who_watches_a_run_or_its_diff() {
    let mut env = machine();
    env.var("TERM", "xterm");
    env.write("set-up", &format!("printf 'set %s\\n' '{HOSTILE}'\n"));
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "set-up"]);
    env.git(["push", "--quiet", "origin", "main"]);
    env.write_user_config("[worktrees]\npool = 0\nset_up = [\"sh set-up\"]\n");
    let script = env.root().join("words");
    std::fs::write(&script, format!("printf 'said %s\\n' '{HOSTILE}'; printf '%s\\n' '{HOSTILE}{HIDING}' > 'x.txt'\n"))
        .unwrap();
    let shown = at_a_terminal(&env, &format!("run --file {script} --agent exec:sh"));
    assert!(shown.contains("said a"), "the words stay: {shown:?}");
    clean("the live view", &shown);
    let shown = at_a_terminal(&env, "task diff T-1 --no-pager");
    assert!(shown.contains("[8mhidden[2J"), "{shown:?}");
    clean("the diff", &shown);
    let shown = at_a_terminal(&env, "task log T-1");
    assert!(shown.contains("    defg\n"), "what a set-up command drew over is not told: {shown:?}");
    clean("the log", &shown);
}
