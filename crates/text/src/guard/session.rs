//! Beginning of a session, and what it owes.

use crate::Lang;
use crate::lang::say;

pub fn must_read(lang: Lang, files: &[&str]) -> String {
    let files = files.join(", ");
    say!(
        lang,
        "read these first: {files}. Until then only reading, searching and read-only git are open",
        "先に次のファイルを読んでください: {files}。それまでは読み取り、検索、読み取り専用の git のみ使えます"
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
        "Work goes by state.md and its active playbook; nobody calls their own work done; what is refused has a reason and a way out: follow it.",
        "作業は state.md と有効な playbook に従います。自分の作業を自分で完了と判定しません。拒否には理由と解決方法が示されるので、それに従ってください。"
    ));
    if wants_consent {
        text.push('\n');
        text.push_str(&consent(lang));
    }
    text.push('\n');
    text.push_str(&say!(
        lang,
        "[Self-statement] Begin with: what I am asked, the active playbook and phase, the branch, what I will do first.",
        "[自認] 最初に述べること: 依頼の内容、有効な playbook とフェーズ、ブランチ、最初に行うこと。"
    ));
    text
}

pub fn consent(lang: Lang) -> String {
    say!(
        lang,
        "[Understanding check] Before the first change say what you understood (why, what, who, where, when, how) and ask the user to confirm: they answer `ok` here or run `dandori consent` in their own terminal.",
        "[理解確認] 最初の変更の前に、理解した内容 (5W1H) を示してユーザーに確認を求めてください。ユーザーはここで「はい」と答えるか、自分の端末で `dandori consent` を実行します。"
    )
}

/// Guards that were ended before they answered.
pub fn killed(lang: Lang, count: usize, what: &str) -> String {
    say!(
        lang,
        "{count} of the guards' answers did not come because the guard was killed ({what}): what they were asked about may have gone on unjudged. Nobody but the user ends guards; find out what does, and tell the user",
        "ガードが強制終了されたため、{count} 件の判定が返りませんでした ({what})。対象の操作は判定されずに実行された可能性があります。ガードを終了できるのはユーザーだけです。原因を調べ、ユーザーに伝えてください"
    )
}

/// Tools that ran without a guard having been asked.
pub fn never_asked(lang: Lang, what: &str) -> String {
    say!(
        lang,
        "a tool ran without having been judged by the guards ({what}). Tell the user what it did",
        "ガードの判定を受けずにツールが実行されました ({what})。何をしたかをユーザーに伝えてください"
    )
}
