//! `cargo xtask deps`: every dependency a package asks for is named in its sources, and in those it is asked for:
//! one that only tests name is a dependency of the tests.

use std::collections::BTreeSet;

use crate::sources::{self, Part};
use crate::workspace::{Kind, Metadata};

/// Package, dependency, and what it is there for although no source names it.
const EXCEPTIONS: &[(&str, &str, &str)] = &[];

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let mut wrong = Vec::new();
    let mut asked_for = BTreeSet::new();
    for package in metadata.members() {
        let uses = Uses::of(&sources::of_package(package)?);
        for dependency in &package.dependencies {
            asked_for.insert(dependency.name.clone());
            if EXCEPTIONS.iter().any(|(of, name, _)| *of == package.name && *name == dependency.name) {
                continue;
            }
            let again = package.dependencies.iter().any(|other| dependency.says_nothing_after(other));
            if again {
                wrong.push(format!("{}: {} is listed for tests, which have it anyway", package.name, dependency.name));
            }
            if let Some(reason) = uses.wrong(&dependency.in_code(), dependency.kind) {
                wrong.push(format!("{}: {} {reason}", package.name, dependency.name));
            }
        }
    }
    let manifest = metadata.workspace_root.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
    wrong.extend(offered(&text)?.difference(&asked_for).map(|name| format!("Cargo.toml: nobody asks for {name}")));
    if wrong.is_empty() { Ok(()) } else { Err(format!("unused dependencies\n{}", wrong.join("\n"))) }
}

/// The names that begin a path, by what the source is for.
struct Uses {
    product: BTreeSet<String>,
    tests: BTreeSet<String>,
    build_script: BTreeSet<String>,
}

impl Uses {
    fn of(sources: &[sources::Source]) -> Self {
        let of = |parts: &[Part]| {
            let named = sources.iter().filter(|source| parts.contains(&source.part));
            named.flat_map(|source| sources::path_heads(source.tokens())).collect()
        };
        Self {
            product: of(&[Part::Library, Part::Binary]),
            tests: of(&[Part::Test]),
            build_script: of(&[Part::BuildScript]),
        }
    }

    fn wrong(&self, name: &str, kind: Option<Kind>) -> Option<&'static str> {
        match kind {
            None if self.product.contains(name) => None,
            None if self.tests.contains(name) => Some("is used by tests alone: it belongs under [dev-dependencies]"),
            Some(Kind::Dev) if self.product.contains(name) && !self.tests.contains(name) => {
                Some("is listed for tests, which do not use it")
            }
            Some(Kind::Dev) if self.tests.contains(name) => None,
            Some(Kind::Build) if self.build_script.contains(name) => None,
            _ => Some("is not used"),
        }
    }
}

/// What `[workspace.dependencies]` offers.
fn offered(manifest: &str) -> Result<BTreeSet<String>, String> {
    let manifest: toml::Table = manifest.parse().map_err(|e| format!("Cargo.toml: {e}"))?;
    let offered = manifest.get("workspace").and_then(|w| w.get("dependencies")).and_then(toml::Value::as_table);
    Ok(offered.into_iter().flat_map(toml::Table::keys).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_nothing_names_is_found_and_one_in_the_wrong_list_too() {
        let set = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let uses = Uses { product: set(&["serde"]), tests: set(&["tempfile"]), build_script: set(&["cc"]) };
        assert_eq!(uses.wrong("serde", None), None);
        assert_eq!(uses.wrong("tempfile", Some(Kind::Dev)), None);
        assert_eq!(uses.wrong("cc", Some(Kind::Build)), None);
        assert_eq!(uses.wrong("tokio", None), Some("is not used"));
        assert_eq!(uses.wrong("cc", None), Some("is not used"));
        assert!(uses.wrong("tempfile", None).unwrap().contains("dev-dependencies"));
        assert!(uses.wrong("serde", Some(Kind::Dev)).is_some());
    }

    #[test]
    fn a_dependency_that_tests_have_anyway_is_not_listed_again() {
        let one = |text: &str| serde_json::from_str::<crate::workspace::Dependency>(text).unwrap();
        let product = one(r#"{"name":"tokio","kind":null,"rename":null,"features":["rt"]}"#);
        let same = one(r#"{"name":"tokio","kind":"dev","rename":null,"features":["rt"]}"#);
        let more = one(r#"{"name":"tokio","kind":"dev","rename":null,"features":["rt","test-util"]}"#);
        assert!(same.says_nothing_after(&product) && !more.says_nothing_after(&product));
        assert!(!product.says_nothing_after(&same) && !same.says_nothing_after(&same));
    }

    #[test]
    fn what_the_workspace_offers_is_read_from_its_manifest() {
        let text = "[workspace.dependencies]\nserde = \"1\"\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";
        assert_eq!(offered(text).unwrap().into_iter().collect::<Vec<_>>(), ["serde"]);
    }
}
