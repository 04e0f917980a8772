//! Pages that are made from the program itself. `UPDATE=1 cargo test -p dandori --test cli reference` writes them.

use std::fmt::Write;

use camino::Utf8Path;
use dandori_config::{keys, settings};
use dandori_text::{Lang, config as text};

const MARK: &str = "<!-- made from the program; `UPDATE=1 cargo test -p dandori --test cli reference` writes it -->";

/// Everything behind the mark is ours, what stands before it is written by hand.
fn is_fresh(name: &str, made: &str) {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let (by_hand, _) = kept.split_once(MARK).unwrap_or((kept.as_str(), ""));
    let fresh = format!("{by_hand}{MARK}\n\n{made}");
    if std::env::var("UPDATE").is_ok() {
        std::fs::write(&path, &fresh).unwrap();
        return;
    }
    assert!(kept == fresh, "docs/{name} is stale: UPDATE=1 cargo test -p dandori --test cli reference");
}

fn configuration(lang: Lang) -> String {
    let defaults = settings(Utf8Path::new("/nonexistent"), None).unwrap();
    let (head, user_only) = match lang {
        Lang::En => ("| key | default | what it does |", "only in your own file"),
        Lang::Ja => ("| キー | 既定値 | 内容 |", "ユーザー設定のみ"),
    };
    let mut page = format!("{head}\n| --- | --- | --- |\n");
    for key in keys() {
        let default = defaults.iter().find(|s| s.key == key.name).and_then(|s| s.value.as_ref());
        let default = default.map(|v| {
            format!("`{}`", v.to_string().trim().replace("\"\"\"\n", "\"").replace("\"\"\"", "\"").replace('\n', "\\n"))
        });
        let about = text::about(lang, key.name).unwrap().replace('|', "\\|");
        let place = if key.user_only { format!(" ({user_only})") } else { String::new() };
        let _ = writeln!(page, "| `{}` | {} | {about}{place} |", key.name, default.unwrap_or_default());
    }
    page
}

#[test]
fn the_pages_of_the_configuration_are_fresh() {
    is_fresh("configuration.md", &configuration(Lang::En));
    is_fresh("configuration.ja.md", &configuration(Lang::Ja));
}
