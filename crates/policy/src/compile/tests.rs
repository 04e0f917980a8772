use dandori_config::guards::{IssueTable, MainTable, PullTable};
use dandori_domain::guard::NAMES;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

const REPOSITORY: &str = "/r/dandori.toml";

fn table(text: &str, source: dandori_config::Source) -> GuardTable {
    GuardTable::read(REPOSITORY.into(), text, source).unwrap()
}

fn sources(user: &str, repository: &str) -> Sources {
    Sources {
        user: table(user, dandori_config::Source::User),
        is_user_unknown: false,
        repository: table(repository, dandori_config::Source::Repository),
        repository_path: REPOSITORY.into(),
        trusted: false,
        listed: Vec::new(),
        default_profile: Profile::Safety,
        control: Vec::new(),
        worktrees: Vec::new(),
    }
}

fn untrusted(user: &str, repository: &str) -> Compiled {
    compile(sources(user, repository))
}

fn trusted(user: &str, repository: &str) -> Compiled {
    compile(Sources { trusted: true, ..sources(user, repository) })
}

fn disciplined(user: &str, repository: &str, trusted: bool) -> Compiled {
    compile(Sources { trusted, default_profile: Profile::Discipline, ..sources(user, repository) })
}

fn refused(compiled: &Compiled) -> Vec<String> {
    let of = |note: &RulesNote| if let RulesNote::NeedsTrust { keys, .. } = note { keys.clone() } else { vec![] };
    compiled.notes.iter().flat_map(of).collect()
}

#[test]
fn the_names_a_configuration_may_use_are_the_guards_that_are_there() {
    let guards: Vec<&str> = ALL.iter().map(|guard| guard.name).collect();
    assert_eq!(guards, NAMES);
}

#[test]
fn without_a_word_the_defaults_of_the_profile_hold() {
    assert_eq!(untrusted("", "").rules, Rules::of(Profile::Safety));
    assert_eq!(disciplined("", "", false).rules, Rules::of(Profile::Discipline));
    assert!(untrusted("", "").origins.values().all(|origin| *origin == Origin::Default));
}

#[test]
fn a_user_says_what_holds_in_either_direction() {
    let user = "language = \"ja\"\n[guards]\nprofile = \"safety\"\nopaque = \"off\"\ndenied_for = \"1s\"\ndeadline = \"1s\"\nrequired_reads = []\n[guards.level]\nsecrets = \"warn\"\nbash = \"off\"\n[guards.on_error]\nsecrets = \"open\"\n[guards.main]\nbranches = [\"trunk\"]\nwhen = \"workspace\"\nwhat = \"branch\"\n[guards.issue]\npriorities = []\nsections = []\n[guards.pull]\nneeds_issue = false";
    let Compiled { rules, notes, origins } = disciplined(user, "", false);
    assert_eq!((rules.profile, rules.opaque, rules.denied_seconds), (Profile::Safety, Level::Off, 1));
    assert_eq!((rules.deadline_ms, rules.language.as_deref()), (1000, Some("ja")));
    assert_eq!(
        (rules.level("secrets"), rules.level("bash"), rules.level("opaque")),
        (Level::Warn, Level::Off, Level::Off)
    );
    assert_eq!(rules.active("secrets").unwrap().on_error, ErrorPolicy::Open);
    assert_eq!(rules.main.branches, ["trunk"]);
    assert!(rules.main.only_workspace && rules.main.what == MainWhat::Branch);
    assert!(rules.issue.priorities.is_empty() && rules.issue.sections.is_empty() && !rules.pull.needs_issue);
    assert!(rules.required_reads.is_empty() && notes.is_empty());
    assert_eq!(
        (origins["secrets"], origins["opaque"], origins["scope"]),
        (Origin::User, Origin::User, Origin::Default)
    );
}

