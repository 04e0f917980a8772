//! The words of `dandori demo`: what is played, what is told about it, and what is claimed at its end.

use crate::lang::say;
use crate::{Lang, Said};

/// The scenes, in the order they are played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    SideBySide,
    Overtaken,
    CalledOff,
}

impl Scene {
    pub fn number(self) -> u32 {
        match self {
            Self::SideBySide => 1,
            Self::Overtaken => 2,
            Self::CalledOff => 3,
        }
    }
}

/// A scene's heading, and what happens in it.
pub fn scene(lang: Lang, scene: Scene) -> (&'static str, &'static str) {
    match (scene, lang) {
        (Scene::SideBySide, Lang::En) => (
            "Two tasks in parallel",
            "Each agent has its own worktree and branch and only edits files. dandori stages, commits, pushes and opens the pull requests.",
        ),
        (Scene::SideBySide, Lang::Ja) => (
            "2 つのタスクを並行して実行",
            "エージェントはそれぞれ専用のワークツリーとブランチで、ファイルの編集だけを行います。\
             ステージ、コミット、プッシュ、プルリクエストの作成は dandori が行います。",
        ),
        (Scene::Overtaken, Lang::En) => (
            "A follow-up, and a colleague who pushes first",
            "The first task gets another instruction, on the same branch and in the same worktree. While the agent works, a colleague pushes to the same branch.",
        ),
        (Scene::Overtaken, Lang::Ja) => (
            "追加の指示と、先にプッシュした同僚",
            "最初のタスクに、同じブランチ、同じワークツリーのまま追加の指示を出します。\
             エージェントの作業中に、同僚が同じブランチへプッシュします。",
        ),
        (Scene::CalledOff, Lang::En) => (
            "A canceled task",
            "It is canceled while the agent works. Its processes, worktree and branch are removed; its unfinished work is preserved.",
        ),
        (Scene::CalledOff, Lang::Ja) => (
            "途中で取り消すタスク",
            "作業の途中で取り消します。プロセス、ワークツリー、ブランチは削除されますが、途中までの作業は保存されます。",
        ),
    }
}

pub fn opening(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "A demonstration on a small repository of its own. The agent is built in and follows a script. No account, no network, and your files are not touched."
        }
        Lang::Ja => {
            "専用の小さなリポジトリでの実演です。エージェントは内蔵のもので、台本どおりに動きます。アカウントもネットワークも不要で、手元のファイルには触れません。"
        }
    }
}

/// What the agents are asked to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Job {
    FixTypo,
    WriteReadme,
    GreetMany,
    Rewrite,
}

/// The instruction, as a user would write it.
pub fn job(lang: Lang, job: Job) -> &'static str {
    match (job, lang) {
        (Job::FixTypo, Lang::En) => "Correct the spelling of the greeting",
        (Job::FixTypo, Lang::Ja) => "あいさつの誤字を修正して",
        (Job::WriteReadme, Lang::En) => "Explain in the README how to run it",
        (Job::WriteReadme, Lang::Ja) => "README に実行方法を書いて",
        (Job::GreetMany, Lang::En) => "Greet several people at once",
        (Job::GreetMany, Lang::Ja) => "複数の人に一度にあいさつできるようにして",
        (Job::Rewrite, Lang::En) => "Rewrite everything in another language",
        (Job::Rewrite, Lang::Ja) => "すべてを別の言語で書き直して",
    }
}

/// What the agent says before its work, and after it: the latter is its summary.
pub fn lines(lang: Lang, job: Job) -> (&'static str, &'static str) {
    match (job, lang) {
        (Job::FixTypo, Lang::En) => ("Reading greet.sh", "The greeting now says Hello."),
        (Job::FixTypo, Lang::Ja) => ("greet.sh を読んでいます", "あいさつを Hello に直しました。"),
        (Job::WriteReadme, Lang::En) => ("Reading README.md", "The README now explains how to run the script."),
        (Job::WriteReadme, Lang::Ja) => ("README.md を読んでいます", "README に実行方法を書きました。"),
        (Job::GreetMany, Lang::En) => {
            ("Continuing where I left off", "The script now greets everyone on the command line.")
        }
        (Job::GreetMany, Lang::Ja) => {
            ("前回の続きから始めます", "コマンドラインで指定した全員にあいさつするようにしました。")
        }
        (Job::Rewrite, Lang::En) => ("Looking for a better language", "Everything is rewritten."),
        (Job::Rewrite, Lang::Ja) => ("よりよい言語を探しています", "すべて書き直しました。"),
    }
}

