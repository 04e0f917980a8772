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
        (Lang::En, Part::Commands) => "Commands run",
        (Lang::Ja, Part::Commands) => "実行されるコマンド",
        (Lang::En, Part::Writes) => "Files written",
        (Lang::Ja, Part::Writes) => "書き込まれるファイル",
        (Lang::En, Part::Reads) => "Files read",
        (Lang::Ja, Part::Reads) => "読み取られるファイル",
        (Lang::En, Part::Scripts) => "Scripts run",
        (Lang::Ja, Part::Scripts) => "実行されるスクリプト",
        (Lang::En, Part::Remote) => "Run elsewhere (another machine or container)",
        (Lang::Ja, Part::Remote) => "別のマシンやコンテナで実行されるもの",
        (Lang::En, Part::Opaque) => "Not analyzable",
        (Lang::Ja, Part::Opaque) => "解析できない部分",
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
        (Lang::En, "excepted") => "exception",
        (Lang::En, "error") => "failed",
        (Lang::En, _) => "allows",
        (Lang::Ja, "info") => "情報",
        (Lang::Ja, "warn") => "警告",
        (Lang::Ja, "ask") => "確認",
        (Lang::Ja, "block") => "ブロック",
        (Lang::Ja, "excepted") => "例外",
        (Lang::Ja, "error") => "エラー",
        (Lang::Ja, _) => "許可",
    }
}

pub fn would_go(lang: Lang) -> String {
    say!(lang, "Allowed.", "実行できます。")
}

pub fn would_ask(lang: Lang, guard: &str) -> String {
    say!(
        lang,
        "{guard} asks the user; if nobody can be asked, it is blocked.",
        "{guard} がユーザーに確認します。確認できない場合はブロックされます。"
    )
}

pub fn would_block(lang: Lang, guard: &str) -> String {
    say!(lang, "{guard} blocks it.", "{guard} がブロックします。")
}

/// How a file is written, by the name it has in `--json`.
pub fn written(lang: Lang, how: &str) -> &'static str {
    let (en, ja) = match how {
        "redirect" => ("redirection", "リダイレクト"),
        "tee" => ("tee", "tee"),
        "inplace" => ("edited in place", "直接編集"),
        "copied" => ("copy or move target", "コピー・移動先"),
        "movedaway" => ("moved away", "移動元"),
        "removed" => ("removed", "削除"),
        "truncated" => ("truncated", "切り詰め"),
        "output" => ("output", "出力先"),
        "patched" => ("patch", "パッチ"),
        "restored" => ("restored by git", "git による復元"),
        "made" => ("created", "作成"),
        "mode" => ("mode or owner", "権限・所有者"),
        "extracted" => ("extracted from an archive", "アーカイブの展開先"),
        _ => ("code in another language", "他言語のコード"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub fn reached(lang: Lang, how: &str) -> String {
    say!(lang, "through {how}", "{how} 経由")
}

/// How long an exception holds.
pub fn until(lang: Lang, time: &str, uses: Option<u32>) -> String {
    match uses {
        Some(1) => say!(lang, "until {time}, once", "期限 {time}、1 回まで"),
        Some(uses) => say!(lang, "until {time}, at most {uses} times", "期限 {time}、{uses} 回まで"),
        None => say!(lang, "until {time}", "期限 {time}"),
    }
}

pub fn allowed(lang: Lang, guard: &str, about: &str, until: &str, id: &str) -> String {
    say!(
        lang,
        "{guard}: exception for {about}, {until}; revoke it with `dandori guard revoke {id}`",
        "{guard} の例外を許可しました: {about}、{until}。`dandori guard revoke {id}` で取り消せます"
    )
}

/// One that was given before.
pub fn exception(lang: Lang, guard: &str, about: &str, until: &str, id: &str) -> String {
    match lang {
        Lang::En => allowed(lang, guard, about, until, id),
        Lang::Ja => format!("{guard} の例外: {about}、{until}。`dandori guard revoke {id}` で取り消せます"),
    }
}

pub fn about_all(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "everything",
        Lang::Ja => "すべて",
    }
}

pub fn revoked(lang: Lang, id: &str) -> String {
    say!(lang, "revoked exception {id}", "例外 {id} を取り消しました")
}

pub fn confirm(lang: Lang, what: &str) -> String {
    say!(lang, "{what} — type yes to confirm: ", "{what} — 続けるには yes と入力してください: ")
}

pub fn yes_or_no(lang: Lang, question: &str) -> String {
    say!(lang, "{question} [y/N] ", "{question} [y/N] ")
}

pub fn not_asked(lang: Lang, question: &str, otherwise: &str) -> Said {
    Said::what(say!(
        lang,
        "this needs your confirmation, and there is no terminal to ask at",
        "確認が必要ですが、対話端末がありません"
    ))
    .why(question)
    .hint(say!(lang, "to confirm without being asked: `{otherwise}`", "確認なしで実行するには: `{otherwise}`"))
}

pub fn declined(lang: Lang, otherwise: &str) -> Said {
    Said::what(say!(lang, "canceled: nothing was changed", "中止しました。何も変更していません")).hint(say!(
        lang,
        "answer y to go ahead, or run `{otherwise}`",
        "実行するには y と答えるか、`{otherwise}` を実行してください"
    ))
}

pub fn allow_what(lang: Lang, guard: &str, about: &str, uses: Option<u32>) -> String {
    let times = match uses {
        Some(1) => say!(lang, ", once", "、1 回まで"),
        Some(uses) => say!(lang, ", at most {uses} times", "、{uses} 回まで"),
        None => String::new(),
    };
    say!(
        lang,
        "Agents will be able to do what {guard} blocks ({about}{times})",
        "エージェントは {guard} がブロックする操作を実行できるようになります ({about}{times})"
    )
}

pub fn not_confirmed(lang: Lang) -> Said {
    Said::what(say!(lang, "not confirmed; nothing was changed", "確認されなかったため、何も変更していません"))
        .hint(say!(lang, "type yes when asked", "確認には yes と入力してください"))
}

/// A verb that is for people was called by an agent, or by nobody who could be asked.
pub fn not_a_person(lang: Lang, why: &str) -> Said {
    Said::what(say!(lang, "this command needs an interactive terminal", "この操作は対話端末でのみ実行できます"))
        .why(why)
        .hint(say!(
            lang,
            "run it yourself, in a terminal that was not opened by an agent",
            "エージェントが開いたものではない端末で、自分で実行してください"
        ))
}

pub fn inside_agent(lang: Lang, agent: &str) -> String {
    say!(lang, "it was called from within {agent}", "{agent} の中から呼び出されています")
}

pub fn no_terminal(lang: Lang) -> String {
    say!(lang, "no terminal to ask at", "確認に使う端末がありません")
}

pub fn consented(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "confirmed: {count} waiting session(s) can now make changes",
        "確認しました。待機中のセッション {count} 件が変更できるようになりました"
    )
}