#[test]
fn a_repository_loosens_a_default_only_when_it_is_trusted() {
    for (line, key) in [
        ("profile = \"safety\"", "guards.profile"),
        ("opaque = \"warn\"", "guards.opaque"),
        ("denied_for = \"1s\"", "guards.denied_for"),
        ("[guards.level]\nsecrets = \"off\"", "guards.level.secrets"),
        ("[guards.level]\nopaque = \"warn\"", "guards.level.opaque"),
        ("[guards.on_error]\nsecrets = \"open\"", "guards.on_error.secrets"),
        ("[guards.main]\nwhat = \"branch\"", "guards.main.what"),
        ("[guards.main]\nwhen = \"workspace\"", "guards.main.when"),
        ("[guards.destructive]\ndisk = \"warn\"", "guards.destructive.disk"),
        ("[guards.checks]\nbefore_commit = [\"make\"]", "guards.checks.before_commit"),
        ("[guards.checks]\nafter_edit = [{ run = \"make\" }]", "guards.checks.after_edit"),
        ("[guards.issue]\npriorities = []", "guards.issue.priorities"),
        ("[guards.issue]\npriorities = [\"P0\", \"any\"]", "guards.issue.priorities"),
        ("[guards.issue]\nsections = []", "guards.issue.sections"),
        ("[guards.pull]\nsections = []", "guards.pull.sections"),
        ("[guards.pull]\nneeds_issue = false", "guards.pull.needs_issue"),
        ("[[guards.rule]]\nname = \"mine\"\nrun = [\"./x\"]", "guards.rule.mine.run"),
    ] {
        let repository = format!("[guards]\n{line}");
        let without = disciplined("", &repository, false);
        assert_eq!(refused(&without), [key], "{line}");
        assert_eq!(without.rules, Rules::of(Profile::Discipline), "{line}");
        let with = disciplined("", &repository, true);
        assert!(refused(&with).is_empty() && with.rules != Rules::of(Profile::Discipline), "{line}");
    }
}

#[test]
fn a_repository_tightens_without_trust() {
    let repository = r#"[guards]
profile = "discipline"
opaque = "block"
denied_for = "1h"
required_reads = ["docs/RULES.md"]
secrets = ["*.p12"]
[guards.level]
scope = "block"
[guards.on_error]
lint = "closed"
[guards.main]
branches = ["release/*"]
what = "edits"
[guards.destructive]
disk = "block"
[guards.checks]
timeout = "5m"
[guards.issue]
priorities = ["P0", "P1"]
[[guards.rule]]
name = "no-publish"
commands = ["npm publish *"]
"#;
    let Compiled { rules, notes, origins } = untrusted("", repository);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((rules.profile, rules.opaque, rules.denied_seconds), (Profile::Discipline, Level::Block, 3600));
    assert_eq!((rules.level("scope"), rules.level("opaque")), (Level::Block, Level::Block));
    assert_eq!(rules.active("lint").unwrap().on_error, ErrorPolicy::Closed);
    assert_eq!(rules.main.branches, ["main", "master", "release/*"]);
    assert_eq!(rules.checks.seconds, 300);
    assert_eq!(rules.issue.priorities, ["P0", "P1"]);
    assert!(rules.secrets.contains(&"*.p12".to_owned()) && rules.secrets.contains(&".env".to_owned()));
    assert!(rules.required_reads.contains(&"state.md".to_owned()));
    assert_eq!(rules.level("no-publish"), Level::Block);
    assert_eq!((origins["scope"], origins["opaque"]), (Origin::Repository, Origin::Repository));
    assert_eq!(origins["no-publish"], Origin::Repository);
}

#[test]
fn sections_of_an_untrusted_repository_are_asked_for_beside_those_it_left_out() {
    let compiled = disciplined("", "[guards.pull]\nsections = [[\"Summary\"], [\"Risk\"]]", false);
    let first: Vec<&str> = compiled.rules.pull.sections.iter().map(|names| names[0].as_str()).collect();
    assert_eq!(first, ["Test plan", "Summary", "Risk"]);
    assert_eq!(refused(&compiled), ["guards.pull.sections"]);
}

#[test]
fn even_a_trusted_repository_does_not_loosen_what_the_user_has_set() {
    let user = "[guards]\nprofile = \"discipline\"\nopaque = \"block\"\n[guards.level]\nscope = \"ask\"\n[guards.issue]\npriorities = [\"P0\"]\nsections = [[\"Why\"]]";
    let repository = "[guards]\nprofile = \"safety\"\nopaque = \"off\"\n[guards.level]\nscope = \"off\"\n[guards.issue]\npriorities = []\nsections = [[\"How\"]]";
    let Compiled { rules, notes, .. } = trusted(user, repository);
    assert_eq!((rules.profile, rules.opaque, rules.level("scope")), (Profile::Discipline, Level::Block, Level::Ask));
    assert_eq!(rules.issue.priorities, ["P0"]);
    assert_eq!(rules.issue.sections, [["Why"], ["How"]]);
    assert!(notes.is_empty(), "the stricter of both is nothing to tell about: {notes:?}");
}

