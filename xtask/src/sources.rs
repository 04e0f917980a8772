//! The sources of a package, read by following its modules from the root of each of its targets.
//!
//! What stands below `#[cfg(test)]` is kept apart from the rest, in the same file or in one of its own. Files that no
//! module leads to are not read: the compiler does not see them either.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, ImplItem, Item};

use crate::workspace::{Package, Target};

/// What a piece of source is compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Library,
    Binary,
    /// Tests in the sources and beside them, benchmarks and examples.
    Test,
    BuildScript,
}

/// One file, or one part of it: what a file has below `#[cfg(test)]` is a second one.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) part: Part,
    /// Tests below `#[cfg(test)]` of a library are in it; those beside it see it from outside.
    pub(crate) is_in_library: bool,
    pub(crate) items: Vec<Item>,
}

impl Source {
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut tokens = TokenStream::new();
        self.items.iter().for_each(|item| item.to_tokens(&mut tokens));
        tokens
    }
}

/// All targets of a package.
pub(crate) fn of_package(package: &Package) -> Result<Vec<Source>, String> {
    let mut read = Vec::new();
    for target in &package.targets {
        let before = read.len();
        let part = part_of(target);
        follow(&target.src_path, &ModuleFolder::of_root(&target.src_path), part, &mut read)?;
        read.iter_mut().skip(before).for_each(|source| source.is_in_library = part == Part::Library);
    }
    Ok(read)
}

fn part_of(target: &Target) -> Part {
    match () {
        () if target.is("custom-build") => Part::BuildScript,
        () if target.is("bin") => Part::Binary,
        () if target.is("lib") || target.is("proc-macro") => Part::Library,
        () => Part::Test,
    }
}

/// Where the files of a module's modules are.
struct ModuleFolder {
    folder: PathBuf,
}

impl ModuleFolder {
    fn of_root(root: &Path) -> Self {
        Self { folder: root.parent().unwrap_or(Path::new(".")).to_owned() }
    }

    fn below(&self, name: &str) -> Self {
        Self { folder: self.folder.join(name) }
    }

    /// The file of `mod name;`.
    fn file(&self, name: &str, attributes: &[Attribute]) -> Option<PathBuf> {
        let written = attributes.iter().find(|a| a.path().is_ident("path")).and_then(|a| match &a.meta {
            syn::Meta::NameValue(pair) => match &pair.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
                _ => None,
            },
            _ => None,
        });
        let ways = match written {
            Some(path) => vec![self.folder.join(path)],
            None => vec![self.folder.join(format!("{name}.rs")), self.folder.join(name).join("mod.rs")],
        };
        ways.into_iter().find(|path| path.is_file())
    }
}

fn follow(path: &Path, place: &ModuleFolder, part: Part, read: &mut Vec<Source>) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let file = syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut split = Split::default();
    split.sort(file.items, part == Part::Test);
    for (part, items) in [(part, split.product), (Part::Test, split.tests)] {
        modules(&items, place, part, read)?;
        if !items.is_empty() {
            read.push(Source { path: path.to_owned(), part, is_in_library: false, items });
        }
    }
    Ok(())
}

fn modules(items: &[Item], place: &ModuleFolder, part: Part, read: &mut Vec<Source>) -> Result<(), String> {
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        match &module.content {
            Some((_, items)) => modules(items, &place.below(&name), part, read)?,
            None => {
                if let Some(path) = place.file(&name, &module.attrs) {
                    follow(&path, &place.below(&name), part, read)?;
                }
            }
        }
    }
    Ok(())
}

/// The items of a file, those for tests apart.
#[derive(Default)]
struct Split {
    product: Vec<Item>,
    tests: Vec<Item>,
}

impl Split {
    fn sort(&mut self, items: Vec<Item>, is_test: bool) {
        for item in items {
            if is_test || is_for_tests(attributes(&item)) {
                self.tests.push(item);
                continue;
            }
            match item {
                Item::Mod(module) if module.content.is_some() => self.split_module(module),
                Item::Impl(block) => self.split_block(block),
                item => self.product.push(item),
            }
        }
    }

    fn split_module(&mut self, mut module: syn::ItemMod) {
        let Some((brace, items)) = module.content.take() else { return };
        let mut inner = Self::default();
        inner.sort(items, false);
        if !inner.tests.is_empty() {
            self.tests.push(Item::Mod(syn::ItemMod { content: Some((brace, inner.tests)), ..module.clone() }));
        }
        self.product.push(Item::Mod(syn::ItemMod { content: Some((brace, inner.product)), ..module }));
    }

