//! Dandori's hooks in the agents' settings, as far as looking tells: are they there, can they be called, and is there
//! anything in the way of their being heard.

pub(in crate::cli) mod codex;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::client::{FolderTrust, Hooks, Trust};
use dandori_domain::problem::SettingsTrouble;
use dandori_install::{Client, Inspection, Looseness, Reach, Shape, Weakness, inspect, reach};
use dandori_text::Lang;
use dandori_text::doctor::Check;
use dandori_text::doctor::hooks::{self as text, HookTrouble, Wanted, Weak};
use dandori_text::init::Beyond;

use super::{Finding, Grade};
use crate::cli::Context;
use crate::cli::init::{self, files, places};

/// What was seen of one agent.
pub(super) struct Look {
    pub(super) client: Client,
    pub(super) hooks: &'static Hooks,
    /// The checkout the user stands in.
    pub(super) root: Option<Utf8PathBuf>,
    pub(super) files: Vec<Settings>,
    pub(super) is_installed: bool,
    /// Its program is on the PATH.
    pub(super) is_found: bool,
    pub(super) is_folder_trusted: bool,
    troubles: Vec<HookTrouble>,
}

/// A settings file that is there.
pub(super) struct Settings {
    pub(super) scope: Scope,
    pub(super) path: Utf8PathBuf,
    pub(super) bytes: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    Project,
}

/// Every agent that is there, or has hooks of ours.
pub(super) fn look(context: &Context) -> Vec<Look> {
    let all = Client::with_hooks().map(|(client, hooks)| Look::at(context, client, hooks));
    all.filter(|look| look.is_found || look.is_installed).collect()
}

impl Look {
    fn at(context: &Context, client: Client, hooks: &'static Hooks) -> Self {
        let root = context.cwd.as_deref().and_then(places::project_root);
        let files = settings(context, client, hooks, root.as_deref());
        let mut look = Self {
            client,
            hooks,
            root,
            files,
            is_installed: false,
            is_found: context.env.find_program(client.describe().program.name).is_some(),
            is_folder_trusted: true,
            troubles: Vec::new(),
        };
        look.read_files();
        look.look_at_programs(context);
        look.look_at_places(context);
        look.look_at_required();
        look.look_at_the_machine_s();
        look.look_at_variables(context);
        look.look_at_folder(context);
        match &hooks.trust {
            Trust::None => {}
            Trust::Hashes { .. } => codex::look(&mut look, context),
            Trust::Folder(trust) => look.look_at_trust(context, trust),
        }
        if !look.is_installed {
            look.troubles = vec![HookTrouble::NotInstalled];
        }
        look
    }

    pub(super) fn can_be_tried(&self) -> bool {
        self.is_installed && self.is_found
    }

    /// The program of the hooks is not there, or none.
    pub(super) fn calls_nobody(&self) -> bool {
        let is_gone = |t: &HookTrouble| matches!(t, HookTrouble::NoProgram { .. } | HookTrouble::NotExecutable { .. });
        self.troubles.iter().any(is_gone)
    }

    /// What stands in the way, as a user reads it.
    pub(super) fn reasons(&self, lang: Lang) -> Vec<String> {
        let stands_in_the_way = |trouble: &&HookTrouble| grade(trouble) == Grade::Bad;
        let troubles = self.troubles.iter().filter(stands_in_the_way);
        troubles.map(|trouble| text::trouble(lang, self.client, trouble)).collect()
    }

    pub(super) fn findings(&self, lang: Lang) -> Vec<Finding> {
        let check = Check::Hooks(self.client);
        if self.troubles.is_empty() {
            let paths = self.own_files().map(|(file, _)| file.path.as_str()).collect::<Vec<_>>();
            return vec![Finding::good(check, text::installed(lang, &paths.join(", ")))];
        }
        let finding = |trouble: &HookTrouble| Finding {
            grade: grade(trouble),
            remedy: Some(text::remedy(lang, self.client, trouble)),
            code: Some(trouble.code()),
            ..Finding::good(check, text::trouble(lang, self.client, trouble))
        };
        self.troubles.iter().map(finding).collect()
    }

    /// The files with entries of ours in them.
    fn own_files(&self) -> impl Iterator<Item = (&Settings, Inspection)> {
        self.files.iter().filter_map(|file| {
            let found = inspect(self.client, file.text()?).ok()?;
            (!found.entries.is_empty()).then_some((file, found))
        })
    }

