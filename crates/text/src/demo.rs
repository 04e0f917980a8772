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
            "Two tasks, side by side",
            "Each agent has a worktree and a branch of its own, and only edits files. \
             dandori stages, commits, pushes and opens the pull request.",
        ),
        (Scene::SideBySide, Lang::Ja) => (
            "2 つのタスクを並行して",
            "エージェントはそれぞれ専用のワークツリーとブランチで、ファイルの編集だけを行います。\
             ステージ、コミット、プッシュ、プルリクエストの作成は dandori が行います。",
        ),
        (Scene::Overtaken, Lang::En) => (
            "A follow-up, and a colleague who is faster",
            "The first task gets one more instruction: the same branch, the same worktree. \
             While the agent works, a colleague pushes to that very branch.",
        ),
        (Scene::Overtaken, Lang::Ja) => (
            "追加の指示と、先にプッシュした同僚",
            "最初のタスクに、同じブランチ、同じワークツリーのまま追加の指示を出します。\
             エージェントの作業中に、同僚が同じブランチへプッシュします。",
        ),
        (Scene::CalledOff, Lang::En) => (
            "A task that is called off",
            "It is canceled in the middle of its work. Its processes, worktree and branch go; what it had written is kept.",
        ),
        (Scene::CalledOff, Lang::Ja) => (
            "途中で取り消すタスク",
            "作業の途中で取り消します。プロセス、ワークツリー、ブランチは消えますが、書きかけの内容は保存されます。",
        ),
    }
}

pub fn opening(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "A rehearsal on a small repository of its own: the agent is built in and plays its lines. \
             No account, no network, and nothing of yours is touched."
        }
        Lang::Ja => {
            "専用の小さなリポジトリでのリハーサルです。エージェントは内蔵の代役で、決められた台本どおりに動きます。\
             アカウントもネットワークも不要で、お手元のデータには一切触れません。"
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
        (Job::WriteReadme, Lang::En) => "Say in the README how to run it",
        (Job::WriteReadme, Lang::Ja) => "README に実行方法を書いて",
        (Job::GreetMany, Lang::En) => "Greet several people at once",
        (Job::GreetMany, Lang::Ja) => "複数の人に一度にあいさつできるようにして",
        (Job::Rewrite, Lang::En) => "Rewrite everything in another language",
        (Job::Rewrite, Lang::Ja) => "すべてを別の言語に移植して",
    }
}

/// What the agent says before its work, and after it: the latter is its summary.
pub fn lines(lang: Lang, job: Job) -> (&'static str, &'static str) {
    match (job, lang) {
        (Job::FixTypo, Lang::En) => ("Reading greet.sh", "The greeting says Hello now."),
        (Job::FixTypo, Lang::Ja) => ("greet.sh を読んでいます", "あいさつを Hello に直しました。"),
        (Job::WriteReadme, Lang::En) => ("Reading README.md", "The README says how to run the script."),
        (Job::WriteReadme, Lang::Ja) => ("README.md を読んでいます", "README に実行方法を書きました。"),
        (Job::GreetMany, Lang::En) => ("Going on where I left off", "Every name on the command line is greeted."),
        (Job::GreetMany, Lang::Ja) => ("前回の続きから始めます", "コマンドラインの全員にあいさつします。"),
        (Job::Rewrite, Lang::En) => ("Looking for a better language", "Everything is rewritten."),
        (Job::Rewrite, Lang::Ja) => ("よりよい言語を探しています", "すべて移植しました。"),
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
        Lang::En => "test: see that the greeting greets",
        Lang::Ja => "test: あいさつを確かめる",
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
        "overtaken: rebased onto {onto}, pushing again",
        "先を越されたため、{onto} にリベースして再プッシュします"
    )
}

/// The same when it is over.
pub fn was_rebased(lang: Lang, onto: &str) -> String {
    say!(lang, "overtaken and rebased onto {onto}", "先を越されたため {onto} にリベース")
}

pub fn canceling(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "canceling: its whole process tree ends",
        Lang::Ja => "取り消し中: プロセスツリー全体を終了します",
    }
}

pub fn at_work(lang: Lang, branch: &str, fence: Option<&str>) -> String {
    match fence {
        Some(fence) => say!(lang, "at work on {branch}, fenced in by {fence}", "{branch} で作業中 ({fence} で隔離)"),
        None => say!(lang, "at work on {branch}, without a sandbox", "{branch} で作業中 (サンドボックスなし)"),
    }
}

