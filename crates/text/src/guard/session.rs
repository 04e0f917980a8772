//! Beginning of a session, and what it owes.

use crate::Lang;
use crate::lang::say;

pub fn must_read(lang: Lang, files: &[&str]) -> String {
    let files = files.join(", ");
    say!(
        lang,
        "read these files first: {files}. Until then only reading, searching and read-only git commands are allowed",
        "先に次のファイルを読んでください: {files}。それまでは読み取り、検索、読み取り専用の git コマンドだけを使えます"
    )
}

/// The core of what holds in a session.
pub fn begins(lang: Lang, files: &[&str], wants_consent: bool) -> String {
    let mut text = String::new();
    if !files.is_empty() {
        text.push_str(&must_read(lang, files));
        text.push('\n');
    }
    text.push_str(&say!(
        lang,
        "Follow state.md and its active playbook. Do not declare your own work done. If something is blocked, the message gives the reason and what to do instead: follow it.",
        "state.md と有効な playbook に従ってください。自分の作業を自分で完了と判定しないでください。ブロックされた場合は、示された理由と対処方法に従ってください。"
    ));
    if wants_consent {
        text.push('\n');
        text.push_str(&consent(lang));
    }
    text.push('\n');
    text.push_str(&say!(
        lang,
        "[Self-statement] Start by stating: the request, the active playbook and phase, the branch, and your first step.",
        "[自認] 最初に述べること: 依頼の内容、有効な playbook とフェーズ、ブランチ、最初に行うこと。"
    ));
    text
}

pub fn consent(lang: Lang) -> String {
    say!(
        lang,
        "[Understanding check] Before the first change, describe what you understood (why, what, who, where, when, how) and ask the user to confirm: they answer `ok` here or run `dandori consent` in their own terminal.",
        "[理解確認] 最初の変更の前に、理解した内容 (5W1H) を示してユーザーに確認を求めてください。ユーザーはここで「はい」と答えるか、自分の端末で `dandori consent` を実行します。"
    )
}

/// Guards that were ended before they answered.
pub fn killed(lang: Lang, count: usize, what: &str) -> String {
    say!(
        lang,
        "no verdict for {count} action(s) because the guard was killed ({what}): those actions may have run unchecked. Only the user may stop guards; find out what killed them, and tell the user",
        "ガードが強制終了されたため、{count} 件の判定がありません ({what})。対象の操作は確認なしに実行された可能性があります。ガードを終了できるのはユーザーだけです。原因を調べ、ユーザーに伝えてください"
    )
}

/// Tools that ran without a guard having been asked.
pub fn never_asked(lang: Lang, what: &str) -> String {
    say!(
        lang,
        "a tool ran without being checked by the guards ({what}). Tell the user what it did",
        "ガードの確認を受けずにツールが実行されました ({what})。何をしたかをユーザーに伝えてください"
    )
}
