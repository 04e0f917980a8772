//! The first ten minutes, typed into a real terminal: at 80 and 40 columns, in English and in Japanese.
//!
//! Every screen is a text file in `screens`, to be read as a new user reads it; `UPDATE=1` writes them. What a screen
//! names as the next command is typed as it stands there, wherever the story goes on with it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests: a panic is how they report"
)]

mod agent;
mod plain;
mod play;
mod screens;
mod words;

use dandori_text::Lang;

use crate::play::Play;

#[test]
fn in_english_on_80_columns() {
    first_ten_minutes(Lang::En, 80);
}

#[test]
fn in_english_on_40_columns() {
    first_ten_minutes(Lang::En, 40);
}

#[test]
fn in_japanese_on_80_columns() {
    first_ten_minutes(Lang::Ja, 80);
}

#[test]
fn in_japanese_on_40_columns() {
    first_ten_minutes(Lang::Ja, 40);
}

fn first_ten_minutes(lang: Lang, columns: u16) {
    let words = words::words(lang);
    let mut play = Play::new(lang, columns);
    play.types("demo", "dandori demo");
    play.types("before", "dandori");

    // A repository that has no remote, from the first run to the merge.
    play.goes_to("hello");
    play.types("empty", "dandori");
    play.begins(&format!("dandori run \"{}\"", words.greet));
    play.sees("run-working", &[&format!("● {}", words.checking), &format!("RUNNING  {}", words.thinking)]);
    play.lets_go("T-1", 0);
    play.ends("run-ended");
    play.types_next("diff", "dandori task diff T-1");
    play.types("follow-up", &format!("dandori task follow-up T-1 \"{}\"", words.several));
    play.types_next("pr-create", "dandori pr create T-1");
    play.types_next("pr-show", "dandori pr show 1");
    play.begins_next("dandori pr merge 1");
    play.is_asked("y", "pr-merge");
    play.types("pr-list", "dandori pr list");
    play.types("after-merge", "dandori");

    // One that has a remote, with work of one's own that is not there yet.
    play.goes_to("shop");
    play.begins(&format!("dandori run \"{}\" --agents claude,codex", words.friendlier));
    play.sees("two-working", &["✓ ", words.thinking]);
    play.lets_go("T-2", 0);
    play.ends("two-ended");
    play.types_next("compare", "dandori task compare T-2");
    play.begins_next("dandori task diff T-2");
    play.is_asked("2", "diff-which");
    play.types("pick", "dandori task pick T-2 codex");
    play.types("show-picked", "dandori task show T-2");
    play.types_next("pr-create-picked", "dandori pr create T-2");
    play.types_next("pr-show-picked", "dandori pr show 1");
    play.begins_next("dandori pr merge 1");
    play.is_asked("y", "pr-merge-pushed");
    play.does_next("git pull --rebase");

    // What does not go as planned.
    play.types("detach", &format!("dandori run \"{}\" --detach", words.python));
    play.waits_for_file("T-3", "greet.py");
    play.types("list-running", "dandori task list");
    play.types("log-stopped", "timeout -s INT 2 dandori task log T-3");
    play.types("cancel", "dandori task cancel T-3");
    play.types_next("restore", "dandori worktree restore ");
    play.does_next("cd ");
    play.is_in_worktree_with("greet.py");
    play.goes_to("shop");
    play.types("failed", &format!("dandori run \"{}\"", words.translate));
    play.types("inbox", "dandori inbox");
    play.types("front-door", "dandori");
    play.types("status", "dandori status");
    play.types("list", "dandori task list");
    play.types("worktrees", "dandori worktree list");
    play.types("near", "dandori logs T-1");
    play.types("unknown", "dandori task show T-99");

    play.types("config", "dandori config show");
    play.types("init", "dandori init");
    play.types("outside", "cd ~; dandori");
    play.begins("dandori uninstall");
    play.is_asked("y", "uninstall");
    play.is_clean();
    play.close();
}
