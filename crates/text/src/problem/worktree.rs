//! Worktrees, their branches and preserved work.

use dandori_domain::shell_word;

use crate::lang::say;
use crate::{Lang, Said, ui};

pub(super) fn no_such_worktree(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "worktree `{text}` not found", "ワークツリー `{text}` が見つかりません")).hint(say!(
        lang,
        "list the worktrees with `dandori worktree list`",
        "一覧は `dandori worktree list` で確認できます"
    ))
}

pub(super) fn worktree_held(lang: Lang, key: &str, owner: &str) -> Said {
    Said::what(say!(lang, "worktree {key} is in use by {owner}", "ワークツリー {key} は {owner} が使用中です"))
        .why(say!(lang, "a worktree of another session is never removed", "他のセッションのワークツリーは削除しません"))
        .hint(say!(
            lang,
            "cancel its run, or run the command from that session (--session)",
            "その実行を取り消すか、使用中のセッションから実行してください (--session)"
        ))
}

pub(super) fn worktree_dirty(lang: Lang, key: &str, files: u32, unpushed: u32) -> Said {
    let dirty = ui::count(files, "uncommitted file");
    let ahead = ui::count(unpushed, "unpushed commit");
    let what = match (files, unpushed) {
        (_, 0) => {
            say!(lang, "worktree {key} has {dirty}", "ワークツリー {key} に未コミットのファイルが {files} 件あります")
        }
        (0, _) => say!(
            lang,
            "worktree {key} has {ahead}",
            "ワークツリー {key} に未プッシュのコミットが {unpushed} 件あります"
        ),
        _ => say!(
            lang,
            "worktree {key} has {dirty} and {ahead}",
            "ワークツリー {key} に未コミットのファイルが {files} 件、未プッシュのコミットが {unpushed} 件あります"
        ),
    };
    Said::what(what)
        .hint(say!(
            lang,
            "`dandori worktree remove --force {key}` removes it and preserves the work; `dandori worktree restore {key}` restores it",
            "`dandori worktree remove --force {key}` で作業を保存してから削除できます。復元するには `dandori worktree restore {key}` を使います"
        ))
}

pub(super) fn worktree_exists(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} already exists", "{path} は既に存在します")).hint(say!(
        lang,
        "move it, or choose another place with --path",
        "別の場所に移すか、--path で他の場所を指定してください"
    ))
}

pub(super) fn unsafe_path(lang: Lang, path: &str, reason: &str) -> Said {
    Said::what(say!(
        lang,
        "{path} is not a safe place for a worktree",
        "{path} はワークツリーの場所として安全ではありません"
    ))
    .why(reason)
    .hint(say!(
        lang,
        "choose a place outside any repository and without symbolic links (--path)",
        "リポジトリの外で、シンボリックリンクを含まない場所を指定してください (--path)"
    ))
}

pub(super) fn worktree_locked(lang: Lang, path: &str, reason: &str) -> Said {
    let word = shell_word(path);
    Said::what(say!(lang, "worktree {path} is locked", "ワークツリー {path} はロックされています")).why(reason).hint(
        say!(
            lang,
            "unlock it with `git worktree unlock {word}`",
            "`git worktree unlock {word}` でロックを解除できます"
        ),
    )
}

pub(super) fn worktree_unrecorded(lang: Lang, path: &str) -> Said {
    Said::what(say!(
        lang,
        "git no longer knows the worktree {path}: its contents cannot be preserved",
        "git の管理から外れたワークツリー {path} の内容は保存できません"
    ))
    .hint(say!(
        lang,
        "copy what you need and delete the folder; `dandori worktree gc` cleans up the rest",
        "必要なものをコピーしてからフォルダーを削除してください。残りは `dandori worktree gc` で削除できます"
    ))
}

pub(super) fn worktree_detached(lang: Lang, path: &str) -> Said {
    let word = shell_word(path);
    Said::what(say!(lang, "{path} is not on a branch", "{path} はブランチをチェックアウトしていません")).hint(say!(
        lang,
        "create a branch with `git -C {word} switch -c work`, or with another name",
        "`git -C {word} switch -c work` のように、ブランチを作成してください"
    ))
}

pub(super) fn bad_branch_name(lang: Lang, name: &str) -> Said {
    Said::what(say!(lang, "`{name}` is not a valid branch name", "`{name}` はブランチ名に使えません")).hint(say!(
        lang,
        "letters, digits, `-`, `_` and single `/` are always valid",
        "英数字、`-`、`_`、区切りの `/` なら確実に使えます"
    ))
}

pub(super) fn branch_taken(lang: Lang, branch: &str, suggestion: &str, used_at: Option<&str>) -> Said {
    let said = Said::what(say!(lang, "branch {branch} is already in use", "ブランチ {branch} は既に使用されています"));
    let said = match used_at {
        Some(at) => said.why(say!(lang, "it is checked out at {at}", "{at} でチェックアウトされています")),
        None => said,
    };
    said.hint(say!(lang, "use another name, such as {suggestion}", "別の名前を使ってください (例: {suggestion})"))
}

pub(super) fn not_our_worktree(lang: Lang, path: &str) -> Said {
    Said::what(say!(
        lang,
        "{path} is not a worktree of this repository",
        "{path} はこのリポジトリのワークツリーではありません"
    ))
    .hint(say!(lang, "list the worktrees with `git worktree list`", "一覧は `git worktree list` で確認できます"))
}

pub(super) fn nothing_preserved(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "no preserved work for `{text}`", "`{text}` として保存された作業はありません")).hint(say!(
        lang,
        "list all preserved work with `git for-each-ref refs/dandori/preserved`",
        "一覧は `git for-each-ref refs/dandori/preserved` で確認できます"
    ))
}

pub(super) fn work_restored(lang: Lang, task: &str, worktree: &str, path: &str) -> Said {
    Said::what(say!(
        lang,
        "the preserved work of {task} has been restored to {path}",
        "{task} の保存された作業は {path} に復元されています"
    ))
    .why(say!(
        lang,
        "a follow-up would not see what was changed there",
        "続きを依頼しても、そこでの変更は含まれません"
    ))
    .hint(say!(
        lang,
        "`dandori worktree remove {worktree} --force` preserves it as it is now; the follow-up then continues from there",
        "`dandori worktree remove {worktree} --force` で今の内容を保存すると、続きはそこから始まります"
    ))
}

pub(super) fn disk_full(lang: Lang, path: &str, free_mib: u64, needed_mib: u64) -> Said {
    Said::what(say!(
        lang,
        "not enough disk space at {path}: {free_mib} MiB free, {needed_mib} MiB needed",
        "{path} の空き容量が不足しています: 空き {free_mib} MiB、必要 {needed_mib} MiB"
    ))
    .hint(say!(
        lang,
        "free some space (`dandori worktree gc`), or lower runs.min_free_disk",
        "空きを増やすか (`dandori worktree gc`)、runs.min_free_disk を下げてください"
    ))
}
