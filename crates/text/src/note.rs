//! What a user should know though the run goes on.

use dandori_domain::plain::plain;
use dandori_domain::run::{Note, RefusedWhat};

use crate::Lang;
use crate::lang::say;
use crate::ui;

/// What others said in it commands nobody's terminal.
pub fn note(lang: Lang, note: &Note) -> String {
    plain(&words(lang, note))
}

fn words(lang: Lang, note: &Note) -> String {
    match note {
        Note::Offline { reason } => say!(
            lang,
            "cannot fetch from the remote, the base may be out of date: {reason}",
            "リモートからフェッチできなかったため、ベースが古い可能性があります: {reason}"
        ),
        Note::MainCheckoutDirty { files } => {
            let dirty = ui::count(*files, "uncommitted file");
            say!(
                lang,
                "not included: {dirty} in your checkout; the run starts from the base",
                "チェックアウトにある未コミットのファイル {files} 件は含まれません (ベースから開始します)"
            )
        }
        Note::MainCheckoutDetached => say!(
            lang,
            "your checkout is not on a branch (detached HEAD); the run starts from the base",
            "チェックアウトはブランチ上にありません (detached HEAD)。実行はベースから開始します"
        ),
        Note::NoSandbox { reason } => say!(
            lang,
            "no sandbox: the agent can write wherever you can ({reason})",
            "サンドボックスなし: エージェントはあなたと同じ範囲に書き込めます ({reason})"
        ),
        Note::FenceIsPartial { missing, open } => {
            let missing = missing.join("; ");
            let open: Vec<&str> = open.iter().map(|gap| crate::sandbox::gap(lang, *gap)).collect();
            let open = open.join(match lang {
                Lang::En => "; ",
                Lang::Ja => "。",
            });
            say!(
                lang,
                "the sandbox is incomplete ({missing}); not protected: {open}",
                "サンドボックスの一部が使えません ({missing})。保護されないもの: {open}"
            )
        }
        Note::FenceRefused { refusals } => {
            let list = |wanted: RefusedWhat| {
                let paths = refusals.iter().filter(|r| r.what == wanted).map(|r| r.path.as_str());
                paths.collect::<Vec<_>>().join(", ")
            };
            let (written, read) = (list(RefusedWhat::Write), list(RefusedWhat::Read));
            let mut parts = Vec::new();
            if !written.is_empty() {
                parts.push(say!(
                    lang,
                    "writing to {written} (sandbox.write)",
                    "{written} への書き込み (sandbox.write)"
                ));
            }
            if !read.is_empty() {
                parts.push(say!(lang, "reading {read} (sandbox.read)", "{read} の読み取り (sandbox.read)"));
            }
            let all = parts.join(match lang {
                Lang::En => " and ",
                Lang::Ja => "、",
            });
            say!(
                lang,
                "the sandbox blocked {all}; to allow it, add it to the key in parentheses",
                "サンドボックスがブロックしました: {all}。許可するには、かっこ内のキーに追加してください"
            )
        }
        Note::BaseIsLocal { base } => say!(
            lang,
            "base {base} is not on the remote; using the local one",
            "ベース {base} はリモートにないため、ローカルのものを使います"
        ),
        Note::HookManager { name } => say!(
            lang,
            "this project uses {name}; its git hooks do not run for commits made by dandori",
            "このプロジェクトは {name} を使っていますが、dandori が作成するコミットでは git フックは実行されません"
        ),
        Note::PulledBefore { commits } => {
            let taken = ui::count(*commits, "commit");
            say!(
                lang,
                "merged {taken} from the remote branch first",
                "先にリモートブランチのコミット {commits} 件を取り込みました"
            )
        }
        Note::EditsInTheWay { files } => {
            let files = ui::files(files);
            say!(
                lang,
                "not merged yet: what others pushed to the branch changes files with uncommitted edits ({files})",
                "リモートブランチのコミットはまだ取り込んでいません。未コミットの変更と同じファイルが変更されています ({files})"
            )
        }
        Note::ConflictBrought { files } => {
            let files = ui::files(files);
            say!(
                lang,
                "commits of others conflict with this task's commits: both sides are in {files} for the agent to resolve",
                "他の人のコミットとコンフリクトしました。{files} に両方の内容を残し、エージェントに解決を任せます"
            )
        }
        Note::BaseMerged { base, commits: 1 } => {
            say!(lang, "1 new commit of {base} was merged", "{base} の新しいコミット 1 件をマージしました")
        }
        Note::BaseMerged { base, commits } => say!(
            lang,
            "{commits} new commits of {base} were merged",
            "{base} の新しいコミット {commits} 件をマージしました"
        ),
        Note::WorktreeRemade => {
            say!(lang, "the worktree was created again in the same place", "ワークツリーを同じ場所に作り直しました")
        }
        Note::SetUpFailed { command, tail } => {
            let tail = tail.lines().last().unwrap_or_default().trim();
            say!(
                lang,
                "the detected setup command `{command}` failed; continuing without it: {tail}",
                "検出したセットアップコマンド `{command}` が失敗しました。これを省いて続行します: {tail}"
            )
        }
        Note::SetUpToolMissing { file, program } => say!(
            lang,
            "found {file}, but {program} is not on the PATH: dependencies are not installed; install {program} or set worktrees.set_up",
            "{file} がありますが、{program} が PATH にないため依存関係をインストールしていません。{program} をインストールするか worktrees.set_up を設定してください"
        ),
        Note::BudgetNotKept { agent } => say!(
            lang,
            "{agent} does not report its cost: the budget is not enforced, only tokens are counted",
            "{agent} は費用を報告しないため、予算は適用されません (トークン数だけを記録します)"
        ),
        Note::AsksItself { agent } => say!(
            lang,
            "{agent} uses ACP and has no hooks: guards check what it asks for, but only the sandbox restricts what it does without asking",
            "{agent} は ACP エージェントでフックがありません。確認を求めた操作はガードが判定しますが、確認なしの操作を制限するのはサンドボックスだけです"
        ),
        Note::ConversationAnew { agent } => say!(
            lang,
            "{agent} could not continue its conversation: it started a new one with the earlier instructions and summaries as context",
            "{agent} は会話を引き継げなかったため、これまでの指示と要約を添えて新しい会話を始めました"
        ),
        Note::KeptWorkBack { reference } => say!(
            lang,
            "restored the work preserved in {reference} to the worktree",
            "{reference} に保存した作業をワークツリーに復元しました"
        ),
        Note::KeptWorkStays { reference } => say!(
            lang,
            "the work preserved in {reference} was not restored, because the branch has changed since: restore it in a separate worktree with `dandori worktree restore {reference}`",
            "ブランチがその後変わったため、{reference} に保存した作業は復元していません。`dandori worktree restore {reference}` で別のワークツリーに復元できます"
        ),
        Note::BranchAttached { branch } => say!(
            lang,
            "branch {branch} already exists: the worktree uses it as it is",
            "ブランチ {branch} は既に存在するため、ワークツリーでそのまま使います"
        ),
        Note::Unjudged { calls } => {
            let calls_en = ui::count(*calls, "call");
            say!(
                lang,
                "{calls_en} of the agent ran without a guard's decision: the guard was killed or not asked; check the result before you use it",
                "エージェントの操作 {calls} 件がガードの判定なしに実行されました (ガードが強制終了されたか、呼び出されませんでした)。結果を使う前に内容を確認してください"
            )
        }
        Note::NotCleanedUp { problem } => {
            let said = crate::problem(lang, problem);
            let why = said.why.map_or_else(String::new, |why| format!(" ({why})"));
            let what = said.what;
            say!(
                lang,
                "cannot remove the worktree: {what}{why}; fix this, then run `dandori worktree remove <worktree>`",
                "ワークツリーを削除できませんでした: {what}{why}。原因を解消してから `dandori worktree remove <worktree>` を実行してください"
            )
        }
    }
}
