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

pub fn login(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` prints a login or a secret, and you would see it. Let the tool that needs it use it by itself, or ask the user to run the command",
        "`{line}` は認証情報や機密の値を出力し、あなたに見えてしまいます。必要とするツール自身に使わせるか、ユーザーに実行を依頼してください"
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

/// A destructive command, with the way out of its class.
pub fn destructive(lang: Lang, class: &str, line: &str) -> String {
    let way = way_out(lang, class);
    say!(
        lang,
        "`{line}` destroys what does not come back ({class}). {way}",
        "`{line}` は元に戻せない操作です ({class})。{way}"
    )
}

fn way_out(lang: Lang, class: &str) -> &'static str {
    match (lang, class) {
        (Lang::En, "rm-root" | "rm-outside") => {
            "Name the files in the project that should go; anything else the user removes"
        }
        (Lang::Ja, "rm-root" | "rm-outside") => {
            "プロジェクト内の対象を具体的に指定してください。それ以外の削除はユーザーに依頼してください"
        }
        (Lang::En, "git-discard") => "Keep the work first: `git stash`, or a commit on a branch of its own",
        (Lang::Ja, "git-discard") => {
            "先に `git stash` か別ブランチへのコミットで作業を残し、ユーザーに確認してください"
        }
        (Lang::En, "git-force-push") => {
            "Push without force, to a new branch if need be; if it must be, the user does it"
        }
        (Lang::Ja, "git-force-push") => {
            "force なしで、必要なら新しいブランチへ push してください。どうしても必要ならユーザーに依頼してください"
        }
        (Lang::En, "perms") => "Give the one file the mode it needs: `chmod u+w <file>`",
        (Lang::Ja, "perms") => {
            "必要なファイルだけに `chmod u+w <file>` のように設定してください。広い変更はユーザーに依頼してください"
        }
        (Lang::En, "publish") => "Rehearse it (`--dry-run`), and let the user publish",
        (Lang::Ja, "publish") => "`--dry-run` で確認し、公開はユーザーに依頼してください",
        (Lang::En, "database" | "cloud") => "Name the single thing that should go, or let the user do it",
        (Lang::Ja, "database" | "cloud") => "対象を一つに絞るか、ユーザーに依頼してください",
        (Lang::En, _) => "The user does this, if it must be",
        (Lang::Ja, _) => "必要な場合はユーザーに依頼してください",
    }
}

pub fn opaque_large(lang: Lang) -> String {
    say!(
        lang,
        "the line is too long or too deeply nested to be checked. Run its commands one by one; write long texts with the editing tool",
        "コマンドが長すぎる、または入れ子が深すぎて確認できません。コマンドを分けて実行し、長いテキストは編集ツールで書いてください"
    )
}

pub fn opaque_not_understood(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` could not be read as a shell line, so what it does is not known. Write it more plainly: one command per call, quotes closed",
        "`{text}` をシェルの構文として解釈できず、動作を確認できません。引用符を閉じ、コマンドを分けて簡潔に書いてください"
    )
}

pub fn opaque_computed(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "which command `{text}` runs is only known when it runs. Write the command's name itself",
        "`{text}` は実行時までコマンド名が決まらないため確認できません。コマンド名を直接書いてください"
    )
}

pub fn opaque_code(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` would run code that nobody has seen (piped, downloaded or decoded). Download it to a file, read it, then run the commands themselves",
        "`{text}` は内容を確認できないコード (パイプ・ダウンロード・デコード) を実行します。ファイルに保存して内容を読み、必要なコマンドを直接実行してください"
    )
}

pub fn opaque_interpreter(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "what `{text}` does cannot be seen from its code. Run the commands themselves, or change files with the editing tool",
        "`{text}` はコードから動作を確認できません。コマンドを直接実行するか、ファイルの変更は編集ツールで行ってください"
    )
}

pub fn opaque_interactive(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` opens a prompt, and what is typed into it is checked by nobody. Run the commands themselves, one call each",
        "`{text}` は対話シェルを開くため、その後の入力を確認できません。コマンドを一つずつ直接実行してください"
    )
}

