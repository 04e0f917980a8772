//! What is said where turns, playbooks and sessions end.

use super::prompt::{Standing, standing};
use crate::Lang;
use crate::lang::say;
use crate::table::Table;

/// Where the active playbook stands when a turn ends.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary<'a> {
    pub playbook: Option<&'a str>,
    pub is_missing: bool,
    pub done: usize,
    /// The ids of the phases.
    pub in_progress: Vec<&'a str>,
    pub pending: usize,
    pub self_complete: bool,
}

pub fn summary(lang: Lang, now: &Summary) -> String {
    let head = match lang {
        Lang::En => ["playbook", "done", "in_progress", "pending", "self_complete"],
        Lang::Ja => ["playbook", "完了", "進行中", "未着手", "self_complete"],
    };
    let playbook = match now.playbook {
        None => say!(lang, "none", "なし"),
        Some(path) if now.is_missing => {
            say!(lang, "{path} (file not found)", "{path} (ファイルがありません)")
        }
        Some(path) => path.to_owned(),
    };
    let working = match now.in_progress.as_slice() {
        [] => "0".to_owned(),
        ids => format!("{} ({})", ids.len(), ids.join(", ")),
    };
    let mut table = Table::new(head);
    table.row([playbook, now.done.to_string(), working, now.pending.to_string(), now.self_complete.to_string()]);
    table.lines(None).join("\n")
}

/// `is_more`: there are at least so many.
pub fn unpushed(lang: Lang, count: usize, is_more: bool, branch: Option<&str>) -> String {
    let commits = if count == 1 { "commit" } else { "commits" };
    let at_least = if is_more { "at least " } else { "" };
    let or_more = if is_more { "以上" } else { "" };
    let (on, of) = branch.map(|b| (format!(" on {b}"), format!("ブランチ {b} の"))).unwrap_or_default();
    say!(
        lang,
        "{at_least}{count} {commits}{on} not pushed to any remote. Run `git push` before you leave this machine",
        "{of}コミット {count} 件{or_more}が未プッシュです (リモートにありません)。この端末を離れる前に `git push` を実行してください"
    )
}

/// The pointers that outlive a compaction; `is_over` once it is done.
pub fn pointers(lang: Lang, now: &Standing, read: &[&str], is_over: bool) -> String {
    let read = read.join(", ");
    let head = if is_over {
        say!(
            lang,
            "The conversation was compacted. Current state of the work:",
            "会話が圧縮されました。作業の現在の状態:"
        )
    } else {
        say!(lang, "Keep these lines unchanged in the summary:", "次の行はそのまま要約に残してください:")
    };
    let now = standing(lang, now);
    let last = say!(lang, "read again: {read}", "読み直す: {read}");
    format!("{head}\n{now}\n{last}")
}

/// All phases of the active playbook have become done.
pub fn archive(lang: Lang, path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    say!(
        lang,
        "all phases of {path} are done. Suggest to the user to archive it: commit and push, `git mv {path} plan/archive/{name}`, then set `playbook.active: null` and `playbook.last_archived: plan/archive/{name}` in state.md, and finally run `dandori post-loop`",
        "{path} のすべてのフェーズが完了しました。アーカイブをユーザーに提案してください: コミットとプッシュ、`git mv {path} plan/archive/{name}`、state.md の `playbook.active: null` と `playbook.last_archived: plan/archive/{name}`、最後に `dandori post-loop`"
    )
}

/// The skill, or the verb, was called.
pub fn post_loop_noted(lang: Lang) -> String {
    say!(
        lang,
        "post-loop recorded: you can make changes again. Run `dandori post-loop` to see the next step",
        "終了処理を記録しました。変更できるようになりました。次の作業は `dandori post-loop` で確認できます"
    )
}

/// A finished playbook is no longer the active one.
pub fn archived(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} is archived. Call the skill `post-loop` or run `dandori post-loop` to see the next step; until then you can only edit state.md",
        "{path} をアーカイブしました。skill `post-loop` を呼ぶか `dandori post-loop` を実行すると、次の作業が表示されます。それまで編集できるのは state.md だけです"
    )
}
