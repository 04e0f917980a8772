//! Why a run failed, in one sentence.

use dandori_domain::agent::{AgentFailure, ProtocolTrouble};
use dandori_domain::failure::{Failure, Finding, Limit, Unfit, UnfitWhy};
use dandori_domain::plain::plain;

use crate::Lang;
use crate::lang::say;

/// What others said in it commands nobody's terminal.
pub fn failure(lang: Lang, failure: &Failure) -> String {
    plain(&words(lang, failure))
}

fn words(lang: Lang, failure: &Failure) -> String {
    match failure {
        Failure::Worktree { reason } => {
            say!(lang, "the worktree could not be made: {reason}", "ワークツリーを作成できませんでした: {reason}")
        }
        Failure::RepositoryGone { path, during: Some(_) } => say!(
            lang,
            "the repository {path} was moved or deleted during the run; the work is kept in its worktree: move the repository back, and `dandori task retry` goes on from there",
            "実行中にリポジトリ {path} が移動または削除されました。作業内容はワークツリーに残っています。リポジトリを元に戻せば、`dandori task retry` で続きから再開できます"
        ),
        Failure::RepositoryGone { path, during: None } => say!(
            lang,
            "the repository {path} was moved or deleted: move it back and `dandori task retry`, or run dandori where it is now",
            "リポジトリ {path} が移動または削除されています: 元に戻して `dandori task retry` を実行するか、現在の場所で dandori を実行してください"
        ),
        Failure::DandoriGone { program } => say!(
            lang,
            "{program}, which the daemon runs from, was moved or removed: `dandori daemon stop`, then `dandori task retry`",
            "デーモンの実行ファイル {program} が移動または削除されています: `dandori daemon stop` のあと `dandori task retry` を実行してください"
        ),
        Failure::SetUp { command, tail } => {
            let tail = last_line(tail);
            say!(
                lang,
                "the set-up command `{command}` failed: {tail}",
                "準備コマンド `{command}` が失敗しました: {tail}"
            )
        }
        Failure::AgentMissing { agent, program } => say!(
            lang,
            "the agent {agent} is not installed: there is no `{program}` on the PATH",
            "エージェント {agent} がインストールされていません: PATH に `{program}` がありません"
        ),
        Failure::Agent { failure } => agent_failure(lang, failure),
        Failure::TimedOut { limit: Limit::Start, seconds } => say!(
            lang,
            "the agent said nothing within {seconds} s of its start and was ended (limits.start)",
            "エージェントが起動から {seconds} 秒間何も出力しなかったため、終了させました (limits.start)"
        ),
        Failure::TimedOut { limit: Limit::Silence, seconds } => say!(
            lang,
            "the agent was silent for {seconds} s with no tool running and was ended (limits.silence)",
            "エージェントがツールも実行せず {seconds} 秒間何も出力しなかったため、終了させました (limits.silence)"
        ),
        Failure::TimedOut { limit: Limit::Run, seconds } => say!(
            lang,
            "the run took longer than {seconds} s and was ended (limits.run)",
            "実行が {seconds} 秒を超えたため、終了させました (limits.run)"
        ),
        Failure::OverBudget { budget, spent } => say!(
            lang,
            "the budget of {budget} is used up: {spent} spent; `dandori task follow-up --budget …` goes on with a new one",
            "予算 {budget} を使い切りました (使用額 {spent})。`dandori task follow-up --budget …` で予算を追加して続行できます"
        ),
        Failure::ProcessesLeft { pids } => {
            let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            say!(
                lang,
                "processes of the run could not be ended ({pids}): nothing was staged, its worktree is kept",
                "実行のプロセスを終了できませんでした ({pids})。何もステージせず、worktree を残しています"
            )
        }
        Failure::SupervisorLost => say!(
            lang,
            "the agent's supervisor was killed or the machine went down: the worktree is as the agent left it, `dandori task follow-up` goes on from there",
            "エージェントの監視プロセスが強制終了されたか、マシンが停止しました。ワークツリーはそのまま残っており、`dandori task follow-up` で続きから再開できます"
        ),
        Failure::Tampered { findings } => {
            let list = findings.iter().map(|f| finding(lang, f)).collect::<Vec<_>>().join("; ");
            say!(
                lang,
                "the agent did what it may not do, nothing was committed: {list}",
                "エージェントが禁止された操作をしたため、コミットしませんでした: {list}"
            )
        }
        Failure::ConflictLeft { files } => {
            let files = files.join(", ");
            say!(
                lang,
                "both sides of a conflict are still in {files}, nothing was committed; resolve it in the worktree or by \
                 `dandori task follow-up`",
                "次のファイルに衝突の両側が残っているため、コミットしませんでした: {files}。ワークツリーで解決するか、\
                 `dandori task follow-up` で解決を依頼してください"
            )
        }
        Failure::Unstageable { paths } => {
            let list = paths.iter().map(|unfit| self::unfit(lang, unfit)).collect::<Vec<_>>().join("; ");
            say!(
                lang,
                "some of it cannot be committed, so nothing was; the worktree is as the agent left it: {list}",
                "コミットできないものがあるため、何もコミットしませんでした。ワークツリーはそのまま残っています: {list}"
            )
        }
        Failure::DiskFull { free } => {
            let free = crate::ui::size(*free);
            say!(
                lang,
                "the disk is full ({free} free): nothing was staged, the work is in the worktree; make room, then \
                 `dandori task retry`",
                "ディスクに空きがありません (残り {free})。何もステージせず、変更はワークツリーに残っています。空きを作ってから `dandori task retry` を実行してください"
            )
        }
        Failure::Staging { reason } => {
            say!(lang, "the changes could not be staged: {reason}", "変更をステージできませんでした: {reason}")
        }
        Failure::Commit { reason } => {
            say!(
                lang,
                "the commit could not be made: {reason}; the work is staged in its worktree, `dandori task retry` commits it without the agent",
                "コミットできませんでした: {reason}。作業内容はワークツリーにステージ済みです。`dandori task retry` でエージェントを動かさずに再コミットできます"
            )
        }
        Failure::PushRefused { reason } => say!(
            lang,
            "the push was refused: {reason}; the commit is on the branch, `dandori task retry` pushes again",
            "プッシュが拒否されました: {reason}。コミットはブランチに残っています。`dandori task retry` で再プッシュできます"
        ),
        Failure::PushConflict { files } => {
            let files = files.join(", ");
            say!(
                lang,
                "somebody else's commits on the branch conflict with this run in {files}; branch and work are \
                 intact, `dandori task follow-up` brings both sides together",
                "ブランチにプッシュされた他のコミットと衝突しました: {files}。ブランチと作業はそのまま残っています。\
                 `dandori task follow-up` で両者をまとめられます"
            )
        }
        Failure::PushOvertaken { retries } => say!(
            lang,
            "the branch was overtaken again after {retries} retries; `dandori task retry` tries once more",
            "{retries} 回再試行しましたが、そのたびに他のプッシュに先を越されました。`dandori task retry` で再試行できます"
        ),
    }
}

