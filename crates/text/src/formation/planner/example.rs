//! A plan as an example of its shape. It is a valid one: what is wrong in an example is copied.

use std::fmt::Write;

use crate::Lang;

/// Two tasks at the same time and one that waits for both, which cover all the demands.
pub(super) fn plan(lang: Lang, demands: usize) -> String {
    let words = match lang {
        Lang::En => [
            ("login-api", "Users can log in over HTTP", "Add POST /login to src/api.rs …", "cargo test login passes"),
            ("login-form", "Users can log in on the page", "Add the form to src/form.rs …", "The form shows errors"),
            ("login-test", "Both work together", "Test the form against the API …", "cargo test passes"),
        ],
        Lang::Ja => [
            ("login-api", "HTTP でログインできる", "src/api.rs に POST /login を追加する …", "cargo test login が通る"),
            ("login-form", "画面からログインできる", "src/form.rs にフォームを追加する …", "エラーが画面に表示される"),
            ("login-test", "両方が合わせて動く", "フォームと API を通しでテストする …", "cargo test が通る"),
        ],
    };
    let extras: [&[&str]; 3] = [
        &["bloom_level: 3", "expected_paths: [src/api.rs]"],
        &["bloom_level: 2", "expected_paths: [src/form.rs]"],
        &["bloom_level: 4", "blocked_by: [login-api, login-form]"],
    ];
    let mut yaml = "tasks:\n".to_owned();
    for (i, ((name, purpose, content, criteria), extras)) in words.into_iter().zip(extras).enumerate() {
        let _ = writeln!(yaml, "  - name: {name}\n    purpose: {purpose}\n    content: |\n      {content}");
        let _ = writeln!(yaml, "    acceptance_criteria: {criteria}");
        for extra in extras {
            let _ = writeln!(yaml, "    {extra}");
        }
        let covered: Vec<String> = (1..=demands).filter(|n| (n - 1) % 3 == i).map(|n| n.to_string()).collect();
        if !covered.is_empty() {
            let _ = writeln!(yaml, "    covers: [{}]", covered.join(", "));
        }
    }
    yaml
}

/// Research first, the rest when its results are known.
pub(super) fn phases(lang: Lang, demands: usize) -> String {
    let (purpose, content, criteria) = match lang {
        Lang::En => ("Find out how sessions are stored", "Read src/session …", "A list of files and what to change"),
        Lang::Ja => ("セッションの保存方法を調べる", "src/session を読む …", "変更するファイルと内容の一覧がある"),
    };
    let covered: Vec<String> = (1..=demands).map(|n| n.to_string()).collect();
    let covers = if covered.is_empty() { String::new() } else { format!("    covers: [{}]\n", covered.join(", ")) };
    format!(
        "phases:\n  - name: research\n    type: concrete\n    tasks:\n      - name: survey\n        purpose: {purpose}\n        content: {content}\n        acceptance_criteria: {criteria}\n        bloom_level: 4\n  - name: build\n    type: deferred\n    depends_on_phases: [research]\n{covers}    constraints: {{max_tasks: 6, allowed_bloom_levels: [1, 2, 3, 4], timeout_minutes: 60}}\n"
    )
}

#[cfg(test)]
mod tests {
    use dandori_formation::AgentId;
    use dandori_formation::assign::{Crew, Seat};
    use dandori_formation::plan::{Frame, check, read};
    use dandori_formation::rules::Rules;

    use super::*;

    #[test]
    fn the_examples_are_plans_that_would_be_accepted() {
        let seat = Seat { agent: AgentId::Worker(1), client: "claude".into(), model: None, capabilities: vec![] };
        let crew = Crew { seats: vec![seat], small: None, large: None, boost: false };
        let rules = Rules::default();
        for lang in [Lang::En, Lang::Ja] {
            for count in 0..8 {
                let demands = vec!["x".to_owned(); count];
                for yaml in [plan(lang, count), phases(lang, count)] {
                    let (plan, mut wrong) = read(&yaml);
                    let frame = Frame { rules: &rules, crew: &crew, demands: &demands };
                    wrong.extend(plan.iter().flat_map(|plan| check(plan, frame)));
                    assert!(plan.is_some() && wrong.is_empty(), "{yaml}\n{wrong:?}");
                }
            }
        }
    }
}