    fn read_files(&mut self) {
        let mut troubles = Vec::new();
        for file in &self.files {
            let path = file.path.to_string();
            let names_us = String::from_utf8_lossy(&file.bytes).contains("dandori");
            let Some(text) = file.text() else {
                if names_us {
                    self.is_installed = true;
                    troubles.push(HookTrouble::Unparsed { path, trouble: SettingsTrouble::NotText });
                }
                continue;
            };
            let found = match inspect(self.client, text) {
                Ok(found) => found,
                // What we cannot read may not have been ours; only then it matters.
                Err(trouble) => {
                    if names_us {
                        self.is_installed = true;
                        troubles.push(HookTrouble::Unparsed { path, trouble: files::told(trouble) });
                    }
                    continue;
                }
            };
            if let Some(switch) = found.off.filter(|switch| !switch.is_machines) {
                troubles.push(HookTrouble::Disabled { path: path.clone(), key: switch.name() });
            }
            if found.entries.is_empty() {
                continue;
            }
            self.is_installed = true;
            if let Reach::Unread { what, line, column } = reach(self.client, text) {
                let what = match what {
                    Looseness::ByteOrderMark => Beyond::ByteOrderMark,
                    Looseness::Comment => Beyond::Comment,
                    Looseness::TrailingComma => Beyond::TrailingComma,
                };
                troubles.push(HookTrouble::Unread { path: path.clone(), what, line, column });
            }
            troubles.extend(of_fields(&path, &found));
        }
        self.troubles.extend(troubles);
    }

    fn look_at_programs(&mut self, context: &Context) {
        let mut programs: Vec<String> =
            self.own_files().flat_map(|(_, found)| found.entries).map(|e| e.call.program).collect();
        programs.sort();
        programs.dedup();
        self.troubles.extend(programs.into_iter().filter_map(|program| of_program(context, program)));
    }

    /// What the hooks were told when they were installed, beside what this environment says.
    fn look_at_places(&mut self, context: &Context) {
        let here = init::call(context, Utf8Path::new("")).places;
        let mut troubles = Vec::new();
        for (file, found) in self.own_files() {
            let path = || file.path.to_string();
            if found.entries.iter().any(|entry| entry.is_outdated) {
                troubles.push(HookTrouble::Outdated { path: path() });
            }
            for entry in &found.entries {
                let pairs = entry.call.places.named().into_iter().zip(here.named());
                for ((option, theirs), (_, here)) in pairs {
                    let (Some(theirs), Some(here)) = (theirs, here) else { continue };
                    let (theirs, here) = (theirs.to_owned(), here.to_owned());
                    let trouble = HookTrouble::OtherPlace { path: path(), option, theirs, here };
                    if !is_same_place(&trouble) && !troubles.contains(&trouble) {
                        troubles.push(trouble);
                    }
                }
            }
        }
        self.troubles.extend(troubles);
    }

    /// What has to stand beside the hooks. A word that the client does not know counts as none.
    fn look_at_required(&mut self) {
        let mut troubles = Vec::new();
        for file in &self.files {
            let settings: serde_json::Value =
                file.text().and_then(|t| serde_json::from_str(t).ok()).unwrap_or_default();
            for required in self.hooks.requires {
                let Some(value) = settings.get(required.key) else { continue };
                if !value.as_str().is_some_and(|word| required.words.contains(&word)) {
                    let (path, value) = (file.path.to_string(), value.to_string());
                    troubles.push(HookTrouble::OpenToSessions { path, value });
                }
            }
        }
        self.troubles.extend(troubles);
    }

    /// The machine's own settings, which nobody else's can change.
    fn look_at_the_machine_s(&mut self) {
        let Some(path) = self.client.describe().settings.machine_file else { return };
        let text = files::read(Utf8Path::new(path)).ok().flatten();
        if let Some(switch) = text.and_then(|text| inspect(self.client, &text).ok()?.off) {
            self.troubles.push(HookTrouble::Disabled { path: path.to_owned(), key: switch.name() });
        }
    }

    fn look_at_variables(&mut self, context: &Context) {
        let Some(name) = self.client.describe().environment.disarms else { return };
        if context.env.text(name).is_some_and(|v| v != "0" && v != "false") {
            self.troubles.push(HookTrouble::DisabledByVariable { name });
        }
    }

    fn look_at_folder(&mut self, context: &Context) {
        let scopes = self.scopes();
        if let (Some(root), Some(here)) = (&self.root, &context.cwd)
            && self.hooks.only_from_root
            && !scopes.is_empty()
            && !scopes.contains(&Scope::User)
            && root != here
        {
            self.troubles.push(HookTrouble::ClaudeSubfolder { root: root.to_string() });
        }
    }

    fn scopes(&self) -> Vec<Scope> {
        self.own_files().map(|(file, _)| file.scope).collect()
    }

    fn look_at_trust(&mut self, context: &Context, trust: &FolderTrust) {
        let Some(root) = self.root.clone() else { return };
        self.is_folder_trusted = self.trusts(context, trust, &root);
        let scopes = self.scopes();
        // The user's own are read in every folder.
        if scopes.contains(&Scope::Project) && !scopes.contains(&Scope::User) && !self.is_folder_trusted {
            self.troubles.push(HookTrouble::FolderNotTrusted { client: self.client, root: root.into_string() });
        }
    }

