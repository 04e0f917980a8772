//! Words around the user's editor.

use crate::lang::say;
use crate::{Lang, Said};

pub fn none(lang: Lang) -> Said {
    Said::what(say!(lang, "no editor found", "エディターが見つかりません")).hint(say!(
        lang,
        "set EDITOR, for example `export EDITOR=vim`",
        "EDITOR を設定してください (例: `export EDITOR=vim`)"
    ))
}

pub fn failed(lang: Lang, editor: &str, reason: &str) -> Said {
    Said::what(say!(lang, "the editor `{editor}` failed: {reason}", "エディター `{editor}` が失敗しました: {reason}"))
        .hint(say!(lang, "check EDITOR and git's core.editor", "EDITOR と git の core.editor を確認してください"))
}

pub fn is_folder(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} is a folder, not a file", "{path} はファイルではなくフォルダーです")).hint(say!(
        lang,
        "name the file with the instruction: `-f {path}/task.md`",
        "指示を書いたファイルを指定してください (例: `-f {path}/task.md`)"
    ))
}

pub fn no_terminal(lang: Lang, editor: &str, path: &str) -> Said {
    Said::what(say!(
        lang,
        "cannot open the editor `{editor}` without a terminal",
        "端末がないため、エディター `{editor}` を開けません"
    ))
    .hint(say!(
        lang,
        "run it in a terminal, or write {path} directly",
        "端末で実行するか、{path} を直接編集してください"
    ))
}

/// The line below which nothing is read, and what stands there.
pub const SCISSORS: &str = "# ------------------------ >8 ------------------------";

pub fn below_the_line(lang: Lang, about: &str) -> String {
    say!(
        lang,
        "# Write above this line what the agent should do: {about}\n# This line and everything below it are ignored. An empty text cancels.\n",
        "# この線より上に、エージェントへの指示を書いてください: {about}\n# この線以降は無視されます。空のまま閉じると中止します。\n"
    )
}

pub fn for_run(lang: Lang, folder: &str) -> String {
    say!(lang, "a new task in {folder}", "{folder} の新しいタスク")
}

pub fn for_follow_up(lang: Lang, task: &str, title: &str) -> String {
    say!(lang, "a follow-up of {task} ({title})", "{task} への追加の指示 ({title})")
}

pub fn empty(lang: Lang, command: &str) -> Said {
    Said::what(say!(lang, "canceled: the instruction is empty", "指示が空のため中止しました")).hint(say!(
        lang,
        "write one, or give it on the command line: `{command} \"fix the typo\"`",
        "指示を書くか、コマンドラインで指定してください: `{command} \"誤字を直して\"`"
    ))
}

pub fn kept(lang: Lang, command: &str, path: &str) -> String {
    let word = crate::ui::path_word(path);
    say!(
        lang,
        "your text was saved; use it with `{command} -f {word}`",
        "入力した指示は保存しました。`{command} -f {word}` で使えます"
    )
}

pub fn no_instruction(lang: Lang, command: &str) -> Said {
    Said::what(say!(lang, "no instruction given", "指示がありません"))
        .why(say!(lang, "cannot open an editor without a terminal", "端末がないため、エディターを開けません"))
        .hint(say!(lang, "use `{command} \"fix the typo\"`, -f to read it from a file, or - to read it from stdin", "`{command} \"誤字を直して\"` のように指定してください。ファイルから読むには -f、標準入力から読むには - を使います"))
}

pub fn no_template(lang: Lang, name: &str, known: &[String]) -> Said {
    let said = Said::what(say!(lang, "template `{name}` not found", "テンプレート `{name}` が見つかりません"));
    if known.is_empty() {
        said.hint(say!(
            lang,
            "create it with `dandori prompt edit {name}`",
            "`dandori prompt edit {name}` で作成できます"
        ))
    } else {
        let known = known.join(", ");
        said.why(say!(lang, "available: {known}", "使用できるもの: {known}")).hint(say!(
            lang,
            "list the templates with `dandori prompt list`",
            "一覧は `dandori prompt list` で確認できます"
        ))
    }
}

pub fn bad_name(lang: Lang, name: &str) -> Said {
    Said::what(say!(lang, "`{name}` is not a valid template name", "`{name}` はテンプレート名に使えません")).hint(say!(
        lang,
        "use letters, digits, - and _",
        "英数字、-、_ を使ってください"
    ))
}

pub fn no_templates(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "no templates yet; create one with `dandori prompt edit fix`, then use it with `dandori run -t fix`"
        }
        Lang::Ja => "テンプレートはまだありません。`dandori prompt edit fix` で作成し、`dandori run -t fix` で使えます",
    }
}

/// What a new template begins with.
pub fn template(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "Fix the following problem. Find the cause first, then change as little as possible and add a test.\n\n{{text}}\n"
        }
        Lang::Ja => {
            "次の問題を修正してください。まず原因を突き止め、変更は最小限にして、テストを追加してください。\n\n{{text}}\n"
        }
    }
}

pub fn template_saved(lang: Lang, path: &str, name: &str) -> String {
    say!(
        lang,
        "saved {path}; use it with `dandori run -t {name} \"…\"`",
        "{path} を保存しました。`dandori run -t {name} \"…\"` で使えます"
    )
}

/// Where a template lies, in a word.
pub fn place(lang: Lang, is_users: bool) -> &'static str {
    match (lang, is_users) {
        (Lang::En, true) => "yours",
        (Lang::En, false) => "repository",
        (Lang::Ja, true) => "ユーザー",
        (Lang::Ja, false) => "リポジトリ",
    }
}
