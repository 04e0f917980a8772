//! state.md and playbooks where they lie: found, read, and replaced whole.

use std::os::unix::fs::PermissionsExt;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;
use dandori_domain::problem::EditTrouble;
use dandori_playbook::{EditError, Playbook, State, state_template};
use dandori_text::Lang;

use crate::cli::Context;

/// How many earlier versions of a state.md are kept.
const VERSIONS: usize = 100;

/// The documents of one checkout: in a worktree its own, not the main checkout's.
pub(crate) struct Documents {
    root: Utf8PathBuf,
    guards: Utf8PathBuf,
    history: Utf8PathBuf,
}

impl Documents {
    pub(crate) fn of(context: &Context) -> Result<Self, Problem> {
        let here = context.here()?;
        let root = here.ancestors().find(|folder| folder.join(".git").exists());
        let root = root.ok_or_else(|| Problem::NotARepository { path: here.clone() })?.to_owned();
        let guards = context.layout.guard(&root);
        let history = guards.join("state");
        Ok(Self { root, guards, history })
    }

    /// Where the guards keep what they know of this checkout.
    pub(crate) fn guards(&self) -> &Utf8Path {
        &self.guards
    }

    pub(crate) fn state_path(&self) -> Utf8PathBuf {
        self.root.join("state.md")
    }

    pub(crate) fn playbook_path(&self, name: &str) -> Result<Utf8PathBuf, Problem> {
        let is_name = !name.is_empty()
            && !name.starts_with('.')
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !is_name {
            return Err(Problem::BadName { name: name.to_owned() });
        }
        Ok(self.root.join(format!("plan/playbook-{name}.md")))
    }