pub fn committed(lang: Lang, commit: &str) -> String {
    say!(lang, "commit {commit}, on its way to origin", "コミット {commit} を origin にプッシュ中")
}

pub fn on_origin(lang: Lang, commit: &str, branch: &str) -> String {
    say!(lang, "{commit} is on origin as {branch}", "{commit} を origin の {branch} にプッシュしました")
}

pub fn pull_opened(lang: Lang, number: u64) -> String {
    say!(lang, "pull request #{number} in the local forge", "ローカルフォージのプルリクエスト #{number}")
}

pub fn pull_number(lang: Lang, number: u64) -> String {
    say!(lang, "pull request #{number}", "プルリクエスト #{number}")
}

pub fn kept(lang: Lang, reference: &str) -> String {
    say!(lang, "its edits kept in {reference}", "書きかけを {reference} に保存")
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
            say!(lang, "the two agents were at work at the same time", "2 つのエージェントが同時に作業しました")
        }
        Claim::Committed { runs } => say!(
            lang,
            "{runs} runs, {runs} commits, each with its Dandori-Run trailer",
            "{runs} 件の実行に {runs} 件のコミット。それぞれに Dandori-Run トレーラーが付いています"
        ),
        Claim::Pushed { first, second } => say!(
            lang,
            "{first} and {second} are on origin, main is as it was",
            "{first} と {second} は origin にあり、main は元のままです"
        ),
        Claim::Linear { branch } => say!(
            lang,
            "{branch} has the colleague's commit and the follow-up on top of it",
            "{branch} には同僚のコミットがあり、その上に追加指示のコミットがあります"
        ),
        Claim::Pulls { first, second } => say!(
            lang,
            "pull requests #{first} and #{second} are open, each at the tip of its branch",
            "プルリクエスト #{first} と #{second} はオープン中で、それぞれブランチの先端を指しています"
        ),
        Claim::Gone { number } => say!(
            lang,
            "of {number} no process, no worktree and no branch is left",
            "{number} のプロセス、ワークツリー、ブランチは残っていません"
        ),
        Claim::Kept { reference } => {
            say!(lang, "what it had written is kept in {reference}", "書きかけの内容は {reference} に保存されています")
        }
        Claim::Untouched => say!(
            lang,
            "the checkout stands on main, clean, as if nobody had worked",
            "チェックアウトは main のままで、変更はありません"
        ),
    }
}

pub fn claims_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "What came of it, looked up just now",
        Lang::Ja => "結果 (今、実際に確認したもの)",
    }
}

pub fn history_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "The history it left",
        Lang::Ja => "残った履歴",
    }
}

pub fn next_head(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "Yours to look at",
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
        Try::List => ("all tasks and their runs", "タスクと実行の一覧"),
        Try::Log => ("what the agent said", "エージェントの発言"),
        Try::Pull => ("the pull request", "プルリクエスト"),
        Try::Restore => ("the canceled work comes back", "取り消した作業を復元"),
        Try::Graph => ("every commit there is", "すべてのコミット"),
        Try::Delete => ("delete all of it", "すべて削除"),
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
        .why(say!(lang, "the demo needs a folder of its own", "デモには専用のフォルダーが必要です"))
        .hint(say!(
            lang,
            "name a new folder with --dir, or leave --dir out",
            "--dir に新しいフォルダーを指定するか、--dir を省いてください"
        ))
}

pub fn went_wrong(lang: Lang, number: &str, state: &str) -> String {
    say!(lang, "{number} ended {state}, which is not what was to happen", "{number} が想定外の {state} で終わりました")
}

pub fn fell_silent(lang: Lang, seconds: u64) -> String {
    say!(lang, "nothing happened for {seconds} s", "{seconds} 秒間何も起きませんでした")
}

pub fn claim_failed(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "not everything went as it should",
        Lang::Ja => "想定どおりにいかなかった点があります",
    }
}

pub fn look_there(lang: Lang, folder: &str, log: &str) -> String {
    say!(
        lang,
        "everything is left in {folder}; the daemon's log is {log}",
        "すべて {folder} に残っています。デーモンのログ: {log}"
    )
}

pub fn interrupted(lang: Lang, folder: &str) -> String {
    say!(
        lang,
        "interrupted: what was running is ended, {folder} is left as it is",
        "中断しました。実行中のものは終了し、{folder} はそのまま残っています"
    )
}
