//! Why a run failed, in one sentence, and what helps.

use dandori_domain::Usd;
use dandori_domain::agent::{AgentFailure, ProtocolTrouble};
use dandori_domain::failure::{Failure, Finding, Limit, Unfit, UnfitWhy};
use dandori_domain::plain::{plain, plain_path};

use crate::Lang;
use crate::lang::say;

/// What happened and, where something particular helps, what to type. `run` is its name as commands take it. What others said
/// in it commands nobody's terminal.
pub fn failure(lang: Lang, failure: &Failure, run: &str) -> String {
    let cause = cause(lang, failure);
    match (remedy(lang, failure, run), lang) {
        (None, _) => cause,
        (Some(remedy), Lang::En) => format!("{cause}; {remedy}"),
        (Some(remedy), Lang::Ja) => format!("{cause}。{remedy}"),
    }
}

/// What happened, without what helps.
pub fn cause(lang: Lang, failure: &Failure) -> String {
    plain(&words(lang, failure))
}

fn words(lang: Lang, failure: &Failure) -> String {
    match failure {
        Failure::Worktree { reason } => {
            say!(lang, "cannot create the worktree: {reason}", "ワークツリーを作成できませんでした: {reason}")
        }
        Failure::RepositoryGone { path, during: Some(_) } => say!(
            lang,
            "the repository {path} was moved or deleted during the run",
            "実行中にリポジトリ {path} が移動または削除されました"
        ),
        Failure::RepositoryGone { path, during: None } => {
            say!(lang, "the repository {path} was moved or deleted", "リポジトリ {path} が移動または削除されています")
        }
        Failure::DandoriGone { program } => say!(
            lang,
            "the daemon's executable {program} was moved or deleted",
            "デーモンの実行ファイル {program} が移動または削除されています"
        ),
        Failure::SetUp { command, tail } => {
            let tail = after_colon(tail);
            say!(
                lang,
                "setup command `{command}` failed{tail}",
                "セットアップコマンド `{command}` が失敗しました{tail}"
            )
        }
        Failure::AgentMissing { agent, program } => say!(
            lang,
            "agent {agent} is not installed: `{program}` is not on the PATH",
            "エージェント {agent} がインストールされていません: PATH に `{program}` がありません"
        ),
        Failure::Agent { failure } => agent_failure(lang, failure),
        Failure::TimedOut { limit: Limit::Start, seconds } => say!(
            lang,
            "the agent was stopped: no output within {seconds} s of its start (limits.start)",
            "エージェントを停止しました: 起動から {seconds} 秒間、出力がありませんでした (limits.start)"
        ),
        Failure::TimedOut { limit: Limit::Silence, seconds } => say!(
            lang,
            "the agent was stopped: no output for {seconds} s and no tool running (limits.silence)",
            "エージェントを停止しました: ツールの実行もなく、{seconds} 秒間、出力がありませんでした (limits.silence)"
        ),
        Failure::TimedOut { limit: Limit::Run, seconds } => say!(
            lang,
            "the run was stopped: it took longer than {seconds} s (limits.run)",
            "実行を停止しました: 所要時間が {seconds} 秒を超えました (limits.run)"
        ),
        Failure::OverBudget { budget, spent } => {
            let budget = crate::ui::dollars(*budget);
            say!(
                lang,
                "the budget of ${budget} is used up ({spent} spent)",
                "予算 ${budget} を使い切りました (使用額 {spent})"
            )
        }
        Failure::ProcessesLeft { pids } => {
            let pids = pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            say!(
                lang,
                "some processes of the run could not be stopped ({pids}): nothing was staged, and the worktree was kept",
                "実行のプロセスを停止できませんでした ({pids})。何もステージせず、ワークツリーを残しています"
            )
        }
        Failure::SupervisorLost => say!(
            lang,
            "the agent's supervisor was killed or the machine went down; the work is still in its worktree",
            "エージェントの監視プロセスが強制終了されたか、マシンが停止しました。作業はワークツリーに残っています"
        ),
        Failure::Tampered { findings } => {
            let list = sentences(lang, findings.iter().map(|f| finding(lang, f)));
            say!(
                lang,
                "the agent made a forbidden change; nothing was committed: {list}",
                "エージェントが禁止された変更をしたため、コミットしませんでした: {list}"
            )
        }
        Failure::ConflictLeft { files } => {
            let files = crate::ui::files(files);
            say!(
                lang,
                "conflict markers are still in {files}; nothing was committed",
                "コンフリクトマーカーが残っているため、コミットしませんでした: {files}"
            )
        }
        Failure::DoesNotMerge { name, files } => {
            let files = crate::ui::files(files);
            say!(
                lang,
                "{name} conflicts with the branch in {files}; the branch is unchanged",
                "{name} はブランチとコンフリクトしています: {files}。ブランチは変更していません"
            )
        }
        Failure::Check { command, tail } => {
            let tail = after_colon(tail);
            say!(
                lang,
                "nothing was committed: `{command}` failed on the merge result{tail}",
                "マージ結果に対する `{command}` が失敗したため、コミットしませんでした{tail}"
            )
        }
        Failure::Unstageable { paths } => {
            let list = sentences(lang, paths.iter().map(|unfit| self::unfit(lang, unfit)));
            say!(
                lang,
                "some changes cannot be committed, so nothing was committed; the worktree is unchanged: {list}",
                "コミットできない変更があるため、何もコミットしませんでした。ワークツリーはそのまま残っています: {list}"
            )
        }
        Failure::DiskFull { free } => {
            let free = crate::ui::size(*free);
            say!(
                lang,
                "the disk is full ({free} free): nothing was staged, the work is still in the worktree",
                "ディスクに空きがありません (残り {free})。何もステージせず、変更はワークツリーに残っています"
            )
        }
        Failure::Staging { reason } => {
            say!(lang, "cannot stage the changes: {reason}", "変更をステージできませんでした: {reason}")
        }
        Failure::Commit { reason } => {
            say!(lang, "cannot commit: {reason}", "コミットできませんでした: {reason}")
        }
        Failure::PushRefused { reason } => {
            say!(lang, "the push was rejected: {reason}", "プッシュが拒否されました: {reason}")
        }
        Failure::RemoteUnreachable { reason } => say!(
            lang,
            "not pushed, because the remote could not be reached: {reason}",
            "リモートに接続できないため、プッシュできませんでした: {reason}"
        ),
        Failure::PushConflict { files } => {
            let files = crate::ui::files(files);
            say!(
                lang,
                "commits that others pushed to the branch conflict with this run in {files}; the branch and the work are unchanged",
                "ブランチにプッシュされた他のコミットとコンフリクトしました: {files}。ブランチと作業はそのまま残っています"
            )
        }
        Failure::PushOvertaken { retries } => say!(
            lang,
            "someone else pushed to the branch before each of {retries} retries",
            "{retries} 回再試行しましたが、そのたびにリモートが更新されていました"
        ),
    }
}

