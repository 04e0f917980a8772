//! The powers of the superuser that reach around the fence, taken from an agent that runs as root.
//!
//! An ordinary user has none of them, and behind the fence nothing can gain any: for him this does nothing.

use rustix::thread::{CapabilitySet, remove_capability_from_bounding_set};

/// With these one looks into other processes' memory, loads code into the kernel, opens files by handle, mounts, raises one's
/// own limits, listens to what others send over loopback, or keeps the machine from sleeping.
/// What builds and package managers use as root (owner, mode, user and group changes, low ports) stays.
const REACH_AROUND: &[CapabilitySet] = &[
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::PERFMON,
    CapabilitySet::BPF,
    CapabilitySet::CHECKPOINT_RESTORE,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_TIME,
    CapabilitySet::SYSLOG,
    CapabilitySet::SYS_RESOURCE,
    CapabilitySet::SYS_PACCT,
    CapabilitySet::SYS_TTY_CONFIG,
    CapabilitySet::NET_ADMIN,
    CapabilitySet::NET_RAW,
    CapabilitySet::IPC_OWNER,
    CapabilitySet::AUDIT_CONTROL,
    CapabilitySet::AUDIT_READ,
    CapabilitySet::WAKE_ALARM,
    CapabilitySet::BLOCK_SUSPEND,
    CapabilitySet::MAC_ADMIN,
    CapabilitySet::MAC_OVERRIDE,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::LINUX_IMMUTABLE,
    CapabilitySet::MKNOD,
];

/// Takes effect with the next exec, for good.
pub(crate) fn give_up() {
    for power in REACH_AROUND {
        // Refused to those who do not have it to give up, and unknown to older kernels: both are fine.
        let _ = remove_capability_from_bounding_set(*power);
    }
}
