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
    say!(lang, "the guard failed (internal error in dandori)", "ガードが失敗しました (dandori の内部エラー)")
}

/// A guard could not do its work.
pub fn failed(lang: Lang, why: &str, refused: bool) -> String {
    if refused {
        say!(
            lang,
            "could not be checked and was therefore blocked: {why}. Ask the user to look into it (`dandori doctor`)",
            "確認できなかったためブロックしました: {why}。ユーザーに調査を依頼してください (`dandori doctor`)"
        )
    } else {
        say!(lang, "not checked: {why}", "確認できませんでした: {why}")
    }
}

pub fn unreadable(lang: Lang, path: &str, reason: &str) -> String {
    say!(lang, "cannot read {path}: {reason}", "{path} を読み取れません: {reason}")
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
    say!(lang, "{what} did not finish within {seconds} s", "{what} が {seconds} 秒以内に完了しませんでした")
}

pub fn not_started(lang: Lang, what: &str, reason: &str) -> String {
    say!(lang, "cannot start {what}: {reason}", "{what} を起動できませんでした: {reason}")
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

/// Why a prompt that dandori has typed into a terminal is not let through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undelivered {
    /// The client has had it, or it was given up.
    Before,
    /// Not as it was typed.
    Damaged,
    NotTaken(String),
}

pub fn undelivered(lang: Lang, why: &Undelivered) -> String {
    match why {
        Undelivered::Before => say!(
            lang,
            "this message was already delivered or cancelled, so it is not sent again",
            "このメッセージは配信済みか取り消し済みのため、もう一度は送信しません"
        ),
        Undelivered::Damaged => say!(
            lang,
            "this message from dandori was changed while it was typed, so it is not sent. dandori types it again",
            "dandori からのメッセージが入力中に変わったため、送信しません。dandori がもう一度入力します"
        ),
        Undelivered::NotTaken(why) => say!(
            lang,
            "cannot record that this message is delivered, so it is not sent: {why}",
            "このメッセージの配信を記録できないため、送信しません: {why}"
        ),
    }
}

pub fn unjudged(lang: Lang, why: &Unjudged) -> String {
    let why = match why {
        Unjudged::TooLarge => say!(
            lang,
            "the event is too large to check. Split the action into smaller steps",
            "イベントが大きすぎて確認できません。操作を小さく分けてください"
        ),
        Unjudged::NotJson(why) => say!(
            lang,
            "the event on stdin is not valid JSON ({why}). Try again",
            "標準入力のイベントが正しい JSON ではありません ({why})。もう一度実行してください"
        ),
        Unjudged::Unread(why) => say!(lang, "cannot read stdin: {why}", "標準入力を読み取れません: {why}"),
        Unjudged::TookTooLong => say!(
            lang,
            "the check timed out. Try again; `dandori guard stats` shows which guard is slow",
            "確認がタイムアウトしました。もう一度実行してください。遅いガードは `dandori guard stats` で確認できます"
        ),
        Unjudged::Panicked => panicked(lang),
        Unjudged::NoHome => say!(
            lang,
            "no state folder. Ask the user to set HOME",
            "状態フォルダーがありません。HOME の設定をユーザーに依頼してください"
        ),
        Unjudged::RunRules(why) => {
            say!(lang, "cannot read the rules of the run: {why}", "この実行のルールを読み取れません: {why}")
        }
    };
    say!(lang, "not checked: {why}", "確認できませんでした: {why}")
}

pub fn own_rule(lang: Lang, name: &str) -> String {
    say!(lang, "blocked by this project's rule `{name}`", "このプロジェクトのルール `{name}` によりブロックしました")
}