    fn trusts(&self, context: &Context, trust: &FolderTrust, root: &Utf8Path) -> bool {
        let word = context.env.text(trust.word);
        if context.env.text(trust.restricted) == Some("true") || word == Some("false") {
            return false;
        }
        let user = self.files.iter().find(|f| f.scope == Scope::User).and_then(Settings::text);
        let machine = self.client.describe().settings.machine_file;
        let machine = machine.and_then(|path| files::read(Utf8Path::new(path)).ok().flatten());
        let asks_nobody = |text: &str| dandori_install::asks_nobody(trust, text);
        if word == Some("true") || user.is_some_and(asks_nobody) || machine.as_deref().is_some_and(asks_nobody) {
            return true;
        }
        let beside = || places::user_folder(context, self.client).join(trust.file);
        let rules = context.env.path(trust.moved_by).unwrap_or_else(beside);
        let rules = files::read(&rules).ok().flatten().unwrap_or_default();
        let real = |path: &str| dandori_host::layout::real(Utf8Path::new(path)).into_string();
        dandori_install::is_trusted(&rules, root.as_str(), &real).unwrap_or(false)
    }
}

impl Settings {
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }
}

/// The files of this agent that are there.
fn settings(context: &Context, client: Client, hooks: &Hooks, root: Option<&Utf8Path>) -> Vec<Settings> {
    let mut paths = vec![(Scope::User, places::user_folder(context, client).join(hooks.file))];
    if let Some(root) = root {
        let root = if hooks.searches_up { codex::project(root) } else { root.to_owned() };
        let folder = root.join(client.describe().settings.folder);
        let files = [Some(hooks.file), hooks.local_file].into_iter().flatten();
        paths.extend(files.map(|file| (Scope::Project, folder.join(file))));
    }
    let file = |(scope, path): (Scope, Utf8PathBuf)| Some(Settings { scope, bytes: std::fs::read(&path).ok()?, path });
    paths.into_iter().filter_map(file).collect()
}

/// Without it dandori works as well.
fn grade(trouble: &HookTrouble) -> Grade {
    match trouble {
        HookTrouble::NotInstalled
        | HookTrouble::OtherProgram { .. }
        | HookTrouble::Outdated { .. }
        | HookTrouble::ClaudeSubfolder { .. } => Grade::Missing,
        _ => Grade::Bad,
    }
}

pub(in crate::cli) fn of_fields(path: &str, found: &Inspection) -> Vec<HookTrouble> {
    let wanted = |shape| match shape {
        Shape::Object => Wanted::Object,
        Shape::List => Wanted::List,
        Shape::Text => Wanted::Text,
        Shape::Number => Wanted::Number,
        Shape::Present => Wanted::Present,
        Shape::KnownType => Wanted::KnownType,
        Shape::FailureWord => Wanted::FailureWord,
    };
    let fault = |fault: &dandori_install::Fault| HookTrouble::BadField {
        path: path.to_owned(),
        line: fault.line,
        column: fault.column,
        key: fault.key.clone(),
        wanted: wanted(fault.wanted),
    };
    let mut troubles: Vec<HookTrouble> = found.faults.iter().map(fault).collect();
    if !found.missing.is_empty() {
        let events = found.missing.join(", ");
        troubles.push(HookTrouble::MissingEvents { path: path.to_owned(), events });
    }
    // Several events with one weakness are one thing to mend.
    let mut weak: Vec<(&Weakness, Vec<&str>)> = Vec::new();
    for entry in &found.entries {
        let Some(weakness) = &entry.weakness else { continue };
        match weak.iter_mut().find(|(known, _)| *known == weakness) {
            Some((_, events)) => events.push(&entry.event),
            None => weak.push((weakness, vec![&entry.event])),
        }
    }
    troubles.extend(weak.into_iter().map(|(weakness, events)| {
        let by = match weakness.clone() {
            Weakness::Matcher(matcher) => Weak::Matcher(matcher),
            Weakness::If(condition) => Weak::If(condition),
            Weakness::Async => Weak::Async,
            Weakness::Timeout(millis) => Weak::Timeout(millis),
            Weakness::FailsOpen => Weak::FailsOpen,
        };
        HookTrouble::Weak { path: path.to_owned(), events: events.join(", "), by }
    }));
    troubles
}

/// By where the paths lead.
fn is_same_place(trouble: &HookTrouble) -> bool {
    let HookTrouble::OtherPlace { theirs, here, .. } = trouble else { return false };
    let real = |path: &str| dandori_host::layout::real(Utf8Path::new(path.trim_end_matches('/')));
    real(theirs) == real(here)
}

/// What is wrong with the program the entries call.
fn of_program(context: &Context, program: String) -> Option<HookTrouble> {
    use std::os::unix::fs::PermissionsExt;
    // A shell makes a path of it first, and only it knows which.
    if program.contains('$') || program.starts_with('~') {
        return None;
    }
    let path =
        if program.contains('/') { Some(Utf8PathBuf::from(&program)) } else { context.env.find_program(&program) };
    let Some((path, found)) = path.and_then(|path| path.metadata().ok().map(|found| (path, found))) else {
        return Some(HookTrouble::NoProgram { program });
    };
    if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
        return Some(HookTrouble::NotExecutable { program });
    }
    if program.contains('/') && !path.is_absolute() {
        return Some(HookTrouble::RelativeProgram { program });
    }
    let ours = std::env::current_exe().and_then(|path| path.canonicalize());
    let is_ours = ours.is_ok_and(|ours| path.canonicalize().is_ok_and(|path| path == ours));
    (!is_ours).then_some(HookTrouble::OtherProgram { program })
}
