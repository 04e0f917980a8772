//! The calls that reach around the other layers, refused by the kernel (seccomp): Landlock mediates files, signals and
//! abstract sockets, namespaces what can be seen, and neither the limits of another process, its memory, keyrings,
//! nor the rings through which calls go that no filter sees.
//!
//! A list of what is refused, not of what is allowed: agents run compilers, browsers and databases, and what those call
//! changes with every kernel. Calls of the 32-bit personality end the process: their numbers mean other things.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// Refused whatever their arguments are.
const REFUSED: &[libc::c_long] = &[
    // Other processes: their memory, their files.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_process_madvise,
    libc::SYS_migrate_pages,
    // Keyrings belong to the user and know no folder.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // Calls that are made without being made.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Other views of the file system, files without their paths.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_fsconfig,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_vhangup,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
];

/// Newer than the list of names.
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Types characters into a terminal, as if a person had.
const TIOCSTI: u64 = 0x5412;
/// The same on a console, by its own means.
const TIOCLINUX: u64 = 0x541c;
/// Sockets to the machine that hosts this one.
const AF_VSOCK: u64 = 40;

/// The calls of the x32 personality have the same numbers with this bit, but for some that have their own.
#[cfg(target_arch = "x86_64")]
const X32: libc::c_long = 0x4000_0000;
/// ptrace, process_vm_readv, process_vm_writev, kexec_load, io_setup's neighbours in their x32 numbers.
#[cfg(target_arch = "x86_64")]
const X32_OWN: &[libc::c_long] = &[521, 528, 539, 540];

/// Refuses them for the calling thread and everything it starts, for good.
pub(super) fn refuse() -> Result<(), String> {
    let program = program().map_err(|e| e.to_string())?;
    seccompiler::apply_filter(&program).map_err(|e| e.to_string())
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // The limits of another process; 0 is one's own, and reading them is nobody's harm.
    let others_limits = SeccompRule::new(vec![is_not(0, 0)?, is_not(2, 0)?])?;
    rules.insert(libc::SYS_prlimit64, vec![others_limits]);
    let types = |request| SeccompRule::new(vec![equals(1, request)?]);
    rules.insert(libc::SYS_ioctl, vec![types(TIOCSTI)?, types(TIOCLINUX)?]);
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(vec![equals(0, AF_VSOCK)?])?]);
    #[cfg(target_arch = "x86_64")]
    {
        let x32: Vec<(i64, Vec<SeccompRule>)> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        rules.extend(x32);
        rules.extend(X32_OWN.iter().map(|call| (call | X32, Vec::new())));
    }
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).unwrap_or(1));
    SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture()?)?.try_into()
}

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    let length = if argument == 0 { SeccompCmpArgLen::Dword } else { SeccompCmpArgLen::Qword };
    SeccompCondition::new(argument, length, SeccompCmpOp::Ne, value)
}

fn architecture() -> Result<TargetArch, seccompiler::BackendError> {
    TargetArch::try_from(std::env::consts::ARCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_is_one_the_kernel_takes() {
        let program = program().unwrap();
        assert!(program.len() < 4096, "{}", program.len());
        std::thread::spawn(|| refuse().unwrap()).join().unwrap();
    }
}
