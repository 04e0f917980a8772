//! What a formation says, in both languages, as an agent or a user gets it. The files beside this one hold it to be read;
//! `UPDATE=1 cargo test -p dandori-text --test formation` writes them.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests: a panic is how they report")]

mod deliveries;
mod problems;
mod roles;
mod sample;
mod views;

use std::path::Path;

use dandori_text::Lang;

const LANGUAGES: [(Lang, &str); 2] = [(Lang::En, "en"), (Lang::Ja, "ja")];

/// Fails when the file beside this one is not what is said now.
fn is_fresh(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formation").join(name);
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "{name} is stale at {changed:?}: UPDATE=1 cargo test -p dandori-text --test formation, and read it"
    );
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}
