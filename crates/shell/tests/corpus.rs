//! The corpora: every hostile form is seen or opaque, and no harmless line is taken for one.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout, reason = "a test")]

use dandori_shell::{Reading, Touch, git_call, read};
use serde::Deserialize;

#[derive(Deserialize)]
struct Form {
    id: String,
    kind: String,
    target: String,
    command: String,
}

fn forms(text: &str) -> Vec<Form> {
    serde_json::from_str(text).unwrap()
}

/// The reading shows a command with this program, subcommand and flags.
fn runs(reading: &Reading, target: &str) -> bool {
    let mut words = target.split(' ');
    let program = words.next().unwrap();
    let rest: Vec<&str> = words.collect();
    reading.commands.iter().any(|command| match git_call(command) {
        Some(call) if program == "git" => {
            call.subcommand.text == rest[0]
                && rest[1..].iter().all(|flag| match flag.strip_prefix("--") {
                    Some(long) => call.has_option(long, (long == "force").then_some('f')) || call.has_computed(),
                    None => call.args.iter().any(|a| a.text == *flag),
                })
        }
        _ => command.program == program && rest.iter().all(|w| command.args().iter().any(|a| a.text == *w)),
    })
}

fn writes(reading: &Reading, target: &str) -> bool {
    reading.writes.iter().any(|write| write.touches(target) != Touch::No)
}

fn caught(form: &Form) -> bool {
    let reading = read(&form.command);
    let seen = match form.kind.as_str() {
        "runs" => runs(&reading, &form.target),
        "writes" => writes(&reading, &form.target),
        other => panic!("{}: unknown kind {other}", form.id),
    };
    seen || !reading.is_clear()
}

fn check_hostile(name: &str, forms: &[Form]) {
    let missed: Vec<&str> = forms.iter().filter(|f| !caught(f)).map(|f| f.id.as_str()).collect();
    println!("{name}: caught {}/{}", forms.len() - missed.len(), forms.len());
    assert!(missed.is_empty(), "missed: {missed:#?}");
}

/// What no harmless line does.
const FORBIDDEN: &[&str] = &["git push", "git reset --hard"];
const PROTECTED: &[&str] = &["protected.txt", ".env", ".claude/settings.json"];

fn false_alarm(line: &str) -> Option<String> {
    let reading = read(line);
    if let Some(opaque) = reading.opaque.first() {
        return Some(format!("{line}\n      opaque: {:?} {}", opaque.why, opaque.text));
    }
    if let Some(target) = FORBIDDEN.iter().find(|target| runs(&reading, target)) {
        return Some(format!("{line}\n      runs {target}"));
    }
    let touched = |path: &&&str| reading.writes.iter().any(|w| w.touches(path) == Touch::Yes);
    PROTECTED.iter().find(touched).map(|path| format!("{line}\n      writes {path}"))
}

#[test]
fn every_known_hostile_form_is_caught() {
    let forms: Vec<Form> =
        forms(include_str!("../corpus/forms.json")).into_iter().filter(|f| f.kind != "benign").collect();
    check_hostile("forms", &forms);
}

#[test]
fn every_further_hostile_form_is_caught() {
    let forms = forms(include_str!("../corpus/hostile.json"));
    assert!(forms.len() >= 150, "only {}", forms.len());
    check_hostile("hostile", &forms);
}

#[test]
fn no_harmless_line_raises_an_alarm() {
    let known = forms(include_str!("../corpus/forms.json"));
    let mut lines: Vec<String> = known.into_iter().filter(|f| f.kind == "benign").map(|f| f.command).collect();
    // One line each; what has several stands between lines of `%%`.
    let mut block: Option<Vec<&str>> = None;
    for line in include_str!("../corpus/harmless.txt").lines() {
        match (&mut block, line) {
            (None, "%%") => block = Some(Vec::new()),
            (Some(_), "%%") => lines.extend(block.take().map(|b| b.join("\n"))),
            (Some(block), line) => block.push(line),
            (None, line) => lines.push(line.to_owned()),
        }
    }
    let alarms: Vec<String> = lines.iter().filter_map(|line| false_alarm(line)).collect();
    println!("harmless: false alarms {}/{}", alarms.len(), lines.len());
    assert!(lines.len() >= 500, "only {}", lines.len());
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
}
