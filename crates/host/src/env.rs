//! The environment, read once at the edge and handed down.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use camino::{Utf8Path, Utf8PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Env(BTreeMap<OsString, OsString>);

impl Env {
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self(pairs.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// The value, when it is there, not empty and valid UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(OsStr::new(name)).and_then(|v| v.to_str()).filter(|v| !v.is_empty())
    }

    pub fn path(&self, name: &str) -> Option<Utf8PathBuf> {
        self.text(name).map(Utf8PathBuf::from)
    }

    pub fn home(&self) -> Option<Utf8PathBuf> {
        self.path("HOME")
    }

    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> &mut Self {
        self.0.insert(name.into(), value.into());
        self
    }

    pub fn remove(&mut self, name: &str) -> &mut Self {
        self.0.remove(OsStr::new(name));
        self
    }

    /// Keeps only the variables whose name passes.
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self(
            self.0.iter().filter(|(k, _)| k.to_str().is_some_and(&keep)).map(|(k, v)| (k.clone(), v.clone())).collect(),
        )
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(k, v)| (k.as_os_str(), v.as_os_str()))
    }

    /// Where a program is, the way a shell finds it.
    pub fn find_program(&self, name: &str) -> Option<Utf8PathBuf> {
        use std::os::unix::fs::PermissionsExt;
        let runs = |path: &Utf8Path| path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
        if name.contains('/') {
            let path = Utf8PathBuf::from(name);
            return runs(&path).then_some(path);
        }
        let path = self.text("PATH")?;
        path.split(':').filter(|d| !d.is_empty()).map(|d| Utf8Path::new(d).join(name)).find(|p| runs(p))
    }
}
