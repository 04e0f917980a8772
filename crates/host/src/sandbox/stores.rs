//! The stores in which tools keep what they have downloaded or compiled. A run reads the user's and writes into a layer
//! of its repository's own, so that builds are warm and nothing a run leaves there reaches anybody else.
//!
//! Layers lie in a pool: each run takes the first that nobody uses, so that the next one finds what the last one left.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::Layer;
use crate::Env;

/// (name, variable that moves it, its place below the home folder, what of it is the store, variable that names the store
/// itself). Folders that also hold programs on the PATH are narrowed down or protected ([`PROGRAMS`]).
const STORES: &[(&str, &str, &str, &str, &str)] = &[
    ("cache", "XDG_CACHE_HOME", ".cache", "", "XDG_CACHE_HOME"),
    ("cargo", "CARGO_HOME", ".cargo", "", "CARGO_HOME"),
    ("npm", "npm_config_cache", ".npm", "", "npm_config_cache"),
    ("pnpm", "", ".local/share/pnpm", "store", "npm_config_store_dir"),
    ("pnpm-store", "", ".pnpm-store", "", ""),
    ("yarn", "YARN_GLOBAL_FOLDER", ".yarn/berry", "", "YARN_GLOBAL_FOLDER"),
    ("yarn-cache", "YARN_CACHE_FOLDER", "", "", "YARN_CACHE_FOLDER"),
    ("bun", "BUN_INSTALL", ".bun", "install/cache", "BUN_INSTALL_CACHE_DIR"),
    ("deno", "DENO_DIR", "", "", "DENO_DIR"),
    ("uv", "UV_CACHE_DIR", "", "", "UV_CACHE_DIR"),
    ("pip", "PIP_CACHE_DIR", "", "", "PIP_CACHE_DIR"),
    ("poetry", "POETRY_CACHE_DIR", "", "", "POETRY_CACHE_DIR"),
    ("go", "GOPATH", "go", "pkg", "GOPATH"),
    ("go-modules", "GOMODCACHE", "", "", "GOMODCACHE"),
    ("go-build", "GOCACHE", "", "", "GOCACHE"),
    ("gradle", "GRADLE_USER_HOME", ".gradle", "", "GRADLE_USER_HOME"),
    ("maven", "", ".m2", "", "MAVEN_OPTS"),
    ("ivy", "", ".ivy2", "", ""),
    ("nuget", "NUGET_PACKAGES", ".nuget/packages", "", "NUGET_PACKAGES"),
    ("pub", "PUB_CACHE", ".pub-cache", "", "PUB_CACHE"),
    ("ccache", "CCACHE_DIR", ".ccache", "", "CCACHE_DIR"),
    ("sccache", "SCCACHE_DIR", "", "", "SCCACHE_DIR"),
    ("browsers", "PLAYWRIGHT_BROWSERS_PATH", "", "", "PLAYWRIGHT_BROWSERS_PATH"),
];

/// Variables that hold a list: the first is where the tool writes.
const LISTS: &[&str] = &["GOPATH"];

/// Variables that hold a tool's options: the one that names the store, after those that are there.
const OPTIONS: &[(&str, &str)] = &[("MAVEN_OPTS", "-Dmaven.repo.local={}/repository")];

/// Tools whose program has another name than their store.
const PROGRAM_NAMES: &[(&str, &str)] = &[("maven", "mvn")];

/// Programs inside stores: read-only all the same.
const PROGRAMS: &[&str] = &[".cargo/bin", ".pub-cache/bin"];

/// More runs of one repository at once than a machine takes.
const POOL: usize = 256;

/// A store, and where it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Store {
    pub name: String,
    pub at: Utf8PathBuf,
    /// Names it to its tool.
    pub variable: Option<String>,
}

/// The stores of a run, and the pool its layers come from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stores {
    pub pool: Utf8PathBuf,
    pub stores: Vec<Store>,
}

