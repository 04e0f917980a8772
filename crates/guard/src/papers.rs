//! What a change does to the papers the discipline goes by: state.md and the playbooks.
//!
//! Several guards ask the same here: which marks (`reviewed`, `self_complete`, done, ticks) would newly stand in a
//! paper. A change whose outcome cannot be told, as `sed -i`, is [`After::Unclear`] and never taken for harmless.

use std::collections::BTreeMap;
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_playbook::{Phase, PhaseStatus, Playbook, State, Subtask};
use dandori_shell::How;

use crate::change::{Change, ChangeKind};
use crate::context::{By, Context, Target};
use crate::event::{EditTool, Tool};
use crate::world::{Checkout, FileKind};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paper {
    State,
    Playbook,
}

/// A paper that would be changed.
#[derive(Clone, Debug)]
pub(crate) struct PaperChange {
    pub(crate) paper: Paper,
    pub(crate) path: Utf8PathBuf,
    pub(crate) checkout: Rc<Checkout>,
    pub(crate) before: String,
    pub(crate) after: After,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum After {
    Text(String),
    Unclear(Unclear),
}

/// Why it cannot be told what the paper would say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unclear {
    Shell,
    /// The text an edit names is not there, or not once.
    Edit,
}

/// The marks that would newly stand in a paper.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Claims {
    pub(crate) reviewed: bool,
    pub(crate) self_complete: bool,
    /// Phases that become done; for state.md the line that says so.
    pub(crate) done: Vec<String>,
    pub(crate) ticked: Vec<Subtask>,
    /// Subtasks of phases that become done which are not ticked, or not proven.
    pub(crate) owed: Vec<String>,
    /// Another playbook that state.md would make the active one.
    pub(crate) active: Option<String>,
}

impl PaperChange {
    pub(crate) fn short(&self) -> &str {
        self.checkout.short(&self.path).as_str()
    }

    /// `None` when it cannot be told.
    pub(crate) fn claims(&self) -> Option<Claims> {
        let After::Text(after) = &self.after else { return None };
        Some(match self.paper {
            Paper::State => state_claims(&self.before, after),
            Paper::Playbook => playbook_claims(&self.before, after),
        })
    }
}

pub(crate) fn is_state(checkout: &Checkout, path: &Utf8Path) -> bool {
    checkout.short(path) == "state.md"
}

pub(crate) fn is_plan(checkout: &Checkout, path: &Utf8Path) -> bool {
    checkout.short(path).starts_with("plan")
}

/// A playbook by its place and name. What lies deeper is an archive or a template, and a file of that name elsewhere is
/// somebody's test data.
pub(crate) fn is_playbook(checkout: &Checkout, path: &Utf8Path) -> bool {
    fast_glob::glob_match("{plan,setup}/playbook-*.md", checkout.short(path).as_str())
}

/// The targets of the project that are work: neither state.md nor the plans, which must stay writable for the way out.
pub(crate) fn work<'c>(context: &'c Context) -> Vec<(&'c Target, Rc<Checkout>)> {
    let is_work = |checkout: &Checkout, path: &Utf8Path| !is_state(checkout, path) && !is_plan(checkout, path);
    context.project_targets().into_iter().filter(|(target, checkout)| is_work(checkout, &target.real)).collect()
}

/// Whether state.md itself would go: removed, moved away, or with the folder it lies in. What is no file may go: it is
/// in the way of one.
pub(crate) fn removes_state(context: &Context) -> bool {
    let Some(project) = &context.project else { return false };
    let removed = context.targets().iter().filter(|target| !target.is_computed).filter(|target| match target.by {
        By::Shell(how) => matches!(how, How::Removed | How::MovedAway),
        By::Edit => target.path.file_name() == Some("state.md") || target.real.file_name() == Some("state.md"),
    });
    let mut edited = None;
    for target in removed {
        // A state.md that is a link leads elsewhere: where it stands counts, too.
        let stands = [&target.path, &target.real].into_iter().find_map(|path| {
            let checkout = context.checkout(path).filter(|checkout| checkout.common_dir == project.common_dir)?;
            let state = checkout.root.join("state.md");
            (*path == state || target.is_tree && state.starts_with(path)).then_some(state)
        });
        let Some(state) = stands else { continue };
        let is_gone = target.by != By::Edit
            || edited.get_or_insert_with(|| texts_after(context)).get(&target.real) == Some(&Text::Gone);
        if is_gone && matches!(context.world.kind(&state), Some(FileKind::File | FileKind::Link)) {
            return true;
        }
    }
    false
}

