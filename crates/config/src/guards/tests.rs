use super::*;
use crate::{Config, Powers};

const EVERYTHING: &str = r#"
[guards]
profile = "discipline"
order = ["control", "init", "no-publish"]
opaque = "ask"
denied_for = "10m"
deadline = "4s"
required_reads = ["CLAUDE.md", "state.md"]
secrets = ["*.p12"]
protected = [{ path = "src/core/**", level = "warn" }, { path = "LICENSE" }]
[guards.level]
scope = "block"
[guards.on_error]
lint = "closed"
[guards.main]
branches = ["main", "release/*"]
when = "always"
what = "edits"
[guards.destructive]
disk = "block"
[guards.checks]
before_commit = ["cargo clippy"]
timeout = "60s"
after_edit = [{ files = ["*.rs"], run = "rustfmt --check {file}" }]
[guards.issue]
priorities = ["P0"]
sections = [["Why", "なぜ"]]
[guards.pull]
sections = [["Summary"]]
needs_issue = true
[[guards.rule]]
name = "no-publish"
events = ["PreToolUse"]
tools = ["Bash"]
commands = ["npm publish *"]
paths = ["dist/**"]
prompts = ["ship it"]
decision = "ask"
message = "releases are made by CI"
run = ["./tools/check", "--strict"]
timeout = "5s"
on_error = "closed"
"#;

#[test]
fn a_value_of_the_wrong_kind_is_named_by_its_line_and_by_what_is_understood() {
    for (text, wanted) in [
        ("[guards]\nprofile = 3\n", "wanted string"),
        ("[guards]\nopaque = \"no\"\n", "`block`"),
        ("[guards.level]\nscope = 2\n", "wanted string"),
        ("[guards.rule]\nname = 1\n", "[[guards.rule]]"),
        ("language = 3\n[guards]\n", "`language` must be a string"),
    ] {
        let said = user(text).unwrap_err().to_string();
        assert!(!said.contains("unit variant") && said.contains(wanted), "{said}");
        assert!(!wanted.starts_with("wanted") || said.contains("line 2"), "{said}");
    }
    assert!(repository("language = 3\n[guards]\n").is_ok(), "it is nothing to the guards");
}

#[test]
fn a_section_nobody_knows_is_found_with_the_name_that_was_meant() {
    let found = repository("[guard.level]\nscope = \"block\"\n[runs]\nnonsense = 1\n").unwrap();
    assert_eq!(found.unknown, [("guard".to_owned(), Some("guards".to_owned()))], "other sections are not looked into");
    assert_eq!(user("[guards]\n[limits]\nagent = \"x\"\n").unwrap().unknown, []);
}

fn user(text: &str) -> Result<GuardTable, ConfigError> {
    GuardTable::read(Utf8Path::new("config.toml"), text, Source::User)
}

fn repository(text: &str) -> Result<GuardTable, ConfigError> {
    GuardTable::read(Utf8Path::new("dandori.toml"), text, Source::Repository)
}

fn reason(text: &str) -> String {
    let ConfigError::Bad { reason, suggestion, .. } = repository(text).unwrap_err() else { panic!("{text}") };
    // Whoever reads the whole file finds the same.
    let ConfigError::Bad { reason: whole, .. } =
        Config::default().merge(Utf8Path::new("dandori.toml"), text, Source::Repository).unwrap_err()
    else {
        panic!("{text}")
    };
    assert_eq!(reason, whole);
    format!("{reason} / {}", suggestion.unwrap_or_default())
}

#[test]
fn every_key_is_read() {
    let table = user(&format!("language = \"ja\"\n{EVERYTHING}")).unwrap();
    assert_eq!(table.language.as_deref(), Some("ja"));
    assert_eq!(table.profile, Some(Profile::Discipline));
    assert_eq!((table.denied_for, table.deadline), (Some(Seconds(600)), Some(Millis(4000))));
    assert_eq!(table.protected.iter().map(|p| p.level).collect::<Vec<_>>(), [Level::Warn, Level::Block]);
    assert_eq!(table.level.get("scope"), Some(&Level::Block));
    assert_eq!(table.on_error.get("lint"), Some(&ErrorPolicy::Closed));
    assert_eq!((table.main.when, table.main.what), (Some(MainWhen::Always), Some(MainWhat::Edits)));
    assert_eq!(table.checks.timeout, Some(Seconds(60)));
    assert_eq!(table.checks.after_edit.len(), 1);
    assert_eq!(table.pull.needs_issue, Some(true));
    let rule = table.rule.first().unwrap();
    assert_eq!((rule.decision, rule.timeout, rule.run.len()), (Level::Ask, Some(Seconds(5)), 2));
    Config::default().merge(Utf8Path::new("config.toml"), EVERYTHING, Source::User).unwrap();
}

#[test]
fn a_mistake_in_another_section_does_not_take_the_guards_along() {
    let table = user("agnt = 3\nlimits = 9\n[guards]\nopaque = \"block\"").unwrap();
    assert_eq!(table.opaque, Some(Level::Block));
    assert!(user("[guards]\nopaque = \"block\"\n[limits").is_err(), "what is no TOML cannot be read at all");
}

