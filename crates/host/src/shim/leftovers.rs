//! What is left of a run whose shim is gone: found by marks that it cannot all shed, and ended.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use camino::Utf8Path;

use super::record::RUN_MARKER;
use crate::process::{self, Entry, StillAlive, Table, arguments, end_found, is_confined, working_folder};

/// Ends every process that still belongs to the run, with its descendants, and says how many there were.
///
/// A process belongs to the run when its environment carries the run's mark, or when it is the run's shim. One that
/// has cleared its environment is known by where it is (its folder inside the worktree or the run's folder, or an
/// open file in the latter), but then only if it bears the kernel's own sign of having been behind a fence and has
/// no terminal: the user's shell and editor may stand in a worktree too, and they are not ours to end.
pub fn end_leftovers(run: &str, run_dir: &Utf8Path, worktree: &Utf8Path) -> Result<usize, StillAlive> {
    let folders: Vec<&Utf8Path> = [run_dir, worktree].into_iter().filter(|f| f.is_absolute()).collect();
    let places: Vec<std::path::PathBuf> =
        folders.iter().flat_map(|f| [Some(f.as_std_path().to_owned()), f.canonicalize().ok()]).flatten().collect();
    // Where everybody bears the sign, as in some containers, it says nothing; then the place counts only for those
    // whose parent is gone, as the shim is.
    let sign_is_common = is_confined(std::process::id());
    end_found(|table: &Table| {
        let line = table.ancestors();
        let found = table.entries().filter(|e| {
            is_marked(e, run, run_dir)
                || (!e.has_terminal
                    && is_confined(e.pid)
                    && (!sign_is_common || line.contains(&e.parent))
                    && (stands_in(e.pid, &places) || holds(e.pid, run_dir)))
        });
        found.map(|e| e.pid).collect()
    })
}

fn is_marked(entry: &Entry, run: &str, run_dir: &Utf8Path) -> bool {
    (!run.is_empty() && process::has_marker(entry.pid, RUN_MARKER, run)) || is_shim_of(entry.pid, run_dir)
}

fn is_shim_of(pid: u32, run_dir: &Utf8Path) -> bool {
    match arguments(pid).get(1..3) {
        Some([verb, folder]) => verb.as_slice() == b"shim" && folder.as_slice() == run_dir.as_str().as_bytes(),
        _ => false,
    }
}

fn stands_in(pid: u32, places: &[std::path::PathBuf]) -> bool {
    working_folder(pid).is_some_and(|folder| {
        // The kernel says so when the folder itself has been removed.
        let bytes = folder.as_os_str().as_bytes();
        let real = Path::new(std::ffi::OsStr::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes)));
        places.iter().any(|place| real.starts_with(place))
    })
}

fn holds(pid: u32, run_dir: &Utf8Path) -> bool {
    let Ok(files) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    files.flatten().any(|f| std::fs::read_link(f.path()).is_ok_and(|target| target.starts_with(run_dir)))
}
