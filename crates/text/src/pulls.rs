//! Words about pull requests: the page of one, what can be done about it, and why it was not done.

use std::borrow::Cow;

use dandori_domain::plain::plain_path;
use dandori_domain::pull::{MergeLook, MergeObstacle, MergeRule, PullState};
use dandori_domain::shell_word;
use jiff::Timestamp;

use crate::lang::say;
use crate::{Lang, Said};

/// How many files a sentence names.
const NAMED: usize = 5;

pub fn state(lang: Lang, state: PullState) -> &'static str {
    match (lang, state) {
        (Lang::En, state) => state.as_str(),
        (Lang::Ja, PullState::Open) => "オープン",
        (Lang::Ja, PullState::Merged) => "マージ済み",
        (Lang::Ja, PullState::Closed) => "クローズ",
    }
}

/// Who made it: the task, the run and the agent.
pub fn made_by(lang: Lang, task: &str, run: &str, agent: &str) -> String {
    say!(lang, "made for {task} by {agent} (run {run})", "{task} のために {agent} が作成 (実行 {run})")
}

pub fn commits(lang: Lang, count: u32) -> String {
    match count {
        1 => say!(lang, "1 commit", "コミット 1 件"),
        _ => say!(lang, "{count} commits", "コミット {count} 件"),
    }
}

pub fn more(lang: Lang, count: u32) -> String {
    say!(lang, "and {count} more", "ほか {count} 件")
}

pub fn not_fetched(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "its commits are not in this clone: `git fetch` gets them",
        Lang::Ja => "コミットがこのクローンにありません。`git fetch` で取得してください",
    }
}

pub fn no_checks(lang: Lang, embedded: bool) -> &'static str {
    match (lang, embedded) {
        (Lang::En, true) => "checks: none (the embedded forge runs none)",
        (Lang::Ja, true) => "チェック: なし (内蔵フォージではチェックは実行されません)",
        (Lang::En, false) => "checks: not shown here, see its page",
        (Lang::Ja, false) => "チェック: ここには表示されません。ページで確認してください",
    }
}

/// Whether an open one can be merged, in one line.
pub fn can_be_merged(lang: Lang, look: &MergeLook) -> String {
    let base = &look.base;
    match look.behind {
        0 => say!(lang, "can be merged: fast-forward of {base}", "マージできます: {base} の fast-forward"),
        1 => say!(
            lang,
            "can be merged with a merge commit: 1 commit behind {base}",
            "マージコミットでマージできます: {base} より 1 コミット遅れています"
        ),
        behind => say!(
            lang,
            "can be merged with a merge commit: {behind} commits behind {base}",
            "マージコミットでマージできます: {base} より {behind} コミット遅れています"
        ),
    }
}

pub fn cannot_be_merged(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "cannot be merged:",
        Lang::Ja => "マージできません:",
    }
}

pub fn behind(lang: Lang, base: &str, count: u32) -> String {
    match count {
        1 => say!(lang, "1 commit behind {base}", "{base} より 1 コミット遅れています"),
        _ => say!(lang, "{count} commits behind {base}", "{base} より {count} コミット遅れています"),
    }
}

