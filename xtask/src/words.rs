//! `cargo xtask words`: phrases that nobody would say do not come back into what users read.
//!
//! Read are the sentences of `crates/text`, the help at the command line's definition, and the documents. The list is short
//! on purpose: it names what has been said before and cured, with what to say instead.

use std::fs;
use std::path::{Path, PathBuf};

use quote::ToTokens;
use syn::{Attribute, Expr, Fields, Item, Lit, Meta};

use crate::workspace::{Metadata, kept_files};

/// Said once, and what to say instead. Matched as whole words, in any case.
const ENGLISH: &[(&str, &str)] = &[
    ("is no value", "invalid value"),
    ("waiting for a place", "queued"),
    ("goes on", "continues, is still running"),
    ("going on", "continuing"),
    ("of which", "say it in a sentence of its own"),
    ("whoever", "anyone who, the user"),
    ("is to be", "should be, must be"),
    ("are to be", "should be, must be"),
    ("there is none", "not found, none"),
    ("what comes out", "the result"),
    ("came of it", "the result"),
    ("all the same", "anyway"),
    ("without a word", "silently"),
    ("may not do", "must not do, is not allowed to do"),
    ("in vain", "without success"),
    ("tells whether", "shows whether"),
    ("tell whether", "show whether"),
    ("brings it back", "restores it"),
    ("brings back", "restores"),
    ("taken up again", "taken over"),
    ("wind up", "close"),
    ("wound up", "closed"),
    ("behind the fence", "in the sandbox"),
    ("set-up", "setup"),
    ("mend", "fix"),
    ("begun", "started"),
    ("anew", "again"),
    ("cannot be seen through", "cannot be analyzed"),
    ("as it stands", "in its current form"),
    ("puts it away", "archives it"),
];

/// The same in Japanese, matched where no further katakana stands beside it.
const JAPANESE: &[(&str, &str)] = &[
    ("ラン", "実行"),
    ("準備コマンド", "セットアップコマンド"),
    ("衝突", "コンフリクト"),
    ("先を越され", "リモートが更新されていた"),
    ("端末の前にいる人", "対話端末でのみ"),
    ("後処理", "終了処理"),
    ("名指し", "明示"),
    ("飛ばされ", "省略され"),
    ("お知らせ", "表示"),
];

pub(crate) fn check() -> Result<(), String> {
    let metadata = Metadata::load()?;
    let top = &metadata.workspace_root;
    let mut wrong = Vec::new();
    for file in kept_files(top)? {
        let path = Path::new(&file);
        let is = |end: &str| path.extension().is_some_and(|e| e == end);
        let said = if file.starts_with("crates/text/src/") && is("rs") && !file.ends_with("tests.rs") {
            literals(&parsed(&top.join(path))?)
        } else if file.starts_with("crates/dandori/src/") && is("rs") && !file.ends_with("tests.rs") {
            helps(&parsed(&top.join(path))?)
        } else if is("md") && !file.contains("/tests/") {
            prose(&fs::read_to_string(top.join(path)).map_err(|e| format!("{file}: {e}"))?)
        } else {
            continue;
        };
        for (line, text) in said {
            let found = banned(&text).into_iter();
            wrong.extend(found.map(|(phrase, better)| format!("{file}:{line}: `{phrase}`; say: {better}")));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("not plain words\n{}", wrong.join("\n"))) }
}

fn parsed(path: &PathBuf) -> Result<syn::File, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    syn::parse_file(&text).map_err(|e| format!("{}: {e}", path.display()))
}

/// Every string of a file, its tests left out, with its line.
fn literals(file: &syn::File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let kept = file.items.iter().filter(|item| !is_test(item));
    kept.for_each(|item| strings_of(without_docs(item.to_token_stream()), &mut found));
    found
}

/// Comments are attributes to the parser: they are not for users.
fn without_docs(tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    let mut kept: Vec<proc_macro2::TokenTree> = Vec::new();
    for token in tokens {
        let is_doc = matches!(&token, proc_macro2::TokenTree::Group(group)
            if group.delimiter() == proc_macro2::Delimiter::Bracket && group.stream().to_string().starts_with("doc"));
        if is_doc && kept.last().is_some_and(|before| before.to_string() == "#") {
            kept.pop();
            continue;
        }
        kept.push(token);
    }
    kept.into_iter().collect()
}