/// What stands in the README before and after.
pub fn readme(lang: Lang) -> (&'static str, &'static str) {
    match lang {
        Lang::En => ("A small script that greets.", "Run it with a name: `sh greet.sh Ada`"),
        Lang::Ja => ("あいさつをする小さなスクリプトです。", "名前を付けて実行します: `sh greet.sh 花子`"),
    }
}

pub fn first_commit(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "feat: greet",
        Lang::Ja => "feat: あいさつする",
    }
}

pub fn colleagues_commit(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "test: check the greeting",
        Lang::Ja => "test: あいさつを確認する",
    }
}

pub fn colleague_pushed(lang: Lang, commit: &str, branch: &str) -> String {
    say!(
        lang,
        "a colleague pushes {commit} to {branch} while the agent works",
        "エージェントの作業中に、同僚が {commit} を {branch} にプッシュしました"
    )
}

pub fn rebased(lang: Lang, onto: &str) -> String {
    say!(
        lang,
        "the remote was updated: rebased onto {onto}, pushing again",
        "リモートが更新されていたため、{onto} にリベースして再度プッシュします"
    )
}

/// The same when it is over.
pub fn was_rebased(lang: Lang, onto: &str) -> String {
    say!(lang, "the remote was updated: rebased onto {onto}", "リモートが更新されていたため {onto} にリベース")
}

pub fn canceling(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "canceling: ending all its processes",
        Lang::Ja => "取り消し中: すべてのプロセスを終了します",
    }
}

pub fn at_work(lang: Lang, branch: &str, fence: Option<&str>) -> String {
    match fence {
        Some(fence) => {
            say!(lang, "working on {branch}, sandboxed by {fence}", "{branch} で作業中 (サンドボックス: {fence})")
        }
        None => say!(lang, "working on {branch}, without a sandbox", "{branch} で作業中 (サンドボックスなし)"),
    }
}

pub fn committed(lang: Lang, commit: &str) -> String {
    say!(lang, "commit {commit}, pushing to origin", "コミット {commit} を origin にプッシュ中")
}

pub fn on_origin(lang: Lang, commit: &str, branch: &str) -> String {
    say!(lang, "pushed {commit} to origin as {branch}", "{commit} を origin の {branch} にプッシュしました")
}

pub fn pull_opened(lang: Lang, number: u64) -> String {
    say!(lang, "pull request #{number} in the embedded forge", "内蔵フォージのプルリクエスト #{number}")
}

pub fn pull_number(lang: Lang, number: u64) -> String {
    say!(lang, "pull request #{number}", "プルリクエスト #{number}")
}

pub fn kept(lang: Lang, reference: &str) -> String {
    say!(lang, "its edits were preserved in {reference}", "途中までの作業を {reference} に保存しました")
}

pub fn removed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "worktree and branch removed",
        Lang::Ja => "ワークツリーとブランチを削除しました",
    }
}

/// What the demo claims at its end, each looked up in the repository or asked of the daemon.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    SideBySide,
    Committed { runs: usize },
    Pushed { first: String, second: String },
    Linear { branch: String },
    Pulls { first: u64, second: u64 },
    Gone { number: String },
    Kept { reference: String },
    Untouched,
}