pub fn obstacle(lang: Lang, obstacle: &MergeObstacle) -> String {
    match obstacle {
        MergeObstacle::NotOpen { state: now } => {
            let now = state(lang, *now);
            say!(lang, "it is {now}", "状態が「{now}」です")
        }
        MergeObstacle::HeadMoved { shown, found } => {
            let (shown, found) = (shown.short(), found.short());
            say!(
                lang,
                "its branch is at {found} now, not at {shown} as shown",
                "ブランチは表示時の {shown} ではなく {found} になっています"
            )
        }
        MergeObstacle::NoBase { base } => {
            say!(lang, "there is no branch {base}", "ブランチ {base} がありません")
        }
        MergeObstacle::NothingToMerge => {
            say!(lang, "the base has all of its commits already", "コミットはすべてベースに含まれています")
        }
        MergeObstacle::Conflict { files } => {
            let files = named(lang, files);
            say!(lang, "it conflicts with the base in {files}", "ベースとコンフリクトしています: {files}")
        }
        MergeObstacle::NotFastForward { behind: 1 } => say!(
            lang,
            "it is 1 commit behind its base, so a fast-forward is not possible",
            "ベースより 1 コミット遅れているため、fast-forward できません"
        ),
        MergeObstacle::NotFastForward { behind } => say!(
            lang,
            "it is {behind} commits behind its base, so a fast-forward is not possible",
            "ベースより {behind} コミット遅れているため、fast-forward できません"
        ),
        MergeObstacle::ForgeMakesCommits => say!(
            lang,
            "GitHub merges with a merge commit and cannot fast-forward",
            "GitHub ではマージコミットが作成され、fast-forward できません"
        ),
        MergeObstacle::BaseDirty { path, files } => {
            let files = named(lang, files);
            say!(
                lang,
                "the base is checked out at {path} with uncommitted changes in {files}",
                "ベースが {path} でチェックアウトされ、未コミットの変更があります: {files}"
            )
        }
    }
}

fn named(lang: Lang, files: &[String]) -> String {
    let mut shown: Vec<Cow<'_, str>> = files.iter().take(NAMED).map(|file| plain_path(file)).collect();
    let rest = files.len().saturating_sub(NAMED);
    let more = more(lang, u32::try_from(rest).unwrap_or(u32::MAX));
    if rest > 0 {
        shown.push(more.into());
    }
    shown.join(", ")
}

/// What helps against an obstacle.
pub fn remedy(lang: Lang, number: u64, obstacle: &MergeObstacle) -> String {
    match obstacle {
        MergeObstacle::NotOpen { state: PullState::Closed } => {
            say!(
                lang,
                "`dandori pr reopen {number}` opens it again",
                "`dandori pr reopen {number}` で再オープンできます"
            )
        }
        MergeObstacle::NotOpen { .. } | MergeObstacle::HeadMoved { .. } => say!(
            lang,
            "`dandori pr show {number}` shows it as it is now",
            "`dandori pr show {number}` で現在の内容を確認できます"
        ),
        MergeObstacle::NoBase { base } => {
            say!(lang, "create the branch {base} first", "先にブランチ {base} を作成してください")
        }
        MergeObstacle::NothingToMerge => {
            say!(lang, "`dandori pr close {number}` closes it", "`dandori pr close {number}` でクローズできます")
        }
        MergeObstacle::Conflict { .. } => say!(
            lang,
            "`dandori pr update {number}` merges the base into it; its agent resolves the conflicts",
            "`dandori pr update {number}` でベースをマージします。コンフリクトはエージェントが解決します"
        ),
        MergeObstacle::NotFastForward { .. } => say!(
            lang,
            "`dandori pr update {number}` merges the base into it first; without --ff-only it is merged with a merge commit",
            "`dandori pr update {number}` で先にベースをマージできます。--ff-only を付けなければ、マージコミットでマージします"
        ),
        MergeObstacle::ForgeMakesCommits => say!(
            lang,
            "`dandori pr merge {number}` makes a merge commit",
            "`dandori pr merge {number}` ならマージコミットを作成します"
        ),
        MergeObstacle::BaseDirty { path, .. } => {
            let word = shell_word(path.as_str());
            say!(
                lang,
                "commit them or put them aside with `git -C {word} stash -u` (finish or abort a merge in progress there first), then merge again",
                "コミットするか `git -C {word} stash -u` で退避してから (マージの途中なら、先に完了または中止して)、もう一度マージしてください"
            )
        }
    }
}

