//! What is wrong with a request: what happened, why, and what to do next.

use dandori_domain::Client;
use dandori_domain::Problem;
use dandori_domain::plain::plain;
use dandori_domain::problem::EditTrouble;

use crate::lang::say;
use crate::misuse::did_you_mean;
use crate::{Lang, Said, init, ui};

/// What others said in it commands nobody's terminal.
pub fn problem(lang: Lang, problem: &Problem) -> Said {
    let Said { what, why, hint } = words(lang, problem);
    Said { what: plain(&what), why: why.as_deref().map(plain), hint: plain(&hint) }
}

fn words(lang: Lang, problem: &Problem) -> Said {
    match problem {
        Problem::NotARepository { path } => {
            Said::what(say!(lang, "{path} is not in a git repository", "{path} は git リポジトリの中ではありません"))
                .hint(say!(
                    lang,
                    "change into one, or make one with `git init`",
                    "リポジトリに移動するか、`git init` で作成してください"
                ))
        }
        Problem::NothingToGuard { path } => init::nothing_to_guard(lang, path.as_str()),
        Problem::NoAgents => init::no_agents(lang),
        Problem::BadSettings { path, trouble } => init::bad_settings(lang, path.as_str(), trouble),
        Problem::RepositoryGone { path } => {
            Said::what(say!(lang, "the repository {path} is gone", "リポジトリ {path} がありません"))
                .why(say!(
                    lang,
                    "it was moved or deleted since it was used last",
                    "前回の使用後に移動または削除されています"
                ))
                .hint(say!(
                    lang,
                    "move it back, or start a new task with `dandori run` where it is now",
                    "元の場所に戻すか、現在の場所で `dandori run` を使って新しいタスクを始めてください"
                ))
        }
        Problem::DubiousOwnership { path } => {
            Said::what(say!(lang, "git does not use the repository {path}", "git はリポジトリ {path} を使用しません"))
                .why(say!(
                    lang,
                    "it belongs to another user, who could have you run commands through its configuration",
                    "所有者が別のユーザーで、その設定によってコマンドが実行されるおそれがあるためです"
                ))
                .hint(say!(
                    lang,
                    "if you trust it: git config --global --add safe.directory {path}",
                    "信頼できる場合: git config --global --add safe.directory {path}"
                ))
        }
        Problem::BareRepository { path } => {
            Said::what(say!(lang, "{path} is a bare repository", "{path} はベアリポジトリです")).hint(say!(
                lang,
                "run dandori in a checkout of it",
                "チェックアウトの中で dandori を実行してください"
            ))
        }
        Problem::NoCommitYet { path } => {
            Said::what(say!(lang, "{path} has no commit yet", "{path} にはまだコミットがありません"))
                .why(say!(
                    lang,
                    "a worktree needs a commit to start from",
                    "ワークツリーには起点となるコミットが必要です"
                ))
                .hint(say!(
                    lang,
                    "make a first commit: `git commit --allow-empty -m init`, then push it",
                    "最初のコミットを作成してプッシュしてください: `git commit --allow-empty -m init`"
                ))
        }
        Problem::NoRemote { path } => {
            Said::what(say!(lang, "{path} has no remote `origin`", "{path} にリモート `origin` がありません"))
                .why(say!(lang, "a run pushes its branch there", "実行のブランチはそこにプッシュされます"))
                .hint(say!(
                    lang,
                    "add one: `git remote add origin <url>` (a bare repository on this disk will do)",
                    "追加してください: `git remote add origin <url>` (ローカルのベアリポジトリでも構いません)"
                ))
        }
        Problem::Elsewhere { path } => Said::what(say!(
            lang,
            "{path} belongs to another dandori that shares this database",
            "{path} は、同じデータベースを使う別の dandori のものです"
        ))
        .why(say!(
            lang,
            "worktrees and branches are on the host they were made on",
            "ワークツリーとブランチは作成したホストにあります"
        ))
        .hint(say!(
            lang,
            "give the order there, or start a new task here with `dandori run`",
            "そのホストで操作するか、ここで `dandori run` により新しいタスクを始めてください"
        )),
        Problem::NoPlaybook { path } => {
            Said::what(say!(lang, "there is no active playbook", "有効な playbook がありません"))
                .why(say!(lang, "{path} names none", "{path} に playbook の指定がありません"))
                .hint(say!(
                    lang,
                    "`dandori playbook new <name> --activate` begins one",
                    "`dandori playbook new <名前> --activate` で作成してください"
                ))
        }
        Problem::FileExists { path } => {
            Said::what(say!(lang, "{path} is there already", "{path} は既に存在します"))
                .hint(say!(lang, "choose another name", "別の名前を指定してください"))
        }
        Problem::NoSuchFile { path } => {
            Said::what(say!(lang, "there is no file {path}", "ファイル {path} がありません"))
                .hint(say!(lang, "check its name and the folder you are in", "名前と現在のフォルダーを確認してください"))
        }
        Problem::BadName { name } => {
            Said::what(say!(lang, "`{name}` cannot be a playbook's name", "`{name}` は playbook の名前に使えません")).hint(
                say!(
                    lang,
                    "use letters, digits, `-`, `_` and `.`",
                    "英数字などの文字と `-`、`_`、`.` だけを使ってください"
                ),
            )
        }
        Problem::CannotEdit { path, key, reason } => {
            let said = Said::what(say!(lang, "`{key}` in {path} was not changed", "{path} の `{key}` を変更できません"));
            match reason {
                EditTrouble::NoPlace => said
                    .why(say!(lang, "neither it nor its section is there", "キーもその上のセクションもありません"))
                    .hint(say!(
                        lang,
                        "`dandori state show` lists what there is",
                        "`dandori state show` で一覧を確認してください"
                    )),
                EditTrouble::NotAValue => said
                    .why(say!(lang, "it has keys or a list below it", "下にキーまたはリストがあります"))
                    .hint(say!(lang, "change it in an editor", "エディターで変更してください")),
                EditTrouble::SeveralLines => said
                    .why(say!(lang, "a value is one line", "値は 1 行だけです"))
                    .hint(say!(lang, "give it without line breaks", "改行を除いて指定してください")),
                EditTrouble::Unwritable => said
                    .why(say!(
                        lang,
                        "its quotes cannot be kept as they are in one line",
                        "引用符をそのまま 1 行に書けません"
                    ))
                    .hint(say!(lang, "use one kind of quotes", "引用符を 1 種類にしてください")),
            }
        }
        Problem::BadStateValue { key, value, known } => {
            let known = known.join(", ");
            Said::what(say!(lang, "`{key}` cannot be `{value}`", "`{key}` に `{value}` は指定できません")).hint(say!(
                lang,
                "it is one of: {known}",
                "次のいずれかを指定してください: {known}"
            ))
        }
        Problem::NoSuchVersion { text } => {
            Said::what(say!(lang, "there is no earlier version `{text}`", "以前の版 `{text}` はありません")).hint(say!(
                lang,
                "`dandori state history` lists them",
                "`dandori state history` で一覧を確認してください"
            ))
        }
        Problem::NoIdentity => Said::what(say!(
            lang,
            "git does not know who you are",
            "git にユーザー情報が設定されていません"
        ))
        .why(say!(
            lang,
            "a run ends in a commit, and that needs a name and an e-mail address",
            "実行結果のコミットには名前とメールアドレスが必要です"
        ))
        .hint(say!(
            lang,
            "set them: `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`",
            "設定してください: `git config --global user.name \"名前\"` と `git config --global user.email you@example.com`"
        )),
        Problem::UnknownBase { base, near } => {
            let said =
                Said::what(say!(lang, "there is no base `{base}`", "ベース `{base}` が見つかりません")).why(say!(
                    lang,
                    "it is no branch of origin, no local branch, tag or commit",
                    "origin のブランチ、ローカルブランチ、タグ、コミットのいずれでもありません"
                ));
            if near.is_empty() {
                said.hint(say!(lang, "`git branch -a` lists what there is", "`git branch -a` で一覧を確認できます"))
            } else {
                let near = near.join("`, `");
                said.hint(did_you_mean(lang, &near))
            }
        }
        Problem::Submodules { path } => Said::what(say!(
            lang,
            "the repository has a submodule at {path}",
            "リポジトリの {path} にサブモジュールがあります"
        ))
        .why(say!(
            lang,
            "a submodule in a worktree is a repository the agent could write: such repositories are not supported",
            "ワークツリー内のサブモジュールはエージェントが書き換えられるリポジトリになるため、対応していません"
        ))
        .hint(say!(lang, "run dandori in a clone of the submodule itself, or in a repository without submodules", "サブモジュール自体のクローンか、サブモジュールのないリポジトリで実行してください")),
        Problem::LfsMissing => Said::what(say!(
            lang,
            "this repository uses Git LFS, and git-lfs is not set up",
            "このリポジトリは Git LFS を使っていますが、git-lfs が設定されていません"
        ))
        .hint(say!(
            lang,
            "install git-lfs and run `git lfs install`",
            "git-lfs をインストールして `git lfs install` を実行してください"
        )),
        Problem::GitTooOld { found, needed } => Said::what(say!(
            lang,
            "git {found} is too old",
            "git {found} は古すぎます"
        ))
        .hint(say!(lang, "install git {needed} or newer", "git {needed} 以降をインストールしてください")),
        Problem::GitMissing => Said::what(say!(lang, "there is no git", "git がありません")).hint(say!(
            lang,
            "install git and see that it is on the PATH",
            "git をインストールし、PATH を確認してください"
        )),
        Problem::AgentMissing { agent, program } => {
            let client = agent.parse::<Client>().ok();
            let install = client.map(|client| client.describe().program.install_command()).unwrap_or_default();
            let said = Said::what(say!(
                lang,
                "the agent {agent} is not installed",
                "エージェント {agent} がインストールされていません"
            ))
            .why(say!(
                lang,
                "there is no program `{program}` on the PATH",
                "PATH に `{program}` がありません"
            ));
            if install.is_empty() {
                said.hint(say!(
                    lang,
                    "check the command of [agents.{agent}] in dandori.toml",
                    "dandori.toml の [agents.{agent}] のコマンドを確認してください"
                ))
            } else {
                said.hint(say!(
                    lang,
                    "install it: `{install}`, or choose another with --agent",
                    "`{install}` でインストールするか、--agent で別のエージェントを選んでください"
                ))
            }
        }
        Problem::AcpNeedsFence { agent } => Said::what(say!(
            lang,
            "`{agent}` speaks ACP and runs behind the fence only",
            "`{agent}` は ACP エージェントなので、サンドボックスなしでは実行しません"
        ))
        .why(say!(
            lang,
            "it has no hooks, so that nothing else holds what it does without asking",
            "フックがないため、確認なしに行う操作を制限できるのはサンドボックスだけです"
        ))
        .hint(say!(
            lang,
            "remove `sandbox.mode = \"off\"` from the configuration, and see `dandori doctor --sandbox` for what this machine has",
            "設定から `sandbox.mode = \"off\"` を外し、このマシンで使える機能を `dandori doctor --sandbox` で確認してください"
        )),
        Problem::BadAgent { agent, known } => {
            let known = known.join(", ");
            Said::what(say!(lang, "there is no agent `{agent}`", "エージェント `{agent}` はありません")).hint(say!(
                lang,
                "choose one of {known}",
                "次から選んでください: {known}"
            ))
        }
        Problem::BadConfig { path, reason, suggestion } => {
            let said = Said::what(say!(lang, "the configuration {path} is wrong", "設定 {path} に誤りがあります"))
                .why(reason.clone());
            match suggestion {
                Some(key) => said.hint(did_you_mean(lang, key)),
                None => said.hint(say!(
                    lang,
                    "correct the file; the README lists every key",
                    "ファイルを修正してください。キーの一覧は README にあります"
                )),
            }
        }
        Problem::Untrusted { path, what } => {
            let list = what.iter().map(|w| format!("  {w}")).collect::<Vec<_>>().join("\n");
            Said::what(say!(lang, "the configuration {path} is not trusted yet", "設定 {path} はまだ信頼されていません"))
                .why(say!(lang, "it could run or allow:\n{list}", "次の実行・許可が含まれています:\n{list}"))
                .hint(say!(
                    lang,
                    "read it, then run `dandori trust` once",
                    "内容を確認のうえ、一度 `dandori trust` を実行してください"
                ))
        }
        Problem::UnusableCharacter { what, character, line } => {
            Said::what(say!(
                lang,
                "the {what} has a character that cannot be passed on: {character} in line {line}",
                "{what} に使用できない文字があります: {line} 行目の {character}"
            ))
            .why(say!(
                lang,
                "neither a program's argument nor a commit can hold it",
                "プログラムの引数にもコミットにも含められません"
            ))
            .hint(say!(lang, "remove it and try again", "取り除いて、もう一度実行してください"))
        }
        Problem::EmptyInstruction => Said::what(say!(lang, "the instruction is empty", "指示が空です")).hint(say!(
            lang,
            "say what is to be done: dandori run \"add a health endpoint\"",
            "何をするかを書いてください: dandori run \"ヘルスチェックを追加して\""
        )),
        Problem::InstructionTooLong { bytes, limit } => Said::what(say!(
            lang,
            "the instruction has {bytes} bytes, the limit is {limit}",
            "指示が {bytes} バイトあります (上限 {limit})"
        ))
        .hint(say!(
            lang,
            "put the material into a file of the repository and name it in the instruction",
            "資料はリポジトリのファイルに置き、指示ではそのファイル名を伝えてください"
        )),
        Problem::BadBudget { text } => {
            Said::what(say!(lang, "`{text}` is not a budget", "`{text}` は予算に指定できません")).hint(say!(
                lang,
                "give an amount of US dollars above 0, such as --budget 2.50",
                "0 より大きい米ドル額を指定してください (例: --budget 2.50)"
            ))
        }
        Problem::NoSuchTask { text } => Said::what(say!(
            lang,
            "there is no task `{text}`",
            "タスク `{text}` はありません"
        ))
        .hint(say!(lang, "`dandori task list` shows them", "`dandori task list` で一覧を確認できます")),
        Problem::NoSuchRun { text } => Said::what(say!(lang, "there is no run `{text}`", "実行 `{text}` はありません"))
            .hint(say!(
                lang,
                "`dandori task show <task>` lists a task's runs",
                "`dandori task show <task>` でタスクの実行一覧を確認できます"
            )),
        Problem::AmbiguousReference { text, matches } => {
            let matches = matches.join(", ");
            Said::what(say!(lang, "`{text}` could mean several", "`{text}` に該当するものが複数あります")).why(matches).hint(say!(lang, "write one of them in full", "いずれかを省略せずに指定してください"))
        }
        Problem::CannotCancel { status } => {
            Said::what(say!(lang, "a run that is {status} cannot be canceled", "{status} の実行は取り消せません"))
                .why(say!(lang, "only what is PENDING or RUNNING can", "取り消せるのは PENDING と RUNNING だけです"))
                .hint(say!(lang, "`dandori task list` tells how it stands", "`dandori task list` で状況を確認できます"))
        }
        Problem::CannotRetry { status } => {
            Said::what(say!(lang, "a run that is {status} cannot be retried", "{status} の実行は再試行できません")).hint(
                say!(
                    lang,
                    "give it more to do with `dandori task follow-up`",
                    "追加の指示は `dandori task follow-up` で出せます"
                ),
            )
        }
        Problem::CannotFollowUp { status } => Said::what(say!(
            lang,
            "a run that is {status} cannot be followed up",
            "{status} の実行には追加指示を出せません"
        ))
        .hint(say!(
            lang,
            "start a new task with `dandori run`",
            "`dandori run` で新しいタスクを始めてください"
        )),
        Problem::TaskIsBusy { run, status } => Said::what(say!(
            lang,
            "the task is still at work: {run} is {status}",
            "タスクは実行中です: {run} ({status})"
        ))
        .hint(say!(
            lang,
            "wait for it, or `dandori task cancel` it",
            "完了を待つか、`dandori task cancel` で取り消してください"
        )),
        Problem::NothingToPick { task } => {
            Said::what(say!(lang, "this run of {task} cannot be picked", "{task} のこの実行は選べません"))
                .why(say!(
                    lang,
                    "only a run that has SUCCEEDED with a pushed branch can",
                    "選べるのは SUCCEEDED でブランチをプッシュした実行だけです"
                ))
                .hint(say!(
                    lang,
                    "`dandori task show {task}` tells where its runs stand",
                    "`dandori task show {task}` で状況を確認できます"
                ))
        }
        Problem::NoSuchWorktree { text } => {
            Said::what(say!(lang, "there is no worktree `{text}`", "ワークツリー `{text}` はありません")).hint(say!(
                lang,
                "`dandori worktree list` shows them",
                "`dandori worktree list` で一覧を確認できます"
            ))
        }
        Problem::WorktreeHeld { key, owner } => {
            Said::what(say!(lang, "the worktree {key} belongs to {owner}", "ワークツリー {key} は {owner} が使用中です"))
                .why(say!(
                    lang,
                    "another session's worktree is never removed",
                    "他のセッションのワークツリーは削除できません"
                ))
                .hint(say!(
                    lang,
                    "cancel its run, or ask from that session (--session)",
                    "その実行を取り消すか、使用中のセッションから操作してください (--session)"
                ))
        }
        Problem::WorktreeDirty { key, files, unpushed } => {
            let dirty = ui::count(*files, "uncommitted file");
            let ahead = ui::count(*unpushed, "unpushed commit");
            Said::what(say!(
            lang,
            "the worktree {key} has {dirty} and {ahead}",
            "ワークツリー {key} に未コミットのファイルが {files} 件、未プッシュのコミットが {unpushed} 件あります"
        ))
        .hint(say!(
            lang,
            "--force removes it and keeps the work under refs/dandori/preserved (`dandori worktree restore {key}` brings it back)",
            "--force で削除すると、作業内容は refs/dandori/preserved に保存されます (`dandori worktree restore {key}` で復元)"
        ))
        }
        Problem::WorktreeExists { path } => Said::what(say!(lang, "{path} exists already", "{path} は既に存在します")).hint(say!(lang, "move it away, or choose another place with --path", "別の場所に移すか、--path で他の場所を指定してください")),
        Problem::UnsafePath { path, reason } => Said::what(say!(
            lang,
            "{path} is not a safe place for a worktree",
            "{path} はワークツリーの場所として安全ではありません"
        ))
        .why(reason.clone())
        .hint(say!(lang, "choose a place outside of any repository and without symbolic links (--path)", "リポジトリの外で、シンボリックリンクを含まない場所を指定してください (--path)")),
        Problem::WorktreeLocked { path, reason } => {
            Said::what(say!(lang, "the worktree {path} is locked", "ワークツリー {path} はロックされています"))
                .why(reason.clone())
                .hint(say!(
                    lang,
                    "`git worktree unlock {path}` unlocks it",
                    "`git worktree unlock {path}` でロックを解除できます"
                ))
        }
        Problem::WorktreeUnrecorded { path } => Said::what(say!(
            lang,
            "git does not know the worktree {path} any more: what is in it cannot be kept",
            "git はワークツリー {path} を把握していないため、内容を保存できません"
        ))
        .hint(say!(
            lang,
            "take what you need out of it and delete the folder; `dandori worktree gc` clears the rest",
            "必要なものを取り出してからフォルダーを削除してください。残りは `dandori worktree gc` で片付きます"
        )),
        Problem::WorktreeDetached { path } => {
            Said::what(say!(lang, "{path} is on no branch", "{path} はブランチをチェックアウトしていません")).hint(say!(
                lang,
                "`git switch -c <name>` there gives it one",
                "そこで `git switch -c <名前>` を実行してブランチを作成してください"
            ))
        }
        Problem::BadBranchName { name } => {
            Said::what(say!(lang, "`{name}` cannot be the name of a branch", "`{name}` はブランチ名に使えません"))
                .hint(say!(
                    lang,
                    "letters, digits, `-`, `_` and single `/` always work",
                    "英数字、`-`、`_`、区切りの `/` なら確実に使えます"
                ))
        }
        Problem::BranchTaken { branch, suggestion, used_at } => {
            let said = Said::what(say!(lang, "the branch {branch} is taken", "ブランチ {branch} は既に使われています"));
            let said = match used_at {
                Some(at) => said.why(say!(lang, "it is checked out at {at}", "{at} でチェックアウトされています")),
                None => said,
            };
            said.hint(say!(
                lang,
                "use another name, such as {suggestion}",
                "別の名前を使ってください (例: {suggestion})"
            ))
        }
        Problem::NotOurWorktree { path } => Said::what(say!(
            lang,
            "{path} is no worktree of this repository",
            "{path} はこのリポジトリのワークツリーではありません"
        ))
        .hint(say!(lang, "`git worktree list` shows those it has", "`git worktree list` で一覧を確認できます")),
        Problem::NothingPreserved { text } => {
            Said::what(say!(lang, "nothing is kept for `{text}`", "`{text}` として保存された作業はありません")).hint(say!(
                lang,
                "`git for-each-ref refs/dandori/preserved` lists what is kept",
                "`git for-each-ref refs/dandori/preserved` で一覧を確認できます"
            ))
        }
        Problem::NoSuchPull { number } => {
            Said::what(say!(lang, "there is no pull request #{number}", "プルリクエスト #{number} はありません"))
                .hint(say!(lang, "`dandori pr list` shows them", "`dandori pr list` で一覧を確認できます"))
        }
        Problem::NothingToPull { run, status } => Said::what(say!(
            lang,
            "{run} is {status}: it has no pushed branch to make a pull request of",
            "{run} は {status} のため、プルリクエストにするプッシュ済みブランチがありません"
        ))
        .hint(say!(lang, "`dandori task show {run}` tells why; `dandori task retry {run}` tries a failed run again", "理由は `dandori task show {run}` で確認できます。失敗した実行は `dandori task retry {run}` で再試行できます")),
        Problem::ForgeRefused { reason } => {
            Said::what(say!(lang, "the forge refused the request", "フォージがリクエストを拒否しました")).why(reason.clone()).hint(say!(lang, "check that the token may do this in the repository, then try again", "トークンにリポジトリの権限があるか確認してから、もう一度実行してください"))
        }
        Problem::ForgeUnreachable { reason } => {
            Said::what(say!(lang, "the forge cannot be reached", "フォージに接続できません")).why(reason.clone()).hint(say!(lang, "check the network, then try again", "ネットワークを確認してから、もう一度実行してください"))
        }
        Problem::NoForgeToken { host } => {
            Said::what(say!(lang, "there is no token for {host}", "{host} のトークンがありません")).hint(say!(
                lang,
                "run `gh auth login`, or set GH_TOKEN, or set forge = \"local\"",
                "`gh auth login` を実行するか、GH_TOKEN を設定するか、forge = \"local\" にしてください"
            ))
        }
        Problem::DiskFull { path, free_mib, needed_mib } => Said::what(say!(
            lang,
            "there is too little space at {path}: {free_mib} MiB free, {needed_mib} MiB needed",
            "{path} の空き容量が不足しています: 空き {free_mib} MiB、必要 {needed_mib} MiB"
        ))
        .hint(say!(
            lang,
            "make room (`dandori worktree gc`), or lower runs.min_free_disk",
            "空きを増やすか (`dandori worktree gc`)、runs.min_free_disk を下げてください"
        )),
        Problem::StoreFull => Said::what(say!(
            lang,
            "the disk of dandori's database is full",
            "dandori のデータベースを置くディスクに空きがありません"
        ))
        .why(say!(
            lang,
            "nothing was taken on; what was taken on before is safe",
            "今回の依頼は受け付けていません。受け付け済みの依頼は失われていません"
        ))
        .hint(say!(lang, "make room and ask again", "空きを増やしてから、もう一度実行してください")),
        Problem::StoreUnavailable { reason } => {
            Said::what(say!(lang, "dandori's database cannot be used", "dandori のデータベースを使用できません"))
                .why(reason.clone())
                .hint(say!(lang, "`dandori doctor` tells more", "`dandori doctor` で詳細を確認できます"))
        }
        Problem::StoreTooNew { found, known } => Said::what(say!(
            lang,
            "the database was written by a newer dandori (schema {found}, this one knows {known})",
            "データベースはより新しい dandori のものです (スキーマ {found}、このバージョンは {known} まで)"
        ))
        .hint(say!(
            lang,
            "upgrade dandori; nothing was changed",
            "dandori を更新してください。データベースは変更していません"
        )),
        Problem::StoreDamaged { quarantine, restored } => {
            let restored = match restored {
                Some(name) => say!(lang, "the backup {name} was restored", "バックアップ {name} を復元しました"),
                None => say!(
                    lang,
                    "there was no backup: an empty database was begun",
                    "バックアップがないため、空のデータベースで開始しました"
                ),
            };
            Said::what(say!(
                lang,
                "the database was damaged and moved to {quarantine}",
                "データベースが破損していたため {quarantine} に隔離しました"
            ))
            .why(restored)
            .hint(say!(lang, "`dandori task list` shows what is there; the damaged file is kept for whoever can read it", "残っているタスクは `dandori task list` で確認できます。破損したファイルは隔離先に残っています"))
        }
        Problem::DaemonUnreachable { socket, reason } => {
            Said::what(say!(lang, "the daemon does not answer at {socket}", "デーモンが {socket} で応答しません"))
                .why(reason.clone())
                .hint(say!(
                    lang,
                    "`dandori daemon status` and `dandori daemon logs` tell more",
                    "`dandori daemon status` と `dandori daemon logs` で詳細を確認できます"
                ))
        }
        Problem::DaemonStarting { log, reason } => {
            Said::what(say!(lang, "the daemon did not start", "デーモンが起動しませんでした"))
                .why(reason.clone())
                .hint(say!(lang, "read its log, {log}", "ログを確認してください: {log}"))
        }
        Problem::DaemonVersion { daemon, cli } => Said::what(say!(
            lang,
            "the daemon is dandori {daemon}, this is {cli}",
            "デーモンは dandori {daemon}、この CLI は {cli} です"
        ))
        .hint(say!(
            lang,
            "`dandori daemon stop` once; runs go on and are taken up again",
            "`dandori daemon stop` を一度実行してください。実行中の作業は続き、次のデーモンに引き継がれます"
        )),
        Problem::DaemonListensElsewhere { asked, listens } => {
            let said = Said::what(say!(
                lang,
                "the daemon runs already and does not listen on {asked}",
                "デーモンは既に動作中で、{asked} では待ち受けていません"
            ));
            let said = match listens {
                Some(address) => said.why(say!(lang, "it listens on {address}", "待ち受け先は {address} です")),
                None => said.why(say!(lang, "it listens on its socket alone", "ソケットだけで待ち受けています")),
            };
            said.hint(say!(
                lang,
                "`dandori daemon stop`, then `dandori daemon start --listen {asked}`; runs go on meanwhile",
                "`dandori daemon stop` のあと `dandori daemon start --listen {asked}` を実行してください。実行中の作業は継続します"
            ))
        }
        Problem::CannotListen { address, reason } => {
            Said::what(say!(lang, "the daemon cannot listen on {address}", "デーモンは {address} で待ち受けできません"))
                .why(reason.clone())
                .hint(say!(
                    lang,
                    "choose a free loopback address, such as 127.0.0.1:0 for any port",
                    "空いているループバックアドレスを指定してください (例: 任意のポートなら 127.0.0.1:0)"
                ))
        }
        Problem::ForeignStateRoot { path } => {
            Said::what(say!(lang, "{path} belongs to another user", "{path} の所有者は別のユーザーです"))
                .why(say!(
                    lang,
                    "another user could read the token in it and take the daemon's place",
                    "別のユーザーがトークンを読んだり、デーモンになりすましたりできるためです"
                ))
                .hint(say!(
                    lang,
                    "remove it, make it yours, or choose another folder by DANDORI_STATE_DIR",
                    "削除するか、所有者を自分に変更するか、DANDORI_STATE_DIR で別のフォルダーを指定してください"
                ))
        }
        Problem::ForeignDaemon { socket } => Said::what(say!(
            lang,
            "another user listens on {socket}",
            "{socket} で別のユーザーが待ち受けています"
        ))
        .why(say!(
            lang,
            "it was sent nothing: neither the token nor your environment",
            "トークンや環境変数は何も送信していません"
        ))
        .hint(say!(
            lang,
            "find out who made {socket}, remove it, and try again",
            "{socket} を作成したユーザーを確認して削除し、もう一度実行してください"
        )),
        Problem::TooManyConnections { limit } => Said::what(say!(
            lang,
            "the daemon already serves {limit} streams",
            "デーモンは既に {limit} 本のストリームを配信しています"
        ))
        .hint(say!(
            lang,
            "close some of the programs that follow it, or try again in a moment",
            "接続中のプログラムを減らすか、少し待ってから、もう一度実行してください"
        )),
        Problem::SocketPathTooLong { path } => {
            Said::what(say!(lang, "the socket path is too long: {path}", "ソケットのパスが長すぎます: {path}"))
                .hint(say!(lang, "choose a shorter DANDORI_STATE_DIR", "DANDORI_STATE_DIR を短くしてください"))
        }
        Problem::StopUnderWay => Said::what(say!(
            lang,
            "the daemon is stopping and takes nothing new",
            "デーモンは停止中のため、新しい依頼を受け付けません"
        ))
        .hint(say!(lang, "ask again in a moment", "少し待ってから、もう一度実行してください")),
        Problem::NoSuchPath { method, path } => Said::what(say!(
            lang,
            "the API has no {method} {path}",
            "API に {method} {path} はありません"
        ))
        .hint(say!(lang, "/v1/openapi.json describes what it has", "/v1/openapi.json に一覧があります")),
        Problem::Unauthorized { reason } => {
            Said::what(say!(lang, "the daemon does not let this request in", "デーモンが要求を受け付けません"))
                .why(reason.clone())
                .hint(say!(
                    lang,
                    "every request carries the token in the state root's private/token",
                    "すべての要求に、状態フォルダーの private/token のトークンが必要です"
                ))
        }
        Problem::BadRequest { reason } => {
            Said::what(say!(lang, "the request is not understood", "リクエストを解釈できません")).why(reason.clone()).hint(say!(lang, "`dandori daemon stop` ends a daemon of another version; then try again", "`dandori daemon stop` で古いデーモンを停止してから、もう一度実行してください"))
        }
        Problem::Git { command, reason } => {
            Said::what(say!(lang, "`{command}` failed", "`{command}` が失敗しました")).why(reason.clone()).hint(say!(lang, "remove the cause and try again; `dandori doctor` checks this machine", "原因を取り除いて、もう一度実行してください。環境は `dandori doctor` で点検できます"))
        }
        Problem::Io { path, reason } => {
            Said::what(say!(lang, "{path} cannot be used", "{path} を使用できません")).why(reason.clone()).hint(say!(lang, "check that it is there and that you may read and write it", "存在するか、読み書きの権限があるかを確認してください"))
        }
        Problem::Internal { reason } => {
            Said::what(say!(lang, "dandori made a mistake", "dandori の不具合です")).why(reason.clone()).hint(say!(
                lang,
                "please report it with `dandori daemon logs`",
                "`dandori daemon logs` を添えて報告してください"
            ))
        }
    }
}
