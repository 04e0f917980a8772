//! What the guards of prompts, skills and subagents say.

use dandori_playbook::PhaseStatus;

use crate::Lang;
use crate::lang::say;
use crate::playbook::phase_status;

pub fn no_direct_pm(lang: Lang) -> String {
    say!(
        lang,
        "do not call pm directly: call the skill `playbook-init` first (or read its SKILL.md if there is no skill tool). It leads to pm, the understanding check and the reviewer",
        "pm は直接呼び出せません。先に skill `playbook-init` を呼んでください (skill ツールがない場合はその SKILL.md を読む)。\
         そこから pm、理解確認、reviewer へ進みます"
    )
}

pub fn no_understanding(lang: Lang) -> String {
    say!(
        lang,
        "the understanding check was skipped: call the skill `understanding-check`, tell the user what you understood, then call the reviewer again",
        "理解確認が省略されています。skill `understanding-check` を呼び、理解した内容をユーザーに示してから、もう一度 reviewer を呼んでください"
    )
}

pub fn reviewer_first(lang: Lang, role: &str, playbook: &str) -> String {
    say!(
        lang,
        "{role} cannot be called until {playbook} is reviewed: call the subagent `reviewer` first. Read-only agents are allowed",
        "{playbook} のレビュー前に {role} は呼び出せません。先に subagent `reviewer` を呼んでください。読み取り専用のエージェントは\
         呼び出せます"
    )
}

pub fn files_out_of_scope(lang: Lang, files: &str, scope: &str) -> String {
    say!(
        lang,
        "the request is about {files}, outside the scope ({scope}). Before you change anything there, ask the user whether to extend the scope or to create another playbook",
        "依頼の対象 {files} はスコープ ({scope}) の外です。変更する前に、スコープを広げるのか、別の playbook にするのかを\
         ユーザーに確認してください"
    )
}

pub fn item_out_of_scope(lang: Lang, item: &str) -> String {
    say!(
        lang,
        "project.md lists \"{item}\" as out of scope. Before you start, ask the user whether to do it anyway",
        "project.md では「{item}」は対象外です。着手する前に、それでも行うかをユーザーに確認してください"
    )
}

pub fn no_playbook(lang: Lang) -> String {
    say!(
        lang,
        "no active playbook: files can be read but not changed. To change files, create one with `dandori playbook new <name> --activate`, or with the skill `playbook-init` if available",
        "有効な playbook がありません。読み取りはできますが、変更はできません。変更するには、先に `dandori playbook new <name> --activate` (skill `playbook-init` があればそちら) で作成してください"
    )
}

pub fn task_without_playbook(lang: Lang) -> String {
    say!(
        lang,
        "this is a task, but there is no active playbook. First call the skill `playbook-init` (if not available: `dandori playbook new <name> --activate`); the understanding check (skill `understanding-check`) is mandatory and comes before the plan is reviewed",
        "タスクの依頼ですが、有効な playbook がありません。最初に skill `playbook-init` を呼んでください (なければ `dandori playbook new <name> --activate`)。理解確認 (skill `understanding-check`) は必須で、計画のレビュー前に行います"
    )
}

/// What the repository is working on, for the model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Standing<'a> {
    /// The active playbook's path.
    pub playbook: Option<&'a str>,
    pub is_missing: bool,
    pub is_reviewed: bool,
    pub phase: Option<StandingPhase<'a>>,
    /// Phases that are done, of all.
    pub progress: Option<(usize, usize)>,
    pub branch: Option<&'a str>,
    /// The branch the work belongs on, when it is another.
    pub wanted_branch: Option<&'a str>,
    pub criteria: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StandingPhase<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub status: PhaseStatus,
}

pub fn standing(lang: Lang, now: &Standing) -> String {
    let mut lines = vec![playbook_line(lang, now)];
    if let Some(phase) = &now.phase {
        let (id, title, status) = (phase.id, phase.title, phase_status(lang, phase.status));
        let progress = match now.progress {
            Some((done, all)) => say!(lang, ", {done} of {all} phases done", "、全 {all} フェーズ中 {done} 完了"),
            None => String::new(),
        };
        lines.push(say!(
            lang,
            "phase: {id} {title} ({status}){progress}",
            "フェーズ: {id} {title} ({status}){progress}"
        ));
    } else if now.playbook.is_some() && !now.is_missing {
        lines.push(say!(lang, "phase: none in progress", "フェーズ: 進行中のものはありません"));
    }
    if let Some(branch) = now.branch {
        lines.push(match now.wanted_branch {
            Some(wanted) => say!(
                lang,
                "branch: {branch}, but the playbook is for {wanted}: switch before you change anything",
                "ブランチ: {branch}。playbook は {wanted} 用です。変更の前に切り替えてください"
            ),
            None => say!(lang, "branch: {branch}", "ブランチ: {branch}"),
        });
    }
    if !now.criteria.is_empty() {
        lines.push(say!(lang, "done when:", "完了条件:"));
        lines.extend(now.criteria.iter().map(|criterion| format!("- {criterion}")));
    }
    lines.join("\n")
}

fn playbook_line(lang: Lang, now: &Standing) -> String {
    match now.playbook {
        None => say!(lang, "playbook: none active", "playbook: なし"),
        Some(path) if now.is_missing => {
            say!(lang, "playbook: {path} (file not found)", "playbook: {path} (ファイルがありません)")
        }
        Some(path) if !now.is_reviewed => {
            say!(lang, "playbook: {path} (not reviewed)", "playbook: {path} (未レビュー)")
        }
        Some(path) => say!(lang, "playbook: {path}", "playbook: {path}"),
    }
}
