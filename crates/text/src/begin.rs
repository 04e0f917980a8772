//! Where a run starts, and where its work ends up.

use dandori_domain::plain::plain_line;
use dandori_domain::run::{LeftOut, Offline, Start};
use jiff::Timestamp;

use crate::Lang;
use crate::lang::say;
use crate::ui::count;

/// As much of a commit's id as people use.
const SHORT: usize = 7;

/// `from origin/main 3bfe953 (your 1 unpushed commit and 2 changed files are not included)`
pub fn start(lang: Lang, start: &Start, now: Timestamp) -> String {
    let (base, commit) = (plain_line(&start.base), short(start.commit.as_str()));
    let told = [
        start.offline.as_ref().map(|offline| unreachable(lang, offline)),
        start.left_out.as_ref().and_then(|left_out| not_included(lang, left_out)),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    let fetched = start.offline.as_ref().map_or_else(String::new, |offline| fetched(lang, offline, now));
    let told = match (told.is_empty(), lang) {
        (true, _) => String::new(),
        (false, Lang::En) => format!(" ({})", told.join("; ")),
        (false, Lang::Ja) => format!(" ({})", told.join("。")),
    };
    say!(lang, "from {base} {commit}{fetched}{told}", "{base} {commit}{fetched} から開始{told}")
}

fn unreachable(lang: Lang, offline: &Offline) -> String {
    let reason = plain_line(&offline.reason);
    say!(lang, "the remote cannot be reached: {reason}", "リモートに接続できません: {reason}")
}

fn fetched(lang: Lang, offline: &Offline, now: Timestamp) -> String {
    match offline.fetched_at {
        Some(at) => {
            let ago = ago(lang, now.duration_since(at).as_secs());
            say!(lang, " as last fetched {ago}", " ({ago}に取得した内容)")
        }
        None => say!(lang, " as last fetched", " (最後に取得した内容)"),
    }
}

/// `None`: the run sees everything that is there.
fn not_included(lang: Lang, left_out: &LeftOut) -> Option<String> {
    let LeftOut { branch, commits, unpushed, changed } = left_out;
    let named = match (commits, unpushed) {
        (0, _) => None,
        // All of them are nowhere else.
        (all, Some(unpushed)) if unpushed == all => {
            let counted = count(*all, "unpushed commit");
            Some(say!(lang, "{counted}", "未プッシュのコミット {all} 件"))
        }
        (all, _) => {
            let counted = count(*all, "commit");
            Some(match branch.as_deref().map(plain_line) {
                Some(branch) => say!(lang, "{counted} on {branch}", "{branch} のコミット {all} 件"),
                None => say!(lang, "{counted}", "コミット {all} 件"),
            })
        }
    };
    let files = (*changed > 0).then(|| {
        let counted = count(*changed, "changed file");
        say!(lang, "{counted}", "変更したファイル {changed} 件")
    });
    let is_one = commits + changed == 1;
    let all = match (named, files, lang) {
        (None, None, _) => return None,
        (Some(one), None, _) | (None, Some(one), _) => one,
        (Some(commits), Some(files), Lang::En) => format!("{commits} and {files}"),
        (Some(commits), Some(files), Lang::Ja) => format!("{commits}と{files}"),
    };
    let are = if is_one { "is" } else { "are" };
    Some(say!(lang, "your {all} {are} not included", "{all}は含まれません"))
}

pub(crate) fn ago(lang: Lang, seconds: i64) -> String {
    let (number, en, ja) = match seconds {
        ..60 => return say!(lang, "less than a minute ago", "1 分以内"),
        seconds @ 60..3600 => (seconds / 60, "minute", "分"),
        seconds @ 3600..86_400 => (seconds / 3600, "hour", "時間"),
        seconds => (seconds / 86_400, "day", "日"),
    };
    let counted = count(number.unsigned_abs(), en);
    say!(lang, "{counted} ago", "{number} {ja}前")
}

/// What came of a run in a repository that has no remote.
pub fn committed(lang: Lang, branch: &str, commit: &str) -> String {
    let commit = short(commit);
    say!(
        lang,
        "committed {commit} on {branch} (no remote: nothing was pushed)",
        "{commit} を {branch} にコミットしました (リモートがないため未プッシュ)"
    )
}

pub fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use dandori_domain::Oid;

    use super::*;

    fn of(left_out: Option<LeftOut>) -> Start {
        let commit = Oid::new("3bfe953aa71d3bfe953aa71d3bfe953aa71d3bfe");
        Start { base: "origin/main".into(), commit, offline: None, left_out }
    }

    fn left_out(commits: u32, unpushed: Option<u32>, changed: u32) -> Start {
        of(Some(LeftOut { branch: Some("work".into()), commits, unpushed, changed }))
    }

    fn said(start: &Start) -> (String, String) {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        (super::start(Lang::En, start, now), super::start(Lang::Ja, start, now))
    }

    #[test]
    fn what_is_not_included_is_counted_and_nothing_is_said_of_nothing() {
        for (start, en, ja) in [
            (of(None), "from origin/main 3bfe953", "origin/main 3bfe953 から開始"),
            (left_out(0, Some(0), 0), "from origin/main 3bfe953", "origin/main 3bfe953 から開始"),
            (
                left_out(1, Some(1), 2),
                "from origin/main 3bfe953 (your 1 unpushed commit and 2 changed files are not included)",
                "origin/main 3bfe953 から開始 (未プッシュのコミット 1 件と変更したファイル 2 件は含まれません)",
            ),
            (
                left_out(0, Some(0), 1),
                "from origin/main 3bfe953 (your 1 changed file is not included)",
                "origin/main 3bfe953 から開始 (変更したファイル 1 件は含まれません)",
            ),
            (
                left_out(5, Some(2), 0),
                "from origin/main 3bfe953 (your 5 commits on work are not included)",
                "origin/main 3bfe953 から開始 (work のコミット 5 件は含まれません)",
            ),
            (
                left_out(1, None, 0),
                "from origin/main 3bfe953 (your 1 commit on work is not included)",
                "origin/main 3bfe953 から開始 (work のコミット 1 件は含まれません)",
            ),
        ] {
            assert_eq!(said(&start), (en.to_owned(), ja.to_owned()));
        }
    }

    #[test]
    fn offline_says_how_old_it_is() {
        let offline = |fetched_at: Option<i64>| Start {
            offline: Some(Offline {
                reason: "could not\nresolve host".into(),
                fetched_at: fetched_at.map(|at| Timestamp::from_second(at).unwrap()),
            }),
            ..left_out(0, Some(0), 1)
        };
        let (en, ja) = said(&offline(Some(1_800_000_000 - 2 * 3600)));
        assert!(en.starts_with("from origin/main 3bfe953 as last fetched 2 hours ago (the remote cannot be"), "{en}");
        assert!(en.ends_with("resolve host; your 1 changed file is not included)"), "{en}");
        assert!(ja.starts_with("origin/main 3bfe953 (2 時間前に取得した内容) から開始 (リモートに"), "{ja}");
        assert!(said(&offline(None)).0.starts_with("from origin/main 3bfe953 as last fetched ("));
    }
}
