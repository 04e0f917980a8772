//! What is worth saying about a plan that is not wrong.

use dandori_domain::plain::plain_line;
use dandori_formation::plan::advice::{Advice, Alone};

use crate::Lang;
use crate::lang::say;

pub fn advice(lang: Lang, advice: &Advice) -> String {
    plain_line(&match advice {
        Advice::Overlap { tasks: [one, other], paths: [path, its] } => {
            let paths = if path == its { path.clone() } else { format!("{path}, {its}") };
            say!(
                lang,
                "{one} and {other} may run at the same time and change the same files: {paths}",
                "{one} と {other} は同時に実行され、同じファイルを変更する可能性があります: {paths}"
            )
        }
        Advice::OneAgentIsBetter { why: Alone::OneTask } => say!(
            lang,
            "the plan has one task: it becomes a plain run by one agent, which is quicker and cheaper",
            "タスクが 1 つなので、通常の実行として 1 つのエージェントが行います。そのほうが速く、費用もかかりません"
        ),
        Advice::OneAgentIsBetter { why: Alone::Chain } => say!(
            lang,
            "nothing in the plan can run in parallel: it becomes a plain run by one agent, which is quicker and cheaper",
            "並行できるタスクがないので、通常の実行として 1 つのエージェントが行います。そのほうが速く、費用もかかりません"
        ),
    })
}
