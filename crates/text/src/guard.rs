//! What the guards say: to the model first, so short, and always with the way out.

pub mod branch;
pub mod control;
pub mod edit;
pub mod lifecycle;
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

pub fn unreadable(lang: Lang, path: &str, reason: &str) -> String {
    say!(lang, "{path} cannot be read: {reason}", "{path} を読み取れません: {reason}")
}

/// Why a file cannot be read.
pub fn io_reason(lang: Lang, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => say!(lang, "permission denied", "権限がありません"),
        std::io::ErrorKind::IsADirectory => say!(lang, "it is a folder, not a file", "ファイルではなくフォルダーです"),
        std::io::ErrorKind::Unsupported => say!(lang, "it is not a file", "通常のファイルではありません"),
        _ => error.to_string(),
    }
}

pub fn timed_out(lang: Lang, what: &str, seconds: u64) -> String {
    say!(lang, "{what} did not end within {seconds} s", "{what} が {seconds} 秒以内に終わりませんでした")
}

pub fn not_started(lang: Lang, what: &str, reason: &str) -> String {
    say!(lang, "{what} could not be started: {reason}", "{what} を起動できませんでした: {reason}")
}

/// Why the guards could not be asked at all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unjudged {
    TooLarge,
    /// In the parser's words.
    NotJson(String),
    /// Stdin failed.
    Unread(String),
    TookTooLong,
    Panicked,
    NoHome,
    RunRules(String),
}

pub fn unjudged(lang: Lang, why: &Unjudged) -> String {
    let why = match why {
        Unjudged::TooLarge => say!(
            lang,
            "the event is too large to read. Do it in smaller pieces",
            "イベントが大きすぎて読み取れません。小さく分けて実行してください"
        ),
        Unjudged::NotJson(why) => say!(
            lang,
            "the event on stdin is not JSON ({why}). Try again",
            "標準入力のイベントが JSON として読み取れません ({why})。もう一度実行してください"
        ),
        Unjudged::Unread(why) => say!(lang, "stdin cannot be read: {why}", "標準入力を読み取れません: {why}"),
        Unjudged::TookTooLong => say!(
            lang,
            "it took too long. Try again; `dandori guard stats` shows which guard is slow",
            "時間内に終わりませんでした。もう一度実行してください。遅いガードは `dandori guard stats` で分かります"
        ),
        Unjudged::Panicked => panicked(lang),
        Unjudged::NoHome => say!(
            lang,
            "there is no state folder. Ask the user to set HOME",
            "状態フォルダーがありません。HOME の設定をユーザーに依頼してください"
        ),
        Unjudged::RunRules(why) => {
            say!(lang, "the run's rules cannot be read: {why}", "この実行のルールを読み取れません: {why}")
        }
    };
    say!(lang, "not judged: {why}", "判定できませんでした: {why}")
}

pub fn own_rule(lang: Lang, name: &str) -> String {
    say!(lang, "refused by the rule `{name}` of this project", "このプロジェクトのルール `{name}` により拒否されました")
}
