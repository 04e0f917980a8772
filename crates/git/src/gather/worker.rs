//! The part that runs behind the fence: git reads the files, and everything new goes into one pack.

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use dandori_domain::{Oid, Unfit, UnfitWhy};
use dandori_host::{Cmd, CmdError, CmdOutput, Env};

use super::{Nested, Order, Report};
use crate::inspect::is_special;

const GITLINK: &str = "160000";

/// What is new, in the quarantine.
pub(crate) const PACK: &str = "new.pack";

/// `dandori gather <order>`: says on stdout what came of it.
pub fn main(order: &str, env: &Env) -> i32 {
    let report = match serde_json::from_str::<Order>(order) {
        Ok(order) => run(&order, env),
        Err(e) => Report::Failed { reason: format!("cannot read the order: {e}") },
    };
    let written = serde_json::to_vec(&report)
        .map_err(std::io::Error::other)
        .and_then(|bytes| std::io::Write::write_all(&mut std::io::stdout(), &bytes));
    i32::from(written.is_err())
}

pub(super) fn run(order: &Order, env: &Env) -> Report {
    match Worker::new(order, env).gather() {
        Ok(report) => report,
        Err(error) => Report::Failed { reason: error.to_string() },
    }
}

struct Worker<'o> {
    order: &'o Order,
    env: Env,
}

/// A file as git lists it.
struct Listed {
    path: String,
    is_tracked: bool,
}

impl<'o> Worker<'o> {
    fn new(order: &'o Order, env: &Env) -> Self {
        let mut env = env.clone();
        // Straight into one pack: no file for each object, and no second reading.
        add_setting(&mut env, "core.bigFileThreshold", "1");
        // Nothing of it outlives a power cut, nor has to.
        add_setting(&mut env, "core.fsync", "none");
        add_setting(&mut env, "lfs.storage", order.quarantine.join("lfs").as_str());
        Self { order, env }
    }

    fn gather(&self) -> Result<Report, CmdError> {
        let (files, nested) = self.list()?;
        let unfit = self.unfit(&files);
        if !unfit.is_empty() {
            return Ok(Report::Refused { paths: unfit });
        }
        self.add_all(&nested)?;
        if self.order.nested == Nested::AsFiles {
            for repository in &nested {
                self.add_files_of(Utf8Path::new(repository))?;
            }
        }
        let tree = Oid::new(self.git(["write-tree"]).run()?.text());
        let objects = self.pack(&tree)?;
        Ok(Report::Gathered { tree, nested, objects })
    }

    fn git<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Cmd {
        let deadline = Duration::from_secs(self.order.bounds.seconds);
        Cmd::new("git", &self.env).args(args).cwd(&self.order.worktree).deadline(deadline)
    }

    /// Everything that is tracked or not ignored, and folders that are repositories of their own: untracked ones, and
    /// submodules that somebody filled. `git add` would ask `git status` of one it already knows, and that runs what its
    /// configuration says.
    fn list(&self) -> Result<(Vec<Listed>, Vec<String>), CmdError> {
        let output = self.git(["ls-files", "-z", "-t", "--stage", "--others", "--exclude-standard"]).run()?;
        let (mut files, mut nested) = (Vec::new(), Vec::new());
        for field in output.fields() {
            if let Some(path) = field.strip_prefix("? ") {
                match path.strip_suffix('/') {
                    Some(folder) => nested.push(folder.to_owned()),
                    None => files.push(Listed { path: path.to_owned(), is_tracked: false }),
                }
            } else if let Some((entry, path)) = field.split_once('\t') {
                let inner = self.order.worktree.join(path).join(".git");
                if entry.contains(GITLINK) && inner.symlink_metadata().is_ok() {
                    nested.push(path.to_owned());
                } else {
                    files.push(Listed { path: path.to_owned(), is_tracked: true });
                }
            }
        }
        Ok((files, nested))
    }