/// What helps in this case alone; `None`: to look at the log, or to try again.
fn remedy(lang: Lang, failure: &Failure, run: &str) -> Option<String> {
    Some(match failure {
        Failure::RepositoryGone { during: Some(_), .. } => say!(
            lang,
            "the work is still in its worktree: move the repository back and resume with `dandori task retry {run}`",
            "作業はワークツリーに残っています。リポジトリを元に戻せば、`dandori task retry {run}` で再開できます"
        ),
        Failure::RepositoryGone { during: None, .. } => say!(
            lang,
            "move it back and run `dandori task retry {run}`, or run dandori in its new location",
            "元に戻して `dandori task retry {run}` を実行するか、現在の場所で dandori を実行してください"
        ),
        Failure::DandoriGone { .. } => say!(
            lang,
            "run `dandori daemon stop`, then `dandori task retry {run}`",
            "`dandori daemon stop` のあと `dandori task retry {run}` を実行してください"
        ),
        Failure::OverBudget { budget, .. } => {
            let twice = crate::ui::dollars(Usd(budget.0.saturating_mul(2)));
            say!(
                lang,
                "continue with a new budget: `dandori task follow-up {run} \"…\" --budget {twice}`",
                "`dandori task follow-up {run} \"…\" --budget {twice}` で新しい予算を指定して続行できます"
            )
        }
        Failure::SupervisorLost | Failure::Agent { failure: AgentFailure::MaxTurns | AgentFailure::MaxTokens } => say!(
            lang,
            "continue with `dandori task follow-up {run} \"…\"`",
            "`dandori task follow-up {run} \"…\"` で続行できます"
        ),
        Failure::Agent { failure: AgentFailure::NeedsFence } => say!(
            lang,
            "remove `sandbox.mode = \"off\"`; `dandori doctor --sandbox` shows what this machine supports",
            "`sandbox.mode = \"off\"` を削除してください。このマシンで使える機能は `dandori doctor --sandbox` で確認できます"
        ),
        Failure::ConflictLeft { .. } => say!(
            lang,
            "resolve them in the worktree or with `dandori task follow-up {run} \"…\"`",
            "ワークツリーで解決するか、`dandori task follow-up {run} \"…\"` で解決を依頼してください"
        ),
        Failure::DiskFull { .. } => say!(
            lang,
            "free some space, then run `dandori task retry {run}`",
            "空きを増やしてから `dandori task retry {run}` を実行してください"
        ),
        Failure::Commit { .. } => say!(
            lang,
            "the work is staged in its worktree: `dandori task retry {run}` commits it without running the agent again",
            "変更はワークツリーにステージ済みです。`dandori task retry {run}` を実行すると、エージェントを動かさずにコミットします"
        ),
        Failure::PushRefused { .. } => say!(
            lang,
            "the commit is on the branch: push again with `dandori task retry {run}`",
            "コミットはブランチに残っています。`dandori task retry {run}` で再度プッシュできます"
        ),
        Failure::RemoteUnreachable { .. } => say!(
            lang,
            "the commit is on the branch: once the network and your login work, `dandori task retry {run}` pushes it",
            "コミットはブランチに残っています。ネットワークとログインを確認してから `dandori task retry {run}` でプッシュできます"
        ),
        Failure::PushConflict { .. } => say!(
            lang,
            "merge both sides with `dandori task follow-up {run} \"…\"`",
            "`dandori task follow-up {run} \"…\"` で統合できます"
        ),
        Failure::PushOvertaken { .. } => {
            say!(lang, "try again with `dandori task retry {run}`", "`dandori task retry {run}` で再試行できます")
        }
        Failure::Worktree { .. }
        | Failure::SetUp { .. }
        | Failure::DoesNotMerge { .. }
        | Failure::Check { .. }
        | Failure::AgentMissing { .. }
        | Failure::Agent { .. }
        | Failure::TimedOut { .. }
        | Failure::ProcessesLeft { .. }
        | Failure::Tampered { .. }
        | Failure::Unstageable { .. }
        | Failure::Staging { .. } => return None,
    })
}

