//! A real PostgreSQL for tests: one server per test process, a database of its own for whoever asks.
//!
//! It listens on a Unix socket in its own temporary folder and nowhere else. A small watchdog holds one end of a pipe
//! to the test process: when that ends, however it ends, the server is stopped and the folder removed. As root the
//! server runs as an unprivileged user, for it refuses to run as root. A machine without PostgreSQL fails the test
//! and says what to install; nothing is skipped.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};

/// How long the server may take to come up on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Stops the server and removes its folder (`$0`) once our end of the pipe is closed.
const WATCHDOG: &str = r#"
trap '' INT TERM HUP
"$@" >"$0/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$0"
"#;

pub struct Postgres {
    bin: Utf8PathBuf,
    folder: Utf8PathBuf,
    user: Option<User>,
    databases: AtomicU32,
    /// Never waited for: it outlives us by a moment, on purpose.
    _watchdog: Child,
}

/// Whom the server runs as when we are root.
struct User {
    uid: u32,
    gid: u32,
}

impl Postgres {
    /// The server of this process, started by the first who asks.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(|| Self::start().unwrap_or_else(|why| panic!("PostgreSQL for the tests: {why}")))
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.create_database(&name).unwrap_or_else(|why| panic!("PostgreSQL for the tests: {why}"));
        format!("postgres://postgres@{}/{name}", self.folder.as_str().replace('/', "%2F"))
    }

    fn start() -> Result<Self, String> {
        let bin = find_programs()?;
        let folder = tempfile::Builder::new().prefix("dandori-pg-").tempdir().map_err(|e| e.to_string())?.keep();
        let folder = Utf8PathBuf::from_path_buf(folder).map_err(|p| format!("{} is not UTF-8", p.display()))?;
        let user = user_for_server()?;
        if let Some(user) = &user {
            chown(&folder, Some(user.uid), Some(user.gid)).map_err(|e| e.to_string())?;
        }
        let data = folder.join("data");
        let made = as_user(user.as_ref(), &bin.join("initdb"))
            .args(["--no-sync", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()
            .map_err(|e| format!("initdb could not be started: {e}"))?;
        if !made.status.success() {
            let _ = std::fs::remove_dir_all(&folder);
            return Err(format!("initdb failed: {}", String::from_utf8_lossy(&made.stderr)));
        }
        let watchdog = watch(&folder, &server_command(user.as_ref(), &bin, &folder, &data))?;
        let server = Self { bin, folder, user, databases: AtomicU32::new(0), _watchdog: watchdog };
        server.wait_until_up()?;
        Ok(server)
    }

    fn wait_until_up(&self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.create_database("is_up") {
                Ok(()) => return Ok(()),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(25)),
                Err(why) => {
                    let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                    return Err(format!("{why}\n{log}"));
                }
            }
        }
    }

    fn create_database(&self, name: &str) -> Result<(), String> {
        let made = as_user(self.user.as_ref(), &self.bin.join("createdb"))
            .args(["--username=postgres", "--host", self.folder.as_str(), name])
            .output()
            .map_err(|e| format!("createdb could not be started: {e}"))?;
        if made.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&made.stderr).into_owned()) }
    }
}

/// On the PATH, or where Debian and its kin keep them: the newest version.
fn find_programs() -> Result<Utf8PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|p| Utf8PathBuf::from_path_buf(p).ok());
    let mut versions: Vec<(u32, Utf8PathBuf)> = Utf8Path::new("/usr/lib/postgresql")
        .read_dir_utf8()
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| Some((e.file_name().parse().ok()?, e.path().join("bin"))))
        .collect();
    versions.sort();
    on_path
        .chain(versions.into_iter().rev().map(|(_, bin)| bin))
        .find(|bin| ["initdb", "postgres", "createdb"].iter().all(|program| bin.join(program).is_file()))
        .ok_or_else(|| {
            "initdb, postgres and createdb were not found. Install PostgreSQL (Debian, Ubuntu: apt install postgresql; \
             macOS: brew install postgresql) or put its bin folder on the PATH"
                .to_owned()
        })
}

/// `None` when we are not root.
fn user_for_server() -> Result<Option<User>, String> {
    let root = tempfile::tempfile().and_then(|f| f.metadata()).map_err(|e| e.to_string())?.uid() == 0;
    if !root {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd").map_err(|e| format!("/etc/passwd: {e}"))?;
    let ids = |name: &str| {
        let line = users.lines().find(|l| l.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(User { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
    };
    ids("postgres")
        .or_else(|| ids("nobody"))
        .map(Some)
        .ok_or_else(|| "there is neither a user postgres nor nobody to run the server as".to_owned())
}

/// A program with a clean environment, as the user the server runs as.
#[expect(clippy::disallowed_methods, reason = "tests only; host::Cmd runs commands to their end")]
fn as_user(user: Option<&User>, program: &Utf8Path) -> Command {
    let mut command = Command::new(program);
    if let Some(user) = user {
        command.uid(user.uid).gid(user.gid);
    }
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").current_dir("/").stdin(Stdio::null());
    command
}

fn server_command(user: Option<&User>, bin: &Utf8Path, folder: &Utf8Path, data: &Utf8Path) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(user) = user {
        // The watchdog stays root, to be able to remove the folder; the server is not.
        words.extend(["setpriv".to_owned(), format!("--reuid={}", user.uid), format!("--regid={}", user.gid)]);
        words.extend(["--clear-groups".to_owned(), "--".to_owned()]);
    }
    words
        .extend([bin.join("postgres"), "-D".into(), data.to_owned(), "-k".into(), folder.to_owned()].map(String::from));
    // Nothing here has to survive a power cut.
    for setting in ["listen_addresses=", "fsync=off", "full_page_writes=off", "max_connections=300"] {
        words.extend(["-c".to_owned(), setting.to_owned()]);
    }
    words
}

#[expect(clippy::disallowed_methods, reason = "tests only; host::Cmd runs commands to their end")]
fn watch(folder: &Utf8Path, server: &[String]) -> Result<Child, String> {
    Command::new("/bin/sh")
        .args(["-c", WATCHDOG])
        .arg(folder)
        .args(server)
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C")
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("the watchdog could not be started: {e}"))
}
