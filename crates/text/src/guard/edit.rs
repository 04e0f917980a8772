//! What the guards of edits say.

use crate::Lang;
use crate::lang::say;

pub fn consent(lang: Lang) -> String {
    say!(
        lang,
        "no changes until the user has confirmed your understanding. Describe what you understood and what you plan to do ([Understanding check]), then ask the user to answer `ok` here or to run `dandori consent` in their own terminal: you cannot do it for them. Reading is always allowed",
        "理解確認が済んでいないため変更できません。理解した内容と方針を [理解確認] として示し、ユーザー本人に、ここで `ok` と答えるか、自分の端末で `dandori consent` を実行するよう依頼してください (エージェントが代わりに行うことはできません)。読み取りはいつでもできます"
    )
}

/// `playbook` is the finished one, when the mark says it.
pub fn post_loop(lang: Lang, playbook: Option<&str>) -> String {
    let which = playbook.map(|p| format!(" ({p})")).unwrap_or_default();
    say!(
        lang,
        "the finished playbook{which} has not been closed yet, so nothing else can be changed. Call the skill `post-loop` or run `dandori post-loop`; state.md can still be edited",
        "完了した playbook{which} の終了処理が済んでいないため変更できません。skill `post-loop` を呼ぶか `dandori post-loop` を実行してください。state.md は編集できます"
    )
}

pub fn protected(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "{path} is protected (`{pattern}`). Solve the task without changing it, or ask the user: they can change it themselves or allow it with `dandori guard allow protected-edit --path '{path}'`",
        "{path} は保護されています (`{pattern}`)。変更せずに別の方法で進めるか、ユーザーに相談してください。ユーザーは自分で\
         変更するか、`dandori guard allow protected-edit --path '{path}'` で許可できます"
    )
}

/// The change goes on.
pub fn watched(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "{path} is a protected file (`{pattern}`, warning only): change it only as far as the task requires, and tell the user about it",
        "{path} は保護対象のファイルです (`{pattern}`、警告のみ)。依頼に必要な範囲だけ変更し、変更したことをユーザーに伝えてください"
    )
}

pub fn perhaps_protected(lang: Lang, name: &str) -> String {
    say!(
        lang,
        "the command writes to a file whose name is only known at run time, and mentions the protected file {name}. Write the file name explicitly",
        "書き込み先のファイル名が実行時に決まるコマンドで、保護対象の {name} が含まれています。ファイル名を明示してください"
    )
}

pub fn no_playbook(lang: Lang) -> String {
    say!(
        lang,
        "no active playbook, so no file can be changed. Run `dandori playbook new <name> --activate` (or call the skill `playbook-init` if available), fill it in, have it reviewed, then continue. state.md and plan/ can still be edited",
        "有効な playbook がないため変更できません。`dandori playbook new <name> --activate` (skill `playbook-init` があればそちら) で作成し、内容を書いてレビューを受けてから続けてください。state.md と plan/ は編集できます"
    )
}

pub fn no_state(lang: Lang) -> String {
    say!(
        lang,
        "state.md does not exist, so no playbook is active and no file can be changed. Restore it (`git restore state.md`, `git checkout <commit> -- state.md`, or write it with the editing tool), or create a new one with the skill `playbook-init` (`dandori playbook new <name> --activate`)",
        "state.md がないため、有効な playbook もなく変更できません。state.md を復元する (`git restore state.md`、`git checkout <commit> -- state.md`、または編集ツールで作成) か、skill `playbook-init` (`dandori playbook new <name> --activate`) で作成してください"
    )
}

pub fn state_stays(lang: Lang) -> String {
    say!(
        lang,
        "do not remove or rename state.md: it directs the work. If no playbook is in use, set `playbook.active: null` in it; only the user can remove the file",
        "state.md は削除も名前の変更もできません (作業の基準になるファイルです)。playbook を使わないときは `playbook.active: null` にしてください。削除できるのはユーザーだけです"
    )
}

/// `reason` is why, in the user's language.
pub fn paper_unreadable(lang: Lang, path: &str, reason: &str) -> String {
    say!(
        lang,
        "cannot read {path} ({reason}), so nothing else can be changed. Make it a readable file again (`ls -ld {path}` shows what it is; `git restore {path}` restores a committed one), or ask the user",
        "{path} を読み取れない ({reason}) ため、ほかの変更はできません。読み取れるファイルに戻してください (`ls -ld {path}` で確認、コミット済みなら `git restore {path}` で復元)。できない場合はユーザーに相談してください"
    )
}

