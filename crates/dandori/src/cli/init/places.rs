//! Where the settings are: a project's or the user's.

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::Problem;
use dandori_install::Client;

use crate::cli::Context;

pub(super) struct Places {
    folders: Vec<(Client, Utf8PathBuf)>,
    /// Shown from here, when it is a project's.
    root: Option<Utf8PathBuf>,
    /// The checkout an agent works in; for the user's settings, any.
    pub(super) guarded: Option<Utf8PathBuf>,
    /// What was there before us.
    pub(super) records: Utf8PathBuf,
}

impl Places {
    /// A worktree has settings of its own.
    pub(super) fn of_project(context: &Context) -> Result<Self, Problem> {
        let here = context.here()?;
        let root = project_root(&here).ok_or_else(|| Problem::NothingToGuard { path: here.clone() })?;
        Ok(Self {
            folders: Client::ALL.map(|client| (client, root.join(client.describe().settings.folder))).to_vec(),
            records: context.layout.guard(&root).join("install.json"),
            guarded: Some(root.clone()),
            root: Some(root),
        })
    }

    pub(super) fn of_user(context: &Context) -> Result<Self, Problem> {
        let folders = Client::ALL.map(|client| (client, user_folder(context, client))).to_vec();
        for (_, folder) in &folders {
            // A relative one would be another folder for every agent.
            if !folder.is_absolute() {
                let reason = "HOME is not set, or the folder is not named by an absolute path";
                return Err(Problem::Io { path: folder.clone(), reason: reason.to_owned() });
            }
        }
        let records = context.layout.root().join("guards/user/install.json");
        Ok(Self { folders, root: None, guarded: None, records })
    }

    /// The user's and, inside of one, this project's: a client reads both.
    pub(super) fn both(context: &Context) -> impl Iterator<Item = Self> {
        [Self::of_user(context), Self::of_project(context)].into_iter().flatten()
    }

    pub(super) fn folder(&self, client: Client) -> &Utf8Path {
        let found = self.folders.iter().find(|(of, _)| *of == client);
        found.map_or(Utf8Path::new(""), |(_, folder)| folder)
    }

    /// The one that everybody who has the repository gets; for the user's settings, the only one.
    pub(super) fn file(&self, client: Client) -> Utf8PathBuf {
        self.folder(client).join(client.hooks().map_or("", |hooks| hooks.file))
    }

    /// The one of a project that is this user's alone, where the client has such a file.
    pub(super) fn local_file(&self, client: Client) -> Option<Utf8PathBuf> {
        self.root.as_ref()?;
        Some(self.folder(client).join(client.hooks()?.local_file?))
    }

    /// Every file the client reads hooks from: ours may stand in each, and a switch in one of them counts for all.
    pub(super) fn files(&self, client: Client) -> impl Iterator<Item = Utf8PathBuf> {
        [Some(self.file(client)), self.local_file(client)].into_iter().flatten()
    }

    pub(super) fn root(&self) -> Option<&Utf8Path> {
        self.root.as_deref()
    }

    /// As people write it: a project's from its root.
    pub(super) fn short<'p>(&self, path: &'p Utf8Path) -> &'p str {
        self.root.as_ref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).as_str()
    }
}

/// The checkout a folder is in.
pub(crate) fn project_root(here: &Utf8Path) -> Option<Utf8PathBuf> {
    here.ancestors().find(|folder| folder.join(".git").exists()).map(Utf8Path::to_owned)
}

/// Where the user's own settings are: as his variable says, else in his home.
pub(in crate::cli) fn user_folder(context: &Context, client: Client) -> Utf8PathBuf {
    let settings = &client.describe().settings;
    match context.env.path(settings.moved_by.variable()) {
        Some(moved) if settings.below_variable().is_empty() => moved,
        Some(moved) => moved.join(settings.below_variable()),
        None => context.env.home().unwrap_or_default().join(settings.folder),
    }
}
