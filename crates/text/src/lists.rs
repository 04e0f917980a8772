//! Words of lists: how many more there are, what a worktree is for, what cleaning up did or would do.

use crate::lang::say;
use crate::{Lang, ui};

/// Under a list that does not show all.
pub fn more(lang: Lang, shown: usize, total: u64, command: &str) -> String {
    say!(
        lang,
        "showing {shown} of {total}; `{command}` shows all",
        "{total} 件中 {shown} 件を表示しています。すべて表示するには `{command}`"
    )
}

/// A list that was narrowed to nothing.
pub fn none_fit(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no matching tasks; `dandori task list` shows the others",
        Lang::Ja => "該当するタスクはありません。`dandori task list` でほかのタスクを確認できます",
    }
}

/// What a repository takes up below the state root.
pub fn repository_use(lang: Lang, root: &str, bytes: Option<u64>, worktrees: u32) -> String {
    let size = bytes.map_or_else(|| "?".to_owned(), ui::size);
    let counted = ui::count(worktrees, "worktree");
    say!(lang, "{root}: {size}, {counted}", "{root}: {size}、ワークツリー {worktrees} 個")
}

/// Done, or only planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mood {
    Did,
    Would,
}

/// One thing that cleaning up took away, or would.
pub fn collected(lang: Lang, mood: Mood, kind: &str, name: &str, why: &str) -> String {
    let kind = ui::leftover_kind(lang, kind);
    match mood {
        Mood::Did => say!(lang, "removed {kind} {name} ({why})", "{kind} {name} を削除しました ({why})"),
        Mood::Would => say!(lang, "would remove {kind} {name} ({why})", "{kind} {name} を削除します ({why})"),
    }
}

/// Where the work of something that went is kept.
pub fn kept(lang: Lang, reference: &str) -> String {
    say!(lang, "its work is kept in {reference}", "作業内容は {reference} に保存しました")
}

/// What cleaning up leaves, or would leave.
pub fn left(lang: Lang, mood: Mood, name: &str, why: &str) -> String {
    match mood {
        Mood::Did => say!(lang, "left {name} ({why})", "{name} はそのままにしました ({why})"),
        Mood::Would => say!(lang, "would leave {name} ({why})", "{name} はそのままにします ({why})"),
    }
}

/// How to do what was only planned.
pub fn dry_run_over(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing was removed; `dandori worktree gc` does it",
        Lang::Ja => "まだ何も削除していません。実際に削除するには `dandori worktree gc`",
    }
}

/// What may be done about some of the worktrees in a list.
pub fn suggestion(lang: Lang, command: &str) -> String {
    say!(lang, "`{command}` takes care of what is left over", "残っているものは `{command}` で片付けられます")
}