pub fn playbook_missing(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "state.md names the playbook {path}, but that file does not exist. Correct `playbook.active` in state.md, or create the playbook with `dandori playbook new <name> --activate` (or the skill `playbook-init`)",
        "state.md で指定された playbook {path} がありません。state.md の `playbook.active` を修正するか、`dandori playbook new <name> --activate` (または skill `playbook-init`) で作成してください"
    )
}

pub fn unreviewed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "the playbook {path} has not been reviewed (`reviewed: false`). Ask the user to review it and to set `reviewed: true` in {path} themselves (the subagent `reviewer` can look at it first; you cannot set it). Until then you can only edit state.md and plan/",
        "playbook {path} は未レビューです (`reviewed: false`)。ユーザーにレビューを依頼し、{path} の `reviewed: true` を本人に設定してもらってください (先に subagent `reviewer` に確認させることはできますが、自分では設定できません)。それまで編集できるのは state.md と plan/ だけです"
    )
}

pub fn not_your_mark(lang: Lang, path: &str, mark: &str) -> String {
    say!(
        lang,
        "{path}: you must not set `{mark}`. Make the edit without it, and ask the user to set it once the reviewer or the critic has approved the work",
        "{path}: `{mark}` は自分で設定できません。その変更を除いて編集し、reviewer または critic の承認後にユーザー本人に設定してもらってください"
    )
}

pub fn marks_too_early(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: nothing can be marked done or checked before the playbook is reviewed. Make the edit without those marks, then have it reviewed (subagent `reviewer`, or the user)",
        "{path}: レビュー前に完了やチェックを付けることはできません。その変更を除いて編集し、レビュー (subagent `reviewer` またはユーザー) を受けてください"
    )
}

pub fn use_the_editing_tool(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: changes made by a shell command cannot be checked. Change it with the editing tool (Edit, Write, apply_patch)",
        "{path}: シェルコマンドによる変更は内容を確認できません。編集ツール (Edit、Write、apply_patch) で変更してください"
    )
}

pub fn edit_not_followed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: the result of this edit cannot be determined. Give the old text exactly and long enough to be unique, or write the whole file",
        "{path}: この編集の結果を判断できません。変更前のテキストを、1 箇所に定まる長さで正確に指定するか、ファイル全体を書き込んでください"
    )
}

pub fn perhaps_a_paper(lang: Lang) -> String {
    say!(
        lang,
        "the command writes to a file whose name is only known at run time, and mentions state.md or a playbook. Change those with the editing tool",
        "書き込み先のファイル名が実行時に決まるコマンドで、state.md または playbook が含まれています。これらは編集ツールで変更してください"
    )
}

pub fn odd_paper(lang: Lang, path: &str, odd: &str) -> String {
    say!(
        lang,
        "part of {path} could not be read: {odd}. The rest is used; fix it",
        "{path} の一部を読み取れません: {odd}。残りの内容を使います。修正してください"
    )
}

pub fn waits_for(lang: Lang, phase: &str, before: &str) -> String {
    say!(
        lang,
        "phase {phase} is in progress but depends on {before}, which is not done. Finish that first (set it in_progress), or correct `depends_on` in the playbook and explain why",
        "進行中のフェーズ {phase} は未完了の {before} に依存しています。先にそちらを in_progress にして完了させるか、理由を示して playbook の `depends_on` を修正してください"
    )
}

pub fn depended_on(lang: Lang, path: &str, names: &[String], more: bool) -> String {
    let names = names.join(", ");
    let more = if more { ", …" } else { "" };
    say!(
        lang,
        "{path} is mentioned in {names}{more}: check that they still match",
        "{path} は {names}{more} で参照されています。内容が合っているか確認してください"
    )
}

/// As the subject of [`other_executor`].
pub fn the_playbook(lang: Lang) -> String {
    say!(lang, "the playbook", "playbook")
}

pub fn other_executor(lang: Lang, what: &str, executor: &str, you: &str) -> String {
    say!(
        lang,
        "{what} is assigned to {executor}, but you are {you}. Hand it over; if {executor} is not available, continue yourself and note in the playbook that you did so and why",
        "{what} の担当は {executor} ですが、現在のエージェントは {you} です。担当に引き継いでください。{executor} が使えない場合は自分で続け、その旨と理由を playbook に記録してください"
    )
}

