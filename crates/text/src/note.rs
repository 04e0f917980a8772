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
            "the remote could not be fetched, the base may be old: {reason}",
            "リモートからフェッチできなかったため、ベースが古い可能性があります: {reason}"
        ),
        Note::MainCheckoutDirty { files } => {
            let dirty = ui::count(*files, "uncommitted file");
            say!(
                lang,
                "your checkout has {dirty}, which the run does not see: it starts from the base",
                "メインのチェックアウトに未コミットのファイルが {files} 件あります。実行はベースから始まるため、含まれません"
            )
        }
        Note::MainCheckoutDetached => say!(
            lang,
            "your checkout stands on no branch; the run starts from the base",
            "メインのチェックアウトはブランチ上にありません (detached HEAD)。実行はベースから始まります"
        ),
        Note::NoSandbox { reason } => say!(
            lang,
            "no sandbox: the agent can write wherever you can ({reason})",
            "サンドボックスなし: エージェントはあなたと同じ範囲に書き込めます ({reason})"
        ),
        Note::FenceIsPartial { missing, open } => {
            let missing = missing.join("; ");
            let open: Vec<&str> = open.iter().map(|gap| crate::sandbox::gap(lang, *gap)).collect();
            let open = open.join("; ");
            say!(
                lang,
                "the sandbox is not whole ({missing}); not covered: {open}",
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
                parts.push(say!(lang, "writing {written} (sandbox.write)", "書き込み {written} (sandbox.write)"));
            }
            if !read.is_empty() {
                parts.push(say!(lang, "reading {read} (sandbox.read)", "読み取り {read} (sandbox.read)"));
            }
            let all = parts.join("; ");
            say!(
                lang,
                "the sandbox refused: {all}; the key in brackets grants it",
                "サンドボックスが拒否しました: {all}。許可するにはかっこ内のキーに追加してください"
            )
        }
        Note::BaseIsLocal { base } => say!(
            lang,
            "the base {base} is not on the remote: it is taken from this repository",
            "ベース {base} はリモートにないため、このリポジトリのものを使います"
        ),
        Note::HookManager { name } => say!(
            lang,
            "this project uses {name}: its git hooks do not run on dandori's own commits",
            "このプロジェクトは {name} を使っていますが、dandori 自身のコミットでは git フックは実行されません"
        ),
        Note::PulledBefore { commits } => {
            let taken = ui::count(*commits, "commit");
            say!(
                lang,
                "taken in first: {taken} of the remote branch",
                "リモートブランチの {commits} 件のコミットを先に取り込みました"
            )
        }
        Note::EditsInTheWay { files } => {
            let files = files.join(", ");
            say!(
                lang,
                "what others pushed to the branch waits: uncommitted edits are in the same files ({files})",
                "未コミットの変更が同じファイルにあるため ({files})、リモートブランチのコミットはまだ取り込んでいません"
            )
        }
        Note::ConflictBrought { files } => {
            let files = files.join(", ");
            say!(
                lang,
                "what others pushed conflicts with this task's commits: both sides are in {files} for the agent to resolve",
                "リモートブランチのコミットと衝突したため、両側を {files} に並べ、エージェントに解決を任せます"
            )
        }
        Note::WorktreeRemade => {
            say!(
                lang,
                "the worktree was gone and was made again at its place",
                "ワークツリーがなくなっていたため、同じ場所に作り直しました"
            )
        }
        Note::SetUpFailed { command, tail } => {
            let tail = tail.lines().last().unwrap_or_default().trim();
            say!(
                lang,
                "the detected set-up `{command}` failed, the run goes on without it: {tail}",
                "検出された準備コマンド `{command}` が失敗しましたが、実行を続けます: {tail}"
            )
        }
        Note::SetUpToolMissing { file, program } => say!(
            lang,
            "{file} is there, but {program} is not on the PATH: dependencies are not installed; install {program}, or write worktrees.set_up",
            "{file} がありますが {program} が PATH にないため、依存関係をインストールしていません。{program} をインストールするか worktrees.set_up を設定してください"
        ),
        Note::BudgetNotKept { agent } => say!(
            lang,
            "{agent} does not tell what it costs: the budget cannot be kept, only its tokens are counted",
            "{agent} は費用を報告しないため、予算は適用されません (トークン数のみ記録します)"
        ),
        Note::AsksItself { agent } => say!(
            lang,
            "{agent} speaks ACP and has no hooks: the guards judge what it asks for, and only the fence holds what it does without asking",
            "{agent} は ACP エージェントでフックがありません。確認を求めた操作はガードが判定しますが、確認なしに行う操作を制限するのはサンドボックスだけです"
        ),
        Note::ConversationAnew { agent } => say!(
            lang,
            "{agent} could not go on with its conversation: it began a new one, with the earlier instructions and summaries as context",
            "{agent} は前の会話を引き継げなかったため、以前の指示と要約を添えて新しい会話を始めました"
        ),
        Note::KeptWorkBack { reference } => say!(
            lang,
            "the work that was kept in {reference} is back in the worktree",
            "{reference} に保存されていた作業をワークツリーに戻しました"
        ),
        Note::BranchAttached { branch } => say!(
            lang,
            "the branch {branch} was there already: the worktree stands on it as it was",
            "ブランチ {branch} は既に存在するため、そのままワークツリーで使います"
        ),
        Note::Unjudged { calls } => {
            let calls_en = ui::count(*calls, "call");
            say!(
                lang,
                "{calls_en} of the agent went on without an answer of the guards: they were killed, or not asked. Look at what it did before you use it",
                "エージェントの操作 {calls} 件がガードの判定なしに実行されました (ガードが強制終了されたか、呼び出されていません)。利用する前に内容を確認してください"
            )
        }
        Note::NotCleanedUp { problem } => {
            let said = crate::problem(lang, problem);
            let why = said.why.map_or_else(String::new, |why| format!(" ({why})"));
            let what = said.what;
            say!(
                lang,
                "the worktree could not be removed: {what}{why}; `dandori worktree remove` does it once that is repaired",
                "ワークツリーを削除できませんでした: {what}{why}。解消後に `dandori worktree remove` で削除できます"
            )
        }
    }
}