    fn split_block(&mut self, mut block: syn::ItemImpl) {
        let is_test = |item: &ImplItem| match item {
            ImplItem::Fn(item) => is_for_tests(&item.attrs),
            ImplItem::Const(item) => is_for_tests(&item.attrs),
            _ => false,
        };
        let (tests, product): (Vec<_>, Vec<_>) = std::mem::take(&mut block.items).into_iter().partition(is_test);
        if !tests.is_empty() {
            self.tests.push(Item::Impl(syn::ItemImpl { items: tests, ..block.clone() }));
        }
        block.items = product;
        self.product.push(Item::Impl(block));
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]`, also among other conditions.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = match &attribute.meta {
            syn::Meta::List(list) if attribute.path().is_ident("cfg") => names(list.tokens.clone()),
            _ => return false,
        };
        condition.contains("test") && !condition.contains("not")
    })
}

/// Every name in a piece of source, also those that a text names for `format!`.
pub(crate) fn names(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_names(tokens, &mut found);
    found
}

pub(crate) fn collect_names(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(name) => {
                found.insert(name.to_string().trim_start_matches("r#").to_owned());
            }
            TokenTree::Group(group) => collect_names(group.stream(), found),
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let named = text.split('{').skip(1).map(|rest| rest.split(['}', ':']).next().unwrap_or_default());
                found.extend(named.filter(|name| syn::parse_str::<syn::Ident>(name).is_ok()).map(str::to_owned));
            }
            TokenTree::Punct(_) => {}
        }
    }
}

/// The first names of all paths: `serde_json` of `serde_json::to_string`, `tokio` of `use tokio as t`.
pub(crate) fn path_heads(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_heads(tokens, false, &mut found);
    found
}

/// `is_use`: right after the word `use`, or in the brackets that follow it, a name alone is a path too.
fn collect_heads(tokens: TokenStream, is_use: bool, found: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    let is_pair = |at: usize| is_colon(at) && is_colon(at + 1);
    let mut in_use = is_use;
    for (at, token) in tokens.iter().enumerate() {
        // `a::b`: `b` is no head. `::a` is one.
        let is_inner = at >= 3 && is_pair(at - 2) && matches!(tokens.get(at - 3), Some(TokenTree::Ident(_)));
        match token {
            TokenTree::Ident(name) if name == "use" => in_use = true,
            TokenTree::Ident(name) => {
                if !is_inner && (in_use || is_pair(at + 1)) {
                    found.insert(name.to_string().trim_start_matches("r#").to_owned());
                }
            }
            TokenTree::Group(group) => {
                let is_tree = in_use && group.delimiter() == Delimiter::Brace && !(at >= 2 && is_pair(at - 2));
                collect_heads(group.stream(), is_tree, found);
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => in_use = is_use,
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// What follows `root` in paths: `fs` of `std::fs::read` and of `use std::{fs, io}`.
pub(crate) fn paths_below(root: &str, tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == root && is_colon(at + 1) && is_colon(at + 2) => {
                match tokens.get(at + 3) {
                    Some(TokenTree::Ident(next)) => drop(found.insert(next.to_string())),
                    Some(TokenTree::Group(group)) => found.append(&mut path_heads_of_use(group.stream())),
                    _ => {}
                }
            }
            TokenTree::Group(group) => found.append(&mut paths_below(root, group.stream())),
            _ => {}
        }
    }
    found
}

fn path_heads_of_use(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_heads(tokens, true, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &str) -> Vec<String> {
        path_heads(text.parse().unwrap()).into_iter().collect()
    }

    #[test]
    fn the_head_of_a_path_is_its_first_name() {
        assert_eq!(heads("use serde::de::Error; fn f() { toml::from_str(x) }"), ["serde", "toml"]);
        assert_eq!(heads("use {camino::Utf8Path, tokio}; let jiff = 1;"), ["camino", "tokio"]);
        assert_eq!(heads("use std::{fs, io}; ::libc::getpid()"), ["libc", "std"]);
        assert_eq!(heads("#[derive(serde::Serialize)] struct S { toml: String }"), ["serde"]);
    }

    #[test]
    fn what_is_used_of_one_crate_is_found_in_paths_and_trees() {
        let found =
            paths_below("std", "use std::{fs, io::Read}; fn f() { std::env::var(x); my::fs() }".parse().unwrap());
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["env", "fs", "io"]);
    }

    #[test]
    fn names_are_found_in_the_texts_that_format() {
        let found = names("println!(\"{MOST} and {width:>3} {{not}}\")".parse().unwrap());
        assert!(found.contains("MOST") && found.contains("width") && found.contains("println"), "{found:?}");
    }

    #[test]
    fn what_is_below_cfg_test_is_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("lib.rs");
        let text = "mod a; #[cfg(test)] mod tests; mod inner { #[cfg(test)] mod b {} fn kept() {} } \
                    struct S; impl S { #[cfg(test)] fn for_tests() {} fn kept() {} }";
        std::fs::write(&root, text).unwrap();
        std::fs::write(folder.path().join("a.rs"), "fn product() {}").unwrap();
        std::fs::write(folder.path().join("tests.rs"), "fn test() {}").unwrap();
        let mut read = Vec::new();
        follow(&root, &ModuleFolder::of_root(&root), Part::Library, &mut read).unwrap();
        let of = |wanted: Part| {
            let mut found = BTreeSet::new();
            read.iter().filter(|s| s.part == wanted).for_each(|s| collect_names(s.tokens(), &mut found));
            found
        };
        let (product, tests) = (of(Part::Library), of(Part::Test));
        assert!(product.contains("product") && product.contains("kept") && !product.contains("for_tests"));
        assert!(tests.contains("test") && tests.contains("for_tests") && tests.contains("b"));
        assert!(!tests.contains("kept") && !tests.contains("product"));
    }
}
