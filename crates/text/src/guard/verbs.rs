//! What `dandori guard` and `dandori consent` print.

use crate::lang::say;
use crate::{Lang, Said};

/// Headings of an explanation.
#[derive(Clone, Copy)]
pub enum Part {
    Commands,
    Writes,
    Reads,
    Scripts,
    Remote,
    Opaque,
    Guards,
}

pub fn part(lang: Lang, part: Part) -> &'static str {
    match (lang, part) {
        (Lang::En, Part::Commands) => "Commands",
        (Lang::Ja, Part::Commands) => "実行されるコマンド",
        (Lang::En, Part::Writes) => "Files it would write",
        (Lang::Ja, Part::Writes) => "書き込まれるファイル",
        (Lang::En, Part::Reads) => "Files it would read",
        (Lang::Ja, Part::Reads) => "読み取られるファイル",
        (Lang::En, Part::Scripts) => "Scripts it would run",
        (Lang::Ja, Part::Scripts) => "実行されるスクリプト",
        (Lang::En, Part::Remote) => "Elsewhere (another machine or container)",
        (Lang::Ja, Part::Remote) => "別のマシンやコンテナで実行されるもの",
        (Lang::En, Part::Opaque) => "Cannot be seen through",
        (Lang::Ja, Part::Opaque) => "内容を読み取れない部分",
        (Lang::En, Part::Guards) => "Guards",
        (Lang::Ja, Part::Guards) => "ガード",
    }
}

/// What became of a guard's question, in a word.
pub fn outcome(lang: Lang, outcome: &str) -> &'static str {
    match (lang, outcome) {
        (Lang::En, "info") => "info",
        (Lang::En, "warn") => "warns",
        (Lang::En, "ask") => "asks",
        (Lang::En, "block") => "blocks",
        (Lang::En, "excepted") => "excepted",
        (Lang::En, "error") => "failed",
        (Lang::En, _) => "passes",
        (Lang::Ja, "info") => "情報",
        (Lang::Ja, "warn") => "警告",
        (Lang::Ja, "ask") => "確認",
        (Lang::Ja, "block") => "拒否",
        (Lang::Ja, "excepted") => "例外許可",
        (Lang::Ja, "error") => "エラー",
        (Lang::Ja, _) => "通過",
    }
}

pub fn would_go(lang: Lang) -> String {
    say!(lang, "It would go on.", "実行されます。")
}

pub fn would_ask(lang: Lang, guard: &str) -> String {
    say!(
        lang,
        "{guard} would ask the user; where nobody can be asked it is refused.",
        "{guard} がユーザーに確認します。確認できない場合は拒否されます。"
    )
}

pub fn would_block(lang: Lang, guard: &str) -> String {
    say!(lang, "{guard} would refuse it.", "{guard} が拒否します。")
}

/// How a file is written, by the name it has in `--json`.
pub fn written(lang: Lang, how: &str) -> &'static str {
    let (en, ja) = match how {
        "redirect" => ("by a redirection", "リダイレクト"),
        "tee" => ("by tee", "tee"),
        "inplace" => ("changed in place", "その場で書き換え"),
        "copied" => ("copied or moved there", "コピー・移動先"),
        "movedaway" => ("moved away", "移動元"),
        "removed" => ("removed", "削除"),
        "truncated" => ("emptied", "切り詰め"),
        "output" => ("as output", "出力先"),
        "patched" => ("by a patch", "パッチ"),
        "restored" => ("by git", "git による復元"),
        "made" => ("made", "作成"),
        "mode" => ("mode or owner", "権限・所有者"),
        "extracted" => ("from an archive", "アーカイブの展開先"),
        _ => ("by other code", "他言語のコード"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub fn reached(lang: Lang, how: &str) -> String {
    say!(lang, "by {how}", "{how} 経由")
}

/// How long an exception holds.
pub fn until(lang: Lang, time: &str, uses: Option<u32>) -> String {
    match uses {
        Some(1) => say!(lang, "until {time}, once", "期限 {time}、1 回まで"),
        Some(uses) => say!(lang, "until {time}, {uses} times at most", "期限 {time}、{uses} 回まで"),
        None => say!(lang, "until {time}", "期限 {time}"),
    }
}

pub fn allowed(lang: Lang, guard: &str, about: &str, until: &str, id: &str) -> String {
    say!(
        lang,
        "{guard} is excepted for {about} {until} (take it back: dandori guard revoke {id})",
        "{guard} の例外を許可しました: {about}、{until} (取り消し: dandori guard revoke {id})"
    )
}

/// One that was given before.
pub fn exception(lang: Lang, guard: &str, about: &str, until: &str, id: &str) -> String {
    match lang {
        Lang::En => allowed(lang, guard, about, until, id),
        Lang::Ja => format!("{guard} の例外: {about} ({until}、取り消し: dandori guard revoke {id})"),
    }
}

pub fn about_all(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "everything",
        Lang::Ja => "すべて",
    }
}

pub fn revoked(lang: Lang, id: &str) -> String {
    say!(lang, "the exception {id} is taken back", "例外 {id} を取り消しました")
}

pub fn confirm(lang: Lang, what: &str) -> String {
    say!(lang, "{what} — type yes to confirm: ", "{what} — 続けるには yes と入力してください: ")
}

pub fn allow_what(lang: Lang, guard: &str, about: &str, uses: Option<u32>) -> String {
    let times = match uses {
        Some(1) => say!(lang, ", once", "、1 回まで"),
        Some(uses) => say!(lang, ", {uses} times at most", "、{uses} 回まで"),
        None => String::new(),
    };
    say!(
        lang,
        "Agents may then do what {guard} holds back ({about}{times})",
        "エージェントは {guard} が止めている操作を実行できるようになります ({about}{times})"
    )
}

pub fn not_confirmed(lang: Lang) -> Said {
    Said::what(say!(lang, "not confirmed: nothing was changed", "確認されなかったため、何も変更していません"))
        .hint(say!(lang, "type yes when asked", "確認時に yes と入力してください"))
}

/// A verb that is for people was called by an agent, or by nobody who could be asked.
pub fn not_a_person(lang: Lang, why: &str) -> Said {
    Said::what(say!(lang, "this is for a person at a terminal", "この操作は端末の前にいる人だけが実行できます"))
        .why(why)
        .hint(say!(
            lang,
            "run it yourself, in a terminal that no agent has opened",
            "エージェントが開いたものではない端末で、自分で実行してください"
        ))
}

pub fn inside_agent(lang: Lang, agent: &str) -> String {
    say!(lang, "it was called from within {agent}", "{agent} の中から呼び出されています")
}

pub fn no_terminal(lang: Lang) -> String {
    say!(lang, "there is no terminal to ask at", "確認するための端末がありません")
}

pub fn consented(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "confirmed: {count} waiting session(s) may now make changes",
        "確認しました。待機中のセッション {count} 件で変更できるようになりました"
    )
}

