#![expect(clippy::disallowed_methods, reason = "a test's own fixture needs no durable write")]

use std::os::unix::fs::PermissionsExt;

use dandori_domain::guard::Level;
use jiff::SignedDuration;
use tempfile::TempDir;

use super::*;
use crate::AgentHomes;

struct Stage {
    _dir: TempDir,
    root: Utf8PathBuf,
    place: PolicyPaths,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
        for folder in ["home", "repo/.git", "repo/.claude", "state/private"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let place = PolicyPaths {
            folder: root.join("state/guards/repo"),
            user_config: root.join("home/config.toml"),
            trust: root.join("state/private/trust.json"),
            state_root: root.join("state"),
            binary: None,
            homes: AgentHomes::default(),
            checkout: Some(root.join("repo")),
            main_checkout: Some(root.join("repo")),
            git_dir: Some(root.join("repo/.git")),
            is_run: false,
            was_disciplined: false,
        };
        Self { _dir: dir, root, place }
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root.join(path), text).unwrap();
    }

    /// Long enough after everything here was written.
    fn load(&self) -> (Rules, Vec<RulesNote>) {
        load(&self.place, dandori_host::now() + SignedDuration::from_secs(10))
    }

    /// Changes the snapshot itself: whoever uses it shows this.
    fn mark_snapshot(&self) {
        let path = self.place.snapshot();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"denied_seconds\":600"));
        std::fs::write(&path, text.replace("\"denied_seconds\":600", "\"denied_seconds\":601")).unwrap();
    }

    fn is_marked(&self) -> bool {
        self.load().0.denied_seconds == 601
    }

    fn trust(&self) {
        let path = self.place.repository_config().unwrap();
        let mut trust = TrustFile::default();
        trust.trust(self.place.git_dir.as_ref().unwrap(), &Powers::of_file(&path).unwrap());
        std::fs::write(&self.place.trust, trust.to_bytes()).unwrap();
    }
}

