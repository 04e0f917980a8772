//! What the guards of edits say.

use crate::Lang;
use crate::lang::say;

pub fn consent(lang: Lang) -> String {
    say!(
        lang,
        "nothing is changed before the user has confirmed your understanding. Say what you understood and what you plan \
         to do ([Understanding check]), and ask the user to answer `ok` here or to run `dandori consent` in their own terminal: you \
         cannot do it for them. Reading is free",
        "理解確認が済んでいないため変更できません。理解した内容と方針を [理解確認] として示し、ユーザー本人に、ここで `ok` と\
         答えるか、端末で `dandori consent` を実行するよう依頼してください (エージェントが代わりに行うことはできません)。\
         読み取りは自由です"
    )
}

/// `playbook` is the finished one, when the mark says it.
pub fn post_loop(lang: Lang, playbook: Option<&str>) -> String {
    let which = playbook.map(|p| format!(" ({p})")).unwrap_or_default();
    say!(
        lang,
        "the finished playbook{which} is not wound up yet, so nothing new is changed. Call the skill `post-loop` or run \
         `dandori post-loop`; state.md stays editable",
        "完了した playbook{which} の後処理が済んでいないため変更できません。skill `post-loop` を呼ぶか `dandori post-loop` を\
         実行してください。state.md は編集できます"
    )
}

pub fn protected(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "{path} is protected (`{pattern}`). Leave it as it is and solve the task another way, or ask the user: they can \
         change it themselves or allow it with `dandori guard allow protected-edit --path '{path}'`",
        "{path} は保護されています (`{pattern}`)。変更せずに別の方法で進めるか、ユーザーに相談してください。ユーザーは自分で\
         変更するか、`dandori guard allow protected-edit --path '{path}'` で許可できます"
    )
}

/// The change goes on.
pub fn watched(lang: Lang, path: &str, pattern: &str) -> String {
    say!(
        lang,
        "{path} is on the list of protected files (`{pattern}`), as a warning: change it only as far as the task asks \
         for it, and tell the user that you did",
        "{path} は保護対象の一覧にあります (`{pattern}`、警告のみ)。依頼に必要な範囲だけ変更し、変更したことをユーザーに\
         伝えてください"
    )
}

pub fn perhaps_protected(lang: Lang, name: &str) -> String {
    say!(
        lang,
        "the line writes a file whose name is only known when it runs, and speaks of {name}, which is protected. Write \
         the file's name out",
        "実行時に決まる名前のファイルに書き込む行で、保護対象の {name} に触れています。ファイル名を直接書いてください"
    )
}

pub fn no_playbook(lang: Lang) -> String {
    say!(
        lang,
        "no playbook is active, so no file is changed. Run `dandori playbook new <name> --activate` (or call the skill \
         `playbook-init` where there is one), fill it in, have it reviewed, then go on. state.md and plan/ stay editable",
        "有効な playbook がないため変更できません。`dandori playbook new <名前> --activate` (skill `playbook-init` があれば\
         そちら) で作成し、内容を書いてレビューを受けてから続けてください。state.md と plan/ は編集できます"
    )
}

pub fn no_state(lang: Lang) -> String {
    say!(
        lang,
        "there is no state.md, so no playbook is active and no file is changed. Bring it back (`git restore state.md`, \
         `git checkout <commit> -- state.md`, or write it with the editing tool), or make a new one with the skill \
         `playbook-init` (`dandori playbook new <name> --activate`)",
        "state.md がないため、有効な playbook もなく変更できません。state.md を戻す (`git restore state.md`、\
         `git checkout <commit> -- state.md`、または編集ツールで書く) か、skill `playbook-init` (`dandori playbook new <name> --activate`) で\
         作成してください"
    )
}

pub fn state_stays(lang: Lang) -> String {
    say!(
        lang,
        "state.md is not removed or renamed: the work goes by it. When no playbook is worked, set `playbook.active: null` \
         in it; the user may remove it themselves",
        "state.md は削除や改名ができません (作業の基準になるファイルです)。playbook を使わないときは `playbook.active: null` に\
         してください。削除はユーザー本人が行えます"
    )
}

/// `reason` is why, in the user's language.
pub fn paper_unreadable(lang: Lang, path: &str, reason: &str) -> String {
    say!(
        lang,
        "{path} cannot be read ({reason}), so nothing else is changed. Make it a readable file again (`ls -ld {path}` \
         shows what it is; `git restore {path}` brings a committed one back), or ask the user",
        "{path} を読み取れない ({reason}) ため、ほかの変更はできません。読み取れるファイルに戻してください (`ls -ld {path}` で\
         確認、コミット済みなら `git restore {path}`)。直せない場合はユーザーに相談してください"
    )
}