#[test]
fn an_unreadable_user_s_file_means_the_stricter_profile_and_nothing_loosened() {
    let repository = "[guards]\nprofile = \"safety\"\n[guards.level]\nsecrets = \"off\"\n[guards.checks]\nbefore_commit = [\"make lint\"]";
    let rules = compile(Sources { is_user_unknown: true, trusted: true, ..sources("", repository) }).rules;
    assert_eq!((rules.profile, rules.level("secrets")), (Profile::Discipline, Level::Block));
    assert_eq!(rules.checks.before_commit, ["make lint"], "what is trusted still checks");
}

#[test]
fn the_guards_for_all_tools_come_first_and_the_rest_as_the_order_says() {
    let names = |compiled: &Compiled| compiled.rules.order.iter().map(|a| a.name.clone()).collect::<Vec<_>>();
    let usual = names(&disciplined("", "", false));
    let repository = "[guards]\norder = [\"mine\", \"scope\", \"secrets\", \"lint\"]\n[[guards.rule]]\nname = \"mine\"\ntools = [\"Bash\"]";
    let found = names(&disciplined("", repository, false));
    let is_for_all = |name: &&str| {
        !["unjudged", "secrets"].contains(name) && dandori_guard::guards::find(name).unwrap().on.contains(&On::AnyTool)
    };
    let any_tool: Vec<&str> =
        ["unjudged", "secrets"].into_iter().chain(NAMES.iter().copied().filter(is_for_all)).collect();
    assert_eq!(found[..any_tool.len()], any_tool);
    assert_eq!(found[any_tool.len()..][..3], ["mine", "scope", "lint"]);
    let rest: Vec<&String> = found[any_tool.len() + 3..].iter().collect();
    let usual_rest: Vec<&String> = usual.iter().filter(|name| rest.contains(name)).collect();
    assert_eq!(rest, usual_rest);
    assert_eq!(found.len(), usual.len() + 1, "none is left out, none stands twice");
    let user = "[guards]\norder = [\"merge\"]";
    assert_eq!(names(&disciplined(user, repository, false))[any_tool.len()], "merge", "the user's order goes before");
}

#[test]
fn own_rules_of_both_stand_side_by_side_also_under_one_name() {
    let user = "[[guards.rule]]\nname = \"a\"\ntools = [\"Bash\"]\ndecision = \"block\"\non_error = \"closed\"";
    let repository = "[[guards.rule]]\nname = \"a\"\ntools = [\"Bash\"]\ndecision = \"info\"\n[[guards.rule]]\nname = \"b\"\nrun = [\"./b\"]\ntimeout = \"9s\"";
    let rules = trusted(user, repository).rules;
    let found: Vec<(&str, Level, u64)> =
        rules.custom.iter().map(|rule| (rule.name.as_str(), rule.decision, rule.seconds)).collect();
    assert_eq!(found, [("a", Level::Block, 5), ("repository/a", Level::Info, 5), ("b", Level::Block, 9)]);
    assert_eq!(rules.active("a").unwrap().on_error, ErrorPolicy::Closed);
    assert_eq!(rules.active("b").unwrap().on_error, ErrorPolicy::Open);
    assert_eq!(untrusted(user, repository).rules.custom.len(), 2, "what would execute is left out without trust");
}

#[test]
fn protected_files_of_a_repository_add_to_the_user_s_and_lift_none_of_them() {
    let user = "[guards]\nprotected = [{ path = \"free\", level = \"off\" }, { path = \"u\", level = \"warn\" }, { path = \"both\", level = \"ask\" }]";
    let repository = "[guards]\nprotected = [{ path = \"u\", level = \"off\" }, { path = \"mine\", level = \"off\" }, { path = \"both\", level = \"block\" }, { path = \"free\" }]";
    let listed =
        ["mine", "listed", "u"].map(|name| Protected { pattern: name.to_owned(), level: Level::Warn }).to_vec();
    let rules = compile(Sources { listed, ..sources(user, repository) }).rules;
    let level = |path: &str| rules.protection(|pattern| pattern == path).map(|found| found.level);
    assert_eq!(level("free"), None, "the user's exception holds against the repository");
    assert_eq!(level("u"), Some(Level::Warn), "a repository's exception does not lift the user's");
    assert_eq!(level("both"), Some(Level::Block), "the stricter of both");
    assert_eq!(level("mine"), None, "a repository may except from its own list");
    assert_eq!(level("listed"), Some(Level::Warn));
    assert_eq!(level("other"), None);
}

