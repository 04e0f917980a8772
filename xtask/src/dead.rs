//! `cargo xtask dead`: what is `pub` in a library is named by another crate, or by a signature that is.
//!
//! The compiler cannot tell: it sees one crate at a time, and a `pub` item may be for anybody. Here all who could use
//! it are known. By names, not by types: a name that is used for something else elsewhere passes, and what is found is
//! found for good. Methods count by themselves; fields, variants and modules do not.

mod exceptions;
mod exports;

use std::collections::BTreeSet;

use self::exports::Export;
use crate::sources::{self, Part, Source};
use crate::workspace::{Metadata, Package};

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let mut crates = Vec::new();
    for package in metadata.members() {
        crates.push(Crate::of(&package.name, &sources::of_package(package)?));
    }
    let users = users(metadata.members());
    let mut wrong = Vec::new();
    let mut excepted = BTreeSet::new();
    for one in &crates {
        let is_user = |other: &&Crate| users.contains(&(other.name.as_str(), one.name.as_str()));
        let others = crates.iter().filter(is_user).map(|other| &other.names);
        let mut outside: BTreeSet<&str> = others.flatten().map(String::as_str).collect();
        outside.extend(one.names_beside.iter().map(String::as_str));
        for export in dead(&one.exports, &outside) {
            if exceptions::has(&one.name, &export.name) {
                excepted.insert((one.name.clone(), export.name.clone()));
                continue;
            }
            let at = export.path.strip_prefix(&metadata.workspace_root).unwrap_or(&export.path).display();
            wrong.push(format!("{at}:{}: {} is used in {} alone", export.line, export.name, one.name));
        }
    }
    wrong.extend(exceptions::left_over(&excepted));
    if wrong.is_empty() { Ok(()) } else { Err(format!("dead pub\n{}", wrong.join("\n"))) }
}

/// Who uses whom, near or far, tests included: through another crate one gets values whose methods one can call.
fn users<'p>(packages: impl Iterator<Item = &'p Package>) -> BTreeSet<(&'p str, &'p str)> {
    let direct = packages.flat_map(|one| one.dependencies.iter().map(|used| (one.name.as_str(), used.name.as_str())));
    let direct: Vec<(&str, &str)> = direct.collect();
    let mut all: BTreeSet<(&str, &str)> = direct.iter().copied().collect();
    loop {
        let through = |(user, used): &(&'p str, &'p str)| {
            let (user, used) = (*user, *used);
            direct.iter().filter(move |(between, _)| *between == used).map(move |(_, far)| (user, *far))
        };
        let further: BTreeSet<(&str, &str)> = all.iter().flat_map(through).collect();
        if further.is_subset(&all) {
            return all;
        }
        all.extend(further);
    }
}

struct Crate {
    name: String,
    exports: Vec<Export>,
    /// In all its sources.
    names: BTreeSet<String>,
    /// In its sources that see the library from outside: binaries and tests beside it, and macros, which are
    /// written out elsewhere.
    names_beside: BTreeSet<String>,
}

impl Crate {
    fn of(name: &str, sources: &[Source]) -> Self {
        let mut found =
            Self { name: name.to_owned(), exports: Vec::new(), names: BTreeSet::new(), names_beside: BTreeSet::new() };
        for source in sources {
            sources::collect_names(source.tokens(), &mut found.names);
            if source.part == Part::Library {
                found.exports.extend(exports::of(source));
                found.names_beside.extend(exports::names_in_macros(&source.items));
            } else if !source.is_in_library {
                sources::collect_names(source.tokens(), &mut found.names_beside);
            }
        }
        found
    }
}

/// Those that neither an outsider names nor the signature of one that is named.
fn dead<'e>(exports: &'e [Export], outside: &BTreeSet<&str>) -> Vec<&'e Export> {
    let mut alive: BTreeSet<&str> = BTreeSet::new();
    loop {
        let is_alive = |export: &Export| {
            outside.contains(export.name.as_str()) || export.is_type && alive.contains(export.name.as_str())
        };
        let named = exports.iter().filter(|export| is_alive(export)).flat_map(|export| &export.signature);
        let next: BTreeSet<&str> = named.map(String::as_str).collect();
        if next.is_subset(&alive) {
            let is_dead = |export: &&Export| export.is_item && !is_alive(export);
            return exports.iter().filter(is_dead).collect();
        }
        alive.extend(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead_in(library: &str, outside: &str) -> Vec<String> {
        let items = syn::parse_file(library).unwrap().items;
        let source = Source { path: "crates/x/src/lib.rs".into(), part: Part::Library, is_in_library: true, items };
        let mut one = Crate::of("x", &[source]);
        sources::collect_names(outside.parse().unwrap(), &mut one.names_beside);
        let outside = one.names_beside.iter().map(String::as_str).collect();
        dead(&one.exports, &outside).into_iter().map(|export| export.name.clone()).collect()
    }

    #[test]
    fn what_nobody_else_names_is_dead() {
        let library = "pub fn used() { unused() } pub fn unused() {} pub(crate) fn own() {} pub const MOST: u8 = 1;\
                       pub struct S; impl S { pub fn used(&self) {} pub fn forgotten(&self) {} }";
        assert_eq!(dead_in(library, "use x::S; x::used()"), ["unused", "MOST", "forgotten"]);
        assert_eq!(dead_in(library, "format!(\"{MOST}\"); S.forgotten(); used(unused)"), Vec::<String>::new());
    }

    #[test]
    fn what_a_signature_names_lives_with_it() {
        let library = "pub fn find() -> Found { todo!() } pub struct Found { pub kind: Kind, inner: Own }\
                       pub enum Kind { A(Deep) } pub struct Deep; pub struct Own; pub trait Speak { fn say(&self) -> Word; }\
                       pub struct Word; impl std::ops::Deref for Deep { type Target = Below; } pub struct Below;";
        assert_eq!(dead_in(library, "x::find()"), ["Own", "Speak", "Word"]);
        assert_eq!(dead_in(library, "nothing"), ["find", "Found", "Kind", "Deep", "Own", "Speak", "Word", "Below"]);
    }

    #[test]
    fn another_name_and_a_macro_keep_it_alive() {
        let library = "mod a { pub struct Inner; pub fn help() {} } pub use a::Inner as Outer;\
                       #[macro_export] macro_rules! m { () => { $crate::a::help() } }";
        assert_eq!(dead_in(library, "x::Outer"), Vec::<String>::new());
        assert_eq!(dead_in(library, "x::other"), ["Inner"]);
    }
}
