//! Hook events: arbitrary bytes and mutated recordings, decoded, judged by all guards and answered.

use camino::Utf8Path;
use dandori_domain::client::Refusal;
use dandori_guard::{Answer, Asking, Client, Context, Event, Kind, Permission, decode, encode, judge};
use dandori_text::Lang;
use serde_json::{Value, json};

use super::guarded::{Project, any_rules, strict};
use crate::case::Finding;
use crate::mutate::json::{Piece, odd_value, quoted};
use crate::mutate::{self, lines};
use crate::random::Random;
use crate::seeds::Seeds;

/// What every answer may say at once, with room for the JSON around it.
const LONGEST_ANSWER: usize = 100_000;

/// An event whose command is known to be refused carries this number in its choice: whatever is done to the rest of it,
/// it is refused.
fn is_planted(choice: u64) -> bool {
    choice.is_multiple_of(5)
}

pub(crate) fn input(seeds: &Seeds, choice: u64, random: &mut Random) -> Vec<u8> {
    if is_planted(choice) {
        return planted(seeds, random).into_bytes();
    }
    let text = random.pick(&seeds.events).cloned().unwrap_or_default();
    let other = random.pick(&seeds.events).cloned().unwrap_or_default();
    if random.one_in(20) {
        return (0..random.below(600)).map(|_| random.byte()).collect();
    }
    let mut written = structured(seeds, &text, random);
    if random.one_in(3) {
        let mut bytes = written.into_bytes();
        mutate::bytes(&mut bytes, other.as_bytes(), random);
        return bytes;
    }
    if random.one_in(30) {
        written.insert(0, '\u{feff}');
    }
    written.into_bytes()
}

/// A recorded event with its structure changed, or with a line, document or patch of ours in its fields.
pub(crate) fn structured(seeds: &Seeds, text: &str, random: &mut Random) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if random.one_in(2) {
        fill(seeds, &mut value, random);
    }
    let mut piece = Piece::of(&value);
    if !random.one_in(4) {
        piece.mutate(random, &seeds.harmless);
    }
    piece.written()
}

/// The tool's input as tools have it, with something of ours in it.
fn fill(seeds: &Seeds, value: &mut Value, random: &mut Random) {
    let hostile = random.pick(&seeds.hostile).map(|form| form.command.clone()).unwrap_or_default();
    let harmless = random.pick(&seeds.harmless).cloned().unwrap_or_default();
    let document = random.pick(&seeds.documents).cloned().unwrap_or_default();
    let other = random.pick(&seeds.documents).cloned().unwrap_or_default();
    let path = random.word(&[
        "/repo/state.md",
        "/repo/plan/playbook-a.md",
        "/repo/src/lib.rs",
        "a.txt",
        "/repo/.claude/settings.json",
        "~/.env",
    ]);
    let changed = mutate::shuffled_lines(&document, &other, random);
    let line = if random.one_in(2) { lines::mutated(&hostile, &harmless, random) } else { hostile };
    let (name, input) = match random.below(9) {
        0 => ("Write", json!({"file_path": path, "content": changed})),
        1 => ("Edit", json!({"file_path": path, "old_string": first_line(&document), "new_string": changed})),
        2 => (
            "MultiEdit",
            json!({"file_path": path, "edits": [{"old_string": "a", "new_string": changed}, {"old_string": ""}]}),
        ),
        3 => ("apply_patch", json!({"command": random.pick(&seeds.patches)})),
        4 => ("Task", json!({"subagent_type": "reviewer", "prompt": changed})),
        5 => ("mcp__files__write_file", json!({"path": path, "content": changed})),
        6 => ("Read", json!({"file_path": path})),
        _ => ("Bash", json!({"command": line})),
    };
    let Some(map) = value.as_object_mut() else { return };
    if map.contains_key("prompt") {
        map.insert("prompt".to_owned(), changed.into());
        return;
    }
    map.insert("tool_name".to_owned(), name.into());
    map.insert("tool_input".to_owned(), input);
}

fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

/// Fields that decide what the event is; the rest may be anything.
const VITAL: &[&str] = &["hook_event_name", "tool_name", "tool_input"];