pub fn needs_critic(lang: Lang, path: &str, what: &str) -> String {
    say!(
        lang,
        "{path}: {what} is set to done, but the critic has not approved it (`self_complete: true` in state.md). Call the subagent `critic` with evidence that can be run, or show it to the user, who sets `self_complete: true`; do not change the status until then",
        "{path}: {what} を完了にしようとしていますが、critic の承認 (state.md の `self_complete: true`) がありません。実行できる証拠を添えて subagent `critic` を呼ぶか、ユーザーに示して本人に `self_complete: true` を設定してもらってください。それまで status は変更しないでください"
    )
}

pub fn subtasks_owed(lang: Lang, path: &str, phases: &str, subtasks: &str) -> String {
    say!(
        lang,
        "{path}: {phases} cannot be set to done until {subtasks} is checked, with evidence for technical, consistency and completeness. Finish and check the subtasks first",
        "{path}: {phases} は完了にできません。{subtasks} が未チェックか、technical / consistency / completeness の証拠がありません。先にサブタスクを完了してください"
    )
}

pub fn not_a_playbook_to_activate(lang: Lang, active: &str) -> String {
    say!(
        lang,
        "`playbook.active` must name a `plan/playbook-*.md` of this repository that is not archived, not {active}. Create one with `dandori playbook new <name> --activate`",
        "`playbook.active` に指定できるのは、このリポジトリのアーカイブされていない `plan/playbook-*.md` だけです \
         ({active} は不可)。`dandori playbook new <name> --activate` で作成してください"
    )
}

pub fn unproven(lang: Lang, subtask: &str, missing: &str) -> String {
    say!(
        lang,
        "cannot check `{subtask}` yet: there is no evidence for {missing}. Below the subtask, write `- technical: …`, `- consistency: …` and `- completeness: …` with what you ran and saw, in the same edit or earlier",
        "`{subtask}` はまだチェックできません。{missing} の証拠がありません。サブタスクの下に `- technical: …`、`- consistency: …`、`- completeness: …` を、実行した内容と結果とともに (同じ編集で、または先に) 書いてください"
    )
}

pub fn scope_changed(lang: Lang, before: &str, after: &str) -> String {
    say!(
        lang,
        "the scope of a reviewed playbook would grow from {before} to {after}. Get the user's approval before you make this edit",
        "レビュー済み playbook のスコープが {before} から {after} に広がります。編集する前にユーザーの承認を得てください"
    )
}

pub fn goal_changed(lang: Lang) -> String {
    say!(
        lang,
        "`goal.done_criteria` in state.md would change within the same phase: you must not move the agreed goal. Get the user's approval before you make this edit",
        "フェーズを変えずに state.md の `goal.done_criteria` を変更しようとしています。合意した完了条件のため、編集する前にユーザーの承認を得てください"
    )
}

/// A scope that names nothing.
pub fn no_scope(lang: Lang) -> String {
    say!(lang, "everything", "制限なし")
}

pub fn out_of_scope(lang: Lang, paths: &str, scope: &str) -> String {
    say!(
        lang,
        "{paths}: outside the playbook's scope ({scope}). Stay within it, or ask the user whether to extend the scope, then change `scope` in the playbook",
        "{paths}: playbook のスコープ ({scope}) の外です。スコープ内で進めるか、広げてよいかユーザーに確認してから playbook \
         の `scope` を変更してください"
    )
}

pub fn criteria_changed(lang: Lang, phases: &str) -> String {
    say!(
        lang,
        "the done_criteria of {phases} would change after the review. Get the user's approval: explain what changes and why",
        "レビュー済みの {phases} の done_criteria が変わります。変更内容と理由を示し、ユーザーの承認を得てください"
    )
}

pub fn check_failed(lang: Lang, path: &str, check: &str, tail: &str) -> String {
    if tail.is_empty() {
        return say!(
            lang,
            "{path} was changed, and `{check}` now fails without output. Fix it before you continue",
            "{path} の変更後、`{check}` が何も出力せずに失敗しました。先に修正してください"
        );
    }
    say!(
        lang,
        "{path} was changed, and `{check}` now fails. Fix it before you continue:\n{tail}",
        "{path} の変更後、`{check}` が失敗しました。先に修正してください:\n{tail}"
    )
}
