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

pub fn edits_main(lang: Lang, branch: &str, file: &str) -> String {
    say!(
        lang,
        "{file} is not edited on the branch {branch}. Make a branch first: `git switch -c <name>`",
        "{branch} ブランチでは {file} を編集できません。先にブランチを作成してください: `git switch -c <名前>`"
    )
}