pub(crate) fn agent_failure(lang: Lang, failure: &AgentFailure) -> String {
    match failure {
        AgentFailure::NotAuthorised { detail } => {
            say!(
                lang,
                "the agent is not logged in or its key was rejected: {detail}",
                "エージェントがログインしていないか、キーが拒否されました: {detail}"
            )
        }
        AgentFailure::RateLimited { detail } => {
            say!(
                lang,
                "the agent's rate limit or quota is exhausted: {detail}",
                "エージェントのレート制限または利用枠の上限に達しました: {detail}"
            )
        }
        AgentFailure::Overloaded { detail, .. } => {
            say!(
                lang,
                "the model's API failed or is overloaded: {detail}",
                "モデルの API が過負荷か、障害中です: {detail}"
            )
        }
        AgentFailure::Unreachable { detail } => {
            say!(lang, "cannot reach the model's API: {detail}", "モデルの API に接続できません: {detail}")
        }
        AgentFailure::Api { detail, .. } => {
            say!(lang, "the model's API rejected the request: {detail}", "モデルの API が要求を拒否しました: {detail}")
        }
        AgentFailure::ContextTooLong { detail } => {
            say!(
                lang,
                "the conversation is too long for the model: {detail}",
                "会話の長さがモデルの上限を超えました: {detail}"
            )
        }
        AgentFailure::MaxTurns => {
            say!(lang, "the agent reached its turn limit", "エージェントがターン数の上限に達しました")
        }
        AgentFailure::MaxTokens => {
            say!(
                lang,
                "the agent reached its token limit before it finished its answer",
                "エージェントが回答の途中でトークン数の上限に達しました"
            )
        }
        AgentFailure::Declined => {
            say!(lang, "the model refused the request", "モデルが依頼を拒否しました")
        }
        AgentFailure::Protocol { trouble } => protocol_trouble(lang, trouble),
        AgentFailure::NeedsFence => {
            say!(
                lang,
                "an ACP agent runs only in the sandbox, because nothing else can restrict what it does without asking",
                "ACP エージェントはサンドボックス内でのみ実行できます。確認なしに行う操作を制限できるのはサンドボックスだけです"
            )
        }
        AgentFailure::Interrupted => say!(lang, "the agent was interrupted", "エージェントが中断されました"),
        AgentFailure::NoVerdict { exit, signal, tail } => {
            let how = match (signal, exit) {
                (Some(signal), _) => say!(lang, "killed by signal {signal}", "シグナル {signal} で終了"),
                (None, Some(code)) => say!(lang, "exit code {code}", "終了コード {code}"),
                (None, None) => say!(lang, "no exit code", "終了コードなし"),
            };
            let tail = after_colon(tail);
            say!(
                lang,
                "the agent exited without reporting a result ({how}){tail}",
                "エージェントが結果を報告せずに終了しました ({how}){tail}"
            )
        }
        AgentFailure::ExitCode { code, tail } => {
            let tail = after_colon(tail);
            say!(
                lang,
                "the agent exited with code {code}{tail}",
                "エージェントが終了コード {code} で終了しました{tail}"
            )
        }
        AgentFailure::WrongSession { asked, got } => {
            let got =
                got.as_ref().map_or_else(String::new, |got| say!(lang, " (it started {got})", " (新しい会話: {got})"));
            say!(
                lang,
                "the agent did not continue the conversation {asked}{got}",
                "エージェントが会話 {asked} を引き継ぎませんでした{got}"
            )
        }
        AgentFailure::NotStarted { detail } => {
            say!(lang, "cannot start the agent: {detail}", "エージェントを起動できませんでした: {detail}")
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
            "the agent does not speak the Agent Client Protocol: it printed {line:?}; check that its command starts it in ACP mode",
            "エージェントの出力が Agent Client Protocol ではありません: {line:?}。コマンドが ACP モードで起動しているか確認してください"
        ),
        ProtocolTrouble::Version { offered } => say!(
            lang,
            "the agent uses version {offered} of the Agent Client Protocol, dandori supports version 1",
            "エージェントの Agent Client Protocol はバージョン {offered} ですが、dandori が対応しているのはバージョン 1 です"
        ),
        ProtocolTrouble::Refused { method, message } => say!(
            lang,
            "the agent answered {method} with an error: {message}",
            "エージェントが {method} にエラーを返しました: {message}"
        ),
        ProtocolTrouble::BadAnswer { method, detail } => say!(
            lang,
            "the agent's answer to {method} violates the Agent Client Protocol: {detail}",
            "{method} に対するエージェントの応答が Agent Client Protocol に違反しています: {detail}"
        ),
        ProtocolTrouble::LoginNeeded { methods } => {
            if methods.is_empty() {
                return say!(
                    lang,
                    "the agent requires a login: log in with the agent itself",
                    "エージェントへのログインが必要です。エージェント側でログインしてください"
                );
            }
            let methods = methods.join(", ");
            say!(
                lang,
                "the agent requires a login; log in with the agent itself, or set `auth` next to `acp` in the configuration to one of: {methods}",
                "エージェントへのログインが必要です。エージェント側でログインするか、設定の `acp` と並べて `auth` に次のいずれかを指定してください: {methods}"
            )
        }
        ProtocolTrouble::NoSuchModel { model, offered } => {
            let offered = match offered.join(", ") {
                none if none.is_empty() => none,
                some => say!(lang, "; available: {some}", " (使用可能: {some})"),
            };
            say!(
                lang,
                "the agent does not offer the model {model}{offered}",
                "エージェントにモデル {model} はありません{offered}"
            )
        }
    }
}