pub fn nothing_to_consent(lang: Lang) -> String {
    say!(
        lang,
        "no session in this checkout is waiting for confirmation",
        "このチェックアウトに確認待ちのセッションはありません"
    )
}

pub fn no_such_guard(lang: Lang, name: &str, known: &str) -> Said {
    Said::what(say!(lang, "unknown guard `{name}`", "ガード `{name}` はありません")).why(known).hint(say!(
        lang,
        "list the guards with `dandori guard list`",
        "一覧は `dandori guard list` で確認できます"
    ))
}

pub fn never_excepted(lang: Lang, name: &str) -> Said {
    let said = Said::what(say!(lang, "{name} does not support exceptions", "{name} には例外を設けられません"));
    if name == "consent" {
        return said.hint(say!(
            lang,
            "run `dandori consent` to confirm the agent's understanding and let it continue",
            "`dandori consent` でエージェントの理解を確認すると、作業を続けられます"
        ));
    }
    said.hint(say!(
        lang,
        "change its level in your config.toml, or do it yourself",
        "ユーザーの config.toml でレベルを変更するか、自分で操作してください"
    ))
}

pub fn bad_lasts(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "invalid duration `{text}`", "`{text}` は期間として解釈できません")).hint(say!(
        lang,
        "use a number above 0 with s, m or h: 90s, 30m, 8h",
        "0 より大きい数字に s、m、h のいずれかを付けてください (例: 90s、30m、8h)"
    ))
}

pub fn bad_pattern(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "invalid pattern `{text}`", "`{text}` はパターンとして解釈できません"))
        .why(say!(lang, "a bracket is not closed, or the pattern is empty", "括弧が閉じていないか、パターンが空です"))
        .hint(say!(
            lang,
            "use a glob relative to the repository root: --path 'docs/**'",
            "リポジトリのルートからの glob を指定してください (例: --path 'docs/**')"
        ))
}

pub fn empty_command(lang: Lang) -> Said {
    Said::what(say!(lang, "the command is empty", "コマンドが空です")).hint(say!(
        lang,
        "list its words: --command 'git push *'",
        "単語を並べて指定してください (例: --command 'git push *')"
    ))
}

/// Two guards judge by what a session has done before.
pub fn by_session(lang: Lang, guards: &str) -> String {
    say!(
        lang,
        "{guards}: decided as for a confirmed session that has read the required files; a new session may be blocked",
        "{guards}: 必読ファイルを読み、確認も済んだセッションとしての判定です。新しいセッションではブロックされることがあります"
    )
}

pub fn no_such_exception(lang: Lang, id: &str) -> Said {
    Said::what(say!(lang, "exception {id} not found", "例外 {id} が見つかりません")).hint(say!(
        lang,
        "list the active exceptions with `dandori guard list`",
        "有効な例外は `dandori guard list` で確認できます"
    ))
}

pub fn too_long(lang: Lang) -> Said {
    Said::what(say!(lang, "an exception can last at most 24 hours", "例外の有効期間は最長 24 時間です")).hint(say!(
        lang,
        "use --for 30m or --for 8h",
        "--for 30m や --for 8h のように指定してください"
    ))
}

pub fn bad_event(lang: Lang, why: &str) -> Said {
    Said::what(say!(lang, "not a hook event", "フックのイベントではありません")).why(why).hint(say!(
        lang,
        "pass the JSON that a client sends on stdin, as a file or with -",
        "クライアントが標準入力に渡す JSON をファイルまたは - で指定してください"
    ))
}

pub fn consent_what(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "The agent's understanding is correct, and {count} waiting session(s) may make changes",
        "エージェントの理解は正しく、待機中のセッション {count} 件に変更を許可します"
    )
}
