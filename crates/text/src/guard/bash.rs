//! What the guards say about commands, secrets and a run's limits.

use crate::Lang;
use crate::lang::say;

pub fn secret(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} contains secrets and must not be read or written here. Use an example file (`.env.example`), or ask the user to run `dandori guard allow secrets --path {path}`",
        "{path} は機密ファイルのため、読み書きできません。`.env.example` などの例を使うか、ユーザーに `dandori guard allow secrets --path {path}` の実行を依頼してください"
    )
}

pub fn login(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "`{line}` prints credentials or secrets, and you would see them. Let the tool that needs them read them itself, or ask the user to run the command",
        "`{line}` は認証情報や機密の値を出力するため、あなたに見えてしまいます。必要とするツール自身に読み取らせるか、ユーザーに実行を依頼してください"
    )
}

pub fn run_git(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "do not run `{line}` in a run: dandori commits, pushes and opens the pull request when you are done. Only edit files, and describe your changes in your last message",
        "実行中は `{line}` を使えません。コミット、プッシュ、プルリクエストの作成は、作業の後に dandori が行います。ファイルの編集だけを行い、変更内容を最後のメッセージで説明してください"
    )
}

pub fn run_git_files(lang: Lang, line: &str) -> String {
    say!(
        lang,
        "do not run `{line}` in a run: dandori manages git branches and files. To undo a change, edit the file back (`git diff` and `git show HEAD:<file>` show the original)",
        "実行中は `{line}` を使えません。git の操作は dandori が行います。変更を戻すには、編集ツールで元の内容に戻してください (元の内容は `git diff` や `git show HEAD:<file>` で確認できます)"
    )
}

pub fn run_path(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} must not be read or written in a run. Do the task without it; if that is impossible, say so at the end",
        "実行中は {path} を読み書きできません。使わずに作業を進め、できない場合は最後にその旨を伝えてください"
    )
}

pub fn run_path_perhaps(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "`{path}` may match {pattern}, which must not be accessed in a run. Name the files explicitly, or use the editing tool",
        "`{path}` は、実行中にアクセスできない {pattern} に一致する可能性があります。ファイル名を明示するか、編集ツールを使ってください"
    )
}

pub fn run_only_reads(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "this run may only read, so {path} cannot be changed. Say what should be changed instead of changing it",
        "この実行では読み取りしかできないため、{path} は変更できません。変更せずに、変更すべき内容を伝えてください"
    )
}

/// A destructive command, with the way out of its class.
pub fn destructive(lang: Lang, class: &str, line: &str) -> String {
    let way = way_out(lang, class);
    say!(lang, "`{line}` is irreversible ({class}). {way}", "`{line}` は元に戻せない操作です ({class})。{way}")
}

fn way_out(lang: Lang, class: &str) -> &'static str {
    match (lang, class) {
        (Lang::En, "rm-root" | "rm-outside") => {
            "Name the files in the project to delete; ask the user to delete anything else"
        }
        (Lang::Ja, "rm-root" | "rm-outside") => {
            "削除するプロジェクト内のファイルを明示してください。それ以外の削除はユーザーに依頼してください"
        }
        (Lang::En, "git-discard") => "Save the work first, with `git stash` or a commit on another branch",
        (Lang::Ja, "git-discard") => {
            "先に `git stash` または別のブランチへのコミットで作業を残し、ユーザーに確認してください"
        }
        (Lang::En, "git-force-push") => {
            "Push without force, to a new branch if necessary; if force is needed, ask the user to run it"
        }
        (Lang::Ja, "git-force-push") => {
            "force を付けずに、必要なら新しいブランチへプッシュしてください。force が必要な場合はユーザーに依頼してください"
        }
        (Lang::En, "perms") => "Change only the mode of the file that needs it: `chmod u+w <file>`",
        (Lang::Ja, "perms") => {
            "必要なファイルだけを `chmod u+w <file>` のように変更してください。広範囲の変更はユーザーに依頼してください"
        }
        (Lang::En, "publish") => "Test it with `--dry-run`, and ask the user to publish",
        (Lang::Ja, "publish") => "`--dry-run` で確認し、公開はユーザーに依頼してください",
        (Lang::En, "database" | "cloud") => "Name the single item to delete, or ask the user to run it",
        (Lang::Ja, "database" | "cloud") => "削除する対象を 1 つだけ指定するか、ユーザーに依頼してください",
        (Lang::En, _) => "If it is necessary, ask the user to run it",
        (Lang::Ja, _) => "必要な場合はユーザーに依頼してください",
    }
}

pub fn opaque_large(lang: Lang) -> String {
    say!(
        lang,
        "the command is too long or too deeply nested to check. Run the commands one at a time; write long text with the editing tool",
        "コマンドが長すぎるか、入れ子が深すぎて確認できません。コマンドを 1 つずつ実行し、長いテキストは編集ツールで書いてください"
    )
}

