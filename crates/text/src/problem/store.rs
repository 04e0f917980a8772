//! The database.

use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn store_full(lang: Lang) -> Said {
    Said::what(say!(
        lang,
        "the disk with dandori's database is full",
        "dandori のデータベースがあるディスクに空きがありません"
    ))
    .why(say!(
        lang,
        "this request was not accepted; earlier ones are safe",
        "今回の要求は受け付けていません。受け付け済みの要求は失われていません"
    ))
    .hint(say!(lang, "free some space and try again", "空きを増やしてから、もう一度実行してください"))
}

pub(super) fn store_unavailable(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "cannot use dandori's database", "dandori のデータベースを使用できません"))
        .why(reason)
        .hint(say!(lang, "see `dandori doctor` for details", "詳細は `dandori doctor` で確認できます"))
}

pub(super) fn store_too_new(lang: Lang, found: i64, known: i64) -> Said {
    Said::what(say!(
            lang,
            "the database was written by a newer dandori (schema {found}; this version supports up to {known})",
            "データベースは新しいバージョンの dandori で作成されています (スキーマ {found}、このバージョンの対応は {known} まで)"
        ))
        .hint(say!(
            lang,
            "upgrade dandori; the database was not changed",
            "dandori を更新してください。データベースは変更していません"
        ))
}

pub(super) fn store_damaged(lang: Lang, quarantine: &str, restored: Option<&str>) -> Said {
    let restored = match restored {
        Some(name) => say!(lang, "restored the backup {name}", "バックアップ {name} を復元しました"),
        None => say!(
            lang,
            "there was no backup: started with an empty database",
            "バックアップがないため、空のデータベースで開始しました"
        ),
    };
    Said::what(say!(
        lang,
        "the database was damaged and moved to {quarantine}",
        "データベースが破損していたため {quarantine} に隔離しました"
    ))
    .why(restored)
    .hint(say!(
        lang,
        "`dandori task list` shows the remaining tasks; the damaged file has been kept",
        "残っているタスクは `dandori task list` で確認できます。破損したファイルは隔離先に残しています"
    ))
}
