//! The workspace as cargo and git see it: packages, what they depend on, and which files are kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    pub(crate) workspace_root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) resolve: Resolve,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) kind: Option<Kind>,
    rename: Option<String>,
    features: BTreeSet<String>,
}

/// What a dependency that is not an ordinary one is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Dev,
    Build,
}

#[derive(Deserialize)]
pub(crate) struct Target {
    kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

/// Which packages are really built with which, features considered.
#[derive(Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<Edge>,
}

#[derive(Deserialize)]
pub(crate) struct Edge {
    pub(crate) pkg: String,
    dep_kinds: Vec<EdgeKind>,
}

#[derive(Deserialize)]
struct EdgeKind {
    kind: Option<Kind>,
}

impl Metadata {
    pub(crate) fn load() -> Result<Self, String> {
        let output = Command::new(cargo())
            .args(["metadata", "--format-version=1", "--locked"])
            .output()
            .map_err(|e| format!("cargo metadata: {e}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))
    }

    /// Our own packages.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| self.workspace_members.contains(&package.id))
    }

    pub(crate) fn by_id(&self, id: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.id == id)
    }
}

impl Package {
    /// What runs inside of the compiler, and is no part of what it builds.
    pub(crate) fn is_macro(&self) -> bool {
        self.targets.iter().any(|target| target.is("proc-macro"))
    }
}

impl Target {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.kind.iter().any(|own| own == kind)
    }
}

impl Dependency {
    /// As the sources call it.
    pub(crate) fn in_code(&self) -> String {
        self.rename.as_ref().unwrap_or(&self.name).replace('-', "_")
    }

    /// Whether it is for tests, and the package has it for everything already.
    pub(crate) fn says_nothing_after(&self, other: &Self) -> bool {
        let is_same = self.in_code() == other.in_code() && other.kind.is_none();
        is_same && self.kind == Some(Kind::Dev) && self.features.is_subset(&other.features)
    }
}

impl Edge {
    /// Whether it is part of what is built, not only of a test or a build script.
    pub(crate) fn is_ordinary(&self) -> bool {
        self.dep_kinds.iter().any(|edge| edge.kind.is_none())
    }
}

pub(crate) fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// Every file that git keeps or would keep, relative to the top.
pub(crate) fn kept_files(top: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(top)
        .output()
        .map_err(|e| format!("git ls-files: {e}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    // What was deleted and not yet committed is still listed.
    Ok(names.split('\0').filter(|name| !name.is_empty() && top.join(name).exists()).map(str::to_owned).collect())
}