fn level() -> impl Strategy<Value = Level> {
    select(Level::ALL.to_vec())
}

fn guard_tables() -> impl Strategy<Value = GuardTable> {
    let policy = select(vec![ErrorPolicy::Open, ErrorPolicy::Closed]);
    let names = || select(NAMES.to_vec()).prop_map(str::to_owned);
    let labels = || subsequence(vec!["P0".to_owned(), "P1".to_owned(), "P9".to_owned()], 0..=3);
    let sections =
        || option::of(vec(subsequence(vec!["Why".to_owned(), "なぜ".to_owned(), "How".to_owned()], 1..=3), 0..3));
    let main = (
        option::of(labels()),
        option::of(select(vec![MainWhen::Workspace, MainWhen::Always])),
        option::of(select(vec![WrittenWhat::Branch, WrittenWhat::Edits])),
    );
    let first = (
        option::of(select(vec![Profile::Safety, Profile::Discipline])),
        option::of(level()),
        option::of((1_u64..2000).prop_map(Seconds)),
        option::of(labels()),
        labels(),
        btree_map(names(), level(), 0..8),
        btree_map(names(), policy, 0..8),
    );
    let second = (
        main,
        btree_map(select(vec!["disk".to_owned(), "git".to_owned()]), level(), 0..3),
        (option::of(labels()), sections()),
        (sections(), option::of(any::<bool>())),
        (labels(), option::of((1_u64..200).prop_map(Seconds))),
    );
    (first, second).prop_map(|(first, second)| {
        let (profile, opaque, denied_for, required_reads, secrets, level, on_error) = first;
        let (main, destructive, issue, pull, (before_commit, timeout)) = second;
        GuardTable {
            profile,
            opaque,
            denied_for,
            required_reads,
            secrets,
            level,
            on_error,
            main: MainTable { branches: main.0, when: main.1, what: main.2 },
            destructive,
            checks: dandori_config::guards::ChecksTable { before_commit, timeout, ..Default::default() },
            issue: IssueTable { priorities: issue.0, sections: issue.1 },
            pull: PullTable { sections: pull.0, needs_issue: pull.1 },
            ..GuardTable::default()
        }
    })
}

/// Each text of one list is in the other.
fn is_within(few: &[String], many: &[String]) -> bool {
    few.iter().all(|text| many.contains(text))
}

/// Whether every section of `base` is asked for by `found`.
fn asks_for(found: &[Vec<String>], base: &[Vec<String>]) -> bool {
    base.iter().all(|section| found.iter().any(|names| is_within(names, section)))
}

fn asserts_no_looser(found: &Rules, than: &Rules) {
    assert!(found.profile >= than.profile);
    assert!(found.opaque >= than.opaque);
    assert!(found.denied_seconds >= than.denied_seconds);
    assert!(found.checks.seconds >= than.checks.seconds);
    assert_eq!(found.deadline_ms, than.deadline_ms);
    for active in &than.order {
        let now = found.active(&active.name).unwrap_or_else(|| panic!("{} is off", active.name));
        assert!(now.level >= active.level, "{}", active.name);
        assert!(now.on_error >= active.on_error, "{}", active.name);
    }
    for (class, level) in &than.destructive {
        assert!(found.destructive.get(class) >= Some(level), "{class}");
    }
    let new = found.destructive.iter().filter(|(class, _)| !than.destructive.contains_key(*class));
    assert!(new.into_iter().all(|(_, level)| *level == Level::Block));
    assert!(found.main.what >= than.main.what);
    assert!(!found.main.only_workspace || than.main.only_workspace);
    assert!(is_within(&than.main.branches, &found.main.branches));
    assert!(is_within(&than.secrets, &found.secrets));
    assert!(is_within(&than.required_reads, &found.required_reads));
    assert!(is_within(&than.checks.before_commit, &found.checks.before_commit));
    assert!(found.pull.needs_issue || !than.pull.needs_issue);
    assert!(asks_for(&found.issue.sections, &than.issue.sections));
    assert!(asks_for(&found.pull.sections, &than.pull.sections));
    let (labels, before) = (&found.issue.priorities, &than.issue.priorities);
    assert!(before.is_empty() || !labels.is_empty() && is_within(labels, before));
}

