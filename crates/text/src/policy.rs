//! What the user is told about the rules that are in force.

use dandori_domain::guard::{ErrorPolicy, Profile, RulesNote};

use crate::Lang;
use crate::lang::say;

pub fn note(lang: Lang, note: &RulesNote) -> String {
    match note {
        RulesNote::BadUserConfig { path, reason } => say!(
            lang,
            "cannot use {path}: all guards use their defaults until it is fixed: {reason}",
            "{path} を読み込めないため、修正されるまですべてのガードが既定値で動作します: {reason}"
        ),
        RulesNote::BadRepositoryConfig { path, reason } => say!(
            lang,
            "cannot use {path}; the guards ignore it: {reason}",
            "{path} を読み込めないため、ガードはこのファイルを無視します: {reason}"
        ),
        RulesNote::NeedsTrust { path, keys } => {
            let keys = keys.join(", ");
            say!(
                lang,
                "not in effect until you confirm with `dandori trust`: {keys} in {path}",
                "`dandori trust` で信頼するまで無効です: {path} の {keys}"
            )
        }
        RulesNote::UnknownKey { path, key, meant } => {
            let meant = meant.as_ref().map(|meant| match lang {
                Lang::En => format!(" (`{meant}`?)"),
                Lang::Ja => format!(" (`{meant}` ではありませんか)"),
            });
            let meant = meant.unwrap_or_default();
            say!(
                lang,
                "unknown key `{key}`{meant} in {path}: it has no effect",
                "{path} のキー `{key}` は不明なため、無視されます{meant}"
            )
        }
        RulesNote::OddLine { path, line, text } => {
            say!(lang, "cannot parse line {line} of {path}: {text}", "{path} の {line} 行目を解釈できません: {text}")
        }
    }
}

pub fn profile(lang: Lang, profile: Profile) -> String {
    let name = profile.as_str();
    match profile {
        Profile::Safety => say!(
            lang,
            "profile: {name} (protection only; playbook guards are off)",
            "プロファイル: {name} (保護のみ。playbook のガードは無効)"
        ),
        Profile::Discipline => say!(
            lang,
            "profile: {name} (all guards; work follows a reviewed playbook)",
            "プロファイル: {name} (すべてのガード。レビュー済みの playbook に沿って作業)"
        ),
    }
}

/// What a guard's own failure means.
pub fn on_error(lang: Lang, policy: ErrorPolicy) -> String {
    match policy {
        ErrorPolicy::Open => say!(lang, "allows", "許可"),
        ErrorPolicy::Closed => say!(lang, "blocks", "ブロック"),
    }
}

/// Whose word a level is.
pub enum Whose {
    Default,
    User,
    Repository,
}

pub fn whose(lang: Lang, whose: &Whose) -> String {
    match whose {
        Whose::Default => say!(lang, "default", "既定"),
        Whose::User => say!(lang, "you", "ユーザー"),
        Whose::Repository => say!(lang, "repository", "リポジトリ"),
    }
}
