//! Users, processes, mounts and IPC of its own: the layer that makes what is outside not be there.
//!
//! Needs no privilege where the kernel lets users make user namespaces. The one who enters cannot say who is who in
//! there by himself if more than one user is to be known; his parent does ([`name_users`]).

use std::fs;
use std::io::{self, Write};

use nix::sched::CloneFlags;
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, configure_capability_in_ambient_set, set_capabilities,
};

/// From here on the next child is the first process of a namespace of processes. `Err` says why there is none.
pub(crate) fn enter() -> Result<(), String> {
    let wanted =
        CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    nix::sched::unshare(wanted).map_err(|e| format!("this machine does not allow namespaces: {}", e.desc()))
}

/// Says who is who for a process that has entered: everybody is himself. The superuser knows all users, as his builds
/// give files to others; anybody else knows himself alone.
pub(crate) fn name_users(pid: u32) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() && name_all(pid).is_ok() {
        return Ok(());
    }
    // Without this the kernel takes no map of groups from an ordinary user.
    put(pid, "setgroups", "deny")?;
    put(pid, "uid_map", &format!("{0} {0} 1\n", user.as_raw()))?;
    put(pid, "gid_map", &format!("{0} {0} 1\n", group.as_raw()))
}

fn name_all(pid: u32) -> io::Result<()> {
    for map in ["uid_map", "gid_map"] {
        let ours = fs::read_to_string(format!("/proc/self/{map}"))?;
        let themselves = ours.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (first, count) = (words.next()?, words.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        });
        put(pid, map, &themselves.collect::<String>())?;
    }
    Ok(())
}

/// The kernel takes a map in one write or not at all.
fn put(pid: u32, file: &str, text: &str) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(format!("/proc/{pid}/{file}"))?.write_all(text.as_bytes())
}

/// What one has in a namespace of one's own goes along through the next exec.
pub(crate) fn keep_powers() -> io::Result<()> {
    let all = rustix::thread::capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: all.permitted, ..all })?;
    for power in all.permitted.iter() {
        // A power the kernel has and we have no name for.
        let _ = configure_capability_in_ambient_set(power, true);
    }
    Ok(())
}

/// And ends here: whoever is no superuser has none after the next exec.
pub(crate) fn drop_powers() {
    let _ = clear_ambient_capability_set();
    if let Ok(all) = rustix::thread::capabilities(None) {
        let _ = set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..all });
    }
}