fn unfit(lang: Lang, unfit: &Unfit) -> String {
    let path = plain_path(&unfit.path);
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
        UnfitWhy::Unreadable => say!(lang, "{path} cannot be read", "{path} を読み取れません"),
        UnfitWhy::TooLarge { bytes, limit } => {
            let (bytes, limit) = (crate::ui::size(bytes), crate::ui::size(limit));
            say!(
                lang,
                "the changes total {bytes}, the limit is {limit} (largest file: {path})",
                "変更の合計 {bytes} が上限 {limit} を超えています (最大のファイル: {path})"
            )
        }
        UnfitWhy::TooMany { files, limit } => say!(
            lang,
            "{files} files changed, the limit is {limit} (for example {path})",
            "変更されたファイル {files} 件が上限 {limit} 件を超えています ({path} など)"
        ),
    }
}

pub fn finding(lang: Lang, finding: &Finding) -> String {
    match finding {
        Finding::HeadMoved { expected, found } => {
            say!(lang, "HEAD was moved from {expected} to {found}", "HEAD が {expected} から {found} に変更されました")
        }
        Finding::BranchMoved { expected, found } => say!(
            lang,
            "the agent committed to the branch itself ({found} instead of {expected})",
            "エージェントがブランチに直接コミットしました ({expected} ではなく {found})"
        ),
        Finding::GitFileChanged { path } => {
            say!(
                lang,
                "the worktree's git file {path} was changed",
                "ワークツリーの git ファイル {path} が変更されました"
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
                "there is another repository inside the worktree: {path}",
                "ワークツリー内に別のリポジトリがあります: {path}"
            )
        }
        Finding::ForbiddenPath { path, pattern } => {
            say!(lang, "{path} is protected ({pattern})", "{path} は保護されたファイルです ({pattern})")
        }
        Finding::WorktreeMissing { path } => {
            say!(lang, "the worktree {path} is missing", "ワークツリー {path} がありません")
        }
    }
}

/// Several sentences after a colon.
fn sentences(lang: Lang, all: impl Iterator<Item = String>) -> String {
    let between = match lang {
        Lang::En => "; ",
        Lang::Ja => "。",
    };
    all.collect::<Vec<_>>().join(between)
}

/// The last thing a program said, if it said anything.
fn after_colon(text: &str) -> String {
    match last_line(text) {
        line if line.is_empty() => String::new(),
        line => format!(": {line}"),
    }
}

fn last_line(text: &str) -> String {
    text.lines().rev().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default().to_owned()
}