pub fn opaque_fresh(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` is written and run by the same line, and its text is not known. Write it with the editing tool, then run it",
        "`{text}` は同じコマンド内で書かれて実行され、内容を確認できません。編集ツールで書いてから実行してください"
    )
}

pub fn opaque_setting(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` makes other commands run something unseen. Leave the setting away",
        "`{text}` は他のコマンドに未確認の処理を実行させる設定です。この設定を外してください"
    )
}

pub fn script_unseen(lang: Lang, path: &str, text: &str) -> String {
    say!(
        lang,
        "{path} was written in this session, and what `{text}` in it does cannot be seen. Run the commands themselves, or write them plainly into the script",
        "{path} はこのセッションで作成されたスクリプトで、`{text}` の動作を確認できません。コマンドを直接実行するか、スクリプトを簡潔に書き直してください"
    )
}

pub fn script_refused(lang: Lang, path: &str, guard: &str, why: &str) -> String {
    say!(
        lang,
        "{path} was written in this session, and `{guard}` would not let it do this: {why}",
        "{path} はこのセッションで作成されたスクリプトで、`{guard}` が許可しない操作を含みます: {why}"
    )
}

pub fn state_unchanged(lang: Lang) -> String {
    say!(
        lang,
        "this commit leaves state.md as it was. Bring it up to date with the work (`dandori state set …`) and add it",
        "このコミットでは state.md が更新されていません。作業に合わせて更新し (`dandori state set …`)、コミットに含めてください"
    )
}

pub fn check_failed(lang: Lang, check: &str, output: &str) -> String {
    if output.is_empty() {
        return say!(
            lang,
            "the check `{check}` failed without a word, so nothing is committed. Run it, fix what is wrong, then commit \
             again",
            "チェック `{check}` が何も表示せずに失敗したため、コミットできません。実行して原因を修正してから、再度コミットして\
             ください"
        );
    }
    say!(
        lang,
        "the check `{check}` failed, so nothing is committed. Fix what it says, then commit again:\n{output}",
        "チェック `{check}` が失敗したため、コミットできません。指摘を修正してから再度コミットしてください:\n{output}"
    )
}

pub fn wrong_branch(lang: Lang, found: &str, wanted: &str) -> String {
    say!(
        lang,
        "this is the branch {found}, and the playbook is for {wanted}. Go there first: `git switch {wanted}` (`git switch -c {wanted}` if it is new)",
        "現在のブランチは {found} ですが、playbook のブランチは {wanted} です。先に `git switch {wanted}` (未作成なら `git switch -c {wanted}`) を実行してください"
    )
}

pub fn focus_differs(lang: Lang, focus: &str, of_focus: &str, active: &str) -> String {
    say!(
        lang,
        "state.md: active_playbooks.{focus} is {of_focus}, but playbook.active is {active}. Make them the same (`dandori state set`)",
        "state.md: active_playbooks.{focus} は {of_focus} ですが、playbook.active は {active} です。`dandori state set` で一致させてください"
    )
}

pub fn state_odd(lang: Lang, odd: &str) -> String {
    say!(
        lang,
        "state.md: {odd}. `dandori state show` shows how it is read",
        "state.md: {odd}。`dandori state show` で読み取り結果を確認できます"
    )
}

pub fn playbook_missing(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "the active playbook {path} is not there. Make it (`playbook-init`), or set playbook.active right",
        "有効な playbook {path} がありません。`playbook-init` で作成するか、playbook.active を修正してください"
    )
}

pub fn none_in_progress(lang: Lang) -> String {
    say!(
        lang,
        "no phase of the playbook is in_progress. Set the status of the one you work on",
        "in_progress のフェーズがありません。作業中のフェーズの status を設定してください"
    )
}

pub fn critic_owed(lang: Lang, phase: &str) -> String {
    say!(
        lang,
        "every subtask of {phase} is ticked, but self_complete is false: have the critic look at it before it is called done",
        "{phase} のサブタスクはすべて完了ですが、self_complete が false です。完了とする前に critic の確認を受けてください"
    )
}
