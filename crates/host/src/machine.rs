//! How much of the machine is left: memory, disk, cores.
//!
//! Figures for admission and `doctor`, read anew each time. A limit of our own control group counts when it is
//! tighter than the machine. What cannot be read is `None` or an error, never a guess.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use camino::Utf8Path;

/// Bytes that could be taken into use without swapping.
pub fn available_memory() -> Option<u64> {
    let machine = mem_available(&fs::read_to_string("/proc/meminfo").ok()?)?;
    let group =
        fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| group_room(&text, Path::new("/sys/fs/cgroup")));
    Some(group.map_or(machine, |room| room.min(machine)))
}

/// Bytes an ordinary user may still write where `path` is.
pub fn free_disk(path: &Utf8Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(path.as_std_path())?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DiskUse {
    /// What the files take on the disk; one with several names counts once.
    pub bytes: u64,
    pub entries: u64,
    /// `false`: there was more than we were willing to look at, `bytes` is a lower bound.
    pub is_complete: bool,
}

/// What a folder takes on its disk, looking at no more than `max_entries`. Links are not followed and other
/// file systems not entered; what cannot be read counts as nothing.
pub fn disk_use(folder: &Utf8Path, max_entries: u64) -> io::Result<DiskUse> {
    let top = fs::symlink_metadata(folder)?;
    let device = top.dev();
    let mut used = DiskUse { bytes: top.blocks() * 512, entries: 1, is_complete: true };
    let mut several_names: HashSet<u64> = HashSet::new();
    let mut folders: Vec<PathBuf> = if top.is_dir() { vec![folder.into()] } else { Vec::new() };
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            if used.entries >= max_entries {
                return Ok(DiskUse { is_complete: false, ..used });
            }
            let Ok(meta) = entry.metadata() else { continue };
            used.entries += 1;
            if meta.dev() != device {
                continue;
            }
            if meta.is_dir() {
                folders.push(entry.path());
            } else if meta.nlink() > 1 && !several_names.insert(meta.ino()) {
                continue;
            }
            used.bytes += meta.blocks() * 512;
        }
    }
    Ok(used)
}

fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The tightest room among our control group and those above it.
fn group_room(cgroup: &str, mount: &Path) -> Option<u64> {
    cgroup.lines().filter_map(|line| group_line_room(line, mount)).min()
}

/// `0::/path` is version 2, `4:memory:/path` version 1.
fn group_line_room(line: &str, mount: &Path) -> Option<u64> {
    let mut parts = line.splitn(3, ':');
    let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
    let relative = Path::new(path.trim_start_matches('/'));
    let (top, files): (PathBuf, &GroupFiles) = if controllers.is_empty() {
        (mount.to_owned(), &VERSION_2)
    } else if controllers.split(',').any(|c| c == "memory") {
        (mount.join("memory"), &VERSION_1)
    } else {
        return None;
    };
    relative.ancestors().filter_map(|p| files.room(&top.join(p))).min()
}

struct GroupFiles {
    limit: &'static str,
    usage: &'static str,
    reclaimable: &'static str,
}

const VERSION_2: GroupFiles =
    GroupFiles { limit: "memory.max", usage: "memory.current", reclaimable: "inactive_file " };
const VERSION_1: GroupFiles =
    GroupFiles { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", reclaimable: "total_inactive_file " };

impl GroupFiles {
    fn room(&self, group: &Path) -> Option<u64> {
        let number = |name| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
        let limit = number(self.limit)?;
        let usage = number(self.usage)?;
        // Page cache counts as use but is given back on demand.
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let cache = stat.lines().find_map(|l| l.strip_prefix(self.reclaimable)).and_then(|v| v.trim().parse().ok());
        Some(limit.saturating_sub(usage.saturating_sub(cache.unwrap_or(0))))
    }
}

/// More than connections and runs of a busy daemon need, and few enough for programs that go through all they could have.
const OPEN_FILES: u64 = 8192;

/// Raises this process's limit of open files as far as it may and is of use. Many systems give 1,024.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        // Without it there is less room, and nothing else is wrong.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf8(path: &Path) -> &Utf8Path {
        Utf8Path::from_path(path).unwrap()
    }

    #[test]
    fn this_machine_has_memory_disk_and_cores() {
        assert!(available_memory().unwrap() > 1024 * 1024);
        assert!(free_disk(Utf8Path::new("/")).unwrap() > 0);
        assert!(free_disk(Utf8Path::new("/no/such/place")).is_err());
        assert!(cores() > 0);
    }

    #[test]
    fn the_tightest_group_above_us_counts_and_cache_is_room() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::replace_file(utf8(&path), text.as_bytes(), 0o600).unwrap();
        };
        put("user/app/memory.max", "max\n");
        put("user/memory.max", "1000\n");
        put("user/memory.current", "700\n");
        put("user/memory.stat", "anon 100\ninactive_file 200\n");
        assert_eq!(group_room("0::/user/app\n", dir.path()), Some(500));
        put("memory/box/memory.limit_in_bytes", "400\n");
        put("memory/box/memory.usage_in_bytes", "100\n");
        assert_eq!(group_room("4:cpu,memory:/box\n0::/user/app\n", dir.path()), Some(300));
        assert_eq!(group_room("5:pids:/\n", dir.path()), None);
    }

    #[test]
    fn memory_that_cannot_be_read_is_no_figure() {
        assert_eq!(mem_available("MemTotal: 9 kB\nMemAvailable:     12 kB\n"), Some(12 * 1024));
        assert_eq!(mem_available("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn a_folder_counts_linked_files_once_and_stops_at_its_bound() {
        let dir = tempfile::tempdir().unwrap();
        let root = utf8(dir.path());
        fs::create_dir(root.join("in")).unwrap();
        crate::replace_file(&root.join("in/big"), &vec![7u8; 200_000], 0o600).unwrap();
        let once = disk_use(root, 1000).unwrap();
        assert!(once.bytes >= 200_000 && once.is_complete, "{once:?}");
        fs::hard_link(root.join("in/big"), root.join("again")).unwrap();
        std::os::unix::fs::symlink("/", root.join("everything")).unwrap();
        let twice = disk_use(root, 1000).unwrap();
        assert!(twice.bytes < once.bytes + 100_000, "{once:?} {twice:?}");
        assert_eq!(twice.entries, 5);
        assert!(!disk_use(root, 2).unwrap().is_complete);
        assert!(disk_use(&root.join("none"), 9).is_err());
    }
}