pub(crate) fn agent_failure(lang: Lang, failure: &AgentFailure) -> String {
    match failure {
        AgentFailure::NotAuthorised { detail } => {
            say!(
                lang,
                "the agent is not logged in or its key was refused: {detail}",
                "エージェントがログインしていないか、キーが拒否されました: {detail}"
            )
        }
        AgentFailure::RateLimited { detail } => {
            say!(
                lang,
                "the agent's rate limit or quota is used up: {detail}",
                "エージェントのレート制限または利用枠の上限に達しました: {detail}"
            )
        }
        AgentFailure::Overloaded { detail, .. } => {
            say!(
                lang,
                "the model's API failed or is overloaded: {detail}",
                "モデルの API が過負荷か、障害が発生しています: {detail}"
            )
        }
        AgentFailure::Unreachable { detail } => {
            say!(lang, "the model's API cannot be reached: {detail}", "モデルの API に接続できません: {detail}")
        }
        AgentFailure::Api { detail, .. } => {
            say!(
                lang,
                "the model's API refused the request: {detail}",
                "モデルの API がリクエストを拒否しました: {detail}"
            )
        }
        AgentFailure::ContextTooLong { detail } => {
            say!(
                lang,
                "the conversation is too long for the model: {detail}",
                "会話がモデルの上限を超えました: {detail}"
            )
        }
        AgentFailure::MaxTurns => {
            say!(
                lang,
                "the agent reached its turn limit; `dandori task follow-up` goes on",
                "エージェントがターン数の上限に達しました。`dandori task follow-up` で続行できます"
            )
        }
        AgentFailure::MaxTokens => {
            say!(
                lang,
                "the agent reached its token limit in the middle of its answer; `dandori task follow-up` goes on",
                "エージェントが回答の途中でトークン数の上限に達しました。`dandori task follow-up` で続行できます"
            )
        }
        AgentFailure::Declined => {
            say!(lang, "the model declined to do what it was asked", "モデルが依頼された作業を拒否しました")
        }
        AgentFailure::Protocol { trouble } => protocol_trouble(lang, trouble),
        AgentFailure::NeedsFence => {
            say!(
                lang,
                "an ACP agent runs behind the fence only, because nothing else holds what it does without asking; remove `sandbox.mode = \"off\"`, and see `dandori doctor` for what this machine has",
                "ACP エージェントが確認なしに行う操作を制限できるのはサンドボックスだけなので、サンドボックスなしでは実行しません。`sandbox.mode = \"off\"` を外し、このマシンで使える機能を `dandori doctor` で確認してください"
            )
        }
        AgentFailure::Interrupted => say!(lang, "the agent was interrupted", "エージェントが中断されました"),
        AgentFailure::NoVerdict { exit, signal, tail } => {
            let how = match (signal, exit) {
                (Some(signal), _) => say!(lang, "killed by signal {signal}", "シグナル {signal} で終了"),
                (None, Some(code)) => say!(lang, "exit code {code}", "終了コード {code}"),
                (None, None) => say!(lang, "no exit code", "終了コードなし"),
            };
            let tail = match last_line(tail) {
                line if line.is_empty() => String::new(),
                line => format!(": {line}"),
            };
            say!(
                lang,
                "the agent ended without saying how it went ({how}){tail}",
                "エージェントが結果を報告せずに終了しました ({how}){tail}"
            )
        }
        AgentFailure::ExitCode { code, tail } => {
            let tail = match last_line(tail) {
                line if line.is_empty() => String::new(),
                line => format!(": {line}"),
            };
            say!(
                lang,
                "the agent ended with exit code {code}{tail}",
                "エージェントが終了コード {code} で終了しました{tail}"
            )
        }
        AgentFailure::WrongSession { asked, got } => {
            let got = got.as_ref().map_or_else(|| "—".to_owned(), ToString::to_string);
            say!(
                lang,
                "the agent did not go on with the conversation {asked} (it began {got})",
                "エージェントが会話 {asked} を引き継ぎませんでした (新しい会話: {got})"
            )
        }
        AgentFailure::NotStarted { detail } => {
            say!(lang, "the agent could not be started: {detail}", "エージェントを起動できませんでした: {detail}")
        }
        AgentFailure::Other { detail } => {
            say!(lang, "the agent failed: {detail}", "エージェントが失敗しました: {detail}")
        }
    }
}