pub fn nothing_to_consent(lang: Lang) -> String {
    say!(lang, "no session of this checkout waits for a confirmation", "確認を待っているセッションはありません")
}

pub fn no_such_guard(lang: Lang, name: &str, known: &str) -> Said {
    Said::what(say!(lang, "there is no guard `{name}`", "ガード `{name}` はありません")).why(known).hint(say!(
        lang,
        "dandori guard list",
        "dandori guard list"
    ))
}

pub fn never_excepted(lang: Lang, name: &str) -> Said {
    let said = Said::what(say!(lang, "{name} knows no exceptions", "{name} に例外は設定できません"));
    if name == "consent" {
        return said.hint(say!(
            lang,
            "`dandori consent` confirms what the agent understood, and lets it go on",
            "`dandori consent` で理解を確認すると、作業を続けられます"
        ));
    }
    said.hint(say!(
        lang,
        "set its level in the user's config.toml, or do it yourself",
        "ユーザーの config.toml でレベルを変更するか、自分で操作してください"
    ))
}

pub fn bad_lasts(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "{text:?} is not a length of time", "{text:?} は期間として読めません")).hint(say!(
        lang,
        "write a number above 0 and s, m or h: 90s, 30m, 8h",
        "0 より大きい数字に s、m、h のいずれかを付けてください (例: 90s、30m、8h)"
    ))
}

pub fn bad_pattern(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "{text:?} is not a pattern", "{text:?} はパターンとして読めません"))
        .why(say!(lang, "a bracket is not closed, or it is empty", "括弧が閉じていないか、空です"))
        .hint(say!(
            lang,
            "give a glob from the repository's root: --path 'docs/**'",
            "リポジトリのルートからの glob を指定してください (例: --path 'docs/**')"
        ))
}

pub fn empty_command(lang: Lang) -> Said {
    Said::what(say!(lang, "no command is named", "コマンドが空です")).hint(say!(
        lang,
        "give its words: --command 'git push *'",
        "単語を並べて指定してください (例: --command 'git push *')"
    ))
}

/// Two guards judge by what a session has done before.
pub fn by_session(lang: Lang, guards: &str) -> String {
    say!(
        lang,
        "{guards}: judged as for a session that has read what it must and was confirmed; a new one may be refused",
        "{guards}: 必読ファイルを読み、確認も済んだセッションとしての判定です。新しいセッションでは拒否されることがあります"
    )
}

pub fn no_such_exception(lang: Lang, id: &str) -> Said {
    Said::what(say!(lang, "there is no exception {id}", "例外 {id} はありません")).hint(say!(
        lang,
        "dandori guard list shows those in force",
        "dandori guard list で有効な例外を確認できます"
    ))
}

pub fn too_long(lang: Lang) -> Said {
    Said::what(say!(lang, "an exception lasts at most 24 hours", "例外の期限は最長 24 時間です")).hint(say!(
        lang,
        "--for 30m, --for 8h",
        "--for 30m や --for 8h のように指定してください"
    ))
}

pub fn bad_event(lang: Lang, why: &str) -> Said {
    Said::what(say!(lang, "this is no hook event", "フックのイベントとして読み取れません")).why(why).hint(say!(
        lang,
        "give the JSON a client sends on stdin, as a file or with -",
        "クライアントが標準入力に渡す JSON をファイルまたは - で指定してください"
    ))
}

pub fn consent_what(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "The plan is understood as you want it, and {count} waiting session(s) may make changes",
        "内容の理解を確認し、待機中のセッション {count} 件に変更を許可します"
    )
}
