//! The main branch.

use crate::Lang;
use crate::lang::say;

pub fn moves_main(lang: Lang, branch: &str, what: &str) -> String {
    say!(
        lang,
        "`{what}` would change the branch {branch} directly. Work on a branch of its own: `git switch -c <name>`, then a pull request",
        "`{what}` は {branch} ブランチを直接変更します。作業用のブランチを作り (`git switch -c <名前>`)、プルリクエストにしてください"
    )
}

pub fn moves_unseen(lang: Lang, what: &str) -> String {
    say!(
        lang,
        "`{what}` takes the branches it changes from its input, so it cannot be told whether the main branch is among them. Name the branch on the command line: `git update-ref refs/heads/<name> <commit>`, `git push <remote> <name>`",
        "`{what}` は変更するブランチを標準入力から読むため、メインブランチが含まれるか確認できません。コマンドラインでブランチを指定してください: `git update-ref refs/heads/<名前> <コミット>`、`git push <リモート> <名前>`"
    )
}

pub fn edits_main(lang: Lang, branch: &str, file: &str) -> String {
    say!(
        lang,
        "{file} is not edited on the branch {branch}. Make a branch first: `git switch -c <name>`",
        "{branch} ブランチでは {file} を編集できません。先にブランチを作成してください: `git switch -c <名前>`"
    )
}
