//! The mounts of this namespace, as the kernel lists them.

use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

pub(super) struct Mounted {
    pub(super) at: PathBuf,
    /// What it forbids; whoever did not mount it may add to that and take nothing away.
    pub(super) flags: MountFlags,
}

/// `top` and everything below it, in the order it was mounted. `/proc` stands below `root`.
pub(super) fn mounted_below(top: &Path, root: &str) -> io::Result<Vec<Mounted>> {
    let table = std::fs::read(format!("{root}/proc/self/mountinfo"))?;
    let all = table.split(|b| *b == b'\n').filter_map(parse);
    Ok(all.filter(|mounted| mounted.at.starts_with(top)).collect())
}

/// `id parent device root place options …`
fn parse(line: &[u8]) -> Option<Mounted> {
    let mut fields = line.split(|b| *b == b' ');
    let place = fields.nth(4)?;
    let options = fields.next()?;
    Some(Mounted { at: unescaped(place), flags: flags(options) })
}

fn flags(options: &[u8]) -> MountFlags {
    options.split(|b| *b == b',').fold(MountFlags::empty(), |flags, option| {
        flags
            | match option {
                b"ro" => MountFlags::RDONLY,
                b"nosuid" => MountFlags::NOSUID,
                b"nodev" => MountFlags::NODEV,
                b"noexec" => MountFlags::NOEXEC,
                b"noatime" => MountFlags::NOATIME,
                b"nodiratime" => MountFlags::NODIRATIME,
                b"relatime" => MountFlags::RELATIME,
                _ => MountFlags::empty(),
            }
    })
}

/// Spaces, tabs, newlines and backslashes stand as three octal digits.
fn unescaped(place: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(place.len());
    let mut rest = place;
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_flags_are_read_as_the_kernel_writes_them() {
        let line = br"36 35 98:0 /mnt1 /mnt/a\040b rw,nosuid,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mounted = parse(line).unwrap();
        assert_eq!(mounted.at, Path::new("/mnt/a b"));
        assert_eq!(mounted.flags, MountFlags::NOSUID | MountFlags::NOATIME);
        assert!(parse(b"").is_none());
    }
}
