//! What the guards say about issues, pull requests, merges and worktrees.

use crate::Lang;
use crate::lang::say;

pub fn issue_no_label(lang: Lang, priorities: &str) -> String {
    say!(
        lang,
        "the issue has no labels. Add its type and a priority ({priorities}): `--label bug --label P2`",
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
        "missing from the issue's text: {missing}. Write a heading (`## …`) with content for each",
        "issue の本文に次の節がありません: {missing}。それぞれ見出し (`## …`) と内容を書いてください"
    )
}

pub fn issue_unseen(lang: Lang, priorities: &str, sections: &str) -> String {
    say!(
        lang,
        "the labels or text of the issue cannot be read from the command. Add `--label` (one of {priorities}) and the text: write it to a file first, then use `--body-file <file>`, with {sections}",
        "issue のラベルまたは本文をコマンドから確認できません。`--label` ({priorities} のいずれか) を明示し、本文 ({sections}) は先にファイルに書いて `--body-file <file>` で渡してください"
    )
}

pub fn issue_split(lang: Lang, count: usize) -> String {
    say!(
        lang,
        "the issue describes {count} problems. Separate issues are easier to work on and to close",
        "issue に {count} 件の問題が含まれています。問題ごとに分けると対応しやすくなります"
    )
}

pub fn pull_sections(lang: Lang, missing: &str) -> String {
    say!(
        lang,
        "missing from the pull request's text: {missing}. Write a heading (`## …`) with content for each",
        "プルリクエストの本文に次の節がありません: {missing}。それぞれ見出し (`## …`) と内容を書いてください"
    )
}

pub fn pull_issue(lang: Lang) -> String {
    say!(
        lang,
        "the pull request does not link an issue. Add a line such as `Closes #12`",
        "プルリクエストに issue へのリンクがありません。`Closes #12` のような行を追加してください"
    )
}

pub fn pull_filled(lang: Lang, sections: &str, needs_issue: bool) -> String {
    let link = if needs_issue { link(lang) } else { "" };
    say!(
        lang,
        "`--fill` builds the text from the commits, without {sections}. Use `--body-file <file>` with these headings{link} instead",
        "`--fill` の本文には {sections} がありません。これらの見出し{link}を書いたファイルを `--body-file <file>` で渡してください"
    )
}

pub fn pull_unseen(lang: Lang, sections: &str, needs_issue: bool) -> String {
    let link = if needs_issue { link(lang) } else { "" };
    say!(
        lang,
        "the pull request's text cannot be read from the command. Write it to a file first, then use `--body-file <file>`, with {sections}{link}",
        "プルリクエストの本文をコマンドから確認できません。{sections}{link}を先にファイルに書き、`--body-file <file>` で渡してください"
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
        "`--{flag}` bypasses the checks. Wait until they are done, then run `gh pr merge` without it",
        "`--{flag}` はチェックを迂回してマージします。チェックの完了を待ち、このオプションを付けずに `gh pr merge` を実行してください"
    )
}

pub fn merge_api(lang: Lang) -> String {
    say!(
        lang,
        "this bypasses the merge checks. Use `gh pr merge <number>` instead",
        "これはマージ前のチェックを迂回します。`gh pr merge <number>` を使ってください"
    )
}

pub fn merge_local(lang: Lang, branch: &str) -> String {
    say!(
        lang,
        "{branch} only accepts changes through a pull request. Push your branch and run `gh pr create`",
        "{branch} への変更はプルリクエスト経由で行います。ブランチをプッシュして `gh pr create` を実行してください"
    )
}

pub fn worktree_place(lang: Lang, path: &str, real: &str, is_link: bool) -> String {
    if is_link {
        say!(
            lang,
            "{path} is a link to {real}, outside the places for worktrees. Use `dandori worktree add`, or a path in worktrees/",
            "{path} はリンクで、ワークツリー用の場所の外にある {real} を指しています。`dandori worktree add` を使うか、worktrees/ 内のパスを指定してください"
        )
    } else {
        say!(
            lang,
            "{path} is not a place for worktrees: they belong in worktrees/ or next to the repository (../<repository>-…), where they are found and cleaned up. Use `dandori worktree add`",
            "{path} はワークツリー用の場所ではありません。worktrees/ 内かリポジトリの隣 (../<リポジトリ>-…) に作成してください。そこなら自動で検出・整理されます。`dandori worktree add` も使えます"
        )
    }
}

pub fn worktree_computed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "the location of `{path}` cannot be determined from the command. Name the folder explicitly, or use `dandori worktree add`",
        "`{path}` の場所をコマンドから確認できません。パスを明示するか、`dandori worktree add` を使ってください"
    )
}

pub fn worktree_forced(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "--force discards uncommitted work and other sessions' locks. `dandori worktree remove {path}` preserves the work and respects locks",
        "--force は未コミットの作業も他のセッションのロックも破棄します。`dandori worktree remove {path}` なら作業を保存し、ロックも確認します"
    )
}

pub fn worktree_removed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} is a worktree, and rm would lose its uncommitted work. Use `dandori worktree remove {path}`",
        "{path} はワークツリーです。rm では未コミットの作業が失われます。`dandori worktree remove {path}` を使ってください"
    )
}
