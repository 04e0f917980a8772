//! What is wrong with a playbook, and its phases in a word.

use dandori_domain::guard::Profile;
use dandori_playbook::{Fault, Next, Odd, PhaseStatus, Wanted};

use crate::Lang;
use crate::lang::say;

/// What could not be understood in state.md or a playbook.
pub fn odd(lang: Lang, odd: &Odd) -> String {
    match odd {
        Odd::NoKeys => say!(
            lang,
            "there is neither front matter nor a yaml block in it",
            "フロントマターも yaml ブロックもありません"
        ),
        Odd::Value { key, found, wanted } => {
            let wanted = match wanted {
                Wanted::Flag => say!(lang, "true or false", "true か false"),
                Wanted::Security => say!(lang, "normal or admin", "normal か admin"),
                Wanted::Toolstack => say!(lang, "A, B or C", "A、B、C のいずれか"),
            };
            say!(lang, "{key} is `{found}`: {wanted} is understood", "{key} が `{found}` です ({wanted} を指定します)")
        }
        Odd::Reviewed => {
            say!(lang, "reviewed is neither true nor false", "reviewed が true でも false でもありません")
        }
        Odd::Status { phase, found } => say!(
            lang,
            "the status of {phase} is `{found}`: pending, in_progress or done is understood",
            "{phase} の status が `{found}` です (pending、in_progress、done のいずれかを指定します)"
        ),
    }
}

pub fn fault(lang: Lang, fault: &Fault) -> String {
    match fault {
        Fault::NoPhases => say!(
            lang,
            "it has no phases: a phase begins with a heading like `## p1: title`",
            "フェーズがありません。フェーズは `## p1: タイトル` のような見出しで始めます"
        ),
        Fault::NoBranch => {
            say!(lang, "it names no branch: `branch: …` at the top", "ブランチの指定がありません (先頭に `branch: …`)")
        }
        Fault::SameId { id } => say!(lang, "{id}: another phase has this id", "{id}: 同じ ID のフェーズがあります"),
        Fault::UnknownDependency { phase, on } => {
            say!(lang, "{phase}: depends on {on}, which is not there", "{phase}: 依存先 {on} がありません")
        }
        Fault::Cycle { phases } => {
            let way = phases.join(" → ");
            say!(lang, "phases wait for each other: {way}", "フェーズの依存が循環しています: {way}")
        }
        Fault::NoCriteria { phase } => {
            say!(lang, "{phase}: it has no done_criteria", "{phase}: done_criteria がありません")
        }
        Fault::LooseCriteria { phase } => {
            say!(lang, "{phase}: each criterion begins with `- `", "{phase}: 完了条件はそれぞれ `- ` で始めます")
        }
        Fault::SeveralInProgress { phases } => {
            let phases = phases.join(", ");
            say!(lang, "more than one phase is in progress: {phases}", "進行中のフェーズが複数あります: {phases}")
        }
        Fault::DoneTooEarly { phase, before } => {
            say!(lang, "{phase}: it is done, but {before} is not", "{phase}: 完了していますが、{before} が未完了です")
        }
        Fault::Unproven { phase, subtask, missing } => {
            let missing = missing.join(", ");
            say!(
                lang,
                "{phase}: `{subtask}` is ticked without evidence for {missing}",
                "{phase}: `{subtask}` は {missing} の証拠なしで完了になっています"
            )
        }
        Fault::NoFinalPhase => say!(
            lang,
            "the last phase should look at the whole: `## p_final: …`",
            "最後に全体を確認するフェーズ (`## p_final: …`) がありません"
        ),
    }
}

/// What comes after a finished playbook.
pub fn next(lang: Lang, next: &Next) -> String {
    match next {
        Next::Phase { playbook, id, title } => {
            say!(lang, "Next: {id} {title} ({playbook})", "次の作業: {id} {title} ({playbook})")
        }
        Next::Playbook { path, branch, .. } => {
            let on = branch.as_deref().map(|b| format!(", `git switch -c {b}`")).unwrap_or_default();
            let ja = branch.as_deref().map(|b| format!("、`git switch -c {b}`")).unwrap_or_default();
            say!(
                lang,
                "Next: the playbook {path} (`dandori state set playbook.active {path}`{on})",
                "次の作業: playbook {path} (`dandori state set playbook.active {path}`{ja})"
            )
        }
        Next::Nothing => {
            say!(lang, "All tasks are done. Waiting for your next instruction.", "全タスク完了。次の指示を待ちます。")
        }
    }
}

pub fn phase_status(lang: Lang, status: PhaseStatus) -> &'static str {
    match (lang, status) {
        (Lang::En, status) => status.as_str(),
        (Lang::Ja, PhaseStatus::Pending) => "未着手",
        (Lang::Ja, PhaseStatus::InProgress) => "進行中",
        (Lang::Ja, PhaseStatus::Done) => "完了",
    }
}

pub fn no_faults(lang: Lang, path: &str) -> String {
    say!(lang, "{path} is sound", "{path} に問題はありません")
}

pub fn made(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "made {path}: fill it in, then have it reviewed",
        "{path} を作成しました。内容を書き、レビューを受けてください"
    )
}

pub fn activated(lang: Lang, path: &str, before: Option<&str>) -> String {
    match before {
        Some(before) => say!(
            lang,
            "state.md: {path} is the active playbook now, in place of {before}",
            "state.md: 有効な playbook を {before} から {path} に変更しました"
        ),
        None => {
            say!(lang, "state.md: {path} is the active playbook now", "state.md: {path} を有効な playbook にしました")
        }
    }
}

pub fn not_active(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "it is not the active one: `dandori state set playbook.active {path}` makes it that",
        "まだ有効ではありません。`dandori state set playbook.active {path}` で有効にできます"
    )
}

/// A repository's first state.md, and the profile it comes under by that.
pub fn made_state(lang: Lang, profile: Option<Profile>) -> String {
    match profile {
        Some(profile) => {
            let name = profile.as_str();
            say!(
                lang,
                "made state.md: this repository now goes by the profile {name} (`dandori guard list`)",
                "state.md を作成しました。このリポジトリのプロファイルは {name} になります (`dandori guard list`)"
            )
        }
        None => say!(lang, "made state.md", "state.md を作成しました"),
    }
}

/// The active playbook has no file.
pub fn not_there_yet(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} is not there: until it is, work goes by no playbook",
        "{path} がありません。作成されるまで playbook なしの扱いになります"
    )
}

pub fn unreviewed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not reviewed yet",
        Lang::Ja => "未レビュー",
    }
}

pub fn reviewed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "reviewed",
        Lang::Ja => "レビュー済み",
    }
}

/// How far it is.
pub fn progress(lang: Lang, done: usize, working: usize, pending: usize) -> String {
    say!(
        lang,
        "phases: {done} done, {working} in progress, {pending} pending",
        "フェーズ: 完了 {done}、進行中 {working}、未着手 {pending}"
    )
}

pub fn all_done(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "every phase is done",
        Lang::Ja => "すべてのフェーズが完了しています",
    }
}

pub fn elsewhere(lang: Lang, wanted: &str, found: &str) -> String {
    say!(
        lang,
        "the playbook is for the branch {wanted}, this is {found}",
        "playbook のブランチは {wanted} ですが、現在は {found} です"
    )
}

pub fn no_history(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no earlier versions: `dandori state set` keeps one whenever it changes state.md",
        Lang::Ja => "以前の版はありません。`dandori state set` が state.md を変更するたびに保存します",
    }
}