/// How old what is known of the base is; nothing of one that was seen just now.
pub fn base_fetched(lang: Lang, base: &str, at: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = now.duration_since(at).as_secs();
    let ago = crate::begin::ago(lang, seconds);
    (seconds >= 60).then(|| {
        say!(
            lang,
            "{base} as last fetched {ago}; `git fetch` asks the remote again",
            "{base} は {ago}に取得した内容です。`git fetch` で最新にできます"
        )
    })
}

/// The next command for one that is as it is.
pub fn next(number: u64, state: PullState, ours: bool) -> Option<String> {
    match state {
        PullState::Open if ours => Some(format!("dandori pr merge {number}")),
        PullState::Closed if ours => Some(format!("dandori pr reopen {number}")),
        PullState::Open | PullState::Closed | PullState::Merged => None,
    }
}

/// Where it is: an address to open, or that there is none.
fn place(lang: Lang, url: &str) -> String {
    if is_embedded(url) { say!(lang, " in the embedded forge", " (内蔵フォージ)") } else { format!(": {url}") }
}

/// Whether this is no address of a web page.
pub fn is_embedded(url: &str) -> bool {
    url.starts_with("dandori:")
}

pub fn opened(lang: Lang, number: u64, url: &str) -> String {
    let place = place(lang, url);
    say!(lang, "opened pull request #{number}{place}", "プルリクエスト #{number} を作成しました{place}")
}

/// Beside a run: the pull request of its branch.
pub fn linked(lang: Lang, number: u64, url: &str, now: Option<PullState>) -> String {
    let url = if is_embedded(url) { String::new() } else { format!(": {url}") };
    match now {
        Some(now @ (PullState::Merged | PullState::Closed)) => {
            let word = state(lang, now);
            say!(lang, "pull request #{number} ({word}){url}", "プルリクエスト #{number} ({word}){url}")
        }
        Some(PullState::Open) | None => say!(lang, "pull request #{number}{url}", "プルリクエスト #{number}{url}"),
    }
}

/// Of a commit that came after the merge of its branch's pull request.
pub fn not_in(lang: Lang, merged: u64) -> String {
    say!(
        lang,
        "in no pull request yet: #{merged} was merged before this commit",
        "このコミットはまだプルリクエストに含まれていません (#{merged} は先にマージ済み)"
    )
}

pub fn updated(lang: Lang, number: u64, url: &str) -> String {
    let place = place(lang, url);
    say!(lang, "updated pull request #{number}{place}", "プルリクエスト #{number} を更新しました{place}")
}

pub fn unchanged(lang: Lang, number: u64, url: &str) -> String {
    let place = place(lang, url);
    say!(lang, "pull request #{number} is already open{place}", "プルリクエスト #{number} は既にオープンです{place}")
}

pub fn update_hint(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "change it with --title or --body",
        Lang::Ja => "--title か --body で変更できます",
    }
}

pub fn moved(lang: Lang, number: u64, head: &str) -> String {
    say!(lang, "pull request #{number} now shows {head}", "プルリクエスト #{number} の対象を {head} に変更しました")
}

pub fn replaced(lang: Lang, before: u64, number: u64, url: &str) -> String {
    let place = place(lang, url);
    say!(
        lang,
        "closed pull request #{before} and opened #{number} for the picked run{place}",
        "プルリクエスト #{before} をクローズし、採用した実行の #{number} を作成しました{place}"
    )
}

