//! What is wrong with a plan, each problem with its path. In English it is the problem's own text; the same is said in Japanese.

use dandori_domain::Problem;
use dandori_domain::plain::plain_line;
use dandori_formation::plan::{Expected, Fault, PlanError};

use crate::lang::say;
use crate::{Lang, ui};

/// What is wrong with a plan that was refused, as [`plan_errors`] has it; `None`: it is another problem.
pub fn of_problem(lang: Lang, problem: &Problem) -> Option<Vec<String>> {
    match problem {
        Problem::BadPlan { errors } => Some(plan_errors(lang, &crate::problem::formation::plan_errors(errors))),
        _ => None,
    }
}

/// All of it as it is printed: a line per problem, then what can be done, each thing once.
pub fn plan_errors(lang: Lang, errors: &[PlanError]) -> Vec<String> {
    let mut lines: Vec<String> =
        errors.iter().map(|error| format!("{}: {}", ui::error_word(lang), plan_error(lang, error))).collect();
    for hint in errors.iter().filter_map(|error| hint(lang, &error.fault)) {
        let line = format!("{}: {hint}", ui::hint_word(lang));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// `tasks[1].blocked_by[0]: references unknown name "foo"`
pub(crate) fn plan_error(lang: Lang, error: &PlanError) -> String {
    plain_line(&format!("{}: {}", error.path, fault(lang, &error.fault)))
}

fn fault(lang: Lang, fault: &Fault) -> String {
    match lang {
        Lang::En => fault.to_string(),
        Lang::Ja => japanese(fault),
    }
}

fn japanese(fault: &Fault) -> String {
    match fault {
        Fault::NotYaml { reason } => format!("YAML として読み取れません: {reason}"),
        Fault::Missing => "必須の項目がありません".to_owned(),
        Fault::Empty => "空にはできません".to_owned(),
        Fault::WrongType { expected, found } => {
            format!("{}指定してください ({})", japanese_type(*expected), japanese_found(found))
        }
        Fault::UnknownField { nearest: None } => "不明な項目です".to_owned(),
        Fault::UnknownField { nearest: Some(nearest) } => format!("不明な項目です。{nearest:?} の間違いですか?"),
        Fault::OutOfRange { value, least, most } => format!("値 {value} は範囲外です ({least}-{most})"),
        Fault::NotPositive => "1 以上を指定してください".to_owned(),
        Fault::NotOneOf { allowed } => format!("次のいずれかを指定してください: {}", allowed.join(", ")),
        Fault::UnknownName { name } => format!("{name:?} という名前はありません"),
        Fault::DuplicateName { name } => format!("名前 {name:?} が重複しています"),
        Fault::ReservedName => "__ で始まる名前は使えません".to_owned(),
        Fault::BadName { most } => format!("制御文字を含まない {most} 文字以内の 1 行にしてください"),
        Fault::ListedTwice => "同じものが 2 回書かれています".to_owned(),
        Fault::Itself => "自分自身を待っています".to_owned(),
        Fault::Cycle { names } => format!("依存関係が循環しています: {}", names.join(" -> ")),
        Fault::TooLong { bytes, most } => format!("{bytes} バイトあります (上限 {most})"),
        Fault::TooMany { count, most } => format!("タスクが {count} 個あります (上限 {most})"),
        Fault::BothBodies => "tasks と phases の両方は書けません".to_owned(),
        Fault::NoBody => "tasks または phases が必要です".to_owned(),
        Fault::NoConcretePhase => "concrete のフェーズが 1 つ以上必要です".to_owned(),
        Fault::ConcreteDepends => "concrete のフェーズは、ほかのフェーズに依存できません".to_owned(),
        Fault::DeferredAlone => "deferred のフェーズには、依存先のフェーズが 1 つ以上必要です".to_owned(),
        Fault::DeferredWithTasks => {
            "deferred のフェーズにはまだタスクを書けません。awaiting_fill になってから提出します".to_owned()
        }
        Fault::LevelNotAllowed { level, allowed } => {
            format!("このフェーズでは bloom_level {level} は使えません ({})", numbers(allowed))
        }
        Fault::NoSuchCapability { name } => format!("{name:?} に対応するワーカーがいません"),
        Fault::UnknownDemand { number, count } => format!("要求 {number} はありません (全 {count} 件)"),
        Fault::NotCovered { number, text } => format!("要求 {number} に対応するタスクがありません: {text}"),
        Fault::CoveredAndLeftOut { number } => {
            format!("要求 {number} は、タスクの covers と left_out の両方に書かれています")
        }
        Fault::PromiseNotKept { number } => {
            format!("このフェーズで対応するはずの要求 {number} に、対応するタスクがありません")
        }
    }
}

fn japanese_type(expected: Expected) -> &'static str {
    match expected {
        Expected::Mapping => "マッピングを",
        Expected::List => "リストを",
        Expected::Text => "文字列を",
        Expected::Number => "整数を",
        Expected::YesOrNo => "true または false を",
    }
}

/// What stands there instead, which the reader of plans names in English.
fn japanese_found(found: &str) -> String {
    match found {
        "empty" => "空です".to_owned(),
        "text" => "文字列です".to_owned(),
        "a list" => "リストです".to_owned(),
        "a mapping" => "マッピングです".to_owned(),
        other => format!("{} です", other.strip_prefix("the number ").unwrap_or(other)),
    }
}

/// What to write instead, where that can be said.
fn hint(lang: Lang, fault: &Fault) -> Option<String> {
    let hint = match fault {
        Fault::NotYaml { .. } => say!(
            lang,
            "put text with `:`, `#` or quotes on lines of its own below `content: |`",
            "`:`、`#`、引用符を含む文章は、`content: |` の次の行から書いてください"
        ),
        Fault::UnknownField { nearest: Some(nearest) } => {
            say!(lang, "write `{nearest}`", "`{nearest}` と書いてください")
        }
        Fault::UnknownName { .. } => say!(
            lang,
            "a task can only wait for names of the same phase; phases wait with `depends_on_phases`",
            "タスクが待てるのは同じフェーズのタスクだけです。フェーズの順序は `depends_on_phases` で指定します"
        ),
        Fault::Cycle { .. } => say!(
            lang,
            "remove one of these dependencies, so that a task can start",
            "いずれかの依存を外し、最初に始められるタスクがあるようにしてください"
        ),
        Fault::TooLong { .. } => say!(
            lang,
            "put the details in a file of the repository and name the file",
            "詳細はリポジトリのファイルに書き、そのファイル名を書いてください"
        ),
        Fault::TooMany { .. } => say!(
            lang,
            "join small tasks, or move later work to a `deferred` phase",
            "小さいタスクをまとめるか、後の作業を `deferred` のフェーズに移してください"
        ),
        Fault::ConcreteDepends => say!(
            lang,
            "use `type: deferred` for a phase that needs the results of another",
            "ほかのフェーズの結果が必要なフェーズは `type: deferred` にしてください"
        ),
        Fault::DeferredAlone => {
            say!(
                lang,
                "use `type: concrete` if it can start at once",
                "すぐに始められるなら `type: concrete` にしてください"
            )
        }
        Fault::DeferredWithTasks => say!(
            lang,
            "use `type: concrete`, or leave `tasks` out",
            "`type: concrete` にするか、`tasks` を省略してください"
        ),
        Fault::NotCovered { number, .. } | Fault::PromiseNotKept { number } => say!(
            lang,
            "add `covers: [{number}]` to a task, or under `left_out`: `- {{demand: {number}, reason: …}}`",
            "タスクに `covers: [{number}]` を書くか、`left_out` に `- {{demand: {number}, reason: …}}` を書いてください"
        ),
        Fault::NoSuchCapability { .. } => say!(
            lang,
            "use `preferred_capabilities` if another worker can do it, too",
            "ほかのワーカーでもできる作業なら `preferred_capabilities` を使ってください"
        ),
        Fault::Missing
        | Fault::Empty
        | Fault::WrongType { .. }
        | Fault::UnknownField { nearest: None }
        | Fault::OutOfRange { .. }
        | Fault::NotPositive
        | Fault::NotOneOf { .. }
        | Fault::DuplicateName { .. }
        | Fault::ReservedName
        | Fault::BadName { .. }
        | Fault::ListedTwice
        | Fault::Itself
        | Fault::BothBodies
        | Fault::NoBody
        | Fault::NoConcretePhase
        | Fault::LevelNotAllowed { .. }
        | Fault::UnknownDemand { .. }
        | Fault::CoveredAndLeftOut { .. } => return None,
    };
    Some(hint)
}

fn numbers(all: &[u8]) -> String {
    all.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
}
