//! Words around one worktree: where it is, and going there.

use crate::lang::say;
use crate::{Lang, Said};

/// Its folder is not there.
pub fn gone(lang: Lang, name: &str, branch: Option<&str>, preserved: Option<&str>) -> Said {
    let said = Said::what(say!(lang, "{name} no longer has a worktree", "{name} のワークツリーはすでにありません"));
    match (preserved, branch) {
        (Some(from), _) => said.hint(say!(
            lang,
            "restore its preserved work with `dandori worktree restore {from}`",
            "保存した作業は `dandori worktree restore {from}` で復元できます"
        )),
        (None, Some(branch)) => said.hint(say!(
            lang,
            "check out its branch again with `dandori worktree add {branch}`",
            "`dandori worktree add {branch}` でブランチを再びチェックアウトできます"
        )),
        (None, None) => said.hint(say!(
            lang,
            "see what happened with `dandori task show {name}`",
            "経過は `dandori task show {name}` で確認できます"
        )),
    }
}

/// Several agents work on the task, each in its own.
pub fn several(lang: Lang, task: &str, runs: &[(String, String)], command: &str) -> Said {
    let listed: Vec<String> = runs.iter().map(|(key, agent)| format!("{key}  {agent}")).collect();
    let first = runs.first().map(|(key, _)| key.as_str()).unwrap_or_default();
    Said::what(say!(lang, "{task} has several worktrees", "{task} には複数のワークツリーがあります"))
        .why(listed.join("\n"))
        .hint(say!(lang, "name one: `{command} {first}`", "1 つ選んでください: `{command} {first}`"))
}

pub fn in_shell(lang: Lang, path: &str, branch: &str) -> String {
    say!(
        lang,
        "opening a shell in {path} on {branch}; leave it with `exit`",
        "{path} ({branch}) でシェルを開きます。`exit` で戻ります"
    )
}

pub fn agent_is_there(lang: Lang, key: &str) -> String {
    say!(
        lang,
        "the agent of {key} is working here: your changes become part of its commit",
        "{key} のエージェントが作業中です。ここでの変更はそのコミットに含まれます"
    )
}
