//! What a library offers, and what each offer names in its signature.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quote::ToTokens;
use syn::{ImplItem, Item, UseTree, Visibility};

use crate::sources::{self, Source};

pub(crate) struct Export {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) line: usize,
    /// Can be in a signature of another.
    pub(crate) is_type: bool,
    /// Something of its own: not another name, and not what an `impl` says of a type.
    pub(crate) is_item: bool,
    pub(crate) signature: BTreeSet<String>,
}

pub(crate) fn of(source: &Source) -> Vec<Export> {
    let mut found = Finder { source, exports: Vec::new() };
    found.items(&source.items);
    found.exports
}

struct Finder<'s> {
    source: &'s Source,
    exports: Vec<Export>,
}

impl Finder<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Mod(item) => self.items(item.content.as_ref().map_or(&[], |(_, items)| items)),
            Item::Fn(item) if is_pub(&item.vis) => self.add(&item.sig.ident, false, names(&item.sig)),
            Item::Const(item) if is_pub(&item.vis) => self.add(&item.ident, false, names(&item.ty)),
            Item::Static(item) if is_pub(&item.vis) => self.add(&item.ident, false, names(&item.ty)),
            Item::Type(item) if is_pub(&item.vis) => self.add(&item.ident, true, names(item)),
            Item::Enum(item) if is_pub(&item.vis) => self.add(&item.ident, true, names(item)),
            Item::Trait(item) if is_pub(&item.vis) => self.add(&item.ident, true, names(item)),
            Item::Struct(item) if is_pub(&item.vis) => {
                let mut named = names(&item.generics);
                let fields = item.fields.iter().filter(|field| is_pub(&field.vis));
                named.extend(fields.flat_map(|field| names(&field.ty)));
                self.add(&item.ident, true, named);
            }
            Item::Impl(item) => self.block(item),
            Item::Use(item) if is_pub(&item.vis) => self.renames(&item.tree),
            _ => {}
        }
    }

    fn block(&mut self, block: &syn::ItemImpl) {
        if let Some((_, path, _)) = &block.trait_ {
            // What a type is said to be, and what comes with it, is part of what the type offers.
            let mut named = names(path);
            named.extend(names(&block.generics));
            for item in &block.items {
                if let ImplItem::Type(item) = item {
                    named.extend(names(&item.ty));
                }
            }
            let syn::Type::Path(own) = block.self_ty.as_ref() else { return };
            let Some(own) = own.path.segments.last() else { return };
            self.push(&own.ident, true, false, named);
            return;
        }
        for item in &block.items {
            match item {
                ImplItem::Fn(item) if is_pub(&item.vis) => self.add(&item.sig.ident, false, names(&item.sig)),
                ImplItem::Const(item) if is_pub(&item.vis) => self.add(&item.ident, false, names(&item.ty)),
                _ => {}
            }
        }
    }

    /// `pub use a::Inner as Outer`: who names `Outer` names `Inner`.
    fn renames(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.renames(&path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.renames(tree)),
            UseTree::Rename(rename) => {
                self.push(&rename.rename, true, false, BTreeSet::from([rename.ident.to_string()]));
            }
            UseTree::Name(_) | UseTree::Glob(_) => {}
        }
    }

    fn add(&mut self, name: &syn::Ident, is_type: bool, signature: BTreeSet<String>) {
        self.push(name, is_type, true, signature);
    }

    fn push(&mut self, name: &syn::Ident, is_type: bool, is_item: bool, signature: BTreeSet<String>) {
        let line = name.span().start().line;
        let path = self.source.path.clone();
        self.exports.push(Export { name: name.to_string(), path, line, is_type, is_item, signature });
    }
}

/// Names in macros: what they are written out as, here or elsewhere, may offer them.
pub(crate) fn names_in_macros(items: &[Item]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for item in items {
        match item {
            Item::Mod(item) => {
                found.append(&mut names_in_macros(item.content.as_ref().map_or(&[], |(_, items)| items)));
            }
            Item::Macro(item) if item.mac.path.is_ident("macro_rules") => {
                sources::collect_names(item.mac.tokens.clone(), &mut found);
            }
            _ => {}
        }
    }
    found
}

fn is_pub(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn names(tokens: &impl ToTokens) -> BTreeSet<String> {
    sources::names(tokens.to_token_stream())
}
