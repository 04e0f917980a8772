//! What a verb refuses by itself, without a problem of the domain's: every public function that makes such a refusal.

use std::collections::BTreeSet;
use std::path::Path;

use dandori_text::formation::asked;
use dandori_text::guard::verbs;
use dandori_text::{Lang, Said, config, demo, editor, front, guard_verbs, inbox, pulls, ui, uninstall, worktree};

use crate::{is_fresh, list, printed};

type Refusal = Box<dyn Fn(Lang) -> Said>;

fn all() -> Vec<(&'static str, Refusal)> {
    let runs = || vec![("7f3k2m9q".to_owned(), "claude".to_owned()), ("q8z1c0aa".to_owned(), "codex".to_owned())];
    let said = |name: &'static str, make: fn(Lang) -> Said| -> (&'static str, Refusal) { (name, Box::new(make)) };
    vec![
        said("ui::no_state_root", ui::no_state_root),
        said("editor::none", editor::none),
        said("editor::failed", |lang| editor::failed(lang, "vim", "exit code 1")),
        said("editor::empty", |lang| editor::empty(lang, "dandori run")),
        said("editor::no_instruction", |lang| editor::no_instruction(lang, "dandori task follow-up T-3")),
        said("editor::no_template", |lang| editor::no_template(lang, "fix", &list(&["review", "test"]))),
        said("editor::no_template (none yet)", |lang| editor::no_template(lang, "fix", &[])),
        said("editor::bad_name", |lang| editor::bad_name(lang, "../fix")),
        said("editor::is_folder", |lang| editor::is_folder(lang, "notes")),
        said("editor::no_terminal", |lang| editor::no_terminal(lang, "vi", "dandori.toml")),
        said("pulls::no_browser", |lang| pulls::no_browser(lang, "https://github.com/ann/shop/pull/4")),
        said("pulls::not_chosen", |lang| {
            pulls::not_chosen(lang, &pulls::pick_commands("T-3", &list(&["7f3k2m9q", "q8z1c0aa"])))
        }),
        said("worktree::gone (preserved)", |lang| worktree::gone(lang, "T-3", Some("dandori/t-3"), Some("7f3k2m9q"))),
        said("worktree::gone (branch)", |lang| worktree::gone(lang, "T-3", Some("dandori/t-3"), None)),
        said("worktree::gone", |lang| worktree::gone(lang, "T-3", None, None)),
        ("worktree::several", Box::new(move |lang| worktree::several(lang, "T-3", &runs(), "dandori task open"))),
        said("inbox::bad_duration", |lang| inbox::bad_duration(lang, "soon")),
        said("inbox::nothing_named", inbox::nothing_named),
        said("asked::bad_id", |lang| asked::bad_id(lang, "--task-id", "task_x")),
        said("asked::missing", |lang| asked::missing(lang, "--command-id", "cancel-request")),
        said("asked::wrong_receiver", |lang| asked::wrong_receiver(lang, "command", "planner")),
        said("asked::no_order_named", asked::no_order_named),
        said("config::not_there", |lang| config::not_there(lang, "agent", "dandori.toml")),
        said("config::unknown_key", |lang| config::unknown_key(lang, "agnet", Some("agent"))),
        said("config::unknown_key (nothing near)", |lang| config::unknown_key(lang, "zzz", None)),
        said("config::cannot_set", |lang| config::cannot_set(lang, "pr", "expected a boolean", None)),
        said("config::cannot_set (another key)", |lang| {
            config::cannot_set(lang, "agnet", "unknown key", Some("agent"))
        }),
        said("config::cannot_be", |lang| {
            config::cannot_be(lang, "language", "fr", config::expected(lang, "language").unwrap_or_default())
        }),
        said("config::empty_part", |lang| config::empty_part(lang, "agents..command")),
        said("config::exists", |lang| config::exists(lang, "/home/ann/shop/dandori.toml", " --repository")),
        said("config::outside", config::outside),
        said("uninstall::still_at_work (one)", |lang| uninstall::still_at_work(lang, &list(&["T-3"]))),
        said("uninstall::still_at_work", |lang| uninstall::still_at_work(lang, &list(&["T-3", "T-4"]))),
        said("uninstall::left", |lang| uninstall::left(lang, &list(&["/w/t-3: locked"]))),
        said("guard_verbs::bad_span", |lang| guard_verbs::bad_span(lang, "yesterday")),
        said("verbs::not_asked", |lang| {
            verbs::not_asked(lang, &ui::trust_question(lang, "dandori.toml"), "dandori trust --yes")
        }),
        said("verbs::declined", |lang| verbs::declined(lang, "dandori trust --yes")),
        said("verbs::not_confirmed", verbs::not_confirmed),
        said("verbs::not_a_person", |lang| verbs::not_a_person(lang, &verbs::no_terminal(lang))),
        said("verbs::not_a_person (an agent)", |lang| {
            verbs::not_a_person(lang, &verbs::inside_agent(lang, "Claude Code"))
        }),
        said("verbs::no_such_guard", |lang| verbs::no_such_guard(lang, "manbranch", "bash, main-branch, secrets")),
        said("verbs::never_excepted", |lang| verbs::never_excepted(lang, "control")),
        said("verbs::never_excepted (consent)", |lang| verbs::never_excepted(lang, "consent")),
        said("verbs::bad_lasts", |lang| verbs::bad_lasts(lang, "soon")),
        said("verbs::bad_pattern", |lang| verbs::bad_pattern(lang, "docs/[")),
        said("verbs::empty_command", verbs::empty_command),
        said("verbs::no_such_exception", |lang| verbs::no_such_exception(lang, "x7")),
        said("verbs::too_long", verbs::too_long),
        said("verbs::bad_event", |lang| verbs::bad_event(lang, "expected value at line 1 column 1")),
        said("front::two_meanings", |lang| {
            front::two_meanings(lang, "rm", &list(&["dandori task cancel T-3", "dandori worktree remove T-3"]))
        }),
        said("demo::not_empty", |lang| demo::not_empty(lang, "/home/ann/demo")),
    ]
}

/// The functions of this crate that make a refusal, as `file::name`.
fn made_here() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    let mut open = vec![source];
    while let Some(folder) = open.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let file = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            for line in text.lines().filter(|line| line.contains("-> Said {") || line.contains("-> crate::Said {")) {
                if let Some((name, _)) = line.strip_prefix("pub fn ").and_then(|rest| rest.split_once('(')) {
                    found.insert(format!("{file}::{name}"));
                }
            }
        }
    }
    found
}

#[test]
fn every_refusal_reads_well_in_both_languages() {
    let all = all();
    let text: Vec<String> = all.iter().map(|(name, said)| printed(name, said)).collect();
    is_fresh("refusals.txt", &text.join("\n"));

    let shown: BTreeSet<String> =
        all.iter().map(|(name, _)| name.split(' ').next().unwrap_or_default().to_owned()).collect();
    // These have lists of their own.
    let elsewhere = ["misuse::misuse", "problem::problem", "refused::refused"].map(str::to_owned);
    let made: BTreeSet<String> = made_here().into_iter().filter(|name| !elsewhere.contains(name)).collect();
    assert_eq!(shown, made);
}
