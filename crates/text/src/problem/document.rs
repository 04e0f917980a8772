//! state.md, playbooks and other files that were named.

use dandori_domain::problem::EditTrouble;

use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn no_playbook(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "no active playbook", "有効な playbook がありません"))
        .why(say!(lang, "{path} does not name a playbook", "{path} に playbook が指定されていません"))
        .hint(say!(
            lang,
            "create one with `dandori playbook new plan --activate`",
            "`dandori playbook new plan --activate` で作成してください"
        ))
}

pub(super) fn file_exists(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} already exists", "{path} は既に存在します")).hint(say!(
        lang,
        "choose another name",
        "別の名前を指定してください"
    ))
}

pub(super) fn no_such_file(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "file {path} not found", "ファイル {path} が見つかりません")).hint(say!(
        lang,
        "check the name and the current directory",
        "ファイル名と現在のディレクトリを確認してください"
    ))
}

pub(super) fn bad_name(lang: Lang, name: &str) -> Said {
    Said::what(say!(lang, "`{name}` is not a valid playbook name", "`{name}` は playbook の名前に使えません")).hint(
        say!(lang, "use only letters, digits, `-`, `_` and `.`", "使えるのは英数字などの文字と `-`、`_`、`.` だけです"),
    )
}

pub(super) fn cannot_edit(lang: Lang, path: &str, key: &str, reason: EditTrouble) -> Said {
    let said = Said::what(say!(lang, "cannot change `{key}` in {path}", "{path} の `{key}` を変更できません"));
    match reason {
        EditTrouble::NoPlace => said
            .why(say!(lang, "neither the key nor its section exists", "キーも、その親のセクションもありません"))
            .hint(say!(
                lang,
                "list the existing keys with `dandori state show`",
                "既存のキーは `dandori state show` で確認できます"
            )),
        EditTrouble::NotAValue => said
            .why(say!(lang, "it contains other keys or a list", "下位のキーまたはリストを含んでいます"))
            .hint(say!(lang, "edit the file in an editor", "エディターでファイルを編集してください")),
        EditTrouble::SeveralLines => said
            .why(say!(lang, "a value must be a single line", "値は 1 行でなければなりません"))
            .hint(say!(lang, "remove the line breaks", "改行を取り除いて指定してください")),
        EditTrouble::Unwritable => said
            .why(say!(lang, "its quotes cannot be written on one line", "引用符を含む値を 1 行で書けません"))
            .hint(say!(lang, "use only one kind of quotes", "引用符を 1 種類だけにしてください")),
    }
}

pub(super) fn bad_state_value(lang: Lang, key: &str, value: &str, known: &[String]) -> Said {
    let known = known.join(", ");
    Said::what(say!(lang, "invalid value `{value}` for `{key}`", "`{key}` に `{value}` は指定できません")).hint(say!(
        lang,
        "use one of: {known}",
        "次のいずれかを指定してください: {known}"
    ))
}

pub(super) fn no_such_version(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "version `{text}` not found", "バージョン `{text}` が見つかりません")).hint(say!(
        lang,
        "list the versions with `dandori state history`",
        "一覧は `dandori state history` で確認できます"
    ))
}