#[test]
fn unknown_keys_are_errors_with_the_nearest_name_also_in_lists() {
    for (text, wanted) in [
        ("[guards]\nprofil = \"safety\"", "unknown key `guards.profil` / guards.profile"),
        ("[guards.level]\nscpe = \"warn\"", "unknown key `guards.level.scpe` / guards.level.scope"),
        ("[guards.on_error]\nlimt = \"open\"", "unknown key `guards.on_error.limt` / guards.on_error.lint"),
        (
            "[[guards.rule]]\nname = \"a\"\ncomands = [\"x\"]",
            "unknown key `guards.rule.comands` / guards.rule.commands",
        ),
        (
            "[guards]\nprotected = [{ path = \"a\", levle = \"warn\" }]",
            "unknown key `guards.protected.levle` / guards.protected.level",
        ),
        ("[guards.destructive]\ndsk = \"warn\"", "unknown key `guards.destructive.dsk` / guards.destructive.disk"),
        ("[guards]\norder = [\"cntrol\"]", "guards.order: unknown guard `cntrol` / control"),
        ("[guards.rule]\nname = \"a\"", "`guards.rule` is a list of tables: write [[guards.rule]] / "),
    ] {
        assert_eq!(reason(text), wanted);
    }
}

#[test]
fn bad_values_say_what_is_understood() {
    for (text, wanted) in [
        ("[guards]\nprofile = \"strict\"", "`safety`"),
        ("[guards]\nopaque = \"info\"", "\"warn\""),
        ("[guards]\nopaque = \"loud\"", "`block`"),
        ("[guards.destructive]\ndisk = \"info\"", "guards.destructive.disk"),
        ("[guards]\ndenied_for = \"soon\"", "\"15m\""),
        ("[guards]\ndenied_for = \"0s\"", "above 0"),
        ("[guards]\ndeadline = \"4s\"", "config.toml"),
        ("[guards.level]\nscope = \"deny\"", "`ask`"),
        ("[guards.on_error]\nscope = \"maybe\"", "`closed`"),
        ("[guards.main]\nwhen = \"never\"", "`workspace`"),
        ("[guards.main]\nwhat = \"all\"", "`branch`"),
        ("[guards]\nsecrets = [\"*.{pem\"]", "invalid pattern"),
        ("[guards]\nprotected = [{ path = \"\" }]", "invalid pattern"),
        ("[guards.issue]\nsections = [[]]", "at least one name"),
        ("[guards.checks]\nbefore_commit = [\" \"]", "empty"),
        ("[[guards.rule]]\nname = \"scope\"\ntools = [\"Bash\"]", "already"),
        ("[[guards.rule]]\nname = \"a\"", "every tool"),
        ("[[guards.rule]]\nname = \"a b\"\ntools = [\"Bash\"]", "invalid name"),
        ("[[guards.rule]]\nname = \"a\"\nevents = [\"PreTool\"]", "PreToolUse"),
        ("[[guards.rule]]\ntools = [\"Bash\"]", "name"),
        ("[[guards.rule]]\nname = \"a\"\ntools = [\"x\"]\n[[guards.rule]]\nname = \"a\"\ntools = [\"y\"]", "duplicate"),
    ] {
        assert!(reason(text).contains(wanted), "{text}: {}", reason(text));
    }
    for deadline in ["1ms", "2m"] {
        assert!(user(&format!("[guards]\ndeadline = \"{deadline}\"")).is_err());
    }
}

#[test]
fn what_could_execute_or_loosen_is_a_power_and_what_can_only_tighten_is_none() {
    let powers = |text: &str| Powers::of_text(Utf8Path::new("dandori.toml"), text).unwrap().0;
    let strict = r#"[guards]
profile = "discipline"
opaque = "block"
required_reads = ["A.md"]
secrets = ["*.p12"]
protected = [{ path = "a", level = "off" }]
[guards.level]
scope = "block"
[guards.on_error]
lint = "closed"
[guards.main]
branches = ["release/*"]
when = "always"
what = "edits"
[guards.destructive]
disk = "block"
[guards.pull]
needs_issue = true
[[guards.rule]]
name = "a"
tools = ["Bash"]
decision = "warn"
"#;
    assert_eq!(powers(strict), Vec::<String>::new());
    let loose = r#"[guards]
profile = "safety"
opaque = "ask"
denied_for = "1s"
[guards.level]
scope = "warn"
[guards.on_error]
secrets = "open"
[guards.main]
when = "workspace"
what = "branch"
[guards.destructive]
disk = "warn"
[guards.checks]
before_commit = ["make lint"]
after_edit = [{ run = "fmt {file}" }]
[guards.issue]
priorities = ["any"]
sections = [["Why", "なぜ"], ["How"]]
[guards.pull]
sections = []
needs_issue = false
[[guards.rule]]
name = "mine"
run = ["./a.sh", "-x"]
"#;
    assert_eq!(
        powers(loose),
        [
            "guards.profile: safety",
            "guards.opaque: ask",
            "guards.denied_for: 1s",
            "guards.level.scope: warn",
            "guards.destructive.disk: warn",
            "guards.on_error.secrets: open",
            "guards.main.when: workspace",
            "guards.main.what: branch",
            "guards.issue.priorities: any",
            "guards.issue.sections: Why/なぜ, How",
            "guards.pull.sections: ",
            "guards.pull.needs_issue: false",
            "guards.checks.before_commit: make lint",
            "guards.checks.after_edit: fmt {file}",
            "guards.rule.mine.run: ./a.sh -x",
        ]
    );
}

#[test]
fn the_examples_of_the_documentation_are_understood() {
    for text in [include_str!("../../../../docs/guards.md"), include_str!("../../../../docs/guards.ja.md")] {
        let examples: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert_eq!(examples.len(), 2);
        for example in examples {
            assert_ne!(user(example).unwrap(), GuardTable::default());
        }
        for name in EVENTS.iter().chain(dandori_domain::guard::CLASSES).chain(NAMES) {
            assert!(text.contains(name), "{name}");
        }
    }
}
