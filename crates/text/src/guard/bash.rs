//! What the guards say about commands, secrets and a run's limits.

use crate::Lang;
use crate::lang::say;

pub fn secret(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} holds secrets: it is neither read nor written here. Work with an example file (`.env.example`), or ask the user to run `dandori guard allow secrets --path {path}`",
        "{path} は機密ファイルのため、読み書きできません。`.env.example` などの例を使うか、ユーザーに `dandori guard allow secrets --path {path}` の実行を依頼してください"
    )
}

pub fn run_git(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` is not for a run: dandori commits, pushes and opens the pull request when you are done. Only edit the files, and say in your last message what you changed",
        "run では `{line}` を実行できません。commit・push・PR 作成は作業後に dandori が行います。ファイルの編集だけを行い、変更内容を最後のメッセージで説明してください"
    )
}

pub fn run_git_files(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` is not for a run: branches and files in git are dandori's. To undo a change, edit the file back (`git diff` and `git show HEAD:<file>` show how it was)",
        "run では `{line}` を実行できません。git の操作は dandori が行います。変更を戻すときは、編集ツールで元に戻してください (`git diff` や `git show HEAD:<file>` で確認できます)"
    )
}

pub fn run_path(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} is out of bounds in a run, for reading and writing. Do the task without it, and say so at the end if it cannot be done",
        "run では {path} の読み書きはできません。使わずに作業し、できない場合は最後にその旨を伝えてください"
    )
}

pub fn run_path_perhaps(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "`{path}` may be {pattern}, which is out of bounds in a run. Name the files in the command, or use the editing tool",
        "`{path}` は、run で触れられない {pattern} を含む可能性があります。ファイル名を明示するか、編集ツールを使ってください"
    )
}
