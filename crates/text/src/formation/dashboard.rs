//! `dashboard.md`: a formation as a Markdown page. Written whole each time; nobody has to edit it.

use std::fmt::Write;

use dandori_api::formation::FormationView;
use dandori_domain::plain::plain_line;

use super::{graph, stage, status};
use crate::lang::say;
use crate::{Lang, ui};

pub fn dashboard(lang: Lang, view: &FormationView) -> String {
    let mut page = String::new();
    let repository = cell(&view.repository);
    let up = if view.is_up { say!(lang, "up", "稼働中") } else { say!(lang, "down", "停止中") };
    let seen = view.seen_at.strftime("%Y-%m-%d %H:%M:%S UTC");
    page.push_str(&say!(
        lang,
        "# Formation of {repository}\n\nState: {up}. Updated {seen} by dandori; changes to this file are overwritten.\n",
        "# {repository} のフォーメーション\n\n状態: {up}。dandori が {seen} に更新しました。このファイルへの変更は上書きされます。\n"
    ));
    agents(lang, view, &mut page);
    commands(lang, view, &mut page);
    page.push_str(&say!(lang, "\n## Costs\n\n", "\n## 費用\n\n"));
    for line in status::costs(lang, view, cell) {
        let _ = writeln!(page, "- {line}");
    }
    page
}

fn agents(lang: Lang, view: &FormationView, page: &mut String) {
    page.push_str(&say!(lang, "\n## Agents\n\n", "\n## エージェント\n\n"));
    table(
        page,
        match lang {
            Lang::En => &["agent", "role", "model", "state", "known by", "queue", "work"],
            Lang::Ja => &["エージェント", "役割", "モデル", "状態", "根拠", "待ち", "作業"],
        },
    );
    for agent in &view.agents {
        row(
            page,
            &[
                agent.agent.to_string(),
                stage::role(lang, agent.role).to_owned(),
                status::model(agent),
                status::state(lang, agent, view.seen_at),
                stage::fact(lang, &agent.fact),
                agent.queued.to_string(),
                agent.work.as_ref().map(|work| status::doing(lang, work)).unwrap_or_default(),
            ],
        );
    }
}

fn commands(lang: Lang, view: &FormationView, page: &mut String) {
    page.push_str(&say!(lang, "\n## Orders\n\n", "\n## 依頼\n\n"));
    if view.commands.is_empty() {
        page.push_str(&say!(lang, "None yet.\n", "まだありません。\n"));
        return;
    }
    table(
        page,
        match lang {
            Lang::En => &["order", "state", "tasks", "phases", "age", "pull request", "title"],
            Lang::Ja => &["依頼", "状態", "タスク", "フェーズ", "経過", "プルリクエスト", "内容"],
        },
    );
    for command in &view.commands {
        let age = ui::age(lang, view.seen_at.duration_since(command.created_at).as_secs());
        row(
            page,
            &[
                // Not a link to an issue, as `#3` would be.
                format!("{} ({})", command.number, command.id),
                status::command_state(lang, command),
                graph::counted(lang, command.counts),
                status::phases(lang, command),
                age,
                command.pr.as_ref().map(|pr| pr.url.clone()).unwrap_or_default(),
                graph::title(command),
            ],
        );
    }
}

fn table(page: &mut String, heads: &[&str]) {
    let _ = writeln!(page, "| {} |", heads.join(" | "));
    let _ = writeln!(page, "|{}", " --- |".repeat(heads.len()));
}

fn row(page: &mut String, cells: &[String]) {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    let _ = writeln!(page, "| {} |", cells.join(" | "));
}

/// Text of others in a cell: one line, and no sign that Markdown or HTML would take for its own.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in plain_line(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '[' | ']' | '!' | '~' => {
                out.push('\\');
                out.push(c);
            }
            // Within a word, as in an id, it is an ordinary character.
            '_' if !out.ends_with(char::is_alphanumeric) => out.push_str("\\_"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays_in_its_cell() {
        assert_eq!(cell("a|b\n# c"), "a\\|b # c");
        assert_eq!(cell("<img src=x> `x` **b** [l](u)"), "&lt;img src=x> \\`x\\` \\*\\*b\\*\\* \\[l\\](u)");
        assert_eq!(cell("cmd_01 __x__"), "cmd_01 \\_\\_x_\\_");
    }
}
