//! A world in memory, for the guards' tests.

mod hands;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::client::Moment;
use dandori_domain::guard::{Level, Profile};
use dandori_text::Lang;
use serde_json::{Value, json};

use crate::judge::{Asking, Judgement, Outcome, judge};
use crate::rules::{Active, Rules};
use crate::world::{Call, Checkout, Denied, Exception, FileKind, Gap, Head, Mark, Ran, World};
use crate::{Client, Context, decode};

pub(crate) use hands::Deed;

/// The repository is `/repo` on the branch `work`, unless a test says otherwise.
pub(crate) struct Stage {
    pub(crate) rules: Rules,
    pub(crate) lang: Lang,
    pub(crate) agent: Client,
    pub(crate) headless: bool,
    pub(crate) nested: bool,
    files: BTreeMap<Utf8PathBuf, String>,
    unreadable: BTreeSet<Utf8PathBuf>,
    links: BTreeMap<Utf8PathBuf, Utf8PathBuf>,
    checkouts: Vec<Checkout>,
    marks: Vec<(Mark, String)>,
    denied: Vec<Denied>,
    exceptions: Vec<Exception>,
    answers: RefCell<Vec<Ran>>,
    /// What was run, for the test to look at.
    pub(crate) calls: RefCell<Vec<Call>>,
    pub(crate) elapsed: Duration,
    variables: BTreeMap<String, String>,
    gaps: Vec<Gap>,
}

impl Stage {
    pub(crate) fn new(profile: Profile) -> Self {
        let checkout = |root: &str, head| Checkout {
            root: root.into(),
            git_dir: format!("{root}/.git").into(),
            common_dir: format!("{root}/.git").into(),
            head,
        };
        Self {
            rules: Rules::of(profile),
            lang: Lang::En,
            agent: Client::Claude,
            headless: false,
            nested: false,
            files: BTreeMap::new(),
            unreadable: BTreeSet::new(),
            links: BTreeMap::new(),
            checkouts: vec![checkout("/repo", Head::Branch("work".to_owned()))],
            // Most guards are about what comes after it.
            marks: vec![(Mark::Confirmed, String::new())],
            denied: Vec::new(),
            exceptions: Vec::new(),
            answers: RefCell::default(),
            calls: RefCell::default(),
            elapsed: Duration::ZERO,
            variables: BTreeMap::new(),
            gaps: Vec::new(),
        }
    }

    /// One guard alone, at this level.
    pub(crate) fn only(guard: &str, level: Level) -> Self {
        let mut stage = Self::new(Profile::Discipline);
        let on_error = crate::guards::find(guard).unwrap().on_error;
        stage.rules.order = vec![Active { name: guard.to_owned(), level, on_error }];
        stage
    }

    pub(crate) fn lang(mut self, lang: Lang) -> Self {
        self.lang = lang;
        self
    }

    pub(crate) fn branch(mut self, name: &str) -> Self {
        self.checkouts[0].head = Head::Branch(name.to_owned());
        self
    }

    pub(crate) fn head(mut self, head: Head) -> Self {
        self.checkouts[0].head = head;
        self
    }

    /// Another work tree; `of` is the repository it is linked to, else it is one of its own.
    pub(crate) fn worktree(mut self, root: &str, of: Option<&str>, head: Head) -> Self {
        let common_dir: Utf8PathBuf = format!("{}/.git", of.unwrap_or(root)).into();
        let git_dir = if of.is_some() { common_dir.join("worktrees/w") } else { common_dir.clone() };
        self.checkouts.push(Checkout { root: root.into(), git_dir, common_dir, head });
        self
    }

    /// A file; a relative path is below `/repo`.
    pub(crate) fn file(mut self, path: &str, text: &str) -> Self {
        self.files.insert(Utf8Path::new("/repo").join(path), text.to_owned());
        self
    }

    pub(crate) fn unreadable(mut self, path: &str) -> Self {
        self.unreadable.insert(Utf8Path::new("/repo").join(path));
        self
    }

