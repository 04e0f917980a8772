//! What a guard sees of one event: the event, the rules, and the world as far as it asks.
//!
//! Everything that costs is looked up once, when the first guard wants it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_playbook::{Playbook, State};
use dandori_shell::{Certainty, Command, Cwd, How, Options, Reading, Write};
use dandori_text::Lang;
use serde_json::Value;

use crate::aliases;
use crate::change::{Change, resolve};
use crate::computed_writes::{self, ComputedWrite};
use crate::event::{Event, Kind, Tool};
use crate::glob;
use crate::patch::{Patch, patches_in_command};
use crate::rules::Rules;
use crate::state_verb;
use crate::voice::Trouble;
use crate::world::{Checkout, FileKind, World};

/// Files one pattern is filled in with.
const MAX_FILLED_IN: usize = 1000;
/// Files one call of a tool may name: each costs some looks at the disk and some memory.
pub(crate) const MOST_FILES: usize = 10_000;

pub struct Context<'a> {
    pub event: &'a Event,
    pub rules: &'a Rules,
    pub world: &'a dyn World,
    pub lang: Lang,
    /// Where the session works, whatever folder the agent has gone to since.
    pub project: Option<Checkout>,
    reading: OnceCell<Option<Reading>>,
    targets: OnceCell<Vec<Target>>,
    changes: OnceCell<Vec<Change>>,
    computed_writes: OnceCell<Vec<ComputedWrite>>,
    /// By the path as text: paths are compared part by part, which is slow.
    checkouts: RefCell<BTreeMap<String, Placed>>,
    documents: RefCell<BTreeMap<Utf8PathBuf, Rc<Documents>>>,
    home: OnceCell<Option<Utf8PathBuf>>,
}

/// A path as patterns are held against it.
pub struct PathToMatch<'p> {
    path: &'p Utf8Path,
    /// From the user's home, when it lies there.
    in_home: Option<&'p Utf8Path>,
    /// From the checkout's root.
    short: Rc<Utf8PathBuf>,
}

impl PathToMatch<'_> {
    pub fn holds(&self, pattern: &str) -> bool {
        if let Some(rest) = pattern.strip_prefix("~/") {
            return self.in_home.is_some_and(|path| rest.is_empty() || glob::holds_from_root(rest, path));
        }
        pattern.starts_with('/') && glob::holds(pattern, self.path) || glob::holds(pattern, &self.short)
    }
}

/// Where a path lies.
#[derive(Clone)]
struct Placed {
    checkout: Option<Rc<Checkout>>,
    /// From the checkout's root; the whole path outside of any.
    short: Rc<Utf8PathBuf>,
}

/// A file that would be changed, by whatever tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Absolute where that is known.
    pub path: Utf8PathBuf,
    /// With symbolic links followed.
    pub real: Utf8PathBuf,
    pub by: By,
    /// Everything below it goes, too.
    pub is_tree: bool,
    /// Some of the path is only known when it runs.
    pub is_computed: bool,
    /// Where it is copied from, when that is known.
    pub from: Option<Utf8PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// An editing tool, or a patch.
    Edit,
    Shell(How),
}

/// The documents of one checkout.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    pub state_path: Utf8PathBuf,
    pub has_state: bool,
    pub state: State,
    /// Where the active playbook should be; `None` when state.md names none.
    pub playbook_path: Option<Utf8PathBuf>,
    /// `None` when it is not there.
    pub playbook: Option<Playbook>,
}

impl<'a> Context<'a> {
    /// `project` is any path in the checkout the session works in.
    pub fn new(
        event: &'a Event,
        rules: &'a Rules,
        world: &'a dyn World,
        lang: Lang,
        project: Option<&Utf8Path>,
    ) -> Self {
        let project = project.or(event.cwd.as_deref()).and_then(|path| world.checkout(path));
        Self {
            event,
            rules,
            world,
            lang,
            project,
            reading: OnceCell::new(),
            targets: OnceCell::new(),
            changes: OnceCell::new(),
            computed_writes: OnceCell::new(),
            checkouts: RefCell::default(),
            documents: RefCell::default(),
            home: OnceCell::new(),
        }
    }