pub fn opaque_not_understood(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` cannot be parsed as a shell command, so its effect is unknown. Simplify it: one command per call, with quotes closed",
        "`{text}` はシェルのコマンドとして解釈できず、動作を確認できません。引用符を閉じ、コマンドを 1 つずつ簡潔に書いてください"
    )
}

pub fn opaque_computed(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "the command that `{text}` runs is not known in advance. Write the command name directly",
        "`{text}` が実行するコマンドは事前に分かりません。コマンド名を直接書いてください"
    )
}

pub fn opaque_code(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` runs code that has not been reviewed (piped, downloaded or decoded). Save it to a file, read it, then run the commands directly",
        "`{text}` は内容を確認していないコード (パイプ・ダウンロード・デコード) を実行します。ファイルに保存して内容を読み、必要なコマンドを直接実行してください"
    )
}

pub fn opaque_interpreter(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "the effect of `{text}` cannot be determined from its code. Run the commands directly, or change files with the editing tool",
        "`{text}` の動作はコードから判断できません。コマンドを直接実行するか、編集ツールでファイルを変更してください"
    )
}

pub fn opaque_interactive(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` opens an interactive prompt, whose input cannot be checked. Run the commands directly, one per call",
        "`{text}` は対話モードを開くため、その後の入力を確認できません。コマンドを 1 つずつ直接実行してください"
    )
}

pub fn opaque_fresh(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` is written and run by the same command, and its contents are unknown. Write it with the editing tool, then run it",
        "`{text}` は同じコマンド内で作成して実行されるため、内容を確認できません。編集ツールで作成してから実行してください"
    )
}

pub fn opaque_setting(lang: Lang, text: &str) -> String {
    say!(
        lang,
        "`{text}` makes other commands run unchecked code. Remove this setting",
        "`{text}` は他のコマンドに未確認のコードを実行させる設定です。この設定を外してください"
    )
}

pub fn script_unseen(lang: Lang, path: &str, text: &str) -> String {
    say!(
        lang,
        "{path} was written in this session, and the effect of `{text}` in it cannot be determined. Run the commands directly, or simplify the script",
        "{path} はこのセッションで作成されたスクリプトで、`{text}` の動作を確認できません。コマンドを直接実行するか、スクリプトを簡潔に書き直してください"
    )
}

pub fn script_refused(lang: Lang, path: &str, guard: &str, why: &str) -> String {
    say!(
        lang,
        "{path} was written in this session and contains an action that `{guard}` blocks: {why}",
        "{path} はこのセッションで作成されたスクリプトで、`{guard}` がブロックする操作を含みます: {why}"
    )
}

pub fn state_unchanged(lang: Lang) -> String {
    say!(
        lang,
        "this commit does not update state.md. Update it to match the work (`dandori state set <key> <value>`) and include it in the commit",
        "このコミットでは state.md が更新されていません。作業に合わせて更新し (`dandori state set <key> <value>`)、コミットに含めてください"
    )
}

pub fn check_failed(lang: Lang, check: &str, output: &str) -> String {
    if output.is_empty() {
        return say!(
            lang,
            "not committed: the check `{check}` failed without output. Run it, fix the problem, then commit again",
            "チェック `{check}` が何も出力せずに失敗したため、コミットできません。実行して問題を修正してから、再度コミットしてください"
        );
    }
    say!(
        lang,
        "not committed: the check `{check}` failed. Fix the problem, then commit again:\n{output}",
        "チェック `{check}` が失敗したため、コミットできません。問題を修正してから再度コミットしてください:\n{output}"
    )
}

pub fn wrong_branch(lang: Lang, found: &str, wanted: &str) -> String {
    say!(
        lang,
        "you are on branch {found}, but the playbook is for {wanted}. Switch first: `git switch {wanted}` (or `git switch -c {wanted}` if it does not exist yet)",
        "現在のブランチは {found} ですが、playbook のブランチは {wanted} です。先に `git switch {wanted}` (未作成なら `git switch -c {wanted}`) を実行してください"
    )
}

pub fn focus_differs(lang: Lang, focus: &str, of_focus: &str, active: &str) -> String {
    say!(
        lang,
        "state.md: active_playbooks.{focus} is {of_focus}, but playbook.active is {active}. Set both to the same value (`dandori state set <key> <value>`)",
        "state.md: active_playbooks.{focus} は {of_focus} ですが、playbook.active は {active} です。`dandori state set <key> <value>` で同じ値にしてください"
    )
}

pub fn state_odd(lang: Lang, odd: &str) -> String {
    say!(
        lang,
        "state.md: {odd}. Run `dandori state show` to see how it is read",
        "state.md: {odd}。読み取り結果は `dandori state show` で確認できます"
    )
}

pub fn playbook_missing(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "the active playbook {path} does not exist. Create it (`playbook-init`), or correct playbook.active",
        "有効な playbook {path} がありません。`playbook-init` で作成するか、playbook.active を修正してください"
    )
}

pub fn none_in_progress(lang: Lang) -> String {
    say!(
        lang,
        "no phase of the playbook is in_progress. Set the status of the phase you are working on",
        "in_progress のフェーズがありません。作業中のフェーズの status を設定してください"
    )
}

pub fn critic_owed(lang: Lang, phase: &str) -> String {
    say!(
        lang,
        "all subtasks of {phase} are checked, but self_complete is false: ask the critic to review it before you mark it done",
        "{phase} のサブタスクはすべてチェック済みですが、self_complete が false です。完了とする前に critic のレビューを受けてください"
    )
}
