//! How much of the machine one run may take: processes, open files, memory. By the process' own limits, which it can
//! lower and not raise; in namespaces of its own the number of processes is limited for all of them together.

use std::path::Path;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Of one run. `None`: whatever the machine allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RunLimits {
    /// Processes and threads.
    pub processes: Option<u64>,
    /// For each process.
    pub open_files: Option<u64>,
    /// Bytes, for each process.
    pub memory: Option<u64>,
}

/// The kernel keeps so many numbers for itself.
const RESERVED_PIDS: u64 = 301;

/// For the calling process and all it starts. What is lower already stays.
pub(super) fn keep(limits: &RunLimits, has_own_users: bool) {
    // A dump would lie in the worktree, with whatever was in the memory.
    lower(Resource::Core, 0);
    if let Some(files) = limits.open_files {
        lower(Resource::Nofile, files);
    }
    if let Some(bytes) = limits.memory {
        lower(Resource::Data, bytes);
    }
    if let Some(processes) = limits.processes {
        // Outside of a namespace the kernel counts all that the user has, not what the run has.
        let others = if has_own_users { 0 } else { processes_of_user() };
        lower(Resource::Nproc, processes.saturating_add(others));
    }
    // When memory runs out, the run goes before what the user works with, unless it takes pains not to.
    let _ = std::fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/oom_score_adj")
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"500"));
}

fn lower(resource: Resource, to: u64) {
    let now = getrlimit(resource);
    let below = |limit: Option<u64>| Some(limit.map_or(to, |limit| limit.min(to)));
    // Refused only where it is lower already.
    let _ = setrlimit(resource, Rlimit { current: below(now.current), maximum: below(now.maximum) });
}

/// For all processes of a namespace together, where the kernel has a number for each (6.14).
pub(super) fn limit_namespace(limits: &RunLimits, proc: &Path) {
    // An older kernel has one number for the whole machine.
    if let Some(processes) = limits.processes.filter(|_| kernel_is_at_least(6, 14)) {
        let most = processes.saturating_add(RESERVED_PIDS).to_string();
        let file = std::fs::OpenOptions::new().write(true).open(proc.join("sys/kernel/pid_max"));
        let _ = file.and_then(|mut file| std::io::Write::write_all(&mut file, most.as_bytes()));
    }
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (major, minor)
}

/// Browsers put themselves into namespaces of their own. Their number is counted for the user, all over the machine:
/// without a limit here one run could leave none for the next, which then had a layer less.
pub(super) fn limit_nesting(proc: &Path) {
    for kind in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"] {
        let file = proc.join(format!("sys/user/max_{kind}_namespaces"));
        let file = std::fs::OpenOptions::new().write(true).open(file);
        let _ = file.and_then(|mut file| std::io::Write::write_all(&mut file, b"128"));
    }
    // The same for what watches files.
    let watchers = std::fs::OpenOptions::new().write(true).open(proc.join("sys/user/max_inotify_instances"));
    let _ = watchers.and_then(|mut file| std::io::Write::write_all(&mut file, b"64"));
}

fn processes_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = rustix::process::getuid().as_raw();
    let Ok(folder) = std::fs::read_dir("/proc") else { return 0 };
    let threads = |path: &Path| std::fs::read_dir(path.join("task")).map_or(1, |tasks| tasks.count() as u64);
    folder
        .flatten()
        .filter(|e| e.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit))
        .filter(|e| e.metadata().is_ok_and(|m| m.uid() == user))
        .map(|e| threads(&e.path()))
        .sum()
}