pub fn claim(lang: Lang, claim: &Claim) -> String {
    match claim {
        Claim::SideBySide => {
            say!(lang, "both agents worked at the same time", "2 つのエージェントが同時に作業しました")
        }
        Claim::Committed { runs } => say!(
            lang,
            "{runs} runs, {runs} commits, each with its Dandori-Run trailer",
            "{runs} 件の実行に {runs} 件のコミット。それぞれに Dandori-Run トレーラーが付いています"
        ),
        Claim::Pushed { first, second } => say!(
            lang,
            "{first} and {second} are on origin, main is unchanged",
            "{first} と {second} は origin にあり、main は元のままです"
        ),
        Claim::Linear { branch } => say!(
            lang,
            "{branch} has the colleague's commit and the follow-up on top of it",
            "{branch} には同僚のコミットがあり、その上に追加の指示のコミットがあります"
        ),
        Claim::Pulls { first, second } => say!(
            lang,
            "pull requests #{first} and #{second} are open, each at the tip of its branch",
            "プルリクエスト #{first} と #{second} はオープン中で、それぞれブランチの先端を指しています"
        ),
        Claim::Gone { number } => say!(
            lang,
            "{number} left no process, worktree or branch behind",
            "{number} のプロセス、ワークツリー、ブランチは残っていません"
        ),
        Claim::Kept { reference } => {
            say!(
                lang,
                "its unfinished work is preserved in {reference}",
                "途中までの作業は {reference} に保存されています"
            )
        }
        Claim::Untouched => {
            say!(lang, "the checkout is still on main and clean", "チェックアウトは main のままで、変更はありません")
        }
    }
}

pub fn claims_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Result (just checked)",
        Lang::Ja => "結果 (実際に確認済み)",
    }
}

pub fn history_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Resulting history",
        Lang::Ja => "できあがった履歴",
    }
}

pub fn next_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Try it yourself",
        Lang::Ja => "次に試せること",
    }
}

/// What a command of the last lines is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Try {
    List,
    Log,
    Pull,
    Restore,
    Graph,
    Delete,
}

pub fn purpose(lang: Lang, what: Try) -> &'static str {
    let (en, ja) = match what {
        Try::List => ("list all tasks and their runs", "タスクと実行を一覧表示"),
        Try::Log => ("show what the agent said", "エージェントの発言を表示"),
        Try::Pull => ("show the pull request", "プルリクエストを表示"),
        Try::Restore => ("restore the canceled work", "取り消した作業を復元"),
        Try::Graph => ("show all commits", "すべてのコミットを表示"),
        Try::Delete => ("delete everything", "すべて削除"),
    };
    match lang {
        Lang::En => en,
        Lang::Ja => ja,
    }
}

pub fn took(lang: Lang, seconds: f64) -> String {
    say!(lang, "Done in {seconds:.1} s.", "所要時間 {seconds:.1} 秒")
}

pub fn not_empty(lang: Lang, path: &str) -> Said {
    Said::what(say!(lang, "{path} is not empty", "{path} は空ではありません"))
        .why(say!(lang, "the demo needs its own folder", "デモには専用のフォルダーが必要です"))
        .hint(say!(
            lang,
            "choose a new folder with --dir, or leave out --dir",
            "--dir に新しいフォルダーを指定するか、--dir を省略してください"
        ))
}

pub fn went_wrong(lang: Lang, number: &str, state: &str) -> String {
    say!(lang, "{number} ended unexpectedly as {state}", "{number} が想定外の状態 {state} で終了しました")
}

pub fn fell_silent(lang: Lang, seconds: u64) -> String {
    say!(lang, "nothing happened for {seconds} s", "{seconds} 秒間何も起きませんでした")
}

pub fn claim_failed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not everything worked as expected",
        Lang::Ja => "想定どおりに動作しなかった項目があります",
    }
}

pub fn look_there(lang: Lang, folder: &str, log: &str) -> String {
    say!(
        lang,
        "everything was kept in {folder} and the daemon's log is {log}",
        "すべて {folder} に残しています。デーモンのログ: {log}"
    )
}

pub fn interrupted(lang: Lang, folder: &str) -> String {
    say!(
        lang,
        "interrupted: running processes were ended, {folder} was kept",
        "中断しました。実行中のプロセスを終了し、{folder} は残しました"
    )
}