/// What a merge will do, before it is done.
pub fn will_merge(
    lang: Lang,
    number: u64,
    title: &str,
    look: &MergeLook,
    rule: MergeRule,
    by_forge: bool,
) -> Vec<String> {
    let (base, head) = (&look.base, look.head_oid.as_str().get(..7).unwrap_or_default());
    let count = commits(lang, look.ahead);
    let mut lines = vec![
        say!(lang, "pull request #{number}: {title}", "プルリクエスト #{number}: {title}"),
        say!(lang, "{count} into {base}, up to {head}", "{base} へ{count} ({head} まで)"),
    ];
    lines.push(match (by_forge, look.behind, rule) {
        (true, ..) => say!(lang, "merge commit, made by GitHub", "マージコミット (GitHub が作成)"),
        (false, 0, MergeRule::Usual | MergeRule::FastForwardOnly) => {
            say!(lang, "fast-forward, no merge commit", "fast-forward (マージコミットなし)")
        }
        (false, ..) => say!(lang, "merge commit", "マージコミットを作成"),
    });
    match (by_forge, look.at_remote) {
        (true, _) => {}
        (false, true) => lines.push(say!(lang, "pushes to origin/{base}", "origin/{base} へプッシュ")),
        (false, false) => {
            lines.push(say!(lang, "in this repository only; nothing is pushed", "このリポジトリ内のみ (プッシュなし)"));
        }
    }
    if let Some(checkout) = &look.checkout {
        let path = &checkout.path;
        lines.push(say!(lang, "updates the checkout at {path}", "{path} のチェックアウトも更新"));
    }
    lines
}

pub fn merge_question(lang: Lang, number: u64, base: &str) -> String {
    say!(lang, "Merge #{number} into {base}?", "#{number} を {base} にマージしますか?")
}

pub fn merged(lang: Lang, number: u64, base: &str, commit: &str) -> String {
    say!(
        lang,
        "merged pull request #{number} into {base} ({commit})",
        "プルリクエスト #{number} を {base} にマージしました ({commit})"
    )
}

pub fn base_left(lang: Lang, base: &str) -> String {
    say!(
        lang,
        "your own {base} was not moved; `git pull --rebase` in its checkout brings it up to date",
        "手元の {base} は更新していません。チェックアウトで `git pull --rebase` を実行してください"
    )
}

pub fn closed(lang: Lang, number: u64) -> String {
    say!(lang, "closed pull request #{number}", "プルリクエスト #{number} をクローズしました")
}

/// Of work that is in no commit, and so in no pull request.
pub fn preserved(lang: Lang, reference: &str) -> String {
    say!(
        lang,
        "uncommitted changes in its worktree were preserved in {reference}",
        "ワークツリーにあった未コミットの変更を {reference} に保存しました"
    )
}

pub fn closed_hint(lang: Lang, number: u64) -> String {
    say!(
        lang,
        "`dandori pr reopen {number}` opens it again as long as its branch exists",
        "ブランチがある間は `dandori pr reopen {number}` で再オープンできます"
    )
}

/// Of several runs of a task only the one that is picked gets a pull request.
pub fn waits_for_pick(lang: Lang, task: &str) -> String {
    say!(
        lang,
        "the pull request is opened for the run you pick: `dandori task pick {task} <run> --pr`",
        "プルリクエストは、選んだ実行に対して作成します: `dandori task pick {task} <実行> --pr`"
    )
}

pub fn reopened(lang: Lang, number: u64) -> String {
    say!(lang, "reopened pull request #{number}", "プルリクエスト #{number} を再オープンしました")
}

pub fn no_page(lang: Lang, number: u64) -> String {
    say!(
        lang,
        "#{number} is in the embedded forge, which has no web page yet; this is what `dandori pr show {number}` shows",
        "#{number} は内蔵フォージのもので、まだ Web ページがありません。`dandori pr show {number}` の内容を表示します"
    )
}

pub fn no_browser(lang: Lang, url: &str) -> Said {
    Said::what(say!(lang, "no browser could be started", "ブラウザーを起動できませんでした")).hint(say!(
        lang,
        "open {url} yourself, or set BROWSER",
        "{url} を開くか、BROWSER を設定してください"
    ))
}

pub fn opening(lang: Lang, url: &str) -> String {
    say!(lang, "opening {url}", "{url} を開きます")
}