pub fn playbook_missing(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "state.md names the playbook {path}, but that file is not there. Correct `playbook.active` in state.md, or make \
         the playbook with `dandori playbook new <name> --activate` (or the skill `playbook-init`)",
        "state.md が指す playbook {path} がありません。state.md の `playbook.active` を直すか、\
         `dandori playbook new <名前> --activate` (または skill `playbook-init`) で作成してください"
    )
}

pub fn unreviewed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "the playbook {path} is not reviewed yet (`reviewed: false`). Ask the user to review it and to set `reviewed: \
         true` in {path} themselves (the subagent `reviewer` can look at it first; you cannot set it). Until then only \
         state.md and plan/ are editable",
        "playbook {path} は未レビューです (`reviewed: false`)。ユーザーにレビューを依頼し、{path} の `reviewed: true` を本人に\
         設定してもらってください (先に subagent `reviewer` に確認させてもかまいません。自分では設定できません)。それまで\
         編集できるのは state.md と plan/ だけです"
    )
}

pub fn not_your_mark(lang: Lang, path: &str, mark: &str) -> String {
    say!(
        lang,
        "{path}: `{mark}` is not yours to set. Make the edit without it, and ask the user to set it themselves once the \
         reviewer or the critic has passed the work",
        "{path}: `{mark}` は自分で設定できません。その変更を除いて編集し、reviewer / critic の合格後にユーザー本人に設定して\
         もらってください"
    )
}

pub fn marks_too_early(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: nothing is done or ticked before the playbook is reviewed. Make the edit without those marks, then \
         have it reviewed (subagent `reviewer`, or the user)",
        "{path}: レビュー前に完了やチェックは付けられません。その変更を除いて編集し、レビュー (subagent `reviewer` または\
         ユーザー) を受けてください"
    )
}

pub fn use_the_editing_tool(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: what a shell line makes of it cannot be checked. Change it with the editing tool (Edit, Write, \
         apply_patch)",
        "{path}: シェルでの変更は内容を確認できません。編集ツール (Edit、Write、apply_patch) で変更してください"
    )
}

pub fn edit_not_followed(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path}: it cannot be told what this edit makes of it. Give the old text exactly as it stands and enough of it \
         to be the only place, or write the whole file",
        "{path}: この編集の結果を判断できません。変更前のテキストを正確に、1 箇所に定まる長さで指定するか、ファイル全体を\
         書き込んでください"
    )
}

pub fn perhaps_a_paper(lang: Lang) -> String {
    say!(
        lang,
        "the line writes a file whose name is only known when it runs, and speaks of state.md or a playbook. Change \
         those with the editing tool",
        "実行時に決まる名前のファイルに書き込む行で、state.md か playbook に触れています。これらは編集ツールで変更して\
         ください"
    )
}

pub fn odd_paper(lang: Lang, path: &str, odd: &str) -> String {
    say!(
        lang,
        "{path} could not be read whole: {odd}. The rest of it counts; correct it",
        "{path} に読み取れない箇所があります: {odd}。残りの内容で判断します。修正してください"
    )
}

pub fn waits_for(lang: Lang, phase: &str, before: &str) -> String {
    say!(
        lang,
        "phase {phase} is in progress, but depends on {before}, which is not done. Finish that first (set it \
         in_progress), or correct `depends_on` in the playbook and say why",
        "進行中のフェーズ {phase} は {before} に依存していますが、未完了です。先にそちらを in_progress にして完了させるか、\
         playbook の `depends_on` を理由とともに直してください"
    )
}

pub fn depended_on(lang: Lang, path: &str, names: &[String], more: bool) -> String {
    let names = names.join(", ");
    let more = if more { ", …" } else { "" };
    say!(
        lang,
        "{path} is mentioned in {names}{more}: see that they still fit",
        "{path} を参照しているファイル: {names}{more}。整合を確認してください"
    )
}

/// As the subject of [`other_executor`].
pub fn the_playbook(lang: Lang) -> String {
    say!(lang, "the playbook", "playbook")
}

pub fn other_executor(lang: Lang, what: &str, executor: &str, you: &str) -> String {
    say!(
        lang,
        "{what} is for {executor}, and this is {you}. Hand it over; if {executor} is not available, go on yourself and \
         note in the playbook that you did and why",
        "{what} の担当は {executor} ですが、実行中なのは {you} です。担当に渡してください。{executor} が使えない場合は\
         自分で続け、その旨と理由を playbook に記録してください"
    )
}

