//! What is wrong with a playbook, and its phases in a word.

use dandori_domain::guard::Profile;
use dandori_playbook::{Fault, Next, Odd, PhaseStatus, Wanted};

use crate::Lang;
use crate::lang::say;

/// What could not be understood in state.md or a playbook.
pub fn odd(lang: Lang, odd: &Odd) -> String {
    match odd {
        Odd::NoKeys => {
            say!(lang, "neither front matter nor a yaml block found", "フロントマターも yaml ブロックもありません")
        }
        Odd::Value { key, found, wanted } => {
            let wanted = match wanted {
                Wanted::Flag => say!(lang, "true or false", "true か false"),
                Wanted::Security => say!(lang, "normal or admin", "normal か admin"),
                Wanted::Toolstack => say!(lang, "A, B or C", "A、B、C のいずれか"),
            };
            say!(
                lang,
                "invalid value `{found}` for {key}: use {wanted}",
                "{key} の値 `{found}` は無効です ({wanted} を指定してください)"
            )
        }
        Odd::Reviewed => {
            say!(lang, "reviewed must be true or false", "reviewed は true か false でなければなりません")
        }
        Odd::Status { phase, found } => say!(
            lang,
            "invalid status `{found}` of {phase}: use pending, in_progress or done",
            "{phase} の status `{found}` は無効です (pending、in_progress、done のいずれかを指定してください)"
        ),
    }
}

pub fn fault(lang: Lang, fault: &Fault) -> String {
    match fault {
        Fault::NoPhases => say!(
            lang,
            "no phases: a phase starts with a heading such as `## p1: title`",
            "フェーズがありません。フェーズは `## p1: タイトル` のような見出しで始めます"
        ),
        Fault::NoBranch => {
            say!(
                lang,
                "no branch: add `branch: …` at the top",
                "ブランチの指定がありません。先頭に `branch: …` を追加してください"
            )
        }
        Fault::SameId { id } => say!(lang, "{id}: duplicate phase id", "{id}: フェーズの ID が重複しています"),
        Fault::UnknownDependency { phase, on } => {
            say!(lang, "{phase}: depends on {on}, which does not exist", "{phase}: 依存先 {on} がありません")
        }
        Fault::Cycle { phases } => {
            let way = phases.join(" → ");
            say!(lang, "circular dependency between phases: {way}", "フェーズの依存が循環しています: {way}")
        }
        Fault::NoCriteria { phase } => {
            say!(lang, "{phase}: no done_criteria", "{phase}: done_criteria がありません")
        }
        Fault::LooseCriteria { phase } => {
            say!(lang, "{phase}: start each criterion with `- `", "{phase}: 完了条件はそれぞれ `- ` で始めてください")
        }
        Fault::SeveralInProgress { phases } => {
            let phases = phases.join(", ");
            say!(lang, "more than one phase is in progress: {phases}", "進行中のフェーズが複数あります: {phases}")
        }
        Fault::DoneTooEarly { phase, before } => {
            say!(
                lang,
                "{phase}: marked done, but {before} is not done",
                "{phase}: 完了していますが、{before} が未完了です"
            )
        }
        Fault::Unproven { phase, subtask, missing } => {
            let missing = missing.join(", ");
            say!(
                lang,
                "{phase}: `{subtask}` is checked without evidence for {missing}",
                "{phase}: `{subtask}` は {missing} の証拠なしでチェックされています"
            )
        }
        Fault::NoFinalPhase => say!(
            lang,
            "add a final phase that reviews the whole: `## p_final: …`",
            "最後に全体を確認するフェーズ `## p_final: …` を追加してください"
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
                "Next: playbook {path} (`dandori state set playbook.active {path}`{on})",
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
    say!(lang, "{path}: no problems found", "{path}: 問題はありません")
}

pub fn made(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "created {path}; fill it in, then have it reviewed",
        "{path} を作成しました。内容を書き、レビューを受けてください"
    )
}

pub fn activated(lang: Lang, path: &str, before: Option<&str>) -> String {
    match before {
        Some(before) => say!(
            lang,
            "state.md: {path} replaces {before} as the active playbook",
            "state.md: 有効な playbook を {before} から {path} に変更しました"
        ),
        None => {
            say!(lang, "state.md: {path} is now the active playbook", "state.md: {path} を有効な playbook にしました")
        }
    }
}

/// What making a playbook the active one changes beside that; `None`: nothing.
pub fn activation_changes(lang: Lang, active: Option<&str>, profile: Option<Profile>) -> Option<String> {
    let replaced = active.map(|active| {
        say!(lang, "{active} will no longer be the active playbook", "{active} は有効な playbook ではなくなります")
    });
    let profile = profile.map(|profile| {
        let name = profile.as_str();
        say!(
            lang,
            "the guards of this repository will use the profile {name}",
            "このリポジトリのガードのプロファイルが {name} になります"
        )
    });
    let all: Vec<String> = replaced.into_iter().chain(profile).collect();
    let between = match lang {
        Lang::En => ", and ",
        Lang::Ja => "。",
    };
    (!all.is_empty()).then(|| all.join(between))
}

pub fn activate_question(lang: Lang, what: &str) -> String {
    say!(lang, "If you activate it, {what}. Continue?", "有効にすると、{what}。続けますか?")
}

pub fn not_active(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "it is not active; activate it with `dandori state set playbook.active {path}`",
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
                "created state.md: this repository now uses the profile {name} (see `dandori guard list`)",
                "state.md を作成しました。このリポジトリではプロファイル {name} が使われます (`dandori guard list` で確認できます)"
            )
        }
        None => say!(lang, "created state.md", "state.md を作成しました"),
    }
}

/// The active playbook has no file.
pub fn not_there_yet(lang: Lang, path: &str) -> String {
    say!(
        lang,
        "{path} does not exist: until it does, no playbook is in effect",
        "{path} がありません。作成するまで playbook なしとして扱います"
    )
}

pub fn unreviewed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not reviewed",
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
        Lang::En => "all phases are done",
        Lang::Ja => "すべてのフェーズが完了しています",
    }
}

pub fn elsewhere(lang: Lang, wanted: &str, found: &str) -> String {
    say!(
        lang,
        "the playbook is for branch {wanted}, but you are on {found}",
        "playbook のブランチは {wanted} ですが、現在は {found} です"
    )
}

pub fn no_history(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "no earlier versions: `dandori state set <key> <value>` saves one each time it changes state.md",
        Lang::Ja => {
            "以前のバージョンはありません。`dandori state set <key> <value>` で state.md を変更するたびに保存されます"
        }
    }
}