    /// As people write it: from the checkout's root.
    pub(crate) fn short<'p>(&self, path: &'p Utf8Path) -> &'p str {
        path.strip_prefix(&self.root).unwrap_or(path).as_str()
    }

    /// Whether a file is there, by its path from the checkout's root.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }

    /// The branch the checkout is on, read where git keeps it; `None` when HEAD is detached.
    pub(crate) fn branch(&self) -> Option<String> {
        let dot_git = self.root.join(".git");
        let git_dir = match std::fs::read_to_string(&dot_git) {
            Ok(text) => self.root.join(text.strip_prefix("gitdir: ")?.trim_end()),
            Err(_) => dot_git,
        };
        let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
        head.trim_end().strip_prefix("ref: refs/heads/").map(str::to_owned)
    }

    /// The text of state.md; `None` when there is none.
    pub(crate) fn state_text(&self) -> Result<Option<String>, Problem> {
        let path = self.state_path();
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(io(&path, &e)),
        }
    }

    pub(crate) fn state(&self) -> Result<State, Problem> {
        Ok(State::read(&self.state_text()?.unwrap_or_default()))
    }

    /// The playbook that was named, else the active one, with its path.
    pub(crate) fn playbook(
        &self,
        named: Option<&Utf8Path>,
        context: &Context,
    ) -> Result<(Utf8PathBuf, String), Problem> {
        let path = match named {
            Some(path) => self.named(context.here()?.join(path), path),
            None => {
                let active = self.state()?.active;
                self.root.join(active.ok_or_else(|| Problem::NoPlaybook { path: self.state_path() })?)
            }
        };
        let bytes = std::fs::read(&path).map_err(|e| Problem::of_named_file(&path, &e))?;
        Ok((path, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Every playbook in `plan/`, by name. What lies deeper is archived.
    pub(crate) fn playbooks(&self) -> Result<Vec<(String, Playbook)>, Problem> {
        let folder = self.root.join("plan");
        let listed = match folder.read_dir_utf8() {
            Ok(listed) => listed,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(&folder, &e)),
        };
        let is_playbook = |name: &str| name.starts_with("playbook-") && Utf8Path::new(name).extension() == Some("md");
        let mut names: Vec<String> = listed.flatten().map(|entry| entry.file_name().to_owned()).collect();
        names.retain(|name| is_playbook(name));
        names.sort();
        // One that cannot be read is not what is next.
        let read = |name: String| Some((format!("plan/{name}"), std::fs::read(folder.join(name)).ok()?));
        let found = names.into_iter().filter_map(read);
        Ok(found.map(|(path, bytes)| (path, Playbook::read(&String::from_utf8_lossy(&bytes)))).collect())
    }

    /// The file of that path, or else the playbook of that name, as `playbook new` takes it.
    fn named(&self, path: Utf8PathBuf, name: &Utf8Path) -> Utf8PathBuf {
        let by_name = || self.playbook_path(name.as_str()).ok().filter(|path| path.exists());
        if path.exists() { path } else { by_name().unwrap_or(path) }
    }

    /// Sets one value of state.md. A file that is not there is made; the version before is kept.
    pub(crate) fn set_state(&self, key: &str, value: Option<&str>, lang: Lang) -> Result<(), Problem> {
        let path = self.state_path();
        let before = self.state_text()?;
        let text = before.clone().unwrap_or_else(|| state_template(lang == Lang::Ja));
        let after = State::set_or_add(&text, key, value).map_err(|e| Problem::CannotEdit {
            path: path.clone(),
            key: key.to_owned(),
            reason: match e {
                EditError::NoPlace { .. } => EditTrouble::NoPlace,
                EditError::NotAValue { .. } => EditTrouble::NotAValue,
                EditError::SeveralLines => EditTrouble::SeveralLines,
                EditError::Unwritable => EditTrouble::Unwritable,
            },
        })?;
        if before.as_deref() == Some(after.as_str()) {
            return Ok(());
        }
        if let Some(before) = before {
            self.keep(&before)?;
        }
        write(&path, &after)
    }

    fn keep(&self, text: &str) -> Result<(), Problem> {
        let failed = |e: std::io::Error| io(&self.history, &e);
        std::fs::create_dir_all(&self.history).map_err(failed)?;
        // Two changes may come in one millisecond: neither version takes the other's place.
        let mut name = dandori_host::now().as_millisecond();
        while self.history.join(format!("{name:013}.md")).exists() {
            name += 1;
        }
        let path = self.history.join(format!("{name:013}.md"));
        dandori_host::replace_file(&path, text.as_bytes(), 0o600).map_err(failed)?;
        for old in self.versions()?.iter().skip(VERSIONS) {
            let _ = std::fs::remove_file(self.history.join(format!("{old}.md")));
        }
        Ok(())
    }

    /// Earlier versions of state.md by name, newest first.
    pub(crate) fn versions(&self) -> Result<Vec<String>, Problem> {
        let listed = match self.history.read_dir_utf8() {
            Ok(listed) => listed,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(io(&self.history, &e)),
        };
        let name = |e: camino::Utf8DirEntry| e.file_name().strip_suffix(".md").map(str::to_owned);
        let mut names: Vec<String> = listed.flatten().filter_map(name).filter(|n| n.parse::<i64>().is_ok()).collect();
        names.sort_by(|a, b| b.cmp(a));
        Ok(names)
    }

    pub(crate) fn version(&self, name: &str) -> Result<String, Problem> {
        let missing = || Problem::NoSuchVersion { text: name.to_owned() };
        if !self.versions()?.iter().any(|n| n == name) {
            return Err(missing());
        }
        std::fs::read_to_string(self.history.join(format!("{name}.md"))).map_err(|_| missing())
    }
}

/// Whole, or not at all. A file that is there keeps its mode, and a link to one stays a link.
pub(crate) fn write(path: &Utf8Path, text: &str) -> Result<(), Problem> {
    let failed = |e: std::io::Error| io(path, &e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let real = path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    let mode = real.metadata().map_or(0o644, |found| found.permissions().mode() & 0o777);
    dandori_host::replace_file(&real, text.as_bytes(), mode).map_err(failed)
}

fn io(path: &Utf8Path, error: &std::io::Error) -> Problem {
    Problem::Io { path: path.to_owned(), reason: error.to_string() }
}
