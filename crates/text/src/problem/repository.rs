//! A repository that cannot be used as it is, or git itself.

use dandori_domain::shell_word;

use crate::lang::say;
use crate::misuse::did_you_mean;
use crate::{Lang, Said};

pub(super) fn not_a_repository(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} is not in a git repository", "{path} は git リポジトリではありません")).hint(say!(
        lang,
        "change to a repository, or create one with `git init`",
        "リポジトリに移動するか、`git init` で作成してください"
    ))
}

pub(super) fn repository_gone(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "repository {path} not found", "リポジトリ {path} が見つかりません"))
        .why(say!(
            lang,
            "it has been moved or deleted since it was last used",
            "前回の使用後に移動または削除されています"
        ))
        .hint(say!(
            lang,
            "move it back, or start a new task with `dandori run \"…\"` in its new location",
            "元の場所に戻すか、現在の場所で `dandori run \"…\"` を実行して新しいタスクを始めてください"
        ))
}

pub(super) fn dubious_ownership(lang: Lang, path: &str) -> Said {
    let word = shell_word(path);
    Said::what(say!(lang, "git refuses to use the repository {path}", "git がリポジトリ {path} の使用を拒否しました"))
        .why(say!(
            lang,
            "it belongs to another user, whose configuration could run commands as you",
            "所有者が別のユーザーであり、その設定によって任意のコマンドが実行されるおそれがあるためです"
        ))
        .hint(say!(
            lang,
            "if you trust it, run `git config --global --add safe.directory {word}`",
            "信頼できる場合は `git config --global --add safe.directory {word}` を実行してください"
        ))
}

pub(super) fn bare_repository(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} is a bare repository", "{path} はベアリポジトリです")).hint(say!(
        lang,
        "run dandori in a checkout of this repository",
        "チェックアウトしたディレクトリで dandori を実行してください"
    ))
}

pub(super) fn no_commit_yet(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} has no commits yet", "{path} にはまだコミットがありません"))
        .why(say!(lang, "a worktree needs a commit to start from", "ワークツリーには起点となるコミットが必要です"))
        .hint(say!(
            lang,
            "create a first commit with `git commit --allow-empty -m init`",
            "`git commit --allow-empty -m init` で最初のコミットを作成してください"
        ))
}

pub(super) fn which_remote(lang: Lang, names: &[String]) -> Said {
    let (all, first) = (names.join(", "), names.first().map_or("", String::as_str));
    Said::what(say!(
        lang,
        "this repository has several remotes, and none is named origin: {all}",
        "リモートが複数ありますが、origin という名前のものがありません: {all}"
    ))
    .why(say!(
        lang,
        "dandori uses origin, or the only remote if there is just one",
        "dandori は origin を使います。リモートが 1 つだけなら、それを使います"
    ))
    .hint(say!(
        lang,
        "choose one with `git config checkout.defaultRemote {first}`",
        "使うリモートを `git config checkout.defaultRemote {first}` で指定してください"
    ))
}

pub(super) fn elsewhere(lang: Lang, path: &str) -> Said {
    Said::what(say!(
        lang,
        "{path} belongs to another dandori installation that shares this database",
        "{path} は、同じデータベースを共有する別の dandori のものです"
    ))
    .why(say!(
        lang,
        "worktrees and branches exist only on the host that created them",
        "ワークツリーとブランチは、作成したホストにしかありません"
    ))
    .hint(say!(
        lang,
        "run the command on that host, or start a new task here with `dandori run \"…\"`",
        "そのホストで実行するか、ここで `dandori run \"…\"` を実行して新しいタスクを始めてください"
    ))
}

pub(super) fn no_identity(lang: Lang) -> Said {
    Said::what(say!(
            lang,
            "git has no user name and e-mail address",
            "git にユーザー名とメールアドレスが設定されていません"
        ))
        .why(say!(
            lang,
            "dandori needs them to commit the result of a run",
            "実行結果をコミットするために必要です"
        ))
        .hint(say!(
            lang,
            "set them with `git config --global user.name \"Your Name\"` and `git config --global user.email you@example.com`",
            "`git config --global user.name \"名前\"` と `git config --global user.email you@example.com` で設定してください"
        ))
}

