//! The file system as one run sees it, put together in its own mount namespace.
//!
//! Everything that is there, read-only; over it, parents before their children: empty folders where something is
//! hidden, folders of its own for what everybody shares (`/tmp`, `/run`, `/dev`, `/proc`), the writable ones, layers
//! over the tools' stores, and copies in the place of files that hold logins. What the agent could not name stays out of
//! reach: sockets with a path are covered one by one.
//!
//! The order follows from the paths alone, so that "the nearest path decides" holds here as it does for Landlock.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, UnmountFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount, mount_bind, mount_bind_recursive,
    mount_change, mount_remount, move_mount, unmount,
};

use super::mounts::{Mounted, mounted_below, other_names};
use super::plan::{PlannedPath, What, plan};
use super::{SandboxPolicy, resolved};

/// Where the old root stands while the new one is put together.
const OLD: &str = "/old";
const NEW: &str = "/new";

/// The nodes that ordinary programs open.
const NODES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Names that point into `/proc` and into the terminals.
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// What of `/proc` is not about processes: the machine's own, which a superuser could write.
const MACHINE: &[&str] = &["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "asound", "driver"];

#[derive(Debug, thiserror::Error)]
pub(crate) enum ViewError {
    /// This machine does not let it be done, whatever the paths are.
    #[error("{what} ({source})")]
    Machine {
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("{what} {path}: {source}", path = .path.display())]
    Path {
        what: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Puts it together and makes it the root. For the first process of a namespace, with its powers. Says which stores could
/// not be layered: their file system does not lend itself to it.
pub(crate) fn build(policy: &SandboxPolicy) -> Result<Vec<PathBuf>, ViewError> {
    // Before anything moves: where links lead is asked of the machine as it is.
    let places = plan(policy);
    let sockets = path_sockets();
    let reached: Vec<PathBuf> = policy.reach.iter().map(|folder| resolved(folder.as_std_path())).collect();
    let machine = |what| move |e: rustix::io::Errno| ViewError::Machine { what, source: e.into() };
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(machine("mounts cannot be made private"))?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV;
    mount("dandori", "/tmp", "tmpfs", plain, c"mode=0755,size=64m").map_err(machine("no tmpfs can be mounted"))?;
    for folder in ["/tmp/old", "/tmp/new"] {
        make_folder(Path::new(folder), 0o755).map_err(|source| ViewError::Machine { what: "no folder", source })?;
    }
    rustix::process::pivot_root("/tmp", "/tmp/old").map_err(machine("the root cannot be moved"))?;
    std::env::set_current_dir("/").map_err(|source| ViewError::Machine { what: "no way to the root", source })?;
    mount_bind_recursive(OLD, NEW).map_err(machine("the root cannot be bound"))?;
    seal(Path::new(NEW))?;
    let nothing = make_nothing()?;
    let mut plain_stores = Vec::new();
    for place in &places {
        match (lay(place, policy, &nothing), &place.what) {
            (Err(_), What::Layered { upper, .. }) => {
                // It takes the store's place by its own name.
                let instead = PlannedPath { path: upper.clone(), what: What::Write, ..place.clone() };
                lay(&instead, policy, &nothing)?;
                plain_stores.push(place.path.clone());
            }
            (laid, _) => laid?,
        }
    }
    cover_sockets(&sockets, &places, &reached, &nothing)?;
    for place in places.iter().filter(|p| p.what == What::Hidden) {
        seal_hidden(place)?;
    }
    std::env::set_current_dir(NEW).map_err(|source| ViewError::Machine { what: "no way to the new root", source })?;
    rustix::process::pivot_root(".", ".").map_err(machine("the new root cannot be taken"))?;
    unmount(".", UnmountFlags::DETACH).map_err(machine("the old root does not go"))?;
    std::env::set_current_dir("/").map_err(|source| ViewError::Machine { what: "no way to the root", source })?;
    Ok(plain_stores)
}

fn under(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

/// A file that is there and holds nothing.
fn make_nothing() -> Result<PathBuf, ViewError> {
    let path = PathBuf::from("/nothing");
    fs::OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o000)
        .open(&path)
        .map(|_| path)
        .map_err(|source| ViewError::Machine { what: "no file can be made", source })
}

fn lay(place: &PlannedPath, policy: &SandboxPolicy, nothing: &Path) -> Result<(), ViewError> {
    let (old, new) = (under(OLD, &place.path), under(NEW, &place.path));
    let failed = |what| move |source: io::Error| ViewError::Path { what, path: place.path.clone(), source };
    if has_link(&new) {
        // An earlier run may have put one into a layer: what is laid there would land elsewhere.
        return Err(failed("cannot be laid")(io::Error::other("there is a link on the way to it")));
    }
    match &place.what {
        What::Hidden if old.is_dir() => {
            let mode = if place.holds_others { c"mode=0711,size=4m" } else { c"mode=0000,size=4m" };
            unless_gone(&new, || tmpfs(&new, mode)).map_err(failed("cannot be hidden"))
        }
        What::Hidden => unless_gone(&new, || cover(&new, nothing)).map_err(failed("cannot be hidden")),
        What::Empty => {
            make_folder(&new, 0o755).map_err(failed("cannot be made"))?;
            tmpfs(&new, c"mode=0755,size=64m").map_err(failed("cannot be emptied"))
        }
        What::Folder => make_folder(&new, 0o700).map_err(failed("cannot be made")),
        What::Own(folder) => {
            bind(&under(OLD, folder), &new).map_err(failed("cannot be given a folder of its own"))?;
            restrict(&new, MountFlags::empty()).map_err(failed("cannot be given a folder of its own"))
        }
        What::Read => {
            unless_gone(&old, || bind(&old, &new)).map_err(failed("cannot be shown"))?;
            seal(&new)
        }
        What::Protected => {
            bind(&old, &new).map_err(failed("cannot be shown"))?;
            seal(&new)
        }
        What::Write => {
            bind(&old, &new).map_err(failed("cannot be made writable"))?;
            restrict(&new, MountFlags::empty()).map_err(failed("cannot be made writable"))
        }
        What::Copy(copy) => {
            bind(&under(OLD, copy), &new).map_err(failed("cannot be replaced"))?;
            restrict(&new, MountFlags::RDONLY).map_err(failed("cannot be replaced"))
        }
        What::Layered { upper, work } => {
            layered(&old, &under(OLD, upper), &under(OLD, work), &new).map_err(failed("cannot be layered"))
        }
        What::Processes => processes(&new, policy),
        What::Devices => devices(&new),
    }
}

/// Nobody else is at work in here: what is found now stays so until all is laid.
fn has_link(path: &Path) -> bool {
    path.ancestors()
        .take_while(|part| *part != Path::new(NEW))
        .any(|part| fs::symlink_metadata(part).is_ok_and(|meta| meta.is_symlink()))
}

/// What is there already is bound; where nothing is, because a folder above was emptied, its place is made first.
fn bind(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if fs::symlink_metadata(to).is_err() {
        if let Some(parent) = to.parent() {
            make_folder(parent, 0o755)?;
        }
        if kind.is_dir() {
            make_folder(to, 0o755)?;
        } else {
            fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(to)?;
        }
    }
    Ok(mount_bind_recursive(from, to)?)
}

/// Others go on while a view is put together: what has vanished since it was planned need not be hidden or shown. What was
/// replaced by another of the same name meanwhile is tried again.
fn unless_gone(path: &Path, mut lay: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    const TRIES: u32 = 10;
    let mut tries = 0;
    loop {
        let Err(error) = lay() else { return Ok(()) };
        let is_gone = fs::symlink_metadata(path).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        tries += 1;
        if is_gone {
            return Ok(());
        }
        if error.kind() != io::ErrorKind::NotFound || tries == TRIES {
            return Err(error);
        }
    }
}

fn cover(path: &Path, nothing: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    mount_bind(nothing, path)?;
    restrict(path, MountFlags::RDONLY)
}

fn tmpfs(at: &Path, options: &std::ffi::CStr) -> io::Result<()> {
    if fs::symlink_metadata(at).is_err() {
        return Ok(());
    }
    Ok(mount("dandori", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)?)
}

/// One mount, with what it forbids already.
fn restrict(at: &Path, further: MountFlags) -> io::Result<()> {
    let all = mounted_below(at, OLD)?;
    let now = all.iter().rev().find(|m| m.at == at).map_or(MountFlags::empty(), |m| m.flags);
    let flags = MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV | further | now;
    Ok(mount_remount(at, flags, c"")?)
}

/// This and everything mounted below it becomes read-only.
fn seal(top: &Path) -> Result<(), ViewError> {
    let failed = |path: &Path, source| ViewError::Path { what: "cannot be made read-only", path: path.into(), source };
    let all = mounted_below(top, OLD).map_err(|e| failed(top, e))?;
    for Mounted { at, flags } in &all {
        let sealed = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | *flags;
        match mount_remount(at, sealed, c"") {
            // Covered by another mount, or in a folder that is not ours to enter: nobody gets there.
            Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT | rustix::io::Errno::ACCESS) => {}
            Err(e) => return Err(failed(at, e.into())),
        }
    }
    Ok(())
}

/// A hidden folder is read-only once the places inside it are made.
fn seal_hidden(place: &PlannedPath) -> Result<(), ViewError> {
    let new = under(NEW, &place.path);
    if !new.is_dir() {
        return Ok(());
    }
    restrict(&new, MountFlags::RDONLY).map_err(|source| ViewError::Path {
        what: "cannot be hidden",
        path: place.path.clone(),
        source,
    })
}

/// The user's store below, what the run writes above.
fn layered(lower: &Path, upper: &Path, work: &Path, at: &Path) -> io::Result<()> {
    let text = |path: &Path| path.to_string_lossy().replace('\\', "\\\\").replace(':', "\\:");
    let overlay = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&overlay, "lowerdir", text(lower))?;
    fsconfig_set_string(&overlay, "upperdir", text(upper))?;
    fsconfig_set_string(&overlay, "workdir", text(work))?;
    fsconfig_set_flag(&overlay, "userxattr")?;
    fsconfig_create(&overlay)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let mounted = fsmount(&overlay, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    Ok(move_mount(&mounted, "", rustix::fs::CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn processes(at: &Path, policy: &SandboxPolicy) -> Result<(), ViewError> {
    let machine = |what| move |source: io::Error| ViewError::Machine { what, source };
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", at, "proc", flags, c"").map_err(|e| machine("no /proc of its own can be mounted")(e.into()))?;
    super::limits::limit_namespace(&policy.limits, at);
    super::limits::limit_nesting(at);
    for name in MACHINE {
        let part = at.join(name);
        if fs::symlink_metadata(&part).is_ok() {
            mount_bind(&part, &part).map_err(|e| machine("/proc/sys cannot be sealed")(e.into()))?;
            restrict(&part, MountFlags::RDONLY | MountFlags::NOEXEC).map_err(machine("/proc/sys cannot be sealed"))?;
        }
    }
    Ok(())
}

fn devices(at: &Path) -> Result<(), ViewError> {
    let failed = |source| ViewError::Machine { what: "no /dev of its own can be made", source };
    let make = || -> io::Result<()> {
        mount("dandori", at, "tmpfs", MountFlags::NOSUID | MountFlags::NOEXEC, c"mode=0755,size=1m")?;
        for node in NODES {
            let there = Path::new(OLD).join("dev").join(node);
            if fs::symlink_metadata(&there).is_ok() {
                bind(&there, &at.join(node))?;
            }
        }
        make_folder(&at.join("pts"), 0o755)?;
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("devpts", at.join("pts"), "devpts", flags, c"newinstance,ptmxmode=0666,mode=0620")?;
        make_folder(&at.join("shm"), 0o755)?;
        mount("shm", at.join("shm"), "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, c"mode=1777")?;
        for (name, target) in LINKS {
            std::os::unix::fs::symlink(target, at.join(name))?;
        }
        Ok(())
    };
    make().map_err(failed)
}

/// Sockets that somebody listens at, where the kernel names them.
fn path_sockets() -> Vec<PathBuf> {
    let table = fs::read("/proc/net/unix").unwrap_or_default();
    let table = String::from_utf8_lossy(&table).into_owned();
    // Seven fields, then the path as it is.
    let named = table.lines().skip(1).filter_map(|line| line.find(" /").and_then(|at| line.get(at + 1..)));
    let mut sockets: Vec<PathBuf> = named.filter_map(|path| fs::canonicalize(path).ok()).collect();
    sockets.extend(other_names(&sockets));
    sockets.sort();
    sockets.dedup();
    sockets
}

/// A read-only file system keeps nobody from a socket in it.
fn cover_sockets(
    sockets: &[PathBuf],
    places: &[PlannedPath],
    reached: &[PathBuf],
    nothing: &Path,
) -> Result<(), ViewError> {
    for socket in sockets {
        if may_connect(socket, places, reached) {
            continue;
        }
        let new = under(NEW, socket);
        if fs::symlink_metadata(&new).is_ok_and(|m| m.file_type().is_socket()) {
            unless_gone(&new, || cover(&new, nothing)).map_err(|source| ViewError::Path {
                what: "cannot be covered",
                path: socket.clone(),
                source,
            })?;
        }
    }
    Ok(())
}

/// Where one may write, a socket is one's own or was granted; to read a folder is not to reach what listens in it, unless that
/// was said.
fn may_connect(socket: &Path, places: &[PlannedPath], reached: &[PathBuf]) -> bool {
    let is_granted = |place: &PlannedPath| match place.what {
        What::Write => place.is_asked_for && socket.starts_with(&place.path),
        What::Read => place.is_asked_for && socket == place.path,
        _ => false,
    };
    places.iter().any(is_granted) || reached.iter().any(|folder| socket.starts_with(folder))
}

/// Its parents too. What is there already stays as it is.
fn make_folder(path: &Path, mode: u32) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    fs::DirBuilder::new().recursive(true).mode(mode).create(path)?;
    // The mask of whoever started us does not count here.
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_vanishes_while_it_is_being_covered_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        fs::File::create(&socket).unwrap();
        let gone = unless_gone(&socket, || {
            fs::remove_file(&socket).unwrap();
            Err(io::ErrorKind::NotFound.into())
        });
        gone.unwrap();
    }

    #[test]
    fn what_is_replaced_while_it_is_being_covered_is_covered_at_the_next_try() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        fs::File::create(&socket).unwrap();
        let mut tries = 0;
        let covered = unless_gone(&socket, || {
            tries += 1;
            if tries == 1 { Err(io::ErrorKind::NotFound.into()) } else { Ok(()) }
        });
        covered.unwrap();
        assert_eq!(tries, 2);
    }

    #[test]
    fn a_socket_in_a_folder_that_may_only_be_read_is_reached_where_that_was_said() {
        let read =
            |path: &str| PlannedPath { path: path.into(), what: What::Read, holds_others: false, is_asked_for: true };
        let places = [read("/state/door"), read("/home/agent.sock")];
        let socket = Path::new("/state/door/socket");
        assert!(!may_connect(socket, &places, &[]));
        assert!(may_connect(socket, &places, &["/state/door".into()]));
        assert!(!may_connect(Path::new("/state/other/socket"), &places, &["/state/door".into()]));
        assert!(may_connect(Path::new("/home/agent.sock"), &places, &[]));
    }

    #[test]
    fn what_is_there_and_cannot_be_covered_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::NotFound] {
            let covered = unless_gone(folder.path(), || Err(kind.into()));
            assert_eq!(covered.unwrap_err().kind(), kind);
        }
    }
}