    pub(crate) fn link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(Utf8Path::new("/repo").join(from), Utf8Path::new("/repo").join(to));
        self
    }

    /// The user has not confirmed anything yet.
    pub(crate) fn unconfirmed(mut self) -> Self {
        self.marks.retain(|(mark, _)| *mark != Mark::Confirmed);
        self
    }

    pub(crate) fn mark(mut self, mark: Mark) -> Self {
        self.marks.push((mark, String::new()));
        self
    }

    pub(crate) fn mark_with(mut self, mark: Mark, text: &str) -> Self {
        self.marks.push((mark, text.to_owned()));
        self
    }

    pub(crate) fn denied(mut self, path: &str, guard: &str) -> Self {
        let path = Utf8Path::new("/repo").join(path);
        self.denied.push(Denied { path, guard: guard.to_owned(), seconds_ago: 5 });
        self
    }

    /// A call that was never answered.
    pub(crate) fn gap(mut self, gap: Gap) -> Self {
        self.gaps.push(gap);
        self
    }

    /// Something in the client's environment.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn exception(mut self, exception: Exception) -> Self {
        self.exceptions.push(exception);
        self
    }

    /// What the next program that is run answers.
    pub(crate) fn answers(self, code: i32, stdout: &str, stderr: &str) -> Self {
        let ran = Ran::Ended { code: Some(code), stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        self.answers.borrow_mut().push(ran);
        self
    }

    pub(crate) fn answers_with(self, ran: Ran) -> Self {
        self.answers.borrow_mut().push(ran);
        self
    }

    /// Any event, with the client's fields.
    pub(crate) fn event(&self, name: &str, fields: &Value) -> Judgement {
        self.event_in("/repo", name, fields)
    }

    pub(crate) fn event_in(&self, cwd: &str, name: &str, fields: &Value) -> Judgement {
        let mut all = json!({"session_id": "s1", "cwd": cwd, "hook_event_name": name});
        for (key, value) in fields.as_object().into_iter().flatten() {
            all[key] = value.clone();
        }
        let mut event = decode(all.to_string().as_bytes(), Some(self.agent)).unwrap();
        event.headless = self.headless;
        event.nested = self.nested;
        let context = Context::new(&event, &self.rules, self, self.lang, Some(Utf8Path::new("/repo")));
        judge(&context, Asking::UntilBlocked)
    }

    pub(crate) fn tool(&self, tool: &str, input: &Value) -> Judgement {
        self.event("PreToolUse", &json!({"tool_name": tool, "tool_input": input}))
    }

    pub(crate) fn bash(&self, command: &str) -> Judgement {
        self.tool("Bash", &json!({"command": command}))
    }

    pub(crate) fn bash_in(&self, cwd: &str, command: &str) -> Judgement {
        self.event_in(cwd, "PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": command}}))
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> Judgement {
        let path = Utf8Path::new("/repo").join(path);
        self.tool("Write", &json!({"file_path": path, "content": text}))
    }

    pub(crate) fn edit(&self, path: &str, old: &str, new: &str) -> Judgement {
        let path = Utf8Path::new("/repo").join(path);
        self.tool("Edit", &json!({"file_path": path, "old_string": old, "new_string": new}))
    }

    pub(crate) fn read(&self, path: &str) -> Judgement {
        let path = Utf8Path::new("/repo").join(path);
        self.tool("Read", &json!({"file_path": path}))
    }

    pub(crate) fn prompt(&self, prompt: &str) -> Judgement {
        self.at(Moment::Prompt, &json!({"prompt": prompt}))
    }
}

impl Judgement {
    /// The heaviest outcome of all guards.
    pub(crate) fn outcome(&self) -> Outcome {
        self.steps.iter().map(|step| step.outcome).max().unwrap_or(Outcome::Pass)
    }

    /// Everything that was said.
    pub(crate) fn said(&self) -> String {
        self.steps.iter().filter_map(|step| step.message.clone()).collect::<Vec<_>>().join("\n")
    }
}

impl World for Stage {
    fn text(&self, path: &Utf8Path) -> io::Result<Option<String>> {
        if self.unreadable.contains(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(self.files.get(&self.real(path)).cloned())
    }

    fn kind(&self, path: &Utf8Path) -> Option<FileKind> {
        if self.files.contains_key(path) {
            return Some(FileKind::File);
        }
        let is_folder = self.files.keys().any(|file| file != path && file.starts_with(path))
            || self.checkouts.iter().any(|checkout| checkout.root.starts_with(path));
        is_folder.then_some(FileKind::Folder)
    }

    fn names(&self, folder: &Utf8Path) -> Vec<String> {
        let below = self.files.keys().filter_map(|file| file.strip_prefix(folder).ok());
        let names: BTreeSet<String> = below.filter_map(|rest| Some(rest.components().next()?.to_string())).collect();
        names.into_iter().collect()
    }

    fn real(&self, path: &Utf8Path) -> Utf8PathBuf {
        for (from, to) in &self.links {
            if let Ok(rest) = path.strip_prefix(from) {
                return if rest.as_str().is_empty() { to.clone() } else { to.join(rest) };
            }
        }
        path.to_owned()
    }

    fn checkout(&self, path: &Utf8Path) -> Option<Checkout> {
        let holding = self.checkouts.iter().filter(|checkout| path.starts_with(&checkout.root));
        holding.max_by_key(|checkout| checkout.root.as_str().len()).cloned()
    }

    fn mark(&self, mark: &Mark) -> Option<String> {
        self.marks.iter().find(|(m, _)| m == mark).map(|(_, text)| text.clone())
    }

    fn denied(&self) -> Vec<Denied> {
        self.denied.clone()
    }

    fn exceptions(&self) -> Vec<Exception> {
        self.exceptions.clone()
    }

    fn run(&self, call: &Call) -> Ran {
        self.calls.borrow_mut().push(call.clone());
        let mut answers = self.answers.borrow_mut();
        if answers.is_empty() { Ran::NotStarted { why: "no such file".to_owned() } } else { answers.remove(0) }
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }

    fn waited(&self) -> Duration {
        Duration::ZERO
    }

    fn gaps(&self) -> Vec<Gap> {
        self.gaps.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn home(&self) -> Option<Utf8PathBuf> {
        Some("/home/user".into())
    }
}
