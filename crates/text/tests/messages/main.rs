//! Every error a user can meet, in both languages, as it is printed: a sample of each kind. The files beside this one hold
//! them to be read; `UPDATE=1 cargo test -p dandori-text --test messages` writes them.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests: a panic is how they report")]

mod failures;
mod misuses;
mod needs;
mod notes;
mod problems;
mod refusals;

use std::fmt::Write;
use std::path::Path;

use dandori_text::{Lang, Said, ui};

/// A list with a sample of every kind: a kind without one does not compile, nor does one in the wrong place pass.
macro_rules! every {
    ($of:ty { $($pattern:pat => [$($sample:expr),+ $(,)?]),+ $(,)? }) => {{
        let _: fn(&$of) = |one| match one { $($pattern => ()),+ };
        let mut all: Vec<$of> = Vec::new();
        $($({
            let sample: $of = $sample;
            assert!(matches!(sample, $pattern), "{sample:?} is the sample of another kind");
            all.push(sample);
        })+)+
        all
    }};
}
pub(crate) use every;

const LANGUAGES: [Lang; 2] = [Lang::En, Lang::Ja];

/// Fails when the file beside this one is not what is printed now.
fn is_fresh(name: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/messages").join(name);
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let changed = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "{name} is stale at {changed:?}: UPDATE=1 cargo test -p dandori-text --test messages, and read it"
    );
}

/// An error as the program prints it, English above Japanese.
fn printed(name: &str, said: impl Fn(Lang) -> Said) -> String {
    let mut text = format!("{name}\n");
    for lang in LANGUAGES {
        let said = said(lang);
        assert_whole(name, lang, &said);
        let _ = writeln!(text, "  {}: {}", ui::error_word(lang), said.what);
        for line in said.why.iter().flat_map(|why| why.lines()) {
            let _ = writeln!(text, "    {line}");
        }
        let _ = writeln!(text, "  {}: {}", ui::hint_word(lang), said.hint);
    }
    text
}

/// A sentence as it is printed, English above Japanese.
fn sentences(name: &str, said: impl Fn(Lang) -> String) -> String {
    let (en, ja) = (said(Lang::En), said(Lang::Ja));
    assert!(!is_japanese(&en), "{name}: Japanese in {en}");
    assert!(is_japanese(&ja), "{name}: no Japanese in {ja}");
    format!("{name}\n  {en}\n  {ja}\n")
}

fn assert_whole(name: &str, lang: Lang, said: &Said) {
    let all = format!("{} {} {}", said.what, said.why.clone().unwrap_or_default(), said.hint);
    match lang {
        Lang::En => assert!(!is_japanese(&all), "{name}: Japanese in {all}"),
        Lang::Ja => assert!(is_japanese(&said.what), "{name}: no Japanese in {}", said.what),
    }
    // A hint that is only commands to type is the same in every language.
    assert!(
        lang == Lang::En || is_japanese(&said.hint) || said.hint.starts_with('`'),
        "{name}: no Japanese in {}",
        said.hint
    );
    assert!(!said.what.ends_with(['.', '。']) && !said.hint.ends_with(['.', '。']), "{name}: a full stop in {all}");
    assert!(all.matches('`').count() % 2 == 0, "{name}: a backquote is not closed in {all}");
    assert!(!said.hint.contains("<task>"), "{name}: the hint cannot be typed as it is: {}", said.hint);
}

fn is_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

fn list(all: &[&str]) -> Vec<String> {
    all.iter().map(|&one| one.to_owned()).collect()
}