    /// What the shell line would do, when the tool is a shell.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading
            .get_or_init(|| match &self.event.tool {
                Some(Tool::Bash { command, .. }) => Some(self.read(command)),
                _ => None,
            })
            .as_ref()
    }

    /// The configuration is looked at only for a subcommand that git or gh does not have itself.
    fn read(&self, line: &str) -> Reading {
        let mut options = Options {
            home: self.world.home().map(Utf8PathBuf::into_string),
            cwd: self.event.workdir().map(ToString::to_string),
            project: self.project.as_ref().map(|project| project.root.to_string()),
            checkout: self.event.workdir().and_then(|at| self.root_of(at)),
            ..Options::default()
        };
        let reading = dandori_shell::read_with(line, &options);
        for foreign in &reading.foreign {
            aliases::look_up(self, foreign, &mut options);
        }
        let has_none = options.git_aliases.is_empty() && options.gh_aliases.is_empty();
        if has_none { reading } else { dandori_shell::read_with(line, &options) }
    }

    /// The top of the checkout a folder lies in. Most lines start in the project, which is known.
    fn root_of(&self, folder: &Utf8Path) -> Option<String> {
        match &self.project {
            Some(project) if project.root == folder => Some(project.root.to_string()),
            _ => self.checkout(&folder.join(".")).map(|checkout| checkout.root.to_string()),
        }
    }

    /// Every command the shell line would run; none for other tools.
    pub fn commands(&self) -> &[Command] {
        self.reading().map_or(&[], |reading| &reading.commands)
    }

    /// Where a command of the line would run, when that is known.
    pub(crate) fn folder_of(&self, command: &Command) -> Option<Utf8PathBuf> {
        self.folder(&command.cwd)
    }

    pub fn folder(&self, cwd: &Cwd) -> Option<Utf8PathBuf> {
        match cwd {
            Cwd::Start => self.event.workdir().map(Utf8Path::to_owned),
            Cwd::Known(folder) => Some(resolve(self.event.workdir(), folder)),
            Cwd::Unknown => None,
        }
    }

    /// What an editing tool would change, and a patch that is handed to a shell.
    pub fn changes(&self) -> &[Change] {
        self.changes.get_or_init(|| match &self.event.tool {
            Some(Tool::Edit { changes, .. }) => changes.clone(),
            Some(Tool::Bash { command, .. }) => {
                let patches = patches_in_command(command).into_iter();
                let mut changes: Vec<Change> =
                    patches.flat_map(|text| Patch::read(text, self.event.workdir()).changes).collect();
                // Before a tool the line is read anyway; after it nobody else reads it.
                if self.is_before_tool() || command.contains("state") {
                    changes.extend(state_verb::changes(self));
                }
                changes
            }
            _ => Vec::new(),
        })
    }

    /// Every file that would be changed, by whatever tool.
    pub fn targets(&self) -> &[Target] {
        self.targets.get_or_init(|| {
            let edited = self.changes().iter().flat_map(Change::paths).map(Utf8Path::to_owned);
            let mut seen = HashSet::new();
            let mut found: Vec<Target> = edited
                .chain(self.tool_files())
                .filter(|path| seen.insert(path.to_string()))
                .take(MOST_FILES)
                .map(|path| self.target(path, By::Edit, false))
                .collect();
            for write in self.reading().map_or(&[][..], |reading| &reading.writes) {
                self.written(write, &mut found);
            }
            found
        })
    }

    /// More files than anybody looks through: then some were not looked at.
    pub(crate) fn names_too_many_files(&self) -> bool {
        let named = match self.event.tool.as_ref().and_then(Tool::unread_input) {
            Some(input) => texts_in(input),
            None => self.changes().iter().flat_map(Change::paths).count(),
        };
        named > MOST_FILES
    }

    fn written(&self, write: &Write, found: &mut Vec<Target>) {
        let by = By::Shell(write.how);
        let is_unplaced = write.cwd == Cwd::Unknown && !write.path.text.starts_with(['/', '~']);
        let path = self.expanded(&write.path.text);
        let from = write.from.as_ref().filter(|from| !from.is_computed() && !is_unplaced);
        let source = from.map(|from| self.expanded(&from.text)).filter(|source| !self.is_made_here(write, source));
        if let Some(source) = source.as_deref().filter(|_| from.is_some_and(|from| from.certainty == Certainty::Glob)) {
            let named_alike = path.file_name() == source.file_name();
            let folder = if named_alike { path.parent().unwrap_or(&path) } else { &path };
            let coming = self.filled_in(source);
            if write.how == How::Extracted && !coming.is_empty() {
                let unpacked = |source| Target { from: Some(source), ..self.target(path.clone(), by, false) };
                return found.extend(coming.into_iter().map(unpacked));
            }
            if !coming.is_empty() && (named_alike || self.world.kind(&path) == Some(FileKind::Folder)) {
                // The pattern says which files come, not which are there already.
                found.extend(coming.into_iter().filter_map(|source| {
                    let target = self.target(folder.join(source.file_name()?), by, false);
                    Some(Target { from: Some(source), ..target })
                }));
                return;
            }
        }
        if write.path.certainty == Certainty::Glob {
            found.extend(self.filled_in(&path).into_iter().map(|path| self.target(path, by, false)));
        }
        let target = self.target(path, by, write.path.is_computed() || is_unplaced);
        found.push(Target { from: source.map(|source| self.world.real(&source)), ..target });
    }

    /// The line itself puts something into this folder: what is there now says nothing.
    fn is_made_here(&self, copy: &Write, source: &Utf8Path) -> bool {
        let folder = match source.file_name() {
            Some(name) if name.contains(['*', '?', '[']) => source.parent().unwrap_or(source),
            _ => source,
        };
        let writes = self.reading().map_or(&[][..], |reading| &reading.writes);
        writes.iter().filter(|write| write.from != copy.from).any(|write| {
            let path = self.expanded(&write.path.text);
            write.how != How::MovedAway && (write.path.is_computed() || path.starts_with(folder))
        })
    }

    /// Files another tool would write, by its name and its input: `mcp__files__write_file {path}`.
    fn tool_files(&self) -> Vec<Utf8PathBuf> {
        const WRITES: [&str; 12] = [
            "write", "edit", "create", "delete", "remove", "move", "rename", "patch", "append", "replace", "insert",
            "save",
        ];
        let Some(tool) = &self.event.tool else { return Vec::new() };
        let Some(input) = tool.unread_input() else { return Vec::new() };
        let name = match tool {
            Tool::Mcp { tool, .. } => tool.as_str(),
            _ => self.event.tool_name.as_deref().unwrap_or_default(),
        };
        // What an editor is told to do may stand beside its name: `{"command": "create", "path": …}`
        let deed = input.get("command").and_then(Value::as_str).filter(|word| !word.contains(' ')).unwrap_or_default();
        let name = format!("{name} {deed}").to_lowercase();
        if !WRITES.iter().any(|verb| name.contains(verb)) {
            return Vec::new();
        }
        let mut found = Vec::new();
        named_paths(input, 4, &mut found);
        found.into_iter().map(|path| self.expanded(path.strip_prefix("file://").unwrap_or(path))).collect()
    }

    fn target(&self, path: Utf8PathBuf, by: By, is_computed: bool) -> Target {
        let real = if is_computed { path.clone() } else { self.world.real(&path) };
        let takes_folders = matches!(by, By::Shell(how) if how.takes_folders());
        let is_tree = takes_folders && self.world.kind(&real) == Some(FileKind::Folder);
        Target { path, real, by, is_tree, is_computed, from: None }
    }

    /// A path of the line, absolute as far as it can be.
    pub(crate) fn expanded(&self, path: &str) -> Utf8PathBuf {
        let path = match (path.strip_prefix('~'), self.world.home()) {
            (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
            _ => path.to_owned(),
        };
        resolve(self.event.workdir(), &path)
    }

    /// The files a pattern of the shell stands for.
    pub(crate) fn filled_in(&self, pattern: &Utf8Path) -> Vec<Utf8PathBuf> {
        let mut found = vec![Utf8PathBuf::new()];
        for part in pattern.components() {
            let name = part.as_str();
            if !name.contains(['*', '?', '[', '{']) {
                for path in &mut found {
                    path.push(name);
                }
                continue;
            }
            // The shell fills in hidden files only where the dot is written.
            let fits =
                |n: &String| fast_glob::glob_match(name, n) && (name.starts_with(['.', '[']) || !n.starts_with('.'));
            let below = |folder: &Utf8PathBuf| {
                let names = self.world.names(folder).into_iter().filter(fits);
                names.map(|n| folder.join(n)).collect::<Vec<_>>()
            };
            found = found.iter().flat_map(below).take(MAX_FILLED_IN).collect();
        }
        found.retain(|path| self.world.kind(path).is_some());
        found
    }

    /// The checkout a path lies in.
    pub fn checkout(&self, path: &Utf8Path) -> Option<Rc<Checkout>> {
        self.placed(path).checkout
    }

    /// Each path is looked at once.
    fn placed(&self, path: &Utf8Path) -> Placed {
        if let Some(known) = self.checkouts.borrow().get(path.as_str()) {
            return known.clone();
        }
        // A folder that is itself a checkout counts as lying in it.
        let is_folder = self.world.kind(path) == Some(FileKind::Folder);
        let folder = if is_folder { path } else { path.parent().unwrap_or(path) };
        let checkout = self.world.checkout(folder).map(Rc::new);
        let short = checkout.as_ref().map_or(path, |checkout| checkout.short(path)).to_owned();
        let placed = Placed { checkout, short: Rc::new(short) };
        self.checkouts.borrow_mut().insert(path.to_string(), placed.clone());
        placed
    }

    /// The targets that lie in the project, or in another worktree of it, with their checkout.
    pub(crate) fn project_targets(&self) -> Vec<(&Target, Rc<Checkout>)> {
        let Some(project) = &self.project else { return Vec::new() };
        self.targets()
            .iter()
            .filter(|target| !target.is_computed)
            .filter_map(|target| Some((target, self.checkout(&target.real)?)))
            .filter(|(target, checkout)| {
                checkout.common_dir == project.common_dir && !target.real.starts_with(&checkout.common_dir)
            })
            .collect()
    }

    /// What the line may write in the project without saying where.
    pub(crate) fn computed_writes(&self) -> &[ComputedWrite] {
        self.computed_writes.get_or_init(|| computed_writes::writes(self))
    }

    /// state.md and the active playbook of a checkout.
    pub fn documents(&self, checkout: &Checkout) -> Result<Rc<Documents>, Trouble> {
        if let Some(known) = self.documents.borrow().get(&checkout.root) {
            return Ok(known.clone());
        }
        let state_path = checkout.root.join("state.md");
        let text = self.text(&state_path)?;
        let state = State::read(text.as_deref().unwrap_or_default());
        let playbook_path = state.active.as_deref().map(|path| resolve(Some(&checkout.root), path));
        let playbook = match &playbook_path {
            Some(path) => self.text(path)?.map(|text| Playbook::read(&text)),
            None => None,
        };
        let found = Rc::new(Documents { state_path, has_state: text.is_some(), state, playbook_path, playbook });
        self.documents.borrow_mut().insert(checkout.root.clone(), found.clone());
        Ok(found)
    }

    pub fn text(&self, path: &Utf8Path) -> Result<Option<String>, Trouble> {
        let reason = |e: &std::io::Error| dandori_text::guard::io_reason(self.lang, e);
        let unreadable = |e| Trouble::Unreadable { path: path.to_string(), reason: reason(&e) };
        self.world.text(path).map_err(unreadable)
    }

    /// Whether a pattern of the rules holds a path; patterns are from the checkout's root.
    pub fn holds(&self, pattern: &str, path: &Utf8Path) -> bool {
        self.place(path).holds(pattern)
    }

    /// For more than one pattern.
    pub fn place<'p>(&self, path: &'p Utf8Path) -> PathToMatch<'p> {
        let home = self.home.get_or_init(|| self.world.home());
        let in_home = home.as_ref().and_then(|home| path.strip_prefix(home).ok());
        PathToMatch { path, in_home, short: self.placed(path).short }
    }

    /// Whether a pattern holds a target: by the name it was called, by where it leads, and for a whole folder by what
    /// lies in it.
    pub(crate) fn touches(&self, pattern: &str, target: &Target) -> bool {
        if target.is_computed {
            return false;
        }
        if self.holds(pattern, &target.path) || self.holds(pattern, &target.real) {
            return true;
        }
        target.is_tree && self.lies_below(pattern, &target.real)
    }

    /// Something a pattern names lies in a folder that would go. A name without a folder is only looked for in the
    /// folder itself: `node_modules` is full of other people's keys.
    fn lies_below(&self, pattern: &str, folder: &Utf8Path) -> bool {
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        if !plain.contains('/') {
            return self.world.names(folder).iter().any(|name| fast_glob::glob_match(plain, name));
        }
        let Some(checkout) = self.checkout(folder) else { return false };
        let fixed: Vec<&str> =
            plain.trim_start_matches('/').split('/').take_while(|p| !p.contains(['*', '?', '[', '{'])).collect();
        let fixed = checkout.root.join(fixed.join("/"));
        fixed.starts_with(folder) && self.world.kind(&fixed).is_some()
    }

    pub(crate) fn is_before_tool(&self) -> bool {
        self.event.kind == Kind::PreTool
    }
}