pub(super) fn unknown_base(lang: Lang, base: &str, near: &[String], unreachable: Option<&str>) -> Said {
    let what = Said::what(say!(lang, "base `{base}` not found", "ベース `{base}` が見つかりません"));
    if let Some(reason) = unreachable {
        return what
            .why(say!(
                lang,
                "it has not been fetched into this clone, and the remote could not be reached: {reason}",
                "このクローンにはまだ取得されておらず、リモートにも接続できません: {reason}"
            ))
            .hint(say!(
                lang,
                "check the network and your login with `git fetch`, or start from a base that is here: `--base HEAD`",
                "`git fetch` でネットワークとログインを確認するか、`--base HEAD` のように手元にあるベースを指定してください"
            ));
    }
    let said = what.why(say!(
        lang,
        "no branch, tag or commit has this name",
        "この名前のブランチ、タグ、コミットはありません"
    ));
    if near.is_empty() {
        said.hint(say!(
            lang,
            "list the branches with `git branch -a`",
            "ブランチの一覧は `git branch -a` で確認できます"
        ))
    } else {
        let near = near.join("`, `");
        said.hint(did_you_mean(lang, &near))
    }
}

pub(super) fn remote_unreachable(lang: Lang, reason: &str) -> Said {
    Said::what(say!(lang, "the remote could not be reached", "リモートに接続できません")).why(reason).hint(say!(
        lang,
        "check the network and your login with `git fetch`, then run the command again",
        "`git fetch` でネットワークとログインを確認してから、もう一度実行してください"
    ))
}

pub(super) fn submodules(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "the repository has a submodule at {path}", "リポジトリの {path} にサブモジュールがあります"))
        .why(say!(
            lang,
            "submodules are not supported: the agent could write to the submodule's repository",
            "エージェントがサブモジュールのリポジトリに書き込めてしまうため、サブモジュールには対応していません"
        ))
        .hint(say!(
            lang,
            "run dandori in a clone of the submodule, or in a repository without submodules",
            "サブモジュールのクローンか、サブモジュールのないリポジトリで実行してください"
        ))
}

pub(super) fn lfs_missing(lang: Lang) -> Said {
    Said::what(say!(
        lang,
        "this repository uses Git LFS, but git-lfs is not set up",
        "このリポジトリは Git LFS を使っていますが、git-lfs が設定されていません"
    ))
    .hint(say!(
        lang,
        "install git-lfs and run `git lfs install`",
        "git-lfs をインストールして `git lfs install` を実行してください"
    ))
}

pub(super) fn git_too_old(lang: Lang, found: &str, needed: &str) -> Said {
    Said::what(say!(lang, "git {found} is too old", "git {found} は古すぎます")).hint(say!(
        lang,
        "install git {needed} or newer",
        "git {needed} 以降をインストールしてください"
    ))
}

pub(super) fn git_missing(lang: Lang) -> Said {
    Said::what(say!(lang, "git not found", "git が見つかりません")).hint(say!(
        lang,
        "install git and make sure it is on your PATH",
        "git をインストールし、PATH に含まれているか確認してください"
    ))
}

pub(super) fn git(lang: Lang, command: &str, reason: &str) -> Said {
    Said::what(say!(lang, "`{command}` failed", "`{command}` が失敗しました")).why(reason).hint(say!(
        lang,
        "fix the cause and try again; `dandori doctor` checks this machine",
        "原因を解消して、もう一度実行してください。環境は `dandori doctor` で点検できます"
    ))
}

pub(super) fn io(lang: Lang, path: &str, reason: &str) -> Said {
    Said::what(say!(lang, "cannot use {path}", "{path} を使用できません")).why(reason).hint(say!(
        lang,
        "check that it exists and that you can read and write it",
        "存在するか、読み書きの権限があるかを確認してください"
    ))
}
