//! Orders, plans and what was kept of them. Refusals of the protocol have their words in [`crate::formation`].

use dandori_formation::Refused;
use dandori_formation::plan::PlanError;
use serde_json::{Map, Value};

use super::daemon;
use crate::formation::{fault, refused as of_protocol};
use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn refused(lang: Lang, refused: &Map<String, Value>) -> Said {
    match serde_json::from_value::<Refused>(Value::Object(refused.clone())) {
        Ok(refused) => of_protocol::refused(lang, &refused),
        Err(e) => daemon::internal(lang, &e.to_string()),
    }
}

/// In one piece. A terminal shows the same a line per problem ([`fault::plan_errors`]).
pub(super) fn bad_plan(lang: Lang, errors: &[Value]) -> Said {
    let errors = plan_errors(errors);
    let lines: Vec<String> = errors.iter().map(|error| fault::plan_error(lang, error)).collect();
    let count = lines.len();
    Said::what(say!(lang, "the plan has {count} problems", "計画に問題が {count} 件あります"))
        .why(lines.join("\n"))
        .hint(say!(
            lang,
            "correct all of them and submit it again; `--dry-run` checks it without submitting",
            "すべて直してから、もう一度提出してください。`--dry-run` を付けると、提出せずに確認できます"
        ))
}

/// Those that can be read: a daemon of another version may know more.
pub(crate) fn plan_errors(errors: &[Value]) -> Vec<PlanError> {
    errors.iter().filter_map(|error| serde_json::from_value(error.clone()).ok()).collect()
}

pub(super) fn no_such_order(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "order {text} not found", "依頼 {text} が見つかりません")).hint(say!(
        lang,
        "`dandori order list` lists the orders",
        "依頼の一覧は `dandori order list` で確認できます"
    ))
}

pub(super) fn no_such_kept(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "{text} is not in quarantine", "{text} は隔離されていません")).hint(say!(
        lang,
        "`dandori quarantine list` lists what is",
        "一覧は `dandori quarantine list` で確認できます"
    ))
}
