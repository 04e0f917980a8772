//! Pull requests and the forge.

use dandori_domain::run::Status;

use crate::lang::say;
use crate::{Lang, Said};

pub(super) fn no_such_pull(lang: Lang, number: u64) -> Said {
    Said::what(say!(lang, "pull request #{number} not found", "プルリクエスト #{number} が見つかりません")).hint(say!(
        lang,
        "list the pull requests with `dandori pr list`",
        "一覧は `dandori pr list` で確認できます"
    ))
}

pub(super) fn nothing_changed(lang: Lang, run: &str) -> Said {
    Said::what(say!(lang, "no changes, so no pull request", "変更がないため PR を作成できません"))
        .why(say!(lang, "{run} changed nothing", "{run} は何も変更していません"))
        .hint(say!(
            lang,
            "see what the agent did with `dandori task log {run}`",
            "エージェントのログは `dandori task log {run}` で確認できます"
        ))
}

pub(super) fn nothing_to_pull(lang: Lang, run: &str, status: Status) -> Said {
    let not_pushed = Said::what(say!(
        lang,
        "cannot create a pull request: {run} is {status}",
        "プルリクエストを作成できません: {run} は {status} です"
    ));
    match status {
        Status::Succeeded => nothing_changed(lang, run),
        Status::Failed => not_pushed.hint(say!(
            lang,
            "see why with `dandori task show {run}`, then try again with `dandori task retry {run}`",
            "原因は `dandori task show {run}` で確認できます。`dandori task retry {run}` で再試行できます"
        )),
        Status::Canceled => not_pushed.hint(say!(
            lang,
            "run it again with `dandori task retry {run}`, or continue from the preserved work with `dandori task follow-up {run} \"…\"`",
            "`dandori task retry {run}` で再実行するか、`dandori task follow-up {run} \"…\"` で保存した作業から続行できます"
        )),
        Status::Pending | Status::Running | Status::Staging | Status::Committing | Status::Pushing => {
            not_pushed.hint(say!(
                lang,
                "wait until it is done; `dandori task show {run}` shows its state",
                "完了を待ってください。状態は `dandori task show {run}` で確認できます"
            ))
        }
    }
}

pub(super) fn forge_refused(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "the forge refused the request", "フォージが要求を拒否しました")).why(reason).hint(say!(
        lang,
        "check that the token has access to the repository, then try again",
        "トークンにリポジトリへの権限があるか確認してから、もう一度実行してください"
    ))
}

pub(super) fn forge_unreachable(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "cannot reach the forge", "フォージに接続できません")).why(reason).hint(say!(
        lang,
        "check the network, then try again",
        "ネットワークを確認してから、もう一度実行してください"
    ))
}

pub(super) fn no_forge_token(lang: Lang, host: &str) -> Said {
    Said::what(say!(lang, "no token for {host}", "{host} のトークンがありません")).hint(say!(
        lang,
        "run `gh auth login`, set GH_TOKEN, or use the embedded forge with `dandori config set forge local`",
        "`gh auth login` を実行するか、GH_TOKEN を設定するか、`dandori config set forge local` で内蔵フォージを使ってください"
    ))
}
