//! What the guards say about issues, pull requests, merges and worktrees.

use crate::Lang;
use crate::lang::say;

pub fn issue_no_label(lang: Lang, priorities: &str) -> String {
    say!(
        lang,
        "the issue has no label. Add its kind and its priority, one of {priorities}: `--label bug --label P2`",
        "issue にラベルがありません。種類と優先度 ({priorities} のいずれか) を指定してください: `--label bug --label P2`"
    )
}

pub fn issue_no_priority(lang: Lang, priorities: &str) -> String {
    say!(
        lang,
        "the issue has no priority label. Add one of {priorities}: `--label P2`",
        "issue に優先度ラベルがありません。{priorities} のいずれかを追加してください: `--label P2`"
    )
}

pub fn issue_sections(lang: Lang, missing: &str) -> String {
    say!(
        lang,
        "the issue's text lacks: {missing}. Give each a heading (`## …`) with something below it",
        "issue の本文に次の節がありません: {missing}。それぞれ見出し (`## …`) と内容を書いてください"
    )
}

pub fn issue_unseen(lang: Lang, priorities: &str, sections: &str) -> String {
    say!(
        lang,
        "labels or text of the issue cannot be seen from the line. Give `--label` (one of {priorities}) and the text itself: write a file first, then `--body-file <file>`, with {sections}",
        "issue のラベルまたは本文をコマンドから確認できません。`--label` ({priorities} のいずれか) を明示し、本文 ({sections}) は先にファイルへ書いて `--body-file <file>` で渡してください"
    )
}

pub fn issue_split(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "the issue tells of {count} problems. One issue each is easier to work on and to close",
        "issue に {count} 件の問題が含まれています。問題ごとに分けると対応しやすくなります"
    )
}

pub fn pull_sections(lang: Lang, missing: &str) -> String {
    say!(
        lang,
        "the pull request's text lacks: {missing}. Give each a heading (`## …`) with something below it",
        "プルリクエストの本文に次の節がありません: {missing}。それぞれ見出し (`## …`) と内容を書いてください"
    )
}

pub fn pull_issue(lang: Lang) -> String {
    say!(
        lang,
        "the pull request names no issue. Add a line like `Closes #12`",
        "プルリクエストに issue へのリンクがありません。`Closes #12` のような行を追加してください"
    )
}

pub fn pull_filled(lang: Lang, sections: &str, needs_issue: bool) -> String {
    let link = if needs_issue { link(lang) } else { "" };
    say!(
        lang,
        "`--fill` makes the text of the commits, without {sections}. Write it: `--body-file <file>` with these headings{link}",
        "`--fill` の本文には {sections} がありません。これらの見出し{link}を書いたファイルを `--body-file <file>` で渡してください"
    )
}

pub fn pull_unseen(lang: Lang, sections: &str, needs_issue: bool) -> String {
    let link = if needs_issue { link(lang) } else { "" };
    say!(
        lang,
        "the pull request's text cannot be seen from the line. Write it to a file first, then `--body-file <file>`, with {sections}{link}",
        "プルリクエストの本文をコマンドから確認できません。{sections}{link}を先にファイルへ書き、`--body-file <file>` で渡してください"
    )
}

fn link(lang: Lang) -> &'static str {
    match lang {
        Lang::En => " and `Closes #<issue>`",
        Lang::Ja => "と `Closes #<issue>` ",
    }
}

pub fn merge_flag(lang: Lang, flag: &str) -> String {
    say!(
        lang,
        "`--{flag}` merges around the checks. Wait until they are through, then `gh pr merge` without it",
        "`--{flag}` はチェックを迂回してマージします。チェックの完了を待ち、付けずに `gh pr merge` を実行してください"
    )
}

pub fn merge_api(lang: Lang) -> String {
    say!(
        lang,
        "this merges past the gate. Use `gh pr merge <number>`, which is checked",
        "これはマージの確認を迂回します。`gh pr merge <番号>` を使ってください"
    )
}

pub fn merge_local(lang: Lang, branch: &str) -> String {
    say!(
        lang,
        "{branch} takes changes through a pull request only. Push your branch and `gh pr create`",
        "{branch} への変更はプルリクエスト経由で行います。ブランチを push して `gh pr create` を実行してください"
    )
}

pub fn worktree_place(lang: Lang, path: &str, real: &str, is_link: bool) -> String {
    if is_link {
        say!(
            lang,
            "{path} leads through a link to {real}, outside of where worktrees are looked for. Use `dandori worktree add`, or a path in worktrees/",
            "{path} はリンク経由で {real} を指し、許可された場所の外です。`dandori worktree add` か worktrees/ 内に worktree を作成してください"
        )
    } else {
        say!(
            lang,
            "worktrees stand in worktrees/ or next to the repository (../<repository>-…), where they are found and cleaned up; {path} is neither. Use `dandori worktree add`",
            "{path} は許可された場所の外です。`dandori worktree add` を使うか、worktrees/ 内またはリポジトリの隣 (../<リポジトリ>-…) に worktree を作成してください"
        )
    }
}

pub fn worktree_computed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "where `{path}` is cannot be seen from the line. Name the folder, or use `dandori worktree add`",
        "`{path}` の場所をコマンドから確認できません。パスを明示するか、`dandori worktree add` を使ってください"
    )
}

pub fn worktree_forced(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "--force throws away uncommitted work and other sessions' locks. `dandori worktree remove {path}` keeps the work and checks the lock",
        "--force は未コミットの作業や他セッションのロックを無視します。`dandori worktree remove {path}` なら作業を保存し、ロックも確認します"
    )
}

pub fn worktree_removed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} is a worktree, and rm would lose what is not committed in it. Use `dandori worktree remove {path}`",
        "{path} は worktree です。rm では未コミットの作業が失われます。`dandori worktree remove {path}` を使ってください"
    )
}
