//! A glance at a worktree: whether all of it is certainly as its HEAD has it, told without starting git.
//!
//! It answers "clean" or "cannot tell", never "changed". Clean is what git itself would go by: the index is that of HEAD's tree,
//! every file has the very stamps the index knows of it, none was written as late as the index, and there is no other file beside
//! them. Whatever is unusual (a name that is not in the index, even one that is ignored; a sparse, split or unmerged index) is
//! git's to judge. No file of the tree is opened.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use dandori_domain::Oid;

use crate::tree::Tree;

const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const KIND: u32 = 0o170_000;
const EXECUTABLE: u32 = 0o100;

const ASSUME_VALID: u16 = 0x8000;
const EXTENDED: u16 = 0x4000;
const STAGE: u16 = 0x3000;

impl Tree {
    /// `head_tree` is what HEAD's commit holds.
    pub(crate) fn is_certainly_clean(&self, head_tree: &Oid) -> bool {
        let file = self.git_dir().join("index");
        let (Ok(bytes), Ok(written)) = (std::fs::read(&file), std::fs::symlink_metadata(&file)) else { return false };
        let Some(index) = Index::read(&bytes, head_tree.as_str().len() / 2) else { return false };
        index.tree.as_deref() == Some(head_tree.as_str()) && index.fits(self.path().as_std_path(), &written)
    }
}

/// What the index knows of a file.
struct Entry {
    stamps: [u32; 10],
}

impl Entry {
    fn is_of(&self, file: &Metadata, index: &Metadata) -> bool {
        let [ctime, ctime_ns, mtime, mtime_ns, _, ino, mode, uid, gid, size] = self.stamps;
        let is_kind = match mode & KIND {
            LINK => file.is_symlink(),
            REGULAR => file.is_file() && (file.mode() & EXECUTABLE != 0) == (mode & EXECUTABLE != 0),
            _ => false,
        };
        let is_older = (file.mtime(), file.mtime_nsec()) < (index.mtime(), index.mtime_nsec());
        let low = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(0);
        let time = |seconds: i64, nanos: i64| (low(seconds.cast_unsigned()), u32::try_from(nanos).unwrap_or(u32::MAX));
        is_kind
            && is_older
            && time(file.ctime(), file.ctime_nsec()) == (ctime, ctime_ns)
            && time(file.mtime(), file.mtime_nsec()) == (mtime, mtime_ns)
            && (low(file.ino()), file.uid(), file.gid(), low(file.size())) == (ino, uid, gid, size)
    }
}

struct Index {
    entries: HashMap<Vec<u8>, Entry>,
    folders: HashSet<Vec<u8>>,
    /// The tree it would be written as, when git has noted that.
    tree: Option<String>,
}

impl Index {
    /// `None` for anything that is not plainly understood.
    fn read(bytes: &[u8], oid_len: usize) -> Option<Self> {
        let mut at = Reader { bytes: bytes.get(..bytes.len().checked_sub(oid_len)?)?, at: 0 };
        if at.take(4)? != b"DIRC" {
            return None;
        }
        let version = at.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = usize::try_from(at.number()?).ok()?;
        let mut index = Self { entries: HashMap::new(), folders: HashSet::new(), tree: None };
        let mut name: Vec<u8> = Vec::new();
        for _ in 0..count {
            let begin = at.at;
            let mut stamps = [0u32; 10];
            for stamp in &mut stamps {
                *stamp = at.number()?;
            }
            at.take(oid_len)?;
            let flags = at.short()?;
            // Not even looked at by git, to be added, or in conflict.
            if flags & (ASSUME_VALID | EXTENDED | STAGE) != 0 {
                return None;
            }
            if version == 4 {
                let cut = at.varint()?;
                name.truncate(name.len().checked_sub(cut)?);
                name.extend_from_slice(at.until_zero()?);
            } else {
                name = at.until_zero()?.to_vec();
                // Filled up to a multiple of eight, with at least the zero that was read.
                let filled = (at.at - begin).next_multiple_of(8);
                at.at = begin + filled;
            }
            index.folders.extend(parents(&name));
            index.entries.insert(name.clone(), Entry { stamps });
        }
        while at.at < at.bytes.len() {
            let signature = at.take(4)?;
            let size = usize::try_from(at.number()?).ok()?;
            let body = at.take(size)?;
            match signature {
                b"TREE" => index.tree = root_tree(body, oid_len),
                // Others with a capital letter may be ignored by whoever does not know them.
                [b'A'..=b'Z', ..] => {}
                _ => return None,
            }
        }
        Some(index)
    }

    /// All that is there is known, and all that is known is there.
    fn fits(&self, top: &std::path::Path, written: &Metadata) -> bool {
        let mut seen = 0;
        let mut open: Vec<(PathBuf, Vec<u8>)> = vec![(top.to_owned(), Vec::new())];
        while let Some((folder, prefix)) = open.pop() {
            let Ok(found) = std::fs::read_dir(&folder) else { return false };
            for entry in found {
                let Ok(entry) = entry else { return false };
                let file_name = entry.file_name();
                if prefix.is_empty() && file_name.as_bytes() == b".git" {
                    continue;
                }
                let name = [prefix.as_slice(), file_name.as_bytes()].concat();
                // From the open folder, and no link is followed.
                let Ok(file) = entry.metadata() else { return false };
                if file.is_dir() {
                    if !self.folders.contains(&name) {
                        return false;
                    }
                    open.push((entry.path(), [name.as_slice(), b"/"].concat()));
                } else if self.entries.get(&name).is_some_and(|known| known.is_of(&file, written)) {
                    seen += 1;
                } else {
                    return false;
                }
            }
        }
        seen == self.entries.len()
    }
}

