//! The main branch.

use crate::Lang;
use crate::lang::say;

pub fn moves_main(lang: Lang, branch: &str, what: &str) -> String {
    say!(
        lang,
        "`{what}` would change the branch {branch} directly. Create a branch with `git switch -c <name>`, then open a pull request",
        "`{what}` は {branch} ブランチを直接変更します。`git switch -c <name>` で作業用のブランチを作成し、プルリクエストにしてください"
    )
}

pub fn moves_unseen(lang: Lang, what: &str) -> String {
    say!(
        lang,
        "`{what}` reads the branches to change from its input, so it is unknown whether the main branch is among them. Name the branch on the command line: `git update-ref refs/heads/<name> <commit>`, `git push <remote> <name>`",
        "`{what}` は変更するブランチを標準入力から読み取るため、メインブランチが含まれるか確認できません。コマンドラインでブランチを指定してください: `git update-ref refs/heads/<name> <commit>`、`git push <remote> <name>`"
    )
}

pub fn edits_main(lang: Lang, branch: &str, file: &str) -> String {
    say!(
        lang,
        "{file} must not be edited on the branch {branch}. Create a branch first: `git switch -c <name>`",
        "{branch} ブランチでは {file} を編集できません。先にブランチを作成してください: `git switch -c <name>`"
    )
}
