//! From a policy to what stands where in a run's own view of the file system: parents before their children, so that
//! what is laid later is nearer. Looks at what exists, touches nothing.

use std::fs;
use std::path::{Path, PathBuf};

use super::mounts::other_names;
use super::{SandboxPolicy, resolved};

/// Shared by everybody on the machine; a run has its own.
const SHARED: &[&str] = &["/tmp", "/var/tmp"];
/// Sockets of services and of the user's session live here.
const RUNTIME: &str = "/run";
/// What of it is no socket and needed to find names and programs.
const RUNTIME_KEPT: &[&str] = &[
    "/run/systemd/resolve",
    "/run/NetworkManager",
    "/run/resolvconf",
    "/run/current-system",
    "/run/booted-system",
    "/run/opengl-driver",
    "/run/wrappers",
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlannedPath {
    pub(crate) path: PathBuf,
    pub(crate) what: What,
    /// Something else is laid inside it.
    pub(crate) holds_others: bool,
    /// Somebody named it: not one of the places that follow from others.
    pub(crate) is_asked_for: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum What {
    /// A `/proc` that knows the run's processes alone.
    Processes,
    /// A `/dev` with the common nodes and terminals of its own.
    Devices,
    /// Nothing, and nothing can be made.
    Hidden,
    /// An empty file system of its own.
    Empty,
    /// An empty folder in one that was emptied.
    Folder,
    /// A folder of the run's own, under this name.
    Own(PathBuf),
    Read,
    /// Read-only inside something writable.
    Protected,
    /// The tools' store below, the run's layer above.
    Layered {
        upper: PathBuf,
        work: PathBuf,
    },
    Write,
    /// A copy in its place.
    Copy(PathBuf),
}

pub(crate) fn plan(policy: &SandboxPolicy) -> Vec<PlannedPath> {
    let mut places: Vec<PlannedPath> = Vec::new();
    let mut add = |path: PathBuf, what, is_asked_for| {
        places.push(PlannedPath { path, what, holds_others: false, is_asked_for });
    };
    add("/proc".into(), What::Processes, false);
    add("/dev".into(), What::Devices, false);
    if Path::new(RUNTIME).is_dir() {
        add(RUNTIME.into(), What::Empty, false);
        for path in RUNTIME_KEPT.iter().map(PathBuf::from).filter(|path| path.exists()) {
            add(path, What::Read, false);
        }
        add(runtime_folder(), What::Folder, false);
    }
    if let Some(own) = &policy.tmp {
        let mut seen = Vec::new();
        for shared in SHARED.iter().map(|path| resolved(Path::new(path))).filter(|path| path.is_dir()) {
            if !seen.contains(&shared) {
                seen.push(shared.clone());
                add(shared, What::Own(resolved(own.as_std_path())), false);
            }
        }
    }
    let exists = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    let all = |paths: &[camino::Utf8PathBuf]| -> Vec<PathBuf> {
        paths.iter().map(|path| resolved(path.as_std_path())).filter(exists).collect()
    };
    let named = [
        (&policy.hide, What::Hidden),
        (&policy.read, What::Read),
        (&policy.reach, What::Read),
        (&policy.write, What::Write),
        (&policy.protect, What::Protected),
    ];
    for (paths, what) in named {
        for path in all(paths) {
            add(path, what.clone(), true);
        }
    }
    // By whatever other name: what is hidden, and what is only to be seen as a copy.
    let mut kept_away = all(&policy.hide);
    kept_away.extend(policy.replace.iter().map(|copy| resolved(copy.at.as_std_path())));
    for path in other_names(&kept_away).into_iter().filter(exists) {
        add(path, What::Hidden, true);
    }
    for store in &policy.stores {
        let at = resolved(store.at.as_std_path());
        let (upper, work) = (resolved(store.upper.as_std_path()), resolved(store.work.as_std_path()));
        if store.is_over && at.is_dir() {
            add(at, What::Layered { upper, work }, true);
        } else {
            add(upper, What::Write, true);
        }
    }
    for copy in &policy.replace {
        let at = resolved(copy.at.as_std_path());
        if exists(&at) {
            add(at, What::Copy(resolved(copy.with.as_std_path())), true);
        }
    }
    in_order(places)
}

/// The user's runtime folder, by the name that programs expect.
pub(crate) fn runtime_folder() -> PathBuf {
    format!("/run/user/{}", rustix::process::getuid().as_raw()).into()
}

fn in_order(mut places: Vec<PlannedPath>) -> Vec<PlannedPath> {
    places.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.what.cmp(&b.what)));
    places.dedup();
    let takes_away = |what: &What| matches!(what, What::Hidden | What::Empty | What::Own(_) | What::Devices);
    let mut kept: Vec<PlannedPath> = Vec::new();
    for place in places {
        let nearest = kept.iter().rfind(|above| is_inside(&place.path, &above.path));
        let is_away = nearest.is_some_and(|above| takes_away(&above.what));
        let is_needed = match place.what {
            // Shown already, unless the nearest place above it takes it away.
            What::Read => is_away,
            // And the other way round.
            What::Hidden => !is_away,
            _ => true,
        };
        if is_needed {
            kept.push(place);
        }
    }
    let mut places = kept;
    let paths: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
    for place in &mut places {
        place.holds_others = paths.iter().any(|path| is_inside(path, &place.path));
    }
    places
}

fn is_inside(path: &Path, folder: &Path) -> bool {
    path != folder && path.starts_with(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8PathBuf;
    use dandori_domain::run::SandboxMode;

    #[test]
    fn parents_come_first_and_what_is_shown_anyway_is_left_out() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let root = Utf8PathBuf::from_path_buf(dir.path().canonicalize().unwrap()).unwrap();
        for path in ["state/tree", "state/tmp", "home/.ssh", "home/work"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let mut policy = SandboxPolicy::new(SandboxMode::Auto);
        policy.write = vec![root.join("state/tree")];
        policy.hide = vec![root.join("home/.ssh"), root.join("state"), root.join("not/there")];
        policy.read = vec![root.join("home/work"), root.join("state/tmp")];
        let below = |place: &PlannedPath| place.path.strip_prefix(&root).ok().map(|path| path.display().to_string());
        let laid: Vec<_> = plan(&policy).iter().filter_map(|p| Some((below(p)?, p.what.clone()))).collect();
        let expected = [
            ("home/.ssh", What::Hidden),
            ("state", What::Hidden),
            ("state/tmp", What::Read),
            ("state/tree", What::Write),
        ];
        assert_eq!(laid, expected.map(|(path, what)| (path.to_owned(), what)));
    }
}
