//! The folders in which tools keep what they have downloaded or compiled: writable by default, or every build in a
//! worktree would start from nothing.
//!
//! Only the stores themselves, never a folder that also holds settings, credentials, start-up scripts or programs
//! on the PATH: `~/.gradle/init.d`, `~/.m2/settings.xml`, `~/.cargo/bin`, `~/.cargo/config.toml` and their like
//! stay read-only, because what an agent puts there runs later, outside the fence.

use camino::{Utf8Path, Utf8PathBuf};

use crate::Env;

/// (variable that moves it, its place below the home folder, what of it is a store).
const STORES: &[(&str, &str, &[&str])] = &[
    ("XDG_CACHE_HOME", ".cache", &[""]),
    ("CARGO_HOME", ".cargo", &["registry", "git", ".package-cache", ".package-cache-mutate", ".global-cache"]),
    ("npm_config_cache", ".npm", &[""]),
    ("", ".local/share/pnpm", &["store"]),
    ("", ".pnpm-store", &[""]),
    ("YARN_CACHE_FOLDER", ".yarn/berry/cache", &[""]),
    ("BUN_INSTALL", ".bun", &["install/cache"]),
    ("DENO_DIR", ".deno", &["deps", "gen", "npm", "registries"]),
    ("UV_CACHE_DIR", ".cache/uv", &[""]),
    ("PIP_CACHE_DIR", ".cache/pip", &[""]),
    ("POETRY_CACHE_DIR", ".cache/pypoetry", &[""]),
    ("GOMODCACHE", "go/pkg/mod", &[""]),
    ("GOPATH", "go", &["pkg"]),
    ("GOCACHE", ".cache/go-build", &[""]),
    ("GRADLE_USER_HOME", ".gradle", &["caches", "daemon", "native", "wrapper", "workers", ".tmp"]),
    ("", ".m2", &["repository"]),
    ("", ".ivy2", &["cache"]),
    ("NUGET_PACKAGES", ".nuget/packages", &[""]),
    ("PUB_CACHE", ".pub-cache", &["hosted", "git"]),
    ("CCACHE_DIR", ".ccache", &[""]),
    ("SCCACHE_DIR", ".cache/sccache", &[""]),
    ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright", &[""]),
];

/// Those that exist.
pub fn default_caches(home: &Utf8Path, env: &Env) -> Vec<Utf8PathBuf> {
    let mut found: Vec<Utf8PathBuf> = Vec::new();
    for (variable, place, stores) in STORES {
        // A relative value means something else in every folder: not a place we could allow.
        let moved = env.path(variable).filter(|p| p.is_absolute());
        let top = moved.unwrap_or_else(|| home.join(place));
        for store in *stores {
            let path = if store.is_empty() { top.clone() } else { top.join(store) };
            let is_covered = found.iter().any(|f| path.starts_with(f));
            // Somebody whose cache "is" his home folder or the root does not want all of that writable.
            if !is_covered && path != home && path.parent().is_some() && path.exists() {
                found.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_that_exist_are_found_settings_and_programs_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = Utf8Path::from_path(dir.path()).unwrap();
        for path in [".cache/uv", ".cargo/registry", ".cargo/bin", ".gradle/init.d", ".gradle/caches", "elsewhere/npm"]
        {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        let env = Env::from_pairs([
            ("npm_config_cache", home.join("elsewhere/npm").as_str()),
            ("GOCACHE", home.as_str()),
            ("CCACHE_DIR", "."),
        ]);
        let mut found = default_caches(home, &env);
        found.sort();
        let expected: Vec<_> =
            [".cache", ".cargo/registry", ".gradle/caches", "elsewhere/npm"].map(|p| home.join(p)).into();
        assert_eq!(found, expected);
    }
}
