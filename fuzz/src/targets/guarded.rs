//! A project in memory that may answer oddly, rules of many kinds, and an event through all guards.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_guard::rules::{AfterEdit, Constraints, CustomRule, Protected};
use dandori_guard::world::{About, Call, Denied, Exception, FileKind, Head, Ran};
use dandori_guard::{Checkout, Level, Mark, Profile, Rules, World};

use crate::mutate;
use crate::random::Random;
use crate::seeds::{PLAYBOOK, STATE, Seeds};

pub(crate) struct Project {
    files: Vec<(Utf8PathBuf, Text)>,
    random: RefCell<Random>,
    head: Head,
    oddness: Oddness,
}

enum Text {
    Known(String),
    Unreadable,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Oddness {
    Plain,
    Odd,
}

impl Project {
    /// On a branch for work, with nothing odd about it.
    pub(crate) fn plain() -> Self {
        let files = dandori_corpus::PROJECT
            .iter()
            .chain(&["CLAUDE.md"])
            .map(|name| (Utf8Path::new("/repo").join(name), Text::Known(dandori_corpus::text_of(name).to_owned())))
            .collect();
        let head = Head::Branch("work".to_owned());
        Self { files, random: RefCell::new(Random::new(0)), head, oddness: Oddness::Plain }
    }

    /// Documents that may be broken or unreadable, and a world that may say anything.
    pub(crate) fn odd(seeds: &Seeds, random: &mut Random) -> Self {
        let mut project = Self::plain();
        let mut put = |name: &str, text: &str, random: &mut Random| {
            let other = random.pick(&seeds.documents).cloned().unwrap_or_default();
            let text = match random.below(8) {
                0 => return,
                1 => Text::Unreadable,
                2 => Text::Known(mutate::text(text, &other, random)),
                3 => Text::Known(mutate::shuffled_lines(text, &other, random)),
                4 => Text::Known(other),
                _ => Text::Known(text.to_owned()),
            };
            project.files.push((Utf8Path::new("/repo").join(name), text));
        };
        put("state.md", STATE, random);
        put("plan/playbook-a.md", PLAYBOOK, random);
        put("project.md", "## Out of scope\n- payments\n", random);
        project.head = match random.below(5) {
            0 => Head::Branch("main".to_owned()),
            1 => Head::Unborn("main".to_owned()),
            2 => Head::Detached,
            _ => Head::Branch("work".to_owned()),
        };
        project.oddness = Oddness::Odd;
        project.random = RefCell::new(Random::new(random.next()));
        project
    }

    fn chance(&self, times: usize) -> bool {
        self.oddness == Oddness::Odd && self.random.borrow_mut().one_in(times)
    }
}

impl World for Project {
    fn text(&self, path: &Utf8Path) -> io::Result<Option<String>> {
        match self.files.iter().rev().find(|(name, _)| name == path) {
            Some((_, Text::Known(text))) => Ok(Some(text.clone())),
            Some((_, Text::Unreadable)) => Err(io::Error::other("permission denied")),
            None => Ok(None),
        }
    }

    fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        if self.chance(40) {
            return [None, Some(FileKind::Link), Some(FileKind::Other)]
                .get(self.random.borrow_mut().below(3))
                .copied()?;
        }
        if self.files.iter().any(|(name, _)| name == path) {
            return Some(FileKind::File);
        }
        self.files.iter().any(|(name, _)| name.starts_with(path)).then_some(FileKind::Folder)
    }

    fn names(&self, folder: &Utf8Path) -> Vec<String> {
        let below = self.files.iter().filter_map(|(name, _)| name.strip_prefix(folder).ok());
        let mut names: Vec<String> = below.filter_map(|rest| Some(rest.components().next()?.to_string())).collect();
        if self.chance(20) {
            names.extend(mutate::ODD.iter().map(|name| (*name).to_owned()));
        }
        names.dedup();
        names
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        if self.chance(30) {
            return self.random.borrow_mut().word(&["/", "", "/repo/.env", "/repo", "../..", "/repo/.git/HEAD"]).into();
        }
        path.to_owned()
    }

    fn checkout(&self, path: &Utf8Path) -> Option<Checkout> {
        if self.chance(40) {
            return None;
        }
        let root = ["/repo", "/worktrees/feat"].into_iter().find(|root| path.starts_with(root))?;
        Some(Checkout {
            root: root.into(),
            git_dir: format!("{root}/.git").into(),
            common_dir: "/repo/.git".into(),
            head: self.head.clone(),
        })
    }