fn planted(seeds: &Seeds, random: &mut Random) -> String {
    let command = random.word(&[
        "git push --force origin main",
        "git commit -m x && git push",
        "rm -rf protected.txt; git reset --hard",
    ]);
    let mut pairs = vec![
        (quoted("hook_event_name"), Piece::Raw(quoted("PreToolUse"))),
        (quoted("tool_name"), Piece::Raw(quoted("Bash"))),
    ];
    let mut input = vec![(quoted("command"), Piece::Raw(quoted(command)))];
    if random.one_in(2) {
        let name = random.word(&["timeout", "description", "run_in_background", "x", "dir_path"]);
        let value = sound(odd_value(random, &seeds.harmless));
        input.insert(random.below(2), (quoted(name), Piece::Raw(value)));
    }
    pairs.push((quoted("tool_input"), Piece::Object(input)));
    for name in ["session_id", "transcript_path", "cwd", "permission_mode", "tool_use_id", "agent_id", "effort", "日本"]
    {
        if random.one_in(2) {
            let value = sound(odd_value(random, &seeds.harmless));
            pairs.insert(random.below(pairs.len() + 1), (quoted(name), Piece::Raw(value)));
        }
    }
    debug_assert!(VITAL.iter().all(|name| pairs.iter().any(|(key, _)| *key == quoted(name))));
    Piece::Object(pairs).written()
}

/// No client writes what is no JSON at all, but half characters they do.
fn sound(value: String) -> String {
    let as_text = value.replace("\\ud800", "").replace("\\udc00", "").replace("\\ud83d\\ud83d", "");
    let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&as_text).is_ok();
    if is_json { value } else { "null".to_owned() }
}

pub(crate) fn look(seeds: &Seeds, bytes: &[u8], choice: u64) -> Result<(), Finding> {
    let mut random = Random::new(choice);
    let registered = Client::ALL.get(random.below(Client::ALL.len() + 1)).copied();
    let Ok(mut event) = decode(bytes, registered) else {
        return if is_planted(choice) {
            Err(Finding::new("event not read", "an event of JSON was not read"))
        } else {
            Ok(())
        };
    };
    event.headless = random.one_in(3);
    let (rules, world) = if is_planted(choice) {
        (strict(""), Project::plain())
    } else {
        (any_rules(&mut random), Project::odd(seeds, &mut random))
    };
    let lang = if random.one_in(2) { Lang::En } else { Lang::Ja };
    let project = (!random.one_in(4)).then_some(Utf8Path::new("/repo"));
    let context = Context::new(&event, &rules, &world, lang, project);
    let asking = if random.one_in(2) { Asking::Everyone } else { Asking::UntilBlocked };
    let judgement = judge(&context, asking);
    let answer = encode(&event, &judgement.ruling);
    is_sound(&event, &judgement.ruling.verdict, &answer)?;
    if is_planted(choice) && judgement.ruling.verdict == Permission::Go {
        return Err(Finding::new("silent pass", "a command that is refused passed because of what stands around it"));
    }
    Ok(())
}

/// What holds for every answer, whatever was asked.
fn is_sound(event: &Event, verdict: &Permission, answer: &Answer) -> Result<(), Finding> {
    let wrong = |what: &str| Err(Finding::new("answer", format!("{what}: {answer:?} to {verdict:?}")));
    let stdout = String::from_utf8_lossy(&answer.stdout);
    let is_object = serde_json::from_str::<Value>(&stdout).is_ok_and(|value| value.is_object());
    // Claude takes instructions for a compaction as plain text.
    let is_plain = matches!(event.kind, Kind::PreCompact { .. }) && !stdout.trim_start().starts_with(['{', '[']);
    // At the end of a session Claude shows the user only what fails; there is nothing left that it could stop.
    let is_shown = matches!(event.kind, Kind::SessionEnd { .. }) && event.agent == Client::Claude && answer.exit == 1;
    if !matches!(answer.exit, 0 | 2) && !is_shown {
        return wrong("the exit code is neither 0 nor 2");
    }
    if !stdout.is_empty() && !is_object && !is_plain {
        return wrong("stdout is not one object");
    }
    if answer.exit == 2 && answer.stderr.trim().is_empty() {
        return wrong("refused without a word");
    }
    if answer.stderr.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return wrong("control characters on stderr");
    }
    if stdout.len() + answer.stderr.len() > LONGEST_ANSWER {
        return wrong("the answer is too long");
    }
    let is_refused = match verdict {
        Permission::Block { .. } => true,
        Permission::Ask { .. } => !event.can_ask(),
        Permission::Go => false,
    };
    let is_honoured = event.agent.hooks().is_some_and(|hooks| match hooks.refusal {
        Refusal::ExitCode => answer.exit == 2,
        Refusal::Word => answer.exit == 0 && stdout.starts_with("{\"decision\":\"deny\""),
    });
    if event.kind == Kind::PreTool && is_refused && !is_honoured {
        return wrong("a refused tool would run");
    }
    Ok(())
}
