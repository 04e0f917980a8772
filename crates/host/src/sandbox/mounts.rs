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

/// A file system, or a part of it, and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    device: Vec<u8>,
    /// What of the file system it is.
    root: PathBuf,
    at: PathBuf,
}

/// Every other name of these paths: the same file system may stand in several places.
pub(super) fn other_names(paths: &[PathBuf]) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let parts: Vec<Part> = table.split(|b| *b == b'\n').filter_map(part).collect();
    paths.iter().flat_map(|path| names_in(&parts, path)).collect()
}

fn part(line: &[u8]) -> Option<Part> {
    let mut fields = line.split(|b| *b == b' ');
    let (device, root, at) = (fields.nth(2)?, fields.next()?, fields.next()?);
    Some(Part { device: device.to_vec(), root: unescaped(root), at: unescaped(at) })
}

fn names_in(parts: &[Part], path: &Path) -> Vec<PathBuf> {
    // Where several stand in one place, the last is what is seen; the deepest is what the path is in.
    let holds = |part: &&Part| path.starts_with(&part.at);
    let Some(home) = parts.iter().filter(holds).max_by_key(|part| part.at.components().count()) else {
        return Vec::new();
    };
    let Ok(below) = path.strip_prefix(&home.at) else { return Vec::new() };
    let inside = home.root.join(below);
    let same = parts.iter().filter(|part| part.device == home.device);
    let names = same.filter_map(|part| Some(part.at.join(inside.strip_prefix(&part.root).ok()?)));
    names.filter(|name| name != path).collect()
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
    fn a_file_system_that_stands_in_two_places_gives_a_path_two_names() {
        let lines: [&[u8]; 4] = [
            b"1 0 254:0 / / rw - ext4 /dev/vda rw",
            b"2 1 254:0 /home/me /mnt/alias rw - ext4 /dev/vda rw",
            b"3 1 0:5 / /proc rw - proc proc rw",
            b"4 1 254:1 / /home/me/disk rw - ext4 /dev/vdb rw",
        ];
        let parts: Vec<Part> = lines.into_iter().filter_map(part).collect();
        let names = |path: &str| names_in(&parts, Path::new(path));
        assert_eq!(names("/home/me/.ssh"), [Path::new("/mnt/alias/.ssh")]);
        assert_eq!(names("/mnt/alias/.ssh"), [Path::new("/home/me/.ssh")]);
        assert_eq!(names("/home/me/disk/x"), Vec::<PathBuf>::new());
        assert_eq!(names("/etc/shadow"), Vec::<PathBuf>::new());
    }

    #[test]
    fn places_and_flags_are_read_as_the_kernel_writes_them() {
        let line = br"36 35 98:0 /mnt1 /mnt/a\040b rw,nosuid,noatime master:1 - ext3 /dev/root rw,errors=continue";
        let mounted = parse(line).unwrap();
        assert_eq!(mounted.at, Path::new("/mnt/a b"));
        assert_eq!(mounted.flags, MountFlags::NOSUID | MountFlags::NOATIME);
        assert!(parse(b"").is_none());
    }
}
