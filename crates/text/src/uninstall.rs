//! Words of `dandori uninstall`.

use crate::lang::say;
use crate::ui::{count, size};
use crate::{Lang, Said};

pub fn plan(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "This will be removed:",
        Lang::Ja => "削除されるもの:",
    }
}

pub fn removed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Removed:",
        Lang::Ja => "削除したもの:",
    }
}

pub fn stays(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "This stays:",
        Lang::Ja => "残るもの:",
    }
}

pub fn hooks_in(lang: Lang, path: &str) -> String {
    say!(lang, "dandori's hooks in {path}", "{path} の dandori のフック")
}

pub fn state(lang: Lang, path: &str, bytes: u64) -> String {
    // A number stays with its unit.
    let size = size(bytes).replace(' ', "\u{a0}");
    say!(lang, "tasks, logs and worktrees in {path} ({size})", "{path} 内のタスク、ログ、ワークツリー ({size})")
}

pub fn worktrees(lang: Lang, repository: &str, number: usize, unsaved: usize) -> String {
    let all = count(u64::try_from(number).unwrap_or(u64::MAX), "worktree");
    match unsaved {
        0 => say!(lang, "{all} of {repository}", "{repository} のワークツリー {number} 件"),
        _ => say!(
            lang,
            "{all} of {repository}; uncommitted or unpushed work of {unsaved} is first preserved there under refs/dandori/preserved",
            "{repository} のワークツリー {number} 件。うち {unsaved} 件の未コミット・未プッシュの作業は、先に同リポジトリの refs/dandori/preserved に保存します"
        ),
    }
}

pub fn saved(lang: Lang, repository: &str, branch: &str, reference: &str) -> String {
    say!(
        lang,
        "preserved the work on {branch}; to see it:\n  `git -C {repository} show {reference}`",
        "{branch} の作業を保存しました。内容の表示:\n  `git -C {repository} show {reference}`"
    )
}

pub fn repositories_stay(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "your repositories, with all branches and commits",
        Lang::Ja => "リポジトリと、そのすべてのブランチ・コミット",
    }
}

pub fn config_stays(lang: Lang, path: &str) -> String {
    say!(lang, "your settings: {path}", "ユーザー設定: {path}")
}

pub fn database_stays(lang: Lang, address: &str) -> String {
    say!(lang, "the database {address}", "データベース {address}")
}

pub fn program_stays(lang: Lang, path: &str) -> String {
    let word = crate::ui::path_word(path);
    say!(lang, "the program itself; remove it with `rm {word}`", "プログラム本体: `rm {word}` で削除できます")
}

pub fn state_stays(lang: Lang, path: &str) -> String {
    say!(lang, "tasks, logs and worktrees in {path}", "{path} 内のタスク、ログ、ワークツリー")
}

pub fn question(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Uninstall dandori?",
        Lang::Ja => "アンインストールしますか?",
    }
}

pub fn done(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "dandori is uninstalled",
        Lang::Ja => "dandori をアンインストールしました",
    }
}

pub fn nothing(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "nothing to uninstall",
        Lang::Ja => "アンインストールするものはありません",
    }
}

pub fn still_at_work(lang: Lang, tasks: &[String]) -> Said {
    let named = tasks.join(" ");
    let number = count(u64::try_from(tasks.len()).unwrap_or(u64::MAX), "task");
    let (it_is, it) = if tasks.len() == 1 { ("it is", "it") } else { ("they are", "them") };
    Said::what(say!(lang, "{number} not finished: {named}", "未完了のタスクがあります: {named}")).hint(say!(
        lang,
        "wait until {it_is} done, or cancel {it} with `dandori task cancel {named}`",
        "完了を待つか、先に `dandori task cancel {named}` で取り消してください"
    ))
}

/// Some worktrees could not be removed, so the state folder stays.
pub fn left(lang: Lang, paths: &[String]) -> Said {
    Said::what(say!(lang, "some worktrees could not be removed", "削除できないワークツリーがあります"))
        .why(paths.join("\n"))
        .hint(say!(
            lang,
            "remove or move them yourself, then run `dandori uninstall` again",
            "自分で削除または移動してから、もう一度 `dandori uninstall` を実行してください"
        ))
}