/// The papers that would be changed, with their texts before and after. Those that would go are left out: a paper that
/// is gone claims nothing.
pub(crate) fn changes(context: &Context) -> Vec<PaperChange> {
    let mut found: Vec<PaperChange> = Vec::new();
    let mut edited = None;
    for (target, checkout) in context.project_targets() {
        if fills_the_plans(context, &checkout, target) {
            let after = After::Unclear(Unclear::Shell);
            let path = target.real.clone();
            found.push(PaperChange { paper: Paper::Playbook, path, checkout, before: String::new(), after });
            continue;
        }
        let Some(paper) = paper_at(context, &checkout, &target.real) else { continue };
        let after = match target.by {
            By::Shell(How::Restored) if brings_back(context, paper, target) => None,
            By::Shell(how) => shell_outcome(context, target, how),
            By::Edit => match edited.get_or_insert_with(|| texts_after(context)).get(&target.real) {
                Some(Text::Known(text)) => Some(After::Text(text.clone())),
                Some(Text::Gone) => None,
                Some(Text::Unknown) | None => Some(After::Unclear(Unclear::Edit)),
            },
        };
        if let Some(after) = after {
            // What cannot be read said nothing: then all of the new text counts.
            let before = context.text(&target.real).ok().flatten().unwrap_or_default();
            found.push(PaperChange { paper, path: target.real.clone(), checkout, before, after });
        }
    }
    found
}

fn paper_at(context: &Context, checkout: &Checkout, path: &Utf8Path) -> Option<Paper> {
    if is_state(checkout, path) {
        return Some(Paper::State);
    }
    if is_playbook(checkout, path) {
        return Some(Paper::Playbook);
    }
    // A playbook under another name is one as soon as state.md names it.
    if path.extension() != Some("md") {
        return None;
    }
    let active = context.documents(checkout).ok().and_then(|documents| documents.playbook_path.clone());
    active.is_some_and(|active| active == path).then_some(Paper::Playbook)
}

/// A state.md that is gone comes back from git as somebody committed it.
fn brings_back(context: &Context, paper: Paper, target: &Target) -> bool {
    paper == Paper::State && context.world.kind(&target.real).is_none()
}

/// What a shell line makes of a paper; `None` when no text comes into it.
fn shell_outcome(context: &Context, target: &Target, how: How) -> Option<After> {
    let is_unclear = match how {
        How::Redirect
        | How::Tee
        | How::InPlace
        | How::Copied
        | How::Output
        | How::Configured
        | How::Patched
        | How::Restored
        | How::Interpreter
        | How::Linked
        | How::Extracted => true,
        // `git mv` names both ends alike: the one that is not there yet is where it goes.
        How::MovedAway => context.world.kind(&target.real).is_none() || forces_a_move(context),
        How::Removed | How::Truncated | How::Made | How::Mode | How::Cleaned => false,
    };
    is_unclear.then_some(After::Unclear(Unclear::Shell))
}

/// Files whose names the line does not say go into `plan/`: an archive's, a folder's, those of a pattern.
fn fills_the_plans(context: &Context, checkout: &Checkout, target: &Target) -> bool {
    let By::Shell(How::Copied | How::Extracted) = target.by else { return false };
    let path = checkout.short(&target.real);
    if path.parent() == Some(Utf8Path::new("plan")) {
        return path.as_str().contains(['*', '?', '[']);
    }
    let are_named = || {
        let below = |other: &&Target| other.by == target.by && other.real.parent() == Some(&*target.real);
        !context.commands().iter().any(|command| command.program == "rsync")
            && context.targets().iter().any(|other| below(&other))
    };
    path == "plan" && target.is_tree && !are_named()
}

