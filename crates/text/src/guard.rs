//! What the guards say: to the model first, so short, and always with the way out.

pub mod branch;
pub mod control;
pub mod edit;
pub mod prompt;
pub mod session;
pub mod verbs;

use crate::Lang;
use crate::lang::say;

pub mod bash;
pub mod forge;

pub fn panicked(lang: Lang) -> String {
    say!(lang, "the guard failed (a fault of dandori's own)", "ガードの内部エラーです (dandori の不具合)")
}

/// A guard could not do its work.
pub fn failed(lang: Lang, why: &str, refused: bool) -> String {
    if refused {
        say!(
            lang,
            "could not be checked, so it is refused: {why}. Ask the user to look at it (`dandori doctor`)",
            "確認できなかったため拒否しました: {why}。ユーザーに確認を依頼してください (`dandori doctor`)"
        )
    } else {
        say!(lang, "not checked: {why}", "確認できませんでした: {why}")
    }
}

pub fn own_rule(lang: Lang, name: &str) -> String {
    say!(lang, "refused by the rule `{name}` of this project", "このプロジェクトのルール `{name}` により拒否されました")
}