/// `a`, `a/b` of `a/b/c`.
fn parents(name: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    name.iter().enumerate().filter(|(_, byte)| **byte == b'/').filter_map(|(at, _)| name.get(..at).map(<[u8]>::to_vec))
}

/// The first entry of what git has noted of trees: an empty name, how many files, how many folders, and the tree itself.
fn root_tree(body: &[u8], oid_len: usize) -> Option<String> {
    let rest = body.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    // Fewer than none: changed since.
    if rest.first() == Some(&b'-') {
        return None;
    }
    let oid = rest.get(end + 1..end + 1 + oid_len)?;
    Some(oid.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn until_zero(&mut self) -> Option<&'b [u8]> {
        let length = self.bytes.get(self.at..)?.iter().position(|byte| *byte == 0)?;
        let taken = self.take(length)?;
        self.at += 1;
        Some(taken)
    }

    /// Seven bits at a time, the first ones first, each further byte one more than it says.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?.first().copied()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = self.take(1)?.first().copied()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use camino::{Utf8Path, Utf8PathBuf};
    use dandori_host::{Cmd, Env};

    use super::*;
    use crate::{Git, Repository};

    struct Bed {
        _dir: tempfile::TempDir,
        top: Utf8PathBuf,
        tree: Tree,
    }

    impl Bed {
        fn new(index_version: u32) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let top = Utf8PathBuf::try_from(dir.path().canonicalize().unwrap()).unwrap();
            sh(&top, "git init -q . && git config user.name a && git config user.email a@b");
            sh(&top, &format!("git config index.version {index_version}"));
            sh(&top, "mkdir -p sub/deep && echo a > a.txt && echo b > sub/deep/b.txt && ln -s a.txt link");
            sh(&top, "echo out/ > .gitignore && printf x > run.sh && chmod +x run.sh");
            sh(&top, "git add -A && git commit -qm one");
            let repository = Repository::open(&Git::new(&Env::of_process(), "test"), &top, &top.join(".git"));
            let tree = Tree::new(&repository, &top, &top.join(".git"));
            let bed = Self { _dir: dir, top, tree };
            bed.settle();
            bed
        }

        /// The index is written anew once the files are older than it: before that nobody can tell.
        fn settle(&self) {
            sh(
                &self.top,
                "touch -d '2 seconds ago' a.txt sub/deep/b.txt .gitignore run.sh && touch -hd '2 seconds ago' link",
            );
            sh(&self.top, "git update-index -q --refresh && git status > /dev/null");
        }

        fn is_clean(&self) -> bool {
            let tree = sh(&self.top, "git rev-parse HEAD^{tree}");
            self.tree.is_certainly_clean(&Oid::new(tree.trim()))
        }
    }

    fn sh(top: &Utf8Path, line: &str) -> String {
        Cmd::new("sh", &Env::of_process()).args(["-c", line]).cwd(top).run().unwrap().text()
    }

    #[test]
    fn a_tree_as_it_was_checked_out_is_clean_at_a_glance() {
        for version in [2, 4] {
            assert!(Bed::new(version).is_clean(), "index version {version}");
        }
    }

    #[test]
    fn whatever_is_changed_is_not_taken_for_clean() {
        for change in [
            "echo more >> a.txt",
            // The same size and the same time of writing: the time of the change gives it away.
            "printf 'z\\n' > a.txt && touch -r run.sh a.txt",
            "chmod -x run.sh",
            "rm a.txt",
            "rm link && ln -s b.txt link",
            "rm a.txt && ln -s link a.txt",
            "echo new > sub/new.txt",
            "mkdir -p out && echo built > out/thing",
            "mkdir empty",
            "echo c > c.txt && git add c.txt",
            "git rm -q --cached a.txt",
            "git update-index --assume-unchanged a.txt",
            "git update-index --skip-worktree a.txt",
            "echo n > n.txt && git add -N n.txt",
            "git commit -q --allow-empty -m two && git reset -q --soft HEAD~1 && echo b >> sub/deep/b.txt",
            "git update-index --split-index",
            "truncate -s 40 .git/index",
            "printf junk > .git/index",
            "rm .git/index",
        ] {
            let bed = Bed::new(2);
            assert!(bed.is_clean());
            sh(&bed.top, change);
            assert!(!bed.is_clean(), "{change}");
        }
    }

    #[test]
    fn an_index_of_another_commit_is_not_clean() {
        let bed = Bed::new(2);
        sh(&bed.top, "echo d > d.txt && git add d.txt && git commit -qm two && git reset -q --soft HEAD~1");
        bed.settle();
        assert!(!bed.is_clean(), "staged, and not committed");
    }

    #[test]
    fn no_index_makes_it_panic() {
        let bed = Bed::new(4);
        let whole = std::fs::read(bed.top.join(".git/index")).unwrap();
        for end in 0..whole.len() {
            let _ = Index::read(&whole[..end], 20);
        }
        for at in 0..whole.len() {
            let mut odd = whole.clone();
            odd[at] ^= 0xff;
            let _ = Index::read(&odd, 20);
        }
    }
}
