//! The corpora: every hostile form is seen or opaque, and no harmless line is taken for one.
#![expect(clippy::print_stdout, reason = "a test")]

use dandori_corpus::{Form, Kind, runs};
use dandori_shell::{Touch, read};

fn check_hostile(name: &str, forms: &[Form]) {
    let is_missed = |form: &&Form| !form.is_caught(&read(&form.command));
    let missed: Vec<&str> = forms.iter().filter(is_missed).map(|f| f.id.as_str()).collect();
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
    let forms: Vec<Form> = dandori_corpus::known().into_iter().filter(|f| f.kind != Kind::Benign).collect();
    check_hostile("forms", &forms);
}

#[test]
fn every_further_hostile_form_is_caught() {
    let forms = dandori_corpus::further();
    assert!(forms.len() >= 150, "only {}", forms.len());
    check_hostile("hostile", &forms);
}

#[test]
fn no_harmless_line_raises_an_alarm() {
    let lines = dandori_corpus::harmless();
    let alarms: Vec<String> = lines.iter().filter_map(|line| false_alarm(line)).collect();
    println!("harmless: false alarms {}/{}", alarms.len(), lines.len());
    assert!(lines.len() >= 500, "only {}", lines.len());
    assert!(alarms.is_empty(), "false alarms:\n{}", alarms.join("\n"));
}