/// Every store that is there, and those that a tool can be told another place for.
pub fn stores(home: &Utf8Path, env: &Env) -> Vec<Store> {
    let mut found: Vec<Store> = Vec::new();
    for (name, moved_by, place, store, variable) in STORES {
        // A relative value means something else in every folder: not a place we could layer.
        let moved = moved(env, moved_by).filter(|path| path.is_absolute());
        let Some(top) = moved.or_else(|| (!place.is_empty()).then(|| home.join(place))) else { continue };
        let at = if store.is_empty() { top } else { top.join(store) };
        let is_inside = found.iter().any(|other| at.starts_with(&other.at));
        // Somebody whose cache "is" his home folder or the root does not want all of that layered.
        let is_too_much = home.starts_with(&at) || at.parent().is_none();
        let variable = (!variable.is_empty()).then(|| (*variable).to_owned());
        // One that is not there is told to its tool alone: others complain of variables they do not know.
        let tool = name.split('-').next().unwrap_or(name);
        let tool = PROGRAM_NAMES.iter().find(|(store, _)| *store == tool).map_or(tool, |(_, program)| program);
        let can_be_told = variable.is_some() && (*name == "cache" || env.find_program(tool).is_some());
        if !is_inside && !is_too_much && (at.is_dir() || can_be_told) {
            found.push(Store { name: (*name).to_owned(), at, variable });
        }
    }
    found
}

fn moved(env: &Env, variable: &str) -> Option<Utf8PathBuf> {
    let path = env.path(variable)?;
    if !LISTS.contains(&variable) {
        return Some(path);
    }
    path.as_str().split(':').next().map(Utf8PathBuf::from)
}

/// Names the layer itself to its tool, where it does not lie over the store.
pub(crate) fn tell(layer: &Layer, env: &mut Env) {
    let Some(variable) = &layer.variable else { return };
    let Some((_, option)) = OPTIONS.iter().find(|(name, _)| name == variable) else {
        env.set(variable, layer.upper.as_str());
        return;
    };
    // Options are words, and a tool that takes half a path for one does not start at all.
    if layer.upper.as_str().contains(char::is_whitespace) {
        return;
    }
    let option = option.replace("{}", layer.upper.as_str());
    let told = env.text(variable).map_or(option.clone(), |there| format!("{there} {option}"));
    env.set(variable, told);
}

/// Folders of programs inside the stores.
pub fn programs_in_stores(home: &Utf8Path) -> Vec<Utf8PathBuf> {
    PROGRAMS.iter().map(|path| home.join(path)).filter(|path| path.is_dir()).collect()
}