pub fn needs_critic(lang: Lang, path: &str, what: &str) -> String {
    say!(
        lang,
        "{path}: {what} is set to done, but no critic has passed it (`self_complete: true` in state.md). Call the \
         subagent `critic` with evidence that can be run, or show it to the user, who sets `self_complete: true` \
         themselves; leave the status until then",
        "{path}: {what} を完了にしようとしていますが、critic の合格 (state.md の `self_complete: true`) がありません。実行できる\
         証拠を添えて subagent `critic` を呼ぶか、ユーザーに示して本人に `self_complete: true` を設定してもらってください。\
         それまで status は変えないでください"
    )
}

pub fn subtasks_owed(lang: Lang, path: &str, phases: &str, subtasks: &str) -> String {
    say!(
        lang,
        "{path}: {phases} cannot be set to done while {subtasks} is not ticked with evidence for technical, consistency \
         and completeness. Finish and tick the subtasks first",
        "{path}: {phases} は完了にできません。{subtasks} が未チェックか、technical / consistency / completeness の証拠が\
         ありません。先にサブタスクを完了してください"
    )
}

pub fn not_a_playbook_to_activate(lang: Lang, active: &str) -> String {
    say!(
        lang,
        "`playbook.active` may only name a `plan/playbook-*.md` of this repository that is not archived, not {active}. \
         Make one with `dandori playbook new`",
        "`playbook.active` に指定できるのは、このリポジトリのアーカイブされていない `plan/playbook-*.md` だけです \
         ({active} は不可)。`dandori playbook new` で作成してください"
    )
}

pub fn unproven(lang: Lang, subtask: &str, missing: &str) -> String {
    say!(
        lang,
        "`{subtask}` cannot be ticked yet: it has no evidence for {missing}. Below the subtask, write `- technical: …`, \
         `- consistency: …` and `- completeness: …` with what you ran and saw, in the same edit or before",
        "`{subtask}` はまだチェックできません。{missing} の証拠がありません。サブタスクの下に `- technical: …`、\
         `- consistency: …`、`- completeness: …` を、実行した内容と結果とともに (同じ編集か先に) 書いてください"
    )
}

pub fn scope_changed(lang: Lang, before: &str, after: &str) -> String {
    say!(
        lang,
        "the scope of a reviewed playbook would grow from {before} to {after}. Ask the user whether that is wanted \
         before you make this edit",
        "レビュー済み playbook のスコープが {before} から {after} に広がります。編集する前にユーザーの確認を取ってください"
    )
}

pub fn goal_changed(lang: Lang) -> String {
    say!(
        lang,
        "`goal.done_criteria` in state.md would change while the phase stays the same: what was agreed as done is not \
         yours to move. Ask the user before you make this edit",
        "フェーズを変えずに state.md の `goal.done_criteria` を変更しようとしています。合意した完了条件なので、編集する前に\
         ユーザーの確認を取ってください"
    )
}

/// A scope that names nothing.
pub fn no_scope(lang: Lang) -> String {
    say!(lang, "everything", "制限なし")
}

pub fn out_of_scope(lang: Lang, paths: &str, scope: &str) -> String {
    say!(
        lang,
        "{paths}: outside of the playbook's scope ({scope}). Stay within it, or ask the user whether the scope should \
         grow, and then change `scope` in the playbook",
        "{paths}: playbook のスコープ ({scope}) の外です。スコープ内で進めるか、広げてよいかユーザーに確認してから playbook \
         の `scope` を変更してください"
    )
}

pub fn criteria_changed(lang: Lang, phases: &str) -> String {
    say!(
        lang,
        "the done_criteria of {phases} would change after the review. That needs the user's confirmation: say what \
         changes and why",
        "レビュー済みの {phases} の done_criteria が変わります。ユーザーの確認が必要です。変更内容と理由を示してください"
    )
}

pub fn check_failed(lang: Lang, path: &str, check: &str, tail: &str) -> String {
    if tail.is_empty() {
        return say!(
            lang,
            "{path} was changed, but `{check}` fails now, without a word. Correct it before going on",
            "{path} の変更後、`{check}` が何も表示せずに失敗しました。先に修正してください"
        );
    }
    say!(
        lang,
        "{path} was changed, but `{check}` fails now. Correct it before going on:\n{tail}",
        "{path} の変更後、`{check}` が失敗しました。先に修正してください:\n{tail}"
    )
}