    fn mark(&self, _: &Mark) -> Option<String> {
        self.chance(4).then(|| self.random.borrow_mut().word(mutate::ODD).to_owned())
    }

    fn denied(&self) -> Vec<Denied> {
        let denied = |path: &str| Denied { path: path.into(), guard: "scope".to_owned(), seconds_ago: 5 };
        if self.chance(4) { vec![denied("/repo/a.txt"), denied("")] } else { Vec::new() }
    }

    fn exceptions(&self) -> Vec<Exception> {
        if !self.chance(4) {
            return Vec::new();
        }
        let about = match self.random.borrow_mut().below(3) {
            0 => About::All,
            1 => About::Command("git {push,[ *".to_owned()),
            _ => About::Path("{src,**/[a-}".to_owned()),
        };
        ["bash", "main-branch", "scope"]
            .map(|guard| Exception { id: "e1".to_owned(), guard: guard.to_owned(), about: about.clone() })
            .to_vec()
    }

    fn run(&self, _: &Call) -> Ran {
        let mut random = self.random.borrow_mut();
        match random.below(4) {
            0 => Ran::TimedOut,
            1 => Ran::NotStarted { why: "no such file".to_owned() },
            2 => Ran::Ended { code: None, stdout: String::new(), stderr: "killed".to_owned() },
            _ => {
                let code = [0, 1, 2, 101, -1].get(random.below(5)).copied();
                Ran::Ended {
                    code,
                    stdout: random.word(mutate::ODD).repeat(1000),
                    stderr: random.word(mutate::ODD).to_owned(),
                }
            }
        }
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    fn home(&self) -> Option<Utf8PathBuf> {
        (!self.chance(20)).then(|| "/home/user".into())
    }
}

/// Under these every hostile line of the corpora is refused or asked about. The forms of `rm` remove a file called x.
pub(crate) fn strict(target: &str) -> Rules {
    let file = if target == "rm" { "x" } else { "protected.txt" };
    let mut rules = Rules::of(Profile::Safety);
    rules.constraints = Some(Constraints { paths: vec![file.to_owned()], ..Constraints::default() });
    rules.protected = vec![Protected { pattern: file.to_owned(), level: Level::Block }];
    rules
}

pub(crate) fn any_rules(random: &mut Random) -> Rules {
    let mut rules = Rules::of(if random.one_in(3) { Profile::Safety } else { Profile::Discipline });
    if random.one_in(3) {
        rules.constraints = Some(Constraints::default());
    }
    if random.one_in(2) {
        rules.protected = vec![
            Protected { pattern: "*.lock".to_owned(), level: Level::Block },
            Protected {
                pattern: random.word(&["{", "[a-", "**/**/*", "", "/", "\\", "!x", "{a,{b,c}}/*"]).to_owned(),
                level: Level::Warn,
            },
        ];
    }
    if random.one_in(2) {
        rules.opaque = Level::Block;
    }
    if random.one_in(2) {
        rules.checks.before_commit = vec!["cargo test".to_owned()];
        rules.checks.after_edit = vec![AfterEdit { files: vec!["*.rs".to_owned()], run: "rustfmt {file}".to_owned() }];
    }
    if random.one_in(2) {
        rules.custom = vec![
            CustomRule {
                name: "own".to_owned(),
                commands: vec!["npm publish *".to_owned(), "{".to_owned(), "* *".to_owned()],
                paths: vec!["secrets/**".to_owned(), "[".to_owned()],
                decision: Level::Block,
                message: Some("no {command} \u{1b}".to_owned()),
                ..CustomRule::default()
            },
            CustomRule {
                name: "program".to_owned(),
                events: vec!["PreToolUse".to_owned(), "Stop".to_owned(), "UserPromptSubmit".to_owned()],
                prompts: vec!["ı".to_owned(), "deploy".to_owned()],
                decision: Level::Ask,
                run: vec!["./check".to_owned()],
                seconds: 1,
                ..CustomRule::default()
            },
        ];
        for name in ["own", "program"] {
            let on_error = dandori_guard::ErrorPolicy::Closed;
            rules.order.push(dandori_guard::rules::Active { name: name.to_owned(), level: Level::Block, on_error });
        }
    }
    rules
}
