//! Agents and configuration.

use dandori_domain::Client;

use crate::lang::say;
use crate::misuse::did_you_mean;
use crate::{Lang, Said};

pub(super) fn agent_missing(lang: Lang, agent: &str, program: &str) -> Said {
    let client = agent.parse::<Client>().ok();
    let install = client.map(|client| client.describe().program.install_command()).unwrap_or_default();
    let said =
        Said::what(say!(lang, "agent {agent} is not installed", "エージェント {agent} がインストールされていません"))
            .why(say!(lang, "`{program}` is not on your PATH", "PATH に `{program}` がありません"));
    if install.is_empty() {
        said.hint(say!(
            lang,
            "check the command under [agents.{agent}] in the configuration",
            "設定の [agents.{agent}] のコマンドを確認してください"
        ))
    } else {
        said.hint(say!(
            lang,
            "install it with `{install}`, or choose another agent with --agent",
            "`{install}` でインストールするか、--agent で別のエージェントを選んでください"
        ))
    }
}

pub(super) fn acp_needs_fence(lang: Lang, agent: &str) -> Said {
    Said::what(say!(
            lang,
            "the ACP agent `{agent}` runs only in the sandbox",
            "ACP エージェント `{agent}` はサンドボックス内でのみ実行できます"
        ))
        .why(say!(
            lang,
            "it has no hooks: only the sandbox can restrict what it does without asking",
            "フックがないため、確認なしに行う操作を制限できるのはサンドボックスだけです"
        ))
        .hint(say!(
            lang,
            "remove `sandbox.mode = \"off\"` from the configuration; `dandori doctor --sandbox` shows what this machine supports",
            "設定から `sandbox.mode = \"off\"` を削除してください。このマシンで使える機能は `dandori doctor --sandbox` で確認できます"
        ))
}

pub(super) fn bad_agent(lang: Lang, agent: &str, known: &[String]) -> Said {
    let known = known.join(", ");
    Said::what(say!(lang, "unknown agent `{agent}`", "エージェント `{agent}` は登録されていません")).hint(say!(
        lang,
        "use one of: {known}",
        "次のいずれかを指定してください: {known}"
    ))
}

pub(super) fn bad_config(lang: Lang, path: &str, reason: &str, suggestion: Option<&str>) -> Said {
    let said = Said::what(say!(lang, "invalid configuration in {path}", "設定 {path} に誤りがあります")).why(reason);
    match suggestion {
        Some(key) => said.hint(did_you_mean(lang, key)),
        None => {
            let flag = if path.ends_with("dandori.toml") { " --repository" } else { "" };
            said.hint(say!(
                lang,
                "fix it with `dandori config edit{flag}`",
                "`dandori config edit{flag}` で修正してください"
            ))
        }
    }
}

pub(super) fn untrusted(lang: Lang, path: &str, what: &[String]) -> Said {
    let list = what.iter().map(|w| format!("  {w}")).collect::<Vec<_>>().join("\n");
    Said::what(say!(lang, "the configuration {path} is not trusted yet", "設定 {path} はまだ信頼されていません"))
        .why(say!(lang, "it can run or allow:\n{list}", "次の実行・許可が含まれています:\n{list}"))
        .hint(say!(
            lang,
            "read the file, then run `dandori trust`",
            "内容を確認してから `dandori trust` を実行してください"
        ))
}