#[test]
fn an_unchanged_configuration_is_read_from_the_snapshot_alone() {
    let stage = Stage::new();
    stage.write("home/config.toml", "[guards.level]\nscope = \"ask\"");
    let (rules, notes) = stage.load();
    assert_eq!(rules, read(&stage.place).rules);
    assert!(notes.is_empty());
    assert_eq!(stage.place.snapshot().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    stage.mark_snapshot();
    assert!(stage.is_marked());
}

#[test]
fn every_source_that_changes_makes_the_rules_anew() {
    type Change = (&'static str, fn(&Stage));
    let changes: &[Change] = &[
        ("user", |s| s.write("home/config.toml", "[guards.level]\nscope = \"ask\"")),
        ("repository", |s| s.write("repo/dandori.toml", "[guards.level]\nscope = \"block\"")),
        ("protected", |s| s.write("repo/.claude/protected-files.txt", "LICENSE")),
        ("state", |s| s.write("repo/state.md", "# state")),
        ("trust", |s| s.write("state/private/trust.json", "{}")),
    ];
    for (what, change) in changes {
        let stage = Stage::new();
        let before = stage.load().0;
        stage.mark_snapshot();
        change(&stage);
        let after = stage.load().0;
        assert_ne!(after.denied_seconds, 601, "{what}");
        assert!(*what == "trust" || after != before, "{what}");
        // … and is as fresh again as before.
        stage.mark_snapshot();
        assert!(stage.is_marked(), "{what}");
    }
}

#[test]
fn an_edit_of_the_same_size_and_time_shows() {
    let stage = Stage::new();
    stage.write("home/config.toml", "[guards.level]\nscope = \"warn\"");
    assert_eq!(stage.load().0.level("scope"), Level::Warn);
    let path = stage.root.join("home/config.toml");
    let before = path.metadata().unwrap().modified().unwrap();
    stage.write("home/config.toml", "[guards.level]\nscope = \"info\"");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    assert_eq!(stage.load().0.level("scope"), Level::Info);
}

#[test]
fn a_source_changed_just_before_the_snapshot_is_read_again() {
    let stage = Stage::new();
    stage.write("home/config.toml", "[guards.level]\nscope = \"warn\"");
    load(&stage.place, dandori_host::now());
    stage.mark_snapshot();
    assert!(!stage.is_marked(), "a second edit in the same tick would not have shown");
    stage.mark_snapshot();
    assert!(stage.is_marked(), "made later, it is reliable");
}

#[test]
fn a_deleted_source_shows() {
    let stage = Stage::new();
    stage.write("repo/dandori.toml", "[guards.level]\nscope = \"block\"");
    assert_eq!(stage.load().0.level("scope"), Level::Block);
    std::fs::remove_file(stage.root.join("repo/dandori.toml")).unwrap();
    assert_eq!(stage.load().0.level("scope"), Level::Off);
}

#[test]
fn a_snapshot_of_another_version_place_or_half_a_one_is_made_again() {
    let stage = Stage::new();
    stage.load();
    let path = stage.place.snapshot();
    let whole = std::fs::read_to_string(&path).unwrap();
    let marked = whole.replace("\"denied_seconds\":600", "\"denied_seconds\":601");
    let program = format!("\"program\":\"{PROGRAM}\"");
    let version = format!("\"version\":{}", rules::VERSION);
    assert!(marked.contains(&program));
    let others = [
        marked.replacen(&format!("{{{version}"), "{\"version\":0", 1),
        marked.replace(&format!("\"rules\":{{{version}"), "\"rules\":{\"version\":0"),
        marked.replace(&program, "\"program\":\"0.0.1\""),
        marked[..marked.len() / 2].to_owned(),
        String::new(),
        "{}".to_owned(),
    ];
    for other in others {
        assert_ne!(other, marked);
        std::fs::write(&path, &other).unwrap();
        assert_eq!(stage.load().0.denied_seconds, 600, "{other}");
        assert_eq!(read_stamp(&path), Stamp::of(&stage.place), "replaced by a good one");
    }
    std::fs::write(&path, &marked).unwrap();
    assert!(stage.is_marked());
    let elsewhere = PolicyPaths { is_run: true, ..stage.place.clone() };
    assert_eq!(load(&elsewhere, dandori_host::now()).0.denied_seconds, 600);
}

fn read_stamp(path: &Utf8Path) -> Stamp {
    serde_json::from_slice::<Snapshot>(&std::fs::read(path).unwrap()).unwrap().stamp
}

#[test]
fn a_snapshot_that_cannot_be_written_is_done_without() {
    let stage = Stage::new();
    stage.write("state/guards", "a file where the folder should be");
    stage.write("home/config.toml", "[guards.level]\nscope = \"ask\"");
    assert_eq!(stage.load().0.level("scope"), Level::Ask);
    assert_eq!(stage.load().0.level("scope"), Level::Ask);
}

#[test]
fn a_broken_user_s_file_means_all_guards_and_a_note() {
    for text in ["[guards", "[guards]\nprofil = \"safety\"", "[guards]\nprofile = 3"] {
        let stage = Stage::new();
        stage.write("home/config.toml", text);
        stage.write("repo/dandori.toml", "[guards]\nopaque = \"block\"");
        for _ in 0..2 {
            let (rules, notes) = stage.load();
            assert_eq!((rules.profile, rules.opaque), (Profile::Discipline, Level::Block), "{text}");
            assert!(matches!(&notes[..], [RulesNote::BadUserConfig { .. }]), "{notes:?}");
        }
    }
}

#[test]
fn a_broken_repository_s_file_leaves_the_user_s_and_says_so() {
    let stage = Stage::new();
    stage.write("home/config.toml", "[guards.level]\nscope = \"ask\"");
    stage.write("repo/dandori.toml", "[guards.level]\nscpe = \"block\"");
    let (rules, notes) = stage.load();
    assert_eq!((rules.level("scope"), rules.profile), (Level::Ask, Profile::Safety));
    let [RulesNote::BadRepositoryConfig { path, reason }] = &notes[..] else { panic!("{notes:?}") };
    assert!(path.ends_with("dandori.toml") && reason.contains("guards.level.scope"), "{reason}");
}

#[test]
fn trust_is_for_the_content_that_was_trusted() {
    let stage = Stage::new();
    stage.write("repo/dandori.toml", "[guards.level]\nsecrets = \"warn\"");
    let (rules, notes) = stage.load();
    assert_eq!(rules.level("secrets"), Level::Block);
    assert!(
        matches!(&notes[..], [RulesNote::NeedsTrust { keys, .. }] if *keys == ["guards.level.secrets"]),
        "{notes:?}"
    );
    stage.trust();
    let (rules, notes) = stage.load();
    assert_eq!((rules.level("secrets"), notes.len()), (Level::Warn, 0));
    stage.write("repo/dandori.toml", "[guards.level]\nsecrets = \"info\"");
    assert_eq!(stage.load().0.level("secrets"), Level::Block);
}

#[test]
fn a_linked_worktree_goes_by_the_main_checkout_s_files_and_by_either_s_state() {
    let mut stage = Stage::new();
    std::fs::create_dir_all(stage.root.join("linked/.claude")).unwrap();
    stage.place.checkout = Some(stage.root.join("linked"));
    stage.write("linked/dandori.toml", "[guards.level]\nscope = \"block\"");
    stage.write("linked/.claude/protected-files.txt", "LICENSE");
    assert_eq!(stage.load().0.level("scope"), Level::Off);
    assert!(stage.load().0.protected_by_repository.is_empty());
    stage.write("repo/state.md", "");
    assert_eq!(stage.load().0.profile, Profile::Discipline);
    std::fs::remove_file(stage.root.join("repo/state.md")).unwrap();
    stage.write("linked/state.md", "");
    assert_eq!(stage.load().0.profile, Profile::Discipline);
    stage.place.is_run = true;
    assert_eq!(stage.load().0.profile, Profile::Safety, "in a run nobody is there for the discipline");
    stage.write("repo/dandori.toml", "[guards]\nprofile = \"discipline\"");
    stage.write("home/config.toml", "[guards]\nprofile = \"discipline\"\n[guards.level]\nscope = \"block\"");
    let rules = stage.load().0;
    assert_eq!((rules.profile, rules.level("scope")), (Profile::Safety, Level::Block), "also when it is asked for");
    stage.write("home/config.toml", "[guards");
    let (rules, notes) = stage.load();
    assert_eq!((rules.profile, rules.level("secrets")), (Profile::Safety, Level::Block));
    assert!(matches!(&notes[..], [RulesNote::BadUserConfig { .. }]), "{notes:?}");
}

#[test]
fn what_makes_the_guards_work_is_control_by_every_name_but_for_where_runs_work() {
    let mut stage = Stage::new();
    let root = stage.root.clone();
    stage.write("home/dotfiles-settings.json", "{}");
    std::os::unix::fs::symlink(root.join("home/dotfiles-settings.json"), root.join("repo/.claude/settings.json"))
        .unwrap();
    stage.place.binary = Some(root.join("bin/dandori"));
    stage.place.checkout = Some(root.join("linked"));
    let env =
        dandori_host::Env::from_pairs([("HOME", root.join("home").into_string()), ("CODEX_HOME", "/c".to_owned())]);
    stage.place.homes = AgentHomes::of(&env);
    let rules = stage.load().0;
    for path in [
        "state",
        "bin/dandori",
        "home/config.toml",
        "home/.claude/settings.json",
        "home/.gemini/settings.json",
        "home/dotfiles-settings.json",
        "repo/dandori.toml",
        "repo/.claude/protected-files.txt",
        "repo/.claude/settings.json",
        "repo/.claude/settings.local.json",
        "repo/.codex/hooks.json",
        "linked/.codex/config.toml",
        "linked/.gemini/settings.json",
    ] {
        assert!(rules.control.contains(&root.join(path)), "{path}: {:#?}", rules.control);
    }
    assert!(rules.control.contains(&Utf8PathBuf::from("/c/hooks.json")));
    assert!(!rules.control.contains(&root.join("linked/dandori.toml")), "it is not read: a branch may change it");
    assert_eq!(rules.worktrees, [root.join("state/repos")]);
}

#[test]
fn a_warm_load_is_fast() {
    let stage = Stage::new();
    stage.write("home/config.toml", "[guards.level]\nscope = \"ask\"");
    stage.write("repo/dandori.toml", "[guards]\nsecrets = [\"*.p12\"]");
    stage.load();
    stage.mark_snapshot();
    let rounds = 200_u32;
    let begun = std::time::Instant::now();
    for _ in 0..rounds {
        assert!(stage.is_marked());
    }
    let warm = begun.elapsed() / rounds;
    let begun = std::time::Instant::now();
    for _ in 0..rounds {
        read(&stage.place);
    }
    let cold = begun.elapsed() / rounds;
    eprintln!("rules: {warm:?} from the snapshot, {cold:?} from their sources");
}

#[test]
fn a_run_goes_by_the_main_checkout_s_rules_its_constraints_and_cannot_reach_them() {
    let mut stage = Stage::new();
    let root = stage.root.clone();
    stage.place.is_run = true;
    stage.place.checkout = Some(root.join("state/repos/r/worktrees/run_w"));
    std::fs::create_dir_all(root.join("state/repos/r/worktrees/run_w")).unwrap();
    stage.write("home/config.toml", "[guards.level]\nconsent = \"block\"\nscope = \"ask\"");
    stage.write("repo/dandori.toml", "[guards]\nsecrets = [\"*.p12\"]");
    stage.write("state/repos/r/worktrees/run_w/dandori.toml", "[guards]\nsecrets = [\"*.mine\"]");
    let folder = root.join("state/repos/r/runs/k");
    let run = crate::Run {
        folder: &folder,
        guards: &folder.join("tmp/guards"),
        worktree: &root.join("state/repos/r/worktrees/run_w"),
        tmp: &folder.join("tmp"),
        home: &root.join("state/repos/r/agents/t/codex"),
        forbidden: &["infra/**".to_owned()],
        read_only: true,
    };
    let made = crate::RunRules::compile(&stage.place, &run);
    let rules = &made.rules;
    assert_eq!((rules.level("scope"), rules.level("consent")), (Level::Ask, Level::Off), "nobody could consent");
    assert!(rules.secrets.contains(&"*.p12".to_owned()) && !rules.secrets.contains(&"*.mine".to_owned()));
    let constraints = rules.constraints.as_ref().unwrap();
    assert!(constraints.paths.contains(&"infra/**".to_owned()) && constraints.paths.contains(&".env".to_owned()));
    assert!(constraints.git.contains(&"push".to_owned()));
    assert_eq!(constraints.read_only, [run.worktree]);
    let writes = crate::RunRules::compile(&stage.place, &crate::Run { read_only: false, ..run });
    assert!(writes.rules.constraints.unwrap().read_only.is_empty());
    for path in ["runs/k", "runs/k/tmp/guards", "agents/t/codex/hooks.json", "agents/t/codex/.gemini/settings.json"] {
        assert!(rules.control.contains(&root.join("state/repos/r").join(path)), "{path}");
    }
    assert_eq!(rules.worktrees, [run.worktree, run.tmp, run.home]);

    let path = root.join("rules.json");
    std::fs::write(&path, serde_json::to_vec(&made).unwrap()).unwrap();
    assert_eq!(crate::RunRules::load(&path).unwrap(), made);
    let other = String::from_utf8(serde_json::to_vec(&made).unwrap()).unwrap();
    std::fs::write(&path, other.replace(&format!("\"version\":{}", rules::VERSION), "\"version\":7")).unwrap();
    assert!(crate::RunRules::load(&path).is_err(), "of a version that may mean something else");
}

#[test]
fn a_session_that_was_disciplined_stays_so_without_its_state_md() {
    let stage = Stage::new();
    assert_eq!(stage.load().0.profile, Profile::Safety);
    let place = PolicyPaths { was_disciplined: true, ..stage.place.clone() };
    let later = dandori_host::now() + SignedDuration::from_secs(10);
    assert_eq!(load(&place, later).0.profile, Profile::Discipline);
    assert_eq!(stage.load().0.profile, Profile::Safety, "the other's snapshot is not this one's");
    assert_eq!(read(&PolicyPaths { is_run: true, ..place }).rules.profile, Profile::Safety, "not in a run");
    std::os::unix::fs::symlink("nowhere", stage.root.join("repo/state.md")).unwrap();
    assert_eq!(stage.load().0.profile, Profile::Discipline, "a link that leads nowhere is there");
}
