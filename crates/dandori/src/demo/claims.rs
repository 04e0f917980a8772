//! What the demo claims at its end: looked up in the repository, on origin and at the daemon, never remembered.

use dandori_api::{PullList, PullView, TaskList, TaskView};
use dandori_domain::Problem;
use dandori_domain::pull::PullState;
use dandori_domain::wording::TRAILER;
use dandori_host::process;
use dandori_text::demo::Claim;

use super::play::Played;
use super::replay::Replay;
use super::stage::Stage;
use crate::client::{Client, in_path};

/// A claim, and what was found instead when it does not hold.
pub(crate) struct Checked {
    pub(crate) claim: Claim,
    pub(crate) instead: Option<String>,
}

/// What the daemon knows, asked while it still runs.
pub(crate) struct Asked {
    pub(crate) tasks: Vec<TaskView>,
    pub(crate) pulls: Vec<PullView>,
}

impl Asked {
    pub(crate) async fn of(client: &Client, stage: &Stage) -> Result<Self, Problem> {
        let path = in_path(&stage.repo());
        let TaskList { mut tasks, .. } = client.get(&format!("/v1/tasks?path={path}")).await?;
        tasks.sort_by(|a, b| a.created_at.cmp(&b.created_at));
        let PullList { prs: mut pulls, .. } = client.get(&format!("/v1/pulls?path={path}")).await?;
        pulls.sort_by_key(|pull| pull.number);
        Ok(Self { tasks, pulls })
    }

    fn branch(&self, run: &str) -> String {
        self.runs().find(|r| r.id == run).and_then(|r| r.branch.clone()).unwrap_or_default()
    }

    fn runs(&self) -> impl Iterator<Item = &dandori_api::RunView> {
        self.tasks.iter().flat_map(|task| &task.runs)
    }
}

pub(crate) fn check(stage: &Stage, played: &Played, asked: &Asked, replay: &Replay) -> Result<Vec<Checked>, Problem> {
    let [typo, readme, follow_up, canceled] = played.runs.as_slice() else {
        return Err(Problem::Internal { reason: format!("{} runs were played", played.runs.len()) });
    };
    let (first, second) = (asked.branch(typo), asked.branch(readme));
    let heads = heads(stage)?;
    let main = stage.git(&stage.repo(), &["rev-parse", "refs/heads/main"])?;
    let history = history(stage, &first)?;

    let mut checked = Checks(Vec::new());
    checked.holds(Claim::SideBySide, played.side_by_side, || "one after the other".to_owned());

    let trailers: Vec<String> = history
        .iter()
        .map(|(_, run)| run.clone())
        .chain(self::history(stage, &second)?.into_iter().map(|(_, r)| r))
        .collect();
    let committed = [typo, follow_up, readme].iter().all(|run| trailers.iter().filter(|t| t == run).count() == 1);
    checked.holds(Claim::Committed { runs: 3 }, committed, || trailers.join(" "));

    let expected = [
        (first.clone(), commit_of(asked, follow_up)),
        (second.clone(), commit_of(asked, readme)),
        ("main".to_owned(), main.clone()),
    ];
    let pushed = expected.iter().all(|e| heads.contains(e)) && heads.len() == expected.len();
    checked.holds(Claim::Pushed { first: first.clone(), second }, pushed, || format!("{heads:?}"));

    let order: Vec<&str> = history.iter().map(|(oid, _)| oid.as_str()).collect();
    let colleague = played.colleagues_commit.as_str();
    let tip = commit_of(asked, follow_up);
    let linear = matches!(order.as_slice(), [_, theirs, ours] if *theirs == colleague && **ours == tip);
    checked.holds(Claim::Linear { branch: first.clone() }, linear, || order.join(" "));

    let numbers: Vec<u64> = asked.pulls.iter().map(|p| p.number).collect();
    let at_tip = |pull: &PullView| {
        let head = heads.iter().find(|(branch, _)| *branch == pull.head);
        pull.state == PullState::Open && head.is_some_and(|(_, oid)| Some(oid) == pull.commit.as_ref())
    };
    let (one, two) = (numbers.first().copied().unwrap_or(0), numbers.get(1).copied().unwrap_or(0));
    let pulls_hold = numbers.len() == 2 && asked.pulls.iter().all(at_tip);
    checked.holds(Claim::Pulls { first: one, second: two }, pulls_hold, || format!("{:?}", asked.pulls));

    check_canceled(stage, canceled, asked, replay, played, &mut checked)?;

    let status = stage.git(&stage.repo(), &["status", "--porcelain=v2", "--branch"])?;
    let clean = status.lines().all(|l| l.starts_with("# ")) && status.contains("# branch.head main");
    let unmoved = status.contains(&main) && status.contains("# branch.ab +0 -0");
    checked.holds(Claim::Untouched, clean && unmoved, || status.clone());
    Ok(checked.0)
}

fn check_canceled(
    stage: &Stage,
    run: &str,
    asked: &Asked,
    replay: &Replay,
    played: &Played,
    checked: &mut Checks,
) -> Result<(), Problem> {
    let facts = replay.run(run);
    let alive = facts.and_then(|f| f.progress.work()).map(|work| &work.shim).is_none_or(process::is_alive);
    let workspace = facts.and_then(|f| f.workspace());
    let standing = workspace.is_none_or(|w| w.path.exists());
    let branch = workspace.map(|w| format!("refs/heads/{}", w.branch)).unwrap_or_default();
    let branches = stage.git(&stage.repo(), &["for-each-ref", "--format=%(refname)", "refs/heads"])?;
    let gone = !alive && !standing && !branches.lines().any(|l| l == branch);
    let number = played.tasks.last().cloned().unwrap_or_default();
    checked.holds(Claim::Gone { number }, gone, || format!("alive: {alive}, worktree: {standing}, {branches}"));

    let reference = asked.runs().find(|r| r.id == run).and_then(|r| r.preserved.clone()).unwrap_or_default();
    let kept = stage.git(&stage.repo(), &["cat-file", "-p", &format!("{reference}:greet.pl")]);
    let holds = kept.as_ref().is_ok_and(|text| text.contains("Hello"));
    checked.holds(Claim::Kept { reference }, holds, || format!("{kept:?}"));
    Ok(())
}

struct Checks(Vec<Checked>);

impl Checks {
    fn holds(&mut self, claim: Claim, holds: bool, instead: impl FnOnce() -> String) {
        self.0.push(Checked { claim, instead: (!holds).then(instead) });
    }
}

fn commit_of(asked: &Asked, run: &str) -> String {
    asked.runs().find(|r| r.id == run).and_then(|r| r.commit.clone()).unwrap_or_default()
}

/// The branches origin has, and where they stand.
fn heads(stage: &Stage) -> Result<Vec<(String, String)>, Problem> {
    let listed =
        stage.git(&stage.origin(), &["for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/heads"])?;
    Ok(listed.lines().filter_map(|l| l.split_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
}

/// The commits of a branch of origin since main, oldest first, each with the run it names.
fn history(stage: &Stage, branch: &str) -> Result<Vec<(String, String)>, Problem> {
    let format = format!("--format=%H %(trailers:key={TRAILER},valueonly,separator=%x20)");
    let range = format!("refs/heads/main..refs/heads/{branch}");
    let listed = stage.git(&stage.origin(), &["log", "--reverse", &format, &range])?;
    Ok(listed.lines().filter_map(|l| l.split_once(' ')).map(|(a, b)| (a.to_owned(), b.trim().to_owned())).collect())
}