    /// What git would wait for, and what is more than may be.
    fn unfit(&self, files: &[Listed]) -> Vec<Unfit> {
        let since = self.order.quarantine.join("index").metadata().map_or(i64::MIN, |m| m.mtime());
        let mut unfit = Vec::new();
        let (mut bytes, mut count) = (0u64, 0u64);
        let mut largest: Option<(u64, &str)> = None;
        for file in files {
            let Ok(meta) = self.order.worktree.join(&file.path).symlink_metadata() else { continue };
            if is_special(meta.file_type()) && file.is_tracked {
                unfit.push(Unfit { path: file.path.clone(), why: UnfitWhy::Special });
            }
            // A tracked file that was not touched since it was checked out is not read again.
            if meta.is_file() && (!file.is_tracked || meta.ctime() >= since) {
                count += 1;
                bytes = bytes.saturating_add(meta.len());
                if largest.is_none_or(|(most, _)| meta.len() > most) {
                    largest = Some((meta.len(), &file.path));
                }
            }
        }
        let limits = self.order.bounds;
        if let Some((_, path)) = largest {
            if bytes > limits.bytes {
                let why = UnfitWhy::TooLarge { bytes, limit: limits.bytes };
                unfit.push(Unfit { path: path.to_owned(), why });
            }
            if count > limits.files {
                let why = UnfitWhy::TooMany { files: count, limit: limits.files };
                unfit.push(Unfit { path: path.to_owned(), why });
            }
        }
        unfit
    }

    fn add_all(&self, without: &[String]) -> Result<CmdOutput, CmdError> {
        if without.is_empty() {
            return self.git(["add", "--all"]).run();
        }
        let excluded = without.iter().map(|path| format!(":(exclude,top,literal){path}"));
        self.git(["add", "--all", "--", "."]).args(excluded).run()
    }

    /// The files of a repository inside the worktree, as if they were ours. It is listed as a work tree of our own git
    /// directory, so that none of its configuration is read.
    fn add_files_of(&self, nested: &Utf8Path) -> Result<(), CmdError> {
        let folder = self.order.worktree.join(nested);
        let listing = self.git(["ls-files", "-z", "--others", "--exclude-standard"]).cwd(&folder);
        // The name of an index that is not there: to look at a folder as if nothing of it were known.
        let no_index = self.order.quarantine.join("no-index");
        let output = listing.env("GIT_WORK_TREE", folder.as_str()).env("GIT_INDEX_FILE", no_index.as_str()).run()?;
        let mut paths = String::new();
        for field in output.fields() {
            if let Some(deeper) = field.strip_suffix('/') {
                self.add_files_of(&nested.join(deeper))?;
            } else {
                paths.push_str(nested.join(field).as_str());
                paths.push('\0');
            }
        }
        if !paths.is_empty() {
            self.git(["update-index", "--add", "--replace", "-z", "--stdin"]).stdin(paths).run()?;
        }
        Ok(())
    }

    /// Whatever the tree has and `known` has not. Says how many objects.
    fn pack(&self, tree: &Oid) -> Result<u64, CmdError> {
        let wanted = match &self.order.known {
            // Its tree: of a commit git would leave out no file.
            Some(known) => format!("{}\n--not\n{}^{{tree}}\n", tree.as_str(), known.as_str()),
            None => format!("{}\n", tree.as_str()),
        };
        let to = self.order.quarantine.join(PACK);
        // Nothing is compared with anything: it is read once more, and packed well by whoever packs the repository.
        self.git(["pack-objects", "--revs", "--stdout", "--quiet", "--window=0"]).stdin(wanted).stdout_to(&to).run()?;
        Ok(objects_in(&to))
    }
}

/// From the header: `PACK`, version, count.
fn objects_in(pack: &Utf8PathBuf) -> u64 {
    let mut header = [0u8; 12];
    let read = std::fs::File::open(pack).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut header));
    let count = header.last_chunk::<4>().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    if read.is_ok() { u64::from(count) } else { 0 }
}

/// One more setting, above all others.
fn add_setting(env: &mut Env, key: &str, value: &str) {
    let count: usize = env.text("GIT_CONFIG_COUNT").and_then(|text| text.parse().ok()).unwrap_or(0);
    env.set("GIT_CONFIG_COUNT", (count + 1).to_string());
    env.set(format!("GIT_CONFIG_KEY_{count}"), key);
    env.set(format!("GIT_CONFIG_VALUE_{count}"), value);
}
