//! A user's machine in a temporary folder: home, state root, environment, and the binary that is measured.
//!
//! Nothing of the surrounding environment gets in but PATH. When it is dropped, every process that carries its mark
//! is ended and the folder goes.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use dandori_host::{Cmd, CmdOutput, Env};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::api::Api;
use crate::trouble::Trouble;

/// Longer than anything here takes on a loaded machine.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) struct Bed {
    root: Utf8PathBuf,
    env: Env,
    dandori: Utf8PathBuf,
    _dir: TempDir,
}

impl Bed {
    pub(crate) fn new(dandori: &Utf8Path) -> Result<Self, Trouble> {
        let dir = tempfile::Builder::new().prefix("dandori-bench-").tempdir()?;
        let root = Utf8PathBuf::try_from(dir.path().canonicalize()?).map_err(|e| Trouble::wrong(e.to_string()))?;
        let around = Env::of_process();
        let mut env = Env::default();
        env.set("PATH", around.text("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin"))
            .set("HOME", root.join("home").as_str())
            .set("TMPDIR", root.join("tmp").as_str())
            .set("DANDORI_STATE_DIR", root.join("state").as_str())
            .set("LANG", "C.UTF-8")
            .set("GIT_CONFIG_NOSYSTEM", "1");
        let bed = Self { root, env, dandori: dandori.to_owned(), _dir: dir };
        for folder in ["home/.config/dandori", "tmp"] {
            let path = bed.root.join(folder);
            std::fs::create_dir_all(&path).map_err(Trouble::io(&path))?;
        }
        bed.put("home/.gitconfig", "[user]\n\tname = Bench\n\temail = bench@example.com\n")?;
        Ok(bed)
    }

    pub(crate) fn path(&self, below: &str) -> Utf8PathBuf {
        self.root.join(below)
    }

    pub(crate) fn env(&self) -> &Env {
        &self.env
    }

    pub(crate) fn put(&self, below: &str, text: &str) -> Result<(), Trouble> {
        let path = self.root.join(below);
        dandori_host::replace_file(&path, text.as_bytes(), 0o644).map_err(Trouble::io(&path))
    }

    pub(crate) fn user_config(&self, text: &str) -> Result<(), Trouble> {
        self.put("home/.config/dandori/config.toml", text)
    }

    pub(crate) fn cmd<A: AsRef<OsStr>>(&self, program: &str, folder: &Utf8Path, args: &[A]) -> Cmd {
        Cmd::new(program, &self.env).args(args).cwd(folder).deadline(PATIENCE)
    }

    pub(crate) fn git(&self, folder: &Utf8Path, args: &[&str]) -> Result<String, Trouble> {
        Ok(self.cmd("git", folder, args).run()?.text())
    }

    pub(crate) fn dandori(&self, folder: &Utf8Path, args: &[&str]) -> Result<CmdOutput, Trouble> {
        Ok(self.cmd(self.dandori.as_str(), folder, args).run()?)
    }

    /// The one object a command prints.
    pub(crate) fn dandori_json(&self, folder: &Utf8Path, args: &[&str]) -> Result<Value, Trouble> {
        Ok(serde_json::from_slice(&self.dandori(folder, args)?.stdout)?)
    }

    pub(crate) fn api(&self) -> Api {
        Api::new(&self.path("state"))
    }

    /// The daemon that runs here.
    pub(crate) fn daemon_pid(&self) -> Result<u32, Trouble> {
        let health = self.api().get("/v1/health")?;
        let pid = health.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
        pid.ok_or_else(|| Trouble::wrong(format!("the daemon does not say who it is: {health}")))
    }

    /// Waits for something to be so.
    pub(crate) fn wait_until(
        &self,
        what: &str,
        mut is_so: impl FnMut() -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        let until = Instant::now() + PATIENCE;
        while !is_so()? {
            if Instant::now() > until {
                return Err(Trouble::wrong(format!("waited in vain in {}: {what}", self.root)));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Processes with this bed's state root in their environment, or at work below it.
    fn processes(&self) -> Vec<Pid> {
        let mark = format!("DANDORI_STATE_DIR={}", self.path("state"));
        let own = std::process::id();
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .flatten()
            .filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())))
            .filter(|(pid, path)| {
                let environ = std::fs::read(path.join("environ")).unwrap_or_default();
                let marked = environ.split(|b| *b == 0).any(|v| v == mark.as_bytes());
                let inside = std::fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&self.root));
                // A zombie has no command line; it is nobody's work any more.
                *pid != own && (marked || inside) && std::fs::read(path.join("cmdline")).is_ok_and(|c| !c.is_empty())
            })
            .filter_map(|(pid, _)| Pid::from_raw(i32::try_from(pid).ok()?))
            .collect()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            for pid in left {
                let _ = kill_process(pid, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