fn protocol_trouble(lang: Lang, trouble: &ProtocolTrouble) -> String {
    match trouble {
        ProtocolTrouble::NotJson { line } => say!(
            lang,
            "the agent does not speak the Agent Client Protocol: it printed {line:?}; does its command start it in its ACP mode?",
            "エージェントの出力が Agent Client Protocol ではありません: {line:?}。コマンドは ACP モードで起動していますか"
        ),
        ProtocolTrouble::Version { offered } => say!(
            lang,
            "the agent speaks version {offered} of the Agent Client Protocol, dandori speaks version 1",
            "エージェントの Agent Client Protocol はバージョン {offered} ですが、dandori が対応しているのはバージョン 1 です"
        ),
        ProtocolTrouble::Refused { method, message } => say!(
            lang,
            "the agent answered {method} with an error: {message}",
            "エージェントが {method} にエラーを返しました: {message}"
        ),
        ProtocolTrouble::BadAnswer { method, detail } => say!(
            lang,
            "the agent's answer to {method} is not as the Agent Client Protocol has it: {detail}",
            "{method} に対するエージェントの応答が Agent Client Protocol に従っていません: {detail}"
        ),
        ProtocolTrouble::LoginNeeded { methods } => {
            let methods = if methods.is_empty() { "—".to_owned() } else { methods.join(", ") };
            say!(
                lang,
                "the agent wants a login; log in with the agent itself, or name one of its ways as `auth` beside `acp` in the configuration: {methods}",
                "エージェントがログインを求めています。エージェント側でログインするか、設定の `acp` と並べて `auth` にログイン方法を指定してください: {methods}"
            )
        }
        ProtocolTrouble::NoSuchModel { model, offered } => {
            let offered = if offered.is_empty() { "—".to_owned() } else { offered.join(", ") };
            say!(
                lang,
                "the agent does not offer the model {model}; it offers: {offered}",
                "エージェントはモデル {model} を提供していません (選択可能: {offered})"
            )
        }
    }
}

