use dandori_journal::RecordedVerdict as Ruled;
use std::os::unix::process::ExitStatusExt;

use super::*;

fn record(event: &str, subject: &str, verdict: Ruled) -> Record {
    Record {
        version: 1,
        at: 0,
        agent: "claude".to_owned(),
        session: None,
        prompt_id: None,
        prompt_hash: None,
        tag: None,
        event: event.to_owned(),
        tool: None,
        subject: Some(subject.to_owned()),
        verdict,
        by: None,
        steps: Vec::new(),
        micros: 0,
        oddities: Vec::new(),
        action: None,
    }
}

fn all_asked() -> Vec<Record> {
    vec![
        record("session-start", "", Ruled::Go),
        record("pre-tool", "git status", Ruled::Go),
        record("pre-tool", "/r/self-test.pem", Ruled::Block),
        record("pre-tool", "printf 'x' > self-test.key", Ruled::Block),
    ]
}

fn seen(records: Vec<Record>) -> Seen {
    Seen {
        records,
        written: Vec::new(),
        was_asked: true,
        is_done: true,
        was_told: true,
        end: WatchEnd::Enough,
        said: "last words".to_owned(),
    }
}

#[test]
fn it_fires_and_blocks_only_when_all_three_agree() {
    let verdict = |seen: Seen| seen.verdict(Client::Claude);
    assert_eq!(verdict(seen(all_asked())), HookTrial::FiresAndBlocks);
    let untold = Seen { was_told: false, ..seen(all_asked()) };
    assert_eq!(verdict(untold), HookTrial::DoesNotBlock(Passed::NotTold));
    let written = Seen { written: vec![BY_TOOL], ..seen(all_asked()) };
    assert_eq!(verdict(written), HookTrial::DoesNotBlock(Passed::Written { files: "self-test.pem".to_owned() }));
    let not_about = |left: usize| {
        let mut records = all_asked();
        records.remove(left);
        verdict(seen(records))
    };
    let not_asked = |tools: &str| HookTrial::DoesNotBlock(Passed::NotAsked { tools: tools.to_owned() });
    assert_eq!(not_about(1), not_asked("Bash"));
    assert_eq!(not_about(2), not_asked("Write"));
    assert_eq!(not_about(3), not_asked("Bash"));
    let only_the_start = vec![record("session-start", "", Ruled::Go)];
    assert_eq!(verdict(seen(only_the_start)), not_asked("Bash, Write"));
}

#[test]
fn nothing_written_down_is_not_firing_however_little_was_done() {
    assert_eq!(seen(Vec::new()).verdict(Client::Gemini), HookTrial::DoesNotFire);
    let written = Seen { written: vec![BY_TOOL], is_done: false, ..seen(Vec::new()) };
    assert_eq!(written.verdict(Client::Codex), HookTrial::DoesNotFire);
}

#[test]
fn an_agent_that_did_not_get_there_proves_nothing() {
    let said = "last words".to_owned();
    let exited = || WatchEnd::Exited(std::process::ExitStatus::from_raw(256));
    let broken = |was_asked, end, records| Seen { was_asked, is_done: false, end, ..seen(records) };
    let not_tried = |seen: Seen| match seen.verdict(Client::Claude) {
        HookTrial::NotTried(why) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(not_tried(broken(false, exited(), Vec::new())), NotTried::NotStarted { said: said.clone() });
    assert_eq!(not_tried(broken(true, exited(), all_asked())), NotTried::NotFinished { said: said.clone() });
    let late = not_tried(broken(true, WatchEnd::TimedOut, Vec::new()));
    assert_eq!(late, NotTried::TimedOut { seconds: 60, said });
}

#[test]
fn last_words_are_short_and_in_one_line() {
    assert_eq!(last_words("a\nb\nc\n\u{1b}[1md\n", b"x"), "b c [1md");
    assert_eq!(last_words(" \n", "だめ\n".as_bytes()), "だめ");
    assert_eq!(last_words(&"長".repeat(1000), b"").chars().count(), 300);
}