/// How many texts there are in a tool's input.
fn texts_in(value: &Value) -> usize {
    match value {
        Value::String(_) => 1,
        Value::Array(items) => items.iter().map(texts_in).sum(),
        Value::Object(fields) => fields.values().map(texts_in).sum(),
        _ => 0,
    }
}

/// The texts that a tool's input calls a path, at any depth: `{"files": [{"path": "a"}]}`
fn named_paths<'v>(value: &'v Value, depth: usize, found: &mut Vec<&'v str>) {
    const NAMES: [&str; 14] = [
        "path",
        "paths",
        "file_path",
        "filepath",
        "file_paths",
        "relative_path",
        "notebook_path",
        "file",
        "files",
        "filename",
        "destination",
        "source",
        "target",
        "uri",
    ];
    let Some(depth) = depth.checked_sub(1) else { return };
    let named = |name: &String| NAMES.contains(&name.to_ascii_lowercase().as_str());
    match value {
        Value::Array(items) => items.iter().for_each(|item| named_paths(item, depth, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(path) if named(name) => found.push(path),
                    Value::Array(items) if named(name) => {
                        found.extend(items.iter().filter_map(Value::as_str));
                        named_paths(value, depth, found);
                    }
                    other => named_paths(other, depth, found),
                }
            }
        }
        _ => {}
    }
}