fn forces_a_move(context: &Context) -> bool {
    context.commands().iter().any(|command| {
        let has = |wanted: &[&str]| command.args().iter().any(|word| wanted.contains(&word.text.as_str()));
        command.program == "git" && has(&["mv"]) && has(&["-f", "--force"])
    })
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Text {
    Known(String),
    Gone,
    Unknown,
}

/// What an edited file would say, by its real path; `None` when it would be gone or cannot be told.
pub(crate) fn text_after(context: &Context, real: &Utf8Path) -> Option<String> {
    match texts_after(context).remove(real) {
        Some(Text::Known(text)) => Some(text),
        _ => None,
    }
}

/// Every edited file's text after all changes of the event, by its real path.
fn texts_after(context: &Context) -> BTreeMap<Utf8PathBuf, Text> {
    let (is_patch, is_complete) = match &context.event.tool {
        Some(Tool::Edit { with, complete, .. }) => (*with == EditTool::Patch, *complete),
        _ => (true, true),
    };
    let mut texts: BTreeMap<Utf8PathBuf, Text> = BTreeMap::new();
    let mut moved: BTreeMap<Utf8PathBuf, Utf8PathBuf> = BTreeMap::new();
    for change in context.changes() {
        let from = context.world.real(&change.path);
        // Further places of a file that an earlier part of the patch moved.
        let at = moved.get(&from).cloned().unwrap_or(from);
        let now = match texts.get(&at) {
            Some(known) => known.clone(),
            None => match context.text(&at) {
                Ok(text) => text.map_or(Text::Gone, Text::Known),
                Err(_) => Text::Unknown,
            },
        };
        let next = if is_complete { applied(change, now, is_patch) } else { Text::Unknown };
        match &change.kind {
            ChangeKind::Rename { to } => {
                let to = context.world.real(to);
                moved.insert(at.clone(), to.clone());
                texts.insert(at, Text::Gone);
                texts.insert(to, next);
            }
            ChangeKind::Write | ChangeKind::Edit | ChangeKind::Delete => {
                texts.insert(at, next);
            }
        }
    }
    texts
}

fn applied(change: &Change, now: Text, is_patch: bool) -> Text {
    let (old, new) = match (&change.kind, change.old.as_deref(), change.new.as_deref()) {
        (ChangeKind::Delete, ..) => return Text::Gone,
        (ChangeKind::Write, _, new) => return new.map_or(Text::Unknown, |new| Text::Known(new.to_owned())),
        (ChangeKind::Rename { .. }, None | Some(""), None | Some("")) => return now,
        (_, Some(old), Some(new)) => (old, new),
        _ => return Text::Unknown,
    };
    let text = match now {
        Text::Known(text) => text,
        Text::Gone => String::new(),
        Text::Unknown => return Text::Unknown,
    };
    let replaced = if old.is_empty() {
        // An edit of nothing makes a new file; in one that is there, a patch says by its heading where it goes.
        text.is_empty().then(|| new.to_owned())
    } else if is_patch {
        with_lines(&text, old, new)
    } else {
        with_text(&text, old, new)
    };
    replaced.map_or(Text::Unknown, Text::Known)
}

/// Every place: a client takes a text that stands there more than once only when all of them are meant.
fn with_text(text: &str, old: &str, new: &str) -> Option<String> {
    if text.contains(old) {
        return Some(text.replace(old, new));
    }
    let (text, old) = (text.replace('\r', ""), old.replace('\r', ""));
    text.contains(&old).then(|| text.replace(&old, new))
}

/// A patch's lines are whole lines; two places that fit are told apart by what we do not know.
fn with_lines(text: &str, old: &str, new: &str) -> Option<String> {
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let text = format!("\n{}{end}", text.replace('\r', ""));
    let (old, new) = (format!("\n{old}"), format!("\n{new}"));
    let first = text.find(&old)?;
    let is_alone = text.rfind(&old) == Some(first);
    let text = is_alone.then(|| text.replacen(&old, &new, 1))?;
    text.strip_prefix('\n').map(str::to_owned)
}

fn state_claims(before: &str, after: &str) -> Claims {
    let (was, is) = (State::read(before), State::read(after));
    let count = |text: &str| text.lines().filter(|line| says_done(line)).count();
    let done = after.lines().filter(|line| says_done(line)).skip(count(before)).map(|line| line.trim().to_owned());
    Claims {
        self_complete: is.self_complete && !was.self_complete,
        done: done.collect(),
        active: if is.active == was.active { None } else { is.active },
        ..Claims::default()
    }
}

/// `state: done`, as a line of its own or within braces: `p1: {state: done}`.
fn says_done(line: &str) -> bool {
    const AROUND: [char; 5] = ['*', '"', '\'', '`', ' '];
    let is_said = |words: &str| {
        let words = words.trim().trim_start_matches(['-', '*', ' ']);
        let Some((key, value)) = words.split_once(':') else { return false };
        let value = value.split(" #").next().unwrap_or_default().trim().trim_matches(AROUND);
        matches!(key.trim_matches(AROUND), "state" | "status" | "状態")
            && PhaseStatus::of(value) == Some(PhaseStatus::Done)
    };
    line.split(['{', '}', ',']).any(is_said)
}

fn playbook_claims(before: &str, after: &str) -> Claims {
    let (was, is) = (Playbook::read(before), Playbook::read(after));
    let done = newly(&was.phases, &is.phases);
    let becomes_done = |phase: &&Phase| phase.status == PhaseStatus::Done && done.contains(&phase.id);
    let subtasks = is.phases.iter().filter(becomes_done).flat_map(|phase| &phase.subtasks);
    let owed = subtasks.filter(|subtask| !subtask.is_proven()).map(|subtask| subtask.text.clone()).collect();
    Claims { reviewed: is.reviewed && !was.reviewed, done, owed, ticked: newly_ticked(&was, &is), ..Claims::default() }
}

fn newly(was: &[Phase], is: &[Phase]) -> Vec<String> {
    let done = |phases: &[Phase]| -> Vec<String> {
        phases.iter().filter(|phase| phase.status == PhaseStatus::Done).map(|phase| phase.id.clone()).collect()
    };
    let mut known = done(was);
    let mut new = done(is);
    new.retain(|id| !taken_from(&mut known, |k| k == id));
    new
}

/// A tick is known by its phase and its words: what was ticked for one subtask does not count for another.
fn newly_ticked(was: &Playbook, is: &Playbook) -> Vec<Subtask> {
    let ticks = |playbook: &Playbook| -> Vec<(String, Subtask)> {
        let all = playbook.phases.iter().flat_map(|p| p.subtasks.iter().map(|s| (p.id.clone(), s.clone())));
        all.filter(|(_, subtask)| subtask.is_done).collect()
    };
    let mut known = ticks(was);
    let new = ticks(is).into_iter();
    new.filter(|(phase, subtask)| !taken_from(&mut known, |(p, s)| p == phase && s.text == subtask.text))
        .map(|(_, subtask)| subtask)
        .collect()
}

fn taken_from<T>(known: &mut Vec<T>, fits: impl Fn(&T) -> bool) -> bool {
    let at = known.iter().position(fits);
    if let Some(at) = at {
        known.remove(at);
    }
    at.is_some()
}

/// Everything a line with a file name that is only known when it runs says of files: its own words, and the patch it
/// would apply. `None` when it has no such name.
pub(crate) fn words_of_computed_writes(context: &Context) -> Option<String> {
    let hidden: Vec<&Target> = context.targets().iter().filter(|target| target.is_computed).collect();
    let Some(Tool::Bash { command, .. }) = &context.event.tool else { return None };
    if hidden.is_empty() {
        return None;
    }
    let mut words = command.clone();
    if hidden.iter().any(|target| target.by == By::Shell(How::Patched)) {
        for command in context.commands() {
            for word in command.args() {
                let path = context.expanded(&word.text);
                if context.world.kind(&path) == Some(FileKind::File)
                    && let Ok(Some(text)) = context.text(&path)
                {
                    words.push('\n');
                    words.push_str(&text);
                }
            }
        }
        for read in context.reading().map_or(&[][..], |reading| &reading.reads) {
            if let Ok(Some(text)) = context.text(&context.expanded(&read.path.text)) {
                words.push('\n');
                words.push_str(&text);
            }
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests;