fn generated(user: GuardTable, repository: GuardTable, trusted: bool, default_profile: Profile) -> Compiled {
    compile(Sources { user, repository, trusted, default_profile, ..sources("", "") })
}

proptest! {
    #[test]
    fn without_trust_no_repository_loosens_anything(
        user in guard_tables(), repository in guard_tables(), is_disciplined: bool,
    ) {
        let profile = if is_disciplined { Profile::Discipline } else { Profile::Safety };
        let alone = generated(user.clone(), GuardTable::default(), false, profile).rules;
        asserts_no_looser(&generated(user, repository, false, profile).rules, &alone);
    }

    #[test]
    fn with_trust_no_repository_loosens_what_the_user_has_set(user in guard_tables(), repository in guard_tables()) {
        let rules = generated(user.clone(), repository, true, Profile::Discipline).rules;
        prop_assert!(user.profile.is_none_or(|set| rules.profile >= set));
        prop_assert!(user.opaque.is_none_or(|set| rules.opaque >= set));
        prop_assert!(user.denied_for.is_none_or(|Seconds(set)| rules.denied_seconds >= set));
        for (name, set) in &user.level {
            prop_assert!(rules.level(name) >= *set, "{name}");
        }
        for (name, set) in &user.on_error {
            prop_assert!(rules.active(name).is_none_or(|active| active.on_error >= *set), "{name}");
        }
        for (class, set) in &user.destructive {
            prop_assert!(rules.destructive.get(class) >= Some(set), "{class}");
        }
        prop_assert!(user.main.when.is_none_or(|set| set == MainWhen::Workspace || !rules.main.only_workspace));
        prop_assert!(user.main.what.is_none_or(|set| set == WrittenWhat::Branch || rules.main.what == MainWhat::Edits));
        prop_assert!(user.main.branches.is_none_or(|set| is_within(&set, &rules.main.branches)));
        prop_assert!(user.required_reads.is_none_or(|set| is_within(&set, &rules.required_reads)));
        prop_assert!(user.issue.sections.is_none_or(|set| asks_for(&rules.issue.sections, &set)));
        prop_assert!(user.pull.sections.is_none_or(|set| asks_for(&rules.pull.sections, &set)));
        prop_assert!(user.pull.needs_issue.is_none_or(|set| rules.pull.needs_issue || !set));
    }

    /// A repository whose file lists no powers counts as trusted: nothing that trust opens may be missing there.
    #[test]
    fn what_needs_trust_is_always_among_the_powers(
        user in guard_tables(), repository in guard_tables(), is_disciplined: bool,
    ) {
        let profile = if is_disciplined { Profile::Discipline } else { Profile::Safety };
        for (user, key) in [user, GuardTable::default()].into_iter().flat_map(|u| (0..KEYS).map(move |key| (u.clone(), key))) {
            let repository = only(repository.clone(), key);
            if repository.powers().is_empty() {
                let without = generated(user.clone(), repository.clone(), false, profile);
                prop_assert_eq!(generated(user, repository, true, profile), without);
            }
        }
    }
}

const KEYS: usize = 12;

/// One key alone: with all of them hardly a table would be without powers.
fn only(table: GuardTable, key: usize) -> GuardTable {
    let none = GuardTable::default();
    match key {
        0 => GuardTable { profile: table.profile, ..none },
        1 => GuardTable { opaque: table.opaque, ..none },
        2 => GuardTable { denied_for: table.denied_for, ..none },
        3 => GuardTable { required_reads: table.required_reads, ..none },
        4 => GuardTable { secrets: table.secrets, ..none },
        5 => GuardTable { level: table.level.into_iter().take(1).collect(), ..none },
        6 => GuardTable { on_error: table.on_error.into_iter().take(1).collect(), ..none },
        7 => GuardTable { main: table.main, ..none },
        8 => GuardTable { destructive: table.destructive.into_iter().take(1).collect(), ..none },
        9 => GuardTable { checks: table.checks, ..none },
        10 => GuardTable { issue: table.issue, ..none },
        _ => GuardTable { pull: table.pull, ..none },
    }
}