pub fn nothing_listed(lang: Lang, state: Option<PullState>) -> String {
    match state {
        None => say!(
            lang,
            "no pull requests; `dandori pr create <task>` opens one",
            "プルリクエストはありません。`dandori pr create <タスク>` で作成できます"
        ),
        Some(wanted) => {
            let wanted = self::state(lang, wanted);
            say!(
                lang,
                "no {wanted} pull requests; `dandori pr list --state all` lists all",
                "状態が「{wanted}」のプルリクエストはありません。`dandori pr list --state all` ですべて表示できます"
            )
        }
    }
}

pub fn more_listed(lang: Lang, shown: usize, total: u64) -> String {
    say!(
        lang,
        "{shown} of {total} shown; `-n {total}` lists all",
        "{total} 件中 {shown} 件を表示。`-n {total}` ですべて表示できます"
    )
}

pub fn checked_out(lang: Lang, branch: &str, path: &str) -> String {
    say!(lang, "{branch} is checked out at {path}", "{branch} は {path} にあります")
}

pub fn switched(lang: Lang, branch: &str, path: &str) -> String {
    say!(lang, "switched {path} to {branch}", "{path} を {branch} に切り替えました")
}

pub fn worktree_made(lang: Lang, branch: &str, path: &str) -> String {
    say!(lang, "made a worktree of {branch} at {path}", "{branch} のワークツリーを {path} に作成しました")
}

/// A list to choose from, when several agents have something to show.
pub fn choose(lang: Lang, task: &str) -> String {
    say!(lang, "{task} has several candidates:", "{task} には複数の候補があります:")
}

pub fn which(lang: Lang, count: usize) -> String {
    say!(lang, "Which one becomes the pull request? [1-{count}] ", "どれをプルリクエストにしますか? [1-{count}] ")
}

pub fn candidate_files(lang: Lang, files: usize, insertions: u64, deletions: u64) -> String {
    match files {
        1 => say!(lang, "1 file +{insertions} −{deletions}", "1 ファイル +{insertions} −{deletions}"),
        _ => say!(lang, "{files} files +{insertions} −{deletions}", "{files} ファイル +{insertions} −{deletions}"),
    }
}

/// The same where a word has no room.
pub const PICKED: &str = "★";

/// Beside the run that was picked.
pub fn picked(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "★ picked",
        Lang::Ja => "★ 採用",
    }
}

pub fn not_chosen(lang: Lang, commands: &[String]) -> Said {
    let hint = pick_one(lang, commands);
    Said::what(say!(lang, "nothing was chosen", "選択されませんでした")).hint(hint)
}

fn pick_one(lang: Lang, commands: &[String]) -> String {
    let quoted: Vec<String> = commands.iter().map(|command| format!("`{command}`")).collect();
    let (or, ja) = (quoted.join(" or "), quoted.join(" または "));
    say!(lang, "pick one: {or}", "1 つ採用してください: {ja}")
}

pub fn pick_commands(task: &str, candidates: &[String]) -> Vec<String> {
    candidates.iter().map(|run| format!("dandori task pick {task} {run} --pr")).collect()
}

pub(crate) fn no_pull_of(lang: Lang, text: &str) -> Said {
    Said::what(say!(lang, "`{text}` has no pull request", "`{text}` のプルリクエストはありません")).hint(say!(
        lang,
        "list all pull requests with `dandori pr list --state all`",
        "`dandori pr list --state all` で一覧を確認できます"
    ))
}

pub(crate) fn foreign(lang: Lang, number: u64, url: &str) -> Said {
    Said::what(say!(
        lang,
        "pull request #{number} was not opened by dandori",
        "プルリクエスト #{number} は dandori が作成したものではありません"
    ))
    .hint(say!(lang, "use its page: {url}", "ページで操作してください: {url}"))
}

pub(crate) fn pull_is(lang: Lang, number: u64, now: PullState) -> Said {
    let word = state(lang, now);
    Said::what(say!(lang, "pull request #{number} is {word}", "プルリクエスト #{number} の状態は「{word}」です"))
        .hint(remedy(lang, number, &MergeObstacle::NotOpen { state: now }))
}