/// A layer of the pool that nobody uses, for as long as the file is open.
pub(crate) fn claim(stores: &Stores, guarded: &[Utf8PathBuf]) -> io::Result<(Vec<Layer>, File)> {
    for number in 0..POOL {
        let folder = stores.pool.join(number.to_string());
        make(&folder)?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(folder.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => {
                let layers = layers(stores, &folder)?;
                for layer in &layers {
                    clear_the_way(layer, guarded);
                }
                return Ok((layers, lock));
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
    Err(io::Error::other("all layers over the tools' caches are in use"))
}

fn layers(stores: &Stores, folder: &Utf8Path) -> io::Result<Vec<Layer>> {
    let layer = |store: &Store| {
        let (upper, work) = (folder.join(&store.name), folder.join(format!(".{}", store.name)));
        make(&upper)?;
        make(&work)?;
        Ok(Layer { at: store.at.clone(), upper, work, variable: store.variable.clone(), is_over: store.at.is_dir() })
    };
    stores.stores.iter().map(layer).collect()
}

/// Whatever an earlier run has put where something is hidden, protected or replaced inside a store goes: a link there would
/// lead what is laid over it elsewhere, and a file would be in its way.
fn clear_the_way(layer: &Layer, guarded: &[Utf8PathBuf]) {
    for below in guarded.iter().filter_map(|path| path.strip_prefix(&layer.at).ok()) {
        let mut part = layer.upper.clone();
        for name in below.components() {
            part.push(name.as_str());
            match part.symlink_metadata() {
                Ok(found) if found.is_dir() => {}
                Ok(_) => {
                    let _ = std::fs::remove_file(&part);
                    break;
                }
                Err(_) => break,
            }
        }
    }
}

fn make(folder: &Utf8Path) -> io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_found_where_their_variables_say_and_none_is_the_home_folder() {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(dir.path()).unwrap();
        for path in [".cache/uv", ".cargo/registry", ".m2", "elsewhere/npm", "go/pkg/mod"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let env = Env::from_pairs([
            ("npm_config_cache", home.join("elsewhere/npm").as_str()),
            ("GOCACHE", home.as_str()),
            ("CCACHE_DIR", "."),
            ("UV_CACHE_DIR", home.join(".cache/uv").as_str()),
        ]);
        let found = stores(home, &env);
        let at = |name: &str| found.iter().find(|s| s.name == name).map(|s| s.at.clone());
        assert_eq!(at("cache"), Some(home.join(".cache")));
        assert_eq!(at("npm"), Some(home.join("elsewhere/npm")));
        assert_eq!(at("go"), Some(home.join("go/pkg")));
        assert_eq!((at("go-build"), at("uv"), at("ivy")), (None, None, None), "too much, inside another, not there");
        assert_eq!(at("gradle"), None, "neither the store nor its tool is there");
        std::fs::create_dir(home.join("bin")).unwrap();
        std::os::unix::fs::symlink("/bin/true", home.join("bin/gradle")).unwrap();
        let found = stores(home, &Env::from_pairs([("PATH", home.join("bin").as_str())]));
        assert!(found.iter().any(|s| s.at == home.join(".gradle")), "not there, but its tool can be told where to be");
    }

    #[test]
    fn a_layer_is_named_to_its_tool_as_the_tool_wants_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(dir.path()).unwrap();
        for program in ["go", "mvn"] {
            std::os::unix::fs::symlink("/bin/true", home.join(program)).unwrap();
        }
        let list = format!("{home}/first:{home}/second");
        let mut env = Env::from_pairs([("PATH", home.as_str()), ("GOPATH", list.as_str()), ("MAVEN_OPTS", "-Xmx1g")]);
        let found = stores(home, &env);
        assert_eq!(found.iter().find(|s| s.name == "go").unwrap().at, home.join("first/pkg"));
        for store in found {
            let (upper, work) = (Utf8PathBuf::from("/l").join(&store.name), Utf8PathBuf::from("/w"));
            tell(&Layer { at: store.at, upper, work, variable: store.variable, is_over: false }, &mut env);
        }
        assert_eq!(env.text("GOPATH"), Some("/l/go"));
        assert_eq!(env.text("MAVEN_OPTS"), Some("-Xmx1g -Dmaven.repo.local=/l/maven/repository"));
    }

    #[test]
    fn a_layer_is_one_run_s_alone_and_the_next_run_s_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let store = Store { name: "npm".into(), at: root.join("npm"), variable: None };
        let stores = Stores { pool: root.join("pool"), stores: vec![store] };
        let (first, lock) = claim(&stores, &[]).unwrap();
        let (second, _other) = claim(&stores, &[]).unwrap();
        assert_ne!(first[0].upper, second[0].upper);
        drop(lock);
        assert_eq!(claim(&stores, &[]).unwrap().0, first);
    }

    #[test]
    fn what_a_run_left_in_the_way_of_what_is_guarded_goes() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let store = Store { name: "cargo".into(), at: root.join("cargo"), variable: None };
        let stores = Stores { pool: root.join("pool"), stores: vec![store] };
        let (layers, lock) = claim(&stores, &[]).unwrap();
        let upper = layers[0].upper.clone();
        std::fs::create_dir(upper.join("x")).unwrap();
        std::os::unix::fs::symlink("x", upper.join("bin")).unwrap();
        std::os::unix::fs::symlink("x", upper.join("deep")).unwrap();
        drop(lock);
        let _kept = claim(&stores, &[root.join("cargo/bin"), root.join("cargo/deep/token")]).unwrap();
        assert!(upper.join("bin").symlink_metadata().is_err() && upper.join("deep").symlink_metadata().is_err());
        assert!(upper.join("x").is_dir(), "the rest stays");
    }
}