fn strings_of(tokens: proc_macro2::TokenStream, found: &mut Vec<(usize, String)>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => strings_of(without_docs(group.stream()), found),
            proc_macro2::TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                if let Ok(Lit::Str(text)) = syn::parse_str::<Lit>(&literal.to_string()) {
                    found.push((line, text.value()));
                }
            }
            _ => {}
        }
    }
}

fn is_test(item: &Item) -> bool {
    matches!(item, Item::Mod(module) if module.attrs.iter().any(|a| a.to_token_stream().to_string().contains("test")))
}

/// The help that stands at the definition of the command line.
fn helps(file: &syn::File) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for item in &file.items {
        match item {
            Item::Struct(args) if is_command_line(&args.attrs) => {
                if let Fields::Named(fields) = &args.fields {
                    fields.named.iter().for_each(|field| docs(&field.attrs, &mut found));
                }
            }
            Item::Enum(verbs) if is_command_line(&verbs.attrs) => {
                verbs.variants.iter().for_each(|verb| docs(&verb.attrs, &mut found));
            }
            _ => {}
        }
    }
    found
}

fn is_command_line(attrs: &[Attribute]) -> bool {
    attrs.iter().filter(|a| a.path().is_ident("derive")).any(|derive| {
        let derived = derive.to_token_stream().to_string();
        ["Args", "Subcommand", "Parser"].iter().any(|one| derived.contains(one))
    })
}

fn docs(attrs: &[Attribute], found: &mut Vec<(usize, String)>) {
    for attr in attrs.iter().filter(|a| a.path().is_ident("doc")) {
        if let Meta::NameValue(doc) = &attr.meta
            && let Expr::Lit(text) = &doc.value
            && let Lit::Str(text) = &text.lit
        {
            found.push((text.span().start().line, text.value()));
        }
    }
}

/// The lines of a document that are not code.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut in_code = false;
    let mut said = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            said.push((at + 1, line.to_owned()));
        }
    }
    said
}

/// What is said in it that should be said otherwise. Commands and names in backquotes are what they are.
fn banned(text: &str) -> Vec<(&'static str, &'static str)> {
    let said: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let english = ENGLISH.iter().filter(|(phrase, _)| has(&said, phrase, char::is_alphanumeric));
    let japanese = JAPANESE.iter().filter(|(phrase, _)| has(&said, phrase, is_katakana));
    english.chain(japanese).copied().collect()
}

fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a1}'..='\u{30fa}' | 'ー')
}

/// Whether it stands there without such a character right before or behind it.
fn has(text: &str, phrase: &str, joins: impl Fn(char) -> bool) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let behind = text.get(at + phrase.len()..).and_then(|t| t.chars().next());
        let outer = |c: char| joins(c) || c == '-';
        !before.is_some_and(&outer) && !behind.is_some_and(&outer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_found_and_what_only_looks_like_it_is_not() {
        assert_eq!(banned("T-3 goes on"), [("goes on", "continues, is still running")]);
        assert_eq!(banned("Goes on."), [("goes on", "continues, is still running")]);
        assert_eq!(banned("ランの一覧"), [("ラン", "実行")]);
        for fine in ["egoes one", "ブランチ", "トランザクション", "see `goes on`", "recommend", "実行中"]
        {
            assert_eq!(banned(fine), [], "{fine}");
        }
    }

    #[test]
    fn strings_are_read_and_comments_and_tests_are_not() {
        let file = syn::parse_file(
            "/// whoever\nfn a() { // whoever\n say!(lang, \"x \\\n whoever\") }\n#[cfg(test)] mod tests { const A: &str = \"whoever\"; }",
        );
        assert_eq!(literals(&file.unwrap()), [(3, "x whoever".to_owned())]);
    }

    #[test]
    fn help_is_read_at_arguments_and_verbs_alone() {
        let source =
            "/// whoever\n#[derive(Args)]\nstruct A {\n /// help\n a: bool }\n/// no\nstruct B { /// no\n b: bool }";
        assert_eq!(helps(&syn::parse_file(source).unwrap()), [(4, " help".to_owned())]);
    }

    #[test]
    fn code_in_a_document_is_not_prose() {
        assert_eq!(prose("a\n```sh\nb\n```\nc"), [(1, "a".to_owned()), (5, "c".to_owned())]);
    }
}