pub(crate) fn busy(lang: Lang, number: u64) -> Said {
    Said::what(say!(
        lang,
        "pull request #{number} is being changed at this moment",
        "プルリクエスト #{number} は変更の途中です"
    ))
    .hint(say!(
        lang,
        "see its state with `dandori pr show {number}`, then try again",
        "`dandori pr show {number}` で状況を確認してから、もう一度実行してください"
    ))
}

pub(crate) fn no_branch(lang: Lang, commit: &str) -> Said {
    Said::what(say!(
        lang,
        "this pull request has no branch to be merged into",
        "このプルリクエストには、マージ先のブランチがありません"
    ))
    .why(say!(
        lang,
        "the work starts from {commit}, a detached HEAD that is on no branch and not ahead of the default branch",
        "作業の起点 {commit} (detached HEAD) は、どのブランチにも含まれず、デフォルトブランチの先にもありません"
    ))
    .hint(say!(
        lang,
        "create the branch with `git branch <name> {commit}`, then try again",
        "`git branch <名前> {commit}` でブランチを作成してから、もう一度実行してください"
    ))
}

pub(crate) fn taken(lang: Lang, branch: &str, number: u64) -> Said {
    Said::what(say!(
        lang,
        "the branch {branch} has another open pull request: #{number}",
        "ブランチ {branch} には別のオープンなプルリクエスト #{number} があります"
    ))
    .hint(say!(lang, "`dandori pr show {number}` shows it", "`dandori pr show {number}` で確認できます"))
}

pub(crate) fn up_to_date(lang: Lang, number: u64, base: &str) -> Said {
    Said::what(say!(
        lang,
        "pull request #{number} is up to date with {base}",
        "プルリクエスト #{number} は {base} の最新の状態です"
    ))
    .hint(say!(
        lang,
        "`dandori pr show {number}` shows whether it can be merged",
        "`dandori pr show {number}` でマージできるか確認できます"
    ))
}

pub(crate) fn cannot_merge(lang: Lang, number: u64, obstacles: &[MergeObstacle]) -> Said {
    let why: Vec<String> = obstacles.iter().map(|found| obstacle(lang, found)).collect();
    let what = say!(lang, "pull request #{number} cannot be merged", "プルリクエスト #{number} をマージできません");
    let hint = match obstacles.first() {
        Some(first) => remedy(lang, number, first),
        None => say!(lang, "see `dandori pr show {number}` for details", "`dandori pr show {number}` で確認できます"),
    };
    Said::what(what).why(why.join("\n")).hint(hint)
}

pub(crate) fn overtaken(lang: Lang, base: &str, tries: u32) -> Said {
    Said::what(say!(
        lang,
        "{base} moved {tries} times while it was being merged",
        "マージ中に {base} が {tries} 回更新されました"
    ))
    .why(say!(lang, "nothing was changed", "何も変更していません"))
    .hint(say!(lang, "run the command again", "もう一度実行してください"))
}

pub(crate) fn merge_refused(lang: Lang, base: &str, reason: &str) -> Said {
    Said::what(say!(
        lang,
        "the remote did not accept the merge into {base}",
        "リモートが {base} へのマージを受け付けませんでした"
    ))
    .why(reason.to_owned())
    .hint(say!(
        lang,
        "check that you are allowed to push to {base}; if you merge it another way, dandori notices by itself",
        "{base} へプッシュする権限を確認してください。別の方法でマージした場合は自動で検出されます"
    ))
}

pub(crate) fn pick_first(lang: Lang, task: &str, candidates: &[String]) -> Said {
    let count = candidates.len();
    Said::what(say!(
        lang,
        "{task} has {count} candidates and none is picked",
        "{task} には候補が {count} 件あり、まだ採用されていません"
    ))
    .hint(pick_one(lang, &pick_commands(task, candidates)))
}