fn unfit(lang: Lang, unfit: &Unfit) -> String {
    let path = &unfit.path;
    match unfit.why {
        UnfitWhy::Special => {
            say!(
                lang,
                "{path} is a pipe, a socket or a device",
                "{path} は名前付きパイプ、ソケット、またはデバイスです"
            )
        }
        UnfitWhy::TooLong => {
            let start: String = path.chars().take(60).collect();
            say!(lang, "the path {start}… is too long for this system", "パス {start}… が長すぎます")
        }
        UnfitWhy::Unreadable => say!(lang, "{path} may not be read", "{path} を読み取れません"),
        UnfitWhy::TooLarge { bytes, limit } => {
            let (bytes, limit) = (crate::ui::size(bytes), crate::ui::size(limit));
            say!(
                lang,
                "what changed is {bytes}, more than {limit} (the largest: {path})",
                "変更の合計が {bytes} で、上限の {limit} を超えています (最大: {path})"
            )
        }
        UnfitWhy::TooMany { files, limit } => say!(
            lang,
            "{files} files changed, more than {limit} ({path} among them)",
            "変更されたファイルが {files} 件あり、上限の {limit} 件を超えています ({path} など)"
        ),
    }
}

pub fn finding(lang: Lang, finding: &Finding) -> String {
    match finding {
        Finding::HeadMoved { expected, found } => {
            say!(lang, "HEAD was moved from {expected} to {found}", "HEAD が {expected} から {found} に動かされました")
        }
        Finding::BranchMoved { expected, found } => say!(
            lang,
            "the branch has commits of the agent's own ({found} instead of {expected})",
            "ブランチにエージェント自身のコミットがあります ({expected} ではなく {found})"
        ),
        Finding::GitFileChanged { path } => {
            say!(
                lang,
                "the worktree's git file {path} was changed",
                "ワークツリーの git ファイル {path} が書き換えられました"
            )
        }
        Finding::GitConfigChanged { key } => {
            say!(
                lang,
                "the repository's git configuration was changed ({key})",
                "リポジトリの git 設定が変更されました ({key})"
            )
        }
        Finding::NestedRepository { path } => {
            say!(
                lang,
                "there is a repository inside the worktree at {path}",
                "ワークツリー内に別のリポジトリがあります: {path}"
            )
        }
        Finding::ForbiddenPath { path, pattern } => {
            say!(lang, "{path} must not be touched ({pattern})", "{path} は変更禁止です ({pattern})")
        }
        Finding::WorktreeMissing { path } => {
            say!(lang, "the worktree {path} is gone", "ワークツリー {path} がなくなりました")
        }
    }
}

fn last_line(text: &str) -> String {
    text.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default().to_owned()
}
